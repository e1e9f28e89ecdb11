/* Steps in lanes for AVX2 with FMA: four runs at once. */
#if defined(__x86_64__)
#include "core/lanes4.h"

#define KERNEL cb_lanes_kernel_avx2
enum { WIDTH = 4 };

#include "integrators/lanes_kernel.h"
#include "core/lanes_end.h"
#endif
