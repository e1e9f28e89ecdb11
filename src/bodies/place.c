/* Reads places, and builds a body by its class (place.h). */
#include "bodies/place.h"
#include "tree/scalar.h"
#include "geometry/origin.h"
#include <curvebody/body.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

double cb_place_apart(const cb_space *g, const double *x, const double *y) {
  double d;
  if (!g->chart) return cb_distance(g, x, y);
  return g->chart->distance && !g->chart->distance(g, x, y, &d, NULL, NULL) ? d : NAN;
}

static cb_status allocate(cb_places *p, const cb_space *g, int n) {
  size_t size = (size_t)n + 1; /* one more for the additional point (cb_places_hold) */
  p->space = g;
  p->n = n;
  p->x = calloc(size, (size_t)g->embedding * sizeof(double));
  p->v = calloc(size, (size_t)g->embedding * sizeof(double));
  p->q = calloc(size, (size_t)g->dim * sizeof(double));
  p->u = calloc(size, (size_t)g->dim * sizeof(double));
  p->given = calloc(size, (size_t)g->dim * sizeof(double));
  p->origin = malloc(sizeof *p->origin);
  p->frame = calloc(size, sizeof *p->frame);
  if (!p->x || !p->v || !p->q || !p->u || !p->given || !p->origin || !p->frame)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d points", n);
  cb_origin_identity(g, p->origin);
  cb_isometry_identity(g, &p->moved);
  p->n_origins = 1;
  return CB_OK;
}

void cb_places_free(cb_places *p) {
  free(p->x);
  free(p->v);
  free(p->q);
  free(p->u);
  free(p->given);
  free(p->origin);
  free(p->placed);
  free(p->frame);
  memset(p, 0, sizeof *p);
}

const double *cb_places_at(const cb_places *p, int i) {
  const cb_space *g = p->space;
  return g->chart ? p->q + (size_t)i * (size_t)g->dim : p->x + (size_t)i * (size_t)g->embedding;
}

/* Computes the coordinates q in the chart in which the space is used. Coordinates that were given in this chart are
 * copied. */
static cb_status to_chart(cb_places *p) {
  const cb_space *g = p->space;
  if (!g->chart) return CB_OK;
  for (int i = 0; i < p->n; i++) {
    double *q = p->q + i * g->dim;
    if (p->points && p->chart == g->chart) {
      memcpy(q, p->given + i * g->dim, (size_t)g->dim * sizeof *q);
      continue;
    }
    cb_status status = g->chart->from_point(g, p->x + i * g->embedding, q);
    if (status) return cb_place_fail(p->points ? p->points->items[i] : p->node, status);
  }
  return CB_OK;
}

/* --- origins --- */

/* Computes the point to which the origin `there` moves the base point, in coordinates x relative to `origin`. */
static void seen_from(const cb_space *g, const cb_origin *origin, const cb_origin *there, double *x) {
  cb_origin relative;
  double base[CB_COORD_MAX];
  cb_origin_relative(g, origin, there, &relative);
  cb_space_base_point(g, base);
  cb_origin_world_point(g, &relative, base, x);
}

static double radii_between(const cb_space *g, const cb_origin *a, const cb_origin *b) {
  cb_origin relative;
  cb_origin_relative(g, a, b, &relative);
  return cb_origin_radii(g, &relative);
}

/* Sets one origin for all points, that of the first point, if they are far from the base point. Let `out` be the
 * largest distance of a point from the base point, and `apart` the largest distance from the first point, both in
 * radii. The origin is set if out > cb_place_near, and also out > cb_place_far or out > apart. Fails if it must be set
 * but apart > cb_place_far. */
static cb_status settle_joined(cb_places *p, const cb_origin *there) {
  const cb_space *g = p->space;
  double out = 0, apart = 0;
  int furthest = 0;
  for (int i = 0; i < p->n; i++) {
    const double radii = cb_origin_radii(g, &there[i]);
    if (radii > out) {
      out = radii;
      furthest = i;
    }
    apart = fmax(apart, radii_between(g, &there[0], &there[i]));
  }
  if (out <= cb_place_near || (out <= cb_place_far && out <= apart)) return CB_OK;
  const double radius = there[furthest].length / out;
  if (apart > cb_place_far)
    return cb_node_fail(p->points->items[furthest],
                        "points: two points are %.6g apart, expected at most %.6g in a body whose particles are joined",
                        apart * radius, cb_place_far * radius);
  *p->origin = there[0];
  memset(p->origin->shift, 0, sizeof p->origin->shift);
  for (int i = 0; i < p->n; i++) seen_from(g, p->origin, &there[i], p->x + i * g->embedding);
  return CB_OK;
}

/* Creates origins for points that are more than cb_place_near from the base point. Such a point shares the last origin
 * of the list if it is at most cb_place_near from that origin. */
static cb_status settle_apart(cb_places *p, const cb_origin *there) {
  const cb_space *g = p->space;
  cb_origin *origin = malloc(((size_t)p->n + 1) * sizeof *origin);
  if (!origin) return cb_fail(CB_ERROR_MEMORY, "no memory for %d origins", p->n);
  origin[0] = p->origin[0];
  free(p->origin);
  p->origin = origin;
  for (int i = 0; i < p->n; i++) {
    if (cb_origin_radii(g, &there[i]) <= cb_place_near) continue;
    if (p->n_origins == 1 || radii_between(g, &origin[p->n_origins - 1], &there[i]) > cb_place_near) {
      origin[p->n_origins] = there[i];
      memset(origin[p->n_origins++].shift, 0, sizeof origin->shift);
    }
    p->frame[i] = p->n_origins - 1;
    seen_from(g, &origin[p->frame[i]], &there[i], p->x + i * g->embedding);
  }
  return CB_OK;
}

/* Computes x = exp_at(sum_a t_a e_a) for the vectors e_a of the frame at the point `at`. */
static void exp_in_frame(const cb_space *g, const double *at, const double *frame, const double *t, double *x) {
  double v[CB_COORD_MAX] = {0};
  for (int a = 0; a < g->dim; a++)
    for (int b = 0; b < g->embedding; b++) v[b] += t[a] * frame[a * g->embedding + b];
  cb_exp(g, at, v, x, NULL);
}

static cb_status check_has_embedding(const cb_node *node, const cb_space *g) {
  if (g->chart && !g->chart->to_point)
    return cb_node_fail(node,
                        "the space has no embedding, only the chart '%s': expected points and velocities in that chart",
                        g->chart->name);
  return CB_OK;
}

cb_status cb_places_make(cb_places *p, const cb_node *body, const cb_space *g, const cb_node *at, int n,
                         const double *tangent) {
  static const char *const keys[] = {"move"};
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX];
  const cb_node *place = cb_node_get(body, "place");
  memset(p, 0, sizeof *p);
  p->node = place ? place : body;
  cb_status status = cb_node_check_keys(place, keys, 1);
  if (!status) status = check_has_embedding(p->node, g);
  if (!status) status = allocate(p, g, n);
  if (status) return status;
  cb_space_base_point(g, base);
  if (at) status = cb_place_point(at, "at", g, p->origin, base);
  if (status) return status;
  cb_space_frame(g, base, frame);
  for (int i = 0; i < n; i++)
    exp_in_frame(g, base, frame, tangent + (size_t)i * (size_t)g->dim, p->x + (size_t)i * (size_t)g->embedding);
  return to_chart(p);
}

/* Finds the list under `key`, and checks that it has n items (n < 0: at least one). */
static cb_status check_list(const cb_node *map, const char *key, int n, const cb_node **list) {
  const cb_node *node = cb_node_get(map, key);
  if (node->kind != CB_NODE_LIST || !node->count) return cb_node_fail(node, "%s: expected a list of points", key);
  if (n >= 0 && node->count != (size_t)n)
    return cb_node_fail(node, "%s: expected %d points, found %zu", key, n, node->count);
  if (node->count > 1u << 30) return cb_node_fail(node, "%s: too many points: expected at most 1073741824", key);
  *list = node;
  return CB_OK;
}

static cb_status read_tangents(cb_places *p, const cb_node *place, const cb_space *g, int n) {
  static const char *const keys[] = {"at", "frame", "tangent", "move"};
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX];
  const cb_node *list = NULL, *at = cb_node_get(place, "at"), *kind = cb_node_get(place, "frame");
  cb_status status = cb_node_check_keys(place, keys, 4);
  if (!status) status = check_has_embedding(place, g);
  if (!status && !at) status = cb_node_fail(place, "place: `tangent` needs `at`: {chart: .., point: [..]}");
  if (!status && !cb_node_get(place, "tangent"))
    status = cb_node_fail(place, "place: `at` needs `tangent`, a list of tangent vectors");
  if (!status) status = check_list(place, "tangent", n, &list);
  if (status) return status;
  if (kind) {
    const char *name;
    status = cb_node_string(kind, &name);
    if (status) return status;
    if (strcmp(name, "default")) return cb_node_fail(kind, "frame: expected default, found '%s'", name);
  }
  status = allocate(p, g, (int)list->count);
  if (!status) status = cb_place_point(at, "at", g, p->origin, base);
  if (status) return status;
  cb_space_frame(g, base, frame);
  for (int i = 0; i < p->n; i++) {
    double t[CB_DIM_MAX];
    status = cb_node_reals(list->items[i], (size_t)g->dim, t);
    if (status) return status;
    exp_in_frame(g, base, frame, t, p->x + i * g->embedding);
  }
  p->points = list;
  p->chart = NULL;
  return CB_OK;
}

static cb_status read_points(cb_places *p, const cb_node *place, const cb_space *g, int n, bool joined) {
  static const char *const keys[] = {"chart", "points", "move"};
  const cb_node *list = NULL;
  cb_status status = cb_node_check_keys(place, keys, 3);
  if (!status && !cb_node_get(place, "points"))
    status = cb_node_fail(place, "place: expected `points`, or `at` and `tangent`");
  if (!status) status = check_list(place, "points", n, &list);
  if (!status) status = cb_place_chart(place, g, &p->chart);
  if (!status) status = allocate(p, g, (int)list->count);
  if (status) return status;
  p->points = list;
  cb_origin *there = malloc((size_t)p->n * sizeof *there);
  if (!there) return cb_fail(CB_ERROR_MEMORY, "no memory for %d points", p->n);
  for (int i = 0; i < p->n && !status; i++)
    status = cb_place_read(list->items[i], g, p->chart, p->x + i * g->embedding, p->given + i * g->dim, &there[i]);
  if (!status && cb_origin_grows(g)) status = (joined ? settle_joined : settle_apart)(p, there);
  free(there);
  return status;
}

cb_status cb_places_read(cb_places *p, const cb_node *body, const cb_space *g, int n, bool joined) {
  memset(p, 0, sizeof *p);
  p->node = cb_node_get(body, "place");
  if (!p->node) return cb_node_fail(body, "expected `place`, such as {chart: embedding, points: [[..], ..]}");
  bool tangent = cb_node_get(p->node, "at") || cb_node_get(p->node, "tangent");
  cb_status status = tangent ? read_tangents(p, p->node, g, n) : read_points(p, p->node, g, n, joined);
  return status ? status : to_chart(p);
}

cb_status cb_places_hold(cb_places *p, const cb_node *map, const char *what) {
  const cb_space *g = p->space;
  const cb_chart *chart;
  cb_origin there, identity;
  double *x = p->x + (size_t)p->n * (size_t)g->embedding, *q = p->q + (size_t)p->n * (size_t)g->dim, given[CB_DIM_MAX];
  cb_status status = cb_place_read_map(map, what, g, &chart, x, given, &there);
  if (status) return status;
  cb_origin_identity(g, &identity);
  p->held = true;
  p->frame[p->n] = p->frame[0];
  const cb_origin *origin = &p->origin[p->frame[0]];
  if (!cb_origin_same(g, origin, &identity)) {
    const double radii = radii_between(g, origin, &there), radius = origin->length / cb_origin_radii(g, origin);
    if (radii > cb_place_far)
      return cb_node_fail(map, "%s: the point is %.6g from the particle, expected at most %.6g", what, radii * radius,
                          cb_place_far * radius);
    seen_from(g, origin, &there, x);
  } else if (cb_origin_radii(g, &there) > cb_place_far) {
    return cb_place_too_far(map, what, g, &there);
  }
  if (!g->chart) return CB_OK;
  if (chart == g->chart) {
    memcpy(q, given, (size_t)g->dim * sizeof *q);
    return CB_OK;
  }
  status = g->chart->from_point(g, x, q);
  return status ? cb_place_fail(map, status) : CB_OK;
}

/* --- from a map of the scenario to a body of its class --- */

static const char *const shared[] = {"kind", "name", "place", "motion"};
enum { SHARED = sizeof shared / sizeof *shared };

static const cb_body_class *find(const char *name) {
  return cb_body_classes[cb_registry_find(&cb_body_registry, name, strlen(name))];
}

/* Begins the body under its `name`, or, if it has none, under its kind followed by the first free number. */
static cb_status begin(const cb_node *node, const char *kind, cb_builder *b) {
  const cb_node *given = cb_node_get(node, "name");
  const char *name;
  char numbered[128];
  if (given) {
    cb_status status = cb_node_string(given, &name);
    if (status) return status;
    if (!*name) return cb_node_fail(given, "name: expected a name, found an empty text");
    if (cb_builder_find_body(b, name) >= 0)
      return cb_node_fail(given, "name: there is already a body '%s', expected another name", name);
    return cb_builder_body(b, name, NULL);
  }
  for (int i = 1;; i++) {
    snprintf(numbered, sizeof numbered, "%s%d", kind, i);
    if (cb_builder_find_body(b, numbered) < 0) return cb_builder_body(b, numbered, NULL);
  }
}

cb_status cb_body_build_class(const cb_body_class *class, const cb_node *node, const cb_space *space, cb_builder *b) {
  void *params = calloc(1, class->params_size ? class->params_size : 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for a body of kind `%s`", class->name);
  cb_status status = cb_params_bind(class->params, node, node, shared, SHARED, params);
  if (!status) status = begin(node, class->name, b);
  if (!status) status = class->build(params, node, space, b);
  free(params);
  return status;
}

cb_status cb_body_build(const cb_node *node, const cb_space *space, cb_builder *b) {
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "expected a body: a map with the key `kind`");
  const cb_node *kind = cb_node_get(node, "kind");
  if (!kind) return cb_node_fail(node, "missing key 'kind': expected a kind of body, such as `rod`");
  const char *name;
  cb_status status = cb_node_string(kind, &name);
  if (status) return status;
  const cb_body_class *class = find(name);
  return class ? cb_body_build_class(class, node, space, b)
               : cb_fail_no_class(kind, "kind of body", name, &cb_body_registry);
}

const cb_node *cb_body_resolved(const cb_node *node, struct cb_arena *arena) {
  return cb_params_resolved(find(cb_node_get(node, "kind")->text)->params, node, arena);
}
