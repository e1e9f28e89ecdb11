/* Putting the layout of a record together: dimensions, constants, fields with room for a row, the restart state. */
#include "core/failure.h"
#include "run/run_private.h"

#include <string.h>

cb_dimension *cb_run_dimension(cb_run *run, const char *name, size_t count, const char *doc) {
  cb_dimension *d = &run->dimension[run->layout.n_dimensions++];
  *d = (cb_dimension){.name = name, .count = count, .doc = doc};
  return d;
}

size_t cb_run_extent(const cb_run *run, const char *name) {
  for (size_t i = 0; i < run->layout.n_dimensions; i++)
    if (!strcmp(run->dimension[i].name, name)) return run->dimension[i].count;
  return 0;
}

void cb_run_constant(cb_run *run, const cb_constant *constant) {
  if (cb_run_extent(run, constant->dim)) run->constant[run->layout.n_constants++] = *constant;
}

cb_status cb_run_field(cb_run *run, const cb_field *field, int *index) {
  size_t count = 1;
  for (int d = 0; d < field->rank; d++) count *= cb_run_extent(run, field->dims[d]);
  *index = -1;
  if (count == 0) return CB_OK;
  if (run->n_fields == CB_RUN_FIELDS)
    return cb_fail(CB_ERROR_ARGUMENT, "/%s: a record has at most %d fields", field->name, CB_RUN_FIELDS);
  const int f = run->n_fields;
  run->value[f] = cb_arena_alloc_aligned(run->arena, count, sizeof(double), CB_CACHE_LINE);
  if (!run->value[f]) return cb_fail(CB_ERROR_MEMORY, "no memory for a row of /%s", field->name);
  run->field[f] = *field;
  run->row[f] = run->value[f];
  run->n_fields++;
  *index = f;
  return CB_OK;
}

void cb_run_finish_layout(cb_run *run, const cb_blob *blob, size_t n) {
  run->blob[0] = (cb_blob){"time", CB_FIELD_DOUBLE, 2, run->times};
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

cb_status cb_run_check_observables(const cb_run *run, const cb_observable_doc *groups) {
  for (const char *const *name = run->options.observables; *name; name++) {
    const cb_observable_doc *doc = groups;
    while (doc->name && strcmp(doc->name, *name)) doc++;
    if (!doc->name)
      return cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                        "no observable `%s`; see `curvebody list observables`", *name);
  }
  return CB_OK;
}
