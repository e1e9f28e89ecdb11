/* Steps of a body on SO(4) and SO+(3,1), isometries of S^3 and H^3 (problem: curvebody/rigid.h with a curvature K; poses:
 * numerics/pose_curved.h).
 *
 *   g' = g Y,  mu' = ad*_Y mu + F:  l' = l × w + p × v,  p' = p × w + K l × v;  Casimirs |p|^2 + K |l|^2, l.p
 *   rkmk4                g = g_k exp(u), pi = Ad*_{exp(u)^-1} mu the momentum in the axes of the start
 *                        u' = dexp^-1_{-u} Y, pi' = Ad*_{exp(u)^-1} F;  mu_{k+1} = Ad*_{exp(u)} pi
 *   hamilton_pontryagin  (dtau^-1_{hY})^T (K Y + mu0) = p_k + h/2 Ad*_{s^-1} F,  s s = tau(h Y) the Cayley map
 *                        p_{k+1} = Ad*_{tau(hY)} (p_k + h/2 Ad*_{s^-1} F) + h/2 Ad*_s F,  K, mu0, F in the middle
 * All in body frames: a body at any distance from the base point moves as one there. The state's `world` momentum is that
 * of the body about its origin, in axes that T(x) has carried there. For K = 0 both are second- and fourth-order steps of
 * E^3 as well, by other roundings than fluid/rigid_step.h.
 * Bou-Rabee & Marsden, Found. Comput. Math. 9 (2009) 197, doi:10.1007/s10208-008-9030-4; Munthe-Kaas, Appl. Numer. Math. 29
 * (1999) 115, doi:10.1016/S0168-9274(98)00030-0; the bodies: Borisov & Mamaev (2016), doi:10.1134/S1061920816040026.
 */
#ifndef CB_FLUID_RIGID_CURVED_H
#define CB_FLUID_RIGID_CURVED_H

#include "fluid/rigid_step.h"

/* As those of fluid/rigid_step.h. CB_ERROR_UNSUPPORTED for an inertia that depends on the place, and for maps other than
 * the Cayley map. */
cb_status cb_rigid_curved_pontryagin(const cb_rigid_problem *p, cb_se3_map map, double h, cb_rigid_state *s,
                                     int *iterations);
cb_status cb_rigid_curved_rkmk4(const cb_rigid_problem *p, double h, cb_rigid_state *s);
/* |p|^2 + K |l|^2 and l.p of a body momentum. */
void cb_rigid_casimirs(double K, const double mu[6], double out[2]);

#endif
