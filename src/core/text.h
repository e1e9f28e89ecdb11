/* Text: numbers as they are written in files, quotation in messages, a string that grows, and reading complete
 * files. */
#pragma once

#include <curvebody/status.h>
#include <stdbool.h>
#include <stddef.h>

/* Reads text[n] as a decimal number, [+-]digits[.digits][e[+-]digits]; the digits before the point or those after it
 * may be missing. Blanks, hexadecimal numbers, nan and inf are not accepted. The value is rounded to nearest, and
 * infinite on overflow. Returns false and leaves *value unchanged if the text is not a number, or if it is long and
 * there is no memory for a copy. */
bool cb_parse_decimal(const char *text, size_t n, double *value);

/* Returns the length of the longest prefix of text[n] that is a decimal number; 0 if there is none. */
size_t cb_decimal_length(const char *text, size_t n);

/* Returns whether text[n] is an integer, [+-]digits, and sets *value if it is. *value is LLONG_MIN or LLONG_MAX if the
 * integer does not fit. */
bool cb_parse_integer(const char *text, size_t n, long long *value);

/* Writes the number with 15 significant digits, or with 16 or 17 if fewer would not read back as the same number;
 * trailing zeros are left out. Writes nan (without a sign), inf or -inf if the number is not finite. */
void cb_export_number(char text[32], double value);

/* Prepares text[n] for a message, with '?' for control characters and invalid UTF-8. After about 40 bytes the text is
 * cut and "..." is added. Use it as `cb_quoted(text, n).text`. */
typedef struct cb_quote {
  char text[56];
} cb_quote;
cb_quote cb_quoted(const char *text, size_t n);

/* Returns the number of UTF-8 code points that begin in text[n]. */
size_t cb_count_characters(const char *text, size_t n);

/* A text that grows; it starts as {0}. If it cannot grow, it stays unchanged and `failed` is set: one check at the end
 * is enough. It ends with a zero byte as soon as a text has been added. */
typedef struct cb_text {
  char *data;
  size_t length, capacity;
  bool failed;
} cb_text;

void cb_text_put(cb_text *text, const char *bytes, size_t n);
void cb_text_puts(cb_text *text, const char *zero_terminated);
void cb_text_free(cb_text *text);

/* Reads a complete regular file of at most `limit` bytes; *data is from malloc and ends with a zero byte. CB_ERROR_FILE
 * with the system's reason if the file cannot be read, CB_ERROR_INPUT if it is larger, CB_ERROR_MEMORY. */
cb_status cb_read_whole_file(const char *path, size_t limit, char **data, size_t *n);

/* Does the same as cb_read_whole_file for the standard input, which need not be a regular file. */
cb_status cb_read_standard_input(size_t limit, char **data, size_t *n);

/* Returns the length of the byte order mark (EF BB BF, as Windows writes it) at the beginning of a text; 0 if there is
 * none. */
size_t cb_text_mark(const char *text, size_t n);
