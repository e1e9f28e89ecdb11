/* Flows of Killing fields, at one point: y = q(s), q' = X(q), q(0) = x, with the Jacobian J' = DX(q) J, J(0) = 1.
 *
 * Closed where the isometry is affine in the coordinates. Otherwise integrated: modified midpoint rule with 2, 4,
 * ..., 16 parts of a step, extrapolated by h^2; DX by differences of eighth order. Relative error about 1e-13.
 * Source: Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), section II.9.
 */
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
  static const double weight[] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
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
      for (int i = 0; i < f->n; i++) dx[i][j] += weight[m - 1] * (up[i] - down[i]) / h;
    }
  }
}

/* z = (q, J row-major) */
static void rate(const field *f, const double *z, double *dz) {
  const int n = f->n;
  double dx[N][N];
  cb_killing_at(f->g, f->index, z, dz);
  if (f->size == n) return;
  differentiate(f, z, dx);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      dz[n + i * n + j] = 0;
      for (int k = 0; k < n; k++) dz[n + i * n + j] += dx[i][k] * z[n + k * n + j];
    }
}

static void midpoint(const field *f, const double *z, double H, int parts, double *end) {
  const double h = H / parts;
  double before[SIZE], now[SIZE], next[SIZE], dz[SIZE];
  rate(f, z, dz);
  for (int i = 0; i < f->size; i++) {
    before[i] = z[i];
    now[i] = z[i] + h * dz[i];
  }
  for (int m = 1; m < parts; m++) {
    rate(f, now, dz);
    for (int i = 0; i < f->size; i++) next[i] = before[i] + 2 * h * dz[i];
    memcpy(before, now, sizeof before);
    memcpy(now, next, sizeof now);
  }
  memcpy(end, now, (size_t)f->size * sizeof *end);
}

/* One step; how far the last two columns are apart, relative. */
static double step(const field *f, const double *z, double H, double *end) {
  double table[COLUMNS][SIZE], error = 0, size = 1;
  for (int c = 0; c < COLUMNS; c++) {
    midpoint(f, z, H, 2 * (c + 1), table[c]);
    for (int b = c - 1; b >= 0; b--) { /* table[c - j] is column j of row c */
      const double ratio = (double)(c + 1) / (b + 1);
      for (int i = 0; i < f->size; i++)
        table[b][i] = table[b + 1][i] + (table[b + 1][i] - table[b][i]) / (ratio * ratio - 1);
    }
  }
  for (int i = 0; i < f->size; i++) {
    error = fmax(error, fabs(table[0][i] - table[1][i]));
    size = fmax(size, fabs(table[0][i]));
    end[i] = table[0][i];
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
