/* Counts the calls of the allocator by anything in the process while `counting` is true: malloc and its kin stand in
 * front of the C library's own functions. Where the sanitizers stand there nothing is counted; a test of this alone has
 * `labels: release`. One translation unit of a program includes this. */
#pragma once

#include "check.h"
#include <errno.h>

/* volatile: what a compiler knows of malloc is that it does not look at them */
static volatile bool counting;
static volatile size_t calls;

#if !CHECK_SANITIZED
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);
void __libc_free(void *);
void *malloc(size_t n) { return calls += counting, __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return calls += counting, __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return calls += counting, __libc_realloc(p, n); }
void *memalign(size_t alignment, size_t n) { return calls += counting, __libc_memalign(alignment, n); }
void *aligned_alloc(size_t alignment, size_t n) { return calls += counting, __libc_memalign(alignment, n); }
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

/* Calls since then. */
static inline size_t count_so_far(void) {
  counting = false;
  return calls;
}

/* For each program: that the counter is in its place. */
static inline void the_counter_counts(void **unused) {
  count_from_here();
  char *volatile p = malloc(10);
  free(p);
  assert_int_equal(count_so_far(), CHECK_SANITIZED ? 0 : 2);
}
