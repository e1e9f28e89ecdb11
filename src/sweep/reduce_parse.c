/* Reading a reduction: calls and fields are replaced by variables, so that expressions remain, in which the place of each
 * letter in the text is known. */
#include "core/failure.h"
#include "core/text.h"
#include "sweep/reduce_private.h"
#include "tree/scalar.h"

#include <curvebody/run.h>
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4000 };

typedef struct reading {
  const cb_node *node;
  const char *text;
  const cb_record_layout *layout;
  cb_reduction *out;
} reading;

/* An expression whose variables stand in place of what was found. */
typedef struct rewritten {
  char text[LONGEST + 8];
  size_t from[LONGEST + 8]; /* where each letter was */
  size_t length;
} rewritten;

static cb_status no_room(const reading *r, size_t at) {
  return cb_node_fail_at(r->node, at,
                         "the expression is too long: expected at most %d letters, %d reductions and %d "
                         "fields in one",
                         LONGEST, CB_REDUCE_PARTS, CB_REDUCE_FIELDS);
}

static void put(rewritten *w, const char *text, size_t n, size_t from, bool same) {
  for (size_t i = 0; i < n && w->length < LONGEST; i++) {
    w->from[w->length] = from + (same ? 0 : i);
    w->text[w->length++] = text[i];
  }
}

static bool is_letter(char c) { return isalpha((unsigned char)c) || c == '_'; }
static bool is_part(char c) { return is_letter(c) || isdigit((unsigned char)c); }

static size_t word_end(const char *text, size_t from) {
  while (is_part(text[from])) from++;
  return from;
}

/* The end of a number such as 1e-3, so that its letter is no name. */
static size_t number_end(const char *text, size_t from) {
  const size_t n = cb_decimal_length(text + from, strlen(text + from));
  return from + (n ? n : 1);
}

/* The parenthesis that closes the one at `from`, and the first comma at its depth (0: none); 0: there is none. */
static size_t closing(const char *text, size_t from, size_t *comma) {
  int depth = 0;
  *comma = 0;
  for (size_t i = from; text[i]; i++) {
    depth += (text[i] == '(' || text[i] == '[') - (text[i] == ')' || text[i] == ']');
    if (depth == 0) return i;
    if (depth == 1 && text[i] == ',' && !*comma) *comma = i;
  }
  return 0;
}

static cb_reduce_kind kind_of(const char *text, size_t n) {
  int k = 0;
  while (k < CB_REDUCE_KINDS &&
         !(strlen(cb_reduction_docs[k].name) == n && !memcmp(cb_reduction_docs[k].name, text, n)))
    k++;
  return (cb_reduce_kind)k;
}

/* --- fields --- */

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

static const cb_dimension *dimension_of(const reading *r, const char *name) {
  for (size_t d = 0; d < r->layout->n_dimensions; d++)
    if (!strcmp(r->layout->dimensions[d].name, name)) return &r->layout->dimensions[d];
  return NULL;
}

/* The observables that have a field of that name, where it is not recorded. */
static const char *group_with(const char *name) {
  const cb_observable_doc *const tables[] = {cb_observable_groups, cb_fluid_observables, cb_bundle_observables};
  const size_t n = strlen(name);
  for (size_t t = 0; t < 3; t++)
    for (const cb_observable_doc *g = tables[t]; g->name; g++)
      for (const char *at = g->fields; at; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (!strncmp(at, name, n) && (!at[n] || at[n] == ',')) return g->name;
      }
  return NULL;
}

static cb_status unknown_field(const reading *r, size_t from, const char *name) {
  const char *names[160];
  size_t n = 0;
  for (size_t f = 0; f < r->layout->n_fields && n < 140; f++) names[n++] = r->layout->fields[f].name;
  const char *near = cb_nearest_name(name, names, n), *group = group_with(name);
  if (group)
    return cb_node_fail_at(r->node, from, "the field '%s' is not recorded: add `%s` to record.observables", name,
                           group);
  if (near) return cb_node_fail_at(r->node, from, "unknown field '%s', did you mean '%s'?", name, near);
  cb_text all = {0};
  for (size_t i = 0; i < n; i++) {
    cb_text_puts(&all, i ? ", " : "");
    cb_text_puts(&all, names[i]);
  }
  const cb_status status = cb_node_fail_at(r->node, from, "unknown field '%s', expected one of: %s", name,
                                           all.failed || !all.data ? "" : all.data);
  cb_text_free(&all);
  return status;
}

/* One index, from text[from, to): a number or a label. */
static cb_status read_index(const reading *r, size_t from, size_t to, const cb_dimension *d, size_t *out) {
  while (from < to && r->text[from] == ' ') from++;
  while (to > from && r->text[to - 1] == ' ') to--;
  long long index;
  if (to > from && cb_parse_integer(r->text + from, to - from, &index)) {
    if (index < 0 || (unsigned long long)index >= d->count)
      return cb_node_fail_at(r->node, from, "expected 0 to %zu for the dimension `%s`, found %lld", d->count - 1,
                             d->name, index);
    return *out = (size_t)index, CB_OK;
  }
  for (size_t i = 0; d->labels && i < d->count; i++)
    if (strlen(d->labels[i]) == to - from && !memcmp(d->labels[i], r->text + from, to - from)) return *out = i, CB_OK;
  return cb_node_fail_at(r->node, from, "expected an index from 0 to %zu%s of the dimension `%s`, found '%s'",
                         d->count - 1, d->labels ? ", or a label," : "", d->name,
                         cb_quoted(r->text + from, to - from).text);
}

/* The element that [ at text[*at] selects of a field; *at goes behind its ]. */
static cb_status read_indices(const reading *r, const cb_field *field, size_t *at, size_t *element) {
  size_t from = *at + 1;
  *element = 0;
  for (int d = 0; d < field->rank; d++) {
    size_t to = from, index = 0;
    while (r->text[to] && r->text[to] != ',' && r->text[to] != ']') to++;
    const char end = d + 1 < field->rank ? ',' : ']';
    if (r->text[to] != end)
      return cb_node_fail_at(r->node, to, "expected `%c`: /%s has %d ind%s", end, field->name, field->rank,
                             field->rank == 1 ? "ex" : "ices");
    const cb_dimension *dimension = dimension_of(r, field->dims[d]);
    const cb_status status = read_index(r, from, to, dimension, &index);
    if (status) return status;
    *element = *element * dimension->count + index;
    from = to + 1;
  }
  *at = from;
  return CB_OK;
}

/* The field at text[from, *end), with its indices, which *end goes behind. */
static cb_status read_field(const reading *r, size_t from, size_t *end, cb_reduce_field *out, bool *of_events) {
  char name[64];
  const size_t n = *end - from;
  if (n >= sizeof name) return cb_node_fail_at(r->node, from, "a name of %zu letters", n);
  memcpy(name, r->text + from, n);
  name[n] = 0;
  size_t next = *end;
  while (r->text[next] == ' ') next++;
  const bool indexed = r->text[next] == '[';
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

/* --- expressions --- */

/* Parses what was rewritten, of n variables v0, v1, ...; NULL where it is the first of them alone. */
static cb_status parse(const reading *r, rewritten *w, size_t n, cb_expression **out) {
  char names[CB_REDUCE_FIELDS > CB_REDUCE_PARTS ? CB_REDUCE_FIELDS : CB_REDUCE_PARTS][16];
  const char *name[sizeof names / sizeof *names];
  for (size_t i = 0; i < n; i++) {
    snprintf(names[i], sizeof names[i], "value__%zu", i);
    name[i] = names[i];
  }
  w->text[w->length] = 0;
  w->from[w->length] = w->length ? w->from[w->length - 1] + 1 : 0;
  const char *begin = w->text + strspn(w->text, " ");
  const size_t length = strcspn(begin, " ");
  *out = NULL;
  if (n == 1 && !strncmp(begin, names[0], length) && length == strlen(names[0]) &&
      !begin[length + strspn(begin + length, " ")])
    return CB_OK;
  size_t at = 0;
  const cb_status status = cb_expression_parse(w->text, name, n, &at, out);
  if (status != CB_ERROR_INPUT) return status;
  char why[1024];
  snprintf(why, sizeof why, "%s", cb_error_text());
  for (char *v; (v = strstr(why, "value__"));) { /* variables have no names for a user */
    size_t digits = strspn(v + 7, "0123456789");
    memmove(v + 5, v + 7 + digits, strlen(v + 7 + digits) + 1);
  }
  return cb_node_fail_at(r->node, w->from[at < w->length ? at : w->length], "%s", why);
}

static void put_variable(rewritten *w, size_t i, size_t from) {
  char name[24];
  const int n = snprintf(name, sizeof name, " value__%zu ", i);
  put(w, name, (size_t)n, from, true);
}

static bool is_constant(const char *text, size_t n) {
  return (n == 2 && !memcmp(text, "pi", 2)) || (n == 1 && *text == 'e') || (n == 3 && !memcmp(text, "tau", 3));
}

static bool is_field(const reading *r, const char *text, size_t n) {
  for (size_t f = 0; f < r->layout->n_fields; f++)
    if (strlen(r->layout->fields[f].name) == n && !memcmp(r->layout->fields[f].name, text, n)) return true;
  return false;
}

/* The expression at text[from, to) of the part, in fields. */
static cb_status read_inner(const reading *r, size_t from, size_t to, cb_reduce_part *part) {
  rewritten *w = malloc(sizeof *w);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for a reduction");
  w->length = 0;
  bool rows = false;
  cb_status status = CB_OK;
  for (size_t i = from; i < to && !status;) {
    if (!is_letter(r->text[i])) {
      const size_t end = isdigit((unsigned char)r->text[i]) || r->text[i] == '.' ? number_end(r->text, i) : i + 1;
      put(w, r->text + i, end - i, i, false);
      i = end;
      continue;
    }
    size_t end = word_end(r->text, i), next = end, comma;
    while (r->text[next] == ' ') next++;
    const cb_reduce_kind kind = kind_of(r->text + i, end - i);
    if (r->text[next] == '(') {
      const size_t close = closing(r->text, next, &comma);
      if (kind < CB_REDUCE_KINDS && !(comma && close && (kind == CB_REDUCE_MIN || kind == CB_REDUCE_MAX)))
        status = cb_node_fail_at(r->node, i, "a reduction within another: expected an expression of fields");
      put(w, r->text + i, end - i, i, false);
    } else if (is_constant(r->text + i, end - i) && !is_field(r, r->text + i, end - i)) {
      put(w, r->text + i, end - i, i, false);
    } else if (part->fields == CB_REDUCE_FIELDS) {
      status = no_room(r, i);
    } else {
      bool of_events = false;
      status = read_field(r, i, &end, &part->field[part->fields], &of_events);
      if (!status && part->fields && of_events == rows)
        status = cb_node_fail_at(r->node, i, "fields of events and of rows in one reduction");
      rows = !of_events;
      part->of_events = of_events;
      put_variable(w, part->fields++, i);
    }
    i = end;
  }
  if (!status && w->length >= LONGEST) status = no_room(r, from);
  if (!status && !part->fields) status = cb_node_fail_at(r->node, from, "expected a field of the record");
  if (!status) status = parse(r, w, part->fields, &part->expression);
  free(w);
  return status;
}

/* n of crossing(f, n), from the comma on. */
static cb_status read_which(const reading *r, size_t comma, size_t close, double *out) {
  size_t from = comma + 1, to = close;
  while (from < to && r->text[from] == ' ') from++;
  while (to > from && r->text[to - 1] == ' ') to--;
  long long n = 0;
  if (to == from || !cb_parse_integer(r->text + from, to - from, &n) || n < 1)
    return cb_node_fail_at(r->node, from, "expected which zero, from 1 on");
  return *out = (double)n, CB_OK;
}

/* The call whose name is text[from, name_end) and whose parenthesis is at `open`; *end: behind it. */
static cb_status read_call(const reading *r, cb_reduce_kind kind, size_t open, size_t *end) {
  size_t comma;
  const size_t close = closing(r->text, open, &comma);
  if (!close) return cb_node_fail_at(r->node, strlen(r->text), "expected `)`");
  if (r->out->parts == CB_REDUCE_PARTS) return no_room(r, open);
  cb_reduce_part *part = &r->out->part[r->out->parts++];
  *part = (cb_reduce_part){.kind = kind, .which = 1};
  *end = close + 1;
  cb_status status = CB_OK;
  if (comma && kind != CB_REDUCE_CROSSING)
    status = cb_node_fail_at(r->node, comma, "%s has one argument", cb_reduction_docs[kind].name);
  else if (comma)
    status = read_which(r, comma, close, &part->which);
  return status ? status : read_inner(r, open + 1, comma ? comma : close, part);
}

/* The whole text, in reductions. */
static cb_status read_outer(const reading *r) {
  rewritten *w = malloc(sizeof *w);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for a reduction");
  w->length = 0;
  cb_status status = CB_OK;
  for (size_t i = 0; r->text[i] && !status;) {
    if (!is_letter(r->text[i])) {
      const size_t end = isdigit((unsigned char)r->text[i]) || r->text[i] == '.' ? number_end(r->text, i) : i + 1;
      put(w, r->text + i, end - i, i, false);
      i = end;
      continue;
    }
    size_t end = word_end(r->text, i), next = end, comma;
    while (r->text[next] == ' ') next++;
    const cb_reduce_kind kind = kind_of(r->text + i, end - i);
    const size_t close = r->text[next] == '(' ? closing(r->text, next, &comma) : 0;
    const bool function = close && comma && (kind == CB_REDUCE_MIN || kind == CB_REDUCE_MAX);
    if (r->text[next] == '(' && kind < CB_REDUCE_KINDS && !function) {
      put_variable(w, r->out->parts, i);
      status = read_call(r, kind, next, &end);
    } else if (r->text[next] == '(' || (is_constant(r->text + i, end - i) && !is_field(r, r->text + i, end - i))) {
      put(w, r->text + i, end - i, i, false);
    } else if (r->out->parts == CB_REDUCE_PARTS) {
      status = no_room(r, i);
    } else {
      cb_reduce_part *part = &r->out->part[r->out->parts];
      *part = (cb_reduce_part){.kind = CB_REDUCE_LAST, .fields = 1};
      status = read_field(r, i, &end, &part->field[0], &part->of_events);
      if (!status && part->of_events)
        status = cb_node_fail_at(r->node, i,
                                 "a field of events stands within a reduction, such as "
                                 "count(event_kind == 0)");
      put_variable(w, r->out->parts++, i);
    }
    i = end;
  }
  if (!status && w->length >= LONGEST) status = no_room(r, 0);
  if (!status && !r->out->parts) status = cb_node_fail(r->node, "expected a reduction, such as max(energy)");
  if (!status) status = parse(r, w, r->out->parts, &r->out->outer);
  free(w);
  return status;
}

cb_status cb_reduction_parse(const cb_node *node, const cb_record_layout *layout, cb_reduction **out) {
  reading r = {.node = node, .layout = layout};
  cb_status status = cb_node_string(node, &r.text);
  if (status) return status;
  if (strlen(r.text) > LONGEST) return no_room(&r, 0);
  if (!(r.out = calloc(1, sizeof *r.out))) return cb_fail(CB_ERROR_MEMORY, "no memory for a reduction");
  r.out->has_time = layout->n_fields && !strcmp(layout->fields[0].name, "time") && !layout->fields[0].rank &&
                    layout->fields[0].type == CB_FIELD_DOUBLE;
  status = read_outer(&r);
  return status ? cb_reduction_free(r.out), status : (*out = r.out, CB_OK);
}
