/* The functions that all gaits share: periodic time, breaks, copies, reversal, and the test whether they close. */
#include "bundle/gait_private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64 };

cb_gait *cb_gait_block(const cb_gait_kind_class *class, int n, int count, int breaks, size_t numbers) {
  const size_t size = sizeof(cb_gait) + ((size_t)breaks + numbers) * sizeof(double);
  cb_gait *g = calloc(1, size);
  if (g) *g = (cb_gait){.class = class, .n = n, .count = count, .breaks = breaks, .pieces = 1, .size = size};
  return g;
}

/* Copies the parts and texts of contents into g, which owns none yet. Frees g after a failure. */
static cb_status adopt(cb_gait *g, const cb_gait_contents *contents);

static cb_status copy(const cb_gait *g, cb_gait **out) {
  cb_gait *twin = malloc(g->size);
  if (!twin) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  memcpy(twin, g, g->size);
  const cb_gait_contents contents = {g->parts, g->texts, (const cb_gait *const *)g->part,
                                     (const cb_expression *const *)g->text};
  const cb_status status = adopt(twin, &contents);
  if (!status) *out = twin;
  return status;
}

static cb_status adopt(cb_gait *g, const cb_gait_contents *contents) {
  const int parts = contents->parts, texts = contents->texts;
  cb_status status = CB_OK;
  g->parts = g->texts = 0;
  g->part = parts ? calloc((size_t)parts, sizeof *g->part) : NULL;
  g->text = texts ? calloc((size_t)texts, sizeof *g->text) : NULL;
  if ((parts && !g->part) || (texts && !g->text)) status = cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  while (!status && g->parts < parts) {
    status = copy(contents->part[g->parts], &g->part[g->parts]);
    g->parts += !status;
  }
  while (!status && g->texts < texts) {
    status = cb_expression_copy(contents->text[g->texts], &g->text[g->texts]);
    g->texts += !status;
  }
  if (status) cb_gait_free(g);
  return status;
}

cb_status cb_gait_compose(const cb_gait_kind_class *class, int n, int breaks, size_t numbers,
                          const cb_gait_contents *contents, cb_gait **out) {
  cb_gait *g = cb_gait_block(class, n, 0, breaks, numbers);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  const cb_status status = adopt(g, contents);
  if (!status) *out = g;
  return status;
}

void cb_gait_free(cb_gait *g) {
  if (!g) return;
  for (int k = 0; k < g->parts; k++) cb_gait_free(g->part[k]);
  for (int k = 0; k < g->texts; k++) cb_expression_free(g->text[k]);
  free(g->part);
  free(g->text);
  free(g);
}

cb_status cb_gait_check(const char *what, int n, int count, int least, const double *r) {
  if (n < 1 || n > CB_SHAPE_MAX)
    return cb_fail(CB_ERROR_ARGUMENT, "a gait has %d shape variables: expected 1 to %d", n, CB_SHAPE_MAX);
  if (count < least) return cb_fail(CB_ERROR_ARGUMENT, "a gait has %d %s: expected at least %d", count, what, least);
  for (int k = 0; r && k < count * n; k++)
    if (!isfinite(r[k]))
      return cb_fail(CB_ERROR_ARGUMENT, "the %s of a gait contain a number that is not finite: expected finite numbers",
                     what);
  return CB_OK;
}

cb_status cb_gait_check_breaks(int breaks, const double *at) {
  for (int k = 0; k < breaks; k++)
    if (!(at[k] >= 0 && at[k] < 1 && (k == 0 || at[k] > at[k - 1])))
      return cb_fail(CB_ERROR_ARGUMENT, "break %d of a gait is %.9g: expected breaks that increase in [0, 1)", k,
                     at[k]);
  return CB_OK;
}

cb_status cb_gait_look(cb_gait *g) {
  double r[CB_SHAPE_MAX], gap[CB_SHAPE_MAX];
  for (int k = 0; k <= SAMPLES; k++) {
    const double t = (double)k / SAMPLES;
    cb_gait_at(g, t, r, NULL);
    for (int i = 0; i < g->n; i++)
      if (!isfinite(r[i]))
        return cb_fail(CB_ERROR_ARGUMENT, "variable %d of a gait is %g at time %.9g: expected a finite number", i, r[i],
                       t);
  }
  cb_gait_gap(g, gap);
  cb_gait_at(g, 0, r, NULL);
  g->open = false;
  for (int i = 0; i < g->n; i++) g->open |= !(fabs(gap[i]) <= cb_gait_slack(r[i], r[i] + gap[i]));
  return CB_OK;
}

cb_status cb_gait_create(const cb_gait_kind_class *kind, int n, int breaks, const double *at, size_t numbers,
                         const double *x, cb_gait **out) {
  cb_status status = cb_gait_check(kind->name, n, 1, 1, NULL);
  if (!status) status = cb_gait_check_breaks(breaks, at);
  if (status) return status;
  const int first = breaks == 0 || at[0] > 0; /* the derivatives may jump from the end to the start */
  cb_gait *g = cb_gait_block(kind, n, 0, first + breaks, numbers);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  for (int k = 0; k < breaks; k++) g->data[first + k] = at[k];
  if (numbers) memcpy(g->data + g->breaks, x, numbers * sizeof *x);
  g->pieces = 1 + CB_GAIT_STEPS / g->breaks;
  g->open = true;
  status = cb_gait_look(g);
  if (status)
    cb_gait_free(g);
  else
    *out = g;
  return status;
}

const double *cb_gait_numbers(const cb_gait *g) { return cb_gait_own_numbers(g); }

int cb_gait_variables(const cb_gait *g) { return g->n; }

void cb_gait_at(const cb_gait *g, double t, double *r, double *rate) {
  if (t < 0 || t > 1) t -= floor(t);
  g->class->at(g, g->backwards ? 1 - t : t, r, rate);
  if (g->backwards && rate)
    for (int i = 0; i < g->n; i++) rate[i] = -rate[i];
  if (t == 1 && r && !g->open) g->class->at(g, g->backwards, r, NULL); /* the same as at the start, bit for bit */
}

int cb_gait_breaks(const cb_gait *g, const double **t) {
  if (t) *t = g->data;
  return g->breaks;
}

int cb_gait_edges(const cb_gait *g) { return g->breaks + (g->breaks && g->data[0] == 0 ? 0 : 1); }

double cb_gait_edge(const cb_gait *g, int k) {
  const int at = g->breaks && g->data[0] == 0 ? k : k - 1; /* the first break may be at the start */
  return at < 0 ? 0 : at < g->breaks ? g->data[at] : 1;
}

double cb_breaks_passed(const cb_bundle *b, int i, double r) {
  const double turns = b->period[i] > 0 ? floor(r / b->period[i]) : 0, in = r - turns * b->period[i];
  int low = 0, high = b->breaks[i];
  while (low < high) {
    const int middle = (low + high) / 2;
    if (b->at[i][middle] <= in)
      low = middle + 1;
    else
      high = middle;
  }
  return turns * b->breaks[i] + low;
}

/* Returns whether at time t each variable has passed as many breaks of the bundle as side[n]. */
static bool same_side(const cb_bundle *b, const cb_gait *g, double t, const double *side) {
  double r[CB_SHAPE_MAX];
  cb_gait_at(g, t, r, NULL);
  for (int i = 0; i < b->n; i++)
    if (b->breaks[i] && cb_breaks_passed(b, i, r[i]) != side[i]) return false;
  return true;
}

double cb_gait_cut(const cb_bundle *b, const cb_gait *g, double t, double end) {
  static const double slack = 1e-12;
  double r[CB_SHAPE_MAX], side[CB_SHAPE_MAX];
  int breaks = 0;
  for (int i = 0; i < b->n; i++) breaks += b->breaks[i];
  if (!breaks || !(end - t > 4 * slack)) return end;
  const double low = t + slack, high = end - slack;
  const int samples = 1 + (int)ceil(64 * (high - low));
  cb_gait_at(g, low, r, NULL);
  for (int i = 0; i < b->n; i++) side[i] = b->breaks[i] ? cb_breaks_passed(b, i, r[i]) : 0;
  for (int k = 1; k <= samples; k++) {
    double before = low + (high - low) * (k - 1) / samples, after = low + (high - low) * k / samples;
    if (same_side(b, g, after, side)) continue;
    for (double middle; middle = before + (after - before) / 2, middle > before && middle < after;)
      if (same_side(b, g, middle, side))
        before = middle;
      else
        after = middle;
    return after;
  }
  return end;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int cb_gait_sort_breaks(double *t, int count) {
  int kept = 0;
  for (int k = 0; k < count; k++)
    if (t[k] > 1 - 4 * DBL_EPSILON) t[k] = 0;
  qsort(t, (size_t)count, sizeof *t, ascending);
  for (int k = 0; k < count; k++)
    if (!kept || t[k] - t[kept - 1] > 4 * DBL_EPSILON) t[kept++] = t[k];
  return kept;
}

cb_status cb_gait_reversed(const cb_gait *g, cb_gait **out) {
  cb_gait *twin = NULL;
  const cb_status status = copy(g, &twin);
  if (status) return status;
  twin->backwards = !g->backwards;
  const int first = g->breaks && g->data[0] == 0; /* a break at the start remains there */
  for (int k = first; k < g->breaks; k++) twin->data[k] = 1 - g->data[g->breaks - 1 - k + first];
  *out = twin;
  return CB_OK;
}

cb_status cb_gait_fits(const cb_bundle *b, const cb_gait *g) {
  if (g->n == b->n) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT, "the gait has %d shape variables: expected those of bundle %s, %d", g->n,
                 b->class_->name, b->n);
}

double cb_gait_slack(double a, double b) { return 1e-12 * fmax(1, fmax(fabs(a), fabs(b))); }

void cb_gait_gap(const cb_gait *g, double *gap) {
  double start[CB_SHAPE_MAX], end[CB_SHAPE_MAX];
  cb_gait_at(g, 0, start, NULL);
  cb_gait_at(g, 1, end, NULL);
  for (int i = 0; i < g->n; i++) gap[i] = end[i] - start[i];
}

cb_status cb_gait_closed(const cb_bundle *b, const cb_gait *g) {
  double start[CB_SHAPE_MAX], end[CB_SHAPE_MAX];
  const cb_status status = cb_gait_fits(b, g);
  if (status || !g->open) return status;
  cb_gait_at(g, 0, start, NULL);
  cb_gait_at(g, 1, end, NULL);
  for (int i = 0; i < g->n; i++) {
    const double gap = end[i] - start[i], rest = b->period[i] > 0 ? remainder(gap, b->period[i]) : gap;
    if (!(fabs(rest) <= cb_gait_slack(start[i], end[i])))
      return cb_fail(
          CB_ERROR_ARGUMENT,
          "the gait is open in bundle %s: %.40s is %.9g at its start and %.9g at its end, expected equal values",
          b->class_->name, b->shape[i] ? b->shape[i] : "r", start[i], end[i]);
  }
  return CB_OK;
}

cb_status cb_gait_velocity(const cb_bundle *b, const cb_gait *g, double t, double *a, double *square) {
  const int n = b->n;
  double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX];
  cb_gait_at(g, t, r, rate);
  const cb_status status = cb_bundle_connection(b, r, A, NULL, square ? M : NULL, NULL);
  if (status) return status;
  for (int k = 0; k < b->group->dim; k++) {
    a[k] = 0;
    for (int i = 0; i < n; i++) a[k] += A[k * n + i] * rate[i];
  }
  if (!square) return CB_OK;
  *square = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) *square += M[i * n + j] * rate[i] * rate[j];
  return CB_OK;
}
