/* Kernels of the local fluid model for any processor, in vectors of two as x86-64 has them: two faces at once. */
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define KERNELS cb_local_kernels_x86_64
#define WIDTH 2
enum { ROWS = 1 };
typedef double vec __attribute__((vector_size(16)));
typedef long long vec_mask __attribute__((vector_size(16)));

static inline vec set(double a) { return (vec){a, a}; }
static inline vec load(const double *p) { return (vec){p[0], p[1]}; }
static inline void store(double *p, vec a) {
  p[0] = a[0];
  p[1] = a[1];
}
static inline vec gather(const double *p, const int *at) { return (vec){p[at[0]], p[at[1]]}; }
/* Rows of four numbers, of which three count. */
static inline void rows(const double *p, const int *at, vec *x, vec *y, vec *z) {
  const double *a = p + at[0], *b = p + at[1];
  *x = (vec){a[0], b[0]};
  *y = (vec){a[1], b[1]};
  *z = (vec){a[2], b[2]};
}
static inline void store_rows(double *p, vec x, vec y, vec z) {
  for (int i = 0; i < WIDTH; i++, p += 4) p[0] = x[i], p[1] = y[i], p[2] = z[i], p[3] = 0;
}
/* a[3] 0 b[3] 0 */
static inline void join(const double *a, const double *b, vec *row) {
  row[0] = (vec){a[0], a[1]};
  row[1] = (vec){a[2], 0};
  row[2] = (vec){b[0], b[1]};
  row[3] = (vec){b[2], 0};
}
static inline vec root(vec a) {
#if defined(__SSE2__)
  return _mm_sqrt_pd(a);
#else
  return (vec){__builtin_sqrt(a[0]), __builtin_sqrt(a[1])};
#endif
}
static inline vec fma3(vec a, vec b, vec c) { return a * b + c; }
static inline vec fnma3(vec a, vec b, vec c) { return c - a * b; }
static inline int any_above(vec a, vec b) { return (a[0] > b[0]) | (a[1] > b[1]); }
static inline vec where_above(vec a, vec b, vec yes, vec no) {
  const vec_mask mask = a > b;
  return (vec)((mask & (vec_mask)yes) | (~mask & (vec_mask)no));
}

#include "fluid/local_kernel.h"
