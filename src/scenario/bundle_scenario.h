/* A scenario of a gait in a bundle, as given by `bundle:`, `gait:`, `start:` and `optimum:`. The files that read these
 * keys share this header.
 *
 *   bundle: {name: purcell, links: 3, ratio: 2}
 *   gait: {fourier: {mean: [0, 0], cosine: [[1, 0]], sine: [[0, 1]]}, repeat: 3}
 *   flow: {shear: {gradient: [[0, 1, 0], [0, 0, 0], [0, 0, 0]]}}
 *   start: {group: [0, 0, pi/2]}
 *   optimum: {target: {move: 0.03}, objective: cost, start_shape: [0.5, -0.3], bounds: {alpha1: [-pi/2, pi/2]},
 *       starts: 24}
 *
 * The last part has results for the gait of a scenario: holonomy, length and cost of a cycle; the optimal gaits for
 * the key `optimum`; and the distance of the scenario's own gait from an optimum.
 */
#pragma once

#include <curvebody/scenario.h>
#include "run/bundle_run.h"
#include "fluid/poses_private.h"
#include "optimum/find.h"
#include "scenario/private.h"
#include <curvebody/bundle_path.h>
#include <curvebody/holonomy.h>
#include <curvebody/mass.h>

/* The optimal gait that a scenario asks for: `optimum:` next to `bundle:`. */
typedef struct cb_optimum_scenario {
  const cb_node *node;        /* the value of the key `optimum` */
  cb_optimum_problem problem; /* it uses the arrays below, and the gait and the bundle of the scenario */
  double start_shape[CB_SHAPE_MAX], lower[CB_SHAPE_MAX], upper[CB_SHAPE_MAX];
  /* end shape, laws of torque and of springs and dampers of the shape variables, and momentum: only for the objectives
   * `torque` and `work` */
  double end_shape[CB_SHAPE_MAX], torque[CB_SHAPE_MAX], stiffness[CB_SHAPE_MAX], rest[CB_SHAPE_MAX],
      damping[CB_SHAPE_MAX], momentum[CB_GROUP_DIM];
  bool left_out;      /* the scenario's gait leaves the bounds, so the search does not start from it */
  cb_bundle *weighed; /* the bundle with the requested metric; NULL: the bundle's own metric is used */
} cb_optimum_scenario;

/* Reads `optimum` after the bundle and the gait; node NULL: the key is absent. */
cb_status cb_scenario_read_optimum(cb_scenario *s, const cb_node *node);
/* Reads the keys `duration`, `end_shape` and `torque` of `optimum`, which apply only to the objectives `torque` and
 * `work`; for other objectives checks that they are absent. duration: the value of `duration`, or nan. */
cb_status cb_scenario_read_motion(const cb_scenario *s, cb_optimum_scenario *o, double duration);
void cb_optimum_scenario_free(cb_optimum_scenario *o);

extern const cb_param cb_optimum_table[];

typedef struct cb_bundle_scenario {
  cb_bundle *bundle;            /* the bundle in which the gait moves */
  cb_bundle *plain;             /* the bundle in its own coordinates, if the scenario gives other `coordinates`, which
                             * `bundle` has; otherwise NULL */
  cb_gait *gait;                /* one cycle; NULL: there is no `gait` */
  int repeat;                   /* the number of cycles */
  double period;                /* duration of a cycle in s */
  const cb_node *flow_node;     /* the value of the key `flow`; NULL: the fluid is at rest */
  cb_bundle_flow flow;          /* its velocity field */
  double start[CB_GROUP_SIZE];  /* the group element at the start */
  cb_optimum_scenario *optimum; /* NULL: there is no `optimum` */
  struct cb_shape_scenario *moving; /* NULL: there is no `shape` */
  struct cb_immersed_kind *body;    /* surface and poses of a bundle of a surface; NULL for other bundles */
  struct cb_shape_surface *shape;
  const cb_material *material; /* [parts]: the material of each part of an immersed body; NULL for other bundles */
  double fluid;                /* density of the fluid around an immersed body, kg/m^3 */
} cb_bundle_scenario;

/* Returns the data of a scenario of a gait in a bundle, borrowed; NULL for other scenarios. */
const cb_bundle_scenario *cb_bundle_scenario_of(const cb_scenario *s);

/* Returns whether there is a gait that all shape variables follow. If not, *other becomes the index of a variable that
 * does not follow it, or -1 if there is no gait; other may be NULL. */
bool cb_bundle_scenario_follows(const cb_bundle_scenario *m, int *other);

/* Finds the map of a gait. If `node` has the key `file`, *gait is the gait of the scenario in that file, in which the
 * other keys of `node` replace the keys with the same names; *bundle is then the bundle of that scenario. Otherwise
 * *gait is `node` and *bundle is NULL. */
cb_status cb_scenario_find_gait(cb_scenario *s, const cb_node *node, const cb_node **gait, const cb_node **bundle);
/* Puts another gait into the scenario's tree, and an integrator if the tree has none. Appends the scenario to out as a
 * text that is valid in any folder. */
cb_status cb_scenario_with_gait(cb_scenario *s, const cb_gait *gait, cb_text *out);

/* Reads a list of names of shape variables of a surface, and checks that they are valid and differ from the names of
 * the parameters. cb_scenario_read_periods reads the map {NAME: PERIOD} of the variables that are angles (NULL: there
 * are none) into period[n]. */
cb_status cb_scenario_read_variables(cb_scenario *s, const cb_node *list, const cb_poses_parameters *parameters, int *n,
                                     const char ***out);
cb_status cb_scenario_read_periods(const cb_node *map, int n, const char *const *names, double *period);

/* Reads an element of a group from a list of numbers; what: the word for the list in messages, such as "group". */
cb_status cb_scenario_read_element(const cb_group *G, const cb_node *list, const char *what, double *g);
/* Returns the name of the bundle's class, also if `coordinates` gives the bundle other coordinates. */
const char *cb_bundle_scenario_name(const cb_bundle_scenario *m);

extern const cb_param cb_group_table[]; /* the keys of `start` next to `bundle` */

/* A class of bundles that are made from files or from other parts of a scenario (scenario/bundle_NAME.c). */
typedef struct cb_scenario_bundle_class {
  const char *name, *title, *doc;
  const cb_param *params;
  cb_status (*read)(cb_scenario *s, const cb_node *map, cb_bundle **out);
} cb_scenario_bundle_class;
extern const cb_scenario_bundle_class cb_scenario_bundle_surface_drag, cb_scenario_bundle_immersed,
    cb_scenario_bundle_samples;
extern const cb_scenario_bundle_class *const cb_scenario_bundles[]; /* the list ends at NULL */

/* --- results for the gait --- */

typedef struct cb_gait_cycle {
  /* g: the group element of one cycle; repeated: the group element of all cycles of the scenario; log: the logarithm of
   * g; cbvi: the corrected body velocity integral. log and cbvi are nan if they are not unique, or were not found. */
  double g[CB_GROUP_SIZE], repeated[CB_GROUP_SIZE], log[CB_GROUP_DIM], cbvi[CB_GROUP_DIM];
  double length, cost; /* cost: for a cycle of the duration in the scenario */
  /* The square of the distance divided by the square of the length, which does not depend on the pace. The distance is
   * the norm of the translation in the log if the group has translations, otherwise the norm of the complete log. nan:
   * there is no log, or the length is 0. */
  double efficiency;
  double table[CB_GROUP_DIM]; /* bound of the effect of a table's error on the log */
  bool has_log, has_table, has_integral;
} cb_gait_cycle;

/* Computes the results of one cycle. b: the bundle of `motion`, or the same bundle in other coordinates. error: as for
 * cb_holonomy. integral: also computes the corrected body velocity integral, which needs the curvature on a surface
 * that the gait encloses. */
cb_status cb_gait_cycle_find(const cb_bundle_scenario *motion, const cb_bundle *b, double error, bool integral,
                             cb_gait_cycle *out);

/* Computes the logarithm of g. If it is not unique, sets log to nan and returns false. */
bool cb_gait_log(const cb_group *G, const double *g, double *log);
/* Returns the square of the distance as defined for cb_gait_cycle.efficiency. log: the logarithm of the displacement in
 * a cycle. */
double cb_gait_squared_distance(const cb_group *G, const double *log);

/* --- optimal gaits --- */

/* The comparison of a gait that a search has found with the result of cb_holonomy for it. */
typedef struct cb_gait_check {
  double cost, element; /* relative error of the cost; largest absolute error of a number of the group element */
} cb_gait_check;

/* Finds the gaits for the key `optimum` of the scenario, which must be present, and checks the best one by cb_holonomy
 * with this error. watch: NULL, or as in cb_optimum_find_watched. The caller frees *out. Errors: as cb_optimum_find,
 * with the position of the key if the key causes the error. */
cb_status cb_gait_optima_find(const cb_bundle_scenario *motion, double error, const cb_find_watch *watch,
                              cb_optima **out, cb_gait_check *check);

/* Fails if the objective is `torque` or `work`, to which families and tests of optimality do not apply. */
cb_status cb_gait_refuse_motion(const cb_bundle_scenario *motion);

/* Returns the problem for which the scenario's own gait is tested. It is the problem of the key `optimum`; without this
 * key, its target is the group element of one cycle in b. */
cb_optimum_problem cb_gait_optimality_problem(const cb_bundle_scenario *motion, const cb_bundle *b);
/* Tests whether the scenario's own gait is optimal for this problem. Errors: as cb_optimality_of, with the position of
 * the key `optimum` if this key causes the error. */
cb_status cb_gait_optimality_find(const cb_bundle_scenario *motion, const cb_bundle *b, cb_optimality *out);

/* Adds the position of the key `optimum` to the failure of a search if the key causes it. */
cb_status cb_gait_placed_search(const cb_bundle_scenario *motion, cb_status status);

/* Returns the efficiency of a gait, amount^2/cost. */
double cb_gait_efficiency(double amount, double cost);

/* Returns true if the bundle is a table, whose errors affect the results. */
bool cb_gait_has_table(const cb_bundle *b);

/* The key `shape` of a scenario with a bundle: shape variables that move by themselves (scenario/bundle_shape.c). */

typedef struct cb_shape_scenario {
  cb_shape_variable variable[CB_SHAPE_MAX];
  double start[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], momentum[CB_GROUP_DIM]; /* momentum: in the world's frame */
  const cb_expression *potential;                                         /* NULL: none */
  double period; /* duration of a cycle in s; 0: it is not given, or it is the duration of the gait */
  cb_expression *expression[2 * CB_SHAPE_MAX + 2]; /* [expressions], owned: those to which other members point */
  int expressions;
} cb_shape_scenario;

extern const cb_param cb_shape_table[];          /* the keys next to the variables */
extern const cb_param cb_shape_variable_table[]; /* the keys of one variable */

/* Copies to `rows` the keys of cb_shape_variable_table that a shape variable may have, and then a row with a NULL name.
 * `map` is the YAML map of the variable. With `drag`, the keys that need inertia are left out. */
enum { CB_SHAPE_ROWS = 12 };
void cb_shape_variable_rows(const cb_node *map, bool drag, cb_param rows[CB_SHAPE_ROWS]);

/* Reads `shape` after the bundle and the gait; node NULL: the key is absent. */
cb_status cb_scenario_read_shape(cb_scenario *s, const cb_node *node);
/* Makes the problem of the shape dynamics and its state at time t. The scenario must have an integrator. */
cb_status cb_scenario_shape_problem(cb_scenario *s, double t, cb_shape_problem *problem, cb_shape_state *start);
/* Fails, with the place in the scenario, if the motion that starts at time t has no smooth cycle map: the laws and
 * torques do not have this period, the potential depends on the place, or there is dry friction. */
cb_status cb_scenario_check_cycle(const cb_scenario *s, double t, double period);
cb_status cb_scenario_make_shape_run(cb_scenario *s, const cb_run_options *options, cb_run **out);
void cb_shape_scenario_free(cb_shape_scenario *own); /* own may be NULL; its memory is the scenario's */
