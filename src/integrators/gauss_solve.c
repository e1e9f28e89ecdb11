/* Iterations for the stages of one step: fixed-point (fixed_point.h), or Newton's method. */
#include "integrators/gauss.h"

#include <math.h>
#include <string.h>

static const char name[] = "gauss";

/* Noise: units of round-off of the coordinates. */
static const double noise = 8;

cb_status cb_gauss_stage_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

static cb_status sweep(void *method, int iteration, cb_stage_change *c) {
  cb_gauss *m = method;
  (void)iteration;
  return m->form->sweep(m, c);
}

static cb_status fixed_point(cb_gauss *m) {
  /* An error of eps of the moves a step would be seen after 1e5 steps: it is a bias, while round-off is random. */
  const double target = m->tolerance > 0 ? m->tolerance : DBL_EPSILON / 16384;
  const cb_fixed_point how = {name, target, noise, m->max_iterations, &m->contraction};
  return cb_fixed_point_solve(&how, m->integrator, sweep, m);
}

static cb_status newton(cb_gauss *m) {
  cb_integrator *in = m->integrator;
  const double target = m->tolerance > 0 ? m->tolerance : 2 * DBL_EPSILON;
  double *r = m->residual, norm, before = INFINITY;
  cb_status status = m->form->residual(m, r, &norm);
  if (status) return status;
  for (int it = 0;; it++) {
    if (!(norm < INFINITY)) return cb_stage_not_finite(name, it);
    in->iterations = it;
    in->residual = norm;
    if ((norm <= target && it > 0) || it == m->max_iterations) break;
    if ((status = m->form->matrix(m, m->matrix)) || (status = cb_stage_matrix_factor(m->matrix))) return status;
    cb_stage_change c = {0};
    cb_stage_matrix_solve(m->matrix, r);
    if ((status = m->form->correct(m, r, &c)) || (status = m->form->residual(m, r, &norm))) return status;
    in->iterations = it + 1;
    in->residual = norm;
    /* What no longer falls by a factor while corrections are noise cannot be improved. */
    if (cb_stage_change_is_noise(&c, noise) && norm > before / 16) return CB_OK;
    if (it > 8 && norm > before) break;
    before = norm;
  }
  if (norm <= target) return CB_OK;
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "gauss: Newton's method stands at a relative residual of %.2g after %d iterations; "
                 "a smaller step may do",
                 in->residual, in->iterations);
}

cb_status cb_gauss_make_matrix(cb_gauss *m, const bool *mask, const double *pivots) {
  const cb_pattern *pattern = cb_forces_pattern(m->forces);
  if (!pattern) return CB_ERROR_MEMORY;
  const size_t entries = (size_t)pattern->start[m->n] * (size_t)(m->k * m->k) * (size_t)m->s;
  const size_t unknowns = (size_t)m->n * (size_t)(m->s * m->dim);
  if (!m->residual) m->residual = cb_arena_alloc(m->arena, unknowns, sizeof(double));
  if (!m->jacobian_x) m->jacobian_x = cb_arena_alloc_aligned(m->arena, entries, sizeof(double), CB_CACHE_LINE);
  if (!m->jacobian_v && m->damped)
    m->jacobian_v = cb_arena_alloc_aligned(m->arena, entries, sizeof(double), CB_CACHE_LINE);
  if (!m->residual || !m->jacobian_x || (m->damped && !m->jacobian_v))
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
