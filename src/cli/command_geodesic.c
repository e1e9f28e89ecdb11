/* curvebody geodesic SPACE --from POINT (--velocity V [--length L] | --to POINT) [--points N] [-o OUT.h5|TABLE]
 *
 *   q(s) = exp_from(s u),  |u| = 1,  0 <= s <= L
 *
 * exp_from is the exponential map at the point `from`, u the velocity there, s the arc length and L the length. With
 * --to, u and L come from the inverse map, log_from(to). In a space with a hyperbolic factor cb_path is used, which
 * works at any distance.
 *
 * Rows of s, coordinates q, velocity u = dq/ds and the plot, as a table or as an HDF5 file:
 *
 *   /s[s]  /q[s, coordinate]  /u[s, coordinate]  /plot_position[s, axis]
 *   attributes: space, chart, coordinates, distance, curvebody_version
 */
#include "cli/cli.h"

#include "core/arena.h"
#include "geometry/origin.h"
#include "record/arrays.h"
#include "record/output.h"
#include <curvebody/intrinsic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 10000000 };

/* The start of the geodesic and its unit velocity there, in coordinates. */
typedef struct course {
  double q[CB_COORD_MAX], u[CB_COORD_MAX], length;
  bool known; /* true: `path` describes the geodesic */
  cb_path path;
} course;

static cb_status start_with(const cli_ambient *a, const char *velocity, const char *length, course *c) {
  double speed;
  cb_status status = cli_ambient_numbers("--velocity", velocity, a->space->dim, c->u);
  c->known = cb_path_knows(a->space);
  if (!status)
    status = c->known ? cb_path_from(a->space, a->chart, c->q, c->u, &c->path, &speed)
                      : cli_ambient_length(a, c->q, c->u, &speed);
  if (status) return status;
  if (!(speed > 0)) return cb_fail(CB_ERROR_INPUT, "--velocity: error: expected a velocity other than 0");
  c->length = speed; /* the length of the geodesic from time 0 to time 1 */
  if (length) status = cli_ambient_numbers("--length", length, 1, &c->length);
  if (!status && !(c->length >= 0)) status = cb_fail(CB_ERROR_INPUT, "--length: error: expected a number >= 0");
  for (int i = 0; i < a->space->dim; i++) c->u[i] /= speed;
  return status;
}

static cb_status aim_at(const cli_ambient *a, const char *to, course *c) {
  const cb_space *g = a->space;
  double end[CB_COORD_MAX], x[CB_COORD_MAX], y[CB_COORD_MAX], v[CB_COORD_MAX], again[CB_COORD_MAX];
  cb_status status = cli_ambient_numbers("--to", to, g->dim, end);
  c->known = cb_path_knows(g);
  if (!status && c->known) {
    status = cb_path_between(g, a->chart, c->q, end, &c->path);
    c->length = c->path.length;
    return status ? status : cb_path_at(&c->path, 0, x, c->u, v);
  }
  if (!status) status = a->chart->to_point(g, c->q, x, NULL);
  if (!status) status = a->chart->to_point(g, end, y, NULL);
  if (!status) status = cb_log(g, x, y, v);
  if (!status) status = cli_ambient_pull(a, x, v, again, c->u);
  if (!status) status = cli_ambient_length(a, c->q, c->u, &c->length);
  for (int i = 0; i < g->dim && !status; i++) c->u[i] = c->length > 0 ? c->u[i] / c->length : 0;
  return status;
}

/* Computes the point y and the velocity w at arc length s of the geodesic from x with the unit velocity v, in the
 * embedding or in the chart of an intrinsic space. */
static cb_status advance(const cb_space *g, const double *x, const double *v, double s, double *y, double *w) {
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

/* The points of a geodesic that the command writes, one row per point. */
typedef struct geodesic_rows {
  cb_arena *arena;
  const cli_ambient *ambient;
  size_t count, singular; /* singular: points where the velocity in the chart is not defined */
  double length;          /* length from the first point to the last */
  /* s[count]: arc lengths; q, u[count][dim]: coordinates and velocities; plot[count][3]: coordinates for plots */
  double *s, *q, *u, *plot;
} geodesic_rows;

/* Allocates the rows. The caller frees the arena, even after a failure. */
static cb_status create_rows(const cli_ambient *ambient, size_t count, double length, geodesic_rows *out) {
  const size_t n = (size_t)ambient->space->dim;
  *out = (geodesic_rows){.arena = cb_arena_create(), .ambient = ambient, .count = count, .length = length};
  cb_arena_doubles(out->arena, count, &out->s);
  cb_arena_doubles(out->arena, count * n, &out->q, &out->u);
  cb_arena_doubles(out->arena, count * 3, &out->plot);
  return cb_arena_lost(out->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for %zu points", count) : CB_OK;
}

/* Fills the rows with points of the geodesic that course->path describes. */
static cb_status follow(const course *c, size_t n, geodesic_rows *rows) {
  for (size_t i = 0; i < rows->count; i++) {
    double *q = rows->q + n * i, *u = rows->u + n * i;
    bool finite = true;
    rows->s[i] = rows->count > 1 ? c->length * (double)i / (double)(rows->count - 1) : 0;
    const cb_status status = cb_path_at(&c->path, rows->s[i], q, u, rows->plot + 3 * i);
    if (status) return status;
    for (size_t k = 0; k < n; k++) finite = finite && isfinite(u[k]);
    rows->singular += !finite;
  }
  return CB_OK;
}

static cb_status trace(const cli_ambient *a, const course *c, geodesic_rows *rows) {
  const cb_space *g = a->space;
  const size_t n = (size_t)g->dim;
  double x[CB_COORD_MAX], v[CB_COORD_MAX];
  if (c->known) return follow(c, n, rows);
  cb_status status = cli_ambient_push(a, c->q, c->u, x, v);
  for (size_t i = 0; i < rows->count && !status; i++) {
    double y[CB_COORD_MAX], w[CB_COORD_MAX];
    const double s = rows->count > 1 ? c->length * (double)i / (double)(rows->count - 1) : 0;
    status = advance(g, x, v, s, y, w);
    if (status) break;
    rows->s[i] = s;
    cb_plot_coordinates(g, y, NULL, rows->plot + 3 * i, NULL);
    if (i == 0) {
      memcpy(rows->q, c->q, n * sizeof(double));
      memcpy(rows->u, c->u, n * sizeof(double));
    } else if (cli_ambient_pull(a, y, w, rows->q + n * i, rows->u + n * i)) { /* the chart is singular at this point */
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
  fprintf(out, "# geodesic in %s, chart %s, distance %.17g\n# s", rows->ambient->space->class_->name,
          rows->ambient->chart->name, rows->length);
  for (int i = 0; i < n; i++) fprintf(out, " %s", name[i]);
  for (int i = 0; i < n; i++) fprintf(out, " d%s/ds", name[i]);
  fprintf(out, " plot_x plot_y plot_z\n");
  for (size_t r = 0; r < rows->count; r++) {
    fprintf(out, "%.17g", rows->s[r]);
    for (int i = 0; i < n; i++) fprintf(out, " %.17g", cli_unsigned_nan(rows->q[r * (size_t)n + (size_t)i]));
    for (int i = 0; i < n; i++) fprintf(out, " %.17g", cli_unsigned_nan(rows->u[r * (size_t)n + (size_t)i]));
    for (size_t i = 0; i < 3; i++) fprintf(out, " %.17g", cli_unsigned_nan(rows->plot[3 * r + i]));
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
                           *const plot[] = {"s", "axis"};
  const cli_ambient *ambient = rows->ambient;
  const size_t n = (size_t)ambient->space->dim;
  const char *const *name = ambient->chart->coordinates;
  char names[256] = "";
  cb_arrays *a;
  const cb_status status = cb_arrays_create(path, false, &a);
  if (status) return status;
  for (size_t i = 0; i < n; i++)
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "", name[i]);
  cb_arrays_text(a, "space", ambient->space->class_->name);
  cb_arrays_text(a, "chart", ambient->chart->name);
  cb_arrays_text(a, "coordinates", names);
  cb_arrays_text(a, "curvebody_version", CB_VERSION);
  cb_arrays_number(a, "distance", rows->length);
  cb_arrays_dimension(a, &(cb_dimension){"s", rows->count, rows->s, NULL, "arc length"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"coordinate", n, NULL, name, "coordinate of the chart"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"axis", 3, NULL, axes, "axis of the plot coordinates"}, NULL);
  cb_arrays_put(a, "q", 2, chart, rows->q, NULL, "coordinates");
  cb_arrays_put(a, "u", 2, chart, rows->u, NULL, "dq/ds");
  cb_arrays_put(a, "plot_position", 2, plot, rows->plot, NULL, "plot coordinates of the points");
  return cb_arrays_close(a, CB_OK);
}

typedef struct arguments {
  const char *from, *to, *velocity, *length, *points, *output, *chart;
  cli_list sets;
} arguments;

/* Writes an HDF5 file if the name ends in .h5, and otherwise a table. */
static cb_status write_rows(const geodesic_rows *rows, const char *output) {
  const size_t length = strlen(output);
  if (length > 3 && !strcmp(output + length - 3, ".h5")) return write_hdf5(rows, output);
  return write_table(rows, output);
}

static int run(void *taken, char **operand) {
  const arguments *a = taken;
  const char *output = a->output ? a->output : "-";
  if (!a->from) return cli_misuse(&cli_command_geodesic, "--from is missing");
  if (!a->to == !a->velocity) return cli_misuse(&cli_command_geodesic, "expected one of --to and --velocity");
  if (a->to && a->length) return cli_misuse(&cli_command_geodesic, "--length needs --velocity");
  long count = 101;
  if (a->points) {
    char *end;
    count = strtol(a->points, &end, 10);
    if (*end || end == a->points || count < 1 || count > MAX_POINTS)
      return cli_misuse(&cli_command_geodesic, "expected a number of points from 1 to %d, not `%s`", MAX_POINTS,
                        a->points);
  }
  cli_ambient ambient;
  cb_status status = cli_ambient_open(operand[0], &a->sets, a->chart, &ambient);
  if (status) return cli_report(status);
  course c = {.length = 0};
  geodesic_rows rows = {0};
  status = cli_ambient_numbers("--from", a->from, ambient.space->dim, c.q);
  if (!status) status = a->velocity ? start_with(&ambient, a->velocity, a->length, &c) : aim_at(&ambient, a->to, &c);
  if (!status) status = cli_check_output(output, (cb_files){&ambient.file, ambient.file != NULL});
  if (!status) status = create_rows(&ambient, (size_t)count, c.length, &rows);
  if (!status) status = trace(&ambient, &c, &rows);
  if (!status && rows.singular)
    fprintf(stderr, "curvebody: note: the chart %s is singular at %zu of the points: their velocities are nan\n",
            ambient.chart->name, rows.singular);
  if (!status) status = write_rows(&rows, output);
  cb_arena_free(rows.arena);
  cli_ambient_close(&ambient);
  return status ? cli_report(status) : CLI_EXIT_DONE;
}

static const cli_option options[] = {
    CLI_OPTION("from", 0, CLI_VALUE, from, "POINT", NULL, NULL,
               "coordinates of the start, separated by commas; required"),
    CLI_OPTION("to", 0, CLI_VALUE, to, "POINT", NULL, NULL, "end of the shortest geodesic from the start"),
    CLI_OPTION("velocity", 0, CLI_VALUE, velocity, "V", NULL, NULL,
               "components of the velocity at the start, in place of --to"),
    CLI_OPTION("length", 0, CLI_VALUE, length, "L", "the length of the velocity", NULL,
               "arc length that is followed with --velocity"),
    CLI_OPTION("points", 0, CLI_VALUE, points, "N", "101", NULL, "number of points, up to 10000000"),
    CLI_OPTION(
        "chart", 0, CLI_VALUE, chart, "NAME",
        "`space.chart` if the scenario sets it; otherwise polar, or the only chart of a space that has one chart", NULL,
        "the chart of the coordinates"),
    CLI_OPTION("set", 0, CLI_LIST, sets, "KEY=VALUE", NULL, "space.", "changes a value, such as space.curvature=-2"),
    CLI_OPTION("output", 'o', CLI_VALUE, output, "OUT.h5|TABLE", "-, the standard output", "@files",
               "the file: HDF5 if its name ends with .h5, otherwise a table"),
    CLI_END};
static const cli_operand operands[] = {
    {"SPACE", "@spaces @files", "a name, NAME:KEY=VALUE,..., or a scenario file with a space", NULL}, {.name = NULL}};
static const cli_example examples[] = {{"curvebody geodesic h3 --from 1,1,0 --to 2,1,1 --points 50",
                                        "Prints 50 points of the geodesic between two points."},
                                       {"curvebody geodesic h3 --from 1,1,0 --velocity 0,0,1 --length 3 -o g.h5",
                                        "Follows the geodesic with this velocity and writes g.h5."},
                                       {NULL, NULL}};

const cli_command cli_command_geodesic = {
    .name = "geodesic",
    .usage = "SPACE --from POINT --to POINT [OPTION]...\nSPACE --from POINT --velocity V [--length L] [OPTION]...",
    .summary = "Follows a geodesic from a point and velocity, or between two points.",
    .details = "Each row contains arc length, coordinates, velocity and plot coordinates of a point.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .size = sizeof(arguments),
    .run = run,
};
