/* The holonomy g of one cycle of the gait (curvebody/holonomy.h), its logarithm, and the length and cost of the
 * cycle. */
#include "sweep/task.h"

static cb_status make_layout(const struct cb_sweep *sweep, cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  return cb_task_cycle_layout(sweep, s, arena, false, out);
}

static cb_status compute(cb_scenario *s, cb_arena *arena, const void *const **row) {
  return cb_task_cycle(s, arena, false, row);
}

const cb_sweep_task_class cb_sweep_task_holonomy = {.name = "holonomy",
                                                    .title = "holonomy of one cycle of the gait",
                                                    .doc = "g, log, length, cost, efficiency",
                                                    .layout = make_layout,
                                                    .compute = compute};
