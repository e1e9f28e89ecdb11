/* Vectors of four doubles, for the kernels of AVX2 with FMA. The code between this header and core/lanes_end.h is
 * compiled for that instruction set. */
#pragma once

#if defined(__clang__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#include <immintrin.h>
#endif

typedef __m256d vec;

static inline vec set(double a) { return _mm256_set1_pd(a); }
static inline vec load(const double *p) { return _mm256_loadu_pd(p); }
static inline void store(double *p, vec a) { _mm256_storeu_pd(p, a); }
static inline vec root(vec a) { return _mm256_sqrt_pd(a); }
static inline vec fma3(vec a, vec b, vec c) { return _mm256_fmadd_pd(a, b, c); }
static inline int any_above(vec a, vec b) { return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ)) != 0; }
static inline vec where_above(vec a, vec b, vec yes, vec no) {
  return _mm256_blendv_pd(no, yes, _mm256_cmp_pd(a, b, _CMP_GT_OQ));
}
