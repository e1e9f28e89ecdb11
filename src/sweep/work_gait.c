/* What gaits are asked for, as a row of numbers: what `curvebody gait` tells of the same scenario. */
#include "sweep/work.h"

#include "scenario/gait_cycle.h"
#include "scenario/gait_optimum.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const cb_bundle_scenario *motion_of(cb_scenario *s) { return cb_bundle_scenario_of(s); }

/* Fields that a row has not always. */
enum { OF_TABLES = 1, OF_INTEGRALS = 2 };

cb_status cb_work_lay(cb_scenario *s, cb_arena *arena, const cb_work_column *columns, int of, const char *const *asked,
                      cb_record_layout *out) {
  static const char *const ends[] = {"before", "after"}, *const invariants[] = {"speed", "momentum", "casimir"};
  const cb_bundle *b = motion_of(s)->bundle;
  double *time = cb_arena_alloc(arena, CB_WORK_TIMES, sizeof *time);
  const cb_dimension dimensions[] = {
      {"number", (size_t)b->group->size, NULL, b->group->number, "of an element of the group"},
      {"axis", (size_t)b->group->dim, NULL, b->group->axis, "of the algebra"},
      {"variable", (size_t)b->n, NULL, b->shape, "shape variable"},
      {"side", 2, NULL, ends, "of the end of a cycle"},
      {"invariant", 3, NULL, invariants, "of extremals"},
      {"time", CB_WORK_TIMES, time, NULL, "part of the cycle"},
      {"asked", 2, NULL, asked, "number that is asked"}};
  const size_t count = sizeof dimensions / sizeof *dimensions;
  cb_dimension *dimension = cb_arena_alloc(arena, count, sizeof *dimension);
  cb_field *field = cb_arena_alloc(arena, CB_WORK_COLUMNS, sizeof *field);
  if (!dimension || !field || !time) return cb_fail(CB_ERROR_MEMORY, "no memory for a row");
  for (int k = 0; k < CB_WORK_TIMES; k++) time[k] = (double)k / (CB_WORK_TIMES - 1);
  memcpy(dimension, dimensions, sizeof dimensions);
  size_t n = 0;
  for (const cb_work_column *c = columns; c->name; c++) {
    if (c->of & ~of) continue;
    field[n] = (cb_field){.name = c->name, .rank = c->dim != NULL, .dims = {c->dim}, .units = "1", .doc = c->doc};
    if (c->dim && !strcmp(c->dim, "way")) field[n].rank = 2, field[n].dims[0] = "time", field[n].dims[1] = "variable";
    n++;
  }
  *out = (cb_record_layout){.dimensions = dimension, .n_dimensions = count, .fields = field, .n_fields = n};
  return CB_OK;
}

cb_status cb_work_row(cb_arena *arena, const cb_work_column *columns, int of, const void *numbers,
                      const void *const **out) {
  const void **row = cb_arena_alloc(arena, CB_WORK_COLUMNS, sizeof *row);
  if (!row) return cb_fail(CB_ERROR_MEMORY, "no memory for a row");
  size_t n = 0;
  for (const cb_work_column *c = columns; c->name; c++)
    if (!(c->of & ~of)) row[n++] = (const char *)numbers + c->at;
  return *out = row, CB_OK;
}

void cb_work_way(const cb_gait *gait, int n, double *shape, double *rate) {
  for (int k = 0; k < CB_WORK_TIMES; k++) {
    for (int i = 0; i < n && !gait; i++) shape[k * n + i] = NAN;
    if (gait) cb_gait_at(gait, (double)k / (CB_WORK_TIMES - 1), shape + k * n, rate ? rate + k * n : NULL);
  }
}

/* --- holonomy, integral --- */

static const cb_work_column of_cycle[] = {
    {"g", "number", "the holonomy", offsetof(cb_gait_cycle, g), 0},
    {"log", "axis", "its log", offsetof(cb_gait_cycle, log), 0},
    {"table_error", "axis", "what the errors of the table can do to the log", offsetof(cb_gait_cycle, table),
     OF_TABLES},
    {"length", NULL, "int sqrt(r'Mr') dt", offsetof(cb_gait_cycle, length), 0},
    {"cost", NULL, "int r'Mr' dt", offsetof(cb_gait_cycle, cost), 0},
    {"efficiency", NULL, "square of the way over square of the length", offsetof(cb_gait_cycle, efficiency), 0},
    {"g_repeated", "number", "holonomy of all cycles", offsetof(cb_gait_cycle, repeated), 0},
    {"cbvi", "axis", "corrected body velocity integral: -int int B", offsetof(cb_gait_cycle, cbvi), OF_INTEGRALS},
    {NULL, NULL, NULL, 0, 0}};

static int parts_of(cb_scenario *s, int more) {
  return more | (strcmp(motion_of(s)->bundle->kind->name, "samples") ? 0 : OF_TABLES);
}

static cb_status lay_cycle(cb_scenario *s, cb_arena *arena, int more, cb_record_layout *out) {
  if (!motion_of(s)->gait)
    return cb_fail(CB_ERROR_INPUT, "the key `gait` is missing: `%s` is of a gait", more ? "integral" : "holonomy");
  return cb_work_lay(s, arena, of_cycle, parts_of(s, more), NULL, out);
}

static cb_status find_cycle(cb_scenario *s, cb_arena *arena, int more, const void *const **row) {
  cb_gait_cycle *c = cb_arena_alloc(arena, 1, sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for a cycle");
  const cb_status status = cb_gait_cycle_find(motion_of(s), motion_of(s)->bundle, 0, more & OF_INTEGRALS, c);
  return status ? status : cb_work_row(arena, of_cycle, parts_of(s, more), c, row);
}

static cb_status lay_holonomy(const struct cb_sweep *all, cb_scenario *s, cb_arena *a, cb_record_layout *out) {
  (void)all;
  return lay_cycle(s, a, 0, out);
}
static cb_status find_holonomy(cb_scenario *s, cb_arena *a, const void *const **row) {
  return find_cycle(s, a, 0, row);
}
static cb_status lay_integral(const struct cb_sweep *all, cb_scenario *s, cb_arena *a, cb_record_layout *out) {
  (void)all;
  return lay_cycle(s, a, OF_INTEGRALS, out);
}
static cb_status find_integral(cb_scenario *s, cb_arena *a, const void *const **row) {
  return find_cycle(s, a, OF_INTEGRALS, row);
}

/* --- optimize --- */

typedef struct best {
  cb_optimum of; /* its gait is not kept */
  cb_gait_check check;
  double efficiency, drift[3], index, flat, conjugates, abnormal, found, starts, failed, optima, falling;
} best;

#define OF(member) offsetof(best, of.member)
static const cb_work_column of_best[] = {
    {"cost", NULL, "int r'Mr' dt of the best gait", OF(cost), 0},
    {"length", NULL, "its length", OF(length), 0},
    {"amount", NULL, "of the target", OF(amount), 0},
    {"efficiency", NULL, "amount^2/cost", offsetof(best, efficiency), 0},
    {"g", "number", "its holonomy", OF(g), 0},
    {"lambda", "axis", "multiplier", OF(lambda), 0},
    {"at", "variable", "shape where it begins", OF(r), 0},
    {"rate", "variable", "rate of the shape there", OF(rate), 0},
    {"momentum", "variable", "momentum of the extremal there", OF(p), 0},
    {"index", NULL, "negative directions of the second variation; -1: not proved", offsetof(best, index), 0},
    {"flat", NULL, "directions without a second variation, but for symmetries", offsetof(best, flat), 0},
    {"conjugates", NULL, "conjugate times before the end; -1: not told", offsetof(best, conjugates), 0},
    {"conjugate", "side", "the first of them, and the next after the end", OF(conjugate), 0},
    {"wong", NULL, "its cost by Wong's equations", OF(wong), 0},
    {"drift", "invariant", "largest relative changes of invariants on the way", offsetof(best, drift), 0},
    {"abnormal", NULL, "1: the multiplier of the cost is 0", offsetof(best, abnormal), 0},
    {"found", NULL, "starts that came to it", offsetof(best, found), 0},
    {"starts", NULL, "starts of the search", offsetof(best, starts), 0},
    {"failed", NULL, "starts that came to nothing", offsetof(best, failed), 0},
    {"optima", NULL, "different gaits that were found", offsetof(best, optima), 0},
    {"falling", NULL, "less that a search fell to which did not settle; inf: none", offsetof(best, falling), 0},
    {"check_cost", NULL, "by holonomy: cost off, relative", offsetof(best, check.cost), 0},
    {"check_g", NULL, "by holonomy: the largest of the numbers of g off", offsetof(best, check.element), 0},
    {NULL, NULL, NULL, 0, 0}};

static cb_status lay_optimum(const struct cb_sweep *all, cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  (void)all;
  if (!motion_of(s)->optimum) return cb_fail(CB_ERROR_INPUT, "the key `optimum` is missing: `optimize` is of a target");
  return cb_work_lay(s, arena, of_best, 0, NULL, out);
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
  return cb_work_row(arena, of_best, 0, to, row);
}

/* --- verdict --- */

typedef struct judged {
  cb_verdict of;
  double efficiency, stationary, index, flat, conjugates, walls, loose;
} judged;

#define IN(member) offsetof(judged, of.member)
static const cb_work_column of_judged[] = {
    {"cost", NULL, "int r'Mr' dt of the gait", IN(cost), 0},
    {"length", NULL, "its length", IN(length), 0},
    {"amount", NULL, "of the target", IN(amount), 0},
    {"efficiency", NULL, "amount^2/cost", offsetof(judged, efficiency), 0},
    {"slope", NULL, "of the cost along gaits that do the same, over all of its gradient", IN(slope), 0},
    {"gain", NULL, "what one step down the gradient saves of the cost", IN(gain), 0},
    {"fit", NULL, "how far the functions of time of this verdict are from the gait", IN(fit), 0},
    {"wong", NULL, "cost of the extremal beside it by Wong's equations", IN(wong), 0},
    {"g", "number", "its holonomy", IN(g), 0},
    {"lambda", "axis", "multipliers that leave the least slope", IN(lambda), 0},
    {"stationary", NULL, "1: its slope is round-off", offsetof(judged, stationary), 0},
    {"index", NULL, "negative directions of the second variation", offsetof(judged, index), 0},
    {"flat", NULL, "directions without a second variation, but for symmetries", offsetof(judged, flat), 0},
    {"conjugates", NULL, "conjugate times before the end; -1: not told", offsetof(judged, conjugates), 0},
    {"conjugate", "side", "the first of them, and the next after the end", IN(conjugate), 0},
    {"walls", NULL, "where it is at walls", offsetof(judged, walls), 0},
    {"loose", NULL, "what the index may be less by, at walls that neither press nor are left", offsetof(judged, loose),
     0},
    {NULL, NULL, NULL, 0, 0}};

static cb_status lay_verdict(const struct cb_sweep *all, cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  (void)all;
  if (!motion_of(s)->gait) return cb_fail(CB_ERROR_INPUT, "the key `gait` is missing: `verdict` is of a gait");
  return cb_work_lay(s, arena, of_judged, 0, NULL, out);
}

static cb_status find_verdict(cb_scenario *s, cb_arena *arena, const void *const **row) {
  judged *to = cb_arena_alloc(arena, 1, sizeof *to);
  if (!to) return cb_fail(CB_ERROR_MEMORY, "no memory for a verdict");
  const cb_status status = cb_gait_verdict_find(motion_of(s), motion_of(s)->bundle, &to->of);
  if (status) return status;
  const cb_verdict *v = &to->of;
  to->efficiency = cb_gait_efficiency(v->amount, v->cost);
  to->stationary = v->stationary;
  to->index = v->index;
  to->flat = v->flat;
  to->conjugates = v->conjugates;
  to->walls = v->contacts;
  to->loose = v->loose;
  return cb_work_row(arena, of_judged, 0, to, row);
}

const cb_work_class
    cb_work_holonomy = {"holonomy",   "what a cycle of the gait does: g, log, length, cost, efficiency",
                        lay_holonomy, find_holonomy,
                        NULL,         NULL},
    cb_work_integral = {"integral",
                        "what `holonomy` tells, and cbvi, the corrected body velocity integral, which takes longer",
                        lay_integral,
                        find_integral,
                        NULL,
                        NULL},
    cb_work_optimize = {"optimize",  "the best gait at the scenario's target: cost, efficiency, g, lambda",
                        lay_optimum, find_optimum,
                        NULL,        NULL},
    cb_work_verdict = {"verdict",   "how far the gait is from optimal among those that do the same: slope, gain, index",
                       lay_verdict, find_verdict,
                       NULL,        NULL};
