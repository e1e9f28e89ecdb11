/* Reading a reduction: calls and fields are replaced by variables, so that expressions remain, in which the place of
 * each letter in the text is known. */
#include "core/failure.h"
#include "core/text.h"
#include "sweep/reduce_private.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4000 };

/* An expression whose variables stand in place of what was found. */
typedef struct rewritten {
  char text[LONGEST + 8];
  size_t from[LONGEST + 8]; /* where each letter was */
  size_t length;
} rewritten;

static cb_status no_room(const cb_reduce_text *r, size_t at) {
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

/* The parenthesis that closes the one at `from`, and the first comma at its depth outside of [] (0: none); 0: there is
 * none. */
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

static cb_reduce_kind kind_of(const char *text, size_t n) {
  int k = 0;
  while (k < CB_REDUCE_KINDS &&
         !(strlen(cb_reduction_docs[k].name) == n && !memcmp(cb_reduction_docs[k].name, text, n)))
    k++;
  return (cb_reduce_kind)k;
}

static bool is_constant(const char *text, size_t n) {
  return (n == 2 && !memcmp(text, "pi", 2)) || (n == 1 && *text == 'e') || (n == 3 && !memcmp(text, "tau", 3));
}

static bool is_function(const char *text, size_t n) {
  const cb_function_doc *f = cb_expression_functions;
  while (f->name && !(strlen(f->name) == n && !memcmp(f->name, text, n))) f++;
  return f->name != NULL;
}

/* --- what was rewritten --- */

/* Variables have no names for a user, and letters are counted in the text: the failure of an expression in these
 * words. */
static void in_own_words(const cb_reduce_text *r, const rewritten *w, const char *why, cb_text *out) {
  static const char variable[] = "value__", place[] = "at character ";
  for (const char *at = why; *at;) {
    size_t n = 1;
    if (!strncmp(at, variable, sizeof variable - 1)) {
      n = sizeof variable - 1 + strspn(at + sizeof variable - 1, "0123456789");
      const char *in = w->text;
      while ((in = strstr(in, variable)) && (strncmp(in, at, n) || isdigit((unsigned char)in[n]))) in++;
      const size_t from = in ? w->from[in - w->text] : 0;
      cb_text_put(out, r->text + from, word_end(r->text, from) - from);
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

/* Parses what was rewritten of text[.., to), in n variables value__0, ..; NULL where it is the first of them alone. */
static cb_status parse(const cb_reduce_text *r, rewritten *w, size_t to, size_t n, cb_expression **out) {
  char names[CB_REDUCE_FIELDS > CB_REDUCE_PARTS ? CB_REDUCE_FIELDS : CB_REDUCE_PARTS][32];
  const char *name[sizeof names / sizeof *names];
  for (size_t i = 0; i < n; i++) {
    snprintf(names[i], sizeof names[i], "value__%zu", i);
    name[i] = names[i];
  }
  w->text[w->length] = 0;
  w->from[w->length] = to;
  const size_t begin = cb_reduce_skip(w->text, 0), end = cb_reduce_unskip(w->text, begin, w->length);
  *out = NULL;
  if (end - begin == strlen(names[0]) && !memcmp(w->text + begin, names[0], end - begin)) return CB_OK;
  size_t at = 0;
  cb_status status = cb_expression_parse(w->text, name, n, &at, out);
  if (status != CB_ERROR_INPUT) return status;
  cb_text why = {0};
  in_own_words(r, w, cb_error_text(), &why);
  status = cb_node_fail_at(r->node, w->from[at < w->length ? at : w->length], "%s",
                           why.data ? why.data : "a wrong expression");
  cb_text_free(&why);
  return status;
}

static void put_variable(rewritten *w, size_t i, size_t from) {
  char name[24];
  const int n = snprintf(name, sizeof name, " value__%zu ", i);
  put(w, name, (size_t)n, from, true);
}

/* --- names --- */

/* A name before a parenthesis that is neither a reduction nor a function. */
static cb_status unknown_call(const cb_reduce_text *r, size_t from, size_t n, bool within) {
  const char *names[64 + CB_REDUCE_KINDS];
  char name[64] = "";
  size_t count = 0;
  for (int k = 0; k < CB_REDUCE_KINDS && !within; k++) names[count++] = cb_reduction_docs[k].name;
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

/* A field of a part's expression: one more, or one that it has. */
static cb_status add_field(const cb_reduce_text *r, size_t from, size_t *end, cb_reduce_part *part, rewritten *w) {
  cb_reduce_field field;
  bool of_events;
  const cb_status status = cb_reduce_read_field(r, from, end, &field, &of_events);
  if (status) return status;
  if (part->fields && of_events != part->of_events)
    return cb_node_fail_at(r->node, from, "fields of events and of rows in one reduction");
  size_t i = 0;
  while (i < part->fields && (part->field[i].field != field.field || part->field[i].at != field.at)) i++;
  if (i == CB_REDUCE_FIELDS) return no_room(r, from);
  part->of_events = of_events;
  part->field[i] = field;
  if (i == part->fields) part->fields++;
  return put_variable(w, i, from), CB_OK;
}

/* A field in no reduction: its last value. */
static cb_status add_last(const cb_reduce_text *r, size_t from, size_t *end, rewritten *w) {
  if (r->out->parts == CB_REDUCE_PARTS) return no_room(r, from);
  cb_reduce_part *part = &r->out->part[r->out->parts];
  *part = (cb_reduce_part){.kind = CB_REDUCE_LAST, .fields = 1};
  const cb_status status = cb_reduce_read_field(r, from, end, &part->field[0], &part->of_events);
  if (status) return status;
  if (part->of_events)
    return cb_node_fail_at(r->node, from,
                           "a field of events stands within a reduction, such as count(event_kind == 0)");
  return put_variable(w, r->out->parts++, from), CB_OK;
}

/* --- expressions --- */

static cb_status read_call(const cb_reduce_text *r, cb_reduce_kind kind, size_t open, size_t *end);

/* The name at text[from, *end), which *end goes behind with what belongs to it. part: that it stands in; NULL: in
 * none. */
static cb_status read_name(const cb_reduce_text *r, size_t from, size_t *end, cb_reduce_part *part, rewritten *w) {
  const char *name = r->text + from;
  const size_t n = *end - from, next = cb_reduce_skip(r->text, *end);
  const cb_reduce_kind kind = kind_of(name, n);
  const bool field = cb_reduce_is_field(r, name, n), function = is_function(name, n), constant = is_constant(name, n);
  size_t comma;
  if (r->text[next] == '(') {
    const bool two = (kind == CB_REDUCE_MIN || kind == CB_REDUCE_MAX) && closing(r->text, next, &comma) && comma;
    if (kind < CB_REDUCE_KINDS && !two) {
      if (part) return cb_node_fail_at(r->node, from, "a reduction within another: expected an expression of fields");
      put_variable(w, r->out->parts, from);
      return read_call(r, kind, next, end);
    }
    if (!function && !constant && !field) return unknown_call(r, from, n, part != NULL);
    if (function || constant) return put(w, name, n, from, false), CB_OK;
  } else if (!field) {
    if (constant) return put(w, name, n, from, false), CB_OK;
    if (kind < CB_REDUCE_KINDS) return uncalled(r, from, n, "reduction");
    if (function) return uncalled(r, from, n, "function");
  }
  return part ? add_field(r, from, end, part, w) : add_last(r, from, end, w);
}

/* The expression at text[from, to): of a part in fields, or of the whole in parts. */
static cb_status read_expression(const cb_reduce_text *r, size_t from, size_t to, cb_reduce_part *part) {
  rewritten *w = malloc(sizeof *w);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for a reduction");
  w->length = 0;
  cb_status status = CB_OK;
  for (size_t i = from, end; i < to && !status; i = end) {
    const char c = r->text[i];
    end = is_letter(c) ? word_end(r->text, i) : isdigit((unsigned char)c) || c == '.' ? number_end(r->text, i) : i + 1;
    if (is_letter(c))
      status = read_name(r, i, &end, part, w);
    else
      put(w, r->text + i, end - i, i, false);
  }
  if (!status && w->length >= LONGEST) status = no_room(r, from);
  if (!status && part && !part->fields) status = cb_node_fail_at(r->node, from, "expected a field of the record");
  if (!status && !part && !r->out->parts)
    status = cb_node_fail_at(r->node, from, "expected a reduction, such as max(energy)");
  if (!status) status = parse(r, w, to, part ? part->fields : r->out->parts, part ? &part->expression : &r->out->outer);
  free(w);
  return status;
}

/* n of crossing(f, n), from the comma on. */
static cb_status read_which(const cb_reduce_text *r, size_t comma, size_t close, double *out) {
  const size_t from = cb_reduce_skip(r->text, comma + 1), to = cb_reduce_unskip(r->text, from, close);
  long long n = 0;
  if (to == from || !cb_parse_integer(r->text + from, to - from, &n) || n < 1)
    return cb_node_fail_at(r->node, from, "expected which zero, from 1 on");
  return *out = (double)n, CB_OK;
}

/* The call whose parenthesis is at `open`; *end: behind it. */
static cb_status read_call(const cb_reduce_text *r, cb_reduce_kind kind, size_t open, size_t *end) {
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
  return status ? status : read_expression(r, open + 1, comma ? comma : close, part);
}

cb_status cb_reduction_parse(const cb_node *node, const cb_record_layout *layout, cb_reduction **out) {
  cb_reduce_text r = {.node = node, .layout = layout};
  cb_status status = cb_node_string(node, &r.text);
  if (status) return status;
  if (strlen(r.text) > LONGEST) return no_room(&r, 0);
  if (!(r.out = calloc(1, sizeof *r.out))) return cb_fail(CB_ERROR_MEMORY, "no memory for a reduction");
  r.has_time = r.out->has_time = layout->n_fields && !strcmp(layout->fields[0].name, "time") &&
                                 !layout->fields[0].rank && layout->fields[0].type == CB_FIELD_DOUBLE;
  status = read_expression(&r, 0, strlen(r.text), NULL);
  return status ? cb_reduction_free(r.out), status : (*out = r.out, CB_OK);
}
