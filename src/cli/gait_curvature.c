/* curvebody gait SCENARIO curvature: connection, curvature and metric over a window of two shape variables.
 *
 *   /NAME1[N1]  /NAME2[N2]  the window;  /connection[N1, N2, axis, n]  /curvature[N1, N2, axis]  /metric[N1, N2, n, n]
 *   /gait[T, n]  T = 512 points of the gait, for plots
 *
 * NAME1 and NAME2 are the two shape variables, and N1 and N2 their numbers of grid points (nodes). n is the number of
 * shape variables; axis is an axis of the Lie algebra. The other shape variables stay at --at, or at the mean of the
 * gait. Values at singular shapes are nan. A warning names singular shapes between nodes and on the gait.
 */
#include "cli/gait_job.h"
#include "core/failure.h"

#include "bundle/coordinates.h"
#include "bundle/bundle_private.h"
#include "core/arena.h"
#include "core/threads.h"
#include "record/arrays.h"

#include <math.h>
#include <string.h>

/* USUAL, MAXIMUM: default and maximum number of grid points per axis; MAXIMUM^2 fits into an int. DRAWN: number of
 * points of the gait in the output */
enum { USUAL = 51, MAXIMUM = 10000, DRAWN = 512 };

typedef struct grid {
  cb_arena *arena;
  const cb_bundle *bundle;
  cb_bundle *moved; /* the bundle in minimum-perturbation coordinates; NULL: they were not requested */
  int i, j, points[2];
  double low[2], high[2];
  double at[CB_SHAPE_MAX]; /* [n]: the shape variables that are not in the window have these values */
  double *axis[2], *connection, *curvature, *metric, *gait;
  signed char *status; /* of each node: 0: it was computed; > 0: its shape is singular; < 0: an error */
  size_t singular;
  char why[512]; /* the error message of the first singular node */
} grid;

/* --- options --- */

static cb_status variable(const cb_bundle *b, const char *name, size_t length, int *out) {
  char text[64];
  snprintf(text, sizeof text, "%.*s", (int)(length < 63 ? length : 63), name);
  for (*out = 0; *out < b->n; ++*out)
    if (!strcmp(b->shape[*out], text)) return CB_OK;
  const char *near = cb_nearest_name(text, b->shape, (size_t)b->n);
  return near ? cb_fail(CB_ERROR_INPUT, "--plane: error: no shape variable `%s`; did you mean `%s`?", text, near)
              : cb_fail(CB_ERROR_INPUT, "--plane: error: no shape variable `%s`; the first is `%s`", text, b->shape[0]);
}

static cb_status read_plane(const cli_gait_job *job, grid *g) {
  const cb_bundle *b = job->bundle;
  g->i = 0;
  g->j = 1;
  if (b->n < 2)
    return cb_fail(CB_ERROR_INPUT,
                   "%s: error: bundle %s has only one shape variable, so it has no curvature: use `connection`",
                   job->scenario, b->class_->name);
  if (!job->plane) return CB_OK;
  const char *comma = strchr(job->plane, ',');
  if (!comma) return cb_fail(CB_ERROR_INPUT, "--plane: error: expected two shape variables, NAME,NAME");
  cb_status status = variable(b, job->plane, (size_t)(comma - job->plane), &g->i);
  if (!status) status = variable(b, comma + 1, strlen(comma + 1), &g->j);
  return !status && g->i == g->j ? cb_fail(CB_ERROR_INPUT, "--plane: error: expected two different shape variables")
                                 : status;
}

/* Computes the default window: the range of the gait with a margin of a quarter of its width, rounded outwards. */
static void around(const grid *g, double *low, double *high) {
  const int of[2] = {g->i, g->j}, n = g->bundle->n;
  for (int v = 0; v < 2; v++) {
    low[v] = INFINITY;
    high[v] = -INFINITY;
    for (int k = 0; k < DRAWN; k++) {
      low[v] = fmin(low[v], g->gait[k * n + of[v]]);
      high[v] = fmax(high[v], g->gait[k * n + of[v]]);
    }
    const double margin = high[v] > low[v] ? (high[v] - low[v]) / 4 : fmax(1, fabs(low[v])) / 2;
    const double unit = pow(10, floor(log10(2 * margin)) - 2);
    low[v] = floor((low[v] - margin) / unit + 1e-6) * unit;
    high[v] = ceil((high[v] + margin) / unit - 1e-6) * unit;
  }
}

static cb_status read_window(const cli_gait_job *job, grid *g) {
  double four[4];
  char text[256];
  if (!job->window) {
    if (!g->gait)
      return cb_fail(CB_ERROR_INPUT, "--window: error: expected LO:HI,LO:HI, since the scenario has no gait");
    around(g, g->low, g->high);
    return CB_OK;
  }
  snprintf(text, sizeof text, "%s", job->window);
  for (char *colon = text; (colon = strchr(colon, ':'));) *colon = ',';
  const cb_status status = cli_ambient_numbers("--window", text, 4, four);
  if (status) return status;
  for (int v = 0; v < 2; v++) {
    g->low[v] = four[2 * v];
    g->high[v] = four[2 * v + 1];
    if (!(g->high[v] > g->low[v]))
      return cb_fail(CB_ERROR_INPUT, "--window: error: expected LO:HI,LO:HI with LO < HI, found %g:%g", g->low[v],
                     g->high[v]);
  }
  return CB_OK;
}

/* Samples the gait. The shape variables that are not in the window get the values of --at; without --at they get their
 * mean values over the gait. */
static cb_status read_gait(const cli_gait_job *job, grid *g) {
  const int n = g->bundle->n;
  if (job->at) {
    const cb_status status = cli_ambient_numbers("--at", job->at, n, g->at);
    if (status) return status;
  }
  if (!job->motion->gait) return CB_OK;
  if (!(g->gait = cb_arena_alloc(g->arena, (size_t)(DRAWN * n), sizeof *g->gait)))
    return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  for (int k = 0; k < DRAWN; k++) {
    double *r = g->gait + k * n;
    cb_gait_at(job->motion->gait, (double)k / (DRAWN - 1), r, NULL);
    for (int i = 0; i < n && !job->at; i++) g->at[i] += r[i] / DRAWN;
  }
  return CB_OK;
}

static cb_status choose_coordinates(const cli_gait_job *job, grid *g) {
  const char *const only = "minimum_perturbation";
  if (!job->coordinates) return CB_OK;
  if (strcmp(job->coordinates, only))
    return cb_fail(CB_ERROR_INPUT, "--coordinates: error: expected `%s`, found '%.40s'", only, job->coordinates);
  if (job->bundle->n != 2)
    return cb_fail(CB_ERROR_INPUT,
                   "--coordinates: error: bundle %s has %d shape variables: expected 2, or `coordinates` in the "
                   "scenario's bundle",
                   job->bundle->class_->name, job->bundle->n);
  double low[2], high[2];
  int points[2];
  const int of[2] = {g->i, g->j};
  for (int v = 0; v < 2; v++) {
    low[of[v]] = g->low[v];
    high[of[v]] = g->high[v];
    points[of[v]] = g->points[v];
  }
  const cb_status status = cb_bundle_minimum_perturbation(job->bundle, low, high, points, &g->moved);
  if (!status) g->bundle = g->moved;
  return status;
}

/* --- values over the window --- */

static cb_status make_arrays(grid *g) {
  const size_t n = (size_t)g->bundle->n, dim = (size_t)g->bundle->group->dim,
               nodes = (size_t)g->points[0] * (size_t)g->points[1];
  cb_arena_doubles(g->arena, nodes * dim * n, &g->connection);
  cb_arena_doubles(g->arena, nodes * dim, &g->curvature);
  cb_arena_doubles(g->arena, nodes * n * n, &g->metric);
  g->status = cb_arena_alloc(g->arena, nodes, sizeof *g->status);
  for (int v = 0; v < 2; v++) {
    cb_arena_doubles(g->arena, (size_t)g->points[v], &g->axis[v]);
    for (int k = 0; g->axis[v] && k < g->points[v]; k++)
      g->axis[v][k] = g->low[v] + (g->high[v] - g->low[v]) * k / (g->points[v] - 1);
  }
  if (!cb_arena_lost(g->arena)) return CB_OK;
  return cb_fail(CB_ERROR_MEMORY, "no memory for a grid of %dx%d", g->points[0], g->points[1]);
}

/* Computes connection, curvature and metric at one node; they are nan if the shape is singular. */
static cb_status fill(grid *g, int node) {
  const cb_bundle *b = g->bundle;
  const size_t n = (size_t)b->n, dim = (size_t)b->group->dim, at = (size_t)node;
  double r[CB_SHAPE_MAX], *A = g->connection + at * dim * n, *B = g->curvature + at * dim, *M = g->metric + at * n * n;
  memcpy(r, g->at, sizeof r);
  r[g->i] = g->axis[0][node / g->points[1]];
  r[g->j] = g->axis[1][node % g->points[1]];
  cb_status status = cb_bundle_connection(b, r, A, NULL, M, NULL);
  if (!status) status = cb_bundle_curvature(b, r, g->i, g->j, B);
  if (status <= 0) return status;
  for (size_t c = 0; c < dim * n; c++) A[c] = NAN;
  for (size_t c = 0; c < dim; c++) B[c] = NAN;
  for (size_t c = 0; c < n * n; c++) M[c] = NAN;
  return status;
}

static void fill_part(void *context, int begin, int end) {
  grid *g = context;
  for (int node = begin; node < end; node++) g->status[node] = (signed char)fill(g, node);
}

/* Computes all nodes with several threads. An error message is known only in its thread, so the first node with an
 * error (status < 0) and the first singular node (> 0) are computed again in this thread. */
static cb_status look(grid *g) {
  const int nodes = g->points[0] * g->points[1];
  cb_status status = make_arrays(g);
  if (status) return status;
  cb_threads_range(cb_threads_for(SIZE_MAX), nodes, fill_part, g);
  for (int node = 0; node < nodes && !status; node++) {
    if (g->status[node] < 0) status = fill(g, node);
    if (g->status[node] > 0 && !g->singular++ && fill(g, node)) snprintf(g->why, sizeof g->why, "%s", cb_error_text());
  }
  return status;
}

static cb_status write_file(const cli_gait_job *job, const grid *g) {
  const cb_bundle *b = g->bundle;
  const char *const one = b->shape[g->i], *const two = b->shape[g->j];
  const char *const connection[] = {one, two, "algebra", "variable"}, *const curvature[] = {one, two, "algebra"},
                    *const metric[] = {one, two, "variable", "variable_column"}, *const gait[] = {"point", "variable"};
  cb_arrays *a;
  const cb_status status = cb_arrays_create(job->output, false, &a);
  if (status) return status;
  const cb_families_job of = cli_gait_families_job(job);
  cb_families_attributes(&of, a);
  cb_arrays_text(a, "plane_1", one);
  cb_arrays_text(a, "plane_2", two);
  cb_arrays_text(a, "coordinates", g->moved || job->motion->plain ? "minimum_perturbation" : "own");
  cb_arrays_dimension(a, &(cb_dimension){one, (size_t)g->points[0], g->axis[0], NULL, "shape variable"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){two, (size_t)g->points[1], g->axis[1], NULL, "shape variable"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"algebra", (size_t)b->group->dim, NULL, b->group->axis, "axis of the algebra"},
                      NULL);
  cb_arrays_dimension(a, &(cb_dimension){"variable", (size_t)b->n, NULL, b->shape, "shape variable"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"variable_column", (size_t)b->n, NULL, b->shape, "shape variable"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"point", g->gait ? DRAWN : 0, NULL, NULL, "point of the gait"}, NULL);
  cb_arrays_put(a, "connection", 4, connection, g->connection, NULL, "A: xi = -A r'");
  cb_arrays_put(a, "curvature", 3, curvature, g->curvature, NULL, "B = d_1 A_2 - d_2 A_1 - [A_1, A_2]");
  cb_arrays_put(a, "metric", 4, metric, g->metric, NULL, "M: cost r'Mr'");
  if (g->gait) cb_arrays_put(a, "gait", 2, gait, g->gait, NULL, "points of the gait, from its start to its end");
  return cb_arrays_close(a, CB_OK);
}

/* Warns of singular shapes between the grid points (nodes). */
static cb_status warn_of_poles(const cli_gait_job *job, const grid *g) {
  const int v[2] = {g->i, g->j};
  cb_status status = cb_grid_regular(g->bundle, v, g->points, (const double *const *)g->axis, g->at, g->connection);
  if (status == CB_ERROR_MEMORY) return status;
  if (status)
    cb_warn("the window has singular shapes between nodes, and values near them are large: %s", cb_error_text());
  status = g->gait ? cb_gait_regular(job->bundle, job->motion->gait) : CB_OK;
  if (status == CB_ERROR_MEMORY) return status;
  if (status) cb_warn("the gait passes a singular shape and has no holonomy: %s", cb_error_text());
  return CB_OK;
}

cb_status cli_gait_curvature(const cli_gait_job *job) {
  grid g = {.arena = cb_arena_create(), .bundle = job->bundle, .points = {USUAL, USUAL}};
  cb_status status = read_plane(job, &g);
  if (!status) status = cli_gait_grid(job->grid, MAXIMUM, g.points);
  if (!status) status = read_gait(job, &g);
  if (!status) status = read_window(job, &g);
  if (!status) status = choose_coordinates(job, &g);
  if (!status) status = look(&g);
  if (!status && g.singular)
    cb_warn("%zu of %d nodes are nan, for example: %s", g.singular, g.points[0] * g.points[1], g.why);
  if (!status) status = warn_of_poles(job, &g);
  if (!status) status = write_file(job, &g);
  if (!status && job->json) {
    printf("{\"output\": ");
    cli_json_text(stdout, job->output);
    printf(", \"grid\": [%d, %d], \"singular\": %zu}\n", g.points[0], g.points[1], g.singular);
  }
  cb_arena_free(g.arena);
  cb_bundle_free(g.moved);
  return status;
}
