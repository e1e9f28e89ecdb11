/* Karcher mean: the minimum of f(m) = (1/2) sum_i w_i d(x_i, m)^2, sum_i w_i = 1, factor by factor.
 *
 *   grad f = -sum_i w_i v_i,  v_i = log_m(x_i);   Hess f = sum_i w_i (n_i n_i^T + d_i ct_K(d_i) (1 - n_i n_i^T))
 *   m <- exp_m(u),  (Hess f) u = sum_i w_i v_i,   from the weighted mean of the embedding, projected
 * with n = v/|v|, ct_K = c_K/s_K. On a sphere d ct_K(d) is kept at 1/4 or more, so that every step goes downhill.
 * Source: Karcher, Comm. Pure Appl. Math. 30 (1977) 509, doi:10.1002/cpa.3160300502.
 */
#include "geometry/intrinsic_private.h"
#include "geometry/quadric.h"
#include "numerics/trig.h"
#include "numerics/small.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MOST_STEPS = 100 };

/* Iteration ends with a step of this length, relative to the spread: the next would be its square, or, where the
 * Hessian was changed, somewhat shorter; or of the round-off of log. */
static const double enough = 1e-9, enough_changed = 1e-14, round_off = 1e-15;

typedef struct points {
  size_t n;
  int stride; /* numbers from one point to the next */
  const double *x, *weight;
} points;

static double weight_of(points p, size_t i) { return p.weight ? p.weight[i] : 1; }

/* One Newton step at m in a space that is this factor alone. Its length, and the length that would be short enough. */
static cb_status step(const cb_geometry *one, points p, double *m, double *length, double *limit) {
  cb_factor f = one->factor[0];
  cb_trig k = cb_trig_of(f.curvature);
  int dim = one->dim;
  double frame[CB_DIM_MAX * CB_COORD_MAX], h[CB_DIM_MAX * CB_DIM_MAX] = {0}, r[CB_DIM_MAX] = {0}, total = 0,
                                           spread = 0;
  int pivot[CB_DIM_MAX];
  bool changed = false;
  cb_geometry_frame(one, m, frame);
  for (size_t i = 0; i < p.n; i++) {
    double v[CB_COORD_MAX], c[CB_DIM_MAX], square = 0, weight = weight_of(p, i);
    cb_status status = cb_log(one, m, p.x + i * (size_t)p.stride, v);
    if (status) return status;
    for (int a = 0; a < dim; a++) {
      c[a] = cb_inner(one, frame + a * f.count, v);
      r[a] += weight * c[a];
      square += c[a] * c[a];
    }
    double d = sqrt(square), across = cb_trig_c(k, d) / cb_trig_sinc(k, d);
    changed |= across < 0.25;
    across = fmax(across, 0.25);
    for (int a = 0; a < dim; a++)
      for (int b = 0; b < dim; b++)
        h[a * dim + b] += weight * (across * (a == b) + (square > 0 ? (1 - across) * c[a] * c[b] / square : 0));
    total += weight;
    spread += weight * d;
  }
  if (cb_dense_factor(dim, h, pivot)) return cb_fail(CB_ERROR_DOMAIN, "the mean of these points is not determined");
  cb_dense_solve(dim, h, pivot, r);
  double u[CB_COORD_MAX] = {0}, square = 0, size = 0;
  for (int a = 0; a < dim; a++) {
    square += r[a] * r[a];
    for (int b = 0; b < f.count; b++) u[b] += r[a] * frame[a * f.count + b];
  }
  for (int a = 0; a < f.count; a++) size += m[a] * m[a];
  cb_exp(one, m, u, m, NULL);
  *length = sqrt(square);
  *limit = (changed ? enough_changed : enough) * spread / total + round_off * size * k.r;
  return CB_OK;
}

static cb_status factor_mean(const cb_geometry *g, cb_factor f, points p, double *mean) {
  double m[CB_COORD_MAX] = {0}, total = 0;
  for (size_t i = 0; i < p.n; i++) {
    double weight = weight_of(p, i);
    total += weight;
    for (int a = 0; a < f.count; a++) m[a] += weight * p.x[i * (size_t)p.stride + (size_t)a];
  }
  for (int a = 0; a < f.count; a++) m[a] /= total;
  if (f.curvature != 0) {
    double square = f.curvature * cb_factor_inner(f, m, m);
    if (!(square > 1e-24))
      return cb_fail(CB_ERROR_DOMAIN, "the points are spread all around the sphere: no mean is near");
    for (int a = 0; a < f.count; a++) m[a] /= sqrt(square);
    cb_factor_project_point(f, m);
    cb_geometry one = {.kind = g->kind, .dim = cb_factor_dim(f), .k = f.count, .embedding = f.count, .n_factors = 1};
    one.factor[0] = (cb_factor){0, f.count, f.curvature};
    for (int a = 0; a < f.count; a++) one.form[a] = g->form[f.offset + a];
    double length = 1, limit = 0;
    for (int i = 0; length > limit; i++) {
      if (i == MOST_STEPS || !isfinite(length)) return cb_fail(CB_ERROR_DOMAIN, "the Karcher mean did not converge");
      cb_status status = step(&one, p, m, &length, &limit);
      if (status) return status;
    }
  }
  memcpy(mean, m, (size_t)f.count * sizeof *mean);
  return CB_OK;
}

cb_status cb_karcher_mean(const cb_geometry *g, size_t n, const double *x, const double *weight, double *mean) {
  if (g->intrinsic && n > 0) return cb_intrinsic_karcher_mean(g, n, x, weight, mean);
  if (n == 0) return cb_fail(CB_ERROR_ARGUMENT, "no points to take the mean of");
  double result[CB_COORD_MAX] = {0};
  for (int f = 0; f < g->n_factors; f++) {
    points p = {n, g->embedding, x + g->factor[f].offset, weight};
    cb_status status = factor_mean(g, g->factor[f], p, result + g->factor[f].offset);
    if (status) return status;
  }
  memcpy(mean, result, (size_t)g->embedding * sizeof *mean);
  return CB_OK;
}
