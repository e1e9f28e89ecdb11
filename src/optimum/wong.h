/* Wong's equations in Hamiltonian form, for any group: what an optimal gait obeys.
 *
 *   x = (r, p, lambda):  w = p - A^T lambda,  v = M^-1 w,  xi = -A v
 *   r' = v,  p_i' = v' d_iM v/2 + <lambda, d_iA v>,  lambda' = ad*_xi lambda,  g' = g xi
 * H = v'Mv/2 and Ad*_{g^-1} lambda are constant. Where shape variables are held (v_i = 0, at a bound) the others move
 * by v_F = (M_FF)^-1 w_F; p of a held one stands still and means nothing: p_i = (Mv)_i + <lambda, A_i> is what it is.
 * p and not r' is continuous where a loop has a corner.
 * In homogeneous multipliers (mu, lambda) the cost counts mu: p = mu Mv + A^T lambda, p_i' = mu v'd_iM v/2 + <lambda,
 * d_iA v>. With x = (r, v, lambda) and kappa = mu + v'Mv/E - 1 in place of mu, of the Lagrangian mu v'Mv/2 + (v'Mv -
 * E)^2/(4E), paths are the same and of constant speed, and mu may be small.
 * An extremal with mu = 0 is abnormal: p = A^T lambda all along, so that <lambda, B_ij> v_j = 0, from which v follows
 * but for its size: of three variables it is the kernel of <lambda, B_ij>; of two <lambda, B_12> = 0, whose rate is
 * <lambda, D_iB_12> v_i = 0 with the covariant derivative, so that v = speed (D_2, -D_1)/|(D_2, -D_1)|_M.
 * Source: Montgomery, A Tour of Subriemannian Geometries (2002), chapter 12; Koon & Marsden, SIAM J. Control Optim. 35
 * (1997) 901, doi:10.1137/S0363012995290367. Units are the bundle's.
 */
#pragma once

#include <curvebody/bundle.h>

enum { CB_WONG_MAX = 2 * CB_SHAPE_MAX + CB_GROUP_DIM };

typedef struct cb_wong {
  const cb_bundle *bundle;
  int n, dim, size;                                         /* size = 2n + dim */
  double speed;                                             /* of abnormal extremals, signed; 0: of others */
  double bracket[CB_GROUP_DIM][CB_GROUP_DIM][CB_GROUP_DIM]; /* [e_a, e_b] = bracket[a][b][c] e_c */
} cb_wong;

void cb_wong_init(cb_wong *w, const cb_bundle *b);

/* At x[size], with the variables of the set `held` (bit i) at rest: f[size] = x', v[n], xi[dim], H; and derivatives
 * J[size][size] of f, X[dim][size] of xi, V[n][size] of v. Any may be NULL. CB_STEP_SINGULAR where M is not positive.
 */
typedef struct cb_wong_rates {
  double *f, *v, *xi, *H, *J, *X, *V;
} cb_wong_rates;
cb_status cb_wong_at(const cb_wong *w, unsigned held, const double *x, const cb_wong_rates *out);

/* p = Mv + <lambda, A> from v. */
cb_status cb_wong_momentum(const cb_wong *w, const double *r, const double *v, const double *lambda, double *p);

/* p of the held variables becomes what it is on an arc that holds them; D[size][size] (NULL): the derivative. */
cb_status cb_wong_release(const cb_wong *w, unsigned held, double *x, double *D);

/* force[n] of a bound on its variable, p_i' - v' d_iM v/2 - <lambda, d_iA v>: a lower bound pushes with a force < 0, an
 * upper one with a force > 0; 0 for variables that are free. */
cb_status cb_wong_contact(const cb_wong *w, unsigned held, const double *x, double *force);

/* At x[size] = (r, v, lambda): f[size], the rates of P[size] = (r, p, lambda), with kappa for mu; xi[dim] and s = v'Mv;
 * and, where J is not NULL, derivatives: J, D[size][size] of f and P, X[dim][size] of xi, ds[size] of s; JG, DG[size][2]
 * of f and P in (mu, cost). */
typedef struct cb_wong_homogeneous {
  double *f, *P, *xi, *s, *J, *D, *X, *ds, *JG, *DG;
} cb_wong_homogeneous;
cb_status cb_wong_homogeneous_at(const cb_wong *w, double mu, double cost, const double *x,
                                 const cb_wong_homogeneous *out);

/* v of an abnormal extremal of w->speed at x (its r and lambda), and V[n][size] (NULL). CB_ERROR_UNSUPPORTED for other
 * numbers of variables than 2 and 3; CB_STEP_SINGULAR where v does not follow. */
cb_status cb_wong_abnormal_velocity(const cb_wong *w, const double *x, double *v, double *V);
/* b = <lambda, B_12> and db[size] (NULL), of two variables. */
cb_status cb_wong_singular(const cb_wong *w, const double *x, double *b, double *db);
