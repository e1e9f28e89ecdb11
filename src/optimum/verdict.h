/* What can be said of any closed gait: how far it is from optimal among those that do what it does.
 *
 *   slope  |grad E along gaits at the target|/|grad E|, in the metric int |r'|^2 dt of gaits; 0: stationary
 *          where walls are met: the same of what the walls leave of it (contact.h); where breaks of the bundle are
 *          crossed, with them held at their times, and beside it how uneven the speed on both sides is (crossing.h)
 *   gain   what one step of the gradient flow saves, of the cost: along the slope as far as its curvature has it
 */
#pragma once

#include "optimum/contact.h"

typedef struct cb_verdict {
  double cost, length, amount;                   /* nan where the target has no amount */
  double g[CB_GROUP_SIZE], lambda[CB_GROUP_DIM]; /* the multipliers that leave the least slope */
  double slope, gain;
  int index, flat; /* on the critical cone where it presses on walls */
  int loose;       /* what the index may be less by, since the gait is at walls that neither press nor are left */
  int contacts;    /* where it is at walls */
  cb_gait_contact contact[CB_CONTACTS_MAX];
  double fit;      /* how far the functions of time that this is found with are from the gait */
  bool stationary; /* slope is round-off or what the fit leaves of it */
  double wong;     /* of the extremal beside it, where it is stationary; else nan */
  int conjugates;  /* of that; -1: not told */
  double conjugate[2];
} cb_verdict;

/* The problem's target with the numbers that the gait has; its base, seek and walls. CB_ERROR_ARGUMENT for an open gait
 * and one that is not at the base, or passes a wall. */
cb_status cb_verdict_of(const cb_optimum_problem *problem, const cb_gait *gait, cb_verdict *out);
