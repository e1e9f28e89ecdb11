/* Evaluates reductions while rows arrive. */
#include "sweep/reduce.h"

#include <math.h>
#include <stdlib.h>

size_t cb_reduction_doubles(const cb_reduction *r) { return r->parts * CB_REDUCTION_STATE; }

void cb_reduction_start(const cb_reduction *r, double *state) {
  for (size_t i = 0; i < cb_reduction_doubles(r); i++) state[i] = 0;
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

static void take_part(const cb_reduce_part *p, double time, const void *const *row, const void *event, double *s) {
  double x[CB_REDUCE_FIELDS];
  for (size_t i = 0; i < p->fields; i++) x[i] = number(&p->field[i], row ? row[p->field[i].field] : event);
  p->class->take(p->argument, time, p->expression ? cb_expression_value(p->expression, x) : x[0], s);
  s[0]++;
}

void cb_reduction_row(const cb_reduction *r, const void *const *row, double *state) {
  for (size_t p = 0; p < r->parts; p++) {
    double *s = state + p * CB_REDUCTION_STATE;
    if (!r->part[p].of_events) take_part(&r->part[p], r->has_time ? *(const double *)row[0] : s[0], row, NULL, s);
  }
}

void cb_reduction_event(const cb_reduction *r, const cb_event_row *event, double *state) {
  for (size_t p = 0; p < r->parts; p++)
    if (r->part[p].of_events) take_part(&r->part[p], event->time, NULL, event, state + p * CB_REDUCTION_STATE);
}

static double value_of(const cb_reduce_part *p, const double *s) {
  return s[0] == 0 && !p->class->counts ? NAN : p->class->value(p->argument, s);
}

double cb_reduction_value(const cb_reduction *r, const double *state) {
  double x[CB_REDUCE_PARTS];
  for (size_t p = 0; p < r->parts; p++) x[p] = value_of(&r->part[p], state + p * CB_REDUCTION_STATE);
  return r->outer ? cb_expression_value(r->outer, x) : x[0];
}

void cb_reduction_free(cb_reduction *r) {
  if (!r) return;
  for (size_t p = 0; p < r->parts; p++) cb_expression_free(r->part[p].expression);
  cb_expression_free(r->outer);
  free(r);
}
