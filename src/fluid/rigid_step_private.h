/* What the steps on SE(3) share. */
#ifndef CB_FLUID_RIGID_STEP_PRIVATE_H
#define CB_FLUID_RIGID_STEP_PRIVATE_H

#include "fluid/rigid_step.h"
#include "numerics/vec6.h"

/* L U of a matrix, its rows in the order of pivots: pivots are inverted. */
typedef struct cb_factors6 {
  double m[6][6];
  int row[6];
} cb_factors6;

/* False: a pivot is below 1e-14 where angular and linear units are such that the largest entry of either diagonal block
 * is 1. */
bool cb_factor6(const double m[6][6], cb_factors6 *out);
/* m x = b */
void cb_back6(const cb_factors6 *f, const double b[6], double x[6]);
/* The same for count right-hand sides, by rows: b[6][count] becomes x. */
bool cb_solve6(const double m[6][6], int count, double *b);
static inline bool cb_finite6(const double a[6]) {
  double zero = 0; /* or not a number */
  for (int i = 0; i < 6; i++) zero += a[i] - a[i];
  return zero == 0;
}
/* CB_STEP_NO_CONVERGENCE where the exponential of a step turns by `angle`, half a turn or more. */
cb_status cb_rigid_half_turn(double h, double t, double angle);
/* sqrt |<K a, a>|: compares angular with linear parts */
double cb_rigid_size(const double K[6][6], const double a[6]);
/* The polynomial through the twists of the steps before that were as long: the sum of their backward differences up to
 * the smallest, by angular and linear part. */
void cb_rigid_guess(const cb_rigid_state *s, double h, double Y[6]);
/* Y is that of a step of length h. */
void cb_rigid_remember(cb_rigid_state *s, double h, const double Y[6]);

#endif
