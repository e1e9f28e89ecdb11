/* The key `constraints:`.
 *
 *   - {rod: {between: [[a, 0], [b, 1]], length: "1 + .1*sin(t)"}} | {pin: {particle: [a, 0]}} | ...
 *
 * A particle is [name of its body, number in the body]. A target that is not given is the value at the start.
 */
#include "bodies/link.h"
#include "tree/scalar.h"
#include "scenario/private.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MAX_IN_VELOCITY = 4 };

typedef struct constraint_parameters {
  const cb_node *name, *between, *through, *particle, *particles, *body, *triangles, *at, *towards, *target, *chart,
      *value, *coefficients, *equals;
} constraint_parameters;

#define ROW(key, field, unit, doc) \
  { key, CB_PARAM_NODE, offsetof(constraint_parameters, field), "", unit, "", "", doc }
#define NEED(key, field, doc) \
  { key, CB_PARAM_NODE, offsetof(constraint_parameters, field), NULL, "", "", "", doc }
#define NAME ROW("name", name, "", "name of the constraint, for messages and /constraint_name")
#define END \
  { NULL, 0, 0, NULL, NULL, NULL, NULL, NULL }
#define TARGET(key, unit) ROW(key, target, unit, "a number or an expression of t; if absent, the value at the start")

static const cb_param rod_table[] = {NEED("between", between, "two particles, [[a, 0], [b, 1]]"),
                                     TARGET("length", "units of length"), NAME, END};
static const cb_param distance_to_point_table[] = {NEED("particle", particle, "[body, number]"),
                                                   NEED("at", at, "{chart: .., point: [..]}"),
                                                   TARGET("length", "units of length"), NAME, END};
static const cb_param path_length_table[] = {NEED("through", through, "particles in their order, [[a, 0], [a, 1], ..]"),
                                             TARGET("length", "units of length"), NAME, END};
static const cb_param angle_table[] = {NEED("at", at, "the particle at the vertex"),
                                       NEED("between", between, "the two particles at the ends of the angle"),
                                       TARGET("angle", ""), NAME, END};
static const cb_param area_table[] = {
    ROW("body", body, "", "a body with triangles: a mesh, a triangle"),
    ROW("triangles", triangles, "", "instead of body: [[[a, 0], [a, 1], [a, 2]], ..]"), TARGET("area", "units of area"),
    NAME, END};
static const cb_param volume_table[] = {
    ROW("body", body, "", "a body with a closed surface: a mesh"),
    ROW("triangles", triangles, "", "instead of body: [[[a, 0], [a, 1], [a, 2]], ..], seen from outside"),
    TARGET("volume", "units of volume"), NAME, END};
static const cb_param pin_table[] = {
    NEED("particle", particle, "[body, number]"),
    ROW("at", at, "", "{chart: .., point: [..]}; if absent, its position at the start"), NAME, END};
static const cb_param surface_table[] = {
    ROW("particle", particle, "", "[body, number]"),
    ROW("body", body, "", "instead of particle: all particles of a body"),
    ROW("chart", chart, "", "chart whose coordinates the expression uses; if absent, the embedding"),
    NEED("value", value, "expression of the coordinates and t; it is 0 on the surface"),
    NAME,
    END};
static const cb_param velocity_table[] = {
    NEED("particles", particles, "one to four particles, [[a, 0], ..]"),
    ROW("chart", chart, "", "chart of the coordinates; if absent, the embedding"),
    NEED("coefficients", coefficients,
         "one list per particle, with one expression per coordinate, of x0, y0, .., x1, .. and t"),
    ROW("equals", equals, "", "value of the sum of coefficients times velocities, an expression; if absent, 0"),
    NAME,
    END};
static const cb_param knife_edge_table[] = {NEED("particle", particle, "[body, number]: where the edge touches"),
                                            NEED("towards", towards, "the particle to which the edge points"), NAME,
                                            END};

const cb_constraint_doc cb_constraint_docs[] = {
    {"rod", "distance of two particles", rod_table},
    {"distance_to_point", "distance of a particle and a point of the space", distance_to_point_table},
    {"path_length", "sum of the distances of successive particles", path_length_table},
    {"angle", "angle between geodesics to two particles", angle_table},
    {"area", "area of geodesic triangles", area_table},
    {"volume", "volume inside a closed surface of geodesic triangles", volume_table},
    {"pin", "a particle stays at a point", pin_table},
    {"surface", "a particle stays on a surface", surface_table},
    {"velocity", "a linear equation of velocities", velocity_table},
    {"knife_edge", "a particle moves only along the geodesic to another one; in spaces of dimension 2",
     knife_edge_table},
    {NULL, NULL, NULL}};

/* An entry of the list, with its values. */
typedef struct entry {
  cb_scenario *s;
  const cb_node *map; /* the map of the constraint */
  constraint_parameters p;
  const char *name;
} entry;

static cb_status placed(const entry *e, cb_status status, const cb_node *node) {
  return cb_scenario_placed(e->s, status, node, false);
}

static cb_status missing(const entry *e, const char *key, const char *what) {
  return cb_node_fail(e->map, "missing key '%s': expected %s", key, what);
}

/* ---- particles ---- */

cb_status cb_scenario_read_particle(cb_scenario *s, const cb_node *node, int *index) {
  const cb_builder *b = s->builder;
  if (node->kind == CB_NODE_MAP) return cb_scenario_read_body_point(s, node, index);
  if (node->kind != CB_NODE_LIST || node->count != 2)
    return cb_node_fail(node, "expected a particle [body, number], found %s", cb_node_found(node).text);
  int body = -1, first = -1;
  long long number = -1;
  cb_status status = cb_scenario_find_body(s, node->items[0], &body);
  if (!status) status = cb_node_int(node->items[1], &number);
  if (status) return status;
  const int count = cb_builder_body_particles(b, body, &first);
  if (number < 0 || number >= count)
    return cb_node_fail(node->items[1], "body `%s`: expected a particle from 0 to %d, found %lld",
                        cb_builder_body_name(b, body), count - 1, number);
  *index = first + (int)number;
  return CB_OK;
}

/* Reads a list of `least` to `maximum` particles; `maximum` is the capacity of particle. */
static cb_status take_particles(const entry *e, const char *key, const cb_node *list, size_t least, size_t maximum,
                                int *particle) {
  char range[32] = "";
  if (least == maximum)
    snprintf(range, sizeof range, "%zu", least);
  else if (maximum <= MAX_IN_VELOCITY)
    snprintf(range, sizeof range, "%zu to %zu", least, maximum);
  else
    snprintf(range, sizeof range, "%zu or more", least);
  if (list->kind != CB_NODE_LIST || list->count < least || list->count > maximum)
    return cb_node_fail(list, "%s: expected %s particles, such as [[a, 0], [a, 1]]", key, range);
  cb_status status = CB_OK;
  for (size_t i = 0; i < list->count && !status; i++) {
    status = cb_scenario_read_particle(e->s, list->items[i], &particle[i]);
    for (size_t j = 0; j < i && !status && maximum <= MAX_IN_VELOCITY; j++)
      if (particle[j] == particle[i]) status = cb_node_fail(list->items[i], "%s: expected different particles", key);
  }
  return status;
}

static cb_status capacity(const entry *e, size_t count, int **particle) {
  *particle = cb_arena_alloc(e->s->arena, count, sizeof **particle);
  return *particle ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %zu particles", count);
}

/* ---- the classes of constraints ---- */

static cb_status read_rod(const entry *e) {
  int ends[2] = {-1, -1};
  cb_target length;
  cb_status status = take_particles(e, "between", e->p.between, 2, 2, ends);
  if (!status) status = cb_target_read(e->p.target, "length", "> 0", &length);
  return status ? status : placed(e, cb_builder_rod(e->s->builder, e->name, ends[0], ends[1], length), e->p.between);
}

/* Reads the point `at`, relative to the origin that the builder then has for it. */
static cb_status take_centre(const entry *e, double *x) {
  cb_origin origin;
  const cb_status status = cb_place_space_point(e->p.at, "at", e->s->space, &origin, x);
  return status ? status : placed(e, cb_builder_centre_origin(e->s->builder, &origin), e->p.at);
}

static cb_status read_distance_to_point(const entry *e) {
  int particle = -1;
  double centre[CB_Q_MAX];
  cb_target length;
  cb_status status = cb_scenario_read_particle(e->s, e->p.particle, &particle);
  if (!status) status = take_centre(e, centre);
  if (!status) status = cb_target_read(e->p.target, "length", "> 0", &length);
  return status ? status
                : placed(e, cb_builder_distance_to_point(e->s->builder, e->name, particle, centre, length), e->map);
}

static cb_status read_path_length(const entry *e) {
  const cb_node *list = e->p.through;
  const size_t count = list->kind == CB_NODE_LIST ? list->count : 0, maximum = count > 8 ? count : 8;
  int *particle;
  cb_target length;
  cb_status status = capacity(e, maximum, &particle);
  if (!status) status = take_particles(e, "through", list, 2, maximum, particle);
  if (!status) status = cb_target_read(e->p.target, "length", "> 0", &length);
  if (status) return status;
  return placed(e, cb_builder_path_length(e->s->builder, e->name, (int)count, particle, length), list);
}

static cb_status read_angle(const entry *e) {
  int vertex = -1, ends[2] = {-1, -1};
  cb_target angle;
  cb_status status = cb_scenario_read_particle(e->s, e->p.at, &vertex);
  if (!status) status = take_particles(e, "between", e->p.between, 2, 2, ends);
  if (!status) status = cb_target_read(e->p.target, "angle", "> 0", &angle);
  if (status) return status;
  return placed(e, cb_builder_angle(e->s->builder, e->name, ends[0], vertex, ends[1], angle), e->map);
}

/* The triangles of an area or a volume: listed triangles, or the triangles of a body. */
static cb_status take_triangles(const entry *e, const int (**triangle)[3], int *n) {
  const cb_node *list = e->p.triangles;
  if (!e->p.body == !list)
    return list ? cb_node_fail(list, "`triangles` next to `body`: expected only one of them")
                : missing(e, "body", "a body with triangles, or `triangles`");
  if (e->p.body) {
    int body = -1;
    cb_status status = cb_scenario_find_body(e->s, e->p.body, &body);
    if (status) return status;
    *triangle = cb_builder_triangles(e->s->builder, body, n);
    return *n ? CB_OK
              : cb_node_fail(e->p.body, "body `%s` has no triangles: expected a mesh with faces, or a triangle",
                             cb_builder_body_name(e->s->builder, body));
  }
  if (list->kind != CB_NODE_LIST || !list->count || list->count > INT32_MAX / 4)
    return cb_node_fail(list, "triangles: expected a list of triples of particles");
  int *particle;
  cb_status status = capacity(e, 3 * list->count, &particle);
  for (size_t t = 0; t < list->count && !status; t++)
    status = take_particles(e, "triangles", list->items[t], 3, 3, particle + 3 * t);
  *triangle = (const int(*)[3])particle;
  *n = (int)list->count;
  return status;
}

/* A function of the builder that adds a constraint: it keeps the area or the volume of triangles at a target. */
typedef cb_status measure(cb_builder *b, const char *name, int n, const int (*triangle)[3], cb_target target);

static cb_status read_measure(const entry *e, const char *what, const char *range, measure *add) {
  const int(*triangle)[3] = NULL;
  int n = 0;
  cb_target target;
  cb_status status = take_triangles(e, &triangle, &n);
  if (!status) status = cb_target_read(e->p.target, what, range, &target);
  return status ? status : placed(e, add(e->s->builder, e->name, n, triangle, target), e->map);
}

static cb_status read_area(const entry *e) { return read_measure(e, "area", "> 0", cb_builder_area); }
static cb_status read_volume(const entry *e) { return read_measure(e, "volume", "", cb_builder_volume); }

static cb_status read_pin(const entry *e) {
  int particle = -1;
  double x[CB_Q_MAX];
  cb_status status = cb_scenario_read_particle(e->s, e->p.particle, &particle);
  if (!status && e->p.at) status = take_centre(e, x);
  return status ? status : placed(e, cb_builder_pin(e->s->builder, e->name, particle, e->p.at ? x : NULL), e->map);
}

/* Finds the chart of an entry, and its name; if no chart is given, the name is NULL and the chart is the one in which
 * the space is used. */
static cb_status take_chart(const entry *e, const char **name, const cb_chart **chart) {
  const cb_space *g = e->s->space;
  *name = NULL;
  *chart = g->chart ? g->chart : cb_chart_find(g, "embedding");
  if (!e->p.chart) return CB_OK;
  cb_status status = cb_node_string(e->p.chart, name);
  if (status) return status;
  *chart = cb_chart_find(g, *name);
  return *chart ? CB_OK : cb_place_unknown_chart(e->p.chart, g, *name);
}

static cb_status read_surface(const entry *e) {
  const char *value, *chart, *name = e->name;
  const cb_chart *found;
  char numbered[256];
  int first = -1, count = 1, body = -1;
  if (!e->p.particle == !e->p.body)
    return e->p.body ? cb_node_fail(e->p.body, "`body` next to `particle`: expected only one of them")
                     : missing(e, "particle", "a particle [body, number], or `body`");
  cb_status status = take_chart(e, &chart, &found);
  if (!status) status = cb_node_string(e->p.value, &value);
  if (!status)
    status = e->p.body ? cb_scenario_find_body(e->s, e->p.body, &body)
                       : cb_scenario_read_particle(e->s, e->p.particle, &first);
  if (!status && e->p.body) count = cb_builder_body_particles(e->s->builder, body, &first);
  for (int i = 0; i < count && !status; i++) {
    if (e->name && e->p.body) {
      snprintf(numbered, sizeof numbered, "%s.%d", e->name, i);
      name = numbered;
    }
    status = cb_builder_surface(e->s->builder, name, first + i, chart, value);
    status = cb_scenario_placed(e->s, status, e->p.value, true);
  }
  return status;
}

/* Takes the text of node, which must be an expression of the variables names[count]. */
static cb_status take_expression(const cb_node *node, const char *const *names, size_t count, const char **text) {
  cb_expression *parsed;
  const cb_status status = cb_node_expression(node, &(cb_expression_scope){.names = names, .n = count}, &parsed);
  if (status) return status;
  cb_expression_free(parsed);
  return cb_node_string(node, text);
}

static cb_status read_coefficients(const entry *e, size_t n, const cb_chart *chart, const char **coefficient,
                                   const char **equals) {
  char text[MAX_IN_VELOCITY * CB_Q_MAX][32];
  const char *names[MAX_IN_VELOCITY * CB_Q_MAX + 1];
  const size_t size = (size_t)chart->size;
  const cb_node *list = e->p.coefficients;
  for (size_t p = 0; p < n; p++)
    for (size_t c = 0; c < size; c++) {
      snprintf(text[p * size + c], sizeof text[0], "%s%zu", chart->coordinates[c], p);
      names[p * size + c] = text[p * size + c];
    }
  names[n * size] = "t";
  if (list->kind != CB_NODE_LIST || list->count != n)
    return cb_node_fail(list, "coefficients: expected %zu lists, one per particle", n);
  cb_status status = CB_OK;
  for (size_t p = 0; p < n; p++) {
    const cb_node *row = list->items[p];
    if (row->kind != CB_NODE_LIST || row->count != size)
      return cb_node_fail(row, "coefficients: expected %zu expressions, one per coordinate of the chart", size);
    for (size_t c = 0; c < size && !status; c++)
      status = take_expression(row->items[c], names, n * size + 1, &coefficient[p * size + c]);
  }
  if (!status && e->p.equals) status = take_expression(e->p.equals, names, n * size + 1, equals);
  return status;
}

static cb_status read_velocity(const entry *e) {
  const char *coefficient[MAX_IN_VELOCITY * CB_Q_MAX], *equals = NULL, *chart;
  const cb_chart *found;
  int particle[MAX_IN_VELOCITY];
  cb_status status = take_particles(e, "particles", e->p.particles, 1, MAX_IN_VELOCITY, particle);
  if (!status) status = take_chart(e, &chart, &found);
  if (status) return status;
  const size_t n = e->p.particles->count;
  status = read_coefficients(e, n, found, coefficient, &equals);
  if (status) return status;
  return placed(e, cb_builder_velocity(e->s->builder, e->name, (int)n, particle, chart, coefficient, equals), e->map);
}

static cb_status read_knife_edge(const entry *e) {
  int i = -1, j = -1;
  cb_status status = cb_scenario_read_particle(e->s, e->p.particle, &i);
  if (!status) status = cb_scenario_read_particle(e->s, e->p.towards, &j);
  return status ? status : placed(e, cb_builder_knife_edge(e->s->builder, e->name, i, j), e->map);
}

/* The functions that read the classes of constraints, in the order of cb_constraint_docs. */
static cb_status (*const readers[])(const entry *e) = {
    read_rod, read_distance_to_point, read_path_length, read_angle,     read_area, read_volume,
    read_pin, read_surface,           read_velocity,    read_knife_edge};
enum { KINDS = sizeof readers / sizeof *readers };

static cb_status find_kind(const cb_node *node, size_t *kind) {
  const char *names[KINDS];
  for (size_t k = 0; k < KINDS; k++) names[k] = cb_constraint_docs[k].name;
  if (node->kind != CB_NODE_MAP || node->count != 1)
    return cb_node_fail(node, "expected a constraint: a map with one key, such as {rod: {between: [[a, 0], [a, 1]]}}");
  const cb_node *key = node->keys[0];
  for (*kind = 0; *kind < KINDS; (*kind)++)
    if (!strcmp(names[*kind], key->text)) return CB_OK;
  return cb_fail_unknown(key, "constraint", key->text, names, KINDS);
}

static cb_status read_constraint(cb_scenario *s, const cb_node *node) {
  entry e = {.s = s};
  size_t kind = 0;
  cb_status status = find_kind(node, &kind);
  if (status) return status;
  e.map = node->items[0];
  status = cb_params_bind(cb_constraint_docs[kind].params, e.map, node, NULL, 0, &e.p);
  if (!status && e.p.name) status = cb_node_string(e.p.name, &e.name);
  return status || !s->builder ? status : readers[kind](&e);
}

cb_status cb_scenario_read_constraints(cb_scenario *s, const cb_node *list) {
  return cb_scenario_for_items(s, list, "constraints", read_constraint);
}
