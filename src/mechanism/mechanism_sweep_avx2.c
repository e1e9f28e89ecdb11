/* This file compiles the sweeps of mechanism_sweep_kernel.h and mechanism_shared_kernel.h for AVX2. The compiler fuses
 * no operations. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define VECTORS
#define KERNEL cb_sweep_kernel_avx2
#include "mechanism/mechanism_sweep_kernel.h"
#undef KERNEL
#define KERNEL cb_shared_kernel_avx2
#include "mechanism/mechanism_shared_kernel.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
