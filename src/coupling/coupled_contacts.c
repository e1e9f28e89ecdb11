/* Contacts, walls and events of points within a step of coupled bodies and particles.
 *
 *   contact: s = 0 with ds/dt < 0:  p <- p + n l,  l = -(1 + e) (ds/dt)/(G M^-1 n).  n is the gradient G, made tangent
 *            to the constraints by their impulses (dynamics/reflection.h, the sequential rule)
 *   event:   s = 0, or a change of the sign of s, in the direction of the event
 * s: gap (dynamics/gap.h); p: momenta; G = ds/dx; M: masses; e: restitution; l: impulse. A step is first made as a
 * whole. A gap closes in it if the gap is below 0 at the end, or if the cubic through its values and rates at both ends
 * is below 0 in between. Then the time of the zero is found by making the step again with other lengths (the Illinois
 * method), the momenta are reflected there, and the rest of the step follows. A gap that is closed and closes further
 * at the start of a step is reflected first. The run ends if points are pressed together and do not separate again. An
 * event without `stop` is only recorded, and does not divide the step.
 */
#include "coupling/coupled_private.h"
#include "dynamics/gap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTACTS_MAX = 300, LOOKS_MAX = 100, HALVES_MAX = 50, ZEROS_MAX = 50 };

/* A gap below `closed` times look.size counts as closed; a gap of at most `zero` times look.size counts as 0. A gap
 * whose rate is above `rest` counts as not closing. */
static const double closed = 1e-11, zero = 1e-13, rest = -1e-14;

typedef struct look {
  double s, rate, size; /* gap and its rate; size: 1 + sum |G x| over the coordinates x, the scale of round-off */
} look;

struct cb_coupled_contacts {
  cb_gaps *gaps;
  int n, contacts; /* the gaps of contacts come first, then those of events */
  cb_gap *gap;
  look *start, *end;
  cb_coupled_snapshot *first, *last;
  cb_event_row *row; /* the events of the last step */
  int rows, capacity;
};

/* --- the list of gaps --- */

static cb_status add_gap(cb_coupled_contacts *k, int *capacity, const cb_gap *gap) {
  if (k->n == *capacity) {
    *capacity = *capacity ? 2 * *capacity : 64;
    cb_gap *more = realloc(k->gap, (size_t)*capacity * sizeof *more);
    if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for %d gaps", *capacity);
    k->gap = more;
  }
  k->gap[k->n++] = *gap;
  return CB_OK;
}

/* Returns whether other points can touch the point: this is so for spheres of bodies, and for particles that are not
 * tracers. */
static bool touches_points(const cb_coupled *c, int place) {
  return c->carried[place].body < 0 ? c->mass[place] > 0
                                    : cb_system_radius(c->system, cb_system_particle(c->system, place)) > 0;
}

/* Returns whether walls can touch the point: also a vertex of a body, but not a point that only holds springs and
 * rods. */
static bool touches_walls(const cb_coupled *c, int place) {
  return c->carried[place].touches || touches_points(c, place);
}

/* A limit of a joint: a gap of no points, whose index is the number of the limit. */
static bool is_limit(const cb_gap *gap) { return gap->n == 0; }

static cb_joint_limit limit_of(const cb_coupled *c, const cb_gap *gap) {
  return cb_mechanism_limit(c->bodies.mechanism, gap->index);
}

static cb_status list_limits(cb_coupled *c, cb_coupled_contacts *k, int *capacity) {
  cb_status status = CB_OK;
  for (int i = 0; c->bodies.mechanism && i < cb_mechanism_limits(c->bodies.mechanism) && !status; i++)
    status = add_gap(k, capacity, &(cb_gap){.kind = CB_GAP_WALL, .n = 0, .index = i});
  return status;
}

static cb_status list_gaps(cb_coupled *c, cb_coupled_contacts *k) {
  int capacity = 0;
  cb_status status = list_limits(c, k, &capacity);
  if (!k->gaps) {
    k->contacts = k->n;
    return status;
  }
  for (int i = 0; i < c->n && !status; i++)
    for (int j = i + 1; j < c->n && !status; j++) {
      const bool same = c->carried[i].body >= 0 && c->carried[i].body == c->carried[j].body;
      const cb_gap gap = {CB_GAP_SPHERES, 2, {i, j}, -1, 1};
      if (!same && touches_points(c, i) && touches_points(c, j) && cb_gaps_pair_on(k->gaps, i, j))
        status = add_gap(k, &capacity, &gap);
    }
  for (int w = 0; w < cb_gaps_walls(k->gaps); w++)
    for (int i = 0; i < c->n && !status; i++) {
      const cb_gap gap = {CB_GAP_WALL, 1, {i}, w, 1};
      if (touches_walls(c, i) && !cb_gaps_wall_of_tip(k->gaps, w) && cb_gaps_wall_on(k->gaps, w, i))
        status = add_gap(k, &capacity, &gap);
    }
  k->contacts = k->n;
  for (int e = 0; e < cb_system_events(c->system) && !status; e++) {
    cb_gap gap;
    cb_gaps_event(k->gaps, e, &gap);
    status = add_gap(k, &capacity, &gap);
  }
  return status;
}

cb_status cb_coupled_contacts_create(cb_coupled *c) {
  const cb_contact_options options = cb_system_contact_options(c->system);
  const bool points = cb_system_contacts(c->system);
  if (!points && !(c->bodies.mechanism && cb_mechanism_limits(c->bodies.mechanism))) return CB_OK;
  if (points && (options.rule != CB_CONTACT_SEQUENTIAL || options.accumulation != CB_ACCUMULATION_STOP))
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "`rule: simultaneous` and `accumulation: rest` apply only to particles without rigid bodies: expected "
        "sequential and stop");
  cb_coupled_contacts *k = c->contacts = cb_arena_alloc(c->arena, 1, sizeof *k);
  if (!k) return cb_fail(CB_ERROR_MEMORY, "no memory for contacts");
  cb_status status = points ? cb_gaps_create(c->system, &k->gaps) : CB_OK;
  if (!status) status = list_gaps(c, k);
  if (status) return status;
  k->start = cb_arena_alloc(c->arena, (size_t)k->n, sizeof *k->start);
  k->end = cb_arena_alloc(c->arena, (size_t)k->n, sizeof *k->end);
  if (!k->start || !k->end) return cb_fail(CB_ERROR_MEMORY, "no memory for %d gaps", k->n);
  status = cb_coupled_snapshot_create(c, &k->first);
  return status ? status : cb_coupled_snapshot_create(c, &k->last);
}

void cb_coupled_contacts_free(cb_coupled *c) {
  cb_coupled_contacts *k = c->contacts;
  if (!k) return;
  cb_gaps_free(k->gaps);
  cb_coupled_snapshot_free(k->first);
  cb_coupled_snapshot_free(k->last);
  free(k->gap);
  free(k->row);
}

/* --- values --- */

static look look_at_limit(const cb_coupled *c, const cb_gap *gap) {
  const cb_joint_limit l = limit_of(c, gap);
  const double q = cb_mechanism_q(c->bodies.mechanism)[l.coordinate],
               rate = cb_mechanism_rates(c->bodies.mechanism)[l.coordinate];
  return (look){l.highest ? l.limit - q : q - l.limit, l.highest ? -rate : rate, 1 + fabs(l.limit)};
}

/* Finds the velocities of all points, and the rates of joints if they have limits, at the present state. */
static cb_status find_rates(cb_coupled *c, double t) {
  const cb_mechanism_bodies bodies = cb_coupled_joined(c);
  const cb_status status = cb_coupled_find_velocities(c, t);
  const bool limits = c->bodies.mechanism && cb_mechanism_limits(c->bodies.mechanism);
  return status || !limits ? status : cb_mechanism_rates_of_momenta(c->bodies.mechanism, &bodies, t);
}

/* Evaluates a gap at the present state, whose velocities are known. */
static cb_status look_at(cb_coupled *c, const cb_gap *gap, double t, cb_gap_value *value, look *out) {
  if (is_limit(gap)) {
    *out = look_at_limit(c, gap);
    return CB_OK;
  }
  const double *x[CB_GAP_PARTICLES];
  for (int i = 0; i < gap->n; i++) x[i] = c->state->x + gap->particle[i] * c->k;
  const cb_status status = cb_gap_eval(c->contacts->gaps, gap, t, x, 1, value);
  if (status) return status;
  *out = (look){value->gap, value->rate_t, 1};
  for (int i = 0; i < gap->n; i++)
    for (int a = 0; a < c->k; a++) {
      const double G = value->gradient[i * c->k + a];
      out->rate += G * c->velocity[gap->particle[i] * c->k + a];
      out->size += fabs(G * x[i][a]);
    }
  return CB_OK;
}

static cb_status look_at_all(cb_coupled *c, double t, look *out) {
  cb_gap_value value;
  cb_status status = find_rates(c, t);
  for (int i = 0; i < c->contacts->n && !status; i++) status = look_at(c, &c->contacts->gap[i], t, &value, &out[i]);
  return status;
}

/* Returns the sign of a gap; 0 if the gap is 0 up to round-off. */
static int sign_of(const look *l) { return fabs(l->s) <= zero * l->size ? 0 : l->s > 0 ? 1 : -1; }

/* The cubic through the values and rates at both ends of a step of length h is multiplied by `side`. If it is positive
 * at both ends and has a minimum of at most 0 between them, the function returns the fraction of the step at this
 * minimum; otherwise 0. */
static double dips(const look *a, const look *b, int side, double h) {
  const double s0 = side * a->s, s1 = side * b->s, v0 = side * a->rate * h, v1 = side * b->rate * h;
  if (!(s0 > 0 && s1 > 0 && v0 < 0 && v1 > 0)) return 0;
  const double c3 = 2 * (s0 - s1) + v0 + v1, c2 = 3 * (s1 - s0) - 2 * v0 - v1;
  const double root = c2 * c2 - 3 * c3 * v0, u = root > 0 ? -v0 / (c2 + sqrt(root)) : 0;
  const double least = s0 + u * (v0 + u * (c2 + u * c3));
  return u > 0 && u < 1 && least <= 0 ? u : 0;
}

/* --- zeros --- */

typedef struct search {
  cb_coupled *c;
  double t, h; /* the start of the part of the step that is searched, and its length */
} search;

/* Makes the step from the first snapshot with the length tau, and evaluates a gap at its end. */
static cb_status at(const search *s, const cb_gap *gap, double tau, look *out) {
  int body, iterations;
  cb_gap_value value;
  cb_coupled_bring_back(s->c, s->c->contacts->first);
  cb_status status = cb_coupled_whole(s->c, s->t, tau, &body, &iterations);
  if (!status) status = find_rates(s->c, s->t + tau);
  return status ? status : look_at(s->c, gap, s->t + tau, &value, out);
}

/* Finds a zero *tau between the times a and b, at which the gap has different signs. */
static cb_status narrow(const search *s, const cb_gap *gap, double a, look from, double b, look to, double *tau) {
  int kept = 0;
  for (int i = 0; i < LOOKS_MAX && sign_of(&to) != 0 && b - a > 4e-16 * (fabs(s->t) + fabs(b)); i++) {
    double fa = from.s, fb = to.s;
    if (kept < -1) fb /= 2;
    if (kept > 1) fa /= 2;
    double middle = (a * fb - b * fa) / (fb - fa);
    if (!(middle > a && middle < b)) middle = a + (b - a) / 2;
    look now;
    const cb_status status = at(s, gap, middle, &now);
    if (status) return status;
    if (sign_of(&now) == sign_of(&from)) {
      a = middle;
      from = now;
      kept = kept < 0 ? kept - 1 : -1;
    } else {
      b = middle;
      to = now;
      kept = kept > 0 ? kept + 1 : 1;
    }
  }
  *tau = b;
  return CB_OK;
}

/* Returns whether a zero of event i, before which its function has the sign `side`, is in the direction of the
 * event. */
static bool counts(const cb_coupled_contacts *k, int i, int side) {
  const int direction = cb_gap_direction(k->gaps, &k->gap[i]);
  return direction == CB_EVENT_BOTH || (direction == CB_EVENT_FALLING) == (side > 0);
}

static const char *first_name(const cb_coupled *c, const cb_gap *gap) {
  return is_limit(gap) ? cb_mechanism_joint_name(c->bodies.mechanism, limit_of(c, gap).joint)
                       : cb_system_particle_name(c->system, cb_system_particle(c->system, gap->particle[0]));
}

static cb_event_row row_of(const cb_coupled *c, const cb_gap *gap, double time) {
  const cb_coupled_contacts *k = c->contacts;
  if (is_limit(gap)) {
    const int wall = cb_system_walls(c->system) + gap->index;
    return (cb_event_row){.time = time, .kind = CB_EVENT_REFLECT, .particle = -1, .other = -1, .wall = wall};
  }
  cb_event_row row = {.time = time, .kind = cb_gap_action(k->gaps, gap), .other = -1, .wall = -1};
  row.particle = cb_system_particle(c->system, gap->particle[0]);
  if (gap->n > 1)
    row.other = cb_system_particle(c->system, gap->particle[gap->n - 1]);
  else
    row.wall = gap->kind == CB_GAP_WALL ? cb_gaps_wall_given(k->gaps, gap->index) : gap->index;
  return row;
}

/* Finds the zero *tau of a gap that is 0 at the time `from`, has the sign `side` shortly after it, and the opposite
 * sign at the end of the step. *found becomes false if the gap has the opposite sign immediately after `from`. */
static cb_status zero_after(const search *s, int i, double from, int side, double *tau, bool *found) {
  const cb_coupled_contacts *k = s->c->contacts;
  double until = s->h, a = s->h;
  look now = k->end[i], to = now;
  for (int n = 0; n < HALVES_MAX && sign_of(&now) != side; n++) {
    until = a;
    to = now;
    a = from + (a - from) / 2;
    const cb_status status = at(s, &k->gap[i], a, &now);
    if (status) return status;
  }
  *found = sign_of(&now) == side;
  return *found ? narrow(s, &k->gap[i], a, now, until, to, tau) : CB_OK;
}

/* Finds the first zero of gap i after the time `from`, at which its values are `start`; *side: its sign before the
 * zero, or 0 if there is none. */
static cb_status next_zero(const search *s, int i, double from, const look *start, double *tau, int *side) {
  const cb_coupled_contacts *k = s->c->contacts;
  const cb_gap *gap = &k->gap[i];
  const int before = sign_of(start);
  look b = k->end[i];
  double until = s->h;
  bool found = false;
  cb_status status = CB_OK;
  *side = 0;
  if (before == 0) {
    const int after = start->rate > 0 ? 1 : -1;
    if (start->rate != 0 && sign_of(&b) == -after) status = zero_after(s, i, from, after, tau, &found);
    if (start->rate != 0 && sign_of(&b) == 0) found = true; /* at the end */
    *side = found ? after : 0;
    return status;
  }
  if (sign_of(&b) == before) {
    const double u = dips(start, &b, before, s->h - from);
    if (u == 0) return CB_OK;
    until = from + u * (s->h - from);
    status = at(s, gap, until, &b);
    if (status || sign_of(&b) == before) return status;
  }
  /* if the gap reaches its zero at the end from the other side, there is another zero before it */
  double back = s->h - from;
  for (int n = 0; n < HALVES_MAX && before * b.rate > 0 && sign_of(&b) == 0 && !status; n++) {
    back /= 2;
    look now;
    status = at(s, gap, s->h - back, &now);
    if (status || sign_of(&now) != -before) continue;
    until = s->h - back;
    b = now;
  }
  *side = before;
  return status ? status : narrow(s, gap, from, *start, until, b, tau);
}

/* Finds the time at which contact i closes in the step. */
static cb_status first_contact(const search *s, int i, double *tau, bool *found) {
  const cb_coupled_contacts *k = s->c->contacts;
  const look *a = &k->start[i], *b = &k->end[i];
  const bool closed_at_end = b->s <= -closed * b->size;
  int side;
  cb_status status = CB_OK;
  *found = false;
  if (sign_of(a) > 0) {
    if (sign_of(b) <= 0 && !closed_at_end) return CB_OK; /* it is reflected at the start of the next step */
    status = next_zero(s, i, 0, a, tau, &side);
    *found = side != 0;
    return status;
  }
  if (closed_at_end && a->rate > 0) status = zero_after(s, i, 0, 1, tau, found);
  if (status || *found || !closed_at_end) return status;
  const cb_system *system = s->c->system;
  if (is_limit(&k->gap[i]))
    return cb_fail(CB_STEP_NO_CONVERGENCE, "a limit of joint `%s` is passed in a step: use a smaller `step`",
                   first_name(s->c, &k->gap[i]));
  const cb_event_row row = row_of(s->c, &k->gap[i], s->t);
  return cb_fail(CB_ERROR_CONTACT_ACCUMULATION,
                 "from t = %.17g on `%s` is pressed against %s`%s`, and nothing holds it: expected contacts that part "
                 "again; try restitution 1, the force of a stiff floor (`fluid: {floor: {kind: stiff}}`), or a soft "
                 "potential between them",
                 s->t, cb_system_particle_name(system, row.particle), row.other >= 0 ? "" : "wall ",
                 row.other >= 0 ? cb_system_particle_name(system, row.other) : cb_system_wall_name(system, row.wall));
}

/* --- rows and reflections --- */

static cb_status note(cb_coupled_contacts *k, const cb_event_row *row) {
  if (k->rows == k->capacity) {
    const int capacity = k->capacity ? 2 * k->capacity : 16;
    cb_event_row *more = realloc(k->row, (size_t)capacity * sizeof *more);
    if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for %d events", capacity);
    k->row = more;
    k->capacity = capacity;
  }
  k->row[k->rows++] = *row;
  return CB_OK;
}

/* Pushes the points of a gap along its gradient by an impulse. */
static void push(cb_coupled *c, const cb_gap *gap, const cb_gap_value *value, double impulse) {
  if (is_limit(gap)) return cb_mechanism_push_limit(c->bodies.mechanism, gap->index, impulse);
  memset(c->force_of_gap, 0, (size_t)(c->n * c->k) * sizeof *c->force_of_gap);
  for (int i = 0; i < gap->n; i++)
    for (int a = 0; a < c->k; a++) c->force_of_gap[gap->particle[i] * c->k + a] += value->gradient[i * c->k + a];
  cb_coupled_kick(c, impulse, c->force_of_gap);
}

static bool closes(const look *l) { return l->s <= closed * l->size && l->rate < rest; }

/* Reflects gap i at time t. The rate changes in proportion to the impulse; therefore a trial impulse of 1 is applied
 * first, and its effect gives the required impulse. */
static cb_status reflect(cb_coupled *c, int i, double t, const look *before, double restitution, double *impulse) {
  const cb_gap *gap = &c->contacts->gap[i];
  cb_gap_value value;
  look now;
  cb_coupled_keep(c, c->contacts->last);
  cb_status status = find_rates(c, t);
  if (!status) status = look_at(c, gap, t, &value, &now);
  double trial = 1;
  for (int k = 0; k < 2 && !status; k++) {
    push(c, gap, &value, trial);
    status = cb_coupled_settle(c, t);
    if (c->rows && !status) status = cb_coupled_rows_project(c, t);
    if (!status) status = find_rates(c, t);
    if (!status) status = look_at(c, gap, t, &value, &now);
    if (status || k == 1) break;
    const double gained = now.rate - before->rate;
    if (!(gained > 0) || !isfinite(gained))
      return cb_fail(CB_STEP_SINGULAR,
                     "the constraints do not let a gap open that has closed: expected other constraints");
    trial = -(1 + restitution) * before->rate / gained;
    cb_coupled_bring_back(c, c->contacts->last);
  }
  *impulse = status ? 0 : trial;
  return status;
}

/* After so many reflections in a step a limit does not reflect any more, so that the coordinate comes to rest on it. */
enum { BOUNCES_MAX = 20 };

static double restitution_of(const cb_coupled *c, const cb_gap *gap, int count) {
  if (!is_limit(gap)) return cb_gap_restitution(c->contacts->gaps, gap);
  const double own = limit_of(c, gap).restitution;
  return own < 1 && count > BOUNCES_MAX ? 0 : own;
}

/* Reflects all gaps that are closed and close further, the fastest one first, until none does. */
static cb_status reflect_all(cb_coupled *c, double t, int *count) {
  cb_coupled_contacts *k = c->contacts;
  for (;;) {
    int worst = -1;
    double impulse = 0;
    cb_status status = look_at_all(c, t, k->end);
    if (status) return status;
    for (int i = 0; i < k->contacts; i++) {
      if (closes(&k->end[i]) && (worst < 0 || k->end[i].rate < k->end[worst].rate)) worst = i;
    }
    if (worst < 0) return CB_OK;
    cb_event_row row = row_of(c, &k->gap[worst], t);
    row.gap = k->end[worst].s;
    row.speed_before = k->end[worst].rate;
    const look before = k->end[worst];
    if (++*count > CONTACTS_MAX)
      return cb_fail(CB_ERROR_CONTACT_ACCUMULATION,
                     "more than %d contacts in the step that contains t = %.17g, the last of %s `%s`: they accumulate; "
                     "try restitution 1, a smaller step, or a stiff floor",
                     CONTACTS_MAX, t, row.particle < 0 ? "a limit of joint" : "particle",
                     first_name(c, &k->gap[worst]));
    const double restitution = restitution_of(c, &k->gap[worst], *count);
    status = reflect(c, worst, t, &before, restitution, &impulse);
    row.speed_after = -restitution * before.rate;
    row.impulse = impulse;
    if (is_limit(&k->gap[worst]))
      cb_mechanism_add_limit_work(c->bodies.mechanism, k->gap[worst].index,
                                  impulse * (row.speed_before + row.speed_after) / 2);
    if (!status) status = note(k, &row);
    if (status) return status;
  }
}

/* Fails if a gap is closed at the start of the run. */
cb_status cb_coupled_contacts_check(cb_coupled *c, double t) {
  cb_coupled_contacts *k = c->contacts;
  if (!k) return CB_OK;
  const cb_status status = look_at_all(c, t, k->start);
  for (int i = 0; i < k->contacts && !status; i++) {
    if (is_limit(&k->gap[i])) continue; /* the scenario was checked */
    const cb_event_row row = row_of(c, &k->gap[i], t);
    if (k->start[i].s < -closed * k->start[i].size)
      return cb_fail(
          CB_ERROR_DOMAIN, "at the start the gap between particle `%s` and %s%s` is %.3g: expected at least 0",
          cb_system_particle_name(c->system, row.particle), row.other >= 0 ? "particle `" : "wall `",
          row.other >= 0 ? cb_system_particle_name(c->system, row.other) : cb_system_wall_name(c->system, row.wall),
          k->start[i].s);
  }
  return status;
}

/* Records the zeros of event i in a part of a step. If the event stops the run, *stop and *tau become its name and
 * time; if another event has stopped the run already, only zeros before *tau are recorded. */
static cb_status note_event(const search *s, int i, double *tau, const char **stop) {
  cb_coupled_contacts *k = s->c->contacts;
  const cb_gap *gap = &k->gap[i];
  look start = k->start[i];
  double from = 0;
  cb_status status = CB_OK;
  for (int n = 0; n < ZEROS_MAX && from < s->h && !status; n++) {
    double time = s->h;
    int side;
    status = next_zero(s, i, from, &start, &time, &side);
    if (status || side == 0 || (*stop && time > *tau)) return status;
    if (counts(k, i, side)) {
      const cb_event_row row = row_of(s->c, gap, s->t + time);
      if ((status = note(k, &row))) return status;
      if (row.kind == CB_EVENT_STOP) {
        *stop = cb_system_event_name(s->c->system, gap->index);
        *tau = time;
        return CB_OK;
      }
    }
    from = time;
    status = at(s, gap, from, &start);
  }
  return status;
}

/* Records the events in a part of a step that no contact divides, in the order of their times. */
static cb_status note_events(const search *s, double *tau, const char **stop) {
  cb_coupled_contacts *k = s->c->contacts;
  const int before = k->rows;
  cb_status status = CB_OK;
  for (int i = k->contacts; i < k->n && !status; i++) status = note_event(s, i, tau, stop);
  int kept = before;
  for (int r = before; r < k->rows; r++)
    if (!*stop || k->row[r].time <= s->t + *tau) k->row[kept++] = k->row[r];
  k->rows = kept;
  for (int r = before + 1; r < k->rows; r++)
    for (int q = r; q > before && k->row[q].time < k->row[q - 1].time; q--) {
      const cb_event_row swapped = k->row[q];
      k->row[q] = k->row[q - 1];
      k->row[q - 1] = swapped;
    }
  return status;
}

/* Reflects the gaps that are closed and close further at the start of a part of a step, and then stores this start. */
static cb_status begin_part(const search *s, int *count) {
  cb_coupled *c = s->c;
  cb_coupled_contacts *k = c->contacts;
  cb_status status = look_at_all(c, s->t, k->start);
  bool any = false;
  for (int i = 0; i < k->contacts && !status; i++) any = any || closes(&k->start[i]);
  if (any) status = reflect_all(c, s->t, count);
  if (any && !status) status = look_at_all(c, s->t, k->start);
  cb_coupled_keep(c, k->first);
  return status;
}

/* Makes one part of a step: to the end of the step, or to its first contact or stop. *tau: the length that was made. */
static cb_status make_part(const search *s, int *count, double *tau, const char **stop, int *body, int *iterations) {
  cb_coupled *c = s->c;
  cb_coupled_contacts *k = c->contacts;
  double first = s->h;
  bool any = false, found;
  cb_status status = begin_part(s, count);
  if (!status) status = cb_coupled_whole(c, s->t, s->h, body, iterations);
  if (!status) status = look_at_all(c, s->t + s->h, k->end);
  if (status) return status;
  cb_coupled_keep(c, k->last);
  for (int i = 0; i < k->contacts && !status; i++) {
    double time;
    status = first_contact(s, i, &time, &found);
    if (status || !found) continue;
    any = true;
    first = fmin(first, time);
  }
  look unused;
  if (any && !status) status = at(s, &k->gap[0], first, &unused);
  if (any && !status) status = look_at_all(c, s->t + first, k->end);
  if (any) cb_coupled_keep(c, k->last);
  *tau = first;
  if (!status) status = note_events(&(search){c, s->t, first}, tau, stop);
  if (status) return status;
  if (*stop) return at(s, &k->gap[0], *tau, &unused);
  cb_coupled_bring_back(c, k->last); /* the searches have left another state */
  return any ? reflect_all(c, s->t + first, count) : CB_OK;
}

cb_status cb_coupled_step_to_events(cb_coupled *c, double t, double *h, const char **stop, int *body, int *iterations) {
  cb_coupled_contacts *k = c->contacts;
  double done = 0;
  int count = 0;
  cb_status status = CB_OK;
  *stop = NULL;
  *body = -1;
  *iterations = 0;
  if (!k) return cb_coupled_whole(c, t, *h, body, iterations);
  k->rows = 0;
  while (!status && done < *h && !*stop) {
    const search s = {c, t + done, *h - done};
    double tau = s.h;
    int drifts = 0;
    status = make_part(&s, &count, &tau, stop, body, &drifts);
    if (drifts > *iterations) *iterations = drifts;
    done = tau == s.h ? *h : done + tau;
  }
  if (*stop) *h = done;
  return status;
}

const cb_event_row *cb_coupled_events(const cb_coupled *c, int *n) {
  *n = c->contacts ? c->contacts->rows : 0;
  return c->contacts ? c->contacts->row : NULL;
}
