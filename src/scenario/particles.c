/* Scenarios of particles: in a space, or as a system of coordinates. */
#include "scenario/kind.h"

#include <curvebody/body.h>

/* What both have. */
static cb_status read_meetings(cb_scenario *s, const cb_node *root) {
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, root,
                cb_scenario_read_contacts(s, cb_scenario_section(root, "contacts"), cb_scenario_section(root, "walls"),
                                          cb_scenario_section(root, "events")));
  cb_errors_add(&errors, root, cb_scenario_read_start(s, cb_scenario_section(root, "start")));
  return cb_errors_end(&errors);
}

/* Without a space there is no builder: what can be told without is. */
static cb_status read_in_space(cb_scenario *s, const cb_node *root) {
  const cb_node *space = cb_scenario_section(root, "space"), *bodies = cb_scenario_section(root, "bodies");
  cb_errors errors = cb_errors_begin();
  if (space && !cb_errors_add(&errors, root, cb_scenario_read_space(s, space)))
    cb_errors_add(&errors, root, cb_builder_create(s->space, &s->builder));
  if (bodies) cb_errors_add(&errors, bodies, cb_scenario_read_bodies(s, bodies));
  cb_errors_add(
      &errors, root,
      cb_scenario_read_forces(s, cb_scenario_section(root, "potentials"), cb_scenario_section(root, "interactions")));
  cb_errors_add(&errors, root, cb_scenario_read_constraints(s, cb_scenario_section(root, "constraints")));
  cb_errors_add(&errors, root, read_meetings(s, root));
  return cb_errors_end(&errors);
}

static cb_status read_coordinates(cb_scenario *s, const cb_node *root) {
  cb_errors errors = cb_errors_begin();
  if (cb_errors_add(&errors, root, cb_scenario_read_system(s, cb_scenario_section(root, "system"))))
    cb_builder_free(s->builder), s->builder = NULL;
  cb_errors_add(&errors, root, read_meetings(s, root));
  return cb_errors_end(&errors);
}

/* A failure of the builder at its end, with the place of what it is about. */
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

static const char *subject(const cb_scenario *s) { return s->space->kind->name; }

static void free_(cb_scenario *s) {
  cb_system_free(s->system);
  cb_builder_free(s->builder);
  cb_geometry_free(s->space);
}

static const char *const of_space[] = {"space",    "bodies", "potentials", "interactions", "constraints",
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
  .configuration = &cb_configuration_particles, .method = "lobatto", .sections = sections,                           \
  .observables = cb_observable_groups, .make_run = make_run, .blame = cb_scenario_blame_start, .attribute = "space", \
  .subject = subject, .free = free_

const cb_scenario_kind cb_scenario_kind_space = {.name = "space",
                                                 .keys = of_space,
                                                 .required = space_needs,
                                                 .read = read_in_space,
                                                 .finish = finish_in_space,
                                                 .resolve_body = cb_scenario_resolve_body,
                                                 OF_PARTICLES};

const cb_scenario_kind cb_scenario_kind_system = {.name = "system",
                                                  .keys = of_system,
                                                  .required = system_needs,
                                                  .read = read_coordinates,
                                                  .finish = finish_coordinates,
                                                  OF_PARTICLES};
