/* The functions that all gaits share: periodic time, breaks, copies, reversal, and the test whether they close; gaits
 * that are made from another gait: shifted in time, with another pace, scaled and moved; and gaits of the kinds `arcs`
 * and `fourier` as text and as numbers. A sequence of gaits is a kind of gait of its own (gaits/gait_kind_sequence.c).
 *
 * An open path, such as a phase that grows by one period, continues by r(t + 1) = r(t) + d with d = r(1) - r(0). A gait
 * made from such a path is therefore continuous.
 */
#include "bundle/gait_private.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the memory and the time of a gait --- */

enum { SAMPLES = 64 };

cb_gait *cb_gait_block(const cb_gait_kind_class *class, int n, int count, int breaks, size_t numbers) {
  const size_t size = sizeof(cb_gait) + ((size_t)breaks + numbers) * sizeof(double);
  cb_gait *g = calloc(1, size);
  if (g) *g = (cb_gait){.class = class, .n = n, .count = count, .breaks = breaks, .pieces = 1, .size = size};
  return g;
}

/* Copies the parts and texts of `contents` into g, which must own none yet. If this fails, frees g. */
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

cb_status cb_gait_check_arguments(const char *what, int n, int count, int least, const double *r) {
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
  cb_status status = cb_gait_check_arguments(kind->name, n, 1, 1, NULL);
  if (!status) status = cb_gait_check_breaks(breaks, at);
  if (status) return status;
  /* a break at time 0 is added if the caller gives none, because the derivatives may jump between end and start */
  const int first = breaks == 0 || at[0] > 0;
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
  if (t == 1 && r && !g->open) g->class->at(g, g->backwards, r, NULL); /* the end is equal to the start, bit for bit */
}

int cb_gait_breaks(const cb_gait *g, const double **t) {
  if (t) *t = g->data;
  return g->breaks;
}

int cb_gait_edges(const cb_gait *g) { return g->breaks + (g->breaks && g->data[0] == 0 ? 0 : 1); }

double cb_gait_edge(const cb_gait *g, int k) {
  const int at = g->breaks && g->data[0] == 0 ? k : k - 1; /* if the first break is at time 0, edge k is break k */
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

/* Returns whether at time t each shape variable i has passed side[i] breaks of the bundle (cb_breaks_passed). */
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
    double middle = before + (after - before) / 2;
    while (middle > before && middle < after) {
      if (same_side(b, g, middle, side))
        before = middle;
      else
        after = middle;
      middle = before + (after - before) / 2;
    }
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

/* --- gaits from another gait --- */

enum { BISECTIONS = 100, PACE_SAMPLES = 256 };

double *cb_gait_put_breaks(const cb_gait *g, double *out, double (*map)(const void *by, double t), const void *by) {
  for (int k = 0; k < g->breaks; k++) *out++ = map(by, g->data[k]);
  return out;
}

/* --- the gait at t + start; its numbers: start, gap[n] = r(1) - r(0) --- */

static void at_shifted(const cb_gait *g, double t, double *r, double *rate) {
  const double *start = cb_gait_own_numbers(g), *gap = start + 1, u = t + *start;
  cb_gait_at(g->part[0], u < 1 ? u : u - 1, r, rate);
  for (int i = 0; r && u >= 1 && i < g->n; i++) r[i] += gap[i];
}

static const cb_gait_kind_class shifted = {.name = "shifted", .at = at_shifted};

static double earlier(const void *by, double t) {
  const double u = t - *(const double *)by;
  return u < 0 ? u + 1 : u;
}

cb_status cb_gait_shifted(const cb_gait *inner, double start, cb_gait **out) {
  if (!isfinite(start)) return cb_fail(CB_ERROR_ARGUMENT, "a gait starts at time %g: expected a finite number", start);
  const size_t n = (size_t)inner->n;
  cb_gait *g = NULL;
  const cb_gait_contents contents = {.parts = 1, .part = &inner};
  const cb_status status = cb_gait_compose(&shifted, inner->n, inner->breaks, 1 + n, &contents, &g);
  if (status) return status;
  double gap[CB_SHAPE_MAX];
  start -= floor(start);
  if (start >= 1) start = 0;
  cb_gait_put_breaks(inner, g->data, earlier, &start);
  const int kept = cb_gait_sort_breaks(g->data, g->breaks);
  cb_gait_gap(inner, gap);
  g->breaks = kept;
  g->data[kept] = start;
  memcpy(g->data + kept + 1, gap, n * sizeof *gap);
  g->pieces = inner->pieces;
  g->open = inner->open;
  *out = g;
  return CB_OK;
}

/* --- the gait at the time s(t), where s is the pace --- */

static void at_paced(const cb_gait *g, double t, double *r, double *rate) {
  double slope, s = cb_expression_gradient(g->text[0], &t, 1, &slope);
  s = t == 0 ? 0 : t == 1 ? 1 : fmin(fmax(s, 0), 1);
  cb_gait_at(g->part[0], s, r, rate);
  for (int i = 0; rate && i < g->n; i++) rate[i] *= slope;
}

static const cb_gait_kind_class paced = {.name = "paced", .at = at_paced};

/* Returns the time t at which the pace has the value s(t) = u, by bisection. */
static double when(const void *by, double u) {
  double low = 0, high = 1;
  if (u <= 0) return 0;
  for (int k = 0; k < BISECTIONS && high - low > DBL_EPSILON * high; k++) {
    const double middle = (low + high) / 2;
    if (cb_expression_value(by, &middle) < u)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

cb_status cb_gait_paced(const cb_gait *inner, const cb_expression *s, cb_gait **out) {
  double before = 0;
  for (size_t other = 1; other < CB_EXPRESSION_VARIABLES; other++)
    if (cb_expression_uses(s, other))
      return cb_fail(CB_ERROR_ARGUMENT, "a pace depends on more than the time: expected an expression of only `t`");
  for (int k = 0; k <= PACE_SAMPLES; k++) {
    const double t = (double)k / PACE_SAMPLES, value = cb_expression_value(s, &t), ends = k == 0 ? 0 : 1;
    if ((k == 0 || k == PACE_SAMPLES) && !(fabs(value - ends) <= 1e-12))
      return cb_fail(CB_ERROR_ARGUMENT, "a pace is %.9g at time %g, expected %g", value, t, ends);
    if (k && !(value > before))
      return cb_fail(CB_ERROR_ARGUMENT,
                     "a pace does not increase, it is %.9g at time %.9g: expected an increasing function", value, t);
    before = value;
  }
  const bool first = inner->breaks == 0 || inner->data[0] > 0;
  cb_gait *g = NULL;
  const cb_gait_contents contents = {.parts = 1, .part = &inner, .texts = 1, .text = &s};
  const cb_status status = cb_gait_compose(&paced, inner->n, inner->breaks + first, 0, &contents, &g);
  if (status) return status;
  cb_gait_put_breaks(inner, g->data + first, when,
                     s); /* these breaks come after the break at the start, where the derivative of s may jump */
  g->breaks = cb_gait_sort_breaks(g->data, g->breaks);
  g->pieces = inner->pieces;
  g->open = inner->open;
  *out = g;
  return CB_OK;
}

/* --- the gait scale r + offset + drift t of a gait r; its numbers: scale[n], offset[n], drift[n] --- */

static void at_moved(const cb_gait *g, double t, double *r, double *rate) {
  const double *scale = cb_gait_own_numbers(g), *offset = scale + g->n, *drift = offset + g->n;
  cb_gait_at(g->part[0], t, r, rate);
  for (int i = 0; i < g->n; i++) {
    if (r) r[i] = offset[i] + scale[i] * r[i] + drift[i] * t;
    if (rate) rate[i] = scale[i] * rate[i] + drift[i];
  }
}

static const cb_gait_kind_class moved = {.name = "moved", .at = at_moved};

static cb_status move(const cb_gait *inner, const double *scale, const double *offset, const double *drift,
                      cb_gait **out) {
  const size_t n = (size_t)inner->n;
  cb_gait *g = NULL;
  const cb_gait_contents contents = {.parts = 1, .part = &inner};
  const cb_status status = cb_gait_compose(&moved, inner->n, inner->breaks, 3 * n, &contents, &g);
  if (status) return status;
  memcpy(g->data, inner->data, (size_t)inner->breaks * sizeof *g->data);
  double *numbers = g->data + g->breaks;
  for (size_t i = 0; i < n; i++) {
    numbers[i] = scale ? scale[i] : 1;
    numbers[n + i] = offset ? offset[i] : 0;
    numbers[2 * n + i] = drift ? drift[i] : 0;
  }
  g->pieces = inner->pieces;
  g->open = inner->open;
  *out = g;
  return CB_OK;
}

cb_status cb_gait_moved(const cb_gait *inner, const double *scale, const double *offset, cb_gait **out) {
  cb_status status = cb_gait_check_arguments("scales", inner->n, 1, 1, scale);
  if (!status) status = cb_gait_check_arguments("offsets", inner->n, 1, 1, offset);
  return status ? status : move(inner, scale, offset, NULL, out);
}

cb_status cb_gait_drifting(const cb_gait *inner, const double *drift, cb_gait **out) {
  double gap[CB_SHAPE_MAX];
  const cb_status status = move(inner, NULL, NULL, drift, out);
  if (status) return status;
  (*out)->open = true;
  cb_gait_gap(*out, gap);
  (*out)->open = false;
  for (int i = 0; i < inner->n; i++) (*out)->open |= !(fabs(gap[i]) <= cb_gait_slack(drift[i], gap[i]));
  return CB_OK;
}

/* --- numbers --- */

enum { ARCS, ORDER, HEAD };

static const cb_gait_basis *basis_of(const cb_gait *g) { return g->backwards ? NULL : g->class->basis; }

size_t cb_gait_state_size(const cb_gait *g) { return basis_of(g) ? basis_of(g)->state(g, NULL) : 0; }

void cb_gait_state(const cb_gait *g, double *out) {
  if (basis_of(g)) basis_of(g)->state(g, out);
}

cb_status cb_gait_from_state(int n, size_t count, const double *s, cb_gait **out) {
  *out = NULL;
  if (count < HEAD || !(s[ARCS] >= 0 && s[ARCS] < (double)count && s[ORDER] >= 1 && s[ORDER] < (double)count))
    return CB_OK;
  const size_t arcs = (size_t)s[ARCS], order = (size_t)s[ORDER], row = (size_t)n;
  const size_t head = HEAD + (arcs ? arcs + 1 : row), rows = (arcs ? arcs * (order + 1) : 2 * order) * row;
  if (head + rows > count) return CB_OK;
  const double *x = s + head;
  const cb_status status = arcs ? cb_gait_arcs(n, (int)arcs, s + HEAD, (int)order, x, out)
                                : cb_gait_fourier(n, (int)order, s + HEAD, x, x + order * row, out);
  return status == CB_ERROR_ARGUMENT ? CB_OK : status;
}

/* --- text --- */

cb_status cb_gait_write(const cb_gait *g, cb_text *out) {
  if (!basis_of(g))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "a gait of class `%s`%s cannot be written as text: expected `fourier` or `arcs`", g->class->name,
                   g->backwards ? ", reversed," : "");
  cb_text_puts(out, "{");
  cb_text_puts(out, g->class->name);
  cb_text_puts(out, ": ");
  basis_of(g)->write(g, out);
  cb_text_puts(out, "}");
  return out->failed ? cb_fail(CB_ERROR_MEMORY, "no memory for the text of a gait") : CB_OK;
}

void cb_gait_write_numbers(cb_text *out, int n, const double *x) {
  for (int i = 0; i < n; i++) {
    char number[40];
    snprintf(number, sizeof number, "%s%.17g", i ? ", " : "[", x[i]);
    cb_text_puts(out, number);
  }
  cb_text_puts(out, "]");
}

void cb_gait_write_rows(cb_text *out, int rows, int n, const double *x) {
  for (int k = 0; k < rows; k++) {
    cb_text_puts(out, k ? ", " : "[");
    cb_gait_write_numbers(out, n, x + k * n);
  }
  cb_text_puts(out, "]");
}
