/* Tables of the eliminated Lobatto method: W = A A^, the inverse of its block, and extrapolation from step to step. */
#include "integrators/lobatto.h"
#include "numerics/tableau.h"

#include <math.h>

/* By Gauss-Jordan with pivoting; m <= 4 and the blocks are well conditioned. */
void cb_lobatto_invert(int m, long double a[CB_LOBATTO_MAX][CB_LOBATTO_MAX], double inverse[][CB_LOBATTO_MAX - 1]) {
  long double w[CB_LOBATTO_MAX][2 * CB_LOBATTO_MAX] = {{0}};
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < m; j++) w[i][j] = a[i][j];
    w[i][m + i] = 1;
  }
  for (int i = 0; i < m; i++) {
    int pivot = i;
    for (int r = i + 1; r < m; r++)
      if (fabsl(w[r][i]) > fabsl(w[pivot][i])) pivot = r;
    for (int j = 0; j < 2 * m; j++) {
      const long double swap = w[i][j];
      w[i][j] = w[pivot][j];
      w[pivot][j] = swap;
    }
    for (int r = 0; r < m; r++) {
      if (r == i) continue;
      const long double factor = w[r][i] / w[i][i];
      for (int j = i; j < 2 * m; j++) w[r][j] -= factor * w[i][j];
    }
  }
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) inverse[i][j] = (double)(w[i][m + j] / w[i][i]);
}

cb_status cb_lobatto_tables(cb_lobatto *l) {
  cb_tableau t;
  const cb_status status = cb_tableau_lobatto(l->s, &t);
  if (status) return status;
  const int s = l->s;
  long double block[CB_LOBATTO_MAX][CB_LOBATTO_MAX];
  for (int i = 0; i < s; i++) {
    l->c[i] = t.c[i];
    l->b[i] = t.b[i];
    l->b_low[i] = t.b_low[i];
    for (int j = 0; j < s; j++) {
      long double sum = 0;
      for (int k = 0; k < s; k++) sum += (long double)t.a[i][k] * t.a_hat[k][j];
      l->Ahat[i][j] = t.a_hat[i][j];
      l->W[i][j] = j < s - 1 && i > 0 ? (double)sum : 0;
      if (i > 0 && j < s - 1) block[i - 1][j] = sum;
      long double lagrange = 1;
      for (int k = 0; k < s; k++)
        if (k != j) lagrange *= (1 + (long double)t.c[i] - t.c[k]) / ((long double)t.c[j] - t.c[k]);
      l->E[i][j] = (double)lagrange;
    }
  }
  cb_lobatto_invert(s - 1, block, l->Winv);
  return CB_OK;
}
