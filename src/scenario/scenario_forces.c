/* The keys `potentials:` and `interactions:`.
 *
 *   potentials:   - central: {pair_potential: gravity, strength: 10, at: .., body: a} | harmonic: {..} |
 *                   expression: {chart: .., value: ..}
 *   interactions: - {pair_potential: gravity, strength: 1, between: [a, b]} | {expression: "exp(-d)/d", within: a} |
 *                   {angle: {at: [a, 1], between: [[a, 0], [a, 2]]}, stiffness: 2, rest: pi}
 */
#include "bodies/place.h"
#include "tree/scalar.h"
#include "geometry/origin.h"
#include "scenario/private.h"

#include <stddef.h>
#include <string.h>

typedef struct pair_potential_parameters {
  int pair_potential;
  double strength, length;
  const cb_node *expression, *first, *second, *at;
} pair_potential_parameters;

#define PAIR_POTENTIALS "gravity|coulomb|lennard_jones|harmonic"
static const cb_pair_potential_kind kinds[] = {CB_PAIR_POTENTIAL_GRAVITY, CB_PAIR_POTENTIAL_COULOMB,
                                               CB_PAIR_POTENTIAL_LENNARD_JONES, CB_PAIR_POTENTIAL_HARMONIC};

const cb_param cb_interaction_table[] = {
    {"pair_potential", CB_PARAM_CHOICE, offsetof(pair_potential_parameters, pair_potential), "gravity", "", "",
     PAIR_POTENTIALS, "potential of the distance"},
    {"strength", CB_PARAM_REAL, offsetof(pair_potential_parameters, strength), "1", "", "", NULL,
     "G, the Coulomb constant, depth, or stiffness"},
    {"length", CB_PARAM_REAL, offsetof(pair_potential_parameters, length), "1", "", "> 0", NULL,
     "Lennard-Jones sigma, harmonic rest length"},
    {"expression", CB_PARAM_NODE, offsetof(pair_potential_parameters, expression), "", "", "", NULL,
     "U(d, m1, m2, q1, q2, t) instead of a pair potential"},
    {"between", CB_PARAM_NODE, offsetof(pair_potential_parameters, first), "", "", "", NULL,
     "two bodies; if absent, all particles"},
    {"within", CB_PARAM_NODE, offsetof(pair_potential_parameters, second), "", "", "", NULL,
     "name of a body whose particles act on each other"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_param cb_central_table[] = {
    {"pair_potential", CB_PARAM_CHOICE, offsetof(pair_potential_parameters, pair_potential), "gravity", "", "",
     PAIR_POTENTIALS, "potential of the distance to the centre"},
    {"strength", CB_PARAM_REAL, offsetof(pair_potential_parameters, strength), "1", "", "", NULL,
     "G M, the Coulomb constant times a charge, depth, or stiffness"},
    {"length", CB_PARAM_REAL, offsetof(pair_potential_parameters, length), "1", "", "> 0", NULL,
     "Lennard-Jones sigma, harmonic rest length"},
    {"expression", CB_PARAM_NODE, offsetof(pair_potential_parameters, expression), "", "", "", NULL,
     "U(d, m, q, t) instead of a pair potential"},
    {"at", CB_PARAM_NODE, offsetof(pair_potential_parameters, at), "", "", "", NULL,
     "the centre; if absent, the base point of the space"},
    {"body", CB_PARAM_NODE, offsetof(pair_potential_parameters, first), "", "", "", NULL,
     "a body or a list of bodies; if absent, all"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct value_parameters {
  double stiffness;
  const cb_node *rest, *expression;
} value_parameters;

const cb_param cb_value_table[] = {
    {"stiffness", CB_PARAM_REAL, offsetof(value_parameters, stiffness), "1", "", "", NULL, "k of (k/2)(s - rest)^2"},
    {"rest", CB_PARAM_NODE, offsetof(value_parameters, rest), "", "", "", NULL,
     "a number or an expression of t; if absent, the value at the start, and 0 for a surface and a pin"},
    {"expression", CB_PARAM_NODE, offsetof(value_parameters, expression), "", "", "", NULL,
     "U(s, t) instead of `stiffness` and `rest`"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct harmonic_parameters {
  double stiffness, rest;
  const cb_node *at, *body;
} harmonic_parameters;

const cb_param cb_harmonic_table[] = {
    {"stiffness", CB_PARAM_REAL, offsetof(harmonic_parameters, stiffness), "1", "", "", NULL, "k of (k/2)(d - rest)^2"},
    {"rest", CB_PARAM_REAL, offsetof(harmonic_parameters, rest), "0", "", ">= 0", NULL, "rest length"},
    {"at", CB_PARAM_NODE, offsetof(harmonic_parameters, at), "", "", "", NULL,
     "the centre; if absent, the base point of the space"},
    {"body", CB_PARAM_NODE, offsetof(harmonic_parameters, body), "", "", "", NULL,
     "a body or a list of bodies; if absent, all"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct field_parameters {
  const char *chart, *value;
  const cb_node *body;
} field_parameters;

const cb_param cb_field_table[] = {{"chart", CB_PARAM_STRING, offsetof(field_parameters, chart), "embedding", "", "",
                                    NULL, "chart whose coordinates the expression uses"},
                                   {"value", CB_PARAM_STRING, offsetof(field_parameters, value), NULL, "", "", NULL,
                                    "V, an expression of the coordinates, m, q and t"},
                                   {"body", CB_PARAM_NODE, offsetof(field_parameters, body), "", "", "", NULL,
                                    "a body or a list of bodies; if absent, all"},
                                   {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

cb_status cb_scenario_placed(const cb_scenario *s, cb_status status, const cb_node *node, bool expression) {
  if (!cb_failure_is_of_input(status) || cb_failure_last().placed) return status;
  if (expression && status == CB_ERROR_INPUT)
    return cb_node_fail_at(node, cb_builder_expression_at(s->builder), "%s", cb_error_text());
  return cb_node_fail(node, "%s", cb_error_text());
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

cb_status cb_scenario_for_bodies(cb_scenario *s, const cb_node *bodies, const cb_node *at, bool expression,
                                 cb_status (*add)(cb_builder *, int body, const void *what), const void *what) {
  const size_t count = !bodies ? 1 : bodies->kind == CB_NODE_LIST ? bodies->count : 1;
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < count; i++) {
    const cb_node *name = !bodies ? NULL : bodies->kind == CB_NODE_LIST ? bodies->items[i] : bodies;
    int body = -1;
    cb_status status = name ? cb_scenario_find_body(s, name, &body) : CB_OK;
    if (!status) status = cb_scenario_placed(s, add(s->builder, body, what), at, expression);
    cb_errors_add(&errors, name ? name : at, status);
  }
  return cb_errors_end(&errors);
}

typedef struct addition {
  cb_pair_potential_kind pair_potential;
  double a, rest;
  cb_fixed centre;
  const char *expression, *chart;
} addition;

static cb_status add_central(cb_builder *b, int body, const void *what) {
  const addition *w = what;
  const cb_status status = cb_builder_centre_origin(b, &w->centre.origin);
  return status ? status : cb_builder_central(b, body, w->pair_potential, w->a, w->rest, w->expression, w->centre.x);
}
static cb_status add_field(cb_builder *b, int body, const void *what) {
  const addition *w = what;
  return cb_builder_potential(b, body, w->chart, w->expression);
}

static cb_status read_potential(cb_scenario *s, const cb_node *node) {
  static const char *const forms[] = {"central", "harmonic", "expression"};
  if (node->kind != CB_NODE_MAP || node->count != 1)
    return cb_node_fail(node, "expected one of `central:`, `harmonic:`, `expression:` with its map");
  cb_status status = cb_node_check_keys(node, forms, 3);
  if (status) return status;
  const cb_node *map = node->items[0];
  const char *form = node->keys[0]->text;
  addition what = {0};
  if (!strcmp(form, "central")) {
    pair_potential_parameters p;
    status = cb_params_bind(cb_central_table, map, node, NULL, 0, &p);
    if (status || !s->builder || (status = centre(s, p.at, &what.centre))) return status;
    what.pair_potential = p.expression ? CB_PAIR_POTENTIAL_EXPRESSION : kinds[p.pair_potential];
    what.a = p.strength;
    what.rest = p.length;
    if (p.expression && (status = cb_node_string(p.expression, &what.expression))) return status;
    return cb_scenario_for_bodies(s, p.first, p.expression ? p.expression : map, p.expression, add_central, &what);
  }
  if (!strcmp(form, "harmonic")) {
    harmonic_parameters p;
    status = cb_params_bind(cb_harmonic_table, map, node, NULL, 0, &p);
    if (status || !s->builder || (status = centre(s, p.at, &what.centre))) return status;
    what.pair_potential = CB_PAIR_POTENTIAL_HARMONIC;
    what.a = p.stiffness;
    what.rest = p.rest;
    return cb_scenario_for_bodies(s, p.body, map, false, add_central, &what);
  }
  field_parameters p;
  status = cb_params_bind(cb_field_table, map, node, NULL, 0, &p);
  if (status || !s->builder) return status;
  what.expression = p.value;
  what.chart = p.chart;
  if (!cb_chart_find(s->space, p.chart)) return cb_place_unknown_chart(cb_node_get(map, "chart"), s->space, p.chart);
  return cb_scenario_for_bodies(s, p.body, cb_node_get(map, "value"), true, add_field, &what);
}

static cb_status find_pair(const cb_scenario *s, const pair_potential_parameters *p, int *a, int *b) {
  if (p->first && p->second)
    return cb_node_fail(p->second, "`between` and `within` exclude each other: expected one of them");
  if (p->second) {
    const cb_status status = cb_scenario_find_body(s, p->second, a);
    *b = *a;
    return status;
  }
  if (!p->first) return CB_OK;
  if (p->first->kind != CB_NODE_LIST || p->first->count != 2)
    return cb_node_fail(p->first, "expected the names of two bodies");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, p->first, cb_scenario_find_body(s, p->first->items[0], a));
  cb_errors_add(&errors, p->first, cb_scenario_find_body(s, p->first->items[1], b));
  return cb_errors_end(&errors);
}

/* An item with the key of a class of constraints: a potential of the value of its rows. */
static cb_status read_value_potential(cb_scenario *s, const cb_node *node, const cb_constraint_class *class) {
  value_parameters p;
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
  pair_potential_parameters p;
  int a = -1, b = -1;
  const char *expression = NULL, *names[CB_REGISTRY_MAX];
  const size_t classes = cb_registry_names(&cb_constraint_registry, names);
  for (size_t i = 0; i < classes && node->kind == CB_NODE_MAP; i++)
    if (cb_node_get(node, names[i])) return read_value_potential(s, node, cb_constraint_classes[i]);
  cb_status status = cb_params_bind(cb_interaction_table, node, node, names, classes, &p);
  if (!s->builder || (status && node->kind != CB_NODE_MAP)) return status;
  cb_errors errors = cb_errors_begin();
  if (cb_errors_add(&errors, node, status)) cb_params_bind_right(cb_interaction_table, node, &p);
  cb_errors_add(&errors, node, find_pair(s, &p, &a, &b));
  if (p.expression) cb_errors_add(&errors, p.expression, cb_node_string(p.expression, &expression));
  if ((status = cb_errors_end(&errors))) return status;
  status = cb_builder_interaction(s->builder, a, b, expression ? CB_PAIR_POTENTIAL_EXPRESSION : kinds[p.pair_potential],
                                  p.strength, p.length, expression);
  return cb_scenario_placed(s, status, expression ? p.expression : node, expression != NULL);
}

cb_status cb_scenario_for_items(cb_scenario *s, const cb_node *list, const char *key,
                                cb_status (*read)(cb_scenario *, const cb_node *)) {
  if (!list || list->kind == CB_NODE_NULL) return CB_OK;
  if (list->kind != CB_NODE_LIST) return cb_node_fail(list, "%s: expected a list", key);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < list->count; i++) cb_errors_add(&errors, list->items[i], read(s, list->items[i]));
  return cb_errors_end(&errors);
}

cb_status cb_scenario_read_forces(cb_scenario *s, const cb_node *potentials, const cb_node *interactions) {
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, potentials, cb_scenario_for_items(s, potentials, "potentials", read_potential));
  cb_errors_add(&errors, interactions, cb_scenario_for_items(s, interactions, "interactions", read_interaction));
  return cb_errors_end(&errors);
}
