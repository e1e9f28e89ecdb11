/* Meshes: points of R^3 with edges and triangles, read from OBJ, PLY, STL and OFF files.
 *
 * Read are vertices, polygons, lines and the names of groups; normals, textures, colours and materials are passed over.
 * A polygon of n corners gives its n sides as edges and n - 2 triangles (diagonals are not edges): a fan from its first
 * corner where it is convex; others are cut by ears, and refused where they are not plane or cut themselves
 * (numerics/mesh_polygon.h). What a file claims about its size is checked against its length before memory is taken.
 * Sources: Wavefront OBJ specification, version 3.0; G. Turk, The PLY Polygon File Format (1994), version 1.0;
 * M. Burns, Automated Fabrication (1993), section 6.5 (STL); Geomview manual, version 1.9, section 4.2.5 (OFF).
 */
#pragma once

#include <curvebody/status.h>
#include <stddef.h>

typedef struct cb_mesh {
  const char *name; /* of the file */
  size_t n_vertices, n_edges, n_triangles;
  double (*vertices)[3];
  int (*edges)[2];     /* i < j, ascending by i then j, each once */
  int (*triangles)[3]; /* in the order of the file */
  size_t n_polygons;
  int *ends, *corners; /* [n_polygons] where each ends in corners */
  size_t n_groups;
  char **group_names; /* what `g` and `o` of OBJ and `solid` of STL name, in order of their first triangles */
  int *groups;        /* [triangles] the group of each, -1 for none */
  struct cb_arena *arena;
} cb_mesh;

typedef enum cb_mesh_format { CB_MESH_OBJ, CB_MESH_PLY, CB_MESH_STL, CB_MESH_OFF } cb_mesh_format;

enum { CB_MESH_LARGEST = 1 << 30 }; /* bytes of a file */

typedef struct cb_mesh_reading {
  const cb_mesh *like; /* the polygons are expected to be its own, at whatever places: no triangles are made of them */
} cb_mesh_reading;

/* Reads a file whose name ends in .obj, .ply, .stl or .off (in any case); how: NULL for no such thing. CB_ERROR_FILE if it
 * cannot be opened or read; CB_ERROR_INPUT if its content is wrong: `path:line:column: error: ...` with what was
 * expected (and the offset in bytes where the data are binary). The caller owns *out. */
cb_status cb_mesh_read_file(const char *path, const cb_mesh_reading *how, cb_mesh **out);

/* The same for bytes[n], named `name` in messages. */
cb_status cb_mesh_read_text(const char *name, const char *bytes, size_t n, cb_mesh_format format,
                            const cb_mesh_reading *how, cb_mesh **out);

/* The format of bytes[n] by what they begin with and how many they are; OBJ where they look like no other. */
cb_mesh_format cb_mesh_format_of(const char *path, const char *bytes, size_t n);

void cb_mesh_free(cb_mesh *mesh);
