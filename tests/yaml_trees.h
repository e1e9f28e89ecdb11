/* Trees of nodes, read from texts, for the tests of YAML. */
#pragma once

#include "check.h"
#include "yaml/yaml.h"

static inline cb_status read_as(const char *text, cb_tree **tree) {
  return cb_yaml_read_text("a.yaml", text, strlen(text), tree);
}

static inline cb_tree *read_good(const char *text) {
  cb_tree *tree = NULL;
  check_ok(read_as(text, &tree));
  return tree;
}

static const char scenario[] =
    "curvebody: 1\n"
    "space: {name: h3, curvature: -1}\n"
    "bodies:\n"
    "  - kind: rod\n"
    "    place: {points: [[0.5, pi/2], [0.5, 3*pi/2]]}\n"
    "    mass: 1\n"
    "integrator: {name: lobatto, step: 0.01}\n";
