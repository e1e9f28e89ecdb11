/* This file compiles the loops of lobatto_kernel.h for any processor. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
#define KERNEL cb_lobatto_kernel_x86_64
#include "integrators/lobatto_kernel.h"
