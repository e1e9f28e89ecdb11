/* What the steps on SE(3) share. */
#ifndef CB_FLUID_RIGID_STEP_PRIVATE_H
#define CB_FLUID_RIGID_STEP_PRIVATE_H

#include "fluid/rigid_step.h"
#include "numerics/vec6.h"

/* Solves m x = b for count (<= 6) right-hand sides, by rows: b[6][count] becomes x; m is destroyed. False: a pivot is
 * below 1e-14 where angular and linear units are such that the largest entry of either diagonal block is 1. */
bool cb_solve6(double m[6][6], int count, double *b);
/* Y of K Y = momentum - mu0. CB_STEP_SINGULAR, CB_STEP_NOT_FINITE. */
cb_status cb_rigid_velocity(double K[6][6], const double momentum[6], const double mu0[6], double Y[6]);
/* Sum of the problem's wrenches; dF (NULL: not wanted). */
cb_status cb_rigid_wrenches(const cb_rigid_problem *p, double t, const cb_pose *g, const double Y[6], double F[6],
                            double dF[6][6]);
/* The state's pose moved by dx to orientation q, its momentum by `change` (world's axes, about the old origin). */
void cb_rigid_move(cb_rigid_state *s, const double dx[3], const double q[4], const double change[6]);
bool cb_finite6(const double a[6]);
/* CB_STEP_NO_CONVERGENCE where the exponential of a step turns by `angle`, half a turn or more. */
cb_status cb_rigid_half_turn(double h, double t, double angle);

#endif
