/* Proposals for texts that are nearly numbers.
 *
 * A number with a unit is proposed as the number times the value of the unit in SI units: `10 mm` as 10*1e-3, `90 deg`
 * as 90*pi/180, `50 km/h` as 50*1e3/3600. A unit is dropped only if its value is 1. A product without the sign `*`,
 * such as `3pi/2`, is proposed with the sign; this proposal is parsed before it is made, so that it is certainly
 * valid.
 */
#include "tree/scalar.h"

#include "core/text.h"
#include "numerics/expression_private.h"

#include <stdio.h>
#include <string.h>

typedef struct unit {
  const char *name, *factor, *si; /* factor: the unit's value in the SI unit `si`; NULL: 1 */
  bool prefixes;                  /* the unit may have a prefix */
} unit;

static const unit units[] = {
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
static const struct prefix {
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

static const unit *find_unit(const char *name, size_t n, const char **prefix) {
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
    const unit *u = n ? find_unit(text, n, &prefix) : NULL;
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

bool cb_number_hint_of(const char *text, size_t n, const char *own, cb_number_hint *out) {
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
