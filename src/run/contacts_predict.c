/* The prediction of contacts in a step: a heap of predicted contacts, the search for gaps that close, and the joining
 * of bases before their particles meet. The search for contacts of a part ends at the first contact that the part
 * certainly has. The search for contacts of two parts ends at the earliest of three times: the first certain contact of
 * each part, and the first contact of the two parts with each other (contacts_step.c). */
#include "run/contacts_private.h"

#include <math.h>
#include <string.h>
#include <stdlib.h>

/* --- the heap --- */

cb_status cb_contacts_grow(void **array, int count, int *capacity, size_t size) {
  if (count < *capacity) return CB_OK;
  const int next = *capacity ? 2 * *capacity : 64;
  void *more = realloc(*array, (size_t)next * size);
  if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for %d contacts", next);
  *array = more;
  *capacity = next;
  return CB_OK;
}

static bool before(const cb_contacts_entry *a, const cb_contacts_entry *b) {
  if (a->tau != b->tau) return a->tau < b->tau;
  for (int i = 0; i < CB_GAP_PARTICLES && i < a->what.gap.n && i < b->what.gap.n; i++)
    if (a->what.gap.particle[i] != b->what.gap.particle[i]) return a->what.gap.particle[i] < b->what.gap.particle[i];
  if (a->what.gap.kind != b->what.gap.kind) return a->what.gap.kind < b->what.gap.kind;
  return a->what.gap.index < b->what.gap.index;
}

static cb_status push(cb_contacts *c, cb_contacts_entry e) {
  cb_status status = cb_contacts_grow((void **)&c->heap, c->entries, &c->entries_capacity, sizeof *c->heap);
  if (status) return status;
  int i = c->entries++;
  for (; i > 0 && before(&e, &c->heap[(i - 1) / 2]); i = (i - 1) / 2) c->heap[i] = c->heap[(i - 1) / 2];
  c->heap[i] = e;
  return CB_OK;
}

cb_contacts_entry cb_contacts_pop(cb_contacts *c) {
  const cb_contacts_entry first = c->heap[0], last = c->heap[--c->entries];
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

enum { SURFACES_MAX = 32, LARGE_PART = 8 };

void cb_contacts_point(const cb_contacts *c, const cb_state *s, int i, double *x) {
  const double *at = s->x + (size_t)i * (size_t)c->g->k;
  if (cb_origin_moves(c->g))
    cb_origin_world_point(c->g, &c->bases.own[cb_system_component(c->system, i)], at, x);
  else
    memcpy(x, at, (size_t)c->g->k * sizeof *x);
}

cb_status cb_contacts_around(cb_contacts *c, int i, double reach, double *x, const int **ball, int *count) {
  *count = 0;
  if (!c->balls) return CB_OK;
  cb_contacts_point(c, c->parts->base, i, x);
  return cb_broad_around(c->balls, x, reach, c->moved, ball, count);
}

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

bool cb_contacts_is_resting(const cb_contacts *c, const cb_gap *gap) {
  for (int i = 0; i < c->restings; i++)
    if (cb_contacts_same_gap(&c->resting[i].gap, gap)) return true;
  return false;
}

/* Returns the entry of c->meeting for the parts a and b. Its index is a hash of a and b. If the entry belongs to two
 * other parts, or if a or b has changed since it was made, a new entry replaces it. */
static cb_contacts_meeting *meeting_of(cb_contacts *c, int a, int b) {
  cb_contacts_meeting *m = &c->meeting[(unsigned)(a + 31 * b) % CB_CONTACTS_MEETINGS];
  if (m->part[0] != a || m->part[1] != b || m->version[0] != c->version[a] || m->version[1] != c->version[b])
    *m = (cb_contacts_meeting){{a, b}, {c->version[a], c->version[b]}, c->parts->h};
  return m;
}

/* The search for a gap ends at the first known contact of its parts, because their gaps are searched again after that
 * contact. If gaps may come to rest, the search continues to the end of the step, because parts that rest are corrected
 * only at the end of the step. */
cb_status cb_contacts_predict(cb_contacts *c, cb_candidate what, double from) {
  cb_contacts_entry e = {.what = what};
  double *until_of_parts = &c->until[what.part[0]];
  bool found;
  if (c->restings && cb_contacts_is_resting(c, &what.gap)) return CB_OK;
  double until = *until_of_parts;
  if (what.parts == 2) {
    const int a = what.part[0] < what.part[1] ? 0 : 1;
    until_of_parts = &meeting_of(c, what.part[a], what.part[1 - a])->until;
    until = fmin(fmin(until, c->until[what.part[1]]), *until_of_parts);
  }
  if (c->options.accumulation == CB_ACCUMULATION_REST) until = c->parts->h;
  const bool event = what.gap.kind == CB_GAP_EVENT;
  const cb_status status =
      event ? cb_event_first(c->parts, c->gaps, &e.what, c->memory[what.gap.index], from, until, &e.tau, &found)
            : cb_candidate_first(c->parts, c->gaps, &e.what, from, until, &e.tau, &found);
  if (status || !found) return status;
  if (!event) *until_of_parts = fmin(*until_of_parts, e.tau);
  for (int i = 0; i < what.parts; i++) e.version[i] = c->version[what.part[i]];
  return push(c, e);
}

cb_status cb_contacts_predict_pair(cb_contacts *c, int i, int j, double from) {
  if (!cb_gaps_pair_on(c->gaps, i, j)) return CB_OK;
  const cb_gap gap = {.kind = CB_GAP_SPHERES, .n = 2, .particle = {i < j ? i : j, i < j ? j : i}, .index = -1};
  return cb_contacts_predict(c, cb_candidate_of(c->system, &gap), from);
}

cb_status cb_contacts_predict_walls(cb_contacts *c, int i, double from) {
  cb_status status = CB_OK;
  for (int w = 0; w < c->walls && !status; w++) {
    if (!cb_gaps_wall_on(c->gaps, w, i) || cb_gaps_wall_of_tip(c->gaps, w)) continue;
    const cb_gap gap = {.kind = CB_GAP_WALL, .n = 1, .particle = {i}, .index = w};
    status = cb_contacts_predict(c, cb_candidate_of(c->system, &gap), from);
  }
  return status;
}

/* A gap has the values s0 and s1 and the rates rate0 and rate1 at the two ends of an interval of the length `time`.
 * Returns the first of 32 equidistant times at which the cubic with these values and rates is below 0; INFINITY if
 * there is none. */
static double guess(double s0, double rate0, double s1, double rate1, double time) {
  enum { STEPS = 32 };
  for (int i = 1; i <= STEPS; i++) {
    const double u = (double)i / STEPS, v = 1 - u;
    if (v * v * ((1 + 2 * u) * s0 + u * time * rate0) + u * u * ((1 + 2 * v) * s1 - v * time * rate1) < 0)
      return u * time;
  }
  return INFINITY;
}

/* A part of many particles can be moved only as a whole, which is costly. Therefore, in a part of at least LARGE_PART
 * particles, the particle that will probably hit a wall first is examined first; the searches for the other particles
 * then end at this contact. The guess uses only the states at `from` and at the end of the step, which are known. */
cb_status cb_contacts_predict_likely_wall(cb_contacts *c, int part, double from) {
  const cb_parts *p = c->parts;
  double least = INFINITY;
  cb_candidate likely;
  if (p->start[part + 1] - p->start[part] < LARGE_PART || from != p->clock[part]) return CB_OK;
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
  return least < INFINITY ? cb_contacts_predict(c, likely, from) : CB_OK;
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
  return status ? status : cb_contacts_predict(c, what, 0);
}

/* Stores the states of the events at the end of the step. */
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

/* Sets the side of a gap whose velocities have been reflected at the present time. This gap is 0 up to round-off, so
 * that its sign is random. It therefore keeps the side that it had at the reflection (c->touch). */
static void keep_side(const cb_contacts *c, cb_gap *gap) {
  for (int i = 0; i < c->touches; i++) {
    const cb_gap *touched = &c->touch[i].gap;
    if (touched->kind == gap->kind && touched->n == gap->n && touched->index == gap->index &&
        !memcmp(touched->particle, gap->particle, (size_t)gap->n * sizeof *gap->particle))
      gap->side = touched->side;
  }
}

/* Searches for the closing of gaps between the triangles a and b, from the time `from` on, which is not before the
 * clock of either part. The state at this time determines the side of each gap (cb_gap_orient). */
cb_status cb_contacts_predict_faces(cb_contacts *c, int a, int b, double from) {
  cb_gap gap[SURFACES_MAX];
  const int n = cb_gaps_surfaces(c->gaps, a, b, SURFACES_MAX, gap);
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
    if (!status) status = cb_contacts_predict(c, what, from);
  }
  return status;
}

/* Computes the states of the members of the current contact at the end of the step. Then predicts the contacts of their
 * balls from tau on, with each other, with balls of other parts, and with walls; each pair is examined once. */
cb_status cb_contacts_predict_all(cb_contacts *c, double tau) {
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
    if (c->walls) status = cb_contacts_predict_likely_wall(c, part, tau);
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
        if (!cb_contacts_out_of_reach(c, x, reach, j, p->h)) status = cb_contacts_predict_pair(c, i, j, tau);
      }
      if (!status) status = cb_contacts_predict_walls(c, i, tau);
    }
  }
  return status;
}

/* Predicts the contacts of the members' faces, and the zeros of events of the members. */
cb_status cb_contacts_predict_others(cb_contacts *c, double tau) {
  cb_status status = CB_OK;
  for (int e = 0; e < c->events && !status; e++) {
    cb_gap gap;
    cb_gaps_event(c->gaps, e, &gap);
    const cb_candidate what = cb_candidate_of(c->system, &gap);
    bool mine = false;
    for (int i = 0; i < what.parts; i++) mine = mine || c->stamp[what.part[i]] == c->stamp_now;
    if (mine) status = cb_contacts_predict(c, what, tau);
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
        status = cb_contacts_predict_faces(c, f < other[o] ? f : other[o], f < other[o] ? other[o] : f, tau);
    }
  }
  return status;
}

/* --- joining bases ---
 *
 * Bases of parts that come near each other are joined before the parts meet. From then on the distance of the parts is
 * computed without world coordinates (dynamics/bases.h). If, before the bases are joined, only world coordinates give
 * the relative position of two parts, the error of this position is compared with the accuracy that a contact needs.
 */

/* Bases are joined if their particles may come nearer to each other than this, in radii of curvature. */
static const double margin = 1;
/* An error of the relative position (in radii of curvature) above `doubtful` causes a warning; above `lost` the run
 * fails. */
static const double doubtful = 1e-9, lost = 1e-3;

/* Two particles of different bases, and a lower bound of the gap between their balls in this step. */
typedef struct nearest {
  double gap;
  int i, j;
} nearest;

static double reach_of(const cb_contacts *c, int i, double h) {
  return cb_system_radius(c->system, cb_system_particle(c->system, i)) + c->parts->speed[i] * fabs(h);
}

/* Finds, for every leader (dynamics/bases.h), the largest distance of its balls from its base in this step; INFINITY if
 * it cannot be computed. */
static void find_extents(cb_contacts *c, const cb_state *s, double h) {
  double base[CB_Q_MAX], x[CB_Q_MAX];
  cb_space_base_point(c->g, base);
  for (int part = 0; part < c->parts->components; part++) c->extent[part] = 0;
  for (int i = 0; i < c->n; i++) {
    double *extent = &c->extent[c->bases.leader[cb_system_component(c->system, i)]];
    cb_contacts_point(c, s, i, x);
    const double d = cb_distance(c->g, base, x);
    *extent = fmax(*extent, (isfinite(d) ? d : INFINITY) + reach_of(c, i, h));
  }
}

/* Returns the distance of two particles minus their radii and the lengths by which they may move (reach_of); 0 if the
 * distance cannot be computed. */
static double gap_of(const cb_contacts *c, const cb_state *s, int i, int j, double h) {
  const size_t k = (size_t)c->g->k;
  const double *x = s->x + (size_t)i * k, *y = s->x + (size_t)j * k;
  cb_origin frame[2];
  double d;
  cb_bases_pair(c->g, &c->bases, cb_system_component(c->system, i), cb_system_component(c->system, j), frame);
  if (cb_origin_distance(c->g, &frame[0], x, &frame[1], y, &d)) return 0;
  return d - reach_of(c, i, h) - reach_of(c, j, h);
}

static nearest find_nearest(const cb_contacts *c, const cb_state *s, int a, int b, double h) {
  const int32_t *leader = c->bases.leader;
  nearest found = {INFINITY, -1, -1};
  for (int i = 0; i < c->n; i++) {
    if (leader[cb_system_component(c->system, i)] != a) continue;
    for (int j = 0; j < c->n; j++) {
      if (leader[cb_system_component(c->system, j)] != b || !cb_gaps_pair_on(c->gaps, i, j)) continue;
      const double gap = gap_of(c, s, i, j, h);
      if (!(gap >= found.gap)) found = (nearest){gap, i, j};
    }
  }
  return found;
}

/* If the gap of two particles is at most R (margin + 2 asinh(doubt/R)), joins their bases, and stores the pair if it is
 * the first doubtful one. R is `radius`; `doubt` is the error of their relative position, which may make their distance
 * wrong by 2 R asinh(doubt/R). Returns CB_ERROR_UNSUPPORTED for such a pair if `doubt` is above R times `lost`. For
 * every pair, lowers c->apart to the gap less the error of the distance. */
static cb_status meet(cb_contacts *c, nearest pair, double radius) {
  const int a = cb_system_component(c->system, pair.i), b = cb_system_component(c->system, pair.j);
  const double doubt = cb_bases_doubt(c->g, &c->bases, a, b);
  c->apart = fmin(c->apart, pair.gap - 2 * radius * asinh(doubt / radius));
  if (pair.gap > radius * (margin + 2 * asinh(doubt / radius))) return CB_OK;
  if (doubt > lost * radius)
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "%s and %s come near each other at time %.6g, and their relative position is known only to %.1g, from "
        "numbers that grow like exp(distance): expected bodies that are placed there by one `move`",
        cb_system_particle_name(c->system, cb_system_particle(c->system, pair.i)),
        cb_system_particle_name(c->system, cb_system_particle(c->system, pair.j)), c->parts->t, doubt);
  if (doubt > doubtful * radius && c->doubt.size == 0)
    c->doubt = (cb_contacts_doubt){doubt, c->parts->t, pair.i, pair.j};
  cb_bases_join(c->g, &c->bases, a, b);
  return CB_OK;
}

/* For each event of two particles that may come near each other, joins the bases of the two particles. If the event
 * compares their distance with a given distance, it is treated like a contact of balls for which the sum of the radii
 * is larger by the given distance. */
static cb_status join_of_events(cb_contacts *c, const cb_state *s, double h, double radius) {
  cb_status status = CB_OK;
  for (int e = 0; e < c->events && !status; e++) {
    cb_gap gap;
    cb_gaps_event(c->gaps, e, &gap);
    if (gap.n < 2) continue;
    const int *i = gap.particle;
    const int32_t *leader = c->bases.leader;
    if (leader[cb_system_component(c->system, i[0])] == leader[cb_system_component(c->system, i[1])]) continue;
    status = meet(c, (nearest){gap_of(c, s, i[0], i[1], h) - cb_gap_event_distance(c->gaps, &gap), i[0], i[1]}, radius);
  }
  return status;
}

/* Returns the distance between the bases of the leaders a and d; 0 if the distance cannot be computed. */
static double between(const cb_contacts *c, int a, int d) {
  double base[CB_Q_MAX], apart;
  cb_origin frame[2];
  cb_space_base_point(c->g, base);
  cb_bases_pair_of(c->g, &c->bases, a, d, frame);
  return cb_origin_distance(c->g, &frame[0], base, &frame[1], base, &apart) ? 0 : apart;
}

cb_status cb_contacts_join_bases(cb_contacts *c, const cb_state *s, double h) {
  const cb_bases *b = &c->bases;
  c->apart -= 2 * c->parts->fastest * fabs(h);
  if (!cb_origin_grows(c->g) || (h != 0 && c->known_partings == b->partings && c->apart > 0)) return CB_OK;
  double least = 0;
  for (int f = 0; f < c->g->n_factors; f++) least = fmin(least, c->g->factor[f].curvature);
  const double radius = 1 / sqrt(-least);
  find_extents(c, s, h);
  c->known_partings = b->partings;
  c->apart = INFINITY;
  cb_status status = join_of_events(c, s, h, radius);
  for (int a = 0; a < b->n && !status; a++)
    for (int d = a + 1; d < b->n && b->count[a] && !status; d++) {
      if (!b->count[d] || b->family[a] != b->family[d]) continue;
      const double apart = between(c, a, d), doubt = 2 * radius * asinh(cb_bases_doubt(c->g, b, a, d) / radius);
      if (apart - c->extent[a] - c->extent[d] > radius * margin + doubt) {
        c->apart = fmin(c->apart, apart - c->extent[a] - c->extent[d] - doubt);
        continue;
      }
      const nearest pair = find_nearest(c, s, a, d, h);
      if (pair.i < 0) continue;
      status = meet(c, pair, radius);
      /* If the two bases were joined, the one that remains has the balls of both. */
      c->extent[a] = c->extent[d] = fmax(c->extent[a], c->extent[d]) + apart;
    }
  return status;
}
