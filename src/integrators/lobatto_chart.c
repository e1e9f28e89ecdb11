/* Lobatto IIIA-IIIB in a fixed chart with metric g_ij(q), with or without constraints g(t, q) = 0.
 *
 * H = g^ij(q) p_i p_j/2m + V(t, q); s stages, order 2s-2 (s = 2 is the generalised RATTLE):
 *   Q_i = q0 + h sum_j a_ij u_j,      u_j = dH/dp(Q_j, P_j),        P_i = p0 + h sum_j a^_ij f_j,
 *   f_j = -dH/dq(Q_j, P_j) + damping - G(Q_j)^T lambda_j,           g(t_i, Q_i) = 0, G = dg/dq,
 *   q1 = Q_s,  p1 = p0 + h sum_j b_j f_j with the last multiplier from dg/dt(t1, q1, u1) = 0.
 * with the metric g_ij and its inverse g^ij, the mass m, the potential V, the multipliers lambda_j, and the
 * coefficients a, c of IIIA, a^ of IIIB and b. Stage times are those of the positions, t_i = t + c_i h, as if t were
 * another position. As a_1j = a^_is = 0, the first stage is at q0, and the last rate enters only p1. Without damping
 * the integrator is symplectic and symmetric.
 *
 * The stages are found by fixed-point iteration, or by Newton's method (lobatto_chart_newton.c).
 *
 * Source: Jay, Symplectic partitioned Runge-Kutta methods for constrained Hamiltonian systems, SIAM J. Numer. Anal. 33
 * (1996) 368, doi:10.1137/0733019; Hairer, Lubich & Wanner, Geometric Numerical Integration, 2nd ed. (2006), VII.1.
 */
#include "integrators/lobatto_chart_private.h"
#include "numerics/dd.h"

#include <string.h>
#include <math.h>

static cb_status cb_lobatto_chart_fixed_point(cb_lobatto_chart *m);

static void cb_lobatto_chart_predict(cb_lobatto_chart *m);

/* --- memory --- */

static cb_status allocate(cb_lobatto_chart *m) {
  const size_t stages = (size_t)m->s, count = m->count, rows = (size_t)m->rows;
  cb_arena_doubles(m->arena, stages * count, &m->q, &m->z, &m->u, &m->w, &m->F);
  cb_arena_doubles(m->arena, stages * count * (size_t)m->d, &m->inverse);
  cb_arena_doubles(m->arena, count, &m->x1, &m->x1_low, &m->p1, &m->p1_low, &m->change);
  cb_arena_doubles(m->arena, (stages - 1) * (count + rows), &m->rates);
  cb_arena_doubles(m->arena, (stages - 1) * rows, &m->gap);
  cb_arena_doubles(m->arena, stages * m->entries, &m->G);
  m->metric = cb_chart_metrics(m->arena, m->d, 1, (size_t)m->n);
  return cb_arena_lost(m->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for the stages of %d particles", m->n) : CB_OK;
}

static cb_status prepare(cb_lobatto_chart *m) {
  cb_lobatto tables = {.s = m->s};
  cb_status status = cb_tableau_lobatto(m->s, &m->tableau);
  if (!status) status = cb_lobatto_tables(&tables);
  if (status) return status;
  memcpy(m->Winv, tables.Winv, sizeof m->Winv);
  m->constraints = cb_forces_constraints(m->forces);
  if (m->constraints) {
    m->pattern = cb_constraints_rows(m->constraints);
    m->rows = m->pattern->rows;
    m->entries = (size_t)m->pattern->start[m->rows] * (size_t)m->d;
    if ((status = cb_gram_create(m->forces, m->constraints, &m->gram))) return status;
  }
  if ((status = allocate(m))) return status;
  const int depth = m->s <= 3 ? 2 : 1;
  status = cb_predictor_create(m->s, m->tableau.c, depth, m->count, &m->predict_u);
  if (!status)
    status = cb_predictor_create(m->s - 1, m->tableau.c, depth, m->count + (size_t)m->rows, &m->predict_rates);
  if (!status && cb_solver_may_be_newton(&m->solver)) status = cb_lobatto_chart_newton_create(m, &m->newton);
  return status;
}

static void destroy(void *form) {
  cb_lobatto_chart *m = form;
  cb_lobatto_chart_newton_free(m->newton);
  cb_predictor_free(m->predict_u);
  cb_predictor_free(m->predict_rates);
  cb_gram_free(m->gram);
  cb_arena_free(m->arena);
}

static cb_status create(cb_integrator *in, const cb_lobatto_options *o, void **out) {
  cb_lobatto_chart *m = cb_arena_object(sizeof *m, "the integrator `lobatto`");
  if (!m) return CB_ERROR_MEMORY;
  *m = (cb_lobatto_chart){.arena = m->arena, CB_METHOD_OF(in), CB_METHOD_OPTIONS(o)};
  m->d = m->g->dim;
  m->count = (size_t)m->n * (size_t)m->d;
  cb_solver_start(&m->solver, o->solver, m->n);
  const cb_status status = prepare(m);
  if (status) {
    destroy(m);
    return status;
  }
  in->solver = cb_solver_name(&m->solver);
  *out = m;
  return CB_OK;
}

/* Discards the data that were computed at the position of the state. */
static void forget(cb_lobatto_chart *m) {
  m->has_start = false;
  cb_predictor_reset(m->predict_u);
  cb_predictor_reset(m->predict_rates);
}

static void reset(void *form) {
  cb_lobatto_chart *m = form;
  forget(m);
  cb_solver_reset(&m->solver);
  m->integrator->solver = cb_solver_name(&m->solver);
}

/* --- stages --- */

cb_status cb_lobatto_chart_fail(cb_lobatto_chart *m, int particle, cb_status status) {
  if (particle >= 0) m->integrator->failed_particle = particle;
  return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
}

void cb_lobatto_chart_place(cb_lobatto_chart *m) {
  memcpy(m->q, m->start->x, m->count * sizeof(double));
  for (int i = 1; i < m->s; i++)
    for (size_t e = 0, at = (size_t)i * m->count; e < m->count; e++, at++)
      m->q[at] = m->start->x[e] + (m->z[at] + m->start->x_low[e]);
}

cb_status cb_lobatto_chart_forces(cb_lobatto_chart *m) {
  const int first = m->damped ? 0 : 1, stages = m->s - 1 - first;
  double time[CB_LOBATTO_MAX], *F[CB_LOBATTO_MAX];
  const double *x[CB_LOBATTO_MAX], *v[CB_LOBATTO_MAX];
  for (int i = 0; i < stages; i++) {
    const size_t at = (size_t)(first + i) * m->count;
    time[i] = cb_lobatto_chart_time(m, first + i);
    x[i] = m->q + at;
    v[i] = m->u + at;
    F[i] = m->F + at;
  }
  cb_status status = stages ? cb_forces_eval_stages(m->forces, stages, time, x, v, F) : CB_OK;
  for (int i = 1; m->rows && !status && i < m->s; i++)
    status = cb_constraints_eval(m->constraints, cb_lobatto_chart_time(m, i), m->q + (size_t)i * m->count,
                                 m->gap + (i - 1) * m->rows, m->G + (size_t)i * m->entries);
  return cb_lobatto_chart_fail(m, -1, status);
}

void cb_lobatto_chart_pull(const cb_lobatto_chart *m, int i, const double *y, double *to) {
  const double *G = m->G + (size_t)i * m->entries;
  for (int r = 0; r < m->rows; r++)
    for (int e = m->pattern->start[r]; e < m->pattern->start[r + 1]; e++)
      for (int c = 0; c < m->d; c++) to[m->pattern->particle[e] * m->d + c] -= y[r] * G[e * m->d + c];
}

/* Computes, at the state, the forces F, the gradients G of the constraints and the factors of G M^-1 G^T (M is the mass
 * times the metric), unless they are known from the last step. */
static cb_status begin(cb_lobatto_chart *m) {
  if (m->has_start) return CB_OK;
  const cb_state *start = m->start;
  cb_status status;
  for (int a = 0; a < m->n; a++)
    if ((status = cb_chart_metric_at(m->g, start->x + a * m->d, 1, &m->metric[a])))
      return cb_lobatto_chart_fail(m, a, status);
  if (!m->damped && (status = cb_forces_eval(m->forces, start->t, start->x, NULL, m->F)))
    return cb_lobatto_chart_fail(m, -1, status);
  if (m->rows && ((status = cb_constraints_eval(m->constraints, start->t, start->x, NULL, m->G)) ||
                  (status = cb_gram_factor(m->gram, start->x, m->G, NULL))))
    return cb_lobatto_chart_fail(m, -1, status);
  m->has_start = true;
  return CB_OK;
}

static cb_status solve_once(void *method) {
  cb_lobatto_chart *m = method;
  const bool by_newton = cb_solver_is_newton(&m->solver);
  cb_status status = CB_OK;
  if (by_newton && !m->newton) {
    m->has_start = false; /* creating Newton's method overwrites the data of the start */
    status = cb_lobatto_chart_newton_create(m, &m->newton);
  }
  if (!status) status = begin(m);
  if (status) return status;
  cb_lobatto_chart_predict(m);
  m->integrator->solver = cb_solver_name(&m->solver);
  return by_newton ? cb_lobatto_chart_newton_solve(m) : cb_lobatto_chart_fixed_point(m);
}

/* --- the end of the step --- */

/* Adds h sum_j b_j value_j over the first `stages` stages to high + low, including the rounding errors of b_j. */
static void add_weighted(cb_lobatto_chart *m, int stages, const double *value, size_t stride, double *high,
                         double *low) {
  cb_lobatto_chart_sum(m, stages, m->tableau.b_low, value, stride, m->change);
  for (size_t e = 0; e < m->count; e++) low[e] += m->change[e];
  cb_lobatto_chart_sum(m, stages, m->tableau.b, value, stride, m->change);
  cb_compensated_add(m->count, high, low, m->change, true, 1);
}

/* Removes from p1 the part that violates the constraints, by the last multiplier. */
static cb_status project_momentum(cb_lobatto_chart *m, double t1) {
  const int d = m->d, last = m->s - 1;
  double *u1 = m->change, *y = m->gap;
  cb_status status;
  for (int pass = 0; pass < 2; pass++) { /* the second pass removes the round-off of the first */
    for (int a = 0; a < m->n; a++) cb_chart_velocity_of(d, &m->metric[a], m->mass[a], m->p1 + a * d, u1 + a * d);
    if ((status =
             cb_constraints_rate(m->constraints, t1, m->x1, u1, y, pass ? NULL : m->G + (size_t)last * m->entries)))
      return status;
    if (!pass && (status = cb_gram_factor(m->gram, m->x1, m->G + (size_t)last * m->entries, NULL))) return status;
    cb_gram_solve(m->gram, y);
    memset(m->change, 0, m->count * sizeof(double));
    cb_lobatto_chart_pull(m, last, y, m->change);
    cb_compensated_add(m->count, m->p1, m->p1_low, m->change, true, 1);
  }
  return CB_OK;
}

/* Computes x1 and p1 from the stages. Also computes the metric, the forces F, the gradients G of the constraints, and
 * the factors of G M^-1 G^T (M is the mass times the metric) at x1. */
static cb_status finish(cb_lobatto_chart *m) {
  const int d = m->d, last = m->s - 1;
  const size_t bytes = m->count * sizeof(double);
  double t1 = m->start->t, t1_low = m->start->t_low;
  cb_compensated_add_one(&t1, &t1_low, m->h);
  memcpy(m->x1, m->start->x, bytes);
  memcpy(m->x1_low, m->start->x_low, bytes);
  memcpy(m->p1, m->start->p, bytes);
  memcpy(m->p1_low, m->start->p_low, bytes);
  add_weighted(m, m->s, m->u, m->count, m->x1, m->x1_low);
  add_weighted(m, m->s - 1, m->rates, m->count + (size_t)m->rows, m->p1, m->p1_low);

  double *F = m->F + (size_t)last * m->count, *rate = m->z + (size_t)last * m->count; /* uses the memory of z */
  const double *u = m->u + (size_t)last * m->count;
  m->has_start = false;
  cb_status status = cb_forces_eval(m->forces, t1, m->x1, u, F);
  if (status) return cb_lobatto_chart_fail(m, -1, status);
  for (int a = 0; a < m->n; a++) {
    if ((status = cb_chart_metric_at(m->g, m->x1 + a * d, 1, &m->metric[a])))
      return cb_lobatto_chart_fail(m, a, status);
    cb_chart_rate_canonical(d, &m->metric[a], m->mass[a], u + a * d, F + a * d, rate + a * d);
  }
  for (size_t e = 0; e < m->count; e++) m->p1_low[e] += m->h * m->tableau.b_low[last] * rate[e];
  for (size_t e = 0; e < m->count; e++) m->change[e] = m->h * m->tableau.b[last] * rate[e];
  cb_compensated_add(m->count, m->p1, m->p1_low, m->change, true, 1);
  if (m->rows && (status = project_momentum(m, t1))) return cb_lobatto_chart_fail(m, -1, status);

  memcpy(m->F, F, bytes);
  memcpy(m->G, m->G + (size_t)last * m->entries, m->entries * sizeof(double));
  m->has_start = true;
  return CB_OK;
}

static void take(const cb_lobatto_chart *m, cb_state *state) {
  const size_t bytes = m->count * sizeof(double);
  memcpy(state->x, m->x1, bytes);
  memcpy(state->p, m->p1, bytes);
  if (m->compensated) {
    memcpy(state->x_low, m->x1_low, bytes);
    memcpy(state->p_low, m->p1_low, bytes);
  } else {
    memset(state->x_low, 0, bytes);
    memset(state->p_low, 0, bytes);
  }
  cb_compensated_add(1, &state->t, &state->t_low, &m->h, true, 1);
}

static cb_status step(void *form, cb_state *state, double h) {
  cb_lobatto_chart *m = form;
  m->start = state;
  m->h = h;
  cb_status status = cb_solver_solve(&m->solver, m->integrator, solve_once, m);
  if (!status) status = finish(m);
  if (status) {
    forget(m);
    return status;
  }
  cb_predictor_push(m->predict_u, h, m->u);
  cb_predictor_push(m->predict_rates, h, m->rates);
  take(m, state);
  return CB_OK;
}

const cb_lobatto_form cb_lobatto_chart_form = {create, destroy, step, reset, NULL};

/* --- fixed-point iteration for the stages, and its start ---
 *
 * A pass computes forces, multipliers, f, P, u, and Q. To first order the constraints depend on the multipliers as
 * dg_i = -h^2 sum_k W_ik S dlambda_k, W = A A^, S = G M^-1 G^T, so that each pass adds
 *   dlambda_k = (1/h^2) sum_i W^-1_ki S^-1 g_i
 * with S of the start of the step, M the matrix m g_ij, and G, A and A^ as at the top of this file. A pass reduces an
 * error by a factor of order h.
 */

/* Computes the momenta P_i of stage i. */
static void momenta(cb_lobatto_chart *m, int i) {
  double *w = m->w + (size_t)i * m->count;
  cb_lobatto_chart_sum(m, m->s - 1, m->tableau.a_hat[i], m->rates, m->count + (size_t)m->rows, w);
  for (size_t e = 0; e < m->count; e++) w[e] += m->start->p[e] + m->start->p_low[e];
}

/* Computes u_i from P_i, with g^-1 of stage i. */
static void velocities(cb_lobatto_chart *m, int i) {
  const int d = m->d;
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)i * m->count + (size_t)(a * d);
    const double *inverse = m->inverse + at * (size_t)d;
    for (int r = 0; r < d; r++) {
      double sum = 0;
      for (int c = 0; c < d; c++) sum += inverse[r * d + c] * m->w[at + (size_t)c];
      m->u[at + (size_t)r] = sum / m->mass[a];
    }
  }
}

static void keep_inverse(cb_lobatto_chart *m, int i, int particle, const cb_chart_metric *x) {
  double *to = m->inverse + ((size_t)i * m->count + (size_t)(particle * m->d)) * (size_t)m->d;
  for (int r = 0; r < m->d; r++)
    for (int c = 0; c < m->d; c++) to[r * m->d + c] = x->inverse[r * m->d + c];
}

/* Computes the stages at which the iteration starts: rates and velocities extrapolated from past steps or, if there are
 * none, the velocity at the start. */
static void cb_lobatto_chart_predict(cb_lobatto_chart *m) {
  const int s = m->s;
  const size_t count = m->count;
  for (int a = 0; a < m->n; a++) {
    keep_inverse(m, 0, a, &m->metric[a]);
    cb_chart_velocity_of(m->d, &m->metric[a], m->mass[a], m->start->p + a * m->d, m->change + a * m->d);
  }
  const bool known = cb_predictor_next(m->predict_u, m->h, m->u) > 0;
  if (!known) {
    memset(m->rates, 0, (size_t)(s - 1) * (count + (size_t)m->rows) * sizeof *m->rates);
    for (int i = 0; i < s; i++) memcpy(m->u + (size_t)i * count, m->change, count * sizeof *m->u);
  } else {
    cb_predictor_next(m->predict_rates, m->h, m->rates);
  }
  for (int i = 0; i < s; i++) cb_lobatto_chart_sum(m, s, m->tableau.a[i], m->u, count, m->z + (size_t)i * count);
  if (!known) return;
  /* computes u from P, because P is accurate to one more order in h; outside the chart u stays unchanged */
  cb_lobatto_chart_place(m);
  for (int i = 0; i < s; i++) {
    bool inside = true;
    for (int a = 0; i > 0 && a < m->n && inside; a++) {
      double buffer[CB_CHART_METRIC_CAPACITY];
      const cb_chart_metric x = cb_chart_metric_in(m->d, buffer);
      inside = !cb_chart_metric_at(m->g, m->q + (size_t)i * count + (size_t)(a * m->d), 0, &x);
      if (inside) keep_inverse(m, i, a, &x);
    }
    momenta(m, i);
    if (inside) velocities(m, i);
  }
  for (int i = 0; i < s; i++) cb_lobatto_chart_sum(m, s, m->tableau.a[i], m->u, count, m->z + (size_t)i * count);
}

/* Corrects the multipliers by the values of g that the stages still have. */
static void correct_multipliers(cb_lobatto_chart *m) {
  const int inner = m->s - 1, rows = m->rows;
  for (int i = 0; i < inner; i++) cb_gram_solve(m->gram, m->gap + i * rows);
  for (int k = 0; k < inner; k++) {
    double *lambda = cb_lobatto_chart_multipliers(m, k);
    for (int i = 0; i < inner; i++)
      for (int r = 0; r < rows; r++) lambda[r] += m->Winv[k][i] / (m->h * m->h) * m->gap[i * rows + r];
  }
}

static cb_status sweep(void *method, cb_stage_change *c) {
  cb_lobatto_chart *m = method;
  const int d = m->d, s = m->s;
  const size_t count = m->count;
  cb_lobatto_chart_place(m);
  cb_status status = cb_lobatto_chart_forces(m);
  if (status) return status;
  if (m->rows) correct_multipliers(m);
  for (int i = 0; i < s; i++) {
    for (int a = 0; a < m->n; a++) {
      const size_t at = (size_t)(a * d), in_stage = (size_t)i * count + at;
      double buffer[CB_CHART_METRIC_CAPACITY];
      const cb_chart_metric here = cb_chart_metric_in(d, buffer);
      const cb_chart_metric *x = i ? &here : &m->metric[a];
      if (i) {
        if ((status = cb_chart_metric_at(m->g, m->q + in_stage, i < s - 1, &here)))
          return cb_lobatto_chart_fail(m, a, status);
        keep_inverse(m, i, a, x);
      }
      if (i < s - 1)
        cb_chart_rate_canonical(d, x, m->mass[a], m->u + in_stage, m->F + in_stage, cb_lobatto_chart_rate(m, i) + at);
    }
    if (i < s - 1) cb_lobatto_chart_pull(m, i, cb_lobatto_chart_multipliers(m, i), cb_lobatto_chart_rate(m, i));
  }
  for (int i = 0; i < s; i++) {
    momenta(m, i);
    velocities(m, i);
  }
  double total = 0; /* nan if a number is not finite */
  for (int i = 1; i < s; i++) {
    cb_lobatto_chart_sum(m, s, m->tableau.a[i], m->u, count, m->change);
    total += cb_stage_move(count, m->change, m->start->x, m->z + (size_t)i * count, c);
  }
  if (!(total < INFINITY)) c->change = NAN;
  return CB_OK;
}

/* Runs the fixed-point iteration. The noise of the iteration is the round-off of the coordinates at which forces and
 * constraints are evaluated. */
static cb_status cb_lobatto_chart_fixed_point(cb_lobatto_chart *m) {
  const cb_iteration how = {"lobatto",
                            CB_FIXED_POINT,
                            sweep,
                            cb_end_by_contraction,
                            .target = m->tolerance > 0 ? m->tolerance : DBL_EPSILON / 16384,
                            .noise = 16,
                            .stall = 0.25,
                            .lost = 1e3,
                            .maximum = m->max_iterations};
  return cb_iterate(&how, m->integrator, m);
}
