/* This file compiles the loops of mechanism_blocks_kernel.h for any processor. */
#define WIDTH 2
#define KERNEL cb_blocks_kernel_x86_64
#include "mechanism/mechanism_blocks_kernel.h"
