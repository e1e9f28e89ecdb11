/* Classes of configuration spaces. A class describes what moves in a scenario, such as particles, or a body in a fluid:
 * which keys the scenario has, how its run is made, and what the rows of the record contain (curvebody/motion.h).
 *
 * A class is one folder of src/configurations with one const object, in the file NAME/NAME.c. A scenario belongs to the
 * class whose name is one of its keys. The class reads the keys that are not common to all scenarios, and makes a run.
 * Members that may be NULL say what else the class can do.
 * For authors of configuration spaces.
 */
#ifndef CURVEBODY_CONFIGURATION_H
#define CURVEBODY_CONFIGURATION_H

#include <curvebody/motion.h>
#include <curvebody/scenario.h>

CB_API_BEGIN

struct cb_view;
struct cb_bundle_scenario;

/* A key of a scenario whose value is a map, and the table of the parameters in this map. */
typedef struct cb_section {
  const char *key;
  const cb_param *table;
} cb_section;

/* The tables of the keys that scenarios of all classes share: the keys of `time`, the keys of `integrator` that all
 * integrators have, and the keys of `record`. The first table fills a cb_time_parameters, and the second a
 * cb_step_parameters. Times are in the unit of the scenario. */
typedef struct cb_time_parameters {
  double start, end;
} cb_time_parameters;
typedef struct cb_step_parameters {
  double step;
  int retries;
} cb_step_parameters;
extern const cb_param cb_time_table[], cb_step_table[], cb_record_table[];

/* Says how `curvebody view` draws a record. */
typedef struct cb_drawing {
  /* the value of `space`, as a text in YAML, for a scenario without this key; NULL: points are drawn in their plot
   * coordinates */
  const char *space;
  cb_status (*size)(const struct cb_view *v, size_t *size); /* estimates the number of bytes per frame */
  cb_status (*draw)(const struct cb_view *v);               /* adds the frames to the page */
} cb_drawing;

typedef struct cb_configuration {
  const char *name;        /* the key of a scenario that determines the class */
  const char *title, *doc; /* title: a few words, such as "particles in a space"; doc: some sentences */
  /* true for exactly one class: a scenario without the name of any class is read as one of this class */
  bool usual;
  const cb_problem *const *problems; /* the kinds of problems that scenarios of this class may pose, ended by NULL */
  /* Returns the kinds of problems that this scenario poses, some or all of `problems`. It is called after the keys were
   * read. NULL: each scenario poses all of them. */
  const cb_problem *const *(*posed)(const cb_scenario *s);
  const char *integrator; /* the name of the default integrator */
  /* The keys of scenarios of this class, except curvebody, title, integrator, time and record. This list and the next
   * two end at NULL. */
  const char *const *keys;
  const char *const *required; /* the keys that must be present */
  const char *const *only;     /* keys that no scenario of another class can have; NULL: there are none */
  /* For the error message if a scenario has a key of `only` but not the key `name`: what the value of `name` would be,
   * such as "the bundle in which the gait moves". */
  const char *without;
  /* For the error message if a scenario also has keys of another class: the reason why they cannot be combined, as a
   * clause after "because". NULL: the message gives no reason. */
  const char *alone;
  const cb_section *sections;           /* the list ends at a NULL key */
  const cb_observable_doc *observables; /* all groups of fields, ended by a NULL name */
  bool charts; /* true: `record` may have the key `chart`, because points have coordinates in charts of the space */
  size_t size; /* bytes of the data of a scenario (cb_scenario_own), which are 0 before `read` */
  /* Reads all keys of the scenario except those that all classes have. On failure the error text has all errors that
   * were found. */
  cb_status (*read)(cb_scenario *s, const cb_node *root);
  /* Completes a scenario that was read without an error; NULL: nothing has to be done. */
  cb_status (*finish)(cb_scenario *s, const cb_node *root);
  double (*length)(
      const cb_scenario *s); /* returns the duration of a run if `time` has no `end`; NULL: `end` is required */
  /* Makes the run with the scenario's integrator. */
  cb_status (*make_run)(cb_scenario *s, const cb_run_options *options, cb_run **out);
  /* Called if no run can be made; `status` is that of the failure. Returns the node whose place in the file the message
   * gives. If the function or its result is NULL, the message gives the place of the value of the key `name`. */
  const cb_node *(*blame)(const cb_node *root, cb_status status);
  const char *attribute; /* the name of an attribute of the record, whose value subject() returns */
  const char *(*subject)(const cb_scenario *s);
  void (*free)(cb_scenario *s);

  /* Further functions. A member is NULL if scenarios of this class do not have what it returns. */
  const cb_node *(*resolve)(cb_scenario *s, const cb_node *node); /* returns the value of `name` with its defaults */
  const cb_node *(*resolve_body)(cb_scenario *s, const cb_node *body); /* returns an item of `bodies` with defaults */
  const cb_system *(*system)(const cb_scenario *s); /* returns the system of particles; NULL: it could not be read */
  /* Return the name and the data of body i, and the number of bodies that have a surface and a recorded pose. */
  const char *(*body_name)(const cb_scenario *s, int i);
  const struct cb_immersed *(*body)(const cb_scenario *s, int i);
  int (*bodies)(const cb_scenario *s);
  const struct cb_bundle_scenario *(*gait)(const cb_scenario *s);
  cb_status (*warn)(cb_scenario *s); /* gives warnings about a scenario whose run was made */
  const cb_drawing *drawing;         /* NULL: points are drawn in their plot coordinates */
} cb_configuration;

extern const cb_configuration *const *const cb_configurations;

/* Return the class of a scenario, and the data of the class for this scenario (cb_configuration.size bytes). */
const cb_configuration *cb_scenario_configuration(const cb_scenario *scenario);
void *cb_scenario_own(const cb_scenario *scenario);

CB_API_END
#endif
