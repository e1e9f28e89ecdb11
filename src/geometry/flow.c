/* Flows of Killing fields, at one point: y = q(s), q' = X(q), q(0) = x, with the Jacobian J' = DX(q) J, J(0) = 1.
 *
 * Closed where the isometry is affine in the coordinates. Otherwise integrated by steps of 2, 4, ..., 16 parts
 * (extrapolation.h); DX by differences of eighth order. Relative error about 1e-13.
 */
#include "geometry/extrapolation.h"
#include "numerics/differences.h"
#include <curvebody/geometry.h>

#include <math.h>
#include <string.h>

enum { N = CB_DIM_MAX, SIZE = N + N * N, COLUMNS = 8, MOST_STEPS = 100000 };

/* Of the last two columns, relative; the error of the last is far smaller. Round-off of DX is a tenth of it. */
static const double converged = 1e-13, smallest_step = 1e-10;

typedef struct field {
  const cb_geometry *g;
  int index, n, size;
} field;

/* dX_i/dq_j */
static void differentiate(const field *f, const double *q, double dx[N][N]) {
  memset(dx, 0, N * sizeof *dx);
  for (int j = 0; j < f->n; j++) {
    const double h = 1e-2 * fmax(1, fabs(q[j]));
    for (int m = 1; m <= 4; m++) {
      double plus[N], minus[N], up[N], down[N];
      memcpy(plus, q, (size_t)f->n * sizeof *q);
      memcpy(minus, q, (size_t)f->n * sizeof *q);
      plus[j] += m * h;
      minus[j] -= m * h;
      cb_killing_at(f->g, f->index, plus, up);
      cb_killing_at(f->g, f->index, minus, down);
      for (int i = 0; i < f->n; i++) dx[i][j] += cb_central_weight[m - 1] * (up[i] - down[i]) / h;
    }
  }
}

/* z = (q, J row-major) */
static cb_status rate(void *of, const double *z, double *dz) {
  const field *f = of;
  const int n = f->n;
  double dx[N][N];
  cb_killing_at(f->g, f->index, z, dz);
  if (f->size == n) return CB_OK;
  differentiate(f, z, dx);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      dz[n + i * n + j] = 0;
      for (int k = 0; k < n; k++) dz[n + i * n + j] += dx[i][k] * z[n + k * n + j];
    }
  return CB_OK;
}

/* One step; how far the last two columns are apart, relative. */
static double step(const field *f, const double *z, double H, double *end) {
  double table[COLUMNS * SIZE], last[SIZE], dz[SIZE], error = 0, size = 1;
  const cb_extrapolation how = {rate, (void *)f, f->size, z, dz};
  rate((void *)f, z, dz);
  for (int c = 0; c < COLUMNS; c++) cb_extrapolation_row(&how, H, c, table, last);
  for (int i = 0; i < f->size; i++) {
    end[i] = z[i] + table[(COLUMNS - 1) * f->size + i];
    error = fmax(error, fabs(last[i]));
    size = fmax(size, fabs(end[i]));
  }
  return isfinite(error) ? error / size : INFINITY;
}

static cb_status integrate(const field *f, double s, double *z) {
  double t = 0, H = s;
  for (int n = 0; t != s && n < MOST_STEPS; n++) {
    double end[SIZE];
    if (fabs(H) > fabs(s - t)) H = s - t;
    const double error = step(f, z, H, end);
    if (error > converged && fabs(H) > smallest_step * fabs(s)) {
      H /= 2;
      continue;
    }
    memcpy(z, end, (size_t)f->size * sizeof *z);
    t = fabs(H) >= fabs(s - t) ? s : t + H;
  }
  for (int i = 0; i < f->size; i++)
    if (!isfinite(z[i])) t = INFINITY;
  if (t == s) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN, "the flow of %s was not found for %g", f->g->killing[f->index].name, s);
}

cb_status cb_killing_flow(const cb_geometry *g, int index, double s, const double *x, double *y, double *jacobian) {
  cb_isometry linear;
  cb_isometry_flow(g, index, s, &linear);
  if (isfinite(linear.m[0][0])) {
    const int n = g->embedding;
    cb_isometry_point(g, &linear, x, y);
    for (int i = 0; jacobian && i < n * n; i++) jacobian[i] = linear.m[i / n][i % n];
    return CB_OK;
  }
  const int n = g->dim;
  if (n > N) return cb_fail(CB_ERROR_UNSUPPORTED, "the flow of %s in dimension %d", g->killing[index].name, n);
  const field f = {g, index, n, jacobian ? n + n * n : n};
  double z[SIZE] = {0};
  memcpy(z, x, (size_t)n * sizeof *z);
  for (int i = 0; i < n; i++) z[n + i * n + i] = 1;
  const cb_status status = integrate(&f, s, z);
  if (status) return status;
  memcpy(y, z, (size_t)n * sizeof *y);
  if (jacobian) memcpy(jacobian, z + n, (size_t)(n * n) * sizeof *jacobian);
  return CB_OK;
}
