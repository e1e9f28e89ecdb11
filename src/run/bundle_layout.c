/* The record of a gait in a bundle: its dimensions, and one row of a table a field.
 *
 *   shape r and r', group element g, body velocity xi = -A r';  x: the points of the body in the picture of its space
 *   length = int sqrt(r'Mr') dt, cost = int r'Mr' dt, since the start
 * The residual P xi + Q r' of the form is 0 up to round-off where A comes from it: no force, or no momentum.
 */
#include "core/failure.h"
#include "run/bundle_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const cb_observable_doc cb_bundle_observables[] = {
    {"connection", "connection", "A(r): body velocity -A r'"},
    {"curvature", "curvature", "B_ij, of each pair of shape variables"},
    {"metric", "metric", "M(r): cost r'Mr'"},
    {"momentum", "momentum", "P xi + Q r', force or momentum in the body frame, which is 0"},
    {"power", "power", "r'Mr': what is spent on drag, or twice the kinetic energy"},
    {NULL, NULL, NULL}};

static const char *const usual[] = {"connection", "power", NULL};

enum { FORM = CB_GROUP_DIM + CB_SHAPE_MAX };

typedef struct cb_bundle_field {
  const char *group;
  cb_field field;
  cb_status (*fill)(const cb_run *run, void *out);
} cb_bundle_field;

#define FILL(name) static cb_status name(const cb_run *run, void *out)

FILL(time_) { return *(double *)out = run->bundle->state.t, CB_OK; }
FILL(step) { return *(int64_t *)out = run->bundle->step, CB_OK; }
FILL(length) { return *(double *)out = run->bundle->state.length, CB_OK; }
FILL(cost) { return *(double *)out = run->bundle->state.cost, CB_OK; }
FILL(iterations) { return *(int32_t *)out = run->bundle->integrator->iterations, CB_OK; }
FILL(step_size) { return *(double *)out = run->step_size, CB_OK; }

static cb_status copy(void *out, const double *values, int count) {
  memcpy(out, values, (size_t)count * sizeof *values);
  return CB_OK;
}

FILL(shape) { return copy(out, run->bundle->r, run->bundle->path.bundle->n); }
FILL(rate) { return copy(out, run->bundle->rate, run->bundle->path.bundle->n); }
FILL(group) { return copy(out, run->bundle->state.g, run->bundle->path.bundle->group->size); }
FILL(velocity) { return copy(out, run->bundle->xi, run->bundle->path.bundle->group->dim); }

FILL(connection) {
  const cb_bundle *b = run->bundle->path.bundle;
  return copy(out, run->bundle->A, b->group->dim * b->n);
}

FILL(metric) {
  const cb_bundle *b = run->bundle->path.bundle;
  return copy(out, run->bundle->M, b->n * b->n);
}

FILL(curvature) { return cb_bundle_curvatures(run->bundle->path.bundle, run->bundle->r, out); }

FILL(power) {
  const cb_bundle_run *f = run->bundle;
  const int n = f->path.bundle->n;
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += f->M[i * n + j] * f->rate[i] * f->rate[j];
  return *(double *)out = sum, CB_OK;
}

FILL(momentum) {
  const cb_bundle_run *f = run->bundle;
  const cb_bundle *b = f->path.bundle;
  const int dim = b->group->dim, all = dim + b->n;
  double G[FORM * FORM];
  const cb_status status = b->kind->form(b, f->r, G);
  if (status) return status;
  for (int k = 0; k < dim; k++) {
    double sum = 0;
    for (int l = 0; l < all; l++) sum += G[k * all + l] * (l < dim ? f->xi[l] : f->rate[l - dim]);
    ((double *)out)[k] = sum;
  }
  return CB_OK;
}

FILL(picture) {
  const cb_bundle_run *f = run->bundle;
  return f->path.bundle->kind->picture(f->path.bundle, f->r, f->state.g, out);
}

#define ON(group, name, type, rank, unit, doc, fill, ...) \
  { group, {name, type, rank, {__VA_ARGS__}, unit, doc}, fill }
static const cb_bundle_field table[] = {
    ON("", "time", CB_FIELD_DOUBLE, 0, "s", "time", time_, 0),
    ON("", "step", CB_FIELD_INT64, 0, "1", "steps so far", step, 0),
    ON("", "x", CB_FIELD_DOUBLE, 2, "1", "points of the body in the picture of its space", picture, "particle", "axis"),
    ON("", "shape", CB_FIELD_DOUBLE, 1, "1", "shape variables", shape, "dof"),
    ON("", "shape_rate", CB_FIELD_DOUBLE, 1, "s-1", "their rates", rate, "dof"),
    ON("", "group", CB_FIELD_DOUBLE, 1, "1", "element of the group", group, "number"),
    ON("", "body_velocity", CB_FIELD_DOUBLE, 1, "s-1", "xi = -A r' in the body frame", velocity, "algebra"),
    ON("", "length", CB_FIELD_DOUBLE, 0, "1", "int sqrt(r'Mr') dt since the start", length, 0),
    ON("", "cost", CB_FIELD_DOUBLE, 0, "1", "int r'Mr' dt since the start", cost, 0),
    ON("connection", "connection", CB_FIELD_DOUBLE, 2, "1", "A: xi = -A r'", connection, "algebra", "dof"),
    ON("curvature", "curvature", CB_FIELD_DOUBLE, 2, "1", "B_ij = d_i A_j - d_j A_i - [A_i, A_j]", curvature, "pair",
       "algebra"),
    ON("metric", "metric", CB_FIELD_DOUBLE, 2, "1", "M: cost r'Mr'", metric, "dof", "dof_column"),
    ON("momentum", "momentum", CB_FIELD_DOUBLE, 1, "1", "P xi + Q r' in the body frame", momentum, "algebra"),
    ON("power", "power", CB_FIELD_DOUBLE, 0, "1", "r'Mr'", power, 0),
    ON("", "solver_iterations", CB_FIELD_INT32, 0, "1", "parts of the last step", iterations, 0),
    ON("", "step_size", CB_FIELD_DOUBLE, 0, "s", "size of the last step", step_size, 0),
    {NULL, {0}, NULL}};

/* --- layout --- */

/* "alpha1 alpha2" of each pair, i first. */
static cb_status name_pairs(cb_run *run, const char ***out, size_t *count) {
  const cb_bundle *b = run->bundle->path.bundle;
  const size_t pairs = (size_t)(b->n * (b->n - 1) / 2);
  const char **name = cb_arena_alloc(run->arena, pairs, sizeof *name);
  *out = name, *count = 0;
  for (int i = 0; name && i < b->n; i++)
    for (int j = i + 1; j < b->n; j++) {
      const size_t size = strlen(b->shape[i]) + strlen(b->shape[j]) + 2;
      char *text = cb_arena_alloc(run->arena, size, 1);
      if (!text) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
      snprintf(text, size, "%s %s", b->shape[i], b->shape[j]);
      name[(*count)++] = text;
    }
  return name ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %zu names", pairs);
}

/* The body's points and lines. */
static cb_status dimensions_of_picture(cb_run *run) {
  static const char *const axes[] = {"x", "y", "z"};
  const cb_bundle *b = run->bundle->path.bundle;
  const size_t points = b->kind->picture ? (size_t)b->points : 0, lines = points ? (size_t)b->lines : 0;
  int64_t *ends = cb_arena_alloc(run->arena, 2 * lines, sizeof *ends);
  if (!ends) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu lines", lines);
  for (size_t k = 0; k < lines; k++) ends[k] = b->line[k][0], ends[lines + k] = b->line[k][1];
  cb_run_dimension(run, "particle", points, "point of the body");
  cb_run_dimension(run, "axis", 3, "axis of the picture")->labels = axes;
  cb_run_dimension(run, "bond", lines, "line of the body");
  cb_run_constant(
      run,
      &(cb_constant){.name = "bond_i", .dim = "bond", .integers = ends, .units = "1", .doc = "first point of a line"});
  cb_run_constant(
      run,
      &(cb_constant){
          .name = "bond_j", .dim = "bond", .integers = ends + lines, .units = "1", .doc = "second point of a line"});
  return CB_OK;
}

static cb_status dimensions(cb_run *run) {
  const cb_bundle *b = run->bundle->path.bundle;
  const cb_group *G = b->group;
  const char **pair;
  size_t pairs;
  cb_status status = name_pairs(run, &pair, &pairs);
  if (!status) status = dimensions_of_picture(run);
  if (status) return status;
  cb_run_dimension(run, "dof", (size_t)b->n, "shape variable")->labels = b->shape;
  cb_run_dimension(run, "dof_column", (size_t)b->n, "shape variable")->labels = b->shape;
  cb_run_dimension(run, "number", (size_t)G->size, "number of an element of the group")->labels = G->number;
  cb_run_dimension(run, "algebra", (size_t)G->dim, "axis of the group's algebra")->labels = G->axis;
  cb_run_dimension(run, "pair", pairs, "pair of shape variables")->labels = pair;
  return CB_OK;
}

cb_status cb_bundle_run_layout(cb_run *run) {
  cb_bundle_run *f = run->bundle;
  const cb_bundle *b = f->path.bundle;
  if (!run->options.observables) run->options.observables = usual;
  cb_status status = cb_run_check_observables(run, cb_bundle_observables);
  if (!status && cb_run_asked(run, "momentum") && !b->kind->form)
    status = cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                        "the observable `momentum`: bundle %s has no form (xi, r') that it comes from", b->kind->name);
  if (!status) status = dimensions(run);
  for (const cb_bundle_field *row = table; row->group && !status; row++) {
    int at;
    if (!cb_run_asked(run, row->group)) continue;
    status = cb_run_field(run, &row->field, &at);
    if (!status && at >= 0) f->measured[at] = row;
  }
  if (status) return status;
  f->metric = cb_run_asked(run, "metric") || cb_run_asked(run, "power");
  const cb_blob blobs[] = {{"step", CB_FIELD_INT64, 1, &f->step},
                           {"fibre_state", CB_FIELD_DOUBLE, sizeof f->state / sizeof(double), &f->state}};
  cb_run_finish_layout(run, blobs, sizeof blobs / sizeof *blobs);
  return CB_OK;
}

/* --- rows --- */

cb_status cb_bundle_run_measure(cb_run *run, const char **what) {
  cb_bundle_run *f = run->bundle;
  const cb_bundle *b = f->path.bundle;
  const int n = b->n;
  *what = "body_velocity";
  cb_bundle_shape(&f->path, &f->state, f->r, f->rate);
  cb_status status = cb_bundle_connection(b, f->r, f->A, NULL, f->metric ? f->M : NULL, NULL);
  for (int k = 0; k < b->group->dim && !status; k++) {
    f->xi[k] = 0;
    for (int i = 0; i < n; i++) f->xi[k] -= f->A[k * n + i] * f->rate[i];
  }
  for (int at = 0; at < run->n_fields && !status; at++) {
    *what = run->field[at].name;
    status = f->measured[at]->fill(run, run->value[at]);
  }
  return status;
}
