/* What the configurations of particles in a space and of systems of coordinates share: both are a cb_system. */
#pragma once

#include "scenario/private.h"

typedef struct cb_particles_scenario {
  cb_system *system;
  cb_start start;
} cb_particles_scenario;

/* Reads contacts, walls, events and start. */
cb_status cb_particles_read_meetings(cb_scenario *s, const cb_node *root);
/* Makes the system. map: the map with `constraints`; a failure is reported there or at `otherwise`. */
cb_status cb_particles_finish(cb_scenario *s, const cb_node *map, const cb_node *otherwise);
cb_status cb_particles_make_run(cb_scenario *s, const cb_run_options *options, cb_run **out);
const char *cb_particles_subject(const cb_scenario *s);
void cb_particles_free(cb_scenario *s);
const cb_system *cb_particles_system(const cb_scenario *s);
const char *cb_particles_body_name(const cb_scenario *s, int i);
extern const cb_problem *const cb_particles_problems[];
extern const cb_section cb_particles_sections[];

#define CB_PARTICLES_CONFIGURATION                                                               \
  .problems = cb_particles_problems, .integrator = "lobatto", .sections = cb_particles_sections, \
  .observables = cb_observable_groups, .charts = true, .size = sizeof(cb_particles_scenario),    \
  .make_run = cb_particles_make_run, .blame = cb_scenario_blame_start, .attribute = "space",     \
  .subject = cb_particles_subject, .free = cb_particles_free, .system = cb_particles_system,     \
  .body_name = cb_particles_body_name
