/* The instruction set of the vector kernels and the number of threads that the process uses (threads.h). Both are
 * atomic variables, which the program sets. A loop reads the number of threads when the loop starts, and some objects
 * read it when they are created. */

#include "core/threads.h"

#include <omp.h>
#include <stdatomic.h>
#include <string.h>

/* --- instruction set --- */

static const char *const names[CB_ISA_COUNT] = {CB_ISA_BASE, "avx2", "avx512"};
static const char *const elsewhere[] = {"x86-64", "aarch64", "portable"};

/* The chosen cb_isa; -1 means the best one that the processor has. */
static _Atomic int choice = -1;

static int has(cb_isa isa) {
#if defined(__x86_64__)
  /* The builtin also checks that the operating system saves the wide registers. */
  __builtin_cpu_init();
  if (isa == CB_ISA_AVX2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa == CB_ISA_AVX512)
    return has(CB_ISA_AVX2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
#endif
  return isa == CB_ISA_X86_64;
}

cb_status cb_isa_set(const char *name) {
  if (strcmp(name, "auto") == 0) {
    atomic_store(&choice, -1);
    return CB_OK;
  }
  for (int isa = 0; isa < CB_ISA_COUNT; isa++) {
    if (strcmp(name, names[isa]) != 0) continue;
    if (!has((cb_isa)isa))
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "this processor does not support %s: expected `auto`, or another instruction set", name);
    atomic_store(&choice, isa);
    return CB_OK;
  }
  for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++)
    if (strcmp(name, elsewhere[k]) == 0)
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "this processor does not support %s: expected `auto`, or another instruction set", name);
  return cb_fail(CB_ERROR_ARGUMENT, "no instruction set '%.40s': expected one of: " CB_ISA_NAMES, name);
}

cb_isa cb_isa_get(void) {
  int isa = atomic_load_explicit(&choice, memory_order_relaxed);
  if (isa >= 0) return (cb_isa)isa;
  return has(CB_ISA_AVX512) ? CB_ISA_AVX512 : has(CB_ISA_AVX2) ? CB_ISA_AVX2 : CB_ISA_X86_64;
}

const char *cb_isa_name(void) { return names[cb_isa_get()]; }

/* --- threads --- */

static atomic_int chosen;

void cb_threads_set(int threads) { atomic_store(&chosen, threads > 0 ? threads : 0); }

bool cb_threads_chosen(void) { return atomic_load(&chosen) > 0; }

int cb_threads_for(size_t elements) {
  if (elements < CB_THREADS_MIN_ELEMENTS) return 1;
  const int threads = atomic_load(&chosen);
  return threads > 0 ? threads : omp_get_max_threads();
}
