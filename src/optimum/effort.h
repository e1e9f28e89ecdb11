/* The cost of a motion with inertia in a given time: squared torques of the motors, or their mechanical work.
 *
 *   tau_i = (M v' + Gamma(v, v))_i + <mu, sum_k (d_k A_i - d_i A_k) v_k + [xi, A_i]> - <w, d_i P w>/2
 *           + k_i (r_i - r_0i) + c_i v_i,     v = r',  w = P^-1 mu,  xi = w - A v,  mu = Ad_g^T mu_0,  g' = g xi
 *   torque  E = int sum_i tau_i^2 dt;     work  E = int sum_i |tau_i v_i| dt
 *   limits  |tau_i| <= T_i, by a barrier  -b int sum_i log(1 - (tau_i/(s T_i))^2) dt;   |x| -> sqrt(x^2 + e^2) - e
 * r: shape variables; d_k: derivative by r_k; tau: torques of the motors besides the springs (stiffness k, rest value
 * r_0) and dampers (c); M, Gamma: metric and its Christoffel symbols; A: connection; P: inertia of the locked body; g:
 * group element; xi: body velocity; mu: momentum in the body frame, mu_0 at the start; E: cost of the gait; T_i: limit
 * of a torque; b: weight of the barrier, which is added to E/2; s: factor of relaxed limits; e: smoothing. The search
 * lowers b and e, and lowers s to 1. At mu_0 = 0 the torques need only M. They follow from the equations with inertia
 * of bundle/shape_motion.h, where p = M v + A^T mu is the momentum of the shape variables.
 * At mu_0 = 0 all derivatives are exact except third derivatives of M, which only the Hessian needs and which are
 * differences. Otherwise first derivatives in r of the terms with mu are differences of order 4, and the second
 * derivatives in the Hessian are differences.
 * Source: Marsden, Montgomery & Ratiu, Reduction, Symmetry, and Phases in Mechanics, Memoirs AMS 436 (1990).
 * Units are those of the bundle.
 */
#pragma once

#include "optimum/variation.h"
#include <curvebody/optimum.h>

typedef struct cb_effort {
  const cb_optimum_problem *problem; /* borrowed */
  const double *momentum;            /* the momentum mu_0; NULL: it is 0 */
  bool squared;                      /* true: E is the cost `torque`, also while a search for `work` begins */
  double barrier, relaxed, smooth;   /* barrier: the weight b, 0 without limits; relaxed: the factor s of the limits;
                                      * smooth: the smoothing e (file head) */
  /* results of the latest cb_effort_at. cost: E without barrier and smoothing; largest: the largest |tau_i|; work: int
   * tau_i v_i dt; mechanical: the sum of int |tau_i v_i| dt; share: the largest |tau_i|/T_i */
  double cost, largest[CB_SHAPE_MAX], work[CB_SHAPE_MAX], mechanical, share;
  double *torque; /* [nodes][n]: the torques tau_i at the nodes */
  struct cb_effort_work *memory;
} cb_effort;

static inline bool cb_objective_is_effort(cb_objective o) { return o == CB_OBJECTIVE_TORQUE || o == CB_OBJECTIVE_WORK; }
/* Returns whether the problem has limits of torques. */
bool cb_effort_is_limited(const cb_optimum_problem *p);

/* Creates the cost for a variation; *out is NULL for other objectives. The caller frees *out. */
cb_status cb_effort_create(const cb_optimum_problem *p, const cb_variation *v, cb_effort **out);
void cb_effort_free(cb_effort *e);

/* --- functions for the variation (variation.h), where the time is divided by the duration: from 0 to 1 --- */

/* Evaluates the quantities at the nodes that torques and momentum need, for the coefficients c. Must be called after A
 * and dA of the variation were evaluated. */
cb_status cb_effort_begin(cb_variation *v, const double *c);
/* Adds w = P^-1 Ad_g^T mu_0, times the duration, to xi, for the group element g at node q. */
void cb_effort_add_velocity(const cb_variation *v, int q, const double *g, double *xi);
/* Adds the derivative of -w by r_i, times the duration, to `along`. */
void cb_effort_add_slope(const cb_variation *v, int q, int i, double *along);
/* Computes dy for a motion with momentum. Without momentum dy is an integral (variation.h); with momentum it solves a
 * differential equation. */
cb_status cb_effort_holonomy(cb_variation *v);
/* Computes the members cost and, with `slopes`, dcost of the variation. The cost is infinite beyond the relaxed limits.
 */
cb_status cb_effort_at(cb_variation *v, bool slopes);
/* Adds the Hessian of mu E/2 to H, at momentum 0. */
cb_status cb_effort_add_hessian(cb_variation *v, double mu, double *H);
/* Computes the matrix H of cb_variation_hessian, with all its terms, for a motion with momentum. */
cb_status cb_effort_hessian(cb_variation *v, double mu, const double *Lambda, const double *W, double *H);

/* Creates the complete closed gait from the path with coefficients c. If r(1) differs from r(0), the gait returns along
 * the same path. */
cb_status cb_effort_gait(const cb_variation *v, const double *c, cb_gait **out);
