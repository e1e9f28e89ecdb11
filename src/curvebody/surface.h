/* Triangulated surfaces of bodies in a fluid: vertices, faces, parts, and checks of them.
 *
 * SI units. Faces are oriented: the normal n of (a, b, c) is along (b - a) x (c - a) and points out of the body. A part
 * is a connected piece or a group that its file names; each has its own density. A sheet is an open part with a
 * thickness; its faces represent both sides.
 * For users of bodies in a fluid, and for authors of shapes. The caller frees a surface, after the bodies made of it.
 */
#ifndef CURVEBODY_SURFACE_H
#define CURVEBODY_SURFACE_H

#include <curvebody/param.h>
#include <stdbool.h>

CB_API_BEGIN

typedef struct cb_surface {
  int vertices, faces, parts;
  double (*x)[3]; /* [vertices]: their positions */
  int (*face)[3];
  int *part;   /* [faces]: the part of each face */
  char **name; /* [parts]: the name of each part */
  bool *open;  /* [parts]: the part has a border */
  int listed;  /* vertices of the file or the arrays, including those that no face uses, which are left out */
  /* [listed]: index of each listed vertex, -1 for those left out; joined vertices have the same index */
  int *vertex;
  int *number; /* [vertices]: number of each vertex in messages, its position in the list from 1 */
  /* curvature of the space of the surface, 1/m^2: x are then normal coordinates, tangent vectors at the origin of the
   * body frame whose geodesics of length |x| end at the vertices; faces are geodesic */
  double curvature;
} cb_surface;

/* Reads OBJ, PLY (text and binary), STL (text and binary) or OFF by its content. weld: vertices at the same place are
 * joined (always for STL). Parts are the groups that the file names (groups that share an edge of two faces are one
 * part), or connected pieces if it names none. CB_ERROR_FILE, CB_ERROR_INPUT with file and line. The
 * caller frees. */
cb_status cb_surface_read(const char *path, bool weld, cb_surface **out);
void cb_surface_free(cb_surface *s);
/* Makes a surface from arrays, which are copied; part[faces] from 0 without gaps, NULL: found by connection through
 * edges. CB_ERROR_ARGUMENT for an index that is out of range or twice in a face, CB_ERROR_DOMAIN for a vertex that is
 * not finite. */
cb_status cb_surface_make(int vertices, const double (*x)[3], int faces, const int (*face)[3], const int *part,
                          cb_surface **out);

void cb_surface_scale(cb_surface *s, double factor); /* call it before cb_surface_embed */
/* Maps a flat surface into the space of curvature K around its origin, once; K = 0 changes nothing. The exponential map
 * keeps the vertices' distances and directions from the origin, |x| < pi/sqrt(K) in a sphere; the gnomonic map changes
 * the distances by r -> atan(sqrt(K) r)/sqrt(K) (atanh if K < 0), so that flat faces are geodesic, |x| < 1/sqrt(-K) if
 * K < 0. Each face is the geodesic triangle of its vertices. CB_ERROR_DOMAIN for a vertex beyond the limit, with its
 * number and distance; CB_ERROR_ARGUMENT for a surface that is already mapped. */
typedef enum cb_surface_chart { CB_CHART_EXPONENTIAL, CB_CHART_GNOMONIC } cb_surface_chart;
cb_status cb_surface_embed(cb_surface *s, double K, cb_surface_chart chart);
/* Vertices (of the list), faces and parts are counted from 1 in messages. A part may hold several pieces, such as a
 * cavity oriented inwards.
 * Checks that the surface bounds a body: no repeated face and none without area, at most two faces per edge, neighbours
 * with consistent orientation, closed parts oriented outward, no piece inside another one except a cavity, coordinates
 * up to 1e70. CB_ERROR_DOMAIN with the face, edge or part, and its place. open: borders are allowed. */
cb_status cb_surface_check(const cb_surface *s, bool open);

/* Edges a < b with their two faces (second -1 on a border; face[0] runs from a to b if exactly one of them does),
 * ascending by a and b. An edge that two parts share is listed once for each part. A third face is CB_ERROR_DOMAIN. */
typedef struct cb_surface_edge {
  int a, b, face[2];
} cb_surface_edge;
cb_status cb_surface_edges(const cb_surface *s, cb_surface_edge **edge, int *n); /* the caller frees with free() */

/* --- generated shapes --- */
/* The object that the author of a shape writes: one const object cb_shape_NAME in bodies/shapes/NAME.c. */
typedef struct cb_shape_class {
  const char *name, *title, *doc;
  const cb_param *params; /* sizes, and `resolution`: the number of faces around the circumference */
  size_t params_size;
  cb_status (*make)(const void *params, cb_surface **out);
} cb_shape_class;
/* The classes of all files of bodies/shapes/, then those of plugins; ended by NULL. */
extern const cb_shape_class *const *const cb_shape_classes;
/* Makes a shape by its name; node: its map (NULL: defaults). */
cb_status cb_shape_create(const char *name, const cb_node *node, cb_surface **out);
/* As cb_shape_create, with a class that need not be in the registry. */
cb_status cb_shape_create_class(const cb_shape_class *class_, const cb_node *node, cb_surface **out);

CB_API_END
#endif
