/* A run of shape variables that move by themselves: its record, its state, its steps, and reflections at limits.
 *
 * A step ends at the breaks of a gait that drives variables. If a variable has passed its limit at the end or in the
 * middle of a step, the step is made again up to the time at which the gap is 0. This time is found by bisection and by
 * false position. Then rates are reflected (bundle/shape_motion.h), and the remaining time of the step follows. A
 * variable that is reflected more than MANY times in a step comes to rest at its limit.
 */
#include "bundle/gait_private.h"
#include "core/failure.h"
#include "numerics/dd.h"
#include "run/bundle_run.h"
#include "run/exponent.h"
#include "run/falling.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 40, SEARCH = 200 };

/* Data for the change of conserved quantities since the start; checkpoints contain them. */
typedef struct watch {
  double first[CB_GROUP_DIM], momentum_change; /* momentum in the world's frame at the start; its largest change */
  cb_energy_change balance;
} watch;

typedef struct shape_run {
  cb_bundle_run common; /* data of the fields that runs of gaits also have; its state holds only g */
  cb_shape_problem problem;
  cb_shape_state state;
  double spatial[CB_GROUP_DIM]; /* momentum in the world's frame */
  double kinetic, potential, energy;
  watch since_start;
  bool has_limits;
  int limit[CB_SHAPE_MAX][2]; /* the indices in /wall_name of the lower and the upper limit of each shape variable; -1:
                               * the variable has no such limit */
} shape_run;

static shape_run *of(const cb_run *run) { return run->own; }

/* --- the record --- */

static const char *const usual_with_inertia[] = {"momentum", "energy", "effort", "work", NULL},
                         *const usual_with_drag[] = {"energy", "effort", "work", NULL};

#define COMMON(group, name, unit, doc, member, ...) \
  CB_OBSERVABLE(group, name, DOUBLE, unit, doc, cb_fill_own, offsetof(shape_run, common.member), __VA_ARGS__)
#define OWN(group, name, unit, doc, member, ...) \
  CB_OBSERVABLE(group, name, DOUBLE, unit, doc, cb_fill_own, offsetof(shape_run, member), __VA_ARGS__)
static const cb_observable table[] = {
    CB_OBSERVABLE("", "time", DOUBLE, "s", "time", cb_fill_time, 0, 0, 0),
    CB_OBSERVABLE("", "step", INT64, "1", "steps so far", cb_fill_step, 0, 0, 0),
    CB_OBSERVABLE("", "plot_position", DOUBLE, "1", "points of the body in plot coordinates", cb_fill_bundle_plot, 0, 2,
                  "particle", "axis"),
    COMMON("", "shape", "1", "shape variables", r, 1, "dof"),
    COMMON("", "shape_rate", "s-1", "time derivatives of the shape variables", rate, 1, "dof"),
    COMMON("", "group", "1", "group element", state.g, 1, "number"),
    COMMON("", "body_velocity", "s-1", "xi in the body frame", xi, 1, "algebra"),
    COMMON("connection", "connection", "1", "A: xi = -A r' without momentum", A, 2, "algebra", "dof"),
    CB_OBSERVABLE("curvature", "curvature", DOUBLE, "1", "B_ij = d_i A_j - d_j A_i - [A_i, A_j]",
                  cb_fill_bundle_curvature, 0, 2, "pair", "algebra"),
    COMMON("metric", "metric", "1", "M: cost r'Mr'", M, 2, "dof", "dof_column"),
    CB_OBSERVABLE("power", "power", DOUBLE, "1", "r'Mr'", cb_fill_bundle_power, 0, 0, 0),
    OWN("momentum", "momentum", "1", "momentum of the whole in the world's frame", spatial, 1, "algebra"),
    OWN("energy", "energy", "1", "kinetic and potential energy", energy, 0, 0),
    OWN("energy", "kinetic_energy", "1", "kinetic energy; 0 with drag", kinetic, 0, 0),
    OWN("energy", "potential_energy", "1", "energy of springs and of `potential`", potential, 0, 0),
    OWN("effort", "effort", "1",
        "force that a law or gait needs on its variable; with inertia: mean of the last step, without impulses; 0 for "
        "free variables",
        state.effort, 1, "dof"),
    OWN("effort", "effort_impulse", "1",
        "with inertia: sum of the impulses on driven variables since the start: at breaks of a gait, and at limits of "
        "others",
        state.impulse, 1, "dof"),
    OWN("work", "motor_work", "1", "work of torques and of laws on each variable since the start",
        state.work[CB_SHAPE_MOTOR], 1, "dof"),
    OWN("work", "damping_work", "1", "energy lost to dampers since the start", state.work[CB_SHAPE_DAMPING], 1, "dof"),
    OWN("work", "friction_work", "1", "energy lost to dry friction since the start", state.work[CB_SHAPE_FRICTION], 1,
        "dof"),
    OWN("work", "limit_work", "1", "energy lost at limits since the start", state.work[CB_SHAPE_LIMIT], 1, "dof"),
    CB_OBSERVABLE("", "solver_iterations", INT32, "1", "Newton's iterations of the last step", cb_fill_iterations, 0, 0,
                  0),
    CB_OBSERVABLE("", "step_size", DOUBLE, "s", "size of the last step", cb_fill_step_size, 0, 0, 0),
    {0}};

/* Fills f->limit, and adds the names of the limits to the record as /wall_name. Events refer to these names by
 * index. */
static cb_status name_limits(cb_run *run) {
  shape_run *f = of(run);
  const cb_bundle *b = f->problem.bundle;
  const char **name = cb_arena_alloc(run->arena, 2 * (size_t)b->n, sizeof *name);
  int count = 0;
  for (int i = 0; name && i < b->n; i++)
    for (int high = 0; high < 2; high++) {
      const cb_shape_variable *v = &f->problem.variable[i];
      f->limit[i][high] = -1;
      if (v->driven || !isfinite(high ? v->highest : v->lowest)) continue;
      char *text = cb_arena_alloc(run->arena, strlen(b->shape[i]) + 16, 1);
      if (!text) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
      sprintf(text, "%s %s limit", b->shape[i], high ? "highest" : "lowest");
      name[f->limit[i][high] = count++] = text;
    }
  if (!name) return cb_fail(CB_ERROR_MEMORY, "no memory for names");
  f->has_limits = count > 0;
  if (!count) return CB_OK;
  cb_run_dimension(run, "wall", (size_t)count, "limit of a shape variable: value of event_wall");
  cb_run_constant(
      run,
      &(cb_constant){.name = "wall_name", .dim = "wall", .labels = name, .units = "1", .doc = "name of the limit"});
  return CB_OK;
}

static cb_status lay_out(cb_run *run) {
  shape_run *f = of(run);
  cb_status status = cb_run_choose(run, cb_bundle_observables, f->problem.drag ? usual_with_drag : usual_with_inertia);
  if (!status && cb_run_asked(run, "momentum") && f->problem.drag)
    status = cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                        "the observable `momentum` is not available with drag: leave `momentum` out");
  if (!status) status = cb_bundle_dimensions(run);
  if (!status) status = name_limits(run);
  if (!status) status = cb_run_fields(run, table);
  static const char *const at_events[] = {"shape", "shape_rate", "group", NULL};
  if (!status && f->has_limits) status = cb_run_event_fields(run, table, at_events);
  if (status) return status;
  const cb_blob blobs[] = {{"step", CB_FIELD_INT64, 1, &f->common.step, false},
                           {"shape_state", CB_FIELD_DOUBLE, sizeof f->state / sizeof(double), &f->state, false},
                           {"watch", CB_FIELD_DOUBLE, sizeof f->since_start / sizeof(double), &f->since_start, false}};
  return cb_run_finish_layout(run, blobs, sizeof blobs / sizeof *blobs);
}

/* Copies the state, with its velocities u = (xi, r'), to the data of the fields. */
static void measure_state(shape_run *f, const double *u) {
  const cb_bundle *b = f->problem.bundle;
  const int dim = b->group->dim;
  memcpy(f->common.xi, u, (size_t)dim * sizeof *u);
  memcpy(f->common.rate, u + dim, (size_t)b->n * sizeof *u);
  memcpy(f->common.r, f->state.r, (size_t)b->n * sizeof *u);
  memcpy(f->common.state.g, f->state.g, sizeof f->state.g);
}

static cb_status measure(cb_run *run, const char **what) {
  shape_run *f = of(run);
  const cb_bundle *b = f->problem.bundle;
  const cb_group *G = b->group;
  double u[CB_SHAPE_FORM], back[CB_GROUP_SIZE];
  *what = "body_velocity";
  cb_status status = cb_shape_velocity(&f->problem, &f->state, u);
  if (status) return status;
  measure_state(f, u);
  G->inverse(G, f->state.g, back);
  cb_group_adjoint_dual(G, back, f->state.mu, f->spatial);
  f->energy = cb_shape_energy(&f->problem, &f->state, u);
  f->kinetic = 0;
  for (int a = 0; a < G->dim; a++) f->kinetic += f->state.mu[a] * u[a] / 2;
  for (int i = 0; i < b->n; i++) f->kinetic += f->state.p[i] * u[G->dim + i] / 2;
  f->potential = f->energy - f->kinetic;
  if (cb_run_asked(run, "connection") || cb_run_asked(run, "metric") || cb_run_asked(run, "power"))
    status = cb_bundle_connection(b, f->state.r, f->common.A, NULL, f->common.M, NULL);
  return status;
}

/* Compares the energy and the momentum with their values at the start. The energy that is compared is the kinetic plus
 * the potential energy, minus the work of motors, plus all losses; its exact value is constant. */
static void compare(cb_run *run, bool last) {
  shape_run *f = of(run);
  double given = 0, change = 0, scale = 0;
  (void)last;
  run->change.energy = run->change.momentum = run->change.constraint = NAN;
  if (f->problem.drag) return;
  for (int i = 0; i < f->problem.bundle->n; i++)
    given += f->state.work[CB_SHAPE_MOTOR][i] - f->state.work[CB_SHAPE_DAMPING][i] -
             f->state.work[CB_SHAPE_FRICTION][i] - f->state.work[CB_SHAPE_LIMIT][i];
  if (f->common.step == 0) {
    cb_energy_begin(&f->since_start.balance, f->kinetic, f->potential - given);
    memcpy(f->since_start.first, f->spatial, sizeof f->since_start.first);
    return;
  }
  cb_energy_see(&f->since_start.balance, f->kinetic, f->potential - given);
  run->change.energy = cb_energy_ratio(&f->since_start.balance);
  if (f->problem.potential) return;
  for (int a = 0; a < f->problem.bundle->group->dim; a++) {
    change = fmax(change, fabs(f->spatial[a] - f->since_start.first[a]));
    scale = fmax(scale, fabs(f->since_start.first[a]));
  }
  f->since_start.momentum_change = fmax(f->since_start.momentum_change, change);
  if (scale > 0) run->change.momentum = cb_change_by(f->since_start.momentum_change, scale);
}

/* --- quantities for the laws of controls: variables, NAME_rate, and numbers of the group element, group.NAME --- */

enum { VARIABLE, RATE, NUMBER };

static bool is_text(const char *prefix, const char *name, const char *ending, const char *text, size_t length) {
  const size_t p = strlen(prefix), n = strlen(name), e = strlen(ending);
  return length == p + n + e && !strncmp(text, prefix, p) && !strncmp(text + p, name, n) &&
         !strncmp(text + p + n, ending, e);
}

static bool find_quantity(const cb_run *run, const char *text, size_t length, cb_quantity *out) {
  const cb_bundle *b = of(run)->problem.bundle;
  for (int i = 0; i < b->n; i++)
    for (int rate = 0; rate < 2; rate++) {
      *out = (cb_quantity){rate ? RATE : VARIABLE, i, 0};
      if (is_text("", b->shape[i], rate ? "_rate" : "", text, length)) return true;
    }
  for (int k = 0; k < b->group->size; k++) {
    *out = (cb_quantity){NUMBER, k, 0};
    if (is_text("group.", b->group->number[k], "", text, length)) return true;
  }
  return false;
}

static double quantity(const cb_run *run, const cb_quantity *q) {
  const shape_run *f = of(run);
  return (q->kind == NUMBER ? f->state.g : q->kind == RATE ? f->common.rate : f->state.r)[q->subject];
}

static void forget(cb_run *run) { cb_integrator_reset(of(run)->common.integrator); }

static cb_status restored(cb_run *run) {
  forget(run);
  return CB_OK;
}

/* --- steps --- */

/* Returns the distance of a variable beyond its limit, in units of the tolerance of the gap. It is negative if the
 * variable is within its limits. */
static double passed(const shape_run *f, const cb_shape_state *s, int i) {
  int side;
  if (f->problem.variable[i].driven) return -INFINITY;
  return -cb_shape_gap(&f->problem.variable[i], s->r[i], &side) / cb_shape_touch(s->r[i]);
}

/* Returns the maximum of `passed` over all variables. A variable that is at its limit, up to the tolerance, in both
 * states `before` and s does not count, because it may rest there or be about to leave. */
static double beyond(const shape_run *f, const cb_shape_state *before, const cb_shape_state *s) {
  double most = -INFINITY;
  for (int i = 0; i < f->problem.bundle->n; i++) {
    const double by = passed(f, s, i);
    if (by > 1 || !(fabs(by) <= 1 && fabs(passed(f, before, i)) <= 1)) most = fmax(most, by);
  }
  return most;
}

static cb_status advance(shape_run *f, const cb_shape_state *from, double h, cb_shape_state *to) {
  cb_shape_copy(&f->problem, from, to);
  cb_integrator_reset(f->common.integrator); /* repeated steps must not depend on each other */
  return cb_integrator_step(f->common.integrator, to, h);
}

/* Finds the first time *at in (0, h) at which the rate of a variable is 0 beyond a limit; h if there is none. The path
 * of the variable is approximated by the parabola that has the given start, and the given rates at both ends. */
static cb_status find_turn(shape_run *f, const cb_shape_state *from, double h, cb_shape_state *to, double *at) {
  const int n = f->problem.bundle->n, dim = f->problem.bundle->group->dim;
  double u[CB_SHAPE_FORM], w[CB_SHAPE_FORM];
  cb_shape_state first = *from;
  cb_status status = cb_shape_velocity(&f->problem, &first, u);
  if (!status) status = cb_shape_velocity(&f->problem, to, w);
  *at = h;
  for (int i = 0; i < n && !status; i++) {
    const cb_shape_variable *v = &f->problem.variable[i];
    const double v0 = u[dim + i], v1 = w[dim + i];
    if (v->driven || !(v0 * v1 < 0)) continue;
    const double x = v0 / (v0 - v1), far = from->r[i] + h * x * v0 / 2; /* vertex of the parabola: far at x h */
    if (far < v->lowest || far > v->highest) *at = fmin(*at, x * h);
  }
  return status;
}

/* Makes a step of length h, or up to the first time at which a limit is met. *h becomes its length. */
static cb_status step_to_limit(shape_run *f, double *h, bool *met) {
  cb_shape_state from, to, early; /* early: the state at `low` */
  cb_shape_copy(&f->problem, &f->state, &from);
  cb_shape_copy(&f->problem, &from, &to);
  cb_shape_copy(&f->problem, &from, &early);
  cb_status status = cb_integrator_step(f->common.integrator, &to, *h);
  if (status) return status;
  double end = *h, late = beyond(f, &from, &to);
  if (late <= 1) {
    double turn;
    cb_shape_state middle;
    status = find_turn(f, &from, *h, &to, &turn);
    if (!status && turn < *h) {
      status = advance(f, &from, turn, &middle);
      const double there = status ? 0 : beyond(f, &from, &middle);
      if (there > 1) {
        end = turn;
        late = there;
        to = middle;
      }
    }
    if (status) return status;
    if (late <= 1) {
      cb_shape_copy(&f->problem, &to, &f->state);
      *met = late >= -1;
      return CB_OK;
    }
  }
  /* `beyond` is above 1 at the time `end`; find a time at which it is between -1 and 1 */
  double low = 0, before = beyond(f, &from, &from);
  for (int i = 0; i < SEARCH; i++) {
    double at = i % 3 == 2 || !(before < 0) ? (low + end) / 2 : low + (end - low) * before / (before - late);
    if (!(at > low && at < end)) at = (low + end) / 2;
    if (!(at > low && at < end)) break;
    status = advance(f, &from, at, &to);
    if (status) return status;
    const double by = beyond(f, &early, &to);
    if (fabs(by) <= 1) {
      *h = at;
      *met = true;
      cb_shape_copy(&f->problem, &to, &f->state);
      return CB_OK;
    }
    if (by > 0) {
      end = at;
      late = by;
    } else {
      low = at;
      before = by;
      early = to;
    }
  }
  *h = low; /* low and end differ only by round-off */
  *met = true;
  cb_shape_copy(&f->problem, &early, &f->state);
  return CB_OK;
}

/* Makes a step; if there are limits, it ends at the first limit that is met. */
static cb_status once(shape_run *f, double *h, bool *met) {
  cb_shape_state from;
  const bool composed = f->common.integrator->substeps > 1; /* otherwise a step that fails leaves the state as it was */
  *met = false;
  if (f->has_limits) return step_to_limit(f, h, met);
  if (composed) cb_shape_copy(&f->problem, &f->state, &from);
  const cb_status status = cb_integrator_step(f->common.integrator, &f->state, *h);
  if (status && composed) cb_shape_copy(&f->problem, &from, &f->state);
  return status;
}

/* Reverses the velocities of the free variables that have reached a limit, and reports an event for each of them. */
static cb_status reflect(cb_run *run, cb_sink *sink, bool elastic) {
  shape_run *f = of(run);
  const int n = f->problem.bundle->n, dim = f->problem.bundle->group->dim;
  bool at_limit[CB_SHAPE_MAX];
  int side[CB_SHAPE_MAX];
  double impulse[CB_SHAPE_MAX] = {0}, u[CB_SHAPE_FORM], w[CB_SHAPE_FORM];
  for (int i = 0; i < n; i++) {
    const double gap =
        f->problem.variable[i].driven ? INFINITY : cb_shape_gap(&f->problem.variable[i], f->state.r[i], &side[i]);
    at_limit[i] = gap <= cb_shape_touch(f->state.r[i]);
  }
  cb_status status = cb_shape_velocity(&f->problem, &f->state, u);
  if (!status) status = cb_shape_reflect(&f->problem, at_limit, elastic, run->options.step, &f->state, impulse);
  if (!status) status = cb_shape_velocity(&f->problem, &f->state, w);
  cb_integrator_reset(f->common.integrator);
  if (!status) measure_state(f, w);
  for (int i = 0; i < n && !status && sink->event; i++) {
    if (impulse[i] == 0) continue;
    int which;
    const double gap = cb_shape_gap(&f->problem.variable[i], f->state.r[i], &which);
    const cb_event_row row = {.time = f->state.t,
                              .kind = CB_EVENT_REFLECT,
                              .particle = i,
                              .other = -1,
                              .wall = f->limit[i][which > 0],
                              .gap = gap,
                              .speed_before = -which * u[dim + i],
                              .speed_after = -which * w[dim + i],
                              .impulse = -which * impulse[i]};
    status = cb_run_event(run, sink, &row, true);
  }
  return status;
}

static cb_status step(cb_run *run, cb_sink *sink, double h) {
  shape_run *f = of(run);
  const double t = f->state.t, low = f->state.t_low;
  double done = 0;
  cb_status status = CB_OK;
  for (int hits = 0; done < h && !status;) {
    double part = cb_shape_to_break(&f->problem, f->state.t, h - done);
    bool met;
    if (h - done < 1e-13 * h) break;
    status = once(f, &part, &met);
    done += part;
    if (!status && met) status = reflect(run, sink, ++hits <= MANY);
    if (hits > 2 * MANY)
      status = cb_fail(CB_STEP_NO_CONVERGENCE, "limits were met %d times in a step: expected a smaller step", hits);
  }
  if (status < 0)
    return cb_fail(status, "at time %.17g, step %lld: %s", f->state.t, (long long)f->common.step, cb_error_text());
  if (status)
    return cb_fail(CB_ERROR_STEP, "%s at time %.17g, step %lld: %s (step %g); try a smaller step",
                   status == CB_STEP_SINGULAR ? "singular shape" : cb_status_name(status), f->state.t,
                   (long long)f->common.step, cb_error_text(), h);
  f->state.t = t;
  f->state.t_low = low;
  cb_compensated_add_one(&f->state.t, &f->state.t_low, h);
  f->common.step++;
  return CB_OK;
}

static cb_status tangent(const cb_run *run, int body, cb_tangent *out) {
  (void)run;
  (void)body;
  (void)out;
  return cb_fail(
      CB_ERROR_UNSUPPORTED,
      "the Lyapunov exponent of variables of `shape` is not computed: expected particles, a body or a system");
}

static cb_status plate(const cb_run *run, int body, cb_falling_plate *out) {
  (void)run;
  (void)body;
  (void)out;
  return cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                    "`falling_regime` needs a body or a system that falls: expected no bundle");
}

static const char *const measured[] = {"time", "step", "plot_position", "momentum", "shape", "group", NULL};
static const cb_motion motion = {.step = step,
                                 .measure = measure,
                                 .compare = compare,
                                 .forget = forget,
                                 .restored = restored,
                                 .measured = measured,
                                 .tangent = tangent,
                                 .plate = plate,
                                 .find_quantity = find_quantity,
                                 .quantity = quantity,
                                 .quantities = "shape variables, their rates NAME_rate, and group.NAME"};

cb_status cb_run_create_shape(const cb_shape_problem *problem, const cb_shape_state *start, cb_integrator *integrator,
                              const cb_run_options *options, cb_run **out) {
  cb_run *run;
  cb_status status = cb_run_new(&motion, options, sizeof(cb_shape_state) / sizeof(double), sizeof(shape_run), &run);
  if (status) return status;
  shape_run *f = of(run);
  f->problem = *problem;
  f->state = *start;
  f->state.t = options->start;
  f->common.path.bundle = problem->bundle;
  f->common.integrator = integrator;
  integrator->problem = &f->problem;
  run->integrator = integrator;
  cb_run_clock(run, &f->state.t, &f->state.t_low, &f->common.step, &integrator->iterations);
  status = lay_out(run);
  if (status) {
    cb_run_free(run);
    return status;
  }
  *out = run;
  return CB_OK;
}
