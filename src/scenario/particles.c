/* Scenarios of particles, in a space or as a system of coordinates: their space, bodies and start. */
#include "scenario/scenario_class.h"
#include "bodies/place.h"
#include "geometry/text_metric.h"
#include "scenario/private.h"
#include <curvebody/body.h>
#include <curvebody/constraint.h>

#include <stdlib.h>
#include <string.h>
#include <stddef.h>

/* --- `space: h3`, `space: {name: h3, curvature: -1, chart: polar}` or `space: {metric: ...}`, and `bodies:` --- */

cb_status cb_space_read(const cb_node *node, cb_space **out) {
  if (cb_text_metric_is(node)) return cb_text_metric_create(node, out);
  const cb_node *name_node = node->kind == CB_NODE_MAP ? cb_node_get(node, "name") : node;
  cb_status status = cb_scenario_check_class("space", node);
  if (status) return status;
  if (!name_node)
    return cb_node_fail(node,
                        "the key `name` is missing: expected the name of a space, such as `h3`, or the key `metric`, a "
                        "metric as text");
  const char *name;
  status = cb_node_string(name_node, &name);
  return status ? status : cb_space_create(name, node, out);
}

cb_status cb_space_open_text(const char *name, const char *text, cb_space **out) {
  cb_tree *tree;
  cb_status status = cb_yaml_read_text(name, text, strlen(text), &tree);
  if (status) return status;
  status = cb_space_read(cb_tree_root(tree), out);
  cb_tree_free(tree);
  return status;
}

cb_status cb_scenario_read_space(cb_scenario *s, const cb_node *node) { return cb_space_read(node, &s->space); }

static cb_status read_bodies(cb_scenario *s, const cb_node *node) {
  if (node->kind != CB_NODE_LIST || node->count == 0)
    return cb_node_fail(node, "expected a list of bodies, at least one");
  s->failed = cb_arena_alloc(s->arena, node->count, sizeof *s->failed);
  if (!s->failed) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bodies", node->count);
  s->bodies = node;
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < node->count; i++) {
    const cb_node *body = node->items[i], *mesh = cb_node_get(cb_node_get(body, "mesh"), "file");
    const char *path;
    cb_status status = cb_scenario_check_class("bodies.*", body);
    if (!status)
      status = s->builder ? cb_body_build(body, s->space, s->builder) : cb_scenario_check_map("bodies.*", body);
    if (!status && mesh) status = cb_scenario_file(s, mesh, &path);
    s->failed[i] = cb_errors_add(&errors, body, status) != CB_OK;
  }
  return cb_errors_end(&errors);
}

/* --- `start: {project: auto, redundant: refuse, tolerance: 0}`: how constraints are treated at the start --- */

typedef struct start_parameters {
  int project, redundant;
  double tolerance;
} start_parameters;

enum { PROJECT_AUTO, PROJECT_NEVER };
enum { REDUNDANT_REFUSE, REDUNDANT_DROP };

const cb_param cb_scenario_start_table[] = {
    {"project", CB_PARAM_CHOICE, offsetof(start_parameters, project), "auto", "", "", "auto|never",
     "auto: projects positions and velocities onto the constraints; never: rejects a start that violates them"},
    {"redundant", CB_PARAM_CHOICE, offsetof(start_parameters, redundant), "refuse", "", "", "refuse|drop",
     "refuse: redundant constraints are an error; drop: they are left out"},
    {"tolerance", CB_PARAM_REAL, offsetof(start_parameters, tolerance), "0", "", ">= 0", NULL,
     "tolerance of a constraint with `project: never`; 0: 1e-9, the precision of typed numbers"},
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

cb_status cb_scenario_read_start(cb_scenario *s, const cb_node *node) {
  start_parameters p;
  const cb_status status = cb_params_bind(cb_scenario_start_table, node, node, NULL, 0, &p);
  if (status || !s->builder) return status;
  s->project = p.project == PROJECT_AUTO;
  s->start_tolerance = p.tolerance;
  cb_builder_drop_redundant(s->builder, p.redundant == REDUNDANT_DROP);
  return CB_OK;
}

/* Reads the keys that scenarios in a space and systems have: contacts, walls, events and start. */
static cb_status read_meetings(cb_scenario *s, const cb_node *root) {
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root,
                cb_scenario_read_contacts(s, cb_scenario_section(root, "contacts"), cb_scenario_section(root, "walls"),
                                          cb_scenario_section(root, "events")));
  cb_errors_add(&errors, root, cb_scenario_read_start(s, cb_scenario_section(root, "start")));
  return cb_errors_end(&errors);
}

/* Reads a scenario in a space. If the space could not be read there is no builder; only errors that do not depend on
 * the space are then reported. */
static cb_status read_in_space(cb_scenario *s, const cb_node *root) {
  const cb_node *space = cb_scenario_section(root, "space"), *bodies = cb_scenario_section(root, "bodies");
  cb_errors errors = cb_errors_begin();
  if (space && !cb_errors_add(&errors, root, cb_scenario_read_space(s, space)))
    cb_errors_add(&errors, root, cb_builder_create(s->space, &s->builder));
  if (bodies) cb_errors_add(&errors, bodies, read_bodies(s, bodies));
  cb_errors_add(
      &errors, root,
      cb_scenario_read_forces(s, cb_scenario_section(root, "potentials"), cb_scenario_section(root, "interactions"),
                              cb_scenario_section(root, "forces")));
  cb_errors_add(&errors, root, cb_scenario_read_constraints(s, cb_scenario_section(root, "constraints")));
  cb_errors_add(&errors, root, read_meetings(s, root));
  return cb_errors_end(&errors);
}

static cb_status read_coordinates(cb_scenario *s, const cb_node *root) {
  cb_errors errors = cb_errors_begin();
  if (cb_errors_add(&errors, root, cb_scenario_read_system(s, cb_scenario_section(root, "system")))) {
    cb_builder_free(s->builder);
    s->builder = NULL;
  }
  cb_errors_add(&errors, root, read_meetings(s, root));
  return cb_errors_end(&errors);
}

/* Adds the position of the causing key to a failure at the end of the builder. */
static cb_status finish_in(cb_scenario *s, const cb_node *map, const cb_node *otherwise) {
  const cb_status status = cb_builder_finish(s->builder, &s->system);
  const cb_node *constraints = cb_node_get(map, "constraints");
  if (!status || status == CB_ERROR_MEMORY || status == CB_ERROR_INPUT) return status;
  return cb_node_fail(constraints && cb_failure_last().kind == CB_FAILURE_CONSTRAINT ? constraints : otherwise, "%s",
                      cb_error_text());
}

static cb_status finish_in_space(cb_scenario *s, const cb_node *root) {
  return finish_in(s, root, cb_scenario_section(root, "bodies"));
}

static cb_status finish_coordinates(cb_scenario *s, const cb_node *root) {
  const cb_node *system = cb_scenario_section(root, "system");
  return finish_in(s, system, system);
}

static cb_status make_run(cb_scenario *s, const cb_run_options *options) {
  return cb_run_create(s->system, s->integrator, options, &s->run);
}

static const char *subject(const cb_scenario *s) { return s->space->class_->name; }

static void free_(cb_scenario *s) {
  cb_system_free(s->system);
  cb_builder_free(s->builder);
  cb_space_free(s->space);
}

static const char *const of_space[] = {"space",    "bodies", "potentials", "interactions", "forces", "constraints",
                                       "contacts", "walls",  "events",     "start",        NULL},
                         *const of_system[] = {"system", "contacts", "walls", "events", "start", NULL},
                         *const space_needs[] = {"integrator", "time", "space", "bodies", NULL},
                         *const system_needs[] = {"integrator", "time", NULL};
static const cb_section sections[] = {{"time", cb_time_table},
                                      {"integrator", cb_step_table},
                                      {"record", cb_record_table},
                                      {"contacts", cb_scenario_contacts_table},
                                      {"start", cb_scenario_start_table},
                                      {NULL, NULL}};

#define OF_PARTICLES                                                                                                 \
  .configuration = &cb_configuration_particles, .integrator = "lobatto", .sections = sections,                       \
  .observables = cb_observable_groups, .make_run = make_run, .blame = cb_scenario_blame_start, .attribute = "space", \
  .subject = subject, .free = free_

const cb_scenario_class cb_scenario_class_space = {.name = "space",
                                                   .keys = of_space,
                                                   .required = space_needs,
                                                   .read = read_in_space,
                                                   .finish = finish_in_space,
                                                   .resolve_body = cb_scenario_resolve_body,
                                                   OF_PARTICLES};

const cb_scenario_class cb_scenario_class_system = {.name = "system",
                                                    .keys = of_system,
                                                    .required = system_needs,
                                                    .read = read_coordinates,
                                                    .finish = finish_coordinates,
                                                    OF_PARTICLES};
