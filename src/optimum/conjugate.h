/* Conjugate times of an extremal with a fixed base: where extremals that leave with it meet it again.
 *
 *   t with det d(r, g)(t)/d(p_0, lambda_0) = 0;  their number in (0, 1), with multiplicity, is the index: how many
 *   directions of closed gaits to the same target make it cheaper (Morse)
 * Where conditions leave numbers of g free, the extremals are those that meet the submanifold of the target rightly,
 * followed backwards from t = 1 (focal times, told as 1 - t).
 * With Y = (dr, eta), Z = (dp, zeta) of a Lagrangian frame in canonical coordinates about the extremal, eta = (delta g)
 * g^-1, zeta = delta mu + ad*_eta mu/2, mu = Ad*_{g^-1} lambda, the unitary (Z + iY)(Z - iY)^-1 has eigenvalues
 * exp(2 i phi_j); phi passes whole multiples of pi, upwards, at conjugate times alone. The sum of all phi is followed
 * along the path, so that a double time counts twice and none is missed.
 * Source: Agrachev & Sachkov, Control Theory from the Geometric Viewpoint (2004), chapter 21, doi:10.1007/978-3-662-
 * 06404-7; Duistermaat, Advances in Math. 21 (1976) 173, doi:10.1016/0001-8708(76)90074-8.
 */
#pragma once

#include "optimum/extremal.h"

typedef struct cb_conjugate {
  int count;      /* in (0, 1) */
  double time[2]; /* the first of these, and the first from 1 on; infinite where there is none up to `last` */
  double skew;    /* the largest of Y'Z - Z'Y of columns of length 1, which is 0 but for errors */
} cb_conjugate;

/* last: how far to look, at least 1. Times to 1e-10. CB_ERROR_UNSUPPORTED for a free base or arcs along bounds. What
 * leaves the domain of the bundle beyond 1 ends the search. */
cb_status cb_conjugate_find(const cb_optimum_problem *o, const cb_extremal *e, double last, cb_conjugate *out);
