/* What a scenario holds; shared by the files that read and describe it. */
#ifndef CB_IO_SCENARIO_PRIVATE_H
#define CB_IO_SCENARIO_PRIVATE_H

#include "core/arena.h"
#include "io/yaml.h"
#include <curvebody/scenario.h>

enum { CB_SCENARIO_ATTRIBUTES = 48 };

struct cb_scenario {
  cb_arena *arena;
  cb_tree *tree;
  const char *name, *title, *resolved;
  cb_geometry *space;
  cb_builder *builder;
  cb_system *system;
  cb_integrator *integrator;
  cb_run *run;
  int compression;
  const char *attributes[CB_SCENARIO_ATTRIBUTES];
};

/* The parts of a scenario, each from its node (NULL where the key is absent). */
cb_status cb_scenario_read_space(cb_scenario *s, const cb_node *node);
cb_status cb_scenario_read_bodies(cb_scenario *s, const cb_node *node);
cb_status cb_scenario_read_forces(cb_scenario *s, const cb_node *potentials, const cb_node *interactions);
cb_status cb_scenario_read_run(cb_scenario *s, const cb_node *root);

/* The parameter table of `time`, `integrator` (what all methods share) or `record`. */
const cb_param *cb_scenario_table(const char *key);

/* The whole tree with its defaults, as text in s->resolved. */
cb_status cb_scenario_resolve(cb_scenario *s, const cb_node *root);

#endif
