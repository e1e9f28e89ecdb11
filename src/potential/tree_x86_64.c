/* This file compiles the harmonics of cells for any processor. The vectors have two numbers, because every x86-64
 * processor has such vectors. */
#include "core/lanes2.h"

#define KERNELS cb_tree_kernels_x86_64
#define WIDTH 2

#include "potential/tree_kernel.h"
