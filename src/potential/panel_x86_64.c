/* Kernels of panels for any processor, two panels at once: vectors of two, which every x86-64 processor has. */
#include "core/lanes2.h"

#define KERNELS cb_panel_kernels_x86_64
#define WIDTH 2

#include "potential/panel_kernel.h"
