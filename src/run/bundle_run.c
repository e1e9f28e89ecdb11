/* A run along the fibre of a bundle: its record, its state and its steps. */
#include "run/bundle_run.h"
#include "run/exponent.h"
#include "run/falling.h"
#include "numerics/dd.h"
#include "core/failure.h"

#include <string.h>
#include <stddef.h>
#include <stdio.h>

/* The record of a gait in a bundle: its dimensions, and a table with one row per field.
 *
 *   shape r and its rate r', group element g, body velocity xi = -A r' + xi_u; plot_position: points of the body
 *   length = int sqrt(r'Mr') dt, cost = int r'Mr' dt, since the start
 * xi_u is the velocity with which a flow of the fluid carries the body (bundle/flow.c); P xi below is without xi_u.
 * A(r) is the connection and M(r) the metric of the bundle. P(r) and Q(r) are blocks of the matrix of
 * cb_bundle_class.form. The motion satisfies P xi + Q r' = 0, where the left side is a force or a momentum. The left
 * side is recorded; it is 0 up to round-off if A is computed from P and Q.
 */

const cb_observable_doc cb_bundle_observables[] = {
    {"controls", "control", "with `controls`: their values in the last step; at the start, the first values"},
    {"connection", "connection", "A(r): body velocity -A r' without momentum"},
    {"curvature", "curvature", "B_ij, of each pair of shape variables"},
    {"metric", "metric", "M(r): cost r'Mr'"},
    {"momentum", "momentum",
     "of a gait: P xi + Q r', a force or momentum in the body frame that should be 0; with `shape`: momentum of the "
     "whole in the world's frame"},
    {"power", "power", "r'Mr': the power dissipated by drag, or twice the kinetic energy"},
    {"energy", "energy, kinetic_energy, potential_energy", "with `shape` only"},
    {"effort", "effort, effort_impulse",
     "with `shape` only: force that the law or gait of a driven variable needs, and its impulses"},
    {"work", "motor_work, damping_work, friction_work, limit_work", "with `shape` only: since the start"},
    {NULL, NULL, NULL}};

/* The observables that exist only for shapes that move by themselves, not for gaits. */
static const char *const of_shapes[] = {"energy", "effort", "work", NULL};

static const char *const usual[] = {"connection", "power", NULL};

enum { FORM = CB_GROUP_DIM + CB_SHAPE_MAX };

CB_FILL(cb_fill_bundle_curvature) {
  return cb_bundle_curvatures(cb_bundle_run_of(run)->path.bundle, cb_bundle_run_of(run)->r, to.out);
}

CB_FILL(cb_fill_bundle_power) {
  const cb_bundle_run *f = run->own;
  const int n = f->path.bundle->n;
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += f->M[i * n + j] * f->rate[i] * f->rate[j];
  *(double *)to.out = sum;
  return CB_OK;
}

static CB_FILL(momentum) {
  const cb_bundle_run *f = run->own;
  const cb_bundle *b = f->path.bundle;
  const int dim = b->group->dim, all = dim + b->n;
  double G[FORM * FORM];
  const cb_status status = b->class_->form(b, f->r, G, NULL);
  if (status) return status;
  for (int k = 0; k < dim; k++) {
    double sum = 0;
    for (int l = 0; l < all; l++) sum += G[k * all + l] * (l < dim ? f->xi[l] - f->carried[l] : f->rate[l - dim]);
    ((double *)to.out)[k] = sum;
  }
  return CB_OK;
}

CB_FILL(cb_fill_bundle_plot) {
  const cb_bundle_run *f = run->own;
  return f->path.bundle->class_->plot(f->path.bundle, f->r, f->state.g, to.out);
}

#define OWN(group, name, unit, doc, member, ...) \
  CB_OBSERVABLE(group, name, DOUBLE, unit, doc, cb_fill_own, offsetof(cb_bundle_run, member), __VA_ARGS__)
static const cb_observable table[] = {
    CB_OBSERVABLE("", "time", DOUBLE, "s", "time", cb_fill_time, 0, 0, 0),
    CB_OBSERVABLE("", "step", INT64, "1", "steps so far", cb_fill_step, 0, 0, 0),
    CB_OBSERVABLE("", "plot_position", DOUBLE, "1", "points of the body in plot coordinates", cb_fill_bundle_plot, 0, 2,
                  "particle", "axis"),
    OWN("", "shape", "1", "shape variables", r, 1, "dof"),
    OWN("", "shape_rate", "s-1", "time derivatives of the shape variables", rate, 1, "dof"),
    OWN("", "group", "1", "group element", state.g, 1, "number"),
    OWN("", "body_velocity", "s-1", "xi = -A r', and the velocity of the flow, in the body frame", xi, 1, "algebra"),
    OWN("", "length", "1", "int sqrt(r'Mr') dt since the start", state.length, 0, 0),
    OWN("", "cost", "1", "int r'Mr' dt since the start", state.cost, 0, 0),
    OWN("connection", "connection", "1", "A: xi = -A r'", A, 2, "algebra", "dof"),
    CB_OBSERVABLE("curvature", "curvature", DOUBLE, "1", "B_ij = d_i A_j - d_j A_i - [A_i, A_j]",
                  cb_fill_bundle_curvature, 0, 2, "pair", "algebra"),
    OWN("metric", "metric", "1", "M: cost r'Mr'", M, 2, "dof", "dof_column"),
    CB_OBSERVABLE("momentum", "momentum", DOUBLE, "1", "P xi + Q r' in the body frame", momentum, 0, 1, "algebra"),
    CB_OBSERVABLE("power", "power", DOUBLE, "1", "r'Mr'", cb_fill_bundle_power, 0, 0, 0),
    CB_OBSERVABLE("", "solver_iterations", INT32, "1", "substeps of the last step", cb_fill_iterations, 0, 0, 0),
    CB_OBSERVABLE("", "step_size", DOUBLE, "s", "size of the last step", cb_fill_step_size, 0, 0, 0),
    {0}};

/* --- layout --- */

/* Makes the names of all pairs i < j of shape variables, such as "alpha1 alpha2". */
static cb_status name_pairs(cb_run *run, const char ***out, size_t *count) {
  const cb_bundle *b = cb_bundle_run_of(run)->path.bundle;
  const size_t pairs = (size_t)(b->n * (b->n - 1) / 2);
  const char **name = cb_arena_alloc(run->arena, pairs, sizeof *name);
  *out = name;
  *count = 0;
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

/* Adds the dimensions and constants of the points and lines with which the body is drawn. */
static cb_status dimensions_of_plot(cb_run *run) {
  static const char *const axes[] = {"x", "y", "z"};
  const cb_bundle *b = cb_bundle_run_of(run)->path.bundle;
  const size_t points = b->class_->plot ? (size_t)b->points : 0, lines = points ? (size_t)b->lines : 0;
  int64_t *ends = cb_arena_alloc(run->arena, 2 * lines, sizeof *ends);
  if (!ends) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu lines", lines);
  for (size_t k = 0; k < lines; k++) {
    ends[k] = b->line[k][0];
    ends[lines + k] = b->line[k][1];
  }
  cb_run_dimension(run, "particle", points, "point of the body");
  cb_run_dimension(run, "axis", 3, "axis of the plot coordinates")->labels = axes;
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

cb_status cb_bundle_dimensions(cb_run *run) {
  const cb_bundle *b = cb_bundle_run_of(run)->path.bundle;
  const cb_group *G = b->group;
  const char **pair;
  size_t pairs;
  cb_status status = name_pairs(run, &pair, &pairs);
  if (!status) status = dimensions_of_plot(run);
  if (status) return status;
  cb_run_dimension(run, "dof", (size_t)b->n, "shape variable")->labels = b->shape;
  cb_run_dimension(run, "dof_column", (size_t)b->n, "shape variable")->labels = b->shape;
  cb_run_dimension(run, "number", (size_t)G->size, "number of an element of the group")->labels = G->number;
  cb_run_dimension(run, "algebra", (size_t)G->dim, "axis of the group's algebra")->labels = G->axis;
  cb_run_dimension(run, "pair", pairs, "pair of shape variables")->labels = pair;
  return CB_OK;
}

static cb_status lay_out(cb_run *run) {
  cb_bundle_run *f = run->own;
  const cb_bundle *b = f->path.bundle;
  cb_status status = cb_run_choose(run, cb_bundle_observables, usual);
  for (const char *const *name = of_shapes; *name && !status; name++)
    if (cb_run_asked(run, *name))
      status = cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                          "the observable `%s` exists only for shape variables that move by themselves: expected "
                          "`shape` in place of `gait`, or no `%s`",
                          *name, *name);
  if (!status && cb_run_asked(run, "momentum") && !b->class_->form)
    status = cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                        "the observable `momentum` is not available for bundle %s, which gives its connection "
                        "directly, without the inertia of its body: leave `momentum` out",
                        b->class_->name);
  if (!status) status = cb_bundle_dimensions(run);
  if (!status) status = cb_run_fields(run, table);
  if (status) return status;
  f->metric = cb_run_asked(run, "metric") || cb_run_asked(run, "power");
  const cb_blob blobs[] = {{"step", CB_FIELD_INT64, 1, &f->step, false},
                           {"fibre_state", CB_FIELD_DOUBLE, sizeof f->state / sizeof(double), &f->state, false}};
  return cb_run_finish_layout(run, blobs, sizeof blobs / sizeof *blobs);
}

/* --- rows --- */

static cb_status measure(cb_run *run, const char **what) {
  cb_bundle_run *f = run->own;
  const cb_bundle *b = f->path.bundle;
  const int n = b->n;
  *what = "body_velocity";
  cb_bundle_shape(&f->path, &f->state, f->r, f->rate);
  cb_status status = cb_bundle_connection(b, f->r, f->A, NULL, f->metric ? f->M : NULL, NULL);
  double S[CB_GROUP_DIM * CB_STRAINS];
  if (!status && f->strained) status = cb_bundle_strain(b, f->r, S);
  if (!status && f->path.flow) cb_bundle_carried(b, f->path.flow, f->strained ? S : NULL, f->state.g, f->carried);
  for (int k = 0; k < b->group->dim && !status; k++) {
    f->xi[k] = f->carried[k];
    for (int i = 0; i < n; i++) f->xi[k] -= f->A[k * n + i] * f->rate[i];
  }
  return status;
}

static void forget(cb_run *run) { cb_integrator_reset(cb_bundle_run_of(run)->integrator); }

static cb_status restored(cb_run *run) {
  forget(run);
  return CB_OK;
}

/* A failed step is not repeated as two halves: the halves could step over the singular shape at which it failed. */
static cb_status step(cb_run *run, cb_sink *sink, double h) {
  cb_bundle_run *f = run->own;
  (void)sink;
  const cb_status status = cb_integrator_step(f->integrator, &f->state, h);
  if (status < 0)
    return cb_fail(status, "at time %.17g, step %lld: %s", f->state.t, (long long)f->step, cb_error_text());
  if (status)
    return cb_fail(CB_ERROR_STEP,
                   "%s at time %.17g, step %lld: %s (step %g); try a gait that keeps away from this shape",
                   status == CB_STEP_SINGULAR ? "singular shape" : cb_status_name(status), f->state.t,
                   (long long)f->step, cb_error_text(), h);
  cb_compensated_add_one(&f->state.t, &f->state.t_low, h);
  f->step++;
  return CB_OK;
}

static cb_status tangent(const cb_run *run, int body, cb_tangent *out) {
  (void)run, (void)body, (void)out;
  return cb_fail(
      CB_ERROR_UNSUPPORTED,
      "a gait in a bundle has no Lyapunov exponent, because its shape is prescribed: expected particles or a body");
}

static cb_status plate(const cb_run *run, int body, cb_falling_plate *out) {
  (void)run, (void)body, (void)out;
  return cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                    "`falling_regime` needs a body or a system that falls: expected no gait in a bundle");
}

static const char *const measured[] = {"time", "step", "plot_position", "momentum", "shape", "group", NULL};
static const cb_motion motion = {.step = step,
                                 .measure = measure,
                                 .forget = forget,
                                 .restored = restored,
                                 .measured = measured,
                                 .tangent = tangent,
                                 .plate = plate};

cb_status cb_run_create_bundle(const cb_bundle_path *path, const double *start, cb_integrator *integrator,
                               const cb_run_options *options, cb_run **out) {
  cb_run *run;
  if (!(path->period > 0))
    return cb_fail(CB_ERROR_ARGUMENT, "the period of the gait: expected a positive number, found %g", path->period);
  if (cb_gait_variables(path->gait) != path->bundle->n)
    return cb_fail(CB_ERROR_ARGUMENT, "the gait has %d shape variables, but bundle %s expects %d",
                   cb_gait_variables(path->gait), path->bundle->class_->name, path->bundle->n);
  cb_status status = path->flow ? cb_bundle_check_flow(path->bundle, path->flow) : CB_OK;
  if (status) return status;
  status = cb_run_new(&motion, options, sizeof(cb_bundle_state) / sizeof(double), sizeof(cb_bundle_run), &run);
  if (status) return status;
  cb_bundle_run *f = run->own;
  f->path = *path;
  f->strained = path->flow && cb_bundle_flow_strains(path->flow);
  f->integrator = integrator;
  integrator->problem = &f->path;
  f->state.t = options->start;
  memcpy(f->state.g, start, (size_t)path->bundle->group->size * sizeof *start);
  cb_run_clock(run, &f->state.t, &f->state.t_low, &f->step, &integrator->iterations);
  status = lay_out(run);
  if (status) {
    cb_run_free(run);
    return status;
  }
  *out = run;
  return CB_OK;
}

const cb_bundle_state *cb_run_bundle(const cb_run *run) {
  return run->motion == &motion ? &cb_bundle_run_of(run)->state : NULL;
}
