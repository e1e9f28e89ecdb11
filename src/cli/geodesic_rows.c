/* The points of a geodesic as a table, or as an HDF5 file:
 *
 *   /s[point]  /q[point, coordinate]  /u[point, coordinate]  /picture[point, 3]
 *   attributes: space, chart, coordinates, distance
 */
#include "cli/geodesic_rows.h"

#include "core/text.h"
#include "io/record_hdf5.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

cb_status cb_geodesic_rows_create(const cb_ambient *ambient, size_t count, double length, cb_geodesic_rows *out) {
  const size_t n = (size_t)ambient->space->dim;
  *out = (cb_geodesic_rows){.ambient = ambient, .count = count, .length = length};
  out->s = calloc(count, sizeof(double));
  out->q = calloc(count * n, sizeof(double));
  out->u = calloc(count * n, sizeof(double));
  out->picture = calloc(count * 3, sizeof(double));
  if (out->s && out->q && out->u && out->picture) return CB_OK;
  cb_geodesic_rows_free(out);
  return cb_fail(CB_ERROR_MEMORY, "no memory for %zu points", count);
}

void cb_geodesic_rows_free(cb_geodesic_rows *rows) {
  free(rows->s);
  free(rows->q);
  free(rows->u);
  free(rows->picture);
  *rows = (cb_geodesic_rows){0};
}

static void print(const cb_geodesic_rows *rows, FILE *out) {
  const int n = rows->ambient->space->dim;
  const char *const *name = rows->ambient->chart->coordinates;
  fprintf(out, "# geodesic in %s, chart %s, distance %.17g\n# s", rows->ambient->space->class->name,
          rows->ambient->chart->name, rows->length);
  for (int i = 0; i < n; i++) fprintf(out, " %s", name[i]);
  for (int i = 0; i < n; i++) fprintf(out, " d%s/ds", name[i]);
  fprintf(out, " picture_x picture_y picture_z\n");
  for (size_t r = 0; r < rows->count; r++) {
    fprintf(out, "%.17g", rows->s[r]);
    for (int i = 0; i < n; i++) fprintf(out, " %.17g", rows->q[r * (size_t)n + (size_t)i]);
    for (int i = 0; i < n; i++) fprintf(out, " %.17g", rows->u[r * (size_t)n + (size_t)i]);
    for (size_t i = 0; i < 3; i++) fprintf(out, " %.17g", rows->picture[3 * r + i]);
    fprintf(out, "\n");
  }
}

static cb_status write_table(const cb_geodesic_rows *rows, const char *path) {
  FILE *out = fopen(path, "w");
  if (!out) return cb_fail(CB_ERROR_FILE, "%s: cannot be opened for writing: %s", path, strerror(errno));
  print(rows, out);
  const bool lost = ferror(out) != 0;
  if (fclose(out) != 0 || lost) return cb_fail(CB_ERROR_FILE, "%s: cannot be written: %s", path, strerror(errno));
  return CB_OK;
}

/* --- HDF5 --- */

static bool put(hid_t file, const char *name, size_t rows, size_t width, const double *data) {
  const hsize_t dims[] = {rows, width};
  const hid_t set = cb_hdf5_put_dataset(file, name, H5T_IEEE_F64LE, width == 1 && !strcmp(name, "s") ? 1 : 2, dims,
                                        H5T_NATIVE_DOUBLE, data);
  if (set < 0) return false;
  return H5Dclose(set) >= 0;
}

static bool put_number(hid_t file, const char *name, double value) {
  const hid_t space = H5Screate(H5S_SCALAR),
              attribute = H5Acreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  const bool good = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  return good;
}

static bool put_all(hid_t file, const cb_geodesic_rows *rows) {
  const size_t n = (size_t)rows->ambient->space->dim;
  char names[256] = "";
  for (size_t i = 0; i < n; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "",
             rows->ambient->chart->coordinates[i]);
  return put(file, "s", rows->count, 1, rows->s) && put(file, "q", rows->count, n, rows->q) &&
         put(file, "u", rows->count, n, rows->u) && put(file, "picture", rows->count, 3, rows->picture) &&
         cb_hdf5_put_text(file, "space", rows->ambient->space->class->name) &&
         cb_hdf5_put_text(file, "chart", rows->ambient->chart->name) && cb_hdf5_put_text(file, "coordinates", names) &&
         cb_hdf5_put_text(file, "curvebody_version", CURVEBODY_VERSION) && put_number(file, "distance", rows->length);
}

static cb_status write_hdf5(const cb_geodesic_rows *rows, const char *path) {
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  cb_status status = CB_OK;
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) {
    status = cb_hdf5_fail(path, "create the file");
  } else {
    if (!put_all(file, rows)) status = cb_hdf5_fail(path, "write the geodesic");
    if (H5Fclose(file) < 0 && !status) status = cb_hdf5_fail(path, "close the file");
  }
  cb_hdf5_quiet_end(quiet);
  return status;
}

cb_status cb_geodesic_rows_write(const cb_geodesic_rows *rows, const char *output) {
  const size_t length = output ? strlen(output) : 0;
  if (!output) {
    print(rows, stdout);
    return CB_OK;
  }
  if (length > 3 && !strcmp(output + length - 3, ".h5")) return write_hdf5(rows, output);
  return write_table(rows, output);
}
