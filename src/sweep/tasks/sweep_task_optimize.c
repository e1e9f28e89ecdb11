/* The best gait at the target of the scenario (key `optimum`): its cost, amount, extremal and conjugate times
 * (curvebody/optimum.h), and the statistics of the search. */
#include "scenario/bundle_scenario.h"
#include "sweep/task.h"

#include <stddef.h>

typedef struct best {
  cb_optimum of; /* the best gait; only its numbers are used, because the gait itself is freed */
  cb_gait_check check;
  double efficiency, drift[3], index, flat, conjugates, abnormal, found, starts, failed, optima, falling;
} best;

#define OF(member) offsetof(best, of.member)
static const cb_task_column columns[] = {
    {"cost", NULL, "int r'Mr' dt of the best gait", OF(cost), 0},
    {"length", NULL, "length of the best gait", OF(length), 0},
    {"amount", NULL, "amount of the target", OF(amount), 0},
    {"efficiency", NULL, "amount^2/cost", offsetof(best, efficiency), 0},
    {"g", "number", "holonomy of the best gait", OF(g), 0},
    {"lambda", "axis", "multiplier", OF(lambda), 0},
    {"at", "variable", "shape at the start of the cycle", OF(r), 0},
    {"rate", "variable", "rate of the shape at the start of the cycle", OF(rate), 0},
    {"momentum", "variable", "momentum of the extremal at the start of the cycle", OF(p), 0},
    {"index", NULL, "number of negative directions of the second variation; -1: not known", offsetof(best, index), 0},
    {"flat", NULL, "zero eigenvalues of the second variation, not counting the shift of time", offsetof(best, flat), 0},
    {"conjugates", NULL, "number of conjugate times before the end; -1: unknown", offsetof(best, conjugates), 0},
    {"conjugate", "side", "first conjugate time, and the next one after the end", OF(conjugate), 0},
    {"wong", NULL, "cost computed by Wong's equations", OF(wong), 0},
    {"drift", "invariant", "largest relative changes of invariants along the extremal", offsetof(best, drift), 0},
    {"abnormal", NULL, "1: the multiplier of the cost is 0", offsetof(best, abnormal), 0},
    {"found", NULL, "number of starts that converged to the best gait", offsetof(best, found), 0},
    {"starts", NULL, "number of starts of the search", offsetof(best, starts), 0},
    {"failed", NULL, "number of starts that failed", offsetof(best, failed), 0},
    {"optima", NULL, "number of different optimal gaits that were found", offsetof(best, optima), 0},
    {"falling", NULL, "lower objective of a search that did not converge; inf: no such search", offsetof(best, falling),
     0},
    {"check_cost", NULL, "relative error of the cost, checked by `holonomy`", offsetof(best, check.cost), 0},
    {"check_g", NULL, "largest error of the numbers of g, checked by `holonomy`", offsetof(best, check.element), 0},
    {NULL, NULL, NULL, 0, 0}};

static cb_status make_layout(const struct cb_sweep *all, cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  (void)all;
  if (!cb_bundle_scenario_of(s)->optimum)
    return cb_fail(CB_ERROR_INPUT, "the key `optimum` is missing: the task `optimize` needs its target");
  return cb_task_layout(s, arena, columns, 0, NULL, out);
}

static cb_status compute(cb_scenario *s, cb_arena *arena, const void *const **row) {
  best *to = cb_arena_alloc(arena, 1, sizeof *to);
  cb_gait_check check;
  cb_optima *all = NULL;
  if (!to) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  const cb_status status = cb_gait_optima_find(cb_bundle_scenario_of(s), 0, NULL, &all, &check);
  if (status) return status;
  const cb_optimum *o = &all->item[0];
  *to = (best){.of = *o,
               .check = check,
               .efficiency = cb_gait_efficiency(o->amount, o->cost),
               .drift = {o->speed, o->momentum, o->casimir},
               .index = o->index,
               .flat = o->flat,
               .conjugates = o->conjugates,
               .abnormal = o->abnormal,
               .found = o->found,
               .starts = all->starts,
               .failed = all->failed,
               .optima = all->count,
               .falling = all->falling};
  to->of.gait = NULL;
  cb_optima_free(all);
  return cb_task_row(arena, columns, 0, to, row);
}

const cb_sweep_task_class cb_sweep_task_optimize = {.name = "optimize",
                                                    .title = "the best gait at the scenario's target",
                                                    .doc = "cost, efficiency, g, lambda",
                                                    .layout = make_layout,
                                                    .compute = compute};
