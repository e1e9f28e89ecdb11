/* A step with contacts (contacts_step.h), and the check of the state at the start of the run.
 *
 * The next event in a step is the first entry of a heap that is ordered by time. At a contact all parts that touch
 * there, directly or through others, are moved to the time of the contact, and their velocities are reflected together
 * by the rule of the system. Every gap of these parts that may close before the step ends is then searched again; older
 * entries of the heap for these parts are void. Therefore the search for contacts of a part can end at the first
 * contact that it certainly has, with a wall or within itself. The search for two parts can end at the first contact
 * that they have with each other.
 */
#include "dynamics/system_facts.h"
#include "run/contacts_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* If there are more movers than this, they are freed at the start of a step; each takes at least 50 kB. */
enum { MOVERS_MAX = 8192 };

/* Overlaps at the start up to this length are allowed, because users type positions with few digits. */
static const double typed = 1e-9;

/* Events that are closer than this fraction of a step happen at the same time. */
static const double same_moment = 1e-12;

/* --- creation --- */

cb_status cb_contacts_create(const cb_system *system, cb_integrator *whole, cb_contacts **out) {
  cb_contacts *c = calloc(1, sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for contacts");
  c->system = system;
  c->g = cb_system_space(system);
  c->n = cb_system_particles(system);
  c->events = cb_system_events(system);
  c->options = cb_system_contact_options(system);
  c->antipodes = cb_antipodes_matter(system);
  cb_status status = cb_parts_create(system, whole, &c->parts);
  if (!status) status = cb_gaps_create(system, &c->gaps);
  /* one particle, such as that of a configuration space, can meet only walls */
  if (!status && c->n > 1) status = cb_broad_create(c->g, c->options.all_pairs, &c->balls);
  if (!status && c->n > 1) status = cb_broad_create(c->g, c->options.all_pairs, &c->faces);
  if (!status) status = cb_reflection_create(system, &c->reflection);
  if (status) {
    cb_contacts_free(c);
    return status;
  }
  c->walls = cb_gaps_walls(c->gaps);
  c->triangles = cb_gaps_triangles(c->gaps);
  const size_t n = (size_t)c->n, k = (size_t)c->g->k, parts = (size_t)c->parts->components, f = (size_t)c->triangles;
  cb_arena *arena = c->parts->arena;
  const struct {
    void **array;
    size_t count, size;
  } all[] = {{(void **)&c->world, n * k, sizeof(double)},
             {(void **)&c->reach, n, sizeof(double)},
             {(void **)&c->face_world, f * k, sizeof(double)},
             {(void **)&c->face_reach, f, sizeof(double)},
             {(void **)&c->version, parts, sizeof(int)},
             {(void **)&c->count, parts, sizeof(int)},
             {(void **)&c->way, parts, sizeof(double)},
             {(void **)&c->until, parts, sizeof(double)},
             {(void **)&c->origin, parts, sizeof(cb_origin)},
             {(void **)&c->member, parts, sizeof(int)},
             {(void **)&c->stamp, parts, sizeof(int)},
             {(void **)&c->part, parts, sizeof *c->part},
             {(void **)&c->gram, parts, sizeof *c->gram},
             {(void **)&c->memory, (size_t)c->events, sizeof *c->memory},
             {(void **)&c->last, (size_t)c->events, sizeof *c->last},
             {(void **)&c->extent, parts, sizeof(double)}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!(*all[i].array = cb_arena_alloc(arena, all[i].count, all[i].size))) {
      cb_contacts_free(c);
      return cb_fail(CB_ERROR_MEMORY, "no memory for contacts of %zu particles", n);
    }
  status = cb_bases_create(arena, c->parts->components, &c->bases);
  if (status) {
    cb_contacts_free(c);
    return status;
  }
  cb_bases_copy(&c->bases, cb_system_bases(system));
  *out = c;
  return CB_OK;
}

cb_bases *cb_contacts_bases(cb_contacts *c) { return &c->bases; }
void cb_contacts_restored(cb_contacts *c) {
  cb_bases_loaded(&c->bases);
  c->apart = 0;
}

void cb_contacts_keep_states(cb_contacts *c) { c->keeps_states = true; }

cb_contacts_doubt cb_contacts_doubts(const cb_contacts *c) { return c->doubt; }

void cb_contacts_free(cb_contacts *c) {
  if (!c) return;
  for (int i = 0; c->gram && i < c->parts->components; i++) cb_gram_free(c->gram[i]);
  cb_parts_free(c->parts);
  cb_gaps_free(c->gaps);
  cb_broad_free(c->balls);
  cb_broad_free(c->faces);
  cb_reflection_free(c->reflection);
  free(c->heap);
  free(c->row);
  free(c->row_state);
  free(c->touch);
  free(c->resting);
  free(c);
}

/* --- the beginning of a step --- */

static void take_origins(cb_contacts *c, const cb_state *s) {
  const size_t bytes = (size_t)s->n_components * sizeof *s->origin;
  if (c->known_origins && c->known_bases == c->bases.changes && !memcmp(c->origin, s->origin, bytes)) return;
  memcpy(c->origin, s->origin, bytes);
  c->known_origins = true;
  c->known_bases = c->bases.changes;
  cb_gaps_set_origins(c->gaps, s->origin);
  cb_gaps_set_bases(c->gaps, &c->bases);
}

/* Fills the broad phases with the balls at the start of the step, in the frames of their bases, and with the
 * triangles. A reach is the radius plus the maximum distance that the particle may move. Balls whose bases are far
 * apart may seem near; the search then finds that they do not meet. */
static cb_status set_balls(cb_contacts *c, const cb_state *s, double h) {
  const size_t k = (size_t)c->g->k;
  if (!c->balls) return CB_OK;
  for (int i = 0; i < c->n; i++) {
    cb_contacts_point(c, s, i, c->world + (size_t)i * k);
    c->reach[i] = cb_system_radius(c->system, cb_system_particle(c->system, i)) + c->parts->speed[i] * fabs(h);
  }
  for (int f = 0; f < c->triangles; f++) {
    int corner[3];
    cb_gaps_triangle(c->gaps, f, corner);
    memcpy(c->face_world + (size_t)f * k, c->world + (size_t)corner[0] * k, k * sizeof(double));
    c->face_reach[f] = c->reach[corner[0]];
    for (int j = 1; j < 3; j++)
      c->face_reach[f] = fmax(
          c->face_reach[f],
          c->reach[corner[j]] + cb_distance(c->g, c->world + (size_t)corner[0] * k, c->world + (size_t)corner[j] * k));
  }
  cb_status status = cb_broad_set(c->balls, c->n, c->world, c->reach);
  if (!status && c->triangles) status = cb_broad_set(c->faces, c->triangles, c->face_world, c->face_reach);
  return status;
}

static void let_movers_go(cb_contacts *c) {
  for (int i = 0; i < c->parts->components; i++) { /* the gram matrices point to the forces of the movers */
    cb_gram_free(c->gram[i]);
    c->gram[i] = NULL;
  }
  cb_parts_let_go(c->parts);
}

static cb_status begin(cb_contacts *c, const cb_state *s, double h) {
  const int parts = c->parts->components;
  c->entries = c->rows = c->restings = 0;
  for (int i = 0; i < CB_CONTACTS_MEETINGS; i++) c->meeting[i].part[0] = -1;
  c->moved = 0;
  if (c->parts->n_movers > MOVERS_MAX) let_movers_go(c);
  for (int i = 0; i < parts; i++) {
    c->version[i] = c->count[i] = 0;
    c->way[i] = 0;
    c->until[i] = h;
  }
  cb_status status = cb_parts_begin(c->parts, s, h);
  if (!status) status = cb_contacts_join_bases(c, s, h);
  take_origins(c, s);
  if (!status) status = set_balls(c, s, h);
  const cb_near_pair *pair = NULL;
  size_t count = 0;
  if (!status && c->balls) status = cb_broad_pairs(c->balls, &pair, &count);
  for (size_t i = 0; i < count && !status; i++) status = cb_contacts_predict_pair(c, pair[i].i, pair[i].j, 0);
  for (int part = 0; c->walls && part < parts && !status; part++) status = cb_contacts_predict_likely_wall(c, part, 0);
  for (int i = 0; c->walls && i < c->n && !status; i++) status = cb_contacts_predict_walls(c, i, 0);
  for (int e = 0; e < c->events && !status; e++) status = cb_contacts_begin_event(c, e);
  count = 0;
  if (!status && c->triangles) status = cb_broad_pairs(c->faces, &pair, &count);
  for (size_t i = 0; i < count && !status; i++) status = cb_contacts_predict_faces(c, pair[i].i, pair[i].j, 0);
  return status;
}

/* --- the step --- */

static bool is_void(const cb_contacts *c, const cb_contacts_entry *e) {
  for (int i = 0; i < e->what.parts; i++)
    if (e->version[i] != c->version[e->what.part[i]]) return true;
  return false;
}

/* Adds a row of /event for the zero of an event, which changes no motion. This zero counts as reported from then on. */
static cb_status mark(cb_contacts *c, const cb_contacts_entry *e) {
  cb_gap_value value;
  double rate;
  c->memory[e->what.gap.index].known = true;
  cb_status status = cb_candidate_at(c->parts, c->gaps, &e->what, e->tau, &value, &rate);
  cb_event_row row = cb_contacts_row_of(c, &e->what.gap, e->tau);
  row.gap = value.gap;
  row.speed_before = row.speed_after = rate;
  if (!status) status = cb_contacts_note(c, &row, &e->what, e->tau);
  return status;
}

/* Moves all parts to tau, and sets *state to the result: the run ends in this state. */
static cb_status stop_at(cb_contacts *c, cb_state *state, double tau) {
  cb_parts *p = c->parts;
  for (int part = 0; part < p->components; part++) {
    const cb_status status = cb_parts_settle(p, part, tau);
    if (status) return status;
  }
  const int64_t step = state->step;
  cb_state_copy(state, p->base);
  state->t = p->t + tau;
  state->t_low = 0;
  state->step = step;
  return CB_OK;
}

/* Reports the other events at the time at which a `stop` event has ended the step. */
static cb_status mark_others(cb_contacts *c, double tau) {
  cb_status status = CB_OK;
  while (!status && c->entries && c->heap[0].tau <= tau + same_moment * fabs(c->parts->h)) {
    cb_contacts_entry e = cb_contacts_pop(c);
    if (is_void(c, &e) || e.what.gap.kind != CB_GAP_EVENT) continue;
    e.tau = tau;
    status = mark(c, &e);
  }
  return status;
}

cb_status cb_contacts_step(cb_contacts *c, cb_state *state, double h, cb_sink *sink, cb_contacts_stop *stop) {
  const bool first = state->t == c->start;
  bool changed = false;
  *stop = (cb_contacts_stop){0};
  cb_status status = begin(c, state, h);
  while (!status && c->entries && !stop->by) {
    const cb_contacts_entry e = cb_contacts_pop(c);
    if (is_void(c, &e)) continue;
    const int action = cb_gap_action(c->gaps, &e.what.gap);
    if (action == CB_EVENT_REFLECT) {
      changed = true;
      status = cb_contacts_reflect(c, &e);
      continue;
    }
    status = mark(c, &e);
    if (action == CB_EVENT_STOP)
      *(first && e.tau == 0 ? &stop->at_start : &stop->by) = cb_system_event_name(c->system, e.what.gap.index);
    if (!status && stop->by) status = mark_others(c, e.tau);
    if (!status && stop->by) status = stop_at(c, state, e.tau);
    if (!status && !stop->by && e.tau < h) status = cb_contacts_predict(c, e.what, e.tau);
  }
  if (!status && c->restings && !stop->by) status = cb_contacts_settle_resting(c);
  if (!status && !stop->by) status = cb_contacts_end_events(c);
  if (status && c->antipodes)
    status = cb_antipodes_explain(c->system, state, h, status, &c->parts->whole->failed_particle);
  else if (!stop->by && c->antipodes)
    status = cb_antipodes_check(c->system, c->parts->end, h, &c->parts->whole->failed_particle);
  if (status) {
    cb_integrator_reset(c->parts->whole);
    return status;
  }
  if (!stop->by) {
    const int64_t step = state->step;
    cb_state_copy(state, c->parts->end);
    state->step = step;
  }
  if (changed || stop->by || c->parts->components == 1) cb_integrator_reset(c->parts->whole);
  for (int i = 0; i < c->rows && sink && sink->event && !status; i++) {
    if (c->keeps_states) c->row[i].state = c->row_state + 2 * (size_t)c->n * (size_t)c->parts->k * (size_t)i;
    status = sink->event(sink->self, &c->row[i]);
  }
  return status;
}

/* --- the start --- */

static cb_status check(cb_contacts *c, const cb_gap *gap) {
  const cb_candidate what = cb_candidate_of(c->system, gap);
  cb_gap_value value;
  double rate;
  const cb_status status = cb_candidate_at(c->parts, c->gaps, &what, 0, &value, &rate);
  if (status || !(value.active && value.gap < -typed)) return status;
  const cb_event_row row = cb_contacts_row_of(c, gap, 0);
  const char *name = cb_system_particle_name(c->system, row.particle);
  if (gap->kind == CB_GAP_WALL)
    return cb_fail(CB_ERROR_DOMAIN, "particle `%s` is inside the wall `%s` at the start, by %.6g: expected a gap >= 0",
                   name, cb_system_wall_name(c->system, row.wall), -value.gap);
  return cb_fail(CB_ERROR_DOMAIN, "particles `%s` and `%s` overlap at the start, by %.6g: expected a gap >= 0", name,
                 cb_system_particle_name(c->system, row.other), -value.gap);
}

cb_status cb_contacts_check_start(cb_contacts *c, const cb_state *state) {
  c->start = state->t;
  c->last_end = NAN;
  cb_state_copy(c->parts->base, state);
  memset(c->parts->clock, 0, (size_t)c->parts->components * sizeof(double));
  memset(c->parts->speed, 0, (size_t)c->n * sizeof(double));
  c->parts->t = state->t;
  c->parts->h = 0;
  cb_status status = cb_contacts_join_bases(c, state, 0);
  take_origins(c, state);
  if (!status) status = set_balls(c, state, 0);
  const cb_near_pair *pair = NULL;
  size_t count = 0;
  if (!status && c->balls) status = cb_broad_pairs(c->balls, &pair, &count);
  for (size_t i = 0; i < count && !status; i++) {
    if (!cb_gaps_pair_on(c->gaps, pair[i].i, pair[i].j)) continue;
    status = check(c, &(cb_gap){.kind = CB_GAP_SPHERES, .n = 2, .particle = {pair[i].i, pair[i].j}, .index = -1});
  }
  for (int i = 0; i < c->n && !status; i++)
    for (int w = 0; w < c->walls && !status; w++)
      if (cb_gaps_wall_on(c->gaps, w, i))
        status = check(c, &(cb_gap){.kind = CB_GAP_WALL, .n = 1, .particle = {i}, .index = w});
  return status > 0 ? CB_ERROR_DOMAIN : status;
}
