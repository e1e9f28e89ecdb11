/* Surfaces of meshes; see curvebody/surface.h. */
#ifndef CB_FLUID_SURFACE_H
#define CB_FLUID_SURFACE_H

#include "numerics/mesh.h"
#include <curvebody/surface.h>

/* cb_surface_read in two steps. */
cb_status cb_surface_read_mesh(const char *path, const cb_mesh_reading *how, cb_mesh **out);
cb_status cb_surface_of_mesh(const cb_mesh *mesh, bool weld, cb_surface **out);

/* The vertices' places x[vertices] from those of the whole list, in whose place they may go. */
void cb_surface_gather(const cb_surface *s, const double (*listed)[3], double (*x)[3]);
/* A vertex of the list, from 0, that is not at the place of the one that it is joined with; -1: there is none. */
int cb_surface_torn(const cb_surface *s, const double (*listed)[3]);
/* How many vertices of borders stand at the place of another such. */
cb_status cb_surface_seams(const cb_surface *s, int *n);

/* A surface at its place: its points y go to origin + frame y; a frame that mirrors turns its faces round. */
typedef struct cb_surface_piece {
  const cb_surface *surface;
  const char *name; /* of its part; before those of its parts where it has several */
  double frame[3][3], origin[3];
} cb_surface_piece;
/* All of them in one, each of its own parts. CB_ERROR_ARGUMENT for more faces than can be counted. The caller frees. */
cb_status cb_surface_join(int n, const cb_surface_piece *piece, cb_surface **out);

/* The body on other faces: of a shape made by the code, at 2^level times its resolution; of another mesh, each face in
 * four by the middles of its edges, `level` times over. level >= -cb_surface_coarser(s). CB_ERROR_ARGUMENT for more
 * faces than can be counted. The caller frees. */
cb_status cb_surface_at_level(const cb_surface *s, int level, cb_surface **out);
/* How many times the resolution of a shape can be halved, 0 of another mesh. */
int cb_surface_coarser(const cb_surface *s);
bool cb_surface_is_shape(const cb_surface *s); /* finer levels are of the true surface */

#endif
