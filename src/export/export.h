/* Export of records for other programs: surfaces of bodies in a fluid, animations, the flow around the bodies at one
 * time, and parts of XDMF documents. Internal. */
#pragma once

#include "core/text.h"
#include "potential/field.h"
#include "potential/kirchhoff.h"
#include <curvebody/record.h>
#include <curvebody/scenario.h>
#include <curvebody/sink.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Sets *out to whether the record is of bodies with a surface and with poses /pose [time, body, 7]. */
cb_status cb_export_has_bodies(cb_reader *reader, const char *path, bool *out);
/* Returns the index of the field of that name with `width` values per body; 0 if it does not exist (field 0 is
 * time). */
size_t cb_export_find_field(const cb_reader *reader, const char *name, size_t width);
/* Computes positions x[n] and velocities v[n] in the world of vertices whose positions and velocities in the body frame
 * are g and dg. K: curvature of the space; unless it is 0, x and v are in plot coordinates. pose and twist: those of
 * the body, as in a record. */
void cb_export_place(double K, const double pose[7], const double twist[6], size_t n, const double (*g)[3],
                     const double (*dg)[3], double (*x)[3], double (*v)[3]);

/* Fails unless the numbers x[n] of a row are finite in single precision. */
cb_status cb_export_check_finite(const char *path, uint64_t row, size_t n, const double *x);

/* Checks the name of a file that an export of `record` is going to write: it must not be an input of the scenario. If
 * the name is `derived` from that of the output, it must also not be an existing record. */
cb_status cb_export_check_output(const char *path, const char *record, const cb_scenario *scenario, bool derived);

/* Opens the scenario of a record; input files of the scenario are searched in the folder of the record. */
cb_status cb_export_scenario(cb_reader *reader, const char *path, cb_scenario **scenario);

/* The bodies in a fluid that a record contains. The caller sets reader and path, and frees `body` with free(). */
typedef struct cb_export_bodies {
  cb_reader *reader;
  const char *path, *title;
  size_t pose, twist; /* indices of fields of the record; twist 0: there is no such field */
  uint64_t rows, every, frames;
  size_t bodies;
  const struct cb_immersed **body;
  size_t vertices, faces, maximum; /* of all bodies together; maximum: the number of vertices of the largest body */
} cb_export_bodies;
/* Finds the bodies, and checks that the record has the poses of as many bodies as its scenario. Does not set title,
 * every and frames. */
cb_status cb_export_bodies_find(cb_export_bodies *s, const cb_scenario *scenario);

/* Returns the name of the kind of an event, as in the CSV file of events. */
const char *cb_export_event_kind(int kind);

/* Writes the surfaces of all bodies at every n-th row, n = every: an XDMF 3 document `out`, and next to it the numbers,
 * in a file with the name `out` whose ending is replaced by -surface.h5. every = 0: the smallest n with which the
 * export has at most 10 000 frames and 2 GiB. path is the path of the record; input files of its scenario are searched
 * in its folder. */
cb_status cb_export_surface(cb_reader *reader, const char *path, const char *out, uint64_t every);

/* Writes the surfaces of all bodies as one file per frame. out: NAME.stl (binary STL) or NAME.obj; the files are
 * NAME-0000.stl, NAME-0001.stl, ... *frames becomes their number. every: as for cb_export_surface. CB_ERROR_ARGUMENT
 * if the record has no bodies in a fluid. */
cb_status cb_record_export_sequence(const char *path, const char *out, uint64_t every, uint64_t *frames);

/* --- animations (gltf.c; gltf_scene.c makes the scene) --- */

typedef struct cb_gltf_options {
  uint64_t every;    /* rows 0, every, 2 every, ... are exported; 0: gltf_scene.c chooses it, within its limits */
  double time_scale; /* seconds of the animation per unit of time of the record; > 0 */
} cb_gltf_options;

/* Writes the motion of a record as a binary glTF 2.0 file, which Blender and three.js read. */
cb_status cb_record_export_gltf(const char *path, const char *out, const cb_gltf_options *options);

/* The arrays of the JSON text. ROOT has the children of the node `record`, which are all other nodes. */
enum {
  CB_GLTF_ACCESSORS,
  CB_GLTF_VIEWS,
  CB_GLTF_NODES,
  CB_GLTF_MESHES,
  CB_GLTF_SAMPLERS,
  CB_GLTF_CHANNELS,
  CB_GLTF_ROOT,
  CB_GLTF_LISTS
};
/* The materials: colours, from 0 on, then grey and glass. */
enum { CB_GLTF_COLOURS = 7, CB_GLTF_GREY = CB_GLTF_COLOURS, CB_GLTF_GLASS };
enum { CB_GLTF_VERTICES = 34962 }; /* the target of an accessor of vertices */

typedef struct cb_gltf_list {
  FILE *stream;
  char *text;
  size_t size;
  int n;
} cb_gltf_list;

typedef struct cb_gltf {
  cb_gltf_list list[CB_GLTF_LISTS];
  cb_text bin;            /* the binary chunk with all numbers */
  size_t keys;            /* number of keys of the animation */
  int input, weights;     /* accessor of the keys; sampler of the weights of morph targets, -1: none so far */
  double centre[3], size; /* centre and diagonal of the box that contains the bodies and particles at all rows */
} cb_gltf;

/* Where a node is, in the coordinates of the record. The quaternion `turn` is x, y, z, w. */
typedef struct cb_gltf_place {
  double at[3], turn[4], scale[3];
} cb_gltf_place;

/* Makes the empty lists. Returns false if there is no memory; all other failures are found when the file is written.
 * The caller calls cb_gltf_free in any case, and sets keys, input, centre and size before the file is written. */
bool cb_gltf_begin(cb_gltf *s);
void cb_gltf_free(cb_gltf *s);
/* Begins an item of a list, and returns its number. */
int cb_gltf_add(cb_gltf *s, int which);
/* These two functions write n elements to the buffer and return the number of their accessor. An element of
 * cb_gltf_floats has `width` numbers (1, 3 or 4). target is CB_GLTF_VERTICES for data of vertices, otherwise 0. */
int cb_gltf_floats(cb_gltf *s, size_t n, size_t width, const double *x, int target);
int cb_gltf_indices(cb_gltf *s, size_t n, const int *index);
/* Adds a node with this mesh (-1: the camera), and returns its number. */
int cb_gltf_node(cb_gltf *s, const char *name, int mesh, const cb_gltf_place *p);
/* Animates a property of a node by a sampler. */
int cb_gltf_sampler(cb_gltf *s, int output);
void cb_gltf_channel(cb_gltf *s, int node, const char *path, int sampler);
/* Animates a property of a node by `width` numbers x per key. Writes nothing if x is the same at all keys. */
void cb_gltf_animate(cb_gltf *s, int node, const char *path, size_t width, const double *x);
/* Turns q (x, y, z, w), which maps the z axis to some direction, by the smallest rotation after which it maps the z
 * axis to the unit vector d. */
void cb_gltf_turn_z(const double d[3], double q[4]);
/* The first function adds the meshes of a unit sphere in each colour, and returns the number of the first one. The
 * second one adds the mesh of a bond, a line from (0, 0, 0) to (0, 0, 1) in a cylinder of radius 1, and returns its
 * number. */
int cb_gltf_spheres(cb_gltf *s);
int cb_gltf_bond_mesh(cb_gltf *s);
/* Adds the wireframe of a sphere of radius R or, if `round` is false, of a circle parallel to the plane z = 0. */
void cb_gltf_wires(cb_gltf *s, const char *name, const double at[3], double R, bool round);
/* Adds a square part of the plane through `point` with this normal, near the centre of the scene. */
void cb_gltf_plane(cb_gltf *s, const char *name, const double point[3], const double normal[3]);
/* Writes the file. `extras` is a JSON object with data of the scene. planar: everything is in the plane z = 0. */
cb_status cb_gltf_write(cb_gltf *s, const char *path, const char *title, const char *extras, bool planar);

/* Writes a text as a string of JSON. */
void cb_json_put_text(FILE *out, const char *text);

/* --- parts of XDMF documents (rows.c) --- */

/* An array with dimensions shape[rank] in an HDF5 file, or a series with one such array per frame. rank 0: a number. */
typedef struct cb_xdmf_array {
  const char *file, *dataset; /* the name that the XML gives to the HDF5 file; the path of the dataset in it */
  const char *number;         /* "Float" or "Int" */
  int precision;              /* bytes */
  int rank;
  size_t shape[4];
} cb_xdmf_array;

/* Writes a text in which & < > and double quotes are escaped for XML. */
void cb_xdmf_put_text(FILE *stream, const char *text);
/* Write a DataItem for the complete array, or for one row of a series of `rows` rows. */
void cb_xdmf_put_array(FILE *stream, const cb_xdmf_array *array);
void cb_xdmf_put_row(FILE *stream, const cb_xdmf_array *array, uint64_t rows, uint64_t row);

/* --- the flow around the bodies of a record at one time --- */

typedef struct cb_flow_options {
  double at;       /* time in s; the nearest row is exported; nan: the last row */
  int grid[3];     /* numbers of points along x, y and z; 1: only the plane through the centre of the bodies */
  int streamlines; /* number of streamlines relative to the first body; 0: none */
} cb_flow_options;

/* Writes an XDMF 3 document `out`, and next to it the numbers, in a file with the name `out` and the ending .h5. */
cb_status cb_record_export_flow(const char *path, const char *out, const cb_flow_options *options);

/* --- the scene of export_flow.c, which flow_solve.c solves --- */

enum { CB_FLOW_LINE = 81 }; /* points of a streamline */

/* A body of the run. */
typedef struct cb_export_flow_body {
  int vertex, face, vertices, faces; /* first vertex and face in the scene; numbers of vertices and faces */
  bool sheets;                       /* it has open parts */
  double speed, h;                   /* its largest speed; the time step of differences for this body alone, in s */
} cb_export_flow_body;

/* The flow around some bodies of the run, computed as if the other bodies did not exist. */
typedef struct cb_export_flow {
  /* the flow has `bodies` bodies, `vertices` vertices and `faces` faces; in the scene they begin with the numbers
   * body, vertex and face */
  int body, bodies, vertex, face, vertices, faces;
  bool sheets;
  double h;                /* time step of the differences in time, in s */
  cb_flow_about *field[3]; /* the solutions at the times -h, 0 and h after the row */
} cb_export_flow;

typedef struct cb_export_scene {
  cb_arena *arena;
  const char *path;
  cb_flow_options how;
  const cb_scenario *scenario;
  int bodies, vertices, faces;                /* of all bodies together */
  bool sheets;                                /* any body has open parts */
  double time, density;                       /* the time of the exported row; the density of the fluid */
  double (*pose)[7], (*twist)[6], (*rate)[6]; /* [bodies]; rate: the time derivative of the twist */
  double (*x)[3], (*v)[3], (*g)[3], (*dg)[3]; /* [vertices]: position and velocity; g and dg: in the body frame */
  int (*face)[3], *body;                      /* [faces]: vertices, and index of the body */
  cb_export_flow_body *of;                    /* [bodies] */
  int flows;
  cb_export_flow *flow; /* [flows]: the flows whose sum is exported */
  const struct cb_body_coupling *coupling;
  void *felt; /* the prepared coupling of a run with `dipole`, which gives the flow that a body felt; otherwise NULL */
  cb_mirror wall; /* the wall of the coupling */
  /* the bounding box of all bodies, and its largest edge; the first point of the grid, and the distances of its
   * points */
  double low[3], high[3], size, origin[3], spacing[3];
  int points; /* number of points of the grid */
  /* [points]: position of the point, velocity and pressure of the flow there; with: the velocity that the point is
   * assumed to have in the time derivative of the potential (the points of the grid themselves do not move) */
  double (*at)[3], (*u)[3], *p, (*with)[3];
  bool *inside;
  /* work arrays for one of the flows; their length is the number of points or of faces, whichever is larger */
  double (*own_u)[3], *own_p, *own_phi;
  bool *own_inside;
  double (*centre)[3], (*centre_v)[3]; /* [faces]: centres of faces to which another flow is added; their velocities */
  double *face_p[2], *face_phi[2], (*face_u[2])[3]; /* [side][faces]: side 0 is the side of the normal */
  int lines;
  double (*line)[3], (*line_u)[3], *radius;
} cb_export_scene;

/* --- flow_solve.c --- */

/* Velocity, pressure and potential at points, to which flows are added; inside: the point is in a body. phi and inside
 * may be NULL. */
typedef struct cb_export_sum {
  double (*u)[3], *p, *phi;
  bool *inside;
} cb_export_sum;

/* Solves the flows of the row: sets flows, the bounding box, and all values on the faces. Sends a note that names the
 * coupling of the run. */
cb_status cb_export_flow_solve(cb_export_scene *s);
/* Adds the flow f at n points x to the sums `to`. In the time derivative of the potential, these points move with the
 * velocities `with`. */
cb_status cb_export_flow_add(cb_export_scene *s, const cb_export_flow *f, int n, const double (*x)[3],
                             const double (*with)[3], const cb_export_sum *to);
/* Frees the flows and the prepared coupling. */
void cb_export_flow_release(cb_export_scene *s);
