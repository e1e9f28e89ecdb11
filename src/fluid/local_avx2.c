/* Kernels of the local fluid model for AVX2 with FMA: four faces at once. */
#if defined(__x86_64__)
#if defined(__clang__)
#include <immintrin.h>
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#include <immintrin.h>
#endif

#define KERNELS cb_local_kernels_avx2
#define WIDTH 4
enum { ROWS = 2 };
typedef __m256d vec;

static inline vec set(double a) { return _mm256_set1_pd(a); }
static inline vec load(const double *p) { return _mm256_loadu_pd(p); }
static inline void store(double *p, vec a) { _mm256_storeu_pd(p, a); }
static inline vec gather(const double *p, const int *at) {
  return _mm256_set_pd(p[at[3]], p[at[2]], p[at[1]], p[at[0]]); /* quicker than the instruction on most processors */
}
/* Rows of four numbers, of which three count. */
static inline void rows(const double *p, const int *at, vec *x, vec *y, vec *z) {
  const vec r0 = load(p + at[0]), r1 = load(p + at[1]), r2 = load(p + at[2]), r3 = load(p + at[3]),
            xz0 = _mm256_unpacklo_pd(r0, r1), xz2 = _mm256_unpacklo_pd(r2, r3);
  *x = _mm256_permute2f128_pd(xz0, xz2, 0x20);
  *z = _mm256_permute2f128_pd(xz0, xz2, 0x31);
  *y = _mm256_permute2f128_pd(_mm256_unpackhi_pd(r0, r1), _mm256_unpackhi_pd(r2, r3), 0x20);
}
static inline void store_rows(double *p, vec x, vec y, vec z) {
  const vec zero = _mm256_setzero_pd(), xy0 = _mm256_unpacklo_pd(x, y), xy1 = _mm256_unpackhi_pd(x, y),
            z0 = _mm256_unpacklo_pd(z, zero), z1 = _mm256_unpackhi_pd(z, zero);
  store(p, _mm256_permute2f128_pd(xy0, z0, 0x20));
  store(p + 4, _mm256_permute2f128_pd(xy1, z1, 0x20));
  store(p + 8, _mm256_permute2f128_pd(xy0, z0, 0x31));
  store(p + 12, _mm256_permute2f128_pd(xy1, z1, 0x31));
}
/* a[3] 0 b[3] 0 */
static inline void join(const double *a, const double *b, vec *row) {
  row[0] = _mm256_maskload_pd(a, _mm256_setr_epi64x(-1, -1, -1, 0));
  row[1] = _mm256_maskload_pd(b, _mm256_setr_epi64x(-1, -1, -1, 0));
}
static inline vec root(vec a) { return _mm256_sqrt_pd(a); }
static inline vec fma3(vec a, vec b, vec c) { return _mm256_fmadd_pd(a, b, c); }
static inline vec fnma3(vec a, vec b, vec c) { return _mm256_fnmadd_pd(a, b, c); }
static inline int any_above(vec a, vec b) { return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ)) != 0; }
static inline vec where_above(vec a, vec b, vec yes, vec no) {
  return _mm256_blendv_pd(no, yes, _mm256_cmp_pd(a, b, _CMP_GT_OQ));
}

#include "fluid/local_kernel.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
