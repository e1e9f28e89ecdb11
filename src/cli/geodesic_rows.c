/* The points of a geodesic as a table, or as an HDF5 file:
 *
 *   /s[s]  /q[s, coordinate]  /u[s, coordinate]  /picture[s, axis]
 *   attributes: space, chart, coordinates, distance
 */
#include "cli/geodesic_rows.h"

#include "record/arrays.h"
#include "record/output.h"
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
  fprintf(out, "# geodesic in %s, chart %s, distance %.17g\n# s", rows->ambient->space->kind->name,
          rows->ambient->chart->name, rows->length);
  for (int i = 0; i < n; i++) fprintf(out, " %s", name[i]);
  for (int i = 0; i < n; i++) fprintf(out, " d%s/ds", name[i]);
  fprintf(out, " picture_x picture_y picture_z\n");
  for (size_t r = 0; r < rows->count; r++) {
    fprintf(out, "%.17g", rows->s[r]);
    for (int i = 0; i < n; i++) fprintf(out, " %.17g", cb_shown(rows->q[r * (size_t)n + (size_t)i]));
    for (int i = 0; i < n; i++) fprintf(out, " %.17g", cb_shown(rows->u[r * (size_t)n + (size_t)i]));
    for (size_t i = 0; i < 3; i++) fprintf(out, " %.17g", cb_shown(rows->picture[3 * r + i]));
    fprintf(out, "\n");
  }
}

static cb_status write_table(const cb_geodesic_rows *rows, const char *path) {
  cb_output output;
  FILE *stream;
  const cb_status status = cb_output_open_text(path, &output, &stream);
  if (status) return status;
  print(rows, stream);
  return cb_output_close_text(&output, stream, CB_OK);
}

static cb_status write_hdf5(const cb_geodesic_rows *rows, const char *path) {
  static const char *const axes[] = {"x", "y", "z"}, *const chart[] = {"s", "coordinate"},
                           *const picture[] = {"s", "axis"};
  const cb_ambient *ambient = rows->ambient;
  const size_t n = (size_t)ambient->space->dim;
  const char *const *name = ambient->chart->coordinates;
  char names[256] = "";
  cb_arrays *a;
  const cb_status status = cb_arrays_create(path, &a);
  if (status) return status;
  for (size_t i = 0; i < n; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "", name[i]);
  cb_arrays_text(a, "space", ambient->space->kind->name);
  cb_arrays_text(a, "chart", ambient->chart->name);
  cb_arrays_text(a, "coordinates", names);
  cb_arrays_text(a, "curvebody_version", CB_VERSION);
  cb_arrays_number(a, "distance", rows->length);
  cb_arrays_dimension(a, &(cb_dimension){"s", rows->count, rows->s, NULL, "arc length"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"coordinate", n, NULL, name, "of the chart"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"axis", 3, NULL, axes, "axis of the picture"}, NULL);
  cb_arrays_put(a, "q", 2, chart, rows->q, NULL, "coordinates");
  cb_arrays_put(a, "u", 2, chart, rows->u, NULL, "dq/ds");
  cb_arrays_put(a, "picture", 2, picture, rows->picture, NULL, "point in the picture of the space");
  return cb_arrays_close(a, CB_OK);
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
