/* Evaluates the stages of a step of Radau IIA (integrators/radau_iia.c), predicts them, and ends the step.
 *
 * W = (m I)^-1 in the embedding, with the mass m and I = diag(form). In a chart W = (m g_ij)^-1 with the metric g_ij at
 * the position of the stage.
 *
 * The stages are found by fixed-point iteration or by Newton's method; both use the measured contraction (iteration.h),
 * except with `form: velocity`, which iterates as the publication does (Schweizer & Li, radau_iia.c). The matrix is
 * reused while it contracts well: Hairer & Wanner, Solving ODEs II (1996), IV.8. */
#include "integrators/radau.h"

#include "numerics/dd.h"

#include <math.h>
#include <string.h>

/* --- the stages --- */

cb_status cb_radau_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

static cb_status fail_at(const cb_radau *m, int particle, cb_status status) {
  m->integrator->failed_particle = particle;
  return cb_radau_status(status);
}

/* Computes out[count] = h sum_j a_j value_j, where value_j begins at value + j stride. */
static void radau_sum(const cb_radau *m, const double *a, const double *value, size_t stride, double *out) {
  cb_stage_sum(m->count, m->s, m->h, a, value, stride, out);
}

void cb_radau_along(const cb_radau *m, int i, const double *v, double *out) {
  const cb_rows *rows = m->rows;
  const double *G = m->G + (size_t)i * m->entries;
  const int k = m->k;
  for (int r = 0; r < m->R; r++) {
    double sum = 0;
    for (int e = rows->start[r]; e < rows->start[r + 1]; e++) {
      const double *from = G + (size_t)e * (size_t)k, *at = v + (size_t)rows->particle[e] * (size_t)k;
      for (int c = 0; c < k; c++) sum += from[c] * at[c];
    }
    out[r] = sum;
  }
}

/* Computes out[count] = G_i^T y with the gradients G_i of stage i. */
static void pull(const cb_radau *m, int i, const double *y, double *out) {
  const cb_rows *rows = m->rows;
  const double *G = m->G + (size_t)i * m->entries;
  const int k = m->k;
  memset(out, 0, m->count * sizeof *out);
  for (int r = 0; r < m->R; r++)
    for (int e = rows->start[r]; e < rows->start[r + 1]; e++) {
      const double *from = G + (size_t)e * (size_t)k;
      double *to = out + (size_t)rows->particle[e] * (size_t)k;
      for (int c = 0; c < k; c++) to[c] += y[r] * from[c];
    }
}

/* Computes out[count] = W G_i^T y with the gradients G_i of stage i. */
static void radau_lift(const cb_radau *m, int i, const double *y, double *out) {
  const int k = m->k;
  pull(m, i, y, out);
  for (int a = 0; a < m->n; a++) {
    double *to = out + (size_t)a * (size_t)k;
    const double factor = 1 / m->mass[a];
    if (!m->chart) {
      for (int c = 0; c < k; c++) to[c] *= m->g->form[c] * factor;
      continue;
    }
    const double *inverse = m->inverse + ((size_t)i * (size_t)m->n + (size_t)a) * (size_t)(k * k);
    double sum[CB_Q_MAX];
    for (int c = 0; c < k; c++) {
      sum[c] = 0;
      for (int l = 0; l < k; l++) sum[c] += inverse[c * k + l] * to[l];
    }
    for (int c = 0; c < k; c++) to[c] = factor * sum[c];
  }
}

/* Returns the round-off error of the length d of a rod in the published code (Schweizer & Li, radau_iia.c). In polar
 * coordinates (a, b, c) this code computes d from an inverse cosine:
 *   C(d) = C(a1) C(a2) +- S(a1) S(a2) (cos b1 cos b2 + sin b1 sin b2 cos(c1 - c2))
 * C and S are cos and sin on a sphere, cosh and sinh in H^3, and a is in radii. Returns 0 in other spaces and charts,
 * and if the row is not a rod. */
static double published_error(const cb_radau *m, int row, const double *q) {
  const cb_space *g = m->g;
  const double K = g->factor[0].curvature, root = sqrt(fabs(K));
  int i, j;
  double d;
  if (g->n_factors != 1 || K == 0 || g->dim != 3 || strcmp(g->chart->name, "polar") ||
      !cb_system_constraint_is_rod(m->integrator->system, row, &i, &j))
    return 0;
  const double *x = q + cb_system_index(m->integrator->system, i) * m->k;
  const double *y = q + cb_system_index(m->integrator->system, j) * m->k;
  if (g->chart->distance(g, x, y, &d, NULL, NULL)) return 0;
  const double a1 = root * x[0], a2 = root * y[0];
  const double angle = cos(x[1]) * cos(y[1]) + sin(x[1]) * sin(y[1]) * cos(x[2] - y[2]);
  const double rough = K > 0 ? acos(cos(a1) * cos(a2) + sin(a1) * sin(a2) * angle)
                             : acosh(cosh(a1) * cosh(a2) - sinh(a1) * sinh(a2) * angle);
  return rough / root - d;
}

/* Computes g, G and the rates of stage i, and gamma at the last stage if it is needed. The positions are known to more
 * digits than X can store, and g is corrected by these digits, except with `form: velocity`. */
static cb_status evaluate_rows(cb_radau *m, int i) {
  const size_t R = (size_t)m->R;
  const double t = m->start->t + m->tableau.c[i] * m->h;
  const double *x = cb_radau_of(m, m->X, i), *v = cb_radau_of(m, m->V, i), *D = cb_radau_of(m, m->D, i);
  double *g = m->g_rows + (size_t)i * R, *G = m->G + (size_t)i * m->entries, *rate = m->rate + (size_t)i * R;
  cb_status status = cb_constraints_eval(m->constraints, t, x, g, G);
  if (status) return cb_radau_status(status);
  if (m->plain)
    cb_radau_along(m, i, v, rate);
  else if ((status = cb_constraints_rate(m->constraints, t, x, v, rate, NULL)))
    return cb_radau_status(status);
  if (m->index == CB_RADAU_ACCELERATION && i == m->s - 1 &&
      (status = cb_constraints_second(m->constraints, t, x, v, m->gamma, NULL)))
    return cb_radau_status(status);
  if (m->published) {
    for (int r = 0; r < m->rows->own; r++) g[r] += published_error(m, r, x);
    return CB_OK;
  }
  for (size_t e = 0; e < m->count; e++) m->lift[e] = ((m->start->x[e] - x[e]) + D[e]) + m->start->x_low[e];
  double *rest = cb_radau_row(m, m->y, i); /* the memory m->y is not used between corrections */
  cb_radau_along(m, i, m->lift, rest);
  for (size_t r = 0; r < R; r++) g[r] += m->rows->velocity[r] ? 0 : rest[r];
  return CB_OK;
}

/* Computes dv/dt at stage i. In a chart it also stores the inverse of the metric g_ij at each particle. */
static cb_status accelerate(cb_radau *m, int i) {
  const int k = m->k;
  const double *F = cb_radau_of(m, m->F, i);
  double *rate = cb_radau_rate(m, i);
  if (m->R) pull(m, i, cb_radau_lambda(m, i), m->lift);
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)a * (size_t)k;
    if (!m->chart) {
      const double factor = 1 / m->mass[a];
      for (int c = 0; c < k; c++)
        rate[at + (size_t)c] = factor * (F[at + (size_t)c] - (m->R ? m->g->form[c] * m->lift[at + (size_t)c] : 0));
      continue;
    }
    double buffer[CB_CHART_METRIC_CAPACITY];
    const cb_chart_metric x = cb_chart_metric_in(k, buffer);
    const cb_status status = cb_chart_metric_at(m->g, cb_radau_of(m, m->X, i) + at, 1, &x);
    if (status) return fail_at(m, a, status);
    double total[CB_Q_MAX];
    for (int c = 0; c < k; c++) total[c] = F[at + (size_t)c] - (m->R ? m->lift[at + (size_t)c] : 0);
    cb_chart_rate_velocity(k, &x, m->mass[a], cb_radau_of(m, m->V, i) + at, total, rate + at);
    double *inverse = m->inverse + ((size_t)i * (size_t)m->n + (size_t)a) * (size_t)(k * k);
    for (int c = 0; c < k; c++)
      for (int l = 0; l < k; l++) inverse[c * k + l] = x.inverse[c * k + l];
  }
  return CB_OK;
}

cb_status cb_radau_evaluate(cb_radau *m) {
  double time[CB_RADAU_MAX], *F[CB_RADAU_MAX];
  const double *X[CB_RADAU_MAX], *V[CB_RADAU_MAX];
  for (int i = 0; i < m->s; i++) {
    double *x = cb_radau_of(m, m->X, i), *v = cb_radau_of(m, m->V, i);
    const double *D = cb_radau_of(m, m->D, i), *E = cb_radau_of(m, m->E, i);
    for (size_t e = 0; e < m->count; e++) {
      x[e] = m->start->x[e] + (D[e] + m->start->x_low[e]);
      v[e] = m->v0[e] + E[e];
    }
    time[i] = m->start->t + m->tableau.c[i] * m->h;
    X[i] = x;
    V[i] = v;
    F[i] = cb_radau_of(m, m->F, i);
  }
  cb_status status = cb_forces_eval_stages(m->forces, m->s, time, X, V, F);
  for (int i = 0; !status && i < m->s; i++) {
    if (m->R && (status = evaluate_rows(m, i))) return status;
    status = accelerate(m, i);
    if (!status && m->mu) radau_lift(m, i, cb_radau_row(m, m->mu, i), cb_radau_of(m, m->drift, i));
  }
  return cb_radau_status(status);
}

/* Computes v0 from the momenta. */
static cb_status begin(cb_radau *m) {
  const int k = m->k;
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)a * (size_t)k;
    if (!m->chart) {
      for (int c = 0; c < k; c++) m->v0[at + (size_t)c] = m->start->p[at + (size_t)c] / m->mass[a];
      continue;
    }
    double buffer[CB_CHART_METRIC_CAPACITY];
    const cb_chart_metric x = cb_chart_metric_in(k, buffer);
    const cb_status status = cb_chart_metric_at(m->g, m->start->x + at, 0, &x);
    if (status) return fail_at(m, a, status);
    cb_chart_velocity_of(k, &x, m->mass[a], m->start->p + at, m->v0 + at);
  }
  return CB_OK;
}

/* Predicts the stages from the acceleration and multipliers at the start. */
static cb_status start_from_forces(cb_radau *m) {
  double *rate = cb_radau_rate(m, 0);
  cb_status status;
  if (m->R) {
    status = cb_gram_multipliers(m->gram, m->start->t, m->start->x, m->v0, cb_radau_lambda(m, 0), rate);
  } else {
    status = cb_forces_eval(m->forces, m->start->t, m->start->x, m->v0, m->F);
    memcpy(m->X, m->start->x, m->count * sizeof(double));
    memcpy(m->V, m->v0, m->count * sizeof(double));
    if (!status) status = accelerate(m, 0);
  }
  for (int i = 1; i < m->s; i++) memcpy(cb_radau_rate(m, i), rate, (m->count + (size_t)m->R) * sizeof(double));
  return cb_radau_status(status);
}

/* Predicts the stages along geodesics, because stiff forces, if they are extrapolated, may move the body far away in a
 * step. In the embedding the stages are on a straight line; the rows of the space then correct the difference from the
 * geodesic. */
static cb_status start_without_forces(cb_radau *m) {
  const int k = m->k;
  memset(m->rates, 0, (size_t)m->s * (m->count + (size_t)m->R) * sizeof(double));
  if (!m->chart || m->published) return CB_OK;
  const double none[CB_Q_MAX] = {0};
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)a * (size_t)k;
    double buffer[CB_CHART_METRIC_CAPACITY];
    const cb_chart_metric x = cb_chart_metric_in(k, buffer);
    const cb_status status = cb_chart_metric_at(m->g, m->start->x + at, 1, &x);
    if (status) return fail_at(m, a, status);
    cb_chart_rate_velocity(k, &x, m->mass[a], m->v0 + at, none, cb_radau_rate(m, 0) + at);
  }
  for (int i = 1; i < m->s; i++) memcpy(cb_radau_rate(m, i), cb_radau_rate(m, 0), m->count * sizeof(double));
  return CB_OK;
}

cb_status cb_radau_predict(cb_radau *m, bool newton) {
  const size_t each = m->count + (size_t)m->R;
  cb_status status = begin(m);
  if (status) return status;
  if (m->mu) memset(m->mu, 0, (size_t)m->s * (size_t)m->R * sizeof(double));
  if (m->published || !cb_predictor_next(m->predictor, m->h, m->rates)) {
    if ((status = newton ? start_without_forces(m) : start_from_forces(m))) return status;
  }
  for (int i = 0; i < m->s; i++) radau_sum(m, m->tableau.a[i], m->rates, each, cb_radau_of(m, m->E, i));
  for (int i = 0; i < m->s; i++) {
    double *D = cb_radau_of(m, m->D, i);
    const double whole = m->h * m->tableau.c[i];
    radau_sum(m, m->tableau.a[i], m->E, m->count, D);
    for (size_t e = 0; e < m->count; e++) D[e] += whole * m->v0[e];
  }
  return CB_OK;
}

/* For CB_RADAU_POSITION: changes the velocity at the end along W G^T so that dg/dt = 0. */
static cb_status project(cb_radau *m) {
  const int last = m->s - 1;
  const double t = m->start->t + m->h;
  double *x = cb_radau_of(m, m->X, last), *E = cb_radau_of(m, m->E, last), *D = cb_radau_of(m, m->D, last);
  double *v = cb_radau_of(m, m->V, last), *y = cb_radau_row(m, m->y, last), *G = m->G + (size_t)last * m->entries;
  for (size_t e = 0; e < m->count; e++) {
    x[e] = m->start->x[e] + (D[e] + m->start->x_low[e]);
    v[e] = m->v0[e] + E[e];
  }
  cb_status status = cb_constraints_rate(m->constraints, t, x, v, y, G);
  if (!status) status = cb_gram_factor(m->gram, x, G, NULL);
  if (status) return cb_radau_status(status);
  cb_gram_solve(m->gram, y);
  cb_gram_lift(m->gram, y, -1, E);
  return CB_OK;
}

cb_status cb_radau_finish(cb_radau *m, cb_state *state) {
  const int last = m->s - 1, k = m->k;
  double *D = cb_radau_of(m, m->D, last), *E = cb_radau_of(m, m->E, last), *dp = m->lift;
  const double *lambda = cb_radau_lambda(m, last);
  cb_status status;
  if (m->R && m->index == CB_RADAU_POSITION && (status = project(m))) return status;
  double total = 0;
  for (size_t e = 0; e < m->count; e++) total += D[e] + E[e];
  if (!(total - total == 0))
    return cb_fail(CB_STEP_NOT_FINITE, "radau_iia: the state is not finite after a step of %g: use a smaller `step`",
                   m->h);
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)a * (size_t)k;
    if (!m->chart) {
      for (int c = 0; c < k; c++) dp[at + (size_t)c] = m->mass[a] * E[at + (size_t)c];
      continue;
    }
    double q[CB_Q_MAX], u[CB_Q_MAX];
    for (int c = 0; c < k; c++) {
      const size_t e = at + (size_t)c;
      q[c] = state->x[e] + (state->x_low[e] + D[e]);
      u[c] = m->v0[e] + E[e];
    }
    double buffer[CB_CHART_METRIC_CAPACITY];
    const cb_chart_metric x = cb_chart_metric_in(k, buffer);
    if ((status = cb_chart_metric_at(m->g, q, 0, &x))) return fail_at(m, a, status);
    cb_chart_momentum_of(k, &x, m->mass[a], u, dp + at);
  }
  cb_compensated_add(m->count, state->x, state->x_low, D, m->compensated, 1);
  if (m->chart) {
    memcpy(state->p, dp, m->count * sizeof(double));
    memset(state->p_low, 0, m->count * sizeof(double));
  } else {
    cb_compensated_add(m->count, state->p, state->p_low, dp, m->compensated, 1);
  }
  if (m->R) memcpy(m->multiplier, lambda, (size_t)m->R * sizeof(double));
  cb_predictor_push(m->predictor, m->h, m->rates);
  return CB_OK;
}

/* --- solving for the stages --- */

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

/* Makes one correction. First it damps the previous correction by the natural monotonicity test: the previous
 * correction is halved, up to 12 times, until the correction after it, computed with the same matrix, is smaller or is
 * noise. Source: Deuflhard, Newton Methods for Nonlinear Problems (2004), 3.3.3, doi:10.1007/978-3-642-23899-4. */
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

/* Continues the iteration until the largest correction of any unknown is below the tolerance, where multipliers are not
 * scaled. Accepts the result after the maximum number of iterations. */
static cb_stage_end end_published(const cb_iteration *how, const cb_stage_change *c) {
  return fmax(c->change, c->multiplier) <= how->target || c->iteration == how->maximum ? CB_STAGE_ENDED : CB_STAGE_ON;
}

/* Runs the iteration for the stages. Its tolerance contains m->noise, because the residuals g of the rows have the
 * round-off of the coordinates, and the inverse of the coefficient matrix A transfers this round-off to h v. */
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
  /* The fixed-point iteration was not the cause of the failure, because Newton's method failed, too. */
  if (status && changed) cb_solver_reset(&m->solver);
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

/* Computes the values that S d(lambda) and S d(mu) must have so that the rows are satisfied, from g, its rate and the
 * accelerations. */
static void conditions(cb_radau *m) {
  const int s = m->s, last = s - 1;
  const double h = m->h;
  if (m->index == CB_RADAU_ACCELERATION) {
    double *second = cb_radau_row(m, m->z, last); /* the memory for corrections of mu: here there is no mu */
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
  for (int i = 0; i < m->s; i++) radau_sum(m, m->tableau.a[i], m->rates, count + (size_t)m->R, cb_radau_of(m, E, i));
  for (int i = 0; i < m->s; i++) {
    double *to = cb_radau_of(m, D, i);
    const double whole = m->h * m->tableau.c[i];
    radau_sum(m, m->tableau.a[i], E, count, to);
    for (size_t e = 0; e < count; e++) to[e] += whole * m->v0[e];
    if (!m->mu) continue;
    radau_sum(m, m->tableau.a[i], m->drift, count, m->lift);
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
    /* A row of velocity is a v = b with a row vector a. Its mu is chosen so that a W G^T mu = 0: the correction W G^T
     * mu of the positions then satisfies this row too. */
    cb_radau_along(m, i, cb_radau_of(m, m->drift, i), carried);
    for (int r = 0; r < m->R; r++)
      if (m->rows->velocity[r]) cb_radau_row(m, m->z, i)[r] = -carried[r];
  }
  conditions(m);
  for (int i = 0; i < s; i++) {
    double *y = cb_radau_row(m, m->y, i), *lambda = cb_radau_lambda(m, i), *rate = cb_radau_rate(m, i);
    cb_gram_solve(m->gram, y);
    radau_lift(m, i, y, m->lift);
    for (size_t e = 0; e < m->count; e++) rate[e] -= m->lift[e];
    for (int r = 0; r < m->R; r++) lambda[r] += y[r];
    if (!m->mu) continue;
    double *z = cb_radau_row(m, m->z, i), *mu = cb_radau_row(m, m->mu, i), *drift = cb_radau_of(m, m->drift, i);
    cb_gram_solve(m->gram, z);
    radau_lift(m, i, z, m->lift);
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

/* Makes one pass of the fixed-point iteration over all stages. The first pass of a step factors the Gram matrix. */
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
