/* The frames that components share if they may collide (bases.h), and the origins and bases with which components
 * start. All particles of a component get one origin near them.
 *
 * Particles are given with origins of their own. In spaces where coordinates grow like exp(distance), these origins
 * must not be too far apart within a component. If a fixed point acts on a component, and both are near each other but
 * far from the base point of the world, the component keeps its origin. Expressions in coordinates of the world are an
 * error if these coordinates are not known accurately enough.
 */
#include "dynamics/bases.h"

#include "dynamics/builder_private.h"
#include "dynamics/gap_class.h"
#include "dynamics/springs.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- bases --- */

/* These three lengths are in radii of curvature. A base follows its components when all of them are farther than
 * `follow` from it. A component that is farther than `leave` from its base gets a base of its own, together with the
 * components within the distance `company` of it. The position of a component relative to its base therefore has an
 * error of at most about exp(leave) units of round-off, 2e-11. */
static const double follow = 2, leave = 12, company = 4;

cb_status cb_bases_create(cb_arena *arena, int n, cb_bases *out) {
  const size_t count = (size_t)n;
  *out = (cb_bases){.n = n};
  out->family = cb_arena_alloc(arena, count, sizeof *out->family);
  out->leader = cb_arena_alloc(arena, 3 * count, sizeof *out->leader);
  out->base = cb_arena_alloc(arena, count, sizeof *out->base);
  out->own = cb_arena_alloc(arena, count, sizeof *out->own);
  if (!out->family || !out->leader || !out->base || !out->own)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the frames of %d components", n);
  out->count = out->leader + n;
  out->parent = out->count + n;
  return CB_OK;
}

void cb_bases_copy(cb_bases *to, const cb_bases *from) {
  const size_t n = (size_t)from->n;
  memcpy(to->family, from->family, n * sizeof *to->family);
  memcpy(to->leader, from->leader, 3 * n * sizeof *to->leader);
  memcpy(to->base, from->base, n * sizeof *to->base);
  memcpy(to->own, from->own, n * sizeof *to->own);
  cb_bases_loaded(to);
}

void cb_bases_loaded(cb_bases *b) {
  b->children = 0;
  for (int c = 0; c < b->n; c++) b->children += b->count[c] && b->parent[c] >= 0;
  b->changes++;
}

/* --- common bases --- */

/* Replaces `out` by the composition of `a` after `out`. If a is the identity, `out` stays unchanged bit for bit. */
static void lift(const cb_space *g, const cb_origin *a, cb_origin *out) {
  cb_origin identity;
  cb_origin_identity(g, &identity);
  if (!cb_origin_same(g, a, &identity)) cb_origin_compose(g, a, out, out);
}

/* Converts a frame that is relative to the base of leader l. Afterwards it is relative to the base of `up`, a leader on
 * the way from l to the world, or to the world if `up` is -1. */
static void lift_to(const cb_space *g, const cb_bases *b, int l, int up, cb_origin *frame) {
  for (; l != up; l = b->parent[l]) lift(g, &b->base[l], frame);
}

/* Returns the first leader on the way from l to the world that is also on the way from m to the world, or -1 if there
 * is none. l and m themselves count as part of these ways. */
static int common(const cb_bases *b, int l, int m) {
  for (; l >= 0; l = b->parent[l])
    for (int up = m; up >= 0; up = b->parent[up])
      if (up == l) return l;
  return -1;
}

void cb_bases_pair(const cb_space *g, const cb_bases *b, int c, int d, cb_origin pair[2]) {
  const int l = b->leader[c], m = b->leader[d], up = common(b, l, m);
  pair[0] = b->own[c];
  pair[1] = b->own[d];
  lift_to(g, b, l, up, &pair[0]);
  lift_to(g, b, m, up, &pair[1]);
}

void cb_bases_pair_of(const cb_space *g, const cb_bases *b, int l, int m, cb_origin pair[2]) {
  const int up = common(b, l, m);
  cb_origin_identity(g, &pair[0]);
  pair[1] = pair[0];
  lift_to(g, b, l, up, &pair[0]);
  lift_to(g, b, m, up, &pair[1]);
}

/* Returns 0 if both bases are in exactly the same direction from their common base: their distance is then a difference
 * of lengths, and the round-off of lengths is not counted. */
double cb_bases_doubt(const cb_space *g, const cb_bases *b, int c, int d) {
  if (b->leader[c] == b->leader[d] || !cb_origin_grows(g)) return 0;
  cb_origin pair[2];
  cb_bases_pair_of(g, b, b->leader[c], b->leader[d], pair);
  const double L = cb_origin_radii(g, &pair[0]), l = cb_origin_radii(g, &pair[1]), maximum = fmax(L, l);
  if (!(L > 0 && l > 0) || !memcmp(pair[0].direction, pair[1].direction, sizeof pair->direction)) return 0;
  return DBL_EPSILON * (sinh(fmin(L, 700)) + sinh(fmin(l, 700))) *
         (L == maximum ? pair[0].length / L : pair[1].length / l);
}

/* --- changes --- */

/* Moves the base of leader l to the frame `to`, which is relative to the old base, and rewrites everything that is
 * stored relative to this base. */
static void rebase(const cb_space *g, cb_bases *b, int l, const cb_origin *to) {
  const cb_origin place = *to;
  for (int c = 0; c < b->n; c++) {
    if (b->leader[c] == l) cb_origin_relative(g, &place, &b->own[c], &b->own[c]);
    if (b->count[c] && b->parent[c] == l) cb_origin_relative(g, &place, &b->base[c], &b->base[c]);
  }
  cb_origin above = b->base[l];
  b->base[l] = place;
  lift(g, &above, &b->base[l]);
  b->changes++;
}

void cb_bases_join(const cb_space *g, cb_bases *b, int c, int d) {
  int to = b->leader[c], from = b->leader[d];
  if (to == from) return;
  if (common(b, to, from) == from) {
    from = to;
    to = b->leader[d];
  }
  cb_origin pair[2], relative;
  cb_bases_pair_of(g, b, to, from, pair);
  cb_origin_relative(g, &pair[0], &pair[1], &relative);
  for (int e = 0; e < b->n; e++) {
    if (b->count[e] && b->parent[e] == from) {
      lift(g, &relative, &b->base[e]);
      b->parent[e] = to;
    }
    if (b->leader[e] != from) continue;
    lift(g, &relative, &b->own[e]);
    b->leader[e] = to;
  }
  b->children -= b->parent[from] >= 0;
  b->count[to] += b->count[from];
  b->count[from] = 0;
  b->changes++;
}

cb_status cb_bases_recentre(const cb_space *g, cb_bases *b, cb_origin *origin, int c, const double *y,
                            const cb_local_points *points, cb_isometry *isometry) {
  const int l = b->leader[c];
  const cb_status status = cb_origin_recentre(g, &b->own[c], y, points, isometry);
  if (status) return status;
  origin[c] = b->own[c];
  if (b->count[l] == 1 && b->children) {
    rebase(g, b, l, &b->own[c]);
  } else if (b->count[l] == 1) {
    lift(g, &b->base[l], &b->own[c]);
    b->base[l] = b->own[c];
    cb_origin_identity(g, &b->own[c]);
    origin[c] = b->own[c];
  }
  lift_to(g, b, l, -1, &origin[c]);
  b->changes++;
  return CB_OK;
}

/* Returns whether a component at this distance, in radii, from a base may belong to this base. */
static bool bases_reaches(double radii) { return radii <= leave; }

static double radii(const cb_space *g, const cb_bases *b, int c) { return cb_origin_radii(g, &b->own[c]); }

/* Makes the component `to` the leader of the base whose leader was l. */
static void rename_leader(cb_bases *b, int l, int to) {
  b->base[to] = b->base[l];
  b->count[to] = b->count[l];
  b->parent[to] = b->parent[l];
  b->count[l] = 0;
  for (int c = 0; c < b->n; c++) {
    if (b->leader[c] == l) b->leader[c] = to;
    if (b->count[c] && b->parent[c] == l) b->parent[c] = to;
  }
}

/* Creates a new base at the place of c, for component c and the components of its old base that are near it. If all
 * components of the old base are near, the old base moves to the place of c instead. */
static void part(const cb_space *g, cb_bases *b, int c) {
  const cb_origin place = b->own[c];
  int old = b->leader[c], stays = -1;
  cb_origin relative;
  for (int d = 0; d < b->n; d++) {
    if (b->leader[d] != old || d == c) continue;
    cb_origin_relative(g, &place, &b->own[d], &relative);
    if (cb_origin_radii(g, &relative) > company) stays = d;
  }
  if (stays < 0) {
    rebase(g, b, old, &place);
    return;
  }
  rename_leader(b, old, stays);
  old = stays;
  b->base[c] = place;
  b->parent[c] = old;
  b->count[c] = 0;
  for (int d = 0; d < b->n; d++) {
    if (b->leader[d] != old) continue;
    cb_origin_relative(g, &place, &b->own[d], &relative);
    if (cb_origin_radii(g, &relative) > company) continue;
    b->own[d] = relative;
    b->leader[d] = c;
    b->count[c]++;
    b->count[old]--;
  }
  b->children++;
  b->partings++;
  b->changes++;
}

void cb_bases_follow(const cb_space *g, cb_bases *b, int *nearest) {
  if (!cb_origin_grows(g)) return;
  for (int c = 0; c < b->n; c++) nearest[c] = -1;
  for (int c = 0; c < b->n; c++) {
    int *at = &nearest[b->leader[c]];
    if (*at < 0 || radii(g, b, c) < radii(g, b, *at)) *at = c;
  }
  for (int l = 0; l < b->n; l++)
    if (nearest[l] >= 0 && radii(g, b, nearest[l]) > follow) rebase(g, b, l, &b->own[nearest[l]]);
  for (int c = 0; c < b->n; c++)
    if (b->count[b->leader[c]] > 1 && radii(g, b, c) > leave) part(g, b, c);
}

/* --- which components may collide, and their bases at the start (bases.h) --- */

/* Joins bodies that may touch each other: in the union-find forest set[bodies] they then belong to one tree.
 * meets[body] becomes true if the body has contacts with another body or within itself. */
static void join_bodies(const cb_contact_set *contacts, int bodies, int *set, bool *meets) {
  for (int a = 0; a < bodies; a++) {
    meets[a] = meets[a] || cb_contact_set_bodies_on(contacts, a, a);
    for (int b = a + 1; b < bodies; b++) {
      if (contacts->n_switches && !cb_contact_set_bodies_on(contacts, a, b)) continue;
      cb_components_join(set, a, b);
      meets[a] = meets[b] = true;
      if (!contacts->n_switches) break; /* all pairs may touch, so joining each body to the next one suffices */
    }
  }
}

static cb_status families(const cb_builder *b, const cb_system *s, int *family) {
  const cb_contact_set *contacts = b->contacts;
  int *set = malloc(2 * (size_t)s->n_bodies * sizeof *set), *first = set ? set + s->n_bodies : NULL;
  bool *meets = calloc((size_t)s->n_bodies, sizeof *meets);
  cb_components_start(s->n_components, family);
  if (set && meets && contacts && contacts->on) {
    cb_components_start(s->n_bodies, set);
    join_bodies(contacts, s->n_bodies, set, meets);
    cb_components_number(s->n_bodies, set, set);
    for (int i = 0; i < s->n_bodies; i++) first[i] = -1;
    for (int i = 0; i < s->n; i++) {
      int *one = &first[set[s->body[i]]];
      if (!meets[s->body[i]]) continue;
      if (*one < 0) *one = s->component[i];
      cb_components_join(family, *one, s->component[i]);
    }
  }
  for (int e = 0; contacts && e < contacts->n_events; e++) {
    const cb_event *event = &contacts->event[e];
    if (event->n == 2)
      cb_components_join(family, s->component[s->place[event->particle[0]]],
                         s->component[s->place[event->particle[1]]]);
  }
  cb_components_number(s->n_components, family, family);
  const bool lost = s->n_bodies && (!set || !meets);
  free(set);
  free(meets);
  return lost ? cb_fail(CB_ERROR_MEMORY, "no memory for contacts of %d bodies", s->n_bodies) : CB_OK;
}

/* Finds the leader whose base component c can use; returns -1 if there is none. The leader must belong to the family of
 * c. If coordinates do not grow, the first such leader is returned. Otherwise the origins of the leader and of c must
 * have the same `move` (cb_builder_frame), so that their `place` gives their relative position. The leader must also
 * have the same `place` as c, or a `place` near the base point, because a `place` far from the base point has a large
 * round-off. */
static int leader_of(const cb_builder *b, const cb_system *s, const int *given, int c) {
  const cb_space *g = s->space;
  const cb_bases *bases = &s->bases;
  const cb_builder_frame *frame = &b->frame[given[c]];
  const bool reaches = bases_reaches(cb_origin_radii(g, &frame->place));
  int found = -1;
  for (int d = 0; d < c; d++) {
    if (!bases->count[d] || bases->family[d] != bases->family[c]) continue;
    if (!cb_origin_grows(g)) return d;
    const cb_builder_frame *other = &b->frame[given[d]];
    if (!cb_origin_same(g, &frame->move, &other->move)) continue;
    if (cb_origin_same(g, &frame->place, &other->place)) return d;
    if (bases_reaches(cb_origin_radii(g, &other->place)) && (reaches || found < 0)) found = d;
  }
  return found;
}

/* Sets the bases of components that may collide. given[component] is the number of the component's origin in the
 * builder. */
static cb_status settle_bases(const cb_builder *b, cb_system *s, const int *given) {
  const cb_space *g = s->space;
  cb_bases *bases = &s->bases;
  cb_origin identity, relative;
  cb_status status = cb_bases_create(s->arena, s->n_components, bases);
  if (!status) status = families(b, s, bases->family);
  for (int c = 0; c < s->n_components && !status; c++) {
    const int found = cb_origin_moves(g) ? leader_of(b, s, given, c) : -1;
    cb_origin_identity(g, &identity);
    bases->own[c] = identity;
    bases->base[c] = s->origin[c];
    bases->parent[c] = -1;
    bases->leader[c] = c;
    if (found >= 0) {
      const bool moved = cb_origin_same(g, &b->frame[given[c]].move, &b->frame[given[found]].move);
      cb_origin_relative(g, moved ? &b->frame[given[found]].place : &s->origin[found],
                         moved ? &b->frame[given[c]].place : &s->origin[c], &relative);
      if (!cb_origin_grows(g) || bases_reaches(cb_origin_radii(g, &relative))) {
        bases->leader[c] = found;
        bases->own[c] = relative;
      } else {
        bases->parent[c] = found;
        bases->base[c] = relative;
        bases->children++;
      }
    }
    bases->count[bases->leader[c]]++;
  }
  return status;
}

/* Maximum distance, in radii, between the origin of a component and the origins relative to which the positions of its
 * particles are given. Chords between these particles then have an error of at most exp(far/2) units of round-off. */
static const double far = 20;
/* A component that starts farther than this from the base point (in radii, in flat space in units of length) gets an
 * origin of its own. */
static const double near = 2;
/* Maximum distance of a particle, in radii, from the base point if an expression uses its coordinates in a chart of the
 * world. At this distance the coordinates and their derivatives have an error of exp(2 coordinate_range) units of
 * round-off.
 */
static const double coordinate_range = 8;
/* At a larger distance from the base point, in radii, the squares of the embedding's coordinates overflow. */
static const double farthest = 350;

/* Returns the curvature of the factor in which coordinates grow like exp(distance); 0 if there is none. */
static double hyperbolic(const cb_space *g) {
  double curvature = 0;
  for (int f = 0; f < g->n_factors; f++) curvature = fmin(curvature, g->factor[f].curvature);
  return curvature;
}

static double radius_of(const cb_space *g) {
  double curvature = hyperbolic(g);
  return curvature == 0 ? 1 : 1 / sqrt(fabs(curvature));
}

/* Returns the distance of two origins in radii; 0 if coordinates do not grow like exp(distance). */
static double radii_between(const cb_space *g, const cb_origin *a, const cb_origin *b) {
  cb_origin relative;
  cb_origin_relative(g, a, b, &relative);
  return cb_origin_radii(g, &relative);
}

/* Chooses the origin of a component: *to becomes its number in the builder. It is the origin of the first particle,
 * unless this one is too far from the origin of another particle of the component, or all coordinates are those of the
 * world (b->in_world). In these cases it is the world's origin. Fails if the origin of a particle is then too far from
 * the world's origin. */
static cb_status choose_origin(const cb_builder *b, const cb_system *s, int c, int *to) {
  const int first = s->component_start[c];
  double maximum = 0, radius = radius_of(s->space);
  int world = 0, last = first;
  *to = b->point[s->particle[first]].origin;
  for (int i = first; i < s->component_start[c + 1]; i++) {
    const cb_origin *origin = &b->origin[b->point[s->particle[i]].origin];
    const double radii = radii_between(s->space, &b->origin[*to], origin);
    if (radii > maximum) {
      maximum = radii;
      last = i;
    }
    world = world || cb_origin_radii(s->space, origin) > far;
  }
  if (maximum <= far && !b->in_world) return CB_OK;
  *to = 0;
  if (!world) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED, "%s and %s are connected, and are %.4g apart: expected at most %.4g",
                 s->name[s->particle[first]], s->name[s->particle[last]], maximum * radius, far * radius);
}

/* Expresses the coordinates of all particles of a component relative to one origin. */
static cb_status one_origin(const cb_builder *b, cb_system *s, int c, int *given) {
  const cb_space *g = s->space;
  cb_status status = choose_origin(b, s, c, given);
  if (status) return status;
  const int to = *given;
  s->origin[c] = b->origin[to];
  for (int i = s->component_start[c]; i < s->component_start[c + 1]; i++) {
    int from = b->point[s->particle[i]].origin;
    if (from == to) continue;
    cb_origin relative;
    cb_isometry change;
    double *x = s->x + (size_t)i * (size_t)s->k, *v = s->v + (size_t)i * (size_t)s->k, old[CB_Q_MAX], old_v[CB_Q_MAX];
    cb_origin_relative(g, &b->origin[to], &b->origin[from], &relative);
    cb_origin_isometry(g, &relative, &change);
    memcpy(old, x, sizeof(double) * (size_t)s->k);
    memcpy(old_v, v, sizeof(double) * (size_t)s->k);
    cb_isometry_point(g, &change, old, x);
    cb_isometry_vector(g, &change, old_v, v);
    cb_space_project_point(g, x);
    cb_space_project_tangent(g, x, v);
  }
  return CB_OK;
}

/* Returns whether the component must keep its own origin for the sake of this fixed point. False if the origin of the
 * component or of the point is the world's origin. Otherwise true if the two origins are the same, and also if they are
 * at most `far` apart and the component's origin is farther than `near` from the world's origin. */
static bool is_near(const cb_space *g, const cb_origin *world, const cb_origin *origin, const cb_fixed *point) {
  if (cb_origin_same(g, origin, world) || cb_origin_same(g, &point->origin, world)) return false;
  return cb_origin_same(g, origin, &point->origin) ||
         (cb_origin_radii(g, origin) > near && radii_between(g, origin, &point->origin) <= far);
}

/* Returns whether a fixed point for which is_near() is true acts on the component. Then the component keeps its origin.
 * If its origin moved, the position of the fixed point relative to it would be lost, because two origins far from the
 * base point do not determine their relative position. */
static bool is_held(const cb_builder *b, const cb_system *s, int c) {
  const cb_space *g = s->space;
  bool held = false;
  for (int r = 0; r < b->n_constraints && !held; r++) {
    const cb_constraint *row = &b->constraint[r];
    held = row->class->centred && s->component[s->place[row->particle[0]]] == c &&
           is_near(g, &b->origin[0], &s->origin[c], &row->centre);
  }
  for (int t = 0; t < b->n_terms && !held; t++) {
    const cb_builder_term *term = &b->term[t];
    if (term->kind != CB_TERM_CENTRAL || !is_near(g, &b->origin[0], &s->origin[c], &term->centre)) continue;
    for (int i = s->component_start[c]; i < s->component_start[c + 1]; i++)
      held = held || cb_builder_in_body(b, s->particle[i], term->body_a);
  }
  return held;
}

/* Moves a component that starts farther than `near` from the base point, and is not held, to an origin at its centre.
 * Does nothing in a space that is given by the metric of a chart, because momenta are covectors in such a space; the
 * run moves the component later. */
static cb_status recentre(cb_system *s, int c) {
  const cb_space *g = s->space;
  if (g->intrinsic || s->held[c]) return CB_OK;
  int first = s->component_start[c], count = s->component_start[c + 1] - first, k = s->k;
  const size_t at = (size_t)first * (size_t)k;
  const double *x = s->x + at;
  const cb_local_points points = {count, s->x + at, s->x_low + at, s->v + at, s->v_low + at};
  double middle[CB_Q_MAX] = {0}, base[CB_Q_MAX];
  for (int i = 0; i < count; i++)
    for (int a = 0; a < k; a++) middle[a] += x[i * k + a] / count;
  cb_space_base_point(g, base);
  for (int f = 0; f < g->n_factors; f++) /* in a factor that is a sphere the origin is fixed */
    if (g->factor[f].curvature > 0)
      memcpy(middle + g->factor[f].offset, base + g->factor[f].offset, (size_t)g->factor[f].count * sizeof *base);
  cb_space_project_point(g, middle);
  if (!(cb_distance(g, middle, base) > near * radius_of(g))) return CB_OK;
  return cb_bases_recentre(g, &s->bases, s->origin, c, middle, &points, NULL);
}

/* Fails if a particle starts so far from the base point that an expression cannot use its coordinates in a chart (NULL:
 * in the embedding). `place` is the particle's index in the system. */
static cb_status check_told(const cb_system *s, const char *what, const cb_chart *chart, int place) {
  const cb_origin *origin = &s->origin[s->component[place]];
  const double radii = cb_origin_radii(s->space, origin), maximum = chart ? coordinate_range : farthest;
  if (!(radii > maximum)) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "%s, an expression of coordinates `%s`: %s starts %.6g from the base point, expected at most %.6g",
                 what, chart ? chart->name : "embedding", s->name[s->particle[place]], origin->length,
                 maximum * origin->length / radii);
}

static cb_status check_body(const cb_builder *b, const cb_system *s, const char *what, const cb_chart *chart,
                            int body) {
  cb_status status = CB_OK;
  for (int i = 0; i < s->n && !status; i++)
    if (cb_builder_in_body(b, s->particle[i], body)) status = check_told(s, what, chart, i);
  return status;
}

/* Fails if a particle is so far from the base point that the coordinates in expressions have too few correct digits. */
static cb_status check_expressions(const cb_builder *b, const cb_system *s) {
  const cb_contact_set *set = b->contacts;
  cb_status status = CB_OK;
  for (int t = 0; t < b->n_terms && !status; t++)
    if (b->term[t].kind == CB_TERM_FIELD)
      status = check_body(b, s, b->term[t].expression ? "potential" : "force", b->term[t].chart, b->term[t].body_a);
  for (int r = 0; r < b->n_constraints && !status; r++) {
    const cb_constraint *row = &b->constraint[r];
    if (!row->class->per_world || row->class->centred) continue;
    for (int p = 0; p < row->width && !status; p++)
      status = check_told(s, row->class->name, row->chart, s->place[row->particle[p]]);
  }
  for (int w = 0; set && w < set->n_walls && !status; w++) {
    const cb_gap_function *f = &set->wall[w].function;
    if (!cb_gap_function_is_length(f))
      status = check_body(b, s, f->name, cb_gap_function_chart(s->space, f), set->wall[w].body);
  }
  for (int e = 0; set && e < set->n_events && !status; e++) {
    const cb_gap_function *f = &set->event[e].function;
    for (int p = 0; p < set->event[e].n && !cb_gap_function_is_length(f) && !status; p++)
      status = check_told(s, f->name, cb_gap_function_chart(s->space, f), s->place[set->event[e].particle[p]]);
  }
  return status;
}

cb_status cb_origins_settle(const cb_builder *b, cb_system *s) {
  s->origin = cb_arena_alloc(s->arena, (size_t)s->n_components, sizeof *s->origin);
  s->held = cb_arena_alloc(s->arena, (size_t)s->n_components, sizeof *s->held);
  if (!s->origin || !s->held) return cb_fail(CB_ERROR_MEMORY, "no memory for %d origins", s->n_components);
  cb_status status = CB_OK;
  int *given = calloc((size_t)s->n_components, sizeof *given);
  if (!given) return cb_fail(CB_ERROR_MEMORY, "no memory for %d origins", s->n_components);
  for (int c = 0; c < s->n_components && !status; c++) {
    s->origin[c] = b->origin[0];
    if (cb_origin_moves(s->space)) status = one_origin(b, s, c, &given[c]);
  }
  if (!status) status = settle_bases(b, s, given);
  free(given);
  for (int c = 0; c < s->n_components && !status && cb_origin_moves(s->space) && !b->in_world; c++) {
    s->held[c] = is_held(b, s, c);
    status = recentre(s, c);
  }
  if (status) return status;
  return cb_origin_grows(s->space) ? check_expressions(b, s) : CB_OK;
}
