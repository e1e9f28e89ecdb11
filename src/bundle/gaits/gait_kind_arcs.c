/* Gaits that consist of arcs. On each arc the gait is the polynomial through its values at the Chebyshev-Lobatto points
 * u_j = sin^2(pi j/(2 d)) of the arc, u in [0, 1]. The gait is continuous and closed, with corners only at the ends of
 * arcs.
 *
 *   r(u) = sum_j w_j r_j/(u - u_j) / sum_j w_j/(u - u_j),  w_j = (-1)^j, halved for j = 0 and d
 *   r'(u_i) = sum_j (w_j/w_i) (r_j - r_i)/(u_i - u_j);  r'(u): the first formula with r'(u_j) in place of r_j
 * d: degree of the polynomial; r_j: values at u_j; w_j: weights; r': derivative by u. The formula is stable for any d:
 * the error is one rounding error in r, and at most d^2 rounding errors of r in r'.
 * Source: Berrut & Trefethen, SIAM Rev. 46 (2004) 501, eqs. 4.2, 5.4, 9.4, doi:10.1137/S0036144502417715.
 */
#include "bundle/gait_private.h"
#include "core/failure.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const cb_gait_kind_class cb_gait_kind_arcs;

/* The numbers of a gait: end[arcs + 1], the times of the ends of arcs; degree; u[degree + 1], the points u_j; the
 * values r[arcs][degree + 1][n] at these points; and slope, the derivatives of r by u, of the same size as r. */
typedef struct arc_table {
  int degree;
  const double *end, *u, *r, *slope;
} arc_table;

static arc_table table_of(const cb_gait *g) {
  const double *end = cb_gait_own_numbers(g), *u = end + g->count + 2;
  const int degree = (int)u[-1];
  const double *r = u + degree + 1;
  return (arc_table){degree, end, u, r, r + g->count * (degree + 1) * g->n};
}

static double weight(int degree, int j) { return (j % 2 ? -1 : 1) * (j == 0 || j == degree ? .5 : 1); }

/* Evaluates a polynomial at u. It has the values value[degree + 1][n] at the points node[degree + 1]. */
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

static void write_value(const cb_gait *g, cb_text *out) {
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

/* Writes the numbers of the gait to `out` (cb_gait_basis.state): arcs, degree, ends[arcs+1],
 * values[arcs][degree+1][n]. */
static size_t state(const cb_gait *g, double *out) {
  const arc_table a = table_of(g);
  const size_t ends = (size_t)g->count + 1, values = (size_t)(g->count * (a.degree + 1) * g->n);
  if (!out) return 2 + ends + values;
  out[0] = g->count;
  out[1] = a.degree;
  memcpy(out + 2, a.end, ends * sizeof *out);
  memcpy(out + 2 + ends, a.r, values * sizeof *out);
  return 2 + ends + values;
}

static cb_status check_ends(int arcs, const double *ends) {
  for (int k = 0; k <= arcs; k++)
    if (!(isfinite(ends[k]) && (k == 0 ? ends[k] == 0 : ends[k] > ends[k - 1])))
      return cb_fail(CB_ERROR_ARGUMENT, "end %d of a gait's arcs is %.9g: expected ends that increase from 0 to 1", k,
                     ends[k]);
  if (ends[arcs] == 1) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT, "the last end of a gait's arcs is %.9g, expected 1", ends[arcs]);
}

/* Fails unless each arc begins where the previous one ends, and the first arc begins where the last one ends. */
static cb_status check_joints(int n, int arcs, int degree, const double *values) {
  for (int k = 0; k < arcs; k++)
    for (int i = 0; i < n; i++) {
      const double end = values[(k * (degree + 1) + degree) * n + i];
      const double start = values[(k + 1) % arcs * (degree + 1) * n + i];
      if (!(fabs(end - start) <= cb_gait_slack(end, start)))
        return cb_fail(CB_ERROR_ARGUMENT,
                       "arc %d of a gait ends with %.9g in variable %d, but %s with %.9g: expected equal values", k,
                       end, i, k + 1 < arcs ? "the next begins" : "the first begins", start);
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
  cb_status status = cb_gait_check_arguments("arcs", n, arcs, 1, NULL);
  if (!status) status = cb_gait_check_arguments("points on an arc", n, degree + 1, 2, NULL);
  if (!status) status = cb_gait_check_arguments("points on its arcs", n, arcs * (degree + 1), 2, values);
  if (!status) status = check_ends(arcs, ends);
  if (!status) status = check_joints(n, arcs, degree, values);
  if (status) return status;
  const int points = degree + 1;
  const size_t row = (size_t)points * (size_t)n, rows = (size_t)arcs * row;
  cb_gait *g = cb_gait_block(&cb_gait_kind_arcs, n, arcs, arcs, (size_t)arcs + 2 + (size_t)points + 2 * rows);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d arcs", arcs);
  double *end = g->data + arcs, *u = end + arcs + 2, *r = u + points, *slope = r + rows;
  memcpy(g->data, ends, (size_t)arcs * sizeof *ends);
  memcpy(end, ends, ((size_t)arcs + 1) * sizeof *ends);
  memcpy(r, values, rows * sizeof *values);
  end[arcs + 1] = degree;
  for (int j = 0; j < points; j++) u[j] = pow(sin(M_PI * j / (2 * degree)), 2);
  for (int k = 0; k < arcs; k++) { /* neighbouring arcs get exactly the same value at their common end */
    memcpy(r + ((size_t)k + 1) * row - n, r + (size_t)((k + 1) % arcs) * row, (size_t)n * sizeof *r);
    differentiate(n, degree, r + (size_t)k * row, slope + (size_t)k * row);
  }
  g->pieces = degree;
  *out = g;
  return CB_OK;
}

/* --- the value in a scenario --- */

/* Reads t[arcs + 1], the times at which arcs begin and end, ascending from 0 to 1. *t is allocated with malloc, and the
 * caller frees it, also after a failure. */
static cb_status read_ends(const cb_node *map, const cb_node *ends, size_t arcs, double **t) {
  int count;
  if (!ends) return cb_node_fail(map, "expected `ends` of the arcs, times from 0 to 1");
  cb_status status = cb_gait_read_times(ends, "ends", t, &count);
  if (status) return status;
  if ((size_t)count != arcs + 1)
    status = cb_node_fail(ends, "ends: expected %zu times for %zu arc%s, one more than arcs, found %d", arcs + 1, arcs,
                          arcs == 1 ? "" : "s", count);
  else if ((*t)[0] != 0 || (*t)[arcs] != 1)
    status = cb_node_fail(ends, "expected ends from 0 to 1, found %g to %g", (*t)[0], (*t)[arcs]);
  return status;
}

/* Reads the points of the arcs into r[arcs][points][n]. Each arc must have the same number of points, at least 2. *r is
 * allocated with malloc, and the caller frees it, also after a failure. */
static cb_status read_arc_points(const cb_bundle *b, const cb_node *list, double **r, int *points) {
  if (list->kind != CB_NODE_LIST || list->count == 0)
    return cb_node_fail(list, "expected a list of arcs, each a list of at least 2 shapes");
  cb_status status = CB_OK;
  cb_errors errors = cb_errors_begin();
  for (size_t k = 0; k < list->count && status != CB_ERROR_MEMORY; k++) {
    const cb_node *arc = list->items[k];
    double *rows = NULL;
    int count = 0;
    status = cb_gait_read_rows(b, arc, "point", &rows, &count);
    if (!status && count < 2) status = cb_node_fail(arc, "expected at least 2 points on an arc, found %d", count);
    if (!status && !*r) {
      *points = count;
      *r = calloc(list->count * (size_t)(count * b->n), sizeof **r);
      if (!*r) status = cb_fail(CB_ERROR_MEMORY, "no memory for %zu arcs", list->count);
    }
    if (!status && count != *points)
      status = cb_node_fail(arc, "expected %d points, the same number as on the other arcs, found %d", *points, count);
    if (!status) memcpy(*r + k * (size_t)(count * b->n), rows, (size_t)(count * b->n) * sizeof *rows);
    cb_errors_add(&errors, arc, status);
    free(rows);
  }
  return cb_errors_end(&errors);
}

typedef struct arcs {
  const cb_node *ends, *points;
} arcs;

static cb_status read_value(const cb_bundle *b, const cb_node *map, const void *params, cb_gait **out) {
  const arcs *p = params;
  const cb_node *list = p->points;
  double *r = NULL, *t = NULL;
  int points = 0;
  if (!list) return cb_node_fail(map, "expected `points`, a list of arcs");
  cb_errors errors = cb_errors_begin();
  if (list->kind == CB_NODE_LIST) cb_errors_add(&errors, map, read_ends(map, p->ends, list->count, &t));
  cb_errors_add(&errors, list, read_arc_points(b, list, &r, &points));
  cb_status status = cb_errors_end(&errors);
  if (!status) status = cb_gait_placed(cb_gait_arcs(b->n, (int)list->count, t, points - 1, r, out), list);
  free(r);
  free(t);
  return status;
}

static const cb_param params[] = {CB_GAIT_NODE(arcs, ends, "required: times from 0 to 1, at which arcs begin and end"),
                                  CB_GAIT_NODE(arcs, points, "required: [[[..], ..], ..], one list of shapes per arc"),
                                  {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static const cb_gait_basis basis = {write_value, state};

const cb_gait_kind_class cb_gait_kind_arcs = {
    .name = "arcs",
    .title = "Polynomials between given times",
    .doc = "On each arc a polynomial through its points, at the times (1 - cos(pi*j/d))/2 of the arc, j = 0 .. d",
    .params = params,
    .params_size = sizeof(arcs),
    .read = read_value,
    .at = at,
    .basis = &basis};
