/* A surface that deforms at low Reynolds number. Each piece of it resists its own motion, independently of the others.
 *
 *   force on a piece of area a, normal n, velocity u:  -D u a,  D = k_n n n^T + k_t (1 - n n^T)
 *   u = omega × x + v + d_i x r_i';   no force and no torque in total:  P xi + Q r' = 0,  A = P^-1 Q  on SE(3)
 *   G = ((P, Q), (Q^T, R)) = sum over faces of the integral of J^T D J,  u = J (xi, r');   M = R - Q^T A gives the
 *   power r'^T M r'
 *
 * k_n and k_t are the normal and tangential drag coefficients, in units of force times time/length^3. r are the shape
 * variables and r' their rates, x(r) the vertices in the body frame, d_i x = dx/dr_i, xi = (omega, v) the twist of the
 * body frame, and A the connection. Velocities are linear on a face, so that the integrals are exact (three midpoints
 * of edges). dA and dM are exact, from second derivatives of the surface. For a sequence of poses A is continuous, and
 * dA is that of its cubics. The cost is proportional to the number of faces.
 *
 * The model is valid if the flow of a piece does not affect the other pieces, as for slender bodies (resistive-force
 * theory). The ratio of the drag across the body to the drag along it is k_n/k_t for a thin ribbon that moves in its
 * normal direction, and (1 + k_n/k_t)/2 for a thin tube. For a filament this ratio is about 2. Sources: Gross, Soliman,
 * Padilla, Knoeppel, Pinkall & Schroeder, ACM Trans. Graphics 42(4) (2023) 107, doi:10.1145/3592417; Gray & Hancock, J.
 * Exp. Biology 32 (1955) 802, doi:10.1242/jeb.32.4.802 (resistive forces).
 *
 * In a scenario:
 *
 *   bundle: {name: surface_drag, mesh: eel.obj, normal: k_n, tangential: k_t, poses: ..}    cb_shape_surface_of_poses
 *   bundle: {name: surface_drag, mesh: eel.obj, normal: k_n, tangential: k_t, variables: [a, b],
 *            motion: {y: "Y + a*X^2"}}                                          cb_shape_surface_expressions_in
 */
#pragma once

#include "fluid/shape_surface.h"

/* Makes the bundle on the group SE(3). Shape variables and periods are those of s (borrowed, with its surface). normal
 * and tangential are k_n and k_t, >= 0 and not both 0. The plot has the vertices and edges. Returns CB_ERROR_ARGUMENT
 * for other numbers. The caller frees *out.
 *
 * Evaluation returns CB_STEP_SINGULAR at shapes with a motion without drag (a body of revolution with k_t = 0), and
 * CB_ERROR_UNSUPPORTED for dA and dM if s has no second derivatives. */
cb_status cb_bundle_surface_drag(const cb_shape_surface *s, double normal, double tangential, cb_bundle **out);
