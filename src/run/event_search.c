/* The search for the zeros of events (contact_search.h).
 *
 * A gap s is at a zero if |s| <= tolerance, where
 *   tolerance = 1e-13 (sum_i |ds/dx_i| (|x_i| + |v_i| h) + |ds/dt| (|t| + h) + the distance)
 * is the effect of round-off in the coordinates x_i of the event's particles (v_i: their velocities), in the time t
 * and in the distance. |x_i| includes the distance that the origin has moved; h is the length of the step; `the
 * distance` is the one at which the event is defined, if it is one of a distance. The tolerance is proportional to the
 * scale of s.
 * All times from a zero until |s| > tolerance count as one zero. Therefore a gap that rests at zero, or is zero at the
 * end of a step, is reported once. A zero at the end of a step is reported in that step. A step that begins at a zero
 * assumes that this zero was reported, except at the start of the run. Therefore the state of a checkpoint contains
 * everything that a resumed run needs.
 * If s > tolerance, with the rate s' and a bound s'' >= -A, there is no zero before the zero of s + s' t - A t^2/2,
 * where the search continues (cb_candidate_keeps). Near a zero Newton's method is faster; it also converges to a touch.
 * The bound A is sampled, and an expression may have a kink or a jump; the sign at the end of the step shows a zero
 * that the search has missed.
 */
#include "run/contact_search.h"

#include <math.h>

enum { LOOKS_MAX = 20000, PATIENCE = 400, BISECTIONS = 200, POLISH = 40 };

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

/* The gap has a sign at `from`, and not the same sign at *to. Finds the time between them at which the gap loses the
 * sign, to the round-off of times, and stores the gap there in *to. */
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
static cb_status polish(const search *s, double after, look *zero) {
  for (int i = 0; i < POLISH && zero->s != 0 && zero->at != s->until; i++) {
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

/* Evaluates the gap at growing distances from a known zero, until the gap has left the zero or the time is over. */
static cb_status leave(const search *s, look *now, bool *left) {
  double wait = 1e-12 * fabs(s->p->h);
  while (!(*left = sign_of(now) != 0) && now->at < s->until) {
    const cb_status status = look_at(s, fmin(now->at + wait, s->until), now);
    if (status) return status;
    wait *= 2;
  }
  return CB_OK;
}

/* Evaluates the gap after *now, where it has a sign. The next time is that of a Newton step if the step is short and
 * helps; otherwise it follows from the bound A and is at least `least` later. If *left is true afterwards, the gap does
 * not have that sign at *zero; otherwise *now is a later time with that sign, and *at_end tells whether it is the
 * end. */
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
  status = cb_candidate_keeps(s->p, s->gaps, s->c, now->at, s->until, side * now->s, closing, &wait);
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

static cb_status fail_to_find(const search *s) {
  return cb_fail(
      CB_STEP_NO_CONVERGENCE,
      "event `%s`: its next zero was neither found nor excluded in %d evaluations; try a smaller integrator.step",
      cb_system_event_name(s->p->system, s->c->gap.index), LOOKS_MAX);
}

cb_status cb_event_first(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, cb_event_memory memory, double from,
                         double until, double *tau, bool *found) {
  const search s = {p, gaps, c, until};
  const double h = fabs(p->h);
  double least = 0;
  look now;
  cb_status status = look_at(&s, from, &now);
  *found = false;
  for (int looks = 0; !status && looks < LOOKS_MAX; looks++) {
    look zero = now;
    bool left = true, early = false;
    if (memory.known) {
      if ((status = leave(&s, &now, &left)) || !left) return status;
      memory = (cb_event_memory){sign_of(&now), false};
    }
    if (sign_of(&now) == memory.side && memory.side) {
      bool at_end;
      /* just after a zero the bound A gives only short times, and if the gap approaches zero forever it gives none */
      least = looks > PATIENCE ? h / PATIENCE : memory.side * now.rate >= 0 ? fmax(1e-13 * h, 2 * least) : 1e-15 * h;
      if ((status = advance(&s, least, &now, &zero, &left, &at_end))) return status;
      if (!left && at_end) return CB_OK;
      if (!left) continue;
      if ((status = narrow(&s, now, &zero)) || (sign_of(&zero) == 0 && (status = polish(&s, now.at, &zero))) ||
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
  return status ? status : fail_to_find(&s);
}

cb_status cb_event_known(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, cb_event_memory *memory) {
  const search s = {p, gaps, c, p->h};
  look now;
  const cb_status status = look_at(&s, tau, &now);
  if (!status) *memory = (cb_event_memory){sign_of(&now), sign_of(&now) == 0};
  return status;
}
