/* HDF5 dimension scales and the attributes of netCDF-4, as those of a record (record/layout.c). */
#include "export/scales.h"

#include <hdf5_hl.h>
#include <stdlib.h>

/* 0, by, 2 by, ..: count of them. */
static hid_t put_numbers(hid_t file, const char *name, size_t count, uint64_t by) {
  const hsize_t dims[] = {count};
  int64_t *number = malloc((count ? count : 1) * sizeof *number);
  if (!number) return H5I_INVALID_HID;
  for (size_t i = 0; i < count; i++) number[i] = (int64_t)(i * by);
  const hid_t set = cb_hdf5_put_dataset(file, name, H5T_STD_I64LE, 1, dims, H5T_NATIVE_INT64, number);
  free(number);
  return set;
}

static bool scale(hid_t set, const char *name, const char *units, const char *doc) {
  const bool good = set >= 0 && H5DSset_scale(set, name) >= 0 && (!units || cb_hdf5_put_text(set, "units", units)) &&
                    cb_hdf5_put_text(set, "long_name", doc);
  if (set >= 0) H5Dclose(set);
  return good;
}

static bool put_axis(hid_t file) {
  static const char *const axis[] = {"x", "y", "z"};
  const hsize_t dims[] = {3};
  const hid_t type = cb_hdf5_text_type(), set = cb_hdf5_put_dataset(file, "axis", type, 1, dims, type, axis);
  H5Tclose(type);
  return scale(set, "axis", NULL, "axes of the world");
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
  bool good =
      set >= 0 && cb_hdf5_put_text(set, "long_name", a->doc) && (!a->units || cb_hdf5_put_text(set, "units", a->units));
  for (unsigned d = 0; good && d < 3 && a->dims[d]; d++) {
    const hid_t of = H5Dopen2(file, a->dims[d], H5P_DEFAULT);
    good = of >= 0 && H5DSattach_scale(set, of, d) >= 0;
    if (of >= 0) H5Dclose(of);
  }
  if (set >= 0) H5Dclose(set);
  return good;
}

bool cb_export_put_scales(hid_t file, const cb_surface_scales *s) {
  const hid_t row = put_numbers(file, "row", s->frames, s->every);
  bool good = row >= 0 && H5Dclose(row) >= 0 && scale(H5Dopen2(file, "time", H5P_DEFAULT), "time", "s", "time") &&
              scale(put_numbers(file, "vertex", s->vertices, 1), "vertex", NULL, "vertices of all bodies") &&
              scale(put_numbers(file, "triangle", s->faces, 1), "triangle", NULL, "triangles of all bodies") &&
              scale(put_numbers(file, "corner", 3, 1), "corner", NULL, "corners of a triangle") && put_axis(file) &&
              cb_hdf5_put_text(file, "Conventions", "CF-1.10") && cb_hdf5_put_text(file, "title", s->title);
  for (int i = 0; i < ARRAYS - !s->has_v && good; i++) good = describe(file, &arrays[i]);
  return good;
}
