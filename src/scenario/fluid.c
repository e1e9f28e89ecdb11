/* The key `fluid:` of scenarios of bodies in a fluid.
 *
 *   fluid:
 *     medium: water                        air (1.225 kg/m^3), water (998), none, a number, an expression of x, y, z,
 *                                          or {layers: [{below: 0, density: 998}, {density: 1.225}]}: heights are
 *                                          along -gravity
 *     gravity: [0, 0, -9.81]
 *     flow: {uniform: [1, 0, 0]}           or another flow of scenario/scenario_flow.c
 *     model: local                         the fluid model of forces, NAME or {name: NAME, ..}, or a list of models:
 *                                          they add up
 *     added_mass: exact                    if it differs from `model`: NAME, {name: NAME, ..}, false or none
 *     compat: relative                     the fluid's momentum is relative to its flow; `paper`: without the flow
 *     floor: {kind: stiff, height: 0, stiffness: 1e4, damping: 10, friction: .3}
 *                                          or {kind: reflecting, restitution: .5}
 *     parameters: {k: 2, w: 3*k}           names in the expressions of flow, medium, poses, wrenches, place and motion
 */
#include "scenario/fluid.h"

#include "tree/scalar.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fluid_parameters {
  const cb_node *medium, *gravity, *flow, *model, *added_mass, *floor, *parameters;
  int compat;
} fluid_parameters;

#define ROW(field, doc) \
  { #field, CB_PARAM_NODE, offsetof(fluid_parameters, field), "", "", "", NULL, doc }
const cb_param cb_fluid_table[] = {
    ROW(medium,
        "air (1.225), water (998), none, a density in kg/m^3, an expression of x, y, z, or {layers: [{below: "
        "HEIGHT, density: RHO}, .., {density: RHO}]}, upwards; heights are along -gravity from the origin (along z "
        "without gravity)"),
    ROW(gravity, "acceleration in m/s^2 (default [0, 0, -9.81])"),
    ROW(flow,
        "{uniform: [..]}, {shear: {velocity: [..], gradient: [[..], [..], [..]]}}, {vortex: {centre: [..], axis: "
        "[..], circulation: .., core: ..}} with speed circulation/(2 pi r) (1 - exp(-r^2/core^2)), {velocity: [.., .., "
        "..]} of x, y, z, t, or {grid: FILE.h5}"),
    {"compat", CB_PARAM_CHOICE, offsetof(fluid_parameters, compat), "relative", "", "", "relative|paper",
     "momentum of the fluid: relative to its flow, or as in the paper, without the flow"},
    ROW(model, "fluid model of forces: a name, {name: .., ..}, or a list of models, which add up (default: local)"),
    ROW(added_mass,
        "fluid model of the added mass: a name, {name: .., ..}, false or none (default: the first of `model` that has "
        "an added mass)"),
    ROW(floor, "{kind: stiff|reflecting, ..}"),
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
           "stiff: damping for the complete body; treated implicitly if step damping/mass > 1"),
    NUMBER(friction, "0", "", ">= 0",
           "stiff: coefficient of friction; treated implicitly if step friction gravity/creep > 1"),
    NUMBER(creep, "0.001", "m/s", "> 0", "stiff: speed above which friction is fully developed"),
    NUMBER(restitution, "1", "", "[0, 1]", "reflecting: speed after the contact, divided by the speed before"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_fluid_doc cb_fluid_docs[] = {
    {"fluid", "medium, flow, gravity and floor",
     "The map `fluid`; a scenario with this key is a scenario of bodies in a fluid", cb_fluid_table},
    {"floor", "a half space", "In `fluid`", cb_floor_table},
    {"body", "an immersed body", "An entry of `bodies` next to `fluid`", cb_immersed_table},
    {NULL, NULL, NULL, NULL}};

cb_status cb_scenario_texts(const cb_node *list, const char *text[3]) {
  if (!list || list->kind != CB_NODE_LIST)
    return cb_node_fail(list, "expected a list of three, along x, y, z, found %s", cb_node_found(list).text);
  if (list->count != 3) return cb_node_fail(list, "expected a list of three, along x, y, z, found %zu", list->count);
  cb_status status = CB_OK;
  for (size_t i = 0; i < 3 && !status; i++) status = cb_node_string(list->items[i], &text[i]);
  return status;
}

cb_status cb_scenario_number(const cb_scenario *s, const cb_node *node, size_t n, const char *const *named,
                             const double *x, double *out) {
  const cb_fluid_scenario *m = s->own;
  const cb_expression_scope scope = {named, n, m->parameter, m->parameter_value, m->n_parameters};
  cb_expression *e;
  const cb_status status = cb_node_expression(node, &scope, &e);
  if (status) return status;
  *out = cb_expression_value(e, x);
  cb_expression_free(e);
  if (isnan(*out) && m->lost) return cb_fail_consequence();
  return isfinite(*out) ? CB_OK : cb_node_fail(node, "expected a finite number, found %g", *out);
}

cb_status cb_scenario_vector(const cb_scenario *s, const cb_node *list, size_t n, const char *const *named,
                             const double *x, double out[3]) {
  const char *text[3];
  const cb_status status = cb_scenario_texts(list, text);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < 3; i++)
    cb_errors_add(&errors, list->items[i], cb_scenario_number(s, list->items[i], n, named, x, &out[i]));
  return cb_errors_end(&errors);
}

/* A parameter that could not be read gets the value nan; the values of expressions that use it are not checked. */
cb_status cb_scenario_read_parameters(cb_scenario *s, const cb_node *map) {
  cb_fluid_scenario *m = s->own;
  if (!map) return CB_OK;
  if (map->kind != CB_NODE_MAP) return cb_node_fail(map, "expected a map of names and numbers");
  m->parameter = cb_arena_alloc(s->arena, map->count, sizeof *m->parameter);
  m->parameter_value = cb_arena_alloc(s->arena, map->count, sizeof *m->parameter_value);
  if (!m->parameter || !m->parameter_value) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu parameters", map->count);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < map->count; i++) {
    const size_t n = m->n_parameters;
    const cb_expression_scope before = {.parameters = m->parameter, .n_parameters = n};
    const char *name = map->keys[i]->text;
    if (cb_expression_check_parameter(name, &before, "")) {
      cb_errors_add(&errors, map->keys[i], cb_node_fail(map->keys[i], "%s", cb_error_text()));
      m->lost = true;
      continue;
    }
    m->parameter[n] = name;
    if (cb_errors_add(&errors, map->items[i],
                      cb_scenario_number(s, map->items[i], 0, NULL, NULL, &m->parameter_value[n]))) {
      m->parameter_value[n] = NAN;
      m->lost = true;
    }
    m->n_parameters = n + 1; /* each parameter may use the earlier ones */
  }
  return cb_errors_end(&errors);
}

static cb_status read_layer(const cb_node *layer, bool highest, double *level, double *density) {
  static const char *const keys[] = {"below", "density"};
  const cb_node *below = cb_node_get(layer, "below"), *given = cb_node_get(layer, "density");
  cb_status status = cb_node_check_keys(layer, keys, 2);
  if (status) return status;
  if (highest && below) return cb_node_fail(below, "the highest layer has no upper limit: expected no `below`");
  if (!highest && !below) return cb_node_fail(layer, "expected `below`, the height of the top of the layer");
  if (!given) return cb_node_fail(layer, "expected `density`, in kg/m^3");
  cb_errors errors = cb_errors_begin();
  if (below) cb_errors_add(&errors, below, cb_node_real(below, level));
  cb_errors_add(&errors, given, cb_node_real(given, density));
  return cb_errors_end(&errors);
}

static cb_status read_layers(cb_scenario *s, const cb_node *map, const double up[3]) {
  static const char *const keys[] = {"layers"};
  cb_status status = cb_node_check_keys(map, keys, 1);
  if (status) return status;
  const cb_node *list = cb_node_get(map, "layers");
  if (!list || list->kind != CB_NODE_LIST || list->count < 1)
    return cb_node_fail(list ? list : map,
                        "expected `layers`, a list of {below: HEIGHT, density: RHO} from the lowest up");
  const int n = (int)list->count;
  double *level = cb_arena_alloc(s->arena, list->count, sizeof *level),
         *density = cb_arena_alloc(s->arena, list->count, sizeof *density);
  if (!level || !density) return cb_fail(CB_ERROR_MEMORY, "no memory for %d layers", n);
  cb_errors errors = cb_errors_begin();
  for (int i = 0; i < n; i++)
    cb_errors_add(&errors, list->items[i], read_layer(list->items[i], i + 1 == n, &level[i], &density[i]));
  if ((status = cb_errors_end(&errors))) return status;
  return cb_scenario_placed(s, cb_medium_layers(n - 1, level, density, up, &cb_fluid_scenario_of(s)->medium), list,
                            false);
}

static cb_status read_medium(cb_scenario *s, const cb_node *node, const cb_node *where, const double up[3]) {
  cb_fluid_scenario *m = s->own;
  const char *text;
  double density;
  size_t at = 0;
  if (!node) return cb_node_fail(where, "expected `medium`: air, water, none, a density or an expression");
  if (node->kind == CB_NODE_MAP) return read_layers(s, node, up);
  cb_status status = cb_node_string(node, &text);
  if (status) return status;
  if (cb_medium_named(text, &density)) {
    for (size_t i = 0; i < m->n_parameters; i++)
      if (!strcmp(m->parameter[i], text))
        return cb_node_fail(node, "`%s` is the name of a medium and of a parameter: give the parameter another name",
                            text);
    return density > 0 ? cb_medium_uniform(density, &m->medium) : CB_OK;
  }
  status = cb_expression_constant(text, &at, &density);
  if (!status) return cb_scenario_placed(s, cb_medium_uniform(density, &m->medium), node, false);
  if (status == CB_ERROR_MEMORY) return status;
  status = cb_medium_expression(text, m->n_parameters, m->parameter, m->parameter_value, up, &at, &m->medium);
  if (status != CB_ERROR_INPUT) return status;
  if (cb_nearest_name(text, cb_medium_names, CB_MEDIUM_NAMES))
    return cb_fail_unknown(node, "medium", text, cb_medium_names, CB_MEDIUM_NAMES);
  return m->lost ? cb_fail_consequence() : cb_node_fail_at(node, at, "%s", cb_error_text());
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
  if (p.flow) cb_errors_add(&errors, p.flow, cb_scenario_read_flow(s, p.flow));
  cb_errors_add(&errors, p.floor, read_floor(s, p.floor));
  if (p.model) cb_errors_add(&errors, p.model, cb_scenario_read_models(s, p.model, &m->models));
  m->moves = true;
  cb_errors_add(&errors, p.added_mass, cb_scenario_read_moving(p.added_mass, &m->added_mass, &m->moves));
  m->fluid.medium = m->medium;
  m->fluid.flow = m->flow;
  m->fluid.n_models = m->models.n;
  m->fluid.models = (const cb_fluid_model *const *)m->models.list;
  m->fluid.added_mass = m->added_mass;
  m->fluid.paper = p.compat == 1;
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
}
