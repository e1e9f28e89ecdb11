/* The flow of a perfect fluid about bodies that move: velocity and pressure at points and on the surface.
 *
 *   phi(x) = sum_j D_j(x) phi_j - S_j(x) w_j                         w = <v, n> of the surface
 *   u = grad phi = sum_j grad S_j × g_j - w_j grad S_j,   g_j = n_j × grad_s phi
 *   p = p_far - rho (dphi/dt + |u|^2/2),   dphi/dt = (phi(x + h c, t + h) - phi(x - h c, t - h))/(2 h) - <c, u>
 * The dipole sheet as a vortex sheet: Lamb, Hydrodynamics (1932), articles 57, 58, 150; pressure: article 20. phi on
 * the corners is fitted to that of the faces about them, so that g has no divergence and no vortices lie along the
 * edges: towards edges and vertices u grows as the logarithm of the distance, times the step of g there. phi of the
 * panels has steps along edges, of their size times |u|, closer to the surface than that, and is the mean of both
 * sides on it. Hence in a layer, up to a tenth of the root of a face's area from the surface on either side, all
 * values are those outside at the nearest point of the surface: phi and u fitted to the corners, linear between them.
 * There errors are of second order in the faces' size where the surface is smooth; at sharp edges u is a mean of the
 * faces'. On a sheet of no thickness (potential/sheet.h) phi_j is the jump, linear from the corners, 0 on its border,
 *   u = the mean of both sides +- grad_s phi_j/2
 * and the layer has the side's on which the point is. Next to a border u grows like the inverse root of the distance
 * from it: there errors are of the size of u by the outermost faces, and elsewhere of order 3/2. Where a sheet ends on a
 * solid phi of the solid is a mean of both its sides over the width of a face.
 * Without weight, viscosity and vortices; the fluid fills space and is at rest far away. SI units, world axes;
 * p for density 1.
 */
#pragma once

#include <stdbool.h>
#include "core/arena.h"
#include "potential/far.h"

typedef struct cb_flow_about cb_flow_about;

/* Of bodies (cb_kirchhoff_create says which; with open pieces where `sheets`) whose vertices at x move with v. error: of
 * the far field and of the equations, as far_error there; 0: 1e-6. The caller frees. */
cb_status cb_field_create(int vertices, const double (*x)[3], const double (*v)[3], int faces, const int (*face)[3],
                          bool sheets, double error, cb_flow_about **out);
void cb_field_free(cb_flow_about *f);

/* At points: velocity; phi and whether a body is there, deeper than 1e-6 of the root of a face's area. Any may be NULL.
 * Within bodies, below the layer, u is 0 to the error of the faces. One call at a time. */
cb_status cb_field_at(cb_flow_about *f, int points, const double (*x)[3], double (*u)[3], double *phi, bool *inside);

/* At the faces' centres, on the side that the normals point to (0), or the other one of sheets (1); 0 in cavities, and
 * on side 1 of solids. */
const double *cb_field_face_phi(const cb_flow_about *f, int side);
const double (*cb_field_face_u(const cb_flow_about *f, int side))[3];
/* (1/2) int |u|^2 over the fluid = -(1/2) int phi w dA, of sheets with the jump */
double cb_field_kinetic(const cb_flow_about *f);

/* p at points that move with c, from the flows a time h earlier, then, and h later: by differences of second order in
 * h. c is any velocity that keeps x +- h c out of the bodies as they move: theirs, where one is close; in the layer p
 * is that of the surface's own points, whatever c. f: of the same faces. u: of f[1]. */
cb_status cb_field_pressure(cb_flow_about *const f[3], double h, int points, const double (*x)[3], const double (*c)[3],
                            const double (*u)[3], double *p);
/* p on the faces, likewise: the force on one is that of side 1 less that of side 0, times n dA. */
void cb_field_face_pressure(cb_flow_about *const f[3], double h, int side, double *p);

/* A flow's parts: values on the surface (field_surface.c), at points (field.c), pressure (field_pressure.c). */
enum { CB_FIELD_COLUMNS = 4 };

/* Of the fluid on one side of the surface: of faces, and of corners. */
typedef struct cb_field_side {
  double *phi, (*u)[3], *corner_phi, (*corner_u)[3];
} cb_field_side;

struct cb_flow_about {
  cb_arena *arena;
  int vertices, faces, corners; /* corners: the vertices, once more for sheets where there are any */
  cb_panels *panels;
  cb_far *far;
  int (*face)[3], (*corner)[3]; /* [faces] */
  bool *sheet, *border;         /* [faces]; [corners]: where a sheet ends and its jump is 0 */
  double *w, *jump, kinetic;    /* [faces]: the normal velocity; phi of solids, the jump of it across sheets */
  double *strength;             /* [corners]: of jump */
  cb_field_side side[2];        /* where the normals point to, and the other one, 0 on solids */
  double (*v)[3];               /* [vertices]: the surface's velocity */
  double *sigma;                /* [CB_FIELD_COLUMNS][faces] */
  double *sources, *dipoles;    /* [2][faces]: of phi, and of a dipole sheet of 1 on solids */
  cb_far_field *velocity, *potential;
  double *at; /* [2][points of a batch] */
};

/* Columns of values of corners at the point of face i where their weights are these. */
void cb_field_interpolate(const cb_flow_about *f, int i, const double weight[3], int columns, const double *corner,
                          double *out);
/* The strengths of sources, dipoles and vortices, from w and jump. */
cb_status cb_field_spread(cb_flow_about *f, const double (*x)[3]);
/* Both sides of the surface, from these strengths and their fields. */
cb_status cb_field_sides(cb_flow_about *f, const double (*x)[3]);

/* By the panels, wherever the points are; u, phi, inside may be NULL. */
cb_status cb_field_of_panels(cb_flow_about *f, int points, const double (*x)[3], double (*u)[3], double *phi,
                             bool *inside);
/* The face in whose layer x is, the weights of its corners and the side; -1: none. */
int cb_field_layer(const cb_flow_about *f, const double x[3], double weight[3], int *side);
