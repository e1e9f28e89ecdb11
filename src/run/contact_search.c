/* The search for the first time at which a gap closes (contacts_private.h).
 *
 * Let a gap have the value s > 0 at some time, the rate s' and a bound s'' >= -A, and let t be the time since then. The
 * gap does not close before the positive zero t = 2 s / (-s' + sqrt(s'^2 + 2 A s)) of s + s' t - A t^2/2. The search
 * evaluates the gap next at this zero. Near a zero of the gap these times converge to the zero quadratically, from
 * earlier times. For A = 0 this is Newton's method on a convex function. The last steps are Newton steps, down to
 * round-off. The same bound holds backwards from a later time with a known state, such as the end of the step. If the
 * forward and the backward interval overlap, there is no contact, and no further evaluation is needed; an evaluation
 * costs as much as a step.
 */
#include "run/contacts_private.h"

#include <math.h>
#include <string.h>

enum { LOOKS_MAX = 20000, BESIDE = 64, POLISH = 30, SHORTER = 8 };

/* A closing gap counts as nearly closed if it is below this number times the length of the step times max(1, v), where
 * v is the speed at which it closes. The zero of the gap is then computed down to round-off. */
static const double near = 1e-7;
/* A gap up to this counts as 0, because round-off leaves such gaps at a zero. Points that pass each other at a smaller
 * distance have met. */
static const double closed = 1e-13;
/* A gap that is 0 and does not close may become negative by this depth before the search evaluates it again. */
static const double hair = 1e-16;
/* The amount by which a constant gap may seem to become smaller because of round-off. */
static const double deep = 16e-16;
/* Rates below this, relative to the sum of the particles' speeds, count as 0: they are the round-off of a reflection
 * and do not close a gap of points that touch. */
static const double still = 1e-13;
/* The search ends with an open gap if its bound A shows that the gap stays open for the remaining time, and for this
 * fraction of the remaining time after it. */
static const double beyond = 1e-9;
/* The limit of `still` is increased by this number times the largest speed of all particles, because the speeds of
 * particles at rest are only round-off. */
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

/* Finds the positions x of the gap's particles at tau, and the states that contain them. */
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

/* Computes a bound A of the second derivative of a candidate's gap, for the times from tau to tau + duration. It
 * follows from the bounds of the speeds and accelerations of the particles. */
static cb_status second_derivative_bound(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, double duration,
                                         double *out) {
  const cb_state *state[CB_GAP_PARTICLES];
  const double *x[CB_GAP_PARTICLES];
  double speed[CB_GAP_PARTICLES], acceleration[CB_GAP_PARTICLES];
  const cb_status status = place(p, c, tau, state, x);
  for (int i = 0; i < c->gap.n; i++) {
    speed[i] = p->speed[c->gap.particle[i]];
    acceleration[i] = p->acceleration[c->gap.particle[i]];
  }
  if (!status) *out = cb_gap_second_derivative_bound(gaps, &c->gap, p->t + tau, x, speed, acceleration, duration);
  return status;
}

/* Improves *tau by Newton's method as long as the gap becomes smaller. At the given *tau the gap is nearly closed and
 * is closing. */
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

/* Returns the duration for which a gap s with this rate and the bound A of its second derivative certainly does not
 * close; INFINITY: it never closes; 0: no such duration is known. A gap s < 0 that does not close further counts as 0.
 * If A is not finite, the duration follows from `speeds`, the sum of the particles' speeds, which bounds the rate of a
 * distance (0: the gap is not a distance). */
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

/* Sets *wait to a duration for which the gap certainly stays open. This duration is computed by open_for from the bound
 * A of s'' over all the remaining time. The bound may be useless, because in that time the other particle may pass the
 * centre of a ball, or half a great circle of a sphere. Then bounds over shorter times are tried. A gap that rests at 0
 * may sink by `hair`. */
static cb_status candidate_keeps(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double at, double until, double s,
                                 double rate, double *wait) {
  const double left = until - at, all = speeds_of(p, c), quiet = quiet_of(p, c),
               speeds = cb_gap_is_length(gaps, &c->gap) ? all : 0;
  double best = speeds > 0 && s > 0 ? s / speeds : 0, span = left;
  for (int i = 0; i < SHORTER && span > best; i++, span /= 4) {
    double A;
    const cb_status status = second_derivative_bound(p, gaps, c, at, span, &A);
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

/* Returns the time from which a gap certainly stays open until `until`; `until` itself if no such time is known. The
 * result follows from the state at `until`, which is known if `until` is the end of the step or the time of another
 * contact. */
static double open_from(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double at, double until) {
  cb_gap_value value;
  double rate, A;
  const double speeds = cb_gap_is_length(gaps, &c->gap) ? speeds_of(p, c) : 0;
  if (cb_candidate_at(p, gaps, c, until, &value, &rate) || !value.active || !(value.gap > 0)) return until;
  if (second_derivative_bound(p, gaps, c, at, until - at, &A)) return until;
  return until - open_for(value.gap, -rate, A, speeds);
}

/* Sets *A to twice the part of the bound A that comes from the accelerations of the particles at tau. The other part of
 * A comes from their velocities. Near the tip of a cone that part is about as large for every motion, so that it does
 * not show whether a motion is slow. */
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
  cb_status status = second_derivative_bound(p, gaps, c, tau, time, &A);
  if (!status) status = second_derivative_bound(p, gaps, c, tau, 0, &there);
  if (!status && A < INFINITY && !(there < INFINITY)) status = pull(p, gaps, c, tau, &A);
  if (!status) *speed = A < INFINITY ? fmax(A * time / 2, 4 * sqrt(2 * hair * A)) + 16 * quiet_of(p, c) : 0;
  return status;
}

/* The last evaluation of a gap of `calm` points, which touch and move together, or begin to separate. For such points
 * the search doubles its step at each evaluation, and goes back if the gap has closed in between. */
typedef struct calm {
  /* at: the time of the evaluation; s: the gap; wait: a duration for which the gap certainly stays open; growth: the
   * next evaluation is growth times `wait` later; 0: the points are not calm */
  double at, s, wait, growth;
} calm;

/* Marks the points as not calm, because their gap has closed between two evaluations. Returns the time until which the
 * gap is certainly open. */
static double back(calm *before) {
  before->growth = 0;
  return before->at + before->wait;
}

/* Sets *at to the time at which the gap of calm points (see `calm`) is evaluated next. If that would be `until`, sets
 * *open to whether the gap is still open at `until`, so that the search can end. */
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

/* Sets *zero to whether a gap s, which is nearly closed and closing at *moment, has a zero there. If s > 0, the time of
 * the zero is stored in *moment and the gap at this time in *value; if s <= 0, both stay unchanged. */
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
  return cb_fail(
      CB_STEP_NO_CONVERGENCE,
      "the contact of %s and %s was neither found nor excluded in %d evaluations; try a smaller integrator.step", one,
      other < 0 ? "a wall" : cb_system_particle_name(p->system, other), LOOKS_MAX);
}

/* Finds the next evaluation time *at of a candidate that is inactive at *at, because its particle is beyond the border
 * of a branch of a wall, or beside a face. For a wall this is the time at which the particle may return. For a face the
 * search continues on the other side of the face, and every second call also moves *at forward by 1/BESIDE of the
 * range. *at becomes INFINITY if nothing closes before range[1]. */
static cb_status pass_inactive(cb_parts *p, cb_gaps *gaps, cb_candidate *c, const double range[2], double s,
                               double closing, int *turns, double *at) {
  if (c->gap.kind == CB_GAP_WALL) {
    double wait;
    const cb_status status = candidate_keeps(p, gaps, c, *at, range[1], -s, -closing, &wait);
    if (!status) *at = wait < range[1] - *at ? *at + fmax(wait, 1e-12 * fabs(p->h)) : INFINITY;
    return status;
  }
  c->gap.side = -c->gap.side;
  if ((*turns)++ % 2) *at += (range[1] - range[0]) / BESIDE;
  if (*at >= range[1]) *at = INFINITY;
  return CB_OK;
}

/* Does the work of cb_candidate_first except at the time `until` itself. *sure becomes true if the gap certainly does
 * not close at `until` or shortly after it. */
static cb_status first(cb_parts *p, cb_gaps *gaps, cb_candidate *c, double from, double until, double *tau, bool *found,
                       bool *sure) {
  const double quiet = quiet_of(p, c), tiny = 1e-12 * fabs(p->h);
  const int side = c->gap.side;
  double at = from, open = NAN;
  calm before = {0};
  cb_status status = CB_OK;
  for (int look = 0, turns = 0; !status && look < LOOKS_MAX; look++) {
    cb_gap_value value;
    double rate;
    if ((status = cb_candidate_at(p, gaps, c, at, &value, &rate))) break;
    const double s = value.gap, closing = fabs(rate) <= quiet ? 0 : rate;
    if (before.growth > 1 && s < fmin(0, before.s) - deep) { /* the step was too long */
      at = back(&before);
      continue;
    }
    if (!value.active && s < 0) {
      if ((status = pass_inactive(p, gaps, c, (const double[]){from, until}, s, closing, &turns, &at))) break;
      if (at == INFINITY) return CB_OK;
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
        c->gap.side = -c->gap.side; /* it passes the plane of the face outside the face: continue on the other side */
        at = moment + tiny + (c->gap.kind == CB_GAP_WALL ? 2 * fabs(value.gap / closing) : 0); /* skip the round-off */
        if (at >= until) return CB_OK;
        continue;
      }
    }
    double wait;
    if ((status = candidate_keeps(p, gaps, c, at, until, s, closing, &wait))) break;
    before.growth = closing >= 0 && fabs(s) <= closed ? fmax(1, 2 * before.growth) : 0;
    if (before.growth > 1 && wait < until - at) {
      bool stays;
      before.at = at;
      before.s = s;
      before.wait = fmax(wait, 1e-3 * tiny);
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

/* --- zeros of events ---
 *
 * The search for the zeros of events (contacts_private.h).
 *
 * A gap s is at a zero if |s| <= tolerance, where
 *   tolerance = 1e-13 (sum_i |ds/dx_i| (|x_i| + |v_i| h) + |ds/dt| (|t| + h) + the distance)
 * is the effect of round-off in the coordinates x_i of the event's particles (v_i: their velocities), in the time t and
 * in the distance. |x_i| includes the distance that the origin has moved; h is the length of the step; `the distance`
 * is the distance of the particles at which the event happens, or 0 if the event is not defined by a distance. The
 * tolerance is proportional to the scale of s.
 * All times from a zero until |s| > tolerance count as one zero. Therefore a gap that rests at zero, or is zero at the
 * end of a step, is reported once. A zero at the end of a step is reported in that step. A step that begins at a zero
 * assumes that this zero was reported, except at the start of the run. Therefore the state of a checkpoint contains
 * everything that a resumed run needs.
 * If s > tolerance, with the rate s' and a bound s'' >= -A, there is no zero before the zero of s + s' t - A t^2/2,
 * where the search continues (candidate_keeps). Near a zero Newton's method is faster; it also converges to a touch.
 * The bound A is sampled, and an expression may have a kink or a jump; the sign at the end of the step shows a zero
 * that the search has missed.
 */

enum { EVENT_LOOKS_MAX = 20000, PATIENCE = 400, BISECTIONS = 200, EVENT_POLISH = 40 };

static const double round_off = 1e-13;
/* newton: Newton's method is used if its step is at most this fraction of a time step. beside_end: a zero that is this
 * fraction of a step or less before the end of the step is compared with the sign at the end. */
static const double newton = 1e-3, beside_end = 1e-9;

typedef struct search {
  cb_parts *p;
  cb_gaps *gaps;
  const cb_candidate *c;
  double until;
} search;

/* The gap s of the event at the time `at`, the rate of s, and the tolerance: |s| up to this counts as 0. */
typedef struct look {
  double at, s, rate, tolerance;
} look;

static int sign_of(const look *l) { return fabs(l->s) <= l->tolerance ? 0 : l->s > 0 ? 1 : -1; }

static cb_status look_at(const search *s, double at, look *out) {
  cb_parts *p = s->p;
  cb_gap_value value;
  double rate, sum;
  cb_status status = cb_candidate_at(p, s->gaps, s->c, at, &value, &rate);
  if (status) return status;
  const double h = fabs(p->h);
  sum = fabs(value.rate_t) * (fabs(p->t + at) + h) + cb_gap_event_distance(s->gaps, &s->c->gap);
  for (int i = 0; i < s->c->gap.n && !status; i++) {
    const cb_state *state;
    const int place = s->c->gap.particle[i];
    const int part = cb_system_component(p->system, place);
    double v[CB_Q_MAX], moved = p->base->origin[part].length;
    for (int a = 0; a < CB_DIM_MAX; a++) moved += fabs(p->base->origin[part].shift[a]);
    status = cb_parts_at(p, part, at, &state);
    if (!status) status = cb_parts_velocity(p, state, place, v);
    for (int a = 0; a < p->k && !status; a++)
      sum += fabs(value.gradient[i * p->k + a]) * (fabs(state->x[place * p->k + a]) + moved + h * fabs(v[a]));
  }
  *out = (look){at, value.gap, rate, isfinite(sum) ? round_off * sum : 0};
  return status;
}

/* The gap has a sign at `from`, and not the same sign at *to. Finds, to the round-off of times, the time between `from`
 * and *to at which the gap loses the sign, and stores this time and its gap in *to. */
static cb_status narrow(const search *s, look from, look *to) {
  const int side = sign_of(&from);
  for (int i = 0; i < BISECTIONS && sign_of(to) != 0; i++) {
    const double middle = from.at + 0.5 * (to->at - from.at);
    double at = i % 3 == 2 ? middle : from.at - from.s / from.rate;
    if (i % 3 == 1) at = to->at - to->s / to->rate;
    if (!(at > from.at && at < to->at)) at = middle;
    if (!(at > from.at && at < to->at)) return CB_OK;
    look now;
    const cb_status status = look_at(s, at, &now);
    if (status) return status;
    *(sign_of(&now) == side ? &from : to) = now;
  }
  return CB_OK;
}

/* Improves the time of a zero by Newton's method until |s| does not become smaller; the zero stays after the time
 * `after`. A zero at the end of the search stays there. */
static cb_status polish_event(const search *s, double after, look *zero) {
  for (int i = 0; i < EVENT_POLISH && zero->s != 0 && zero->at != s->until; i++) {
    const double at = fmin(zero->at - zero->s / zero->rate, s->until);
    look now;
    if (!(at > after) || at == zero->at) return CB_OK;
    const cb_status status = look_at(s, at, &now);
    if (status) return status;
    if (!(fabs(now.s) < fabs(zero->s))) return CB_OK;
    *zero = now;
  }
  return CB_OK;
}

/* Finds whether a zero just before the end of a step exists only because of round-off: the gap has its old sign at the
 * end and is still closing. The zero then belongs to the next step. */
static cb_status is_early(const search *s, int side, const look *zero, bool *early) {
  look end;
  *early = false;
  if (s->until != s->p->h || !(zero->at < s->until) || s->until - zero->at > beside_end * fabs(s->p->h)) return CB_OK;
  const cb_status status = look_at(s, s->until, &end);
  *early = !status && sign_of(&end) == side && side * end.rate < 0;
  return status;
}

/* Finds a time at which the gap has left a known zero. Evaluates the gap at growing times after the zero, up to the end
 * of the search, and sets *left to whether there is such a time. */
static cb_status leave(const search *s, look *now, bool *left) {
  double wait = 1e-12 * fabs(s->p->h);
  while (!(*left = sign_of(now) != 0) && now->at < s->until) {
    const cb_status status = look_at(s, fmin(now->at + wait, s->until), now);
    if (status) return status;
    wait *= 2;
  }
  return CB_OK;
}

/* At *now the gap has a sign. Evaluates the gap at a later time. This time follows from a Newton step if the step is
 * short and makes the gap clearly smaller. Otherwise it follows from the bound A, and is at least `least` after *now.
 * Sets *left to whether the gap has lost its sign at the later time. If so, stores the result in *zero. Otherwise
 * stores it in *now, and sets *at_end to whether the later time is the end of the search. */
static cb_status advance(const search *s, double least, look *now, look *zero, bool *left, bool *at_end) {
  const int side = sign_of(now);
  const double h = fabs(s->p->h), closing = side * now->rate;
  double wait;
  cb_status status;
  *left = *at_end = false;
  if (closing < 0 && side * now->s <= newton * -closing * h) {
    status = look_at(s, fmin(now->at - now->s / now->rate, s->until), zero);
    if (status) return status;
    if ((*left = sign_of(zero) != side)) return CB_OK;
    if (side * zero->rate < 0 && side * zero->s < 0.9 * side * now->s && zero->at > now->at) {
      *now = *zero;
      *at_end = now->at >= s->until;
      return CB_OK;
    }
  }
  status = candidate_keeps(s->p, s->gaps, s->c, now->at, s->until, side * now->s, closing, &wait);
  if (status) return status;
  status = look_at(s, fmin(now->at + fmax(wait, least), s->until), zero);
  if (status) return status;
  if ((*left = sign_of(zero) != side)) return CB_OK;
  *now = *zero;
  *at_end = now->at >= s->until;
  return CB_OK;
}

static bool counts(const search *s, int side, const look *zero) {
  const int direction = cb_gap_direction(s->gaps, &s->c->gap);
  if (side == 0) side = zero->rate < 0 ? 1 : zero->rate > 0 ? -1 : 0;
  return direction == CB_EVENT_BOTH || side == 0 || (direction == CB_EVENT_FALLING) == (side > 0);
}

static cb_status fail_to_find_event(const search *s) {
  return cb_fail(
      CB_STEP_NO_CONVERGENCE,
      "event `%s`: its next zero was neither found nor excluded in %d evaluations; try a smaller integrator.step",
      cb_system_event_name(s->p->system, s->c->gap.index), EVENT_LOOKS_MAX);
}

cb_status cb_event_first(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, cb_event_memory memory, double from,
                         double until, double *tau, bool *found) {
  const search s = {p, gaps, c, until};
  const double h = fabs(p->h);
  double least = 0;
  look now;
  cb_status status = look_at(&s, from, &now);
  *found = false;
  for (int looks = 0; !status && looks < EVENT_LOOKS_MAX; looks++) {
    look zero = now;
    bool left = true, early = false;
    if (memory.known) {
      if ((status = leave(&s, &now, &left)) || !left) return status;
      memory = (cb_event_memory){sign_of(&now), false};
    }
    if (sign_of(&now) == memory.side && memory.side) {
      bool at_end;
      /* Just after a zero the bound A allows only very short steps, and none at all if the gap stays near zero. The
       * step is therefore at least `least`. */
      least = looks > PATIENCE ? h / PATIENCE : memory.side * now.rate >= 0 ? fmax(1e-13 * h, 2 * least) : 1e-15 * h;
      if ((status = advance(&s, least, &now, &zero, &left, &at_end))) return status;
      if (!left && at_end) return CB_OK;
      if (!left) continue;
      if ((status = narrow(&s, now, &zero)) || (sign_of(&zero) == 0 && (status = polish_event(&s, now.at, &zero))) ||
          (status = is_early(&s, memory.side, &zero, &early)))
        return status;
      if (early) return CB_OK;
    }
    if (counts(&s, memory.side, &zero)) {
      *tau = zero.at;
      *found = true;
      return CB_OK;
    }
    now = zero;
    memory.known = true;
  }
  return status ? status : fail_to_find_event(&s);
}

cb_status cb_event_known(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, cb_event_memory *memory) {
  const search s = {p, gaps, c, p->h};
  look now;
  const cb_status status = look_at(&s, tau, &now);
  if (!status) *memory = (cb_event_memory){sign_of(&now), sign_of(&now) == 0};
  return status;
}
