/* Particles in a space: the space, the bodies that they form, and their start. Their motion is in
 * run/particles_run.c. */
#include "configurations/particles/particles.h"
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

cb_status cb_scenario_read_start(cb_scenario *s, const cb_node *node, cb_start *out) {
  start_parameters p;
  const cb_status status = cb_params_bind(cb_scenario_start_table, node, node, NULL, 0, &p);
  if (status || !s->builder) return status;
  *out = (cb_start){p.project == PROJECT_AUTO, p.tolerance};
  cb_builder_drop_redundant(s->builder, p.redundant == REDUNDANT_DROP);
  return CB_OK;
}

cb_status cb_particles_read_meetings(cb_scenario *s, const cb_node *root, cb_read_contacts *read) {
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root,
                read(s, cb_scenario_section(root, "contacts"), cb_scenario_section(root, "walls"),
                     cb_scenario_section(root, "events")));
  cb_errors_add(
      &errors, root,
      cb_scenario_read_start(s, cb_scenario_section(root, "start"), &((cb_particles_scenario *)s->own)->start));
  return cb_errors_end(&errors);
}

/* Reads a scenario in a space. If the space could not be read there is no builder; only errors that do not depend on
 * the space are then reported. */
static cb_status read_in_space(cb_scenario *s, const cb_node *root) {
  const cb_node *space = cb_scenario_section(root, "space"), *bodies = cb_scenario_section(root, "bodies");
  cb_errors errors = cb_errors_begin();
  if (space && !cb_errors_add(&errors, root, cb_scenario_read_space(s, space)))
    cb_errors_add(&errors, root, cb_scenario_make_builder(s, s->space));
  if (bodies) cb_errors_add(&errors, bodies, read_bodies(s, bodies));
  cb_errors_add(
      &errors, root,
      cb_scenario_read_forces(s, cb_scenario_section(root, "potentials"), cb_scenario_section(root, "interactions"),
                              cb_scenario_section(root, "forces")));
  cb_errors_add(&errors, root, cb_scenario_read_constraints(s, cb_scenario_section(root, "constraints")));
  cb_errors_add(&errors, root, cb_particles_read_meetings(s, root, cb_scenario_read_contacts));
  return cb_errors_end(&errors);
}

cb_status cb_particles_finish(cb_scenario *s, const cb_node *map, const cb_node *otherwise) {
  const cb_status status = cb_builder_finish(s->builder, &((cb_particles_scenario *)s->own)->system);
  const cb_node *constraints = cb_node_get(map, "constraints");
  if (!status || status == CB_ERROR_MEMORY || status == CB_ERROR_INPUT) return status;
  return cb_node_fail(constraints && cb_failure_last().kind == CB_FAILURE_CONSTRAINT ? constraints : otherwise, "%s",
                      cb_error_text());
}

static cb_status finish(cb_scenario *s, const cb_node *root) {
  return cb_particles_finish(s, root, cb_scenario_section(root, "bodies"));
}

cb_status cb_particles_make_run(cb_scenario *s, const cb_run_options *options, cb_run **out) {
  const cb_particles_scenario *m = s->own;
  cb_run_options of_start = *options;
  of_start.project = m->start.project;
  of_start.start_tolerance = m->start.tolerance;
  return cb_run_create(m->system, s->integrator, &of_start, out);
}

const char *cb_particles_subject(const cb_scenario *s) { return s->space->class_->name; }
void cb_particles_free(cb_scenario *s) { cb_system_free(((cb_particles_scenario *)s->own)->system); }
const cb_system *cb_particles_system(const cb_scenario *s) { return ((cb_particles_scenario *)s->own)->system; }
const char *cb_particles_body_name(const cb_scenario *s, int i) {
  return cb_system_body_name(cb_particles_system(s), i);
}

const cb_problem *const cb_particles_problems[] = {&cb_problem_hamiltonian, NULL};
static const cb_section sections[] = {{"time", cb_time_table},
                                      {"integrator", cb_step_table},
                                      {"record", cb_record_table},
                                      {"contacts", cb_scenario_contacts_table},
                                      {"start", cb_scenario_start_table},
                                      {NULL, NULL}};

static const char *const keys[] = {"space",    "bodies", "potentials", "interactions", "forces",   "constraints",
                                   "contacts", "walls",  "events",     "start",        "controls", NULL},
                         *const required[] = {"integrator", "time", "space", "bodies", NULL};

const cb_configuration cb_configuration_particles = {
    .name = "space",
    .title = "particles in a space",
    .doc = "Points with masses in a space; constraints, contacts and events between them",
    .usual = true,
    .keys = keys,
    .required = required,
    .read = read_in_space,
    .finish = finish,
    .resolve_body = cb_scenario_resolve_body,
    .sections = sections,
    CB_PARTICLES_CONFIGURATION};
