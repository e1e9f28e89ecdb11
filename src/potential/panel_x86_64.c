/* Kernels of panels for any processor, in vectors of two as x86-64 has them: two panels at once. */
#include "core/lanes2.h"

#define KERNELS cb_panel_kernels_x86_64
#define WIDTH 2

#include "potential/panel_kernel.h"
