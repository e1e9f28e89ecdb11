/* This file compiles the loops of mechanism_blocks_kernel.h for AVX2. The compiler fuses no operations. */
#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define WIDTH 4
#define KERNEL cb_blocks_kernel_avx2
#include "mechanism/mechanism_blocks_kernel.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
