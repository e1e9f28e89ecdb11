/* Declarations that the configuration spaces `particles` and `system` share. The data of both are a cb_system. */
#pragma once

#include "scenario/private.h"

typedef struct cb_particles_scenario {
  cb_system *system;
  cb_start start;
} cb_particles_scenario;

/* cb_particles_read_meetings reads contacts, walls and events with the function `read`, and then the key `start`. */
typedef cb_status cb_read_contacts(cb_scenario *s, const cb_node *contacts, const cb_node *walls,
                                   const cb_node *events);
cb_status cb_particles_read_meetings(cb_scenario *s, const cb_node *root, cb_read_contacts *read);
/* Makes the system. A failure of a constraint is reported at the key `constraints` of map, any other failure at
 * `otherwise`. */
cb_status cb_particles_finish(cb_scenario *s, const cb_node *map, const cb_node *otherwise);
cb_status cb_particles_make_run(cb_scenario *s, const cb_run_options *options, cb_run **out);
const char *cb_particles_subject(const cb_scenario *s);
void cb_particles_free(cb_scenario *s);
const cb_system *cb_particles_system(const cb_scenario *s);
const char *cb_particles_body_name(const cb_scenario *s, int i);
extern const cb_problem *const cb_particles_problems[];

#define CB_PARTICLES_CONFIGURATION                                                                                 \
  .problems = cb_particles_problems, .integrator = "lobatto", .observables = cb_observable_groups, .charts = true, \
  .size = sizeof(cb_particles_scenario), .make_run = cb_particles_make_run, .blame = cb_scenario_blame_start,      \
  .attribute = "space", .subject = cb_particles_subject, .free = cb_particles_free, .system = cb_particles_system, \
  .body_name = cb_particles_body_name
