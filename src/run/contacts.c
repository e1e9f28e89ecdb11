/* See contacts.h.
 *
 * Within a step the next event is the earliest of a heap. At a contact all parts that touch there, directly or through
 * others, are brought to that moment, velocities are reflected together by the rule of the system, and every gap that
 * these parts may close before the step ends is looked for anew; entries of the heap that knew them before are void.
 * So nothing of a part needs to be looked for beyond the first contact that it surely has (with a wall, or within
 * itself), and nothing of two parts beyond the first that they have with one another.
 * A part that meets more than `most_contacts` contacts in one step is in a pile: contacts without end in a finite time.
 */
#include "run/contacts.h"

#include "dynamics/reflection.h"
#include "geometry/origin.h"
#include "run/broad_phase.h"
#include "run/contact_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Movers that are kept from step to step, of some 50 kB and more each. */
enum { MOST_LIFTS = 200, MOST_CONTACTS = 200, MOST_SURFACES = 32, MOST_MOVERS = 8192, MEETINGS = 64, MANY = 8 };

/* Gaps this small, relative to the space between a step's ends, belong to the contact that is being resolved. */
static const double touching = 1e-11;
/* Flights so short, relative to a step, are no flights where what piles up comes to rest. */
static const double brief = 1e-6;
/* What rested is lifted to this of 0, in units of length. */
static const double level = 1e-14;
/* Overlaps at the start up to this are round-off of places as they are typed. */
static const double typed = 1e-9;

/* Two parts and when they surely meet, unless one of them meets something before, and all is looked for anew. */
typedef struct meeting {
  int part[2], version[2];
  double until;
} meeting;

typedef struct entry { /* of the heap */
  double tau;
  cb_candidate what;
  int version[2];
} entry;

struct cb_contacts {
  cb_parts *parts;
  const cb_system *system;
  const cb_geometry *g;
  cb_gaps *gaps;
  cb_broad *balls, *faces; /* of particles, of triangles */
  cb_reflection *reflection;
  cb_contact_options options;
  int n, walls, events, triangles;
  double *world, *reach; /* [n*k], [n] */
  double *face_world, *face_reach;
  int *version, *count; /* [components] in this step: contacts, and contacts as a measure of piles */
  double *way;          /* [components]: how far its particles may have come until its clock */
  double moved;         /* how far any particle may get beyond its reach */
  double *until;        /* [components]: when it surely meets a wall or itself, and all is looked for anew; or h */
  meeting meeting[MEETINGS];
  cb_origin *origin;    /* [components] that gaps know */
  bool known_origins;

  entry *heap;
  int entries, room_entries;
  cb_event_row *row;
  int rows, room_rows;

  /* the contact in hand */
  int *member, members;  /* components */
  int *stamp, stamp_now; /* [components]: is it a member? */
  cb_reflection_contact *touch;
  int touches, room_touches;
  bool settling; /* what has sunk below 0 touches too */
  cb_reflection_part *part;
  cb_gram **gram; /* [components], made when first needed */
  cb_candidate *resting;
  int restings, room_restings;
};

static cb_status grow(void **array, int count, int *room, size_t size) {
  if (count < *room) return CB_OK;
  const int next = *room ? 2 * *room : 64;
  void *more = realloc(*array, (size_t)next * size);
  if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for %d contacts", next);
  *array = more;
  *room = next;
  return CB_OK;
}

/* --- making --- */

cb_status cb_contacts_create(const cb_system *system, cb_integrator *whole, cb_contacts **out) {
  cb_contacts *c = calloc(1, sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for contacts");
  c->system = system;
  c->g = cb_system_space(system);
  c->n = cb_system_particles(system);
  c->walls = cb_system_walls(system);
  c->events = cb_system_events(system);
  c->options = cb_system_contact_options(system);
  cb_status status = cb_parts_create(system, whole, &c->parts);
  if (!status) status = cb_gaps_create(system, &c->gaps);
  /* a configuration space has one particle, which meets walls alone */
  if (!status && c->n > 1) status = cb_broad_create(c->g, c->options.all_pairs, &c->balls);
  if (!status && c->n > 1) status = cb_broad_create(c->g, c->options.all_pairs, &c->faces);
  if (!status) status = cb_reflection_create(system, &c->reflection);
  if (status) return cb_contacts_free(c), status;
  c->triangles = cb_gaps_triangles(c->gaps);
  const size_t n = (size_t)c->n, k = (size_t)c->g->k, parts = (size_t)c->parts->components, f = (size_t)c->triangles;
  cb_arena *arena = c->parts->arena;
  const struct {
    void **array;
    size_t count, size;
  } all[] = {{(void **)&c->world, n * k, sizeof(double)},      {(void **)&c->reach, n, sizeof(double)},
             {(void **)&c->face_world, f * k, sizeof(double)}, {(void **)&c->face_reach, f, sizeof(double)},
             {(void **)&c->version, parts, sizeof(int)},       {(void **)&c->count, parts, sizeof(int)},
             {(void **)&c->way, parts, sizeof(double)},       {(void **)&c->until, parts, sizeof(double)},
             {(void **)&c->origin, parts, sizeof(cb_origin)},
             {(void **)&c->member, parts, sizeof(int)},        {(void **)&c->stamp, parts, sizeof(int)},
             {(void **)&c->part, parts, sizeof *c->part},      {(void **)&c->gram, parts, sizeof *c->gram}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!(*all[i].array = cb_arena_alloc(arena, all[i].count, all[i].size)))
      return cb_contacts_free(c), cb_fail(CB_ERROR_MEMORY, "no memory for contacts of %d particles", c->n);
  *out = c;
  return CB_OK;
}

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
  free(c->touch);
  free(c->resting);
  free(c);
}

/* --- the heap: earliest first, then by particles --- */

static bool before(const entry *a, const entry *b) {
  if (a->tau != b->tau) return a->tau < b->tau;
  for (int i = 0; i < CB_GAP_PARTICLES && i < a->what.gap.n && i < b->what.gap.n; i++)
    if (a->what.gap.particle[i] != b->what.gap.particle[i]) return a->what.gap.particle[i] < b->what.gap.particle[i];
  if (a->what.gap.kind != b->what.gap.kind) return a->what.gap.kind < b->what.gap.kind;
  return a->what.gap.index < b->what.gap.index;
}

static cb_status push(cb_contacts *c, entry e) {
  cb_status status = grow((void **)&c->heap, c->entries, &c->room_entries, sizeof *c->heap);
  if (status) return status;
  int i = c->entries++;
  for (; i > 0 && before(&e, &c->heap[(i - 1) / 2]); i = (i - 1) / 2) c->heap[i] = c->heap[(i - 1) / 2];
  c->heap[i] = e;
  return CB_OK;
}

static entry pop(cb_contacts *c) {
  const entry first = c->heap[0], last = c->heap[--c->entries];
  int i = 0;
  for (;;) {
    int child = 2 * i + 1;
    if (child >= c->entries) break;
    if (child + 1 < c->entries && before(&c->heap[child + 1], &c->heap[child])) child++;
    if (!before(&c->heap[child], &last)) break;
    c->heap[i] = c->heap[child];
    i = child;
  }
  c->heap[i] = last;
  return first;
}

/* --- finding what may happen --- */

static bool same_gap(const cb_gap *a, const cb_gap *b) {
  if (a->kind != b->kind || a->n != b->n || a->index != b->index) return false;
  return !memcmp(a->particle, b->particle, (size_t)a->n * sizeof *a->particle);
}

static bool rests(const cb_contacts *c, const cb_gap *gap) {
  for (int i = 0; i < c->restings; i++)
    if (same_gap(&c->resting[i].gap, gap)) return true;
  return false;
}

/* What is known of when these two parts meet; forgets what it has in that place of others. */
static meeting *meeting_of(cb_contacts *c, int a, int b) {
  meeting *m = &c->meeting[(unsigned)(a + 31 * b) % MEETINGS];
  if (m->part[0] != a || m->part[1] != b || m->version[0] != c->version[a] || m->version[1] != c->version[b])
    *m = (meeting){{a, b}, {c->version[a], c->version[b]}, c->parts->h};
  return m;
}

/* Nothing is looked for beyond a moment at which all will be looked for anew; but where gaps may come to rest, whose
 * parts are brought back at the end of the step alone, all is looked for. */
static cb_status expect(cb_contacts *c, cb_candidate what, double from) {
  entry e = {.what = what};
  double *until_of_parts = &c->until[what.part[0]];
  bool found;
  if (c->restings && rests(c, &what.gap)) return CB_OK;
  double until = *until_of_parts;
  if (what.parts == 2) {
    const int a = what.part[0] < what.part[1] ? 0 : 1;
    until_of_parts = &meeting_of(c, what.part[a], what.part[1 - a])->until;
    until = fmin(fmin(until, c->until[what.part[1]]), *until_of_parts);
  }
  if (c->options.pile == CB_PILE_REST) until = c->parts->h;
  const cb_status status = cb_candidate_first(c->parts, c->gaps, &e.what, from, until, &e.tau, &found);
  if (status || !found) return status;
  if (cb_gap_action(c->gaps, &what.gap) == CB_EVENT_REFLECT) *until_of_parts = fmin(*until_of_parts, e.tau);
  for (int i = 0; i < what.parts; i++) e.version[i] = c->version[what.part[i]];
  return push(c, e);
}

static cb_status expect_pair(cb_contacts *c, int i, int j, double from) {
  if (!cb_gaps_pair_on(c->gaps, i, j)) return CB_OK;
  const cb_gap gap = {.kind = CB_GAP_SPHERES, .n = 2, .particle = {i < j ? i : j, i < j ? j : i}, .index = -1};
  return expect(c, cb_candidate_of(c->system, &gap), from);
}

static cb_status expect_walls(cb_contacts *c, int i, double from) {
  cb_status status = CB_OK;
  for (int w = 0; w < c->walls && !status; w++) {
    if (!cb_gaps_wall_on(c->gaps, w, i)) continue;
    const cb_gap gap = {.kind = CB_GAP_WALL, .n = 1, .particle = {i}, .index = w};
    status = expect(c, cb_candidate_of(c->system, &gap), from);
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
static cb_status expect_likely_wall(cb_contacts *c, int part, double from) {
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
      if (!cb_gaps_wall_on(c->gaps, w, i) || cb_candidate_at(c->parts, c->gaps, &what, from, &value[0], &rate[0]) ||
          cb_candidate_at(c->parts, c->gaps, &what, p->h, &value[1], &rate[1]))
        continue;
      const double time = guess(value[0].gap, rate[0], value[1].gap, rate[1], p->h - from);
      if (!(time < least)) continue;
      least = time;
      likely = what;
    }
  return least < INFINITY ? expect(c, likely, from) : CB_OK;
}

static cb_status expect_event(cb_contacts *c, int event, double from) {
  cb_gap gap;
  cb_gaps_event(c->gaps, event, &gap);
  return expect(c, cb_candidate_of(c->system, &gap), from);
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
static cb_status expect_faces(cb_contacts *c, int a, int b, double from) {
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
    if (!status) status = expect(c, what, from);
  }
  return status;
}

/* --- a step's beginning --- */

static void world_point(const cb_contacts *c, const cb_state *s, int i, double *x) {
  const double *at = s->x + (size_t)i * (size_t)c->g->k;
  if (cb_origin_moves(c->g))
    cb_origin_world_point(c->g, &s->origin[cb_system_component(c->system, i)], at, x);
  else
    memcpy(x, at, (size_t)c->g->k * sizeof *x);
}

static void take_origins(cb_contacts *c, const cb_state *s) {
  const size_t bytes = (size_t)s->n_components * sizeof *s->origin;
  if (c->known_origins && !memcmp(c->origin, s->origin, bytes)) return;
  memcpy(c->origin, s->origin, bytes);
  c->known_origins = true;
  cb_gaps_set_origins(c->gaps, s->origin);
}

/* Where the balls are at the start of the step, and how far they may get. */
static cb_status set_balls(cb_contacts *c, const cb_state *s, double h) {
  const size_t k = (size_t)c->g->k;
  if (!c->balls) return CB_OK;
  for (int i = 0; i < c->n; i++) {
    world_point(c, s, i, c->world + (size_t)i * k);
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
  for (int i = 0; i < c->parts->components; i++) { /* they know the movers' forces */
    cb_gram_free(c->gram[i]);
    c->gram[i] = NULL;
  }
  cb_parts_let_go(c->parts);
}

static cb_status begin(cb_contacts *c, const cb_state *s, double h) {
  const int parts = c->parts->components;
  c->entries = c->rows = c->restings = 0;
  for (int i = 0; i < MEETINGS; i++) c->meeting[i].part[0] = -1;
  c->moved = 0;
  if (c->parts->n_movers > MOST_MOVERS) let_movers_go(c);
  take_origins(c, s);
  for (int i = 0; i < parts; i++) {
    c->version[i] = c->count[i] = 0;
    c->way[i] = 0;
    c->until[i] = h;
  }
  cb_status status = cb_parts_begin(c->parts, s, h);
  if (!status) status = set_balls(c, s, h);
  const cb_near_pair *pair = NULL;
  size_t count = 0;
  if (!status && c->balls) status = cb_broad_pairs(c->balls, &pair, &count);
  for (size_t i = 0; i < count && !status; i++) status = expect_pair(c, pair[i].i, pair[i].j, 0);
  for (int part = 0; c->walls && part < parts && !status; part++) status = expect_likely_wall(c, part, 0);
  for (int i = 0; c->walls && i < c->n && !status; i++) status = expect_walls(c, i, 0);
  for (int e = 0; e < c->events && !status; e++) status = expect_event(c, e, 0);
  count = 0;
  if (!status && c->triangles) status = cb_broad_pairs(c->faces, &pair, &count);
  for (size_t i = 0; i < count && !status; i++) status = expect_faces(c, pair[i].i, pair[i].j, 0);
  return status;
}

/* --- a contact --- */

static cb_status join(cb_contacts *c, int part, double tau) {
  if (c->stamp[part] == c->stamp_now) return CB_OK;
  c->stamp[part] = c->stamp_now;
  c->member[c->members++] = part;
  double speed = 0;
  for (int i = c->parts->start[part]; i < c->parts->start[part + 1]; i++) speed = fmax(speed, c->parts->speed[i]);
  c->way[part] += speed * fabs(tau - c->parts->clock[part]);
  return cb_parts_settle(c->parts, part, tau);
}

static cb_status touch(cb_contacts *c, const cb_candidate *what, double tau, bool sure) {
  for (int i = 0; i < c->touches; i++)
    if (same_gap(&c->touch[i].gap, &what->gap)) return CB_OK;
  cb_gap_value value;
  double rate;
  cb_status status = cb_candidate_at(c->parts, c->gaps, what, tau, &value, &rate);
  if (status) return status;
  const double scale = fmax(1, fabs(c->parts->h));
  const double off = c->settling ? value.gap : fabs(value.gap);
  if (!sure && (!value.active || !(off <= touching * scale))) return CB_OK;
  status = grow((void **)&c->touch, c->touches, &c->room_touches, sizeof *c->touch);
  for (int i = 0; i < what->parts && !status; i++) status = join(c, what->part[i], tau);
  if (status) return status;
  c->touch[c->touches++] =
      (cb_reflection_contact){.gap = what->gap, .value = value, .restitution = cb_gap_restitution(c->gaps, &what->gap)};
  return CB_OK;
}

/* The balls that may be where ball i is at its part's clock, at the point x, with so much of reach. */
static cb_status around(cb_contacts *c, int i, double reach, double *x, const int **ball, int *count) {
  *count = 0;
  if (!c->balls) return CB_OK;
  world_point(c, c->parts->base, i, x);
  return cb_broad_around(c->balls, x, reach, c->moved, ball, count);
}

/* Can particle j, wherever it is at its part's clock, not come so near to a ball within `until`? */
static bool out_of_reach(const cb_contacts *c, const double *x, double reach, int j, double until) {
  const cb_parts *p = c->parts;
  const double time = fabs(until - p->clock[cb_system_component(c->system, j)]);
  double y[CB_Q_MAX];
  world_point(c, p->base, j, y);
  const double r = cb_system_radius(c->system, cb_system_particle(c->system, j));
  return cb_broad_apart(c->balls, x, reach, y, r + p->speed[j] * time);
}

/* All gaps of a member's particles that are closed at tau. */
static cb_status gather(cb_contacts *c, int part, double tau) {
  cb_status status = CB_OK;
  for (int i = c->parts->start[part]; i < c->parts->start[part + 1] && !status; i++) {
    const int *ball = NULL;
    int count = 0;
    double x[CB_Q_MAX];
    const double r = cb_system_radius(c->system, cb_system_particle(c->system, i)),
                 reach = r + touching * fmax(1, fabs(c->parts->h));
    status = around(c, i, reach, x, &ball, &count);
    for (int b = 0; b < count && !status; b++) {
      const int j = ball[b];
      if (j == i || !cb_gaps_pair_on(c->gaps, i, j) || out_of_reach(c, x, reach, j, tau)) continue;
      const cb_gap gap = {.kind = CB_GAP_SPHERES, .n = 2, .particle = {i < j ? i : j, i < j ? j : i}, .index = -1};
      if (rests(c, &gap)) continue;
      const cb_candidate what = cb_candidate_of(c->system, &gap);
      status = touch(c, &what, tau, false);
    }
    for (int w = 0; w < c->walls && !status; w++) {
      if (!cb_gaps_wall_on(c->gaps, w, i)) continue;
      const cb_gap gap = {.kind = CB_GAP_WALL, .n = 1, .particle = {i}, .index = w};
      const cb_candidate what = cb_candidate_of(c->system, &gap);
      if (!rests(c, &gap)) status = touch(c, &what, tau, false);
    }
  }
  return status;
}

static cb_status make_part(cb_contacts *c, int part, double tau, cb_reflection_part *out) {
  cb_parts *p = c->parts;
  const int first = p->start[part];
  const size_t at = (size_t)first * (size_t)p->k;
  cb_mover *mover;
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

static cb_status note(cb_contacts *c, const cb_event_row *row) {
  const cb_status status = grow((void **)&c->row, c->rows, &c->room_rows, sizeof *c->row);
  if (!status) c->row[c->rows++] = *row;
  return status;
}

/* The two that a row of /event names: particles in the order a user sees; walls and events as -2 - index. */
static cb_event_row row_of(const cb_contacts *c, const cb_gap *gap, double tau) {
  cb_event_row row = {.time = c->parts->t + tau, .kind = cb_gap_action(c->gaps, gap)};
  row.i = cb_system_particle(c->system, gap->particle[0]);
  row.j = gap->n > 1 ? cb_system_particle(c->system, gap->particle[gap->n - 1]) : -2 - gap->index;
  return row;
}

static cb_status pile(const cb_contacts *c, const cb_candidate *what, double tau) {
  const cb_event_row row = row_of(c, &what->gap, tau);
  return cb_fail(
      CB_ERROR_CONTACT_PILE,
      "more than %d contacts of particle `%s` in the step from time %.17g, the last with %s at time %.17g: a "
      "pile; try `pile: rest`, a smaller step, or restitution 1",
      MOST_CONTACTS, cb_system_particle_name(c->system, row.i), c->parts->t,
      row.j >= 0 ? cb_system_particle_name(c->system, row.j) : cb_system_wall_name(c->system, -2 - row.j), row.time);
}

/* A gap that closes again and again is held closed for what is left of the step. */
static cb_status lay(cb_contacts *c, const cb_candidate *what) {
  const cb_status status = grow((void **)&c->resting, c->restings, &c->room_restings, sizeof *c->resting);
  if (!status) c->resting[c->restings++] = *what;
  return status;
}

/* What the members may meet from tau on, among themselves and with others, each pair once. */
static cb_status expect_all(cb_contacts *c, double tau) {
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
    if (c->walls) status = expect_likely_wall(c, part, tau);
    for (int i = p->start[part]; i < p->start[part + 1] && !status; i++) {
      const int *ball = NULL;
      int count = 0;
      double x[CB_Q_MAX];
      const double r = cb_system_radius(c->system, cb_system_particle(c->system, i)), reach = r + p->speed[i] * left;
      status = around(c, i, reach, x, &ball, &count);
      for (int b = 0; b < count && !status; b++) {
        const int j = ball[b];
        const bool both = c->stamp[cb_system_component(c->system, j)] == c->stamp_now;
        if (j == i || (both && j < i) || !cb_gaps_pair_on(c->gaps, i, j)) continue;
        if (!out_of_reach(c, x, reach, j, p->h)) status = expect_pair(c, i, j, tau);
      }
      if (!status) status = expect_walls(c, i, tau);
    }
  }
  return status;
}

/* Faces and events that members take part in. */
static cb_status expect_rest(cb_contacts *c, double tau) {
  cb_status status = CB_OK;
  for (int e = 0; e < c->events && !status; e++) {
    cb_gap gap;
    cb_gaps_event(c->gaps, e, &gap);
    const cb_candidate what = cb_candidate_of(c->system, &gap);
    bool mine = false;
    for (int i = 0; i < what.parts; i++) mine = mine || c->stamp[what.part[i]] == c->stamp_now;
    if (mine) status = expect(c, what, tau);
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
        status = expect_faces(c, f < other[o] ? f : other[o], f < other[o] ? other[o] : f, tau);
    }
  }
  return status;
}

/* Lays what leaves so slowly that its next contact would come within `brief` of a step. *rested: it came as slowly. */
static cb_status lay_slow(cb_contacts *c, const cb_reflection_contact *touched, double tau, bool *rested) {
  *rested = false;
  if (c->options.pile != CB_PILE_REST || touched->restitution == 1) return CB_OK;
  const cb_candidate what = cb_candidate_of(c->system, &touched->gap);
  double slow;
  const cb_status status = cb_candidate_slow(c->parts, c->gaps, &what, tau, brief * fabs(c->parts->h), &slow);
  if (status || touched->after > slow) return status;
  *rested = -touched->before <= slow;
  return lay(c, &what);
}

static cb_status reflect(cb_contacts *c, const entry *e) {
  const double tau = e->tau;
  c->members = c->touches = 0;
  c->stamp_now++;
  cb_status status = touch(c, &e->what, tau, true);
  for (int m = 0; m < c->members && !status; m++) status = gather(c, c->member[m], tau);
  for (int m = 0; m < c->members && !status; m++) status = make_part(c, c->member[m], tau, &c->part[m]);
  if (!status)
    status = cb_reflect(c->reflection, c->options.rule, c->parts->t + tau, c->members, c->part, c->touches, c->touch);
  for (int i = 0; i < c->touches && !status; i++) {
    bool rested;
    if (c->touch[i].impulse == 0) continue;
    if ((status = lay_slow(c, &c->touch[i], tau, &rested)) || rested) continue;
    cb_event_row row = row_of(c, &c->touch[i].gap, tau);
    row.gap = c->touch[i].value.gap;
    row.speed_before = c->touch[i].before;
    row.speed_after = c->touch[i].after;
    row.impulse = c->touch[i].impulse;
    status = note(c, &row);
  }
  for (int m = 0; m < c->members && !status; m++)
    if (++c->count[c->member[m]] > MOST_CONTACTS) {
      if (c->options.pile == CB_PILE_STOP) return pile(c, &e->what, tau);
      for (int i = 0; i < c->touches && !status; i++) {
        const cb_candidate what = cb_candidate_of(c->system, &c->touch[i].gap);
        status = lay(c, &what);
      }
      c->count[c->member[m]] = 0;
      break;
    }
  if (!status) status = expect_all(c, tau);
  if (!status) status = expect_rest(c, tau);
  return status;
}

/* --- the step --- */

static bool is_void(const cb_contacts *c, const entry *e) {
  for (int i = 0; i < e->what.parts; i++)
    if (e->version[i] != c->version[e->what.part[i]]) return true;
  return false;
}

/* A row of an event that is only looked at. */
static cb_status mark(cb_contacts *c, const entry *e) {
  cb_gap_value value;
  double rate;
  cb_status status = cb_candidate_at(c->parts, c->gaps, &e->what, e->tau, &value, &rate);
  cb_event_row row = row_of(c, &e->what.gap, e->tau);
  row.gap = value.gap;
  row.speed_before = row.speed_after = rate;
  if (!status) status = note(c, &row);
  return status;
}

/* All parts at tau: the state in which a run ends. */
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

/* A contact's gap and gradient as its parts are now. */
static cb_status look_again(cb_contacts *c, cb_reflection_contact *touched, double tau) {
  const cb_candidate what = cb_candidate_of(c->system, &touched->gap);
  double rate;
  return cb_candidate_at(c->parts, c->gaps, &what, tau, &touched->value, &rate);
}

/* At the end of the step: gaps that rested, and those that have sunk with them, are brought back to 0 along their
 * normals, one after another until none is below; then what still closes is stopped. Motion along planes in a uniform
 * field keeps the method's order; along curved walls it is of the first order in the step. */
static cb_status settle_resting(cb_contacts *c) {
  const double tau = c->parts->h;
  double deepest = INFINITY;
  cb_status status = CB_OK;
  c->members = c->touches = 0;
  c->stamp_now++;
  for (int i = 0; i < c->restings && !status; i++) status = touch(c, &c->resting[i], tau, true);
  for (int sweep = 0; sweep < MOST_LIFTS && deepest > level && !status; sweep++) {
    c->settling = true;
    for (int m = 0; m < c->members && !status; m++) status = gather(c, c->member[m], tau);
    c->settling = false;
    for (int m = 0; m < c->members && !status; m++) status = make_part(c, c->member[m], tau, &c->part[m]);
    deepest = 0;
    for (int i = 0; i < c->touches && !status; i++) {
      if ((status = look_again(c, &c->touch[i], tau)) || !(c->touch[i].value.gap < 0)) continue;
      deepest = fmax(deepest, -c->touch[i].value.gap);
      status = cb_reflection_lift(c->reflection, c->parts->t + tau, c->members, c->part, &c->touch[i]);
    }
  }
  for (int i = 0; i < c->touches && !status; i++) {
    status = look_again(c, &c->touch[i], tau);
    c->touch[i].restitution = 0;
  }
  if (!status)
    status = cb_reflect(c->reflection, CB_CONTACT_SIMULTANEOUS, c->parts->t + tau, c->members, c->part, c->touches,
                        c->touch);
  for (int m = 0; m < c->members && !status; m++) status = cb_parts_restart(c->parts, c->member[m]);
  return status;
}

cb_status cb_contacts_step(cb_contacts *c, cb_state *state, double h, cb_sink *sink, bool *stopped) {
  bool changed = false;
  *stopped = false;
  cb_status status = begin(c, state, h);
  while (!status && c->entries && !*stopped) {
    const entry e = pop(c);
    if (is_void(c, &e)) continue;
    const int action = cb_gap_action(c->gaps, &e.what.gap);
    if (action == CB_EVENT_REFLECT) {
      changed = true;
      status = reflect(c, &e);
      continue;
    }
    status = mark(c, &e);
    *stopped = action == CB_EVENT_STOP;
    if (!status && *stopped) status = stop_at(c, state, e.tau);
    const double after = e.tau + 1e-9 * fabs(h);
    if (!status && !*stopped && after < h) status = expect(c, e.what, after);
  }
  if (!status && c->restings && !*stopped) status = settle_resting(c);
  if (status) return cb_integrator_reset(c->parts->whole), status;
  if (!*stopped) {
    const int64_t step = state->step;
    cb_state_copy(state, c->parts->end);
    state->step = step;
  }
  if (changed || *stopped || c->parts->components == 1) cb_integrator_reset(c->parts->whole);
  for (int i = 0; i < c->rows && sink && sink->event && !status; i++) status = sink->event(sink->self, &c->row[i]);
  return status;
}

/* --- the start --- */

static cb_status check(cb_contacts *c, const cb_gap *gap) {
  const cb_candidate what = cb_candidate_of(c->system, gap);
  cb_gap_value value;
  double rate;
  const cb_status status = cb_candidate_at(c->parts, c->gaps, &what, 0, &value, &rate);
  if (status || !(value.active && value.gap < -typed)) return status;
  const cb_event_row row = row_of(c, gap, 0);
  const char *name = cb_system_particle_name(c->system, row.i);
  if (gap->kind == CB_GAP_WALL)
    return cb_fail(CB_ERROR_DOMAIN, "particle `%s` is in the wall `%s` at the start, by %.6g: expected a gap >= 0",
                   name, cb_system_wall_name(c->system, gap->index), -value.gap);
  return cb_fail(CB_ERROR_DOMAIN, "particles `%s` and `%s` overlap at the start, by %.6g: expected a gap >= 0", name,
                 cb_system_particle_name(c->system, row.j), -value.gap);
}

cb_status cb_contacts_check_start(cb_contacts *c, const cb_state *state) {
  take_origins(c, state);
  cb_state_copy(c->parts->base, state);
  memset(c->parts->clock, 0, (size_t)c->parts->components * sizeof(double));
  memset(c->parts->speed, 0, (size_t)c->n * sizeof(double));
  c->parts->t = state->t;
  c->parts->h = 0;
  cb_status status = set_balls(c, state, 0);
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
