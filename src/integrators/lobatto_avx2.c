/* This file compiles the loops of lobatto_kernel.h for AVX2. fma() is used only for exact products; the compiler fuses
 * no other operations. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define KERNEL cb_lobatto_kernel_avx2
#include "integrators/lobatto_kernel.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
