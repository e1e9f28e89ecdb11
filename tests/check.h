/* Comparisons of numbers for the tests, in double precision; the comparison of cmocka converts to float. The message of
 * a failure shows both numbers and the error. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <curvebody/status.h>

/* Checks that |a - b| <= tolerance. */
#define check_near(a, b, tolerance) check_near_at((a), (b), (tolerance), #a, __FILE__, __LINE__)
/* Checks that |a - b| <= tolerance |b|. */
#define check_relative(a, b, tolerance) check_near_at((a), (b), (tolerance)*fabs(b), #a, __FILE__, __LINE__)
/* Checks that a <= bound. Fails if one of them is nan. */
#define check_at_most(a, bound) check_at_most_at((a), (bound), #a, __FILE__, __LINE__)
#define check_at_least(a, bound) check_at_most_at(-(a), -(bound), "-(" #a ")", __FILE__, __LINE__)
/* Checks that the status is CB_OK. A failure shows the error text. */
#define check_ok(status) check_ok_at((status), #status, __FILE__, __LINE__)

static inline void check_near_at(double a, double b, double tolerance, const char *what, const char *file, int line) {
  if (fabs(a - b) <= tolerance) return;
  print_error("%s = %.17g, expected %.17g: error %.3g > %.3g\n", what, a, b, fabs(a - b), tolerance);
  _fail(file, line);
}

static inline void check_at_most_at(double a, double bound, const char *what, const char *file, int line) {
  if (a <= bound) return;
  print_error("%s = %.6g is not at most %.6g\n", what, a, bound);
  _fail(file, line);
}

static inline void check_ok_at(cb_status status, const char *what, const char *file, int line) {
  if (status == CB_OK) return;
  print_error("%s: %s: %s\n", what, cb_status_name(status), cb_error_text());
  _fail(file, line);
}

/* Returns the seed of the random numbers of a test, and prints it. The seed is the environment variable CB_TEST_SEED
 * or, if this is not set, a fixed number. check_uniform makes random numbers from it by splitmix64. */
static inline uint64_t check_seed(void) {
  const char *text = getenv("CB_TEST_SEED");
  uint64_t seed = text ? strtoull(text, NULL, 0) : UINT64_C(20261120);
  print_message("seed %llu (set CB_TEST_SEED to change it)\n", (unsigned long long)seed);
  return seed;
}

static inline double check_uniform(uint64_t *state, double low, double high) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return low + (high - low) * ((double)(z >> 11) * 0x1p-53);
}

/* Makes a random unit vector u of n numbers. */
static inline void check_direction(uint64_t *state, int n, double *u) {
  double square;
  do {
    square = 0;
    for (int a = 0; a < n; a++) {
      u[a] = check_uniform(state, -1, 1);
      square += u[a] * u[a];
    }
  } while (square > 1 || square < 0.01);
  for (int a = 0; a < n; a++) u[a] /= sqrt(square);
}

/* --- errors --- */

/* Checks the status and the complete text of the error. */

#define check_error(call, status, text) check_error_at((call), (status), (text), #call, __FILE__, __LINE__)
/* Checks the status, and that the text of the error begins with `text`. */
#define check_error_begins(call, status, text) \
  check_error_begins_at((call), (status), (text), #call, __FILE__, __LINE__)
/* Checks one case of a table of errors as check_error_begins does. A failure prints `what`, the name of the case. */
#define check_case_begins(what, call, status, text) \
  check_error_begins_at((call), (status), (text), (what), __FILE__, __LINE__)

static inline void check_error_at(cb_status got, cb_status status, const char *text, const char *what, const char *file,
                                  int line) {
  if (got == status && strcmp(cb_error_text(), text) == 0) return;
  print_error("%s: %s\n  found    %s\n  expected %s\n", what, cb_status_name(got), got ? cb_error_text() : "", text);
  _fail(file, line);
}

static inline void check_error_begins_at(cb_status got, cb_status status, const char *text, const char *what,
                                         const char *file, int line) {
  if (got == status && strncmp(cb_error_text(), text, strlen(text)) == 0) return;
  print_error("%s: %s\n  found    %s\n  expected %s...\n", what, cb_status_name(got), got ? cb_error_text() : "", text);
  _fail(file, line);
}

/* CHECK_SANITIZED is 1 if the library is built with sanitizers. They make a test about thirty times slower, so tests
 * then make fewer trials. */

#if defined __SANITIZE_ADDRESS__ || defined CURVEBODY_SANITIZED
#define CHECK_SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define CHECK_SANITIZED 1
#endif
#endif
#ifndef CHECK_SANITIZED
#define CHECK_SANITIZED 0
#endif

/* Skips the rest of a test if sanitizers are on. It belongs at the start of a long test that only compares numbers, and
 * whose code shorter tests run too. */
#define check_numbers_alone()    \
  do {                           \
    if (CHECK_SANITIZED) skip(); \
  } while (0)
