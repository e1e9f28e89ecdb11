/* Counts the calls of malloc, free and similar functions by any code in the process while `counting` is true. The
 * functions in this file replace those of the C library. Sanitizers replace them too, so nothing is counted under
 * sanitizers; a test that only counts has `labels: release` (tests/CMakeLists.txt). Only one translation unit of a
 * program may include this file. */
#pragma once

#include "check.h"
#include <errno.h>

/* volatile, because a compiler assumes that malloc does not use the variables of a program */
static volatile bool counting;
static volatile size_t calls;

#if !CHECK_SANITIZED
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
void __libc_free(void *);
void *malloc(size_t n) {
  calls += counting;
  return __libc_malloc(n);
}
void *calloc(size_t n, size_t size) {
  calls += counting;
  return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n) {
  calls += counting;
  return __libc_realloc(p, n);
}
void *memalign(size_t alignment, size_t n) {
  calls += counting;
  return __libc_memalign(alignment, n);
}
void *aligned_alloc(size_t alignment, size_t n) {
  calls += counting;
  return __libc_memalign(alignment, n);
}
int posix_memalign(void **p, size_t alignment, size_t n) {
  calls += counting;
  return (*p = __libc_memalign(alignment, n)) ? 0 : ENOMEM;
}
void free(void *p) {
  calls += counting && p;
  __libc_free(p);
}
#endif

static inline void count_from_here(void) {
  calls = 0;
  counting = true;
}

/* Stops counting, and returns the number of calls since count_from_here. */
static inline size_t count_so_far(void) {
  counting = false;
  return calls;
}

/* Tests that the counter of allocations works. Each program that includes this file runs this test. */
static inline void the_counter_counts(void **unused) {
  count_from_here();
  char *volatile p = malloc(10);
  free(p);
  assert_int_equal(count_so_far(), CHECK_SANITIZED ? 0 : 2);
}
