/* The regime of a falling plate: marks of the motion, the rule, and the plates of runs. The rule is in falling.h. */
#include "run/falling.h"
#include "core/failure.h"
#include "run/fluid_private.h"
#include "run/particles_run.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { PERIOD = 16, FEWEST = 6, CHAOTIC_MIN = 24 };
static const double pi = 3.14159265358979323846, turned = 0.01, still = 0.02, same = 0.02;

const char *const cb_falling_names[] = {"undecided", "steady", "flutter", "tumble", "chaotic"};

/* --- rows --- */

/* Returns the angle of the normal n from the vertical, continued through full revolutions. If the heading (the
 * horizontal direction of the normal) reverses, the normal has passed the vertical: it points nearly upwards, or nearly
 * downwards, which is half a revolution away. */
static double follow(cb_falling *f, const double n[3]) {
  const double across = hypot(n[0], n[1]), angle = atan2(across, n[2]);
  if (!f->known) f->side = 1;
  if (across > 1e-6) {
    if (f->known && n[0] * f->heading[0] + n[1] * f->heading[1] < 0) {
      if (n[2] < 0) f->turns += f->side;
      f->side = -f->side;
    }
    f->heading[0] = n[0] / across;
    f->heading[1] = n[1] / across;
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
    f->samples /= 2;
    f->stride *= 2;
    for (size_t i = 1; i < (size_t)f->samples; i++) f->sample[i] = f->sample[2 * i];
    if (fmod(f->rows, f->stride) != 0) return;
  }
  f->sample[(size_t)f->samples] = *m;
  f->samples++;
}

/* Returns the value at the time `at` of the parabola through the values y[3] at the times t[3]. */
static double between(const double t[3], const double y[3], double at) {
  const double first = (y[1] - y[0]) / (t[1] - t[0]), second = (y[2] - y[1]) / (t[2] - t[1]);
  return y[0] + (at - t[0]) * (first + (at - t[1]) * (second - first) / (t[2] - t[0]));
}

/* Adds a mark if the angle reverses near the row before m. */
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

/* Adds a mark if the angle has moved 2 pi from the last mark. */
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
  f->before = f->last;
  f->last = m;
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
    d.mean_time += d.time[d.n];
    d.mean_angle += fabs(d.angle[d.n]);
  }
  if (d.n) {
    d.mean_time /= (double)d.n;
    d.mean_angle /= (double)d.n;
  }
  return d;
}

/* Returns the largest difference between the intervals i and i + m, for i from `first` to end - 1. Differences in time
 * and in angle are divided by the mean time and the mean |angle| of all intervals. */
static double difference(const intervals *d, size_t m, size_t first, size_t end) {
  double largest = 0;
  for (size_t i = first; i < end; i++)
    largest = fmax(largest, fmax(fabs(d->time[i + m] - d->time[i]) / d->mean_time,
                                 fabs(d->angle[i + m] - d->angle[i]) / d->mean_angle));
  return largest;
}

/* Returns the number of intervals after which the intervals repeat; 0 if they do not repeat. */
static size_t period_of(const intervals *d) {
  for (size_t m = 1; m <= PERIOD && 3 * m <= d->n && m + 4 <= d->n; m++)
    if (difference(d, m, 0, d->n - m) <= same) return m;
  return 0;
}

/* Compares the absolute angles of the intervals i and i + m. Returns whether the later one is larger for every i, or
 * for no i. */
static bool grows(const intervals *d, size_t m) {
  size_t more = 0;
  for (size_t i = 0; i + m < d->n; i++) more += fabs(d->angle[i + m]) > fabs(d->angle[i]);
  return more == 0 || more == d->n - m;
}

/* Returns whether the motion is still settling, as defined in falling.h. */
static bool settles(const intervals *d) {
  for (size_t m = 1; m <= 4 && m + FEWEST <= d->n; m++) {
    const size_t count = d->n - m, third = count / 3;
    const double first = difference(d, m, 0, third), last = difference(d, m, count - third, count);
    if (grows(d, m) || (last <= first / 2 && last <= 5 * same)) return true;
  }
  return false;
}

static void mean_motion(cb_falling_class *v, const cb_falling_mark *from, const cb_falling_mark *to) {
  const double t = to->t - from->t;
  v->turn_rate = (to->angle - from->angle) / t;
  v->drift = hypot(to->x[0] - from->x[0], to->x[1] - from->x[1]) / t;
  v->descent = (from->x[2] - to->x[2]) / t;
}

/* Returns the angle modulo pi, between -pi/2 and pi/2, because both faces of the plate are alike. */
static double folded(double angle) { return angle - pi * round(angle / pi); }

cb_falling_class cb_falling_judge(const cb_falling *f) {
  cb_falling_class v = {CB_FALLING_UNDECIDED, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
  const size_t samples = (size_t)f->samples;
  if (samples < 16) return v;
  const double begin = (f->sample[0].t + f->last.t) / 2;
  size_t first = 0;
  while (f->sample[first].t < begin) first++;
  double low = f->last.angle, high = low;
  for (size_t i = first; i < samples; i++) {
    low = fmin(low, f->sample[i].angle);
    high = fmax(high, f->sample[i].angle);
  }
  mean_motion(&v, &f->sample[first], &f->last);
  if (high - low <= still) {
    v.regime = CB_FALLING_STEADY;
    v.angle = folded((low + high) / 2);
    return v;
  }
  const intervals d = since(f, begin);
  const size_t m = d.n >= FEWEST ? period_of(&d) : 0;
  if (!m) {
    if (d.n >= CHAOTIC_MIN && !settles(&d)) v.regime = CB_FALLING_CHAOTIC;
    return v;
  }
  const size_t whole = d.n / m;
  const cb_falling_mark *to = mark(f, f->marks - 1), *from = mark(f, f->marks - 1 - (double)(whole * m));
  mean_motion(&v, from, to);
  v.period = (to->t - from->t) / (double)whole;
  v.turns = (to->angle - from->angle) / (2 * pi * (double)whole);
  v.regime = fabs(v.turns) > 0.25 ? CB_FALLING_TUMBLE : CB_FALLING_FLUTTER;
  if (v.regime == CB_FALLING_TUMBLE) return v;
  v.angle = 0;
  v.swing = d.mean_angle / 2;
  for (double k = 0; k < (double)(whole * m); k++) v.angle += mark(f, f->marks - 1 - k)->angle / (double)(whole * m);
  v.angle = folded(v.angle);
  return v;
}

/* --- the plate of a run --- */

cb_status cb_falling_plate_of_system(const cb_system *s, cb_falling_plate *out) {
  static const char *const names[] = {"x", "y", "theta"};
  const cb_space *g = cb_system_space(s);
  *out = (cb_falling_plate){.field = "position", .at = {-1, -1, -1}};
  for (int a = 0; g->chart && cb_system_particles(s) == 1 && a < g->chart->size; a++)
    for (int k = 0; k < 3; k++)
      if (!strcmp(g->chart->coordinates[a], names[k])) out->at[k] = a;
  if (out->at[0] >= 0 && out->at[1] >= 0 && out->at[2] >= 0) return CB_OK;
  return cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                    "the observable `falling_regime` needs a body in a fluid, or a system with coordinates x, y (up) "
                    "and theta");
}

cb_status cb_falling_plate_of_body(const cb_immersed *b, double t, cb_falling_plate *out) {
  const double *g = cb_immersed_fluid_about(b)->gravity, size = sqrt(cb_dot3(g, g));
  cb_mass mass;
  double moment[3], axis[3][3];
  *out = (cb_falling_plate){.field = "pose", .body = true};
  if (!(size > 0))
    return cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                      "the observable `falling_regime` needs gravity: set `gravity`, or leave the observable out");
  cb_status status = cb_immersed_mass(b, t, &mass, NULL);
  if (!status) status = cb_mass_principal(&mass, moment, axis);
  if (status) return status;
  int largest = 0, least = 0;
  for (int i = 1; i < 3; i++) {
    if (moment[i] > moment[largest]) largest = i;
    if (fabs(g[i]) < fabs(g[least])) least = i;
  }
  memcpy(out->normal, axis[largest], sizeof out->normal);
  memcpy(out->centre, mass.centre, sizeof out->centre);
  double(*e)[3] = out->axes, other[3] = {0};
  for (int i = 0; i < 3; i++) e[2][i] = -g[i] / size;
  other[least] = 1;
  cb_cross3(e[2], other, e[1]);
  const double length = sqrt(cb_dot3(e[1], e[1]));
  for (int i = 0; i < 3; i++) e[1][i] /= length;
  cb_cross3(e[1], e[2], e[0]);
  return CB_OK;
}

/* Computes the normal and the centre of the plate of a body with pose g, in the axes p->axes, the last of which points
 * up. */
static void place(const cb_falling_plate *p, const cb_pose *g, double normal[3], double x[3]) {
  double world[3], r[3][3];
  cb_pose_rotation(g, r);
  cb_apply3((const double(*)[3])r, p->normal, world);
  cb_apply3(p->axes, world, normal);
  cb_pose_point(g, p->centre, world);
  cb_apply3(p->axes, world, x);
}

cb_status cb_falling_plate_of_run(const cb_run *run, int body, cb_falling_plate *out) {
  if (run->motion->plate) return run->motion->plate(run, body, out);
  return cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                    "`falling_regime` needs a body or a system that falls: expected bodies in a fluid or a system");
}

void cb_falling_plate_add(const cb_falling_plate *p, double t, const double *row, cb_falling *to) {
  double normal[3], x[3];
  if (p->body) {
    cb_pose g;
    memcpy(g.x, row, sizeof g.x);
    memcpy(g.q, row + 3, sizeof g.q);
    place(p, &g, normal, x);
  } else {
    const double theta = row[p->at[2]];
    normal[0] = -sin(theta);
    normal[1] = 0;
    normal[2] = cos(theta);
    x[0] = row[p->at[0]];
    x[1] = 0;
    x[2] = row[p->at[1]];
  }
  cb_falling_add(to, t, normal, x);
}

/* --- a run of bodies --- */

cb_status cb_fluid_run_falls(cb_run *run) {
  cb_fluid_run *b = run->own;
  cb_status status = CB_OK;
  if (!cb_run_asked(run, "falling_regime")) return CB_OK;
  b->plate = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->plate);
  b->falling = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->falling);
  if (!b->plate || !b->falling) return cb_fail(CB_ERROR_MEMORY, "no memory for %d falls", b->n);
  for (int i = 0; i < b->n && !status; i++)
    status = cb_falling_plate_of_body(b->start[i].body, run->options.start, &b->plate[i]);
  return status;
}

void cb_fluid_run_fall(cb_run *run) {
  const cb_fluid_run *b = run->own;
  double normal[3], x[3];
  for (int i = 0; b->falling && i < b->n; i++) {
    place(&b->plate[i], &b->state[i].g, normal, x);
    cb_falling_add(&b->falling[i], b->t, normal, x);
  }
}
