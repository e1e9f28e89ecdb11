/* libFuzzer entry for the YAML reader, `--set`, the scalars and the writer. No text may cause a crash, undefined
 * behaviour or a leak. An error names its line and column, and written text reads back as the same tree. A form feed
 * (which YAML does not allow) separates the text from an assignment for `--set`.
 *
 * clang -fsanitize=fuzzer,address,undefined; AFL++ takes the same entry through afl-clang-fast -fsanitize=fuzzer. */
#include "yaml/yaml.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void demand(bool truth) {
  if (!truth) abort();
}

/* Checks that the error text is `NAME:line:column: error: ...`, where NAME is `name` and line and column count from
 * 1. */
static void check_error(cb_status status, const char *name) {
  const char *text = cb_error_text();
  size_t n = strlen(name);
  demand(status == CB_ERROR_INPUT && strncmp(text, name, n) == 0);
  int line = 0, column = 0, end = 0;
  /* The search starts after the name, because the name of an assignment may contain control characters. */
  demand(sscanf(text + n, ":%d:%d: error: %n", &line, &column, &end) == 2 && line > 0 && column > 0 && end > 0);
}

static void check_node(const cb_node *node) {
  demand(node->line > 0 && node->column > 0 && node->file);
  double x = 7, three[3];
  long long i = 7;
  bool b;
  const char *text;
  if (cb_node_real(node, &x) != CB_OK) demand(x == 7);
  demand(isfinite(x));
  if (cb_node_int(node, &i) != CB_OK) demand(i == 7);
  (void)cb_node_bool(node, &b);
  (void)cb_node_reals(node, 3, three);
  demand((cb_node_string(node, &text) == CB_OK) == (node->kind == CB_NODE_SCALAR));
  if (node->kind == CB_NODE_SCALAR && node->text_column)
    (void)cb_node_fail_at(node, strlen(node->text), "end of '%s'", text);
  for (size_t k = 0; k < node->count; k++) {
    if (node->kind == CB_NODE_MAP) demand(cb_node_get(node, node->keys[k]->text) == node->items[k]);
    check_node(node->items[k]);
  }
}

static void check_same(const cb_node *a, const cb_node *b) {
  demand(a->kind == b->kind && a->count == b->count);
  if (a->kind == CB_NODE_SCALAR) demand(strcmp(a->text, b->text) == 0);
  for (size_t i = 0; i < a->count; i++) {
    if (a->kind == CB_NODE_MAP) demand(strcmp(a->keys[i]->text, b->keys[i]->text) == 0);
    check_same(a->items[i], b->items[i]);
  }
}

static void check_written(const cb_node *root) {
  cb_text text = {0};
  cb_tree *again = NULL;
  demand(cb_node_emit(root, &text) == CB_OK);
  demand(cb_yaml_read_text("again", text.data, text.length, &again) == CB_OK);
  check_same(root, cb_tree_root(again));
  cb_tree_free(again);
  cb_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *feed = size ? memchr(data, '\f', size) : NULL;
  size_t n = feed ? (size_t)(feed - data) : size;
  /* A copy of exactly n bytes, so that the sanitizer detects any access beyond them. */
  char *text = calloc(n ? n : 1, 1);
  if (n) memcpy(text, data, n);
  cb_tree *tree = NULL;
  cb_status status = cb_yaml_read_text("fuzz", text, n, &tree);
  free(text);
  if (status != CB_OK) {
    demand(!tree);
    check_error(status, "fuzz");
    return 0;
  }
  check_node(cb_tree_root(tree));
  check_written(cb_tree_root(tree));
  if (feed) {
    size_t length = size - n - 1;
    char *name = malloc(length + 7), *assignment = name + 6;
    memcpy(name, "--set ", 6);
    memcpy(assignment, feed + 1, length);
    assignment[length] = '\0';
    const cb_node *before = cb_tree_root(tree);
    status = cb_tree_set(tree, assignment);
    if (status == CB_OK) {
      check_node(cb_tree_root(tree));
      /* YAML cannot contain a name that is not UTF-8, but cb_tree_set accepts one. The tree is written only if the name
       * can be read as YAML. */
      cb_tree *good = NULL;
      if (cb_yaml_read_text("name", assignment, strcspn(assignment, "="), &good) == CB_OK)
        check_written(cb_tree_root(tree));
      cb_tree_free(good);
    } else {
      demand(cb_tree_root(tree) == before);
      if (strlen(name) < 500) check_error(status, name);
    }
    free(name);
  }
  cb_tree_free(tree);
  return 0;
}
