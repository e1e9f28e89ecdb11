/* Gaits of arcs: on each the polynomial through its values at the Chebyshev-Lobatto points u_j = sin^2(pi j/(2 d)) of
 * the arc, u in [0, 1]; continuous, closed, with corners at the arcs' ends alone.
 *
 *   r(u) = sum_j w_j r_j/(u - u_j) / sum_j w_j/(u - u_j),  w_j = (-1)^j, halved for j = 0 and d
 *   r'(u_i) = sum_j (w_j/w_i) (r_j - r_i)/(u_i - u_j), and r' between by the same formula from these
 * Stable for any degree d: the error is d^2 rounding errors of r at most in r', one in r.
 * Source: Berrut & Trefethen, SIAM Rev. 46 (2004) 501, eqs. 4.2, 5.4, 9.4, doi:10.1137/S0036144502417715.
 */
#include "bundle/gait_private.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Numbers of the gait: end[arcs + 1], degree, u[degree + 1], r[arcs][degree + 1][n], and r' by u of the same size. */
typedef struct arc_table {
  int degree;
  const double *end, *u, *r, *slope;
} arc_table;

static arc_table table_of(const cb_gait *g) {
  const double *end = cb_gait_numbers(g), *u = end + g->count + 2;
  const int degree = (int)u[-1];
  const double *r = u + degree + 1;
  return (arc_table){degree, end, u, r, r + g->count * (degree + 1) * g->n};
}

static double weight(int degree, int j) { return (j % 2 ? -1 : 1) * (j == 0 || j == degree ? .5 : 1); }

/* The polynomial through rows value[degree + 1][n]. */
static void interpolate(int n, int degree, const double *node, const double *value, double u, double *out) {
  double sum = 0;
  memset(out, 0, (size_t)n * sizeof *out);
  for (int j = 0; j <= degree; j++, value += n) {
    const double away = u - node[j];
    if (fabs(away) < DBL_EPSILON * DBL_EPSILON) {
      memcpy(out, value, (size_t)n * sizeof *out);
      return;
    }
    const double part = weight(degree, j) / away;
    sum += part;
    for (int i = 0; i < n; i++) out[i] += part * value[i];
  }
  for (int i = 0; i < n; i++) out[i] /= sum;
}

static void at(const cb_gait *g, double t, double *r, double *rate) {
  const arc_table a = table_of(g);
  int low = 0, high = g->count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (t >= a.end[middle])
      low = middle;
    else
      high = middle;
  }
  const double share = a.end[low + 1] - a.end[low], u = (t - a.end[low]) / share;
  const int first = low * (a.degree + 1) * g->n;
  if (r) interpolate(g->n, a.degree, a.u, a.r + first, u, r);
  if (rate) interpolate(g->n, a.degree, a.u, a.slope + first, u, rate);
  for (int i = 0; rate && i < g->n; i++) rate[i] /= share;
}

static void write(const cb_gait *g, cb_text *out) {
  const arc_table a = table_of(g);
  cb_text_puts(out, "{ends: ");
  cb_gait_write_numbers(out, g->count + 1, a.end);
  cb_text_puts(out, ", points: ");
  for (int k = 0; k < g->count; k++) {
    cb_text_puts(out, k ? ", " : "[");
    cb_gait_write_rows(out, a.degree + 1, g->n, a.r + k * (a.degree + 1) * g->n);
  }
  cb_text_puts(out, "]}");
}

static const cb_gait_kind kind = {"arcs", at, write};

static cb_status check_ends(int arcs, const double *ends) {
  for (int k = 0; k <= arcs; k++)
    if (!(isfinite(ends[k]) && (k == 0 ? ends[k] == 0 : ends[k] > ends[k - 1])))
      return cb_fail(CB_ERROR_ARGUMENT, "end %d of a gait's arcs is %.9g: ends ascend from 0 to 1", k, ends[k]);
  if (ends[arcs] == 1) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT, "the last end of a gait's arcs is %.9g, expected 1", ends[arcs]);
}

/* An arc begins where the one before it ends, the first where the last does. */
static cb_status check_joints(int n, int arcs, int degree, const double *values) {
  for (int k = 0; k < arcs; k++)
    for (int i = 0; i < n; i++) {
      const double end = values[(k * (degree + 1) + degree) * n + i];
      const double start = values[(k + 1) % arcs * (degree + 1) * n + i];
      if (!(fabs(end - start) <= cb_gait_slack(end, start)))
        return cb_fail(CB_ERROR_ARGUMENT, "arc %d of a gait ends with %.9g in variable %d, %s with %.9g", k, end, i,
                       k + 1 < arcs ? "the next begins" : "the first begins", start);
    }
  return CB_OK;
}

static void differentiate(int n, int degree, const double *r, double *slope) {
  const double step = M_PI / (2 * degree);
  for (int p = 0; p <= degree; p++)
    for (int j = 0; j <= degree; j++) {
      if (j == p) continue;
      const double away = sin((p + j) * step) * sin((p - j) * step); /* u_p - u_j */
      const double part = weight(degree, j) / weight(degree, p) / away;
      for (int i = 0; i < n; i++) slope[p * n + i] += part * (r[j * n + i] - r[p * n + i]);
    }
}

cb_status cb_gait_arcs(int n, int arcs, const double *ends, int degree, const double *values, cb_gait **out) {
  cb_status status = cb_gait_check("arcs", n, arcs, 1, NULL);
  if (!status) status = cb_gait_check("points on an arc", n, degree + 1, 2, NULL);
  if (!status) status = cb_gait_check("points on its arcs", n, arcs * (degree + 1), 2, values);
  if (!status) status = check_ends(arcs, ends);
  if (!status) status = check_joints(n, arcs, degree, values);
  if (status) return status;
  const int points = degree + 1;
  const size_t row = (size_t)points * (size_t)n, rows = (size_t)arcs * row;
  cb_gait *g = cb_gait_block(&kind, n, arcs, arcs, (size_t)arcs + 2 + (size_t)points + 2 * rows);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d arcs", arcs);
  double *end = g->data + arcs, *u = end + arcs + 2, *r = u + points, *slope = r + rows;
  memcpy(g->data, ends, (size_t)arcs * sizeof *ends);
  memcpy(end, ends, ((size_t)arcs + 1) * sizeof *ends);
  memcpy(r, values, rows * sizeof *values);
  end[arcs + 1] = degree;
  for (int j = 0; j < points; j++) u[j] = pow(sin(M_PI * j / (2 * degree)), 2);
  for (int k = 0; k < arcs; k++) { /* joints to the last bit */
    memcpy(r + ((size_t)k + 1) * row - n, r + (size_t)((k + 1) % arcs) * row, (size_t)n * sizeof *r);
    differentiate(n, degree, r + (size_t)k * row, slope + (size_t)k * row);
  }
  g->pieces = degree;
  *out = g;
  return CB_OK;
}
