/* Reads scalars: numbers and integers, which may be constant expressions; sizes in bytes; bools; texts; and
 * expressions. Also reads ranges of numbers.
 *
 * Messages about texts that are nearly numbers contain a proposal. A number with a unit is proposed as the number times
 * the value of the unit in SI units: `10 mm` as 10*1e-3, `90 deg` as 90*pi/180, `50 km/h` as 50*1e3/3600. A unit is
 * dropped only if its value is 1. A product without the sign `*`, such as `3pi/2`, is proposed with the sign; this
 * proposal is parsed before it is made, so that it is certainly valid.
 */
#include "tree/scalar.h"

#include "core/failure.h"
#include "core/text.h"
#include "numerics/expression_private.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- proposals for texts that are nearly numbers --- */

/* A proposal for a text that is nearly a number: a number with a unit, a product without the sign `*`, or a text with
 * letters of another alphabet. */
typedef struct number_hint {
  size_t at;      /* offset in the text of the part that is wrong */
  char text[400]; /* the message: the error, and the text to write instead */
} number_hint;

typedef struct known_unit {
  const char *name, *factor, *si; /* factor: the unit's value in the SI unit `si`; NULL: 1 */
  bool prefixes;                  /* the unit may have a prefix */
} known_unit;

static const known_unit units[] = {
    {"m", NULL, "m", true},
    {"s", NULL, "s", true},
    {"kg", NULL, "kg", false},
    {"N", NULL, "N", true},
    {"Pa", NULL, "Pa", true},
    {"J", NULL, "J", true},
    {"W", NULL, "W", true},
    {"rad", NULL, "rad", true},
    {"radians", NULL, "rad", false},
    {"radian", NULL, "rad", false},
    {"g", "1e-3", "kg", false},
    {"mg", "1e-6", "kg", false},
    {"t", "1e3", "kg", false},
    {"l", "1e-3", "m^3", false},
    {"L", "1e-3", "m^3", false},
    {"ms", "1e-3", "s", false},
    {"min", "60", "s", false},
    {"h", "3600", "s", false},
    {"bar", "1e5", "Pa", false},
    {"deg", "pi/180", "rad", false},
    {"degree", "pi/180", "rad", false},
    {"degrees", "pi/180", "rad", false},
    {"\xc2\xb0", "pi/180", "rad", false},
    {"\xc2\xba", "pi/180", "rad", false},
    {"rpm", "2*pi/60", "rad/s", false},
    {"rev", "2*pi", "rad", false},
    {"turn", "2*pi", "rad", false},
    {"turns", "2*pi", "rad", false},
    {"%", "/100", "", false},
    {"ppm", "1e-6", "", false},
};
static const struct unit_prefix {
  const char *name, *factor;
} prefixes[] = {
    {"k", "1e3"},  {"M", "1e6"},  {"G", "1e9"},         {"d", "1e-1"},        {"c", "1e-2"},
    {"m", "1e-3"}, {"u", "1e-6"}, {"\xc2\xb5", "1e-6"}, {"\xce\xbc", "1e-6"}, {"n", "1e-9"},
};
enum { ROOM = 120 };

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80; }

/* --- units --- */

static const known_unit *find_unit(const char *name, size_t n, const char **prefix) {
  *prefix = NULL;
  for (size_t u = 0; u < sizeof units / sizeof *units; u++)
    if (strlen(units[u].name) == n && !memcmp(units[u].name, name, n)) return &units[u];
  for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
    const size_t length = strlen(prefixes[p].name);
    for (size_t u = 0; u < sizeof units / sizeof *units && begins(name, prefixes[p].name); u++)
      if (units[u].prefixes && length + strlen(units[u].name) == n &&
          !memcmp(name + length, units[u].name, n - length)) {
        *prefix = prefixes[p].factor;
        return &units[u];
      }
  }
  return NULL;
}

/* Returns the length of a unit's name without exponents: letters, `%` or `°`. */
static size_t name_length(const char *text) {
  size_t n = 0;
  if (*text == '%') return 1;
  while (is_letter(text[n]) && !begins(text + n, "\xc2\xb2") && !begins(text + n, "\xc2\xb3") &&
         !begins(text + n, "\xc2\xb7") && !begins(text + n, "\xe2\x8b\x85"))
    n++;
  return n;
}

/* Reads an exponent, `2`, `^2` or `²`, and advances *text; returns 1 if there is none. */
static int exponent(const char **text) {
  const char *at = *text;
  int power = 1;
  if (begins(at, "\xc2\xb2") || begins(at, "\xc2\xb3")) {
    power = at[1] == '\xb2' ? 2 : 3;
    at += 2;
  } else if (is_digit(at[*at == '^'])) {
    power = at[*at == '^'] - '0';
    at += 1 + (*at == '^');
  }
  *text = at;
  return power;
}

typedef struct meaning {
  char factor[ROOM], si[ROOM]; /* for `km/h`: factor "*1e3/3600", si "m/s" */
} meaning;

static void put(char *text, const char *sign, const char *what, int power) {
  const size_t used = strlen(text);
  if (power == 1)
    snprintf(text + used, ROOM - used, "%s%s", sign, what);
  else
    snprintf(text + used, ROOM - used, "%s%s^%d", sign, what, power);
}

/* Reads a product of units, `kg/m^3` or `N s`; returns false for another text. */
static bool read_units(const char *text, meaning *out) {
  const char *sign = "*";
  *out = (meaning){"", ""};
  for (;;) {
    const char *prefix;
    const size_t n = name_length(text);
    const known_unit *u = n ? find_unit(text, n, &prefix) : NULL;
    if (!u) return false;
    text += n;
    const int power = exponent(&text);
    const bool compound = u->factor && strpbrk(u->factor, "*/") != NULL;
    if (compound && (power != 1 || *sign == '/')) return false;
    if (prefix) put(out->factor, sign, prefix, power);
    if (u->factor) put(out->factor, *u->factor == '/' ? "" : sign, u->factor, power);
    put(out->si, *out->si ? (*sign == '/' ? "/" : " ") : (*sign == '/' ? "1/" : ""), u->si, power);
    const bool spaced = *text == ' ';
    while (*text == ' ') text++;
    if (!*text) return true;
    if (*text == '/' || *text == '*') {
      sign = *text++ == '/' ? "/" : "*";
      while (*text == ' ') text++;
    } else if (begins(text, "\xc2\xb7") || begins(text, "\xe2\x8b\x85")) {
      sign = "*";
      text += *text == '\xc2' ? 2 : 3;
    } else if (spaced)
      sign = "*";
    else
      return false;
  }
}

/* --- products --- */

/* Copies the text with letters of other alphabets replaced by the letters that expressions use. */
static bool written(const char *text, char *out, size_t size) {
  size_t used = 0;
  while (*text && used + 4 < size) {
    const cb_expression_letter *l = cb_expression_letter_at(text);
    if (!l) {
      out[used++] = *text++;
      continue;
    }
    used += (size_t)snprintf(out + used, size - used, "%s", l->text);
    text += strlen(l->name);
  }
  out[used] = 0;
  return !*text;
}

/* Finds the product that is meant by `3pi/2`, `2(3 + 1)` or `3·4`; returns false if there is none. */
static bool find_product(const char *number, size_t digits, const char *rest, char *out, size_t size) {
  char tail[ROOM], whole[2 * ROOM];
  double value;
  if (digits > ROOM / 2 || !written(rest, tail, sizeof tail)) return false;
  snprintf(whole, sizeof whole, "%.*s%s%s", (int)digits, number, strchr("*/+-^", *tail) ? "" : "*", tail);
  if (cb_expression_constant(whole, NULL, &value) || strlen(whole) >= size) return false;
  memcpy(out, whole, strlen(whole) + 1);
  return true;
}

/* Examines text[n] and, if it begins with a decimal number and continues with a unit, a name or a bracket, makes the
 * message. own: the unit that the key expects, "" for a dimensionless number, NULL if it is not known. The proposed
 * text has the value that the given text means; if that value is ambiguous, nothing is proposed. Returns false if there
 * is no message; then the parser of expressions reports the error. */
static bool number_hint_of(const char *text, size_t n, const char *own, number_hint *out) {
  const size_t digits = cb_decimal_length(text, n);
  size_t at = digits;
  char better[ROOM];
  meaning m;
  if (digits == 0) return false;
  while (at < n && text[at] == ' ') at++;
  const char *rest = text + at;
  const bool exponent_lost = at == digits && (*rest == 'e' || *rest == 'E') && !is_letter(rest[1]);
  if (!(is_letter(*rest) || *rest == '_' || *rest == '%' || *rest == '(') || exponent_lost) return false;
  out->at = at;
  if (*rest == '_')
    snprintf(out->text, sizeof out->text, "a number may not contain `_`");
  else if (find_product(text, digits, rest, better, sizeof better)) {
    out->at = 0;
    snprintf(out->text, sizeof out->text, "%s%s",
             is_letter(*rest) && (unsigned char)*rest >= 0x80 ? "write " : "multiplication is written with `*`: write ",
             better);
  } else if (*rest == '(')
    return false;
  else if (!read_units(rest, &m) && strpbrk(rest, "+-*(),"))
    return false; /* an invalid expression: the parser reports the place */
  else if (!read_units(rest, &m))
    snprintf(out->text, sizeof out->text, "a number is written without a unit, and multiplication with `*`");
  else if (*m.factor)
    snprintf(out->text, sizeof out->text, "a number is written without a unit: write %.*s%s%s%s", (int)digits, text,
             m.factor, *m.si ? ", in " : "", m.si);
  else if (!own || !*own || !strcmp(own, rest) || !strcmp(own, m.si))
    snprintf(out->text, sizeof out->text, "a number is written without a unit, remove '%s'",
             cb_quoted(rest, n - at).text);
  else
    snprintf(out->text, sizeof out->text, "a number is written without a unit, and this one is not %s", own);
  return true;
}

/* --- scalars --- */

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
  number_hint hint;
  if (number_hint_of(text, n, unit, &hint))
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
