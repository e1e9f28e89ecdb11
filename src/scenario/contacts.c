/* The keys `contacts:`, `walls:` and `events:`.
 *
 *   contacts: {restitution: 1, rule: sequential, accumulation: stop, between: [[a, b]], within: [a], except: [[a, c]]}
 *   walls:
 *     - {ball: {at: {chart: polar, point: [0, 0, 0]}, radius: 2, side: inside, restitution: 0.9, name: room}}
 *     - {plane: {at: .., normal: [1, 0, 0]}}
 *     - {expression: {chart: cartesian, value: "z - r"}}
 *   events:
 *     - {distance: {between: [[a, 0], [b, 0]], equals: 1, action: mark, direction: falling, name: near}}
 *     - {expression: {particle: [a, 0], value: "x - 1", action: stop}}
 */
#include "bodies/place.h"
#include "scenario/private.h"

#include <curvebody/contact.h>
#include <stddef.h>
#include <string.h>

typedef struct contact_parameters {
  double restitution;
  int rule, accumulation, broad_phase;
  const cb_node *between, *within, *except;
} contact_parameters;

#define NODE(type, field, need, doc) \
  { #field, CB_PARAM_NODE, offsetof(type, field), need, "", "", NULL, doc }
#define END \
  { NULL, 0, 0, NULL, NULL, NULL, NULL, NULL }

const cb_param cb_scenario_contacts_table[] = {
    {"restitution", CB_PARAM_REAL, offsetof(contact_parameters, restitution), "1", "", "[0, 1]", NULL,
     "speed after a contact of two bodies, divided by the speed before"},
    {"rule", CB_PARAM_CHOICE, offsetof(contact_parameters, rule), "sequential", "", "", "sequential|simultaneous",
     "rule that resolves several simultaneous contacts"},
    {"accumulation", CB_PARAM_CHOICE, offsetof(contact_parameters, accumulation), "stop", "", "", "stop|rest",
     "infinitely many contacts in a finite time: the run stops, or bodies come to rest"},
    {"broad_phase", CB_PARAM_CHOICE, offsetof(contact_parameters, broad_phase), "cells", "", "", "cells|all_pairs",
     "pairs that are examined; the contacts are the same"},
    NODE(contact_parameters, between, "", "pairs of bodies that can collide, [[a, b], ..] (default: all)"),
    NODE(contact_parameters, within, "", "bodies whose own particles can collide with each other"),
    NODE(contact_parameters, except, "", "pairs of bodies that cannot collide"),
    END};

static cb_status read_pair(cb_scenario *s, const cb_node *pair, const char *key, bool on) {
  int a = -1, b = -1;
  if (pair->kind != CB_NODE_LIST || pair->count != 2)
    return cb_node_fail(pair, "%s: expected two bodies, such as [a, b]", key);
  cb_status status = cb_scenario_find_body(s, pair->items[0], &a);
  if (!status) status = cb_scenario_find_body(s, pair->items[1], &b);
  return status ? status : cb_scenario_placed(s, cb_builder_contact_bodies(s->builder, a, b, on), pair, false);
}

static cb_status for_pairs(cb_scenario *s, const cb_node *list, const char *key, bool on) {
  if (list && list->kind != CB_NODE_LIST) return cb_node_fail(list, "%s: expected a list of pairs of bodies", key);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; list && i < list->count; i++)
    cb_errors_add(&errors, list->items[i], read_pair(s, list->items[i], key, on));
  return cb_errors_end(&errors);
}

static cb_status for_within(cb_scenario *s, const cb_node *list) {
  if (list && list->kind != CB_NODE_LIST) return cb_node_fail(list, "within: expected a list of bodies");
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; list && i < list->count; i++) {
    int body = -1;
    cb_status status = cb_scenario_find_body(s, list->items[i], &body);
    if (!status)
      status = cb_scenario_placed(s, cb_builder_contact_bodies(s->builder, body, body, true), list->items[i], false);
    cb_errors_add(&errors, list->items[i], status);
  }
  return cb_errors_end(&errors);
}

static cb_status read_contacts(cb_scenario *s, const cb_node *node) {
  contact_parameters p;
  cb_status status = cb_params_bind(cb_scenario_contacts_table, node, node, NULL, 0, &p);
  if (!s->builder || (status && node->kind != CB_NODE_MAP)) return status;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, status);
  if (status) cb_params_bind_right(cb_scenario_contacts_table, node, &p);
  const cb_contact_options options = {
      .restitution = p.restitution, .rule = p.rule, .accumulation = p.accumulation, .all_pairs = p.broad_phase == 1};
  cb_errors_add(&errors, node, cb_scenario_placed(s, cb_builder_contacts(s->builder, &options), node, false));
  if (p.between) cb_errors_add(&errors, node, cb_builder_contact_bodies(s->builder, -1, -1, false));
  cb_errors_add(&errors, p.between, for_pairs(s, p.between, "between", true));
  cb_errors_add(&errors, p.within, for_within(s, p.within));
  cb_errors_add(&errors, p.except, for_pairs(s, p.except, "except", false));
  return cb_errors_end(&errors);
}

/* --- walls --- */

typedef struct wall_parameters {
  const char *name;
  double radius, restitution;
  int side;
  const cb_node *at, *normal, *chart, *value, *body;
} wall_parameters;

#define WALL_ROWS                                                                                                 \
  {"name", CB_PARAM_STRING, offsetof(wall_parameters, name), "", "", "", NULL, "name of the wall, for messages"}, \
      {"restitution",                                                                                             \
       CB_PARAM_REAL,                                                                                             \
       offsetof(wall_parameters, restitution),                                                                    \
       "1",                                                                                                       \
       "",                                                                                                        \
       "[0, 1]",                                                                                                  \
       NULL,                                                                                                      \
       "speed after the contact, divided by the speed before"},                                                   \
      NODE(wall_parameters, body, "", "body or list of bodies that the wall reflects; if absent, all")

static const cb_param ball_table[] = {NODE(wall_parameters, at, NULL, "the centre, {chart: .., point: [..]}"),
                                      {"radius", CB_PARAM_REAL, offsetof(wall_parameters, radius), NULL,
                                       "units of length", "> 0", NULL, "radius of the ball"},
                                      {"side", CB_PARAM_CHOICE, offsetof(wall_parameters, side), "outside", "", "",
                                       "outside|inside", "the side on which the bodies are"},
                                      WALL_ROWS,
                                      END};
static const cb_param plane_table[] = {
    NODE(wall_parameters, at, NULL, "a point of the plane, {chart: .., point: [..]}"),
    NODE(wall_parameters, normal, NULL,
         "a vector at that point, towards the side of the bodies, in the same coordinates"),
    WALL_ROWS, END};
static const cb_param wall_expression_table[] = {
    NODE(wall_parameters, chart, "", "chart of the coordinates; if absent, the embedding, or the space's own chart"),
    NODE(wall_parameters, value, NULL,
         "the gap, an expression of coordinates, t and the radius r that is > 0 where bodies are"),
    WALL_ROWS, END};

const cb_constraint_doc cb_wall_docs[] = {
    {"ball", "bodies stay outside of a geodesic ball, or inside", ball_table},
    {"plane", "bodies stay on one side of a totally geodesic plane", plane_table},
    {"expression", "bodies stay where an expression is positive", wall_expression_table},
    {NULL, NULL, NULL}};

/* Reads a tangent vector at the point `at`, {chart, point}: its components are given in that chart; the result is in
 * the coordinates in which the space is used. */
static cb_status read_normal(const cb_scenario *s, const cb_node *at, const cb_node *node, const double *x,
                             double *normal) {
  const cb_space *g = s->space;
  const cb_chart *chart;
  double u[CB_COORD_MAX], q[CB_COORD_MAX], point[CB_COORD_MAX], v[CB_COORD_MAX];
  cb_status status = cb_place_chart(at, g, &chart);
  if (status) return status;
  status = cb_node_reals(node, (size_t)(chart ? g->dim : g->embedding), u);
  if (status) return status;
  if (chart == g->chart) {
    memcpy(normal, u, (size_t)g->k * sizeof *u);
    if (!g->chart) cb_space_project_tangent(g, x, normal);
    return CB_OK;
  }
  /* the charts differ: convert by the coordinates of the embedding */
  if (g->chart)
    status = g->chart->to_point(g, x, point, NULL);
  else
    memcpy(point, x, sizeof point);
  if (!status && chart) status = chart->from_point(g, point, q);
  if (!status && chart) status = cb_chart_push(g, chart, q, u, point, v);
  if (!chart) memcpy(v, u, sizeof v);
  if (!status && g->chart) status = cb_chart_pull(g, g->chart, point, v, q, normal);
  if (!status && !g->chart) memcpy(normal, v, (size_t)g->k * sizeof *v);
  return status ? cb_place_fail(node, status) : CB_OK;
}

typedef struct wall {
  int kind; /* index of its row of cb_wall_docs */
  wall_parameters p;
  const char *chart, *value;
  double x[CB_COORD_MAX], normal[CB_COORD_MAX];
} wall;

static cb_status add_wall(cb_builder *b, int body, const void *what) {
  const wall *w = what;
  const char *name = *w->p.name ? w->p.name : NULL;
  switch (w->kind) {
    case 0: return cb_builder_wall_ball(b, name, body, w->x, w->p.radius, w->p.side == 1, w->p.restitution);
    case 1: return cb_builder_wall_plane(b, name, body, w->x, w->normal, w->p.restitution);
    default: return cb_builder_wall_expression(b, name, body, w->chart, w->value, w->p.restitution);
  }
}

/* Finds the single key of an entry in the rows of docs, and its map. */
static cb_status entry_of(const cb_node *node, const cb_constraint_doc *docs, const char *example, int *kind,
                          const cb_node **map) {
  const char *names[8];
  size_t n = 0;
  for (; docs[n].name; n++) names[n] = docs[n].name;
  if (node->kind != CB_NODE_MAP || node->count != 1)
    return cb_node_fail(node, "expected a map with one key: %s", example);
  const cb_status status = cb_node_check_keys(node, names, n);
  if (status) return status;
  for (size_t i = 0; i < n; i++)
    if (!strcmp(node->keys[0]->text, names[i])) *kind = (int)i;
  *map = node->items[0];
  return CB_OK;
}

static cb_status read_wall(cb_scenario *s, const cb_node *node) {
  wall w = {0};
  const wall_parameters *p = &w.p;
  const cb_node *map = NULL;
  cb_status status = entry_of(node, cb_wall_docs, "ball, plane or expression", &w.kind, &map);
  if (!status) status = cb_params_bind(cb_wall_docs[w.kind].params, map, node, NULL, 0, &w.p);
  if (status || !s->builder) return status;
  const bool expression = w.kind == 2;
  if (!expression) status = cb_place_space_point(p->at, "at", s->space, NULL, w.x);
  if (!status && w.kind == 1) status = read_normal(s, p->at, p->normal, w.x, w.normal);
  if (!status && expression) status = cb_node_string(p->value, &w.value);
  if (!status && expression && p->chart) status = cb_node_string(p->chart, &w.chart);
  return status ? status : cb_scenario_for_bodies(s, p->body, expression ? p->value : map, expression, add_wall, &w);
}

/* --- events --- */

typedef struct event_parameters {
  const char *name;
  double equals;
  int action, direction;
  const cb_node *between, *particle, *chart, *value;
} event_parameters;

#define EVENT_ROWS                                                                                                 \
  {"action",                                                                                                       \
   CB_PARAM_CHOICE,                                                                                                \
   offsetof(event_parameters, action),                                                                             \
   "mark",                                                                                                         \
   "",                                                                                                             \
   "",                                                                                                             \
   "stop|mark",                                                                                                    \
   "stop: the run ends; mark: only a row of /event is written"},                                                   \
      {"direction", CB_PARAM_CHOICE,       offsetof(event_parameters, direction), "both", "",                      \
       "",          "both|falling|rising", "direction of the zeros that count"},                                   \
  {                                                                                                                \
    "name", CB_PARAM_STRING, offsetof(event_parameters, name), "", "", "", NULL, "name of the event, for messages" \
  }

static const cb_param distance_table[] = {NODE(event_parameters, between, NULL, "two particles, [[a, 0], [b, 0]]"),
                                          {"equals", CB_PARAM_REAL, offsetof(event_parameters, equals), NULL,
                                           "units of length", "> 0", NULL, "the distance at which the event happens"},
                                          EVENT_ROWS,
                                          END};
static const cb_param event_expression_table[] = {
    NODE(event_parameters, particle, "", "[body, number] (default: the first)"),
    NODE(event_parameters, chart, "", "chart of the coordinates; if absent, the embedding, or the space's own chart"),
    NODE(event_parameters, value, NULL, "expression of the coordinates and t; the event happens at its zeros"),
    EVENT_ROWS, END};

const cb_constraint_doc cb_event_docs[] = {
    {"distance", "the distance of two particles reaches a value", distance_table},
    {"expression", "an expression of a particle's coordinates vanishes", event_expression_table},
    {NULL, NULL, NULL}};

static cb_status read_event(cb_scenario *s, const cb_node *node) {
  static const cb_event_action actions[] = {CB_EVENT_STOP, CB_EVENT_MARK};
  static const cb_event_direction directions[] = {CB_EVENT_BOTH, CB_EVENT_FALLING, CB_EVENT_RISING};
  event_parameters p;
  const cb_node *map = NULL;
  int kind = 0, i = 0, j = 0;
  cb_status status = entry_of(node, cb_event_docs, "distance or expression", &kind, &map);
  if (!status) status = cb_params_bind(cb_event_docs[kind].params, map, node, NULL, 0, &p);
  if (status || !s->builder) return status;
  const char *name = *p.name ? p.name : NULL, *value = NULL, *chart = NULL;
  if (kind == 0) {
    if (p.between->kind != CB_NODE_LIST || p.between->count != 2)
      return cb_node_fail(p.between, "between: expected two particles, such as [[a, 0], [b, 0]]");
    status = cb_scenario_read_particle(s, p.between->items[0], &i);
    if (!status) status = cb_scenario_read_particle(s, p.between->items[1], &j);
    if (!status)
      status = cb_builder_event_distance(s->builder, name, i, j, p.equals, actions[p.action], directions[p.direction]);
    return cb_scenario_placed(s, status, map, false);
  }
  if (p.particle) status = cb_scenario_read_particle(s, p.particle, &i);
  if (!status) status = cb_node_string(p.value, &value);
  if (!status && p.chart) status = cb_node_string(p.chart, &chart);
  if (!status)
    status = cb_builder_event_expression(s->builder, name, i, chart, value, actions[p.action], directions[p.direction]);
  return cb_scenario_placed(s, status, p.value, true);
}

cb_status cb_scenario_read_contacts(cb_scenario *s, const cb_node *contacts, const cb_node *walls,
                                    const cb_node *events) {
  cb_errors errors = cb_errors_begin();
  if (contacts) cb_errors_add(&errors, contacts, read_contacts(s, contacts));
  cb_errors_add(&errors, walls, cb_scenario_for_items(s, walls, "walls", read_wall));
  cb_errors_add(&errors, events, cb_scenario_for_items(s, events, "events", read_event));
  return cb_errors_end(&errors);
}
