/* The flow of a perfect fluid around moving bodies: velocity and pressure at points and on the surface, and
 * streamlines.
 *
 *   phi(x) = sum_j D_j(x) phi_j - S_j(x) w_j    w = <v, n>: v the velocity, n the normal of the surface
 *   u = grad phi = sum_j grad S_j × g_j - w_j grad S_j,   g_j = n_j × grad_s phi
 *   p = p_far - rho (dphi/dt + |u|^2/2),   dphi/dt = (phi(x + h c, t + h) - phi(x - h c, t - h))/(2 h) - <c, u>
 * phi is the potential, u the velocity of the fluid and p its pressure. j numbers the faces, S and D are those of
 * potential/panels.h, and grad_s is the gradient along the surface. p_far is the pressure far away and rho the density.
 * c is any velocity of the point x, t the time and h a short time. The dipole sheet is evaluated as a vortex sheet:
 * Lamb, Hydrodynamics (1932), articles 57, 58, 150; pressure: article 20.
 *
 * phi at the corners is fitted to phi of the faces around them. Therefore g has no divergence, and there are no
 * vortices along the edges. Near edges and vertices u grows like the logarithm of the distance times the jump of g
 * there. Very near the surface, phi of the panels jumps along edges by about the size of a panel times |u|. On the
 * surface, phi of the panels is the mean of both sides. In a layer around the surface the values are therefore those on
 * the outside of the surface, at its nearest point. The layer extends on either side to a tenth of the square root of a
 * face's area. On the surface phi and u are fitted to the corners and linear between them. Where the surface is smooth,
 * the errors of these values are of second order in the size of the faces; at sharp edges u is a mean over faces.
 *
 * On a sheet of no thickness (potential/operator.h) phi_j is the jump of phi, linear between the corners and 0 on the
 * border of the sheet, and
 *   u = the mean of both sides +- grad_s phi_j/2
 * In the layer, phi and u of a point are those of the side of the sheet on which the point lies. Near a border u grows
 * like the inverse square root of the distance from the border. Errors at the outermost faces are as large as u, and
 * elsewhere of order h^(3/2) for faces of size h. If a sheet ends on a solid, phi of the solid is the mean of both
 * sides over the width of a face.
 *
 * The fluid has no weight, no viscosity and no vortices; it fills space and is at rest far away. Units are SI, and the
 * axes are those of the world; the functions return p - p_far for density 1.
 */
#pragma once

#include "core/arena.h"
#include "potential/far.h"
#include <curvebody/status.h>

#include <stdbool.h>

typedef struct cb_flow_about cb_flow_about;

/* Bodies, as in cb_kirchhoff_create. */
typedef struct cb_field_bodies {
  int vertices, faces;
  const double (*x)[3], (*v)[3]; /* [vertices]: positions and velocities */
  const int (*face)[3];
  /* [faces]: the velocity of another flow, in which the bodies are, at the centres of the faces; NULL: there is none.
   * Then w = <v - incoming, n>, so that no fluid passes through the surface in the sum of both flows. All results are
   * those of the flow around the bodies without the other flow. */
  const double (*incoming)[3];
  bool sheets; /* pieces with a border are allowed */
} cb_field_bodies;

/* Creates the flow around bodies. `error` is the error of the far field, relative to the largest potential; 0 selects
 * 1e-6. Returns errors as cb_kirchhoff_create and cb_kirchhoff_solve do. The caller frees the result. */
cb_status cb_field_create(const cb_field_bodies *bodies, double error, cb_flow_about **out);
void cb_field_free(cb_flow_about *f);

/* Finds the velocity and phi at points, and whether each point is inside a body, deeper than 1e-6 times the square root
 * of a face's area. u, phi and inside may be NULL. Inside bodies, below the layer, u is 0 up to the error of the faces.
 * Only one call at a time is allowed. */
cb_status cb_field_at(cb_flow_about *f, int points, const double (*x)[3], double (*u)[3], double *phi, bool *inside);

/* These functions return phi and u at the centres of the faces, on the side to which the normals point (0) or on the
 * other side of sheets (1). The values are 0 in cavities, and on side 1 of solids. */
const double *cb_field_face_phi(const cb_flow_about *f, int side);
const double (*cb_field_face_u(const cb_flow_about *f, int side))[3];
/* Returns the kinetic energy (1/2) int |u|^2 over the fluid = -(1/2) int phi w dA, where dA is an element of the
 * surface's area. On sheets phi is the jump. */
double cb_field_kinetic(const cb_flow_about *f);

/* Computes p - p_far for density 1 at points x that move with velocity c, by differences of second order in h. f are
 * the flows at the times t - h, t and t + h, with the same faces, and u is the velocity in f[1]. c is any velocity for
 * which x +- h c stays outside the moving bodies; near a body use the velocity of the body. For x in the layer around
 * the surface (see the top of this file), p is evaluated at points that move with the surface, whatever c is. Returns
 * CB_ERROR_MEMORY if there is no memory. */
cb_status cb_field_pressure(cb_flow_about *const f[3], double h, int points, const double (*x)[3], const double (*c)[3],
                            const double (*u)[3], double *p);
/* Computes p - p_far at the centres of the faces on a side (0 or 1), with the differences of cb_field_pressure. p -
 * p_far is 0 on side 1 of solids. The force on a face is (p of side 1 minus p of side 0) n dA. */
void cb_field_face_pressure(cb_flow_about *const f[3], double h, int side, double *p);

/* Streamlines of a flow at one time, and the radius of tubes around them.
 *
 *   dx/ds = u/|u|,   r = r_0 sqrt(|u(x_0)|/|u(x)|)
 * s is the length along the line, so the points x are evenly spaced. r is the radius of a thin tube with constant flux;
 * it is r_0 at the seed x_0. The integrator has order 5(4): Dormand & Prince (1980), J. Comput. Appl. Math. 6, 19, doi
 * 10.1016/0771-050X(80)90013-3. Points within steps: Hairer, Nørsett & Wanner (1993), Solving Ordinary Differential
 * Equations I, II.6. Each line has its own steps. At each stage u is requested once for the points of all lines.
 * `error` should be well above the error of u, because noise in u makes the steps small. */

/* Evaluates the velocity u at points x. */
typedef cb_status (*cb_stream_velocity)(void *context, int points, const double (*x)[3], double (*u)[3]);

typedef struct cb_stream_lines {
  int lines, points; /* points per line */
  /* apart: the distance of successive points along a line; < 0: the line goes upstream. error: the tolerance of the
   * error in one step of the integrator, a length */
  double apart, error;
} cb_stream_lines;

/* Sets x[lines][points], beginning with the seeds, and u[lines][points] at these points. A line stops at a point where
 * u is 0. Returns CB_ERROR_STEP if steps become too small. */
cb_status cb_streamlines(cb_stream_velocity velocity, void *context, cb_stream_lines form, const double (*seed)[3],
                         double (*x)[3], double (*u)[3]);
