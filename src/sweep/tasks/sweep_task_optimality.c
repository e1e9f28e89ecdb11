/* The distance of the gait of the scenario from an optimal one with the same holonomy: the gradient and the second
 * variation of its cost (optimum/find.h). */
#include "scenario/bundle_scenario.h"
#include "sweep/task.h"

#include <stddef.h>

typedef struct judged {
  cb_optimality of;
  double efficiency, stationary, index, flat, conjugates, active_constraints, loose;
} judged;

#define IN(member) offsetof(judged, of.member)
static const cb_task_column columns[] = {
    {"cost", NULL, "int r'Mr' dt of the gait", IN(cost), 0},
    {"length", NULL, "length of the gait", IN(length), 0},
    {"amount", NULL, "amount of the target", IN(amount), 0},
    {"efficiency", NULL, "amount^2/cost", offsetof(judged, efficiency), 0},
    {"slope", NULL, "gradient of the cost among gaits with the same holonomy, divided by the full gradient", IN(slope),
     0},
    {"gain", NULL, "decrease of the cost in one step along the negative gradient", IN(gain), 0},
    {"fit", NULL, "distance of the gait from its fit in functions of time", IN(fit), 0},
    {"wong", NULL, "cost of the nearby extremal, by Wong's equations", IN(wong), 0},
    {"g", "number", "holonomy of the gait", IN(g), 0},
    {"lambda", "axis", "multipliers that minimise the slope", IN(lambda), 0},
    {"stationary", NULL, "1: the slope is round-off", offsetof(judged, stationary), 0},
    {"index", NULL, "number of negative directions of the second variation", offsetof(judged, index), 0},
    {"flat", NULL, "zero eigenvalues of the second variation, not counting the shift of time", offsetof(judged, flat),
     0},
    {"conjugates", NULL, "number of conjugate times before the end; -1: unknown", offsetof(judged, conjugates), 0},
    {"conjugate", "side", "first conjugate time, and the next one after the end", IN(conjugate), 0},
    {"active_constraints", NULL, "number of active constraints", offsetof(judged, active_constraints), 0},
    {"loose", NULL, "possible decrease of the index from active constraints with a zero multiplier",
     offsetof(judged, loose), 0},
    {NULL, NULL, NULL, 0, 0}};

static cb_status make_layout(const struct cb_sweep *all, cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  (void)all;
  if (!cb_bundle_scenario_of(s)->gait)
    return cb_fail(CB_ERROR_INPUT, "the key `gait` is missing: the task `optimality` needs a gait");
  return cb_task_layout(s, arena, columns, 0, NULL, out);
}

static cb_status compute(cb_scenario *s, cb_arena *arena, const void *const **row) {
  judged *to = cb_arena_alloc(arena, 1, sizeof *to);
  if (!to) return cb_fail(CB_ERROR_MEMORY, "no memory for the optimality");
  const cb_status status = cb_gait_optimality_find(cb_bundle_scenario_of(s), cb_bundle_scenario_of(s)->bundle, &to->of);
  if (status) return status;
  const cb_optimality *v = &to->of;
  to->efficiency = cb_gait_efficiency(v->amount, v->cost);
  to->stationary = v->stationary;
  to->index = v->index;
  to->flat = v->flat;
  to->conjugates = v->conjugates;
  to->active_constraints = v->active_constraints;
  to->loose = v->loose;
  return cb_task_row(arena, columns, 0, to, row);
}

const cb_sweep_task_class cb_sweep_task_optimality = {
    .name = "optimality",
    .title = "distance of the gait from an optimum with the same holonomy",
    .doc = "slope, gain, index",
    .layout = make_layout,
    .compute = compute};
