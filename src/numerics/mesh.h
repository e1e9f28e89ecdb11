/* Meshes: points of R^3 with edges and triangles, read from OBJ, PLY, STL and OFF files.
 *
 * The readers take vertices, polygons, lines and the names of groups; they skip normals, textures, colours and
 * materials. A polygon of n corners gives its n sides as edges and n - 2 triangles (diagonals are not edges). A convex
 * polygon becomes a fan from its first corner. Other polygons are triangulated by cutting ears; they are errors if they
 * are not plane or intersect themselves (cb_polygon_triangles). The size that a file claims is compared with its length
 * before memory is allocated.
 * Sources: Wavefront OBJ specification, version 3.0; G. Turk, The PLY Polygon File Format (1994), version 1.0; M.
 * Burns, Automated Fabrication (1993), section 6.5 (STL); Geomview manual, version 1.9, section 4.2.5 (OFF).
 */
#pragma once

#include <curvebody/status.h>

#include <stddef.h>

typedef struct cb_mesh {
  const char *name; /* the name of the file */
  size_t n_vertices, n_edges, n_triangles;
  double (*vertices)[3];
  int (*edges)[2];     /* (i, j) with i < j, sorted by i and then by j; each edge occurs once */
  int (*triangles)[3]; /* indices of the corners; triangles are in the order of the file */
  size_t n_polygons;
  /* corners: the corners of all polygons, one after the other; ends[i]: the end of polygon i in `corners` */
  int *ends, *corners;
  size_t n_groups;
  char **group_names; /* the names after `g` and `o` of OBJ and `solid` of STL, in the order of their first triangles */
  int *groups;        /* [n_triangles] the group of each triangle, -1 for none */
  struct cb_arena *arena;
} cb_mesh;

typedef enum cb_mesh_format { CB_MESH_OBJ, CB_MESH_PLY, CB_MESH_STL, CB_MESH_OFF } cb_mesh_format;

enum { CB_MESH_LARGEST = 1 << 30 }; /* maximum bytes of a file */

typedef struct cb_mesh_reading {
  /* the file must have the polygons of this mesh, with any vertices; no triangles are made; NULL: no condition */
  const cb_mesh *like;
} cb_mesh_reading;

/* Reads a file whose name ends in .obj, .ply, .stl or .off (in any case); `how` may be NULL. Returns CB_ERROR_FILE if
 * the file cannot be opened or read, and CB_ERROR_INPUT if its content is wrong. The message is `path:line:column:
 * error: ...` with what was expected (and the offset in bytes for binary data). The caller frees *out with
 * cb_mesh_free. */
cb_status cb_mesh_read_file(const char *path, const cb_mesh_reading *how, cb_mesh **out);

/* Reads bytes[n] as cb_mesh_read_file reads a file; `name` is the name of the file in messages. */
cb_status cb_mesh_read_text(const char *name, const char *bytes, size_t n, cb_mesh_format format,
                            const cb_mesh_reading *how, cb_mesh **out);

/* Returns the format of bytes[n], from the first bytes, the length and the name of the file. Returns OBJ if none of
 * them shows another format. */
cb_mesh_format cb_mesh_format_of(const char *path, const char *bytes, size_t n);

void cb_mesh_free(cb_mesh *mesh);

/* --- distinct points of R^3: points with equal numbers are the same point (-0 equals 0) --- */
typedef struct cb_distinct {
  double (*x)[3]; /* [n], owned by the caller, with capacity for `maximum` points */
  size_t n;
  int *slot;   /* [mask + 1], the hash table: indices of points, -1 for none */
  size_t mask; /* number of slots minus 1 */
} cb_distinct;

cb_status cb_distinct_begin(cb_distinct *d, size_t maximum, double (*x)[3]);
void cb_distinct_end(cb_distinct *d);

/* Returns the index of the point in x. A point that is not yet in x is added. The point may be stored in x itself, from
 * x[n] on. */
int cb_distinct_add(cb_distinct *d, const double point[3]);

/* --- a polygon of space as triangles ---
 *
 * The polygon has to be plane. Its plane goes through the mean of the corners and has Newell's normal. No corner may be
 * farther from this plane than 1e-3 of the polygon's size. If one unit of the sixth digit of the largest coordinate is
 * more than this limit, that unit is the limit, up to 1e-2 of the size.
 *   fan     from the first corner, if all triangles have the orientation of the polygon and go around that corner at
 *           most once, as in a convex polygon
 *   ears    otherwise: a corner is cut off if no other part of the polygon is in the triangle with its neighbours
 *           (G. H. Meisters, Amer. Math. Monthly 82 (1975) 648, doi:10.2307/2319703)
 * A corner may lie on a line with its neighbours, or at the place of another corner (a bridge to a hole). Triangles
 * without area are made only if they cannot be avoided. A polygon that lies on a line becomes a fan without area.
 */

/* maximum number of corners of a polygon that is not a fan; the time grows with its square */
enum { CB_POLYGON_MAX_EARS = 10000 };

/* Writes triangle[n - 2], as indices of vertices, of the polygon corner[n] with n >= 3 corners, with the orientation of
 * the polygon. Returns CB_ERROR_DOMAIN if the polygon is not plane, intersects itself by more than 1e-6 of its size, or
 * has too many corners for ears. The message counts corners from 1. */
cb_status cb_polygon_triangles(int n, const int *corner, const double (*vertices)[3], int (*triangle)[3]);
