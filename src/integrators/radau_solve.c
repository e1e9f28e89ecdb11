/* Solves for the stages of one step of Radau IIA by fixed-point iteration or by Newton's method; both use the measured
 * contraction (iteration.h), except with `form: velocity`, which iterates as the publication does (Schweizer & Li,
 * radau_iia.c). The matrix is reused while it contracts well: Hairer & Wanner, Solving ODEs II (1996), IV.8. */
#include "integrators/radau.h"

#include <math.h>
#include <string.h>

static cb_status cb_radau_sweep(cb_radau *m, bool first, cb_stage_change *change);

static const char name[] = "radau_iia";

static cb_status sweep(void *method, cb_stage_change *c) { return cb_radau_sweep(method, c->iteration == 1, c); }

/* Sets *r to the correction at the present stages, with the last matrix or with a new one. */
static cb_status correction(cb_radau *m, bool fresh, double **r) {
  cb_status status = CB_OK;
  if (fresh && ((status = cb_radau_matrix(m)) || (status = cb_sparse_factor(cb_radau_sparse(m)))))
    return cb_radau_status(status);
  *r = cb_radau_residual(m);
  cb_sparse_solve(cb_radau_sparse(m), *r);
  return CB_OK;
}

/* Makes one correction. Before that it damps the previous correction by the natural monotonicity test: that correction
 * is halved, up to 12 times, until the next one, with the same matrix, is smaller or noise. Source: Deuflhard, Newton
 * Methods for Nonlinear Problems (2004), 3.3.3, doi:10.1007/978-3-642-23899-4. */
static cb_status correct(void *method, cb_stage_change *c) {
  enum { HALVINGS = 12 };
  const double slow = 1e-3; /* the contraction above which the matrix is computed again */
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

/* Makes one correction as in the publication, with a new matrix in each iteration. */
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

/* Continues until the largest correction of any unknown, also of unscaled multipliers, is below the tolerance, and
 * accepts the result after the maximum number of iterations. */
static cb_stage_end end_published(const cb_iteration *how, const cb_stage_change *c) {
  return fmax(c->change, c->multiplier) <= how->target || c->iteration == how->maximum ? CB_STAGE_ENDED : CB_STAGE_ON;
}

/* Runs the iteration. m->noise takes into account that g has the round-off of the coordinates, which A^-1 transfers to
 * h v. */
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
                      .maximum = m->max_iterations};
  if (m->published)
    how = (cb_iteration){name, CB_NEWTON, correct_published, end_published, .target = target, .maximum = 102};
  else if (cb_solver_is_newton(&m->solver))
    how = (cb_iteration){name,
                         CB_NEWTON,
                         correct,
                         cb_end_by_contraction,
                         .target = target,
                         .noise = m->noise,
                         .stall = 1.0 / 16,
                         .lost = INFINITY,
                         .maximum = m->max_iterations};
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
  /* Every failed step counts as a failure of the iteration, because an iteration that diverges may leave a chart or
   * overflow before it reaches its maximum. */
  const bool changed =
      cb_solver_after(&m->solver, status > 0 ? CB_STEP_NO_CONVERGENCE : status, m->integrator->iterations);
  /* Stiff forces may have been extrapolated too far for Newton's method to converge. */
  const bool extrapolated = cb_solver_is_newton(&m->solver) && status > 0 && cb_predictor_past(m->predictor, 0);
  if (!changed && !extrapolated) return status;
  cb_predictor_reset(m->predictor);
  status = solve_once(m);
  if (status && changed) cb_solver_reset(&m->solver); /* the iteration was not the cause */
  return status;
}

/* --- fixed-point iteration: the multipliers are corrected with one Gram matrix for all stages ---
 *
 *   E_i = h sum_j a_ij (F_j/m - W G_j^T lambda_j),   D_i = h sum_j a_ij (v0 + E_j + W G_j^T mu_j)
 * These are new E_i and D_i, and g_i and rate_i are extrapolated to them with the gradients G_i. With S = G W G^T at
 * the middle of the step, the multipliers are corrected by
 *   ggl           h S A d(lambda) = rate,      S d(mu) = rate - (1/h) A^-1 g
 *   position      h^2 S A^2 d(lambda) = g
 *   velocity      h^2 S (b A) d(lambda) = g_s,   h S b d(lambda) = rate_s
 *   acceleration  these and   S d(lambda_s) = d(rate_s)/dt
 * with the symbols of radau_iia.c, A the matrix a_ij and b its last row. The iteration contracts by about h times the
 * rate of change of S, or by h^2 dF/dx: for short steps it is Newton's method.
 */

/* Computes the S d(lambda) and S d(mu) that the rows require, from g, rate and the accelerations. */
static void conditions(cb_radau *m) {
  const int s = m->s, last = s - 1;
  const double h = m->h;
  if (m->index == CB_RADAU_ACCELERATION) {
    double *second = cb_radau_row(m, m->z, last); /* the memory for corrections of mu, which do not exist here */
    cb_radau_along(m, last, cb_radau_rate(m, last), second);
    for (int r = 0; r < m->R; r++) second[r] += m->gamma[r];
  }
  for (int r = 0; r < m->R; r++) {
    double g[CB_RADAU_MAX], rate[CB_RADAU_MAX], asked[CB_RADAU_MAX];
    for (int i = 0; i < s; i++) {
      g[i] = cb_radau_row(m, m->g_rows, i)[r] / h;
      rate[i] = cb_radau_row(m, m->rate, i)[r];
    }
    const bool own_velocity = m->rows->velocity[r];
    const bool by_stage = own_velocity || m->index == CB_RADAU_GGL;
    for (int i = 0; i < s; i++) asked[i] = by_stage ? rate[i] / h : g[i] / h;
    if (!by_stage && m->index != CB_RADAU_POSITION) {
      asked[0] = g[last] / h;
      asked[1] = rate[last] / h;
      if (m->index == CB_RADAU_ACCELERATION) asked[2] = cb_radau_row(m, m->z, last)[r];
    }
    for (int i = 0; i < s; i++) {
      const double *weight = by_stage ? m->inverse_a[i] : m->from_rows[i];
      double lambda = 0, mu = rate[i];
      for (int j = 0; j < s; j++) {
        lambda += weight[j] * asked[j];
        mu -= m->inverse_a[i][j] * g[j];
      }
      cb_radau_row(m, m->y, i)[r] = lambda;
      if (m->mu && !own_velocity) cb_radau_row(m, m->z, i)[r] = mu;
    }
  }
}

/* Computes E and D of all stages from the rates and the drift. */
static void moves(const cb_radau *m, double *E, double *D) {
  const size_t count = m->count;
  for (int i = 0; i < m->s; i++) cb_radau_sum(m, m->tableau.a[i], m->rates, count + (size_t)m->R, cb_radau_of(m, E, i));
  for (int i = 0; i < m->s; i++) {
    double *to = cb_radau_of(m, D, i);
    const double whole = m->h * m->tableau.c[i];
    cb_radau_sum(m, m->tableau.a[i], E, count, to);
    for (size_t e = 0; e < count; e++) to[e] += whole * m->v0[e];
    if (!m->mu) continue;
    cb_radau_sum(m, m->tableau.a[i], m->drift, count, m->lift);
    for (size_t e = 0; e < count; e++) to[e] += m->lift[e];
  }
}

static void correct_multipliers(cb_radau *m, const double *E, const double *D) {
  const int s = m->s;
  double *carried = cb_radau_row(m, m->y, 0);
  for (int i = 0; i < s; i++) {
    double *g = cb_radau_row(m, m->g_rows, i), *rate = cb_radau_row(m, m->rate, i);
    for (int part = 0; part < 2; part++) {
      const double *to = cb_radau_of(m, (double *)(part ? E : D), i), *from = cb_radau_of(m, part ? m->E : m->D, i);
      for (size_t e = 0; e < m->count; e++) m->lift[e] = to[e] - from[e];
      cb_radau_along(m, i, m->lift, carried);
      for (int r = 0; r < m->R; r++) (part ? rate : g)[r] += carried[r];
    }
    if (!m->mu) continue;
    /* For rows of velocity, a v = b, mu keeps a W G^T mu = 0, so that positions also move along them. */
    cb_radau_along(m, i, cb_radau_of(m, m->drift, i), carried);
    for (int r = 0; r < m->R; r++)
      if (m->rows->velocity[r]) cb_radau_row(m, m->z, i)[r] = -carried[r];
  }
  conditions(m);
  for (int i = 0; i < s; i++) {
    double *y = cb_radau_row(m, m->y, i), *lambda = cb_radau_lambda(m, i), *rate = cb_radau_rate(m, i);
    cb_gram_solve(m->gram, y);
    cb_radau_lift(m, i, y, m->lift);
    for (size_t e = 0; e < m->count; e++) rate[e] -= m->lift[e];
    for (int r = 0; r < m->R; r++) lambda[r] += y[r];
    if (!m->mu) continue;
    double *z = cb_radau_row(m, m->z, i), *mu = cb_radau_row(m, m->mu, i), *drift = cb_radau_of(m, m->drift, i);
    cb_gram_solve(m->gram, z);
    cb_radau_lift(m, i, z, m->lift);
    for (size_t e = 0; e < m->count; e++) drift[e] += m->lift[e];
    for (int r = 0; r < m->R; r++) mu[r] += z[r];
  }
}

static cb_status factor(cb_radau *m) {
  if (!m->R) return CB_OK;
  const int middle = (m->s - 1) / 2;
  return cb_radau_status(
      cb_gram_factor(m->gram, cb_radau_of(m, m->X, middle), m->G + (size_t)middle * m->entries, NULL));
}

/* Makes one pass. The first pass of a step factors the Gram matrix. */
static cb_status cb_radau_sweep(cb_radau *m, bool first, cb_stage_change *c) {
  const size_t all = (size_t)m->s * m->count;
  double *E = m->next, *D = m->next + all;
  cb_status status = cb_radau_evaluate(m);
  if (!status && first) status = factor(m);
  if (status) return status;
  moves(m, E, D);
  if (m->R) {
    correct_multipliers(m, E, D);
    moves(m, E, D);
  }
  double total = 0;
  for (size_t e = 0; e < all; e++) {
    const double change = fmax(fabs(D[e] - m->D[e]), fabs(m->h * (E[e] - m->E[e])));
    total += change + (D[e] - D[e]);
    c->change = fmax(c->change, change);
    c->size = fmax(c->size, fabs(D[e]));
    m->D[e] = D[e];
    m->E[e] = E[e];
  }
  if (!(total < INFINITY)) c->change = NAN;
  for (size_t e = 0; e < m->count; e++) c->position = fmax(c->position, fabs(m->start->x[e]));
  return CB_OK;
}
