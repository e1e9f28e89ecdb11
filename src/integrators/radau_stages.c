/* Evaluates the stages of a step of Radau IIA (integrators/radau_iia.c), predicts them, and ends the step.
 *
 * W = (m I)^-1 in the embedding, with the mass m and I = diag(form). In a chart W = (m g_ij)^-1 with the metric g_ij at
 * the position of the stage.
 */
#include "integrators/radau.h"

#include "numerics/dd.h"

#include <math.h>
#include <string.h>

cb_status cb_radau_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

static cb_status fail_at(const cb_radau *m, int particle, cb_status status) {
  m->integrator->failed_particle = particle;
  return cb_radau_status(status);
}

void cb_radau_sum(const cb_radau *m, const double *a, const double *value, size_t stride, double *out) {
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

void cb_radau_lift(const cb_radau *m, int i, const double *y, double *out) {
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
 * digits than X can store, and g is corrected by these digits, except in the published form. */
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
  double *rest = cb_radau_row(m, m->y, i); /* this memory is free between corrections */
  cb_radau_along(m, i, m->lift, rest);
  for (size_t r = 0; r < R; r++) g[r] += m->rows->velocity[r] ? 0 : rest[r];
  return CB_OK;
}

/* Computes dv/dt of stage i, and in a chart g^-1. */
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
    if (!status && m->mu) cb_radau_lift(m, i, cb_radau_row(m, m->mu, i), cb_radau_of(m, m->drift, i));
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
 * step. In the embedding the stages are on a straight line; the rows of the space correct the difference first. */
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
  for (int i = 0; i < m->s; i++) cb_radau_sum(m, m->tableau.a[i], m->rates, each, cb_radau_of(m, m->E, i));
  for (int i = 0; i < m->s; i++) {
    double *D = cb_radau_of(m, m->D, i);
    const double whole = m->h * m->tableau.c[i];
    cb_radau_sum(m, m->tableau.a[i], m->E, m->count, D);
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
