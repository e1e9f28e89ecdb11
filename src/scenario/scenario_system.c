/* The key `system:`, a complete configuration space instead of `space` and `bodies`.
 *
 *   system:
 *     coordinates: [a, b]                   one to twelve names; the names of their velocities are a_dot, b_dot
 *     parameters: {g: 9.81}                 named numbers, in every expression below
 *     metric: [[2], ["cos(a - b)", 1]]      kinetic energy (1/2) g_ij dq_i/dt dq_j/dt, masses included
 *     potential: "-g*(2*cos(a) + cos(b))"   V(q, t)
 *     forces: ["-0.1*a_dot", 0]             generalised, a covector: F_i(q, dq/dt, t)
 *     constraints: ["a - b", {velocity: [1, "-a"], equals: 0}]
 *     position: [1, 0]                      and `velocity: [0, 0]` or `momentum: [0, 0]`
 *     domain, periodic, base, plot       as for a metric given as text (geometry/text_metric.h)
 *
 *   L = (1/2) g_ij(q) q'_i q'_j - V(q, t):  p_i = g_ij q'_j,  p' = dL/dq + F - lambda dc
 * Here q_i are the coordinates, ' is d/dt, p_i the momenta, V the potential, F the forces, c the constraints (dc:
 * their derivatives by q, or the coefficients of a constraint of velocities) and lambda their multipliers. The system
 * runs as one particle of mass 1 in the space with metric g, with the integrators of such spaces. Source: Arnold,
 * Mathematical Methods of Classical Mechanics, 2nd ed. (1989), section 19.
 */
#include "geometry/text_metric.h"
#include "scenario/private.h"
#include "tree/scalar.h"

#include <curvebody/constraint.h>
#include <stdio.h>
#include <string.h>

typedef struct system_parameters {
  const char *name;
  const cb_node *potential, *forces, *constraints, *position, *velocity, *momentum;
} system_parameters;

#define ROW(field, doc) \
  { #field, CB_PARAM_NODE, offsetof(system_parameters, field), "", "", "", NULL, doc }
const cb_param cb_scenario_system_table[] = {
    {"name", CB_PARAM_STRING, offsetof(system_parameters, name), "system", "", "", NULL,
     "name of the system in records"},
    ROW(potential, "V, an expression of the coordinates, t and controls"),
    ROW(forces,
        "generalised forces: one expression per coordinate, in the coordinates, the velocities `NAME_dot`, t and "
        "controls"),
    ROW(constraints,
        "list of expressions of coordinates and t that are kept at 0, and of maps {surface: .., name: ..} or "
        "{velocity: [..], equals: .., name: ..}"),
    ROW(position, "coordinates at the start (default: the base point)"),
    ROW(velocity, "velocities of the coordinates at the start (default 0)"),
    ROW(momentum, "instead of velocity: momenta g dq/dt at the start"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static const char *const own_keys[] = {"name",     "potential", "forces",  "constraints",
                                       "position", "velocity",  "momentum"};
static const char *const metric_keys[] = {"metric", "coordinates", "parameters", "domain", "periodic", "base", "plot"};

/* Reads a list of numbers, one per coordinate. A number may be an expression of the parameters. */
static cb_status read_numbers(const cb_scenario *s, const char *key, const cb_node *node, double *out) {
  const int n = s->space->dim;
  const char *names[CB_EXPRESSION_VARIABLES];
  cb_expression_scope scope = {.parameters = names};
  scope.n_parameters = cb_text_metric_parameters(s->space, names, &scope.values);
  if (node->kind != CB_NODE_LIST || node->count != (size_t)n)
    return cb_node_fail(node, "%s: expected a list of %d numbers, one per coordinate", key, n);
  for (int i = 0; i < n; i++) {
    cb_expression *e;
    const cb_status status = cb_node_expression(node->items[i], &scope, &e);
    if (status) return status;
    out[i] = cb_expression_value(e, NULL);
    cb_expression_free(e);
    if (!(out[i] - out[i] == 0))
      return cb_node_fail(node->items[i], "%s: expected a finite number, found %g", key, out[i]);
  }
  return CB_OK;
}

static cb_status read_start(cb_scenario *s, const cb_node *node, const system_parameters *p) {
  double q[CB_Q_MAX], u[CB_Q_MAX] = {0};
  cb_space_base_point(s->space, q);
  if (p->velocity && p->momentum)
    return cb_node_fail(p->momentum, "`velocity` and `momentum` exclude each other: expected one of them");
  cb_status status = p->position ? read_numbers(s, "position", p->position, q) : CB_OK;
  if (!status && p->velocity) status = read_numbers(s, "velocity", p->velocity, u);
  if (!status && p->momentum) status = read_numbers(s, "momentum", p->momentum, u);
  if (status) return status;
  const cb_node *where = p->position ? p->position : node;
  if (p->momentum) status = cb_scenario_placed(s, cb_space_raise(s->space, q, u, u), where, false);
  if (!status) status = cb_builder_body(s->builder, p->name, NULL);
  if (!status) status = cb_builder_particle(s->builder, p->name, 1, 0, 0, q, u, NULL);
  return cb_scenario_placed(s, status, where, false);
}

/* Checks that an expression of a system uses only its parameters, controls, coordinates, their rates (if `rates` is
 * set) and t. Names of properties of a particle, such as the mass `m`, are errors. */
static cb_status check_expression(const cb_scenario *s, const cb_node *node, bool rates) {
  const cb_chart *chart = s->space->chart;
  char rate[CB_Q_MAX][64];
  const char *names[2 * CB_Q_MAX + 1], *parameters[CB_EXPRESSION_VARIABLES];
  cb_expression_scope scope = {.names = names, .parameters = parameters};
  scope.n_parameters = cb_text_metric_parameters(s->space, parameters, &scope.values);
  cb_scenario_add_controls(s, &scope);
  for (int i = 0; i < chart->size; i++) names[scope.n++] = chart->coordinates[i];
  for (int i = 0; rates && i < chart->size; i++) {
    snprintf(rate[i], sizeof rate[i], "%.50s_dot", chart->coordinates[i]);
    names[scope.n++] = rate[i];
  }
  names[scope.n++] = "t";
  cb_expression *e;
  const cb_status status = cb_node_expression(node, &scope, &e);
  if (!status) cb_expression_free(e);
  return status;
}

static cb_status read_potential(cb_scenario *s, const cb_node *node) {
  const char *text;
  cb_status status = cb_node_string(node, &text);
  if (!status) status = check_expression(s, node, false);
  if (status) return status;
  return cb_scenario_placed(s, cb_builder_potential(s->builder, 0, s->space->chart->name, text), node, true);
}

/* Reads the texts of a list of expressions, one per coordinate. */
static cb_status read_texts(const cb_scenario *s, const char *key, const cb_node *node, const char **text) {
  const int n = s->space->dim;
  if (node->kind != CB_NODE_LIST || node->count != (size_t)n)
    return cb_node_fail(node, "%s: expected a list of %d expressions, one per coordinate", key, n);
  cb_status status = CB_OK;
  for (int i = 0; i < n && !status; i++) status = cb_node_string(node->items[i], &text[i]);
  return status;
}

static cb_status read_forces(cb_scenario *s, const cb_node *node) {
  const char *text[CB_Q_MAX];
  size_t at = 0;
  cb_status status = read_texts(s, "forces", node, text);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < node->count; i++)
    cb_errors_add(&errors, node->items[i], check_expression(s, node->items[i], true));
  if ((status = cb_errors_end(&errors))) return status;
  status = cb_builder_force(s->builder, 0, NULL, text, &at);
  return cb_scenario_placed(s, status, status == CB_ERROR_INPUT ? node->items[at] : node, true);
}

static cb_status read_velocity(cb_scenario *s, const cb_node *map, const char *name) {
  const cb_node *list = cb_node_get(map, "velocity"), *right = cb_node_get(map, "equals");
  const char *text[CB_Q_MAX], *equals = NULL;
  size_t at = 0;
  cb_status status = read_texts(s, "velocity", list, text);
  if (!status && right) status = cb_node_string(right, &equals);
  if (status) return status;
  status = cb_builder_velocity_of(s->builder, name, 0, text, equals, &at);
  const cb_node *where = status != CB_ERROR_INPUT ? map : at < list->count ? list->items[at] : right;
  return cb_scenario_placed(s, status, where, true);
}

static cb_status read_constraint(cb_scenario *s, const cb_node *node) {
  static const char *const keys[] = {"surface", "velocity", "equals", "name"};
  const char *text, *name = NULL;
  const cb_node *value = node;
  if (node->kind == CB_NODE_MAP) {
    cb_status status = cb_node_check_keys(node, keys, 4);
    if (!status && cb_node_get(node, "name")) status = cb_node_string(cb_node_get(node, "name"), &name);
    if (status) return status;
    value = cb_node_get(node, "surface");
    const cb_node *velocity = cb_node_get(node, "velocity");
    if (!value == !velocity) return cb_node_fail(node, "expected one of `surface` and `velocity`");
    if (velocity) return read_velocity(s, node, name);
    if (cb_node_get(node, "equals"))
      return cb_node_fail(cb_node_get(node, "equals"), "`equals` applies only to `velocity`");
  }
  const cb_status status = cb_node_string(value, &text);
  if (status) return status;
  return cb_scenario_placed(s, cb_builder_surface(s->builder, name, 0, NULL, text), value, true);
}

/* Fails if a coordinate or parameter has the name `t` (the time), the name NAME_dot of the velocity of a coordinate, or
 * the name of a control. */
static cb_status check_name(const cb_scenario *s, const cb_node *node, const char *kind, const char *name) {
  const cb_chart *chart = s->space->chart;
  if (!strcmp(name, "t"))
    return cb_node_fail(node, "a %s has the name t, which is the time: expected another name", kind);
  cb_expression_scope scope = {.n = 0};
  cb_scenario_add_controls(s, &scope);
  for (size_t i = 0; i < scope.n_controls; i++)
    if (!strcmp(name, scope.controls[i]))
      return cb_node_fail(node, "the name '%s' is given twice: it is already a control", name);
  for (int i = 0; i < chart->size; i++) {
    char rate[64];
    snprintf(rate, sizeof rate, "%.50s_dot", chart->coordinates[i]);
    if (!strcmp(name, rate))
      return cb_node_fail(node, "a %s has the name %s, which is a velocity: expected another name", kind, rate);
  }
  return CB_OK;
}

static cb_status check_names(const cb_scenario *s, const cb_node *node, const char *const *parameter, size_t n) {
  const cb_chart *chart = s->space->chart;
  const cb_node *coordinates = cb_node_get(node, "coordinates"), *parameters = cb_node_get(node, "parameters");
  cb_status status = CB_OK;
  for (int i = 0; i < chart->size && !status; i++)
    status = check_name(s, coordinates ? coordinates : node, "coordinate", chart->coordinates[i]);
  for (size_t k = 0; k < n && !status; k++) status = check_name(s, parameters, "parameter", parameter[k]);
  return status;
}

/* Copies the parameters for the laws of controls. */
static cb_status keep_parameters(cb_scenario *s, size_t n, const char *const *names, const double *values) {
  s->parameters.n = n;
  s->parameters.name = cb_arena_alloc(s->arena, n, sizeof *s->parameters.name);
  s->parameters.value = cb_arena_alloc(s->arena, n, sizeof *s->parameters.value);
  if (!s->parameters.name || !s->parameters.value) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu parameters", n);
  for (size_t i = 0; i < n; i++) {
    s->parameters.name[i] = names[i];
    s->parameters.value[i] = values[i];
  }
  return CB_OK;
}

cb_status cb_scenario_read_system(cb_scenario *s, const cb_node *node) {
  system_parameters p;
  const char *names[CB_EXPRESSION_VARIABLES];
  const double *values;
  cb_status status =
      cb_params_bind(cb_scenario_system_table, node, node, metric_keys, sizeof metric_keys / sizeof *metric_keys, &p);
  if (!status) status = cb_text_metric_create_system(node, own_keys, sizeof own_keys / sizeof *own_keys, &s->space);
  if (status) return status;
  const size_t n = cb_text_metric_parameters(s->space, names, &values);
  status = check_names(s, node, names, n);
  if (!status) status = cb_scenario_make_builder(s, s->space);
  if (!status) status = cb_builder_parameters(s->builder, n, names, values);
  if (!status) status = keep_parameters(s, n, names, values);
  if (!status) status = read_start(s, node, &p);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  if (p.potential) cb_errors_add(&errors, p.potential, read_potential(s, p.potential));
  if (p.forces) cb_errors_add(&errors, p.forces, read_forces(s, p.forces));
  if (p.constraints)
    cb_errors_add(&errors, p.constraints, cb_scenario_for_items(s, p.constraints, "constraints", read_constraint));
  return cb_errors_end(&errors);
}
