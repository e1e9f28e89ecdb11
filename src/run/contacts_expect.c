/* Looking for the first closing of gaps: see contacts.h. Nothing of a part is looked for beyond the first contact that it
 * surely has, nothing of two parts beyond the first that they have with one another. */
#include "run/contacts_private.h"

#include <math.h>
#include <string.h>

enum { MOST_SURFACES = 32, MANY = 8 };

void cb_contacts_point(const cb_contacts *c, const cb_state *s, int i, double *x) {
  const double *at = s->x + (size_t)i * (size_t)c->g->k;
  if (cb_origin_moves(c->g))
    cb_origin_world_point(c->g, &c->bases.own[cb_system_component(c->system, i)], at, x);
  else
    memcpy(x, at, (size_t)c->g->k * sizeof *x);
}

/* The balls that may be where ball i is at its part's clock, at the point x, with so much of reach. */
cb_status cb_contacts_around(cb_contacts *c, int i, double reach, double *x, const int **ball, int *count) {
  *count = 0;
  if (!c->balls) return CB_OK;
  cb_contacts_point(c, c->parts->base, i, x);
  return cb_broad_around(c->balls, x, reach, c->moved, ball, count);
}

/* Can particle j, wherever it is at its part's clock, not come so near to a ball within `until`? */
bool cb_contacts_out_of_reach(const cb_contacts *c, const double *x, double reach, int j, double until) {
  const cb_parts *p = c->parts;
  const double time = fabs(until - p->clock[cb_system_component(c->system, j)]);
  double y[CB_Q_MAX];
  cb_contacts_point(c, p->base, j, y);
  const double r = cb_system_radius(c->system, cb_system_particle(c->system, j));
  return cb_broad_apart(c->balls, x, reach, y, r + p->speed[j] * time);
}

bool cb_contacts_same_gap(const cb_gap *a, const cb_gap *b) {
  if (a->kind != b->kind || a->n != b->n || a->index != b->index) return false;
  return !memcmp(a->particle, b->particle, (size_t)a->n * sizeof *a->particle);
}

bool cb_contacts_rests(const cb_contacts *c, const cb_gap *gap) {
  for (int i = 0; i < c->restings; i++)
    if (cb_contacts_same_gap(&c->resting[i].gap, gap)) return true;
  return false;
}

/* What is known of when these two parts meet; forgets what it has in that place of others. */
static cb_contacts_meeting *meeting_of(cb_contacts *c, int a, int b) {
  cb_contacts_meeting *m = &c->meeting[(unsigned)(a + 31 * b) % CB_CONTACTS_MEETINGS];
  if (m->part[0] != a || m->part[1] != b || m->version[0] != c->version[a] || m->version[1] != c->version[b])
    *m = (cb_contacts_meeting){{a, b}, {c->version[a], c->version[b]}, c->parts->h};
  return m;
}

/* Nothing is looked for beyond a moment at which all will be looked for anew; but where gaps may come to rest, whose
 * parts are brought back at the end of the step alone, all is looked for. */
cb_status cb_contacts_expect(cb_contacts *c, cb_candidate what, double from) {
  cb_contacts_entry e = {.what = what};
  double *until_of_parts = &c->until[what.part[0]];
  bool found;
  if (c->restings && cb_contacts_rests(c, &what.gap)) return CB_OK;
  double until = *until_of_parts;
  if (what.parts == 2) {
    const int a = what.part[0] < what.part[1] ? 0 : 1;
    until_of_parts = &meeting_of(c, what.part[a], what.part[1 - a])->until;
    until = fmin(fmin(until, c->until[what.part[1]]), *until_of_parts);
  }
  if (c->options.pile == CB_PILE_REST) until = c->parts->h;
  const bool event = what.gap.kind == CB_GAP_EVENT;
  const cb_status status =
      event ? cb_event_first(c->parts, c->gaps, &e.what, c->memory[what.gap.index], from, until, &e.tau, &found)
            : cb_candidate_first(c->parts, c->gaps, &e.what, from, until, &e.tau, &found);
  if (status || !found) return status;
  if (!event) *until_of_parts = fmin(*until_of_parts, e.tau);
  for (int i = 0; i < what.parts; i++) e.version[i] = c->version[what.part[i]];
  return cb_contacts_push(c, e);
}

cb_status cb_contacts_expect_pair(cb_contacts *c, int i, int j, double from) {
  if (!cb_gaps_pair_on(c->gaps, i, j)) return CB_OK;
  const cb_gap gap = {.kind = CB_GAP_SPHERES, .n = 2, .particle = {i < j ? i : j, i < j ? j : i}, .index = -1};
  return cb_contacts_expect(c, cb_candidate_of(c->system, &gap), from);
}

cb_status cb_contacts_expect_walls(cb_contacts *c, int i, double from) {
  cb_status status = CB_OK;
  for (int w = 0; w < c->walls && !status; w++) {
    if (!cb_gaps_wall_on(c->gaps, w, i) || cb_gaps_wall_of_tip(c->gaps, w)) continue;
    const cb_gap gap = {.kind = CB_GAP_WALL, .n = 1, .particle = {i}, .index = w};
    status = cb_contacts_expect(c, cb_candidate_of(c->system, &gap), from);
  }
  return status;
}

/* Where the cubic that a gap and its rate at both ends of a time tell of first vanishes; INFINITY: it does not. */
static double guess(double s0, double rate0, double s1, double rate1, double time) {
  enum { STEPS = 32 };
  for (int i = 1; i <= STEPS; i++) {
    const double u = (double)i / STEPS, v = 1 - u;
    if (v * v * ((1 + 2 * u) * s0 + u * time * rate0) + u * u * ((1 + 2 * v) * s1 - v * time * rate1) < 0)
      return u * time;
  }
  return INFINITY;
}

/* Of a part of many particles, which moves only as a whole, the one likely to meet a wall first is looked at first: the
 * others then need to be looked at no further. What is compared is known without a move. */
cb_status cb_contacts_expect_likely_wall(cb_contacts *c, int part, double from) {
  const cb_parts *p = c->parts;
  double least = INFINITY;
  cb_candidate likely;
  if (p->start[part + 1] - p->start[part] < MANY || from != p->clock[part]) return CB_OK;
  for (int i = p->start[part]; i < p->start[part + 1]; i++)
    for (int w = 0; w < c->walls; w++) {
      const cb_gap gap = {.kind = CB_GAP_WALL, .n = 1, .particle = {i}, .index = w};
      const cb_candidate what = cb_candidate_of(c->system, &gap);
      cb_gap_value value[2];
      double rate[2];
      if (!cb_gaps_wall_on(c->gaps, w, i) || cb_gaps_wall_of_tip(c->gaps, w) ||
          cb_candidate_at(c->parts, c->gaps, &what, from, &value[0], &rate[0]) ||
          cb_candidate_at(c->parts, c->gaps, &what, p->h, &value[1], &rate[1]))
        continue;
      const double time = guess(value[0].gap, rate[0], value[1].gap, rate[1], p->h - from);
      if (!(time < least)) continue;
      least = time;
      likely = what;
    }
  return least < INFINITY ? cb_contacts_expect(c, likely, from) : CB_OK;
}

cb_status cb_contacts_begin_event(cb_contacts *c, int event) {
  const double t = c->parts->t;
  cb_status status = CB_OK;
  cb_gap gap;
  cb_gaps_event(c->gaps, event, &gap);
  const cb_candidate what = cb_candidate_of(c->system, &gap);
  c->memory[event] = c->last[event];
  if (t != c->last_end) status = cb_event_known(c->parts, c->gaps, &what, 0, &c->memory[event]);
  if (t == c->start) c->memory[event].known = false;
  return status ? status : cb_contacts_expect(c, what, 0);
}

/* What is known of events where the step has ended. */
cb_status cb_contacts_end_events(cb_contacts *c) {
  cb_status status = CB_OK;
  c->last_end = NAN;
  for (int e = 0; e < c->events && !status; e++) {
    cb_gap gap;
    cb_gaps_event(c->gaps, e, &gap);
    const cb_candidate what = cb_candidate_of(c->system, &gap);
    status = cb_event_known(c->parts, c->gaps, &what, c->parts->h, &c->last[e]);
  }
  if (!status) c->last_end = c->parts->end->t;
  return status;
}

/* A surface that has just been reflected keeps its side: the sign of its gap is round-off then. */
static void keep_side(const cb_contacts *c, cb_gap *gap) {
  for (int i = 0; i < c->touches; i++) {
    const cb_gap *touched = &c->touch[i].gap;
    if (touched->kind == gap->kind && touched->n == gap->n && touched->index == gap->index &&
        !memcmp(touched->particle, gap->particle, (size_t)gap->n * sizeof *gap->particle))
      gap->side = touched->side;
  }
}

/* Sides are those of the moment `from`, at which the parts are. */
cb_status cb_contacts_expect_faces(cb_contacts *c, int a, int b, double from) {
  cb_gap gap[MOST_SURFACES];
  const int n = cb_gaps_surfaces(c->gaps, a, b, MOST_SURFACES, gap);
  cb_status status = CB_OK;
  for (int i = 0; i < n && !status; i++) {
    const cb_state *state;
    const double *x[CB_GAP_PARTICLES];
    cb_candidate what = cb_candidate_of(c->system, &gap[i]);
    for (int j = 0; j < gap[i].n && !status; j++) {
      const int place = gap[i].particle[j];
      status = cb_parts_at(c->parts, cb_system_component(c->system, place), from, &state);
      if (!status) x[j] = state->x + (size_t)place * (size_t)c->g->k;
    }
    if (!status) status = cb_gap_orient(c->gaps, &what.gap, c->parts->t + from, x);
    if (from > 0) keep_side(c, &what.gap);
    if (!status) status = cb_contacts_expect(c, what, from);
  }
  return status;
}

/* What the members may meet from tau on, among themselves and with others, each pair once. */
cb_status cb_contacts_expect_all(cb_contacts *c, double tau) {
  cb_parts *p = c->parts;
  cb_status status = CB_OK;
  const double left = fabs(p->h - tau);
  for (int m = 0; m < c->members && !status; m++) {
    const int part = c->member[m];
    status = cb_parts_restart(p, part);
    c->until[part] = p->h;
    for (int i = p->start[part]; i < p->start[part + 1]; i++) {
      const double r = cb_system_radius(c->system, cb_system_particle(c->system, i));
      if (c->balls) c->moved = fmax(c->moved, r + c->way[part] + p->speed[i] * left - c->reach[i]);
    }
    c->version[part]++;
  }
  for (int m = 0; m < c->members && !status; m++) {
    const int part = c->member[m];
    if (c->walls) status = cb_contacts_expect_likely_wall(c, part, tau);
    for (int i = p->start[part]; i < p->start[part + 1] && !status; i++) {
      const int *ball = NULL;
      int count = 0;
      double x[CB_Q_MAX];
      const double r = cb_system_radius(c->system, cb_system_particle(c->system, i)), reach = r + p->speed[i] * left;
      status = cb_contacts_around(c, i, reach, x, &ball, &count);
      for (int b = 0; b < count && !status; b++) {
        const int j = ball[b];
        const bool both = c->stamp[cb_system_component(c->system, j)] == c->stamp_now;
        if (j == i || (both && j < i) || !cb_gaps_pair_on(c->gaps, i, j)) continue;
        if (!cb_contacts_out_of_reach(c, x, reach, j, p->h)) status = cb_contacts_expect_pair(c, i, j, tau);
      }
      if (!status) status = cb_contacts_expect_walls(c, i, tau);
    }
  }
  return status;
}

/* Faces and events that members take part in. */
cb_status cb_contacts_expect_rest(cb_contacts *c, double tau) {
  cb_status status = CB_OK;
  for (int e = 0; e < c->events && !status; e++) {
    cb_gap gap;
    cb_gaps_event(c->gaps, e, &gap);
    const cb_candidate what = cb_candidate_of(c->system, &gap);
    bool mine = false;
    for (int i = 0; i < what.parts; i++) mine = mine || c->stamp[what.part[i]] == c->stamp_now;
    if (mine) status = cb_contacts_expect(c, what, tau);
  }
  if (!c->triangles) return status;
  const size_t k = (size_t)c->g->k;
  for (int f = 0; f < c->triangles && !status; f++) {
    int corner[3];
    cb_gaps_triangle(c->gaps, f, corner);
    const int part = cb_system_component(c->system, corner[0]);
    if (c->stamp[part] != c->stamp_now) continue;
    const int *other = NULL;
    int count = 0;
    status = cb_broad_around(c->faces, c->face_world + (size_t)f * k, c->face_reach[f], 2 * c->moved, &other, &count);
    for (int o = 0; o < count && !status; o++) {
      int there[3];
      cb_gaps_triangle(c->gaps, other[o], there);
      const bool both = c->stamp[cb_system_component(c->system, there[0])] == c->stamp_now;
      if (other[o] != f && !(both && other[o] < f))
        status = cb_contacts_expect_faces(c, f < other[o] ? f : other[o], f < other[o] ? other[o] : f, tau);
    }
  }
  return status;
}
