/* Finds when a flight meets the floor, which is the first zero of the smallest gap. No earlier zero is skipped.
 *
 *   trial   gap_i(tau) on a trial from time a to b is the cubic of the gaps and rates at both ends. If a cubic has a
 *           minimum inside that is below max_i |rate_i(b) - rate_i(a)| (b - a)/32, the trial ends at that minimum.
 *   zero    The search begins with the gap that is expected to vanish first. If another gap is negative at the zero of
 *           this gap, the zero of the other gap is next, and so on. A zero is first estimated by the parabola through
 *           the gap and its rate at the start and the gap at the end. (The estimate is exact in free fall. For a vertex
 *           that leaves the floor at the start, the zero at the start is excluded.) Further estimates are zeros of
 *           parabolas through three gaps, or bisections if the parabolas converge slowly.
 */
#include "fluid/floor_reflect.h"
#include <float.h>
#include <math.h>

enum { MAX_TRIALS = 500, MAX_ZERO = 200 };

/* Returns the minimum rate of the vertices that touch the floor at the start and are not held, and finds this vertex.
 * The result is infinite if there is none. */
static double least_rate(const cb_floor_run *e, int *vertex) {
  double least = INFINITY;
  for (int i = 0; i < e->count; i++)
    if (!e->w->held[i] && cb_floor_touches(e, &e->look[0], i) && e->w->rate[0][i] < least) {
      least = e->w->rate[0][i];
      *vertex = i;
    }
  return least;
}

/* Returns the minimum inside [0, 1] of the cubic p(s) with the values p0, p1 and the slopes m0, m1 at the ends. *at is
 * its place. The result is infinite if there is no minimum. */
static double dip(double p0, double p1, double m0, double m1, double *at) {
  /* p'(s) = m0 + 2 b s + a s^2 */
  const double a = 3 * (m0 + m1 - 2 * (p1 - p0)), b = 3 * (p1 - p0) - 2 * m0 - m1, root = b * b - a * m0;
  if (!(root > 0)) return INFINITY;
  const double s = b > 0 ? -m0 / (b + sqrt(root)) : (sqrt(root) - b) / a;
  if (!(s > 0 && s < 1)) return INFINITY;
  *at = s;
  return p0 + s * (m0 + s * (b + s * a / 3));
}

/* Returns whether a vertex comes near the floor between the states a and b and rises again. *cut becomes the place of
 * the minimum of its gap, limited to 0.1 .. 0.9 of the length. */
static bool dips(const cb_floor_run *e, const cb_floor_look *a, const cb_floor_look *b, double length, double *cut) {
  const cb_floor_work *w = e->w;
  const double *p = w->gap[a->side], *q = w->gap[b->side], *u = w->rate[a->side], *v = w->rate[b->side];
  double bend = 0, least = INFINITY;
  for (int i = 0; i < e->count; i++) bend = fmax(bend, fabs(v[i] - u[i]));
  const double margin = bend * length / 32;
  if (margin <= b->round_off) return false;
  for (int i = 0; i < e->count; i++) {
    if (w->held[i]) continue;
    const bool leaves = a == &e->look[0] && cb_floor_touches(e, a, i);
    const double p0 = p[i] - w->base[i], p1 = q[i] - w->base[i], m0 = length * (leaves ? fmax(u[i], 0) : u[i]);
    const double m1 = length * v[i];
    double at = 0;
    if (p0 + m0 / 3 > margin && p1 - m1 / 3 > margin) continue;
    const double value = dip(p0, p1, m0, m1, &at);
    if (value <= margin && value < least) {
      least = value;
      *cut = fmin(fmax(at, 0.1), 0.9);
    }
  }
  return least < INFINITY;
}

/* Returns whether a vertex rests. It touches the floor at the start and is back after a time t. It rests if this time
 * is short, or if its height in between (at most rate t/4) is below round-off. */
static bool is_rest(const cb_floor_run *e, int vertex, double t) {
  const cb_floor_look *from = &e->look[0];
  return cb_floor_touches(e, from, vertex) && (t <= e->rest || e->w->rate[0][vertex] * t <= from->round_off);
}

static bool is_below(const cb_floor_run *e, const cb_floor_look *a, int i) {
  return !e->w->held[i] && e->w->gap[a->side][i] - e->w->base[i] < -a->round_off;
}

static bool any_below(const cb_floor_run *e, const cb_floor_look *a) {
  for (int i = 0; i < e->count; i++)
    if (is_below(e, a, i)) return true;
  return false;
}

/* Returns the zero of gap + rate s + bend s^2 in (0, 1], for gap >= 0 and a negative value at s = 1. If gap is 0, the
 * result is the zero that is not s = 0, or 0 for a rate <= 0. */
static double parabola(double gap, double rate, double bend) {
  const double root = sqrt(fmax(rate * rate - 4 * bend * gap, 0));
  return rate > 0 ? (rate + root) / (-2 * bend) : gap > 0 ? 2 * gap / (root - rate) : 0;
}

/* Returns the time after the state a at which the gap of vertex i is expected to vanish, from its gap and rate at a and
 * its negative gap in the state `out`, which is `length` later. */
static double expected(const cb_floor_run *e, const cb_floor_look *a, const cb_floor_look *out, double length, int i) {
  const cb_floor_work *w = e->w;
  const bool leaves = a == &e->look[0] && cb_floor_touches(e, a, i);
  const double gap = leaves ? 0 : fmax(w->gap[a->side][i] - w->base[i], 0), rate = length * w->rate[a->side][i];
  return length * parabola(gap, rate, w->gap[out->side][i] - w->base[i] - gap - rate);
}

/* Returns the vertex that is expected to have met the floor first, among those that are below the floor in the state
 * `out`, `length` after the state a; -1: none. */
static int first_below(const cb_floor_run *e, const cb_floor_look *a, const cb_floor_look *out, double length) {
  double least = INFINITY;
  int first = -1;
  for (int i = 0; i < e->count; i++) {
    if (!is_below(e, out, i)) continue;
    const double at = expected(e, a, out, length, i);
    if (at < least || first < 0) {
      least = at;
      first = i;
    }
  }
  return first;
}

/* Finds the time at which the gap of vertex i is 0. The gap is negative in the state *out at the time *tb, after the
 * state a at the time ta. *tb and *out become the time and the state of the zero. The search ends early if the vertex
 * rests (is_rest). */
static cb_status zero(cb_floor_run *e, const cb_floor_look *a, double ta, double *tb, cb_floor_look *out, int i) {
  const double *gap = e->w->gap[out->side], base = e->w->base[i], start = e->w->gap[a->side][i] - base;
  double lo = ta, hi = *tb, f_lo = 0, f_hi = gap[i] - base, wide = hi - lo;
  for (int n = 1; n <= MAX_ZERO; n++) {
    double t = ta + expected(e, a, out, hi - ta, i);
    if (lo > ta) { /* a parabola through the start and both ends */
      const double slope = (f_hi - f_lo) / (hi - lo), before = (f_lo - start) / (lo - ta);
      const double bend = (slope - before) / (hi - ta) * (hi - lo) * (hi - lo);
      t = lo + (hi - lo) * parabola(f_lo, f_hi - f_lo - bend, bend);
    }
    if (n % 4 == 0) { /* bisection if convergence is slow */
      if (hi - lo > wide / 2) t = lo + (hi - lo) / 2;
      wide = hi - lo;
    }
    if (!(t > lo && t < hi)) t = lo + (hi - lo) / 2;
    if (!(t > lo && t < hi)) t = hi;
    const cb_status status = cb_floor_fly(e, t, out);
    if (status) return status;
    const double f = gap[i] - base;
    *tb = t;
    if (fabs(f) <= out->round_off / 64 || hi - lo <= 2 * DBL_EPSILON * hi || (f < 0 && is_rest(e, i, t))) break;
    if (f > 0) {
      lo = t;
      f_lo = f;
    } else {
      hi = t;
      f_hi = f;
    }
  }
  return CB_OK;
}

/* Finds the time and the vertex of the first contact in the trial from the state a at the time ta to the state *out at
 * the time *tb, in which vertices are below the floor. *tb and *out become the time and the state of the contact. *tb
 * becomes 0 if a vertex that touches the floor at the start does not leave it, or rests. */
static cb_status first_zero(cb_floor_run *e, cb_floor_look *a, double ta, double *tb, cb_floor_look *out, int *vertex) {
  cb_status status = cb_floor_rates(e, a);
  if (status) return status;
  const double leaving = a == &e->look[0] ? least_rate(e, vertex) : INFINITY;
  if (leaving < INFINITY && leaving * *tb <= out->round_off) {
    *tb = 0;
    return CB_OK;
  }
  for (int i; (i = first_below(e, a, out, *tb - ta)) >= 0;) {
    const double before = *tb;
    *vertex = i;
    status = zero(e, a, ta, tb, out, i);
    if (status || !(*tb < before)) return status;
    if (is_rest(e, i, *tb)) *tb = 0;
    if (!(*tb > 0)) return CB_OK;
  }
  return CB_OK;
}

cb_status cb_floor_meet(cb_floor_run *e, double *tau, cb_floor_look **out, int *vertex) {
  cb_floor_look *a = &e->look[0], *b = &e->look[1];
  double ta = 0, tb = *tau;
  for (int trial = 0; trial < MAX_TRIALS; trial++) {
    const double speed = cb_floor_speed(a, a->s.Y), spin = sqrt(cb_dot3(a->s.Y, a->s.Y));
    if (spin * (tb - ta) > 1 && a->least <= 2 * speed * (tb - ta)) tb = ta + 1 / spin;
    cb_status status = cb_floor_fly(e, tb, b);
    if (status) return status;
    const bool meets = any_below(e, b);
    if (meets && (status = first_zero(e, a, ta, &tb, b, vertex))) return status;
    const double length = tb - ta, way = 2 * fmax(speed, cb_floor_speed(b, b->s.Y)) * length;
    double cut = 0;
    if (tb > 0 && length > e->near && fmin(a->least, b->least) <= way) {
      if (!status) status = cb_floor_rates(e, a);
      if (!status) status = cb_floor_rates(e, b);
      if (status) return status;
      if (dips(e, a, b, length, &cut)) {
        tb = ta + cut * length;
        continue;
      }
    }
    *out = b;
    if (!meets) *vertex = -1;
    if (meets || tb == *tau) {
      *tau = tb;
      return CB_OK;
    }
    b = b == &e->look[1] ? &e->look[2] : &e->look[1];
    a = *out;
    ta = tb;
    tb = *tau;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "the contact of a body with the floor after t = %g did not converge in %d trials: try a smaller step",
                 e->look[0].s.t, MAX_TRIALS);
}
