/* The local fluid model of a triangulated body: added mass, fluid momentum of a changing shape, lift and drag.
 *
 *   m(x) = (x × n, n);  <u, n> = m . Y for the twist Y = (omega, v) of the body frame
 *   added mass   I_f = sum over parts rho delta sum_f A m m^T, by the 3-midpoint rule (exact for linear x)
 *                delta = sum A / sum alpha l, l an edge's length, alpha its bending angle (±pi, which borders of
 *                sheets and folds have, is +pi);
 *                delta is capped at sqrt(A/4 pi)/2, which no convex body exceeds (Minkowski), also where it is negative
 *   momentum     mu_0 = rho delta sum A <x', n> m
 *   lift, drag   F = -(rho/2) sum A |u| <u, n> m at face centres, u = body + pose - flow velocity;
 *                dF/dY = -(rho/2) sum A (|u| m m^T + <u,n>/|u| m q^T), q = (c × u, u)
 * An open sheet's face stands for both sides: counted twice. Sphere: Cd = 4/3; a closed thin plate: Cd = 2.
 * Source: "Going with the Flow" (see README), algorithms 2-6, corrected.
 */
#pragma once

#include "fluid/surface.h"

/* Faces as arrays of coordinates, padded to whole vectors, ready for the kernels; made once for a surface. */
typedef struct cb_local cb_local;
cb_status cb_local_create(const cb_surface *s, cb_local **out);
void cb_local_free(cb_local *l);

/* The pose: positions x[vertices] and velocities v[vertices] (NULL: at rest) in the body frame. All sums over the faces
 * that depend on it alone are taken here, in one pass: cb_local_breathing and cb_local_added_mass (with one density)
 * then cost nothing, nor does cb_moving_mass_with (moving_mass.h). */
void cb_local_pose(cb_local *l, const double (*x)[3], const double (*v)[3]);

/* The same of positions sum w[k] x[k] and velocities sum dw[k] x[k] of n <= 4 poses, which need not be formed before.
 * apex[k] (or NULL): [parts] of cb_local_apexes of x[k], which saves a pass. false: a position or velocity is not
 * finite. at_once: NULL, if not wanted. */
enum { CB_LOCAL_POSES = 4 };
typedef struct cb_local_blend {
  int n;
  const double (*x[CB_LOCAL_POSES])[3], (*apex[CB_LOCAL_POSES])[3];
  double w[CB_LOCAL_POSES], dw[CB_LOCAL_POSES];
} cb_local_blend;
/* Lift and drag with one density, in the same pass as the pose: what cb_local_drag finds with flow1 = flow. */
typedef struct cb_local_at_once {
  double rho, Y[6];
  const double *flow; /* or NULL */
  double wrench[6], jacobian[6][6];
} cb_local_at_once;
bool cb_local_pose_blend(cb_local *l, const cb_local_blend *of, cb_local_at_once *at_once);
/* The mean of each part's surface at positions x, weighted by its areas in the first pose; spoils the pose. */
void cb_local_apexes(cb_local *l, const double (*x)[3], double (*apex)[3]);

typedef struct cb_local_part {
  double area, volume;    /* of both sides of a sheet; 0 for a sheet */
  double turning, border; /* sum alpha l of the edges between two faces, and length of the border */
  double delta, delta_uncapped;
  bool open, capped;
} cb_local_part;
/* Why a part's added mass is not the model's; NULL where it is. */
const char *cb_local_doubt(const cb_local_part *part);
/* Added mass with density rho[faces] of each face's medium (NULL: rho1), and the fluid momentum of the shape's motion
 * mu0 (NULL: not wanted); part[parts] (NULL). The sum does not depend on threads. */
void cb_local_added_mass(cb_local *l, double rho1, const double *rho, double mass[6][6], double mu0[6],
                         cb_local_part *part);
/* The added mass of density 1 where the surface lies in a curved space (fluid/local_curved.c), with the vertices at
 * normal coordinates x; part[parts]. CB_ERROR_UNSUPPORTED for sheets. */
cb_status cb_local_curved_added_mass(const cb_surface *s, const double (*x)[3], double mass[6][6], cb_local_part *part);
/* Lift and drag on a body with twist Y in a flow that has velocity flow[faces] (NULL: flow1, may be NULL: none) in
 * the body frame at face centres; wrench and its derivative in Y (NULL: not wanted). c_n, c_t: linear drag -sum A
 * (c_n n n^T + c_t (1 - n n^T)) u is added where they are not 0. */
void cb_local_drag(cb_local *l, double rho1, const double *rho, const double Y[6], const double flow1[3],
                   const double (*flow)[3], double c_n, double c_t, double wrench[6], double jacobian[6][6]);
/* Mean normal velocity of the shape's motion over each closed part (a stroke that changes the volume): subtracted from
 * <x', n> in mu0 when asked; returns the greatest over the parts. */
double cb_local_breathing(cb_local *l, bool subtract);
