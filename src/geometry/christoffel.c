/* Christoffel symbols and curvature from the metric of a chart.
 *
 *   Gamma_mjk = (d_j g_mk + d_k g_mj - d_m g_jk)/2,   Gamma^i_jk = g^im Gamma_mjk
 *   d_l Gamma^i_jk = g^im (d_l Gamma_mjk - d_l g_ms Gamma^s_jk)
 *   R^i_jkl = d_k Gamma^i_lj - d_l Gamma^i_kj + Gamma^i_ks Gamma^s_lj - Gamma^i_ls Gamma^s_kj
 *   Ricci_jl = R^i_jil,  scalar = g^jl Ricci_jl,  K(u, v) = <R(u, v) v, u>/(<u, u><v, v> - <u, v>^2)
 *
 * so that the unit sphere of dimension n has K = 1 and scalar n (n - 1).
 * Source: do Carmo, Riemannian Geometry (1992), chapters 2 and 4 (R here is minus his).
 */
#include "geometry/numeric.h"

#include <math.h>
#include <string.h>

enum { D = CB_DIM_MAX };

/* Planes whose area is smaller than this, relative to |u|^2 |v|^2, have no sectional curvature to any digits. */
static const double parallel = 1e-24;

cb_status cb_christoffel(const cb_geometry *g, const double *q, double gamma[D][D][D], double dgamma[D][D][D][D]) {
  int n = g->dim, nn = n * n;
  double gij[D * D], dg[D * D * D], ddg[D * D * D * D], c[D * D];
  cb_status status = cb_numeric_metric(g, q, gij, dg, dgamma ? ddg : NULL);
  if (!status) status = cb_numeric_factor(g, q, gij, c);
  if (status) return status;
  double upper[D][D][D] = {{{0}}};
  for (int j = 0; j < n; j++)
    for (int k = 0; k < n; k++) {
      double r[D];
      for (int m = 0; m < n; m++)
        r[m] = 0.5 * (dg[j * nn + m * n + k] + dg[k * nn + m * n + j] - dg[m * nn + j * n + k]);
      cb_cholesky_solve(n, c, r);
      for (int i = 0; i < n; i++) upper[i][j][k] = r[i];
    }
  memcpy(gamma, upper, sizeof upper);
  if (!dgamma) return CB_OK;
  memset(dgamma, 0, sizeof(double[D][D][D][D]));
  for (int l = 0; l < n; l++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        double r[D];
        for (int m = 0; m < n; m++) {
          const double *d = ddg + l * n * nn;
          r[m] = 0.5 * (d[j * nn + m * n + k] + d[k * nn + m * n + j] - d[m * nn + j * n + k]);
          for (int s = 0; s < n; s++) r[m] -= dg[l * nn + m * n + s] * upper[s][j][k];
        }
        cb_cholesky_solve(n, c, r);
        for (int i = 0; i < n; i++) dgamma[l][i][j][k] = r[i];
      }
  return CB_OK;
}

/* R^i_jkl; the rest of it zero. */
static void riemann(int n, double gamma[D][D][D], double dgamma[D][D][D][D], double r[D][D][D][D]) {
  memset(r, 0, sizeof(double[D][D][D][D]));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        for (int l = 0; l < k; l++) {
          double sum = dgamma[k][i][l][j] - dgamma[l][i][k][j];
          for (int s = 0; s < n; s++) sum += gamma[i][k][s] * gamma[s][l][j] - gamma[i][l][s] * gamma[s][k][j];
          r[i][j][k][l] = sum;
          r[i][j][l][k] = -sum;
        }
}

/* K(u, v), or nan where u and v are parallel. */
static double sectional(int n, const double *gij, double r[D][D][D][D], const double *u, const double *v) {
  double uu = 0, uv = 0, vv = 0, top = 0;
  for (int i = 0; i < n; i++)
    for (int m = 0; m < n; m++) {
      uu += gij[m * n + i] * u[m] * u[i];
      uv += gij[m * n + i] * u[m] * v[i];
      vv += gij[m * n + i] * v[m] * v[i];
      double sum = 0;
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
          for (int l = 0; l < n; l++) sum += r[i][j][k][l] * v[j] * u[k] * v[l];
      top += gij[m * n + i] * u[m] * sum;
    }
  double area = uu * vv - uv * uv;
  return area > parallel * uu * vv ? top / area : NAN;
}

cb_status cb_curvature_at(const cb_geometry *g, const double *q, cb_curvature *out) {
  int n = g->dim;
  double gamma[D][D][D], dgamma[D][D][D][D], gij[D * D], c[D * D];
  cb_curvature result = {0};
  cb_status status = cb_christoffel(g, q, gamma, dgamma);
  if (!status) status = cb_numeric_metric(g, q, gij, NULL, NULL);
  if (!status) status = cb_numeric_factor(g, q, gij, c);
  if (status) return status;
  riemann(n, gamma, dgamma, result.riemann);
  for (int j = 0; j < n; j++)
    for (int l = 0; l < n; l++)
      for (int i = 0; i < n; i++) result.ricci[j][l] += result.riemann[i][j][i][l];
  for (int l = 0; l < n; l++) {
    double row[D];
    memcpy(row, result.ricci[l], sizeof row);
    cb_cholesky_solve(n, c, row);
    result.scalar += row[l];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double u[D] = {0}, v[D] = {0};
      u[i] = v[j] = 1;
      if (i != j) result.sectional[i][j] = sectional(n, gij, result.riemann, u, v);
    }
  *out = result;
  return CB_OK;
}

cb_status cb_sectional(const cb_geometry *g, const double *q, const double *u, const double *v, double *k) {
  double gij[D * D];
  cb_curvature at;
  cb_status status = cb_curvature_at(g, q, &at);
  if (!status) status = cb_numeric_metric(g, q, gij, NULL, NULL);
  if (status) return status;
  double result = sectional(g->dim, gij, at.riemann, u, v);
  if (!isfinite(result)) return cb_fail(CB_ERROR_ARGUMENT, "sectional curvature: the two vectors span no plane");
  *k = result;
  return CB_OK;
}
