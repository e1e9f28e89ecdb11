/* The key `flow:` of a fluid, and flows on a grid. The value is one of
 *
 *   {uniform: [1, 0, 0]}
 *   {shear: {velocity: [0, 0, 0], gradient: [[0, 0, 1], [0, 0, 0], [0, 0, 0]]}}     velocity + gradient x
 *   {vortex: {centre: [0, 0, 0], axis: [0, 0, 1], circulation: 1, core: 0.1}}       its profile is in curvebody/flow.h
 *   {velocity: ["sin(y)", 0, "0.1*cos(t)"]}                                         expressions of x, y, z, t
 *   {grid: wind.h5}                                                                 scenario/hdf5_input.h
 */
#include "scenario/hdf5_input.h"
#include "scenario/fluid.h"
#include "core/failure.h"
#include "record/arrays.h"

#include <stdlib.h>
#include <string.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

static cb_status uniform(cb_scenario *s, const cb_node *node) {
  double u[3];
  const cb_status status = cb_scenario_vector(s, node, 0, NULL, NULL, u);
  return status ? status : cb_flow_uniform(u, &cb_fluid_scenario_of(s)->flow);
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
  if (!status) status = cb_flow_shear(u, g, &cb_fluid_scenario_of(s)->flow);
  return status ? status
                : cb_scenario_placed(s, cb_flow_check_divergence(cb_fluid_scenario_of(s)->flow), gradient, false);
}

typedef struct vortex_parameters {
  const cb_node *centre, *axis;
  double circulation, core;
} vortex_parameters;

const cb_param cb_vortex_table[] = {
    {"centre", CB_PARAM_NODE, offsetof(vortex_parameters, centre), "", "", "", NULL, "a point of the axis"},
    {"axis", CB_PARAM_NODE, offsetof(vortex_parameters, axis), "", "", "", NULL, "direction (default [0, 0, 1])"},
    {"circulation", CB_PARAM_REAL, offsetof(vortex_parameters, circulation), NULL, "m2/s", "", NULL,
     "circulation around the axis"},
    {"core", CB_PARAM_REAL, offsetof(vortex_parameters, core), NULL, "m", "> 0", NULL, "radius of the core"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status vortex(cb_scenario *s, const cb_node *node) {
  vortex_parameters p;
  double centre[3] = {0}, axis[3] = {0, 0, 1};
  cb_status status = cb_params_bind(cb_vortex_table, node, node, NULL, 0, &p);
  if (!status && p.centre) status = cb_scenario_vector(s, p.centre, 0, NULL, NULL, centre);
  if (!status && p.axis) status = cb_scenario_vector(s, p.axis, 0, NULL, NULL, axis);
  return status ? status : cb_flow_vortex(centre, axis, p.circulation, p.core, &cb_fluid_scenario_of(s)->flow);
}

static cb_status velocity(cb_scenario *s, const cb_node *node) {
  const cb_fluid_scenario *m = s->own;
  const char *text[3];
  size_t which = 0, at = 0;
  cb_status status = cb_scenario_texts(node, text);
  if (status) return status;
  if (m->lost) return cb_fail_consequence();
  status = cb_flow_expressions(text, m->n_parameters, m->parameter, m->parameter_value, &which, &at,
                               &cb_fluid_scenario_of(s)->flow);
  if (status == CB_ERROR_INPUT) return cb_node_fail_at(node->items[which], at, "%s", cb_error_text());
  return status ? status : cb_flow_check_divergence(cb_fluid_scenario_of(s)->flow);
}

static cb_status grid(cb_scenario *s, const cb_node *node) {
  const char *text;
  cb_status status = cb_node_string(node, &text);
  if (!status) status = cb_scenario_file(s, node, &text);
  return status ? status : cb_flow_read_grid(text, &cb_fluid_scenario_of(s)->flow);
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

/* --- flows on a grid --- */

enum { T, X, Y, Z, AXES };
static const char *const axis_name[AXES] = {"time", "x", "y", "z"};

/* Checks that values are evenly spaced, up to the rounding of their storage, and finds the first value and the
 * spacing. */
static cb_status check_even(const cb_hdf5_source *s, const char *name, const cb_hdf5_array *row, double *origin,
                            double *spacing) {
  const double *v = row->value;
  const size_t last = row->count - 1;
  const double step = last ? (v[last] - v[0]) / (double)last : 1,
               slack =
                   1e-6 * fabs(step) + 4 * (row->single ? FLT_EPSILON : DBL_EPSILON) * fmax(fabs(v[0]), fabs(v[last]));
  for (size_t i = 0; i <= last; i++) {
    const double expected = v[0] + (double)i * step;
    if (!isfinite(v[i]))
      return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset '%s': value %zu is %g, expected a finite number",
                            s->path, name, i + 1, v[i]);
    if (i && !(v[i] > v[i - 1]))
      return cb_fail_placed(CB_ERROR_INPUT,
                            "%s: error: dataset '%s': value %zu is %.9g after %.9g, expected ascending values", s->path,
                            name, i + 1, v[i], v[i - 1]);
    if (isfinite(v[last]) && !(fabs(v[i] - expected) <= slack))
      return cb_fail_placed(
          CB_ERROR_INPUT,
          "%s: error: dataset '%s': value %zu is %.9g, expected %.9g: values must be evenly spaced by %.9g", s->path,
          name, i + 1, v[i], expected, step);
  }
  *origin = v[0];
  *spacing = step;
  return CB_OK;
}

/* Reads one axis with n points. */
static cb_status read_axis(const cb_hdf5_source *s, int axis, int n, double *origin, double *spacing) {
  char texts[64];
  const cb_hdf5_expected expected = {H5T_NO_CLASS, 1, 1, (hsize_t)n, texts};
  cb_hdf5_array row;
  *origin = 0;
  *spacing = 1;
  if (n == 1) return CB_OK;
  snprintf(texts, sizeof texts, "[%d], the %s of 'velocity'", n, axis == T ? "times" : "coordinates");
  cb_status status = cb_hdf5_read_array(s, axis_name[axis], &expected, &row);
  if (status) return status;
  status = check_even(s, axis_name[axis], &row, origin, spacing);
  free(row.value);
  return status;
}

/* Reads the attribute `periodic` of 3 or 4 integers, if it is present. */
static cb_status read_periodic(const cb_hdf5_source *s, bool periodic[4]) {
  int value[4] = {0};
  if (H5Aexists_by_name(s->file, "velocity", "periodic", H5P_DEFAULT) <= 0) return CB_OK;
  bool ok = false;
  for (size_t n = 3; n <= 4 && !ok; n++)
    ok = cb_hdf5_get_numbers(s->file, "velocity", "periodic", H5T_INTEGER, H5T_NATIVE_INT, n, value);
  if (!ok)
    return cb_fail_placed(
        CB_ERROR_INPUT, "%s: error: attribute 'periodic' of 'velocity': expected 3 integers (x, y, z) or 4 (and time)",
        s->path);
  for (int k = 0; k < 4; k++) periodic[k] = value[k] != 0;
  return CB_OK;
}

static cb_status make(const cb_hdf5_source *s, const cb_hdf5_array *velocity, cb_flow **out) {
  const bool steady = velocity->rank == 4;
  cb_flow_grid grid = {.times = steady ? 1 : velocity->dims[0], .u = velocity->value};
  cb_status status = steady ? CB_OK : read_axis(s, T, grid.times, &grid.start, &grid.interval);
  for (int k = 0; k < 3 && !status; k++) {
    grid.n[k] = velocity->dims[k + !steady];
    status = read_axis(s, X + k, grid.n[k], &grid.origin[k], &grid.spacing[k]);
  }
  if (!status) status = read_periodic(s, grid.periodic);
  status = cb_hdf5_unread(s->path, status);
  if (status) return status;
  status = cb_flow_from_grid(&grid, out);
  if (!status || status == CB_ERROR_MEMORY) return status;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset 'velocity': %s", s->path, cb_error_text());
}

cb_status cb_flow_read_grid(const char *path, cb_flow **out) {
  static const cb_hdf5_expected expected = {H5T_NO_CLASS, 4, 5, 3, "[x, y, z, 3] or [time, x, y, z, 3]"};
  cb_hdf5_source s;
  cb_hdf5_array velocity = {.value = NULL};
  cb_status status = cb_hdf5_source_open(path, &s);
  if (status) return status;
  status = cb_hdf5_read_array(&s, "velocity", &expected, &velocity);
  if (!status) status = make(&s, &velocity, out);
  status = cb_hdf5_source_close(&s, status);
  free(velocity.value);
  return status;
}
