/* Particles in a space: how far energy, Killing momenta and constraints have gone from the start's. */
#include "run/particles.h"

#include "dynamics/conserved.h"

#include <string.h>

/* A particle that has gone less far, by its coordinates, is where it was but for round-off. */
static const double rest = 1e-9;

typedef struct cb_particles_change {
  cb_conserved is;
  bool momenta;                    /* is any conserved? */
  double momentum[CB_KILLING_MAX]; /* at the start */
  double *x;                       /* before the first step or the first after a restart, with the origins */
  cb_origin *origin;
  double *scratch; /* of cb_measure_worst_row; NULL: there are no constraints */
} cb_particles_change;

/* --- the start --- */

static cb_status make_room(cb_run *run, cb_particles_change *c) {
  const cb_state *s = run->particles->state;
  const size_t numbers = (size_t)s->n * (size_t)s->k, components = (size_t)s->n_components;
  const size_t rows = (size_t)cb_system_constraints(run->particles->system);
  c->x = cb_arena_alloc(run->arena, numbers, sizeof *c->x);
  c->origin = cb_arena_alloc(run->arena, components, sizeof *c->origin);
  if (rows) c->scratch = cb_arena_alloc(run->arena, rows + numbers, sizeof *c->scratch);
  if (!c->x || !c->origin || (rows && !c->scratch))
    return cb_fail(CB_ERROR_MEMORY, "no memory for the start of %zu numbers", numbers);
  return CB_OK;
}

void cb_particles_stand(cb_run *run) {
  const cb_state *s = run->particles->state;
  memcpy(run->particles->change->x, s->x, (size_t)s->n * (size_t)s->k * sizeof *s->x);
  memcpy(run->particles->change->origin, s->origin, (size_t)s->n_components * sizeof *s->origin);
}

cb_status cb_particles_remember(cb_run *run) {
  cb_particles *p = run->particles;
  cb_particles_change *c = p->change = cb_arena_alloc(run->arena, 1, sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for what is conserved");
  run->method = p->integrator;
  c->is = cb_system_conserved(p->system);
  const cb_status status = make_room(run, c);
  if (status) return status;
  /* what cannot be found of the start is told where it is recorded, or in the first step */
  if (c->is.energy && cb_measure_energy(&p->measure)) c->is.energy = false;
  cb_energy_begin(&p->watch.energy, p->measure.kinetic, p->measure.potential);
  for (int i = 0; i < p->measure.space->n_killing; i++) c->momenta = c->momenta || c->is.momentum[i];
  if (c->momenta && (cb_state_killing_momentum(p->system, p->state, c->momentum) ||
                     cb_state_killing_size(p->system, p->state, &p->watch.momentum_scale)))
    c->momenta = false;
  p->watch.lost = c->momenta;
  for (int i = 0; i < p->measure.space->n_killing; i++)
    p->watch.lost = p->watch.lost && !(c->is.momentum[i] && isfinite(c->momentum[i]));
  return CB_OK;
}

/* --- a row --- */

/* Coordinates are local to the origins. */
static bool has_moved(const cb_state *s, const cb_particles_change *c) {
  double way = 0, size = 0;
  for (size_t i = 0; i < (size_t)s->n * (size_t)s->k; i++) {
    way = fmax(way, fabs(s->x[i] - c->x[i]));
    size = fmax(size, fabs(c->x[i]));
  }
  return way > rest * size || memcmp(s->origin, c->origin, (size_t)s->n_components * sizeof *c->origin);
}

/* Those that are known; false: one that was known at the start no longer is. */
static bool compare_momenta(cb_particles *p, const cb_particles_change *c, bool all) {
  cb_particles_watch *w = &p->watch;
  double *const momentum = p->measure.momentum, size = 0;
  bool known = true;
  if (!p->measures_momenta && (!all || cb_state_killing_momentum(p->system, p->state, momentum))) return true;
  for (int i = 0; i < p->measure.space->n_killing; i++) {
    if (!c->is.momentum[i] || isnan(c->momentum[i])) continue;
    known = known && !isnan(momentum[i]);
    w->momentum_change = fmax(w->momentum_change, fabs(momentum[i] - c->momentum[i]));
  }
  if (all && known && !cb_state_killing_size(p->system, p->state, &size))
    w->momentum_scale = fmax(w->momentum_scale, size);
  return known;
}

void cb_particles_compare(cb_run *run, bool last) {
  cb_particles *p = run->particles;
  const cb_particles_change *c = p->change;
  cb_particles_watch *w = &p->watch;
  const bool all = last || p->state->step == 0 || p->state->step - (int64_t)w->step >= CB_CHANGE_STEPS;
  double worst;
  if (all) w->step = (double)p->state->step;
  w->moved = w->moved || has_moved(p->state, c);
  if (c->is.energy && (p->measures_energy || (all && !cb_measure_energy(&p->measure))))
    cb_energy_see(&w->energy, p->measure.kinetic, p->measure.potential);
  if (c->momenta && !compare_momenta(p, c, all)) w->lost = 1;
  if (c->scratch && (all || p->measures_constraints) && !cb_measure_worst_row(&p->measure, c->scratch, &worst))
    w->constraint = fmax(w->constraint, worst);
  if (c->is.energy) run->change.energy = w->moved ? cb_energy_ratio(&w->energy) : 0;
  if (c->momenta) run->change.momentum = w->moved ? cb_change_by(w->momentum_change, w->momentum_scale) : 0;
  if (w->lost && w->moved) run->change.momentum = NAN;
  if (c->scratch) run->change.constraint = w->constraint;
}
