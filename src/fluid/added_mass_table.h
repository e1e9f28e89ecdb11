/* A table of the added mass of a body along its poses, for fluid models that are slow.
 *
 *   K, mu0, kinetic at t:  sum_j w_j/(s - s_j) f_j / sum_j w_j/(s - s_j),  s_j = -cos(pi j/n),  w_j = (-1)^j, halved at
 *   the ends
 *
 * K is the added mass, mu0 the momentum of the fluid and `kinetic` its kinetic energy while the shape moves and the
 * body frame is at rest. s = -1 .. 1 is the time within a piece and f_j the value at s_j. The interpolant is the
 * polynomial of degree n through Chebyshev's points s_j of a piece (Berrut & Trefethen 2004, SIAM Review 46, 501,
 * section 5, doi:10.1137/S0036144502417715). For a sequence of poses a piece ends at each pose, because the motion is
 * smooth between poses. For expressions the period is one piece. A piece is halved, up to three times, if degree 64 is
 * not sufficient. The degree is doubled, with the known points used again, until the previous polynomial is within the
 * error at the new points; `error` is therefore the error of a table of half the degree. The result is continuous, and
 * errors fall geometrically with n.
 *
 *   units of errors: K_ab: u_a u_b,  mu0_a: u_a v, kinetic: v^2/2;  u = sqrt(max K_linear) (times half the
 *   diagonal of the body's box for angular a),  v = sqrt(2 max kinetic), the maxima over eight times
 *
 * K, mu0 and kinetic together define L = <K Y, Y>/2 + <mu0, Y> + kinetic for the body's twist Y, so that momentum and
 * energy follow from one Lagrangian.
 */
#pragma once

#include <curvebody/fluid_model.h>
#include <curvebody/poses.h>

typedef struct cb_added_mass_table cb_added_mass_table;

/* Evaluates the model at each point and stores copies of its results. CB_ERROR_STEP if the error is not reached (the
 * message gives the error that was reached and the time), or if a result is not finite. CB_ERROR_ARGUMENT for poses
 * without a period or an end. The caller frees *out. */
cb_status cb_added_mass_table_create(const cb_fluid_model *model, const void *body, const cb_surface *surface,
                                     const cb_poses *poses, double error, cb_added_mass_table **out);
void cb_added_mass_table_free(cb_added_mass_table *s);
/* May be called from any thread. For clamped poses, a time before the first or after the last pose gives the values at
 * that pose. */
void cb_added_mass_table_at(const cb_added_mass_table *s, double t, cb_added_mass *out);
double cb_added_mass_table_error(const cb_added_mass_table *s);
int cb_added_mass_table_points(const cb_added_mass_table *s);
