/* Particles in a space as a run: their start, their steps, their rows. */
#include "dynamics/antipodes.h"
#include "run/particles.h"

#include "dynamics/extract.h"

#include <curvebody/contact.h>
#include <math.h>
#include <string.h>

/* A fall, where it is asked for, step after step. */
static void follow(const cb_run *run) {
  const cb_particles *p = run->particles;
  if (p->falling) cb_falling_plate_add(&p->plate, p->state->t, p->state->x, p->falling);
}

/* Of contacts whose bodies stand to one another as round-off has it, once. */
static cb_status warn_of_contacts(cb_run *run) {
  cb_particles *p = run->particles;
  const cb_contacts_doubt doubt = p->contacts ? cb_contacts_doubts(p->contacts) : (cb_contacts_doubt){0};
  if (doubt.size == 0 || p->watch.doubted) return CB_OK;
  p->watch.doubted = 1;
  return cb_run_warnf(
      run, doubt.time,
      "contacts: `%.80s` and `%.80s` come near each other so far out that coordinates tell their relative place to "
      "%.1g "
      "only, which is the error of their contact; bodies that one `move` takes there have no such error",
      cb_system_particle_name(p->system, cb_system_particle(p->system, doubt.i)),
      cb_system_particle_name(p->system, cb_system_particle(p->system, doubt.j)), doubt.size);
}

/* Of walls that coordinates of the world place far out. */
static cb_status warn_of_walls(cb_run *run) {
  const cb_system *s = run->particles->system;
  int worst = -1;
  double most = 1e-9;
  for (int w = 0; w < cb_system_walls(s); w++)
    if (cb_system_wall_doubt(s, w) > most) most = cb_system_wall_doubt(s, worst = w);
  return worst < 0
             ? CB_OK
             : cb_run_warnf(run, *run->t,
                            "the wall `%.80s` is so far out that coordinates tell its place to %.1g only, which is "
                            "the error of contacts with it",
                            cb_system_wall_name(s, worst), most);
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
  cb_status status = cb_particles_advance(run, sink, h);
  if (!status) follow(run);
  if (!status) status = warn_of_contacts(run);
  if (!status) status = cb_particles_recentre(run);
  return status ? status : cb_particles_check_dropped(run);
}

/* Those that a row has no digits of are warned of once. */
static cb_status measure_momenta(cb_run *run) {
  cb_particles *p = run->particles;
  const cb_geometry *g = p->measure.space;
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
                      "killing_momentum: `%.80s` is %.6g from the base point, too far to tell the momentum of %s about "
                      "the world's axes to 1e-6, and it is nan; the motion itself keeps its digits",
                      cb_system_particle_name(p->system, cb_system_particle(p->system, place)),
                      p->state->origin[furthest].length, g->killing[lost].name);
}

/* Rows without a mean are warned of once. */
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

static void recall(cb_run *run, const cb_recalled *row) {
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

static const cb_run_class class = {begin, step, measure, cb_particles_compare, forget, restored, free_, recall};

static cb_status start(cb_run *run) {
  cb_particles *p = run->particles;
  const cb_system *system = p->system;
  const size_t n = (size_t)cb_system_particles(system);
  const cb_geometry *g = cb_system_space(system);
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
  if (!status) status = cb_particles_project(run);
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
  if (!run->particles) return cb_run_free(run), cb_fail(CB_ERROR_MEMORY, "no memory for a run");
  run->particles->system = system;
  run->particles->integrator = integrator;
  status = start(run);
  if (!status) status = cb_particles_layout(run);
  if (!status) status = cb_particles_remember(run);
  if (status) return cb_run_free(run), status;
  *out = run;
  return CB_OK;
}

const cb_state *cb_run_current(const cb_run *run) { return run->kind == &class ? run->particles->state : NULL; }
double cb_run_start_moved(const cb_run *run) { return run->kind == &class ? run->particles->start_moved : 0; }
double cb_run_start_turned(const cb_run *run) { return run->kind == &class ? run->particles->start_turned : 0; }
