/* A scenario that was parsed once, opened with other values in memory: a member of a sweep. */
#pragma once

#include "yaml/yaml.h"
#include <curvebody/scenario.h>

/* A key as --set has it (a scalar's text), and its value. */
typedef struct cb_member_value {
  const cb_node *key, *value;
} cb_member_value;

/* The scenario at `root` of a tree with values[n] in their places, as cb_scenario_open reads it, or cb_scenario_open_bundle
 * where only a bundle is wanted. It has no resolved text. The tree and the values are borrowed as long as it lives, from
 * any number of threads. */
cb_status cb_scenario_open_member(const cb_tree *tree, const cb_node *root, const cb_member_value *values, size_t n,
                                  bool only_bundle, cb_scenario **out);
