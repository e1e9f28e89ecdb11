/* This file compiles the loops of mechanism_articulated_kernel.h for any processor. */
#define KERNEL cb_articulated_kernel_x86_64
#include "mechanism/mechanism_articulated_kernel.h"
