/* This file compiles the kernels of geodesic panels for AVX-512; they evaluate eight panels at once. */
#if defined(__x86_64__)
#include "core/lanes8.h"

#define KERNELS cb_curved_kernels_avx512
#define WIDTH 8

#include "potential/curved_kernel.h"
#include "core/lanes_end.h"
#endif
