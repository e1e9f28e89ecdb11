/* The number of threads of the process. The program sets this number; a loop reads it when the loop starts, and some
 * objects read it when they are created. */
#include "core/threads.h"

#include <omp.h>
#include <stdatomic.h>

static atomic_int chosen;

void cb_threads_set(int threads) { atomic_store(&chosen, threads > 0 ? threads : 0); }

bool cb_threads_chosen(void) { return atomic_load(&chosen) > 0; }

int cb_threads_for(size_t elements) {
  if (elements < CB_THREADS_MIN_ELEMENTS) return 1;
  const int threads = atomic_load(&chosen);
  return threads > 0 ? threads : omp_get_max_threads();
}
