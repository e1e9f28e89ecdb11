/* Rigid bodies in the plane, hinged in a chain. They start from rest in a perfect fluid, and swim only by moving their
 * hinges.
 *
 *   T(xi, r') = (1/2) <G (xi, r'), (xi, r')>,  G = sum_i U_i^T T_i U_i + G_f
 *   A, M: from G for momentum 0, as in cb_form_reduce (bundle/bundle_private.h)
 * T: kinetic energy of bodies and fluid; xi, r': body velocity of the base, rates of the shape; U_i(r): maps (xi, r')
 * to the twist of body i in its own frame; T_i: inertia of body i; G_f: the form of the fluid around all bodies
 * (potential/plane_flow.h). In the approximation that no body feels the flow of another, G_f = sum_i U_i^T K_i U_i, K_i
 * the added mass of body i alone.
 *
 * Shape: r_j = heading of body j + 1 minus heading of body j (counted from 0). Fibre SE(2): the frame of the body
 * `base`. Hinges are on the x axes of the bodies, beyond their ends.
 *
 * Derivatives of G: h_i is the pose of body i in the frame of the base, and tau_k the twist of hinge k there. Then d_k
 * h_i = tau_k h_i if hinge k moves body i, and otherwise d_k h_i = 0. A column Ad_h_i^-1 w of U_i, where w is a twist
 * in the frame of the base, has the derivative Ad_h_i^-1 (d_k w - [tau_k, w]). The derivative of G_f is that of
 * potential/plane_flow.h.
 * Source: Kanso, Marsden, Rowley & Melli-Huber, J. Nonlinear Science 15 (2005) 255, doi:10.1007/s00332-004-0650-9.
 * Units: lengths; masses relative to the density of the fluid.
 */
#pragma once

#include "potential/plane_flow.h"
#include <curvebody/bundle.h>

enum { CB_FISH_BODIES = 8 };

typedef struct cb_fish {
  int bodies, base;
  bool coupled;
  const cb_plane_body *body[CB_FISH_BODIES];
  double density[CB_FISH_BODIES];
  /* x coordinates of the hinges of each body: front: to the next body; back: to the previous body */
  double front[CB_FISH_BODIES], back[CB_FISH_BODIES];
} cb_fish;

/* Computes G and dG (NULL: not requested) as in cb_form_reduce. `flow` is the flow around the bodies. It must have been
 * created for 3 + hinges motions and `hinges` derivatives (potential/plane_flow.h), and is NULL without coupling.
 * Returns CB_STEP_DOMAIN if an angle is not finite, or if bodies overlap or nearly touch. */
cb_status cb_fish_form(const cb_fish *f, cb_plane_flow *flow, const double *r, double *G, double *dG);
/* Computes the pose (theta, x, y) of each body in the frame of the base. */
void cb_fish_poses(const cb_fish *f, const double *r, double (*pose)[3]);
