/* What the files of surfaces share. */
#pragma once

#include "fluid/surface.h"
#include <stddef.h>

struct cb_arena;

/* All of a surface. */
typedef struct cb_surface_owned {
  cb_surface surface; /* first: what the caller sees */
  struct cb_arena *arena;
  /* of a shape that can be made again: its class, its parameters and the place of their `resolution`; else NULL */
  const cb_shape_class *shape;
  void *params;
  size_t resolution;
  double scale; /* since it was made */
  cb_surface_chart chart; /* by which it was laid */
  cb_surface_mended mended;
  bool of_file;
} cb_surface_owned;

/* A side of a face, from corner to corner, with lo < hi. */
typedef struct cb_side {
  int lo, hi, face;
  bool forward; /* the face runs from lo to hi */
} cb_side;

/* All sides (3 a face) ascending by lo, hi, part (NULL: of one part) and face; from malloc, NULL if there is no memory.
 * */
cb_side *cb_sides_sorted(int vertices, int faces, const int (*face)[3], const int *part);

/* The end of the sides from i on that are the same edge of the same part. */
size_t cb_sides_same(const cb_side *side, size_t n, size_t i, const int *part);

/* Unions of 0..n-1. */
int cb_union_find(int *parent, int i);
void cb_union_join(int *parent, int i, int j);

/* Places one after another. number: of the vertex at x; out: that of the first at its place, or within the
 * tolerance. */
typedef struct cb_clusters cb_clusters;
cb_status cb_clusters_create(size_t most, double tolerance, cb_clusters **out);
int cb_clusters_add(cb_clusters *p, int number, const double x[3]);
void cb_clusters_free(cb_clusters *p);

/* What is done to a mesh before it becomes a surface; its triangles and groups are from malloc. */
/* Triangles by the first of the vertices within the tolerance of their corners. first[n_vertices]: which that is, of a
 * vertex that no triangle has itself. */
cb_status cb_weld(cb_mesh *m, double tolerance, int *first);
/* Triangles by first[]; those that have a vertex twice are dropped, with their groups: their other two sides fall on
 * each other. */
void cb_mesh_renumber(cb_mesh *m, const int *first);
/* Closes small holes (surface_close.c), into *done. */
cb_status cb_mesh_close(cb_mesh *m, double share, cb_surface_mended *done);
/* The same surface without faces of no area (surface_flat.c); vertices may be joined, into first[n_vertices]. */
cb_status cb_mesh_unflatten(cb_mesh *m, int *first);
bool cb_mesh_has_flat(const cb_mesh *m);

/* Is a face without area: is its height at most 1e-10 of its longest side? area: twice its area. */
static inline bool cb_face_is_flat(double area, double longest) { return !(area > 1e-10 * longest * longest); }

/* Where a file names no groups, a closed piece that is turned inwards inside another is a cavity of its part: s->part
 * is numbered so. *any: there is one. */
cb_status cb_surface_unite_cavities(cb_surface *s, bool *any);

/* The middle of the geodesic between two normal coordinates. */
void cb_surface_middle(double K, const double a[3], const double b[3], double out[3]);

/* cb_surface_make with names[parts] of the parts; NULL: "body", or "part1", "part2" ... */
cb_status cb_surface_build(int vertices, const double (*x)[3], int faces, const int (*face)[3], const int *part,
                           const char *const *names, cb_surface **out);
