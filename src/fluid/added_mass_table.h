/* A table of the added mass of a body along its poses, for fluid models that are slow.
 *
 *   f(t) = sum_j w_j/(s - s_j) f_j / sum_j w_j/(s - s_j),  s_j = -cos(pi j/n),  w_j = (-1)^j, halved at the ends
 *
 * f stands for K, mu0 and kinetic. K is the added mass, mu0 the momentum of the fluid and `kinetic` its kinetic energy
 * while the shape moves and the body frame is at rest. t is the time, s = -1 .. 1 the time within a piece, and f_j the
 * value at the point s_j, j = 0 .. n. The interpolant f is the polynomial of degree n through Chebyshev's points s_j of
 * a piece (Berrut & Trefethen 2004, SIAM Review 46, 501, section 5, doi:10.1137/S0036144502417715).
 *
 * For a sequence of poses a piece ends at each pose, because the motion is smooth only between poses. For expressions
 * the period is one piece. The degree is doubled, and the known values are used again, until the polynomial of half the
 * degree agrees with the new values within the requested error. The error of a table is therefore measured on a table
 * of half the degree. If degree 64 is not sufficient, the piece is halved, up to three times. The result is continuous,
 * and its error falls geometrically with n.
 *
 *   units of the errors:  K_ab: u_a u_b,  mu0_a: u_a v,  kinetic: v^2/2
 *   u_a = sqrt(k) for linear components a, sqrt(k) d for angular ones,  v = sqrt(2 max kinetic)
 *
 * k is the largest diagonal entry of the linear block of K, and d half the diagonal of the body's box. The maxima are
 * taken over eight times.
 *
 * K, mu0 and kinetic together define the Lagrangian L = <K Y, Y>/2 + <mu0, Y> + kinetic for the twist Y of the body.
 * Momentum and energy both follow from this L, and are therefore consistent.
 */
#pragma once

#include <curvebody/fluid_model.h>
#include <curvebody/poses.h>

typedef struct cb_added_mass_table cb_added_mass_table;

/* Evaluates the model at each point and stores copies of its results. `error` is the requested error in the units
 * above. Returns CB_ERROR_STEP if this error is not reached (the message gives the time and the error that was
 * reached), or if a result is not finite. Returns CB_ERROR_ARGUMENT for poses without a period or an end, and the
 * errors of the model and the poses. The caller frees *out. */
cb_status cb_added_mass_table_create(const cb_fluid_model *model, const void *body, const cb_surface *surface,
                                     const cb_poses *poses, double error, cb_added_mass_table **out);
void cb_added_mass_table_free(cb_added_mass_table *s);
/* Writes the interpolated added mass at time t to *out. It may be called from any thread. For clamped poses, a time
 * before the first or after the last pose gives the values at that pose. */
void cb_added_mass_table_at(const cb_added_mass_table *s, double t, cb_added_mass *out);
double cb_added_mass_table_error(const cb_added_mass_table *s);
int cb_added_mass_table_points(const cb_added_mass_table *s);
