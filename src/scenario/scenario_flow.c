/* The keys `flow` and `medium` of a fluid, and flows on a grid.
 *
 *   flow: {NAME: VALUE}, or a list of such maps, which add up        the classes are in src/fluid/flows
 *   medium: NAME, {NAME: VALUE}, a number or an expression           the classes are in src/fluid/media
 */
#include "core/failure.h"
#include "core/registry.h"
#include "record/arrays.h"
#include "scenario/fluid.h"
#include "scenario/hdf5_input.h"
#include "tree/scalar.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cb_expression_scope parameters_of(const cb_fluid_scenario *m) {
  return (cb_expression_scope){
      .parameters = m->parameter, .values = m->parameter_value, .n_parameters = m->n_parameters};
}

/* Finds the class that a map {NAME: VALUE} names; *class_ becomes its number in the registry. example: such a map, for
 * the message. */
static cb_status find_class(const cb_node *node, const cb_registry *classes, const char *section, const char *example,
                            size_t *class_) {
  const char *names[CB_REGISTRY_MAX];
  const cb_status status = cb_node_check_keys(node, names, cb_registry_names(classes, names));
  if (status) return status;
  if (node->count != 1)
    return cb_node_fail(node, "expected one key, as in %s; `curvebody list %s` prints all", example, section);
  *class_ = cb_registry_find(classes, node->keys[0]->text, strlen(node->keys[0]->text));
  return CB_OK;
}

static cb_status read_flow(cb_scenario *s, const cb_node *node, cb_flow **out) {
  size_t i;
  cb_status status = find_class(node, &cb_fluid_flow_registry, "flows", "{uniform: [1, 0, 0]}", &i);
  if (status) return status;
  const cb_fluid_flow_class *c = cb_fluid_flow_classes[i];
  const cb_node *value = node->items[0];
  const cb_expression_scope parameters = parameters_of(cb_fluid_scenario_of(s));
  const char *path;
  if (c->from_grid) {
    status = cb_node_string(value, &path);
    if (!status) status = cb_scenario_file(s, value, &path);
    if (!status) status = cb_flow_read_grid(c, path, out);
  } else {
    status = cb_flow_create_class(c, value, &parameters, out);
  }
  return cb_scenario_placed(s, status, value, false);
}

cb_status cb_scenario_read_flow(cb_scenario *s, const cb_node *node) {
  cb_flow **flow = &cb_fluid_scenario_of(s)->flow;
  if (node->kind != CB_NODE_LIST) return read_flow(s, node, flow);
  if (node->count == 0) return cb_node_fail(node, "expected a flow, or a list of them");
  cb_flow **all = cb_arena_alloc(s->arena, node->count, sizeof *all);
  if (!all) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu flows", node->count);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < node->count; i++)
    cb_errors_add(&errors, node->items[i], read_flow(s, node->items[i], &all[i]));
  const cb_status status = cb_errors_end(&errors);
  if (!status) return cb_flow_sum((int)node->count, all, flow);
  for (size_t i = 0; i < node->count; i++) cb_flow_free(all[i]);
  return status;
}

/* Reads `medium: TEXT`: the name of a class, or a text that the class with `scalar` reads. */
static cb_status read_scalar(cb_scenario *s, const cb_node *node, const cb_expression_scope *parameters,
                             const double up[3]) {
  const char *text, *names[CB_REGISTRY_MAX];
  cb_medium **medium = &cb_fluid_scenario_of(s)->medium;
  cb_status status = cb_node_string(node, &text);
  if (status) return status;
  size_t other = 0, count = 0;
  const cb_fluid_medium_class *const *c = cb_fluid_medium_classes;
  for (size_t i = 0; c[i]; i++)
    if (c[i]->scalar)
      other = i;
    else
      names[count++] = c[i]->name;
  size_t i = cb_registry_find(&cb_fluid_medium_registry, text, strlen(text));
  if (c[i] && i != other) {
    for (size_t k = 0; k < parameters->n_parameters; k++)
      if (!strcmp(parameters->parameters[k], text))
        return cb_node_fail(node, "`%s` is the name of a medium and of a parameter: give the parameter another name",
                            text);
    cb_node empty = *node; /* NAME is short for {NAME: {}} */
    empty.kind = CB_NODE_MAP;
    return cb_medium_create_class(c[i], &empty, parameters, up, medium);
  }
  status = cb_medium_create_class(c[other], node, parameters, up, medium);
  if (status == CB_ERROR_INPUT && cb_nearest_name(text, names, count))
    return cb_fail_unknown(node, "medium", text, names, count);
  return status;
}

cb_status cb_scenario_read_medium(cb_scenario *s, const cb_node *node, const cb_node *where, const double up[3]) {
  const cb_expression_scope parameters = parameters_of(cb_fluid_scenario_of(s));
  size_t i;
  if (!node) return cb_node_fail(where, "expected `medium`: air, water, none, a density or an expression");
  if (node->kind != CB_NODE_MAP) return cb_scenario_placed(s, read_scalar(s, node, &parameters, up), node, false);
  cb_status status = find_class(node, &cb_fluid_medium_registry, "media", "{density: 998}", &i);
  if (!status)
    status = cb_medium_create_class(cb_fluid_medium_classes[i], node->items[0], &parameters, up,
                                    &cb_fluid_scenario_of(s)->medium);
  return cb_scenario_placed(s, status, node->count ? node->items[0] : node, false);
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

static cb_status make(const cb_fluid_flow_class *class_, const cb_hdf5_source *s, const cb_hdf5_array *velocity,
                      cb_flow **out) {
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
  status = cb_flow_create_grid(class_, &grid, out);
  if (!status || status == CB_ERROR_MEMORY) return status;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: dataset 'velocity': %s", s->path, cb_error_text());
}

cb_status cb_flow_read_grid(const cb_fluid_flow_class *class_, const char *path, cb_flow **out) {
  static const cb_hdf5_expected expected = {H5T_NO_CLASS, 4, 5, 3, "[x, y, z, 3] or [time, x, y, z, 3]"};
  cb_hdf5_source s;
  cb_hdf5_array velocity = {.value = NULL};
  cb_status status = cb_hdf5_source_open(path, &s);
  if (status) return status;
  status = cb_hdf5_read_array(&s, "velocity", &expected, &velocity);
  if (!status) status = make(class_, &s, &velocity, out);
  status = cb_hdf5_source_close(&s, status);
  free(velocity.value);
  return status;
}
