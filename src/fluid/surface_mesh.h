/* Surfaces made from meshes (see curvebody/surface.h): how they are mended, joined, refined and checked for cuts, and
 * the declarations that the source files surface_*.c share. */
#pragma once

#include "numerics/mesh.h"
#include <curvebody/surface.h>

#include <stddef.h>

/* Reads the mesh of a file, which is the first step of cb_surface_read. The caller frees *out. */
cb_status cb_surface_read_mesh(const char *path, const cb_mesh_reading *how, cb_mesh **out);

/* How a mesh is mended before it becomes a surface. Lengths are in units of the file. */
typedef struct cb_mending {
  bool weld;
  double tolerance; /* for `weld`: vertices up to this distance apart are joined */
  /* a hole is closed if its area is at most this share of the area that its piece has with the hole closed; 0: no hole
   * is closed */
  double close;
  bool posed; /* the faces must stay as they are, because poses from other files use the same faces */
} cb_mending;
/* With `close: true` the member `close` of cb_mending is this percentage. */
enum { CB_MENDING_SHARE = 10 };
/* The results of mending. */
typedef struct cb_surface_mended {
  double tolerance;
  int holes, edges, faces; /* numbers of closed holes, of the edges around them, and of the faces that close them */
  int left;                /* number of holes that are too large to be closed */
  /* Areas of holes, each divided by the area that its piece has with this hole closed: `largest` is the largest ratio
   * of a closed hole, and `least` the smallest ratio of a hole left open. */
  double largest, least;
} cb_surface_mended;
/* These two functions make a surface from a mesh or a file, and mend it as `how` says (NULL: not at all). The caller
 * frees *out. */
cb_status cb_surface_of_mesh(const cb_mesh *mesh, const cb_mending *how, cb_surface **out);
cb_status cb_surface_read_mended(const char *path, const cb_mending *how, cb_surface **out);
const cb_surface_mended *cb_surface_how_mended(const cb_surface *s);
/* Returns whether the surface, or a piece of it, is from a file whose unit was assumed to be the metre. */
bool cb_surface_is_unscaled(const cb_surface *s);
void cb_surface_know_unit(cb_surface *s); /* records that the user has given the unit */
/* Writes "2 holes of 7 edges are closed by 3 faces, the largest is 1.2 % of its surface; .."; returns
 * false if there is nothing to report. */
bool cb_surface_mended_text(const cb_surface *s, char *text, size_t size);

/* Takes the positions x[vertices] of the vertices from the complete list of positions of the file. x may be the list.
 */
void cb_surface_gather(const cb_surface *s, const double (*listed)[3], double (*x)[3]);
/* Returns a vertex of the list, counted from 0, whose position in `listed` differs from that of the vertex with which
 * it is joined. Returns -1 if there is none. */
int cb_surface_torn(const cb_surface *s, const double (*listed)[3]);

/* The number of border vertices that are within a tolerance (in m; 0: at the same place) of another border vertex. The
 * tolerance is the one that joins the largest number of edges. */
typedef struct cb_surface_seam {
  int vertices;
  double tolerance;
  int left; /* number of edges with only one face that would remain after a weld with this tolerance */
} cb_surface_seam;
cb_status cb_surface_seams(const cb_surface *s, cb_surface_seam *out);
/* The border of a part: its number of edges, and the vertices `from` and `to` of its first edge (-1: there is none).
 * bulges: the border is too short for a flat sheet of the part's area. */
typedef struct cb_surface_border {
  int edges, from, to;
  bool bulges;
} cb_surface_border;
cb_status cb_surface_border_of(const cb_surface *s, int part, cb_surface_border *out);
/* cb_surface_border_text writes a message about the border of a part: the number of edges, the first edge and its
 * place, and the tolerance of `weld` that would join these edges. weld is the name of the key or option in the message,
 * `weld` or `--weld`; if it is NULL, the message has only the edges. cb_surface_seam_text writes only the sentence
 * about the tolerance; its weld may not be NULL. */
enum { CB_SURFACE_BORDER_TEXT = 400 };
void cb_surface_seam_text(const cb_surface_seam *seam, const char *weld, char text[CB_SURFACE_BORDER_TEXT]);
cb_status cb_surface_border_text(const cb_surface *s, int part, const char *weld, char text[CB_SURFACE_BORDER_TEXT]);

/* A surface at its place: its points y are moved to origin + frame y. If frame is a reflection, the faces are reversed.
 */
typedef struct cb_surface_piece {
  const cb_surface *surface;
  const char *name; /* name of its only part, or a prefix of the names of several parts */
  double frame[3][3], origin[3];
} cb_surface_piece;
/* Joins all pieces into one surface, each with its own parts. Returns CB_ERROR_ARGUMENT if there are too many faces.
 * The caller frees *out. */
cb_status cb_surface_join(int n, const cb_surface_piece *piece, cb_surface **out);

/* Makes the same body with other faces. A shape of bodies/shapes gets 2^level times its resolution. In another mesh
 * each face is divided into four at the middles of its edges, `level` times. level is at least -cb_surface_coarser(s).
 * Returns CB_ERROR_ARGUMENT if there are too many faces. The caller frees *out. */
cb_status cb_surface_at_level(const cb_surface *s, int level, cb_surface **out);
/* Makes the level with this number of faces for a shape, or for a surface in a curved space. For other surfaces *out is
 * NULL, because all their levels describe the same surface. *out is also NULL if s already has that number of faces, or
 * if there is no such level. The caller frees *out. */
cb_status cb_surface_with_faces(const cb_surface *s, int faces, cb_surface **out);
/* Returns how many times the resolution of a shape can be halved, or 0 if the surface is not a shape. */
int cb_surface_coarser(const cb_surface *s);
/* Returns whether s is a shape, whose finer levels approach the true surface. */
bool cb_surface_is_shape(const cb_surface *s);

/* The shape of bodies/shapes from which a part was made: its class, its parameters and the place of the part. Points y
 * of the shape are at origin + frame y. */
typedef struct cb_surface_form {
  const cb_shape_class *shape; /* NULL: the part was made from a mesh */
  const void *params;
  double frame[3][3], origin[3];
} cb_surface_form;
/* Returns the shape of which a part was made, or NULL if it is not known. cb_surface_form_number returns the value of
 * the parameter `name` of a shape; the parameter must be a real number. */
const cb_surface_form *cb_surface_form_of(const cb_surface *s, int part);
double cb_surface_form_number(const cb_surface_form *form, const char *name);

/* Declarations that surface_*.c share. */

struct cb_arena;

/* All data of a surface. */
typedef struct cb_surface_owned {
  cb_surface surface; /* the first member, to which the caller has a pointer */
  struct cb_arena *arena;
  /* For a shape that can be made again: its class, its parameters, and the offset of `resolution` in them. shape is
   * NULL for other surfaces. */
  const cb_shape_class *shape;
  void *params;
  size_t resolution;
  cb_surface_form *form;  /* [parts]: the shape of each part; NULL: no part is made of a shape */
  double scale;           /* factor by which the surface was scaled after it was made */
  cb_surface_chart chart; /* the chart by which the surface was embedded */
  cb_surface_mended mended;
  bool of_file;
} cb_surface_owned;

/* A side of a face, between two corners lo < hi. */
typedef struct cb_side {
  int lo, hi, face;
  bool forward; /* the face runs from lo to hi */
} cb_side;

/* Returns all sides (3 per face), sorted by lo, hi, part (NULL: all faces are of one part) and face. The array is from
 * malloc; it is NULL if there is no memory. */
cb_side *cb_sides_sorted(int vertices, int faces, const int (*face)[3], const int *part);

/* The sides of one edge of one part follow each other. Returns the index after the last side that has the same edge and
 * the same part as side i. If part is NULL, only the edge must be the same. */
size_t cb_sides_same(const cb_side *side, size_t n, size_t i, const int *part);

/* Disjoint sets of 0..n-1, with parent[i] = i at first. cb_union_find returns the representative of the set of i;
 * cb_union_join unites the sets of i and j. */
int cb_union_find(int *parent, int i);
void cb_union_join(int *parent, int i, int j);

/* Mending a mesh before it becomes a surface. The triangles and groups of the mesh must be from malloc. */
/* Replaces each corner of the triangles by the first vertex within the tolerance. first[n_vertices] becomes the number
 * of this vertex for each vertex; a vertex without triangles keeps its own number. */
cb_status cb_weld(cb_mesh *m, double tolerance, int *first);
/* Replaces each corner v of the triangles by first[v]. A triangle that then has a vertex twice is deleted, because its
 * other two sides coincide. Its entry in the list of groups is deleted, too. */
void cb_mesh_renumber(cb_mesh *m, const int *first);

/* Returns whether a face is degenerate: its area counts as 0 if its height is at most 1e-10 of its longest side. `area`
 * is twice the area. */
static inline bool cb_face_is_flat(double area, double longest) { return !(area > 1e-10 * longest * longest); }

/* This function is for files that name no groups. A closed piece whose faces point inwards and that is inside another
 * piece is a cavity, and gets the part of the outer piece in s->part. *any becomes true if there is a cavity. */
cb_status cb_surface_unite_cavities(cb_surface *s, bool *any);

/* Finds the middle of the geodesic between two points in normal coordinates. */
void cb_surface_middle(double K, const double a[3], const double b[3], double out[3]);

/* Does the same as cb_surface_make, with names[parts] as names of the parts. If names is NULL, the name of a single
 * part is "body", and several parts have the names "part1", "part2" ... */
cb_status cb_surface_build(int vertices, const double (*x)[3], int faces, const int (*face)[3], const int *part,
                           const char *const *names, cb_surface **out);

/* The cuts of a part of a surface with itself, or of two parts with each other.
 *
 * Two faces that share no vertex cut each other if each has corners on both sides of the other's plane, and if the
 * intervals in which they meet the line of both planes overlap (T. Möller, J. Graphics Tools 2 (1997) 25,
 * doi:10.1080/10867651.1997.10487472). If one of the faces belongs to a closed part, they also cut each other if the
 * other face meets it in a line from inside. Faces that only touch do not cut each other. Lengths up to 1e-7 of the
 * surface's size, the precision of files in single precision, count as 0, and so do lengths below their own round-off.
 */

typedef struct cb_surface_cut {
  int part[2]; /* numbers of the parts in ascending order; they are equal if a part cuts itself */
  int pairs;   /* number of pairs of faces that cut each other */
  int face[2]; /* the numbers of the two faces of the first pair, one of each part */
  double at[3];
} cb_surface_cut;

/* Returns one entry for each pair of parts that cut each other, in ascending order; the caller frees it with free().
 * Faces without area are skipped. Counting stops at a million pairs of faces. */
cb_status cb_surface_cuts(const cb_surface *s, cb_surface_cut **cuts, int *n);

/* Explains a failure (status) of the flow about a surface in flat space, CB_ERROR_DOMAIN or CB_ERROR_STEP, by its
 * cause: parts that cut each other, or faces that coincide. It then returns CB_ERROR_DOMAIN with a new message. If
 * there is no such cause, for another status, and in a curved space, it returns the status with the original message.
 */
cb_status cb_surface_explain(const cb_surface *s, cb_status status);

/* Writes a message about a cut: the parts, the number of pairs, and the first pair with its place; faces are counted
 * from 1. */
enum { CB_SURFACE_CUT_TEXT = 320 };
void cb_surface_cut_text(const cb_surface *s, const cb_surface_cut *cut, char text[CB_SURFACE_CUT_TEXT]);
