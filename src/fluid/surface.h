/* Surfaces of meshes; see curvebody/surface.h. */
#pragma once

#include "numerics/mesh.h"
#include <curvebody/surface.h>

/* cb_surface_read in two steps. */
cb_status cb_surface_read_mesh(const char *path, const cb_mesh_reading *how, cb_mesh **out);

/* What is done to a mesh before it becomes a surface; lengths are in units of the file. */
typedef struct cb_mending {
  bool weld;
  double tolerance; /* of weld: vertices up to this far from each other are joined */
  double close;     /* holes up to this share of the area of the piece that they are in are closed; 0: none */
  bool posed;       /* its faces stay as they are for other poses */
} cb_mending;
enum { CB_MENDING_SHARE = 10 }; /* per cent: `close: true` */
/* What was done to it. */
typedef struct cb_surface_mended {
  double tolerance;
  int holes, edges, faces; /* closed holes, the edges about them and the faces in them */
  int left;                /* holes that are too large */
  double largest, least;   /* closed; the least of those left: shares of the area */
} cb_surface_mended;
/* how: NULL for nothing. */
cb_status cb_surface_of_mesh(const cb_mesh *mesh, const cb_mending *how, cb_surface **out);
cb_status cb_surface_read_mended(const char *path, const cb_mending *how, cb_surface **out);
const cb_surface_mended *cb_surface_how_mended(const cb_surface *s);
bool cb_surface_is_unscaled(const cb_surface *s); /* of a file, or with one in it, whose unit was taken for a metre */
void cb_surface_know_unit(cb_surface *s);         /* the user has given it, be it a metre: it is not unscaled */
/* "2 holes of 7 edges are closed by 3 faces, the largest of 1.2 % of its area; .."; false: there is nothing to say. */
bool cb_surface_mended_text(const cb_surface *s, char *text, size_t size);

/* The vertices' places x[vertices] from those of the whole list, in whose place they may go. */
void cb_surface_gather(const cb_surface *s, const double (*listed)[3], double (*x)[3]);
/* A vertex of the list, from 0, that is not at the place of the one that it is joined with; -1: there is none. */
int cb_surface_torn(const cb_surface *s, const double (*listed)[3]);

/* Vertices of borders that are within a tolerance (in m; 0: at one place) of another, which joins the most edges. */
typedef struct cb_surface_seam {
  int vertices;
  double tolerance;
  int left; /* edges of one face after that */
} cb_surface_seam;
cb_status cb_surface_seams(const cb_surface *s, cb_surface_seam *out);
/* The border of a part, from a vertex to a vertex where it begins (-1: there is none); bulges: too short for a flat
 * sheet of that area. */
typedef struct cb_surface_border {
  int edges, from, to;
  bool bulges;
} cb_surface_border;
cb_status cb_surface_border_of(const cb_surface *s, int part, cb_surface_border *out);
/* What to say of them: how many edges, the first, its place, and what would join them. weld: as the user writes it,
 * `weld` or `--weld`; NULL: only the edges. */
enum { CB_SURFACE_BORDER_TEXT = 400 };
void cb_surface_seam_text(const cb_surface_seam *seam, const char *weld, char text[CB_SURFACE_BORDER_TEXT]);
cb_status cb_surface_border_text(const cb_surface *s, int part, const char *weld, char text[CB_SURFACE_BORDER_TEXT]);

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
/* That level of a shape, or of a surface in a curved space, which has so many faces: another body than its coarse one.
 * *out is NULL for a surface that is the same on any faces, and where it has so many itself. The caller frees. */
cb_status cb_surface_with_faces(const cb_surface *s, int faces, cb_surface **out);
/* How many times the resolution of a shape can be halved, 0 of another mesh. */
int cb_surface_coarser(const cb_surface *s);
bool cb_surface_is_shape(const cb_surface *s); /* finer levels are of the true surface */
