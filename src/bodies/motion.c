/* Reads velocities and moves of placed particles, and their masses and charges (place.h). */
#include "bodies/place.h"
#include "dynamics/builder_points.h"
#include "tree/scalar.h"
#include "geometry/origin.h"
#include "dynamics/bases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A velocity in the embedding may have a normal part of this size, relative to its largest component. */
static const double off_tangent = 1e-6;
/* Up to this distance from the base point, in radii of curvature, the velocity of a particle may be given in another
 * chart than its position. The error is up to exp(2 coordinate_range) units of round-off. */
static const double coordinate_range = 10;
/* The approximate distance, in radii of curvature, beyond which squares of the components of a Killing field
 * overflow. */
static const double largest_square = 354;

static const cb_origin *origin_of(const cb_places *p, int i) { return &p->origin[p->frame[i]]; }

/* Returns whether the position of particle i is relative to an origin that is not at the base point. Call it before
 * `move` is applied. */
static bool is_far(const cb_places *p, int i) { return cb_origin_radii(p->space, origin_of(p, i)) > 0; }

static cb_status check_told(const cb_places *p, int i, const cb_node *node) {
  const double length = origin_of(p, i)->length, radii = cb_origin_radii(p->space, origin_of(p, i));
  if (!(radii > coordinate_range)) return CB_OK;
  return cb_node_fail(node,
                      "velocities: a particle is %.6g from the base point: expected velocities in the chart of its "
                      "place, or a distance of at most %.6g, or `move` in `place`, which moves the velocities too",
                      length, coordinate_range * length / radii);
}

static cb_status read_killing(const cb_node *map, const cb_space *g, int *index) {
  const cb_node *node = cb_node_get(map, "killing");
  const char *name, *names[CB_KILLING_MAX];
  if (!node) return cb_node_fail(map, "expected the key `killing`, the name of a Killing field");
  cb_status status = cb_node_string(node, &name);
  if (status) return status;
  *index = cb_killing_find(g, name);
  if (*index >= 0) return CB_OK;
  for (int i = 0; i < g->n_killing; i++) names[i] = g->killing[i].name;
  return cb_fail_unknown(node, "Killing field", name, names, (size_t)g->n_killing);
}

static cb_status read_number(const cb_node *map, const char *key, double *value) {
  const cb_node *node = cb_node_get(map, key);
  return node ? cb_node_real(node, value) : CB_OK;
}

/* Computes the Killing field number `index` of the world at particle i, which is far from the base point, relative to
 * the origin of the particle. */
static cb_status far_field(const cb_places *p, int i, int index, const cb_node *map, double *X) {
  const cb_space *g = p->space;
  const cb_origin *origin = origin_of(p, i);
  cb_origin_field(g, origin, index, p->x + i * g->embedding, X);
  for (int a = 0; a < g->embedding; a++)
    if (!isfinite(X[a] * X[a]))
      return cb_node_fail(
          map,
          "motion: the field %s overflows %.6g from the base point: expected a distance of at most %.6g, a field along "
          "the geodesic to the body, or `move` in `place`, which moves the velocities too",
          g->killing[index].name, origin->length, largest_square * origin->length / cb_origin_radii(g, origin));
  return CB_OK;
}

/* Adds `speed` times a Killing field X(x) to the velocities v of all particles, and, if the space is used in a chart,
 * also to the rates u of the coordinates. */
static cb_status add_killing(cb_places *p, const cb_node *map) {
  static const char *const keys[] = {"killing", "speed"};
  const cb_space *g = p->space;
  double speed = 1;
  int index;
  cb_status status = cb_node_check_keys(map, keys, 2);
  if (!status) status = read_killing(map, g, &index);
  if (!status) status = read_number(map, "speed", &speed);
  if (status) return status;
  for (int i = 0; i < p->n; i++) {
    double X[CB_COORD_MAX], q[CB_DIM_MAX], u[CB_DIM_MAX], *v = p->v + i * g->embedding;
    const double *x = p->x + i * g->embedding;
    if (is_far(p, i)) {
      status = far_field(p, i, index, map, X);
      if (status) return status;
    } else {
      cb_killing_at(g, index, x, X);
    }
    for (int a = 0; a < g->embedding; a++) v[a] += speed * X[a];
    if (!g->chart) continue;
    status = cb_chart_pull(g, g->chart, x, X, q, u);
    if (status) return cb_place_fail(map, status);
    for (int a = 0; a < g->dim; a++) p->u[i * g->dim + a] += speed * u[a];
  }
  return CB_OK;
}

/* Computes the coordinates q of particle i in a chart. Coordinates that were given in this chart are copied. If the
 * space is used in this chart, q is copied from p->q. */
static cb_status coordinates_of(const cb_places *p, int i, const cb_chart *chart, const cb_node *node, double *q) {
  const cb_space *g = p->space;
  const double *given = p->points && p->chart == chart ? p->given : chart == g->chart ? p->q : NULL;
  cb_status status = CB_OK;
  if (given) {
    memcpy(q, given + i * g->dim, (size_t)g->dim * sizeof *q);
  } else if (is_far(p, i)) {
    status = check_told(p, i, node);
    if (!status) status = cb_origin_coordinates(g, origin_of(p, i), p->x + i * g->embedding, chart, q);
  } else {
    status = chart->from_point(g, p->x + i * g->embedding, q);
  }
  return status;
}

/* Adds the velocity u of the coordinates q of a chart (NULL: the embedding) to the velocity of particle i, which is far
 * from the base point. */
static cb_status add_far(cb_places *p, int i, const cb_chart *chart, const double *q, const double *u) {
  const cb_space *g = p->space;
  cb_origin there, relative;
  double v[CB_COORD_MAX], local[CB_COORD_MAX];
  const cb_status status = cb_origin_of(g, chart, q, u, &there, v);
  if (status) return status;
  cb_origin_relative(g, origin_of(p, i), &there, &relative);
  cb_origin_world_vector(g, &relative, v, local);
  for (int a = 0; a < g->embedding; a++)
    if (!isfinite(local[a] * local[a]))
      return cb_fail(CB_ERROR_DOMAIN,
                     "a velocity overflows at this distance from the base point: expected a smaller velocity");
  for (int a = 0; a < g->embedding; a++) p->v[i * g->embedding + a] += local[a];
  return CB_OK;
}

static cb_status add_velocity_in_embedding(cb_places *p, int i, const cb_node *node) {
  const cb_space *g = p->space;
  double x[CB_COORD_MAX], v[CB_COORD_MAX], tangent[CB_COORD_MAX], off = 0, size = 0, q[CB_DIM_MAX], u[CB_DIM_MAX];
  cb_status status = cb_node_reals(node, (size_t)g->embedding, v);
  if (!status) status = check_told(p, i, node);
  if (status) return status;
  memcpy(x, p->x + i * g->embedding, (size_t)g->embedding * sizeof *x);
  if (is_far(p, i)) cb_origin_world_point(g, origin_of(p, i), x, x);
  memcpy(tangent, v, sizeof tangent);
  cb_space_project_tangent(g, x, tangent);
  for (int a = 0; a < g->embedding; a++) {
    off = fmax(off, fabs(v[a] - tangent[a]));
    size = fmax(size, fabs(v[a]));
  }
  if (!(off <= off_tangent * size))
    return cb_node_fail(
        node, "velocities: expected a tangent vector at its point, found one with a normal part of %.3g", off);
  if (is_far(p, i)) {
    status = add_far(p, i, NULL, x, tangent);
    return status ? cb_place_fail(node, status) : CB_OK;
  }
  for (int a = 0; a < g->embedding; a++) p->v[i * g->embedding + a] += tangent[a];
  if (!g->chart) return CB_OK;
  status = cb_chart_pull(g, g->chart, x, tangent, q, u);
  if (status) return cb_place_fail(node, status);
  for (int a = 0; a < g->dim; a++) p->u[i * g->dim + a] += u[a];
  return CB_OK;
}

static cb_status add_velocity_in_chart(cb_places *p, int i, const cb_chart *chart, const cb_node *node) {
  const cb_space *g = p->space;
  double rate[CB_DIM_MAX], at[CB_DIM_MAX], x[CB_COORD_MAX], v[CB_COORD_MAX], q[CB_DIM_MAX], u[CB_DIM_MAX];
  cb_status status = cb_node_reals(node, (size_t)g->dim, rate);
  if (status) return status;
  memcpy(u, rate, sizeof u);
  if (chart->to_point) {
    status = coordinates_of(p, i, chart, node, at);
    if (!status && is_far(p, i)) status = add_far(p, i, chart, at, rate);
    if (status || is_far(p, i)) return status ? cb_place_fail(node, status) : CB_OK;
    status = cb_chart_push(g, chart, at, rate, x, v);
    if (!status && g->chart && chart != g->chart) status = cb_chart_pull(g, g->chart, p->x + i * g->embedding, v, q, u);
    if (status) return cb_place_fail(node, status);
    for (int a = 0; a < g->embedding; a++) p->v[i * g->embedding + a] += v[a];
  }
  if (g->chart)
    for (int a = 0; a < g->dim; a++) p->u[i * g->dim + a] += u[a];
  return CB_OK;
}

static cb_status add_velocities(cb_places *p, const cb_node *map) {
  static const char *const keys[] = {"chart", "velocities"};
  const cb_node *list = cb_node_get(map, "velocities");
  const cb_chart *chart;
  cb_status status = cb_node_check_keys(map, keys, 2);
  if (!status && (list->kind != CB_NODE_LIST || list->count != (size_t)p->n))
    status = cb_node_fail(list, "velocities: expected a list of %d velocities, one per particle", p->n);
  if (!status) status = cb_place_chart(map, p->space, &chart);
  for (int i = 0; i < p->n && !status; i++)
    status =
        chart ? add_velocity_in_chart(p, i, chart, list->items[i]) : add_velocity_in_embedding(p, i, list->items[i]);
  return status;
}

static cb_status add_motion(cb_places *p, const cb_node *map) {
  if (map->kind == CB_NODE_MAP && cb_node_get(map, "velocities")) return add_velocities(p, map);
  if (map->kind == CB_NODE_MAP && cb_node_get(map, "killing")) return add_killing(p, map);
  return cb_node_fail(map, "motion: expected {killing: .., speed: ..} or {chart: .., velocities: [..]}");
}

static cb_status read_motion(cb_places *p, const cb_node *motion) {
  if (!motion || motion->kind == CB_NODE_NULL) return CB_OK;
  if (motion->kind == CB_NODE_SCALAR && !strcmp(motion->text, "none")) return CB_OK;
  if (motion->kind != CB_NODE_LIST) return add_motion(p, motion);
  cb_status status = CB_OK;
  for (size_t i = 0; i < motion->count && !status; i++) status = add_motion(p, motion->items[i]);
  return status;
}

static cb_status read_move(const cb_node *map, const cb_space *g, int *index, double *by) {
  static const char *const keys[] = {"killing", "by"};
  cb_status status = cb_node_check_keys(map, keys, 2);
  if (!status) status = read_killing(map, g, index);
  if (!status && !cb_node_get(map, "by"))
    status = cb_node_fail(map, "move: expected `by`, the distance or angle along the Killing field");
  return status ? status : read_number(map, "by", by);
}

/* Applies an isometry F that is not a left translation, in a space that is given only by a chart. With the present
 * origin L and the left translation L_a by a, the new origin is L' = L_(F(L 0)), or L if origins do not move; points
 * are mapped by L'^-1 F L. */
static cb_status flow_points(cb_places *p, int index, double by) {
  const cb_space *g = p->space;
  const int n = g->dim;
  cb_origin origin = p->origin[0], back;
  cb_status status = CB_OK;
  if (cb_origin_moves(g)) {
    double base[CB_Q_MAX];
    cb_space_base_point(g, base);
    cb_origin_world_point(g, p->origin, base, base);
    status = cb_killing_flow(g, index, by, base, base, NULL);
    if (status) return status;
    cb_origin_at(g, base, &origin);
  }
  cb_origin_inverse(g, &origin, &back);
  for (int i = 0; i < p->n + p->held && !status; i++) {
    double y[CB_Q_MAX], v[CB_Q_MAX], u[CB_Q_MAX] = {0}, jacobian[CB_DIM_MAX * CB_DIM_MAX];
    cb_origin_world_point(g, p->origin, p->q + i * n, y);
    cb_origin_world_vector(g, p->origin, p->u + i * n, v);
    status = cb_killing_flow(g, index, by, y, y, jacobian);
    if (status) return status;
    for (int a = 0; a < n; a++)
      for (int b = 0; b < n; b++) u[a] += jacobian[a * n + b] * v[b];
    cb_origin_world_point(g, &back, y, p->q + i * n);
    cb_origin_world_vector(g, &back, u, p->u + i * n);
    memcpy(p->x + i * n, p->q + i * n, (size_t)n * sizeof(double));
    memcpy(p->v + i * n, p->u + i * n, (size_t)n * sizeof(double));
    status = cb_space_check_point(g, p->q + i * n, 0);
  }
  p->origin[0] = origin;
  return status;
}

/* Applies one isometry of `move`, by composing it with the origins. If origins cannot move in this way, the isometry is
 * multiplied into a matrix, or applied to the points in a space that is given only by a chart. far: this isometry
 * belongs to the part of `move` that several bodies may have in common. */
static cb_status add_move(cb_places *p, const cb_node *map, bool far) {
  const cb_space *g = p->space;
  cb_origin step;
  cb_isometry flow, next;
  double by = 0;
  int index;
  cb_status status = read_move(map, g, &index, &by);
  if (status) return status;
  if (cb_origin_moves(g) && !cb_origin_flow(g, index, by, &step)) {
    for (int f = 0; f < p->n_origins; f++) {
      cb_origin_compose(g, &step, &p->origin[f], &p->origin[f]);
      if (!far && p->placed) p->placed[f] = p->origin[f];
    }
    if (far) cb_origin_compose(g, &step, &p->move, &p->move);
    return CB_OK;
  }
  if (g->intrinsic) {
    status = flow_points(p, index, by);
    return status ? cb_place_fail(map, status) : CB_OK;
  }
  cb_isometry_flow(g, index, by, &flow);
  cb_isometry_compose(g, &flow, &p->moved, &next);
  p->moved = next;
  return CB_OK;
}

/* Finds the first isometry of `move` that moves the base point at least half as far as the isometry that moves it
 * farthest. The isometries before it belong to the position of the body itself. Isometries that an origin cannot
 * represent do not count; *first is 0 if all are of this kind. */
static cb_status find_far(const cb_space *g, const cb_node *move, size_t *first) {
  double maximum = 0;
  *first = 0;
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < move->count; i++) {
      cb_origin step;
      double by;
      int index;
      const cb_status status = read_move(move->items[i], g, &index, &by);
      if (status) return status;
      if (cb_origin_flow(g, index, by, &step)) continue;
      if (pass && cb_origin_radii(g, &step) >= maximum / 2) {
        *first = i;
        return CB_OK;
      }
      maximum = fmax(maximum, cb_origin_radii(g, &step));
    }
  return CB_OK;
}

/* Does nothing unless coordinates grow with the distance (cb_origin_grows). Otherwise stores the origins in p->placed,
 * and sets *far to the first item of `move` that several bodies may have in common (find_far). */
static cb_status keep_apart(cb_places *p, const cb_node *move, size_t *far) {
  const size_t n = (size_t)p->n_origins;
  *far = 0;
  if (!cb_origin_grows(p->space)) return CB_OK;
  if (!(p->placed = malloc(n * sizeof *p->placed))) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu origins", n);
  memcpy(p->placed, p->origin, n * sizeof *p->placed);
  cb_origin_identity(p->space, &p->move);
  return move && move->kind == CB_NODE_LIST ? find_far(p->space, move, far) : CB_OK;
}

static cb_status apply_move(cb_places *p, const cb_node *move) {
  const cb_space *g = p->space;
  size_t far;
  cb_status found = keep_apart(p, move, &far);
  if (found) return found;
  if (!move || move->kind == CB_NODE_NULL) return CB_OK;
  if (move->kind != CB_NODE_LIST) return cb_node_fail(move, "move: expected a list of maps {killing: .., by: ..}");
  for (size_t i = 0; i < move->count; i++) {
    cb_status status = add_move(p, move->items[i], i >= far);
    if (status) return status;
  }
  if (!move->count || g->intrinsic) return CB_OK;
  for (int i = 0; i < p->n + p->held; i++) {
    double x[CB_COORD_MAX], v[CB_COORD_MAX], *x_i = p->x + i * g->embedding, *v_i = p->v + i * g->embedding;
    cb_isometry_point(g, &p->moved, x_i, x);
    cb_isometry_vector(g, &p->moved, v_i, v);
    memcpy(x_i, x, (size_t)g->embedding * sizeof *x);
    memcpy(v_i, v, (size_t)g->embedding * sizeof *v);
    if (!g->chart) continue;
    cb_status status = cb_chart_pull(g, g->chart, x, v, p->q + i * g->dim, p->u + i * g->dim);
    if (status) return cb_place_fail(move, status);
  }
  return CB_OK;
}

static cb_status set_moving(cb_places *p, const cb_node *body) {
  cb_status status = read_motion(p, cb_node_get(body, "motion"));
  return status ? status : apply_move(p, cb_node_get(cb_node_get(body, "place"), "move"));
}

/* --- masses and charges --- */

/* Sets value[n] to the numbers of a list. If list is NULL, sets all of them to `one`. */
static cb_status read_list(const cb_node *list, const char *name, const char *single, const cb_node *body, int n,
                           double one, double *value) {
  for (int i = 0; i < n; i++) value[i] = one;
  if (!list) return CB_OK;
  if (cb_node_get(body, single))
    return cb_node_fail(list, "%s: given next to `%s`, expected one of the two", name, single);
  if (list->kind != CB_NODE_LIST || list->count != (size_t)n)
    return cb_node_fail(list, "%s: expected a list of %d numbers, found %zu", name, n, list->count);
  return cb_node_reals(list, (size_t)n, value);
}

static cb_status add_particles(const cb_places *p, const cb_node *body, const cb_matter *matter, const double *mass,
                               const double *charge, cb_builder *b, int *first) {
  const cb_space *g = p->space;
  cb_status status = CB_OK;
  for (int i = 0; i < p->n && !status; i++) {
    const double *x = cb_places_at(p, i);
    const double *v = g->chart ? p->u + (size_t)i * (size_t)g->dim : p->v + (size_t)i * (size_t)g->embedding;
    int index;
    const bool right = mass[i] > 0 || (mass[i] == 0 && cb_builder_takes_tracers(b));
    if (!right || !isfinite(mass[i])) {
      const cb_node *given = matter->masses ? matter->masses->items[i] : cb_node_get(body, "mass");
      return cb_node_fail(given ? given : body, "mass of particle %d: expected a number > 0, found %g", i, mass[i]);
    }
    const int f = p->frame[i];
    if ((mass[i] == 0) != (mass[0] == 0))
      return cb_node_fail(
          matter->masses ? matter->masses : body,
          "masses: some are 0 and others are not: expected masses > 0, or only masses of 0 for tracers");
    status = p->placed ? cb_builder_moved_origin(b, &p->origin[f], &p->move, &p->placed[f])
                       : cb_builder_origin(b, &p->origin[f]);
    if (status) return status;
    status = cb_builder_particle(b, NULL, mass[i], charge[i], matter->radius, x, v, &index);
    if (status) return cb_place_fail(p->points ? p->points->items[i] : p->node, status);
    if (i == 0) *first = index;
  }
  return status;
}

cb_status cb_places_add(cb_places *p, const cb_node *body, const cb_matter *matter, const double *mass, cb_builder *b,
                        int *first) {
  cb_status status = set_moving(p, body);
  if (status) return status;
  double *value = malloc(2 * (size_t)p->n * sizeof *value);
  if (!value) return cb_fail(CB_ERROR_MEMORY, "no memory for %d masses", p->n);
  double *charge = value + p->n;
  if (mass)
    memcpy(value, mass, (size_t)p->n * sizeof *value);
  else
    status = read_list(matter->masses, "masses", "mass", body, p->n, matter->mass, value);
  if (!status) status = read_list(matter->charges, "charges", "charge", body, p->n, matter->charge, charge);
  if (!status) status = add_particles(p, body, matter, value, charge, b, first);
  free(value);
  return status;
}
