/* Configuration spaces: everything that the program asks about what moves, from the keys of a scenario to the rows of
 * a record (curvebody/motion.h).
 *
 * A class of configuration space is one folder of src/configurations with one const object, in the file NAME/NAME.c. A
 * scenario belongs to the class whose name is one of its keys. The class reads the scenario's own keys and makes a run;
 * the members that may be NULL say what else it can do.
 * For authors of configuration spaces.
 */
#ifndef CURVEBODY_CONFIGURATION_H
#define CURVEBODY_CONFIGURATION_H

#include <curvebody/motion.h>
#include <curvebody/scenario.h>

CB_API_BEGIN

struct cb_view;
struct cb_bundle_scenario;

/* A section of a scenario with a parameter table. */
typedef struct cb_section {
  const char *key;
  const cb_param *table;
} cb_section;

/* The tables of the sections that all classes have: for `time`, and for the keys that all integrators share. */
typedef struct cb_time_parameters {
  double start, end;
} cb_time_parameters;
typedef struct cb_step_parameters {
  double step;
  int retries;
} cb_step_parameters;
extern const cb_param cb_time_table[], cb_step_table[], cb_record_table[];

/* How a record is drawn by `view`. */
typedef struct cb_drawing {
  const char *space; /* the space of a scenario without the key `space`; NULL: plot coordinates */
  cb_status (*size)(const struct cb_view *v, size_t *size); /* bytes per frame, estimated */
  cb_status (*draw)(const struct cb_view *v);
} cb_drawing;

typedef struct cb_configuration {
  const char *name;        /* the key of a scenario that determines the class */
  const char *title, *doc; /* title: "particles in a space" */
  /* A scenario without the name of any class is read as one of this class. Exactly one class has this. */
  bool usual;
  const cb_problem *const *problems; /* that it poses to integrators, ended by NULL */
  const char *integrator;            /* the default integrator */
  const char *const *keys;           /* keys besides the common keys; this list and the next two end at NULL */
  const char *const *required;       /* the keys that must be present */
  const char *const *only;           /* keys that no scenario of another class can have; NULL: there are none */
  const char *without;               /* what is expected if there is such a key but not `name` */
  const cb_section *sections;        /* the list ends at a NULL key */
  const cb_observable_doc *observables;
  bool charts; /* `chart` of `record` applies: points have coordinates in charts of the space */
  size_t size; /* bytes of the data of a scenario, which are 0 before `read` (cb_scenario_own) */
  /* Reads everything except the keys that all classes have, and reports all errors. */
  cb_status (*read)(cb_scenario *s, const cb_node *root);
  /* Completes a scenario that was read without an error; NULL: nothing has to be done. */
  cb_status (*finish)(cb_scenario *s, const cb_node *root);
  double (*length)(
      const cb_scenario *s); /* the duration of the motion if `time` has no end; NULL: an end is required */
  /* Makes the run with the scenario's integrator. */
  cb_status (*make_run)(cb_scenario *s, const cb_run_options *options, cb_run **out);
  /* The node at which an error is reported if no run can be made. If the result or the function is NULL, it is the value
   * of the key that determines the class. */
  const cb_node *(*blame)(const cb_node *root, cb_status status);
  const char *attribute; /* the name of an attribute of the record; subject returns its value */
  const char *(*subject)(const cb_scenario *s);
  void (*free)(cb_scenario *s);

  /* What else a scenario of this class has; NULL: nothing of this kind. */
  const cb_node *(*resolve)(cb_scenario *s, const cb_node *node); /* the value of the key `name` with its defaults */
  const cb_node *(*resolve_body)(cb_scenario *s, const cb_node *body); /* an item of `bodies` with its defaults */
  const cb_system *(*system)(const cb_scenario *s); /* the problem of the integrator; NULL: it could not be read */
  const char *(*body_name)(const cb_scenario *s, int i);
  const struct cb_immersed *(*body)(const cb_scenario *s, int i); /* bodies with a surface and a recorded pose */
  int (*bodies)(const cb_scenario *s);
  const struct cb_bundle_scenario *(*gait)(const cb_scenario *s);
  cb_status (*warn)(cb_scenario *s); /* gives warnings about a scenario that has a run */
  const cb_drawing *drawing;         /* NULL: points in plot coordinates */
} cb_configuration;

extern const cb_configuration *const *const cb_configurations;

/* The class of a scenario, and its data. */
const cb_configuration *cb_scenario_configuration(const cb_scenario *scenario);
void *cb_scenario_own(const cb_scenario *scenario);

CB_API_END
#endif
