/* What shapes are made of: tubes of rings, sheets, boxes, each mapped into space by the shape's own function.
 *
 * A shape is put together part by part; a failure for want of memory is kept until the end. Quadrilaterals are split
 * along the shorter diagonal; along both in turn where they are equal, so that a mirror-symmetric shape has no
 * handedness.
 */
#pragma once

#include "fluid/surface.h"
#include <stddef.h>

enum { CB_SHAPE_MOST_PARTS = 64 };

typedef struct cb_shape {
  double (*x)[3];
  int (*face)[3], *part;
  int vertices, faces, parts, vertex_room, face_room;
  char name[CB_SHAPE_MOST_PARTS][32];
  double frame[3][3], origin[3]; /* a point y of a map goes to origin + frame y; columns are where the axes go */
  bool mirrored, failed;
} cb_shape;

/* Points of a piece: u runs over its own coordinates, out is the place. */
typedef void cb_shape_map(const void *self, const double *u, double out[3]);

/* Begins from {0}. Faces that follow belong to the part of this name, in the standard frame. */
void cb_shape_part(cb_shape *b, const char *name);
/* Puts what follows at origin, turned by the matrix frame (NULL: not turned; of determinant -1: mirrored). */
void cb_shape_place(cb_shape *b, const double frame[3][3], const double origin[3]);

int cb_shape_vertex(cb_shape *b, const double x[3]);
void cb_shape_face(cb_shape *b, int i, int j, int k);
/* The quadrilateral i j k l as two triangles; parity chooses the diagonal where both are equal. */
void cb_shape_quad(cb_shape *b, int i, int j, int k, int l, int parity);

/* Rings about an axis at levels of u[0] from 0 to 1, of 4 q points at the angles u[1]; where an end is closed by a
 * pole, rings near it have 4, 8, 12 ... points. The outside is that of (d/du[1]) x (d/du[0]).
 * size 0: u[0] = j/levels, j = 0..levels. Otherwise levels are about `size` apart, `levels` is the least number of
 * them, and they are evenly spaced in the mean of u[0] and the share of length along the surface (on four meridians).
 * */
typedef struct cb_tube {
  int q, levels;
  bool first_pole, last_pole;
  double size;
} cb_tube;
void cb_shape_add_tube(cb_shape *b, const cb_tube *tube, cb_shape_map *map, const void *self);

/* A rectangle u in [0, 1]^2 of n[0] x n[1] quadrilaterals; outside (d/du[0]) x (d/du[1]). */
void cb_shape_add_sheet(cb_shape *b, const int n[2], cb_shape_map *map, const void *self);

/* The boundary of u in [0, 1]^3, of n[0] x n[1] x n[2] cells. */
void cb_shape_add_box(cb_shape *b, const int n[3], cb_shape_map *map, const void *self);

/* An ellipsoid of half axes a about the origin, faces about as large as those of a circle of radius `radius` that has
 * `resolution` of them. */
void cb_shape_add_ellipsoid(cb_shape *b, const double a[3], double radius, int resolution);

/* A cylinder about z, its middle at the origin, of 4 q faces about a turn in `levels`; caps: closed by q rings at both
 * ends. */
void cb_shape_add_cylinder(cb_shape *b, double radius, double length, int q, int levels, bool caps);

/* Quarter of the number of faces about a turn: (resolution + 3)/4, and for a girth of another size at least 2. */
int cb_shape_quarter(int resolution);
int cb_shape_quarter_of(double girth, double size);

/* Cells of a box (a side of 0: one cell) whose longest way round in a plane of axes has `resolution` of them. */
void cb_shape_cells(const double side[3], int resolution, int n[3]);

/* A body that is one such box and nothing else, of cells for these sides. */
cb_status cb_shape_box_by(const double side[3], int resolution, cb_shape_map *map, const void *self, cb_surface **out);

/* The surface, and gives back all memory. */
cb_status cb_shape_finish(cb_shape *b, cb_surface **out);

/* A row of a table of parameters in metres. */
#define CB_SHAPE_LENGTH(type, field, fallback, doc)                                                        \
  {                                                                                                        \
    #field, CB_PARAM_REAL, offsetof(type, field), fallback, "m", "> 0", "", doc                            \
  }
#define CB_SHAPE_RESOLUTION(type, fallback)                                                                \
  {                                                                                                        \
    "resolution", CB_PARAM_INT, offsetof(type, resolution), fallback, "", "[8, 4000]", "",                 \
        "how many faces there are about a turn"                                                            \
  }
