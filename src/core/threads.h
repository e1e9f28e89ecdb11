/* How many threads a loop over n elements may use: the number set for the process, and one below the size at which
 * starting them costs more than it saves. Results never depend on it. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Elements below which one thread is taken: a step opens a dozen parallel regions, each of which waits for the last
 * thread, and on a busy machine that wait is long. Where races are looked for small scenarios have them all. */
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

/* Sets the number of threads of the process; 0: as many as there are cores (OMP_NUM_THREADS is respected). */
void cb_threads_set(int threads);
bool cb_threads_chosen(void); /* was a number set? */
int cb_threads_for(size_t elements);

/* part(context, begin, end) over [0, n) cut into `threads` pieces. One thread is a plain call: opening a parallel
 * region of one costs a microsecond all the same. */
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

/* *least = min(*least, i): where a loop fails first, whichever thread sees it. The caller repeats that element in its
 * own thread, whose error text then says why. */
static inline void cb_threads_least(atomic_int *least, int i) {
  int seen = atomic_load(least);
  while (i < seen && !atomic_compare_exchange_weak(least, &seen, i)) continue;
}
