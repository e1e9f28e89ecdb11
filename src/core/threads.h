/* Loops over several threads, and work memory that threads share.
 *
 * A loop over n elements uses the number of threads of the process, or one thread if n is so small that starting
 * threads costs more time than it saves. Results never depend on the number of threads. */
#pragma once

#include <curvebody/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* A loop over fewer elements than CB_THREADS_MIN_ELEMENTS uses one thread. A step of a run has about a dozen loops; at
 * the end of a parallel loop all threads wait for the last one, and on a busy machine this takes long. With the thread
 * sanitizer the number is small, so that small scenarios run in parallel, too. */
#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define CB_THREADS_ALWAYS 1
#endif
#endif
#if defined CB_THREADS_ALWAYS
enum { CB_THREADS_MIN_ELEMENTS = 8 };
#else
enum { CB_THREADS_MIN_ELEMENTS = 50000 };
#endif

bool cb_threads_chosen(void); /* true if the last call of cb_threads_set had a number above 0 */
/* Returns the number of threads for a loop over this number of elements. */
int cb_threads_for(size_t elements);

/* Divides [0, n) into `threads` pieces whose lengths differ by at most 1, and calls part(context, begin, end) for each,
 * in parallel. With one thread there is no parallel region, because such a region costs about a microsecond. */
static inline void cb_threads_range(int threads, int n, void (*part)(void *context, int begin, int end),
                                    void *context) {
  if (threads <= 1) {
    part(context, 0, n);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int i = 0; i < threads; i++)
    part(context, (int)((long long)n * i / threads), (int)((long long)n * (i + 1) / threads));
}

/* Sets *least = min(*least, i). A parallel loop calls this function for every element i that fails; then *least is the
 * first of these. The caller repeats this element in its own thread, so that the error text is set in that thread. */
static inline void cb_threads_least(atomic_int *least, int i) {
  int seen = atomic_load(least);
  while (i < seen && !atomic_compare_exchange_weak(least, &seen, i)) continue;
}

/* A pool of pieces of work memory for any number of threads; only one thread at a time uses a piece. A thread takes an
 * unused piece, or makes a new one if there is none, and returns it to the pool afterwards. */
enum { CB_SPARE_MAX = 32 };

typedef struct cb_spare {
  _Atomic(void *) piece[CB_SPARE_MAX];
} cb_spare;

/* Takes an unused piece from the pool; NULL if there is none. */
static inline void *cb_spare_take(cb_spare *s) {
  void *piece = NULL;
  for (int k = 0; k < CB_SPARE_MAX && !piece; k++) piece = atomic_exchange(&s->piece[k], NULL);
  return piece;
}

/* Returns a piece to the pool. false: the pool is full, and the caller has to free the piece. */
static inline bool cb_spare_leave(cb_spare *s, void *piece) {
  bool kept = false;
  for (int k = 0; k < CB_SPARE_MAX && !kept; k++) {
    void *none = NULL;
    kept = atomic_compare_exchange_strong(&s->piece[k], &none, piece);
  }
  return kept;
}

/* The instruction set that the vector kernels use; it is chosen at run time.
 *
 * Kernels exist for x86-64 (SSE2), AVX2 with FMA, and AVX-512 (F, DQ, VL). Other architectures have only the portable
 * kernel, which is called "aarch64" on that architecture and "portable" elsewhere.
 * The choice is the best instruction set of the processor unless cb_isa_set has set another. An object reads the choice
 * when it is created; a later cb_isa_set does not affect the object. The same choice gives results that are identical
 * bit for bit on any processor.
 */

#if defined(__x86_64__)
#define CB_ISA_BASE "x86-64"
#define CB_ISA_NAMES "auto x86-64 avx2 avx512"
#elif defined(__aarch64__)
#define CB_ISA_BASE "aarch64"
#define CB_ISA_NAMES "auto aarch64"
#else
#define CB_ISA_BASE "portable"
#define CB_ISA_NAMES "auto portable"
#endif

typedef enum cb_isa { CB_ISA_X86_64, CB_ISA_AVX2, CB_ISA_AVX512, CB_ISA_COUNT } cb_isa;

/* Sets the instruction set that the kernels of this process use: one of CB_ISA_NAMES. CB_ERROR_UNSUPPORTED if this
 * processor does not support it, also if it belongs to another architecture; CB_ERROR_ARGUMENT for other names. */
cb_status cb_isa_set(const char *name);

cb_isa cb_isa_get(void);

/* Returns CB_ISA_BASE, "avx2" or "avx512", in static memory. */
const char *cb_isa_name(void);
