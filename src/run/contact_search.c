/* See contact_search.h.
 *
 * At a time with gap s > 0 and rate s', nothing happens before the smaller zero of s + s' t - A t^2/2, which is where to
 * look next:  t = 2 s / (-s' + sqrt(s'^2 + 2 A s)).  Towards a crossing this converges quadratically from the left (it
 * is Newton's method for A = 0, on a gap that is convex then); the last steps are Newton's, to round-off. The same holds
 * backwards from a later time at which the state is known, such as the end of the step: where the two times overlap
 * nothing is met, and no look, which costs a step, was needed in between.
 */
#include "run/contact_search.h"

#include <math.h>
#include <string.h>

enum { MOST_LOOKS = 20000, BESIDE = 64, POLISH = 30, SHORTER = 8 };

/* A gap smaller than this counts as closed while it is looked for, before it is solved for to round-off. */
static const double near = 1e-7;
/* What is left of it then: round-off. Points that pass nearer than this have met. */
static const double closed = 1e-13;
/* How deep a gap that is 0 and does not close may become before that is looked at again. */
static const double hair = 1e-16;
/* How much deeper a gap that stays what it is may look, by round-off. */
static const double deep = 16e-16;
/* Below this, relative to their speeds, points that touch do not close: round-off of a reflection. */
static const double still = 1e-13;
/* A gap that is open for so much longer than the step, relative to it, is not closed at its end. */
static const double beyond = 1e-9;
/* And below this, relative to the fastest of all: round-off of what is at rest. */
static const double asleep = 1e-16;

cb_candidate cb_candidate_of(const cb_system *system, const cb_gap *gap) {
  cb_candidate c = {.gap = *gap};
  for (int i = 0; i < gap->n; i++) {
    const int part = cb_system_component(system, gap->particle[i]);
    bool known = false;
    for (int j = 0; j < c.parts; j++) known = known || c.part[j] == part;
    if (!known && c.parts < 2) c.part[c.parts++] = part;
  }
  return c;
}

/* Positions of the gap's particles at tau, and the states they are in. */
static cb_status place(cb_parts *p, const cb_candidate *c, double tau, const cb_state **state, const double **x) {
  for (int i = 0; i < c->gap.n; i++) {
    const int place_i = c->gap.particle[i];
    const cb_status status = cb_parts_at(p, cb_system_component(p->system, place_i), tau, &state[i]);
    if (status) return status;
    x[i] = state[i]->x + (size_t)place_i * (size_t)p->k;
  }
  return CB_OK;
}

cb_status cb_candidate_at(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, cb_gap_value *value,
                          double *rate) {
  const cb_state *state[CB_GAP_PARTICLES];
  const double *x[CB_GAP_PARTICLES];
  cb_status status = place(p, c, tau, state, x);
  if (!status) status = cb_gap_eval(gaps, &c->gap, p->t + tau, x, 1, value);
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  *rate = value->rate_t;
  for (int i = 0; i < c->gap.n; i++) {
    double v[CB_Q_MAX];
    status = cb_parts_velocity(p, state[i], c->gap.particle[i], v);
    if (status) return status;
    for (int a = 0; a < p->k; a++) *rate += value->gradient[i * p->k + a] * v[a];
  }
  return CB_OK;
}

/* A, from the bounds of the particles, for this time from tau on. */
static cb_status bend(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, double duration, double *out) {
  const cb_state *state[CB_GAP_PARTICLES];
  const double *x[CB_GAP_PARTICLES];
  double speed[CB_GAP_PARTICLES], acceleration[CB_GAP_PARTICLES];
  const cb_status status = place(p, c, tau, state, x);
  for (int i = 0; i < c->gap.n; i++) {
    speed[i] = p->speed[c->gap.particle[i]];
    acceleration[i] = p->acceleration[c->gap.particle[i]];
  }
  if (!status) *out = cb_gap_bend(gaps, &c->gap, p->t + tau, x, speed, acceleration, duration);
  return status;
}

/* Newton's method from a gap that is nearly closed and closing, as long as the gap gets smaller. */
static cb_status polish(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double *tau) {
  double best = INFINITY, at = *tau;
  for (int i = 0; i < POLISH; i++) {
    cb_gap_value value;
    double rate;
    const cb_status status = cb_candidate_at(p, gaps, c, at, &value, &rate);
    if (status) return status;
    if (!(fabs(value.gap) < best)) return CB_OK;
    best = fabs(value.gap);
    *tau = at;
    if (best == 0 || !(rate < 0)) return CB_OK;
    const double next = at - value.gap / rate;
    if (next == at || !(next >= 0) || next > p->h) return CB_OK;
    at = next;
  }
  return CB_OK;
}

/* How long the gap s, with rate s' and bend A, surely keeps its sign; INFINITY: for ever. Without a bend, by the sum of
 * the speeds, which bounds the rate of a distance (0: not known). */
static double open_for(double s, double rate, double A, double speeds) {
  if (!(A < INFINITY)) return s > 0 && speeds > 0 ? s / speeds : 0;
  if (rate >= 0) {
    if (A == 0) return INFINITY;
    s = fmax(s, 0);
    return (rate + sqrt(rate * rate + 2 * A * s)) / A;
  }
  if (s <= 0) return 0;
  return 2 * s / (-rate + sqrt(rate * rate + 2 * A * s));
}

static double speeds_of(const cb_parts *p, const cb_candidate *c) {
  double sum = 0;
  for (int i = 0; i < c->gap.n; i++) sum += p->speed[c->gap.particle[i]];
  return sum;
}

static double quiet_of(const cb_parts *p, const cb_candidate *c) {
  return still * speeds_of(p, c) + asleep * p->fastest;
}

/* The same from `at` on. Where the bend of all the time that is left tells little (its far end may be beside the centre
 * of a ball, or half round a sphere), that of shorter times is asked for. What rests at 0 is let go by a hair. */
cb_status cb_candidate_keeps(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double at, double until, double s,
                             double rate, double *wait) {
  const double left = until - at, all = speeds_of(p, c), quiet = quiet_of(p, c),
               speeds = cb_gap_is_length(gaps, &c->gap) ? all : 0;
  double best = speeds > 0 && s > 0 ? s / speeds : 0, span = left;
  for (int i = 0; i < SHORTER && span > best; i++, span /= 4) {
    double A;
    const cb_status status = bend(p, gaps, c, at, span, &A);
    if (status) return status;
    double open = open_for(s, rate, A, speeds);
    if (rate == 0 && s <= hair && A > 0 && A < INFINITY) open = fmax(open, sqrt(2 * hair / A) + 4 * quiet / A);
    best = fmax(best, fmin(open, span));
    if (i == 0 && open >= span) best = open;
    if (open >= span / 4 || (rate < 0 && best >= -0.5 * s / rate)) break;
  }
  *wait = best;
  return CB_OK;
}

/* The time from which on a contact surely stays open until `until`, told by where things are then, which is known
 * already at the end of the step or where another contact was found; `until`: nothing is told. */
static double open_from(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double at, double until) {
  cb_gap_value value;
  double rate, A;
  const double speeds = cb_gap_is_length(gaps, &c->gap) ? speeds_of(p, c) : 0;
  if (cb_candidate_at(p, gaps, c, until, &value, &rate) || !value.active || !(value.gap > 0)) return until;
  if (bend(p, gaps, c, at, until - at, &A)) return until;
  return until - open_for(value.gap, -rate, A, speeds);
}

/* What accelerations alone make of A: at the tip of a cone the gap bends about as fast as anything moves. */
static cb_status pull(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, double *A) {
  cb_gap_value value;
  double rate;
  const cb_status status = cb_candidate_at(p, gaps, c, tau, &value, &rate);
  *A = 0;
  for (int i = 0; i < c->gap.n && !status; i++) {
    double squares = 0;
    for (int a = 0; a < p->k; a++) squares += value.gradient[i * p->k + a] * value.gradient[i * p->k + a];
    *A += 2 * sqrt(squares) * p->acceleration[c->gap.particle[i]];
  }
  return status;
}

cb_status cb_candidate_slow(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, double time, double *speed) {
  double A, there;
  cb_status status = bend(p, gaps, c, tau, time, &A);
  if (!status) status = bend(p, gaps, c, tau, 0, &there);
  if (!status && A < INFINITY && !(there < INFINITY)) status = pull(p, gaps, c, tau, &A);
  if (!status) *speed = A < INFINITY ? fmax(A * time / 2, 4 * sqrt(2 * hair * A)) + 16 * quiet_of(p, c) : 0;
  return status;
}

/* Points that touch and move together, or begin to part: looks go twice as far each time, and back where the gap turns out
 * to have closed on the way. */
typedef struct calm {
  double at, s, wait, growth; /* growth 0: they do not */
} calm;

/* It closed on the way. */
static double back(calm *before) { return before->growth = 0, before->at + before->wait; }

/* The next look of points that are calm; *open: they stay so until the end. */
static cb_status leap(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double until, calm *before, double *at,
                      bool *open) {
  cb_gap_value value;
  double rate;
  *open = false;
  *at = fmin(before->at + before->growth * before->wait, until);
  if (*at < until) return CB_OK;
  const cb_status status = cb_candidate_at(p, gaps, c, until, &value, &rate);
  if (status) return status;
  *open = value.gap >= fmin(0, before->s) - deep;
  *at = back(before);
  return CB_OK;
}

/* Of a gap s that is nearly closed, at *moment, and closing: is there a zero, which then goes to *moment? */
static cb_status find_zero(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double s, double *moment,
                           cb_gap_value *value, bool *zero) {
  double rate;
  cb_status status = s > 0 ? polish(p, gaps, c, moment) : CB_OK;
  if (s > 0 && !status) status = cb_candidate_at(p, gaps, c, *moment, value, &rate);
  *zero = s <= 0 || fabs(value->gap) <= closed;
  return status;
}

static cb_status fail_to_find(const cb_parts *p, const cb_candidate *c) {
  const char *one = cb_system_particle_name(p->system, cb_system_particle(p->system, c->gap.particle[0]));
  const int other = c->gap.n > 1 ? cb_system_particle(p->system, c->gap.particle[1]) : -1;
  return cb_fail(CB_STEP_NO_CONVERGENCE, "contact of %s and %s: neither found nor excluded in %d looks", one,
                 other < 0 ? "a wall" : cb_system_particle_name(p->system, other), MOST_LOOKS);
}

/* *sure: nothing closes until after `until`, either. */
static cb_status first(cb_parts *p, cb_gaps *gaps, cb_candidate *c, double from, double until, double *tau, bool *found,
                       bool *sure) {
  const double quiet = quiet_of(p, c), tiny = 1e-12 * fabs(p->h);
  const int side = c->gap.side;
  double at = from, open = NAN;
  calm before = {0};
  cb_status status = CB_OK;
  for (int look = 0, turns = 0; !status && look < MOST_LOOKS; look++) {
    cb_gap_value value;
    double rate;
    if ((status = cb_candidate_at(p, gaps, c, at, &value, &rate))) break;
    const double s = value.gap, closing = fabs(rate) <= quiet ? 0 : rate;
    if (before.growth > 1 && s < fmin(0, before.s) - deep) { /* too far */
      at = back(&before);
      continue;
    }
    if (!value.active && s < 0 && c->gap.kind == CB_GAP_WALL) { /* beyond the border of a branch, until it comes back */
      double wait;
      if ((status = cb_candidate_keeps(p, gaps, c, at, until, -s, -closing, &wait))) break;
      if (!(wait < until - at)) return CB_OK;
      at += fmax(wait, tiny);
      continue;
    }
    if (!value.active && s < 0) { /* beside the face: on its other side, or within its thickness */
      c->gap.side = -c->gap.side;
      if (turns++ % 2) at += (until - from) / BESIDE;
      if (at >= until) return CB_OK;
      continue;
    }
    if (closing < 0 && s <= near * fmax(1, -closing) * fabs(p->h)) {
      double moment = at;
      bool zero;
      if ((status = find_zero(p, gaps, c, s, &moment, &value, &zero))) break;
      if (zero && value.active) {
        *tau = moment;
        *found = true;
        return CB_OK;
      }
      if (zero) {
        c->gap.side = -c->gap.side; /* beside the face, to its other side */
        at = moment + tiny + (c->gap.kind == CB_GAP_WALL ? 2 * fabs(value.gap / closing) : 0); /* past round-off */
        if (at >= until) return CB_OK;
        continue;
      }
    }
    double wait;
    if ((status = cb_candidate_keeps(p, gaps, c, at, until, s, closing, &wait))) break;
    before.growth = closing >= 0 && fabs(s) <= closed ? fmax(1, 2 * before.growth) : 0;
    if (before.growth > 1 && wait < until - at) {
      bool stays;
      before.at = at, before.s = s, before.wait = fmax(wait, 1e-3 * tiny);
      if (!(status = leap(p, gaps, c, until, &before, &at, &stays)) && stays) return CB_OK;
      continue;
    }
    *sure = wait > (until - at) * (1 + beyond);
    if (!(wait < until - at)) return CB_OK;
    if (c->gap.side == side && isnan(open)) open = open_from(p, gaps, c, at, until);
    if (c->gap.side == side && at + wait >= open) return CB_OK;
    at += fmax(wait, 1e-3 * tiny);
    if (at >= until) return CB_OK;
  }
  return status ? status : fail_to_find(p, c);
}

cb_status cb_candidate_first(cb_parts *p, cb_gaps *gaps, cb_candidate *c, double from, double until, double *tau,
                             bool *found) {
  bool sure = false;
  cb_gap_value value;
  double rate;
  *found = false;
  cb_status status = first(p, gaps, c, from, until, tau, found, &sure);
  if (status || *found || sure || until != p->h) return status;
  status = cb_candidate_at(p, gaps, c, until, &value, &rate);
  if (status || !value.active || fabs(value.gap) > closed || !(rate < -quiet_of(p, c))) return status;
  *tau = until;
  *found = true;
  return CB_OK;
}
