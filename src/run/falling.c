/* See falling.h. */
#include "run/falling.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { PERIOD = 16, FEWEST = 6, MANY = 24 };
static const double pi = 3.14159265358979323846, turned = 0.01, still = 0.02, same = 0.02;

const char *const cb_falling_names[] = {"undecided", "steady", "flutter", "tumble", "chaotic"};

/* --- rows --- */

/* Where the heading turns about, the normal has passed the vertical: upwards, or downwards after half a turn. */
static double follow(cb_falling *f, const double n[3]) {
  const double across = hypot(n[0], n[1]), angle = atan2(across, n[2]);
  if (!f->known) f->side = 1;
  if (across > 1e-6) {
    if (f->known && n[0] * f->heading[0] + n[1] * f->heading[1] < 0) {
      if (n[2] < 0) f->turns += f->side;
      f->side = -f->side;
    }
    f->heading[0] = n[0] / across, f->heading[1] = n[1] / across;
    f->known = 1;
  }
  return f->side * angle + 2 * pi * f->turns;
}

static void keep(cb_falling *f, const cb_falling_mark *m) {
  f->mark[(size_t)f->marks % CB_FALLING_MARKS] = *m;
  f->marks++;
}

static const cb_falling_mark *mark(const cb_falling *f, double k) { return &f->mark[(size_t)k % CB_FALLING_MARKS]; }

static void sample(cb_falling *f, const cb_falling_mark *m) {
  if (f->stride == 0) f->stride = 1;
  if (fmod(f->rows, f->stride) != 0) return;
  if (f->samples == CB_FALLING_SAMPLES) {
    f->samples /= 2, f->stride *= 2;
    for (size_t i = 1; i < (size_t)f->samples; i++) f->sample[i] = f->sample[2 * i];
    if (fmod(f->rows, f->stride) != 0) return;
  }
  f->sample[(size_t)f->samples] = *m;
  f->samples++;
}

/* A number at t by the parabola through three rows. */
static double between(const double t[3], const double y[3], double at) {
  const double first = (y[1] - y[0]) / (t[1] - t[0]), second = (y[2] - y[1]) / (t[2] - t[1]);
  return y[0] + (at - t[0]) * (first + (at - t[1]) * (second - first) / (t[2] - t[0]));
}

/* Does the angle turn back about the row before m? */
static void turning(cb_falling *f, const cb_falling_mark *m) {
  const double t[3] = {f->before.t, f->last.t, m->t}, a[3] = {f->before.angle, f->last.angle, m->angle};
  const double first = (a[1] - a[0]) / (t[1] - t[0]), second = (a[2] - a[1]) / (t[2] - t[1]);
  if (!(first * second < 0)) return;
  cb_falling_mark at = {.t = (t[0] + t[1]) / 2 - first * (t[2] - t[0]) / (2 * (second - first))};
  at.angle = between(t, a, at.t);
  if (!(fabs(at.angle - mark(f, f->marks - 1)->angle) >= turned)) return;
  for (int i = 0; i < 3; i++) at.x[i] = between(t, (double[]){f->before.x[i], f->last.x[i], m->x[i]}, at.t);
  keep(f, &at);
}

/* Has it come to 2 pi from the last mark? */
static void turns(cb_falling *f, const cb_falling_mark *m) {
  const double gone = m->angle - mark(f, f->marks - 1)->angle;
  if (!(fabs(gone) >= 2 * pi) || m->angle == f->last.angle) return;
  const double angle = mark(f, f->marks - 1)->angle + copysign(2 * pi, gone),
               part = (angle - f->last.angle) / (m->angle - f->last.angle);
  cb_falling_mark at = {.t = f->last.t + part * (m->t - f->last.t), .angle = angle};
  for (int i = 0; i < 3; i++) at.x[i] = f->last.x[i] + part * (m->x[i] - f->last.x[i]);
  keep(f, &at);
}

void cb_falling_add(cb_falling *f, double t, const double normal[3], const double x[3]) {
  const cb_falling_mark m = {t, follow(f, normal), {x[0], x[1], x[2]}};
  sample(f, &m);
  if (f->rows == 0) keep(f, &m);
  if (f->rows > 1) turning(f, &m);
  if (f->rows > 0) turns(f, &m);
  f->before = f->last, f->last = m;
  f->rows++;
}

/* --- the rule --- */

typedef struct intervals {
  size_t n;
  double time[CB_FALLING_MARKS], angle[CB_FALLING_MARKS], mean_time, mean_angle;
} intervals;

static intervals since(const cb_falling *f, double begin) {
  intervals d = {0};
  double k = fmax(0, f->marks - CB_FALLING_MARKS);
  while (k < f->marks && mark(f, k)->t < begin) k++;
  for (; k + 1 < f->marks; k++, d.n++) {
    d.time[d.n] = mark(f, k + 1)->t - mark(f, k)->t;
    d.angle[d.n] = mark(f, k + 1)->angle - mark(f, k)->angle;
    d.mean_time += d.time[d.n], d.mean_angle += fabs(d.angle[d.n]);
  }
  if (d.n) d.mean_time /= (double)d.n, d.mean_angle /= (double)d.n;
  return d;
}

/* The largest difference of intervals i and i + m, first <= i < end, by the means. */
static double difference(const intervals *d, size_t m, size_t first, size_t end) {
  double largest = 0;
  for (size_t i = first; i < end; i++)
    largest = fmax(largest, fmax(fabs(d->time[i + m] - d->time[i]) / d->mean_time,
                                 fabs(d->angle[i + m] - d->angle[i]) / d->mean_angle));
  return largest;
}

/* After how many intervals they repeat; 0: they do not. */
static size_t period_of(const intervals *d) {
  for (size_t m = 1; m <= PERIOD && 3 * m <= d->n && m + 4 <= d->n; m++)
    if (difference(d, m, 0, d->n - m) <= same) return m;
  return 0;
}

/* Angles of all intervals i + m greater than those of i, or all less. */
static bool grows(const intervals *d, size_t m) {
  size_t more = 0;
  for (size_t i = 0; i + m < d->n; i++) more += fabs(d->angle[i + m]) > fabs(d->angle[i]);
  return more == 0 || more == d->n - m;
}

/* Swings that grow or shrink all along, or differences that come down to less than half and are small at the end. */
static bool settles(const intervals *d) {
  for (size_t m = 1; m <= 4 && m + FEWEST <= d->n; m++) {
    const size_t count = d->n - m, third = count / 3;
    const double first = difference(d, m, 0, third), last = difference(d, m, count - third, count);
    if (grows(d, m) || (last <= first / 2 && last <= 5 * same)) return true;
  }
  return false;
}

static void mean_motion(cb_falling_verdict *v, const cb_falling_mark *from, const cb_falling_mark *to) {
  const double t = to->t - from->t;
  v->turn_rate = (to->angle - from->angle) / t;
  v->drift = hypot(to->x[0] - from->x[0], to->x[1] - from->x[1]) / t;
  v->descent = (from->x[2] - to->x[2]) / t;
}

/* Both faces are alike. */
static double folded(double angle) { return angle - pi * round(angle / pi); }

cb_falling_verdict cb_falling_judge(const cb_falling *f) {
  cb_falling_verdict v = {CB_FALLING_UNDECIDED, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  const size_t samples = (size_t)f->samples;
  if (samples < 16) return v;
  const double begin = (f->sample[0].t + f->last.t) / 2;
  size_t first = 0;
  while (f->sample[first].t < begin) first++;
  double low = f->last.angle, high = low;
  for (size_t i = first; i < samples; i++) low = fmin(low, f->sample[i].angle), high = fmax(high, f->sample[i].angle);
  mean_motion(&v, &f->sample[first], &f->last);
  if (high - low <= still) {
    v.regime = CB_FALLING_STEADY;
    v.angle = folded((low + high) / 2);
    return v;
  }
  const intervals d = since(f, begin);
  const size_t m = d.n >= FEWEST ? period_of(&d) : 0;
  if (!m) {
    if (d.n >= MANY && !settles(&d)) v.regime = CB_FALLING_CHAOTIC;
    return v;
  }
  const size_t whole = d.n / m;
  const cb_falling_mark *to = mark(f, f->marks - 1), *from = mark(f, f->marks - 1 - (double)(whole * m));
  mean_motion(&v, from, to);
  v.period = (to->t - from->t) / (double)whole;
  v.turns = (to->angle - from->angle) / (2 * pi * (double)whole);
  v.regime = fabs(v.turns) > 0.25 ? CB_FALLING_TUMBLE : CB_FALLING_FLUTTER;
  if (v.regime == CB_FALLING_TUMBLE) return v;
  v.angle = 0, v.swing = d.mean_angle / 2;
  for (double k = 0; k < (double)(whole * m); k++) v.angle += mark(f, f->marks - 1 - k)->angle / (double)(whole * m);
  v.angle = folded(v.angle);
  return v;
}
