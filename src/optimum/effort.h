/* The cost of a motion with inertia in a given time: squared torques of the motors, or their mechanical work.
 *
 *   tau_i = (M v' + Gamma(v, v))_i + <mu, sum_k (d_k A_i - d_i A_k) v_k + [xi, A_i]> - <w, d_i P w>/2
 *           + k_i (r_i - r_0i) + c_i v_i,     v = r',  w = P^-1 mu,  xi = w - A v,  mu = Ad_g^T mu_0,  g' = g xi
 *   torque  E = int sum_i tau_i^2 dt;     work  E = int sum_i |tau_i v_i| dt
 *   limits  |tau_i| <= T_i, by a barrier  -b int sum_i log(1 - (tau_i/(s T_i))^2) dt;   |x| -> sqrt(x^2 + e^2) - e
 * r: shape variables; tau: torques of the motors besides the springs (stiffness k, rest value r_0) and dampers (c); M,
 * Gamma: metric and its Christoffel symbols; A: connection; P: inertia of the locked body; mu: momentum in the body
 * frame, mu_0 at the start. At mu_0 = 0 the torques need only M. b, s and e are changed by the search: b and e
 * decrease, s decreases to 1.
 * The equations are p' = d_r L with p = M v + A^T mu and the form of the bundle (bundle/shape_motion.h).
 * Derivatives in r are exact at momentum 0. Otherwise those of the terms with mu are differences of order 4, and second
 * derivatives are differences. So are third derivatives of M, which only the Hessian needs.
 * Source: Marsden, Montgomery & Ratiu, Reduction, Symmetry, and Phases in Mechanics, Memoirs AMS 436 (1990).
 */
#pragma once

#include "optimum/variation.h"
#include <curvebody/optimum.h>

typedef struct cb_effort {
  const cb_optimum_problem *problem; /* borrowed */
  const double *momentum;            /* mu_0; NULL: 0 */
  bool squared;                      /* E is that of `torque`, also while a search for `work` begins */
  double barrier, relaxed, smooth;   /* b, s and e; b = 0: no limits */
  /* from the latest cb_effort_at: E without barrier and smoothing; largest |tau|; the works int tau_i v_i dt and int
   * |tau_i v_i| dt; the largest |tau_i|/T_i */
  double cost, largest[CB_SHAPE_MAX], work[CB_SHAPE_MAX], mechanical, share;
  double *torque; /* [nodes][n] */
  struct cb_effort_work *memory;
} cb_effort;

static inline bool cb_objective_is_effort(cb_objective o) { return o == CB_OBJECTIVE_TORQUE || o == CB_OBJECTIVE_WORK; }
/* Returns whether the problem has limits of torques. */
bool cb_effort_is_limited(const cb_optimum_problem *p);

/* Creates the cost for a variation; *out is NULL for other objectives. The caller frees. */
cb_status cb_effort_create(const cb_optimum_problem *p, const cb_variation *v, cb_effort **out);
void cb_effort_free(cb_effort *e);

/* --- for the variation --- */

/* Evaluates what the motion with momentum needs at the nodes, after A and dA; c: the coefficients. */
cb_status cb_effort_begin(cb_variation *v, const double *c);
/* Adds w = P^-1 Ad_g^T mu_0 for the element g at node q, times the duration, to xi. */
void cb_effort_add_velocity(const cb_variation *v, int q, const double *g, double *xi);
/* Adds the derivative of -w by r_i, times the duration, to `along`. */
void cb_effort_add_slope(const cb_variation *v, int q, int i, double *along);
/* Computes dy of a motion with momentum from the arrays of the variation, in place of its integrals. */
cb_status cb_effort_holonomy(cb_variation *v);
/* Computes cost, and with slopes dcost, of the variation. The cost is infinite beyond the relaxed limits. */
cb_status cb_effort_at(cb_variation *v, bool slopes);
/* Adds the Hessian of mu E/2 to H, at momentum 0. */
cb_status cb_effort_add_hessian(cb_variation *v, double mu, double *H);
/* Computes the complete Hessian of cb_variation_hessian for a motion with momentum. */
cb_status cb_effort_hessian(cb_variation *v, double mu, const double *Lambda, const double *W, double *H);

/* Creates the complete closed gait: the path with coefficients c, and, if r(1) differs from r(0), the same way back. */
cb_status cb_effort_gait(const cb_variation *v, const double *c, cb_gait **out);
