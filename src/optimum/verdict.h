/* What can be said of any closed gait: how far it is from optimal among those that do what it does.
 *
 *   slope  |grad E along gaits at the target|/|grad E|, in the metric int |r'|^2 dt of gaits; 0: stationary
 *   gain   what one step of the gradient flow saves, of the cost: along the slope as far as its curvature has it
 */
#ifndef CB_OPTIMUM_VERDICT_H
#define CB_OPTIMUM_VERDICT_H

#include <curvebody/optimum.h>

typedef struct cb_verdict {
  double cost, length, amount;                   /* nan where the target has no amount */
  double g[CB_GROUP_SIZE], lambda[CB_GROUP_DIM]; /* the multipliers that leave the least slope */
  double slope, gain;
  int index, flat;
  double fit;      /* how far the functions of time that this is found with are from the gait */
  bool stationary; /* slope is round-off or what the fit leaves of it */
  double wong;     /* of the extremal beside it, where it is stationary; else nan */
  int conjugates;  /* of that; -1: not told */
  double conjugate[2];
} cb_verdict;

/* The problem's target with the numbers that the gait has; its base and seek. CB_ERROR_ARGUMENT for an open gait and
 * one that is not at the base. */
cb_status cb_verdict_of(const cb_optimum_problem *problem, const cb_gait *gait, cb_verdict *out);

#endif
