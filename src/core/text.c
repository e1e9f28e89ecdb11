/* Numbers, quotation and growing texts (text.h), and the nearest name for suggestions. */
#include "core/text.h"
#include <curvebody/node.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t count_digits(const char *text, size_t n) {
  size_t i = 0;
  while (i < n && is_digit(text[i])) i++;
  return i;
}

size_t cb_decimal_length(const char *text, size_t n) {
  size_t i = n > 0 && (text[0] == '+' || text[0] == '-');
  size_t whole = count_digits(text + i, n - i), fraction = 0;
  i += whole;
  if (i < n && text[i] == '.') {
    fraction = count_digits(text + i + 1, n - i - 1);
    if (whole + fraction > 0) i += 1 + fraction;
  }
  if (whole + fraction == 0) return 0;
  if (i < n && (text[i] == 'e' || text[i] == 'E')) {
    size_t sign = i + 1 < n && (text[i + 1] == '+' || text[i + 1] == '-');
    size_t digits = count_digits(text + i + 1 + sign, n - i - 1 - sign);
    if (digits > 0) i += 1 + sign + digits;
  }
  return i;
}

bool cb_parse_decimal(const char *text, size_t n, double *value) {
  if (n == 0 || cb_decimal_length(text, n) != n) return false;
  char small[64], *copy = n < sizeof small ? small : malloc(n + 1);
  if (!copy) return false;
  memcpy(copy, text, n);
  copy[n] = '\0';
  int saved = errno;
  *value = strtod(copy, NULL);
  errno = saved;
  if (copy != small) free(copy);
  return true;
}

bool cb_parse_integer(const char *text, size_t n, long long *value) {
  size_t i = n > 0 && (text[0] == '+' || text[0] == '-');
  bool negative = i && text[0] == '-';
  if (i == n || count_digits(text + i, n - i) != n - i) return false;
  long long v = 0;
  for (; i < n; i++) {
    int digit = text[i] - '0';
    /* v is accumulated as a negative number, because there is one more negative number than there are positive ones. */
    if (v < (LLONG_MIN + digit) / 10) {
      *value = negative ? LLONG_MIN : LLONG_MAX;
      return true;
    }
    v = v * 10 - digit;
  }
  *value = negative ? v : v == LLONG_MIN ? LLONG_MAX : -v;
  return true;
}

void cb_export_number(char text[32], double value) {
  if (isnan(value)) {
    strcpy(text, "nan");
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 32, "%.*g", digits, value);
    if (digits == 17 || strtod(text, NULL) == value) return;
  }
}

/* Returns the length of the UTF-8 code point at text[n], n > 0; 0 if it is not valid (Unicode 15, table 3-7). */
static size_t utf8_length(const unsigned char *text, size_t n) {
  unsigned char c = text[0];
  size_t length = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
  if (length == 0 || length > n) return 0;
  for (size_t i = 1; i < length; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  if ((c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] > 0x9f)) return 0;
  if ((c == 0xf0 && text[1] < 0x90) || (c == 0xf4 && text[1] > 0x8f)) return 0;
  return length;
}

cb_quote cb_quoted(const char *text, size_t n) {
  cb_quote quote;
  size_t out = 0, i = 0;
  while (i < n && out < 40) {
    const unsigned char *at = (const unsigned char *)text + i;
    size_t length = utf8_length(at, n - i);
    if (length == 0 || *at < 0x20 || *at == 0x7f) {
      quote.text[out++] = '?';
      i++;
      continue;
    }
    memcpy(quote.text + out, at, length);
    out += length;
    i += length;
  }
  memcpy(quote.text + out, "...", 4);
  if (i == n) quote.text[out] = '\0';
  return quote;
}

size_t cb_count_characters(const char *text, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
  return count;
}

void cb_text_put(cb_text *text, const char *bytes, size_t n) {
  if (text->failed) return;
  if (n >= text->capacity - text->length) {
    size_t capacity = text->capacity < 128 ? 256 : text->capacity * 2;
    if (n > SIZE_MAX / 4 || text->capacity > SIZE_MAX / 4)
      capacity = 0;
    else if (capacity - text->length <= n)
      capacity = text->length + n + 1;
    char *data = capacity ? realloc(text->data, capacity) : NULL;
    if (!data) {
      text->failed = true;
      return;
    }
    text->data = data;
    text->capacity = capacity;
  }
  if (n) memcpy(text->data + text->length, bytes, n);
  text->length += n;
  text->data[text->length] = '\0';
}

void cb_text_puts(cb_text *text, const char *zero_terminated) {
  cb_text_put(text, zero_terminated, strlen(zero_terminated));
}

void cb_text_free(cb_text *text) {
  free(text->data);
  *text = (cb_text){0};
}

/* ---- The nearest name
 *
 * The distance of two names is the minimum number of insertions, deletions, substitutions and exchanges of neighbours
 * that change one into the other (restricted edit distance: Boytsov 2011, doi:10.1145/1963190.1963191). */

enum { LONGEST = 64 };

static size_t min2(size_t a, size_t b) { return a < b ? a : b; }

/* d[i][j] is the distance between the first i letters of a and the first j letters of b. Three rows of d are kept. */
static size_t edit_distance(const char *a, size_t m, const char *b, size_t n) {
  size_t rows[3][LONGEST + 1];
  size_t *before = rows[0], *last = rows[1], *now = rows[2];
  for (size_t j = 0; j <= n; j++) last[j] = j;
  for (size_t i = 1; i <= m; i++) {
    now[0] = i;
    for (size_t j = 1; j <= n; j++) {
      size_t d = min2(last[j], now[j - 1]) + 1;
      d = min2(d, last[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d = min2(d, before[j - 2] + 1);
      now[j] = d;
    }
    size_t *free_row = before;
    before = last;
    last = now;
    now = free_row;
  }
  return last[n];
}

const char *cb_nearest_name(const char *text, const char *const *names, size_t count) {
  if (!text) return NULL;
  size_t length = strlen(text);
  if (length > LONGEST) return NULL;
  size_t limit = length / 3 > 2 ? length / 3 : 2;
  /* The limit is below the length of the text: otherwise any two letters would be near any other two. */
  if (limit >= length) limit = length ? length - 1 : 0;

  const char *nearest = NULL;
  size_t least = limit + 1;
  for (size_t i = 0; i < count; i++) {
    size_t n = strlen(names[i]);
    if (n > LONGEST || (n > length ? n - length : length - n) >= least) continue;
    size_t distance = edit_distance(text, length, names[i], n);
    if (distance < least) {
      least = distance;
      nearest = names[i];
    }
  }
  return nearest;
}
