/* What a scenario holds; shared by the files that read and describe it. */
#pragma once

#include "core/errors.h"
#include "yaml/yaml.h"
#include <curvebody/scenario.h>

enum { CB_SCENARIO_ATTRIBUTES = 48, CB_SCENARIO_DIGEST = 65 };

struct cb_scenario {
  cb_arena *arena;
  cb_tree *tree;
  const struct cb_scenario_kind *kind; /* scenario/kind.h */
  const char *title, *resolved;
  const char **warned; /* [warnings]: what was warned of while it was read */
  size_t warnings;
  const char *notes; /* comments that begin the resolved scenario: keys that --set took away */
  cb_geometry *space;
  cb_builder *builder;
  cb_system *system;
  cb_integrator *integrator;
  struct cb_fluid_scenario *fluid;   /* of a scenario of bodies in a fluid (scenario/fluid.h); NULL for others */
  struct cb_bundle_scenario *bundle; /* of a gait in a bundle (scenario/bundle.h); NULL for others */
  cb_run *run;
  const cb_node *bodies;           /* the list */
  bool *failed;                    /* [of it]: could not be read, what refers to it is not looked at */
  char inputs[CB_SCENARIO_DIGEST]; /* of the files that it names; "" where it names none */
  cb_status unread;                /* why one of them could not be, or CB_OK */
  const char **file;               /* [files]: what was read */
  size_t files;
  bool plain;               /* no text of it is wanted */
  cb_record_options record; /* how it is written */
  bool project;             /* `start` */
  double start_tolerance;
  const char *attributes[CB_SCENARIO_ATTRIBUTES];
  char source_digest[CB_SCENARIO_DIGEST], hdf5[64], sundials[64], moved[32], turned[32]; /* texts of them */
};

/* The value of a key of a scenario, or of one that was meant to be that key: what is wrong in it is told too. */
const cb_node *cb_scenario_section(const cb_node *root, const char *key);

/* The parts of a scenario, each from its node (NULL where the key is absent). All their errors are told; where there is
 * no builder, since the space has failed, those that can be told without. */
cb_status cb_space_read(const cb_node *node, cb_geometry **out); /* by name or by metric */
cb_status cb_scenario_read_space(cb_scenario *s, const cb_node *node);
cb_status cb_scenario_read_system(cb_scenario *s, const cb_node *node); /* in place of space and bodies */
extern const cb_param cb_scenario_system_table[];                       /* its keys, beside those of a metric */
cb_status cb_scenario_read_bodies(cb_scenario *s, const cb_node *node);
cb_status cb_scenario_read_forces(cb_scenario *s, const cb_node *potentials, const cb_node *interactions);
cb_status cb_scenario_read_contacts(cb_scenario *s, const cb_node *contacts, const cb_node *walls,
                                    const cb_node *events);
extern const cb_param cb_scenario_contacts_table[];
cb_status cb_scenario_read_constraints(cb_scenario *s, const cb_node *node);
cb_status cb_scenario_read_start(cb_scenario *s, const cb_node *node);
extern const cb_param cb_scenario_start_table[];
/* whole: what the run is of could be read. */
cb_status cb_scenario_read_run(cb_scenario *s, const cb_node *root, bool whole);

/* Calls read for every item of a list, or of none, under `key`. */
cb_status cb_scenario_for_items(cb_scenario *s, const cb_node *list, const char *key,
                                cb_status (*read)(cb_scenario *, const cb_node *));
/* Calls add for every body that node names: one, a list, or (absent) all of them as -1. at: the place of its failures,
 * an expression's with the place in it. */
cb_status cb_scenario_for_bodies(cb_scenario *s, const cb_node *bodies, const cb_node *at, bool expression,
                                 cb_status (*add)(cb_builder *, int body, const void *what), const void *what);
/* The body that node names. */
cb_status cb_scenario_find_body(const cb_scenario *s, const cb_node *node, int *body);
/* The particle [body, number]. */
cb_status cb_scenario_read_particle(const cb_scenario *s, const cb_node *node, int *index);
/* A failure of the builder with the place of node, unless it has one; one of an expression that is node's text with the
 * place in it. */
cb_status cb_scenario_placed(const cb_scenario *s, cb_status status, const cb_node *node, bool expression);

/* Without the keys of a class that --set has replaced by another, in maps of the tree whose root was `was`. */
cb_status cb_scenario_change_classes(cb_scenario *s, const cb_node *was);
/* Fails where the key that names the class is not missing from map, but misspelt. */
cb_status cb_scenario_check_class(const char *path, const cb_node *map);
/* What can be told of the map of a class where what it depends on has failed: wrong parameters. path: "integrator",
 * "bodies.*" ... */
cb_status cb_scenario_check_map(const char *path, const cb_node *map);
/* SHA-256 of data[n] in hexadecimals. */
void cb_scenario_sha256(const void *data, size_t n, char hex[CB_SCENARIO_DIGEST]);
/* The path of the file that node names, in the scenario's arena, and among its files from now on. */
cb_status cb_scenario_file(cb_scenario *s, const cb_node *node, const char **path);
cb_status cb_scenario_add_file(cb_scenario *s, const char *path);
/* Adds data[n], or the content of a file, to s->inputs. */
void cb_scenario_add_data(cb_scenario *s, const void *data, size_t n);
cb_status cb_scenario_add_input(cb_scenario *s, const char *path);

/* What is at fault where particles or bodies cannot start: the times, or where they are. */
const cb_node *cb_scenario_blame_start(const cb_node *root, cb_status status);

/* An item of `bodies` with its defaults: of particles, and of bodies in a fluid. */
const cb_node *cb_scenario_resolve_body(cb_scenario *s, const cb_node *node);
const cb_node *cb_scenario_resolve_immersed(cb_scenario *s, const cb_node *node);
/* The whole tree with its defaults, as text in s->resolved. */
cb_status cb_scenario_resolve(cb_scenario *s, const cb_node *root);
