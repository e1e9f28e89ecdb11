/* Harmonics of cells for AVX2: vectors of four. */
#if defined(__x86_64__)
#include "core/lanes4.h"

#define KERNELS cb_tree_kernels_avx2
#define WIDTH 4

#include "potential/tree_kernel.h"
#include "core/lanes_end.h"
#endif
