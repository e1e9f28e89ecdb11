/* Wong's equations in Hamiltonian form, for any group: the equations of an optimal gait.
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

#include <curvebody/bundle.h>

enum { CB_WONG_MAX = 2 * CB_SHAPE_MAX + CB_GROUP_DIM };

typedef struct cb_wong {
  const cb_bundle *bundle;
  int n, dim, size;                                         /* size = 2n + dim */
  double speed;                                             /* signed speed of an abnormal extremal; 0 for others */
  double bracket[CB_GROUP_DIM][CB_GROUP_DIM][CB_GROUP_DIM]; /* basis e_a of the algebra: [e_a, e_b] = sum_c
                                                             * bracket[a][b][c] e_c */
} cb_wong;

void cb_wong_init(cb_wong *w, const cb_bundle *b);

/* The results of cb_wong_at at x[size], where the variables in the set `held` (bit i for variable i) have v_i = 0:
 * f[size] = x', v[n], xi[dim], H; and the derivatives in x: J[size][size] of f, X[dim][size] of xi, V[n][size] of v.
 * Any may be NULL. If w->speed is not 0, v is that of cb_wong_abnormal_velocity. CB_STEP_SINGULAR if M, restricted to
 * the variables that are not held, is not positive definite. */
typedef struct cb_wong_rates {
  double *f, *v, *xi, *H, *J, *X, *V;
} cb_wong_rates;
cb_status cb_wong_at(const cb_wong *w, unsigned held, const double *x, const cb_wong_rates *out);

/* Computes the momentum p[n] = Mv + <lambda, A> from the shape r, its velocity v and lambda. */
cb_status cb_wong_momentum(const cb_wong *w, const double *r, const double *v, const double *lambda, double *p);

/* In x[size], sets p_i of each held variable to the momentum (Mv)_i + <lambda, A_i> on an arc that holds the variable.
 * D[size][size] (or NULL) is the derivative of the new x by the given x. */
cb_status cb_wong_release(const cb_wong *w, unsigned held, double *x, double *D);

/* Computes force[n], the force of a bound on its variable, which is p_i' - v' d_iM v/2 - <lambda, d_iA v>. A lower
 * bound pushes with a force < 0, an upper bound with a force > 0. The force is 0 for free variables. */
cb_status cb_wong_bound_force(const cb_wong *w, unsigned held, const double *x, double *force);

/* The results of cb_wong_homogeneous_at at x[size] = (r, v, lambda): P[size] = (r, p, lambda) and its rates f[size],
 * with kappa in place of mu (see above); xi[dim] and s = v'Mv. If J is not NULL, the derivatives as well: J and
 * D[size][size] of f and P in x, X[dim][size] of xi, ds[size] of s; JG and DG[size][2] of f and P in (mu, cost). */
typedef struct cb_wong_homogeneous {
  double *f, *P, *xi, *s, *J, *D, *X, *ds, *JG, *DG;
} cb_wong_homogeneous;
cb_status cb_wong_homogeneous_at(const cb_wong *w, double mu, double cost, const double *x,
                                 const cb_wong_homogeneous *out);

/* Computes the velocity v[n] of an abnormal extremal with w->speed at x (from its r and lambda), and its derivatives
 * V[n][size] in x (or NULL). CB_ERROR_UNSUPPORTED unless there are 2 or 3 variables; CB_STEP_SINGULAR if v is not
 * determined. */
cb_status cb_wong_abnormal_velocity(const cb_wong *w, const double *x, double *v, double *V);
/* For two variables, computes b = <lambda, B_12>, where B is the curvature, and its derivatives db[size] in x (or
 * NULL). */
cb_status cb_wong_singular(const cb_wong *w, const double *x, double *b, double *db);
