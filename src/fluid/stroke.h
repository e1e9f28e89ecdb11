/* The added mass of a body along its poses as a table, for fluid models that are slow.
 *
 *   K, mu0, kinetic at t:  sum_j w_j/(s - s_j) f_j / sum_j w_j/(s - s_j),  s_j = -cos(pi j/n),  w_j = (-1)^j, half of
 *   that at the ends
 * the polynomial of degree n through Chebyshev's points of a piece (Berrut & Trefethen 2004, SIAM Review 46, 501, section
 * 5, doi:10.1137/S0036144502417715). Pieces end at the poses of a sequence, between which it is smooth; of expressions the
 * period is one, halved where degree 64 does not do. A degree is doubled, its points serving again, until what the last
 * one gave at the new points was within the error: `error`, measured so, is that of a coarser table. Continuous; errors
 * fall geometrically with n.
 *   relative to  |K_ab|: u_a u_b,  |mu0_a|: u_a v,  kinetic: v^2/2;  u = sqrt(max K_linear) (1; for angular: half the
 *   body's extent),  v = sqrt(2 max kinetic)
 * Whoever takes all three from it has L = <K Y, Y>/2 + <mu0, Y> + kinetic with the momentum and energy of that L.
 */
#pragma once

#include <curvebody/fluid_model.h>
#include <curvebody/poses.h>

typedef struct cb_stroke cb_stroke;

/* Solves at each point. CB_ERROR_STEP where the error is not reached, with the one that was and the time. What the
 * model gives is copied. The caller frees. */
cb_status cb_stroke_create(const cb_fluid_model *model, const void *body, const cb_surface *surface,
                           const cb_poses *poses, double error, cb_stroke **out);
void cb_stroke_free(cb_stroke *s);
/* From any thread; of poses that are clamped, as at their ends before and after them. */
void cb_stroke_at(const cb_stroke *s, double t, cb_added_mass *out);
double cb_stroke_error(const cb_stroke *s);
int cb_stroke_points(const cb_stroke *s);
