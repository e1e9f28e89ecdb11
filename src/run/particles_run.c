/* A run of particles in a space: its start on the constraints, its steps with retries, and its rows. */
#include "dynamics/system_facts.h"
#include "run/particles_run.h"
#include "dynamics/gram.h"
#include <curvebody/contact.h>

#include <math.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the start: positions and velocities are projected onto the constraints, or rejected --- */

/* The largest residual of a constraint at the start that is not an error without `project`: users type positions and
 * velocities with nine digits. */
static const double typed = 1e-9;

static cb_status velocities(const cb_run *run, const double *x, const double *p, double *v) {
  const cb_space *g = cb_system_space(run->particles->system);
  const double *mass = cb_system_masses(run->particles->system);
  for (int i = 0; i < run->particles->state->n; i++) {
    const cb_status status = cb_space_raise(g, x + (size_t)i * g->k, p + (size_t)i * g->k, v + (size_t)i * g->k);
    if (status) return status;
    for (int a = 0; a < g->k; a++) v[(size_t)i * g->k + a] /= mass[i];
  }
  return CB_OK;
}

static cb_status momenta(const cb_run *run, const double *x, const double *v, double *p) {
  const cb_space *g = cb_system_space(run->particles->system);
  const double *mass = cb_system_masses(run->particles->system);
  double metric[CB_Q_MAX * CB_Q_MAX];
  for (int i = 0; i < run->particles->state->n; i++) {
    const size_t at = (size_t)i * g->k;
    if (g->chart) {
      const cb_status status = g->chart->metric(g, x + at, metric, NULL, NULL);
      if (status) return status;
    }
    for (int a = 0; a < g->k; a++) {
      double sum = g->chart ? 0 : v[at + a];
      for (int b = 0; g->chart && b < g->k; b++) sum += metric[a * g->k + b] * v[at + b];
      p[at + a] = mass[i] * sum;
    }
  }
  return CB_OK;
}

/* Finds the row of the constraint with the largest residual, and this residual in *off. */
static cb_status largest_violation(const cb_run *run, cb_constraints *c, const double *v, double *rows, double *off,
                                   int *row) {
  const cb_rows *r = cb_constraints_rows(c);
  cb_status status = cb_constraints_eval(c, run->options.start, run->particles->state->x, rows, NULL);
  *off = 0;
  *row = 0;
  for (int pass = 0; pass < 2 && !status; pass++) {
    for (int i = 0; i < r->rows; i++)
      if (fabs(rows[i]) > *off) {
        *off = fabs(rows[i]);
        *row = i;
      }
    if (!pass) status = cb_constraints_rate(c, run->options.start, run->particles->state->x, v, rows, NULL);
  }
  return status;
}

static cb_status project_start(cb_run *run) {
  cb_constraints *c = cb_forces_constraints(run->particles->integrator->forces);
  if (!c) return CB_OK;
  const cb_run_options *o = &run->options;
  const size_t count = (size_t)run->particles->state->n * (size_t)run->particles->state->k;
  double *v = cb_arena_alloc(run->arena, count, sizeof *v), *x = run->particles->spare->x;
  double *rows = cb_arena_alloc(run->arena, (size_t)cb_constraints_rows(c)->rows, sizeof *rows);
  if (!v || !rows) return cb_fail(CB_ERROR_MEMORY, "no memory for the constraints of the start");
  cb_gram *gram;
  cb_status status = velocities(run, run->particles->state->x, run->particles->state->p, v);
  if (!status) status = cb_gram_create(run->particles->integrator->forces, c, &gram);
  if (status) return status;
  double off;
  int row;
  status = largest_violation(run, c, v, rows, &off, &row);
  const double tolerance = o->start_tolerance > 0 ? o->start_tolerance : typed;
  if (!status && !o->project && off > tolerance)
    status = cb_fail(CB_ERROR_DOMAIN,
                     "the start violates constraint `%s` by %.3g: expected at most %.3g, or `start: {project: "
                     "auto}`",
                     cb_system_constraint_name(run->particles->system, row), off, tolerance);
  if (!status) {
    memcpy(x, run->particles->state->x, count * sizeof *x);
    status =
        cb_gram_project(gram, o->start, x, v, 0, &run->particles->start_moved, &run->particles->start_turned, NULL);
  }
  if (!status) status = momenta(run, x, v, run->particles->state->p);
  if (!status) {
    /* a correction below the round-off of the given numbers would only lose their low-order parts */
    if (run->particles->start_moved > 1e-15) {
      memcpy(run->particles->state->x, x, count * sizeof *x);
      memset(run->particles->state->x_low, 0, count * sizeof *x);
    }
    memset(run->particles->state->p_low, 0, count * sizeof *x);
  }
  cb_gram_free(gram);
  if (status > 0)
    return cb_fail(CB_ERROR_DOMAIN, "the start cannot be projected onto the constraints: %s", cb_error_text());
  return status;
}

/* --- one step with retries ---
 *
 * A step that fails is made again as two halves, each of which may be halved again, up to `retries` times. The record
 * receives a row for each halved step, because it breaks the constant step size on which symplecticity depends.
 */

/* The particle, in the user's order, at which the last step failed; -1: not known. */
static int failed_particle(const cb_run *run) {
  return run->particles->integrator->failed_particle < 0
             ? -1
             : cb_system_particle(run->particles->system, run->particles->integrator->failed_particle);
}

/* Warns of a `stop` event that is 0 at the start of the run: a user who starts there wants the next zero. */
static cb_status warn_of_start(cb_run *run, cb_sink *sink, const char *event) {
  static const char format[] = "the event `%s` is zero at the start of the run: it stops the run at its next zero";
  const cb_event_row row = {.time = run->options.start, .kind = CB_EVENT_WARN, .particle = -1, .other = -1, .wall = -1};
  const size_t size = sizeof format + strlen(event);
  char *text = malloc(size);
  if (!text) return cb_fail(CB_ERROR_MEMORY, "no memory for a warning");
  snprintf(text, size, format, event);
  const cb_status status = cb_run_warn(run, row.time, text);
  return status || !sink->event ? status : sink->event(sink->self, &row);
}

static cb_status with_contacts(cb_run *run, cb_sink *sink, double h) {
  cb_contacts_stop stop;
  const cb_status status = cb_contacts_step(run->particles->contacts, run->particles->state, h, sink, &stop);
  if (!status) run->stopped = stop.by;
  return status || !stop.at_start ? status : warn_of_start(run, sink, stop.at_start);
}

/* Makes one step without contacts. If a point has passed the antipode of another, the step fails and is undone. The
 * step may also fail by itself for that reason. */
static cb_status without_contacts(cb_run *run, double h) {
  cb_particles *p = run->particles;
  if (p->before) cb_state_copy(p->before, p->state);
  cb_status status = cb_integrator_step(p->integrator, p->state, h);
  if (!p->before) return status;
  if (status) return cb_antipodes_explain(p->system, p->state, h, status, &p->integrator->failed_particle);
  status = cb_antipodes_check(p->system, p->state, h, &p->integrator->failed_particle);
  if (status) cb_state_copy(p->state, p->before);
  return status;
}

static cb_status halves(cb_run *run, cb_sink *sink, double h, int depth) {
  cb_status status = run->particles->contacts ? with_contacts(run, sink, h) : without_contacts(run, h);
  if (status <= 0 || depth == run->options.retries) return status;
  if (depth == 0)
    cb_state_copy(run->particles->spare, run->particles->state); /* a failed step has not changed the state */
  const cb_event_row event = {.time = run->particles->state->t,
                              .kind = CB_EVENT_RETRY,
                              .particle = failed_particle(run),
                              .other = -1,
                              .wall = -1,
                              .gap = h};
  if (sink->event && (status = sink->event(sink->self, &event))) return status;
  for (int half = 0; half < 2; half++) {
    cb_integrator_reset(run->particles->integrator);
    if ((status = halves(run, sink, h / 2, depth + 1))) return status;
    if (run->stopped) break;
  }
  cb_integrator_reset(run->particles->integrator);
  return CB_OK;
}

/* If the integrator does not know which particle failed, it is probably the one with the largest acceleration; -1: the
 * forces cannot be computed. The state is the one before the step, and the spare state is free. */
static int with_largest_acceleration(cb_run *run) {
  const cb_state *s = run->particles->state;
  const double *mass = cb_system_masses(run->particles->system);
  double *velocity = run->particles->spare->x, *force = run->particles->spare->p, maximum = -1;
  int found = -1;
  for (int a = 0; a < s->n; a++)
    for (int e = 0; e < s->k; e++) velocity[a * s->k + e] = s->p[a * s->k + e] / mass[a];
  if (cb_forces_eval(run->particles->integrator->forces, s->t, s->x, velocity, force)) return -1;
  for (int a = 0; a < s->n; a++) {
    double square = 0;
    for (int e = 0; e < s->k; e++) square += force[a * s->k + e] * force[a * s->k + e];
    const double acceleration = isnan(square) ? INFINITY : sqrt(square) / mass[a];
    if (acceleration <= maximum) continue;
    maximum = acceleration;
    found = cb_system_particle(run->particles->system, a);
  }
  return found;
}

/* From this width on, in radii, the round-off of a component may prevent an iteration from converging. */
static const double wide = 3.5;

/* Whether halved steps also leave the only chart of the space: then the coordinates end there, as at a horizon. */
static bool at_border(const cb_run *run, cb_status status) {
  const cb_space *space = cb_system_space(run->particles->system);
  return status == CB_STEP_DOMAIN && space && space->intrinsic && run->options.retries > 0;
}

static cb_status advance(cb_run *run, cb_sink *sink, double h) {
  const double time = run->particles->state->t;
  const cb_status status = halves(run, sink, h, 0);
  if (status == CB_OK) {
    run->step_size = h;
    run->particles->state->step++;
    return CB_OK;
  }
  if (run->options.retries > 0 && status > 0) cb_state_copy(run->particles->state, run->particles->spare);
  cb_integrator_reset(run->particles->integrator);
  if (status < 0) return status;

  char cause[1024];
  strncpy(cause, cb_error_text(), sizeof cause - 1);
  cause[sizeof cause - 1] = 0;
  const bool known = failed_particle(run) >= 0;
  const int particle = known ? failed_particle(run) : with_largest_acceleration(run);
  char where[256] = "";
  if (particle >= 0) {
    snprintf(where, sizeof where, ", %sbody `%s`, particle `%s`", known ? "" : "most accelerated: ",
             cb_system_body_name(run->particles->system, cb_system_body(run->particles->system, particle)),
             cb_system_particle_name(run->particles->system, particle));
  }
  char advice[160] = "try a smaller integrator.step";
  int furthest;
  const double width = acosh(cb_particles_width(run, &furthest));
  if (status == CB_STEP_NO_CONVERGENCE && width > wide)
    snprintf(
        advice, sizeof advice,
        "its particles are up to %.3g radii from their centre, where round-off may prevent `radau_iia` and `ida` from "
        "converging: try lobatto, gauss or rk4",
        width);
  if (at_border(run, status))
    snprintf(advice, sizeof advice,
             "the path reaches the border of the chart, and a smaller step does not help: try another chart");
  return cb_fail(CB_ERROR_STEP, "%s at time %.17g, step %lld%s: %s (step %g, halved %d times); %s",
                 cb_status_name(status), time, (long long)run->particles->state->step, where, cause, h,
                 run->options.retries, advice);
}

/* --- the run --- */

/* Adds the present state to the motion of the falling plate, if `falling_regime` is recorded. */
static void follow(const cb_run *run) {
  const cb_particles *p = run->particles;
  if (p->falling) cb_falling_plate_add(&p->plate, p->state->t, p->state->x, p->falling);
}

/* Warns once of contacts of bodies whose relative position is lost in round-off. */
static cb_status warn_of_contacts(cb_run *run) {
  cb_particles *p = run->particles;
  const cb_contacts_doubt doubt = p->contacts ? cb_contacts_doubts(p->contacts) : (cb_contacts_doubt){0};
  if (doubt.size == 0 || p->watch.doubted) return CB_OK;
  p->watch.doubted = 1;
  return cb_run_warnf(
      run, doubt.time,
      "contacts: `%.80s` and `%.80s` come near each other so far out that coordinates give their relative position "
      "only to %.1g, which is the error of their contact; bodies that are placed there by one `move` have no such "
      "error",
      cb_system_particle_name(p->system, cb_system_particle(p->system, doubt.i)),
      cb_system_particle_name(p->system, cb_system_particle(p->system, doubt.j)), doubt.size);
}

/* Warns of the wall whose position has the largest round-off, if that is above 1e-9: its world coordinates are
 * far out. */
static cb_status warn_of_walls(cb_run *run) {
  const cb_system *s = run->particles->system;
  int worst = -1;
  double maximum = 1e-9;
  for (int w = 0; w < cb_system_walls(s); w++)
    if (cb_system_wall_doubt(s, w) > maximum) maximum = cb_system_wall_doubt(s, worst = w);
  return worst < 0
             ? CB_OK
             : cb_run_warnf(run, *run->t,
                            "the wall `%.80s` is so far out that coordinates give its position only to %.1g, which is "
                            "the error of contacts with it",
                            cb_system_wall_name(s, worst), maximum);
}

static cb_status begin(cb_run *run) {
  cb_status status = cb_particles_recentre(run);
  if (!status) status = warn_of_walls(run);
  if (!status) status = warn_of_contacts(run);
  cb_particles_stand(run);
  follow(run);
  return status;
}

static cb_status step(cb_run *run, cb_sink *sink, double h) {
  cb_status status = advance(run, sink, h);
  if (!status) follow(run);
  if (!status) status = warn_of_contacts(run);
  if (!status) status = cb_particles_recentre(run);
  return status ? status : cb_particles_check_dropped(run);
}

/* Measures the momenta, and warns once of momenta that have no correct digits in this row. */
static cb_status measure_momenta(cb_run *run) {
  cb_particles *p = run->particles;
  const cb_space *g = p->measure.space;
  double *momentum = p->measure.momentum;
  int lost = -1, furthest = 0;
  if (!p->measures_momenta) return CB_OK;
  const cb_status status = cb_state_killing_momentum(p->system, p->state, momentum);
  for (int i = g->n_killing - 1; i >= 0 && !p->watch.lost_momenta; i--)
    if (isnan(momentum[i])) lost = i;
  if (status || lost < 0) return status;
  p->watch.lost_momenta = 1;
  for (int c = 1; c < p->state->n_components; c++)
    if (p->state->origin[c].length > p->state->origin[furthest].length) furthest = c;
  const int place = cb_system_component_starts(p->system)[furthest];
  return cb_run_warnf(
      run, *run->t,
      "killing_momentum: `%.80s` is %.6g from the base point, too far to compute the momentum of %s about "
      "the world's axes to 1e-6, so it is recorded as nan. The motion itself keeps its digits",
      cb_system_particle_name(p->system, cb_system_particle(p->system, place)), p->state->origin[furthest].length,
      g->killing[lost].name);
}

/* Measures the mean, and warns once of rows without a mean. */
static cb_status measure_mean(cb_run *run) {
  cb_particles *p = run->particles;
  const cb_status status = p->measures_mean ? cb_measure_mean(&p->measure) : CB_OK;
  if (status != CB_ERROR_DOMAIN || p->watch.lost_mean) return status == CB_ERROR_DOMAIN ? CB_OK : status;
  p->watch.lost_mean = 1;
  return cb_run_warnf(run, *run->t, "karcher_mean: %.400s; it is nan", cb_error_text());
}

static cb_status measure(cb_run *run, const char **what) {
  cb_particles *p = run->particles;
  *what = "killing_momentum";
  cb_status status = measure_momenta(run);
  if (status) return status;
  *what = "karcher_mean";
  if ((status = measure_mean(run))) return status;
  *what = "energy";
  if (p->measures_energy && (status = cb_measure_energy(&p->measure))) return status;
  *what = "dropped_residual";
  if ((status = cb_particles_look_at_dropped(p))) return status;
  *what = "multiplier";
  return p->measures_constraints ? cb_measure_rows(&p->measure) : CB_OK;
}

static void forget(cb_run *run) { cb_integrator_reset(run->particles->integrator); }

static cb_status restored(cb_run *run) {
  forget(run);
  if (run->particles->contacts) cb_contacts_restored(run->particles->contacts);
  cb_particles_stand(run);
  return cb_forces_set_origins(run->particles->integrator->forces, run->particles->state->origin);
}

static void free_(cb_run *run) {
  cb_particles *p = run->particles;
  if (!p) return;
  cb_state_free(p->state);
  cb_state_free(p->spare);
  cb_state_free(p->before);
  cb_contacts_free(p->contacts);
  cb_particles_free_dropped(p);
  cb_measure_rows_free(&p->measure);
}

static void restore_row(cb_run *run, const cb_row_state *row) {
  const cb_particles *p = run->particles;
  const size_t k = (size_t)p->state->k, n = (size_t)p->state->n;
  for (size_t i = 0; i < n; i++) {
    const size_t at = k * (size_t)cb_system_index(p->system, (int)i);
    memcpy(p->state->x + at, row->position + k * i, k * sizeof(double));
    memcpy(p->state->p + at, row->momentum + k * i, k * sizeof(double));
  }
  memset(p->state->x_low, 0, n * k * sizeof(double));
  memset(p->state->p_low, 0, n * k * sizeof(double));
  memcpy(p->state->origin, row->origin, (size_t)p->state->n_components * sizeof *p->state->origin);
}

static const cb_run_class class = {begin, step, measure, cb_particles_compare, forget, restored, free_, restore_row};

static cb_status start(cb_run *run) {
  cb_particles *p = run->particles;
  const cb_system *system = p->system;
  const size_t n = (size_t)cb_system_particles(system);
  const cb_space *g = cb_system_space(system);
  p->measure = (cb_measure){.system = system, .space = g, .integrator = p->integrator, .chart = run->options.chart};
  p->measure.points = cb_arena_alloc(run->arena, n * (size_t)(g->embedding < 3 ? 3 : g->embedding), sizeof(double));
  p->measure.places = cb_arena_alloc(run->arena, n, sizeof(cb_origin));
  cb_status status = p->measure.points && p->measure.places
                         ? CB_OK
                         : cb_fail(CB_ERROR_MEMORY, "no memory for a run of %zu particles", n);
  if (!status) status = cb_state_create(system, &p->state);
  if (!status) status = cb_state_create(system, &p->spare);
  if (!status && cb_antipodes_matter(system)) status = cb_state_create(system, &p->before);
  if (!status) status = cb_system_start(system, p->state);
  if (!status) status = cb_forces_set_origins(p->integrator->forces, p->state->origin);
  if (!status) status = project_start(run);
  if (!status) status = cb_particles_check_spread(run);
  if (!status && cb_system_contacts(system)) status = cb_contacts_create(system, p->integrator, &p->contacts);
  p->nearest = cb_arena_alloc(run->arena, (size_t)cb_system_components(system), sizeof *p->nearest);
  if (!status && !p->nearest) status = cb_fail(CB_ERROR_MEMORY, "no memory for a run of %zu particles", n);
  if (status) return status;
  p->state->t = run->options.start;
  if ((status = cb_particles_watch_dropped(run))) return status;
  p->measure.state = p->state;
  run->t = &p->state->t;
  run->t_low = &p->state->t_low;
  run->step = &p->state->step;
  run->iterations = &p->integrator->iterations;
  return p->contacts ? cb_contacts_check_start(p->contacts, p->state) : CB_OK;
}

cb_status cb_run_create(const cb_system *system, cb_integrator *integrator, const cb_run_options *options,
                        cb_run **out) {
  cb_run *run;
  const size_t numbers = (size_t)cb_system_particles(system) * (size_t)cb_system_space(system)->k;
  cb_status status = cb_run_new(&class, options, numbers, &run);
  if (status) return status;
  run->particles = cb_arena_alloc(run->arena, 1, sizeof *run->particles);
  if (!run->particles) {
    cb_run_free(run);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a run");
  }
  run->particles->system = system;
  run->particles->integrator = integrator;
  status = start(run);
  if (!status) status = cb_particles_layout(run);
  if (!status) status = cb_particles_remember(run);
  if (status) {
    cb_run_free(run);
    return status;
  }
  *out = run;
  return CB_OK;
}

const cb_state *cb_run_current(const cb_run *run) { return run->class == &class ? run->particles->state : NULL; }
double cb_run_start_position_change(const cb_run *run) {
  return run->class == &class ? run->particles->start_moved : 0;
}
double cb_run_start_velocity_change(const cb_run *run) {
  return run->class == &class ? run->particles->start_turned : 0;
}
