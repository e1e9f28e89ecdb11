/* The keys `potentials:`, `interactions:` and `forces:`.
 *
 *   potentials:   - central: {pair_potential: gravity, strength: 10, at: .., body: a} | harmonic: {..} |
 *                   expression: {chart: .., value: ..}
 *   interactions: - {pair_potential: gravity, strength: 1, between: [a, b]} | {expression: "exp(-d)/d", within: a} |
 *                   {angle: {at: [a, 1], between: [[a, 0], [a, 2]]}, stiffness: 2, rest: pi} |
 *                   {spring: {between: [[a, 0], [b, 1]], stiffness: "10*(1 + .1*sin(t))", rest: 1}}
 *   forces:       - {body: a, force: ["-.1*x_dot", "-.1*y_dot", 0], chart: ..}
 * A map of a pair potential has the keys of its class (curvebody/pair_potential.h) besides the keys shown here, such as
 * `at` or `between`.
 */
#include "bodies/link.h"
#include "bodies/place.h"
#include "core/arena.h"
#include "dynamics/builder_points.h"
#include "dynamics/builder_private.h"
#include "dynamics/pair_potential_private.h"
#include "geometry/origin.h"
#include "scenario/fluid.h"
#include "scenario/private.h"
#include "tree/scalar.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* --- tables --- */

#define BODY(type) \
  { "body", CB_PARAM_NODE, offsetof(type, body), "", "", "", NULL, "a body or a list of bodies; if absent, all" }
#define CENTRE(type) \
  { "at", CB_PARAM_NODE, offsetof(type, at), "", "", "", NULL, "the centre; if absent, the base point of the space" }
#define END \
  { NULL, 0, 0, NULL, NULL, NULL, NULL, NULL }

/* The keys of a map with a pair potential, except the keys of the class. */
typedef struct pair_keys {
  const char *pair_potential;
  const cb_node *between, *within, *at, *body;
} pair_keys;

static const char default_class[] = "gravity";

const cb_param cb_interaction_table[] = {
    {"pair_potential", CB_PARAM_STRING, offsetof(pair_keys, pair_potential), default_class, "", "", NULL,
     "potential of the distance: see `pair_potentials`"},
    {"between", CB_PARAM_NODE, offsetof(pair_keys, between), "", "", "", NULL, "two bodies; if absent, all particles"},
    {"within", CB_PARAM_NODE, offsetof(pair_keys, within), "", "", "", NULL,
     "name of a body whose particles act on each other"},
    END};

const cb_param cb_central_table[] = {
    {"pair_potential", CB_PARAM_STRING, offsetof(pair_keys, pair_potential), default_class, "", "", NULL,
     "potential of the distance to the centre: see `pair_potentials`"},
    CENTRE(pair_keys),
    BODY(pair_keys),
    END};

typedef struct value_keys {
  double stiffness;
  const cb_node *rest, *expression;
} value_keys;

const cb_param cb_value_table[] = {
    {"stiffness", CB_PARAM_REAL, offsetof(value_keys, stiffness), "1", "", "", NULL, "k of (k/2)(s - rest)^2"},
    {"rest", CB_PARAM_NODE, offsetof(value_keys, rest), "", "", "", NULL,
     "a number or an expression of t; if absent, the value at the start, and 0 for a surface and a pin"},
    {"expression", CB_PARAM_NODE, offsetof(value_keys, expression), "", "", "", NULL,
     "U(s, t) instead of `stiffness` and `rest`"},
    END};

typedef struct harmonic_keys {
  cb_pair_parameters spring;
  const cb_node *at, *body;
} harmonic_keys;

const cb_param cb_harmonic_table[] = {
    {"stiffness", CB_PARAM_REAL, offsetof(harmonic_keys, spring.strength), "1", "", "", NULL, "k of (k/2)(d - rest)^2"},
    {"rest", CB_PARAM_REAL, offsetof(harmonic_keys, spring.length), "0", "", ">= 0", NULL, "rest length"},
    CENTRE(harmonic_keys),
    BODY(harmonic_keys),
    END};

typedef struct field_keys {
  const char *chart, *value;
  const cb_node *body;
} field_keys;

const cb_param cb_field_table[] = {{"chart", CB_PARAM_STRING, offsetof(field_keys, chart), "embedding", "", "", NULL,
                                    "chart whose coordinates the expression uses"},
                                   {"value", CB_PARAM_STRING, offsetof(field_keys, value), NULL, "", "", NULL,
                                    "V, an expression of the coordinates, m, q, t and controls"},
                                   BODY(field_keys),
                                   END};

typedef struct spring_keys {
  const cb_node *between;
  cb_spring_nodes spring;
} spring_keys;

const cb_param cb_spring_table[] = {
    {"between", CB_PARAM_NODE, offsetof(spring_keys, between), NULL, "", "", NULL, "two particles, [[a, 0], [b, 1]]"},
    CB_SPRING_ROWS(spring_keys, spring),
    END};

typedef struct force_keys {
  const char *chart;
  const cb_node *force, *body;
} force_keys;

const cb_param cb_force_table[] = {
    {"force", CB_PARAM_NODE, offsetof(force_keys, force), NULL, "", "", NULL,
     "one expression per coordinate, of the coordinates, their velocities `NAME_dot`, m, q, t and controls: a vector "
     "of the "
     "embedding, whose tangent part acts, or a covector of the chart"},
    {"chart", CB_PARAM_STRING, offsetof(force_keys, chart), "", "", "", NULL,
     "chart of the coordinates; if absent, the embedding, or the chart in which the space is used"},
    BODY(force_keys),
    END};

/* --- places and bodies --- */

cb_status cb_scenario_placed(const cb_scenario *s, cb_status status, const cb_node *node, bool expression) {
  return cb_builder_placed(s->builder, status, node, expression);
}

static cb_status centre(cb_scenario *s, const cb_node *at, cb_fixed *centre) {
  if (at) return cb_place_space_point(at, "the centre", s->space, &centre->origin, centre->x);
  cb_origin_identity(s->space, &centre->origin);
  cb_space_base_point(s->space, centre->x);
  return s->space->chart ? s->space->chart->from_point(s->space, centre->x, centre->x) : CB_OK;
}

cb_status cb_scenario_find_body(const cb_scenario *s, const cb_node *node, int *body) {
  enum { MAX_NAMED = 256 };
  const char *name, *names[MAX_NAMED];
  const cb_status status = cb_node_string(node, &name);
  if (status) return status;
  for (size_t i = 0; s->bodies && i < s->bodies->count; i++) {
    const cb_node *other = cb_node_get(s->bodies->items[i], "name");
    if (s->failed[i] && (!other || other->kind != CB_NODE_SCALAR || !strcmp(other->text, name)))
      return cb_fail_consequence();
  }
  const int found = cb_builder_find_body(s->builder, name), count = cb_builder_bodies(s->builder);
  if (found >= 0) {
    *body = found;
    return CB_OK;
  }
  size_t n = 0;
  for (int i = 0; i < count && n < MAX_NAMED; i++) names[n++] = cb_builder_body_name(s->builder, i);
  return cb_fail_unknown(node, "body", name, names, n);
}

cb_status cb_scenario_find_moved_body(const cb_scenario *s, const cb_node *node, int *body) {
  const cb_status status = cb_scenario_find_body(s, node, body);
  if (status || !cb_builder_is_of_tracers(s->builder, *body)) return status;
  return cb_node_fail(node, "`%s` has mass 0 and follows the flow, and nothing else moves it: expected a mass > 0",
                      cb_builder_body_name(s->builder, *body));
}

/* Calls `add` once for all bodies together. If some bodies must be left out, calls it once for every remaining body
 * instead. Bodies of tracers are left out. In a curved space rigid bodies are left out too, because potentials act on
 * their matter (scenario/scenario_curved.c). */
static cb_status add_to_all(cb_scenario *s, cb_status (*add)(cb_builder *, int body, const void *what),
                            const void *what) {
  cb_status status = CB_OK;
  int number;
  const bool curved = s->class->body && cb_fluid_scenario_of(s)->fluid.curvature != 0;
  if (!curved && !cb_builder_is_of_tracers(s->builder, -1)) return add(s->builder, -1, what);
  for (int i = 0; i < cb_builder_bodies(s->builder) && !status; i++)
    if (!cb_builder_is_of_tracers(s->builder, i) && !(curved && cb_scenario_body_is_rigid(s, i, &number)))
      status = add(s->builder, i, what);
  return status;
}

cb_status cb_scenario_for_bodies(cb_scenario *s, const cb_node *bodies, const cb_node *at, bool expression,
                                 cb_status (*add)(cb_builder *, int body, const void *what), const void *what) {
  const size_t count = !bodies ? 1 : bodies->kind == CB_NODE_LIST ? bodies->count : 1;
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < count; i++) {
    const cb_node *name = !bodies ? NULL : bodies->kind == CB_NODE_LIST ? bodies->items[i] : bodies;
    int body = -1, number;
    cb_status status = name ? cb_scenario_find_moved_body(s, name, &body) : CB_OK;
    if (!status && s->class->body && cb_fluid_scenario_of(s)->fluid.curvature != 0 && name &&
        cb_scenario_body_is_rigid(s, body, &number))
      continue;
    if (!status)
      status = cb_scenario_placed(s, name ? add(s->builder, body, what) : add_to_all(s, add, what), at, expression);
    cb_errors_add(&errors, name ? name : at, status);
  }
  return cb_errors_end(&errors);
}

/* --- maps with a pair potential --- */

/* A map with a pair potential: its class, its parameters, and the other keys. */
typedef struct pair_map {
  const cb_pair_potential_class *class_;
  const void *params;
  pair_keys keys;
} pair_map;

/* Finds the class that a map names by the key `pair_potential`, or by a key with the name of the class. */
static cb_status find_class(const cb_node *map, const cb_pair_potential_class **out) {
  const cb_node *node = cb_node_get(map, "pair_potential");
  const char *name = default_class, *names[CB_REGISTRY_MAX];
  cb_status status = node ? cb_node_string(node, &name) : CB_OK;
  for (size_t i = 0; !node && cb_pair_potential_classes[i]; i++)
    if (cb_node_get(map, cb_pair_potential_classes[i]->name)) name = cb_pair_potential_classes[i]->name;
  *out = status ? NULL : cb_pair_potential_find(name);
  if (status || *out) return status;
  return cb_fail_unknown(node, "pair potential", name, names, cb_registry_names(&cb_pair_potential_registry, names));
}

/* Joins the rows of a table and the rows of a class. The joined rows fill one struct, in which the parameters of the
 * class begin at the byte `offset`. */
static cb_param *joined(cb_arena *arena, const cb_param *table, const cb_param *more, size_t offset) {
  size_t n = 0, m = 0;
  while (table[n].name) n++;
  while (more && more[m].name) m++;
  cb_param *rows = cb_arena_alloc(arena, n + m + 1, sizeof *rows);
  if (!rows) return NULL;
  memcpy(rows, table, n * sizeof *rows);
  for (size_t i = 0; i < m; i++) {
    rows[n + i] = more[i];
    rows[n + i].offset += offset;
  }
  return rows;
}

/* Reads a map with a pair potential. others: further keys that the map may have. After a failure out->keys has the keys
 * that are right. */
static cb_status bind_pair(cb_scenario *s, const cb_param *table, const cb_node *map, const cb_node *where,
                           const char *const *others, size_t n_others, pair_map *out) {
  enum { PARAMS = (sizeof(pair_keys) + 15) / 16 * 16 };
  cb_status status = find_class(map, &out->class_);
  cb_params_bind_right(table, map, &out->keys);
  if (status) return status;
  const cb_pair_potential_class *c = out->class_;
  const cb_param *rows = joined(s->arena, table, c->params, PARAMS);
  char *data = cb_arena_alloc_aligned(s->arena, PARAMS + c->params_size, 1, 16);
  if (!rows || !data) return cb_fail(CB_ERROR_MEMORY, "no memory for a pair potential");
  status = cb_params_bind(rows, map, where, others, n_others, data);
  if (!status) memcpy(&out->keys, data, sizeof out->keys);
  out->params = data + PARAMS;
  return status;
}

/* Returns the node at which an error in the expression of the potential is reported; NULL if the potential has no
 * expression. */
static const cb_node *expression_of(const pair_map *pair, const cb_node *map) {
  const char *text = pair->class_->expression ? pair->class_->expression(pair->params) : NULL;
  for (size_t i = 0; text && i < map->count; i++)
    if (map->items[i]->kind == CB_NODE_SCALAR && map->items[i]->text == text) return map->items[i];
  return NULL;
}

/* --- forms of items: maps with one key, which names the form --- */

typedef struct form {
  const char *name;
  const char *pair_potential; /* the class of its pair potential; NULL: the map names the class, or there is none */
  bool is_pair;               /* its map has a pair potential */
  cb_status (*read)(cb_scenario *s, const cb_node *map, const cb_node *item);
} form;

static const form *find_form(const form *forms, size_t count, const cb_node *item) {
  if (item->kind != CB_NODE_MAP || item->count != 1) return NULL;
  size_t i = 0;
  while (i < count && strcmp(forms[i].name, item->keys[0]->text)) i++;
  return i < count ? &forms[i] : NULL;
}

/* --- potentials --- */

typedef struct addition {
  const char *class_;
  const void *params;
  cb_fixed centre;
  const char *expression, *chart;
} addition;

static cb_status add_central(cb_builder *b, int body, const void *what) {
  const addition *w = what;
  const cb_status status = cb_builder_centre_origin(b, &w->centre.origin);
  return status ? status : cb_builder_central(b, body, w->class_, w->params, w->centre.x);
}

static cb_status add_field(cb_builder *b, int body, const void *what) {
  const addition *w = what;
  return cb_builder_potential(b, body, w->chart, w->expression);
}

static cb_status read_central(cb_scenario *s, const cb_node *map, const cb_node *item) {
  pair_map p;
  addition what = {0};
  cb_status status = bind_pair(s, cb_central_table, map, item, NULL, 0, &p);
  if (status || !s->builder || (status = centre(s, p.keys.at, &what.centre))) return status;
  const cb_node *expression = expression_of(&p, map);
  what.class_ = p.class_->name;
  what.params = p.params;
  return cb_scenario_for_bodies(s, p.keys.body, expression ? expression : map, expression != NULL, add_central, &what);
}

static const char harmonic[] = "harmonic";

static cb_status read_harmonic(cb_scenario *s, const cb_node *map, const cb_node *item) {
  harmonic_keys p = {0};
  addition what = {.class_ = harmonic, .params = &p.spring};
  cb_status status = cb_params_bind(cb_harmonic_table, map, item, NULL, 0, &p);
  if (status || !s->builder || (status = centre(s, p.at, &what.centre))) return status;
  return cb_scenario_for_bodies(s, p.body, map, false, add_central, &what);
}

static cb_status read_field(cb_scenario *s, const cb_node *map, const cb_node *item) {
  field_keys p;
  const cb_status status = cb_params_bind(cb_field_table, map, item, NULL, 0, &p);
  if (status || !s->builder) return status;
  const addition what = {.expression = p.value, .chart = p.chart};
  if (!cb_chart_find(s->space, p.chart)) return cb_place_unknown_chart(cb_node_get(map, "chart"), s->space, p.chart);
  return cb_scenario_for_bodies(s, p.body, cb_node_get(map, "value"), true, add_field, &what);
}

static const form potential_forms[] = {{"central", NULL, true, read_central},
                                       {harmonic, harmonic, true, read_harmonic},
                                       {"expression", NULL, false, read_field}};
enum { POTENTIAL_FORMS = sizeof potential_forms / sizeof *potential_forms };

static cb_status read_potential(cb_scenario *s, const cb_node *node) {
  const char *names[POTENTIAL_FORMS];
  for (size_t i = 0; i < POTENTIAL_FORMS; i++) names[i] = potential_forms[i].name;
  if (node->kind != CB_NODE_MAP || node->count != 1)
    return cb_node_fail(node, "expected one of `central:`, `harmonic:`, `expression:` with its map");
  const cb_status status = cb_node_check_keys(node, names, POTENTIAL_FORMS);
  return status ? status : find_form(potential_forms, POTENTIAL_FORMS, node)->read(s, node->items[0], node);
}

const cb_pair_potential_class *cb_scenario_pair_potential_of(const cb_node *item, const cb_node **at) {
  const form *f = find_form(potential_forms, POTENTIAL_FORMS, item);
  const cb_pair_potential_class *c = NULL;
  if (!f || !f->is_pair) return NULL;
  const cb_node *named = cb_node_get(item->items[0], "pair_potential");
  *at = !f->pair_potential && named ? named : item->keys[0];
  if (f->pair_potential) return cb_pair_potential_find(f->pair_potential);
  return find_class(item->items[0], &c) ? NULL : c;
}

/* --- interactions --- */

static cb_status find_pair(const cb_scenario *s, const pair_keys *p, int *a, int *b) {
  if (p->between && p->within)
    return cb_node_fail(p->within, "`between` and `within` exclude each other: expected one of them");
  if (p->within) {
    const cb_status status = cb_scenario_find_moved_body(s, p->within, a);
    *b = *a;
    return status;
  }
  if (!p->between) return CB_OK;
  if (p->between->kind != CB_NODE_LIST || p->between->count != 2)
    return cb_node_fail(p->between, "expected the names of two bodies");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, p->between, cb_scenario_find_moved_body(s, p->between->items[0], a));
  cb_errors_add(&errors, p->between, cb_scenario_find_moved_body(s, p->between->items[1], b));
  return cb_errors_end(&errors);
}

static cb_status read_spring(cb_scenario *s, const cb_node *map, const cb_node *item) {
  spring_keys p;
  cb_body_link link = {.spring = CB_SPRING_DEFAULTS};
  int end[2] = {-1, -1};
  cb_status status = cb_params_bind(cb_spring_table, map, item, NULL, 0, &p);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  if (s->builder || !s->controls) /* otherwise the names of controls are not known, because another key is wrong */
    cb_errors_add(&errors, map, cb_spring_read(s->builder, &p.spring, &link.spring));
  if (p.between->kind != CB_NODE_LIST || p.between->count != 2)
    cb_errors_add(&errors, p.between, cb_node_fail(p.between, "expected two particles, such as [[a, 0], [b, 1]]"));
  else
    for (int a = 0; s->builder && a < 2; a++)
      cb_errors_add(&errors, p.between, cb_scenario_read_moved_particle(s, p.between->items[a], &end[a]));
  status = cb_errors_end(&errors);
  return status || !s->builder ? status : cb_link_add(s->builder, p.between, end[0], end[1], &link);
}

/* Adds a pair potential of the bodies a and b, or of all bodies except bodies of tracers. */
static cb_status add_interaction(cb_builder *builder, int a, int b, const pair_map *p) {
  cb_status status = CB_OK;
  if (a >= 0 || !cb_builder_is_of_tracers(builder, -1))
    return cb_builder_interaction(builder, a, b, p->class_->name, p->params);
  for (int i = 0; i < cb_builder_bodies(builder); i++)
    for (int j = i; j < cb_builder_bodies(builder) && !status; j++)
      if (!cb_builder_is_of_tracers(builder, i) && !cb_builder_is_of_tracers(builder, j))
        status = cb_builder_interaction(builder, i, j, p->class_->name, p->params);
  return status;
}

static const form interaction_forms[] = {{"spring", NULL, false, read_spring}};
enum { INTERACTION_FORMS = sizeof interaction_forms / sizeof *interaction_forms };

/* Reads an item whose key is the name of a class of constraints. The item is a potential that depends on the value of
 * each row of the constraint. */
static cb_status read_value_potential(cb_scenario *s, const cb_node *node, const cb_constraint_class *class) {
  value_keys p;
  cb_target rest;
  const char *expression = NULL;
  const cb_node *map = cb_node_get(node, class->name);
  const int first = s->builder ? cb_builder_constraints(s->builder) : 0;
  cb_status status = cb_params_bind(cb_value_table, node, node, &class->name, 1, &p);
  if (!status) status = cb_scenario_read_entry(s, class, map, node);
  if (status || !s->builder) return status;
  if (p.expression && (p.rest || cb_node_get(node, "stiffness")))
    return cb_node_fail(p.expression, "`expression` next to `%s`: expected only one of them",
                        p.rest ? "rest" : "stiffness");
  if (p.expression) status = cb_node_string(p.expression, &expression);
  if (!status) status = cb_target_read(p.rest, "rest", "", &rest);
  if (status) return status;
  status = cb_builder_potentials_of(s->builder, first, p.stiffness, p.rest ? &rest : NULL, expression);
  return cb_scenario_placed(s, status, expression ? p.expression : map, expression != NULL);
}

static cb_status read_interaction(cb_scenario *s, const cb_node *node) {
  const form *f = find_form(interaction_forms, INTERACTION_FORMS, node);
  if (f) return f->read(s, node->items[0], node);
  pair_map p = {0};
  int a = -1, b = -1;
  const char *names[CB_REGISTRY_MAX + 1] = {interaction_forms[0].name};
  size_t classes = INTERACTION_FORMS; /* the names that an item can have, for the message */
  for (const cb_constraint_class *const *c = cb_constraint_classes; *c; c++) {
    if (node->kind == CB_NODE_MAP && cb_node_get(node, (*c)->name)) return read_value_potential(s, node, *c);
    if (!(*c)->velocity) names[classes++] = (*c)->name;
  }
  cb_status status = node->kind == CB_NODE_MAP ? bind_pair(s, cb_interaction_table, node, node, names, classes, &p)
                                               : cb_params_bind(cb_interaction_table, node, node, NULL, 0, &p.keys);
  if (!s->builder || (status && node->kind != CB_NODE_MAP)) return status;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, status);
  cb_errors_add(&errors, node, find_pair(s, &p.keys, &a, &b));
  if ((status = cb_errors_end(&errors))) return status;
  const cb_node *expression = expression_of(&p, node);
  status = add_interaction(s->builder, a, b, &p);
  return cb_scenario_placed(s, status, expression ? expression : node, expression != NULL);
}

/* --- forces --- */

typedef struct force_texts {
  const char *chart, *text[CB_Q_MAX];
  const cb_node *list;
} force_texts;

static cb_status add_force(cb_builder *b, int body, const void *what) {
  const force_texts *w = what;
  size_t at = 0;
  const cb_status status = cb_builder_force(b, body, w->chart, w->text, &at);
  if (status != CB_ERROR_INPUT) return status;
  return cb_node_fail_at(w->list->items[at], cb_builder_expression_at(b), "%s", cb_error_text());
}

static cb_status read_force(cb_scenario *s, const cb_node *node) {
  force_keys p;
  force_texts what = {0};
  cb_status status = cb_params_bind(cb_force_table, node, node, NULL, 0, &p);
  if (status || !s->builder) return status;
  const cb_space *g = s->space;
  what.chart = *p.chart ? p.chart : g->chart ? g->chart->name : "embedding";
  what.list = p.force;
  const cb_chart *chart = cb_chart_find(g, what.chart);
  if (!chart) return cb_place_unknown_chart(cb_node_get(node, "chart"), g, p.chart);
  if (p.force->kind != CB_NODE_LIST || p.force->count != (size_t)chart->size)
    return cb_node_fail(p.force, "force: expected a list of %d expressions, one per coordinate of the chart `%s`",
                        chart->size, chart->name);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < p.force->count; i++)
    cb_errors_add(&errors, p.force->items[i], cb_node_string(p.force->items[i], &what.text[i]));
  status = cb_errors_end(&errors);
  return status ? status : cb_scenario_for_bodies(s, p.body, p.force, false, add_force, &what);
}

cb_status cb_scenario_for_items(cb_scenario *s, const cb_node *list, const char *key,
                                cb_status (*read)(cb_scenario *, const cb_node *)) {
  if (!list || list->kind == CB_NODE_NULL) return CB_OK;
  if (list->kind != CB_NODE_LIST) return cb_node_fail(list, "%s: expected a list", key);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < list->count; i++) cb_errors_add(&errors, list->items[i], read(s, list->items[i]));
  return cb_errors_end(&errors);
}

cb_status cb_scenario_read_forces(cb_scenario *s, const cb_node *potentials, const cb_node *interactions,
                                  const cb_node *forces) {
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, potentials, cb_scenario_for_items(s, potentials, "potentials", read_potential));
  cb_errors_add(&errors, interactions, cb_scenario_for_items(s, interactions, "interactions", read_interaction));
  cb_errors_add(&errors, forces, cb_scenario_for_items(s, forces, "forces", read_force));
  return cb_errors_end(&errors);
}
