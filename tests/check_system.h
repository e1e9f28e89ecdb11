/* Trees of nodes, spaces and systems for the tests, made from parts of the text of a scenario. */
#pragma once

#include "check.h"
#include "yaml/yaml.h"
#include <curvebody/body.h>

static inline cb_tree *check_tree(const char *text) {
  cb_tree *tree;
  check_ok(cb_yaml_read_text("test", text, strlen(text), &tree));
  return tree;
}

/* Creates a space from a text such as `{name: h3, curvature: -1, chart: polar}`. */
static inline cb_space *check_space(const char *text) {
  cb_tree *tree = check_tree(text);
  const char *name;
  cb_space *g;
  check_ok(cb_node_string(cb_node_get(cb_tree_root(tree), "name"), &name));
  check_ok(cb_space_create(name, cb_tree_root(tree), &g));
  cb_tree_free(tree);
  return g;
}

/* Adds a body to a builder. `text` is the map of the body in a scenario. */
static inline cb_status check_add_body(const cb_space *g, const char *text, cb_builder *b) {
  cb_tree *tree = check_tree(text);
  cb_status status = cb_body_build(cb_tree_root(tree), g, b);
  cb_tree_free(tree);
  return status;
}

/* Creates a system of one body. `text` is the map of the body in a scenario. */
static inline cb_system *check_system(const cb_space *g, const char *text) {
  cb_builder *b;
  cb_system *s;
  check_ok(cb_builder_create(g, &b));
  check_ok(check_add_body(g, text, b));
  check_ok(cb_builder_finish(b, &s));
  cb_builder_free(b);
  return s;
}
