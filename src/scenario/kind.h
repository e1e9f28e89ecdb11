/* Kinds of scenarios: what the keys describe, a configuration space with all that moves in it. Each is one object, in
 * the file that reads its own key: `space` and `system` (scenario/particles.c), `fluid` (scenario/fluid.c),
 * `bundle` (scenario/bundle.c). */
#pragma once

#include "scenario/private.h"

/* A section of a scenario with a parameter table. */
typedef struct cb_section {
  const char *key;
  const cb_param *table;
} cb_section;

typedef struct cb_scenario_kind {
  const char *name; /* the key that says so */
  const cb_configuration *configuration;
  const char *method;          /* of a scenario that names no integrator */
  const char *const *keys;     /* beside those that all have; ended by NULL, as are the next two */
  const char *const *required; /* of all keys */
  const cb_section *sections;  /* ended by a NULL key */
  const cb_observable_doc *observables;
  /* Reads all but what all kinds have, with all errors. */
  cb_status (*read)(cb_scenario *s, const cb_node *root);
  /* Ends what was read without an error; NULL: nothing is left. */
  cb_status (*finish)(cb_scenario *s, const cb_node *root);
  double (*length)(const cb_scenario *s); /* of the motion, where `time` has no end; NULL: it must have one */
  cb_status (*make_run)(cb_scenario *s, const cb_run_options *options);
  /* What is at fault where a run cannot be made; NULL: the key that says the kind. */
  const cb_node *(*blame)(const cb_node *root, cb_status status);
  /* An item of `bodies` with its defaults; NULL: it has no bodies. */
  const cb_node *(*resolve_body)(cb_scenario *s, const cb_node *body);
  const char *attribute; /* of the record, and its value */
  const char *(*subject)(const cb_scenario *s);
  void (*free)(cb_scenario *s);
} cb_scenario_kind;

extern const cb_scenario_kind cb_scenario_kind_space, cb_scenario_kind_system, cb_scenario_kind_fluid,
    cb_scenario_kind_bundle;

/* By its keys, misspelt ones if there is no other; NULL where none says so. */
const cb_scenario_kind *cb_scenario_kind_of(const cb_node *root);
/* Is there the key of another kind too? Then nothing is known of the rest. */
bool cb_scenario_is_of_two(const cb_node *root, const cb_scenario_kind *kind);
/* Unknown keys, those of other kinds and missing ones; kind: may be NULL. */
cb_status cb_scenario_check_keys(const cb_node *root, const cb_scenario_kind *kind);
/* The parameter table of a section in a scenario of s's kind; NULL: it has none. */
const cb_param *cb_scenario_table(const cb_scenario *s, const char *key);

/* `time`, and what all methods share. */
typedef struct cb_time_parameters {
  double start, end;
} cb_time_parameters;
typedef struct cb_step_parameters {
  double step;
  int retries;
} cb_step_parameters;
extern const cb_param cb_time_table[], cb_step_table[], cb_record_table[];
