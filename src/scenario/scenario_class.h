/* Classes of scenarios: a configuration space with everything that moves in it. Each is one object, in the file that
 * reads its own key: `space` and `system` (scenario/particles.c), `fluid` (scenario/fluid.c), `bundle`
 * (scenario/bundle.c). */
#pragma once

#include "scenario/private.h"

/* A section of a scenario with a parameter table. */
typedef struct cb_section {
  const char *key;
  const cb_param *table;
} cb_section;

typedef struct cb_scenario_class {
  const char *name; /* the key that determines the class */
  const cb_configuration *configuration;
  const char *integrator;      /* the default integrator */
  const char *const *keys;     /* keys besides the common keys; this list and the next end at NULL */
  const char *const *required; /* the keys that must be present */
  const cb_section *sections;  /* the list ends at a NULL key */
  const cb_observable_doc *observables;
  /* Reads everything except the keys that all classes have, and reports all errors. */
  cb_status (*read)(cb_scenario *s, const cb_node *root);
  /* Completes a scenario that was read without an error; NULL: nothing has to be done. */
  cb_status (*finish)(cb_scenario *s, const cb_node *root);
  double (*length)(
      const cb_scenario *s); /* the duration of the motion if `time` has no end; NULL: an end is required */
  cb_status (*make_run)(cb_scenario *s, const cb_run_options *options);
  /* The node at which an error is reported if no run can be made. If the result is NULL, it is the value of the key
   * that determines the class. */
  const cb_node *(*blame)(const cb_node *root, cb_status status);
  /* An item of `bodies` with its defaults; NULL: this class has no bodies. */
  const cb_node *(*resolve_body)(cb_scenario *s, const cb_node *body);
  const char *attribute; /* the name of an attribute of the record; subject returns its value */
  const char *(*subject)(const cb_scenario *s);
  void (*free)(cb_scenario *s);
} cb_scenario_class;

extern const cb_scenario_class cb_scenario_class_space, cb_scenario_class_system, cb_scenario_class_fluid,
    cb_scenario_class_bundle;

/* Finds the class by its keys, or by misspelt keys if there is no other; NULL: no key determines it. */
const cb_scenario_class *cb_scenario_class_of(const cb_node *root);
/* The parameter table of a section in a scenario of this class; NULL: there is no table. */
const cb_param *cb_scenario_table(const cb_scenario *s, const char *key);

/* `time`, and the keys that all integrators share. */
typedef struct cb_time_parameters {
  double start, end;
} cb_time_parameters;
typedef struct cb_step_parameters {
  double step;
  int retries;
} cb_step_parameters;
extern const cb_param cb_time_table[], cb_step_table[], cb_record_table[];
