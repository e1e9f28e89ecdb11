/* Makes the layout of a record: dimensions, constants, fields with memory for a row, and the restart state. Also fills
 * the rows. */
#include "core/failure.h"
#include "run/run_private.h"

#include <string.h>

cb_dimension *cb_run_dimension(cb_run *run, const char *name, size_t count, const char *doc) {
  cb_dimension *d = &run->dimension[run->layout.n_dimensions++];
  *d = (cb_dimension){.name = name, .count = count, .doc = doc};
  return d;
}

/* Returns the length of a dimension; 0 if there is no dimension with that name. */
static size_t cb_run_extent(const cb_run *run, const char *name) {
  for (size_t i = 0; i < run->layout.n_dimensions; i++)
    if (!strcmp(run->dimension[i].name, name)) return run->dimension[i].count;
  return 0;
}

void cb_run_constant(cb_run *run, const cb_constant *constant) {
  if (cb_run_extent(run, constant->dim)) run->constant[run->layout.n_constants++] = *constant;
}

cb_status cb_run_field(cb_run *run, const cb_observable *observable) {
  const cb_field *field = &observable->field;
  const size_t size = field->type == CB_FIELD_INT32 ? sizeof(int32_t) : sizeof(double);
  size_t count = 1;
  for (int d = 0; d < field->rank; d++) count *= cb_run_extent(run, field->dims[d]);
  if (count == 0 || !cb_run_asked(run, observable->group)) return CB_OK;
  if (run->n_fields == CB_RUN_FIELDS)
    return cb_fail(CB_ERROR_ARGUMENT, "/%s: a record has at most %d fields", field->name, CB_RUN_FIELDS);
  const int f = run->n_fields;
  void *value = cb_arena_alloc_aligned(run->arena, count, sizeof(double), CB_CACHE_LINE);
  if (!value) return cb_fail(CB_ERROR_MEMORY, "no memory for a row of /%s", field->name);
  run->field[f] = *field;
  run->observable[f] = observable;
  run->cell[f] = (cb_cell){value, count * size, observable->at};
  run->row[f] = value;
  run->n_fields++;
  return CB_OK;
}

cb_status cb_run_fields(cb_run *run, const cb_observable *table) {
  cb_status status = CB_OK;
  for (; table->group && !status; table++) status = cb_run_field(run, table);
  return status;
}

void cb_run_finish_layout(cb_run *run, const cb_blob *blob, size_t n) {
  run->blob[0] = (cb_blob){"time", CB_FIELD_DOUBLE, 2, run->times, false};
  memcpy(run->blob + 1, blob, n * sizeof *blob);
  run->layout.dimensions = run->dimension;
  run->layout.constants = run->constant;
  run->layout.fields = run->field;
  run->layout.n_fields = (size_t)run->n_fields;
  run->layout.state = run->blob;
  run->layout.n_state = n + 1;
}

bool cb_run_asked(const cb_run *run, const char *group) {
  if (!*group) return true;
  if (!strcmp(group, "state")) return run->options.state;
  for (const char *const *name = run->options.observables; *name; name++)
    if (!strcmp(*name, group)) return true;
  return false;
}

cb_status cb_run_choose(cb_run *run, const cb_observable_doc *groups, const char *const *usual) {
  run->layout.observables = groups;
  if (!run->options.observables) run->options.observables = usual;
  for (const char *const *name = run->options.observables; *name; name++) {
    const cb_observable_doc *doc = groups;
    while (doc->name && strcmp(doc->name, *name)) doc++;
    if (!doc->name)
      return cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                        "there is no observable `%s`; see `curvebody list observables`", *name);
  }
  return CB_OK;
}

/* --- rows --- */

cb_status cb_run_measure(cb_run *run, const char **what) {
  cb_status status = run->motion->measure ? run->motion->measure(run, what) : CB_OK;
  for (int f = 0; f < run->n_fields && !status; f++) {
    *what = run->field[f].name;
    status = run->observable[f]->fill(run, run->cell[f]);
  }
  return status;
}

CB_FILL(cb_fill_time) {
  *(double *)to.out = *run->t;
  return CB_OK;
}
CB_FILL(cb_fill_step) {
  *(int64_t *)to.out = *run->step;
  return CB_OK;
}
CB_FILL(cb_fill_step_size) {
  *(double *)to.out = run->step_size;
  return CB_OK;
}
CB_FILL(cb_fill_iterations) {
  *(int32_t *)to.out = *run->iterations;
  return CB_OK;
}
CB_FILL(cb_fill_own) {
  memcpy(to.out, (const char *)run->own + to.at, to.size);
  return CB_OK;
}
