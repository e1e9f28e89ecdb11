/* Factors of the recurrences of solid harmonics, and the gradient of an expansion. */
#include "core/isa.h"
#include "potential/tree_kernels.h"

#include <math.h>

void cb_tree_factors_fill(cb_tree_factors *f) {
  double odd = 1; /* (2l - 1)!! */
  for (int l = 0; l < CB_TREE_ORDER + 2; l++) {
    if (l) odd *= 2 * l - 1;
    for (int i = 0; i < 2 * l + 1; i++) {
      const int m = (i + 1) / 2, term = l * l + i, last = l - 1;
      f->finish[term] = odd * (m ? 2 : 1) / (4 * M_PI);
      if (m >= l) continue;
      const double below = l * l - m * m;
      f->up[term] = (2 * last + 1) / below;
      f->down[term] = 1 / below;
      f->across[term] = last ? (last * last - m * m) / (4.0 * last * last - 1) : 0;
    }
  }
}

const cb_tree_kernels *cb_tree_kernels_of_isa(void) {
#if defined(__x86_64__)
  if (cb_isa_get() == CB_ISA_AVX512) return &cb_tree_kernels_avx512;
  if (cb_isa_get() == CB_ISA_AVX2) return &cb_tree_kernels_avx2;
#endif
  return &cb_tree_kernels_x86_64;
}

/* One column of M_{l-1}^m for any sign of m; 0 beyond the degree. */
static void moment(const double *rows, int l, int m, double *re, double *im) {
  const int a = m < 0 ? -m : m;
  *re = *im = 0;
  if (a > l) return;
  const double sign = m < 0 && (a & 1) ? -1 : 1;
  *re = sign * rows[(l * l + (a ? 2 * a - 1 : 0)) * CB_TREE_COLUMNS];
  if (a) *im = (m < 0 ? -sign : sign) * rows[(l * l + 2 * a) * CB_TREE_COLUMNS];
}

void cb_tree_gradient(int order, int axis, const double *moments, double *to) {
  const double n[3] = {axis == 0, axis == 1, axis == 2};
  for (int c = 0; c < CB_TREE_COLUMNS; c++) to[c] = 0;
  for (int l = 1; l <= order + 1; l++)
    for (int m = 0; m <= l; m++)
      for (int c = 0; c < CB_TREE_COLUMNS; c++) {
        double u[3], v[3];
        for (int k = -1; k <= 1; k++) moment(moments + c, l - 1, m + k, &u[k + 1], &v[k + 1]);
        double *at = to + (l * l + (m ? 2 * m - 1 : 0)) * CB_TREE_COLUMNS + c;
        at[0] = -(n[2] * u[1] - (n[0] * u[2] + n[1] * v[2]) / 2 + (n[0] * u[0] - n[1] * v[0]) / 2);
        if (m) at[CB_TREE_COLUMNS] = -(n[2] * v[1] - (n[0] * v[2] - n[1] * u[2]) / 2 + (n[0] * v[0] + n[1] * u[0]) / 2);
      }
}
