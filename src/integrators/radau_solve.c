/* Iterations for the stages of one step of Radau IIA: fixed-point (fixed_point.h), or Newton's method, by the same
 * measured contraction. Its matrix is kept while it contracts well: Hairer & Wanner, Solving ODEs II (1996), IV.8.
 */
#include "integrators/radau.h"

#include <math.h>
#include <string.h>

static const char name[] = "radau_iia";

/* m->noise: g is known to the round-off of the coordinates, which A^-1 takes to h v. */
static bool is_noise(const cb_radau *m, const cb_stage_change *c) { return cb_stage_change_is_noise(c, m->noise); }

static cb_status sweep(void *method, int iteration, cb_stage_change *c) {
  return cb_radau_sweep(method, iteration == 1, c);
}

static cb_status fixed_point(cb_radau *m) {
  const double target = m->tolerance > 0 ? m->tolerance : DBL_EPSILON / 16;
  const cb_fixed_point how = {name, target, m->noise, m->max_iterations, NULL};
  return cb_fixed_point_solve(&how, m->integrator, sweep, m);
}

/* Contraction above which the matrix is made anew. */
static const double slow = 1e-3;

/* The correction at the present stages into *r: with the last matrix, or with a new one. */
static cb_status correction(cb_radau *m, bool fresh, double **r) {
  cb_status status = CB_OK;
  if (fresh && ((status = cb_radau_matrix(m)) || (status = cb_sparse_factor(cb_radau_sparse(m)))))
    return cb_radau_status(status);
  *r = cb_radau_residual(m);
  cb_sparse_solve(cb_radau_sparse(m), *r);
  return CB_OK;
}

/* Damped by the natural monotonicity test: a step is halved until the next correction with the same matrix is smaller
 * than the last one was. Source: Deuflhard, Newton Methods for Nonlinear Problems (2004), 3.3.3,
 * doi:10.1007/978-3-642-23899-4. */
static cb_status newton(cb_radau *m) {
  enum { HALVINGS = 12 };
  cb_integrator *in = m->integrator;
  const double target = m->tolerance > 0 ? m->tolerance : DBL_EPSILON / 16;
  const size_t bytes = (size_t)cb_radau_unknowns(m) * sizeof(double);
  double *last = cb_radau_last(m), *r = NULL, before = 0, multiplier, taken = 1;
  cb_stage_change c = {0};
  for (int it = 1, halvings = 0; it <= m->max_iterations;) {
    double rho = INFINITY;
    cb_status status = cb_radau_evaluate(m);
    if (status < 0 || (status && it == 1)) return status;
    if (!status && it > 1 && (status = correction(m, false, &r))) return status;
    c.change = status || it == 1 ? INFINITY : cb_radau_size(m, r);
    if (it > 1) rho = c.change / before;
    if (it > 1 && !(rho <= 1 - taken / 4) && !is_noise(m, &c) && halvings < HALVINGS) {
      cb_radau_correct(m, last, -taken / 2, &c, &multiplier);
      taken /= 2;
      halvings++;
      continue;
    }
    if (status) return status;
    if (rho > slow && (status = correction(m, true, &r))) return status;
    memcpy(last, r, bytes);
    c = (cb_stage_change){0};
    cb_radau_correct(m, r, 1, &c, &multiplier);
    if (!(c.change < INFINITY && c.size < INFINITY)) return cb_stage_not_finite(name, it);
    in->iterations = it;
    in->residual = c.size > 0 ? c.change / c.size : 0;
    if (c.change <= target * c.size) return CB_OK;
    if (rho < 1 && c.change * rho / (1 - rho) <= target * c.size) return CB_OK;
    if (it > 1 && is_noise(m, &c) && rho > 1.0 / 16) return CB_OK;
    before = c.change;
    taken = 1;
    halvings = 0;
    it++;
  }
  return cb_fail(CB_STEP_NO_CONVERGENCE,
                 "radau_iia: Newton's method stands at a relative change of %.2g after %d iterations; a smaller step "
                 "may do",
                 in->residual, in->iterations);
}

/* As published: on until the largest correction of anything, multipliers as they are, is below the tolerance, and
 * content with what there is after 102 solutions. */
static cb_status newton_published(cb_radau *m) {
  enum { MOST = 102 };
  cb_integrator *in = m->integrator;
  const double tolerance = m->tolerance > 0 ? m->tolerance : 1e-11;
  for (int it = 1; it <= MOST; it++) {
    cb_status status = cb_radau_evaluate(m);
    if (status || (status = cb_radau_matrix(m)) || (status = cb_sparse_factor(cb_radau_sparse(m))))
      return cb_radau_status(status);
    cb_stage_change c = {0};
    double multiplier, *r = cb_radau_residual(m);
    cb_sparse_solve(cb_radau_sparse(m), r);
    cb_radau_correct(m, r, 1, &c, &multiplier);
    if (!(c.change < INFINITY && multiplier < INFINITY)) return cb_stage_not_finite(name, it);
    in->iterations = it;
    in->residual = c.size > 0 ? c.change / c.size : 0;
    if (fmax(c.change, multiplier) <= tolerance) break;
  }
  return CB_OK;
}

static cb_status solve_once(cb_radau *m) {
  const bool by_newton = cb_solver_is_newton(&m->solver);
  m->integrator->solver = cb_solver_name(&m->solver);
  cb_status status = by_newton && !m->newton ? cb_radau_newton_create(m) : CB_OK;
  if (!status) status = cb_radau_predict(m, by_newton);
  if (status) return status;
  return m->published ? newton_published(m) : by_newton ? newton(m) : fixed_point(m);
}

cb_status cb_radau_solve(cb_radau *m) {
  cb_status status = solve_once(m);
  /* An iteration that diverges may also leave a chart or overflow before it runs out of iterations. */
  const bool changed =
      cb_solver_after(&m->solver, status > 0 ? CB_STEP_NO_CONVERGENCE : status, m->integrator->iterations);
  /* Stiff forces may have been extrapolated to where Newton's method does not come back from. */
  const bool extrapolated = cb_solver_is_newton(&m->solver) && status > 0 && cb_predictor_past(m->predictor, 0);
  if (!changed && !extrapolated) return status;
  cb_predictor_reset(m->predictor);
  status = solve_once(m);
  if (status && changed) cb_solver_reset(&m->solver); /* not the iteration was to blame */
  return status;
}
