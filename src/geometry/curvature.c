/* Christoffel symbols and curvature from the metric of a chart, and the number of Killing fields that they allow.
 *
 *   Gamma_mjk = (d_j g_mk + d_k g_mj - d_m g_jk)/2,   Gamma^i_jk = g^im Gamma_mjk
 *   d_l Gamma^i_jk = g^im (d_l Gamma_mjk - d_l g_ms Gamma^s_jk)
 *   R^i_jkl = d_k Gamma^i_lj - d_l Gamma^i_kj + Gamma^i_ks Gamma^s_lj - Gamma^i_ls Gamma^s_kj
 *   Ricci_jl = R^i_jil,  scalar = g^jl Ricci_jl,  K(u, v) = <R(u, v) v, u>/(<u, u><v, v> - <u, v>^2)
 *
 * g_ij is the metric, g^ij its inverse, d_j = d/dq^j, and Gamma are the Christoffel symbols. R is the curvature tensor,
 * K the sectional curvature, and u and v are tangent vectors. With these signs the unit sphere of dimension n has K = 1
 * and scalar n (n - 1).
 * Source: do Carmo, Riemannian Geometry (1992), chapters 2 and 4 (R has the opposite sign there).
 */
#include "geometry/numeric.h"

#include <math.h>
#include <string.h>
#include <float.h>

enum { D = CB_DIM_MAX, UNKNOWNS = D * (D + 1) / 2, COMPONENTS = D * D * D * D };

/* The sectional curvature is not accurate if the squared area of the two vectors u and v is smaller than this, relative
 * to |u|^2 |v|^2. */
static const double parallel = 1e-24;

cb_status cb_christoffel(const cb_space *g, const double *q, double gamma[D][D][D], double dgamma[D][D][D][D]) {
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

/* Computes r = R^i_jkl; the entries beyond n are 0. */
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

/* Returns the sectional curvature of the plane of u and v. Returns NaN if the squared area of their parallelogram is at
 * most `parallel` |u|^2 |v|^2. */
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

cb_status cb_curvature_at(const cb_space *g, const double *q, cb_curvature *out) {
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

cb_status cb_sectional(const cb_space *g, const double *q, const double *u, const double *v, double *k) {
  double gij[D * D];
  cb_curvature at;
  cb_status status = cb_curvature_at(g, q, &at);
  if (!status) status = cb_numeric_metric(g, q, gij, NULL, NULL);
  if (status) return status;
  double result = sectional(g->dim, gij, at.riemann, u, v);
  if (!isfinite(result))
    return cb_fail(CB_ERROR_ARGUMENT,
                   "sectional curvature: the two vectors are parallel: expected vectors that span a plane");
  *k = result;
  return CB_OK;
}

/* --- the number of Killing fields that the curvature at a point allows ---
 *
 * A Killing field is given by its value xi_a and its derivative omega_ab = -omega_ba at one point, so there are at most
 * n (n + 1)/2 of them. Each of them leaves the curvature unchanged:
 *
 *   0 = (L_X R)_abcd = X^e d_e R_abcd + R_ebcd d_a X^e + R_aecd d_b X^e + R_abed d_c X^e + R_abce d_d X^e
 *   X^e = E^e_p xi_p,   d_a X^e = E^e_p omega_pq E^-1_qa - Gamma^e_af X^f,   E an orthonormal frame
 *
 * R_abcd is g_ai R^i_bcd, X the field, L_X the Lie derivative along X, and d_a = d/dq^a. These equations are linear in
 * (xi, omega). The bound is the minimum, over several points, of the dimension of the space of solutions. d_e R comes
 * from central differences.
 * Source: Kobayashi & Nomizu, Foundations of Differential Geometry I (1963), section VI.3.
 */

/* step: the step of the differences, relative to the larger of the coordinate and 1. holds: a column of the equations
 * counts as 0 up to this size, relative to the curvature. */
static const double step = 1e-4, holds = 1e-5;
/* A curvature below this factor times the square of the Christoffel symbols is the round-off of a flat metric. */
static const double flat = 1e-10;

typedef double tensor[D][D][D][D];

/* Computes R_abcd at q. */
static cb_status lowered(const cb_space *g, const double *q, tensor r) {
  cb_curvature at;
  double metric[D * D];
  cb_status status = cb_curvature_at(g, q, &at);
  if (!status) status = cb_numeric_metric(g, q, metric, NULL, NULL);
  if (status) return status;
  const int n = g->dim;
  memset(r, 0, sizeof(tensor));
  for (int a = 0; a < n; a++)
    for (int i = 0; i < n; i++)
      for (int b = 0; b < n; b++)
        for (int c = 0; c < n; c++)
          for (int d = 0; d < n; d++) r[a][b][c][d] += metric[a * n + i] * at.riemann[i][b][c][d];
  return CB_OK;
}

/* Computes dr[e] = d_e R_abcd at q by central differences. */
static cb_status differences(const cb_space *g, const double *q, tensor dr[D]) {
  const int n = g->dim;
  for (int e = 0; e < n; e++) {
    tensor side[2];
    const double h = step * fmax(1, fabs(q[e]));
    for (int s = 0; s < 2; s++) {
      double at[D];
      memcpy(at, q, (size_t)n * sizeof *q);
      at[e] += s ? h : -h;
      const cb_status status = lowered(g, at, side[s]);
      if (status) return status;
    }
    for (int a = 0; a < n; a++)
      for (int b = 0; b < n; b++)
        for (int c = 0; c < n; c++)
          for (int d = 0; d < n; d++) dr[e][a][b][c][d] = (side[1][a][b][c][d] - side[0][a][b][c][d]) / (2 * h);
  }
  return CB_OK;
}

/* Computes the Lie derivative `out`: the sum of x^e dr_e and of r with dx[e][a] = d_a X^e applied to each index. */
static void lie_derivative(int n, tensor dr[D], tensor r, const double *x, double dx[D][D], tensor out) {
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++)
      for (int c = 0; c < n; c++)
        for (int d = 0; d < n; d++) {
          double sum = 0;
          for (int e = 0; e < n; e++)
            sum += x[e] * dr[e][a][b][c][d] + r[e][b][c][d] * dx[e][a] + r[a][e][c][d] * dx[e][b] +
                   r[a][b][e][d] * dx[e][c] + r[a][b][c][e] * dx[e][d];
          out[a][b][c][d] = sum;
        }
}

/* Writes the components of t in the frame to `out`. Returns the largest absolute value of a component. */
static double in_frame(int n, double frame[D][D], tensor t, double out[COMPONENTS]) {
  double largest = 0;
  for (int k = 0; k < COMPONENTS; k++) {
    const int p[4] = {k % D, k / D % D, k / (D * D) % D, k / (D * D * D)};
    out[k] = 0;
    if (p[0] >= n || p[1] >= n || p[2] >= n || p[3] >= n) continue;
    for (int a = 0; a < n; a++)
      for (int b = 0; b < n; b++)
        for (int c = 0; c < n; c++)
          for (int d = 0; d < n; d++)
            out[k] += frame[a][p[0]] * frame[b][p[1]] * frame[c][p[2]] * frame[d][p[3]] * t[a][b][c][d];
    largest = fmax(largest, fabs(out[k]));
  }
  return largest;
}

/* Returns the rank of m: the number of columns whose part orthogonal to the columns counted before them is larger than
 * `least`. It is found by the Gram-Schmidt method, which takes the largest remaining column first. Overwrites m. */
static int rank(int columns, double m[UNKNOWNS][COMPONENTS], double least) {
  for (int done = 0; done < columns; done++) {
    double maximum = 0;
    int pivot = done;
    for (int c = done; c < columns; c++) {
      double square = 0;
      for (int k = 0; k < COMPONENTS; k++) square += m[c][k] * m[c][k];
      if (square > maximum) {
        maximum = square;
        pivot = c;
      }
    }
    if (sqrt(maximum) <= least) return done;
    for (int k = 0; k < COMPONENTS; k++) {
      const double swap = m[done][k];
      m[done][k] = m[pivot][k] / sqrt(maximum);
      if (pivot != done) m[pivot][k] = swap;
    }
    for (int c = done + 1; c < columns; c++) {
      double along = 0;
      for (int k = 0; k < COMPONENTS; k++) along += m[done][k] * m[c][k];
      for (int k = 0; k < COMPONENTS; k++) m[c][k] -= along * m[done][k];
    }
  }
  return columns;
}

static cb_status bound_at(const cb_space *g, const double *q, int *count) {
  const int n = g->dim, unknowns = n * (n + 1) / 2;
  double gamma[D][D][D], metric[D * D], factor[D * D] = {0}, frame[D][D] = {{0}}, column[UNKNOWNS][COMPONENTS];
  tensor r, dr[D], out;
  cb_status status = cb_christoffel(g, q, gamma, NULL);
  if (!status) status = cb_numeric_metric(g, q, metric, NULL, NULL);
  if (!status) status = cb_numeric_factor(g, q, metric, factor);
  if (!status) status = lowered(g, q, r);
  if (!status) status = differences(g, q, dr);
  if (status) return status;
  for (int p = 0; p < n; p++) { /* the frame E = c^-T for g = c c^T */
    double unit[D] = {0};
    unit[p] = 1;
    for (int i = n - 1; i >= 0; i--) {
      for (int j = i + 1; j < n; j++) unit[i] -= factor[j * n + i] * frame[j][p];
      frame[i][p] = unit[i] / factor[i * n + i];
    }
  }
  double bend = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) /* the size of Gamma in the frame, up to a factor of order 1 */
        bend = fmax(bend, fabs(gamma[i][j][k]) * sqrt(metric[i * n + i]) * frame[j][j] * frame[k][k]);
  const double size = in_frame(n, frame, r, column[0]);
  *count = unknowns;
  if (size <= flat * bend * bend) return CB_OK;
  int at = 0;
  for (int p = 0; p < n; p++) /* the column of xi_p (k = p, in radii of curvature) or of omega_pk (k > p) */
    for (int k = p; k < n; k++) {
      double x[D] = {0}, dx[D][D] = {{0}};
      for (int e = 0; e < n; e++) {
        if (k == p) x[e] = frame[e][p] / sqrt(size);
        for (int a = 0; a < n && k > p; a++)
          dx[e][a] = frame[e][p] * factor[a * n + k] - frame[e][k] * factor[a * n + p];
      }
      for (int e = 0; e < n && k == p; e++)
        for (int a = 0; a < n; a++)
          for (int f = 0; f < n; f++) dx[e][a] -= gamma[e][a][f] * x[f];
      lie_derivative(n, dr, r, x, dx, out);
      in_frame(n, frame, out, column[at++]);
    }
  const double noise = 100 * DBL_EPSILON * bend * bend / (step * sqrt(size));
  *count = unknowns - rank(unknowns, column, fmax(holds * size, noise));
  return CB_OK;
}

cb_status cb_killing_bound(const cb_space *g, const double *q, int *count) {
  static const double aside[D] = {0.1, 0.07, 0.04};
  cb_status status = bound_at(g, q, count);
  for (int k = 1; k <= 3 && !status; k++) { /* several points, because a point of symmetry allows more fields than its
                                             * neighbours */
    double near[D];
    int there;
    for (int i = 0; i < g->dim; i++) near[i] = q[i] + k * aside[i] * fmax(1, fabs(q[i]));
    if (bound_at(g, near, &there) == CB_OK && there < *count) *count = there;
  }
  /* No space of dimension n has exactly one field fewer than the maximum, because its curvature would then be constant,
   * and a space of constant curvature has the maximum. */
  if (!status && *count == g->dim * (g->dim + 1) / 2 - 1) --*count;
  return status;
}
