/* The tasks of gaits, which compute a row of numbers, the same numbers that `curvebody gait` prints for the scenario;
 * and the list of all tasks. */
#include "sweep/task.h"
#include "scenario/gait_results.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const cb_bundle_scenario *motion_of(cb_scenario *s) { return cb_bundle_scenario_of(s); }

/* Bits of the fields that only some rows have. */
enum { OF_TABLES = 1, OF_INTEGRALS = 2 };

cb_status cb_task_layout(cb_scenario *s, cb_arena *arena, const cb_task_column *columns, int of,
                         const char *const *asked, cb_record_layout *out) {
  static const char *const ends[] = {"before", "after"}, *const invariants[] = {"speed", "momentum", "casimir"};
  const cb_bundle *b = motion_of(s)->bundle;
  double *time = cb_arena_alloc(arena, CB_WORK_TIMES, sizeof *time);
  const cb_dimension dimensions[] = {
      {"number", (size_t)b->group->size, NULL, b->group->number, "number of a group element"},
      {"axis", (size_t)b->group->dim, NULL, b->group->axis, "axis of the group's algebra"},
      {"variable", (size_t)b->n, NULL, b->shape, "shape variable"},
      {"side", 2, NULL, ends, "side of the end of a cycle"},
      {"invariant", 3, NULL, invariants, "invariant of extremals"},
      {"time", CB_WORK_TIMES, time, NULL, "time as a fraction of the cycle, 0 to 1"},
      {"asked", 2, NULL, asked, "varied number of the group"}};
  const size_t count = sizeof dimensions / sizeof *dimensions;
  cb_dimension *dimension = cb_arena_alloc(arena, count, sizeof *dimension);
  cb_field *field = cb_arena_alloc(arena, CB_WORK_COLUMNS, sizeof *field);
  if (!dimension || !field || !time) return cb_fail(CB_ERROR_MEMORY, "no memory for a row");
  for (int k = 0; k < CB_WORK_TIMES; k++) time[k] = (double)k / (CB_WORK_TIMES - 1);
  memcpy(dimension, dimensions, sizeof dimensions);
  size_t n = 0;
  for (const cb_task_column *c = columns; c->name; c++) {
    if (c->of & ~of) continue;
    field[n] = (cb_field){.name = c->name, .rank = c->dim != NULL, .dims = {c->dim}, .units = "1", .doc = c->doc};
    if (c->dim && !strcmp(c->dim, "way")) {
      field[n].rank = 2;
      field[n].dims[0] = "time";
      field[n].dims[1] = "variable";
    }
    n++;
  }
  *out = (cb_record_layout){.dimensions = dimension, .n_dimensions = count, .fields = field, .n_fields = n};
  return CB_OK;
}

cb_status cb_task_row(cb_arena *arena, const cb_task_column *columns, int of, const void *numbers,
                      const void *const **out) {
  const void **row = cb_arena_alloc(arena, CB_WORK_COLUMNS, sizeof *row);
  if (!row) return cb_fail(CB_ERROR_MEMORY, "no memory for a row");
  size_t n = 0;
  for (const cb_task_column *c = columns; c->name; c++)
    if (!(c->of & ~of)) row[n++] = (const char *)numbers + c->at;
  *out = row;
  return CB_OK;
}

void cb_task_way(const cb_gait *gait, int n, double *shape, double *rate) {
  for (int k = 0; k < CB_WORK_TIMES; k++) {
    for (int i = 0; i < n && !gait; i++) shape[k * n + i] = NAN;
    if (gait) cb_gait_at(gait, (double)k / (CB_WORK_TIMES - 1), shape + k * n, rate ? rate + k * n : NULL);
  }
}

/* --- holonomy, integral --- */

static const cb_task_column of_cycle[] = {
    {"g", "number", "holonomy of one cycle", offsetof(cb_gait_cycle, g), 0},
    {"log", "axis", "logarithm of the holonomy", offsetof(cb_gait_cycle, log), 0},
    {"table_error", "axis", "error of the logarithm from errors of the table", offsetof(cb_gait_cycle, table),
     OF_TABLES},
    {"length", NULL, "int sqrt(r'Mr') dt", offsetof(cb_gait_cycle, length), 0},
    {"cost", NULL, "int r'Mr' dt", offsetof(cb_gait_cycle, cost), 0},
    {"efficiency", NULL, "square of the displacement divided by the square of the length",
     offsetof(cb_gait_cycle, efficiency), 0},
    {"g_repeated", "number", "holonomy of all cycles together", offsetof(cb_gait_cycle, repeated), 0},
    {"cbvi", "axis", "corrected body velocity integral: -int int B", offsetof(cb_gait_cycle, cbvi), OF_INTEGRALS},
    {NULL, NULL, NULL, 0, 0}};

static int parts_of(cb_scenario *s, int more) {
  return more | (strcmp(motion_of(s)->bundle->class_->name, "samples") ? 0 : OF_TABLES);
}

static cb_status layout_cycle(cb_scenario *s, cb_arena *arena, int more, cb_record_layout *out) {
  if (!motion_of(s)->gait)
    return cb_fail(CB_ERROR_INPUT, "the key `gait` is missing: the task `%s` needs a gait",
                   more ? "integral" : "holonomy");
  return cb_task_layout(s, arena, of_cycle, parts_of(s, more), NULL, out);
}

static cb_status find_cycle(cb_scenario *s, cb_arena *arena, int more, const void *const **row) {
  cb_gait_cycle *c = cb_arena_alloc(arena, 1, sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for a cycle");
  const cb_status status = cb_gait_cycle_find(motion_of(s), motion_of(s)->bundle, 0, more & OF_INTEGRALS, c);
  return status ? status : cb_task_row(arena, of_cycle, parts_of(s, more), c, row);
}

static cb_status layout_holonomy(const struct cb_sweep *all, cb_scenario *s, cb_arena *a, cb_record_layout *out) {
  (void)all;
  return layout_cycle(s, a, 0, out);
}
static cb_status find_holonomy(cb_scenario *s, cb_arena *a, const void *const **row) {
  return find_cycle(s, a, 0, row);
}
static cb_status layout_integral(const struct cb_sweep *all, cb_scenario *s, cb_arena *a, cb_record_layout *out) {
  (void)all;
  return layout_cycle(s, a, OF_INTEGRALS, out);
}
static cb_status find_integral(cb_scenario *s, cb_arena *a, const void *const **row) {
  return find_cycle(s, a, OF_INTEGRALS, row);
}

/* --- optimize --- */

typedef struct best {
  cb_optimum of; /* the best gait; only its numbers are used, because the gait itself is freed */
  cb_gait_check check;
  double efficiency, drift[3], index, flat, conjugates, abnormal, found, starts, failed, optima, falling;
} best;

#define OF(member) offsetof(best, of.member)
static const cb_task_column of_best[] = {
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

static cb_status layout_optimum(const struct cb_sweep *all, cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  (void)all;
  if (!motion_of(s)->optimum)
    return cb_fail(CB_ERROR_INPUT, "the key `optimum` is missing: the task `optimize` needs its target");
  return cb_task_layout(s, arena, of_best, 0, NULL, out);
}

static cb_status find_optimum(cb_scenario *s, cb_arena *arena, const void *const **row) {
  best *to = cb_arena_alloc(arena, 1, sizeof *to);
  cb_gait_check check;
  cb_optima *all = NULL;
  if (!to) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  const cb_status status = cb_gait_optima_find(motion_of(s), 0, NULL, &all, &check);
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
  return cb_task_row(arena, of_best, 0, to, row);
}

/* --- optimality --- */

typedef struct judged {
  cb_optimality of;
  double efficiency, stationary, index, flat, conjugates, active_constraints, loose;
} judged;

#define IN(member) offsetof(judged, of.member)
static const cb_task_column of_judged[] = {
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

static cb_status layout_optimality(const struct cb_sweep *all, cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  (void)all;
  if (!motion_of(s)->gait)
    return cb_fail(CB_ERROR_INPUT, "the key `gait` is missing: the task `optimality` needs a gait");
  return cb_task_layout(s, arena, of_judged, 0, NULL, out);
}

static cb_status find_optimality(cb_scenario *s, cb_arena *arena, const void *const **row) {
  judged *to = cb_arena_alloc(arena, 1, sizeof *to);
  if (!to) return cb_fail(CB_ERROR_MEMORY, "no memory for the optimality");
  const cb_status status = cb_gait_optimality_find(motion_of(s), motion_of(s)->bundle, &to->of);
  if (status) return status;
  const cb_optimality *v = &to->of;
  to->efficiency = cb_gait_efficiency(v->amount, v->cost);
  to->stationary = v->stationary;
  to->index = v->index;
  to->flat = v->flat;
  to->conjugates = v->conjugates;
  to->active_constraints = v->active_constraints;
  to->loose = v->loose;
  return cb_task_row(arena, of_judged, 0, to, row);
}

static const cb_task_class
    holonomy = {"holonomy",
                "holonomy of one cycle of the gait: g, log, length, cost, efficiency",
                layout_holonomy,
                find_holonomy,
                NULL,
                NULL},
    integral = {"integral",
                "results of `holonomy`, and cbvi, the corrected body velocity integral, which takes longer",
                layout_integral,
                find_integral,
                NULL,
                NULL},
    optimize = {"optimize",     "the best gait at the scenario's target: cost, efficiency, g, lambda",
                layout_optimum, find_optimum,
                NULL,           NULL},
    optimality = {"optimality",
                  "distance of the gait from an optimum with the same holonomy: slope, gain, index",
                  layout_optimality,
                  find_optimality,
                  NULL,
                  NULL};

static const cb_task_class run = {"run", "the run of the scenario: the fields of its record", .layout = NULL};

const cb_task_class *const cb_tasks[] = {&run,        &holonomy,       &integral,         &optimize,
                                         &optimality, &cb_task_family, &cb_task_steering, NULL};
