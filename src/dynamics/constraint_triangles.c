/* Functions that several classes of constraints use: functions of the three sides of a geodesic triangle, and the
 * metric at a point of a space that is given by the metric of one chart.
 *
 * The sides d_0, d_1 and d_2 are also called side 1, 2 and 3. sigma_0 is half their sum, and sigma_i = sigma_0 minus
 * side i. Functions are products of powers of functions of one sigma each, and are differentiated by their logarithms
 * (s = s_K and c = c_K of numerics/numerics_curved.h, t = s/c):
 *   d log t(x/2)^(1/2) = dx/(2 s(x)),   d log s(x) = c/s dx,   d^2 log s(x) = -dx^2/s^2
 * Source: Todhunter, Spherical Trigonometry (1886), articles 45 and 102.
 */
#include "dynamics/constraint_private.h"

#include "dynamics/pair_potential_private.h"
#include "numerics/small.h"

enum { K = CB_COORD_MAX, SIDES = CB_TRIANGLE_SIDES };

/* sigma_i is the sum over j of half[i][j] d_j. */
static const double half[4][SIDES] = {{.5, .5, .5}, {-.5, .5, .5}, {.5, -.5, .5}, {.5, .5, -.5}};

/* Computes the derivatives, in the sides, of the sum over i of w_i f(sigma_i) with weights w_i: first[i] = w_i f' and
 * second[i] = w_i f''. */
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

/* Converts the derivatives of log X (l first, ll second) to those of F(X), given f1 = X F' and f2 = X (X F')'. hessian
 * may be NULL. */
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

/* Computes the element f(d_0, d_1, d_2) of three points, where d_s is the distance of the points ends[s]. */
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
    double row[SIDES] = {0}; /* d(f_d)/dx_a */
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
