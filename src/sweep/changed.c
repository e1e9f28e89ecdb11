/* What is different in two trees: the first place, in the order of the second. */
#include "core/text.h"
#include "sweep/plan.h"
#include "tree/scalar.h"

#include <stdio.h>
#include <string.h>

enum { PATH = 512 };

static void say(const cb_node *node, cb_found *out) {
  if (node)
    *out = cb_node_found(node);
  else
    snprintf(out->text, sizeof out->text, "not there");
}

static cb_status differ(const char *path, const cb_node *was, const cb_node *is) {
  cb_found before, after;
  say(was, &before);
  say(is, &after);
  return cb_fail(CB_ERROR_INPUT, "%s was %s and is %s", *path ? path : "the sweep", before.text, after.text);
}

static cb_status compare(char *path, const cb_node *was, const cb_node *is);

static cb_status below(char *path, const char *key, const cb_node *was, const cb_node *is) {
  const size_t length = strlen(path);
  snprintf(path + length, PATH - length, "%s%s", length ? "." : "", key);
  const cb_status status = compare(path, was, is);
  path[length] = 0;
  return status;
}

static cb_status compare(char *path, const cb_node *was, const cb_node *is) {
  if (!was || !is || was->kind != is->kind) return was == is ? CB_OK : differ(path, was, is);
  if (is->kind == CB_NODE_NULL) return CB_OK;
  if (is->kind == CB_NODE_SCALAR) return strcmp(was->text, is->text) ? differ(path, was, is) : CB_OK;
  cb_status status = CB_OK;
  char number[24];
  if (is->kind == CB_NODE_LIST) {
    const size_t most = was->count > is->count ? was->count : is->count;
    for (size_t i = 0; i < most && !status; i++) {
      snprintf(number, sizeof number, "%zu", i);
      status = below(path, number, i < was->count ? was->items[i] : NULL, i < is->count ? is->items[i] : NULL);
    }
    return status;
  }
  for (size_t i = 0; i < is->count && !status; i++)
    status = below(path, is->keys[i]->text, cb_node_get(was, is->keys[i]->text), is->items[i]);
  for (size_t i = 0; i < was->count && !status; i++)
    if (!cb_node_get(is, was->keys[i]->text)) status = below(path, was->keys[i]->text, was->items[i], NULL);
  return status;
}

cb_status cb_sweep_changed(const char *was_name, const char *was, const char *is) {
  if (!strcmp(was, is)) return CB_OK;
  cb_tree *before = NULL, *after = NULL;
  char path[PATH] = "";
  cb_status status = cb_yaml_read_text(was_name, was, strlen(was), &before);
  if (!status) status = cb_yaml_read_text("sweep", is, strlen(is), &after);
  if (!status) status = compare(path, cb_tree_root(before), cb_tree_root(after));
  cb_tree_free(before);
  cb_tree_free(after);
  return status;
}
