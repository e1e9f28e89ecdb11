/* The pieces from which shapes are built: tubes of rings, sheets and boxes, each mapped into space by the shape's own
 * function.
 *
 * A shape is built part by part. If memory runs out, or there are more than CB_SHAPE_MAX_PARTS parts, the failure is
 * stored and cb_shape_finish reports it. Quadrilaterals are split along the shorter diagonal. If both have equal
 * lengths, the two directions alternate, so that a mirror-symmetric shape has no handedness.
 */
#pragma once

#include "fluid/surface_mesh.h"
#include <stddef.h>

enum { CB_SHAPE_MAX_PARTS = 64 };

typedef struct cb_shape {
  double (*x)[3];
  int (*face)[3], *part;
  int vertices, faces, parts, vertex_capacity, face_capacity;
  char name[CB_SHAPE_MAX_PARTS][32];
  /* a point y of a map is placed at origin + frame y; the columns of frame are the images of the axes */
  double frame[3][3], origin[3];
  bool mirrored, failed;
} cb_shape;

/* Maps the piece's own coordinates u to the position out. */
typedef void cb_shape_map(const void *self, const double *u, double out[3]);

/* Starts a part with this name. The faces that are added next belong to it. The placement of vertices (cb_shape_place)
 * is reset to the identity. Before the first part, *b must be {0}. */
void cb_shape_part(cb_shape *b, const char *name);
/* Sets where the vertices that are added next are placed: y is placed at origin + frame y (frame NULL: the identity).
 * The matrix `frame` may rotate and stretch. If its determinant is negative, it mirrors the vertices. */
void cb_shape_place(cb_shape *b, const double frame[3][3], const double origin[3]);

int cb_shape_vertex(cb_shape *b, const double x[3]);
void cb_shape_face(cb_shape *b, int i, int j, int k);
/* Adds the quadrilateral with the vertices i, j, k, l as two triangles. If both diagonals have equal lengths, `parity`
 * chooses one. */
void cb_shape_quad(cb_shape *b, int i, int j, int k, int l, int parity);

/* A tube of rings about an axis. The map gives the position for u: u[0], from 0 to 1, is the level of a ring, and the
 * 4 q points of the ring are at angles u[1]. The vector (d/du[1]) × (d/du[0]) points outwards. If an end is closed by a
 * pole, the rings near it have 4, 8, 12 ... points.
 *
 * If size is 0, the levels are u[0] = j/levels, j = 0 .. levels. Otherwise there are at least `levels` of them, at a
 * mean distance of about `size` or less. The levels are then evenly spaced in the mean of two numbers: u[0], and the
 * share of the length along the surface (averaged over four meridians).
 */
typedef struct cb_tube {
  int q, levels;
  bool first_pole, last_pole;
  double size;
} cb_tube;
void cb_shape_add_tube(cb_shape *b, const cb_tube *tube, cb_shape_map *map, const void *self);

/* Adds the image of the square [0, 1]^2 of u under the map, with n[0] x n[1] quadrilaterals. The vector
 * (d/du[0]) × (d/du[1]) points outwards. */
void cb_shape_add_sheet(cb_shape *b, const int n[2], cb_shape_map *map, const void *self);

/* Adds the image of the boundary of the cube [0, 1]^3 of u under the map, with n[0] x n[1] x n[2] cells. */
void cb_shape_add_box(cb_shape *b, const int n[3], cb_shape_map *map, const void *self);

/* Adds an ellipsoid with the half axes a about the origin. The edges of the faces are about as long as the
 * circumference of a circle of radius `radius` divided by `resolution`. */
void cb_shape_add_ellipsoid(cb_shape *b, const double a[3], double radius, int resolution);

/* Adds a cylinder about z with its middle at the origin. Its side has 4 q quadrilaterals around the axis and `levels`
 * along the axis, each of two triangles. If `caps` is set, both ends are closed by discs of q rings of faces. */
void cb_shape_add_cylinder(cb_shape *b, double radius, double length, int q, int levels, bool caps);

/* These two functions return q for a body with 4 q quadrilaterals around it. cb_shape_quarter returns
 * (resolution + 3)/4, rounded down. cb_shape_quarter_of returns a number from 2 to 2000, for a body of this girth whose
 * faces have sides of about `size`. */
int cb_shape_quarter(int resolution);
int cb_shape_quarter_of(double girth, double size);

/* Finds n[3], the numbers of cells along the sides of a box, at least 1 each. The size of a cell is
 * 2 (a + b)/resolution, where a and b are the two longest sides. */
void cb_shape_cells(const double side[3], int resolution, int n[3]);

/* Makes a body that consists of one box under the map. Its numbers of cells are those that cb_shape_cells finds for
 * `side` and `resolution`. */
cb_status cb_shape_box_by(const double side[3], int resolution, cb_shape_map *map, const void *self, cb_surface **out);

/* Makes the surface and frees all memory of b. */
cb_status cb_shape_finish(cb_shape *b, cb_surface **out);

/* A row of a parameter table, for a length in metres. */
#define CB_SHAPE_LENGTH(type, field, fallback, doc) \
  { #field, CB_PARAM_REAL, offsetof(type, field), fallback, "m", "> 0", "", doc }
#define CB_SHAPE_RESOLUTION(type, fallback)                                                \
  {                                                                                        \
    "resolution", CB_PARAM_INT, offsetof(type, resolution), fallback, "", "[8, 4000]", "", \
        "number of faces around the shape"                                                 \
  }
