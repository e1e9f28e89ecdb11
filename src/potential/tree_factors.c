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

/* Rows of M_l^m, zeros beyond the degree. */
static const double *part(const double *moments, int l, int m, bool imaginary) {
  static const double zero[CB_TREE_COLUMNS];
  if (m > l || (imaginary && m == 0)) return zero;
  return moments + (l * l + (m ? 2 * m - !imaginary : 0)) * CB_TREE_COLUMNS;
}

void cb_tree_gradient(int order, const double *moments, double *const to[3]) {
  for (int c = 0; c < 3 * CB_TREE_COLUMNS; c++) to[c / CB_TREE_COLUMNS][c % CB_TREE_COLUMNS] = 0;
  for (int l = 1; l <= order + 1; l++)
    for (int m = 0; m <= l; m++) {
      /* M^{-1} = -conj(M^1) */
      const double sign = m ? 1 : -1, *u = part(moments, l - 1, m, false), *v = part(moments, l - 1, m, true),
                   *up = part(moments, l - 1, m + 1, false), *vp = part(moments, l - 1, m + 1, true),
                   *um = part(moments, l - 1, m ? m - 1 : 1, false), *vm = part(moments, l - 1, m ? m - 1 : 1, true);
      const size_t at = (size_t)(l * l + (m ? 2 * m - 1 : 0)) * CB_TREE_COLUMNS;
      double *x = to[0] + at, *y = to[1] + at, *z = to[2] + at;
      for (int c = 0; c < CB_TREE_COLUMNS; c++) {
        x[c] = (up[c] - sign * um[c]) / 2;
        y[c] = (vp[c] + vm[c]) / 2;
        z[c] = -u[c];
      }
      for (int c = 0; c < CB_TREE_COLUMNS && m; c++) {
        x[CB_TREE_COLUMNS + c] = (vp[c] - vm[c]) / 2;
        y[CB_TREE_COLUMNS + c] = -(up[c] + um[c]) / 2;
        z[CB_TREE_COLUMNS + c] = -v[c];
      }
    }
}
