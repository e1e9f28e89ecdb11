/* Reads scalars: numbers and integers, which may be constant expressions; sizes in bytes; bools; texts; and
 * expressions. Also reads ranges of numbers. */
#include "tree/scalar.h"

#include "core/failure.h"
#include "core/text.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of a message: a name and a colon, such as "step: ", or "" if there is no name. */
typedef struct prefix {
  char text[80];
} prefix;
static prefix name_prefix(const char *name) {
  prefix p = {""};
  if (name) snprintf(p.text, sizeof p.text, "%.70s: ", name);
  return p;
}

/* The part of a message that says what is expected, with the unit. */
typedef struct expectation {
  char text[128];
} expectation;

static expectation expected_real(const char *unit) {
  expectation e;
  if (unit && *unit)
    snprintf(e.text, sizeof e.text, "a number (or constant expression) in %s", unit);
  else
    snprintf(e.text, sizeof e.text, "a %snumber (or constant expression)", unit ? "dimensionless " : "");
  return e;
}

static expectation expected_int(const char *unit) {
  expectation e;
  snprintf(e.text, sizeof e.text, "an integer%s%s", unit && *unit ? " in " : "", unit ? unit : "");
  return e;
}

static cb_status fail_expected(const cb_node *node, const char *name, const char *expected) {
  return cb_node_fail(node, "%sexpected %s, found %s", name_prefix(name).text, expected, cb_node_found(node).text);
}

static bool is_not_finite_text(const char *text) {
  static const char *const texts[] = {".inf", "inf", "infinity", ".nan", "nan"};
  text += *text == '+' || *text == '-';
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    size_t j = 0;
    while (texts[i][j] && (text[j] | 0x20) == (texts[i][j] | 0x20)) j++;
    if (!texts[i][j] && !text[j]) return true;
  }
  return false;
}

static cb_status read_number(const cb_node *node, const char *name, const char *expected, const char *unit,
                             double *value) {
  if (!node || node->kind != CB_NODE_SCALAR) return fail_expected(node, name, expected);
  const char *text = node->text;
  size_t n = strlen(text);
  double v;
  if (cb_parse_decimal(text, n, &v)) {
    if (!isfinite(v))
      return cb_node_fail(node, "%sexpected %s, found '%s', which is too large for a double", name_prefix(name).text,
                          expected, cb_quoted(text, n).text);
    *value = v;
    return CB_OK;
  }
  if (is_not_finite_text(text))
    return cb_node_fail(node, "%sexpected %s, found %s, which is not finite", name_prefix(name).text, expected,
                        cb_node_found(node).text);
  cb_number_hint hint;
  if (cb_number_hint_of(text, n, unit, &hint))
    return cb_node_fail_at(node, hint.at, "%sexpected %s, found '%s': %s", name_prefix(name).text, expected,
                           cb_quoted(text, n).text, hint.text);
  size_t at = 0;
  cb_status status = cb_expression_constant(text, &at, &v);
  if (status == CB_ERROR_MEMORY) return status;
  if (status != CB_OK)
    return cb_node_fail_at(node, at, "%sexpected %s, found '%s': %s", name_prefix(name).text, expected,
                           cb_quoted(text, n).text, cb_error_text());
  *value = v;
  return CB_OK;
}

cb_status cb_scalar_real(const cb_node *node, const char *name, const char *unit, double *value) {
  return read_number(node, name, expected_real(unit).text, unit, value);
}

cb_status cb_scalar_int(const cb_node *node, const char *name, const char *unit, long long *value) {
  expectation expected = expected_int(unit);
  if (!node || node->kind != CB_NODE_SCALAR) return fail_expected(node, name, expected.text);
  long long v;
  if (cb_parse_integer(node->text, strlen(node->text), &v)) {
    if (v == LLONG_MIN || v == LLONG_MAX)
      return cb_node_fail(node, "%sexpected %s of at most 63 bits, found %s", name_prefix(name).text, expected.text,
                          cb_node_found(node).text);
    *value = v;
    return CB_OK;
  }
  double x;
  cb_status status = read_number(node, name, expected.text, unit, &x);
  if (status != CB_OK) return status;
  /* Above 2^53 a double cannot represent every integer. */
  if (x != floor(x) || fabs(x) > 0x1p53) return fail_expected(node, name, expected.text);
  *value = (long long)x;
  return CB_OK;
}

/* --- sizes --- */

static const struct {
  const char *name;
  double bytes;
} sizes[] = {{"B", 1},        {"kB", 1e3},     {"MB", 1e6},     {"GB", 1e9},    {"TB", 1e12},
             {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};

/* Removes a unit of size from the end of text[*n] and returns its number of bytes; 1 if there is no unit. */
static double take_size_unit(const char *text, size_t *n) {
  size_t begin = *n;
  while (begin && ((text[begin - 1] | 0x20) >= 'a' && (text[begin - 1] | 0x20) <= 'z')) begin--;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    if (strlen(sizes[i].name) != *n - begin || strncmp(text + begin, sizes[i].name, *n - begin)) continue;
    while (begin && text[begin - 1] == ' ') begin--;
    *n = begin;
    return sizes[i].bytes;
  }
  return 1;
}

cb_status cb_scalar_bytes(const cb_node *node, const char *name, double *value) {
  static const char expected[] = "a size such as 20 GB (B, kB, MB, GB, TB, KiB, MiB, GiB or TiB)";
  char number[200];
  double v;
  size_t n = node && node->kind == CB_NODE_SCALAR ? strlen(node->text) : sizeof number;
  if (n >= sizeof number) return fail_expected(node, name, expected);
  const double unit = take_size_unit(node->text, &n);
  memcpy(number, node->text, n);
  number[n] = 0;
  if (!cb_parse_decimal(number, n, &v)) {
    const cb_status status = n ? cb_expression_constant(number, NULL, &v) : CB_ERROR_INPUT;
    if (status == CB_ERROR_MEMORY) return status;
    if (status) return fail_expected(node, name, expected);
  }
  if (!(v * unit > 0) || !isfinite(v * unit))
    return cb_node_fail(node, "%sexpected a size above 0, found %s", name_prefix(name).text, cb_node_found(node).text);
  *value = v * unit;
  return CB_OK;
}

cb_status cb_scalar_bool(const cb_node *node, const char *name, bool *value) {
  bool scalar = node && node->kind == CB_NODE_SCALAR;
  if (scalar && strcmp(node->text, "true") == 0)
    *value = true;
  else if (scalar && strcmp(node->text, "false") == 0)
    *value = false;
  else
    return fail_expected(node, name, "true or false");
  return CB_OK;
}

cb_status cb_scalar_string(const cb_node *node, const char *name, const char **value) {
  if (!node || node->kind != CB_NODE_SCALAR) return fail_expected(node, name, "a text");
  *value = node->text;
  return CB_OK;
}

cb_status cb_node_real(const cb_node *node, double *value) { return cb_scalar_real(node, NULL, NULL, value); }
cb_status cb_node_int(const cb_node *node, long long *value) { return cb_scalar_int(node, NULL, NULL, value); }
cb_status cb_node_bool(const cb_node *node, bool *value) { return cb_scalar_bool(node, NULL, value); }
cb_status cb_node_string(const cb_node *node, const char **value) { return cb_scalar_string(node, NULL, value); }

cb_status cb_node_reals(const cb_node *node, size_t n, double *value) {
  if (!node || node->kind != CB_NODE_LIST)
    return cb_node_fail(node, "expected a list of %zu numbers, found %s", n, cb_node_found(node).text);
  if (node->count != n)
    return cb_node_fail(node, "expected a list of %zu numbers, found a list of %zu", n, node->count);
  /* All numbers are read before any is written, so that a failure leaves the array unchanged. */
  cb_errors errors = cb_errors_begin();
  double v;
  for (size_t i = 0; i < n; i++) cb_errors_add(&errors, node->items[i], cb_node_real(node->items[i], &v));
  cb_status status = cb_errors_end(&errors);
  for (size_t i = 0; i < n && !status; i++) status = cb_node_real(node->items[i], &value[i]);
  return status;
}

cb_status cb_node_expression(const cb_node *node, const cb_expression_scope *scope, cb_expression **out) {
  const char *text;
  size_t at = 0;
  cb_status status = cb_node_string(node, &text);
  if (status) return status;
  status = cb_expression_parse_in(text, scope, &at, out);
  return status == CB_ERROR_INPUT ? cb_node_fail_at(node, at, "%s", cb_error_text()) : status;
}

static const char *skip_blanks(const char *text) {
  while (*text == ' ') text++;
  return text;
}

static bool read_bound(const char **text, double *bound) {
  char *end;
  *bound = strtod(*text, &end);
  if (end == *text || isnan(*bound)) return false;
  *text = skip_blanks(end);
  return true;
}

static bool read_interval(const char *text, cb_range *range) {
  range->low_open = *text++ == '(';
  if (!read_bound(&text, &range->low) || *text++ != ',') return false;
  if (!read_bound(&text, &range->high) || (*text != ')' && *text != ']')) return false;
  range->high_open = *text++ == ')';
  return !*skip_blanks(text) && range->low <= range->high;
}

static bool read_comparison(const char *text, cb_range *range) {
  char sign = *text++;
  bool equal = *text == '=';
  text += equal;
  double bound;
  if (!read_bound(&text, &bound) || *text) return false;
  if (sign == '>') {
    range->low = bound;
    range->low_open = !equal;
  } else if (sign == '<') {
    range->high = bound;
    range->high_open = !equal;
  } else if (sign == '!' && equal) {
    range->low = bound;
    range->except = true;
  } else {
    return false;
  }
  return true;
}

bool cb_range_parse(const char *text, cb_range *range) {
  cb_range r = {.low = -INFINITY, .high = INFINITY};
  text = skip_blanks(text ? text : "");
  bool good = !*text || (*text == '[' || *text == '(' ? read_interval(text, &r) : read_comparison(text, &r));
  if (good) *range = r;
  return good;
}

bool cb_range_holds(const cb_range *range, double x) {
  if (range->except) return x < range->low || x > range->low;
  return (range->low_open ? x > range->low : x >= range->low) &&
         (range->high_open ? x < range->high : x <= range->high);
}
