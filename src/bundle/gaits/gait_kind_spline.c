/* Gaits through given points: periodic cubic splines, which are twice continuously differentiable.
 *
 *   h_k-1 s_k-1 + 2 (h_k-1 + h_k) s_k + h_k s_k+1 = 6 ((r_k+1 - r_k)/h_k - (r_k - r_k-1)/h_k-1),  h_k = t_k+1 - t_k
 * The spline passes through the points r_k at the times t_k, where its second derivatives are s_k; all indices are
 * modulo the number of points. Breaks: the points, where the third derivative jumps.
 * Source: de Boor, A Practical Guide to Splines (1978), chapter IV.
 */
#include "bundle/gait_private.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const cb_gait_kind_class cb_gait_kind_spline;

/* The numbers of the gait: time[count + 1], r[count][n], second[count][n]. */
static void at(const cb_gait *g, double t, double *r, double *rate) {
  const int n = g->n;
  const double *time = cb_gait_own_numbers(g), *value = time + g->count + 1, *second = value + g->count * n;
  if (t < time[0]) t += 1; /* the first point may be later than the start of the period */
  int low = 0, high = g->count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (t >= time[middle])
      low = middle;
    else
      high = middle;
  }
  const int next = (low + 1) % g->count;
  const double h = time[low + 1] - time[low], u = (t - time[low]) / h, v = 1 - u;
  for (int i = 0; i < n; i++) {
    const double a = value[low * n + i], b = value[next * n + i];
    const double p = second[low * n + i] * h * h / 6, q = second[next * n + i] * h * h / 6;
    if (r) r[i] = v * a + u * b + (v * v * v - v) * p + (u * u * u - u) * q;
    if (rate) rate[i] = (b - a + (1 - 3 * v * v) * p + (3 * u * u - 1) * q) / h;
  }
}

/* Computes the second derivatives second[count][n] from value and time. Returns false if memory is lacking. */
static bool solve(int n, int count, const double *time, const double *value, double *second) {
  double *work = malloc(4 * (size_t)count * sizeof *work);
  if (!work) return false;
  double *diagonal = work, *off = diagonal + count, *right = off + count, *s = right + count;
  gsl_error_handler_t *const handler = gsl_set_error_handler_off();
  bool solved = true;
  for (int i = 0; solved && i < n; i++) {
    for (int k = 0; k < count; k++) {
      const int last = (k + count - 1) % count, next = (k + 1) % count;
      const double h = time[k + 1] - time[k], before = time[last + 1] - time[last];
      diagonal[k] = 2 * (before + h);
      off[k] = h;
      right[k] = 6 * ((value[next * n + i] - value[k * n + i]) / h - (value[k * n + i] - value[last * n + i]) / before);
    }
    gsl_vector_const_view d = gsl_vector_const_view_array(diagonal, (size_t)count);
    gsl_vector_const_view e = gsl_vector_const_view_array(off, (size_t)count);
    gsl_vector_const_view b = gsl_vector_const_view_array(right, (size_t)count);
    gsl_vector_view x = gsl_vector_view_array(s, (size_t)count);
    solved = !gsl_linalg_solve_symm_cyc_tridiag(&d.vector, &e.vector, &b.vector, &x.vector);
    for (int k = 0; k < count; k++) second[k * n + i] = s[k];
  }
  gsl_set_error_handler(handler);
  free(work);
  return solved;
}

/* Checks the times. If the last point is at the time 1, it must equal the first point, and is dropped. */
static cb_status check_times(int n, int points, const double *time, const double *r, int *count) {
  *count = points;
  for (int k = 0; k < points; k++)
    if (!(time[k] >= 0 && time[k] <= 1 && (k == 0 || time[k] > time[k - 1])))
      return cb_fail(CB_ERROR_ARGUMENT, "time %d of a gait is %.9g: expected times that increase in [0, 1]", k,
                     time[k]);
  if (time[points - 1] < 1) return CB_OK;
  for (int i = 0; i < n; i++)
    if (time[0] > 0 || !(fabs(r[(points - 1) * n + i] - r[i]) <= 1e-12 * fmax(1, fabs(r[i]))))
      return cb_fail(CB_ERROR_ARGUMENT,
                     "a point at time 1 must repeat the first point, at time 0: variable %d is %.9g at time %.9g and "
                     "%.9g at time 1",
                     i, r[i], time[0], r[(points - 1) * n + i]);
  *count = points - 1;
  return CB_OK;
}

cb_status cb_gait_spline(int n, int points, const double *time, const double *r, cb_gait **out) {
  int count = points;
  cb_status status = cb_gait_check_arguments("points", n, points, 3, r);
  if (!status && time) status = check_times(n, points, time, r, &count);
  if (!status) status = cb_gait_check_arguments("points", n, count, 3, NULL);
  if (status) return status;
  const size_t rows = (size_t)count * (size_t)n;
  cb_gait *g = cb_gait_block(&cb_gait_kind_spline, n, count, count, (size_t)count + 1 + 2 * rows);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d points", points);
  double *times = g->data + count, *value = times + count + 1;
  for (int k = 0; k < count; k++) g->data[k] = times[k] = time ? time[k] : (double)k / count;
  times[count] = 1 + times[0];
  memcpy(value, r, rows * sizeof *r);
  if (!solve(n, count, times, value, value + rows)) {
    cb_gait_free(g);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d points", points);
  }
  *out = g;
  return CB_OK;
}

static cb_status read_value(const cb_bundle *b, const cb_node *map, const void *params, cb_gait **out) {
  const cb_gait_points *p = params;
  const cb_node *list = p->points, *times = p->times;
  double *r = NULL, *t = NULL;
  int count = 0, given = 0;
  if (!list) return cb_node_fail(map, "expected `points`, a list of shapes");
  cb_status status = cb_gait_read_rows(b, list, "point", &r, &count);
  if (!status) status = cb_gait_read_times(times, "times", &t, &given);
  if (!status && times && given != count)
    status = cb_node_fail(times, "expected %d times, one per point, found %d", count, given);
  if (!status && count < 3) status = cb_node_fail(list, "expected at least 3 points, found %d", count);
  if (!status) status = cb_gait_placed(cb_gait_spline(b->n, count, t, r, out), list);
  free(r);
  free(t);
  return status;
}

static const cb_param params[] = {
    CB_GAIT_NODE(cb_gait_points, points, "required: [[..], ..], at least 3 shapes"),
    CB_GAIT_NODE(cb_gait_points, times, "times of the points in [0, 1), ascending; equally spaced if absent"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_gait_kind_class cb_gait_kind_spline = {.name = "spline",
                                                .title = "The periodic cubic spline through points",
                                                .doc = "Its second derivative is continuous",
                                                .params = params,
                                                .params_size = sizeof(cb_gait_points),
                                                .read = read_value,
                                                .at = at};
