/* Periodic motions of shape variables that move by themselves (bundle/shape_motion.h), found by shooting.
 *
 *   y = r_f with drag, (r_f, r_f') with inertia;   P(y): y one period T later;   P(y) = y
 *   Floquet multipliers: the eigenvalues of dP/dy;   the motion is stable if all of them are inside the unit circle
 *   W: work of motors in the cycle,   g: displacement g(0)^-1 g(T)
 *   dissipated energy: with inertia the work on dampers, with drag W - (E(T) - E(0)), where E is the energy of the
 *   springs plus the potential energy V
 * r_f: the free variables; P is the map of N steps of the integrator, whose forces and laws have the period T. With
 * inertia the momentum of the group is given, and it must have the same value after a period. Newton's method uses
 * dP/dy from central differences of order 4. If the method fails, the motion is followed for some cycles, and the
 * method starts again from the state that is reached.
 * Source: Nayfeh & Balachandran, Applied Nonlinear Dynamics (1995), 6.5.2 (shooting) and 3.2 (Floquet theory),
 * doi:10.1002/9783527617548. Units are those of the model.
 */
#pragma once

#include "bundle/shape_motion.h"
#include <curvebody/integrator.h>

enum { CB_SHAPE_MULTIPLIERS = 2 * CB_SHAPE_MAX };

typedef struct cb_shape_cycle {
  double period;
  int steps;                   /* the number N of steps in a period */
  cb_shape_state start;        /* the periodic state; its g is the identity */
  double rate[CB_SHAPE_MAX];   /* r' at the start */
  double g[CB_GROUP_SIZE];     /* displacement in a cycle */
  double work, dissipated;     /* W, and the dissipated energy, in a cycle */
  int limited;                 /* after a failure: the variable that passes its limit; -1: none */
  double effort[CB_SHAPE_MAX]; /* for driven variables: the largest |effort| of the motor at the ends of steps */
  double residual;             /* largest |P(y) - y| */
  int multipliers;             /* the number of components of y */
  double real[CB_SHAPE_MULTIPLIERS], imaginary[CB_SHAPE_MULTIPLIERS]; /* Floquet multipliers, the largest first */
  bool stable;
  int components; /* the number k of components of y if dP/dy is known; otherwise 0 */
  double derivative[CB_SHAPE_MULTIPLIERS * CB_SHAPE_MULTIPLIERS]; /* [k][k]: dP/dy at or near the start */
} cb_shape_cycle;

/* Finds a periodic motion by `steps` steps per period near the first guess `near`. The members start and rate of `near`
 * are used, and dP/dy if it is known. start contains the time and the momentum. multipliers: the Floquet multipliers
 * are computed; otherwise their number is 0. Returns CB_ERROR_UNSUPPORTED for a motion without a smooth cycle map (dry
 * friction, or a limit in the cycle), and if the momentum changes in a period. Returns CB_STEP_NO_CONVERGENCE if no
 * periodic motion is found, and CB_STEP_SINGULAR if a multiplier is 1, so that the motion is not isolated. If a step
 * fails, returns its status. */
cb_status cb_shape_cycle_find(const cb_shape_problem *p, cb_integrator *integrator, const cb_shape_cycle *near,
                              double period, int steps, bool multipliers, cb_shape_cycle *out);
