/* Rigid bodies in the plane, hinged in a chain, that swim in a perfect fluid by their hinges alone, from rest.
 *
 *   T(xi, r') = (1/2) <G (xi, r'), (xi, r')>,  G = sum_i U_i^T T_i U_i + G_f,  then bundle/form.h: momentum 0
 *   U_i(r): twists of body i in its own frame;  T_i: its mass;  G_f: the fluid's, about all bodies at once
 *   (potential/plane_flow.h), or in the approximation that no body feels another's flow G_f = sum_i U_i^T K_i U_i
 * Shape: r_j = heading of body j + 1 less heading of body j (from 0). Fibre SE(2): the frame of the body `base`. Hinges
 * are on the bodies' x axes, beyond their ends. dG: the poses' twists are d_k h_i = tau_ik h_i, U_i' = Ad_h^-1 (w' -
 * [tau_k, w]) for twists w in the base's frame; of the fluid by plane_flow.h's own derivative.
 * Source: Kanso, Marsden, Rowley & Melli-Huber, J. Nonlinear Science 15 (2005) 255, doi:10.1007/s00332-004-0650-9.
 * Lengths; masses by the fluid's density.
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
  double front[CB_FISH_BODIES], back[CB_FISH_BODIES]; /* x of the hinge to the next body, and to the one before */
} cb_fish;

/* G and dG (NULL: not wanted) as in bundle/form.h. flow: of the fish's bodies, for 3 + hinges motions and as many
 * changes as hinges; NULL where it is not coupled. CB_STEP_DOMAIN where bodies overlap or all but touch. */
cb_status cb_fish_form(const cb_fish *f, cb_plane_flow *flow, const double *r, double *G, double *dG);
/* (theta, x, y) of each body, the base's being 0. */
void cb_fish_poses(const cb_fish *f, const double *r, double (*pose)[3]);
