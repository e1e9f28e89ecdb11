/* This file compiles the kernels of panels for AVX2 with FMA; they evaluate four panels at once. */
#if defined(__x86_64__)
#include "core/lanes4.h"

#define KERNELS cb_panel_kernels_avx2
#define WIDTH 4

#include "potential/panel_kernel.h"
#include "core/lanes_end.h"
#endif
