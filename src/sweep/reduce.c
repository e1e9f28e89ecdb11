/* Reads reductions, and evaluates them while rows arrive. For reading, calls and fields are replaced by variables, so
 * that only expressions remain; the original position of each character is kept. */
#include "core/failure.h"
#include "core/text.h"
#include "sweep/reduce.h"
#include "record/record_contents.h"
#include "tree/scalar.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>

/* `skip` returns the position of the first character from `at` on that is not blank. `unskip` goes back from `to` over
 * blanks, at most to `from`. */
static size_t skip(const char *text, size_t at) { return at + strspn(text + at, " \t\r\n"); }
static size_t unskip(const char *text, size_t from, size_t to) {
  while (to > from && strchr(" \t\r\n", text[to - 1])) to--;
  return to;
}

/* --- a field in the text: `x[0, 2]`, with indices that are numbers from 0 or labels; or a field of events --- */

enum { NAMES = 160, NAME = 64 };

static const struct {
  const char *name;
  cb_field_type type;
  size_t at;
} event_fields[] = {{"event_time", CB_FIELD_DOUBLE, offsetof(cb_event_row, time)},
                    {"event_kind", CB_FIELD_INT32, offsetof(cb_event_row, kind)},
                    {"event_particle", CB_FIELD_INT32, offsetof(cb_event_row, particle)},
                    {"event_other", CB_FIELD_INT32, offsetof(cb_event_row, other)},
                    {"event_gap", CB_FIELD_DOUBLE, offsetof(cb_event_row, gap)},
                    {"event_speed_before", CB_FIELD_DOUBLE, offsetof(cb_event_row, speed_before)},
                    {"event_speed_after", CB_FIELD_DOUBLE, offsetof(cb_event_row, speed_after)},
                    {"event_impulse", CB_FIELD_DOUBLE, offsetof(cb_event_row, impulse)},
                    {"event_wall", CB_FIELD_INT32, offsetof(cb_event_row, wall)}};
enum { EVENT_FIELDS = sizeof event_fields / sizeof *event_fields };

static const cb_dimension *dimension_of(const cb_reduce_text *r, const char *name) {
  for (size_t d = 0; d < r->layout->n_dimensions; d++)
    if (!strcmp(r->layout->dimensions[d].name, name)) return &r->layout->dimensions[d];
  return NULL;
}

/* Returns the labels of a dimension: its own labels, or the labels of the constant /DIMENSION_name[DIMENSION]; NULL: no
 * labels. */
static const char *const *labels_of(const cb_reduce_text *r, const cb_dimension *d) {
  const size_t n = strlen(d->name);
  for (size_t c = 0; c < r->layout->n_constants && !d->labels; c++) {
    const cb_constant *constant = &r->layout->constants[c];
    if (!strcmp(constant->dim, d->name) && !strncmp(constant->name, d->name, n) && !strcmp(constant->name + n, "_name"))
      return constant->labels;
  }
  return d->labels;
}

/* Returns whether a text is an item of a list such as "a, b, wrench_NAME". */
static bool is_listed(const char *list, const char *text) {
  for (const char *at = list; *at;) {
    at += strspn(at, ", ");
    const size_t n = strcspn(at, ", "), stem = n > 4 && !memcmp(at + n - 4, "NAME", 4) ? n - 4 : n;
    if (n && !strncmp(at, text, stem) && (stem < n ? text[stem] != 0 : text[n] == 0)) return true;
    at += n;
  }
  return false;
}

/* Returns the group of observables that would record a field of that name; NULL: no group does. */
static const char *group_with(const cb_reduce_text *r, const char *name) {
  const cb_observable_doc *group = r->layout->observables;
  if (!group) return NULL; /* the rows do not come from a run */
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
  const char *now = cb_record_renamed(name);
  if (now) return cb_node_fail_at(r->node, from, "the field %s was renamed to %s", name, now);
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

/* Reads one index from text[from, to): a number or a label. */
static cb_status read_index(const cb_reduce_text *r, size_t from, size_t to, const cb_dimension *d, size_t *out) {
  const char *text = r->text + from;
  const size_t n = to - from;
  long long index;
  if (n && cb_parse_integer(text, n, &index)) {
    if (index < 0 || (unsigned long long)index >= d->count)
      return cb_node_fail_at(r->node, from, "expected 0 to %zu for the dimension `%s`, found %lld", d->count - 1,
                             d->name, index);
    *out = (size_t)index;
    return CB_OK;
  }
  const char *const *labels = labels_of(r, d);
  for (size_t i = 0; labels && i < d->count; i++)
    if (strlen(labels[i]) == n && !memcmp(labels[i], text, n)) {
      *out = i;
      return CB_OK;
    }
  char label[NAME] = "";
  if (n < sizeof label) memcpy(label, text, n);
  const char *near = labels && n ? cb_nearest_name(label, labels, d->count) : NULL;
  return cb_node_fail_at(r->node, from, "expected an index from 0 to %zu%s of the dimension `%s`, found '%s'%s%s%s",
                         d->count - 1, labels ? ", or a label," : "", d->name, cb_quoted(text, n).text,
                         near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* Finds the element of a field that the indices in brackets select. text[*at] is the opening bracket; *at moves past
 * the closing one. */
static cb_status read_indices(const cb_reduce_text *r, const cb_field *field, size_t *at, size_t *element) {
  size_t from = *at + 1;
  *element = 0;
  for (int d = 0; d < field->rank; d++) {
    from = skip(r->text, from);
    size_t to = from, index = 0;
    while (r->text[to] && !strchr(",[]()", r->text[to])) to++;
    const char end = d + 1 < field->rank ? ',' : ']';
    if (r->text[to] != end)
      return cb_node_fail_at(r->node, to, "expected `%c`: /%s has %d ind%s", end, field->name, field->rank,
                             field->rank == 1 ? "ex" : "ices");
    const cb_dimension *dimension = dimension_of(r, field->dims[d]);
    const cb_status status = read_index(r, from, unskip(r->text, from, to), dimension, &index);
    if (status) return status;
    *element = *element * dimension->count + index;
    from = to + 1;
  }
  *at = from;
  return CB_OK;
}

static cb_status read_field(const cb_reduce_text *r, size_t from, size_t *end, cb_reduce_field *out, bool *of_events) {
  char name[NAME];
  const size_t n = *end - from;
  if (n >= sizeof name) return cb_node_fail_at(r->node, from, "expected a name of at most 63 letters, found %zu", n);
  memcpy(name, r->text + from, n);
  name[n] = 0;
  size_t next = skip(r->text, *end);
  const bool indexed = r->text[next] == '[';
  if (r->text[next] == '(')
    return cb_node_fail_at(r->node, next, "`%s` is a field: expected square brackets for its elements, %s[...]", name,
                           name);
  *of_events = false;
  for (size_t e = 0; e < EVENT_FIELDS; e++)
    if (!strcmp(event_fields[e].name, name)) {
      if (indexed) return cb_node_fail_at(r->node, next, "`%s` is one number per event: expected no indices", name);
      *of_events = true;
      *out = (cb_reduce_field){0, event_fields[e].at, event_fields[e].type};
      return CB_OK;
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
  if (!count)
    return cb_node_fail_at(r->node, from, "/%s is empty, its shape is [%s]: expected a field with elements", name,
                           shape);
  if (indexed && !field->rank)
    return cb_node_fail_at(r->node, next, "/%s is one number per row: expected no indices", name);
  if (indexed) {
    const cb_status status = read_indices(r, field, &next, &element);
    if (status) return status;
    *end = next;
  } else if (count > 1) {
    return cb_node_fail_at(r->node, from, "expected an element of /%s: its shape is [%s]", name, shape);
  }
  *out = (cb_reduce_field){f, element * (field->type == CB_FIELD_INT32 ? 4 : 8), field->type};
  return CB_OK;
}

static bool is_field(const cb_reduce_text *r, const char *text, size_t n) {
  for (size_t f = 0; f < r->layout->n_fields; f++)
    if (strlen(r->layout->fields[f].name) == n && !memcmp(r->layout->fields[f].name, text, n)) return true;
  for (size_t e = 0; e < EVENT_FIELDS; e++)
    if (strlen(event_fields[e].name) == n && !memcmp(event_fields[e].name, text, n)) return true;
  return false;
}

enum { LONGEST = 4000 };

/* The text of an expression in which variables replace the calls of reductions and the names of fields. */
typedef struct rewritten {
  char text[LONGEST + 8];
  size_t from[LONGEST + 8]; /* the original position of each character */
  size_t length;
} rewritten;

static cb_status too_long(const cb_reduce_text *r, size_t at) {
  return cb_node_fail_at(r->node, at,
                         "the expression is too long: expected at most %d characters, %d reductions and %d "
                         "fields in one reduction",
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

static size_t name_end(const char *text, size_t from) {
  while (is_part(text[from])) from++;
  return from;
}

/* Returns the offset of the end of a number such as 1e-3, whose letter e is not a name. */
static size_t number_end(const char *text, size_t from) {
  const size_t n = cb_decimal_length(text + from, strlen(text + from));
  return from + (n ? n : 1);
}

/* Returns the offset of the parenthesis that closes the one at `from`; 0 if none does. *comma is the offset of the
 * first comma between them that is in no other parentheses or brackets; 0: no comma. */
static size_t closing(const char *text, size_t from, size_t *comma) {
  int depth = 0;
  bool indices = false;
  *comma = 0;
  for (size_t i = from; text[i]; i++) {
    depth += (text[i] == '(') - (text[i] == ')');
    indices = text[i] == '[' || (indices && !strchr("()]", text[i]));
    if (depth == 0) return i;
    if (depth == 1 && text[i] == ',' && !indices && !*comma) *comma = i;
  }
  return 0;
}

static const cb_reduction_class *class_of(const char *text, size_t n) {
  return cb_reduction_classes[cb_registry_find(&cb_reduction_registry, text, n)];
}

static bool is_constant(const char *text, size_t n) {
  return (n == 2 && !memcmp(text, "pi", 2)) || (n == 1 && *text == 'e') || (n == 3 && !memcmp(text, "tau", 3));
}

static bool is_function(const char *text, size_t n) {
  const cb_function_doc *f = cb_expression_functions;
  while (f->name && !(strlen(f->name) == n && !memcmp(f->name, text, n))) f++;
  return f->name != NULL;
}

/* --- the rewritten expression --- */

/* Translates the error message of an expression for the user, who does not know the variables and counts characters in
 * the original text. */
static void in_original_text(const cb_reduce_text *r, const rewritten *w, const char *why, cb_text *out) {
  static const char variable[] = "value__", place[] = "at character ";
  for (const char *at = why; *at;) {
    size_t n = 1;
    if (!strncmp(at, variable, sizeof variable - 1)) {
      n = sizeof variable - 1 + strspn(at + sizeof variable - 1, "0123456789");
      const char *in = w->text;
      while ((in = strstr(in, variable)) && (strncmp(in, at, n) || isdigit((unsigned char)in[n]))) in++;
      const size_t from = in ? w->from[in - w->text] : 0;
      cb_text_put(out, r->text + from, name_end(r->text, from) - from);
    } else if (!strncmp(at, place, sizeof place - 1) && isdigit((unsigned char)at[sizeof place - 1])) {
      char *end, number[24];
      const size_t character = strtoul(at + sizeof place - 1, &end, 10) - 1;
      n = (size_t)(end - at);
      snprintf(number, sizeof number, "%zu", w->from[character < w->length ? character : w->length] + 1);
      cb_text_puts(out, place);
      cb_text_puts(out, number);
    } else {
      cb_text_put(out, at, 1);
    }
    at += n;
  }
}

/* Parses the rewritten text w with the n variables value__0, value__1, .. The argument `to` is the end of the original
 * text. *out is NULL if the expression consists of the first variable only. */
static cb_status parse(const cb_reduce_text *r, rewritten *w, size_t to, size_t n, cb_expression **out) {
  char names[CB_REDUCE_FIELDS > CB_REDUCE_PARTS ? CB_REDUCE_FIELDS : CB_REDUCE_PARTS][32];
  const char *name[sizeof names / sizeof *names];
  for (size_t i = 0; i < n; i++) {
    snprintf(names[i], sizeof names[i], "value__%zu", i);
    name[i] = names[i];
  }
  w->text[w->length] = 0;
  w->from[w->length] = to;
  const size_t begin = skip(w->text, 0), end = unskip(w->text, begin, w->length);
  *out = NULL;
  if (end - begin == strlen(names[0]) && !memcmp(w->text + begin, names[0], end - begin)) return CB_OK;
  size_t at = 0;
  cb_status status = cb_expression_parse(w->text, name, n, &at, out);
  if (status != CB_ERROR_INPUT) return status;
  cb_text why = {0};
  in_original_text(r, w, cb_error_text(), &why);
  status = cb_node_fail_at(r->node, w->from[at < w->length ? at : w->length], "%s",
                           why.data ? why.data : "expected an expression");
  cb_text_free(&why);
  return status;
}

static void put_variable(rewritten *w, size_t i, size_t from) {
  char name[24];
  const int n = snprintf(name, sizeof name, " value__%zu ", i);
  put(w, name, (size_t)n, from, true);
}

/* --- names --- */

/* Fails for a name before a parenthesis that is neither a reduction nor a function. */
static cb_status unknown_call(const cb_reduce_text *r, size_t from, size_t n, bool within) {
  const char *names[CB_REGISTRY_MAX + 64];
  char name[64] = "";
  size_t count = within ? 0 : cb_registry_names(&cb_reduction_registry, names);
  for (const cb_function_doc *f = cb_expression_functions; f->name && count < sizeof names / sizeof *names; f++)
    names[count++] = f->name;
  if (n < sizeof name) memcpy(name, r->text + from, n);
  const char *near = *name ? cb_nearest_name(name, names, count) : NULL;
  return cb_node_fail_at(r->node, from, "unknown %sfunction '%s'%s%s%s", within ? "" : "reduction or ",
                         cb_quoted(r->text + from, n).text, near ? ", did you mean '" : "", near ? near : "",
                         near ? "'?" : "");
}

static cb_status uncalled(const cb_reduce_text *r, size_t from, size_t n, const char *what) {
  return cb_node_fail_at(r->node, from, "'%s' is a %s: expected `(` after it", cb_quoted(r->text + from, n).text, what);
}

/* Reads the name of a field in the argument of a reduction, and writes its variable to w. The field is added to the
 * fields of the part if it is not among them. */
static cb_status add_field(const cb_reduce_text *r, size_t from, size_t *end, cb_reduce_part *part, rewritten *w) {
  cb_reduce_field field;
  bool of_events;
  const cb_status status = read_field(r, from, end, &field, &of_events);
  if (status) return status;
  if (part->fields && of_events != part->of_events)
    return cb_node_fail_at(r->node, from,
                           "expected either fields of events or fields of rows in one reduction, not both");
  size_t i = 0;
  while (i < part->fields && (part->field[i].field != field.field || part->field[i].at != field.at)) i++;
  if (i == CB_REDUCE_FIELDS) return too_long(r, from);
  part->of_events = of_events;
  part->field[i] = field;
  if (i == part->fields) part->fields++;
  put_variable(w, i, from);
  return CB_OK;
}

/* Reads the name of a field outside any reduction, which means the last value of the field: adds a part with the
 * reduction `last`. */
static cb_status add_last(const cb_reduce_text *r, size_t from, size_t *end, rewritten *w) {
  if (r->out->parts == CB_REDUCE_PARTS) return too_long(r, from);
  cb_reduce_part *part = &r->out->part[r->out->parts];
  *part = (cb_reduce_part){.class = &cb_reduction_last, .fields = 1};
  const cb_status status = read_field(r, from, end, &part->field[0], &part->of_events);
  if (status) return status;
  if (part->of_events)
    return cb_node_fail_at(r->node, from,
                           "expected a field of events inside a reduction, such as count(event_kind == 0)");
  put_variable(w, r->out->parts++, from);
  return CB_OK;
}

/* --- expressions --- */

static cb_status read_call(const cb_reduce_text *r, const cb_reduction_class *class, size_t open, size_t *end);

/* Reads the name at text[from, *end), with its indices or arguments, and moves *end past them. part: the reduction that
 * contains the name; NULL: the name is outside any reduction. */
static cb_status read_name(const cb_reduce_text *r, size_t from, size_t *end, cb_reduce_part *part, rewritten *w) {
  const char *name = r->text + from;
  const size_t n = *end - from, next = skip(r->text, *end);
  const cb_reduction_class *class = class_of(name, n);
  const bool field = is_field(r, name, n), function = is_function(name, n), constant = is_constant(name, n);
  size_t comma;
  if (r->text[next] == '(') {
    const bool two =
        function && closing(r->text, next, &comma) && comma; /* min(a, b) and max(a, b) are no reductions */
    if (class && !two) {
      if (part)
        return cb_node_fail_at(r->node, from,
                               "a reduction cannot be inside another one: expected an expression of fields");
      put_variable(w, r->out->parts, from);
      return read_call(r, class, next, end);
    }
    if (!function && !constant && !field) return unknown_call(r, from, n, part != NULL);
    if (function || constant) {
      put(w, name, n, from, false);
      return CB_OK;
    }
  } else if (!field) {
    if (constant) {
      put(w, name, n, from, false);
      return CB_OK;
    }
    if (class) return uncalled(r, from, n, "reduction");
    if (function) return uncalled(r, from, n, "function");
  }
  return part ? add_field(r, from, end, part, w) : add_last(r, from, end, w);
}

/* Reads the expression at text[from, to). part: the expression is the argument of this reduction, and its variables are
 * fields. NULL: it is the complete text, and its variables are the parts. */
static cb_status read_expression(const cb_reduce_text *r, size_t from, size_t to, cb_reduce_part *part) {
  rewritten *w = malloc(sizeof *w);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for a reduction");
  w->length = 0;
  cb_status status = CB_OK;
  for (size_t i = from, end; i < to && !status; i = end) {
    const char c = r->text[i];
    end = is_letter(c) ? name_end(r->text, i) : isdigit((unsigned char)c) || c == '.' ? number_end(r->text, i) : i + 1;
    if (is_letter(c))
      status = read_name(r, i, &end, part, w);
    else
      put(w, r->text + i, end - i, i, false);
  }
  if (!status && w->length >= LONGEST) status = too_long(r, from);
  if (!status && part && !part->fields)
    status = cb_node_fail_at(r->node, from, "expected a field of the record inside the reduction");
  if (!status && !part && !r->out->parts)
    status = cb_node_fail_at(r->node, from, "expected a reduction, such as max(energy)");
  if (!status) status = parse(r, w, to, part ? part->fields : r->out->parts, part ? &part->expression : &r->out->outer);
  free(w);
  return status;
}

/* Reads from text[n] the argument that `row` describes. `at` is the offset of this text in the expression, for
 * messages. */
static cb_status read_argument(const cb_reduce_text *r, const cb_param *row, const char *text, size_t n, size_t at,
                               double *out) {
  const bool integer = row->type == CB_PARAM_INT;
  long long whole = 0;
  double number = 0;
  cb_range range;
  const bool read = n && (integer ? cb_parse_integer(text, n, &whole) : cb_parse_decimal(text, n, &number));
  *out = integer ? (double)whole : number;
  if (read && cb_range_parse(row->range, &range) && cb_range_holds(&range, *out)) return CB_OK;
  return cb_node_fail_at(r->node, at, "expected %s, %s, as %s%s%s", row->name, row->doc,
                         integer ? "an integer" : "a number", *row->range ? " " : "", row->range);
}

/* Reads the arguments of a part from text[at, close), each of which begins with a comma. */
static cb_status read_arguments(const cb_reduce_text *r, cb_reduce_part *part, size_t at, size_t close) {
  const cb_param *row = part->class->arguments;
  cb_status status = CB_OK;
  for (int k = 0; row && row[k].name && !status; k++) {
    const bool given = at < close || !row[k].fallback;
    const size_t from = at < close ? skip(r->text, at + 1) : close;
    at = row[k + 1].name ? from + strcspn(r->text + from, ",)") : close;
    const char *text = given ? r->text + from : row[k].fallback;
    const size_t n = given ? unskip(r->text, from, at) - from : strlen(text);
    status = read_argument(r, &row[k], text, n, from, &part->argument[k]);
  }
  if (status || at >= close) return status;
  return cb_node_fail_at(r->node, at, "expected one argument of %s", part->class->name);
}

/* Reads the call whose parenthesis is at `open`, and moves *end past it. */
static cb_status read_call(const cb_reduce_text *r, const cb_reduction_class *class, size_t open, size_t *end) {
  size_t comma;
  const size_t close = closing(r->text, open, &comma);
  if (!close) return cb_node_fail_at(r->node, strlen(r->text), "expected `)`");
  if (r->out->parts == CB_REDUCE_PARTS) return too_long(r, open);
  cb_reduce_part *part = &r->out->part[r->out->parts++];
  *part = (cb_reduce_part){.class = class};
  *end = close + 1;
  const size_t last = comma ? comma : close;
  const cb_status status = read_arguments(r, part, last, close);
  return status ? status : read_expression(r, open + 1, last, part);
}

cb_status cb_reduction_parse(const cb_node *node, const cb_record_layout *layout, cb_reduction **out) {
  cb_reduce_text r = {.node = node, .layout = layout};
  cb_status status = cb_node_string(node, &r.text);
  if (status) return status;
  if (strlen(r.text) > LONGEST) return too_long(&r, 0);
  if (!(r.out = calloc(1, sizeof *r.out))) return cb_fail(CB_ERROR_MEMORY, "no memory for a reduction");
  r.has_time = r.out->has_time = layout->n_fields && !strcmp(layout->fields[0].name, "time") &&
                                 !layout->fields[0].rank && layout->fields[0].type == CB_FIELD_DOUBLE;
  status = read_expression(&r, 0, strlen(r.text), NULL);
  if (status) {
    cb_reduction_free(r.out);
    return status;
  }
  *out = r.out;
  return CB_OK;
}

/* --- evaluation --- */

size_t cb_reduction_doubles(const cb_reduction *r) { return r->parts * CB_REDUCTION_STATE; }

void cb_reduction_start(const cb_reduction *r, double *state) {
  for (size_t i = 0; i < cb_reduction_doubles(r); i++) state[i] = 0;
}

static double number(const cb_reduce_field *f, const void *from) {
  const char *at = (const char *)from + f->at;
  int64_t wide;
  int32_t narrow;
  double real;
  switch (f->type) {
    case CB_FIELD_INT64: memcpy(&wide, at, sizeof wide); return (double)wide;
    case CB_FIELD_INT32: memcpy(&narrow, at, sizeof narrow); return (double)narrow;
    default: memcpy(&real, at, sizeof real); return real;
  }
}

static void take_part(const cb_reduce_part *p, double time, const void *const *row, const void *event, double *s) {
  double x[CB_REDUCE_FIELDS];
  for (size_t i = 0; i < p->fields; i++) x[i] = number(&p->field[i], row ? row[p->field[i].field] : event);
  p->class->take(p->argument, time, p->expression ? cb_expression_value(p->expression, x) : x[0], s);
  s[0]++;
}

void cb_reduction_row(const cb_reduction *r, const void *const *row, double *state) {
  for (size_t p = 0; p < r->parts; p++) {
    double *s = state + p * CB_REDUCTION_STATE;
    if (!r->part[p].of_events) take_part(&r->part[p], r->has_time ? *(const double *)row[0] : s[0], row, NULL, s);
  }
}

void cb_reduction_event(const cb_reduction *r, const cb_event_row *event, double *state) {
  for (size_t p = 0; p < r->parts; p++)
    if (r->part[p].of_events) take_part(&r->part[p], event->time, NULL, event, state + p * CB_REDUCTION_STATE);
}

static double value_of(const cb_reduce_part *p, const double *s) {
  return s[0] == 0 && !p->class->counts ? NAN : p->class->value(p->argument, s);
}

double cb_reduction_value(const cb_reduction *r, const double *state) {
  double x[CB_REDUCE_PARTS];
  for (size_t p = 0; p < r->parts; p++) x[p] = value_of(&r->part[p], state + p * CB_REDUCTION_STATE);
  return r->outer ? cb_expression_value(r->outer, x) : x[0];
}

void cb_reduction_free(cb_reduction *r) {
  if (!r) return;
  for (size_t p = 0; p < r->parts; p++) cb_expression_free(r->part[p].expression);
  cb_expression_free(r->outer);
  free(r);
}
