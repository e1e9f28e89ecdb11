/* Evaluates reductions while rows arrive. */
#include "sweep/reduce_private.h"

#include <math.h>
#include <stdlib.h>

const cb_reduction_doc cb_reduction_docs[] = {
    {"first", "f", "value in the first row"},
    {"last", "f", "value in the last row; also used for a field outside any reduction"},
    {"min", "f", "minimum over all rows"},
    {"max", "f", "maximum over all rows"},
    {"mean", "f", "mean over all rows"},
    {"rms", "f", "root mean square over all rows"},
    {"argmin", "f", "first time of the minimum"},
    {"argmax", "f", "first time of the maximum"},
    {"count", "c", "number of rows, or of events, in which c is not 0: count(event_kind == 0)"},
    {"crossing", "f, n", "time of the n-th zero, linear between rows; without n: time of the first zero"},
    {NULL, NULL, NULL}};

size_t cb_reduction_doubles(const cb_reduction *r) { return r->parts * CB_REDUCE_STATE; }

void cb_reduction_start(const cb_reduction *r, double *state) {
  for (size_t p = 0; p < r->parts; p++) {
    double *s = state + p * CB_REDUCE_STATE;
    for (int i = 0; i < CB_REDUCE_STATE; i++) s[i] = 0;
    if (r->part[p].kind == CB_REDUCE_CROSSING) s[4] = NAN;
  }
}

static double number(const cb_reduce_field *f, const void *from) {
  const char *at = (const char *)from + f->at;
  int64_t wide;
  int32_t narrow;
  double real;
  switch (f->type) {
    case CB_FIELD_INT64: memcpy(&wide, at, sizeof wide); return (double)wide;
    case CB_FIELD_INT32: memcpy(&narrow, at, sizeof narrow); return (double)narrow;
    default: memcpy(&real, at, sizeof real); return real;
  }
}

/* Neumaier's sum s[1] + s[2] (1974), Z. Angew. Math. Mech. 54, 39, doi:10.1002/zamm.19740540106; an infinite sum has no
 * remainder. */
static void add(double *s, double x) {
  const double sum = s[1] + x;
  if (isfinite(sum)) s[2] += fabs(s[1]) >= fabs(x) ? (s[1] - sum) + x : (x - sum) + s[1];
  s[1] = sum;
}

/* Takes the value x of a row. s: the number of rows; the value, or a sum; the time of the value or the remainder of the
 * sum; for a crossing, the number of zeros so far and the time of the requested zero. */
static void take(const cb_reduce_part *p, double time, double x, double *s) {
  const bool begins = s[0] == 0;
  s[0]++;
  switch (p->kind) {
    case CB_REDUCE_FIRST: /* this is called only for the first row */
    case CB_REDUCE_LAST: s[1] = x; break;
    case CB_REDUCE_MIN:
    case CB_REDUCE_ARGMIN:
      if (begins || x < s[1] || (isnan(x) && !isnan(s[1]))) {
        s[1] = x;
        s[2] = time;
      }
      break;
    case CB_REDUCE_MAX:
    case CB_REDUCE_ARGMAX:
      if (begins || x > s[1] || (isnan(x) && !isnan(s[1]))) {
        s[1] = x;
        s[2] = time;
      }
      break;
    case CB_REDUCE_MEAN: add(s, x); break;
    case CB_REDUCE_RMS: add(s, x * x); break;
    case CB_REDUCE_COUNT: s[1] += x != 0 && !isnan(x); break;
    default:
      if (!begins && s[1] != 0 && (x == 0 || (s[1] < 0) != (x < 0)) && !isnan(x) && !isnan(s[1]) && ++s[3] == p->which)
        s[4] = s[2] + (time - s[2]) * (s[1] / (s[1] - x));
      s[1] = x;
      s[2] = time;
  }
}

static void take_part(const cb_reduce_part *p, double time, const void *const *row, const void *event, double *s) {
  double x[CB_REDUCE_FIELDS];
  if (p->kind == CB_REDUCE_FIRST && s[0] != 0) return;
  for (size_t i = 0; i < p->fields; i++) x[i] = number(&p->field[i], row ? row[p->field[i].field] : event);
  take(p, time, p->expression ? cb_expression_value(p->expression, x) : x[0], s);
}

void cb_reduction_row(const cb_reduction *r, const void *const *row, double *state) {
  for (size_t p = 0; p < r->parts; p++) {
    double *s = state + p * CB_REDUCE_STATE;
    if (!r->part[p].of_events) take_part(&r->part[p], r->has_time ? *(const double *)row[0] : s[0], row, NULL, s);
  }
}

void cb_reduction_event(const cb_reduction *r, const cb_event_row *event, double *state) {
  for (size_t p = 0; p < r->parts; p++)
    if (r->part[p].of_events) take_part(&r->part[p], event->time, NULL, event, state + p * CB_REDUCE_STATE);
}

static double value_of(const cb_reduce_part *p, const double *s) {
  if (p->kind == CB_REDUCE_COUNT) return s[1];
  if (p->kind == CB_REDUCE_CROSSING) return s[4];
  if (s[0] == 0) return NAN;
  switch (p->kind) {
    case CB_REDUCE_MEAN: return (s[1] + s[2]) / s[0];
    case CB_REDUCE_RMS: return sqrt((s[1] + s[2]) / s[0]);
    case CB_REDUCE_ARGMIN:
    case CB_REDUCE_ARGMAX: return isnan(s[1]) ? NAN : s[2];
    default: return s[1];
  }
}

double cb_reduction_value(const cb_reduction *r, const double *state) {
  double x[CB_REDUCE_PARTS];
  for (size_t p = 0; p < r->parts; p++) x[p] = value_of(&r->part[p], state + p * CB_REDUCE_STATE);
  return r->outer ? cb_expression_value(r->outer, x) : x[0];
}

void cb_reduction_free(cb_reduction *r) {
  if (!r) return;
  for (size_t p = 0; p < r->parts; p++) cb_expression_free(r->part[p].expression);
  cb_expression_free(r->outer);
  free(r);
}
