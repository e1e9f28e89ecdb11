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
  int listed;  /* number of vertices in the file or the given arrays; the surface has only those that faces use */
  /* [listed]: the index in x of each vertex of the list; -1: no face uses it. Joined vertices have the same index */
  int *vertex;
  int *number; /* [vertices]: number of each vertex in messages: its position in the list, counted from 1 */
  /* curvature of the space of the surface, 1/m^2; 0: flat. If it is not 0, x are normal coordinates: the geodesic from
   * the origin of the body frame with the direction and the length of x[i] ends at vertex i. The faces are geodesic */
  double curvature;
} cb_surface;

/* Reads a file in the format OBJ, PLY (text and binary), STL (text and binary) or OFF, which is recognised by its
 * content. weld: vertices at the same place are joined; in STL files they always are. Faces without area are removed.
 * Parts are the groups that the file names; groups whose faces share an edge become one part. If the file names no
 * groups, parts are its connected pieces. CB_ERROR_FILE if the file cannot be read; CB_ERROR_INPUT, with file and line,
 * if its content is wrong. The caller frees *out with cb_surface_free. */
cb_status cb_surface_read(const char *path, bool weld, cb_surface **out);
void cb_surface_free(cb_surface *s);
/* Makes a surface from arrays, which are copied. x[vertices]: positions in m; face[faces]: three indices of vertices;
 * part[faces]: the part of each face, with numbers from 0 without gaps. part NULL: parts are the pieces that are
 * connected through edges. CB_ERROR_ARGUMENT for an index that is out of range or twice in a face, and for part numbers
 * with gaps; CB_ERROR_DOMAIN for a vertex that is not finite. */
cb_status cb_surface_make(int vertices, const double (*x)[3], int faces, const int (*face)[3], const int *part,
                          cb_surface **out);

/* Multiplies all coordinates by factor. Call it before cb_surface_embed. */
void cb_surface_scale(cb_surface *s, double factor);
/* Maps a flat surface into the space of curvature K (1/m^2), around the origin of the body frame; K = 0 changes
 * nothing. CB_CHART_EXPONENTIAL keeps the directions and the distances r of the vertices from the origin; in a sphere r
 * must be below pi/sqrt(K). CB_CHART_GNOMONIC changes r to atan(sqrt(K) r)/sqrt(K), or to atanh(sqrt(-K) r)/sqrt(-K)
 * for K < 0, where r must be below 1/sqrt(-K); the points of a flat face are then on the geodesic triangle. In both
 * cases each face of the result is the geodesic triangle of its vertices. CB_ERROR_DOMAIN for a vertex beyond the
 * limit, with its number and its distance; CB_ERROR_ARGUMENT for a surface that is already mapped, and for K that is
 * not finite. */
typedef enum cb_surface_chart { CB_CHART_EXPONENTIAL, CB_CHART_GNOMONIC } cb_surface_chart;
cb_status cb_surface_embed(cb_surface *s, double K, cb_surface_chart chart);
/* Checks that the surface bounds a body. No face may be repeated, and each must have an area. At most two faces may
 * meet in an edge, and neighbours must have consistent orientations. Closed parts must be oriented outward. A closed
 * piece may be inside another one only if it is a cavity, which is oriented inward and is in the same part. Coordinates
 * must be at most 1e70 m. open: an edge may have only one face. CB_ERROR_DOMAIN: the message has the face, edge or
 * part, and its place; vertices (by their position in the list) and faces are counted from 1. */
cb_status cb_surface_check(const cb_surface *s, bool open);

/* Finds the edges and their number *n. An edge joins the vertices a < b and has one or two faces: face[1] is -1 at a
 * border. If exactly one of two faces runs from a to b, this face is face[0]. Edges ascend by a, then by b. An edge
 * that two parts share is listed once for each part. CB_ERROR_DOMAIN if three faces of a part meet in an edge. */
typedef struct cb_surface_edge {
  int a, b, face[2];
} cb_surface_edge;
cb_status cb_surface_edges(const cb_surface *s, cb_surface_edge **edge, int *n); /* the caller frees with free() */

/* --- generated shapes --- */
/* The object that the author of a shape writes: one const object cb_shape_NAME in bodies/shapes/NAME.c. */
typedef struct cb_shape_class {
  const char *name, *title, *doc;
  const cb_param *params; /* for example sizes, and `resolution`, the number of faces around the circumference */
  size_t params_size;
  cb_status (*make)(const void *params, cb_surface **out);
} cb_shape_class;
/* The classes of all files of bodies/shapes/, then those of plugins; ended by NULL. */
extern const cb_shape_class *const *const cb_shape_classes;
/* Makes a shape by its name; node: its map (NULL: defaults). */
cb_status cb_shape_create(const char *name, const cb_node *node, cb_surface **out);
/* Does the same as cb_shape_create, with a class that need not be in the registry. */
cb_status cb_shape_create_class(const cb_shape_class *class_, const cb_node *node, cb_surface **out);

CB_API_END
#endif
