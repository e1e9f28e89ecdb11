/* Entries of a metric and of its derivatives, in the arrays that cb_chart.metric fills; for the authors of spaces.
 *
 * Each setter writes an entry and its mirror image; derivatives that were not asked for are skipped. */
#pragma once

#include <string.h>

typedef struct cb_metric_entries {
  int n;
  double *g, *dg, *ddg;
} cb_metric_entries;

/* All entries zero. */
static inline cb_metric_entries cb_metric_begin(int n, double *g, double *dg, double *ddg) {
  const size_t nn = (size_t)(n * n);
  memset(g, 0, nn * sizeof *g);
  if (dg) memset(dg, 0, nn * (size_t)n * sizeof *dg);
  if (ddg) memset(ddg, 0, nn * nn * sizeof *ddg);
  return (cb_metric_entries){n, g, dg, ddg};
}

/* g_ij */
static inline void cb_metric_value(cb_metric_entries m, int i, int j, double value) {
  m.g[i * m.n + j] = m.g[j * m.n + i] = value;
}

/* d_l g_ij */
static inline void cb_metric_first(cb_metric_entries m, int l, int i, int j, double value) {
  if (m.dg) m.dg[(l * m.n + i) * m.n + j] = m.dg[(l * m.n + j) * m.n + i] = value;
}

/* d_k d_l g_ij */
static inline void cb_metric_second(cb_metric_entries m, int k, int l, int i, int j, double value) {
  if (!m.ddg) return;
  m.ddg[((k * m.n + l) * m.n + i) * m.n + j] = m.ddg[((k * m.n + l) * m.n + j) * m.n + i] = value;
  m.ddg[((l * m.n + k) * m.n + i) * m.n + j] = m.ddg[((l * m.n + k) * m.n + j) * m.n + i] = value;
}

/* The conformal metric f(s) 1, s = |q|^2, from f and its derivatives f1 and f2 by s:
 * d_l g_ii = 2 f1 q_l,  d_k d_l g_ii = 4 f2 q_k q_l + 2 f1 delta_kl. */
static inline void cb_metric_conformal(cb_metric_entries m, const double *q, double f, double f1, double f2) {
  for (int i = 0; i < m.n; i++) {
    cb_metric_value(m, i, i, f);
    for (int l = 0; l < m.n; l++) {
      cb_metric_first(m, l, i, i, 2 * f1 * q[l]);
      for (int k = 0; k <= l; k++) cb_metric_second(m, k, l, i, i, 4 * f2 * q[k] * q[l] + (k == l ? 2 * f1 : 0));
    }
  }
}

/* For cb_intrinsic.killing where a metric of three coordinates is the same in all directions about 0: the field of unit
 * angular speed about an axis, (i, j, axis) cyclic: q_i E_j - q_j E_i. */
static const char *const cb_rotation_names[] = {"rotation_x", "rotation_y", "rotation_z", NULL};
static inline void cb_rotation_field(const cb_geometry *g, int axis, const double *q, double *x) {
  (void)g;
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  x[axis] = 0;
  x[i] = -q[j];
  x[j] = q[i];
}
