/* Gaits that are made from another gait: shifted in time, with another pace, scaled and moved. A sequence of gaits is a
 * kind of gait (gaits/gait_kind_sequence.c).
 *
 * An open path, such as a phase that grows by one period, continues by r(t + 1) = r(t) + d with d = r(1) - r(0). A
 * gait made from such a path is therefore continuous.
 */
#include "bundle/gait_private.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BISECTIONS = 100, SAMPLES = 256 };

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

/* --- the gait at s(t), s the pace --- */

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
  for (int k = 0; k <= SAMPLES; k++) {
    const double t = (double)k / SAMPLES, value = cb_expression_value(s, &t), ends = k == 0 ? 0 : 1;
    if ((k == 0 || k == SAMPLES) && !(fabs(value - ends) <= 1e-12))
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
                     s); /* these breaks come after the break at the start, where the derivative of the pace may jump */
  g->breaks = cb_gait_sort_breaks(g->data, g->breaks);
  g->pieces = inner->pieces;
  g->open = inner->open;
  *out = g;
  return CB_OK;
}

/* --- the gait scale r + offset + drift t; its numbers: scale[n], offset[n], drift[n] --- */

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
  cb_status status = cb_gait_check("scales", inner->n, 1, 1, scale);
  if (!status) status = cb_gait_check("offsets", inner->n, 1, 1, offset);
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
