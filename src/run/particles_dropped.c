/* Constraints that `redundant: drop` left out, since the others implied them where the run starts: away from there they may
 * not. What is left of each, g or a v - b, is recorded as /dropped_residual, and a run in which one is off by more than
 * `off`, relative to the length, area or volume that it keeps, has left its constraints: it ends. What is left at the
 * start is round-off of the numbers given, and allowed. */
#include "run/particles.h"

#include <math.h>

static const double off = 1e-9;

struct cb_particles_dropped {
  const cb_system *system; /* of the same particles, whose constraints these are */
  cb_forces *forces;       /* NULL where there is no memory */
  cb_constraints *constraints;
  double *residual, *rate, *start, *velocity;
};

cb_status cb_particles_watch_dropped(cb_run *run) {
  cb_particles *p = run->particles;
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
    status = cb_geometry_raise(cb_system_space(p->system), x + i * k, p->state->p + i * k, v);
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
  cb_particles *p = run->particles;
  const struct cb_particles_dropped *d = p->dropped;
  const cb_status status = cb_particles_look_at_dropped(p);
  for (int r = 0; d && r < cb_system_constraints(d->system) && !status; r++)
    if (!(fabs(d->residual[r] - d->start[r]) <= off * cb_system_constraint_size(d->system, r, p->state->t)))
      return cb_fail(CB_ERROR_STEP,
                     "constraint `%s`, which `redundant: drop` left out, is off by %.3g at time %.17g, step %lld: the "
                     "others imply it at the start alone; leave it out of the scenario, or start from another place",
                     cb_system_constraint_name(d->system, r), d->residual[r], p->state->t, (long long)p->state->step);
  return status;
}
