/* Gauss collocation in one fixed chart, in the canonical variables (q, p) or in (q, u), u = dq/dt.
 *
 *   w_i = w0 + h sum_j a_ij W_j,   q_i = q0 + h sum_j a_ij u_j,   w = p or u and W its rate (chart_dynamics.h)
 *   q1 = q0 + h sum_j b_j u_j,     w1 = w0 + h sum_j b_j W_j
 * Canonical: symplectic, symmetric, order 2s. Velocity: symmetric, order 2s, not symplectic (it is not a canonical map
 * of (q, p)); kept to reproduce published results. The momentum of the state is p in both. The fixed-point iteration
 * goes through forces, W, w, u, q. Newton's method has the moves z_i = q_i - q0 for unknowns, since then neighbours
 * couple within a stage only (without damping); gauss_chart_newton.c.
 */
#include "integrators/gauss_chart.h"

#include "numerics/compensated.h"

#include <math.h>
#include <string.h>

double *cb_gauss_chart_u(const cb_gauss *m, int i) {
  const cb_gauss_chart *f = m->self;
  return f->rates + (size_t)(2 * i) * f->count;
}
double *cb_gauss_chart_rate(const cb_gauss *m, int i) {
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

/* sum[count] = h sum_j a_j value_j, value: of the first stage */
static void stage_sum(const cb_gauss *m, const double *a, const double *value, double *sum) {
  const size_t count = ((const cb_gauss_chart *)m->self)->count;
  cb_stage_sum(count, m->s, m->h, a, value, 2 * count, sum);
}

static cb_status fail_at(const cb_gauss *m, int particle, cb_status status) {
  m->integrator->worst = particle;
  return cb_gauss_stage_status(status);
}

/* w0 and u0 */
static cb_status begin(cb_gauss *m) {
  cb_gauss_chart *f = m->self;
  const int d = m->dim;
  memcpy(f->w0, m->start->p, f->count * sizeof(double));
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)a * (size_t)d;
    double room[CB_CHART_METRIC_ROOM];
    const cb_chart_metric x = cb_chart_metric_in(m->dim, room);
    const cb_status status = cb_chart_metric_at(m->g, m->start->x + at, 0, &x);
    if (status) return fail_at(m, a, status);
    cb_chart_velocity_of(d, &x, m->mass[a], m->start->p + at, f->u0 + at);
  }
  if (!m->canonical) memcpy(f->w0, f->u0, f->count * sizeof(double));
  return CB_OK;
}

/* u from p, which is known to one more order in h than an extrapolated u; left alone where the chart ends. */
static void improve_velocity(cb_gauss *m, int i) {
  const cb_gauss_chart *f = m->self;
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)(a * m->dim), in_stage = (size_t)i * f->count + at;
    double q[CB_Q_MAX];
    double room[CB_CHART_METRIC_ROOM];
    const cb_chart_metric x = cb_chart_metric_in(m->dim, room);
    for (int j = 0; j < m->dim; j++) q[j] = m->start->x[at + (size_t)j] + f->z[in_stage + (size_t)j];
    if (!cb_chart_metric_at(m->g, q, 0, &x))
      cb_chart_velocity_of(m->dim, &x, m->mass[a], f->w + in_stage, cb_gauss_chart_u(m, i) + at);
  }
}

static cb_status predict(cb_gauss *m) {
  cb_gauss_chart *f = m->self;
  const cb_status status = begin(m);
  if (status) return status;
  if (!cb_predictor_next(f->predictor, m->h, f->rates)) {
    for (int i = 0; i < m->s; i++) {
      memcpy(cb_gauss_chart_u(m, i), f->u0, f->count * sizeof(double));
      for (size_t e = 0; e < f->count; e++) f->z[(size_t)i * f->count + e] = m->h * m->tableau.c[i] * f->u0[e];
    }
    return CB_OK;
  }
  for (int i = 0; i < m->s; i++) {
    double *w = f->w + (size_t)i * f->count, *u = cb_gauss_chart_u(m, i), *z = f->z + (size_t)i * f->count;
    stage_sum(m, m->tableau.a[i], cb_gauss_chart_rate(m, 0), w);
    for (size_t e = 0; e < f->count; e++) w[e] += f->w0[e];
    if (!m->canonical)
      memcpy(u, w, f->count * sizeof(double));
    else
      stage_sum(m, m->tableau.a[i], cb_gauss_chart_u(m, 0), z);
  }
  for (int i = 0; m->canonical && i < m->s; i++) improve_velocity(m, i);
  for (int i = 0; i < m->s; i++) stage_sum(m, m->tableau.a[i], cb_gauss_chart_u(m, 0), f->z + (size_t)i * f->count);
  return CB_OK;
}

cb_status cb_gauss_chart_forces(cb_gauss *m) {
  cb_gauss_chart *f = m->self;
  double time[CB_STAGES_MAX], *F[CB_STAGES_MAX];
  const double *x[CB_STAGES_MAX], *v[CB_STAGES_MAX];
  for (int i = 0; i < m->s; i++) {
    double *q = f->q + (size_t)i * f->count;
    const double *z = f->z + (size_t)i * f->count;
    for (size_t e = 0; e < f->count; e++) q[e] = m->start->x[e] + (z[e] + m->start->x_low[e]);
    time[i] = m->start->t + m->tableau.c[i] * m->h;
    x[i] = q;
    v[i] = cb_gauss_chart_u(m, i);
    F[i] = f->F + (size_t)i * f->count;
  }
  return cb_gauss_stage_status(cb_forces_eval_stages(m->forces, m->s, time, x, v, F));
}

static cb_status sweep(cb_gauss *m, cb_stage_change *c) {
  cb_gauss_chart *f = m->self;
  const int d = m->dim, s = m->s;
  cb_status status = cb_gauss_chart_forces(m);
  if (status) return status;
  for (int i = 0; i < s; i++)
    for (int a = 0; a < m->n; a++) {
      const size_t at = (size_t)a * (size_t)d, in_stage = (size_t)i * f->count + at;
      double room[CB_CHART_METRIC_ROOM];
      const cb_chart_metric x = cb_chart_metric_in(m->dim, room);
      if ((status = cb_chart_metric_at(m->g, f->q + in_stage, 1, &x))) return fail_at(m, a, status);
      f->rate(d, &x, m->mass[a], cb_gauss_chart_u(m, i) + at, f->F + in_stage, cb_gauss_chart_rate(m, i) + at);
      for (int j = 0; j < d; j++)
        for (int l = 0; l < d; l++) f->inverse[(in_stage + (size_t)j) * (size_t)d + (size_t)l] = x.inverse[j * d + l];
    }
  for (int i = 0; i < s; i++) {
    double *w = f->w + (size_t)i * f->count, *u = cb_gauss_chart_u(m, i);
    stage_sum(m, m->tableau.a[i], cb_gauss_chart_rate(m, 0), w);
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
    stage_sum(m, m->tableau.a[i], cb_gauss_chart_u(m, 0), f->dq);
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
  stage_sum(m, m->tableau.b, cb_gauss_chart_u(m, 0), f->dq);
  for (int j = 0; j < m->s; j++) b[j] = m->h * low[j];
  for (int j = 0; j < m->s; j++)
    for (size_t e = 0; e < f->count; e++) f->dq[e] += b[j] * cb_gauss_chart_u(m, j)[e];
  double *dw = f->w; /* no more needed */
  stage_sum(m, m->tableau.b, cb_gauss_chart_rate(m, 0), dw);
  for (int j = 0; j < m->s; j++)
    for (size_t e = 0; e < f->count; e++) dw[e] += b[j] * cb_gauss_chart_rate(m, j)[e];

  if (!m->canonical) {
    double *p1 = f->z; /* no more needed */
    for (int a = 0; a < m->n; a++) {
      const size_t at = (size_t)a * (size_t)d;
      double q1[CB_Q_MAX], u1[CB_Q_MAX];
      for (int j = 0; j < d; j++) {
        q1[j] = state->x[at + (size_t)j] + (state->x_low[at + (size_t)j] + f->dq[at + (size_t)j]);
        u1[j] = f->u0[at + (size_t)j] + dw[at + (size_t)j];
      }
      double room[CB_CHART_METRIC_ROOM];
      const cb_chart_metric x = cb_chart_metric_in(m->dim, room);
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

const cb_gauss_form cb_gauss_chart_form = {create,
                                           destroy,
                                           predict,
                                           sweep,
                                           cb_gauss_chart_prepare_newton,
                                           cb_gauss_chart_residual,
                                           cb_gauss_chart_matrix,
                                           cb_gauss_chart_correct,
                                           finish,
                                           reset,
                                           NULL};
