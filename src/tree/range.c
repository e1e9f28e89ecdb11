#include "tree/scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
