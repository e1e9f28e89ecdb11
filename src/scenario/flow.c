/* `flow:` of a fluid, one of
 *
 *   {uniform: [1, 0, 0]}
 *   {shear: {velocity: [0, 0, 0], gradient: [[0, 0, 1], [0, 0, 0], [0, 0, 0]]}}     u + G x
 *   {vortex: {centre: [0, 0, 0], axis: [0, 0, 1], circulation: 1, core: 0.1}}       curvebody/flow.h has its profile
 *   {velocity: ["sin(y)", 0, "0.1*cos(t)"]}                                         of x, y, z, t
 *   {grid: wind.h5}                                                                 scenario/flow_grid.h
 */
#include "scenario/flow_grid.h"
#include "scenario/fluid.h"

#include <stdlib.h>
#include <string.h>

static cb_status uniform(cb_scenario *s, const cb_node *node) {
  double u[3];
  const cb_status status = cb_scenario_vector(s, node, 0, NULL, NULL, u);
  return status ? status : cb_flow_uniform(u, &s->fluid->flow);
}

static cb_status shear(cb_scenario *s, const cb_node *node) {
  static const char *const keys[] = {"velocity", "gradient"};
  const cb_node *velocity = cb_node_get(node, "velocity"), *gradient = cb_node_get(node, "gradient");
  double u[3] = {0}, g[3][3];
  cb_status status = cb_node_check_keys(node, keys, 2);
  if (!status && velocity) status = cb_scenario_vector(s, velocity, 0, NULL, NULL, u);
  if (status) return status;
  if (!gradient || gradient->kind != CB_NODE_LIST || gradient->count != 3)
    return cb_node_fail(gradient ? gradient : node, "expected `gradient`, three rows du_i/dx, du_i/dy, du_i/dz");
  for (int i = 0; i < 3 && !status; i++) status = cb_scenario_vector(s, gradient->items[i], 0, NULL, NULL, g[i]);
  if (!status) status = cb_flow_shear(u, g, &s->fluid->flow);
  return status ? status : cb_scenario_placed(s, cb_flow_check_divergence(s->fluid->flow), gradient, false);
}

typedef struct vortex_parameters {
  const cb_node *centre, *axis;
  double circulation, core;
} vortex_parameters;

const cb_param cb_vortex_table[] = {
    {"centre", CB_PARAM_NODE, offsetof(vortex_parameters, centre), "", "", "", NULL, "a point of the axis"},
    {"axis", CB_PARAM_NODE, offsetof(vortex_parameters, axis), "", "", "", NULL, "direction (default [0, 0, 1])"},
    {"circulation", CB_PARAM_REAL, offsetof(vortex_parameters, circulation), NULL, "m2/s", "", NULL, "about the axis"},
    {"core", CB_PARAM_REAL, offsetof(vortex_parameters, core), NULL, "m", "> 0", NULL, "radius of the core"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status vortex(cb_scenario *s, const cb_node *node) {
  vortex_parameters p;
  double centre[3] = {0}, axis[3] = {0, 0, 1};
  cb_status status = cb_params_bind(cb_vortex_table, node, node, NULL, 0, &p);
  if (!status && p.centre) status = cb_scenario_vector(s, p.centre, 0, NULL, NULL, centre);
  if (!status && p.axis) status = cb_scenario_vector(s, p.axis, 0, NULL, NULL, axis);
  return status ? status : cb_flow_vortex(centre, axis, p.circulation, p.core, &s->fluid->flow);
}

static cb_status velocity(cb_scenario *s, const cb_node *node) {
  const cb_fluid_scenario *m = s->fluid;
  const char *text[3];
  size_t which = 0, at = 0;
  cb_status status = cb_scenario_texts(node, text);
  if (status) return status;
  if (m->lost) return cb_fail_consequence();
  status = cb_flow_expressions(text, m->n_parameters, m->parameter, m->parameter_value, &which, &at, &s->fluid->flow);
  if (status == CB_ERROR_INPUT) return cb_node_fail_at(node->items[which], at, "%s", cb_error_text());
  return status ? status : cb_flow_check_divergence(s->fluid->flow);
}

static cb_status grid(cb_scenario *s, const cb_node *node) {
  const char *text;
  cb_status status = cb_node_string(node, &text);
  if (!status) status = cb_scenario_file(s, node, &text);
  return status ? status : cb_flow_read_grid(text, &s->fluid->flow);
}

static const struct {
  const char *name;
  cb_status (*read)(cb_scenario *s, const cb_node *node);
} kinds[] = {{"uniform", uniform}, {"shear", shear}, {"vortex", vortex}, {"velocity", velocity}, {"grid", grid}};
enum { KINDS = sizeof kinds / sizeof *kinds };

cb_status cb_scenario_read_flow(cb_scenario *s, const cb_node *node) {
  const char *names[KINDS];
  for (size_t k = 0; k < KINDS; k++) names[k] = kinds[k].name;
  cb_status status = node->kind == CB_NODE_MAP ? cb_node_check_keys(node, names, KINDS) : CB_OK;
  if (status) return status;
  if (node->kind != CB_NODE_MAP || node->count != 1)
    return cb_node_fail(node, "expected one of {uniform: ..}, {shear: ..}, {vortex: ..}, {velocity: ..}, {grid: ..}");
  for (size_t k = 0; k < KINDS; k++)
    if (!strcmp(node->keys[0]->text, names[k]))
      status = cb_scenario_placed(s, kinds[k].read(s, node->items[0]), node->items[0], false);
  return status;
}
