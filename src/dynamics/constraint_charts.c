/* Functions that several classes of constraints use: conversion of elements between the embedding and charts (equations
 * in constraint_private.h), the coordinates that the expressions of constraints use, functions of the three sides of a
 * geodesic triangle, and the metric at a point of a space that is given by the metric of one chart.
 *
 * The sides d_0, d_1 and d_2 are also called side 1, 2 and 3. sigma_0 is half their sum, and sigma_i = sigma_0 minus
 * side i. Functions are products of powers of functions of one sigma each, and are differentiated by their logarithms
 * (s = s_K and c = c_K of numerics/numerics_curved.h, t = s/c):
 *   d log t(x/2)^(1/2) = dx/(2 s(x)),   d log s(x) = c/s dx,   d^2 log s(x) = -dx^2/s^2
 * Source: Todhunter, Spherical Trigonometry (1886), articles 45 and 102.
 */
#include "dynamics/constraint_private.h"

#include "dynamics/pair_potential_private.h"
#include "geometry/quadric.h"
#include "numerics/small.h"

#include <math.h>
#include <string.h>

/* --- charts --- */

enum { DIM = CB_DIM_MAX };

/* A point of the chart is singular if a pivot of the metric is smaller than this, relative to its diagonal entry. */
static const double singular = 1e-13;

static cb_status step_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

/* A chart at the coordinates q: the point x(q), the Jacobian J = dx/dq, the inverse metric and, for order 2, the
 * Christoffel symbols gamma[c][i][j]. */
typedef struct chart_point {
  double x[CB_COORD_MAX], J[CB_COORD_MAX * DIM], inverse[DIM * DIM], gamma[DIM][DIM][DIM];
} chart_point;

static cb_status chart_at(const cb_space *g, const cb_chart *chart, const double *q, int order, chart_point *p) {
  int n = g->dim;
  double metric[DIM * DIM], l[DIM * DIM], dg[DIM * DIM * DIM];
  cb_status status = chart->to_point(g, q, p->x, p->J);
  if (!status) status = chart->metric(g, q, metric, order > 1 ? dg : NULL, NULL);
  if (status) return step_status(status);
  if (!cb_cholesky(n, metric, singular, l))
    return cb_fail(CB_STEP_DOMAIN,
                   "a constraint is at a singular point of its chart: use a smaller `step` or another chart");
  cb_cholesky_whole_inverse(n, l, p->inverse);
  for (int c = 0; order > 1 && c < n; c++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int m = 0; m < n; m++)
          sum += p->inverse[c * n + m] * (dg[(i * n + m) * n + j] + dg[(j * n + m) * n + i] - dg[(m * n + i) * n + j]);
        p->gamma[c][i][j] = 0.5 * sum;
      }
  return CB_OK;
}

/* --- coordinates as functions on the embedding --- */

/* Computes the derivatives of the coordinates q with respect to y at a point y of the space: `first` is the matrix B of
 * constraint_private.h. For order 2 also computes `second`. */
static void in_world(const cb_space *g, const chart_point *p, int order, cb_coordinates *out) {
  int n = g->dim, k = g->embedding;
  for (int c = 0; c < n; c++)
    for (int a = 0; a < k; a++) {
      out->first[c][a] = 0;
      for (int i = 0; i < n; i++) out->first[c][a] += p->inverse[c * n + i] * p->J[a * n + i] * g->form[a];
    }
  if (order < 2) return;
  for (int c = 0; c < n; c++) {
    const double *B = out->first[c];
    for (int a = 0; a < k; a++)
      for (int b = 0; b < k; b++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++) sum -= p->gamma[c][i][j] * out->first[i][a] * out->first[j][b];
        out->second[c][a][b] = sum;
      }
    for (int f = 0; f < g->n_factors; f++) {
      const cb_factor factor = g->factor[f];
      const int end = factor.offset + factor.count;
      for (int a = factor.offset; a < end; a++)
        for (int b = factor.offset; b < end; b++)
          out->second[c][a][b] -= factor.curvature * (B[a] * g->form[b] * p->x[b] + B[b] * g->form[a] * p->x[a]);
    }
  }
}

/* Converts derivatives in y to those in x, where y_a = scale_a (M x + b)_a, and `world` is the isometry x -> M x + b.
 */
static void to_local(const cb_space *g, const cb_isometry *world, const double *scale, int order, cb_coordinates *out) {
  int k = g->embedding;
  double m[CB_COORD_MAX][CB_COORD_MAX];
  for (int a = 0; a < k; a++)
    for (int b = 0; b < k; b++) m[a][b] = scale[a] * world->m[a][b];
  for (int c = 0; c < out->size; c++) {
    double row[CB_COORD_MAX], half[CB_COORD_MAX][CB_COORD_MAX];
    memcpy(row, out->first[c], sizeof row);
    for (int b = 0; b < k; b++) {
      out->first[c][b] = 0;
      for (int a = 0; a < k; a++) out->first[c][b] += row[a] * m[a][b];
    }
    if (order < 2) continue;
    for (int a = 0; a < k; a++)
      for (int b = 0; b < k; b++) {
        half[a][b] = 0;
        for (int e = 0; e < k; e++) half[a][b] += out->second[c][a][e] * m[e][b];
      }
    for (int a = 0; a < k; a++)
      for (int b = 0; b < k; b++) {
        out->second[c][a][b] = 0;
        for (int e = 0; e < k; e++) out->second[c][a][b] += m[e][a] * half[e][b];
      }
  }
}

/* Moves y along its ray onto the quadric of each curved factor. Sets scale[a] to the factor by which coordinate a was
 * multiplied. */
static cb_status onto_space(const cb_space *g, double *y, double *scale) {
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    double by = 1;
    if (factor.curvature != 0)
      by = 1 / sqrt(factor.curvature * cb_factor_inner(factor, y + factor.offset, y + factor.offset));
    if (!isfinite(by))
      return cb_fail(CB_STEP_DOMAIN, "a constraint is at a point outside the space: use a smaller `step`");
    for (int a = factor.offset; a < factor.offset + factor.count; a++) {
      y[a] *= by;
      scale[a] = by;
    }
  }
  return CB_OK;
}

cb_status cb_coordinates_at(const cb_space *g, const cb_chart *chart, const cb_isometry *world, const double *x,
                            int order, cb_coordinates *out) {
  double y[CB_COORD_MAX], scale[CB_COORD_MAX] = {1, 1, 1, 1};
  cb_isometry_point(g, world, x, y);
  if (!chart || g->intrinsic) { /* the coordinates are the numbers of the point itself */
    out->size = g->embedding;
    memcpy(out->q, y, sizeof y);
    if (order < 1) return CB_OK;
    for (int c = 0; c < g->embedding; c++) {
      memset(out->first[c], 0, CB_COORD_MAX * sizeof out->first[c][0]);
      for (int a = 0; a < g->embedding; a++) memset(out->second[c][a], 0, CB_COORD_MAX * sizeof out->second[c][a][0]);
      out->first[c][c] = 1;
    }
    to_local(g, world, scale, 1, out);
    return CB_OK;
  }
  chart_point p;
  out->size = g->dim;
  cb_status status = onto_space(g, y, scale);
  if (!status) status = step_status(chart->from_point(g, y, out->q));
  if (status || order < 1) return status;
  status = chart_at(g, chart, out->q, order, &p);
  if (status) return status;
  in_world(g, &p, order, out);
  to_local(g, world, scale, order, out);
  return CB_OK;
}

/* --- elements of the embedding in a chart space --- */

/* Computes to[n] = J^T from[k] for one particle, with J of constraint_private.h. */
static void pull_vector(const cb_space *g, const chart_point *p, const double *from, double *to) {
  for (int i = 0; i < g->dim; i++) {
    double sum = 0;
    for (int a = 0; a < g->embedding; a++) sum += p->J[a * g->dim + i] * from[a];
    to[i] = sum;
  }
}

/* Returns the product gradient.x_ij with the second derivative x_ij of the point by coordinates i and j, for one
 * particle. */
static double chart_second_derivative(const cb_space *g, const chart_point *p, const double *gradient, int i, int j) {
  int n = g->dim;
  double sum = 0;
  for (int c = 0; c < n; c++)
    for (int a = 0; a < g->embedding; a++) sum += p->gamma[c][i][j] * p->J[a * n + c] * gradient[a];
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    double metric = 0, along = 0;
    for (int a = factor.offset; a < factor.offset + factor.count; a++) {
      metric += g->form[a] * p->J[a * n + i] * p->J[a * n + j];
      along += p->x[a] * gradient[a];
    }
    sum -= factor.curvature * metric * along;
  }
  return sum;
}

cb_status cb_element_by_embedding(cb_element_function *in_embedding, const cb_constraints *c, const cb_constraint *row,
                                  int element, double t, const double *const *x, int order, cb_element *out) {
  const cb_space *g = c->space;
  if (!g->chart || g->intrinsic) return in_embedding(c, row, element, t, x, order, out);
  const int n = g->dim, k = g->embedding, size = row->width * n, stride = row->width * k;
  chart_point p[CB_ELEMENT_PARTICLES];
  const double *at[CB_ELEMENT_PARTICLES];
  cb_element e;
  memset(&e, 0, sizeof e);
  for (int i = 0; i < row->width; i++) {
    cb_status status =
        order ? chart_at(g, g->chart, x[i], order, &p[i]) : step_status(g->chart->to_point(g, x[i], p[i].x, NULL));
    if (status) return status;
    at[i] = p[i].x;
  }
  cb_status status = in_embedding(c, row, element, t, at, order, &e);
  if (status) return status;
  out->value = e.value;
  out->t1 = e.t1;
  out->t2 = e.t2;
  for (int i = 0; order && i < row->width; i++) {
    pull_vector(g, &p[i], e.gradient + i * k, out->gradient + i * n);
    pull_vector(g, &p[i], e.tx + i * k, out->tx + i * n);
    pull_vector(g, &p[i], e.b_x + i * k, out->b_x + i * n);
  }
  for (int i = 0; order > 1 && i < row->width; i++)
    for (int j = 0; j < row->width; j++) {
      double half[CB_COORD_MAX][DIM];
      for (int a = 0; a < k; a++) pull_vector(g, &p[j], e.hessian + (i * k + a) * stride + j * k, half[a]);
      for (int r = 0; r < n; r++)
        for (int s = 0; s < n; s++) {
          double sum = i == j ? chart_second_derivative(g, &p[i], e.gradient + i * k, r, s) : 0;
          for (int a = 0; a < k; a++) sum += p[i].J[a * n + r] * half[a][s];
          out->hessian[(i * n + r) * size + j * n + s] = sum;
        }
    }
  return CB_OK;
}

/* --- expressions in the coordinates of a chart of the world --- */

/* Computes the coordinates that an expression uses. If `own` is true, the expression uses the space's own chart; x are
 * then already these coordinates, unless origins move. */
cb_status cb_constraint_coordinates(const cb_constraints *c, const cb_constraint *row, bool own, const double *x,
                                    int order, cb_coordinates *out) {
  const cb_space *g = c->space;
  if (!own || cb_origin_moves(g)) return cb_coordinates_at(g, row->chart, &c->world[row->world].world, x, order, out);
  out->size = g->dim;
  memcpy(out->q, x, (size_t)g->dim * sizeof *x);
  for (int i = 0; i < g->dim; i++)
    for (int a = 0; a < g->dim; a++) {
      out->first[i][a] = i == a;
      memset(out->second[i][a], 0, (size_t)g->dim * sizeof *out->second[i][a]);
    }
  return CB_OK;
}

/* Fails if a value or one of the n derivatives of an expression is not finite. */
cb_status cb_constraint_check_finite(double value, int n, const double *derivative, const char *what) {
  bool all = isfinite(value);
  for (int i = 0; i < n; i++) all = all && isfinite(derivative[i]);
  return all ? CB_OK
             : cb_fail(CB_STEP_DOMAIN,
                       "%s of a constraint is not finite at this point: use a smaller `step` or another start", what);
}

bool cb_constraint_own_chart(const cb_constraints *c, const cb_constraint *row) {
  return c->space->chart && row->chart == c->space->chart;
}

/* --- triangles --- */

enum { K = CB_COORD_MAX, SIDES = CB_TRIANGLE_SIDES };

/* sigma_i is the sum over j of half[i][j] d_j. */
static const double half[4][SIDES] = {{.5, .5, .5}, {-.5, .5, .5}, {.5, -.5, .5}, {.5, .5, -.5}};

/* Let f_i be one function of sigma_i for each i. Given first[i] = f_i' and second[i] = f_i'', computes the gradient and
 * the Hessian of the sum of the f_i(sigma_i) in the sides. */
void cb_triangle_in_sides(const double *first, const double *second, double *gradient, double *hessian) {
  for (int a = 0; a < SIDES; a++) {
    gradient[a] = 0;
    for (int i = 0; i < 4; i++) gradient[a] += first[i] * half[i][a];
    for (int b = 0; b < SIDES; b++) {
      hessian[a * SIDES + b] = 0;
      for (int i = 0; i < 4; i++) hessian[a * SIDES + b] += second[i] * half[i][a] * half[i][b];
    }
  }
}

/* Converts the derivatives of log X to those of F(X), where X is a function of the three sides. l and ll are the first
 * and second derivatives of log X, f1 = X F' and f2 = X (X F')'. hessian may be NULL. */
void cb_triangle_by_logarithm(double f1, double f2, const double *l, const double *ll, double *gradient,
                              double *hessian) {
  for (int a = 0; a < SIDES; a++) {
    gradient[a] = f1 * l[a];
    for (int b = 0; hessian && b < SIDES; b++) hessian[a * SIDES + b] = f2 * l[a] * l[b] + f1 * ll[a * SIDES + b];
  }
}

void cb_triangle_half_sums(const double *d, double *sigma) {
  for (int i = 0; i < 4; i++) sigma[i] = half[i][0] * d[0] + half[i][1] * d[1] + half[i][2] * d[2];
}

/* Computes the element f(d_0, d_1, d_2) of three points. d_s is the distance of the points with the numbers ends[s][0]
 * and ends[s][1]. */
cb_status cb_triangle_by_sides(const cb_space *g, cb_distance_function *f, const int ends[SIDES][2],
                               const double *const *x, int order, cb_element *out) {
  const int k = g->k, size = SIDES * k;
  double d[SIDES], buffer[SIDES][CB_PAIR_MAX], square[SIDES][CB_PAIR_MAX * CB_PAIR_MAX];
  double(*const first)[CB_PAIR_MAX] = buffer, (*const second)[CB_PAIR_MAX * CB_PAIR_MAX] = square;
  double f_d[SIDES], f_dd[SIDES * SIDES];
  for (int s = 0; s < SIDES; s++) {
    double *const by_ends = order ? first[s] : NULL, *const twice = order > 1 ? second[s] : NULL;
    cb_status status = cb_pair_distance(g, x[ends[s][0]], x[ends[s][1]], &d[s], by_ends, twice);
    if (status) return status;
  }
  cb_status status = f(g, d, &out->value, order ? f_d : NULL, order > 1 ? f_dd : NULL);
  if (status || !order) return status;

  double d_x[SIDES][SIDES * K] = {{0}};
  for (int s = 0; s < SIDES; s++)
    for (int end = 0; end < 2; end++)
      for (int a = 0; a < k; a++) {
        d_x[s][ends[s][end] * k + a] = first[s][end * k + a];
        out->gradient[ends[s][end] * k + a] += f_d[s] * first[s][end * k + a];
      }
  if (order < 2) return CB_OK;
  for (int a = 0; a < size; a++) {
    double row[SIDES] = {0}; /* derivative of f_d, the gradient of f in the sides, by x_a */
    for (int s = 0; s < SIDES; s++)
      for (int r = 0; r < SIDES; r++) row[s] += f_dd[s * SIDES + r] * d_x[r][a];
    for (int b = 0; b < size; b++)
      out->hessian[a * size + b] = row[0] * d_x[0][b] + row[1] * d_x[1][b] + row[2] * d_x[2][b];
  }
  for (int s = 0; s < SIDES; s++)
    for (int i = 0; i < 2 * k; i++)
      for (int j = 0; j < 2 * k; j++) {
        int a = ends[s][i / k] * k + i % k, b = ends[s][j / k] * k + j % k;
        out->hessian[a * size + b] += f_d[s] * second[s][i * 2 * k + j];
      }
  return CB_OK;
}

/* --- the metric at a point --- */

cb_status cb_local_metric_at(const cb_space *g, const double *q, cb_local_metric *m) {
  const int n = g->dim;
  double l[CB_DIM_MAX * CB_DIM_MAX];
  const cb_status status = g->chart->metric(g, q, m->g, m->dg, NULL);
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  if (!cb_cholesky(n, m->g, 0, l))
    return cb_fail(CB_STEP_DOMAIN,
                   "a constraint is at a point where the metric is not positive definite: expected positions inside "
                   "the chart's domain");
  m->root = cb_cholesky_whole_inverse(n, l, m->inverse);
  return CB_OK;
}

void cb_local_metric_raise(int n, const cb_local_metric *m, const double *a, double *A) {
  for (int i = 0; i < n; i++) {
    A[i] = 0;
    for (int j = 0; j < n; j++) A[i] += m->inverse[i * n + j] * a[j];
  }
}
