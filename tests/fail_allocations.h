/* Simulates lack of memory in the library: the request for memory with a chosen number fails, either alone or with all
 * later ones. The linker redirects the calls of the library to the functions here (FAILING in tests/CMakeLists.txt).
 * The redirected calls are those of malloc and its kin, and those of some functions of GSL, SUNDIALS, KLU, AMD and
 * libyaml that allocate memory. Requests that these libraries make inside their own functions do not fail. Only one
 * translation unit of a program may include this file. */
#pragma once

#include "check.h"
#include <amd.h>
#include <errno.h>
#include <execinfo.h>
#include <gsl/gsl_errno.h>
#include <ida/ida.h>
#include <klu.h>
#include <stdatomic.h>
#include <yaml.h>

/* volatile, because a compiler assumes that malloc does not use the variables of a program */
static volatile struct {
  bool counts, stays;     /* counts: requests are counted and can fail; stays: all later requests fail, too */
  size_t at;              /* number of the request that fails; 0: none */
  atomic_size_t requests; /* number of requests so far */
  atomic_size_t failed;
  atomic_long kept; /* number of blocks from malloc and similar functions that are not freed yet */
} allocations;

/* The call stack of the first request that failed. */
static void *allocation_trace[32];
static int allocation_depth;

static inline bool allocation_fails(void) {
  if (!allocations.counts) return false;
  const size_t request = ++allocations.requests;
  if (!allocations.at || request < allocations.at || (request > allocations.at && !allocations.stays)) return false;
  if (!allocations.failed++) allocation_depth = backtrace(allocation_trace, 32);
  return true;
}

static inline void *allocation_kept(void *piece) {
  if (allocations.counts && piece) allocations.kept++;
  return piece;
}

static inline void *no_memory(void) {
  errno = ENOMEM;
  return NULL;
}

/* Each of these three macros defines a replacement of a function that needs memory. The replacement fails if its
 * request has the chosen number. FAILS_OF_FREE is for functions whose result the caller passes to free. */
#define FAILS_WITH(failure, type, name, parameters, arguments) \
  type __real_##name parameters;                               \
  type __wrap_##name parameters { return allocation_fails() ? (failure) : __real_##name arguments; }
#define FAILS(name, parameters, arguments) FAILS_WITH(no_memory(), void *, name, parameters, arguments)
#define FAILS_OF_FREE(name, parameters, arguments) \
  void *__real_##name parameters;                  \
  void *__wrap_##name parameters { return allocation_fails() ? no_memory() : allocation_kept(__real_##name arguments); }

FAILS_OF_FREE(malloc, (size_t n), (n))
FAILS_OF_FREE(calloc, (size_t n, size_t size), (n, size))
FAILS_OF_FREE(aligned_alloc, (size_t alignment, size_t n), (alignment, n))
FAILS_OF_FREE(strdup, (const char *text), (text))
/* To fail, these replacements call the real function with a size that is too large. So the arena is in the state that
 * it has after a failure. */
FAILS_WITH(__real_cb_arena_alloc(arena, SIZE_MAX, 2), void *, cb_arena_alloc, (void *arena, size_t n, size_t size),
           (arena, n, size))
FAILS_WITH(__real_cb_arena_alloc_aligned(arena, SIZE_MAX, 2, alignment), void *, cb_arena_alloc_aligned,
           (void *arena, size_t n, size_t size, size_t alignment), (arena, n, size, alignment))
FAILS_WITH(__real_cb_arena_alloc(arena, SIZE_MAX, 2), void *, cb_arena_strdup, (void *arena, const char *text),
           (arena, text))
FAILS_WITH(__real_cb_arena_alloc(arena, SIZE_MAX, 2), void *, cb_arena_strndup,
           (void *arena, const char *text, size_t n), (arena, text, n))
FAILS(gsl_rng_alloc, (const void *type), (type))
FAILS(gsl_eigen_symmv_alloc, (size_t n), (n))
FAILS(gsl_integration_glfixed_table_alloc, (size_t n), (n))
FAILS(IDACreate, (void *context), (context))
FAILS(N_VNew_Serial, (int64_t n, void *context), (n, context))
FAILS(SUNDenseMatrix, (int64_t m, int64_t n, void *context), (m, n, context))
FAILS(SUNSparseMatrix, (int64_t m, int64_t n, int64_t entries, int form, void *context), (m, n, entries, form, context))
FAILS(SUNLinSol_Dense, (void *y, void *matrix, void *context), (y, matrix, context))
FAILS(SUNLinSol_KLU, (void *y, void *matrix, void *context), (y, matrix, context))
FAILS_WITH(-1, int, SUNContext_Create, (void *communicator, void *out), (communicator, out))
FAILS_WITH(IDA_MEM_FAIL, int, IDAInit, (void *ida, void *residual, double t, void *y, void *yp),
           (ida, residual, t, y, yp))
FAILS_WITH(IDALS_MEM_FAIL, int, IDASetLinearSolver, (void *ida, void *linear, void *matrix), (ida, linear, matrix))
FAILS_WITH(0, int, yaml_parser_initialize, (yaml_parser_t * parser), (parser))
FAILS_WITH((parser->error = YAML_MEMORY_ERROR, 0), int, yaml_parser_parse,
           (yaml_parser_t * parser, yaml_event_t *event), (parser, event))
FAILS_WITH(GSL_ENOMEM, int, gsl_linalg_solve_symm_cyc_tridiag, (void *diagonal, void *beside, void *b, void *x),
           (diagonal, beside, b, x))
FAILS_WITH(AMD_OUT_OF_MEMORY, int, amd_order,
           (int n, const int start[], const int row[], int order[], double control[], double info[]),
           (n, start, row, order, control, info))
FAILS_WITH((common->status = KLU_OUT_OF_MEMORY, NULL), klu_symbolic *, klu_analyze,
           (int n, int start[], int row[], klu_common *common), (n, start, row, common))
FAILS_WITH((common->status = KLU_OUT_OF_MEMORY, NULL), klu_symbolic *, klu_analyze_given,
           (int n, int start[], int row[], int p[], int q[], klu_common *common), (n, start, row, p, q, common))
FAILS_WITH((common->status = KLU_OUT_OF_MEMORY, NULL), klu_numeric *, klu_factor,
           (int start[], int row[], double value[], klu_symbolic *symbolic, klu_common *common),
           (start, row, value, symbolic, common))

void *__real_realloc(void *piece, size_t n);
void *__wrap_realloc(void *piece, size_t n) {
  if (allocation_fails()) return no_memory();
  return piece ? __real_realloc(piece, n) : allocation_kept(__real_realloc(piece, n));
}

/* A call of realpath with a buffer of the caller allocates no memory, so it is not a request and does not fail. */
void *__real_realpath(const char *path, char *out);
void *__wrap_realpath(const char *path, char *out) {
  if (out) return __real_realpath(path, out);
  return allocation_fails() ? no_memory() : allocation_kept(__real_realpath(path, NULL));
}

void __real_free(void *piece);
void __wrap_free(void *piece) {
  if (allocations.counts && piece) allocations.kept--;
  __real_free(piece);
}

/* Sets all counters to 0. From here on request number `at` fails (0: none), and all later ones if `stays` is set. */
static inline void fail_allocation(size_t at, bool stays) {
  allocations.at = at;
  allocations.stays = stays;
  allocations.requests = allocations.failed = 0;
  allocations.kept = 0;
  allocation_depth = 0;
  allocations.counts = true;
}

/* Ends the counting and the failures. Returns the number of requests since fail_allocation. */
static inline size_t end_failing(void) {
  allocations.counts = false;
  return allocations.requests;
}

/* Returns the number of the next request to fail after number `at`. If the environment has CB_TEST_ALL, this is at + 1.
 * Otherwise it is a random one of the next 2 most - 1 numbers, so that on average one request in `most` is tested. */
static inline size_t next_allocation(size_t at, int most, uint64_t *seed) {
  return at + (size_t)check_uniform(seed, 1, getenv("CB_TEST_ALL") ? 2 : 2 * most);
}

/* Prints the call stack of the first request that failed. */
static inline void print_failed_allocation(void) { backtrace_symbols_fd(allocation_trace, allocation_depth, 2); }

/* Tests that the replacements of malloc and similar functions work. Each program that includes this file runs this
 * test. */
static inline void the_allocation_asked_for_fails(void **unused) {
  void *volatile piece[4];
  fail_allocation(2, false);
  for (int i = 0; i < 4; i++) piece[i] = malloc(10);
  assert_int_equal(end_failing(), 4);
  assert_int_equal(allocations.kept, 3);
  assert_true(piece[0] && !piece[1] && piece[2] && piece[3]);
  for (int i = 0; i < 4; i++) free(piece[i]);
}
