/* What gaits are asked for, as a row of numbers. */
#include "sweep/work.h"

#include "io/gait_cycle.h"
#include "io/scenario_optimum.h"

#include <math.h>
#include <stddef.h>

static const cb_bundle_scenario *motion_of(cb_scenario *s) { return cb_bundle_scenario_of(s); }

/* A field at an offset of a row's numbers; rank 1: of `dim`. */
typedef struct column {
  const char *name, *dim, *doc;
  size_t at;
} column;

enum { COLUMNS = 20, DIMENSIONS = 3 };

static cb_status lay(cb_scenario *s, cb_arena *arena, const column *columns, cb_record_layout *out) {
  const cb_bundle *b = motion_of(s)->bundle;
  cb_dimension *dimension = cb_arena_alloc(arena, DIMENSIONS, sizeof *dimension);
  cb_field *field = cb_arena_alloc(arena, COLUMNS, sizeof *field);
  if (!dimension || !field) return cb_fail(CB_ERROR_MEMORY, "no memory for a row");
  dimension[0] = (cb_dimension){"number", (size_t)b->group->size, NULL, b->group->number, "of an element of the group"};
  dimension[1] = (cb_dimension){"axis", (size_t)b->group->dim, NULL, b->group->axis, "of the algebra"};
  dimension[2] = (cb_dimension){"variable", (size_t)b->n, NULL, b->shape, "shape variable"};
  size_t n = 0;
  for (; columns[n].name; n++)
    field[n] = (cb_field){.name = columns[n].name,
                          .rank = columns[n].dim != NULL,
                          .dims = {columns[n].dim},
                          .units = "1",
                          .doc = columns[n].doc};
  *out = (cb_record_layout){.dimensions = dimension, .n_dimensions = DIMENSIONS, .fields = field, .n_fields = n};
  return CB_OK;
}

static cb_status row_of(cb_arena *arena, const column *columns, const void *numbers, const void *const **out) {
  const void **row = cb_arena_alloc(arena, COLUMNS, sizeof *row);
  if (!row) return cb_fail(CB_ERROR_MEMORY, "no memory for a row");
  for (size_t n = 0; columns[n].name; n++) row[n] = (const char *)numbers + columns[n].at;
  return *out = row, CB_OK;
}

/* --- holonomy --- */

static const column of_cycle[] = {
    {"g", "number", "the holonomy", offsetof(cb_gait_cycle, g)},
    {"log", "axis", "its log", offsetof(cb_gait_cycle, log)},
    {"length", NULL, "int sqrt(r'Mr') dt", offsetof(cb_gait_cycle, length)},
    {"cost", NULL, "int r'Mr' dt", offsetof(cb_gait_cycle, cost)},
    {"efficiency", NULL, "square of the way over square of the length", offsetof(cb_gait_cycle, efficiency)},
    {"g_repeated", "number", "holonomy of all cycles", offsetof(cb_gait_cycle, repeated)},
    {NULL, NULL, NULL, 0}};

static cb_status lay_holonomy(cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  if (!motion_of(s)->gait) return cb_fail(CB_ERROR_INPUT, "the key `gait` is missing: `holonomy` is of a gait");
  return lay(s, arena, of_cycle, out);
}

static cb_status find_holonomy(cb_scenario *s, cb_arena *arena, const void *const **row) {
  cb_gait_cycle *c = cb_arena_alloc(arena, 1, sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for a cycle");
  const cb_status status = cb_gait_cycle_find(motion_of(s), motion_of(s)->bundle, 0, false, c);
  return status ? status : row_of(arena, of_cycle, c, row);
}

/* --- optimize --- */

typedef struct best {
  double cost, length, amount, efficiency, g[CB_GROUP_SIZE], lambda[CB_GROUP_DIM], at[CB_SHAPE_MAX], index, flat, wong,
      found, starts, optima;
} best;

static const column of_best[] = {
    {"cost", NULL, "int r'Mr' dt of the best gait", offsetof(best, cost)},
    {"length", NULL, "its length", offsetof(best, length)},
    {"amount", NULL, "of the target", offsetof(best, amount)},
    {"efficiency", NULL, "amount^2/cost", offsetof(best, efficiency)},
    {"g", "number", "its holonomy", offsetof(best, g)},
    {"lambda", "axis", "multiplier", offsetof(best, lambda)},
    {"at", "variable", "shape where it begins", offsetof(best, at)},
    {"index", NULL, "negative directions of the second variation; -1: not proved", offsetof(best, index)},
    {"flat", NULL, "directions without a second variation", offsetof(best, flat)},
    {"wong", NULL, "its cost by Wong's equations", offsetof(best, wong)},
    {"found", NULL, "starts that came to it", offsetof(best, found)},
    {"starts", NULL, "starts of the search", offsetof(best, starts)},
    {"optima", NULL, "different gaits that were found", offsetof(best, optima)},
    {NULL, NULL, NULL, 0}};

static cb_status lay_optimum(cb_scenario *s, cb_arena *arena, cb_record_layout *out) {
  if (!motion_of(s)->optimum) return cb_fail(CB_ERROR_INPUT, "the key `optimum` is missing: `optimize` is of a target");
  return lay(s, arena, of_best, out);
}

static cb_status find_optimum(cb_scenario *s, cb_arena *arena, const void *const **row) {
  const cb_bundle *b = motion_of(s)->bundle;
  best *to = cb_arena_alloc(arena, 1, sizeof *to);
  cb_optima *all = NULL;
  if (!to) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  const cb_status status = cb_optimum_find(&motion_of(s)->optimum->problem, &all);
  if (status) return status;
  const cb_optimum *o = &all->item[0];
  *to = (best){.cost = o->cost,
               .length = o->length,
               .amount = o->amount,
               .efficiency = o->amount * o->amount / o->cost,
               .index = o->index,
               .flat = o->flat,
               .wong = o->wong,
               .found = o->found,
               .starts = all->starts,
               .optima = all->count};
  for (int k = 0; k < b->group->size; k++) to->g[k] = o->g[k];
  for (int k = 0; k < b->group->dim; k++) to->lambda[k] = o->lambda[k];
  for (int i = 0; i < b->n; i++) to->at[i] = o->r[i];
  cb_optima_free(all);
  return row_of(arena, of_best, to, row);
}

static const cb_work_class run = {"run", "the run of the scenario: the fields of its record", NULL, NULL},
                           holonomy = {"holonomy", "what a cycle of the gait does: g, log, length, cost, efficiency",
                                       lay_holonomy, find_holonomy},
                           optimize = {"optimize",
                                       "the best gait at the scenario's target: cost, efficiency, g, lambda",
                                       lay_optimum, find_optimum};

const cb_work_class *const cb_works[] = {&run, &holonomy, &optimize, NULL};
