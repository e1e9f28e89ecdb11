/* Spring kernels for AVX2 with FMA: four springs at once. */
#if defined(__x86_64__)
#if defined(__clang__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#include <immintrin.h>
#endif

#define KERNELS cb_springs_kernels_avx2
enum { WIDTH = 4 };
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

#include "dynamics/springs_vec4.h"

static inline vec dot(const vec4 *a, const vec4 *b) { return sums(a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]); }
static inline vec inner(const vec4 *a, const vec4 *b, vec4 form) {
  return sums(a[0] * b[0] * form, a[1] * b[1] * form, a[2] * b[2] * form, a[3] * b[3] * form);
}

#include "dynamics/springs_kernel.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
