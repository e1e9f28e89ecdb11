/* This file compiles the harmonics of cells for any processor, with vectors of two numbers, which every x86-64
 * processor has. */
#include "core/lanes2.h"

#define KERNELS cb_tree_kernels_x86_64
#define WIDTH 2

#include "potential/tree_kernel.h"
