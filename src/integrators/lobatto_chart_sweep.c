/* Fixed-point iteration for the stages of Lobatto IIIA-IIIB in a fixed chart, and where it starts.
 *
 * A pass goes through forces, multipliers, f, P, u, Q. To first order the positions answer to the multipliers by
 * dg_i = -h^2 sum_k W_ik S dlambda_k, W = A A^, S = G M^-1 G^T, so that each pass adds
 *   dlambda_k = (1/h^2) sum_i W^-1_ki S^-1 g_i,
 * S being that of the step's start: what remains of an error is of the order of h times it.
 */
#include "integrators/lobatto_chart_private.h"

#include <math.h>
#include <string.h>

/* P_i */
static void momenta(cb_lobatto_chart *m, int i) {
  double *w = m->w + (size_t)i * m->count;
  cb_lobatto_chart_sum(m, m->s - 1, m->tableau.a_hat[i], m->rates, m->count + (size_t)m->rows, w);
  for (size_t e = 0; e < m->count; e++) w[e] += m->start->p[e] + m->start->p_low[e];
}

/* u_i from P_i with g^-1 of the stage. */
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

void cb_lobatto_chart_predict(cb_lobatto_chart *m) {
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
  /* u from P, which is known to one more order in h; left alone where the chart ends */
  cb_lobatto_chart_place(m);
  for (int i = 0; i < s; i++) {
    bool inside = true;
    for (int a = 0; i > 0 && a < m->n && inside; a++) {
      double room[CB_CHART_METRIC_ROOM];
      const cb_chart_metric x = cb_chart_metric_in(m->d, room);
      inside = !cb_chart_metric_at(m->g, m->q + (size_t)i * count + (size_t)(a * m->d), 0, &x);
      if (inside) keep_inverse(m, i, a, &x);
    }
    momenta(m, i);
    if (inside) velocities(m, i);
  }
  for (int i = 0; i < s; i++) cb_lobatto_chart_sum(m, s, m->tableau.a[i], m->u, count, m->z + (size_t)i * count);
}

/* Corrects the multipliers by what is left of g. */
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
      double room[CB_CHART_METRIC_ROOM];
      const cb_chart_metric here = cb_chart_metric_in(d, room);
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
  double total = 0; /* nan once a number is not finite */
  for (int i = 1; i < s; i++) {
    cb_lobatto_chart_sum(m, s, m->tableau.a[i], m->u, count, m->change);
    total += cb_stage_move(count, m->change, m->start->x, m->z + (size_t)i * count, c);
  }
  if (!(total < INFINITY)) c->change = NAN;
  return CB_OK;
}

/* Noise is of the coordinates at which forces and constraints are evaluated. */
cb_status cb_lobatto_chart_fixed_point(cb_lobatto_chart *m) {
  const cb_iteration how = {"lobatto",
                            CB_FIXED_POINT,
                            sweep,
                            cb_end_by_contraction,
                            .target = m->tolerance > 0 ? m->tolerance : DBL_EPSILON / 16384,
                            .noise = 16,
                            .stall = 0.25,
                            .lost = 1e3,
                            .most = m->max_iterations};
  return cb_iterate(&how, m->integrator, m);
}
