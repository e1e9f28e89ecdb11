/* What the steps on SE(3) share. */
#ifndef CB_FLUID_RIGID_STEP_PRIVATE_H
#define CB_FLUID_RIGID_STEP_PRIVATE_H

#include "fluid/rigid_step.h"
#include "numerics/vec6.h"

/* Solves m x = b for count (<= 6) right-hand sides, by rows: b[6][count] becomes x; m is destroyed. False: a pivot is
 * below 1e-14 where angular and linear units are such that the largest entry of either diagonal block is 1. */
bool cb_solve6(double m[6][6], int count, double *b);
bool cb_finite6(const double a[6]);
/* CB_STEP_NO_CONVERGENCE where the exponential of a step turns by `angle`, half a turn or more. */
cb_status cb_rigid_half_turn(double h, double t, double angle);

#endif
