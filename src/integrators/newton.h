/* Newton's method for the stages of one step, with a matrix that is kept once the changes are small. */
#ifndef CB_INTEGRATORS_NEWTON_H
#define CB_INTEGRATORS_NEWTON_H

#include "integrators/fixed_point.h"

typedef struct cb_newton {
  const char *name; /* of the method, for errors */
  double target;    /* last change relative to the largest move in the step */
  double noise;     /* change that the stage equations do not resolve; below 1e-12 of the largest move none is */
  int most;         /* iterations; more than 30 are never made */
} cb_newton;

/* Iterates until the change is below the target, or is noise and falls no longer, and says in `in` how far it came.
 * correct evaluates the equations, with the derivatives and a new matrix where it is to be fresh, and moves the
 * stages. */
cb_status cb_newton_solve(const cb_newton *how, cb_integrator *in,
                          cb_status (*correct)(void *method, bool fresh, cb_stage_change *c), void *method);

#endif
