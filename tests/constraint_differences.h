/* Compares derivatives of the rows of a constraint with difference quotients. The names g, G, rate, gamma and rate_x
 * are those of curvebody/constraint.h. */
#pragma once

#include "check_constraints.h"

/* h is the step of the difference quotients of fourth order. For a function f(s) their errors are h^4 f^(5)/30, with
 * the fifth derivative f^(5), and about 1e-16 f/h from round-off. Points are about 0.2 apart, so f^(5) may be 1e5 times
 * f. */
static const double h = 2e-4;
static const int side[4] = {-2, -1, 1, 2};
static const double weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12};

static inline int entry_of(const cb_rows *rows, int row, int place) {
  for (int e = rows->start[row]; e < rows->start[row + 1]; e++)
    if (rows->particle[e] == place) return e;
  return -1;
}

/* Compares the gradient, the rate, gamma, d(rate)/dx and the Hessian of all rows at the time t and the positions x with
 * difference quotients. The velocities v and the weights lambda of the rows are random. */
static inline void check_derivatives(const setup *u, const char *where, double t, const double *x, uint64_t *seed,
                                     double tolerance) {
  const int n = POINTS * u->k;
  const cb_rows *rows = cb_constraints_rows(u->c);
  const int entries = rows->start[rows->rows];
  double g[ROWS_MAX], G[ROWS_MAX * ALL], G2[ROWS_MAX * ALL], rate[ROWS_MAX], gamma[ROWS_MAX], rate_x[ROWS_MAX * ALL];
  double v[ALL], y[ALL], lambda[ROWS_MAX];
  for (int i = 0; i < n; i++) v[i] = check_uniform(seed, -1, 1);
  for (int r = 0; r < u->rows; r++) lambda[r] = check_uniform(seed, 0.5, 1.5);
  check_ok(cb_constraints_eval(u->c, t, x, g, G));
  check_ok(cb_constraints_rate(u->c, t, x, v, rate, G2));
  check_ok(cb_constraints_second(u->c, t, x, v, gamma, rate_x));
  for (int e = 0; e < entries * u->k; e++) assert_true(G[e] == G2[e]);
  const double scale_G = largest(entries * u->k, G);

  /* at s = 0: rate = d/ds g(t + s, x + s v), and gamma = d/ds rate(t + s, x + s v) with constant v */
  double by_g[ROWS_MAX] = {0}, by_rate[ROWS_MAX] = {0};
  for (int m = 0; m < 4; m++) {
    double s = side[m] * h, g_s[ROWS_MAX], rate_s[ROWS_MAX];
    for (int i = 0; i < n; i++) y[i] = x[i] + s * v[i];
    check_ok(cb_constraints_eval(u->c, t + s, y, g_s, NULL));
    check_ok(cb_constraints_rate(u->c, t + s, y, v, rate_s, NULL));
    for (int r = 0; r < u->rows; r++) {
      by_g[r] += weight[m] / h * g_s[r];
      by_rate[r] += weight[m] / h * rate_s[r];
    }
  }
  for (int r = 0; r < u->rows; r++) {
    if (!rows->velocity[r]) check_same("rate", where, r, rate[r], by_g[r], scale_G, tolerance);
    check_same("gamma", where, r, gamma[r], by_rate[r], largest(u->rows, gamma) * scale_G, tolerance);
  }

  /* G is dg/dx in rows of positions and d(rate)/dv in rows of velocities; rate_x is d(rate)/dx; the Hessian is
   * d(lambda G)/dx */
  const cb_pattern *pattern = cb_forces_pattern(u->f);
  const size_t blocks = (size_t)pattern->start[pattern->n] * (size_t)(u->k * u->k);
  double *hessian = calloc(blocks, sizeof *hessian), *seen = calloc(blocks, sizeof *seen);
  check_ok(cb_constraints_hessian(u->c, t, x, lambda, hessian));
  double scale_H = largest((int)blocks, hessian);
  for (int j = 0; j < n; j++) {
    double dg[ROWS_MAX] = {0}, dv[ROWS_MAX] = {0}, dr[ROWS_MAX] = {0}, dG[ROWS_MAX * ALL] = {0};
    for (int m = 0; m < 4; m++) {
      double g_s[ROWS_MAX], rate_s[ROWS_MAX], G_s[ROWS_MAX * ALL], w = weight[m] / h;
      memcpy(y, v, sizeof y);
      y[j] += side[m] * h;
      check_ok(cb_constraints_rate(u->c, t, x, y, rate_s, NULL));
      for (int r = 0; r < u->rows; r++) dv[r] += w * rate_s[r];
      memcpy(y, x, (size_t)n * sizeof *y);
      y[j] += side[m] * h;
      check_ok(cb_constraints_eval(u->c, t, y, g_s, G_s));
      check_ok(cb_constraints_rate(u->c, t, y, v, rate_s, NULL));
      for (int r = 0; r < u->rows; r++) {
        dg[r] += w * g_s[r];
        dr[r] += w * rate_s[r];
      }
      for (int e = 0; e < entries * u->k; e++) dG[e] += w * G_s[e];
    }
    const int place = j / u->k, a = j % u->k;
    for (int r = 0; r < u->rows; r++) {
      int e = entry_of(rows, r, place);
      double G_j = e < 0 ? 0 : G[e * u->k + a], R_j = e < 0 ? 0 : rate_x[e * u->k + a];
      check_same("gradient", where, j, G_j, rows->velocity[r] ? dv[r] : dg[r], scale_G, tolerance);
      check_same("d(rate)/dx", where, j, R_j, dr[r], scale_H * scale_G, tolerance);
      for (int i = 0; i < POINTS; i++) {
        int at = entry_of(rows, r, i);
        if (at < 0 || e < 0) continue;
        double *block = seen + (size_t)cb_pattern_find(pattern, i, place) * (size_t)(u->k * u->k);
        for (int c = 0; c < u->k; c++) block[c * u->k + a] += lambda[r] * dG[at * u->k + c];
      }
    }
  }
  for (size_t e = 0; e < blocks; e++) check_same("hessian", where, (int)e, hessian[e], seen[e], scale_H, tolerance);
  free(hessian);
  free(seen);
}
