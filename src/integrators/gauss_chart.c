/* Gauss collocation in one fixed chart, in the canonical variables (q, p) or in (q, u), u = dq/dt.
 *
 *   w_i = w0 + h sum_j a_ij W_j,   q_i = q0 + h sum_j a_ij u_j,   w = p or u and W its rate (chart_dynamics.h)
 *   q1 = q0 + h sum_j b_j u_j,     w1 = w0 + h sum_j b_j W_j
 * with the length h of the step and the coefficients a_ij, b_j of gauss.c. The canonical form is symplectic,
 * symmetric, and of order 2s. The velocity form is symmetric and of order 2s but not symplectic (it is not a canonical
 * map of (q, p)); we keep it to reproduce published results. The momentum of the state is p in both. A pass of the
 * fixed-point iteration computes forces, W, w, u, and q. Newton's method has the displacements z_i = q_i - q0 as
 * unknowns, because without damping neighbours then couple only within a stage.
 *
 * This file also solves for the stages of one step, in any form, by fixed-point iteration or Newton's method
 * (iteration.h).
 */
#include "integrators/gauss.h"

#include "dynamics/chart_dynamics.h"
#include "numerics/dd.h"

#include <math.h>
#include <string.h>

/* --- solving for the stages of any form --- */

static const char name[] = "gauss";

/* Changes of the stages up to this number of units of round-off of the coordinates count as round-off. */
static const double noise = 8;

cb_status cb_gauss_stage_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

static cb_status pass(void *method, cb_stage_change *c) {
  cb_gauss *m = method;
  return m->form->sweep(m, c);
}

static cb_status fixed_point(cb_gauss *m) {
  const cb_iteration how = {
      name, CB_FIXED_POINT, pass, cb_end_by_contraction,
      /* The target is far below round-off. An error of DBL_EPSILON of the displacements in each step would be a bias,
       * not random like round-off, and would be visible after 1e5 steps. */
      .target = m->tolerance > 0 ? m->tolerance : DBL_EPSILON / 16384, .noise = noise, .stall = 0.25, .lost = 1e3,
      .maximum = m->max_iterations, .contraction = &m->contraction};
  return cb_iterate(&how, m->integrator, m);
}

/* Makes one correction of Newton's method. c->change is the norm of the residual, which is already relative, so c->size
 * is 1. */
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

/* --- the form in a fixed chart --- */

/* Stage arrays are [s][n*dim]. */
typedef struct cb_gauss_chart {
  cb_chart_rate *rate;
  cb_chart_derivatives *derivatives;
  size_t count;          /* n*dim */
  double *q, *z, *F, *w; /* values at the stages: q: q_i; z: q_i - q0; F: forces; w: w_i */
  double *rates;         /* [s][2][n*dim]: u_i and W_i */
  double *inverse;       /* the inverse metric at the stages */
  double *w0, *u0, *dq;
  double inverse_a[CB_STAGES_MAX][CB_STAGES_MAX]; /* the inverse of A = (a_ij), packed s x s */
  cb_predictor *predictor;
  cb_chart_jet *jet; /* [s][n]: derivatives of w and W for each stage and particle, for Newton's method */
  double *block;     /* [(s dim)^2]: scratch for one block of the matrix */
} cb_gauss_chart;

static cb_status chart_prepare_newton(cb_gauss *m);
static cb_status chart_residual(cb_gauss *m, double *r, double *norm);
static cb_status chart_matrix(cb_gauss *m, cb_stage_matrix *matrix);
static cb_status chart_correct(cb_gauss *m, const double *step, cb_stage_change *change);

static double *chart_u(const cb_gauss *m, int i) {
  const cb_gauss_chart *f = m->self;
  return f->rates + (size_t)(2 * i) * f->count;
}
static double *chart_rate(const cb_gauss *m, int i) {
  const cb_gauss_chart *f = m->self;
  return f->rates + (size_t)(2 * i + 1) * f->count;
}

static cb_status create(cb_gauss *m) {
  cb_arena *arena = m->arena;
  cb_gauss_chart *f = m->self = cb_arena_alloc(arena, 1, sizeof *f);
  if (!f) return cb_fail(CB_ERROR_MEMORY, "no memory for the integrator `gauss`");
  const size_t count = f->count = (size_t)m->n * (size_t)m->dim, all = (size_t)m->s * count;
  cb_arena_doubles(arena, all, &f->q, &f->z, &f->F, &f->w);
  cb_arena_doubles(arena, 2 * all, &f->rates);
  cb_arena_doubles(arena, count, &f->w0, &f->u0, &f->dq);
  cb_arena_doubles(arena, all * (size_t)m->dim, &f->inverse);
  if (cb_arena_lost(arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for the stages of %d particles", m->n);
  f->rate = m->canonical ? cb_chart_rate_canonical : cb_chart_rate_velocity;
  f->derivatives = m->canonical ? cb_chart_derivatives_canonical : cb_chart_derivatives_velocity;
  cb_tableau_inverse(&m->tableau, &f->inverse_a[0][0]);
  return cb_predictor_create(m->s, m->tableau.c, m->s <= 3 ? 2 : 1, 2 * count, &f->predictor);
}

static void destroy(cb_gauss *m) {
  const cb_gauss_chart *f = m->self;
  if (f) cb_predictor_free(f->predictor);
}

static void reset(cb_gauss *m) { cb_predictor_reset(((cb_gauss_chart *)m->self)->predictor); }

/* Computes sum[count] = h sum_j a_j value_j. value is that of the first stage; those of the next stages follow at a
 * distance of 2 count numbers. */
static void stage_sum(const cb_gauss *m, const double *a, const double *value, double *sum) {
  const size_t count = ((const cb_gauss_chart *)m->self)->count;
  cb_stage_sum(count, m->s, m->h, a, value, 2 * count, sum);
}

static cb_status fail_at(const cb_gauss *m, int particle, cb_status status) {
  m->integrator->failed_particle = particle;
  return cb_gauss_stage_status(status);
}

/* Sets w0 and u0 from the momenta of the state. */
static cb_status begin(cb_gauss *m) {
  cb_gauss_chart *f = m->self;
  const int d = m->dim;
  memcpy(f->w0, m->start->p, f->count * sizeof(double));
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)a * (size_t)d;
    double buffer[CB_CHART_METRIC_CAPACITY];
    const cb_chart_metric x = cb_chart_metric_in(m->dim, buffer);
    const cb_status status = cb_chart_metric_at(m->g, m->start->x + at, 0, &x);
    if (status) return fail_at(m, a, status);
    cb_chart_velocity_of(d, &x, m->mass[a], m->start->p + at, f->u0 + at);
  }
  if (!m->canonical) memcpy(f->w0, f->u0, f->count * sizeof(double));
  return CB_OK;
}

/* Computes u of stage i from p, because the predicted p is more accurate than an extrapolated u by one order in h.
 * Outside the chart u stays unchanged. */
static void improve_velocity(cb_gauss *m, int i) {
  const cb_gauss_chart *f = m->self;
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)(a * m->dim), in_stage = (size_t)i * f->count + at;
    double q[CB_Q_MAX];
    double buffer[CB_CHART_METRIC_CAPACITY];
    const cb_chart_metric x = cb_chart_metric_in(m->dim, buffer);
    for (int j = 0; j < m->dim; j++) q[j] = m->start->x[at + (size_t)j] + f->z[in_stage + (size_t)j];
    if (!cb_chart_metric_at(m->g, q, 0, &x))
      cb_chart_velocity_of(m->dim, &x, m->mass[a], f->w + in_stage, chart_u(m, i) + at);
  }
}

static cb_status predict(cb_gauss *m) {
  cb_gauss_chart *f = m->self;
  const cb_status status = begin(m);
  if (status) return status;
  if (!cb_predictor_next(f->predictor, m->h, f->rates)) {
    for (int i = 0; i < m->s; i++) {
      memcpy(chart_u(m, i), f->u0, f->count * sizeof(double));
      for (size_t e = 0; e < f->count; e++) f->z[(size_t)i * f->count + e] = m->h * m->tableau.c[i] * f->u0[e];
    }
    return CB_OK;
  }
  for (int i = 0; i < m->s; i++) {
    double *w = f->w + (size_t)i * f->count, *u = chart_u(m, i), *z = f->z + (size_t)i * f->count;
    stage_sum(m, m->tableau.a[i], chart_rate(m, 0), w);
    for (size_t e = 0; e < f->count; e++) w[e] += f->w0[e];
    if (!m->canonical)
      memcpy(u, w, f->count * sizeof(double));
    else
      stage_sum(m, m->tableau.a[i], chart_u(m, 0), z);
  }
  for (int i = 0; m->canonical && i < m->s; i++) improve_velocity(m, i);
  for (int i = 0; i < m->s; i++) stage_sum(m, m->tableau.a[i], chart_u(m, 0), f->z + (size_t)i * f->count);
  return CB_OK;
}

static cb_status chart_forces(cb_gauss *m) {
  cb_gauss_chart *f = m->self;
  double time[CB_STAGES_MAX], *F[CB_STAGES_MAX];
  const double *x[CB_STAGES_MAX], *v[CB_STAGES_MAX];
  for (int i = 0; i < m->s; i++) {
    double *q = f->q + (size_t)i * f->count;
    const double *z = f->z + (size_t)i * f->count;
    for (size_t e = 0; e < f->count; e++) q[e] = m->start->x[e] + (z[e] + m->start->x_low[e]);
    time[i] = m->start->t + m->tableau.c[i] * m->h;
    x[i] = q;
    v[i] = chart_u(m, i);
    F[i] = f->F + (size_t)i * f->count;
  }
  return cb_gauss_stage_status(cb_forces_eval_stages(m->forces, m->s, time, x, v, F));
}

static cb_status sweep(cb_gauss *m, cb_stage_change *c) {
  cb_gauss_chart *f = m->self;
  const int d = m->dim, s = m->s;
  cb_status status = chart_forces(m);
  if (status) return status;
  for (int i = 0; i < s; i++)
    for (int a = 0; a < m->n; a++) {
      const size_t at = (size_t)a * (size_t)d, in_stage = (size_t)i * f->count + at;
      double buffer[CB_CHART_METRIC_CAPACITY];
      const cb_chart_metric x = cb_chart_metric_in(m->dim, buffer);
      if ((status = cb_chart_metric_at(m->g, f->q + in_stage, 1, &x))) return fail_at(m, a, status);
      f->rate(d, &x, m->mass[a], chart_u(m, i) + at, f->F + in_stage, chart_rate(m, i) + at);
      for (int j = 0; j < d; j++)
        for (int l = 0; l < d; l++) f->inverse[(in_stage + (size_t)j) * (size_t)d + (size_t)l] = x.inverse[j * d + l];
    }
  for (int i = 0; i < s; i++) {
    double *w = f->w + (size_t)i * f->count, *u = chart_u(m, i);
    stage_sum(m, m->tableau.a[i], chart_rate(m, 0), w);
    for (size_t e = 0; e < f->count; e++) w[e] += f->w0[e];
    if (!m->canonical) {
      memcpy(u, w, f->count * sizeof(double));
      continue;
    }
    for (size_t e = 0; e < f->count; e++) {
      const double *row = f->inverse + ((size_t)i * f->count + e) * (size_t)d, *p = w + e - e % (size_t)d;
      double sum = 0;
      for (int l = 0; l < d; l++) sum += row[l] * p[l];
      u[e] = sum / m->mass[e / (size_t)d];
    }
  }
  double total = 0;
  for (int i = 0; i < s; i++) {
    stage_sum(m, m->tableau.a[i], chart_u(m, 0), f->dq);
    total += cb_stage_move(f->count, f->dq, m->start->x, f->z + (size_t)i * f->count, c);
  }
  if (!(total < INFINITY)) c->change = NAN;
  return CB_OK;
}

static cb_status finish(cb_gauss *m, cb_state *state) {
  cb_gauss_chart *f = m->self;
  const int d = m->dim;
  double b[CB_STAGES_MAX] = {0};
  const double *low = m->tableau.b_low;
  stage_sum(m, m->tableau.b, chart_u(m, 0), f->dq);
  for (int j = 0; j < m->s; j++) b[j] = m->h * low[j];
  for (int j = 0; j < m->s; j++)
    for (size_t e = 0; e < f->count; e++) f->dq[e] += b[j] * chart_u(m, j)[e];
  double *dw = f->w; /* uses the memory of w */
  stage_sum(m, m->tableau.b, chart_rate(m, 0), dw);
  for (int j = 0; j < m->s; j++)
    for (size_t e = 0; e < f->count; e++) dw[e] += b[j] * chart_rate(m, j)[e];

  if (!m->canonical) {
    double *p1 = f->z; /* uses the memory of z */
    for (int a = 0; a < m->n; a++) {
      const size_t at = (size_t)a * (size_t)d;
      double q1[CB_Q_MAX], u1[CB_Q_MAX];
      for (int j = 0; j < d; j++) {
        q1[j] = state->x[at + (size_t)j] + (state->x_low[at + (size_t)j] + f->dq[at + (size_t)j]);
        u1[j] = f->u0[at + (size_t)j] + dw[at + (size_t)j];
      }
      double buffer[CB_CHART_METRIC_CAPACITY];
      const cb_chart_metric x = cb_chart_metric_in(m->dim, buffer);
      const cb_status status = cb_chart_metric_at(m->g, q1, 0, &x);
      if (status) return fail_at(m, a, status);
      cb_chart_momentum_of(d, &x, m->mass[a], u1, p1 + at);
    }
    memcpy(state->p, p1, f->count * sizeof(double));
    memset(state->p_low, 0, f->count * sizeof(double));
  } else {
    cb_compensated_add(f->count, state->p, state->p_low, dw, m->compensated, 1);
  }
  cb_compensated_add(f->count, state->x, state->x_low, f->dq, m->compensated, 1);
  cb_predictor_push(f->predictor, m->h, f->rates);
  return CB_OK;
}

const cb_gauss_form cb_gauss_chart_form = {
    create,        destroy, predict, sweep, chart_prepare_newton, chart_residual, chart_matrix,
    chart_correct, finish,  reset,   NULL};

/* --- Newton's method in the unknowns z_i = q_i - q0 ---
 *
 *   u_i = (1/h) sum_j A^-1_ij z_j,   R_i = sum_j A^-1_ij (w(q_j, u_j) - w0) - h W(q_i, u_i, F_i) = 0
 *   dR_i/dz_l = A^-1_il w_q,l + (1/h) sum_j A^-1_ij A^-1_jl w_u,j
 *               - h delta_il (W_q + W_F F_q)_i - A^-1_il (W_u + W_F F_u)_i
 * where A is the matrix a_ij, F_i the forces, and w_q, W_F and so on are partial derivatives.
 */

static double inverse_a(const cb_gauss *m, int i, int j) {
  return (&((const cb_gauss_chart *)m->self)->inverse_a[0][0])[i * m->s + j];
}

static cb_status chart_prepare_newton(cb_gauss *m) {
  cb_gauss_chart *f = m->self;
  const int s = m->s, d = m->dim, B = s * d;
  f->jet = cb_chart_jets(m->arena, d, (size_t)s * (size_t)m->n);
  cb_arena_doubles(m->arena, (size_t)(B * B), &f->block);
  bool *mask = cb_arena_alloc(m->arena, (size_t)(B * B), sizeof *mask);
  if (cb_arena_lost(m->arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for Newton's method");
  for (int i = 0; i < s; i++)
    for (int l = 0; l < s; l++) {
      double square = 0;
      for (int j = 0; j < s; j++) square += inverse_a(m, i, j) * inverse_a(m, j, l);
      for (int a = 0; a < d; a++) {
        f->block[(i * d + a) * B + l * d + a] = square;
        for (int b = 0; b < d; b++) mask[(i * d + a) * B + l * d + b] = i == l || m->damped;
      }
    }
  return cb_gauss_make_matrix(m, mask, f->block);
}

static cb_status chart_residual(cb_gauss *m, double *r, double *norm) {
  cb_gauss_chart *f = m->self;
  const int s = m->s, d = m->dim;
  const size_t count = f->count;
  for (int i = 0; i < s; i++) {
    double *u = chart_u(m, i);
    memset(u, 0, count * sizeof(double));
    for (int j = 0; j < s; j++) {
      const double factor = inverse_a(m, i, j) / m->h, *z = f->z + (size_t)j * count;
      for (size_t e = 0; e < count; e++) u[e] += factor * z[e];
    }
  }
  cb_status status = chart_forces(m);
  if (status) return status;
  double scale = 0;
  for (int i = 0; i < s; i++)
    for (int a = 0; a < m->n; a++) {
      const size_t at = (size_t)a * (size_t)d, in_stage = (size_t)i * count + at;
      const double *u = chart_u(m, i) + at;
      double *W = chart_rate(m, i) + at;
      double buffer[CB_CHART_METRIC_CAPACITY];
      const cb_chart_metric x = cb_chart_metric_in(d, buffer);
      if ((status = cb_chart_metric_at(m->g, f->q + in_stage, 1, &x))) {
        m->integrator->failed_particle = a;
        return cb_gauss_stage_status(status);
      }
      if (m->canonical)
        cb_chart_momentum_of(d, &x, m->mass[a], u, f->w + in_stage);
      else
        memcpy(f->w + in_stage, u, (size_t)d * sizeof(double));
      f->rate(d, &x, m->mass[a], u, f->F + in_stage, W);
      for (int j = 0; j < d; j++) scale = fmax(scale, fmax(fabs(f->w[in_stage + (size_t)j]), fabs(m->h * W[j])));
    }
  double largest = 0, total = 0;
  for (int a = 0; a < m->n; a++)
    for (int c = 0; c < d; c++) {
      const size_t e = (size_t)(a * d + c);
      double *to = r + (size_t)a * (size_t)(s * d) + c;
      for (int i = 0; i < s; i++) {
        double sum = -m->h * chart_rate(m, i)[e];
        for (int j = 0; j < s; j++) sum += inverse_a(m, i, j) * (f->w[(size_t)j * count + e] - f->w0[e]);
        to[i * d] = sum;
      }
      for (int i = 0; i < s; i++) {
        double defect = 0;
        for (int j = 0; j < s; j++) defect += m->tableau.a[i][j] * to[j * d];
        largest = fmax(largest, fabs(defect));
        total += defect;
      }
    }
  *norm = total - total != 0 ? NAN : largest > 0 ? largest / scale : 0;
  return CB_OK;
}

static cb_status chart_matrix(cb_gauss *m, cb_stage_matrix *matrix) {
  cb_gauss_chart *f = m->self;
  const int s = m->s, d = m->dim, B = s * d;
  const cb_pattern *pattern = cb_forces_pattern(m->forces);
  const size_t per_stage = (size_t)pattern->start[m->n] * (size_t)(d * d);
  cb_status status;
  for (int i = 0; i < s; i++) {
    status = cb_forces_jacobian(m->forces, m->start->t + m->tableau.c[i] * m->h, f->q + (size_t)i * f->count,
                                chart_u(m, i), m->jacobian_x + (size_t)i * per_stage,
                                m->damped ? m->jacobian_v + (size_t)i * per_stage : NULL);
    if (status) return cb_gauss_stage_status(status);
    for (int a = 0; a < m->n; a++) {
      const size_t at = (size_t)(a * d), in_stage = (size_t)i * f->count + at;
      double buffer[CB_CHART_METRIC_CAPACITY];
      const cb_chart_metric x = cb_chart_metric_in(d, buffer);
      if ((status = cb_chart_metric_at(m->g, f->q + in_stage, 2, &x))) return cb_gauss_stage_status(status);
      f->derivatives(d, &x, m->mass[a], chart_u(m, i) + at, f->F + in_stage, f->jet + i * m->n + a);
    }
  }
  double *block = f->block;
  for (int a = 0; a < m->n; a++)
    for (int e = pattern->start[a]; e < pattern->start[a + 1]; e++) {
      memset(block, 0, (size_t)(B * B) * sizeof(double));
      const bool diagonal = pattern->column[e] == a;
      for (int i = 0; i < s; i++)
        for (int l = 0; l < s; l++) {
          const double w = inverse_a(m, i, l);
          const cb_chart_jet *ji = f->jet + i * m->n + a, *jl = f->jet + l * m->n + a;
          const double *Fx = m->jacobian_x + (size_t)i * per_stage + (size_t)e * (size_t)(d * d);
          const double *Fv = m->damped ? m->jacobian_v + (size_t)i * per_stage + (size_t)e * (size_t)(d * d) : NULL;
          for (int r = 0; r < d; r++)
            for (int c = 0; c < d; c++) {
              double sum = 0;
              for (int k = 0; k < d; k++) {
                if (i == l) sum -= m->h * ji->W_F[r * d + k] * Fx[k * d + c];
                if (Fv) sum -= w * ji->W_F[r * d + k] * Fv[k * d + c];
              }
              if (diagonal) {
                sum += w * (jl->w_q[r * d + c] - ji->W_u[r * d + c]);
                if (i == l) sum -= m->h * ji->W_q[r * d + c];
                for (int j = 0; j < s; j++)
                  sum += inverse_a(m, i, j) * inverse_a(m, j, l) / m->h * f->jet[j * m->n + a].w_u[r * d + c];
              }
              block[(i * d + r) * B + l * d + c] = sum;
            }
        }
      cb_stage_matrix_set(matrix, a, e, block);
    }
  return CB_OK;
}

static cb_status chart_correct(cb_gauss *m, const double *step, cb_stage_change *change) {
  cb_gauss_chart *f = m->self;
  const int s = m->s, d = m->dim;
  for (int a = 0; a < m->n; a++)
    for (int i = 0; i < s; i++)
      for (int c = 0; c < d; c++) {
        const size_t e = (size_t)(a * d + c);
        const double by = step[(size_t)a * (size_t)(s * d) + (size_t)(i * d + c)];
        double *z = f->z + (size_t)i * f->count + e;
        *z -= by;
        change->change = fmax(change->change, fabs(by));
        change->size = fmax(change->size, fabs(*z));
        change->position = fmax(change->position, fabs(m->start->x[e]));
      }
  return CB_OK;
}
