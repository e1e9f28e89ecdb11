/* HDF5 dimension scales and the attributes of netCDF-4, as those of a record. */
#include "export/surface.h"

#include "record/scales.h"

#include <stdlib.h>

/* 0, by, 2 by, ..: count of them. */
static hid_t put_rows(hid_t file, size_t count, uint64_t by) {
  int64_t *row = malloc((count ? count : 1) * sizeof *row);
  if (!row) return H5I_INVALID_HID;
  for (size_t i = 0; i < count; i++) row[i] = (int64_t)(i * by);
  const hid_t set = cb_hdf5_put_values(file, "row", 1, &(hsize_t){count}, &(cb_hdf5_values){.integers = row});
  free(row);
  return set;
}

static bool put_scale(hid_t file, const char *name, size_t count, const char *doc) {
  return cb_hdf5_put_scale(file, name, count, &(cb_hdf5_values){.integers = NULL}, NULL, doc);
}

typedef struct array {
  const char *name, *dims[3], *units, *doc; /* dims: as many as it has */
} array;

static const array arrays[] = {
    {"row", {"time"}, NULL, "row of the record"},
    {"face", {"triangle", "corner"}, NULL, "vertices of a triangle, outward"},
    {"body", {"triangle"}, NULL, "body that a triangle is of"},
    {"part", {"triangle"}, NULL, "part of the body"},
    {"x", {"time", "vertex", "axis"}, "m", "places of vertices; of a curved space, in its picture"},
    {"v", {"time", "vertex", "axis"}, "m/s", "velocities of vertices"}};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

static bool describe(hid_t file, const array *a) {
  const hid_t set = H5Dopen2(file, a->name, H5P_DEFAULT);
  bool good = set >= 0 && cb_hdf5_describe(set, a->units, a->doc);
  for (unsigned d = 0; good && d < 3 && a->dims[d]; d++) good = cb_hdf5_attach(file, set, a->dims[d], d);
  if (set >= 0) H5Dclose(set);
  return good;
}

bool cb_export_put_scales(hid_t file, const cb_surface_scales *s) {
  static const char *const axis[] = {"x", "y", "z"};
  const hid_t row = put_rows(file, s->frames, s->every);
  bool good = row >= 0 && H5Dclose(row) >= 0 &&
              cb_hdf5_make_scale(H5Dopen2(file, "time", H5P_DEFAULT), "time", "s", "time") &&
              put_scale(file, "vertex", s->vertices, "vertices of all bodies") &&
              put_scale(file, "triangle", s->faces, "triangles of all bodies") &&
              put_scale(file, "corner", 3, "corners of a triangle") &&
              cb_hdf5_put_scale(file, "axis", 3, &(cb_hdf5_values){.words = axis}, NULL, "axes of the world") &&
              cb_hdf5_put_text(file, "Conventions", "CF-1.10") && cb_hdf5_put_text(file, "title", s->title);
  for (int i = 0; i < ARRAYS - !s->has_v && good; i++) good = describe(file, &arrays[i]);
  return good;
}
