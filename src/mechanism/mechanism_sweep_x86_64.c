/* This file compiles the sweeps of mechanism_sweep_kernel.h and mechanism_shared_kernel.h for any processor. */
#define HALVES
#define KERNEL cb_sweep_kernel_x86_64
#include "mechanism/mechanism_sweep_kernel.h"
#undef KERNEL
#define KERNEL cb_shared_kernel_x86_64
#include "mechanism/mechanism_shared_kernel.h"
