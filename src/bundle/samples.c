/* Bundles from tables (equations: samples.h): checks of the table, coefficients, evaluation, and an estimate of the
 * error of the connection A.
 *
 *   e = |s_2 - A| at the samples; s_2: the spline through every second sample and the last one, of degree p if possible
 * On a grid twice as coarse the error is larger by the factor 2^(p+1), so that e/2^(p+1) is the error of the spline
 * through all samples. A coarse table may not have this rate of convergence. Then the factor is measured: it is the
 * ratio of the largest e with every fourth sample to the largest e with every second sample. If there are too few
 * samples for this measurement, the factor is 2^((p+1)/2). If s_2 has a lower degree than p, the factor is 1. The
 * estimate is e divided by a quarter of the factor, or e if this quarter is below 1. The estimate in a cell is the
 * maximum over the samples up to CELLS away on each side, plus the round-off of the table. A single sample is not
 * enough, because near a border e can be 0 although the error is not.
 */
#include "bundle/samples.h"

#include "bundle/bundle_private.h"
#include <curvebody/holonomy.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES = CB_GROUP_DIM * CB_SAMPLES_AXES + CB_SAMPLES_AXES * (CB_SAMPLES_AXES + 1) / 2 };

/* --- checks of a table --- */

static cb_status check_axis(const cb_bundle_table *t, int i, int *points) {
  const double *x = t->axis[i], period = t->period[i];
  const int n = t->points[i];
  if (!t->shape[i] || !t->shape[i][0])
    return cb_fail(CB_ERROR_ARGUMENT, "shape variable %d has no name: expected one", i + 1);
  if (n < 4) return cb_fail(CB_ERROR_ARGUMENT, "axis %s has %d points: expected at least 4", t->shape[i], n);
  if (!(period >= 0) || isinf(period))
    return cb_fail(CB_ERROR_ARGUMENT, "axis %s has the period %g: expected 0 (none) or a positive number", t->shape[i],
                   period);
  for (int k = 0; k < n; k++) {
    if (!isfinite(x[k]))
      return cb_fail(CB_ERROR_ARGUMENT, "axis %s: value %d is %g, expected a finite number", t->shape[i], k + 1, x[k]);
    if (k && !(x[k] > x[k - 1]))
      return cb_fail(CB_ERROR_ARGUMENT, "axis %s: value %d is %.9g after %.9g, expected values that increase",
                     t->shape[i], k + 1, x[k], x[k - 1]);
  }
  const double beyond = x[n - 1] - x[0] - period;
  if (period > 0 && beyond > 1e-9 * period)
    return cb_fail(CB_ERROR_ARGUMENT, "axis %s is from %.9g to %.9g: expected a range of at most its period, %.9g",
                   t->shape[i], x[0], x[n - 1], period);
  *points = period > 0 && beyond > -1e-9 * period ? n - 1 : n;
  return CB_OK;
}

/* Copies the samples of the table at the indices k to `out`, in the order in which the spline stores them. */
static void take_sample(const cb_bundle_table *t, const int *k, double *out) {
  const int n = t->n, count = t->group->dim * n;
  size_t at = 0;
  for (int i = 0; i < n; i++) at = at * (size_t)t->points[i] + (size_t)k[i];
  memcpy(out, t->connection + at * (size_t)count, (size_t)count * sizeof *out);
  const double *M = t->metric ? t->metric + at * (size_t)(n * n) : NULL;
  for (int i = 0; M && i < n; i++)
    for (int j = 0; j <= i; j++) out[count + i * (i + 1) / 2 + j] = (M[i * n + j] + M[j * n + i]) / 2;
}

static const char *where(const cb_bundle_table *t, const int *k, char *text, size_t size) {
  int used = 0;
  text[0] = 0;
  for (int i = 0; i < t->n && used < (int)size; i++)
    used += snprintf(text + used, size - (size_t)used, "%s%.20s = %.9g", i ? ", " : "", t->shape[i], t->axis[i][k[i]]);
  return text;
}

/* Checks the samples at one point. The numbers must be finite and the metric symmetric. A last point that is one period
 * after the first must have the same samples as the first. */
static cb_status check_sample(const cb_bundle_table *t, const int *points, const int *k, const double *scale) {
  const int n = t->n, count = t->group->dim * n;
  char text[160];
  size_t at = 0;
  int first[CB_SAMPLES_AXES];
  for (int i = 0; i < n; i++) at = at * (size_t)t->points[i] + (size_t)k[i];
  for (int e = 0; e < count; e++)
    if (!isfinite(t->connection[at * (size_t)count + (size_t)e]))
      return cb_fail(CB_ERROR_ARGUMENT, "connection at %s: its entry (%s, %s) is %g, expected a finite number",
                     where(t, k, text, sizeof text), t->group->axis[e / n], t->shape[e % n],
                     t->connection[at * (size_t)count + (size_t)e]);
  const double *M = t->metric ? t->metric + at * (size_t)(n * n) : NULL;
  for (int e = 0; M && e < n * n; e++)
    if (!isfinite(M[e]))
      return cb_fail(CB_ERROR_ARGUMENT, "metric at %s: its entry (%s, %s) is %g, expected a finite number",
                     where(t, k, text, sizeof text), t->shape[e / n], t->shape[e % n], M[e]);
  for (int i = 0; M && i < n; i++)
    for (int j = 0; j < i; j++)
      if (fabs(M[i * n + j] - M[j * n + i]) > 1e-9 * (fabs(M[i * n + i]) + fabs(M[j * n + j]) + scale[1]))
        return cb_fail(CB_ERROR_ARGUMENT, "metric at %s is not symmetric: %.9g and %.9g for %s, %s",
                       where(t, k, text, sizeof text), M[i * n + j], M[j * n + i], t->shape[i], t->shape[j]);
  bool repeated = false;
  for (int i = 0; i < n; i++) {
    first[i] = k[i] < points[i] ? k[i] : 0;
    repeated = repeated || k[i] >= points[i];
  }
  if (!repeated) return CB_OK;
  double here[ENTRIES], before[ENTRIES];
  take_sample(t, k, here);
  take_sample(t, first, before);
  for (int e = 0; e < count; e++)
    if (fabs(here[e] - before[e]) > 1e-9 * scale[0])
      return cb_fail(CB_ERROR_ARGUMENT,
                     "the connection is not periodic: its entry (%s, %s) is %.9g at %s and %.9g one period before",
                     t->group->axis[e / n], t->shape[e % n], here[e], where(t, k, text, sizeof text), before[e]);
  for (int e = count; M && e < count + n * (n + 1) / 2; e++)
    if (fabs(here[e] - before[e]) > 1e-9 * scale[1])
      return cb_fail(CB_ERROR_ARGUMENT, "the metric is not periodic: an entry is %.9g at %s and %.9g one period before",
                     here[e], where(t, k, text, sizeof text), before[e]);
  return CB_OK;
}

/* Advances k to the next point of the grid. Returns false after the last point. */
static bool next(int n, const int *points, int *k) {
  for (int i = n - 1; i >= 0; i--) {
    if (++k[i] < points[i]) return true;
    k[i] = 0;
  }
  return false;
}

static double greatest_of(size_t count, const double *x) {
  double maximum = 0;
  for (size_t i = 0; x && i < count; i++)
    if (fabs(x[i]) > maximum) maximum = fabs(x[i]); /* check_sample detects nan */
  return maximum;
}

static cb_status check_table(const cb_bundle_table *t, int *degree, int *points) {
  size_t total = 1;
  if (t->n < 1 || t->n > CB_SAMPLES_AXES)
    return cb_fail(CB_ERROR_ARGUMENT, "the table has %d shape variables: expected 1 to %d", t->n, CB_SAMPLES_AXES);
  if (!t->group || !t->connection)
    return cb_fail(CB_ERROR_ARGUMENT, "the table has no group or no connection: expected both");
  if (*degree != 0 && *degree != 3 && *degree != 5)
    return cb_fail(CB_ERROR_ARGUMENT, "splines of degree %d: expected 3 or 5", *degree);
  int least = 0;
  for (int i = 0; i < t->n; i++) {
    const cb_status status = check_axis(t, i, &points[i]);
    if (status) return status;
    total *= (size_t)t->points[i];
    if (points[i] < points[least]) least = i;
  }
  if (!*degree) *degree = points[least] > 5 ? 5 : 3;
  if (points[least] <= *degree)
    return cb_fail(CB_ERROR_ARGUMENT, "axis %s has %d points%s, expected at least %d for splines of degree %d",
                   t->shape[least], points[least], t->period[least] > 0 ? " in a period" : "", *degree + 1, *degree);
  const double scale[2] = {greatest_of(total * (size_t)(t->group->dim * t->n), t->connection),
                           greatest_of(total * (size_t)(t->n * t->n), t->metric)};
  int k[CB_SAMPLES_AXES] = {0};
  do {
    const cb_status status = check_sample(t, points, k, scale);
    if (status) return status;
  } while (next(t->n, t->points, k));
  return CB_OK;
}

/* --- the estimate of the error --- */

enum { CELLS = 6 };

/* Chooses the samples 0, d, 2 d, .. of an axis, and also the last one if the axis has no period. Chooses at least two
 * samples. Returns their number. */
static int every(const cb_spline_axis *a, int d, int *index) {
  int count = 0;
  for (int i = 0; i < a->points; i += d) index[count++] = i;
  if (!(a->period > 0) && index[count - 1] != a->points - 1) index[count++] = a->points - 1;
  if (count < 2) index[count++] = a->points / 2;
  return count;
}

/* Creates the spline through every d-th sample. *lower becomes true if its degree is lower than that of the table,
 * because there are too few samples. */
static cb_status coarse_grid(const cb_samples *s, int count, const double *samples, int d, cb_arena *arena,
                             cb_spline_grid *out, bool *lower) {
  const cb_spline_grid *g = &s->grid;
  int *index[CB_SAMPLES_AXES], k[CB_SAMPLES_AXES] = {0}, axis = 0;
  size_t total = 1;
  *out = (cb_spline_grid){.n = g->n, .entries = count};
  *lower = false;
  for (int i = 0; i < g->n; i++) {
    const cb_spline_axis *a = &g->axis[i];
    int degree = a->degree;
    index[i] = cb_arena_alloc(arena, (size_t)a->points + 1, sizeof *index[i]);
    double *x = cb_arena_alloc(arena, (size_t)a->points + 1, sizeof *x);
    if (!index[i] || !x) return cb_fail(CB_ERROR_MEMORY, "no memory for a table");
    const int points = every(a, d, index[i]);
    while (degree >= points) degree -= 2;
    *lower = *lower || degree < a->degree;
    for (int p = 0; p < points; p++) x[p] = a->x[index[i][p]];
    const cb_status status = cb_spline_axis_create(degree, points, x, a->period, arena, &out->axis[i]);
    if (status) return status;
    total *= (size_t)points;
  }
  out->coefficient = cb_arena_alloc(arena, total * (size_t)count, sizeof *out->coefficient);
  if (!out->coefficient) return cb_fail(CB_ERROR_MEMORY, "no memory for a table");
  for (double *c = out->coefficient; axis >= 0; c += count) {
    size_t at = 0;
    for (int i = 0; i < g->n; i++) at = at * (size_t)g->axis[i].points + (size_t)index[i][k[i]];
    memcpy(c, samples + at * (size_t)g->entries, (size_t)count * sizeof *c);
    for (axis = g->n - 1; axis >= 0 && ++k[axis] == out->axis[axis].points; axis--) k[axis] = 0;
  }
  return cb_spline_grid_solve(out);
}

/* Evaluates the spline on axis c at the samples of axis a. The coefficients are from[outer][points of c][inner]; the
 * result is to[outer][points of a][inner]. */
static void expand(const cb_spline_axis *c, const cb_spline_axis *a, size_t outer, size_t inner, const double *from,
                   double *to) {
  memset(to, 0, outer * (size_t)a->points * inner * sizeof *to);
  for (int k = 0; k < a->points; k++) {
    double x = a->x[k], basis[1][CB_SPLINE_BASIS];
    int coefficient[CB_SPLINE_BASIS];
    const int span = cb_spline_span(c, &x); /* x is inside the grid, since the ends are among the samples */
    cb_spline_basis(c, span, x, 0, basis, coefficient);
    for (size_t o = 0; o < outer; o++) {
      double *row = to + (o * (size_t)a->points + (size_t)k) * inner;
      for (int j = 0; j <= c->degree; j++) {
        const double *own = from + (o * (size_t)c->points + (size_t)coefficient[j]) * inner;
        for (size_t i = 0; i < inner; i++) row[i] += basis[0][j] * own[i];
      }
    }
  }
}

/* Creates the spline through every d-th sample, and computes its values at all samples:
 * value[points_1]..[points_n][count]. */
static cb_status at_samples(const cb_samples *s, int count, const double *samples, int d, cb_arena *arena,
                            double *value, bool *lower) {
  const cb_spline_grid *g = &s->grid;
  cb_spline_grid coarse;
  const cb_status status = coarse_grid(s, count, samples, d, arena, &coarse, lower);
  if (status) return status;
  const double *from = coarse.coefficient;
  size_t outer = 1, inner = (size_t)count;
  for (int i = 0; i < g->n; i++) inner *= (size_t)coarse.axis[i].points;
  for (int i = 0; i < g->n; i++) {
    const size_t points = (size_t)g->axis[i].points;
    inner /= (size_t)coarse.axis[i].points;
    double *to = i == g->n - 1 ? value : cb_arena_alloc(arena, outer * points * inner, sizeof *to);
    if (!to) return cb_fail(CB_ERROR_MEMORY, "no memory for a table");
    expand(&coarse.axis[i], &g->axis[i], outer, inner, from, to);
    from = to;
    outer *= points;
  }
  return CB_OK;
}

/* Computes e[points_1]..[points_n][count], which is e at the top of this file, with every d-th sample in place of every
 * second one. greatest[count] becomes the maximum of e over the samples. */
static cb_status left_out(const cb_samples *s, int count, const double *samples, int d, double *e, double *greatest,
                          bool *lower) {
  cb_arena *arena = cb_arena_create();
  const cb_status status =
      arena ? at_samples(s, count, samples, d, arena, e, lower) : cb_fail(CB_ERROR_MEMORY, "no memory for a table");
  size_t total = 1;
  for (int i = 0; i < s->grid.n; i++) total *= (size_t)s->grid.axis[i].points;
  for (; !status && total > 0; total--, e += count, samples += s->grid.entries)
    for (int c = 0; c < count; c++) {
      e[c] = fabs(e[c] - samples[c]);
      greatest[c] = fmax(greatest[c], e[c]);
    }
  cb_arena_free(arena);
  return status;
}

/* Returns the number of cells between neighbouring samples along an axis. */
static int cells(const cb_spline_axis *a) { return a->period > 0 ? a->points : a->points - 1; }

/* Computes to[outer][cells][inner], the maximum of from[outer][points][inner] over the samples at most CELLS away from
 * a cell. */
static void spread(const cb_spline_axis *a, size_t outer, size_t inner, const double *from, double *to) {
  const int n = a->points;
  for (size_t o = 0; o < outer; o++)
    for (int c = 0; c < cells(a); c++, to += inner) {
      memset(to, 0, inner * sizeof *to);
      for (int k = c - CELLS; k <= c + 1 + CELLS; k++) {
        if (!(a->period > 0) && (k < 0 || k >= n)) continue;
        const double *row = from + (o * (size_t)n + (size_t)((k % n + n) % n)) * inner;
        for (size_t i = 0; i < inner; i++) to[i] = fmax(to[i], row[i]);
      }
    }
}

/* Fills `error` and `greatest` from the samples [points_1] .. [points_n][entries] of the table. count = dim n is the
 * number of entries of A. */
static cb_status samples_estimate(cb_samples *s, int count, const double *samples) {
  const cb_spline_grid *g = &s->grid;
  const int order = g->axis[0].degree + 1;
  double second[CB_GROUP_DIM * CB_SAMPLES_AXES] = {0}, fourth[CB_GROUP_DIM * CB_SAMPLES_AXES] = {0};
  double size[CB_GROUP_DIM * CB_SAMPLES_AXES] = {0};
  bool lower = false, lowest = false;
  size_t total = 1, inner = (size_t)count, outer = 1;
  for (int i = 0; i < g->n; i++) total *= (size_t)g->axis[i].points;
  double *e = malloc(total * (size_t)count * sizeof *e), *to = malloc(total * (size_t)count * sizeof *to);
  s->greatest = cb_arena_alloc(s->arena, (size_t)count, sizeof *s->greatest);
  s->error = cb_arena_alloc(s->arena, total * (size_t)count, sizeof *s->error);
  cb_status status = e && to && s->greatest && s->error ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a table");
  if (!status) status = left_out(s, count, samples, 4, e, fourth, &lowest);
  if (!status) status = left_out(s, count, samples, 2, e, second, &lower);
  for (size_t i = 0; !status && i < total; i++)
    for (int c = 0; c < count; c++) size[c] = fmax(size[c], fabs(samples[i * (size_t)g->entries + (size_t)c]));
  for (int c = 0; c < count && !status; c++) {
    const double maximum = ldexp(1, order), seen = second[c] > 0 ? fourth[c] / second[c] : maximum;
    const double ratio = lower ? 1 : lowest ? ldexp(1, order / 2) : fmin(seen, maximum);
    for (size_t i = 0; i < total; i++) {
      double *own = &e[i * (size_t)count + (size_t)c];
      *own = *own * (ratio > 4 ? 4 / ratio : 1) + 16 * DBL_EPSILON * size[c];
      s->greatest[c] = fmax(s->greatest[c], *own);
    }
  }
  inner *= total;
  for (int i = 0; i < g->n && !status; i++) {
    inner /= (size_t)g->axis[i].points;
    spread(&g->axis[i], outer, inner, e, to);
    outer *= (size_t)cells(&g->axis[i]);
    double *swap = e;
    e = to;
    to = swap;
  }
  if (!status) memcpy(s->error, e, outer * (size_t)count * sizeof *e);
  free(e);
  free(to);
  return status;
}

/* --- evaluation --- */

static cb_status fail_outside(const cb_bundle *b, const double *r, int i) {
  const cb_spline_axis *a = &((const cb_samples *)b->self)->grid.axis[i];
  return cb_fail(CB_STEP_DOMAIN, "%s = %.9g is outside the table: expected a value from %.9g to %.9g", b->shape[i],
                 r[i], a->low, a->high);
}

/* Returns the index of entry k = i n + j of M[n][n] in the packed lower triangle. */
static int packed(int n, int k) { return cb_jet_packed(k / n, k % n); }

static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  const cb_samples *s = b->self;
  const int n = b->n, count = b->group->dim * n, metric = s->metric && (M || dM);
  const int first = A || dA ? 0 : count, last = metric ? s->grid.entries : count;
  double value[ENTRIES], buffer[CB_SAMPLES_AXES * ENTRIES], *const slope = dA || dM ? buffer : NULL;
  int outside;
  if (!cb_spline_grid_at(&s->grid, r, first, last, value, slope, NULL, &outside)) return fail_outside(b, r, outside);
  for (int k = 0; A && k < count; k++) A[k] = value[k];
  for (int i = 0; dA && i < n; i++)
    for (int k = 0; k < count; k++) dA[i * count + k] = slope[i * (last - first) + k];
  for (int k = 0; M && k < n * n; k++) M[k] = metric ? value[count - first + packed(n, k)] : k % (n + 1) == 0;
  for (int i = 0; dM && i < n; i++)
    for (int k = 0; k < n * n; k++)
      dM[i * n * n + k] = metric ? slope[i * (last - first) + count - first + packed(n, k)] : 0;
  return CB_OK;
}

static cb_status on_jets(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  const cb_samples *s = b->self;
  const int n = b->n, count = b->group->dim * n, pairs = n * (n + 1) / 2, metric = s->metric && M;
  const int first = A ? 0 : count, last = metric ? s->grid.entries : count, size = last - first;
  const bool plain = cb_jets_are_variables(r, n);
  double x[CB_SAMPLES_AXES], value[ENTRIES], slope[CB_SAMPLES_AXES * ENTRIES];
  double curve[CB_SAMPLES_AXES * (CB_SAMPLES_AXES + 1) / 2 * ENTRIES];
  int outside;
  for (int i = 0; i < n; i++) x[i] = r[i].v;
  if (!cb_spline_grid_at(&s->grid, x, first, last, value, slope, curve, &outside)) return fail_outside(b, x, outside);
  for (int k = 0; k < count + n * n; k++) {
    cb_jet *out = k < count ? A ? &A[k] : NULL : M ? &M[k - count] : NULL;
    if (!out) continue;
    const int e = k < count ? k : count - first + packed(n, k - count);
    cb_jet jet = {.n = n};
    if (k < count || metric) {
      jet.v = value[e];
      for (int i = 0; i < n; i++) jet.g[i] = slope[i * size + e];
      for (int i = 0; i < pairs; i++) jet.h[i] = curve[i * size + e];
    } else {
      jet.v = (k - count) % (n + 1) == 0;
    }
    if (plain)
      *out = jet;
    else
      cb_jet_of_shape(&jet, r, n, out);
  }
  return CB_OK;
}

static void destroy(cb_bundle *b) {
  cb_samples *s = b->self;
  if (s) cb_arena_free(s->arena);
  b->self = NULL;
}

static const cb_bundle_class samples_class = {
    .name = "samples",
    .title = "connection and metric from a table",
    .doc = "B-splines through the points of a grid in shape space",
    .destroy = destroy,
    .on_jets = on_jets,
    .connection = connection,
};

/* --- creation --- */

static cb_status make(const cb_bundle_table *t, int degree, const int *points, cb_samples *s, cb_bundle *b) {
  const int n = t->n, count = t->group->dim * n;
  size_t total = 1;
  s->metric = t->metric;
  s->grid = (cb_spline_grid){.n = n, .entries = count + (t->metric ? n * (n + 1) / 2 : 0)};
  for (int i = 0; i < n; i++) {
    double *x = cb_arena_alloc(s->arena, (size_t)points[i], sizeof *x);
    b->shape[i] = cb_arena_strdup(s->arena, t->shape[i]);
    b->period[i] = t->period[i];
    if (!x || !b->shape[i]) return cb_fail(CB_ERROR_MEMORY, "no memory for a table");
    memcpy(x, t->axis[i], (size_t)points[i] * sizeof *x);
    const cb_status status = cb_spline_axis_create(degree, points[i], x, t->period[i], s->arena, &s->grid.axis[i]);
    if (status) return status;
    total *= (size_t)points[i];
  }
  const size_t numbers = total * (size_t)s->grid.entries;
  double *samples = cb_arena_alloc(s->arena, numbers, sizeof *samples), *value = samples;
  s->grid.coefficient = cb_arena_alloc(s->arena, numbers, sizeof *samples);
  if (!samples || !s->grid.coefficient)
    return cb_fail(CB_ERROR_MEMORY, "no memory for a table of %zu numbers", numbers);
  int k[CB_SAMPLES_AXES] = {0};
  do {
    take_sample(t, k, value);
    value += s->grid.entries;
  } while (next(n, points, k));
  memcpy(s->grid.coefficient, samples, numbers * sizeof *samples);
  const cb_status status = cb_spline_grid_solve(&s->grid);
  return status ? status : samples_estimate(s, count, samples);
}

cb_status cb_bundle_samples(const cb_bundle_table *table, int degree, cb_bundle **out) {
  int points[CB_SAMPLES_AXES];
  cb_status status = check_table(table, &degree, points);
  if (status) return status;
  cb_arena *arena = cb_arena_create();
  cb_samples *s = cb_arena_alloc(arena, 1, sizeof *s);
  cb_bundle *b = calloc(1, sizeof *b);
  if (!s || !b) {
    cb_arena_free(arena);
    free(b);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a table");
  }
  s->arena = arena;
  *b = (cb_bundle){.class_ = &samples_class, .group = table->group, .n = table->n, .self = s};
  status = make(table, degree, points, s, b);
  if (status) {
    cb_bundle_free(b);
    return status;
  }
  *out = b;
  return CB_OK;
}

/* --- evaluation of the estimate --- */

static cb_status check_class(const cb_bundle *b) {
  if (b->class_ == &samples_class) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT, "bundle %s is not from a table: expected a bundle of cb_bundle_samples",
                 b->class_->name);
}

/* Returns the cell of an axis that contains x; x must be inside the grid. */
static int cell(const cb_spline_axis *a, double x) {
  int low = 0, high = a->points;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (a->x[middle] <= x)
      low = middle;
    else
      high = middle;
  }
  return low < cells(a) ? low : cells(a) - 1;
}

cb_status cb_bundle_samples_error(const cb_bundle *b, const double *r, double *error) {
  const cb_status status = check_class(b);
  if (status) return status;
  const cb_samples *s = b->self;
  const size_t count = (size_t)(b->group->dim * b->n);
  const double *from = s->greatest;
  if (r) {
    size_t at = 0;
    for (int i = 0; i < b->n; i++) {
      const cb_spline_axis *a = &s->grid.axis[i];
      double x = r[i];
      if (cb_spline_span(a, &x) < 0)
        return cb_fail(CB_STEP_DOMAIN, "%s = %.9g is outside the table: expected a value from %.9g to %.9g",
                       b->shape[i], r[i], a->low, a->high);
      at = at * (size_t)cells(a) + (size_t)cell(a, x);
    }
    from = s->error + at * count;
  }
  memcpy(error, from, count * sizeof *error);
  return CB_OK;
}

/* Integrates the error of A along the gait by the midpoint rule. This rule suffices, because the estimate of the error
 * is constant in each cell of the table. */
cb_status cb_bundle_samples_holonomy_error(const cb_bundle *b, const cb_gait *gait, double *bounds) {
  enum { POINTS = 512 };
  cb_status status = check_class(b);
  if (status) return status;
  const cb_group *G = b->group;
  const int dim = G->dim, n = b->n;
  double t[POINTS], sum[CB_GROUP_DIM] = {0}, *g = malloc((size_t)(POINTS * G->size) * sizeof *g);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  for (int k = 0; k < POINTS; k++) t[k] = (k + 0.5) / POINTS;
  status = cb_reconstruct(b, gait, 1e-6, POINTS, t, g);
  for (int k = 0; k < POINTS && !status; k++) {
    double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], error[CB_GROUP_DIM * CB_SAMPLES_AXES], Ad[CB_GROUP_DIM * CB_GROUP_DIM];
    cb_gait_at(gait, t[k], r, rate);
    status = cb_bundle_samples_error(b, r, error);
    if (status) break;
    G->adjoint(G, g + k * G->size, Ad);
    for (int a = 0; a < dim; a++) {
      double xi = 0;
      for (int i = 0; i < n; i++) xi += error[a * n + i] * fabs(rate[i]);
      for (int i = 0; i < dim; i++) sum[i] += fabs(Ad[i * dim + a]) * xi / POINTS;
    }
  }
  free(g);
  if (!status) memcpy(bounds, sum, (size_t)dim * sizeof *bounds);
  return status;
}
