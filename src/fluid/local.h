/* The local fluid model of a triangulated body: added mass, fluid momentum of a changing shape, lift and drag.
 *
 *   m(x) = (x × n, n);  <u, n> = m . Y for the velocity u of the point x and the twist Y = (omega, v) of the body frame
 *   added mass   I_f = sum over parts rho delta int m m^T dA, by the 3-midpoint rule (exact: m is linear on a face)
 *                delta = sum A/sum alpha l, l an edge's length, alpha its bending angle; an angle of ±pi, at a border
 *                of a sheet or at a fold, counts as +pi;
 *                delta is capped at (1/2) (sum A/(4 pi))^(1/2), which no convex body exceeds (Minkowski); a negative
 *                delta is replaced by this cap
 *   momentum     mu_0 = sum over parts rho delta int <x', n> m dA
 *   lift, drag   F = -(rho/2) sum A |u| <u, n> m at face centres c, u = v + omega × c + x' - flow velocity;
 *                dF/dY = -(rho/2) sum A (|u| m m^T + <u,n>/|u| m q^T), q = (c × u, u)
 *
 * A, n and c are the area, the normal and the centre of a face, rho is the density of the fluid, and x' the velocity of
 * a point x of the surface in the body frame. Sums run over the faces, and over the edges for alpha l. A face of an
 * open sheet represents both of its sides, so it counts twice. Drag coefficients: sphere 4/3, closed thin plate 2.
 * Source: "Going with the Flow" (see README), algorithms 2-6, corrected. SI units.
 */
#pragma once

#include "fluid/surface_mesh.h"

/* The faces of a surface as arrays of coordinates, padded to full vectors for the kernels. The caller frees a cb_local.
 */
typedef struct cb_local cb_local;
cb_status cb_local_create(const cb_surface *s, cb_local **out);
void cb_local_free(cb_local *l);

/* Sets the pose: positions x[vertices] and velocities v[vertices] (NULL: at rest) in the body frame. This function
 * computes, in one pass, all sums over the faces that depend only on the pose. After that
 * cb_local_removed_normal_velocity, cb_local_added_mass (with one density) and cb_moving_mass_with (moving_mass.h) cost
 * little. */
void cb_local_pose(cb_local *l, const double (*x)[3], const double (*v)[3]);

/* Sets the pose to the positions sum w[k] x[k] and the velocities sum dw[k] x[k] of n = 1, 2 or 4 poses x[k][vertices],
 * without storing these sums in arrays of the caller. apex[k][parts] is the result of cb_local_apexes for x[k]. It
 * saves a pass over the vertices and may be NULL. If at_once is not NULL, lift and drag are computed, too. Returns
 * false if a position or velocity is not finite. */
enum { CB_LOCAL_POSES = 4 };
typedef struct cb_local_blend {
  int n;
  const double (*x[CB_LOCAL_POSES])[3], (*apex[CB_LOCAL_POSES])[3];
  double w[CB_LOCAL_POSES], dw[CB_LOCAL_POSES];
} cb_local_blend;
/* Lift and drag with one density rho at the twist Y, computed in the same pass as the pose. The results are the same as
 * those of cb_local_drag with flow1 = flow. */
typedef struct cb_local_at_once {
  double rho, Y[6];
  const double *flow; /* velocity of a uniform flow in the body frame; NULL: no flow */
  double wrench[6], jacobian[6][6];
} cb_local_at_once;
bool cb_local_pose_blend(cb_local *l, const cb_local_blend *of, cb_local_at_once *at_once);
/* Computes the apex of each part: the mean of its surface at positions x, with the areas of the first pose as weights.
 * The function overwrites the apexes of the pose that was set before. */
void cb_local_apexes(cb_local *l, const double (*x)[3], double (*apex)[3]);

typedef struct cb_local_part {
  double area, volume;    /* for a sheet: the area of both sides, and volume 0 */
  double turning, border; /* turning: sum alpha l over the edges between two faces; border: length of the border */
  double delta, delta_uncapped;
  bool open, capped;
} cb_local_part;
/* Returns the reason why delta of a part is capped; NULL if it is not. */
const char *cb_local_doubt(const cb_local_part *part);
/* Computes the added mass with the density rho[faces] of the medium at each face (NULL: the density rho1 at all faces),
 * the fluid momentum mu0 of the shape's motion (NULL: not wanted), and part[parts] (may be NULL). The sum does not
 * depend on the number of threads. */
void cb_local_added_mass(cb_local *l, double rho1, const double *rho, double mass[6][6], double mu0[6],
                         cb_local_part *part);
/* Computes the added mass for density 1 of a surface in a curved space (local_sums.c) with the vertices at the normal
 * coordinates x, and part[parts]. Returns CB_ERROR_UNSUPPORTED for sheets. */
cb_status cb_local_curved_added_mass(const cb_surface *s, const double (*x)[3], double mass[6][6], cb_local_part *part);
/* The fluid at the faces: its density rho[faces] (NULL: rho1), and its velocity flow[faces] at the face centres in the
 * body frame (NULL: flow1 at all faces; both NULL: no flow). If c_n or c_t is not 0, the linear drag
 * -sum A (c_n n n^T + c_t (1 - n n^T)) u is added, with the symbols of the file's header. */
typedef struct cb_local_stream {
  double rho1;
  const double *rho, *flow1, (*flow)[3];
  double c_n, c_t;
} cb_local_stream;
/* Computes lift and drag on a body with twist Y, and the derivative in Y (NULL: not wanted). */
void cb_local_drag(cb_local *l, const cb_local_stream *in, const double Y[6], double wrench[6], double jacobian[6][6]);
/* Computes the mean normal velocity of the shape's motion over each closed part. The mean of a part is not 0 if the
 * motion changes the volume of the part. If `subtract` is set, the mean is subtracted from <x', n> in mu0. The function
 * returns the mean whose absolute value is largest.
 */
double cb_local_removed_normal_velocity(cb_local *l, bool subtract);
