/* Opens the first member as the model of all members, and makes the layout of the result.
 *
 * The first part has functions that the tasks of gaits share: they make the layout of a row of numbers, the row, and
 * the results of one cycle. These are the same numbers that `curvebody gait` prints for the scenario.
 */
#include "sweep/sweep.h"

#include "core/failure.h"
#include "core/text.h"
#include "scenario/bundle_scenario.h"
#include "scenario/private.h"
#include "tree/scalar.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- rows of tasks --- */

cb_status cb_task_layout(cb_scenario *s, cb_arena *arena, const cb_task_column *columns, int of,
                         const char *const *asked, cb_record_layout *out) {
  static const char *const ends[] = {"before", "after"}, *const invariants[] = {"speed", "momentum", "casimir"};
  const cb_bundle *b = cb_bundle_scenario_of(s)->bundle;
  double *time = cb_arena_alloc(arena, CB_WORK_TIMES, sizeof *time);
  const cb_dimension dimensions[] = {
      {"number", (size_t)b->group->size, NULL, b->group->number, "number of a group element"},
      {"axis", (size_t)b->group->dim, NULL, b->group->axis, "axis of the group's algebra"},
      {"variable", (size_t)b->n, NULL, b->shape, "shape variable"},
      {"multiplier", 2 * (size_t)b->n, NULL, NULL, "Floquet multiplier, the largest first"},
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

/* Bits for cb_task_column.of. OF_TABLES: the field exists if the bundle is a table. OF_INTEGRALS: the field exists if
 * the corrected body velocity integral is requested. */
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

/* --- the model --- */

static cb_status no_memory(void) { return cb_fail(CB_ERROR_MEMORY, "no memory for a sweep"); }

/* --- names of the result --- */

typedef struct name {
  const char *text;
  const cb_node *at;
} name;

typedef struct names {
  name name[512];
  size_t count;
  const cb_node
      *scenario; /* node of the names of the record; if a name conflicts with these, the error is at that name */
} names;

/* Adds a name; fails if it is already used or cannot be the name of an array. */
static cb_status add_name(names *all, const char *text, const cb_node *at) {
  bool good = isalpha((unsigned char)*text) || *text == '_';
  for (const char *c = text; *c; c++) good = good && (isalnum((unsigned char)*c) || strchr("_.-", *c));
  if (!good || strlen(text) > 60)
    return cb_node_fail(at,
                        "'%s' cannot be the name of an array: expected at most 60 letters, digits, and _ . -, "
                        "beginning with a letter or _",
                        text);
  for (size_t i = 0; i < all->count; i++)
    if (!strcmp(all->name[i].text, text))
      return cb_node_fail(at == all->scenario ? all->name[i].at : at,
                          "the name `%s` already exists in the result: expected another (`name:` of an axis, a key of "
                          "`collect`)",
                          text);
  if (all->count < sizeof all->name / sizeof *all->name) all->name[all->count++] = (name){text, at};
  return CB_OK;
}

/* --- coordinates --- */

static cb_status labels_of(cb_sweep *s, const cb_sweep_axis *axis, const cb_sweep_key *key, const char *const **out) {
  const char **label = cb_arena_alloc(s->arena, axis->count, sizeof *label);
  for (size_t i = 0; label && i < axis->count; i++) {
    char *text = cb_sweep_value_text(key->value[i]);
    label[i] = text ? cb_arena_strdup(s->arena, text) : NULL;
    free(text);
    if (!label[i]) return no_memory();
  }
  *out = label;
  return label ? CB_OK : no_memory();
}

static cb_status add_coordinate(cb_sweep *s, int dimension, const cb_sweep_axis *axis, const cb_sweep_key *key,
                                const char *called) {
  cb_store_coordinate *c = &s->coordinate[s->layout.n_coordinates];
  if (s->layout.n_coordinates == CB_SWEEP_COORDINATES)
    return cb_node_fail(key->key, "too many keys are varied: expected at most %d", CB_SWEEP_COORDINATES);
  const bool list = key->number && (key->shape || (key->value && key->value[0]->kind == CB_NODE_LIST));
  *c = (cb_store_coordinate){.name = called,
                             .axis = dimension,
                             .components = list ? key->components : 0,
                             .values = key->number,
                             .doc = key->key->text};
  s->layout.n_coordinates++;
  return key->number ? CB_OK : labels_of(s, axis, key, &c->labels);
}

/* The values of a key are the scale of the axis's dimension if it is the only key and its values are not lists, or if
 * it has the name of the axis. Otherwise the dimension has its own name and the numbers 0, 1, 2, .. as its scale, and
 * the keys are coordinates along it. */
static cb_status layout_axis(cb_sweep *s, size_t a, int dimension, names *all) {
  const cb_sweep_axis *axis = &s->plan->axis[a];
  const cb_sweep_key *first = &axis->key[0];
  const bool list = first->shape || (first->value && first->value[0]->kind == CB_NODE_LIST),
             single = axis->keys == 1 && !list;
  const char *called = axis->name;
  cb_status status = CB_OK;
  if (s->plan->grid) {
    if (!single && !axis->named) {
      char text[CB_YAML_LONGEST_KEY + 8];
      snprintf(text, sizeof text, "%s.index", axis->name);
      called = cb_arena_strdup(s->arena, text);
      if (!called) return no_memory();
    }
    s->axis[s->layout.n_axes++] = (cb_store_axis){called, axis->count};
    status = add_name(all, called, axis->at);
  }
  for (size_t k = 0; k < axis->keys && !status; k++) {
    const bool scale = single && s->plan->grid;
    const char *own = single ? axis->name : axis->key[k].key->text;
    if (!scale && strcmp(own, called)) status = add_name(all, own, axis->key[k].key);
    if (!status) status = add_coordinate(s, dimension, axis, &axis->key[k], own);
  }
  return status;
}

/* --- fields --- */

static const cb_dimension *dimension_of(const cb_record_layout *l, const char *called) {
  for (size_t d = 0; d < l->n_dimensions; d++)
    if (!strcmp(l->dimensions[d].name, called)) return &l->dimensions[d];
  return NULL;
}

static size_t count_of(const cb_record_layout *l, const cb_field *f) {
  size_t count = 1;
  for (int d = 0; d < f->rank; d++) {
    const cb_dimension *along = dimension_of(l, f->dims[d]);
    count *= along ? along->count : 1;
  }
  return count;
}

static cb_status add_dimension(cb_sweep *s, const cb_dimension *d, names *all) {
  for (size_t i = 0; i < s->layout.n_dimensions; i++)
    if (!strcmp(s->dimension[i].name, d->name)) return CB_OK;
  if (s->layout.n_dimensions == sizeof s->dimension / sizeof *s->dimension) return no_memory();
  s->dimension[s->layout.n_dimensions++] = *d;
  return add_name(all, d->name, s->plan->scenario);
}

static cb_status add_field(cb_sweep *s, const cb_store_field *field, const cb_node *at, names *all) {
  if (s->layout.n_fields == CB_SWEEP_FIELDS)
    return cb_node_fail(at, "too many arrays in the result: expected at most %d", CB_SWEEP_FIELDS);
  s->field[s->layout.n_fields++] = *field;
  return add_name(all, field->name, at);
}

/* Adds the fields of a row that are kept. If all rows are kept, the dimension `row` comes first in each of them, and
 * the field `rows` is the number of rows. */
static cb_status layout_kept(cb_sweep *s, names *all) {
  const bool rows = s->plan->keep == CB_KEEP_ROWS;
  const cb_node *at = s->plan->scenario;
  cb_status status = CB_OK;
  if (rows) {
    status = add_dimension(s, &(cb_dimension){.name = "row", .count = 1, .doc = "row of a member"}, all);
    if (!status)
      status = add_field(
          s,
          &(cb_store_field){.name = "rows", .type = CB_FIELD_INT64, .units = "1", .doc = "number of rows of a member"},
          at, all);
  }
  for (size_t f = 0; f < s->rows.n_fields && !status; f++) {
    const cb_field *from = &s->rows.fields[f];
    cb_store_field to = {.name = from->name, .type = from->type, .units = from->units, .doc = from->doc};
    if (rows) {
      to.dims[to.rank] = "row";
      to.shape[to.rank++] = 1;
    }
    for (int d = 0; d < from->rank && !status; d++) {
      const cb_dimension *dimension = dimension_of(&s->rows, from->dims[d]);
      to.dims[to.rank] = from->dims[d];
      to.shape[to.rank++] = dimension->count;
      status = add_dimension(s, dimension, all);
    }
    if (!status) status = add_field(s, &to, at, all);
  }
  return status;
}

static cb_status layout_collected(cb_sweep *s, names *all) {
  cb_errors errors = cb_errors_begin();
  for (size_t c = 0; c < s->plan->collects; c++) {
    const cb_sweep_collect *collect = &s->plan->collect[c];
    if (cb_errors_add(&errors, collect->text, cb_reduction_parse(collect->text, &s->rows, &s->reduction[c]))) continue;
    s->doubles += cb_reduction_doubles(s->reduction[c]);
    cb_errors_add(&errors, collect->text,
                  add_field(s, &(cb_store_field){.name = collect->name, .units = "1", .doc = collect->text->text},
                            collect->at, all));
  }
  return cb_errors_end(&errors);
}

static cb_status make_layout(cb_sweep *s) {
  static const char *const own[] = {"member", "status",  "digest", "seconds", "failure",
                                    "warned", "warning", "letter", "sweep",   "state"};
  names *all = calloc(1, sizeof *all);
  if (!all) return no_memory();
  all->scenario = s->plan->scenario;
  s->layout = (cb_store_layout){.title = s->plan->title,
                                .sweep = s->plan->resolved,
                                .digest = s->digest,
                                .axes = s->axis,
                                .coordinates = s->coordinate,
                                .dimensions = s->dimension,
                                .fields = s->field,
                                .members = s->plan->members,
                                .goes_on = cb_task_goes_on(s->task)};
  cb_status status = CB_OK;
  for (size_t i = 0; i < sizeof own / sizeof *own && !status; i++) status = add_name(all, own[i], s->plan->scenario);
  if (!s->plan->grid) s->axis[s->layout.n_axes++] = (cb_store_axis){"member", (size_t)s->plan->members};
  for (size_t a = 0; a < s->plan->axes && !status; a++) status = layout_axis(s, a, s->plan->grid ? (int)a : 0, all);
  if (!status && s->plan->keep) status = layout_kept(s, all);
  if (!status) status = layout_collected(s, all);
  free(all);
  return status;
}

void cb_sweep_layout_rows(cb_sweep *s) {
  if (s->plan->keep != CB_KEEP_ROWS) return;
  const size_t rows = (size_t)s->rows_max;
  for (size_t f = 0; f < s->layout.n_fields; f++)
    if (s->field[f].rank && !strcmp(s->field[f].dims[0], "row")) s->field[f].shape[0] = rows;
  for (size_t d = 0; d < s->layout.n_dimensions; d++)
    if (!strcmp(s->dimension[d].name, "row")) s->dimension[d].count = rows;
}

/* --- members --- */

cb_status cb_sweep_fail_member(const cb_sweep *s, int64_t m, cb_status status) {
  const cb_failure known = cb_failure_last();
  char *member_text = cb_sweep_member_text(s->plan, m);
  cb_text text = {0};
  cb_text_puts(&text, cb_error_text());
  cb_text_puts(&text, "\n");
  cb_text_puts(&text, s->plan->path);
  cb_text_puts(&text, ": note: this error is in ");
  cb_text_puts(&text, member_text ? member_text : "a member");
  if (!text.failed) status = cb_fail_lines(&known, status, text.data);
  cb_text_free(&text);
  free(member_text);
  return status;
}

cb_status cb_sweep_open(const cb_sweep *s, int64_t m, cb_arena *arena, cb_scenario **out) {
  return cb_sweep_open_at(s, m, 0, NULL, arena, out);
}

cb_status cb_sweep_open_at(const cb_sweep *s, int64_t m, size_t axis, const double *number, cb_arena *arena,
                           cb_scenario **out) {
  cb_member_value values[CB_SWEEP_VALUES];
  size_t n, at = s->plan->sets;
  for (size_t a = 0; a < axis; a++) at += s->plan->axis[a].keys;
  cb_status status = cb_sweep_values(s->plan, m, arena, values, &n);
  if (!status && number && !(values[at].value = cb_sweep_number(arena, values[at].value, *number)))
    status = no_memory();
  const cb_tree *tree = s->plan->scenario_tree ? s->plan->scenario_tree : s->plan->tree;
  return status ? status : cb_scenario_open_member(tree, s->plan->scenario, values, n, s->task->layout != NULL, out);
}

cb_status cb_sweep_rows_of(const cb_sweep *s, cb_scenario *scenario, cb_arena *arena, cb_record_layout *out) {
  if (s->task->layout) return s->task->layout(s, scenario, arena, out);
  *out = *cb_run_layout(cb_scenario_run(scenario));
  return CB_OK;
}

cb_status cb_sweep_same_rows(const cb_sweep *s, const cb_record_layout *rows) {
  if (rows->n_fields != s->rows.n_fields)
    return cb_fail(CB_ERROR_INPUT, "its record has %zu fields: expected %zu, as in the record of member 0",
                   rows->n_fields, s->rows.n_fields);
  for (size_t f = 0; f < rows->n_fields; f++) {
    const cb_field *a = &rows->fields[f], *b = &s->rows.fields[f];
    if (strcmp(a->name, b->name) || a->type != b->type || a->rank != b->rank)
      return cb_fail(CB_ERROR_INPUT, "its record has /%s: expected /%s, as in the record of member 0", a->name,
                     b->name);
    for (int d = 0; d < a->rank; d++) {
      const size_t is = dimension_of(rows, a->dims[d])->count, was = dimension_of(&s->rows, b->dims[d])->count;
      if (strcmp(a->dims[d], b->dims[d]) || is != was)
        return cb_fail(CB_ERROR_INPUT,
                       "its /%s has the size %zu in the dimension `%s`: expected %zu, as in the record of member 0",
                       a->name, is, a->dims[d], was);
    }
  }
  return CB_OK;
}

/* --- creation of a sweep --- */

cb_status cb_sweep_create(cb_sweep_plan *plan, cb_sweep **out) {
  cb_arena *arena = cb_arena_create();
  cb_sweep *s = arena ? cb_arena_alloc(arena, 1, sizeof *s) : NULL;
  if (!s) {
    cb_arena_free(arena);
    cb_sweep_plan_free(plan);
    return no_memory();
  }
  s->arena = arena;
  s->plan = plan;
  s->rows_max = 1;
  s->task = plan->task;
  cb_status status = cb_sweep_open(s, 0, arena, &s->model);
  if (status) status = cb_sweep_fail_member(s, 0, status);
  if (!status) status = cb_sweep_rows_of(s, s->model, arena, &s->rows);
  for (size_t f = 0; f < s->rows.n_fields && f < CB_SWEEP_FIELDS && !status; f++) {
    s->row_bytes[f] = count_of(&s->rows, &s->rows.fields[f]) * (s->rows.fields[f].type == CB_FIELD_INT32 ? 4 : 8);
    s->row_units += (s->row_bytes[f] + 7) / 8;
  }
  if (!status) status = make_layout(s);
  if (status) {
    cb_sweep_free(s);
    return status;
  }
  *out = s;
  return CB_OK;
}

void cb_sweep_free(cb_sweep *s) {
  if (!s) return;
  for (size_t c = 0; c < s->plan->collects; c++) cb_reduction_free(s->reduction[c]);
  for (size_t i = 0; i < s->files; i++) free(s->file[i]);
  free(s->file);
  cb_scenario_free(s->model);
  cb_sweep_plan_free(s->plan);
  cb_arena_free(s->arena);
}
