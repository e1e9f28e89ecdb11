/* This file compiles the harmonics of cells for AVX-512, with vectors of eight numbers. */
#if defined(__x86_64__)
#include "core/lanes8.h"

#define KERNELS cb_tree_kernels_avx512
#define WIDTH 8

#include "potential/tree_kernel.h"
#include "core/lanes_end.h"
#endif
