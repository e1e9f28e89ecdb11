/* Evaluating the forces of a system: the sum over its parts.
 *
 *   F = -I^-1 dV/dx + damping in the embedding, F = -dV/dq + damping in a chart.
 */
#include "dynamics/forces_private.h"
#include <string.h>

/* Adds every part but springs that have a plan. */
static cb_status add_parts(cb_forces *f, double t, const double *x, const double *v, double *force) {
  const cb_system *s = f->system;
  cb_status status = CB_OK;
  if (s->n_springs && !f->springs) status = cb_springs_part_add(f, x, v, force);
  if (!status && s->n_interactions) status = cb_interactions_add(f, t, x, force);
  if (!status && s->n_centrals) status = cb_centrals_add(f, t, x, force);
  if (!status && s->n_fields) status = cb_fields_add(f, t, x, force);
  if (!status && s->n_generalised) status = cb_generalised_add(f, t, x, v, force);
  return status;
}

cb_status cb_forces_eval_stages(cb_forces *f, int stages, const double *t, const double *const *x,
                                const double *const *v, double *const *force) {
  const cb_system *s = f->system;
  if (f->springs) cb_springs_part_set(f, stages, x, v, force);
  if (f->springs_alone) return CB_OK;
  for (int i = 0; i < stages; i++) {
    if (!f->springs) memset(force[i], 0, (size_t)s->n * (size_t)s->k * sizeof *force[i]);
    cb_status status = add_parts(f, t[i], x[i], v ? v[i] : NULL, force[i]);
    if (status) return status;
  }
  return CB_OK;
}

cb_status cb_forces_eval(cb_forces *f, double t, const double *x, const double *v, double *force) {
  return cb_forces_eval_stages(f, 1, &t, &x, &v, &force);
}

cb_status cb_forces_create(const cb_system *s, cb_forces **out) {
  const cb_geometry *g = s->space;
  cb_arena *arena = cb_arena_create();
  cb_forces *f = cb_arena_alloc(arena, 1, sizeof *f);
  if (!f) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for forces");
  }
  f->system = s;
  f->arena = arena;
  f->threads = 1;
  for (int a = 0; a < g->k; a++) f->raise[a] = g->chart ? -1 : -1 / g->form[a];
  f->origin = cb_arena_alloc(arena, (size_t)s->n_components, sizeof *f->origin);
  if (!f->origin) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for forces");
  }
  f->springs_alone = s->springs && !s->n_interactions && !s->n_centrals && !s->n_fields && !s->n_generalised;
  cb_status status = cb_springs_part_create(f);
  if (!status) status = cb_interactions_create(f);
  if (!status) status = cb_centrals_create(f);
  if (!status) status = cb_fields_create(f);
  if (!status && s->n_constraints) status = cb_constraints_create(f, false, &f->constraints);
  if (!status) status = cb_forces_set_origins(f, s->origin);
  if (status) {
    cb_forces_free(f);
    return status;
  }
  *out = f;
  return CB_OK;
}

void cb_forces_free(cb_forces *f) {
  if (!f) return;
  cb_springs_work_free(f->springs);
  cb_constraints_free(f->constraints);
  cb_constraints_free(f->constraints_with_space);
  cb_arena_free(f->arena);
}

cb_status cb_forces_set_threads(cb_forces *f, int threads) {
  if (threads < 1) return cb_fail(CB_ERROR_ARGUMENT, "%d threads: expected at least 1", threads);
  cb_springs_work *work = NULL;
  cb_status status = f->springs ? cb_springs_work_create(f->system->springs, threads, &work) : CB_OK;
  if (status) return status;
  if (f->springs) {
    cb_springs_work_free(f->springs);
    f->springs = work;
  }
  f->threads = threads;
  return CB_OK;
}

int cb_forces_uses_velocity(const cb_forces *f) { return f->system->damped; }

cb_status cb_forces_set_origins(cb_forces *f, const cb_origin *origin) {
  for (int c = 0; c < f->system->n_components; c++) f->origin[c] = origin[c];
  if (f->constraints) cb_constraints_set_origins(f->constraints, origin);
  if (f->constraints_with_space) cb_constraints_set_origins(f->constraints_with_space, origin);
  cb_status status = cb_centrals_set_origins(f, origin);
  return status ? status : cb_fields_set_origins(f, origin);
}

cb_status cb_forces_potential(cb_forces *f, double t, const double *x, double *potential) {
  double sum = 0;
  cb_status status = cb_springs_part_potential(f, x, &sum);
  if (!status) status = cb_interactions_potential(f, t, x, &sum);
  if (!status) status = cb_centrals_potential(f, t, x, &sum);
  if (!status) status = cb_fields_potential(f, t, x, &sum);
  if (!status) *potential = sum;
  return status;
}

cb_constraints *cb_forces_constraints(cb_forces *f) { return f->constraints; }

cb_constraints *cb_forces_constraints_with_space(cb_forces *f) {
  if (!f->constraints_with_space && cb_constraints_create(f, true, &f->constraints_with_space)) return NULL;
  return f->constraints_with_space;
}
