/* curvebody geodesic SPACE --from POINT (--velocity V [--length L] | --to POINT) [--points N] [-o OUT.h5|TABLE]
 *
 *   q(s) = exp_from(s u),  |u| = 1, 0 <= s <= L;   to a point: u and L from log_from(to)
 *   in a space with a hyperbolic factor by geometry/path.h, at any distance
 *
 * Rows of s, coordinates q, velocity u = dq/ds and the picture, as a table or as an HDF5 file:
 *
 *   /s[s]  /q[s, coordinate]  /u[s, coordinate]  /picture[s, axis]
 *   attributes: space, chart, coordinates, distance
 */
#include "cli/ambient.h"

#include "core/arena.h"
#include "geometry/path.h"
#include "record/arrays.h"
#include "record/output.h"
#include <curvebody/intrinsic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 10000000 };

/* Where it starts, and the unit velocity there, in coordinates. */
typedef struct course {
  double q[CB_COORD_MAX], u[CB_COORD_MAX], length;
  bool known; /* by its path */
  cb_path path;
} course;

static cb_status start_with(const cb_ambient *a, const char *velocity, const char *length, course *c) {
  double speed;
  cb_status status = cb_ambient_numbers("--velocity", velocity, a->space->dim, c->u);
  c->known = cb_path_knows(a->space);
  if (!status)
    status = c->known ? cb_path_from(a->space, a->chart, c->q, c->u, &c->path, &speed)
                      : cb_ambient_length(a, c->q, c->u, &speed);
  if (status) return status;
  if (!(speed > 0)) return cb_fail(CB_ERROR_INPUT, "--velocity: error: expected a velocity that is not 0");
  c->length = speed; /* to time 1 */
  if (length) status = cb_ambient_numbers("--length", length, 1, &c->length);
  if (!status && !(c->length >= 0)) status = cb_fail(CB_ERROR_INPUT, "--length: error: expected at least 0");
  for (int i = 0; i < a->space->dim; i++) c->u[i] /= speed;
  return status;
}

static cb_status aim_at(const cb_ambient *a, const char *to, course *c) {
  const cb_geometry *g = a->space;
  double end[CB_COORD_MAX], x[CB_COORD_MAX], y[CB_COORD_MAX], v[CB_COORD_MAX], again[CB_COORD_MAX];
  cb_status status = cb_ambient_numbers("--to", to, g->dim, end);
  c->known = cb_path_knows(g);
  if (!status && c->known) {
    status = cb_path_between(g, a->chart, c->q, end, &c->path);
    c->length = c->path.length;
    return status ? status : cb_path_at(&c->path, 0, x, c->u, v);
  }
  if (!status) status = a->chart->to_point(g, c->q, x, NULL);
  if (!status) status = a->chart->to_point(g, end, y, NULL);
  if (!status) status = cb_log(g, x, y, v);
  if (!status) status = cb_ambient_pull(a, x, v, again, c->u);
  if (!status) status = cb_ambient_length(a, c->q, c->u, &c->length);
  for (int i = 0; i < g->dim && !status; i++) c->u[i] = c->length > 0 ? c->u[i] / c->length : 0;
  return status;
}

/* x(s) and dx/ds, in the embedding or the chart of an intrinsic space. */
static cb_status advance(const cb_geometry *g, const double *x, const double *v, double s, double *y, double *w) {
  double scaled[CB_COORD_MAX];
  for (int i = 0; i < g->embedding; i++) scaled[i] = v[i] * s;
  if (s == 0) {
    memcpy(y, x, (size_t)g->embedding * sizeof *y);
    memcpy(w, v, (size_t)g->embedding * sizeof *w);
    return CB_OK;
  }
  cb_status status = CB_OK;
  if (!g->intrinsic)
    cb_exp(g, x, scaled, y, w);
  else
    status = g->intrinsic->exp ? g->intrinsic->exp(g, x, scaled, y, w) : cb_numeric_exp(g, x, scaled, y, w, NULL);
  for (int i = 0; i < g->embedding && !status; i++) w[i] /= s;
  return status;
}

/* The points of a geodesic. */
typedef struct geodesic_rows {
  cb_arena *arena;
  const cb_ambient *ambient;
  size_t count, singular;      /* singular: points where the velocity in the chart is not defined */
  double length;               /* from the first point to the last */
  double *s, *q, *u, *picture; /* [count], [count][dim], [count][dim], [count][3] */
} geodesic_rows;

/* The caller frees the arena, also on failure. */
static cb_status create_rows(const cb_ambient *ambient, size_t count, double length, geodesic_rows *out) {
  const size_t n = (size_t)ambient->space->dim;
  *out = (geodesic_rows){.arena = cb_arena_create(), .ambient = ambient, .count = count, .length = length};
  cb_arena_doubles(out->arena, count, &out->s);
  cb_arena_doubles(out->arena, count * n, &out->q, &out->u);
  cb_arena_doubles(out->arena, count * 3, &out->picture);
  return cb_arena_lost(out->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for %zu points", count) : CB_OK;
}

/* The rows of a path. */
static cb_status follow(const course *c, size_t n, geodesic_rows *rows) {
  for (size_t i = 0; i < rows->count; i++) {
    double *q = rows->q + n * i, *u = rows->u + n * i;
    bool finite = true;
    rows->s[i] = rows->count > 1 ? c->length * (double)i / (double)(rows->count - 1) : 0;
    const cb_status status = cb_path_at(&c->path, rows->s[i], q, u, rows->picture + 3 * i);
    if (status) return status;
    for (size_t k = 0; k < n; k++) finite = finite && isfinite(u[k]);
    rows->singular += !finite;
  }
  return CB_OK;
}

static cb_status trace(const cb_ambient *a, const course *c, geodesic_rows *rows) {
  const cb_geometry *g = a->space;
  const size_t n = (size_t)g->dim;
  double x[CB_COORD_MAX], v[CB_COORD_MAX];
  if (c->known) return follow(c, n, rows);
  cb_status status = cb_ambient_push(a, c->q, c->u, x, v);
  for (size_t i = 0; i < rows->count && !status; i++) {
    double y[CB_COORD_MAX], w[CB_COORD_MAX];
    const double s = rows->count > 1 ? c->length * (double)i / (double)(rows->count - 1) : 0;
    status = advance(g, x, v, s, y, w);
    if (status) break;
    rows->s[i] = s;
    cb_picture(g, y, NULL, rows->picture + 3 * i, NULL);
    if (i == 0) {
      memcpy(rows->q, c->q, n * sizeof(double));
      memcpy(rows->u, c->u, n * sizeof(double));
    } else if (cb_ambient_pull(a, y, w, rows->q + n * i, rows->u + n * i)) { /* at an axis of the chart */
      status = a->chart->from_point(g, y, rows->q + n * i);
      for (size_t k = 0; k < n; k++) rows->u[n * i + k] = NAN;
      rows->singular++;
    }
  }
  return status;
}

/* --- writing --- */

static void print(const geodesic_rows *rows, FILE *out) {
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

static cb_status write_table(const geodesic_rows *rows, const char *path) {
  cb_output output;
  FILE *stream;
  const cb_status status = cb_output_open_text(path, &output, &stream);
  if (status) return status;
  print(rows, stream);
  return cb_output_close_text(&output, stream, CB_OK);
}

static cb_status write_hdf5(const geodesic_rows *rows, const char *path) {
  static const char *const axes[] = {"x", "y", "z"}, *const chart[] = {"s", "coordinate"},
                           *const picture[] = {"s", "axis"};
  const cb_ambient *ambient = rows->ambient;
  const size_t n = (size_t)ambient->space->dim;
  const char *const *name = ambient->chart->coordinates;
  char names[256] = "";
  cb_arrays *a;
  const cb_status status = cb_arrays_create(path, false, &a);
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

/* To an HDF5 file where the name ends in .h5, otherwise as a table; output NULL: to the standard output. CB_ERROR_FILE
 * if that cannot be written. */
static cb_status write_rows(const geodesic_rows *rows, const char *output) {
  const size_t length = output ? strlen(output) : 0;
  if (!output) {
    print(rows, stdout);
    return CB_OK;
  }
  if (length > 3 && !strcmp(output + length - 3, ".h5")) return write_hdf5(rows, output);
  return write_table(rows, output);
}

static int run(int argc, char **argv) {
  cb_words sets = {0};
  const char *from = NULL, *to = NULL, *velocity = NULL, *length = NULL, *points = NULL, *output = NULL, *chart = NULL;
  const cb_option options[] = {{"--from", NULL, true, cb_take_text, &from},
                               {"--to", NULL, true, cb_take_text, &to},
                               {"--velocity", NULL, true, cb_take_text, &velocity},
                               {"--length", NULL, true, cb_take_text, &length},
                               {"--points", NULL, true, cb_take_text, &points},
                               {"--chart", NULL, true, cb_take_text, &chart},
                               {"--set", NULL, true, cb_take_word, &sets},
                               {"--output", "-o", true, cb_take_text, &output},
                               {NULL, NULL, false, NULL, NULL}};
  int words;
  const int usage = cb_options_take(&cb_command_geodesic, options, argc, argv, &words);
  if (usage) return usage;
  if (words != 1 || !from || !to == !velocity || (to && length)) return cb_usage(&cb_command_geodesic);
  long count = 101;
  if (points) {
    char *end;
    count = strtol(points, &end, 10);
    if (*end || end == points || count < 1 || count > MOST_POINTS)
      return fprintf(stderr, "curvebody geodesic: error: expected a number of points from 1 to %d, not `%s`\n",
                     MOST_POINTS, points),
             CB_EXIT_USAGE;
  }
  cb_ambient ambient;
  cb_status status = cb_ambient_open(argv[0], &sets, chart, &ambient);
  if (status) return cb_report(status);
  course c = {.length = 0};
  geodesic_rows rows = {0};
  status = cb_ambient_numbers("--from", from, ambient.space->dim, c.q);
  if (!status) status = velocity ? start_with(&ambient, velocity, length, &c) : aim_at(&ambient, to, &c);
  if (!status && output) status = cb_check_output(output, (cb_files){&ambient.file, ambient.file != NULL});
  if (!status) status = create_rows(&ambient, (size_t)count, c.length, &rows);
  if (!status) status = trace(&ambient, &c, &rows);
  if (!status && rows.singular)
    fprintf(stderr, "curvebody: note: the chart %s is singular at %zu of the points: their velocities are nan\n",
            ambient.chart->name, rows.singular);
  if (!status) status = write_rows(&rows, output);
  cb_arena_free(rows.arena);
  cb_ambient_close(&ambient);
  return status ? cb_report(status) : CB_EXIT_DONE;
}

const cb_command cb_command_geodesic = {
    "geodesic",
    "SPACE --from POINT (--velocity V [--length L] | --to POINT) [--points N] [--chart NAME] [--set KEY=VALUE]... "
    "[-o OUT.h5|TABLE]",
    "Follows a geodesic from a point and velocity, or between two points, and prints arc length, coordinates, velocity "
    "and picture, or writes them to an HDF5 file. SPACE as for `space`.",
    run, NULL};
