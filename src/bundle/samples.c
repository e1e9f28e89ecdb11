/* Bundles from tables (equations: samples.h): checks of the table, coefficients, evaluation. */
#include "bundle/samples.h"

#include "bundle/bundle_private.h"

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

/* Copies the samples of the table at indices k, in the order of the entries of the spline. */
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

/* Checks one point: numbers are finite, the metric is symmetric, and a last point that is one period after the first
 * has the same samples. */
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

/* Advances k to the next point; false after the last one. */
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

/* --- creation --- */

static void destroy(cb_bundle *b) {
  cb_samples *s = b->self;
  if (s) cb_arena_free(s->arena);
  b->self = NULL;
}

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
  return status ? status : cb_samples_estimate(s, count, samples);
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
  *b = (cb_bundle){.class_ = &cb_samples_class, .group = table->group, .n = table->n, .self = s};
  status = make(table, degree, points, s, b);
  if (status) {
    cb_bundle_free(b);
    return status;
  }
  *out = b;
  return CB_OK;
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

const cb_bundle_class cb_samples_class = {
    .name = "samples",
    .title = "connection and metric from a table",
    .doc = "B-splines through the points of a grid in shape space",
    .destroy = destroy,
    .on_jets = on_jets,
    .connection = connection,
};
