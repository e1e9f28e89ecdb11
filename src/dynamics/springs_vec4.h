/* The coordinates of one point, four numbers at once, for the spring kernels of AVX2 and AVX-512. Include it after the
 * file that sets the target (core/lanes4.h or core/lanes8.h).
 */
#pragma once

typedef __m256d vec4;

static inline vec4 load4(const double *p) { return _mm256_loadu_pd(p); }
static inline void store4(double *p, vec4 a) { _mm256_storeu_pd(p, a); }
static inline vec4 sub4(vec4 a, vec4 b) { return a - b; }
static inline vec4 mul4(vec4 a, vec4 b) { return a * b; }
static inline vec4 zero4(void) { return _mm256_setzero_pd(); }
static inline vec4 fma4(double s, vec4 a, vec4 b) { return _mm256_fmadd_pd(_mm256_set1_pd(s), a, b); }   /* b + s a */
static inline vec4 fnma4(double s, vec4 a, vec4 b) { return _mm256_fnmadd_pd(_mm256_set1_pd(s), a, b); } /* b - s a */

/* Returns four numbers: the sum of the numbers in p, in q, in r and in s. */
static inline vec4 sums(vec4 p, vec4 q, vec4 r, vec4 s) {
  vec4 pq = _mm256_unpacklo_pd(p, q) + _mm256_unpackhi_pd(p, q),
       rs = _mm256_unpacklo_pd(r, s) + _mm256_unpackhi_pd(r, s);
  return _mm256_permute2f128_pd(pq, rs, 0x20) + _mm256_permute2f128_pd(pq, rs, 0x31);
}
