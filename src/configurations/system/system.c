/* A system of coordinates with its metric, potential and constraints as text (scenario/scenario_system.c). It is made
 * as one particle whose space is the configuration space. */
#include "configurations/particles/particles.h"
#include "scenario/private.h"

static cb_status read_system(cb_scenario *s, const cb_node *root) {
  cb_errors errors = cb_errors_begin();
  if (cb_errors_add(&errors, root, cb_scenario_read_system(s, cb_scenario_section(root, "system")))) {
    cb_builder_free(s->builder);
    s->builder = NULL;
  }
  cb_errors_add(&errors, root, cb_particles_read_meetings(s, root, cb_scenario_read_system_contacts));
  return cb_errors_end(&errors);
}

static cb_status finish(cb_scenario *s, const cb_node *root) {
  const cb_node *system = cb_scenario_section(root, "system");
  return cb_particles_finish(s, system, system);
}

static const cb_section sections[] = {{"time", cb_time_table},
                                      {"integrator", cb_step_table},
                                      {"record", cb_record_table},
                                      {"contacts", cb_scenario_wall_contacts_table},
                                      {"start", cb_scenario_start_table},
                                      {NULL, NULL}};
static const char *const keys[] = {"system", "controls", "contacts", "walls", "events", "start", NULL},
                         *const required[] = {"integrator", "time", NULL};

const cb_configuration cb_configuration_system = {
    .name = "system",
    .title = "a system of coordinates",
    .alone = "the coordinates of a system are not positions in a space, so nothing else can act at them",
    .doc = "Any configuration space in one chart, given by its kinetic and potential energy",
    .keys = keys,
    .required = required,
    .read = read_system,
    .finish = finish,
    .sections = sections,
    CB_PARTICLES_CONFIGURATION};
