/* Tiles of a sum of outer products, each in registers. */
#include "optimum/outer.h"

enum { HIGH = 4, WIDE = CB_OUTER_SLACK };

CB_LANES void cb_outer_add(int count, int rows, const double *A, int columns, const double *B, double *C, int stride) {
  for (int j = 0; j < columns; j += WIDE)
    for (int i = 0; i < rows; i += HIGH) {
      double sum[HIGH][WIDE] = {{0}};
      const double *a = A + i, *b = B + j;
      for (int q = 0; q < count; q++, a += rows, b += columns)
        for (int k = 0; k < HIGH; k++)
          for (int l = 0; l < WIDE; l++) sum[k][l] += a[k] * b[l];
      for (int k = 0; k < HIGH && i + k < rows; k++)
        for (int l = 0; l < WIDE && j + l < columns; l++) C[(i + k) * stride + j + l] += sum[k][l];
    }
}
