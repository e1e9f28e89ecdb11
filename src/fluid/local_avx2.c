/* The kernels of the local fluid model for AVX2 with FMA: four faces at a time. */
#if defined(__x86_64__)
#include "core/lanes4.h"

#define KERNELS cb_local_kernels_avx2
#define WIDTH 4
enum { ROWS = 2 };

static inline vec gather(const double *p, const int *at) {
  /* Separate loads are faster than the gather instruction on most processors. */
  return _mm256_set_pd(p[at[3]], p[at[2]], p[at[1]], p[at[0]]);
}
/* Loads a row p[at[i]] .. of four numbers for each face i, and writes the first three numbers of the rows to x, y and
 * z. */
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
/* Sets row to a[0], a[1], a[2], 0, a[0], a[1], a[2], 0. */
static inline void twice(const double *a, vec *row) {
  row[0] = row[1] = _mm256_maskload_pd(a, _mm256_setr_epi64x(-1, -1, -1, 0));
}
static inline vec fnma3(vec a, vec b, vec c) { return _mm256_fnmadd_pd(a, b, c); }

#include "fluid/local_kernel.h"
#include "core/lanes_end.h"
#endif
