/* One moment of contact: what touches there, directly or through others, and what becomes of its velocities. A part that
 * meets more than MOST_CONTACTS contacts in one step is in a pile: contacts without end in a finite time. */
#include "run/contacts_private.h"

#include <math.h>

enum { MOST_CONTACTS = 200 };

/* Flights so short, relative to a step, are no flights where what piles up comes to rest. */
static const double brief = 1e-6;
/* The same of what slides or rests on another, where it is known to the first order in the step alone. */
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

cb_status cb_contacts_touch(cb_contacts *c, const cb_candidate *what, double tau, bool sure) {
  for (int i = 0; i < c->touches; i++)
    if (cb_contacts_same_gap(&c->touch[i].gap, &what->gap)) return CB_OK;
  cb_gap_value value;
  double rate;
  cb_status status = cb_candidate_at(c->parts, c->gaps, what, tau, &value, &rate);
  if (status) return status;
  const double scale = fmax(1, fabs(c->parts->h));
  const double off = c->settling ? value.gap : fabs(value.gap);
  if (!sure && (!value.active || !(off <= cb_contacts_touching * scale))) return CB_OK;
  status = cb_contacts_grow((void **)&c->touch, c->touches, &c->room_touches, sizeof *c->touch);
  for (int i = 0; i < what->parts && !status; i++) status = join(c, what->part[i], tau);
  if (status) return status;
  c->touch[c->touches++] =
      (cb_reflection_contact){.gap = what->gap, .value = value, .restitution = cb_gap_restitution(c->gaps, &what->gap)};
  return CB_OK;
}

/* All gaps of a member's particles that are closed at tau. */
cb_status cb_contacts_gather(cb_contacts *c, int part, double tau) {
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
      if (cb_contacts_rests(c, &gap)) continue;
      const cb_candidate what = cb_candidate_of(c->system, &gap);
      status = cb_contacts_touch(c, &what, tau, false);
    }
    for (int w = 0; w < c->walls && !status; w++) {
      if (!cb_gaps_wall_on(c->gaps, w, i) || (cb_gaps_wall_of_tip(c->gaps, w) && !c->settling)) continue;
      const cb_gap gap = {.kind = CB_GAP_WALL, .n = 1, .particle = {i}, .index = w};
      const cb_candidate what = cb_candidate_of(c->system, &gap);
      if (!cb_contacts_rests(c, &gap)) status = cb_contacts_touch(c, &what, tau, false);
    }
  }
  return status;
}

cb_status cb_contacts_make_part(cb_contacts *c, int part, double tau, cb_reflection_part *out) {
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

cb_status cb_contacts_note(cb_contacts *c, const cb_event_row *row) {
  const cb_status status = cb_contacts_grow((void **)&c->row, c->rows, &c->room_rows, sizeof *c->row);
  if (!status) c->row[c->rows++] = *row;
  return status;
}

/* The two that a row of /event names: particles in the order a user sees; walls and events as -2 - index. */
cb_event_row cb_contacts_row_of(const cb_contacts *c, const cb_gap *gap, double tau) {
  cb_event_row row = {.time = c->parts->t + tau, .kind = cb_gap_action(c->gaps, gap)};
  row.i = cb_system_particle(c->system, gap->particle[0]);
  row.j = gap->n > 1                 ? cb_system_particle(c->system, gap->particle[gap->n - 1])
          : gap->kind == CB_GAP_WALL ? -2 - cb_gaps_wall_given(c->gaps, gap->index)
                                     : -2 - gap->index;
  return row;
}

static cb_status pile(const cb_contacts *c, const cb_candidate *what, double tau) {
  const cb_event_row row = cb_contacts_row_of(c, &what->gap, tau);
  return cb_fail(
      CB_ERROR_CONTACT_PILE,
      "more than %d contacts of particle `%s` in the step from time %.17g, the last with %s at time %.17g: a "
      "pile; try `pile: rest`, a smaller step, or restitution 1",
      MOST_CONTACTS, cb_system_particle_name(c->system, row.i), c->parts->t,
      row.j >= 0 ? cb_system_particle_name(c->system, row.j) : cb_system_wall_name(c->system, -2 - row.j), row.time);
}

/* A gap that closes again and again is held closed for what is left of the step. */
static cb_status lay(cb_contacts *c, const cb_candidate *what) {
  const cb_status status = cb_contacts_grow((void **)&c->resting, c->restings, &c->room_restings, sizeof *c->resting);
  if (!status) c->resting[c->restings++] = *what;
  return status;
}

/* Lays what leaves so slowly that its next contact would come within `brief` of a step. *rested: it came as slowly. */
static cb_status lay_slow(cb_contacts *c, const cb_reflection_contact *touched, bool slides, double tau, bool *rested) {
  *rested = false;
  if (c->options.pile != CB_PILE_REST || touched->restitution == 1) return CB_OK;
  const cb_candidate what = cb_candidate_of(c->system, &touched->gap);
  double slow;
  const cb_status status =
      cb_candidate_slow(c->parts, c->gaps, &what, tau, (slides ? brief_sliding : brief) * fabs(c->parts->h), &slow);
  if (status || touched->after > slow) return status;
  *rested = -touched->before <= slow;
  return lay(c, &what);
}

/* Adds the gaps of members that rest, and of what these rest on, and have sunk since: nothing has held them in the step
 * so far, so that their parts fall. */
static cb_status gather_sinking(cb_contacts *c, double tau) {
  cb_status status = CB_OK;
  c->settling = true;
  for (int known = -1; known < c->touches && !status;) {
    known = c->touches;
    for (int i = 0; i < c->restings && !status; i++) {
      bool mine = false;
      for (int j = 0; j < c->resting[i].parts; j++) mine = mine || c->stamp[c->resting[i].part[j]] == c->stamp_now;
      if (mine) status = cb_contacts_touch(c, &c->resting[i], tau, false);
    }
  }
  c->settling = false;
  return status;
}

/* Blows are those of velocities without the fall of gaps that rest, the touches from `closing` on, which stay closed. */
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
  cb_status status = cb_contacts_touch(c, &e->what, tau, true);
  for (int m = 0; m < c->members && !status; m++) status = cb_contacts_gather(c, c->member[m], tau);
  const int closing = c->touches;
  if (!status) status = gather_sinking(c, tau);
  for (int m = 0; m < c->members && !status; m++) status = cb_contacts_make_part(c, c->member[m], tau, &c->part[m]);
  if (!status) status = blow(c, closing, tau);
  for (int i = 0; i < closing && !status; i++) {
    bool rested;
    if (c->touch[i].impulse == 0) {
      /* what closes by the fall alone rests too */
      if (i == 0 && c->touches > closing) status = lay(c, &e->what);
      continue;
    }
    if ((status = lay_slow(c, &c->touch[i], c->touches > closing, tau, &rested)) || rested) continue;
    cb_event_row row = cb_contacts_row_of(c, &c->touch[i].gap, tau);
    row.gap = c->touch[i].value.gap;
    row.speed_before = c->touch[i].before;
    row.speed_after = c->touch[i].after;
    row.impulse = c->touch[i].impulse;
    status = cb_contacts_note(c, &row);
  }
  for (int m = 0; m < c->members && !status; m++)
    if (++c->count[c->member[m]] > MOST_CONTACTS) {
      if (c->options.pile == CB_PILE_STOP) return pile(c, &e->what, tau);
      for (int i = 0; i < closing && !status; i++) {
        const cb_candidate what = cb_candidate_of(c->system, &c->touch[i].gap);
        status = lay(c, &what);
      }
      c->count[c->member[m]] = 0;
      break;
    }
  if (!status) status = cb_contacts_expect_all(c, tau);
  if (!status) status = cb_contacts_expect_rest(c, tau);
  return status;
}
