/* Steps in lanes for AVX-512: eight runs at once. */
#if defined(__x86_64__)
#include "core/lanes8.h"

#define KERNEL cb_lanes_kernel_avx512
enum { WIDTH = 8 };

#include "integrators/lanes_kernel.h"
#include "core/lanes_end.h"
#endif
