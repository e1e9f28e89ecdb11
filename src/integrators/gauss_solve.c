/* Solves for the stages of one step of gauss by fixed-point iteration or Newton's method (iteration.h). */
#include "integrators/gauss.h"

#include <math.h>
#include <string.h>

static const char name[] = "gauss";

/* Changes of the stages up to this number of units of round-off of the coordinates count as round-off. */
static const double noise = 8;

cb_status cb_gauss_stage_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

static cb_status sweep(void *method, cb_stage_change *c) {
  cb_gauss *m = method;
  return m->form->sweep(m, c);
}

static cb_status fixed_point(cb_gauss *m) {
  const cb_iteration how = {
      name, CB_FIXED_POINT, sweep, cb_end_by_contraction,
      /* The target is far below round-off. An error of DBL_EPSILON of the displacements in each step would be a bias,
       * not random like round-off, and would be visible after 1e5 steps. */
      .target = m->tolerance > 0 ? m->tolerance : DBL_EPSILON / 16384, .noise = noise, .stall = 0.25, .lost = 1e3,
      .maximum = m->max_iterations, .contraction = &m->contraction};
  return cb_iterate(&how, m->integrator, m);
}

/* Makes one correction. c->change is the norm of the residual, which is already relative, so c->size is 1. */
static cb_status correct(void *method, cb_stage_change *c) {
  cb_gauss *m = method;
  cb_status status = m->form->matrix(m, m->matrix);
  if (!status) status = cb_stage_matrix_factor(m->matrix);
  if (status) return status;
  cb_stage_change moved = {0};
  cb_stage_matrix_solve(m->matrix, m->residual);
  status = m->form->correct(m, m->residual, &moved);
  if (!status) status = m->form->residual(m, m->residual, &c->change);
  c->size = 1;
  c->noise = cb_stage_change_is_noise(&moved, noise);
  return status;
}

/* The iteration ends at the target, or when corrections are noise and the residual no longer decreases by a factor of
 * 16. It has failed if the residual grows after the ninth iteration. */
static cb_stage_end end(const cb_iteration *how, const cb_stage_change *c) {
  if (c->change <= how->target || (c->noise && c->change > c->before / 16)) return CB_STAGE_ENDED;
  return c->iteration > 9 && c->change > c->before ? CB_STAGE_LOST : CB_STAGE_ON;
}

static cb_status newton(cb_gauss *m) {
  const cb_iteration how = {name,
                            "Newton's method stalls at a relative residual",
                            "use a smaller step",
                            correct,
                            end,
                            .target = m->tolerance > 0 ? m->tolerance : 2 * DBL_EPSILON,
                            .maximum = m->max_iterations};
  double norm;
  const cb_status status = m->form->residual(m, m->residual, &norm);
  if (status) return status;
  m->integrator->iterations = 0;
  return norm < INFINITY ? cb_iterate(&how, m->integrator, m) : cb_stage_not_finite(name, 0);
}

cb_status cb_gauss_make_matrix(cb_gauss *m, const bool *mask, const double *pivots) {
  const cb_pattern *pattern = cb_forces_pattern(m->forces);
  if (!pattern) return CB_ERROR_MEMORY;
  const size_t entries = (size_t)pattern->start[m->n] * (size_t)(m->k * m->k) * (size_t)m->s;
  const size_t unknowns = (size_t)m->n * (size_t)(m->s * m->dim);
  if (!m->residual) cb_arena_doubles(m->arena, unknowns, &m->residual);
  if (!m->jacobian_x) cb_arena_doubles(m->arena, entries, &m->jacobian_x);
  if (!m->jacobian_v && m->damped) cb_arena_doubles(m->arena, entries, &m->jacobian_v);
  if (cb_arena_lost(m->arena))
    return cb_fail(CB_ERROR_MEMORY, "no memory for the Newton method of %zu unknowns", unknowns);
  return cb_stage_matrix_create(pattern, m->s * m->dim, mask, pivots, &m->matrix);
}

static cb_status solve_once(void *method) {
  cb_gauss *m = method;
  const bool by_newton = cb_solver_is_newton(&m->solver);
  cb_status status = by_newton && !m->matrix ? m->form->prepare_newton(m) : CB_OK;
  if (!status) status = m->form->predict(m);
  if (!status) status = by_newton ? newton(m) : fixed_point(m);
  m->integrator->solver = cb_solver_name(&m->solver);
  return status;
}

cb_status cb_gauss_solve(cb_gauss *m) { return cb_solver_solve(&m->solver, m->integrator, solve_once, m); }
