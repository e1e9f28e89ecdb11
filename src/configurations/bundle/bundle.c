/* A bundle as a configuration space, with a gait or with a shape that moves by itself (scenario/bundle_shape.c): the
 * keys `bundle` (with `coordinates`), `gait`, `flow` and `start` of a scenario, and its run. */
#include "scenario/bundle_scenario.h"
#include "core/file.h"
#include "tree/scalar.h"
#include "fluid/shape_surface.h"
#include "scenario/fluid.h"
#include "scenario/warnings.h"
#include "run/bundle_run.h"
#include "scenario/private.h"
#include "bundle/coordinates.h"
#include "bundle/gait_private.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- `coordinates:` of a bundle: {minimum_perturbation: {low: [..], high: [..], points: [..]}} --- */

enum { MAX_NODES = 1000000, USUAL_POINTS = 33 };

/* Reads the list of the key `key`, which has one number per shape variable, into out[n]. */
static cb_status window(const cb_bundle *b, const cb_node *map, const char *key, double *out) {
  const cb_node *list = cb_node_get(map, key);
  if (!list)
    return cb_node_fail(map, "the key `%s` is missing: expected %d number%s, one per shape variable", key, b->n,
                        b->n == 1 ? "" : "s");
  return cb_gait_read_shape(b, list, key, out);
}

static cb_status read_coordinates(cb_scenario *s, const cb_node *node) {
  cb_bundle_scenario *m = s->own;
  static const char *const kinds[] = {"minimum_perturbation"}, *const keys[] = {"low", "high", "points"};
  const cb_bundle *b = m->bundle;
  double low[CB_SHAPE_MAX], high[CB_SHAPE_MAX], wanted[CB_SHAPE_MAX];
  int points[CB_SHAPE_MAX];
  double nodes = 1;
  cb_status status = cb_node_check_keys(node, kinds, 1);
  const cb_node *map = cb_node_get(node, kinds[0]);
  if (!status && !map) return cb_node_fail(node, "expected `minimum_perturbation: {low: .., high: .., points: ..}`");
  if (!status) status = cb_node_check_keys(map, keys, 3);
  if (!status) status = window(b, map, "low", low);
  if (!status) status = window(b, map, "high", high);
  if (!status && cb_node_get(map, "points")) {
    status = window(b, map, "points", wanted);
  } else {
    for (int i = 0; i < b->n; i++) wanted[i] = USUAL_POINTS;
  }
  for (int i = 0; i < b->n && !status; i++) {
    if (!(high[i] > low[i]))
      status = cb_node_fail(map, "%s: expected low below high, found low %g and high %g", b->shape[i], low[i], high[i]);
    else if (!(wanted[i] >= 2 && wanted[i] <= 100000 && wanted[i] == floor(wanted[i])))
      status = cb_node_fail(cb_node_get(map, "points"), "points: expected integers >= 2, found %g", wanted[i]);
    points[i] = (int)wanted[i];
    nodes *= wanted[i];
  }
  if (!status && nodes > MAX_NODES)
    status = cb_node_fail(map, "points: expected a grid of at most %d nodes, found %g", MAX_NODES, nodes);
  cb_bundle *moved = NULL;
  if (!status) status = cb_bundle_minimum_perturbation(b, low, high, points, &moved);
  if (status == CB_ERROR_ARGUMENT || status == CB_ERROR_DOMAIN || status == CB_ERROR_UNSUPPORTED || status > 0)
    status = cb_node_fail(map, "%s", cb_error_text());
  if (status) return status;
  m->plain = m->bundle;
  m->bundle = moved;
  return CB_OK;
}

const cb_scenario_bundle_class *const cb_scenario_bundles[] = {
    &cb_scenario_bundle_surface_drag, &cb_scenario_bundle_immersed, &cb_scenario_bundle_samples, NULL};

typedef struct start_parameters {
  const cb_node *group;
} start_parameters;

const cb_param cb_group_table[] = {{"group", CB_PARAM_NODE, offsetof(start_parameters, group), "", "", "", NULL,
                                    "numbers of the group element at the start (default: the identity)"},
                                   {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* --- the bundle --- */

/* Returns the map of the bundle without the key `coordinates`. A scalar, which is the bundle's name, becomes a map.
 * NULL if memory runs out. */
static const cb_node *own_map(cb_scenario *s, const cb_node *node) {
  const size_t count = node->kind == CB_NODE_MAP ? node->count : 1;
  cb_node *copy = cb_arena_alloc(s->arena, 1, sizeof *copy), *key = cb_arena_alloc(s->arena, 1, sizeof *key);
  if (!copy || !key) return NULL;
  *copy = *key = *node;
  copy->kind = CB_NODE_MAP;
  copy->count = 0;
  copy->keys = cb_arena_alloc(s->arena, count, sizeof *copy->keys);
  copy->items = cb_arena_alloc(s->arena, count, sizeof *copy->items);
  if (!copy->keys || !copy->items) return NULL;
  key->text = "name";
  for (size_t i = 0; i < count; i++) {
    const bool map = node->kind == CB_NODE_MAP;
    if (map && !strcmp(node->keys[i]->text, "coordinates")) continue;
    copy->keys[copy->count] = map ? node->keys[i] : key;
    copy->items[copy->count++] = map ? node->items[i] : node;
  }
  return copy;
}

static cb_status unknown(const cb_node *name) {
  const char *names[CB_REGISTRY_MAX + 32];
  size_t n = cb_registry_names(&cb_bundle_registry, names);
  for (const cb_scenario_bundle_class *const *k = cb_scenario_bundles; *k && n < sizeof names / sizeof *names; k++)
    names[n++] = (*k)->name;
  return cb_fail_unknown(name, "bundle", name->text, names, n);
}

static cb_status read_bundle(cb_scenario *s, const cb_node *node) {
  cb_bundle_scenario *m = s->own;
  m->repeat = 1;
  m->period = 1;
  const bool map = node->kind == CB_NODE_MAP;
  if (!map && node->kind != CB_NODE_SCALAR)
    return cb_node_fail(node, "expected the name of a bundle, or a map with `name`, found %s",
                        cb_node_found(node).text);
  const cb_node *named = map ? cb_node_get(node, "name") : node;
  const char *name;
  cb_status status = cb_scenario_check_class("bundle", node);
  if (status) return status;
  if (!named) return cb_node_fail(node, "the key `name` is missing: see `curvebody list bundles`");
  status = cb_node_string(named, &name);
  if (status) return status;
  const cb_node *own = own_map(s, node), *coordinates = cb_node_get(node, "coordinates");
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
  const cb_scenario_bundle_class *const *kind = cb_scenario_bundles;
  while (*kind && strcmp((*kind)->name, name)) kind++;
  const cb_bundle_class *const *class = cb_bundle_classes;
  while (*class && strcmp((*class)->name, name)) class ++;
  if (!*kind && !*class) return unknown(named);
  status = *kind ? (*kind)->read(s, own, &m->bundle) : cb_bundle_create(name, own, &m->bundle);
  if (cb_failure_is_of_input(status) && !cb_failure_last().placed) return cb_node_fail(node, "%s", cb_error_text());
  if (!status && coordinates) status = read_coordinates(s, coordinates);
  return status;
}

/* --- the gait, the flow, and the group element at the start --- */

/* Reads the scenario from the file that the node `file` names. The nodes of *root are in the arena of s. */
static cb_status read_other(cb_scenario *s, const cb_node *file, const cb_node **root) {
  const char *path;
  char *text;
  size_t n;
  cb_status status = cb_node_string(file, &path);
  if (!status) status = cb_scenario_file(s, file, &path);
  if (status) return status;
  const size_t length = strlen(path);
  if (length > 3 && !strcmp(path + length - 3, ".h5"))
    return cb_node_fail(file, "file: expected a scenario, as `curvebody gait .. optimize -o best.yaml` writes it");
  status = cb_read_whole_file(path, CB_YAML_LARGEST, &text, &n);
  if (status) return cb_node_fail(file, "file: %s", cb_error_text());
  status = cb_yaml_build(s->arena, path, text, n, 0, 0, root);
  free(text);
  return status;
}

/* Makes the map with the keys of `own`, without `file`, and the keys of `other` that `own` does not have. */
static const cb_node *merge(cb_scenario *s, const cb_node *own, const cb_node *other) {
  const cb_node *const from[] = {own, other};
  cb_node *out = cb_arena_alloc(s->arena, 1, sizeof *out);
  if (!out) return NULL;
  *out = *own;
  out->count = 0;
  out->keys = cb_arena_alloc(s->arena, own->count + other->count, sizeof *out->keys);
  out->items = cb_arena_alloc(s->arena, own->count + other->count, sizeof *out->items);
  if (!out->keys || !out->items) return NULL;
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < from[k]->count; i++) {
      const char *key = from[k]->keys[i]->text;
      if (k ? cb_node_get(own, key) != NULL : !strcmp(key, "file")) continue;
      out->keys[out->count] = from[k]->keys[i];
      out->items[out->count++] = from[k]->items[i];
    }
  return out;
}

cb_status cb_scenario_find_gait(cb_scenario *s, const cb_node *node, const cb_node **gait, const cb_node **bundle) {
  const cb_node *file = cb_node_get(node, "file"), *root = NULL;
  *gait = node;
  *bundle = NULL;
  if (!file) return CB_OK;
  const cb_status status = read_other(s, file, &root);
  if (status) return status;
  const cb_node *other = cb_node_get(root, "gait");
  *bundle = cb_node_get(root, "bundle");
  if (!*bundle || !other || other->kind != CB_NODE_MAP || cb_node_get(other, "file"))
    return cb_node_fail(file, "file: expected a scenario with `bundle` and with a `gait` that is not in another file");
  *gait = merge(s, node, other);
  return *gait ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
}

static cb_status read_gait(cb_scenario *s, const cb_node *node) {
  cb_bundle_scenario *m = s->own;
  if (!node) return CB_OK;
  if (!m->bundle) return cb_gait_check_keys(node);
  const cb_node *bundle;
  cb_status status = cb_scenario_find_gait(s, node, &node, &bundle);
  if (!status) status = cb_gait_read(m->bundle, node, &m->repeat, &m->period, &m->gait);
  if (!status) status = cb_gait_closed(m->bundle, m->gait);
  return status == CB_ERROR_ARGUMENT ? cb_node_fail(node, "%s", cb_error_text()) : status;
}

/* Writes the names of the numbers of a group element, such as "x, y, theta". */
static void name_numbers(const cb_group *G, char *text, size_t size) {
  size_t used = 0;
  for (int k = 0; k < G->size && used < size; k++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", k ? ", " : "", G->number[k]);
}

/* Checks that a list of numbers is a group element: the projection onto the group must leave it unchanged within the
 * precision of typed numbers. */
static cb_status check_element(const cb_group *G, const cb_node *list, const char *what, double *g) {
  static const double typed = 1e-6;
  double on[CB_GROUP_SIZE], off = 0, maximum = 1;
  memcpy(on, g, (size_t)G->size * sizeof *on);
  G->project(G, on);
  for (int k = 0; k < G->size; k++) {
    off = fmax(off, fabs(on[k] - g[k]));
    maximum = fmax(maximum, fabs(g[k]));
    if (!isfinite(on[k])) off = INFINITY;
  }
  if (!(off <= typed * maximum))
    return cb_node_fail(list,
                        "%s: expected an element of the group, found numbers at a distance %.3g from the group %s",
                        what, off, G->name);
  memcpy(g, on, (size_t)G->size * sizeof *on);
  return CB_OK;
}

cb_status cb_scenario_read_element(const cb_group *G, const cb_node *list, const char *what, double *g) {
  if (list->kind != CB_NODE_LIST || list->count != (size_t)G->size) {
    char numbers[256] = "", found[64];
    name_numbers(G, numbers, sizeof numbers);
    if (list->kind == CB_NODE_LIST)
      snprintf(found, sizeof found, "%zu", list->count);
    else
      snprintf(found, sizeof found, "%s", cb_node_found(list).text);
    return cb_node_fail(list, "%s: expected a list of %d number%s of %s (%s), found %s", what, G->size,
                        G->size == 1 ? "" : "s", G->name, numbers, found);
  }
  const cb_status status = cb_node_reals(list, list->count, g);
  return status ? status : check_element(G, list, what, g);
}

/* Finds velocity and gradient of a flow that is linear in x, y, z and does not depend on the time. Returns
 * CB_ERROR_DOMAIN, with a place in the text, if it is another flow. */
static cb_status linear_part(const cb_flow *flow, cb_bundle_flow *out) {
  enum { PLACES = 7 };
  /* The times, and the numbers of one place, are not commensurable with the periods that a flow is likely to have, so
   * that a periodic flow is not taken for a linear one. */
  static const double time[] = {0, 1.4142135623730951, 51.961524227066320};
  static const double place[PLACES][3] = {{0, 0, 0},
                                          {1, 0.3, -0.7},
                                          {-2, 5, 1},
                                          {30, -11, 7},
                                          {-400, 90, 250},
                                          {3, 3, 3},
                                          {0.1414213562373095, -0.2236067977499790, 0.0577350269189626}};
  double u[PLACES][3], G[PLACES][3][3];
  for (int k = 0; k < 3; k++) {
    const cb_status status = cb_flow_at(flow, time[k], PLACES, place, u, G, NULL);
    if (status) return status;
    if (k == 0) {
      memcpy(out->velocity, u[0], sizeof u[0]);
      memcpy(out->gradient, G[0], sizeof G[0]);
    }
    for (int i = 0; i < PLACES; i++) {
      double off = 0, size = 0;
      for (int c = 0; c < 3; c++) {
        const double *row = out->gradient[c], *x = place[i];
        off = fmax(off, fabs(u[i][c] - out->velocity[c] - row[0] * x[0] - row[1] * x[1] - row[2] * x[2]));
        size += fabs(u[i][c]) + fabs(out->velocity[c]);
      }
      if (off > 1e-12 * size)
        return cb_fail(
            CB_ERROR_DOMAIN,
            "the flow at (%g, %g, %g), t = %g is not that of a linear flow: expected a velocity that is linear "
            "in x, y, z and steady, such as {uniform: [1, 0, 0]} or {shear: {gradient: [..]}}",
            place[i][0], place[i][1], place[i][2], time[k]);
    }
  }
  return CB_OK;
}

/* Reads the flow of the fluid in which the body moves. */
static cb_status read_flow(cb_scenario *s, const cb_node *node) {
  cb_bundle_scenario *m = s->own;
  const cb_expression_scope none = {.n = 0};
  cb_flow *flow = NULL;
  if (!node) return CB_OK;
  cb_status status = cb_scenario_read_flow(s, node, &none, &flow);
  if (!status) status = linear_part(flow, &m->flow);
  if (!status) status = cb_flow_check_divergence(flow);
  cb_flow_free(flow);
  if (!status && m->bundle) status = cb_bundle_check_flow(m->plain ? m->plain : m->bundle, &m->flow);
  if (!status) m->flow_node = node;
  return cb_scenario_placed(s, status, node, false);
}

static cb_status read_group(cb_scenario *s, const cb_node *node) {
  cb_bundle_scenario *m = s->own;
  start_parameters p;
  if (!m->bundle) return cb_params_bind(cb_group_table, node, node, NULL, 0, NULL);
  const cb_group *G = m->bundle->group;
  G->identity(G, m->start);
  const cb_status status = cb_params_bind(cb_group_table, node, node, NULL, 0, &p);
  return status || !p.group ? status : cb_scenario_read_element(G, p.group, "group", m->start);
}

static void free_(cb_scenario *s) {
  cb_bundle_scenario *m = s->own;
  cb_gait_free(m->gait);
  cb_shape_scenario_free(m->moving);
  cb_optimum_scenario_free(m->optimum);
  cb_bundle_free(m->bundle);
  cb_bundle_free(m->plain);
  cb_shape_surface_free(m->shape);
  if (!m->body) return;
  cb_fluid_model_free(m->body->added_mass);
  cb_poses_free(m->body->poses);
  cb_surface_free(m->body->surface);
}

const char *cb_bundle_scenario_name(const cb_bundle_scenario *m) {
  return (m->plain ? m->plain : m->bundle)->class_->name;
}

const cb_bundle *cb_scenario_bundle(const cb_scenario *s) {
  const cb_bundle_scenario *m = cb_bundle_scenario_of(s);
  return m ? m->bundle : NULL;
}

const cb_gait *cb_scenario_gait(const cb_scenario *s) {
  const cb_bundle_scenario *m = cb_bundle_scenario_of(s);
  return m && cb_bundle_scenario_follows(m, NULL) ? m->gait : NULL;
}

const cb_optimum_problem *cb_scenario_optimum(const cb_scenario *s) {
  const cb_bundle_scenario *m = cb_bundle_scenario_of(s);
  return m && m->optimum ? &m->optimum->problem : NULL;
}

/* --- the configuration space --- */

/* The keys of `time`. If `end` is not given, the run ends with the last cycle. */
const cb_param cb_cycle_time_table[] = {
    {"start", CB_PARAM_REAL, offsetof(cb_time_parameters, start), "0", "s", "", NULL,
     "time at the start of the run; a cycle begins at time 0"},
    {"end", CB_PARAM_REAL, offsetof(cb_time_parameters, end), "nan", "s", "", NULL,
     "time at the end (default: start + repeat*period of the gait, or start + period of `shape`)"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* There is no key `retries` here: a failed step along a fibre is not repeated with half its length, because the halves
 * could step over a singular shape. */
const cb_param cb_cycle_step_table[] = {
    {"step", CB_PARAM_REAL, offsetof(cb_step_parameters, step), NULL, "s", "> 0", NULL, "length of a step"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status read_kind(cb_scenario *s, const cb_node *root) {
  const cb_node *bundle = cb_scenario_section(root, "bundle"), *gait = cb_scenario_section(root, "gait"),
                *flow = cb_scenario_section(root, "flow"), *start = cb_scenario_section(root, "start"),
                *shape = cb_scenario_section(root, "shape"), *optimum = cb_scenario_section(root, "optimum"),
                *controls = cb_scenario_section(root, "controls");
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, bundle, read_bundle(s, bundle));
  cb_errors_add(&errors, gait, read_gait(s, gait));
  cb_errors_add(&errors, flow, read_flow(s, flow));
  cb_errors_add(&errors, start, read_group(s, start));
  cb_errors_add(&errors, shape, cb_scenario_read_shape(s, shape));
  cb_errors_add(&errors, optimum, cb_scenario_read_optimum(s, optimum));
  if (controls && !shape)
    cb_errors_add(
        &errors, controls,
        cb_node_fail(controls, "`controls` act on torques of `shape`, and a gait has none: expected `shape`"));
  return cb_errors_end(&errors);
}

/* Returns the duration of all cycles; 0 if the bundle could not be read. */
static double length(const cb_scenario *s) {
  const cb_bundle_scenario *m = s->own;
  return m->repeat * m->period;
}

static cb_status make_run(cb_scenario *s, const cb_run_options *options, cb_run **out) {
  const cb_bundle_scenario *m = s->own;
  if (m->moving) return cb_scenario_make_shape_run(s, options, out);
  if (!m->gait)
    return cb_node_fail(cb_tree_root(s->tree),
                        "the key `gait` is missing: expected `gait`, or `shape` for variables that "
                        "move by themselves");
  const cb_bundle_path path = {m->bundle, m->gait, m->period, m->flow_node ? &m->flow : NULL};
  return cb_run_create_bundle(&path, m->start, s->integrator, options, out);
}

/* Returns the node at which an error in the times of the run is reported. This is `time` or, without this key, `gait`,
 * which then determines the end. */
static const cb_node *blame(const cb_node *root, cb_status status) {
  const cb_node *time = cb_node_get(root, "time");
  (void)status;
  return time ? time : cb_node_get(root, "gait");
}

static const char *subject(const cb_scenario *s) { return cb_bundle_scenario_name(s->own); }
static const cb_bundle_scenario *gait(const cb_scenario *s) { return s->own; }

static const cb_problem *const problems[] = {&cb_problem_group_path, &cb_problem_shapes_with_inertia,
                                             &cb_problem_shapes_with_drag, NULL};

/* Returns the problems that the scenario poses. A gait poses the path in the group. A shape that moves by itself poses
 * the motion with inertia or the motion with drag, as its bundle says (cb_bundle.resistance), or both if the bundle
 * allows both. */
static const cb_problem *const *posed(const cb_scenario *s) {
  static const cb_problem *const path[] = {&cb_problem_group_path, NULL},
                                 *const inertia[] = {&cb_problem_shapes_with_inertia, NULL},
                                 *const drag[] = {&cb_problem_shapes_with_drag, NULL};
  const cb_bundle_scenario *m = s->own;
  const cb_resistance resistance = m->bundle ? m->bundle->resistance : CB_RESISTANCE_ANY;
  if (!m->moving) return m->gait ? path : problems;
  return resistance == CB_RESISTANCE_INERTIA ? inertia : resistance == CB_RESISTANCE_DRAG ? drag : problems + 1;
}

static const char *const keys[] = {"bundle", "gait", "shape", "controls", "flow", "start", "optimum", NULL};
static const char *const required[] = {"integrator", NULL}, *const only[] = {"gait", "shape", "optimum", NULL};
static const cb_section sections[] = {{"time", cb_cycle_time_table}, {"integrator", cb_cycle_step_table},
                                      {"record", cb_record_table},   {"start", cb_group_table},
                                      {"optimum", cb_optimum_table}, {NULL, NULL}};

const cb_configuration cb_configuration_bundle = {
    .name = "bundle",
    .title = "a bundle",
    .doc =
        "The group of a bundle, over a closed path of shapes that is prescribed, or over shapes that move by "
        "themselves",
    .problems = problems,
    .posed = posed,
    .integrator = "magnus",
    .keys = keys,
    .required = required,
    .only = only,
    .without = "the bundle whose shape moves",
    .alone = "the shape of a gait is prescribed, and that of `shape` has its own equation, on which nothing else acts",
    .sections = sections,
    .observables = cb_bundle_observables,
    .size = sizeof(cb_bundle_scenario),
    .read = read_kind,
    .length = length,
    .make_run = make_run,
    .blame = blame,
    .attribute = "bundle",
    .subject = subject,
    .free = free_,
    .resolve = cb_scenario_resolve_bundle,
    .gait = gait,
    .warn = cb_scenario_warn_of_bundle};
