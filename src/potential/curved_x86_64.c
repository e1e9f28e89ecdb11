/* This file compiles the kernels of geodesic panels for any processor. They evaluate two panels at once, because every
 * x86-64 processor has vectors of two numbers.
 */
#include "core/lanes2.h"

#define KERNELS cb_curved_kernels_x86_64
#define WIDTH 2

#include "potential/curved_kernel.h"
