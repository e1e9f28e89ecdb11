/* What a cycle of a scenario's gait does: holonomy, length, cost. */
#pragma once

#include "scenario/bundle.h"

typedef struct cb_gait_cycle {
  double g[CB_GROUP_SIZE], repeated[CB_GROUP_SIZE], log[CB_GROUP_DIM],
      cbvi[CB_GROUP_DIM]; /* nan: not unique, not found */
  double length, cost;    /* cost: of a cycle of the scenario's seconds */
  /* Square of the way over square of the length, whatever the pacing: of the translations of the log where the group
   * has some, of all of it otherwise. */
  double efficiency;
  double table[CB_GROUP_DIM]; /* what the errors of a table can do to the log */
  bool has_log, has_table, has_integral;
} cb_gait_cycle;

/* b: the bundle to look at, motion's or that in other coordinates. error: of cb_holonomy. integral: the corrected body
 * velocity integral too, which needs the curvature all over a surface. */
cb_status cb_gait_cycle_find(const cb_bundle_scenario *motion, const cb_bundle *b, double error, bool integral,
                             cb_gait_cycle *out);
