/* This file compiles the harmonics of cells for AVX2, with vectors of four numbers. */
#if defined(__x86_64__)
#include "core/lanes4.h"

#define KERNELS cb_tree_kernels_avx2
#define WIDTH 4

#include "potential/tree_kernel.h"
#include "core/lanes_end.h"
#endif
