/* The kernels of the local fluid model for any processor, with the vectors of two numbers that x86-64 has: two faces at
 * a time. */
#include "core/lanes2.h"

#define KERNELS cb_local_kernels_x86_64
#define WIDTH 2
enum { ROWS = 1 };

static inline vec gather(const double *p, const int *at) { return (vec){p[at[0]], p[at[1]]}; }
/* Loads a row p[at[i]] .. of four numbers for each face i, and writes the first three numbers of the rows to x, y and
 * z. */
static inline void rows(const double *p, const int *at, vec *x, vec *y, vec *z) {
  const double *a = p + at[0], *b = p + at[1];
  *x = (vec){a[0], b[0]};
  *y = (vec){a[1], b[1]};
  *z = (vec){a[2], b[2]};
}
static inline void store_rows(double *p, vec x, vec y, vec z) {
  for (int i = 0; i < WIDTH; i++, p += 4) {
    p[0] = x[i];
    p[1] = y[i];
    p[2] = z[i];
    p[3] = 0;
  }
}
/* Sets row to a[0], a[1], a[2], 0, a[0], a[1], a[2], 0. */
static inline void twice(const double *a, vec *row) {
  row[0] = row[2] = (vec){a[0], a[1]};
  row[1] = row[3] = (vec){a[2], 0};
}
static inline vec fnma3(vec a, vec b, vec c) { return c - a * b; }

#include "fluid/local_kernel.h"
