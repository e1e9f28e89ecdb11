/* This file compiles the kernels of panels for AVX-512; they evaluate eight panels at once. */
#if defined(__x86_64__)
#include "core/lanes8.h"

#define KERNELS cb_panel_kernels_avx512
#define WIDTH 8

#include "potential/panel_kernel.h"
#include "core/lanes_end.h"
#endif
