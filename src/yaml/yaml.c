/* Trees of values from files and texts (yaml.h). */
#include "core/failure.h"
#include "yaml/yaml.h"

#include <stdlib.h>
#include <string.h>

cb_status cb_tree_no_memory(const char *file) {
  return cb_fail(CB_ERROR_MEMORY, "no memory for the values of %s", file);
}

cb_status cb_yaml_read_text(const char *name, const char *text, size_t n, cb_tree **out) {
  if (n > CB_YAML_LARGEST)
    return cb_fail_placed(CB_ERROR_INPUT, "%s:1:1: error: the text has %zu bytes, expected at most %d", name, n,
                          CB_YAML_LARGEST);

  cb_tree *tree = calloc(1, sizeof *tree);
  cb_arena *arena = cb_arena_create();
  const size_t mark = cb_text_mark(text, n); /* libyaml would treat a byte order mark as a document */
  text += mark;
  n -= mark;
  const char *file = cb_arena_strdup(arena, name), *source = cb_arena_strndup(arena, text, n);
  const bool capacity = tree && file && source;
  const cb_status status =
      capacity ? cb_yaml_build(arena, file, source, n, 0, 0, &tree->root) : cb_tree_no_memory(name);
  if (capacity && status == CB_OK) {
    tree->arena = arena;
    tree->source = source;
    *out = tree;
    return CB_OK;
  }
  cb_arena_free(arena);
  free(tree);
  return status;
}

cb_status cb_yaml_read_file(const char *path, cb_tree **out) {
  char *text;
  size_t n;
  cb_status status = strcmp(path, "-") ? cb_read_whole_file(path, CB_YAML_LARGEST, &text, &n)
                                       : cb_read_standard_input(CB_YAML_LARGEST, &text, &n);
  if (status != CB_OK) return status;
  status = cb_yaml_read_text(path, text, n, out);
  free(text);
  return status;
}

cb_status cb_tree_read(const char *name, const char *text, cb_tree **out) {
  return cb_yaml_read_text(name, text, strlen(text), out);
}

cb_status cb_tree_over(const cb_tree *base, const cb_node *root, cb_tree **out) {
  cb_tree *tree = calloc(1, sizeof *tree);
  cb_arena *arena = tree ? cb_arena_create() : NULL;
  if (!arena) {
    free(tree);
    return cb_fail(CB_ERROR_MEMORY, "no memory for values");
  }
  *tree = (cb_tree){.arena = arena, .source = base->source, .root = root};
  *out = tree;
  return CB_OK;
}

void cb_tree_free(cb_tree *tree) {
  if (!tree) return;
  cb_arena_free(tree->arena);
  free(tree);
}

const cb_node *cb_tree_root(const cb_tree *tree) { return tree->root; }

const char *cb_tree_source(const cb_tree *tree) { return tree->source; }
