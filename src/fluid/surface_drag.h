/* A surface that deforms at low Reynolds number: each piece of it resists its own motion alone.
 *
 *   force on a piece of area a, normal n, velocity u:  -(k_n n n^T + k_t (1 - n n^T)) u a
 *   u = omega x x + v + d_i x r_i';   no force and no torque in total:  P xi + Q r' = 0,  A = P^-1 Q  on SE(3)
 *   G = ((P, Q), (Q^T, R)) = sum over faces of the integral of J^T D J,  u = J (xi, r');   M = R - Q^T A: power
 * Velocities are linear on a face: the integrals are exact (three midpoints of edges). dA and dM are exact, from second
 * derivatives of the surface; of a sequence of poses A is continuous and dA is that of its cubics. O(faces).
 * The body frame is that of the places x(r). k in force time/length^3. Valid where pieces do not feel each other's
 * flow, as of slender bodies (resistive-force theory): a thin ribbon across its plane of motion resists k_n/k_t times
 * as much across as along, a thin tube (1 + k_n/k_t)/2 times, a filament about twice.
 * Sources: Gross, Soliman, Padilla, Knoeppel, Pinkall & Schroeder, ACM Trans. Graphics 42(4) (2023) 107,
 * doi:10.1145/3592417; Gray & Hancock, J. Exp. Biology 32 (1955) 802, doi:10.1242/jeb.32.4.802 (resistive forces).
 *
 * In a scenario:
 *   bundle: {name: surface_drag, mesh: eel.obj, normal: k_n, tangential: k_t, poses: ..}    cb_shape_surface_of_poses
 *   bundle: {name: surface_drag, mesh: eel.obj, normal: k_n, tangential: k_t, variables: [a, b],
 *            motion: {y: "Y + a*X^2"}}                                          cb_shape_surface_expressions_in
 */
#pragma once

#include "fluid/shape_surface.h"

/* On se3, algebra (omega, v); shape variables, periods from s (borrowed, with its surface). Picture: vertices and
 * edges. k_n, k_t >= 0, not both 0. CB_STEP_SINGULAR at shapes with a motion that nothing resists (a body of revolution
 * with k_t = 0). CB_ERROR_UNSUPPORTED for dA and dM where s has no second derivatives. */
cb_status cb_bundle_surface_drag(const cb_shape_surface *s, double normal, double tangential, cb_bundle **out);
