/* Export of records for ParaView: surfaces of bodies in a fluid, the flow around the bodies at one time, and parts of
 * XDMF documents. Internal. */
#pragma once

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

/* Checks the name of a file that an export of `record` is going to write: it must not be an input of the scenario. If
 * the name is `derived` from that of the output, it must also not be an existing record. */
cb_status cb_export_check_output(const char *path, const char *record, const cb_scenario *scenario, bool derived);

/* Writes the surfaces of all bodies at every n-th row, n = every: an XDMF 3 document `out`, and next to it the numbers,
 * in a file with the name `out` whose ending is replaced by -surface.h5. every = 0: the smallest n with which the
 * export has at most 10 000 frames and 2 GiB. path is the path of the record; input files of its scenario are searched
 * in its folder. */
cb_status cb_export_surface(cb_reader *reader, const char *path, const char *out, uint64_t every);

/* --- parts of XDMF documents (xdmf.c) --- */

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
  int grid[3];     /* points along x, y, z; 1: the plane through the centre */
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
  double speed, h;                   /* its largest speed; time step of the differences for this body alone, s */
} cb_export_flow_body;

/* The flow around some bodies of the run, computed as if the other bodies did not exist. */
typedef struct cb_export_flow {
  int body, bodies, vertex, face, vertices, faces; /* the first of each, and their numbers */
  bool sheets;
  double h;                /* time step of the differences, s */
  cb_flow_about *field[3]; /* at the times -h, 0, h from the row */
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
  double (*x)[3], (*v)[3], (*g)[3], (*dg)[3]; /* [vertices]: position, velocity; g, dg: in the body frame */
  int (*face)[3], *body;                      /* [faces]: vertices, and index of the body */
  cb_export_flow_body *of;                    /* [bodies] */
  int flows;
  cb_export_flow *flow; /* [flows]: their sum is exported */
  const struct cb_body_coupling *coupling;
  void *felt; /* the prepared coupling of a run with `dipole`, which gives the flow that a body felt; otherwise NULL */
  cb_mirror wall; /* of the coupling */
  /* the bounding box of all bodies, and its largest edge; the first point of the grid, and the distances of its
   * points */
  double low[3], high[3], size, origin[3], spacing[3];
  int points; /* number of points of the grid */
  /* [points]: position, velocity and pressure of the flow; with: the velocity with which the point moves in the time
   * derivative of the potential */
  double (*at)[3], (*u)[3], *p, (*with)[3];
  bool *inside;
  /* work arrays for one of the flows; their length is the number of points or of faces, whichever is larger */
  double (*own_u)[3], *own_p, *own_phi;
  bool *own_inside;
  double (*centre)[3], (*centre_v)[3]; /* [faces]: centres of faces that get another flow; their velocities */
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

/* Solves the flows of the row: sets flows, the bounding box, and all values on the faces. Reports what bodies felt. */
cb_status cb_export_flow_solve(cb_export_scene *s);
/* Adds a flow at points x, which move with the velocities `with` in the time derivative of the potential. */
cb_status cb_export_flow_add(cb_export_scene *s, const cb_export_flow *f, int n, const double (*x)[3],
                             const double (*with)[3], const cb_export_sum *to);
/* Frees the flows and the prepared coupling. */
void cb_export_flow_release(cb_export_scene *s);
