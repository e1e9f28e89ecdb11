/* Fixed-point iteration for the stages of one step, with a measured contraction.
 *
 * An iteration that changes the stages by delta and contracts by rho leaves an error of delta rho/(1-rho), and ends
 * when that is below what is asked for, or when the changes are noise and contract no more. Source: Hairer, McLachlan &
 * Razakarivony, Achieving Brouwer's law with implicit Runge-Kutta methods, BIT 48 (2008) 231,
 * doi:10.1007/s10543-008-0170-3.
 */
#ifndef CB_INTEGRATORS_FIXED_POINT_H
#define CB_INTEGRATORS_FIXED_POINT_H

#include <curvebody/integrator.h>

#include <float.h>

/* How far one iteration moved the stages: the largest change, the largest move in the step, the largest coordinate. */
typedef struct cb_stage_change {
  double change, size, position;
} cb_stage_change;

/* A few units of round-off of the moves in a step, or `units` of the coordinates, at which forces are evaluated. */
static inline bool cb_stage_change_is_noise(const cb_stage_change *c, double units) {
  return c->change <= 256 * DBL_EPSILON * c->size || c->change <= units * DBL_EPSILON * c->position;
}

typedef struct cb_fixed_point {
  const char *name;    /* of the method, for errors */
  double target;       /* error relative to the largest move in the step */
  double noise;        /* units of cb_stage_change_is_noise */
  int most;            /* iterations */
  double *contraction; /* as last measured, 0: not yet; NULL: not kept from step to step */
} cb_fixed_point;

/* Iterates until then, and says in `in` how far it came. sweep does one iteration, counted from 1. */
cb_status cb_fixed_point_solve(const cb_fixed_point *how, cb_integrator *in,
                               cb_status (*sweep)(void *method, int iteration, cb_stage_change *c), void *method);

/* CB_STEP_NOT_FINITE */
cb_status cb_stage_not_finite(const char *name, int iteration);

#endif
