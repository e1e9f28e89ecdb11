/* The flow about the bodies of a record at an instant, for ParaView. Internal. */
#pragma once

#include "potential/field.h"
#include <curvebody/scenario.h>

typedef struct cb_flow_options {
  double at;       /* s; nan: the last row. The row that is nearest is taken */
  int grid[3];     /* points along x, y, z; 1: the plane through the middle */
  int streamlines; /* seen from the first body; 0: none */
} cb_flow_options;

/* Writes an XDMF 3 description `out` and beside it the numbers, `out` with .h5 in place of its ending. */
cb_status cb_record_export_flow(const char *path, const char *out, const cb_flow_options *options);

/* --- what flow.c finds and flow_write.c writes --- */

enum { CB_FLOW_LINE = 81 }; /* points of a streamline */

/* A body of the run, which moved in the fluid by itself. */
typedef struct cb_export_flow_body {
  int vertex, face, vertices, faces; /* of the scene: the first, and how many */
  bool sheets;
  double h; /* a short time */
  double low[3], high[3];
  cb_flow_about *field[3]; /* a time h before, then, and after */
} cb_export_flow_body;

typedef struct cb_export_scene {
  cb_arena *arena;
  const char *path;
  cb_flow_options how;
  const cb_scenario *scenario;
  int bodies, vertices, faces;
  bool sheets;
  double time, density;
  double (*pose)[7], (*twist)[6], (*rate)[6]; /* [bodies] */
  double (*x)[3], (*v)[3], (*g)[3], (*dg)[3]; /* [vertices] */
  int (*face)[3], *body;
  cb_export_flow_body *of; /* [bodies] */
  double low[3], high[3], size, origin[3], spacing[3];
  int points;
  double (*at)[3], (*u)[3], *p, (*with)[3], (*own_u)[3], *own_p; /* own: of a body by itself */
  bool *inside, *own_inside;
  double *face_p[2], *face_phi[2], (*face_u[2])[3]; /* of sides */
  int lines;
  double (*line)[3], (*line_u)[3], *radius;
} cb_export_scene;

/* The HDF5 file of the numbers, and the XDMF document. */
cb_status cb_export_flow_numbers(const cb_export_scene *s, const char *name);
cb_status cb_export_flow_document(const cb_export_scene *s, const char *out, const char *numbers);
