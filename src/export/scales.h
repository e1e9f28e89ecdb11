/* Named dimensions of the surfaces' file of numbers (export/surface.c). Internal. */
#ifndef CB_EXPORT_SCALES_H
#define CB_EXPORT_SCALES_H

#include "record/hdf5.h"

#include <stdbool.h>
#include <stdint.h>

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

#endif
