/* Small things done to text: numbers as they are written in files, quotation in messages, a string that grows. */
#pragma once

#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>

/* Reads text[n] as a decimal number, [+-]digits[.digits][e[+-]digits] and nothing else: no blanks, hexadecimals, nan or
 * inf. False if it is not one, or is long and there is no memory for a copy. The value is rounded to nearest and
 * infinite where it overflows; *value is untouched on false. */
bool cb_parse_decimal(const char *text, size_t n, double *value);

/* The length of the longest beginning of text[n] that is a decimal number, 0 if there is none. */
size_t cb_decimal_length(const char *text, size_t n);

/* Is text[n] an integer, [+-]digits? *value is LLONG_MIN or LLONG_MAX where it does not fit. */
bool cb_parse_integer(const char *text, size_t n, long long *value);

/* The fewest digits that read back as the same number; nan (without a sign), inf, -inf for the others. */
void cb_export_number(char text[32], double value);

/* text[n] for a message: at most about 40 bytes of it, control characters and broken UTF-8 shown as '?'. Use as
 * `cb_quoted(text, n).text`. */
typedef struct cb_quote { char text[56]; } cb_quote;
cb_quote cb_quoted(const char *text, size_t n);

/* Number of UTF-8 code points that begin in text[n]. */
size_t cb_count_characters(const char *text, size_t n);

/* A text that grows. Start from {0}; after a failure to grow it stays as it was and `failed` is set, so that only the
 * end needs a check. Always zero-terminated once something was put in. */
typedef struct cb_text {
  char *data;
  size_t length, room;
  bool failed;
} cb_text;

void cb_text_put(cb_text *text, const char *bytes, size_t n);
void cb_text_puts(cb_text *text, const char *zero_terminated);
void cb_text_free(cb_text *text);

/* The whole content of a file of at most `limit` bytes, zero-terminated, from malloc. CB_ERROR_FILE with the system's
 * reason if it cannot be read; CB_ERROR_INPUT before any of it is kept if it is larger. Regular files only:
 * file.h. */
cb_status cb_read_whole_file(const char *path, size_t limit, char **data, size_t *n);

/* The bytes of the mark that a text in UTF-8 may begin with (EF BB BF, as Windows writes it), 0 where there is none. */
size_t cb_text_mark(const char *text, size_t n);
/* The same of the standard input, whatever that is. */
cb_status cb_read_standard_input(size_t limit, char **data, size_t *n);
