/* Contacts, walls and events of points within a step of coupled bodies and particles.
 *
 *   contact: s = 0 with ds/dt < 0:  p <- p + n l,  l = -(1 + e) (ds/dt)/(G M^-1 n).  n is the gradient G, made tangent
 *            to the constraints by their impulses (dynamics/reflection.h, the sequential rule)
 *   event:   s = 0, or a change of the sign of s, in the direction of the event
 * s: gap (dynamics/gap.h); p: momenta; G = ds/dx; M: masses; e: restitution; l: impulse. A step is first made as one
 * flight (cb_flight) to its end. A gap closes in the step if s is below 0 at the end, or if the cubic through its
 * values and rates at both ends is below 0 in between. Then the time of the zero is found by making the step again with
 * other lengths (the Illinois method), the momenta are reflected there, and the rest of the step follows. A gap that is
 * closed and closes further at the start of a step is reflected first. The run ends if points are pressed together and
 * do not separate again. An event without `stop` is only recorded, and does not divide the step.
 */
#include "coupling/coupled_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTACTS_MAX = 300, ZEROS_MAX = 50, CUTS_MAX = 60 };

/* --- the list of gaps --- */

static cb_status grow(cb_coupled_contacts *k) {
  const int capacity = k->capacity_gaps ? 2 * k->capacity_gaps : 64;
  const size_t n = (size_t)capacity;
  cb_gap *more = realloc(k->gap, n * sizeof *more);
  if (more) k->gap = more;
  cb_gap_look *start = realloc(k->start, n * sizeof *start);
  if (start) k->start = start;
  cb_gap_look *end = realloc(k->end, n * sizeof *end);
  if (end) k->end = end;
  bool *known = realloc(k->known, n * sizeof *known);
  if (known) k->known = known;
  if (!more || !start || !end || !known) return cb_fail(CB_ERROR_MEMORY, "no memory for %d gaps", capacity);
  k->capacity_gaps = capacity;
  return CB_OK;
}

cb_status cb_contacts_add(cb_coupled_contacts *k, const cb_gap *gap) {
  const cb_status status = k->n == k->capacity_gaps ? grow(k) : CB_OK;
  if (!status) k->gap[k->n++] = *gap;
  return status;
}

static cb_joint_limit limit_of(const cb_coupled *c, const cb_gap *gap) {
  return cb_mechanism_limit(c->bodies.mechanism, gap->index);
}

cb_status cb_coupled_contacts_create(cb_coupled *c) {
  const cb_contact_options options = cb_system_contact_options(c->system);
  const bool points = cb_system_contacts(c->system);
  if (!points && !(c->bodies.mechanism && cb_mechanism_limits(c->bodies.mechanism))) return CB_OK;
  if (points && options.rule != CB_CONTACT_SEQUENTIAL)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "`rule: simultaneous` applies only to particles without rigid bodies: expected sequential");
  cb_coupled_contacts *k = c->contacts = cb_arena_alloc(c->arena, 1, sizeof *k);
  if (!k) return cb_fail(CB_ERROR_MEMORY, "no memory for contacts");
  k->rests = options.accumulation == CB_ACCUMULATION_REST;
  k->resting.push = cb_arena_alloc(c->arena, (size_t)c->bodies.n, sizeof *k->resting.push);
  k->resting.answer = cb_arena_alloc(c->arena, (size_t)c->bodies.n, sizeof *k->resting.answer);
  if (!k->resting.push || !k->resting.answer) return cb_fail(CB_ERROR_MEMORY, "no memory for contacts");
  cb_status status = grow(k);
  if (!status && points) status = cb_gaps_create(c->system, &k->gaps);
  if (!status) status = cb_coupled_list_gaps(c, k);
  if (!status && points && c->bodies.shapes) status = cb_coupled_shapes_create(c);
  if (status) return status;
  status = cb_coupled_snapshot_create(c, &k->first);
  return status ? status : cb_coupled_snapshot_create(c, &k->last);
}

void cb_coupled_contacts_free(cb_coupled *c) {
  cb_coupled_contacts *k = c->contacts;
  if (!k) return;
  cb_gaps_free(k->gaps);
  cb_coupled_snapshot_free(k->first);
  cb_coupled_snapshot_free(k->last);
  cb_resting_free(&k->resting);
  cb_coupled_shapes_free(&k->shapes);
  free(k->gap);
  free(k->start);
  free(k->end);
  free(k->known);
  free(k->row);
}

/* --- values --- */

static cb_gap_look look_at_limit(const cb_coupled *c, const cb_gap *gap) {
  const cb_joint_limit l = limit_of(c, gap);
  const double q = cb_mechanism_q(c->bodies.mechanism)[l.coordinate],
               rate = cb_mechanism_rates(c->bodies.mechanism)[l.coordinate];
  return (cb_gap_look){l.highest ? l.limit - q : q - l.limit, l.highest ? -rate : rate, 1 + fabs(l.limit), fabs(rate)};
}

/* Finds the velocities of all points, and the rates of joints if they have limits, at the present state. */
cb_status cb_coupled_find_rates(cb_coupled *c, double t) {
  const cb_mechanism_bodies bodies = cb_coupled_joined(c);
  const cb_status status = cb_coupled_find_velocities(c, t);
  const bool limits = c->bodies.mechanism && cb_mechanism_limits(c->bodies.mechanism);
  return status || !limits ? status : cb_mechanism_rates_of_momenta(c->bodies.mechanism, &bodies, t);
}

/* Evaluates a gap at the present state, whose velocities are known. */
cb_status cb_coupled_look(cb_coupled *c, const cb_gap *gap, double t, cb_gap_value *value, cb_gap_look *out) {
  if (cb_gap_is_limit(gap)) {
    *out = look_at_limit(c, gap);
    return CB_OK;
  }
  if (gap->kind == CB_GAP_SHAPES) {
    cb_coupled_look_at_shapes(c, gap, value, out);
    return CB_OK;
  }
  const double *x[CB_GAP_PARTICLES];
  for (int i = 0; i < gap->n; i++) x[i] = c->state->x + gap->particle[i] * c->k;
  const cb_status status = cb_gap_eval(c->contacts->gaps, gap, t, x, 1, value);
  if (status) return status;
  *out = (cb_gap_look){value->gap, value->rate_t, 1, fabs(value->rate_t)};
  for (int i = 0; i < gap->n; i++)
    for (int a = 0; a < c->k; a++) {
      const double G = value->gradient[i * c->k + a], along = G * c->velocity[gap->particle[i] * c->k + a];
      out->rate += along;
      out->speed += fabs(along);
      out->size += fabs(G * x[i][a]);
    }
  return CB_OK;
}

cb_status cb_coupled_look_all(cb_coupled *c, double t, cb_gap_look *out) {
  cb_gap_value value;
  cb_status status = cb_coupled_find_rates(c, t);
  for (int i = 0; i < c->contacts->n && !status; i++)
    status = cb_coupled_look(c, &c->contacts->gap[i], t, &value, &out[i]);
  return status;
}

/* Returns whether event i counts a zero that its function reaches from the sign `side`; this depends on the
 * direction. */
static bool counts(const cb_coupled_contacts *k, int i, int side) {
  const int direction = cb_gap_direction(k->gaps, &k->gap[i]);
  return direction == CB_EVENT_BOTH || (direction == CB_EVENT_FALLING) == (side > 0);
}

/* Returns the name of the particle or body with this number in an event. Numbers below the number of particles are
 * particles; larger numbers are bodies. */
static const char *name_of(const cb_coupled *c, int number) {
  if (number < c->n) return cb_system_particle_name(c->system, number);
  for (int i = 0; i < c->n; i++)
    if (c->carried[i].body == number - c->n)
      return cb_system_body_name(c->system, cb_system_body(c->system, cb_system_particle(c->system, i)));
  return "";
}

/* Returns the number by which an event refers to one of the two shapes of a gap (name_of). */
static int number_of(const cb_coupled *c, const cb_gap *gap, int which) {
  const int unit = cb_coupled_unit_of_shapes(c, gap, which);
  return unit < c->bodies.n ? c->n + unit : cb_system_particle(c->system, unit - c->bodies.n);
}

static cb_event_row row_of(const cb_coupled *c, const cb_gap *gap, double time) {
  const cb_coupled_contacts *k = c->contacts;
  if (cb_gap_is_limit(gap)) {
    const int wall = cb_system_walls(c->system) + gap->index;
    return (cb_event_row){.time = time, .kind = CB_EVENT_REFLECT, .particle = -1, .other = -1, .wall = wall};
  }
  cb_event_row row = {.time = time, .kind = cb_gap_action(k->gaps, gap), .other = -1, .wall = -1};
  if (gap->kind == CB_GAP_SHAPES) {
    row.particle = number_of(c, gap, 0);
    row.other = number_of(c, gap, 1);
    return row;
  }
  row.particle = cb_system_particle(c->system, gap->particle[0]);
  if (gap->n > 1)
    row.other = cb_system_particle(c->system, gap->particle[gap->n - 1]);
  else
    row.wall = gap->kind == CB_GAP_WALL ? cb_gaps_wall_given(k->gaps, gap->index) : gap->index;
  return row;
}

static const char *first_name(const cb_coupled *c, const cb_gap *gap) {
  return cb_gap_is_limit(gap) ? cb_mechanism_joint_name(c->bodies.mechanism, limit_of(c, gap).joint)
                              : name_of(c, row_of(c, gap, 0).particle);
}

/* Returns whether contact i is pressed: it is closed and does not open at the start, and it is closed at the end. */
static bool is_pressed(const cb_coupled_contacts *k, int i) {
  return cb_gap_sign(&k->start[i]) <= 0 && !(k->start[i].rate > 0) && cb_gap_closed_at_end(k, i);
}

cb_status cb_contact_press(const cb_flight *s, int i) {
  cb_coupled_contacts *k = s->c->contacts;
  if (cb_gap_is_limit(&k->gap[i]))
    return cb_fail(CB_STEP_NO_CONVERGENCE, "a limit of joint `%s` is passed in a step: use a smaller `step`",
                   first_name(s->c, &k->gap[i]));
  if (k->rests) return cb_resting_add(&k->resting, i);
  const cb_event_row row = row_of(s->c, &k->gap[i], s->t);
  return cb_fail(CB_ERROR_CONTACT_ACCUMULATION,
                 "from t = %.17g on `%s` is pressed against %s`%s`, where it cannot come to rest: expected `contacts: "
                 "{accumulation: rest}`, or contacts that separate again, such as those with restitution 1",
                 s->t, name_of(s->c, row.particle), row.other >= 0 ? "" : "wall ",
                 row.other >= 0 ? name_of(s->c, row.other) : cb_system_wall_name(s->c->system, row.wall));
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

void cb_coupled_push(cb_coupled *c, const cb_gap *gap, const double *gradient, double impulse) {
  if (cb_gap_is_limit(gap)) return cb_mechanism_push_limit(c->bodies.mechanism, gap->index, impulse);
  if (gap->kind == CB_GAP_SHAPES) return cb_coupled_push_shapes(c, gap, gradient, impulse);
  for (int i = 0; i < gap->n; i++) cb_coupled_push_point(c, gap->particle[i], impulse, gradient + i * c->k);
}

static bool closes(const cb_gap_look *l) { return l->s <= cb_gap_closed * l->size && l->rate < cb_gap_rest; }

/* Reflects gap i at time t. The rate changes in proportion to the impulse; therefore a trial impulse of 1 is applied
 * first, and its effect gives the required impulse. */
static cb_status reflect(cb_coupled *c, int i, double t, const cb_gap_look *before, double restitution,
                         double *impulse) {
  const cb_gap *gap = &c->contacts->gap[i];
  cb_gap_value value;
  cb_gap_look now;
  cb_coupled_keep(c, c->contacts->last);
  cb_status status = cb_coupled_find_rates(c, t);
  if (!status) status = cb_coupled_look(c, gap, t, &value, &now);
  double trial = 1;
  for (int k = 0; k < 2 && !status; k++) {
    cb_coupled_push(c, gap, value.gradient, trial);
    status = cb_coupled_settle(c, t);
    if (c->rows && !status) status = cb_coupled_rows_project(c, t);
    if (!status) status = cb_coupled_find_rates(c, t);
    if (!status) status = cb_coupled_look(c, gap, t, &value, &now);
    if (status || k == 1) break;
    const double gained = now.rate - before->rate;
    if (!(gained > 0) || !isfinite(gained))
      return cb_fail(CB_STEP_SINGULAR,
                     "the constraints do not let the bodies of a contact separate: expected other constraints");
    trial = -(1 + restitution) * before->rate / gained;
    cb_coupled_bring_back(c, c->contacts->last);
  }
  *impulse = status ? 0 : trial;
  return status;
}

/* If a step has more impacts than this, limits of joints with a restitution below 1 no longer reflect, so that the
 * coordinate comes to rest at the limit. If contacts may rest, those with a restitution below 1 no longer bounce, and
 * closed contacts rest for the remaining step. */
enum { BOUNCES_MAX = 20 };

double cb_coupled_restitution(const cb_coupled *c, const cb_gap *gap) {
  const bool limit = cb_gap_is_limit(gap);
  const double own = limit ? limit_of(c, gap).restitution : cb_gap_restitution(c->contacts->gaps, gap);
  return own < 1 && c->contacts->calm && (limit || c->contacts->rests) ? 0 : own;
}

static cb_status count_impact(cb_coupled *c, const cb_gap *last, double t, int *count) {
  c->contacts->calm = ++*count > BOUNCES_MAX;
  if (*count <= CONTACTS_MAX) return CB_OK;
  return cb_fail(CB_ERROR_CONTACT_ACCUMULATION,
                 "more than %d contacts in the step that contains t = %.17g, the last of %s `%s`: they accumulate; try "
                 "restitution 1, a smaller step, or `contacts: {accumulation: rest}`",
                 CONTACTS_MAX, t,
                 cb_gap_is_limit(last)         ? "a limit of joint"
                 : last->kind == CB_GAP_SHAPES ? "body"
                                               : "particle",
                 first_name(c, last));
}

static void add_work_of_limit(cb_coupled *c, int i, const cb_event_row *row) {
  cb_mechanism_add_limit_work(c->bodies.mechanism, c->contacts->gap[i].index,
                              row->impulse * (row->speed_before + row->speed_after) / 2);
}

/* Reflects contact i, which closes the fastest. */
static cb_status reflect_one(cb_coupled *c, int i, double t, int *count) {
  cb_coupled_contacts *k = c->contacts;
  const cb_gap_look before = k->end[i];
  cb_event_row row = row_of(c, &k->gap[i], t);
  cb_status status = count_impact(c, &k->gap[i], t, count);
  if (status) return status;
  const double restitution = cb_coupled_restitution(c, &k->gap[i]);
  row.gap = before.s;
  row.speed_before = before.rate;
  row.speed_after = -restitution * before.rate;
  status = reflect(c, i, t, &before, restitution, &row.impulse);
  if (cb_gap_is_limit(&k->gap[i])) add_work_of_limit(c, i, &row);
  return status ? status : note(k, &row);
}

/* Resolves the impacts of all closed contacts together, and repeats this until no closed gap closes further. */
static cb_status impact_all(cb_coupled *c, double t, int *count) {
  cb_coupled_contacts *k = c->contacts;
  const cb_resting *r = &k->resting;
  int n = 1;
  cb_status status = CB_OK;
  while (n && !status) {
    bool any = false;
    status = cb_coupled_impact(c, t, true, &n);
    for (int i = 0; i < n && !status; i++) {
      if (!(r->pushed[i] > 0) || cb_resting_holds(r, r->closed[i])) continue;
      cb_event_row row = row_of(c, &k->gap[r->closed[i]], t);
      row.gap = k->end[r->closed[i]].s;
      row.speed_before = r->before[i];
      row.speed_after = r->after[i];
      row.impulse = r->pushed[i];
      any = true;
      if (cb_gap_is_limit(&k->gap[r->closed[i]])) add_work_of_limit(c, r->closed[i], &row);
      status = note(k, &row);
    }
    if (n && !status) status = count_impact(c, &k->gap[r->closed[0]], t, count);
    if (!any) break; /* only round-off of resting contacts is left */
  }
  return status;
}

/* Stores the present state, which belongs to the time t, in the rows of events from number `first` on. */
static void take_state(cb_coupled *c, double t, int first) {
  cb_coupled_contacts *k = c->contacts;
  const double *state = c->bodies.at_event && first < k->rows ? c->bodies.at_event(c->bodies.self, t) : NULL;
  for (int r = first; r < k->rows; r++) k->row[r].state = state;
}

static cb_status reflect_closed(cb_coupled *c, double t, int *count) {
  cb_coupled_contacts *k = c->contacts;
  cb_coupled_find_patches(c, false);
  for (;;) {
    int worst = -1;
    cb_status status = cb_coupled_look_all(c, t, k->end);
    if (status || k->rests) return status ? status : impact_all(c, t, count);
    for (int i = 0; i < k->contacts; i++)
      if (closes(&k->end[i]) && (worst < 0 || k->end[i].rate < k->end[worst].rate)) worst = i;
    if (worst < 0) return CB_OK;
    status = reflect_one(c, worst, t, count);
    if (status) return status;
  }
}

/* Reflects the gaps that are closed and close further, until none closes further. If contacts may rest, all gaps are
 * reflected at once; otherwise one after another, the fastest first. The state that is stored with these impacts is the
 * one after all reflections. */
static cb_status reflect_all(cb_coupled *c, double t, int *count) {
  const int first = c->contacts->rows;
  const cb_status status = reflect_closed(c, t, count);
  if (!status) take_state(c, t, first);
  return status;
}

/* Fails if the gap of a contact is negative at the start of the run, by more than round-off. */
cb_status cb_coupled_contacts_check(cb_coupled *c, double t) {
  cb_coupled_contacts *k = c->contacts;
  if (!k) return CB_OK;
  cb_status status = cb_coupled_list_shapes(c, t, 0, false);
  if (!status) status = cb_coupled_look_all(c, t, k->start);
  for (int i = 0; i < k->contacts && !status; i++) {
    if (cb_gap_is_limit(&k->gap[i])) continue; /* limits are checked where the scenario is read */
    const cb_event_row row = row_of(c, &k->gap[i], t);
    if (k->start[i].s < -cb_gap_closed * k->start[i].size)
      return cb_fail(CB_ERROR_DOMAIN, "at the start the gap between %s `%s` and %s `%s` is %.3g: expected at least 0",
                     row.particle >= c->n ? "body" : "particle", name_of(c, row.particle),
                     row.other < 0       ? "wall"
                     : row.other >= c->n ? "body"
                                         : "particle",
                     row.other >= 0 ? name_of(c, row.other) : cb_system_wall_name(c->system, row.wall), k->start[i].s);
  }
  return status;
}

/* Records the zeros of event i in a part of a step. If the event stops the run, *stop and *tau become its name and
 * time; if another event has stopped the run already, only zeros before *tau are recorded. */
static cb_status note_event(const cb_flight *s, int i, double *tau, const char **stop) {
  cb_coupled_contacts *k = s->c->contacts;
  const cb_gap *gap = &k->gap[i];
  cb_gap_look start = k->start[i];
  double from = 0;
  cb_status status = CB_OK;
  for (int n = 0; n < ZEROS_MAX && from < s->h && !status; n++) {
    double time = s->h;
    int side;
    status = cb_flight_zero(s, i, from, &start, &time, &side);
    if (status || side == 0 || (*stop && time > *tau)) return status;
    from = time;
    status = cb_flight_gap(s, gap, from, &start);
    if (status || !counts(k, i, side)) continue;
    const cb_event_row row = row_of(s->c, gap, s->t + time);
    if ((status = note(k, &row))) return status;
    take_state(s->c, row.time, k->rows - 1);
    if (row.kind == CB_EVENT_STOP) {
      *stop = cb_system_event_name(s->c->system, gap->index);
      *tau = time;
      return CB_OK;
    }
  }
  return status;
}

/* Records the events in a part of a step that no contact divides, in the order of their times. */
static cb_status note_events(const cb_flight *s, double *tau, const char **stop) {
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

/* Lists as resting all contacts that are closed at the start if `accumulate` is set; otherwise only those of them whose
 * gap, at its present rate, changes by no more than round-off in the step. */
static cb_status let_rest(const cb_flight *s, bool accumulate) {
  cb_coupled_contacts *k = s->c->contacts;
  cb_status status = CB_OK;
  cb_resting_clear(&k->resting);
  for (int i = 0; i < k->contacts && k->rests && !status; i++) {
    const cb_gap_look *a = &k->start[i];
    const bool closed = a->s <= cb_gap_closed * a->size, still = fabs(a->rate) * s->h <= cb_gap_zero * a->size;
    if (closed && (still || accumulate) && !cb_gap_is_limit(&k->gap[i])) status = cb_resting_add(&k->resting, i);
  }
  return status;
}

/* Reflects the gaps that are closed and close further at the start of a part of a step, and then stores the state. */
static cb_status begin_part(const cb_flight *s, int *count) {
  cb_coupled *c = s->c;
  cb_coupled_contacts *k = c->contacts;
  cb_coupled_find_patches(c, true);
  cb_status status = cb_coupled_look_all(c, s->t, k->start);
  bool any = false;
  if (!status) status = let_rest(s, *count > BOUNCES_MAX);
  for (int i = 0; i < k->contacts && !status; i++)
    any = any || (closes(&k->start[i]) && !cb_resting_holds(&k->resting, i));
  if (any) status = reflect_all(c, s->t, count);
  if (any && !status) status = cb_coupled_look_all(c, s->t, k->start);
  cb_coupled_keep(c, k->first);
  cb_resting_begin(&k->resting);
  return status;
}

/* Lets each contact that is pressed come to rest. *any becomes true if there is such a contact. */
static cb_status press_all(const cb_flight *s, bool *any) {
  cb_coupled_contacts *k = s->c->contacts;
  cb_status status = CB_OK;
  *any = false;
  for (int i = 0; i < k->contacts && !status; i++) {
    if (cb_resting_holds(&k->resting, i) || !is_pressed(k, i)) continue;
    status = cb_contact_press(s, i);
    *any = true;
  }
  return status;
}

/* Estimates the time until the first contact of the flight, from the rates at its start, as if they were constant. */
static double until_contact(const cb_coupled_contacts *k) {
  double out = INFINITY;
  for (int i = 0; i < k->contacts; i++)
    if (k->start[i].s > 0 && k->start[i].rate < 0) out = fmin(out, k->start[i].s / -k->start[i].rate);
  return out;
}

/* Shortens a flight that has left the domain of a model, such as that of a fluid between bodies that overlap at the end
 * of the flight. The flight then ends at the first contact, or at half of its length. Returns false if flights of this
 * step have already been shortened CUTS_MAX times. */
static bool cut(cb_coupled_contacts *k, double *length) {
  const double contact = until_contact(k);
  if (k->cuts++ >= CUTS_MAX) return false;
  *length = contact < *length ? contact : *length / 2;
  return true;
}

/* Makes the flight to the end of the step, or to the time *first of its first contact. If the flight leaves the domain
 * of a model, it is made shorter. If more contacts come to rest, it is made again. */
static cb_status fly_to_contact(const cb_flight *s, double *first, bool *any, int *body, int *iterations) {
  cb_coupled *c = s->c;
  cb_coupled_contacts *k = c->contacts;
  cb_flight flight = *s;
  bool again = true;
  cb_status status = CB_OK;
  while (again && !status) {
    again = *any = false;
    *first = flight.h;
    status = cb_coupled_fly(c, s->t, flight.h, body, iterations);
    if (status == CB_STEP_DOMAIN && cut(k, &flight.h)) {
      status = CB_OK;
      again = true;
      continue;
    }
    if (!status) status = cb_coupled_look_all(c, s->t + flight.h, k->end);
    cb_coupled_keep(c, k->last);
    k->shapes.left = !status && cb_coupled_leaves_reach(c);
    if (k->shapes.left) return CB_OK;
    if (!status) status = press_all(&flight, &again);
    if (!status && !again) status = cb_flight_contact(&flight, first, any, &again);
  }
  return status;
}

/* Makes one part of a step: to its end, to the first contact or to a stop. *tau becomes the length of the part. */
static cb_status make_part(const cb_flight *s, int *count, double *tau, const char **stop, int *body, int *iterations) {
  cb_coupled *c = s->c;
  cb_coupled_contacts *k = c->contacts;
  double first = s->h;
  bool any = false;
  cb_status status = begin_part(s, count);
  if (!status) status = fly_to_contact(s, &first, &any, body, iterations);
  *tau = first;
  if (k->shapes.left) return status;
  if (!status) status = note_events(&(cb_flight){c, s->t, first}, tau, stop);
  if (status) return status;
  cb_gap_look unused;
  if (*stop) return cb_flight_gap(s, &k->gap[0], *tau, &unused);
  cb_coupled_bring_back(c, k->last); /* the searches for zeros have left another state */
  status = cb_coupled_press(c, s->t + first);
  return any && !status ? reflect_all(c, s->t + first, count) : status;
}

cb_status cb_coupled_step_to_events(cb_coupled *c, double t, double *h, const char **stop, int *body, int *iterations) {
  cb_coupled_contacts *k = c->contacts;
  double done = 0;
  int count = 0;
  *stop = NULL;
  *body = -1;
  *iterations = 0;
  if (!k) return cb_coupled_whole(c, t, *h, body, iterations);
  k->rows = 0;
  k->step = *h;
  k->calm = false;
  k->cuts = 0;
  cb_status status = cb_coupled_list_shapes(c, t, *h, false);
  while (!status && done < *h && !*stop) {
    const cb_flight s = {c, t + done, *h - done};
    double tau = s.h;
    int drifts = 0;
    status = make_part(&s, &count, &tau, stop, body, &drifts);
    if (drifts > *iterations) *iterations = drifts;
    done = tau == s.h ? *h : done + tau;
    if (status || !k->shapes.left) continue;
    cb_coupled_bring_back(c, c->before);
    status = cb_coupled_list_shapes(c, t, *h, true);
    k->shapes.left = k->calm = false;
    done = 0;
    k->rows = k->cuts = count = 0;
  }
  if (*stop) *h = done;
  return status;
}

const cb_event_row *cb_coupled_events(const cb_coupled *c, int *n) {
  *n = c->contacts ? c->contacts->rows : 0;
  return c->contacts ? c->contacts->row : NULL;
}

bool cb_coupled_has_events(const cb_coupled *c) { return c->contacts != NULL; }
