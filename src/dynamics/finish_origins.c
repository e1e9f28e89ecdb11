/* The origins that components start at: one for all particles of a component, near them.
 *
 * Particles come with the origins that they were given. Where numbers grow like exp(distance) those of a component must
 * not be too far apart, a component that a fixed point far out holds stays in its frame, and expressions of coordinates
 * of the world end where these are no longer known.
 */
#include "dynamics/contact_private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parts of a component may be given this many radii apart in different origins: their chords then lose exp(far/2) units
 * of round-off at most. */
static const double far = 20;
/* A component that starts further than this from the base point (in radii; 1 where the space is flat) gets an origin of
 * its own. */
static const double near = 2;
/* Coordinates of a chart of the world have derivatives to exp(2 told) units of round-off. */
static const double told = 8;
/* Squares of the embedding's coordinates overflow beyond. */
static const double farthest = 350;

/* The curvature of the factor in which numbers grow like exp(distance); 0 if there is none. */
static double hyperbolic(const cb_geometry *g) {
  double curvature = 0;
  for (int f = 0; f < g->n_factors; f++) curvature = fmin(curvature, g->factor[f].curvature);
  return curvature;
}

static double radius_of(const cb_geometry *g) {
  double curvature = hyperbolic(g);
  return curvature == 0 ? 1 : 1 / sqrt(fabs(curvature));
}

/* How far apart, in radii, two origins are; 0 where numbers do not grow. */
static double radii_between(const cb_geometry *g, const cb_origin *a, const cb_origin *b) {
  cb_origin relative;
  cb_origin_relative(g, a, b, &relative);
  return cb_origin_radii(g, &relative);
}

/* The origin that a component gets: its first particle's; if that is too far from another's, the world's. */
static cb_status choose_origin(const cb_builder *b, const cb_system *s, int c, int *to) {
  const int first = s->component_start[c];
  double most = 0, radius = radius_of(s->space);
  int world = 0, last = first;
  *to = b->point[s->particle[first]].origin;
  for (int i = first; i < s->component_start[c + 1]; i++) {
    const cb_origin *origin = &b->origin[b->point[s->particle[i]].origin];
    const double radii = radii_between(s->space, &b->origin[*to], origin);
    if (radii > most) most = radii, last = i;
    world = world || cb_origin_radii(s->space, origin) > far;
  }
  if (most <= far) return CB_OK;
  *to = 0;
  if (!world) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED, "%s and %s are joined and %.4g apart: expected at most %.4g",
                 s->name[s->particle[first]], s->name[s->particle[last]], most * radius, far * radius);
}

/* Brings the particles of a component to one origin. */
static cb_status one_origin(const cb_builder *b, cb_system *s, int c, int *given) {
  const cb_geometry *g = s->space;
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
    cb_geometry_project_point(g, x);
    cb_geometry_project_tangent(g, x, v);
  }
  return CB_OK;
}

/* Was the fixed point told near a component's own origin, away from the world's? */
static bool is_near(const cb_geometry *g, const cb_origin *world, const cb_origin *origin, const cb_fixed *point) {
  if (cb_origin_same(g, origin, world) || cb_origin_same(g, &point->origin, world)) return false;
  return cb_origin_same(g, origin, &point->origin) ||
         (cb_origin_radii(g, origin) > near && radii_between(g, origin, &point->origin) <= far);
}

/* Is a component held by such a point? It stays in its frame: an origin that moves would lose the point, for two
 * origins that are far out and close to one another do not know their relative place. */
static bool is_held(const cb_builder *b, const cb_system *s, int c) {
  const cb_geometry *g = s->space;
  bool held = false;
  for (int r = 0; r < b->n_constraints && !held; r++) {
    const cb_constraint *row = &b->constraint[r];
    held = (row->kind == &cb_constraint_tether || row->kind == &cb_constraint_pin) &&
           s->component[s->place[row->particle[0]]] == c && is_near(g, &b->origin[0], &s->origin[c], &row->centre);
  }
  for (int t = 0; t < b->n_terms && !held; t++) {
    const cb_builder_term *term = &b->term[t];
    if (term->kind != CB_TERM_CENTRAL || !is_near(g, &b->origin[0], &s->origin[c], &term->centre)) continue;
    for (int i = s->component_start[c]; i < s->component_start[c + 1]; i++)
      held = held || cb_builder_in_body(b, s->particle[i], term->body_a);
  }
  return held;
}

/* Moves a component that starts far out to an origin at its middle. In a group the run does it, with covectors. */
static cb_status recentre(cb_system *s, int c) {
  const cb_geometry *g = s->space;
  if (g->intrinsic || s->held[c]) return CB_OK;
  int first = s->component_start[c], count = s->component_start[c + 1] - first, k = s->k;
  double *x = s->x + (size_t)first * (size_t)k, *v = s->v + (size_t)first * (size_t)k;
  double *x_low = s->x_low + (size_t)first * (size_t)k, *v_low = s->v_low + (size_t)first * (size_t)k;
  double middle[CB_Q_MAX] = {0}, base[CB_Q_MAX];
  for (int i = 0; i < count; i++)
    for (int a = 0; a < k; a++) middle[a] += x[i * k + a] / count;
  cb_geometry_base_point(g, base);
  for (int f = 0; f < g->n_factors; f++) /* origins do not move in spheres */
    if (g->factor[f].curvature > 0)
      memcpy(middle + g->factor[f].offset, base + g->factor[f].offset, (size_t)g->factor[f].count * sizeof *base);
  cb_geometry_project_point(g, middle);
  if (!(cb_distance(g, middle, base) > near * radius_of(g))) return CB_OK;
  return cb_bases_recentre(g, &s->bases, s->origin, c, middle, count, x, x_low, v, v_low, NULL);
}

/* An expression of coordinates of the world (chart NULL: the embedding) and the particle at a place. */
static cb_status check_told(const cb_system *s, const char *what, const cb_chart *chart, int place) {
  const cb_origin *origin = &s->origin[s->component[place]];
  const double radii = cb_origin_radii(s->space, origin), most = chart ? told : farthest;
  if (!(radii > most)) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "%s, an expression of coordinates `%s`: %s starts %.6g from the base point, expected at most %.6g",
                 what, chart ? chart->name : "embedding", s->name[s->particle[place]], origin->length,
                 most * origin->length / radii);
}

static cb_status check_body(const cb_builder *b, const cb_system *s, const char *what, const cb_chart *chart,
                            int body) {
  cb_status status = CB_OK;
  for (int i = 0; i < s->n && !status; i++)
    if (cb_builder_in_body(b, s->particle[i], body)) status = check_told(s, what, chart, i);
  return status;
}

/* Particles must not be further out than the coordinates that expressions are of are known. */
static cb_status check_expressions(const cb_builder *b, const cb_system *s) {
  const cb_contact_set *set = b->contacts;
  cb_status status = CB_OK;
  for (int t = 0; t < b->n_terms && !status; t++)
    if (b->term[t].kind == CB_TERM_FIELD) status = check_body(b, s, "potential", b->term[t].chart, b->term[t].body_a);
  for (int r = 0; r < b->n_constraints && !status; r++) {
    const cb_constraint *row = &b->constraint[r];
    if (row->kind != &cb_constraint_surface && row->kind != &cb_constraint_velocity) continue;
    for (int p = 0; p < row->width && !status; p++)
      status = check_told(s, row->kind->name, row->chart, s->place[row->particle[p]]);
  }
  for (int w = 0; set && w < set->n_walls && !status; w++)
    if (set->wall[w].expression) status = check_body(b, s, set->wall[w].name, set->wall[w].chart, set->wall[w].body);
  for (int e = 0; set && e < set->n_events && !status; e++)
    if (set->event[e].j < 0) status = check_told(s, set->event[e].name, set->event[e].chart, s->place[set->event[e].i]);
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
  if (!status) status = cb_bases_settle(b, s, given);
  free(given);
  for (int c = 0; c < s->n_components && !status && cb_origin_moves(s->space); c++) {
    s->held[c] = is_held(b, s, c);
    status = recentre(s, c);
  }
  if (status) return status;
  return cb_origin_grows(s->space) ? check_expressions(b, s) : CB_OK;
}
