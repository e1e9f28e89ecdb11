/* A run of particles in a space: its start on the constraints, its steps with retries, and its rows. */
#include "dynamics/system_facts.h"
#include "run/particles_run.h"
#include "run/exponent.h"
#include "integrators/lanes.h"
#include "dynamics/gram.h"
#include <curvebody/contact.h>

#include <math.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the start: positions and velocities are projected onto the constraints, or rejected --- */

/* Without projection, a start may violate a constraint by this much: users type positions and velocities with about
 * nine digits. */
static const double typed = 1e-9;

static cb_status velocities(const cb_run *run, const double *x, const double *p, double *v) {
  const cb_space *g = cb_system_space(cb_particles_of(run)->system);
  const double *mass = cb_system_masses(cb_particles_of(run)->system);
  for (int i = 0; i < cb_particles_of(run)->state->n; i++) {
    const cb_status status = cb_space_raise(g, x + (size_t)i * g->k, p + (size_t)i * g->k, v + (size_t)i * g->k);
    if (status) return status;
    for (int a = 0; a < g->k; a++) v[(size_t)i * g->k + a] /= mass[i];
  }
  return CB_OK;
}

static cb_status momenta(const cb_run *run, const double *x, const double *v, double *p) {
  const cb_space *g = cb_system_space(cb_particles_of(run)->system);
  const double *mass = cb_system_masses(cb_particles_of(run)->system);
  double metric[CB_Q_MAX * CB_Q_MAX];
  for (int i = 0; i < cb_particles_of(run)->state->n; i++) {
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

/* Finds the largest violation of the constraints at the start, for the velocities v: *off becomes the largest absolute
 * value of a residual or of the rate of a residual, and *row the number of this constraint's row. */
static cb_status largest_violation(const cb_run *run, cb_constraints *c, const double *v, double *rows, double *off,
                                   int *row) {
  const cb_rows *r = cb_constraints_rows(c);
  cb_status status = cb_constraints_eval(c, run->options.start, cb_particles_of(run)->state->x, rows, NULL);
  *off = 0;
  *row = 0;
  for (int pass = 0; pass < 2 && !status; pass++) {
    for (int i = 0; i < r->rows; i++)
      if (fabs(rows[i]) > *off) {
        *off = fabs(rows[i]);
        *row = i;
      }
    if (!pass) status = cb_constraints_rate(c, run->options.start, cb_particles_of(run)->state->x, v, rows, NULL);
  }
  return status;
}

static cb_status project_start(cb_run *run) {
  cb_constraints *c = cb_forces_constraints(cb_particles_of(run)->integrator->forces);
  if (!c) return CB_OK;
  const cb_run_options *o = &run->options;
  const size_t count = (size_t)cb_particles_of(run)->state->n * (size_t)cb_particles_of(run)->state->k;
  double *v = cb_arena_alloc(run->arena, count, sizeof *v), *x = cb_particles_of(run)->spare->x;
  double *rows = cb_arena_alloc(run->arena, (size_t)cb_constraints_rows(c)->rows, sizeof *rows);
  if (!v || !rows) return cb_fail(CB_ERROR_MEMORY, "no memory for the constraints of the start");
  cb_gram *gram;
  cb_status status = velocities(run, cb_particles_of(run)->state->x, cb_particles_of(run)->state->p, v);
  if (!status) status = cb_gram_create(cb_particles_of(run)->integrator->forces, c, &gram);
  if (status) return status;
  double off;
  int row;
  status = largest_violation(run, c, v, rows, &off, &row);
  const double tolerance = o->start_tolerance > 0 ? o->start_tolerance : typed;
  if (!status && !o->project && off > tolerance)
    status = cb_fail(CB_ERROR_DOMAIN,
                     "the start violates constraint `%s` by %.3g: expected at most %.3g, or `start: {project: "
                     "auto}`",
                     cb_system_constraint_name(cb_particles_of(run)->system, row), off, tolerance);
  if (!status) {
    memcpy(x, cb_particles_of(run)->state->x, count * sizeof *x);
    status = cb_gram_project(gram, o->start, x, v, 0, &cb_particles_of(run)->start_moved,
                             &cb_particles_of(run)->start_turned, NULL);
  }
  if (!status) status = momenta(run, x, v, cb_particles_of(run)->state->p);
  if (!status) {
    /* a smaller correction is round-off: it would only delete the low-order parts of the positions */
    if (cb_particles_of(run)->start_moved > 1e-15) {
      memcpy(cb_particles_of(run)->state->x, x, count * sizeof *x);
      memset(cb_particles_of(run)->state->x_low, 0, count * sizeof *x);
    }
    memset(cb_particles_of(run)->state->p_low, 0, count * sizeof *x);
  }
  cb_gram_free(gram);
  if (status > 0)
    return cb_fail(CB_ERROR_DOMAIN, "the start cannot be projected onto the constraints: %s", cb_error_text());
  return status;
}

/* --- one step with retries ---
 *
 * A step that fails is made again as two halves, each of which may be halved again, up to `retries` times. The record
 * receives a row of /event for each halved step, because an integrator is symplectic only with a constant step size.
 */

/* Returns the particle, in the user's order, at which the last step failed; -1 if it is not known. */
static int failed_particle(const cb_run *run) {
  return cb_particles_of(run)->integrator->failed_particle < 0
             ? -1
             : cb_system_particle(cb_particles_of(run)->system, cb_particles_of(run)->integrator->failed_particle);
}

/* Warns of a `stop` event whose function is 0 at the start of the run. This zero does not stop the run, because a user
 * who starts there wants the next zero. The function is called after the first step, and its row of /event is written
 * without a state. */
static cb_status warn_of_start(cb_run *run, cb_sink *sink, const char *event) {
  static const char format[] = "the event `%s` is zero at the start of the run: it stops the run at its next zero";
  const cb_event_row row = {.time = run->options.start, .kind = CB_EVENT_WARN, .particle = -1, .other = -1, .wall = -1};
  const size_t size = sizeof format + strlen(event);
  char *text = malloc(size);
  if (!text) return cb_fail(CB_ERROR_MEMORY, "no memory for a warning");
  snprintf(text, size, format, event);
  const cb_status status = cb_run_warn(run, row.time, text);
  return status ? status : cb_run_event(run, sink, &row, false);
}

/* The context of take_event, which receives the events of a step with contacts. It passes each event on to `sink`, with
 * the fields of /event_* computed from the state at the event. */
typedef struct event_taker {
  cb_run *run;
  cb_sink *sink;
} event_taker;

static cb_status take_event(void *self, const cb_event_row *row) {
  const event_taker *to = self;
  cb_state *s = cb_particles_of(to->run)->state;
  double *const x = s->x, *const p = s->p;
  cb_event_row own = *row;
  own.state = NULL;
  if (row->state) {
    s->x = (double *)row->state; /* the fields are filled from the state of the run, and do not change it */
    s->p = s->x + (size_t)s->n * (size_t)s->k;
  }
  const cb_status status = cb_run_event(to->run, to->sink, &own, row->state != NULL);
  s->x = x;
  s->p = p;
  return status;
}

static cb_status with_contacts(cb_run *run, cb_sink *sink, double h) {
  cb_contacts_stop stop;
  event_taker taker = {run, sink};
  cb_sink through = {.self = &taker, .event = sink->event ? take_event : NULL};
  const cb_status status =
      cb_contacts_step(cb_particles_of(run)->contacts, cb_particles_of(run)->state, h, &through, &stop);
  if (!status) run->stopped = stop.by;
  return status || !stop.at_start ? status : warn_of_start(run, sink, stop.at_start);
}

/* Makes one step without contacts. If a point has passed the antipode of another point, the step fails and is undone.
 * If the integrator itself fails for this reason, cb_antipodes_explain makes the message. */
static cb_status without_contacts(cb_run *run, double h) {
  cb_particles *p = run->own;
  if (p->before) cb_state_copy(p->before, p->state);
  cb_status status = cb_integrator_step(p->integrator, p->state, h);
  if (!p->before) return status;
  if (status) return cb_antipodes_explain(p->system, p->state, h, status, &p->integrator->failed_particle);
  status = cb_antipodes_check(p->system, p->state, h, &p->integrator->failed_particle);
  if (status) cb_state_copy(p->state, p->before);
  return status;
}

static cb_status halves(cb_run *run, cb_sink *sink, double h, int depth) {
  cb_status status = cb_particles_of(run)->contacts ? with_contacts(run, sink, h) : without_contacts(run, h);
  if (status <= 0 || depth == run->options.retries) return status;
  if (depth == 0)
    cb_state_copy(cb_particles_of(run)->spare,
                  cb_particles_of(run)->state); /* the state before the step: a failed step does not change the state */
  const cb_event_row event = {.time = cb_particles_of(run)->state->t,
                              .kind = CB_EVENT_RETRY,
                              .particle = failed_particle(run),
                              .other = -1,
                              .wall = -1,
                              .gap = h};
  if ((status = cb_run_event(run, sink, &event, true))) return status;
  for (int half = 0; half < 2; half++) {
    cb_integrator_reset(cb_particles_of(run)->integrator);
    if ((status = halves(run, sink, h / 2, depth + 1))) return status;
    if (run->stopped) break;
  }
  cb_integrator_reset(cb_particles_of(run)->integrator);
  return CB_OK;
}

/* Returns the particle with the largest acceleration, which has probably caused a failure if the integrator does not
 * know the particle; -1 if the forces cannot be computed. The state must be the one before the step. The memory of the
 * spare state is used for velocities and forces. */
static int with_largest_acceleration(cb_run *run) {
  const cb_state *s = cb_particles_of(run)->state;
  const double *mass = cb_system_masses(cb_particles_of(run)->system);
  double *velocity = cb_particles_of(run)->spare->x, *force = cb_particles_of(run)->spare->p, maximum = -1;
  int found = -1;
  for (int a = 0; a < s->n; a++)
    for (int e = 0; e < s->k; e++) velocity[a * s->k + e] = s->p[a * s->k + e] / mass[a];
  if (cb_forces_eval(cb_particles_of(run)->integrator->forces, s->t, s->x, velocity, force)) return -1;
  for (int a = 0; a < s->n; a++) {
    double square = 0;
    for (int e = 0; e < s->k; e++) square += force[a * s->k + e] * force[a * s->k + e];
    const double acceleration = isnan(square) ? INFINITY : sqrt(square) / mass[a];
    if (acceleration <= maximum) continue;
    maximum = acceleration;
    found = cb_system_particle(cb_particles_of(run)->system, a);
  }
  return found;
}

/* If a component is wider than this, in radii of curvature, round-off may prevent an iteration from converging. */
static const double wide = 3.5;

/* Returns whether a step and its halves have left the domain of the only chart of the space. The path then probably
 * reaches a border of the chart, such as a horizon. */
static bool at_border(const cb_run *run, cb_status status) {
  const cb_space *space = cb_system_space(cb_particles_of(run)->system);
  return status == CB_STEP_DOMAIN && space && space->intrinsic && run->options.retries > 0;
}

static cb_status advance(cb_run *run, cb_sink *sink, double h) {
  const double time = cb_particles_of(run)->state->t;
  const cb_status status = halves(run, sink, h, 0);
  if (status == CB_OK) {
    cb_particles_of(run)->state->step++;
    return CB_OK;
  }
  if (run->options.retries > 0 && status > 0) cb_state_copy(cb_particles_of(run)->state, cb_particles_of(run)->spare);
  cb_integrator_reset(cb_particles_of(run)->integrator);
  if (status < 0) return status;

  char cause[1024];
  strncpy(cause, cb_error_text(), sizeof cause - 1);
  cause[sizeof cause - 1] = 0;
  const bool known = failed_particle(run) >= 0;
  const int particle = known ? failed_particle(run) : with_largest_acceleration(run);
  char where[256] = "";
  if (particle >= 0) {
    snprintf(where, sizeof where, ", %sbody `%s`, particle `%s`", known ? "" : "most accelerated: ",
             cb_system_body_name(cb_particles_of(run)->system, cb_system_body(cb_particles_of(run)->system, particle)),
             cb_system_particle_name(cb_particles_of(run)->system, particle));
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
                 cb_status_name(status), time, (long long)cb_particles_of(run)->state->step, where, cause, h,
                 run->options.retries, advice);
}

/* --- the run --- */

/* Adds the present state to the motion of the falling plate, if `falling_regime` is recorded. */
static void follow(const cb_run *run) {
  const cb_particles *p = run->own;
  if (p->falling) cb_falling_plate_add(&p->plate, p->state->t, p->state->x, p->falling);
}

/* Warns once of contacts of bodies whose relative position is lost in round-off. */
static cb_status warn_of_contacts(cb_run *run) {
  cb_particles *p = run->own;
  const cb_contacts_doubt doubt = p->contacts ? cb_contacts_doubts(p->contacts) : (cb_contacts_doubt){0};
  if (doubt.size == 0 || p->watch.doubted) return CB_OK;
  p->watch.doubted = 1;
  return cb_run_warnf(run, doubt.time,
                      "contacts: `%.80s` and `%.80s` come near each other so far from the base point that coordinates "
                      "give their relative position only to %.1g, which is the error of their contact; bodies that are "
                      "placed there by one `move` have no such error",
                      cb_system_particle_name(p->system, cb_system_particle(p->system, doubt.i)),
                      cb_system_particle_name(p->system, cb_system_particle(p->system, doubt.j)), doubt.size);
}

/* Warns of the wall whose position has the largest round-off, if this round-off is above 1e-9: the world coordinates of
 * such a wall are far out. */
static cb_status warn_of_walls(cb_run *run) {
  const cb_system *s = cb_particles_of(run)->system;
  int worst = -1;
  double maximum = 1e-9;
  for (int w = 0; w < cb_system_walls(s); w++)
    if (cb_system_wall_doubt(s, w) > maximum) maximum = cb_system_wall_doubt(s, worst = w);
  return worst < 0 ? CB_OK
                   : cb_run_warnf(run, *run->t,
                                  "the wall `%.80s` is so far from the base point that coordinates give its position "
                                  "only to %.1g, which is the error of contacts with it",
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
  cb_particles *p = run->own;
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
  return cb_run_warnf(run, *run->t,
                      "killing_momentum: `%.80s` is %.6g from the base point, too far to compute the momentum of %s "
                      "about the world's axes to 1e-6, so it is recorded as nan. The motion itself is still accurate",
                      cb_system_particle_name(p->system, cb_system_particle(p->system, place)),
                      p->state->origin[furthest].length, g->killing[lost].name);
}

/* Computes the Karcher mean if it is recorded. Warns at the first row for which the mean does not exist. */
static cb_status measure_mean(cb_run *run) {
  cb_particles *p = run->own;
  const cb_status status = p->measures_mean ? cb_measure_mean(&p->measure) : CB_OK;
  if (status != CB_ERROR_DOMAIN || p->watch.lost_mean) return status == CB_ERROR_DOMAIN ? CB_OK : status;
  p->watch.lost_mean = 1;
  return cb_run_warnf(run, *run->t, "karcher_mean: %.400s; it is nan", cb_error_text());
}

static cb_status measure(cb_run *run, const char **what) {
  cb_particles *p = run->own;
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

static void forget(cb_run *run) { cb_integrator_reset(cb_particles_of(run)->integrator); }

static cb_status restored(cb_run *run) {
  forget(run);
  if (cb_particles_of(run)->contacts) cb_contacts_restored(cb_particles_of(run)->contacts);
  cb_particles_stand(run);
  return cb_forces_set_origins(cb_particles_of(run)->integrator->forces, cb_particles_of(run)->state->origin);
}

static void free_(cb_run *run) {
  cb_particles *p = run->own;
  if (!p) return;
  cb_state_free(p->state);
  cb_state_free(p->spare);
  cb_state_free(p->before);
  cb_contacts_free(p->contacts);
  cb_particles_free_dropped(p);
  cb_measure_rows_free(&p->measure);
}

/* The fields of a row from which the state is restored. In the record, positions and momenta are in the order in which
 * the user listed the particles; in the state they are in the order of components. */
static const char *const state[] = {"position", "momentum", "origin", NULL};

static cb_status restore_row(cb_run *run, const cb_row_state *row) {
  const cb_particles *p = run->own;
  const size_t k = (size_t)p->state->k, n = (size_t)p->state->n;
  for (size_t i = 0; i < n; i++) {
    const size_t at = k * (size_t)cb_system_index(p->system, (int)i);
    memcpy(p->state->x + at, row->field[0] + k * i, k * sizeof(double));
    memcpy(p->state->p + at, row->field[1] + k * i, k * sizeof(double));
  }
  memset(p->state->x_low, 0, n * k * sizeof(double));
  memset(p->state->p_low, 0, n * k * sizeof(double));
  memcpy(p->state->origin, row->field[2], (size_t)p->state->n_components * sizeof *p->state->origin);
  return CB_OK;
}

/* Finds a quantity that a law of a control may use: a coordinate NAME of the system, or its velocity NAME_dot. */
static bool find_quantity(const cb_run *run, const char *text, size_t length, cb_quantity *out) {
  const cb_particles *p = run->own;
  const cb_space *g = cb_system_space(p->system);
  for (int i = 0; g->intrinsic && g->chart && p->state->n == 1 && i < g->chart->size; i++) {
    const char *name = g->chart->coordinates[i];
    const size_t own = strlen(name);
    *out = (cb_quantity){length > own, i, 0};
    if (!strncmp(text, name, own) && (length == own || (length == own + 4 && !strncmp(text + own, "_dot", 4))))
      return true;
  }
  return false;
}

static double quantity(const cb_run *run, const cb_quantity *q) {
  const cb_particles *p = run->own;
  double u[CB_Q_MAX];
  if (!q->kind) return p->state->x[q->subject];
  if (cb_space_raise(cb_system_space(p->system), p->state->x, p->state->p, u)) return NAN;
  return u[q->subject] / *cb_system_masses(p->system);
}

static cb_status plate(const cb_run *run, int body, cb_falling_plate *out) {
  (void)body;
  return cb_falling_plate_of_system(cb_particles_of(run)->system, out);
}

/* The lanes of a vector (run/run_shared.h) can step particles without contacts and without `falling_regime`, if their
 * integrator has a version for lanes. */
static cb_particles *lanes(const cb_run *run) {
  cb_particles *p = run->own;
  return !p->contacts && !p->falling && cb_lanes_serve(p->integrator) ? p : NULL;
}

static const char *const measured[] = {
    "time",   "step",           "plot_position",    "plot_velocity",    "position",    "momentum",   "origin",
    "energy", "kinetic_energy", "potential_energy", "killing_momentum", "coordinates", "separation", NULL};
static const cb_motion motion = {.begin = begin,
                                 .step = step,
                                 .measure = measure,
                                 .compare = cb_particles_compare,
                                 .forget = forget,
                                 .restored = restored,
                                 .free = free_,
                                 .state = state,
                                 .restore_row = restore_row,
                                 .measured = measured,
                                 .tangent = cb_particles_tangent,
                                 .plate = plate,
                                 .lanes = lanes,
                                 .find_quantity = find_quantity,
                                 .quantity = quantity,
                                 .quantities = "coordinates of a system and their velocities NAME_dot"};

static cb_status start(cb_run *run) {
  cb_particles *p = run->own;
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
  cb_run_clock(run, &p->state->t, &p->state->t_low, &p->state->step, &p->integrator->iterations);
  return p->contacts ? cb_contacts_check_start(p->contacts, p->state) : CB_OK;
}

cb_status cb_run_create(const cb_system *system, cb_integrator *integrator, const cb_run_options *options,
                        cb_run **out) {
  cb_run *run;
  const size_t numbers = (size_t)cb_system_particles(system) * (size_t)cb_system_space(system)->k;
  cb_status status = cb_run_new(&motion, options, numbers, sizeof(cb_particles), &run);
  if (status) return status;
  cb_particles_of(run)->system = system;
  cb_particles_of(run)->integrator = integrator;
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

const cb_state *cb_run_current(const cb_run *run) {
  return run->motion == &motion ? cb_particles_of(run)->state : NULL;
}
double cb_run_start_position_change(const cb_run *run) {
  return run->motion == &motion ? cb_particles_of(run)->start_moved : 0;
}
double cb_run_start_velocity_change(const cb_run *run) {
  return run->motion == &motion ? cb_particles_of(run)->start_turned : 0;
}
