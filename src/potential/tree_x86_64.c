/* Harmonics of cells for any processor, in vectors of two as x86-64 has them. */
#include "core/lanes2.h"

#define KERNELS cb_tree_kernels_x86_64
#define WIDTH 2

#include "potential/tree_kernel.h"
