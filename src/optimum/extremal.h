/* Extremals: gaits of stationary cost, solved to round-off by collocation of Wong's equations (wong.h).
 *
 *   x' = f(x) on arcs, each with a set of variables held at their bounds, durations that sum to 1;  g' = g xi, g(0) = 1
 *   free base   r(1) = r(0), p(1) = p(0);        base   r(0) = r(1) = base, p free;  r(1) beyond it by whole periods
 *               where the gait it is near to goes round
 *   target      c_k(g(1)) = 0 (target.h), Ad*_{g(1)^-1} lambda(1) = lambda(0) = sum_k nu_k first_k(g(1))
 *   seek        cost: E at the amount;  efficiency: nu amount = E;  target: E = length^2;   dE/d(amount) = 2 nu;
 *               target at an infinite length: mu = 0, the most of it near the start: an abnormal extremal, of 2 or 3
 *               shape variables
 *   bounds      an arc begins where r_i meets its bound with v_i = 0, and ends at a time that is free
 * Gauss's collocation in CB_EXTREMAL_STAGES nodes a panel keeps quadratic invariants; stages and panel ends are the
 * unknowns of one damped Newton method, condensed panel by panel to the start, the durations, nu and the amount. That
 * system is solved in least squares of least norm, since shifts of time and symmetries leave it singular. Panels are
 * added until the last Legendre coefficient of x' on each is below the square root of round-off, since nodes are of
 * twice the order of the polynomial.
 * Source: Ascher, Mattheij & Russell, Numerical Solution of Boundary Value Problems for ODEs (1995), chapter 5; Hairer,
 * Lubich & Wanner, Geometric Numerical Integration (2006), II.1.3 and IV.2.1. Units are the bundle's.
 */
#pragma once

#include "numerics/tableau.h"
#include "optimum/target.h"
#include "optimum/wong.h"

enum { CB_EXTREMAL_STAGES = 8 };

typedef struct cb_extremal {
  cb_wong wong;
  int arcs, panels;
  double mu;                    /* of the cost: 1, or 0 of an abnormal extremal, whose p, lambda and nu have any size */
  double cost, amount;          /* E; of the target (nan where it has none) */
  double g[CB_GROUP_SIZE];      /* g(1) */
  double nu[CB_CONDITIONS_MAX]; /* of the conditions */
  double r[CB_SHAPE_MAX], v[CB_SHAPE_MAX], p[CB_SHAPE_MAX], lambda[CB_GROUP_DIM]; /* at the start */
  double gap[CB_SHAPE_MAX];                                                       /* r(1) - r(0): whole periods */
  double jump[CB_SHAPE_MAX];                                                      /* v(0) - v(1): of the corner there */
  double speed, momentum, casimir; /* largest relative drifts of v'Mv (mu = 0: of p - A^T lambda), Ad*_{g^-1} lambda,
                                      and quadratic Casimirs */
  double residual, error;          /* the conditions' largest, in scales of the extremal; of E, relative, estimated */
  int iterations;
  double *end;     /* [arcs + 1]: times at which arcs end, from 0 */
  unsigned *held;  /* [arcs]: sets of variables at bounds */
  double *time;    /* [panels + 1] */
  double *x;       /* [panels + 1][size]: where panels begin, and at 1 */
  double *stage;   /* [panels][CB_EXTREMAL_STAGES][size] */
  double *element; /* [panels + 1][group->size] */
  double *rate;    /* [panels][CB_EXTREMAL_STAGES][n]: v, where p hardly tells it; else NULL */
  struct cb_arena *arena;
} cb_extremal;

/* The extremal near a gait, with lambda[dim] at its start as dE/dX = 2 lambda_X has it, and an amount (where one is
 * sought; otherwise the target's). bundle, target, seek, length, base, lower and upper of the problem count. A gait
 * is clipped to the bounds; arcs along them are found from it, and corrected: an arc whose bound pulls goes, a bound
 * that is crossed gets one. Where that fails the extremal without bounds is followed while they are brought there.
 * Without bounds, where lambda is large beside E/amount, equations are solved in homogeneous multipliers (wong.h) if not
 * in lambda: through the gait of greatest amount, beyond which lambda has the other sign, and abnormal extremals.
 * CB_ERROR_ARGUMENT for another count of variables; CB_STEP_NO_CONVERGENCE where there is none near, statuses of the
 * bundle where the way to it leaves its domain. The caller frees. */
cb_status cb_extremal_solve(const cb_optimum_problem *o, const cb_gait *start, const double *lambda, double amount,
                            cb_extremal **out);
void cb_extremal_free(cb_extremal *e);

/* x[size] and v[n] (NULL) at t in [0, 1], as exact as where panels begin: by a step from there. */
cb_status cb_extremal_at(const cb_extremal *e, double t, double *x, double *v);
/* The gait through it: a polynomial on each of its arcs, to round-off. The caller frees. */
cb_status cb_extremal_gait(const cb_extremal *e, cb_gait **out);
