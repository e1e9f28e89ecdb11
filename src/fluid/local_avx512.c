/* The kernels of the local fluid model for AVX-512: eight faces at a time. */
#if defined(__x86_64__)
#include "core/lanes8.h"

#define KERNELS cb_local_kernels_avx512
#define WIDTH 8
enum { ROWS = 3 };

static inline vec gather(const double *p, const int *at) {
  return _mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)at), p, 8);
}
static inline __m512d two_rows(const double *a, const double *b) {
  return _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(a)), _mm256_loadu_pd(b), 1);
}
/* Loads a row p[at[i]] .. of four numbers for each face i, and writes the first three numbers of the rows to x, y and
 * z. Loads of rows and shuffles take half the time of gathers. */
static inline void rows(const double *p, const int *at, vec *x, vec *y, vec *z) {
  const vec r02 = two_rows(p + at[0], p + at[2]), r13 = two_rows(p + at[1], p + at[3]),
            r46 = two_rows(p + at[4], p + at[6]), r57 = two_rows(p + at[5], p + at[7]),
            xz0 = _mm512_unpacklo_pd(r02, r13), xz4 = _mm512_unpacklo_pd(r46, r57);
  *x = _mm512_shuffle_f64x2(xz0, xz4, 0x88);
  *z = _mm512_shuffle_f64x2(xz0, xz4, 0xDD);
  *y = _mm512_shuffle_f64x2(_mm512_unpackhi_pd(r02, r13), _mm512_unpackhi_pd(r46, r57), 0x88);
}
static inline void store_rows(double *p, vec x, vec y, vec z) {
  const vec zero = _mm512_setzero_pd(), xy0 = _mm512_unpacklo_pd(x, y), xy1 = _mm512_unpackhi_pd(x, y),
            z0 = _mm512_unpacklo_pd(z, zero), z1 = _mm512_unpackhi_pd(z, zero);
  /* xy0 has x and y of the faces 0, 2, 4, 6, and xy1 those of the faces 1, 3, 5, 7. */
  const vec even0 = _mm512_shuffle_f64x2(xy0, z0, 0x44), even4 = _mm512_shuffle_f64x2(xy0, z0, 0xEE),
            odd0 = _mm512_shuffle_f64x2(xy1, z1, 0x44), odd4 = _mm512_shuffle_f64x2(xy1, z1, 0xEE);
  /* even0 has the numbers x0 y0 | x2 y2 | z0 0 | z2 0. */
  _mm512_storeu_pd(p, _mm512_permutex2var_pd(even0, _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13), odd0));
  _mm512_storeu_pd(p + 8, _mm512_permutex2var_pd(even0, _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15), odd0));
  _mm512_storeu_pd(p + 16, _mm512_permutex2var_pd(even4, _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13), odd4));
  _mm512_storeu_pd(p + 24, _mm512_permutex2var_pd(even4, _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15), odd4));
}
/* Sets row to a[0], a[1], a[2], 0, a[0], a[1], a[2], 0. */
static inline void twice(const double *a, vec *row) { row[0] = _mm512_broadcast_f64x4(_mm256_maskz_loadu_pd(7, a)); }
static inline vec fnma3(vec a, vec b, vec c) { return _mm512_fnmadd_pd(a, b, c); }

#include "fluid/local_kernel.h"
#include "core/lanes_end.h"
#endif
