/* Iterations for the stages of one step: fixed-point with a measured contraction, or Newton's method.
 *
 * To round-off: a fixed-point iteration that changes the stages by delta and contracts by rho leaves an error of
 * delta rho/(1-rho), and ends when that is below the round-off of the moves in the step, or when the changes are noise
 * and contract no more. Source: Hairer, McLachlan & Razakarivony, Achieving Brouwer's law with implicit Runge-Kutta
 * methods, BIT 48 (2008) 231, doi:10.1007/s10543-008-0170-3.
 */
#include "integrators/gauss.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Noise: a few units of round-off of the moves in a step, or of the coordinates, at which the forces are evaluated. */
static bool is_noise(const cb_gauss_change *c) {
  return c->change <= 256 * DBL_EPSILON * c->size || c->change <= 8 * DBL_EPSILON * c->position;
}

cb_status cb_gauss_stage_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

static cb_status not_finite(int iteration) {
  return cb_fail(CB_STEP_NOT_FINITE, "gauss: a stage is not finite in iteration %d", iteration);
}

static cb_status fixed_point(cb_gauss *m) {
  cb_integrator *in = m->integrator;
  /* An error of eps of the moves a step would be seen after 1e5 steps: it is a bias, while round-off is random. */
  const double target = m->tolerance > 0 ? m->tolerance : DBL_EPSILON / 16384;
  double before = 0, rho = m->contraction;
  for (int it = 1; it <= m->max_iterations; it++) {
    cb_gauss_change c = {0};
    const cb_status status = m->form->sweep(m, &c);
    if (status) return status;
    if (!(c.change < INFINITY && c.size < INFINITY)) return not_finite(it);
    const bool noise = is_noise(&c);
    in->iterations = it;
    in->residual = c.size > 0 ? c.change / c.size : 0;
    if (it > 1) {
      rho = before > 0 ? c.change / before : 0;
      if (!noise || !m->contraction) m->contraction = rho < 1 ? rho : 0;
    }
    if (c.change <= target * c.size) return CB_OK;
    if (rho > 0 && rho < 1 && c.change * rho / (1 - rho) <= target * c.size) return CB_OK;
    if (it > 1 && noise && rho > 0.25) return CB_OK;
    if (it > 4 && rho > 1e3) break;
    before = c.change;
  }
  m->contraction = 0;
  return cb_fail(
      CB_STEP_NO_CONVERGENCE,
      "gauss: the fixed-point iteration stands at a relative change of %.2g after %d iterations; a smaller step or "
      "`solver: newton` may do",
      in->residual, in->iterations);
}

static cb_status newton(cb_gauss *m) {
  cb_integrator *in = m->integrator;
  const double target = m->tolerance > 0 ? m->tolerance : 2 * DBL_EPSILON;
  double *r = m->residual, norm, before = INFINITY;
  cb_status status = m->form->residual(m, r, &norm);
  if (status) return status;
  for (int it = 0;; it++) {
    if (!(norm < INFINITY)) return not_finite(it);
    in->iterations = it;
    in->residual = norm;
    if ((norm <= target && it > 0) || it == m->max_iterations) break;
    if ((status = m->form->matrix(m, m->matrix)) || (status = cb_stage_matrix_factor(m->matrix))) return status;
    cb_gauss_change c = {0};
    cb_stage_matrix_solve(m->matrix, r);
    if ((status = m->form->correct(m, r, &c)) || (status = m->form->residual(m, r, &norm))) return status;
    in->iterations = it + 1;
    in->residual = norm;
    /* What no longer falls by a factor while corrections are noise cannot be improved. */
    if (is_noise(&c) && norm > before / 16) return CB_OK;
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

static cb_status solve_once(cb_gauss *m) {
  const bool by_newton = cb_solver_is_newton(&m->solver);
  cb_status status = by_newton && !m->matrix ? m->form->prepare_newton(m) : CB_OK;
  if (!status) status = m->form->predict(m);
  if (!status) status = by_newton ? newton(m) : fixed_point(m);
  m->integrator->solver = cb_solver_name(&m->solver);
  return status;
}

cb_status cb_gauss_solve(cb_gauss *m) {
  cb_status status = solve_once(m);
  /* An iteration that diverges may also leave a chart or overflow before it runs out of iterations. */
  if (!cb_solver_after(&m->solver, status > 0 ? CB_STEP_NO_CONVERGENCE : status, m->integrator->iterations))
    return status;
  status = solve_once(m);
  if (status) cb_solver_reset(&m->solver); /* not the iteration was to blame */
  return status;
}
