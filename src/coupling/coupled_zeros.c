/* The times at which gaps of coupled bodies and particles become 0 within a flight (coupled_contacts.h).
 *
 *   s(tau) = 0 by the Illinois method between two times at which s has different signs; each value is that of a flight of
 *   length tau. Between the ends of a flight s is taken to be the cubic of its values and rates there.
 * s: gap; tau: time since the start of the flight. Source: Dowell & Jarratt, BIT 11 (1971) 168,
 * doi:10.1007/BF01934364 (the Illinois method).
 */
#include "coupling/coupled_contacts.h"

#include <math.h>
#include <string.h>

enum { LOOKS_MAX = 100, HALVES_MAX = 50 };

int cb_gap_sign(const cb_gap_look *l) { return fabs(l->s) <= cb_gap_zero * l->size ? 0 : l->s > 0 ? 1 : -1; }

/* The cubic through the values and rates at both ends of a step of length h is multiplied by `side`. If it is positive
 * at both ends and has a minimum of at most 0 between them, the function returns the fraction of the step at this
 * minimum; otherwise 0. */
static double dips(const cb_gap_look *a, const cb_gap_look *b, int side, double h) {
  const double s0 = side * a->s, s1 = side * b->s, v0 = side * a->rate * h, v1 = side * b->rate * h;
  if (!(s0 > 0 && s1 > 0 && v0 < 0 && v1 > 0)) return 0;
  const double c3 = 2 * (s0 - s1) + v0 + v1, c2 = 3 * (s1 - s0) - 2 * v0 - v1;
  const double root = c2 * c2 - 3 * c3 * v0, u = root > 0 ? -v0 / (c2 + sqrt(root)) : 0;
  const double least = s0 + u * (v0 + u * (c2 + u * c3));
  return u > 0 && u < 1 && least <= 0 ? u : 0;
}

cb_status cb_flight_gap(const cb_flight *s, const cb_gap *gap, double tau, cb_gap_look *out) {
  int body, iterations;
  cb_gap_value value;
  cb_status status = cb_coupled_fly(s->c, s->t, tau, &body, &iterations);
  if (!status) status = cb_coupled_find_rates(s->c, s->t + tau);
  return status ? status : cb_coupled_look(s->c, gap, s->t + tau, &value, out);
}

/* As cb_flight_gap, without the rate of the gap, unless it is a limit of a joint: the velocities of many bodies that feel
 * each other take longer than the flight. */
static cb_status fly_to_gap(const cb_flight *s, const cb_gap *gap, double tau, cb_gap_look *out) {
  int body, iterations;
  cb_gap_value value;
  if (cb_gap_is_limit(gap)) return cb_flight_gap(s, gap, tau, out);
  const cb_status status = cb_coupled_fly(s->c, s->t, tau, &body, &iterations);
  return status ? status : cb_coupled_look(s->c, gap, s->t + tau, &value, out);
}

/* Finds a zero *tau between the times a and b, at which the gap has different signs. The value at an end that is kept
 * is halved each time; if four values do not halve the interval, it is halved. */
static cb_status narrow(const cb_flight *s, const cb_gap *gap, double a, cb_gap_look from, double b, cb_gap_look to,
                        double *tau) {
  double fa = from.s, fb = to.s, width = b - a;
  int kept = 0;
  for (int i = 1; i <= LOOKS_MAX && cb_gap_sign(&to) != 0 && b - a > 4e-16 * (fabs(s->t) + fabs(b)); i++) {
    double middle = (a * fb - b * fa) / (fb - fa);
    if (i % 4 == 0) {
      if (b - a > width / 2) middle = a + (b - a) / 2;
      width = b - a;
    }
    if (!(middle > a && middle < b)) middle = a + (b - a) / 2;
    cb_gap_look now;
    const cb_status status = fly_to_gap(s, gap, middle, &now);
    if (status) return status;
    if (cb_gap_sign(&now) == cb_gap_sign(&from)) {
      a = middle;
      fa = now.s;
      kept = kept < 0 ? kept - 1 : -1;
      if (kept < -1) fb /= 2;
    } else {
      b = middle;
      fb = now.s;
      to = now;
      kept = kept > 0 ? kept + 1 : 1;
      if (kept > 1) fa /= 2;
    }
  }
  *tau = b;
  return CB_OK;
}

/* Finds the zero *tau of a gap that is 0 at the time `from`, has the sign `side` shortly after it, and the opposite
 * sign at the end of the step. *found becomes false if the gap has the opposite sign immediately after `from`: in a
 * shorter time than those that are tried, the rate of `start` does not move it by more than round-off. */
static cb_status zero_after(const cb_flight *s, int i, double from, const cb_gap_look *start, int side, double *tau,
                            bool *found) {
  const cb_coupled_contacts *k = s->c->contacts;
  double until = s->h, a = s->h;
  cb_gap_look now = k->end[i], to = now;
  for (int n = 0; n < HALVES_MAX && cb_gap_sign(&now) != side; n++) {
    if (fabs(start->rate) * (a - from) <= cb_gap_zero * start->size) break;
    until = a;
    to = now;
    a = from + (a - from) / 2;
    const cb_status status = fly_to_gap(s, &k->gap[i], a, &now);
    if (status) return status;
  }
  *found = cb_gap_sign(&now) == side;
  return *found ? narrow(s, &k->gap[i], a, now, until, to, tau) : CB_OK;
}

cb_status cb_flight_zero(const cb_flight *s, int i, double from, const cb_gap_look *start, double *tau, int *side) {
  const cb_coupled_contacts *k = s->c->contacts;
  const cb_gap *gap = &k->gap[i];
  const int before = cb_gap_sign(start);
  cb_gap_look b = k->end[i];
  double until = s->h;
  bool found = false;
  cb_status status = CB_OK;
  *side = 0;
  if (before == 0) {
    const int after = start->rate > 0 ? 1 : -1;
    if (start->rate != 0 && cb_gap_sign(&b) == -after) status = zero_after(s, i, from, start, after, tau, &found);
    if (start->rate != 0 && cb_gap_sign(&b) == 0) found = true; /* at the end */
    *side = found ? after : 0;
    return status;
  }
  if (cb_gap_sign(&b) == before) {
    const double u = dips(start, &b, before, s->h - from);
    if (u == 0) return CB_OK;
    until = from + u * (s->h - from);
    status = cb_flight_gap(s, gap, until, &b);
    if (status || cb_gap_sign(&b) == before) return status;
  }
  /* if the gap reaches its zero at the end from the other side, there is another zero before it */
  double back = s->h - from;
  for (int n = 0; n < HALVES_MAX && before * b.rate > 0 && cb_gap_sign(&b) == 0 && !status; n++) {
    back /= 2;
    cb_gap_look now;
    status = cb_flight_gap(s, gap, s->h - back, &now);
    if (status || cb_gap_sign(&now) != -before) continue;
    until = s->h - back;
    b = now;
  }
  *side = before;
  return status ? status : narrow(s, gap, from, *start, until, b, tau);
}

/* A contact whose gap closes again within this part of a step rests. */
static const double rest_part = 1e-3;

static bool closed_at_start(const cb_coupled_contacts *k, int i) {
  return k->start[i].s <= cb_gap_closed * k->start[i].size;
}

/* Returns about when contact i closes, as a fraction of the step; infinite if it does not close. */
static double expected(const cb_flight *s, int i) {
  const cb_coupled_contacts *k = s->c->contacts;
  const cb_gap_look *a = &k->start[i], *b = &k->end[i];
  const double rate = a->rate * s->h, bend = b->s - fmax(a->s, 0) - rate; /* s = a + rate u + bend u^2 */
  if (cb_gap_closed_at_end(k, i)) {
    const double root = sqrt(fmax(rate * rate - 4 * bend * fmax(a->s, 0), 0));
    return rate > 0 ? (rate + root) / (-2 * bend) : root - rate > 0 ? 2 * fmax(a->s, 0) / (root - rate) : 0;
  }
  const double u = cb_gap_sign(a) > 0 ? dips(a, b, 1, s->h) : 0;
  return u > 0 ? u : INFINITY;
}

/* Finds the time at which contact i closes in the step. *rests: it was closed at the start, and closes again so soon,
 * or after so low a flight, that it rests. */
static cb_status first_contact(const cb_flight *s, int i, double *tau, bool *found, bool *rests) {
  const cb_coupled_contacts *k = s->c->contacts;
  const cb_gap_look *a = &k->start[i];
  int side;
  cb_status status = CB_OK;
  *found = *rests = false;
  if (cb_gap_sign(a) > 0) {
    status = cb_flight_zero(s, i, 0, a, tau, &side);
    *found = side != 0;
  } else {
    status = zero_after(s, i, 0, a, 1, tau, found);
  }
  if (status || !closed_at_start(k, i)) return status;
  const bool soon = *tau <= rest_part * s->h || a->rate * *tau <= cb_gap_zero * a->size;
  *rests = *found ? k->rests && soon && !cb_gap_is_limit(&k->gap[i]) : cb_gap_closed_at_end(k, i);
  return CB_OK;
}

cb_status cb_flight_contact(const cb_flight *flight, double *first, bool *any, bool *again) {
  cb_coupled *c = flight->c;
  cb_coupled_contacts *k = c->contacts;
  cb_flight s = *flight;
  memset(k->known, 0, (size_t)k->n * sizeof *k->known);
  cb_status status = CB_OK;
  while (!status && !*again) {
    int next = -1;
    double least = INFINITY, time = s.h;
    bool found, rests;
    for (int i = 0; i < k->contacts; i++) {
      const double u = k->known[i] || cb_resting_holds(&k->resting, i) ? INFINITY : expected(&s, i);
      if (!(u < least)) continue;
      least = u;
      next = i;
    }
    if (next < 0) break;
    k->known[next] = true;
    status = first_contact(&s, next, &time, &found, &rests);
    if (!status && rests) status = cb_contact_press(&s, next);
    *again = rests;
    if (status || rests || !found) continue;
    *any = true;
    *first = s.h = time;
    int body, iterations;
    status = cb_coupled_fly(c, s.t, time, &body, &iterations);
    if (!status) status = cb_coupled_look_all(c, s.t + time, k->end);
    cb_coupled_keep(c, k->last);
  }
  return status;
}
