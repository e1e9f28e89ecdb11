/* Functions that the tasks of gaits share: they make the layout of a row of numbers, the row, and the results of one
 * cycle. These are the same numbers that `curvebody gait` prints for the scenario. */
#include "scenario/bundle_scenario.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

cb_status cb_task_layout(cb_scenario *s, cb_arena *arena, const cb_task_column *columns, int of,
                         const char *const *asked, cb_record_layout *out) {
  static const char *const ends[] = {"before", "after"}, *const invariants[] = {"speed", "momentum", "casimir"};
  const cb_bundle *b = cb_bundle_scenario_of(s)->bundle;
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

/* --- the results of one cycle --- */

/* Bits of the fields that only some rows have. */
enum { OF_TABLES = 1, OF_INTEGRALS = 2 };

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

static int parts_of(const cb_bundle *b, bool integral) {
  return (integral ? OF_INTEGRALS : 0) | (cb_gait_has_table(b) ? OF_TABLES : 0);
}

cb_status cb_task_cycle_layout(const cb_sweep *sweep, cb_scenario *s, cb_arena *arena, bool integral,
                               cb_record_layout *out) {
  const cb_bundle_scenario *motion = cb_bundle_scenario_of(s);
  if (!motion->gait)
    return cb_fail(CB_ERROR_INPUT, "the key `gait` is missing: the task `%s` needs a gait", sweep->task->name);
  return cb_task_layout(s, arena, of_cycle, parts_of(motion->bundle, integral), NULL, out);
}

cb_status cb_task_cycle(cb_scenario *s, cb_arena *arena, bool integral, const void *const **row) {
  const cb_bundle_scenario *motion = cb_bundle_scenario_of(s);
  cb_gait_cycle *c = cb_arena_alloc(arena, 1, sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for a cycle");
  const cb_status status = cb_gait_cycle_find(motion, motion->bundle, 0, integral, c);
  return status ? status : cb_task_row(arena, of_cycle, parts_of(motion->bundle, integral), c, row);
}
