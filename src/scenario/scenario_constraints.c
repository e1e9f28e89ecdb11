/* The keys `constraints:`, `contacts:`, `walls:` and `events:`.
 *
 *   constraints:
 *   - {rod: {between: [[a, 0], [b, 1]], length: "1 + .1*sin(t)"}} | {pin: {particle: [a, 0]}} | ...
 *
 * The key of an item names its class (src/dynamics/constraints/), which reads the map. A particle is [name of its body,
 * number in the body]. If the target of a constraint is not given, it is the value that the constraint has at the
 * start. This file has the functions with which classes read their keys.
 *
 * Contacts, walls and events:
 *
 *   contacts: {restitution: 1, rule: sequential, accumulation: stop, between: [[a, b]], within: [a], except: [[a, c]],
 *              shapes: true}                            next to `fluid`
 *   walls:
 *     - {ball: {at: {chart: polar, point: [0, 0, 0]}, radius: 2, side: inside, restitution: 0.9, name: room}}
 *     - {plane: {at: .., normal: [1, 0, 0]}}
 *     - {expression: {chart: cartesian, value: "z - r"}}
 *   events:
 *     - {distance: {between: [[a, 0], [b, 0]], equals: 1, action: mark, direction: falling, name: near}}
 *     - {expression: {particle: [a, 0], value: "x - 1", action: stop}}
 */
#include "scenario/fluid.h"

#include "bodies/place.h"
#include "core/registry.h"
#include "core/failure.h"
#include "dynamics/builder_private.h"
#include "dynamics/constraint_private.h"
#include "scenario/private.h"
#include "tree/scalar.h"
#include <curvebody/contact.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- particles ---- */

/* Reads a particle, given as [body, number], or a point of a rigid body. Unlike cb_scenario_read_moved_particle, it
 * accepts tracers. */
static cb_status read_particle(cb_scenario *s, const cb_node *node, int *index) {
  const cb_builder *b = s->builder;
  if (node->kind == CB_NODE_MAP) return cb_scenario_read_body_point(s, node, index);
  if (node->kind != CB_NODE_LIST || node->count != 2)
    return cb_node_fail(node, "expected a particle [body, number]%s, found %s",
                        s->class->body ? " or a point {body: .., at: [x, y, z]}" : "", cb_node_found(node).text);
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

cb_status cb_scenario_read_moved_particle(cb_scenario *s, const cb_node *node, int *index) {
  int body;
  const cb_status status = read_particle(s, node, index);
  if (status || node->kind == CB_NODE_MAP) return status;
  return cb_scenario_find_moved_body(s, node->items[0], &body);
}

cb_status cb_constraint_read_particle(const cb_constraint_entry *e, const cb_node *node, int *particle) {
  return cb_scenario_read_moved_particle(e->scenario, node, particle);
}

cb_status cb_constraint_read_particles(const cb_constraint_entry *e, const char *key, const cb_node *list, size_t least,
                                       size_t maximum, int *particle) {
  char range[32] = "";
  if (least == maximum)
    snprintf(range, sizeof range, "%zu", least);
  else if (maximum <= CB_ELEMENT_PARTICLES)
    snprintf(range, sizeof range, "%zu to %zu", least, maximum);
  else
    snprintf(range, sizeof range, "%zu or more", least);
  if (list->kind != CB_NODE_LIST || list->count < least || list->count > maximum)
    return cb_node_fail(list, "%s: expected %s particles, such as [[a, 0], [a, 1]]", key, range);
  cb_status status = CB_OK;
  for (size_t i = 0; i < list->count && !status; i++) {
    status = cb_scenario_read_moved_particle(e->scenario, list->items[i], &particle[i]);
    for (size_t j = 0; j < i && !status && maximum <= CB_ELEMENT_PARTICLES; j++)
      if (particle[j] == particle[i]) status = cb_node_fail(list->items[i], "%s: expected different particles", key);
  }
  return status;
}

cb_status cb_constraint_reserve(const cb_constraint_entry *e, size_t count, int **particle) {
  *particle = cb_arena_alloc(e->scenario->arena, count, sizeof **particle);
  return *particle ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %zu particles", count);
}

/* ---- other values ---- */

cb_status cb_constraint_placed(const cb_constraint_entry *e, cb_status status, const cb_node *node) {
  return cb_scenario_placed(e->scenario, status, node, false);
}

cb_status cb_constraint_placed_in(const cb_constraint_entry *e, cb_status status, const cb_node *node) {
  return cb_scenario_placed(e->scenario, status, node, true);
}

cb_status cb_constraint_read_body(const cb_constraint_entry *e, const cb_node *node, int *body) {
  return cb_scenario_find_moved_body(e->scenario, node, body);
}

cb_status cb_constraint_read_point(const cb_constraint_entry *e, const cb_node *node, double *x) {
  cb_origin origin;
  const cb_status status = cb_place_space_point(node, "at", e->space, &origin, x);
  return status ? status : cb_constraint_placed(e, cb_builder_centre_origin(e->builder, &origin), node);
}

cb_status cb_constraint_read_chart(const cb_constraint_entry *e, const cb_node *node, const char **name,
                                   const cb_chart **chart) {
  const cb_space *g = e->space;
  *name = NULL;
  *chart = g->chart ? g->chart : cb_chart_find(g, "embedding");
  if (!node) return CB_OK;
  cb_status status = cb_node_string(node, name);
  if (status) return status;
  *chart = cb_chart_find(g, *name);
  return *chart ? CB_OK : cb_place_unknown_chart(node, g, *name);
}

cb_status cb_constraint_read_expression(const cb_node *node, const char *const *names, size_t count,
                                        const char **text) {
  cb_expression *parsed;
  const cb_status status = cb_node_expression(node, &(cb_expression_scope){.names = names, .n = count}, &parsed);
  if (status) return status;
  cb_expression_free(parsed);
  return cb_node_string(node, text);
}

/* Finds the triangles of a constraint of an area or a volume: the listed triangles, or the triangles of a body. */
static cb_status take_triangles(const cb_constraint_entry *e, const cb_node *of, const cb_node *list,
                                const int (**triangle)[3], int *n) {
  if (!of == !list)
    return list ? cb_node_fail(list, "`triangles` next to `body`: expected only one of them")
                : cb_node_fail(e->map, "missing key 'body': expected a body with triangles, or `triangles`");
  if (of) {
    int body = -1;
    cb_status status = cb_constraint_read_body(e, of, &body);
    if (status) return status;
    *triangle = cb_builder_triangles(e->builder, body, n);
    return *n ? CB_OK
              : cb_node_fail(of, "body `%s` has no triangles: expected a mesh with faces, or a triangle",
                             cb_builder_body_name(e->builder, body));
  }
  if (list->kind != CB_NODE_LIST || !list->count || list->count > INT32_MAX / 4)
    return cb_node_fail(list, "triangles: expected a list of triples of particles");
  int *particle;
  cb_status status = cb_constraint_reserve(e, 3 * list->count, &particle);
  for (size_t t = 0; t < list->count && !status; t++)
    status = cb_constraint_read_particles(e, "triangles", list->items[t], 3, 3, particle + 3 * t);
  *triangle = (const int(*)[3])particle;
  *n = (int)list->count;
  return status;
}

cb_status cb_constraint_read_triangles(const cb_constraint_entry *e, const cb_node *body, const cb_node *list,
                                       const cb_node *target, const char *what, const char *range,
                                       cb_triangle_measure *add) {
  const int(*triangle)[3] = NULL;
  int n = 0;
  cb_target value;
  cb_status status = take_triangles(e, body, list, &triangle, &n);
  if (!status) status = cb_target_read(target, what, range, &value);
  return status ? status : cb_constraint_placed(e, add(e->builder, e->name, n, triangle, value), e->map);
}

/* ---- the items ---- */

cb_status cb_scenario_read_entry(cb_scenario *s, const cb_constraint_class *class, const cb_node *map,
                                 const cb_node *item) {
  static const char *const extra[] = {"name"};
  cb_constraint_entry e = {.scenario = s, .builder = s->builder, .space = s->space, .map = map};
  void *params = cb_arena_alloc(s->arena, class->params_size + 1, 1);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for a constraint");
  cb_status status = cb_params_bind(class->params, map, item, extra, 1, params);
  const cb_node *name = status ? NULL : cb_node_get(map, "name");
  if (name) status = cb_node_string(name, &e.name);
  return status || !s->builder ? status : class->read(&e, params);
}

static cb_status read_constraint(cb_scenario *s, const cb_node *node) {
  if (node->kind != CB_NODE_MAP || node->count != 1)
    return cb_node_fail(node, "expected a constraint: a map with one key, such as {rod: {between: [[a, 0], [a, 1]]}}");
  const cb_node *key = node->keys[0];
  const char *names[CB_REGISTRY_MAX];
  const size_t count = cb_registry_names(&cb_constraint_registry, names);
  const size_t found = cb_registry_find(&cb_constraint_registry, key->text, strlen(key->text));
  if (found == count) return cb_fail_unknown(key, "constraint", key->text, names, count);
  return cb_scenario_read_entry(s, cb_constraint_classes[found], node->items[0], node);
}

cb_status cb_scenario_read_constraints(cb_scenario *s, const cb_node *list) {
  return cb_scenario_for_items(s, list, "constraints", read_constraint);
}

/* --- contacts, walls and events --- */

typedef struct contact_parameters {
  double restitution;
  int rule, accumulation, broad_phase;
  bool shapes;
  const cb_node *between, *within, *except;
} contact_parameters;

#define NODE(type, field, need, doc) \
  { #field, CB_PARAM_NODE, offsetof(type, field), need, "", "", NULL, doc }
#define END \
  { NULL, 0, 0, NULL, NULL, NULL, NULL, NULL }

/* clang-format off */
#define RULE_ROWS                                                                                                     \
  {"rule", CB_PARAM_CHOICE, offsetof(contact_parameters, rule), "sequential", "", "", "sequential|simultaneous",      \
   "rule that resolves several simultaneous contacts"},                                                               \
  {"accumulation", CB_PARAM_CHOICE, offsetof(contact_parameters, accumulation), "stop", "", "", "stop|rest",          \
   "infinitely many contacts in a finite time: the run stops, or bodies come to rest"}
#define CONTACT_ROWS                                                                                                  \
  {"restitution", CB_PARAM_REAL, offsetof(contact_parameters, restitution), "1", "", "[0, 1]", NULL,                  \
   "speed after a contact of two bodies, divided by the speed before"},                                               \
  RULE_ROWS,                                                                                                          \
  {"broad_phase", CB_PARAM_CHOICE, offsetof(contact_parameters, broad_phase), "cells", "", "", "cells|all_pairs",     \
   "how pairs that may collide are found; it does not change the contacts"},                                                             \
  NODE(contact_parameters, between, "", "pairs of bodies that can collide, [[a, b], ..] (default: all)"),             \
  NODE(contact_parameters, within, "", "bodies whose own particles can collide with each other"),                     \
  NODE(contact_parameters, except, "", "pairs of bodies that cannot collide")
/* clang-format on */

const cb_param cb_scenario_wall_contacts_table[] = {RULE_ROWS, END};
const cb_param cb_scenario_contacts_table[] = {CONTACT_ROWS, END};
const cb_param cb_scenario_body_contacts_table[] = {
    CONTACT_ROWS,
    {"shapes", CB_PARAM_BOOL, offsetof(contact_parameters, shapes), "false", "", "", NULL,
     "rigid bodies without `spheres` touch each other and particles by their shapes"},
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
  const cb_param *table = s->class->body ? cb_scenario_body_contacts_table : cb_scenario_contacts_table;
  cb_status status = cb_params_bind(table, node, node, NULL, 0, &p);
  if (!s->builder || (status && node->kind != CB_NODE_MAP)) return status;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, status);
  if (status) cb_params_bind_right(table, node, &p);
  if (s->class->body) cb_fluid_scenario_of(s)->shapes = p.shapes;
  const cb_contact_options options = {
      .restitution = p.restitution, .rule = p.rule, .accumulation = p.accumulation, .all_pairs = p.broad_phase == 1};
  cb_errors_add(&errors, node, cb_scenario_placed(s, cb_builder_contacts(s->builder, &options), node, false));
  if (p.between) cb_errors_add(&errors, node, cb_builder_contact_bodies(s->builder, -1, -1, false));
  cb_errors_add(&errors, p.between, for_pairs(s, p.between, "between", true));
  cb_errors_add(&errors, p.within, for_within(s, p.within));
  cb_errors_add(&errors, p.except, for_pairs(s, p.except, "except", false));
  return cb_errors_end(&errors);
}

/* --- walls and events: maps with one key, the name of a class --- */

/* The values of the keys that all classes of walls, or all classes of events, have. */
typedef struct shared {
  const char *name;
  double restitution;
  int action, direction;
  const cb_node *body, *particle, *between;
} shared;

static const cb_param one_particle = NODE(shared, particle, "", "[body, number] (default: the first)"),
                      two_particles = NODE(shared, between, NULL, "two particles, [[a, 0], [b, 0]]"),
                      of_walls[] = {{"name", CB_PARAM_STRING, offsetof(shared, name), "", "", "", NULL,
                                     "name of the wall, for messages"},
                                    {"restitution", CB_PARAM_REAL, offsetof(shared, restitution), "1", "", "[0, 1]",
                                     NULL, "speed after the contact, divided by the speed before"},
                                    NODE(shared, body, "",
                                         "body or list of bodies that the wall reflects; if absent, all"),
                                    END},
                      of_events[] = {{"action", CB_PARAM_CHOICE, offsetof(shared, action), "mark", "", "", "stop|mark",
                                      "stop: the run ends; mark: only a row of /event is written"},
                                     {"direction", CB_PARAM_CHOICE, offsetof(shared, direction), "both", "", "",
                                      "both|falling|rising", "direction of the zeros that count"},
                                     {"name", CB_PARAM_STRING, offsetof(shared, name), "", "", "", NULL,
                                      "name of the event, for messages"},
                                     END};

/* The offset of the parameters of the class in the struct that the rows fill; the struct begins with `shared`. */
enum { OWN = (sizeof(shared) + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t) };

void cb_scenario_gap_rows(const cb_gap_class *class, bool event, cb_param rows[CB_GAP_ROWS]) {
  size_t n = 0;
  if (event) rows[n++] = class->particles == 2 ? two_particles : one_particle;
  for (const cb_param *row = class->params; row && row->name && n < CB_GAP_ROWS - 4; row++) {
    rows[n] = *row;
    rows[n++].offset += OWN;
  }
  for (const cb_param *row = event ? of_events : of_walls; row->name; row++) rows[n++] = *row;
  rows[n] = (cb_param)END;
}

/* Finds the class that the single key of an entry names, and reads the map of this key into a new struct *out: `shared`
 * and, at the offset OWN, the parameters of the class. The caller frees *out with free(). *out stays unchanged on
 * failure, and if there is no builder. */
static cb_status read_entry(cb_scenario *s, const cb_node *node, const cb_registry *registry,
                            const cb_gap_class *const *classes, const cb_gap_class **class, char **out) {
  const char *names[CB_REGISTRY_MAX];
  const size_t n = cb_registry_names(registry, names);
  cb_param rows[CB_GAP_ROWS];
  if (node->kind != CB_NODE_MAP || node->count != 1) {
    char list[512] = "";
    for (size_t i = 0, at = 0; i < n && at < sizeof list; i++)
      at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", !i ? "" : i + 1 < n ? ", " : " or ", names[i]);
    return cb_node_fail(node, "expected a map with one key: %s", list);
  }
  cb_status status = cb_node_check_keys(node, names, n);
  if (status) return status;
  *class = classes[cb_registry_find(registry, node->keys[0]->text, strlen(node->keys[0]->text))];
  cb_scenario_gap_rows(*class, registry == &cb_event_registry, rows);
  char *params = calloc(1, OWN + (*class)->params_size);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for `%s`", (*class)->name);
  status = cb_params_bind(rows, node->items[0], node, NULL, 0, params);
  if (!status && s->builder && (*class)->init)
    status = cb_builder_placed(s->builder, (*class)->init(params + OWN, s->space, s->builder), node->items[0], false);
  if (!status && s->builder)
    *out = params;
  else
    free(params);
  return status;
}

typedef struct wall {
  const cb_wall_class *class;
  const char *params;
} wall;

static cb_status add_wall(cb_builder *b, int body, const void *what) {
  const wall *w = what;
  const shared *p = (const shared *)w->params;
  return cb_builder_wall(b, w->class, w->params + OWN, *p->name ? p->name : NULL, body, p->restitution);
}

static cb_status read_wall(cb_scenario *s, const cb_node *node) {
  char *params = NULL;
  const cb_wall_class *class;
  cb_status status = read_entry(s, node, &cb_wall_registry, cb_wall_classes, &class, &params);
  if (!params) return status;
  const wall w = {class, params};
  status = cb_scenario_for_bodies(s, ((const shared *)params)->body, node->items[0], false, add_wall, &w);
  free(params);
  return status;
}

static cb_status read_particles(cb_scenario *s, const shared *p, int count, int *particle) {
  if (count == 1) return p->particle ? read_particle(s, p->particle, &particle[0]) : CB_OK;
  if (p->between->kind != CB_NODE_LIST || p->between->count != 2)
    return cb_node_fail(p->between, "between: expected two particles, such as [[a, 0], [b, 0]]");
  const cb_status status = read_particle(s, p->between->items[0], &particle[0]);
  return status ? status : read_particle(s, p->between->items[1], &particle[1]);
}

static cb_status read_event(cb_scenario *s, const cb_node *node) {
  static const cb_event_action actions[] = {CB_EVENT_STOP, CB_EVENT_MARK};
  static const cb_event_direction directions[] = {CB_EVENT_BOTH, CB_EVENT_FALLING, CB_EVENT_RISING};
  char *params = NULL;
  int particle[2] = {0};
  const cb_event_class *class;
  cb_status status = read_entry(s, node, &cb_event_registry, cb_event_classes, &class, &params);
  if (!params) return status;
  const shared *p = (const shared *)params;
  status = read_particles(s, p, class->particles, particle);
  if (!status)
    status = cb_builder_event(s->builder, class, params + OWN, *p->name ? p->name : NULL, particle, actions[p->action],
                              directions[p->direction]);
  status = cb_builder_placed(s->builder, status, node->items[0], false);
  free(params);
  return status;
}

static cb_status read_walls_and_events(cb_scenario *s, const cb_node *walls, const cb_node *events) {
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, walls, cb_scenario_for_items(s, walls, "walls", read_wall));
  cb_errors_add(&errors, events, cb_scenario_for_items(s, events, "events", read_event));
  return cb_errors_end(&errors);
}

void cb_scenario_warn_of_contacts(const cb_scenario *s, const char *surface) {
  const cb_builder *b = s->builder;
  bool sized = !b || !b->n_points || b->n_triangles || (b->contacts && b->contacts->n_walls);
  for (int i = 0; !sized && i < b->n_points; i++) sized = b->point[i].radius > 0;
  if (!sized)
    cb_warn("`contacts` has no effect: all particles have radius 0, no body has %s, and there are no `walls`", surface);
}

cb_status cb_scenario_read_contacts(cb_scenario *s, const cb_node *contacts, const cb_node *walls,
                                    const cb_node *events) {
  cb_errors errors = cb_errors_begin();
  if (contacts) cb_errors_add(&errors, contacts, read_contacts(s, contacts));
  cb_errors_add(&errors, walls, read_walls_and_events(s, walls, events));
  if (contacts && !s->class->body) cb_scenario_warn_of_contacts(s, "a surface");
  return cb_errors_end(&errors);
}

/* Reads `contacts` of a system. The only point of a system touches nothing but walls, so that keys about pairs of
 * particles are errors. */
static cb_status read_wall_contacts(cb_scenario *s, const cb_node *node, const cb_node *walls) {
  static const char *const of_pairs[] = {"restitution", "broad_phase", "between", "within", "except", NULL};
  contact_parameters p;
  for (const char *const *key = of_pairs; *key; key++)
    if (cb_node_get(node, *key))
      return cb_node_fail(cb_node_get(node, *key),
                          "%s: a system is one point of its configuration space, which can touch walls but no other "
                          "particle: expected only `rule` and `accumulation`",
                          *key);
  const cb_status status = cb_params_bind(cb_scenario_wall_contacts_table, node, node, NULL, 0, &p);
  if (status || !s->builder) return status;
  if (!walls || !walls->count)
    return cb_node_fail(
        node,
        "a system is one point of its configuration space, which can touch walls but no other particle: "
        "expected `walls` next to `contacts`");
  return cb_scenario_placed(s, cb_builder_wall_contacts(s->builder, p.rule, p.accumulation), node, false);
}

cb_status cb_scenario_read_system_contacts(cb_scenario *s, const cb_node *contacts, const cb_node *walls,
                                           const cb_node *events) {
  cb_errors errors = cb_errors_begin();
  if (contacts) cb_errors_add(&errors, contacts, read_wall_contacts(s, contacts, walls));
  cb_errors_add(&errors, walls, read_walls_and_events(s, walls, events));
  return cb_errors_end(&errors);
}
