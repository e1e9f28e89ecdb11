/* See contact_search.h.
 *
 * At a time with gap s > 0 and rate s', nothing happens before the smaller zero of s + s' t - A t^2/2, which is where to
 * look next:  t = 2 s / (-s' + sqrt(s'^2 + 2 A s)).  Towards a crossing this converges quadratically from the left (it
 * is Newton's method for A = 0, on a gap that is convex then); the last steps are Newton's, to round-off.
 */
#include "run/contact_search.h"

#include <math.h>
#include <string.h>

enum { MOST_LOOKS = 20000, POLISH = 30 };

/* A gap smaller than this counts as closed while it is looked for, before it is solved for to round-off. */
static const double near = 1e-7;
/* What is left of it then: round-off. Points that pass nearer than this have met. */
static const double closed = 1e-13;

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

/* A, from the bounds of the particles, for the time left. */
static cb_status bend(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, double *out) {
  const cb_state *state[CB_GAP_PARTICLES];
  const double *x[CB_GAP_PARTICLES];
  double speed[CB_GAP_PARTICLES], acceleration[CB_GAP_PARTICLES];
  const cb_status status = place(p, c, tau, state, x);
  for (int i = 0; i < c->gap.n; i++) {
    speed[i] = p->speed[c->gap.particle[i]];
    acceleration[i] = p->acceleration[c->gap.particle[i]];
  }
  if (!status) *out = cb_gap_bend(gaps, &c->gap, p->t + tau, x, speed, acceleration, p->h - tau);
  return status;
}

/* Newton's method from a gap that is nearly closed and closing, as long as the gap gets smaller. sign: of the gap. */
static cb_status polish(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double sign, double *tau) {
  double best = INFINITY, at = *tau;
  for (int i = 0; i < POLISH; i++) {
    cb_gap_value value;
    double rate;
    const cb_status status = cb_candidate_at(p, gaps, c, at, &value, &rate);
    if (status) return status;
    if (!(fabs(value.gap) < best)) return CB_OK;
    best = fabs(value.gap);
    *tau = at;
    if (best == 0 || !(sign * rate < 0)) return CB_OK;
    const double next = at - value.gap / rate;
    if (next == at || !(next >= 0) || next > p->h) return CB_OK;
    at = next;
  }
  return CB_OK;
}

/* How long the gap s, with rate s' and bend A, surely keeps its sign; INFINITY: for ever. */
static double open_for(double s, double rate, double A) {
  if (rate >= 0) {
    if (A == 0) return INFINITY;
    s = fmax(s, 0);
    return (rate + sqrt(rate * rate + 2 * A * s)) / A;
  }
  if (s <= 0) return 0;
  return 2 * s / (-rate + sqrt(rate * rate + 2 * A * s));
}

/* Below this, relative to the speeds, points that touch do not close: round-off of a reflection. */
static double still(const cb_parts *p, const cb_candidate *c) {
  double sum = 0;
  for (int i = 0; i < c->gap.n; i++) sum += p->speed[c->gap.particle[i]];
  return 1e-13 * sum;
}

/* What an event or a face is at a zero that it closes at. */
typedef enum passage { COUNTS, PASSES } passage;

static passage passage_at(const cb_gaps *gaps, const cb_candidate *c, const cb_gap_value *value, double sign) {
  if (!value->active) return PASSES;
  if (cb_gap_action(gaps, &c->gap) == CB_EVENT_REFLECT) return COUNTS;
  const int direction = cb_gap_direction(gaps, &c->gap);
  return direction == CB_EVENT_BOTH || (direction == CB_EVENT_FALLING) == (sign > 0) ? COUNTS : PASSES;
}

cb_status cb_candidate_first(cb_parts *p, cb_gaps *gaps, cb_candidate *c, double from, double *tau, bool *found) {
  const bool contact = cb_gap_action(gaps, &c->gap) == CB_EVENT_REFLECT;
  const double quiet = still(p, c), tiny = 1e-12 * fabs(p->h);
  double at = from, A, sign = contact ? 1 : 0;
  *found = false;
  cb_status status = bend(p, gaps, c, from, &A);
  for (int look = 0; !status && look < MOST_LOOKS; look++) {
    cb_gap_value value;
    double rate;
    if ((status = cb_candidate_at(p, gaps, c, at, &value, &rate))) break;
    if (sign == 0) sign = value.gap > 0 || (value.gap == 0 && rate > 0) ? 1 : -1; /* events begin on either side */
    double s = sign * value.gap, closing = sign * rate;
    if (fabs(closing) <= quiet) closing = 0;
    if (closing < 0 && s <= near * fmax(1, -closing) * fabs(p->h)) {
      double moment = at;
      if (s > 0) {
        if ((status = polish(p, gaps, c, sign, &moment))) break;
        if ((status = cb_candidate_at(p, gaps, c, moment, &value, &rate))) break;
      }
      if (s <= 0 || fabs(value.gap) <= closed) {
        if (passage_at(gaps, c, &value, sign) == COUNTS) {
          *tau = moment;
          *found = true;
          return CB_OK;
        }
        if (contact)
          c->gap.side = -c->gap.side; /* beside the face, to its other side */
        else
          sign = -sign;
        at = moment + tiny;
        if (at >= p->h) return CB_OK;
        continue;
      }
    }
    const double wait = open_for(s, closing, A);
    if (!(wait < p->h - at)) return CB_OK;
    at += fmax(wait, 1e-3 * tiny);
    if (at >= p->h) return CB_OK;
  }
  if (status) return status;
  const char *one = cb_system_particle_name(p->system, cb_system_particle(p->system, c->gap.particle[0]));
  const int other = c->gap.n > 1 ? cb_system_particle(p->system, c->gap.particle[1]) : -1;
  return cb_fail(CB_STEP_NO_CONVERGENCE, "contact of %s and %s: neither found nor excluded in %d looks", one,
                 other < 0 ? "a wall" : cb_system_particle_name(p->system, other), MOST_LOOKS);
}
