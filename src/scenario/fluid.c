/* The key `fluid:` of scenarios of bodies in a fluid.
 *
 *   fluid:
 *     medium: water                        NAME or {NAME: VALUE} of a class in src/fluid/media, a number, or an
 *                                          expression of x, y, z
 *     gravity: [0, 0, -9.81]
 *     flow: {uniform: [1, 0, 0]}           {NAME: VALUE} of a class in src/fluid/flows, or a list of
 *                                          such maps, which add up
 *     model: local                         the fluid model of forces, NAME or {name: NAME, ..}, or a list of models:
 *                                          they add up
 *     added_mass: exact                    if it differs from `model`: NAME, {name: NAME, ..}, false or none
 *     compat: relative                     the fluid's momentum is relative to its flow; `paper`: without the flow
 *     floor: {kind: stiff, height: 0, stiffness: 1e4, damping: 10, friction: .3}
 *                                          or {kind: reflecting, restitution: .5}
 *     parameters: {k: 2, w: 3*k}           names in the expressions of flow, medium, poses, wrenches, place and motion
 *
 * Flows on a grid are read from files (scenario/hdf5_input.h).
 */
#include "scenario/fluid.h"

#include "core/failure.h"
#include "core/registry.h"
#include "record/arrays.h"
#include "scenario/hdf5_input.h"
#include "tree/scalar.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- flow and medium --- */

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

static cb_status read_flow(cb_scenario *s, const cb_node *node, const cb_expression_scope *parameters, cb_flow **out) {
  size_t i;
  cb_status status = find_class(node, &cb_fluid_flow_registry, "flows", "{uniform: [1, 0, 0]}", &i);
  if (status) return status;
  const cb_fluid_flow_class *c = cb_fluid_flow_classes[i];
  const cb_node *value = node->items[0];
  const char *path;
  if (c->from_grid) {
    status = cb_node_string(value, &path);
    if (!status) status = cb_scenario_file(s, value, &path);
    if (!status) status = cb_flow_read_grid(c, path, out);
  } else {
    status = cb_flow_create_class(c, value, parameters, out);
  }
  return cb_scenario_placed(s, status, value, false);
}

cb_status cb_scenario_read_flow(cb_scenario *s, const cb_node *node, const cb_expression_scope *parameters,
                                cb_flow **flow) {
  if (node->kind != CB_NODE_LIST) return read_flow(s, node, parameters, flow);
  if (node->count == 0) return cb_node_fail(node, "expected a flow, or a list of them");
  cb_flow **all = cb_arena_alloc(s->arena, node->count, sizeof *all);
  if (!all) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu flows", node->count);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < node->count; i++)
    cb_errors_add(&errors, node->items[i], read_flow(s, node->items[i], parameters, &all[i]));
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

/* Reads `medium`. node NULL: fails, because the key is missing in the map `where`. up: the direction against
 * gravity. */
static cb_status read_medium(cb_scenario *s, const cb_node *node, const cb_node *where, const double up[3]) {
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

/* --- the key `fluid` --- */

typedef struct fluid_parameters {
  const cb_node *medium, *gravity, *flow, *model, *added_mass, *coupling, *floor, *parameters, *particles;
  int compat;
} fluid_parameters;

#define ROW(field, doc) \
  { #field, CB_PARAM_NODE, offsetof(fluid_parameters, field), "", "", "", NULL, doc }
const cb_param cb_fluid_table[] = {
    ROW(medium,
        "NAME or {NAME: VALUE} of `list media`, such as water, a density in kg/m^3, or an expression of x, y, z"),
    ROW(gravity, "acceleration in m/s^2 (default [0, 0, -9.81])"),
    ROW(flow, "{NAME: VALUE} of `list flows`, such as {uniform: [1, 0, 0]}, or a list of flows, which add up"),
    {"compat", CB_PARAM_CHOICE, offsetof(fluid_parameters, compat), "relative", "", "", "relative|paper",
     "momentum of the fluid: relative to its flow, or as in the paper, without the flow"},
    ROW(model, "fluid model of forces: a name, {name: .., ..}, or a list of models, which add up (default: local)"),
    ROW(added_mass,
        "fluid model of the added mass: a name, {name: .., ..}, false or none (default: the first of `model` that has "
        "an added mass)"),
    ROW(coupling,
        "how bodies act on each other through the fluid: none, a name of `list couplings`, or {name: .., ..}"),
    ROW(floor, "{kind: stiff|reflecting, ..}"),
    ROW(particles, "{viscosity: .., drag_coefficient: .., added_mass: ..}: forces of the fluid on particles"),
    ROW(parameters,
        "named numbers, which may use earlier ones, for expressions of flow, medium, poses, wrenches, place and "
        "motion"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

typedef struct floor_parameters {
  int kind;
  double height, stiffness, damping, friction, creep, restitution;
  const cb_node *normal;
} floor_parameters;

#define NUMBER(field, fallback, unit, range, doc) \
  { #field, CB_PARAM_REAL, offsetof(floor_parameters, field), fallback, unit, range, NULL, doc }
const cb_param cb_floor_table[] = {
    {"kind", CB_PARAM_CHOICE, offsetof(floor_parameters, kind), "stiff", "", "", "stiff|reflecting",
     "stiff: springs push bodies out; reflecting: bodies are reflected"},
    NUMBER(height, "0", "m", "", "height along the normal"),
    {"normal", CB_PARAM_NODE, offsetof(floor_parameters, normal), "", "", "", NULL,
     "upward direction (default [0, 0, 1])"},
    NUMBER(stiffness, "1000", "N/m", "> 0", "stiff: stiffness for the complete body, shared equally by its vertices"),
    NUMBER(damping, "0", "N s/m", ">= 0",
           "stiff: damping for the complete body; treated implicitly if (step * damping)/mass > 1"),
    NUMBER(friction, "0", "", ">= 0",
           "stiff: coefficient of friction; treated implicitly if (step * friction * gravity)/creep > 1"),
    NUMBER(creep, "0.001", "m/s", "> 0", "stiff: speed above which friction is fully developed"),
    NUMBER(restitution, "1", "", "[0, 1]", "reflecting: speed after the contact, divided by the speed before"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_fluid_doc cb_fluid_docs[] = {
    {"fluid", "medium, flow, gravity and floor",
     "The map `fluid`; a scenario with this key is a scenario of bodies in a fluid", cb_fluid_table},
    {"floor", "a half space", "In `fluid`", cb_floor_table},
    {"particles", "particles in a fluid", "In `fluid`", cb_particles_table},
    {"body", "an immersed body", "An entry of `bodies` next to `fluid`", cb_immersed_table},
    {NULL, NULL, NULL, NULL}};

static cb_expression_scope scope_of(const cb_scenario *s, size_t n, const char *const *named) {
  const cb_fluid_scenario *m = s->own;
  return (cb_expression_scope){.names = named,
                               .n = n,
                               .parameters = m->parameter,
                               .values = m->parameter_value,
                               .n_parameters = m->n_parameters};
}

cb_status cb_scenario_number(const cb_scenario *s, const cb_node *node, size_t n, const char *const *named,
                             const double *x, double *out) {
  const cb_expression_scope scope = scope_of(s, n, named);
  return cb_fluid_number(node, &scope, x, out);
}

cb_status cb_scenario_vector(const cb_scenario *s, const cb_node *list, size_t n, const char *const *named,
                             const double *x, double out[3]) {
  const cb_expression_scope scope = scope_of(s, n, named);
  return cb_fluid_vector(list, &scope, x, out);
}

/* A parameter that could not be read gets the value nan; the values of expressions that use it are not checked. */
cb_status cb_scenario_read_named(cb_scenario *s, const cb_node *map, cb_named_numbers *out) {
  *out = (cb_named_numbers){.n = 0};
  if (!map) return CB_OK;
  if (map->kind != CB_NODE_MAP) return cb_node_fail(map, "expected a map of names and numbers");
  out->name = cb_arena_alloc(s->arena, map->count, sizeof *out->name);
  out->value = cb_arena_alloc(s->arena, map->count, sizeof *out->value);
  if (!out->name || !out->value) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu parameters", map->count);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < map->count; i++) {
    const size_t n = out->n;
    const cb_expression_scope before = {.parameters = out->name, .values = out->value, .n_parameters = n};
    const char *name = map->keys[i]->text;
    cb_expression_scope taken = before;
    cb_scenario_add_controls(s, &taken);
    if (cb_expression_check_parameter(name, &taken, "")) {
      cb_errors_add(&errors, map->keys[i], cb_node_fail(map->keys[i], "%s", cb_error_text()));
      out->lost = true;
      continue;
    }
    out->name[n] = name;
    if (cb_errors_add(&errors, map->items[i], cb_fluid_number(map->items[i], &before, NULL, &out->value[n]))) {
      out->value[n] = NAN;
      out->lost = true;
    }
    out->n = n + 1; /* each parameter may use the earlier ones */
  }
  return cb_errors_end(&errors);
}

cb_status cb_scenario_read_parameters(cb_scenario *s, const cb_node *map) {
  cb_fluid_scenario *m = s->own;
  cb_named_numbers all;
  const cb_status status = cb_scenario_read_named(s, map, &all);
  m->parameter = all.name;
  m->parameter_value = all.value;
  m->n_parameters = all.n;
  s->parameters = all;
  m->lost = m->lost || all.lost;
  return status;
}

static cb_status unit(const cb_node *node, double v[3]) {
  const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  if (!(length > 0)) return cb_node_fail(node, "expected a direction, found a vector of length 0");
  for (int i = 0; i < 3; i++) v[i] /= length;
  return CB_OK;
}

static cb_status read_floor(cb_scenario *s, const cb_node *node) {
  cb_floor *floor = &cb_fluid_scenario_of(s)->fluid.floor;
  floor_parameters p;
  if (!node) return CB_OK;
  cb_errors errors = cb_errors_begin();
  cb_status status = cb_errors_add(&errors, node, cb_params_bind(cb_floor_table, node, node, NULL, 0, &p));
  if (status && node->kind != CB_NODE_MAP) return cb_errors_end(&errors);
  if (status) cb_params_bind_right(cb_floor_table, node, &p);
  *floor = (cb_floor){.kind = p.kind == 0 ? CB_FLOOR_STIFF : CB_FLOOR_REFLECTING,
                      .up = {0, 0, 1},
                      .height = p.height,
                      .stiffness = p.stiffness,
                      .damping = p.damping,
                      .friction = p.friction,
                      .creep = p.creep,
                      .restitution = p.restitution};
  status = p.normal ? cb_scenario_vector(s, p.normal, 0, NULL, NULL, floor->up) : CB_OK;
  if (!status && p.normal) status = unit(p.normal, floor->up);
  cb_errors_add(&errors, p.normal, status);
  return cb_errors_end(&errors);
}

static cb_status read_gravity(cb_scenario *s, const cb_node *node, double g[3], double up[3]) {
  const cb_status status = node ? cb_scenario_vector(s, node, 0, NULL, NULL, g) : CB_OK;
  if (status || !(g[0] * g[0] + g[1] * g[1] + g[2] * g[2] > 0)) return status;
  for (int i = 0; i < 3; i++) up[i] = -g[i];
  return unit(node, up);
}

static cb_status read_model(const cb_node *node, cb_fluid_model **out) {
  const cb_node *named = node->kind == CB_NODE_MAP ? cb_node_get(node, "name") : node;
  const char *name;
  if (!named) return cb_node_fail(node, "the key `name` is missing: a fluid model, such as `local`");
  const cb_status status = cb_node_string(named, &name);
  return status ? status : cb_fluid_model_create(name, node, out);
}

cb_status cb_scenario_read_models(cb_scenario *s, const cb_node *node, cb_fluid_models *out) {
  const bool several = node->kind == CB_NODE_LIST;
  const size_t n = several ? node->count : 1;
  if (n == 0) return cb_node_fail(node, "expected a fluid model, or a list of them");
  out->list = cb_arena_alloc(s->arena, n, sizeof *out->list);
  if (!out->list) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu fluid models", n);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < n; i++) {
    const cb_node *item = several ? node->items[i] : node;
    cb_fluid_model **m = &out->list[out->n];
    cb_status status = read_model(item, m);
    bool twice = false;
    for (int k = 0; k < out->n && !status; k++) twice = twice || out->list[k]->class_ == (*m)->class_;
    if (!status) out->n++;
    if (twice)
      status = cb_node_fail(item, "the fluid model `%s` is listed twice: expected it once", (*m)->class_->name);
    cb_errors_add(&errors, item, status);
  }
  return cb_errors_end(&errors);
}

static void cb_fluid_models_free(const cb_fluid_models *m) {
  for (int i = 0; i < m->n; i++) cb_fluid_model_free(m->list[i]);
}

cb_status cb_scenario_read_added_mass(const cb_node *node, cb_fluid_model **out) {
  const cb_status status = read_model(node, out);
  if (status || (*out)->class_->added_mass) return status;
  return cb_node_fail(node, "the fluid model `%s` has no added mass: expected a model with added mass, such as `local`",
                      (*out)->class_->name);
}

cb_status cb_scenario_read_moving(const cb_node *node, cb_fluid_model **out, bool *moves) {
  const char *text, *names[CB_REGISTRY_MAX + 3] = {"true", "false", "none"};
  if (!node) return CB_OK;
  if (node->kind != CB_NODE_MAP) {
    const cb_status status = cb_node_string(node, &text);
    if (status || !strcmp(text, "true")) return status;
    *moves = strcmp(text, "none") && strcmp(text, "false");
    if (!*moves) return CB_OK;
    if (!cb_fluid_model_classes[cb_registry_find(&cb_fluid_model_registry, text, strlen(text))])
      return cb_fail_unknown(node, "added mass", text, names,
                             3 + cb_registry_names(&cb_fluid_model_registry, names + 3));
  }
  *moves = true;
  return cb_scenario_read_added_mass(node, out);
}

cb_status cb_scenario_read_fluid(cb_scenario *s, const cb_node *node) {
  cb_fluid_scenario *m = s->own;
  static const char *const medium[] = {"medium"};
  fluid_parameters p;
  cb_status status = cb_params_bind(cb_fluid_table, node, node, NULL, 0, &p);
  if (status && node->kind != CB_NODE_MAP) return status;
  cb_errors errors = cb_errors_begin();
  if (cb_errors_add(&errors, node, status)) cb_params_bind_right(cb_fluid_table, node, &p);
  cb_errors_add(&errors, p.parameters, cb_scenario_read_parameters(s, p.parameters));
  double *g = m->fluid.gravity, up[3] = {0, 0, 1};
  g[2] = m->fluid.curvature == 0 ? -9.81 : 0;
  cb_errors_add(&errors, p.gravity, read_gravity(s, p.gravity, g, up));
  if (p.medium || !cb_node_misspelt(node, "medium", medium, 1))
    cb_errors_add(&errors, p.medium ? p.medium : node, read_medium(s, p.medium, node, up));
  const cb_expression_scope parameters = parameters_of(cb_fluid_scenario_of(s));
  if (p.flow)
    cb_errors_add(&errors, p.flow, cb_scenario_read_flow(s, p.flow, &parameters, &cb_fluid_scenario_of(s)->flow));
  cb_errors_add(&errors, p.floor, read_floor(s, p.floor));
  if (p.model) cb_errors_add(&errors, p.model, cb_scenario_read_models(s, p.model, &m->models));
  m->moves = true;
  cb_errors_add(&errors, p.added_mass, cb_scenario_read_moving(p.added_mass, &m->added_mass, &m->moves));
  if (p.coupling) cb_errors_add(&errors, p.coupling, cb_body_coupling_read(p.coupling, &m->coupling));
  m->fluid.coupling = m->coupling;
  m->fluid.medium = m->medium;
  m->fluid.flow = m->flow;
  m->fluid.n_models = m->models.n;
  m->fluid.models = (const cb_fluid_model *const *)m->models.list;
  m->fluid.added_mass = m->added_mass;
  m->fluid.paper = p.compat == 1;
  cb_errors_add(&errors, p.particles, cb_scenario_read_particles_in_fluid(s, p.particles));
  cb_errors_add(&errors, node, cb_scenario_check_filling(s, node));
  return cb_errors_end(&errors);
}

void cb_fluid_scenario_free(cb_fluid_scenario *m) {
  if (!m) return;
  for (size_t i = 0; i < m->n_kinds; i++) {
    cb_immersed_free(m->kind[i].body);
    cb_fluid_models_free(&m->kind[i].models);
    cb_fluid_model_free(m->kind[i].added_mass);
    cb_poses_free(m->kind[i].poses);
    cb_surface_free(m->kind[i].surface);
  }
  for (size_t i = 0; i < m->n_potentials; i++) cb_system_free(m->potential[i]);
  cb_medium_free(m->medium);
  cb_flow_free(m->flow);
  cb_fluid_models_free(&m->models);
  cb_fluid_model_free(m->added_mass);
  cb_body_coupling_free(m->coupling);
}
