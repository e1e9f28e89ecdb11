/* Several rigid closed bodies in one perfect fluid of density 1, at rest far away: how each body changes the added mass
 * of the other bodies.
 *
 *   2 T = <K(g) Y, Y>,  K_ab = -(phi_a W w_b + phi_b W w_a)/2,  A phi_a = -S w_a,  A = I/2 - D,  A^T psi_a = W w_a
 *   (K Y)_a = (psi S w_a - phi W w_a)/2,  phi = sum_a phi_a Y_a,  psi = sum_a psi_a Y_a
 *   dT = -(1/2) sum psi(x) V(x).dx,  V = grad(D phi - S w) of the panels of another body, w = sum_a w_a Y_a
 * T is the kinetic energy of the fluid. g are the poses of all n bodies and Y their twists, in body frames; a and b
 * number the 6 n components of Y. w_a is the normal velocity of the panels for the unit twist a, phi_a its potential,
 * and psi_a its adjoint. W are the areas of the panels, I is the unit matrix, and S and D are those of
 * potential/panels.h, from all panels to the centres x of all panels. The sum is over all x and all other bodies. dx is
 * the motion of x relative to the other body. Only the blocks of S and D between two bodies depend on g. The own
 * blocks, which are those of a body with itself, are factored once for each shape, and (1 - D' F) y = b is solved by
 * GMRES with D' the blocks between bodies and F the inverse of the own blocks of A. b is D' phi - S' w, with the
 * potentials phi of each body alone and the blocks S' of S between bodies. Momentum and slope are the derivatives of
 * one and the same T, that of the panels, up to round-off. They therefore obey the conservation laws of T: the slopes,
 * as wrenches in the world, have the sum 0.
 *
 * Near a plane each body also feels the images of all bodies, its own among them (potential/operator.h). The value of S
 * w or D phi of an image at x is that of the body at the mirror image of x.
 *
 * In a space of constant curvature the panels, S and D are those of potential/curved_flow.h, with the rule of degree 5,
 * poses and twists are those of curvebody/pose.h, and the slopes carried to the world by Ad^T have the sum 0. There the
 * formula of S changes at a certain distance from a panel, and T has jumps. They were below 1e-10 of what the other
 * bodies add to T for panels of 0.04 radii of curvature, and below 1e-9 for 0.14. In a curved space the computed gap
 * has the relative error K (gap/2 + h)^2 for faces of size h. Far from the base point of a hyperbolic space, poses and
 * therefore gaps lose digits.
 *
 * The panels are those of potential/kirchhoff.h and have the same error far from other bodies. The thin layer of fluid
 * between two bodies adds an error of dT, which was measured on two unit spheres of 512 faces of size h (the square
 * root of their area) that move along or across the line of the centres, against the series of two spheres. Far away dT
 * is 3.6 % too small. At the gaps 3 h, h, h/2 and h/3 it is smaller by a further 1, 3, 7 and 9 %; the further error of
 * K is at most 1.5 %. Smaller gaps than h/3, for the larger of the two faces next to the gap, are refused. Lengths are
 * in metres. Sources: kirchhoff.h; the derivatives were derived for this project.
 */
#pragma once

#include "potential/kirchhoff.h"
#include <curvebody/se3.h>

typedef struct cb_several cb_several;

/* A body: closed surfaces on vertices x, in its own axes. Bodies with the same pointers x and face have the same shape
 * and share its factors. */
typedef struct cb_several_body {
  int vertices;
  const double (*x)[3];
  int faces;
  const int (*face)[3];
  const char *name; /* for messages; NULL: messages number the bodies from 1 */
} cb_several_body;

typedef struct cb_several_report {
  int iterations;  /* the largest number of iterations of one solution */
  double residual; /* the largest |b - (1 - D' F) y|/|b| */
  /* The smallest distance between the surfaces of two bodies, or between a body and its image in the wall, which is
   * twice its distance from the wall; infinite for one body without a wall. `body` are the two bodies, counted from 0;
   * they are equal for a body and its image. */
  double gap;
  int body[2];
  double resolved; /* the smallest gap that the panels next to the gap resolve, h/3 (see above) */
} cb_several_report;

/* Prepares the bodies. Of the options, `wall`, `memory`, `iterations`, `sheets` and `curvature` are used; the solution
 * is always dense within a body and iterative between bodies, with a relative residual of at most 1e-13. Returns the
 * errors of cb_kirchhoff_create and cb_kirchhoff_added_mass for a body alone; the message names the body. Returns
 * CB_ERROR_ARGUMENT if the matrices do not fit into the memory; the message gives both sizes. Returns
 * CB_ERROR_UNSUPPORTED for sheets. The arrays of the bodies must outlive the result. The caller frees the result. */
cb_status cb_several_create(int bodies, const cb_several_body *body, const cb_kirchhoff_options *options,
                            cb_several **out);
void cb_several_free(cb_several *s);

/* Sets K to the added mass of the body alone, without a wall, as cb_kirchhoff_added_mass computes it with the dense
 * method. */
void cb_several_own(const cb_several *s, int body, double K[6][6]);

/* Computes what the other bodies and the wall add to each body i with the twist Y_i: the momentum sum_j K_ij Y_j -
 * own_i Y_i, and the wrench slope_i in the frame of the body. Component k of slope_i is the derivative of the kinetic
 * energy T along xi_k for the pose g_i (1 + hat(xi)). slope may be NULL, which saves a third of the time or more. The
 * results depend only on g and Y, and not on earlier calls or on the number of threads. Returns CB_STEP_DOMAIN if two
 * bodies overlap, if a body is behind the wall, or if the gap is below report->resolved. Returns CB_STEP_NO_CONVERGENCE
 * if the iteration does not converge, and CB_STEP_NOT_FINITE for poses or twists that are not finite. report is set if
 * the status is CB_OK; it may be NULL. The function may be called from any thread; each thread has its own matrices
 * while it works. */
cb_status cb_several_apply(cb_several *s, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                           double (*slope)[6], cb_several_report *report);

/* Computes the complete tensor K[6n][6n], with the own blocks, and its derivatives dK[c][a][b] of K_ab along component
 * c = 6 i + k of xi_i (see cb_several_apply), [6n][6n][6n]; dK may be NULL. Both are symmetric in a and b. Returns the
 * errors of cb_several_apply. */
cb_status cb_several_tensor(cb_several *s, const cb_pose *g, double *K, double *dK);
