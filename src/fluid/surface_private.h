/* What the files of surfaces share. */
#ifndef CB_FLUID_SURFACE_PRIVATE_H
#define CB_FLUID_SURFACE_PRIVATE_H

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

/* Triangles by the first of the vertices at their corners' places; those that have two corners at one place are
 * dropped, with their groups: their other two sides fall on each other. first[n_vertices]: which that is, of a vertex
 * that no triangle has itself. */
cb_status cb_weld(cb_mesh *m, int *first);

/* The middle of the geodesic between two normal coordinates. */
void cb_surface_middle(double K, const double a[3], const double b[3], double out[3]);

/* cb_surface_make with names[parts] of the parts; NULL: "body", or "part1", "part2" ... */
cb_status cb_surface_build(int vertices, const double (*x)[3], int faces, const int (*face)[3], const int *part,
                           const char *const *names, cb_surface **out);

#endif
