/* Constraints of a state: multipliers, and what is left of g, g' and g''.
 *
 *   g' = G v + g_t,   g'' = G dv/dt + gamma  with the dv/dt that forces and multipliers at this very state give
 * so that g'' shows the round-off of the multipliers and nothing of the method's.
 */
#include "run/measure.h"

#include "dynamics/gram.h"

#include <math.h>
#include <string.h>

cb_status cb_measure_rows_create(cb_measure *m, cb_arena *arena) {
  const size_t n = (size_t)cb_system_particles(m->system) * (size_t)m->space->k,
               rows = (size_t)cb_system_constraints(m->system);
  struct cb_measure_rows *r = cb_arena_alloc(arena, 1, sizeof *r);
  if (!r) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu constraints", rows);
  r->constraints = cb_forces_constraints(m->integrator->forces);
  const size_t entries = (size_t)cb_constraints_rows(r->constraints)->start[rows];
  r->velocity = cb_arena_alloc(arena, n, sizeof(double));
  r->acceleration = cb_arena_alloc(arena, n, sizeof(double));
  r->gradient = cb_arena_alloc(arena, entries * (size_t)m->space->k, sizeof(double));
  r->multiplier = cb_arena_alloc(arena, rows, sizeof(double));
  r->residual = cb_arena_alloc(arena, rows, sizeof(double));
  r->rate = cb_arena_alloc(arena, rows, sizeof(double));
  r->second = cb_arena_alloc(arena, rows, sizeof(double));
  if (!r->velocity || !r->acceleration || !r->gradient || !r->multiplier || !r->residual || !r->rate || !r->second)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu constraints", rows);
  const cb_status status = cb_gram_create(m->integrator->forces, r->constraints, &r->gram);
  if (!status) m->rows = r;
  return status;
}

void cb_measure_rows_free(cb_measure *m) {
  if (m->rows) cb_gram_free(m->rows->gram);
  m->rows = NULL;
}

static cb_status velocities(const cb_measure *m, double *v) {
  const size_t k = (size_t)m->space->k;
  const double *mass = cb_system_masses(m->system);
  for (int i = 0; i < m->state->n; i++) {
    const double *x = m->state->x + (size_t)i * k, *p = m->state->p + (size_t)i * k;
    const cb_status status = cb_geometry_raise(m->space, x, p, v + (size_t)i * k);
    if (status) return status;
    for (size_t a = 0; a < k; a++) v[(size_t)i * k + a] /= mass[i];
  }
  return CB_OK;
}

cb_status cb_measure_rows(cb_measure *m) {
  struct cb_measure_rows *r = m->rows;
  const double t = m->state->t, *x = m->state->x;
  const cb_rows *rows = cb_constraints_rows(r->constraints);
  const int k = m->space->k;
  cb_status status = velocities(m, r->velocity);
  if (!status) status = cb_gram_multipliers(r->gram, t, x, r->velocity, r->multiplier, r->acceleration);
  if (!status) status = cb_constraints_eval(r->constraints, t, x, r->residual, r->gradient);
  if (!status) status = cb_constraints_rate(r->constraints, t, x, r->velocity, r->rate, NULL);
  if (!status) status = cb_constraints_second(r->constraints, t, x, r->velocity, r->second, NULL);
  if (status) return status;
  for (int row = 0; row < rows->rows; row++)
    for (int e = rows->start[row]; e < rows->start[row + 1]; e++)
      for (int a = 0; a < k; a++) r->second[row] += r->gradient[e * k + a] * r->acceleration[rows->particle[e] * k + a];
  return CB_OK;
}

static double largest(const cb_rows *rows, bool velocity, const double *value) {
  double most = 0;
  for (int r = 0; r < rows->own; r++)
    if (rows->velocity[r] == velocity) most = fmax(most, fabs(value[r]));
  return most;
}

cb_status cb_measure_worst_row(const cb_measure *m, double *scratch, double *worst) {
  cb_constraints *c = cb_forces_constraints(m->integrator->forces);
  const cb_rows *rows = cb_constraints_rows(c);
  if (m->rows) {
    *worst = fmax(largest(rows, false, m->rows->residual), largest(rows, true, m->rows->rate));
    return CB_OK;
  }
  double *v = scratch + rows->own;
  cb_status status = cb_constraints_eval(c, m->state->t, m->state->x, scratch, NULL);
  *worst = status ? 0 : largest(rows, false, scratch);
  if (status || !cb_system_velocity_constraints(m->system)) return status;
  status = velocities(m, v);
  if (!status) status = cb_constraints_rate(c, m->state->t, m->state->x, v, scratch, NULL);
  if (!status) *worst = fmax(*worst, largest(rows, true, scratch));
  return status;
}
