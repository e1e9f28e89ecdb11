/* Rigid bodies in one perfect fluid that feel each other as dipoles, the leading order for distant bodies.
 *
 *   d_i = D_i Y_i,  D_i Y = (linear part of K_i Y)/rho + V_i (v + omega × c_i)       the moment of the dipole of body i
 *   phi = -d.r/(4 pi |r|^3),  u = grad phi = B(r) d,  B(r) = (3 e e^T - 1)/(4 pi |r|^3), e = r/|r|       its flow at r
 *   K_ij = -rho D_i^T R_i^T B(x_i - x_j) R_j D_j                                     the coupling of bodies i and j
 *   T = sum_{i < j} <Y_i, K_ij Y_j>;  momentum_i = dT/dY_i = -rho D_i^T R_i^T u_i,  u_i = sum_j B(x_i - x_j) R_j d_j
 *   slope_i = dT/dxi_i along g_i (1 + hat(xi_i)) = (c_i × f - rho d_i × R_i^T u_i, f),  f = R_i^T dT/dx_i
 * Y_i = (omega, v) is the twist of a body, K_i its added mass without the other bodies, V_i the volume that it
 * displaces and c_i the centroid of this volume. R_i is the rotation of its pose g_i, x_i = g_i c_i, and rho the
 * density. A body that moves with Y in a flow u has the impulse K Y - rho D^T u, with the same D; therefore K_ij^T =
 * K_ji. Forces and torques of a pair are opposite to round-off, because T depends on their relative pose only.
 *
 * A plane adds an image of every body: a rigid wall adds the dipoles M d at the mirrored places, M = 1 - 2 n n^T, and a
 * free surface -M d. The body and its own image count with half their T, because half of their flow is in the fluid.
 *
 * In a space of constant curvature, with the potential G of a source (potential/curved_flow.h):
 *
 *   u = G'' <r, d> r + G' d,  r = x_i - x_j,  derivatives G', G'' in <r, r>/2;  flat space: G = 1/(4 pi |r|)
 * Points and vectors have four components and the product < , > (numerics/numerics_curved.h). D_i is that of the frame
 * at c_i. In hyperbolic space digits are lost as e^(2 r) for bodies at r radii from the base point; poses relative to
 * one of the bodies avoid this.
 *
 * The dipoles are at the centroids. Another choice is the point about which D is symmetric; for ellipsoids it is the
 * centroid, too. For cones, bowls and eggs without symmetry the errors of K_ij for both choices differ by less than a
 * third, in either direction. With the point about which K_i is symmetric the errors are up to twice as large. These
 * errors were measured with boundary elements.
 *
 * The next terms of K_ij are smaller by (size/distance)^2 for linear motions of bodies with a centre of symmetry, and
 * by size/distance otherwise; for spheres by (size/distance)^6. The relative error of K_ii is of the order
 * (size/distance)^6. cb_dipoles_error estimates both. Curvature K adds an error of D, for balls 0.13 |K| radius^2. SI
 * units. Sources: Lamb, Hydrodynamics (1932), articles 121a (D), 137 and 138 (spheres); the slopes and the form in
 * curved spaces were derived here.
 */
#pragma once

#include "potential/kirchhoff.h"
#include <curvebody/se3.h>

typedef struct cb_dipole_body {
  double K[6][6];     /* the added mass of the body alone, including the density; angular components come first */
  double volume;      /* the volume that the body displaces */
  double centroid[3]; /* the centroid of this volume */
  /* radius of the ball about the centroid that contains the body, for cb_dipoles_error; 0: unknown */
  double radius;
  const char *name; /* for messages, borrowed; NULL: messages number the bodies from 1 */
} cb_dipole_body;

typedef struct cb_dipoles cb_dipoles;

/* Creates the coupling of n bodies, which are copied. Returns CB_ERROR_ARGUMENT for a density that is not positive, or
 * a volume or radius that is negative, and CB_ERROR_DOMAIN for an added mass that is not positive; the message names
 * the body. The caller frees *out. An object belongs to one thread. */
cb_status cb_dipoles_create(int n, const cb_dipole_body *body, double density, cb_dipoles **out);
/* Does the same as cb_dipoles_create in the space of curvature K, with K_i, poses and centroids as in curvebody/pose.h.
 */
cb_status cb_dipoles_create_in(double K, int n, const cb_dipole_body *body, double density, cb_dipoles **out);
void cb_dipoles_free(cb_dipoles *d);
/* Sets the plane that bounds the fluid; a plane of the kind CB_MIRROR_NONE removes it. Returns CB_ERROR_ARGUMENT for a
 * normal without direction, and CB_ERROR_UNSUPPORTED in curved spaces. */
cb_status cb_dipoles_set_plane(cb_dipoles *d, const cb_mirror *plane);

/* Updates body i, whose shape changes: from now on it has the data *body, and its moment is d_i = D_i Y_i + own, where
 * `own` is the moment of the motion of its shape in the body frame. Returns errors as cb_dipoles_create does. */
cb_status cb_dipoles_shape(cb_dipoles *d, int i, const cb_dipole_body *body, const double own[3]);

/* Computes momentum and slope (slope may be NULL) of bodies with the poses g and the twists Y, and allocates nothing.
 * The inertia of each body by itself, K_i, is not included. Returns CB_STEP_DOMAIN, with unchanged outputs, if the
 * centre of a body is behind the plane, or if two bodies, or a body and its image, are nearer than the sum of their
 * reaches. The reach of a body is at least the radius of the sphere with the same largest eigenvalue of D for linear
 * motions. It is so large that the tensor [[K_1, K_12], [K_21, K_2]] of any two bodies is positive definite if their
 * distance is above the sum of their reaches. The only exception are thin sheets without added mass along their plane.
 * A disc has the reach 0.75 radii. The tensors of touching spheres in chains, cubic and face-centred clusters are
 * positive definite, too (up to 216 spheres were tried). */
cb_status cb_dipoles_apply(cb_dipoles *d, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                           double (*slope)[6]);
/* Sets u to the flow of the dipoles of all bodies except the body `except` (-1: of all bodies) at points x of flat
 * space. With a plane, u includes the flow of the mirror images of the same bodies. Returns CB_STEP_DOMAIN if the
 * centre of a body is behind the plane. */
cb_status cb_dipoles_flow(cb_dipoles *d, const cb_pose *g, const double (*Y)[6], int except, int points,
                          const double (*x)[3], double (*u)[3]);
/* After cb_dipoles_apply: returns the share of body i in T, -(rho/2) d_i.R_i^T u_i. */
double cb_dipoles_energy(const cb_dipoles *d, int i);
/* Computes the matrix K[6 n][6 n] with momentum = K Y. Its blocks on the diagonal are 0 without a plane. Returns errors
 * as cb_dipoles_apply does. */
cb_status cb_dipoles_tensor(cb_dipoles *d, const cb_pose *g, double *K);
/* Returns the largest estimated error of K of a pair, relative to the smaller of the largest eigenvalues of the linear
 * parts of K_i and K_j, and the pair *i <= *j (i = j: a body and its image; -1 for no pair). It is infinite if a
 * body is behind the plane.
 *
 *   L_i L_j/(2 pi s^3) ((q_i^2 + q_j^2)/s^2 + max(L_i, L_j)/(2 pi s^3)) rho/e
 *
 * e is the smaller one of the largest eigenvalues named above, L the largest eigenvalue of D for linear motions, q the
 * radius of the body (if unknown: 1.5 times its reach) and s the distance. The first term is the error of K_ij, and the
 * second one that of K_ii. Angular components are divided by the radii. Compared with boundary elements of eleven pairs
 * (ellipsoids from 1:.25:.25 to 1:1:.15, eggs, cones, bowls), the largest error over 12 poses is 0.25 to 1.1 times the
 * estimate if s is at least 1.3 times the sum of the radii, and 0.25 to 1.7 times if the bodies nearly touch. For
 * spheres it is 0.6 times the estimate or less. */
double cb_dipoles_error(cb_dipoles *d, const cb_pose *g, int *i, int *j);
