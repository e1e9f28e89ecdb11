/* Resolves one contact: finds the parts that touch at its time, directly or through others, changes their velocities,
 * and handles gaps that come to rest. A part with more than CONTACTS_MAX contacts in one step is in an accumulation:
 * infinitely many contacts in a finite time. */
#include "run/contacts_private.h"

#include <math.h>
#include <string.h>

enum { CONTACTS_MAX = 200 };

/* With `accumulation: rest` a gap rests if the time between two of its contacts is shorter than this fraction of a
 * step. */
static const double brief = 1e-6;
/* This fraction replaces `brief` for a part that slides or rests on another, because the motion of such a part is known
 * only to first order in the step. */
static const double brief_sliding = 1e-2;

static cb_status join(cb_contacts *c, int part, double tau) {
  if (c->stamp[part] == c->stamp_now) return CB_OK;
  c->stamp[part] = c->stamp_now;
  c->member[c->members++] = part;
  double speed = 0;
  for (int i = c->parts->start[part]; i < c->parts->start[part + 1]; i++) speed = fmax(speed, c->parts->speed[i]);
  c->way[part] += speed * fabs(tau - c->parts->clock[part]);
  return cb_parts_settle(c->parts, part, tau);
}

static cb_status add_touch(cb_contacts *c, const cb_candidate *what, double tau, bool sure) {
  for (int i = 0; i < c->touches; i++)
    if (cb_contacts_same_gap(&c->touch[i].gap, &what->gap)) return CB_OK;
  cb_gap_value value;
  double rate;
  cb_status status = cb_candidate_at(c->parts, c->gaps, what, tau, &value, &rate);
  if (status) return status;
  const double scale = fmax(1, fabs(c->parts->h));
  const double off = c->settling ? value.gap : fabs(value.gap);
  if (!sure && (!value.active || !(off <= cb_contacts_touching * scale))) return CB_OK;
  status = cb_contacts_grow((void **)&c->touch, c->touches, &c->touches_capacity, sizeof *c->touch);
  for (int i = 0; i < what->parts && !status; i++) status = join(c, what->part[i], tau);
  if (status) return status;
  c->touch[c->touches++] =
      (cb_reflection_contact){.gap = what->gap, .value = value, .restitution = cb_gap_restitution(c->gaps, &what->gap)};
  return CB_OK;
}

/* Adds the gaps between a member's particles and other balls or walls, if these gaps are closed at tau and do not rest.
 * A wall at the tip of a cone counts only while c->settling is true. */
static cb_status gather_closed(cb_contacts *c, int part, double tau) {
  cb_status status = CB_OK;
  for (int i = c->parts->start[part]; i < c->parts->start[part + 1] && !status; i++) {
    const int *ball = NULL;
    int count = 0;
    double x[CB_Q_MAX];
    const double r = cb_system_radius(c->system, cb_system_particle(c->system, i)),
                 reach = r + cb_contacts_touching * fmax(1, fabs(c->parts->h));
    status = cb_contacts_around(c, i, reach, x, &ball, &count);
    for (int b = 0; b < count && !status; b++) {
      const int j = ball[b];
      if (j == i || !cb_gaps_pair_on(c->gaps, i, j) || cb_contacts_out_of_reach(c, x, reach, j, tau)) continue;
      const cb_gap gap = {.kind = CB_GAP_SPHERES, .n = 2, .particle = {i < j ? i : j, i < j ? j : i}, .index = -1};
      if (cb_contacts_is_resting(c, &gap)) continue;
      const cb_candidate what = cb_candidate_of(c->system, &gap);
      status = add_touch(c, &what, tau, false);
    }
    for (int w = 0; w < c->walls && !status; w++) {
      if (!cb_gaps_wall_on(c->gaps, w, i) || (cb_gaps_wall_of_tip(c->gaps, w) && !c->settling)) continue;
      const cb_gap gap = {.kind = CB_GAP_WALL, .n = 1, .particle = {i}, .index = w};
      const cb_candidate what = cb_candidate_of(c->system, &gap);
      if (!cb_contacts_is_resting(c, &gap)) status = add_touch(c, &what, tau, false);
    }
  }
  return status;
}

static cb_status make_part(cb_contacts *c, int part, double tau, cb_reflection_part *out) {
  cb_parts *p = c->parts;
  const int first = p->start[part];
  const size_t at = (size_t)first * (size_t)p->k;
  cb_part_mover *mover;
  *out = (cb_reflection_part){.first = first,
                              .n = p->start[part + 1] - first,
                              .mass = cb_system_masses(c->system) + first,
                              .x = p->base->x + at,
                              .p = p->base->p + at,
                              .p_low = p->base->p_low + at};
  (void)tau;
  if (p->free[part]) return CB_OK;
  cb_status status = cb_parts_mover(p, part, &mover);
  if (status) return status;
  out->constraints = cb_forces_constraints(mover->integrator->forces);
  if (!out->constraints) return CB_OK;
  if (!c->gram[part]) status = cb_gram_create(mover->integrator->forces, out->constraints, &c->gram[part]);
  out->gram = c->gram[part];
  return status;
}

/* Stores the positions and momenta of the parts that take part in an event, for the newest row of /event. For a
 * contact, the momenta are those after the impulses. */
static cb_status keep_state(cb_contacts *c, const cb_candidate *what, double tau) {
  const size_t k = (size_t)c->parts->k, all = (size_t)c->n * k;
  cb_status status =
      cb_contacts_grow((void **)&c->row_state, c->rows, &c->row_states_capacity, 2 * all * sizeof(double));
  if (status) return status;
  double *x = c->row_state + 2 * all * (size_t)c->rows, *p = x + all;
  for (size_t i = 0; i < 2 * all; i++) x[i] = NAN;
  for (int m = 0; m < what->parts && !status; m++) {
    const int part = what->part[m];
    const cb_state *state;
    const size_t at = (size_t)c->parts->start[part] * k,
                 bytes = ((size_t)c->parts->start[part + 1] * k - at) * sizeof(double);
    if ((status = cb_parts_at(c->parts, part, tau, &state))) break;
    memcpy(x + at, state->x + at, bytes);
    memcpy(p + at, state->p + at, bytes);
  }
  return status;
}

cb_status cb_contacts_note(cb_contacts *c, const cb_event_row *row, const cb_candidate *what, double tau) {
  cb_status status = cb_contacts_grow((void **)&c->row, c->rows, &c->rows_capacity, sizeof *c->row);
  if (!status && c->keeps_states) status = keep_state(c, what, tau);
  if (!status) c->row[c->rows++] = *row;
  return status;
}

/* Returns a row of /event with the partners of a gap: particles in the user's order, a wall or an event by its
 * index. */
cb_event_row cb_contacts_row_of(const cb_contacts *c, const cb_gap *gap, double tau) {
  cb_event_row row = {.time = c->parts->t + tau, .kind = cb_gap_action(c->gaps, gap), .other = -1, .wall = -1};
  row.particle = cb_system_particle(c->system, gap->particle[0]);
  if (gap->n > 1)
    row.other = cb_system_particle(c->system, gap->particle[gap->n - 1]);
  else
    row.wall = gap->kind == CB_GAP_WALL ? cb_gaps_wall_given(c->gaps, gap->index) : gap->index;
  return row;
}

static cb_status accumulation(const cb_contacts *c, const cb_candidate *what, double tau) {
  const cb_event_row row = cb_contacts_row_of(c, &what->gap, tau);
  return cb_fail(
      CB_ERROR_CONTACT_ACCUMULATION,
      "more than %d contacts of particle `%s` in the step from time %.17g, the last with %s at time %.17g: "
      "they accumulate; try `accumulation: rest`, a smaller step, or restitution 1",
      CONTACTS_MAX, cb_system_particle_name(c->system, row.particle), c->parts->t,
      row.other >= 0 ? cb_system_particle_name(c->system, row.other) : cb_system_wall_name(c->system, row.wall),
      row.time);
}

/* Adds a gap that closes repeatedly to the resting gaps, which stay closed for the rest of the step. */
static cb_status lay(cb_contacts *c, const cb_candidate *what) {
  const cb_status status =
      cb_contacts_grow((void **)&c->resting, c->restings, &c->restings_capacity, sizeof *c->resting);
  if (!status) c->resting[c->restings++] = *what;
  return status;
}

/* Adds a gap to the resting gaps if it opens so slowly after a contact that it would close again within the fraction
 * `brief` of a step (`brief_sliding` if its part slides). Sets *rested to true if the gap also closed that slowly
 * before the contact. */
static cb_status lay_slow(cb_contacts *c, const cb_reflection_contact *touched, bool slides, double tau, bool *rested) {
  *rested = false;
  if (c->options.accumulation != CB_ACCUMULATION_REST || touched->restitution == 1) return CB_OK;
  const cb_candidate what = cb_candidate_of(c->system, &touched->gap);
  double slow;
  const cb_status status =
      cb_candidate_slow(c->parts, c->gaps, &what, tau, (slides ? brief_sliding : brief) * fabs(c->parts->h), &slow);
  if (status || touched->after > slow) return status;
  *rested = -touched->before <= slow;
  return lay(c, &what);
}

/* Adds to the touches the resting gaps of the members, the parts of this contact, that have sunk below 0 since they
 * came to rest. The other part of such a gap becomes a member, too, and its resting gaps are searched next. Gaps sink
 * because nothing supports a resting part until the end of the step, so that forces push it into the other part. */
static cb_status gather_sinking(cb_contacts *c, double tau) {
  cb_status status = CB_OK;
  c->settling = true;
  for (int known = -1; known < c->touches && !status;) {
    known = c->touches;
    for (int i = 0; i < c->restings && !status; i++) {
      bool mine = false;
      for (int j = 0; j < c->resting[i].parts; j++) mine = mine || c->stamp[c->resting[i].part[j]] == c->stamp_now;
      if (mine) status = add_touch(c, &c->resting[i], tau, false);
    }
  }
  c->settling = false;
  return status;
}

/* Computes the impulses of all touches. The touches from index `closing` on are resting gaps, which stay closed. They
 * close only because nothing supports their parts before the end of the step. Therefore impulses at the resting gaps
 * alone first make their closing rates 0. */
static cb_status blow(cb_contacts *c, int closing, double tau) {
  const double t = c->parts->t + tau;
  const int sinking = c->touches - closing;
  for (int i = closing; i < c->touches; i++) c->touch[i].restitution = 0;
  cb_status status =
      cb_reflect(c->reflection, CB_CONTACT_SIMULTANEOUS, t, c->members, c->part, sinking, c->touch + closing);
  if (!status) status = cb_reflect(c->reflection, c->options.rule, t, c->members, c->part, c->touches, c->touch);
  return status;
}

cb_status cb_contacts_reflect(cb_contacts *c, const cb_contacts_entry *e) {
  const double tau = e->tau;
  c->members = c->touches = 0;
  c->stamp_now++;
  cb_status status = add_touch(c, &e->what, tau, true);
  for (int m = 0; m < c->members && !status; m++) status = gather_closed(c, c->member[m], tau);
  const int closing = c->touches;
  if (!status) status = gather_sinking(c, tau);
  for (int m = 0; m < c->members && !status; m++) status = make_part(c, c->member[m], tau, &c->part[m]);
  if (!status) status = blow(c, closing, tau);
  for (int i = 0; i < closing && !status; i++) {
    bool rested;
    if (c->touch[i].impulse == 0) {
      /* this gap has closed only because a resting contact of the same part has sunk a little below 0: the gap is added
       * to the resting gaps */
      if (i == 0 && c->touches > closing) status = lay(c, &e->what);
      continue;
    }
    if ((status = lay_slow(c, &c->touch[i], c->touches > closing, tau, &rested)) || rested) continue;
    cb_event_row row = cb_contacts_row_of(c, &c->touch[i].gap, tau);
    row.gap = c->touch[i].value.gap;
    row.speed_before = c->touch[i].before;
    row.speed_after = c->touch[i].after;
    row.impulse = c->touch[i].impulse;
    const cb_candidate what = cb_candidate_of(c->system, &c->touch[i].gap);
    status = cb_contacts_note(c, &row, &what, tau);
  }
  for (int m = 0; m < c->members && !status; m++)
    if (++c->count[c->member[m]] > CONTACTS_MAX) {
      if (c->options.accumulation == CB_ACCUMULATION_STOP) return accumulation(c, &e->what, tau);
      for (int i = 0; i < closing && !status; i++) {
        const cb_candidate what = cb_candidate_of(c->system, &c->touch[i].gap);
        status = lay(c, &what);
      }
      c->count[c->member[m]] = 0;
      break;
    }
  if (!status) status = cb_contacts_predict_all(c, tau);
  if (!status) status = cb_contacts_predict_others(c, tau);
  return status;
}

/* --- gaps that rest --- */

enum { LIFTS_MAX = 200 };

/* At the end of a step, parts are moved until their resting gaps differ from 0 by at most this length. */
static const double level = 1e-14;

/* Evaluates the gap and gradient of a contact at the present positions. */
static cb_status look_again(cb_contacts *c, cb_reflection_contact *touched, double tau) {
  const cb_candidate what = cb_candidate_of(c->system, &touched->gap);
  double rate;
  return cb_candidate_at(c->parts, c->gaps, &what, tau, &touched->value, &rate);
}

/* Moves the positions and momenta of a part back to its constraints. This is needed because a lift, which moves the
 * part by a length l to close a gap, violates them by an error of the order l^2. The momentum of a mass m with velocity
 * v is m g v in a chart with the metric g, and m v in the embedding. */
static cb_status hold(cb_contacts *c, const cb_reflection_part *part, double t) {
  const cb_space *g = c->g;
  const size_t k = (size_t)g->k;
  double *v = c->parts->trial->p +
              (size_t)part->first * k; /* scratch memory: the trial state of the part is computed again later */
  double metric[CB_Q_MAX * CB_Q_MAX];
  cb_status status = CB_OK;
  if (!part->gram) return CB_OK;
  for (int i = 0; i < part->n && !status; i++) {
    status = cb_space_raise(g, part->x + (size_t)i * k, part->p + (size_t)i * k, v + (size_t)i * k);
    for (size_t a = 0; a < k; a++) v[(size_t)i * k + a] /= part->mass[i];
  }
  if (!status) status = cb_gram_project(part->gram, t, part->x, v, 0, NULL, NULL, NULL);
  for (int i = 0; i < part->n && !status; i++) {
    const double *u = v + (size_t)i * k;
    double *p = part->p + (size_t)i * k;
    if (g->chart && (status = g->chart->metric(g, part->x + (size_t)i * k, metric, NULL, NULL))) break;
    for (size_t a = 0; a < k; a++) {
      p[a] = g->chart ? 0 : part->mass[i] * u[a];
      for (size_t b = 0; b < k && g->chart; b++) p[a] += part->mass[i] * metric[a * k + b] * u[b];
      part->p_low[(size_t)i * k + a] = 0;
    }
  }
  return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
}

/* At the end of the step, resting gaps and other gaps that have sunk below 0 are moved back to 0 along their normals,
 * one after another. At most LIFTS_MAX sweeps are made, until no gap differs from 0 by more than `level`. Then all
 * remaining closing rates are set to 0. Motion along planes in a uniform field keeps the order of the integrator;
 * motion along curved walls is of first order in the step. */
cb_status cb_contacts_settle_resting(cb_contacts *c) {
  const double tau = c->parts->h;
  double deepest = INFINITY;
  cb_status status = CB_OK;
  c->members = c->touches = 0;
  c->stamp_now++;
  for (int i = 0; i < c->restings && !status; i++) status = add_touch(c, &c->resting[i], tau, true);
  for (int sweep = 0; sweep < LIFTS_MAX && deepest > level && !status; sweep++) {
    c->settling = true;
    for (int m = 0; m < c->members && !status; m++) status = gather_closed(c, c->member[m], tau);
    c->settling = false;
    for (int m = 0; m < c->members && !status; m++) status = make_part(c, c->member[m], tau, &c->part[m]);
    deepest = 0;
    for (int i = 0; i < c->touches && !status; i++) {
      cb_reflection_contact *touched = &c->touch[i];
      if ((status = look_again(c, touched, tau))) continue;
      touched->sunk = touched->sunk || touched->value.gap < 0;
      if (!touched->sunk) continue;
      deepest = fmax(deepest, fabs(touched->value.gap));
      status = cb_reflection_lift(c->reflection, c->parts->t + tau, c->members, c->part, &c->touch[i]);
    }
    for (int m = 0; m < c->members && deepest > 0 && !status; m++) status = hold(c, &c->part[m], c->parts->t + tau);
  }
  for (int i = 0; i < c->touches && !status; i++) {
    status = look_again(c, &c->touch[i], tau);
    c->touch[i].restitution = 0;
  }
  if (!status)
    status = cb_reflect(c->reflection, CB_CONTACT_SIMULTANEOUS, c->parts->t + tau, c->members, c->part, c->touches,
                        c->touch);
  for (int m = 0; m < c->members && !status; m++) {
    const cb_reflection_part *part = &c->part[m];
    const size_t k = (size_t)c->g->k;
    /* In an embedded space the momentum must be tangent to the space. If a part is at rest, its momentum is only
     * round-off, and the component normal to the space may be the largest one. */
    for (int i = 0; i < part->n && !c->g->chart; i++)
      cb_space_project_tangent(c->g, part->x + (size_t)i * k, part->p + (size_t)i * k);
    status = cb_parts_restart(c->parts, c->member[m]);
  }
  return status;
}
