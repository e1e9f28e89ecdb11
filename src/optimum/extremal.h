/* Extremals: gaits of stationary cost, solved to round-off by collocation of Wong's equations (wong.h).
 *
 *   x' = f(x) on arcs, each with a set of variables held at their bounds, durations that sum to 1;  g' = g xi, g(0) = 1
 *   x = (r, p, lambda), f, v, xi and mu as in wong.h;  E: cost
 *   start free    r(1) = r(0), p(1) = p(0)
 *   start given   r(0) = r(1) = start shape, p free;   r(1) may differ by full periods,
 *               as in the gait from which the search starts
 *   target      c_k(g(1)) = 0 (target.h), Ad*_{g(1)^-1} lambda(1) = lambda(0) = sum_k nu_k first_k(g(1))
 *   objective   cost: the amount is given;  efficiency: nu amount = E;  target: E = length^2;   dE/d(amount) = 2 nu;
 *               target at an infinite length: mu = 0, the maximum amount near the start: an abnormal extremal, for 2
 *               or 3 shape variables
 *   bounds      an arc begins where r_i meets its bound with v_i = 0, and ends at a time that is free
 * r, p, lambda: shape and momenta; g: group element; v, xi: shape velocity and body velocity; mu: weight of the cost;
 * c_k, first_k: conditions and their derivatives; nu_k: multipliers, nu that of the condition with the amount. Units
 * are those of the bundle.
 *
 * Gauss's collocation with CB_EXTREMAL_STAGES nodes per panel keeps quadratic invariants. The values at the nodes and
 * at the ends of panels are the unknowns of one damped Newton method. Its linear equations are condensed panel by panel
 * to equations for the start, the durations, nu and the amount. These are solved in least squares with minimum norm,
 * since shifts of time and symmetries make them singular. Panels, of length h, are added until the last Legendre
 * coefficient of h x' is below 5e-7 in scaled units on each panel; the error at the nodes is about the square of this.
 * For homogeneous multipliers the limit is 1e-11.
 * Source: Ascher, Mattheij & Russell, Numerical Solution of Boundary Value Problems for ODEs (1995), chapter 5; Hairer,
 * Lubich & Wanner, Geometric Numerical Integration (2006), II.1.3 and IV.2.1.
 */
#pragma once

#include "numerics/tableau.h"
#include "optimum/target.h"
#include "optimum/wong.h"

enum { CB_EXTREMAL_STAGES = 8 };

typedef struct cb_extremal {
  cb_wong wong;
  int arcs, panels;
  double mu;                    /* weight of the cost: 1, or 0 for an abnormal extremal, whose p, lambda and nu have any
                            * size */
  double cost, amount;          /* cost E; amount of the target (nan if it has none) */
  double g[CB_GROUP_SIZE];      /* g(1), the holonomy */
  double nu[CB_CONDITIONS_MAX]; /* multipliers of the conditions */
  double r[CB_SHAPE_MAX], v[CB_SHAPE_MAX], p[CB_SHAPE_MAX], lambda[CB_GROUP_DIM]; /* values at the start */
  /* r(1) - r(0), which is a number of full periods of each variable */
  double gap[CB_SHAPE_MAX];
  double jump[CB_SHAPE_MAX];       /* v(0) - v(1): the jump of v at the corner at the start */
  double speed, momentum, casimir; /* largest relative drifts of v'Mv (mu = 0: of p - A^T lambda), of Ad*_{g^-1} lambda,
                                    * and of quadratic Casimir functions of lambda */
  double residual, error;          /* residual: norm of all residuals, scaled; error: estimated relative error of E */
  int iterations;
  double *end;     /* [arcs + 1]: the times at which arcs end, from 0 */
  unsigned *held;  /* [arcs]: sets of variables at bounds (bit i for variable i) */
  double *time;    /* [panels + 1]: the times at which panels begin, and the end 1 */
  double *x;       /* [panels + 1][size]: values at the beginnings of panels, and at time 1 */
  double *stage;   /* [panels][CB_EXTREMAL_STAGES][size]: x at the nodes of the panels, which are called stages */
  double *element; /* [panels + 1][group->size]: g at the times of x */
  double *rate;    /* [panels][CB_EXTREMAL_STAGES][n]: v, if p does not determine it accurately; otherwise NULL */
  struct cb_arena *arena;
} cb_extremal;

/* Finds the extremal near the gait `start`. lambda[dim] is a guess of lambda at the start of the gait, with dE/dX = 2
 * lambda_X for a component X of the displacement. amount is a guess if the amount is unknown; otherwise the amount of
 * the target is used. The function uses the members bundle, target, objective, length, start_shape, lower and upper of
 * the problem.
 *
 * The gait is clipped to the bounds. Arcs along bounds are found from the gait and corrected: an arc whose bound pulls
 * is removed, and a bound that is crossed gets an arc. If this fails, the bounds are first placed outside the extremal
 * without bounds and then moved to their values in steps. Without bounds, if lambda is large relative to E/amount and
 * the equations in lambda have no solution, homogeneous multipliers (wong.h) are used. With these the solver can pass
 * the gait of maximum amount, where lambda changes sign, and can find abnormal extremals.
 *
 * CB_ERROR_ARGUMENT if the gait has another number of variables; CB_STEP_NO_CONVERGENCE if no extremal is nearby;
 * statuses of the bundle if the search leaves its domain. The caller frees. */
cb_status cb_extremal_solve(const cb_optimum_problem *o, const cb_gait *start, const double *lambda, double amount,
                            cb_extremal **out);
void cb_extremal_free(cb_extremal *e);

/* Computes x[size] and v[n] (or NULL) at a time t in [0, 1], by one step from the beginning of a panel. They are as
 * accurate as the values at the beginnings of panels. If the extremal has `rate`, they come from the polynomials of the
 * panel instead. CB_ERROR_ARGUMENT for another t. */
cb_status cb_extremal_at(const cb_extremal *e, double t, double *x, double *v);
/* Creates the gait of the extremal: a polynomial of degree at most 384 on each of its arcs, exact to round-off if this
 * degree suffices. The caller frees. */
cb_status cb_extremal_gait(const cb_extremal *e, cb_gait **out);

/* Conjugate times of an extremal with a fixed start shape: the times at which neighbouring extremals with the same
 * start meet this extremal again.
 *
 *   det d(r, g)(t)/d(p_0, lambda_0) = 0 at conjugate times t
 *   index of a closed gait = number of conjugate times in (0, 1), with multiplicity (Morse)
 *   Y = (dr, eta),  Z = (dp, zeta),   eta = (delta g) g^-1,  zeta = delta mu + ad*_eta mu/2,  mu = Ad*_{g^-1} lambda
 *   (Z + iY)(Z - iY)^-1 has the eigenvalues exp(2 i phi_j)
 * p_0, lambda_0: values at the start. The index is the number of directions of closed gaits to the same target that
 * make the gait cheaper. If the conditions leave numbers of g free, the extremals considered are those that satisfy
 * transversality at the target, followed backwards from t = 1 (focal times, reported as 1 - t). Y and Z are the
 * positions and momenta of a frame of neighbouring extremals (a Lagrangian frame), in canonical coordinates around the
 * extremal: dr, dp, delta g and delta mu are the changes of r, p, g and mu. An angle phi_j passes a multiple of pi only
 * at a conjugate time, and always upwards. The sum of all angles is followed along the path, so that a double time
 * counts twice and none is missed.
 * Source: Agrachev & Sachkov, Control Theory from the Geometric Viewpoint (2004), chapter 21,
 * doi:10.1007/978-3-662-06404-7; Duistermaat, Advances in Math. 21 (1976) 173, doi:10.1016/0001-8708(76)90074-8.
 */

typedef struct cb_conjugate {
  int count;      /* number of conjugate times in (0, 1) */
  double time[2]; /* the first conjugate time in (0, 1), and the first one from 1 on; infinite if there is none up to
                   * `last` */
  double skew;    /* the largest entry of Y'Z - Z'Y for columns of (Y, Z) of length 1; exactly 0 without numerical
                   * errors */
} cb_conjugate;

/* Finds the conjugate times up to `last`, which must be at least 1 (else CB_ERROR_ARGUMENT), with errors of about
 * 1e-10. CB_ERROR_UNSUPPORTED if the start shape is free, if arcs are along bounds, or if the multipliers of the
 * extremal are homogeneous (e->rate, or mu = 0). The search ends early if it leaves the domain of the bundle after time
 * 1. */
cb_status cb_conjugate_find(const cb_optimum_problem *o, const cb_extremal *e, double last, cb_conjugate *out);
