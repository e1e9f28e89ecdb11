/* The results of the task `holonomy`, and the corrected body velocity integral cbvi = -int int B over a surface that
 * the gait encloses (B: curvature of the connection). */
#include "sweep/task.h"

static cb_status make_layout(const struct cb_sweep *sweep, cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  return cb_task_cycle_layout(sweep, s, arena, true, out);
}

static cb_status compute(cb_scenario *s, cb_arena *arena, const void *const **row) {
  return cb_task_cycle(s, arena, true, row);
}

const cb_sweep_task_class cb_sweep_task_integral = {
    .name = "integral",
    .title = "results of `holonomy`, and the corrected body velocity integral",
    .doc = "cbvi; this takes longer",
    .layout = make_layout,
    .compute = compute};
