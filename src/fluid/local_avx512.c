/* Kernels of the local fluid model for AVX-512: eight faces at once. */
#if defined(__x86_64__)
#if defined(__clang__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,avx512f,avx512dq,avx512vl")
#include <immintrin.h>
#endif

#define KERNELS cb_local_kernels_avx512
#define WIDTH 8
enum { ROWS = 3 };
typedef __m512d vec;

static inline vec set(double a) { return _mm512_set1_pd(a); }
static inline vec load(const double *p) { return _mm512_loadu_pd(p); }
static inline void store(double *p, vec a) { _mm512_storeu_pd(p, a); }
static inline vec gather(const double *p, const int *at) {
  return _mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)at), p, 8);
}
static inline vec root(vec a) { return _mm512_sqrt_pd(a); }
static inline vec fma3(vec a, vec b, vec c) { return _mm512_fmadd_pd(a, b, c); }
static inline vec fnma3(vec a, vec b, vec c) { return _mm512_fnmadd_pd(a, b, c); }
static inline int any_above(vec a, vec b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ) != 0; }
static inline vec where_above(vec a, vec b, vec yes, vec no) {
  return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_GT_OQ), no, yes);
}

#include "fluid/local_kernel.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
