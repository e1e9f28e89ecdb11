/* Spring kernels for AVX-512: eight springs at once. */
#if defined(__x86_64__)
#if defined(__clang__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512dq,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx2,fma,avx512f,avx512dq,avx512vl")
#include <immintrin.h>
#endif

#define KERNELS cb_springs_kernels_avx512
enum { WIDTH = 8 };
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

#include "dynamics/springs_vec4.h"

static inline vec dot(const vec4 *a, const vec4 *b) {
  vec4 low = sums(a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]);
  vec4 high = sums(a[4] * b[4], a[5] * b[5], a[6] * b[6], a[7] * b[7]);
  return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}
static inline vec inner(const vec4 *a, const vec4 *b, vec4 form) {
  vec4 c[8];
#pragma GCC unroll 8
  for (int l = 0; l < 8; l++) c[l] = b[l] * form;
  return dot(a, c);
}

#include "dynamics/springs_kernel.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
