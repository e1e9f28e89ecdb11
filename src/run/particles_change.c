/* A run of particles: the change of energy, Killing momenta and constraints since the start, and constraints that were
 * dropped. */
#include "run/particles_run.h"
#include "dynamics/system_facts.h"

#include <string.h>
#include <math.h>

/* A quantity that the run does not record is evaluated for the comparison only at the last row, and at rows that are at
 * least this number of steps apart. The reason is that it costs about as much as a few evaluations of the forces. */
enum { CHANGE_STEPS = 256 };

/* If no coordinate has changed by more than this times the largest coordinate, no particle has moved, up to
 * round-off. */
static const double rest = 1e-9;

typedef struct cb_particles_change {
  cb_conserved is;
  bool momenta;                    /* whether any momentum is conserved */
  double momentum[CB_KILLING_MAX]; /* at the start */
  double *x; /* x and origin: the positions and origins before the first step, or at the restart of a resumed run */
  cb_origin *origin;
  double *scratch; /* for cb_measure_worst_row; NULL: there are no constraints */
} cb_particles_change;

/* --- the start --- */

static cb_status reserve(cb_run *run, cb_particles_change *c) {
  const cb_state *s = cb_particles_of(run)->state;
  const size_t numbers = (size_t)s->n * (size_t)s->k, components = (size_t)s->n_components;
  const size_t rows = (size_t)cb_system_constraints(cb_particles_of(run)->system);
  c->x = cb_arena_alloc(run->arena, numbers, sizeof *c->x);
  c->origin = cb_arena_alloc(run->arena, components, sizeof *c->origin);
  if (rows) c->scratch = cb_arena_alloc(run->arena, rows + numbers, sizeof *c->scratch);
  if (!c->x || !c->origin || (rows && !c->scratch))
    return cb_fail(CB_ERROR_MEMORY, "no memory for the start of %zu numbers", numbers);
  return CB_OK;
}

void cb_particles_stand(cb_run *run) {
  const cb_state *s = cb_particles_of(run)->state;
  memcpy(cb_particles_of(run)->change->x, s->x, (size_t)s->n * (size_t)s->k * sizeof *s->x);
  memcpy(cb_particles_of(run)->change->origin, s->origin, (size_t)s->n_components * sizeof *s->origin);
}

cb_status cb_particles_remember(cb_run *run) {
  cb_particles *p = run->own;
  cb_particles_change *c = p->change = cb_arena_alloc(run->arena, 1, sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for the conserved quantities");
  run->integrator = p->integrator;
  c->is = cb_system_conserved(p->system);
  const cb_status status = reserve(run, c);
  if (status) return status;
  /* a failure to measure the start is not reported here: the first row or the first step reports it */
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

/* Returns whether a particle has moved, or one of the origins, to which the coordinates are relative. */
static bool has_moved(const cb_state *s, const cb_particles_change *c) {
  double way = 0, size = 0;
  for (size_t i = 0; i < (size_t)s->n * (size_t)s->k; i++) {
    way = fmax(way, fabs(s->x[i] - c->x[i]));
    size = fmax(size, fabs(c->x[i]));
  }
  return way > rest * size || memcmp(s->origin, c->origin, (size_t)s->n_components * sizeof *c->origin);
}

/* Compares the momenta that were known at the start. Returns false if one of them has become nan. */
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
  cb_particles *p = run->own;
  const cb_particles_change *c = p->change;
  cb_particles_watch *w = &p->watch;
  const bool all = last || p->state->step == 0 || p->state->step - (int64_t)w->step >= CHANGE_STEPS;
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

/* --- dropped constraints ---
 *
 * `redundant: drop` leaves out constraints that follow from the others at the start of the run. Later in the run they
 * may no longer follow from them. /dropped_residual records the residual of each: g of a constraint g = 0 of positions,
 * a v - b
 * of a constraint a v = b of velocities v. The run fails if a residual differs from its value at the start by more than
 * `off`, relative to the length, area or volume that the constraint prescribes: then the motion violates the dropped
 * constraint. The residual at the start is the round-off of the given numbers, and is allowed.
 */

static const double off = 1e-9;

struct cb_particles_dropped {
  const cb_system *system; /* a system of the same particles that has these constraints */
  cb_forces *forces;       /* NULL: there was no memory */
  cb_constraints *constraints;
  double *residual, *rate, *start, *velocity;
};

cb_status cb_particles_watch_dropped(cb_run *run) {
  cb_particles *p = run->own;
  const cb_system *system = cb_system_dropped(p->system);
  if (!system) return CB_OK;
  const size_t rows = (size_t)cb_system_constraints(system), numbers = (size_t)p->state->n * (size_t)p->state->k;
  struct cb_particles_dropped *d = p->dropped = cb_arena_alloc(run->arena, 1, sizeof *d);
  if (!d) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu constraints", rows);
  d->system = system;
  d->residual = cb_arena_alloc(run->arena, rows, sizeof(double));
  d->rate = cb_arena_alloc(run->arena, rows, sizeof(double));
  d->start = cb_arena_alloc(run->arena, rows, sizeof(double));
  d->velocity = cb_arena_alloc(run->arena, numbers, sizeof(double));
  if (!d->residual || !d->rate || !d->start || !d->velocity)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu constraints", rows);
  cb_status status = cb_forces_create(system, &d->forces);
  if (status) return status;
  d->constraints = cb_forces_constraints(d->forces);
  status = cb_particles_look_at_dropped(p);
  for (size_t r = 0; r < rows; r++) d->start[r] = d->residual[r];
  return status;
}

void cb_particles_free_dropped(cb_particles *p) {
  if (p->dropped) cb_forces_free(p->dropped->forces);
}

cb_status cb_particles_look_at_dropped(cb_particles *p) {
  struct cb_particles_dropped *d = p->dropped;
  if (!d) return CB_OK;
  const cb_rows *rows = cb_constraints_rows(d->constraints);
  const double t = p->state->t, *x = p->state->x, *mass = cb_system_masses(p->system);
  const int k = p->state->k;
  cb_status status = cb_forces_set_origins(d->forces, p->state->origin);
  for (int i = 0; i < p->state->n && !status; i++) {
    double *v = d->velocity + i * k;
    status = cb_space_raise(cb_system_space(p->system), x + i * k, p->state->p + i * k, v);
    for (int a = 0; a < k; a++) v[a] /= mass[i];
  }
  if (!status) status = cb_constraints_eval(d->constraints, t, x, d->residual, NULL);
  if (!status) status = cb_constraints_rate(d->constraints, t, x, d->velocity, d->rate, NULL);
  for (int r = 0; r < rows->own && !status; r++)
    if (rows->velocity[r]) d->residual[r] = d->rate[r];
  return status;
}

const double *cb_particles_dropped_residual(const cb_particles *p) { return p->dropped->residual; }

cb_status cb_particles_check_dropped(cb_run *run) {
  cb_particles *p = run->own;
  const struct cb_particles_dropped *d = p->dropped;
  const cb_status status = cb_particles_look_at_dropped(p);
  for (int r = 0; d && r < cb_system_constraints(d->system) && !status; r++)
    if (!(fabs(d->residual[r] - d->start[r]) <= off * cb_system_constraint_size(d->system, r, p->state->t)))
      return cb_fail(
          CB_ERROR_STEP,
          "constraint `%s`, which `redundant: drop` left out, is violated by %.3g at time %.17g, step %lld: it "
          "follows from the others only at the start; leave it out of the scenario, or start elsewhere",
          cb_system_constraint_name(d->system, r), d->residual[r], p->state->t, (long long)p->state->step);
  return status;
}
