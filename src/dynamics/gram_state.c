/* Multipliers of a state, and its projection onto the constraints, by the Gram matrix S = G W G^T of gram.h:
 *
 *   S lambda = G a + gamma,   a the acceleration without the constraints      (d(rate)/dt = 0)
 *   x <- x - W G^T S^-1 g(x)  until g = 0,   v <- v - W G^T S^-1 rate(x, v)
 *
 * Source: Hairer & Wanner, Solving Ordinary Differential Equations II (1996), VII.1 and VII.2,
 * doi:10.1007/978-3-642-05221-7. */
#include "core/failure.h"
#include "dynamics/chart_dynamics.h"
#include "dynamics/gram.h"

#include <math.h>
#include <string.h>

/* The acceleration without the constraints of the system; without rows of the space along the geodesics of the space.
 * */
static cb_status free_acceleration(cb_gram *g, const double *x, const double *v, const double *force, double *a) {
  const cb_geometry *s = g->space;
  const int k = g->k;
  for (int i = 0; i < g->system->n; i++) {
    const double m = g->system->mass[i], *F = force + (size_t)i * k, *u = v + (size_t)i * k, *at = x + (size_t)i * k;
    double *out = a + (size_t)i * k;
    if (s->chart) {
      double room[CB_CHART_METRIC_ROOM];
      const cb_chart_metric metric = cb_chart_metric_in(k, room);
      const cb_status status = cb_chart_metric_at(s, at, 1, &metric);
      if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
      cb_chart_rate_velocity(k, &metric, m, u, F, out);
      continue;
    }
    for (int c = 0; c < k; c++) out[c] = F[c] / m;
    for (int f = 0; g->rows.rows == g->rows.own && f < s->n_factors; f++) {
      const cb_factor *factor = &s->factor[f];
      if (factor->curvature == 0) continue;
      double ax = 0, uu = 0, xx = 0;
      for (int c = factor->offset; c < factor->offset + factor->count; c++) {
        ax += s->form[c] * out[c] * at[c];
        uu += s->form[c] * u[c] * u[c];
        xx += s->form[c] * at[c] * at[c];
      }
      for (int c = factor->offset; c < factor->offset + factor->count; c++) out[c] -= (ax + uu) / xx * at[c];
    }
  }
  return CB_OK;
}

cb_status cb_gram_multipliers(cb_gram *g, double t, const double *x, const double *v, double *lambda,
                              double *acceleration) {
  const cb_rows *r = &g->rows;
  const int k = g->k;
  double *a = acceleration ? acceleration : g->trial_x, *y = g->z + r->rows;
  cb_status status = cb_constraints_eval(g->c, t, x, NULL, g->trial_g);
  if (!status) status = cb_gram_factor(g, x, g->trial_g, NULL);
  if (!status) status = cb_constraints_second(g->c, t, x, v, y, NULL);
  if (!status) status = cb_forces_eval(g->forces, t, x, v, g->force);
  if (!status) status = free_acceleration(g, x, v, g->force, a);
  if (status) return status;
  for (int row = 0; row < r->rows; row++)
    for (int e = r->start[row]; e < r->start[row + 1]; e++)
      y[row] += cb_gram_product(k, g->G + (size_t)e * k, a + (size_t)r->particle[e] * k);
  cb_gram_solve(g, y);
  if (acceleration) cb_gram_lift(g, y, -1, acceleration);
  memcpy(lambda, y, (size_t)r->rows * sizeof *lambda);
  return CB_OK;
}

static double largest(int n, const double *y, const bool *skip, int *at) {
  double most = 0;
  for (int r = 0; r < n; r++) {
    if (skip && skip[r]) continue;
    if (!(fabs(y[r]) <= most)) {
      most = fabs(y[r]);
      *at = r;
    }
  }
  return most;
}

cb_status cb_gram_project(cb_gram *g, double t, double *x, double *v, double tolerance, double *moved, double *turned,
                          int *row) {
  enum { MOST = 50 };
  const cb_rows *r = &g->rows;
  const cb_geometry *s = g->space;
  const int k = g->k;
  const size_t n = (size_t)g->system->n * (size_t)k;
  const double enough = tolerance > 0 ? tolerance : 1e-15;
  double *y = g->z + 2 * (size_t)r->rows, *u = g->trial_x, *w = g->trial_v, before = INFINITY;
  int worst = 0;
  memcpy(u, x, n * sizeof *u);
  memcpy(w, v, n * sizeof *w);
  cb_status status;
  for (int iteration = 0;; iteration++) {
    if ((status = cb_constraints_eval(g->c, t, u, y, g->trial_g))) return status;
    const double off = largest(r->rows, y, r->velocity, &worst);
    if ((status = cb_gram_factor(g, u, g->trial_g, row))) return status;
    if (off <= enough || (off <= 1e-12 && off > 0.5 * before)) break;
    if (iteration == MOST || !isfinite(off)) {
      if (row) *row = worst;
      return cb_fail_as(CB_FAILURE_CONSTRAINT, CB_STEP_NO_CONVERGENCE,
                        "constraint `%s` cannot be met together with the others: off by %.3g",
                        worst < r->own ? cb_system_constraint_name(g->system, worst) : "of the space", off);
    }
    before = off;
    cb_gram_solve(g, y);
    cb_gram_lift(g, y, -1, u);
    for (int i = 0; !s->chart && i < g->system->n; i++) cb_geometry_project_point(s, u + (size_t)i * k);
  }
  for (int i = 0; !s->chart && i < g->system->n; i++)
    cb_geometry_project_tangent(s, u + (size_t)i * k, w + (size_t)i * k);
  for (int pass = 0; pass < 2; pass++) {
    if ((status = cb_constraints_rate(g->c, t, u, w, y, NULL))) return status;
    cb_gram_solve(g, y);
    cb_gram_lift(g, y, -1, w);
  }
  double far = 0, fast = 0;
  for (size_t e = 0; e < n; e++) {
    far = fmax(far, fabs(u[e] - x[e]));
    fast = fmax(fast, fabs(w[e] - v[e]));
    if (!isfinite(u[e]) || !isfinite(w[e])) return cb_fail(CB_STEP_NOT_FINITE, "a projected state is not finite");
  }
  memcpy(x, u, n * sizeof *x);
  memcpy(v, w, n * sizeof *v);
  if (moved) *moved = far;
  if (turned) *turned = fast;
  return CB_OK;
}
