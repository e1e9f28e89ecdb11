/* A surface that deforms at low Reynolds number. Each piece of it resists its own motion, independently of the others.
 *
 *   force on a piece of area a, normal n, velocity u:  -D u a,  D = k_n n n^T + k_t (1 - n n^T)
 *   u = omega × x + v + sum_i (dx/dr_i) r_i' = J (xi, r')
 *   G = sum over faces of int J^T D J dA = ((P, Q), (Q^T, R))
 *   no force and no torque in total:  P xi + Q r' = 0,  so that xi = -A r' with the connection A = P^-1 Q
 *   power:  r'^T M r',  M = R - Q^T A
 *
 * k_n and k_t are the normal and tangential drag coefficients, in units of force times time/length^3, and 1 is the unit
 * matrix. r are the shape variables and r' their rates, x(r) the vertices in the body frame, and xi = (omega, v) the
 * twist of the body frame. J is the matrix that gives u from xi and r'. P is the 6 x 6 block of G for xi, R the block
 * for r', and Q the block that couples xi and r'. The group is SE(3).
 *
 * Velocities are linear on a face, so that a rule with the midpoints of the three edges gives the integrals exactly.
 * The derivatives dA and dM in r are exact, from second derivatives of the surface. A sequence of poses is interpolated
 * by cubics: A is then continuous, and dA jumps at the poses. The time is proportional to the number of faces.
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
 * and tangential are k_n and k_t, >= 0 and not both 0; otherwise the function returns CB_ERROR_ARGUMENT. The plot shows
 * the vertices and edges. The caller frees *out.
 *
 * At a shape for which some rigid motion has no drag (such as a body of revolution with k_t = 0), evaluation returns
 * CB_STEP_SINGULAR. It returns CB_ERROR_UNSUPPORTED for dA and dM if s has no second derivatives.
 */
cb_status cb_bundle_surface_drag(const cb_shape_surface *s, double normal, double tangential, cb_bundle **out);
