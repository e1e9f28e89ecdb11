/* Helper functions for the classes of spaces in geometries/: the entries of a metric, spaces of constant curvature, and
 * surfaces.
 *
 * cb_metric_entries writes into the arrays that cb_chart.metric fills. Each function cb_metric_.. writes an entry and
 * its mirror image, and ignores derivatives that the caller did not request. g_ij: metric; d_l: derivative with respect
 * to coordinate l. */
#pragma once

#include <curvebody/space.h>

#include <string.h>

typedef struct cb_metric_entries {
  int n;
  double *g, *dg, *ddg;
} cb_metric_entries;

/* Sets all entries of the arrays to zero, and returns a cb_metric_entries that writes to them. */
static inline cb_metric_entries cb_metric_begin(int n, double *g, double *dg, double *ddg) {
  const size_t nn = (size_t)(n * n);
  memset(g, 0, nn * sizeof *g);
  if (dg) memset(dg, 0, nn * (size_t)n * sizeof *dg);
  if (ddg) memset(ddg, 0, nn * nn * sizeof *ddg);
  return (cb_metric_entries){n, g, dg, ddg};
}

/* Sets g_ij. */
static inline void cb_metric_value(cb_metric_entries m, int i, int j, double value) {
  m.g[i * m.n + j] = m.g[j * m.n + i] = value;
}

/* Sets d_l g_ij, the derivative with respect to coordinate l. */
static inline void cb_metric_first(cb_metric_entries m, int l, int i, int j, double value) {
  if (m.dg) m.dg[(l * m.n + i) * m.n + j] = m.dg[(l * m.n + j) * m.n + i] = value;
}

/* Sets d_k d_l g_ij. */
static inline void cb_metric_second(cb_metric_entries m, int k, int l, int i, int j, double value) {
  if (!m.ddg) return;
  m.ddg[((k * m.n + l) * m.n + i) * m.n + j] = m.ddg[((k * m.n + l) * m.n + j) * m.n + i] = value;
  m.ddg[((l * m.n + k) * m.n + i) * m.n + j] = m.ddg[((l * m.n + k) * m.n + j) * m.n + i] = value;
}

/* Sets the conformal metric f(s) 1 with s = |q|^2, from f and its derivatives f1 and f2 with respect to s: d_l g_ii = 2
 * f1 q_l and d_k d_l g_ii = 4 f2 q_k q_l + 2 f1 delta_kl. */
static inline void cb_metric_conformal(cb_metric_entries m, const double *q, double f, double f1, double f2) {
  for (int i = 0; i < m.n; i++) {
    cb_metric_value(m, i, i, f);
    for (int l = 0; l < m.n; l++) {
      cb_metric_first(m, l, i, i, 2 * f1 * q[l]);
      for (int k = 0; k <= l; k++) cb_metric_second(m, k, l, i, i, 4 * f2 * q[k] * q[l] + (k == l ? 2 * f1 : 0));
    }
  }
}

/* Used as cb_intrinsic.killing of a metric of three coordinates that is invariant under rotations about 0. The field
 * has unit angular speed about an axis: q_i E_j - q_j E_i, where E_i is the i-th axis and (i, j, axis) is cyclic. */
static const char *const cb_rotation_names[] = {"rotation_x", "rotation_y", "rotation_z", NULL};
static inline void cb_rotation_field(const cb_space *g, int axis, const double *q, double *x) {
  (void)g;
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  x[axis] = 0;
  x[i] = -q[j];
  x[j] = q[i];
}

/* --- spaces of constant curvature, and products of such a space and a line ---
 *
 * The macro CB_CONSTANT_CURVATURE defines `params` and `init` of a class whose only parameter is the curvature. Its
 * arguments are the default, the range and the documentation of the curvature, and the dimensions of the factors. */

/* clang-format off */
#define CB_CONSTANT_CURVATURE(fallback, range, doc, ...)                                                             \
  static const cb_param params[] = {                                                                                 \
      {"curvature", CB_PARAM_REAL, 0, fallback, "1/length^2", range, NULL, doc}, {0}};                               \
  static cb_status init(cb_space *g, const void *p) {                                                             \
    static const int dim[] = {__VA_ARGS__};                                                                          \
    return cb_space_init_product(g, sizeof dim / sizeof *dim, dim, (double[]){*(const double *)p, 0});            \
  }
/* The members of the class that CB_CONSTANT_CURVATURE defines. */
#define CB_CONSTANT_CURVATURE_CLASS .params = params, .params_size = sizeof(double), .init = init
/* clang-format on */

/* --- surfaces in E^3 whose coordinates separate (intrinsic.c) ---
 *
 *   X_a(u, v) = A_a(u) B_a(v),   A = (cos u, sin u, 1),   u from 0 to 2 pi
 *   g_ij = X_i . X_j,   d_l g_ij = X_il . X_j + X_i . X_jl,   and so on.
 * X is the point, a numbers its three coordinates, and X_i is its derivative with respect to coordinate i of (u, v).
 */

/* b[k][a] = the k-th derivative of B_a at v, k = 0 .. 3. */
typedef double cb_profile[4][3];

/* Computes the metric with its derivatives as in cb_chart.metric, for dim = 2; dg and ddg may be NULL. */
void cb_surface_metric(double u, const cb_profile b, double *gij, double *dg, double *ddg);
/* Used as cb_intrinsic.killing of a surface of revolution: the rotation about its axis, d/du. */
extern const char *const cb_surface_rotation_names[];
void cb_surface_rotation(const cb_space *g, int index, const double *q, double *x);
/* Computes the point x[3] = X(u, v) and jacobian[3*2] = dX/d(u, v). */
void cb_surface_plot(double u, const cb_profile b, double *x, double *jacobian);
