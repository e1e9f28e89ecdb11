/* The moving, deforming surfaces of a record of bodies in a fluid, for ParaView. Internal. */
#pragma once

#include <curvebody/record.h>
#include "record/hdf5.h"
#include <stdbool.h>
#include <stdint.h>

/* Is the record one of bodies in a fluid: has it poses /pose [time, body, 7]? */
bool cb_export_has_poses(const cb_reader *reader);
/* The number of the field [body, width], 0 if there is none (field 0 is time). */
size_t cb_export_find_field(const cb_reader *reader, const char *name, size_t width);
/* x[n] and v[n] in the world (in a space of curvature K: in its picture) of vertices g that move with dg in a body of this
 * pose and twist, as the record has them. */
void cb_export_place(double K, const double pose[7], const double twist[6], size_t n, const double (*g)[3],
                     const double (*dg)[3], double (*x)[3], double (*v)[3]);

/* Writes an XDMF 3 description `out` and beside it the numbers, `out` with -surface.h5 in place of its ending: surfaces
 * of all bodies at every n-th row. every 0: so that there are at most 10 000 frames and 2 GiB. path: the record's, in
 * whose folder the files that its scenario names are looked for. */
cb_status cb_export_surface(cb_reader *reader, const char *path, const char *out, uint64_t every);

/* --- named dimensions of the file of numbers (scales.c) --- */

/* To a file with /time [time], /face, /body, /part, /x and, where it has them, /v: which row of the record a time is
 * of, the dimensions time, triangle, corner, vertex and axis with their scales, units, what each array is, and the
 * title. False with HDF5's error stack set. */
typedef struct cb_surface_scales {
  const char *title;
  size_t frames, vertices, faces;
  uint64_t every; /* rows a frame */
  bool has_v;
} cb_surface_scales;
bool cb_export_put_scales(hid_t file, const cb_surface_scales *s);
