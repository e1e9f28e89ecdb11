/* Results for the gait of a scenario: holonomy, length and cost of a cycle; the optimal gaits for the key `optimum`;
 * and the distance of the scenario's own gait from an optimum. */
#pragma once

#include "scenario/bundle_scenario.h"
#include "optimum/find.h"

typedef struct cb_gait_cycle {
  /* g: the group element of one cycle; repeated: of all cycles of the scenario; log: the logarithm of g; cbvi: the
   * corrected body velocity integral. log and cbvi are nan if they are not unique, or were not found. */
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

/* --- optimal gaits --- */

/* The comparison of a gait that a search has found with the result of cb_holonomy for it. */
typedef struct cb_gait_check {
  double cost, element; /* relative error of the cost; largest absolute error of a number of the group element */
} cb_gait_check;

/* Finds the gaits for the key `optimum` of the scenario, which must be present, and checks the best one with this error
 * (of cb_holonomy). watch: NULL, or as in cb_optimum_find_watched. The caller frees. Errors: as cb_optimum_find, with
 * the position of the key if the key causes the error. */
cb_status cb_gait_optima_find(const cb_bundle_scenario *motion, double error, const cb_find_watch *watch,
                              cb_optima **out, cb_gait_check *check);

/* Returns the problem for which the scenario's own gait is tested: that of the key `optimum`; without this key the
 * target is the group element of one cycle in b. */
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
