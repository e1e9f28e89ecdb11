/* A field in the text of a reduction: `x[0, 2]`, by numbers from 0 or by labels, or a field of events. */
#include "core/failure.h"
#include "core/text.h"
#include "sweep/reduce_private.h"

#include <curvebody/run.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NAMES = 160, NAME = 64 };

static const struct {
  const char *name;
  cb_field_type type;
  size_t at;
} event_fields[] = {{"event_time", CB_FIELD_DOUBLE, offsetof(cb_event_row, time)},
                    {"event_kind", CB_FIELD_INT32, offsetof(cb_event_row, kind)},
                    {"event_i", CB_FIELD_INT32, offsetof(cb_event_row, i)},
                    {"event_j", CB_FIELD_INT32, offsetof(cb_event_row, j)},
                    {"event_gap", CB_FIELD_DOUBLE, offsetof(cb_event_row, gap)},
                    {"event_speed_before", CB_FIELD_DOUBLE, offsetof(cb_event_row, speed_before)},
                    {"event_speed_after", CB_FIELD_DOUBLE, offsetof(cb_event_row, speed_after)},
                    {"event_impulse", CB_FIELD_DOUBLE, offsetof(cb_event_row, impulse)}};
enum { EVENT_FIELDS = sizeof event_fields / sizeof *event_fields };

static const cb_dimension *dimension_of(const cb_reduce_text *r, const char *name) {
  for (size_t d = 0; d < r->layout->n_dimensions; d++)
    if (!strcmp(r->layout->dimensions[d].name, name)) return &r->layout->dimensions[d];
  return NULL;
}

/* Labels of a dimension: its own, or those of /DIMENSION_name[DIMENSION]; NULL: none. */
static const char *const *labels_of(const cb_reduce_text *r, const cb_dimension *d) {
  const size_t n = strlen(d->name);
  for (size_t c = 0; c < r->layout->n_constants && !d->labels; c++) {
    const cb_constant *constant = &r->layout->constants[c];
    if (!strcmp(constant->dim, d->name) && !strncmp(constant->name, d->name, n) && !strcmp(constant->name + n, "_name"))
      return constant->labels;
  }
  return d->labels;
}

/* Is text one of a list "a, b, wrench_NAME"? */
static bool is_listed(const char *list, const char *text) {
  for (const char *at = list; *at;) {
    at += strspn(at, ", ");
    const size_t n = strcspn(at, ", "), stem = n > 4 && !memcmp(at + n - 4, "NAME", 4) ? n - 4 : n;
    if (n && !strncmp(at, text, stem) && (stem < n ? text[stem] != 0 : text[n] == 0)) return true;
    at += n;
  }
  return false;
}

/* The observables that would put a field of that name into the record; NULL: none. */
static const char *group_with(const cb_reduce_text *r, const char *name) {
  if (!r->has_time) return NULL; /* not of a run */
  const cb_observable_doc *group = dimension_of(r, "pose_part") ? cb_fluid_observables
                                   : dimension_of(r, "number")  ? cb_bundle_observables
                                                                : cb_observable_groups;
  while (group->name && !(group->fields && is_listed(group->fields, name))) group++;
  return group->name;
}

static cb_status unknown_field(const cb_reduce_text *r, size_t from, const char *name) {
  const char *names[NAMES];
  size_t n = 0;
  for (size_t f = 0; f < r->layout->n_fields && n + EVENT_FIELDS < NAMES; f++) names[n++] = r->layout->fields[f].name;
  const size_t of_rows = n;
  for (size_t e = 0; e < EVENT_FIELDS; e++) names[n++] = event_fields[e].name;
  const char *group = group_with(r, name), *near = cb_nearest_name(name, names, n);
  if (group)
    return cb_node_fail_at(r->node, from, "the field '%s' is not recorded: add `%s` to record.observables", name,
                           group);
  if (near) return cb_node_fail_at(r->node, from, "unknown field '%s', did you mean '%s'?", name, near);
  cb_text all = {0};
  for (size_t i = 0; i < of_rows; i++) {
    cb_text_puts(&all, i ? ", " : "");
    cb_text_puts(&all, names[i]);
  }
  const cb_status status = cb_node_fail_at(r->node, from, "unknown field '%s', expected one of: %s", name,
                                           all.failed || !all.data ? "" : all.data);
  cb_text_free(&all);
  return status;
}

/* One index, from text[from, to): a number or a label. */
static cb_status read_index(const cb_reduce_text *r, size_t from, size_t to, const cb_dimension *d, size_t *out) {
  const char *text = r->text + from;
  const size_t n = to - from;
  long long index;
  if (n && cb_parse_integer(text, n, &index)) {
    if (index < 0 || (unsigned long long)index >= d->count)
      return cb_node_fail_at(r->node, from, "expected 0 to %zu for the dimension `%s`, found %lld", d->count - 1,
                             d->name, index);
    return *out = (size_t)index, CB_OK;
  }
  const char *const *labels = labels_of(r, d);
  for (size_t i = 0; labels && i < d->count; i++)
    if (strlen(labels[i]) == n && !memcmp(labels[i], text, n)) return *out = i, CB_OK;
  char label[NAME] = "";
  if (n < sizeof label) memcpy(label, text, n);
  const char *near = labels && n ? cb_nearest_name(label, labels, d->count) : NULL;
  return cb_node_fail_at(r->node, from, "expected an index from 0 to %zu%s of the dimension `%s`, found '%s'%s%s%s",
                         d->count - 1, labels ? ", or a label," : "", d->name, cb_quoted(text, n).text,
                         near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* The element that [ at text[*at] selects of a field; *at goes behind its ]. */
static cb_status read_indices(const cb_reduce_text *r, const cb_field *field, size_t *at, size_t *element) {
  size_t from = *at + 1;
  *element = 0;
  for (int d = 0; d < field->rank; d++) {
    from = cb_reduce_skip(r->text, from);
    size_t to = from, index = 0;
    while (r->text[to] && !strchr(",[]()", r->text[to])) to++;
    const char end = d + 1 < field->rank ? ',' : ']';
    if (r->text[to] != end)
      return cb_node_fail_at(r->node, to, "expected `%c`: /%s has %d ind%s", end, field->name, field->rank,
                             field->rank == 1 ? "ex" : "ices");
    const cb_dimension *dimension = dimension_of(r, field->dims[d]);
    const cb_status status = read_index(r, from, cb_reduce_unskip(r->text, from, to), dimension, &index);
    if (status) return status;
    *element = *element * dimension->count + index;
    from = to + 1;
  }
  *at = from;
  return CB_OK;
}

cb_status cb_reduce_read_field(const cb_reduce_text *r, size_t from, size_t *end, cb_reduce_field *out,
                               bool *of_events) {
  char name[NAME];
  const size_t n = *end - from;
  if (n >= sizeof name) return cb_node_fail_at(r->node, from, "a name of %zu letters", n);
  memcpy(name, r->text + from, n);
  name[n] = 0;
  size_t next = cb_reduce_skip(r->text, *end);
  const bool indexed = r->text[next] == '[';
  if (r->text[next] == '(')
    return cb_node_fail_at(r->node, next, "`%s` is a field: its elements are written %s[...]", name, name);
  *of_events = false;
  for (size_t e = 0; e < EVENT_FIELDS; e++)
    if (!strcmp(event_fields[e].name, name)) {
      if (indexed) return cb_node_fail_at(r->node, next, "`%s` has no indices", name);
      *of_events = true;
      return *out = (cb_reduce_field){0, event_fields[e].at, event_fields[e].type}, CB_OK;
    }
  size_t f = 0;
  while (f < r->layout->n_fields && strcmp(r->layout->fields[f].name, name)) f++;
  if (f == r->layout->n_fields) return unknown_field(r, from, name);
  const cb_field *field = &r->layout->fields[f];
  size_t element = 0, count = 1;
  char shape[160] = "";
  for (int d = 0; d < field->rank; d++) {
    const cb_dimension *dimension = dimension_of(r, field->dims[d]);
    const size_t length = strlen(shape);
    snprintf(shape + length, sizeof shape - length, "%s%s of %zu", d ? ", " : "", field->dims[d], dimension->count);
    count *= dimension->count;
  }
  if (!count) return cb_node_fail_at(r->node, from, "/%s is empty: it has [%s]", name, shape);
  if (indexed && !field->rank) return cb_node_fail_at(r->node, next, "/%s is a number a row: it has no indices", name);
  if (indexed) {
    const cb_status status = read_indices(r, field, &next, &element);
    if (status) return status;
    *end = next;
  } else if (count > 1) {
    return cb_node_fail_at(r->node, from, "expected an element of /%s: it has [%s]", name, shape);
  }
  *out = (cb_reduce_field){f, element * (field->type == CB_FIELD_INT32 ? 4 : 8), field->type};
  return CB_OK;
}

bool cb_reduce_is_field(const cb_reduce_text *r, const char *text, size_t n) {
  for (size_t f = 0; f < r->layout->n_fields; f++)
    if (strlen(r->layout->fields[f].name) == n && !memcmp(r->layout->fields[f].name, text, n)) return true;
  for (size_t e = 0; e < EVENT_FIELDS; e++)
    if (strlen(event_fields[e].name) == n && !memcmp(event_fields[e].name, text, n)) return true;
  return false;
}
