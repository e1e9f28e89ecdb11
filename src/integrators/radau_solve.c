/* Iterations for the stages of one step of Radau IIA: fixed-point, or Newton's method, by the same measured
 * contraction (iteration.h). Its matrix is kept while it contracts well: Hairer & Wanner, Solving ODEs II (1996), IV.8.
 */
#include "integrators/radau.h"

#include <math.h>
#include <string.h>

static const char name[] = "radau_iia";

static cb_status sweep(void *method, cb_stage_change *c) { return cb_radau_sweep(method, c->iteration == 1, c); }

/* The correction at the present stages into *r: with the last matrix, or with a new one. */
static cb_status correction(cb_radau *m, bool fresh, double **r) {
  cb_status status = CB_OK;
  if (fresh && ((status = cb_radau_matrix(m)) || (status = cb_sparse_factor(cb_radau_sparse(m)))))
    return cb_radau_status(status);
  *r = cb_radau_residual(m);
  cb_sparse_solve(cb_radau_sparse(m), *r);
  return CB_OK;
}

/* One correction, after the last one was damped by the natural monotonicity test: a step is halved until the next
 * correction with the same matrix is smaller than the last one was. Source: Deuflhard, Newton Methods for Nonlinear
 * Problems (2004), 3.3.3, doi:10.1007/978-3-642-23899-4. */
static cb_status correct(void *method, cb_stage_change *c) {
  enum { HALVINGS = 12 };
  const double slow = 1e-3; /* contraction above which the matrix is made anew */
  cb_radau *m = method;
  double *last = cb_radau_last(m), *r = NULL, taken = 1;
  c->rho = INFINITY;
  cb_status status = cb_radau_evaluate(m);
  if (status < 0 || (status && c->iteration == 1)) return status;
  cb_stage_change next = m->moved;
  for (int halvings = 0; c->iteration > 1; halvings++) {
    if (!status && (status = correction(m, false, &r))) return status;
    next.change = status ? INFINITY : cb_radau_size(m, r);
    c->rho = next.change / c->before;
    if (c->rho <= 1 - taken / 4 || cb_stage_change_is_noise(&next, m->noise) || halvings == HALVINGS) break;
    cb_radau_correct(m, last, -taken / 2, &next);
    taken /= 2;
    if ((status = cb_radau_evaluate(m)) < 0) return status;
  }
  if (status) return status;
  if (c->rho > slow && (status = correction(m, true, &r))) return status;
  memcpy(last, r, (size_t)cb_radau_unknowns(m) * sizeof(double));
  cb_radau_correct(m, r, 1, c);
  m->moved = *c;
  return CB_OK;
}

/* As published, with all matrices new. */
static cb_status correct_published(void *method, cb_stage_change *c) {
  cb_radau *m = method;
  double *r = NULL;
  cb_status status = cb_radau_evaluate(m);
  if (!status) status = correction(m, true, &r);
  if (status) return cb_radau_status(status);
  cb_radau_correct(m, r, 1, c);
  if (!(c->multiplier < INFINITY)) c->change = NAN;
  return CB_OK;
}

/* On until the largest correction of anything, multipliers as they are, is below the tolerance, and content with what
 * there is after the last solution. */
static cb_stage_end end_published(const cb_iteration *how, const cb_stage_change *c) {
  return fmax(c->change, c->multiplier) <= how->target || c->iteration == how->most ? CB_STAGE_ENDED : CB_STAGE_ON;
}

/* m->noise: g is known to the round-off of the coordinates, which A^-1 takes to h v. */
static cb_status iterate(cb_radau *m) {
  const double target = m->tolerance > 0 ? m->tolerance : m->published ? 1e-11 : DBL_EPSILON / 16;
  cb_iteration how = {name,
                      CB_FIXED_POINT,
                      sweep,
                      cb_end_by_contraction,
                      .target = target,
                      .noise = m->noise,
                      .stall = 0.25,
                      .lost = 1e3,
                      .most = m->max_iterations};
  if (m->published)
    how = (cb_iteration){name, CB_NEWTON, correct_published, end_published, .target = target, .most = 102};
  else if (cb_solver_is_newton(&m->solver))
    how = (cb_iteration){name,
                         CB_NEWTON,
                         correct,
                         cb_end_by_contraction,
                         .target = target,
                         .noise = m->noise,
                         .stall = 1.0 / 16,
                         .lost = INFINITY,
                         .most = m->max_iterations};
  return cb_iterate(&how, m->integrator, m);
}

static cb_status solve_once(cb_radau *m) {
  const bool by_newton = cb_solver_is_newton(&m->solver);
  m->integrator->solver = cb_solver_name(&m->solver);
  cb_status status = by_newton && !m->newton ? cb_radau_newton_create(m) : CB_OK;
  if (!status) status = cb_radau_predict(m, by_newton);
  if (status) return status;
  return iterate(m);
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
