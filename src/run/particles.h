/* A run of particles in a space: what the files that start, step, measure and recentre it share. */
#pragma once

#include "run/change.h"
#include "run/contacts.h"
#include "run/falling.h"
#include "run/measure.h"
#include "run/run_private.h"

/* What has been told and compared since the start. It goes with the state, so that a run that goes on tells what it would
 * have told; numbers alone, as pieces of state are. */
typedef struct cb_particles_watch {
  double doubted, lost_momenta, lost_mean; /* not 0: the place of a contact, momenta, the mean were warned of */
  double moved;                            /* not 0: from where it stood */
  double step;                             /* when all was last compared */
  cb_energy_change energy;
  double lost; /* not 0: a momentum is no longer known, or was not at the start */
  double momentum_change, momentum_scale, constraint;
} cb_particles_watch;

typedef struct cb_particles {
  const cb_system *system;
  cb_integrator *integrator;
  cb_state *state, *spare;
  cb_state *before;                 /* a step, where points may pass one another's antipode in it; otherwise NULL */
  cb_contacts *contacts;            /* NULL: nothing can collide */
  int *nearest;                     /* scratch for the bases of contacts */
  double start_moved, start_turned; /* largest corrections of a coordinate and a velocity at the start */
  cb_measure measure;
  bool measures_energy, measures_momenta, measures_mean, measures_constraints;
  cb_particles_watch watch;
  cb_falling_plate plate;
  cb_falling *falling;                  /* NULL: not asked for */
  struct cb_particles_dropped *dropped; /* constraints left out; NULL: none; run/particles_dropped.c */
  struct cb_particles_change *change;   /* from what is conserved; run/particles_change.c */
} cb_particles;

extern const cb_observable cb_observables[]; /* ended by a NULL group; run/measure.c */

/* Fills layout, fields and the buffers of a row. */
cb_status cb_particles_layout(cb_run *run);

/* Keeps what is conserved of the start, and compares a row with it. Between the two, once the state has its origins:
 * where particles are, to tell whether they rest. */
cb_status cb_particles_remember(cb_run *run);
void cb_particles_stand(cb_run *run);
void cb_particles_compare(cb_run *run, bool last);

/* Brings the start to the constraints, or refuses it. */
cb_status cb_particles_project(cb_run *run);

/* Constraints that were dropped as implied by the others (nothing is done where there are none): makes what they are
 * watched with, takes what the state leaves of them, and fails where one is not implied any more. */
cb_status cb_particles_watch_dropped(cb_run *run);
void cb_particles_free_dropped(cb_particles *p);
cb_status cb_particles_look_at_dropped(cb_particles *p);
const double *cb_particles_dropped_residual(const cb_particles *p);
cb_status cb_particles_check_dropped(cb_run *run);

/* Brings components that have drifted back to the centre of their coordinates. */
cb_status cb_particles_recentre(cb_run *run);
/* cosh of how far, in radii of curvature, a particle is from its origin at most, where numbers grow with that; and which. */
double cb_particles_width(const cb_run *run, int *furthest);
/* CB_ERROR_UNSUPPORTED where a component is too wide for one origin. */
cb_status cb_particles_check_spread(const cb_run *run);

/* One step of length h of the state, halved at most `retries` times if it fails; tells the sink of every halving. */
cb_status cb_particles_advance(cb_run *run, cb_sink *sink, double h);
