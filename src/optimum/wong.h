/* Wong's equations in Hamiltonian form, for any group: the equations of an optimal gait.
 *
 *   x = (r, p, lambda):  w = p - A^T lambda,  v = M^-1 w,  xi = -A v  (body velocity)
 *   r' = v,  p_i' = v' d_iM v/2 + <lambda, d_iA v>,  lambda' = ad*_xi lambda,  g' = g xi
 * r: shape, p: its momentum, lambda: momentum in the body frame, M, A, B: curvebody/bundle.h, E: cost. The prime of v
 * in a product such as v'Mv is the transpose, other primes are d/dt. H = v'Mv/2 and Ad*_{g^-1} lambda are constant. If
 * shape variables are held (v_i = 0, at a bound), the others, F, have v_F = (M_FF)^-1 w_F. The state p_i of a held
 * variable is constant and has no meaning; its momentum is (Mv)_i + <lambda, A_i>. At a corner of a loop, p is
 * continuous and r' is not. In homogeneous multipliers (mu, lambda) the cost has the weight mu: p = mu Mv + A^T lambda,
 * p_i' = mu v'd_iM v/2 + <lambda, d_iA v>. With x = (r, v, lambda) and kappa = mu + v'Mv/E - 1 in place of mu, which
 * follows from the Lagrangian mu v'Mv/2 + (v'Mv - E)^2/(4E), the paths are the same and have constant speed, and mu may
 * be close to 0. An extremal with mu = 0 is abnormal: p = A^T lambda along all of it, so that <lambda, B_ij> v_j = 0,
 * which determines v except for its size. With three variables v is in the kernel of <lambda, B_ij>. With two, <lambda,
 * B_12> = 0, and its rate D_i v_i = 0, D_i = <lambda, D_iB_12> with the covariant derivative, gives v = speed (D_2,
 * -D_1)/|(D_2, -D_1)|_M, |.|_M the length in M.
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
  double bracket[CB_GROUP_DIM][CB_GROUP_DIM][CB_GROUP_DIM]; /* [e_a, e_b] = bracket[a][b][c] e_c */
} cb_wong;

void cb_wong_init(cb_wong *w, const cb_bundle *b);

/* The results of cb_wong_at at x[size], where the variables in the set `held` (bit i for variable i) have v_i = 0:
 * f[size] = x', v[n], xi[dim], H; and the derivatives J[size][size] of f, X[dim][size] of xi, V[n][size] of v. Any may
 * be NULL. CB_STEP_SINGULAR if M_FF is not positive definite. With speed, v is that of cb_wong_abnormal_velocity. */
typedef struct cb_wong_rates {
  double *f, *v, *xi, *H, *J, *X, *V;
} cb_wong_rates;
cb_status cb_wong_at(const cb_wong *w, unsigned held, const double *x, const cb_wong_rates *out);

/* Computes p = Mv + <lambda, A> from v. */
cb_status cb_wong_momentum(const cb_wong *w, const double *r, const double *v, const double *lambda, double *p);

/* Sets p of the held variables to their momentum on an arc that holds them; D[size][size] (or NULL) is the
 * derivative. */
cb_status cb_wong_release(const cb_wong *w, unsigned held, double *x, double *D);

/* Computes force[n], the force of a bound on its variable, p_i' - v' d_iM v/2 - <lambda, d_iA v>: a lower bound pushes
 * with a force < 0, an upper bound with a force > 0; it is 0 for free variables. */
cb_status cb_wong_bound_force(const cb_wong *w, unsigned held, const double *x, double *force);

/* The results of cb_wong_homogeneous_at at x[size] = (r, v, lambda): f[size], the rates of P[size] = (r, p, lambda)
 * with kappa in place of mu; xi[dim] and s = v'Mv. If J is not NULL, the derivatives as well: J and D[size][size] of f
 * and P, X[dim][size] of xi, ds[size] of s; JG and DG[size][2] of f and P in (mu, cost). */
typedef struct cb_wong_homogeneous {
  double *f, *P, *xi, *s, *J, *D, *X, *ds, *JG, *DG;
} cb_wong_homogeneous;
cb_status cb_wong_homogeneous_at(const cb_wong *w, double mu, double cost, const double *x,
                                 const cb_wong_homogeneous *out);

/* Computes v of an abnormal extremal with w->speed at x (from its r and lambda), and V[n][size] (or NULL).
 * CB_ERROR_UNSUPPORTED unless there are 2 or 3 variables; CB_STEP_SINGULAR if v is not determined. */
cb_status cb_wong_abnormal_velocity(const cb_wong *w, const double *x, double *v, double *V);
/* Computes b = <lambda, B_12> and db[size] (or NULL), for two variables. */
cb_status cb_wong_singular(const cb_wong *w, const double *x, double *b, double *db);
