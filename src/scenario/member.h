/* Scenarios that are not read from files: scenarios of records, and members of a sweep, which are parsed once and
 * opened with other values in memory. */
#pragma once

#include "yaml/yaml.h"
#include <curvebody/configuration.h>

/* A key as in --set (the text of a scalar), and its value. */
typedef struct cb_member_value {
  const cb_node *key, *value;
} cb_member_value;

/* Reads the text of a scenario from a record, like cb_scenario_open_text; keys may have their former names. */
cb_status cb_scenario_open_record(const char *name, const char *text, const char *const *sets, size_t n,
                                  cb_scenario **out);

/* Finds the class of configuration space of a record; *out becomes NULL if no key of its scenario determines a
 * class. */
cb_status cb_scenario_class_of_record(cb_reader *reader, const char *path, const cb_configuration **out);

/* Reads the scenario at `root` of a tree with values[n] set for their keys, like cb_scenario_open or, if only_bundle is
 * true, like cb_scenario_open_bundle. The scenario has no resolved text. The tree and the values are borrowed until the
 * scenario is freed; scenarios in several threads may share them. */
cb_status cb_scenario_open_member(const cb_tree *tree, const cb_node *root, const cb_member_value *values, size_t n,
                                  bool only_bundle, cb_scenario **out);
