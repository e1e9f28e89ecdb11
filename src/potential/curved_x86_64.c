/* Kernels of geodesic panels for any processor, in vectors of two as x86-64 has them: two panels at once. */
#include "core/lanes2.h"

#define KERNELS cb_curved_kernels_x86_64
#define WIDTH 2

#include "potential/curved_kernel.h"
