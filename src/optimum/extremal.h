/* Wong's equations, and extremals: gaits of stationary cost.
 *
 * Wong's equations in Hamiltonian form, for any group: the equations of an optimal gait.
 *
 *   x = (r, p, lambda):  w = p - A^T lambda,  v = M^-1 w,  xi = -A v
 *   r' = v,  p_i' = v' d_iM v/2 + <lambda, d_iA v>,  lambda' = ad*_xi lambda,  g' = g xi
 * r: shape; p: its momentum; lambda: momentum in the body frame; v: shape velocity; xi: body velocity; A, M, B:
 * connection, cost metric and curvature (curvebody/bundle.h); d_i: derivative by r_i; E: cost. The prime of v in a
 * product such as v'Mv is the transpose, other primes are d/dt. H = v'Mv/2 and Ad*_{g^-1} lambda are constant. At the
 * start of a loop with a free start p is continuous, but r' may jump, because lambda(1) may differ from lambda(0).
 *
 * Shape variables may be held at bounds, v_i = 0. The others, F, have v_F = (M_FF)^-1 w_F. The state p_i of a held
 * variable is constant and has no meaning; the momentum of the variable is (Mv)_i + <lambda, A_i>.
 *
 * In homogeneous multipliers (mu, lambda) the cost has the weight mu:
 *   p = mu Mv + A^T lambda,  p_i' = mu v'd_iM v/2 + <lambda, d_iA v>
 * The state is x = (r, v, lambda), and kappa = mu + v'Mv/E - 1 replaces mu; this follows from the Lagrangian mu v'Mv/2
 * + (v'Mv - E)^2/(4E). The paths are the same and have constant speed, and mu may be close to 0.
 *
 * An extremal with mu = 0 is abnormal: p = A^T lambda along all of it. Then <lambda, B_ij> v_j = 0, which determines v
 * except for its size. With three variables v is in the kernel of <lambda, B_ij>. With two variables <lambda, B_12> =
 * 0, and the rate of this equation, q_i v_i = 0, gives
 *   v = speed (q_2, -q_1)/|(q_2, -q_1)|_M,   q_i = <lambda, D_iB_12>
 * D_i is the covariant derivative, and |.|_M the length in M.
 * Source: Montgomery, A Tour of Subriemannian Geometries (2002), chapter 12; Koon & Marsden, SIAM J. Control Optim. 35
 * (1997) 901, doi:10.1137/S0363012995290367. Units are those of the bundle.
 */
#pragma once

#include "numerics/tableau.h"
#include "optimum/target.h"
#include <curvebody/bundle.h>

enum { CB_WONG_MAX = 2 * CB_SHAPE_MAX + CB_GROUP_DIM };

typedef struct cb_wong {
  const cb_bundle *bundle;
  int n, dim, size;                                         /* size = 2n + dim, the number of entries of x */
  double speed;                                             /* signed speed of an abnormal extremal; 0 for others */
  double bracket[CB_GROUP_DIM][CB_GROUP_DIM][CB_GROUP_DIM]; /* basis e_a of the algebra: [e_a, e_b] = sum_c
                                                             * bracket[a][b][c] e_c */
} cb_wong;

void cb_wong_init(cb_wong *w, const cb_bundle *b);

/* The results of cb_wong_at at x[size]. The variables in the set `held` (bit i for variable i) have v_i = 0. The
 * results are f[size] = x', v[n], xi[dim] and H. The derivatives in x are J[size][size] of f, X[dim][size] of xi, and
 * V[n][size] of v. Any of these pointers may be NULL. If w->speed is not 0, v is that of cb_wong_abnormal_velocity.
 * Returns CB_STEP_SINGULAR if M, restricted to the variables that are not held, is not positive definite. */
typedef struct cb_wong_rates {
  double *f, *v, *xi, *H, *J, *X, *V;
} cb_wong_rates;
cb_status cb_wong_at(const cb_wong *w, unsigned held, const double *x, const cb_wong_rates *out);

/* Computes the momentum p[n] = Mv + <lambda, A> from the shape r, its velocity v and lambda. */
cb_status cb_wong_momentum(const cb_wong *w, const double *r, const double *v, const double *lambda, double *p);

/* On an arc that holds variable i, the entry p_i of x has no meaning. Sets p_i of each held variable in x[size] to the
 * momentum (Mv)_i + <lambda, A_i> of the variable. D[size][size] (or NULL) is the derivative of the new x by the given
 * x. */
cb_status cb_wong_release(const cb_wong *w, unsigned held, double *x, double *D);

/* Computes force[n], the force of a bound on its variable, which is p_i' - v' d_iM v/2 - <lambda, d_iA v>. A lower
 * bound pushes with a force < 0, an upper bound with a force > 0. The force is 0 for free variables. */
cb_status cb_wong_bound_force(const cb_wong *w, unsigned held, const double *x, double *force);

/* The results of cb_wong_homogeneous_at at x[size] = (r, v, lambda). P[size] is (r, p, lambda), and f[size] are the
 * rates of P, with kappa in place of mu (see the top of this file). xi[dim] is the body velocity, and s = v'Mv.
 *
 * If J is not NULL, the derivatives are computed as well. Those in x are J[size][size] of f, D[size][size] of P,
 * X[dim][size] of xi, and ds[size] of s. Those in (mu, cost) are JG[size][2] of f and DG[size][2] of P. */
typedef struct cb_wong_homogeneous {
  double *f, *P, *xi, *s, *J, *D, *X, *ds, *JG, *DG;
} cb_wong_homogeneous;
cb_status cb_wong_homogeneous_at(const cb_wong *w, double mu, double cost, const double *x,
                                 const cb_wong_homogeneous *out);

/* Computes the velocity v[n] of an abnormal extremal from r and lambda in x. The length of v in the metric is w->speed.
 * V[n][size] (or NULL) are the derivatives of v in x. Returns CB_ERROR_UNSUPPORTED unless there are 2 or 3 variables,
 * and CB_STEP_SINGULAR if v is not determined. */
cb_status cb_wong_abnormal_velocity(const cb_wong *w, const double *x, double *v, double *V);
/* For two variables, computes b = <lambda, B_12>, where B is the curvature. db[size] (or NULL) are the derivatives of b
 * in x. */
cb_status cb_wong_singular(const cb_wong *w, const double *x, double *b, double *db);

/* --- extremals ---
 *
 * Extremals: gaits of stationary cost, solved to round-off by collocation of Wong's equations.
 *
 *   x' = f(x) on arcs, each with a set of variables held at their bounds, durations that sum to 1;  g' = g xi, g(0) = 1
 *   x = (r, p, lambda), f, v, xi and mu as above;   E: cost
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

enum { CB_EXTREMAL_STAGES = 8 };

typedef struct cb_extremal {
  cb_wong wong;
  int arcs, panels;
  double mu;                    /* weight of the cost: 1, or 0 for an abnormal extremal, whose p, lambda and nu are
                                 * determined only up to a common factor */
  double cost, amount;          /* cost E; amount of the target (nan if it has none) */
  double g[CB_GROUP_SIZE];      /* g(1), the holonomy */
  double nu[CB_CONDITIONS_MAX]; /* multipliers of the conditions */
  double r[CB_SHAPE_MAX], v[CB_SHAPE_MAX], p[CB_SHAPE_MAX], lambda[CB_GROUP_DIM]; /* values at the start */
  /* r(1) - r(0), which is a number of full periods of each variable */
  double gap[CB_SHAPE_MAX];
  double jump[CB_SHAPE_MAX]; /* v(0) - v(1): the jump of v at the corner at the start */
  /* The largest relative changes along the extremal of quantities that should be constant: speed: of v'Mv (if mu = 0:
   * of p - A^T lambda); momentum: of Ad*_{g^-1} lambda; casimir: of the quadratic Casimir functions of lambda. */
  double speed, momentum, casimir;
  double residual, error; /* residual: norm of all residuals, scaled; error: estimated relative error of E */
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
 * is removed, and a bound that is crossed gets an arc. If this fails, the extremal without bounds is solved first. The
 * bounds are then placed outside of this extremal and moved to their values in steps. If the problem has no bounds,
 * lambda is large relative to E/amount, and the equations in lambda have no solution, homogeneous multipliers (above)
 * are used. With these the solver can pass the gait of maximum amount, where lambda changes sign, and can find abnormal
 * extremals.
 *
 * Returns CB_ERROR_ARGUMENT if the gait has another number of variables, CB_STEP_NO_CONVERGENCE if no extremal is
 * nearby, and statuses of the bundle if the search leaves its domain. The caller frees *out. */
cb_status cb_extremal_solve(const cb_optimum_problem *o, const cb_gait *start, const double *lambda, double amount,
                            cb_extremal **out);
void cb_extremal_free(cb_extremal *e);

/* Computes x[size] and v[n] (or NULL) at a time t in [0, 1], by one step from the beginning of a panel. They are as
 * accurate as the values at the beginnings of panels. If e->rate is not NULL, they are computed from the polynomials of
 * the panel instead. Returns CB_ERROR_ARGUMENT if t is not in [0, 1]. */
cb_status cb_extremal_at(const cb_extremal *e, double t, double *x, double *v);
/* Creates the gait of the extremal: a polynomial of degree at most 384 on each of its arcs, exact to round-off if this
 * degree suffices. The caller frees *out. */
cb_status cb_extremal_gait(const cb_extremal *e, cb_gait **out);

/* Conjugate times of an extremal with a fixed start shape: the times at which neighbouring extremals with the same
 * start meet this extremal again.
 *
 *   det d(r, g)(t)/d(p_0, lambda_0) = 0 at conjugate times t
 *   index of a closed gait = number of conjugate times in (0, 1), with multiplicity (Morse)
 *   Y = (dr, eta),  Z = (dp, zeta),   eta = (delta g) g^-1,  zeta = delta mu + ad*_eta mu/2,  mu = Ad*_{g^-1} lambda
 *   (Z + iY)(Z - iY)^-1 has the eigenvalues exp(2 i phi_j)
 * p_0, lambda_0: values at the start. The index is the number of independent changes of the gait, with the same target,
 * that make it cheaper. If the conditions leave numbers of g free, the extremals considered are those that satisfy
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
  double time[2]; /* the first conjugate time in (0, 1), and the first one that is at least 1; infinite if there is none
                   * up to the argument `last` of cb_conjugate_find */
  double skew;    /* the largest entry of Y'Z - Z'Y for columns of (Y, Z) of length 1; exactly 0 without numerical
                   * errors */
} cb_conjugate;

/* Finds the conjugate times up to `last`. Their errors are about 1e-10. Returns CB_ERROR_ARGUMENT if `last` is less
 * than 1. Returns CB_ERROR_UNSUPPORTED if the start shape is free, if arcs are along bounds, or if the extremal was
 * solved with homogeneous multipliers (then e->rate is not NULL, or mu = 0). The search ends early if the extremal
 * leaves the domain of the bundle after time 1. */
cb_status cb_conjugate_find(const cb_optimum_problem *o, const cb_extremal *e, double last, cb_conjugate *out);
