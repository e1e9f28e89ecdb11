/* A run of particles in a space: declarations shared by the files that start, step, measure and recentre it. */
#pragma once

#include "run/run_private.h"
#include "run/contacts_step.h"
#include "run/falling.h"
#include "core/arena.h"
#include "dynamics/system_facts.h"
#include <curvebody/constraint.h>
#include <curvebody/integrator.h>

/* --- measuring a state for the fields of the record (run/particles_measure.c) --- */

/* The recorded quantities of constraints, and scratch memory to compute them. */
struct cb_measure_rows {
  cb_constraints *constraints;
  struct cb_gram *gram;
  double *velocity, *acceleration, *gradient; /* work arrays */
  double *multiplier, *residual, *rate, *second;
};

/* The data from which the fields are computed. */
typedef struct cb_measure {
  const cb_system *system;
  const cb_space *space;
  cb_integrator *integrator;
  const cb_state *state;
  const cb_chart *chart;
  double kinetic, potential;       /* energies of the state, computed once for three fields */
  double momentum[CB_KILLING_MAX]; /* the momenta of the Killing fields */
  double mean[3];                  /* the Karcher mean, in plot coordinates */
  struct cb_measure_rows *rows;    /* quantities of constraints, computed once for four fields; NULL: not recorded */
  double *points;                  /* [n*max(embedding, 3)]: scratch for the Karcher mean, and for plot velocities */
  cb_origin *places; /* [n]: scratch for the mean, in spaces whose coordinates grow exponentially with the distance */
} cb_measure;

/* Fills m->kinetic and m->potential. */
cb_status cb_measure_energy(cb_measure *m);

/* Fills m->mean. If there is no mean, or if it has no plot coordinates, the numbers are nan, and the function fails
 * with CB_ERROR_DOMAIN and the reason. */
cb_status cb_measure_mean(cb_measure *m);

void cb_measure_rows_free(cb_measure *m);
cb_status cb_measure_rows(cb_measure *m);
/* Computes the largest residual: |g| of a constraint g = 0 of positions, or |a v - b| of a constraint a v = b of
 * velocities v. If m->rows exists, it must have been filled for this state; otherwise scratch must have one number per
 * constraint and n*k more (n particles with k coordinates). */
cb_status cb_measure_worst_row(const cb_measure *m, double *scratch, double *worst);

/* The warnings and comparisons since the start. They are a part of the restart state, so that a resumed run reports the
 * same as an uninterrupted run. Therefore all members are of type double. */
typedef struct cb_particles_watch {
  /* not 0: the run has warned of contacts with lost relative positions, of momenta without correct digits, of a row
   * without a mean */
  double doubted, lost_momenta, lost_mean;
  double moved; /* not 0: a particle has left its position at the start */
  double step;  /* number of the last step at which all conserved quantities were compared */
  cb_energy_change energy;
  double lost; /* not 0: a momentum has become unknown, or none was known at the start */
  double momentum_change, momentum_scale, constraint;
} cb_particles_watch;

typedef struct cb_particles {
  const cb_system *system;
  cb_integrator *integrator;
  cb_state *state, *spare;
  cb_state *before;      /* the state before a step, if points may pass the antipodes of other points; otherwise NULL */
  cb_contacts *contacts; /* NULL: nothing can collide */
  int *nearest;          /* [components]: work array of cb_bases_follow */
  double start_moved, start_turned; /* the largest change of a coordinate and of a velocity by which the start state was
                                     * made to satisfy the constraints */
  cb_measure measure;
  bool measures_energy, measures_momenta, measures_mean, measures_constraints;
  cb_particles_watch watch;
  cb_falling_plate plate;
  cb_falling *falling;                  /* the motion of that plate; NULL: `falling_regime` is not recorded */
  struct cb_particles_dropped *dropped; /* constraints that were left out; NULL: none (run/particles_change.c) */
  struct cb_particles_change *change;   /* the changes of conserved quantities (run/particles_change.c) */
} cb_particles;

static inline cb_particles *cb_particles_of(const cb_run *run) { return run->own; }

extern const cb_observable cb_observables[]; /* a NULL group ends it; run/particles_measure.c */

/* Fills the layout, the fields and the buffers of a row. */
cb_status cb_particles_layout(cb_run *run);

/* cb_particles_remember stores the conserved quantities of the start; cb_particles_compare compares these quantities
 * with their values in a row. cb_particles_stand is called after the origins of the state were set, and before the
 * first row: it stores the positions from which cb_particles_compare finds whether particles have moved. */
cb_status cb_particles_remember(cb_run *run);
void cb_particles_stand(cb_run *run);
void cb_particles_compare(cb_run *run, bool last);

/* Constraints that were dropped as redundant; all functions do nothing if there are none, but
 * cb_particles_dropped_residual must not be called then. cb_particles_watch_dropped makes the data of these
 * constraints; cb_particles_look_at_dropped computes their residuals in the present state, and
 * cb_particles_dropped_residual returns these residuals; cb_particles_check_dropped fails if a dropped constraint does
 * not follow from the others in the present state. */
cb_status cb_particles_watch_dropped(cb_run *run);
void cb_particles_free_dropped(cb_particles *p);
cb_status cb_particles_look_at_dropped(cb_particles *p);
const double *cb_particles_dropped_residual(const cb_particles *p);
cb_status cb_particles_check_dropped(cb_run *run);

/* Moves the origins of components that have drifted away, so that they are again at the centre of their coordinates. */
cb_status cb_particles_recentre(cb_run *run);
/* Returns cosh of the largest distance of a particle from its origin, in radii of curvature, and sets *furthest to this
 * particle. In spaces whose coordinates do not grow exponentially with the distance it returns 1. */
double cb_particles_width(const cb_run *run, int *furthest);
/* Fails with CB_ERROR_UNSUPPORTED if a particle is so far from the origin of its component that its coordinates lose
 * too many digits. */
cb_status cb_particles_check_spread(const cb_run *run);
