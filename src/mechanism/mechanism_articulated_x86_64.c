/* This file compiles the loops of mechanism_articulated_kernel.h for any processor. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
#define KERNEL cb_articulated_kernel_x86_64
#include "mechanism/mechanism_articulated_kernel.h"
