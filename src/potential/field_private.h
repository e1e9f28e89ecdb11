/* A flow's parts: values on the surface (field_surface.c), at points (field.c), pressure (field_pressure.c). */
#ifndef CB_POTENTIAL_FIELD_PRIVATE_H
#define CB_POTENTIAL_FIELD_PRIVATE_H

#include "core/arena.h"
#include "potential/far.h"
#include "potential/field.h"

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

#endif
