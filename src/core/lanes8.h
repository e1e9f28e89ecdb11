/* Vectors of eight doubles, for the kernels of AVX-512. The code between this header and core/lanes_end.h is compiled
 * for that instruction set. */
#pragma once

#if defined(__clang__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,avx512f,avx512dq,avx512vl")
#include <immintrin.h>
#endif

typedef __m512d vec;

static inline vec set(double a) { return _mm512_set1_pd(a); }
static inline vec load(const double *p) { return _mm512_loadu_pd(p); }
static inline void store(double *p, vec a) { _mm512_storeu_pd(p, a); }
static inline vec root(vec a) { return _mm512_sqrt_pd(a); }
static inline vec fma3(vec a, vec b, vec c) { return _mm512_fmadd_pd(a, b, c); }
static inline int any_above(vec a, vec b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ) != 0; }
static inline vec where_above(vec a, vec b, vec yes, vec no) {
  return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_GT_OQ), no, yes);
}
