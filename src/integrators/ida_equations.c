/* The equations that `ida` solves: residual and weights. See integrators/ida.c. */
#include "integrators/ida_private.h"

#include "dynamics/chart_dynamics.h"

#include <math.h>
#include <string.h>

/* W of every particle at x. */
static cb_status cb_ida_metric(cb_ida *m, const double *x) {
  const int k = m->k;
  if (!m->g->chart) return CB_OK; /* constant: set when the integrator was made */
  for (int a = 0; a < m->n; a++) {
    double room[CB_CHART_METRIC_ROOM];
    const cb_chart_metric metric = cb_chart_metric_in(k, room);
    const cb_status status = cb_chart_metric_at(m->g, x + (size_t)(a * k), 0, &metric);
    if (status) return status;
    double *W = m->W + (size_t)(a * k * k);
    for (int i = 0; i < k; i++)
      for (int j = 0; j < k; j++) W[i * k + j] = metric.inverse[i * k + j] / m->mass[a];
  }
  return CB_OK;
}

/* push = G^T L', shift = G^T M' */
static void gather(cb_ida *m, const double *L, const double *M) {
  const int k = m->k;
  memset(m->push, 0, (size_t)m->nk * sizeof(double));
  memset(m->shift, 0, (size_t)m->nk * sizeof(double));
  for (int r = 0; r < m->rows->rows; r++)
    for (int e = m->rows->start[r]; e < m->rows->start[r + 1]; e++) {
      const double *G = m->G + (size_t)e * (size_t)k;
      const size_t at = (size_t)m->rows->particle[e] * (size_t)k;
      for (int a = 0; a < k; a++) {
        m->push[at + (size_t)a] += G[a] * L[r];
        if (m->position[r] >= 0) m->shift[at + (size_t)a] += G[a] * M[m->position[r]];
      }
    }
}

cb_status cb_ida_residual(cb_ida *m, double t, const double *y, const double *yp, double *r) {
  const int k = m->k, nk = m->nk, rows = m->rows->rows;
  const double *x = y, *v = y + nk, *xp = yp, *vp = yp + nk;
  cb_status status = cb_forces_eval(m->forces, t, x, v, m->force);
  if (!status && rows) status = cb_constraints_eval(m->constraints, t, x, m->g_value, NULL);
  if (!status && rows) status = cb_constraints_rate(m->constraints, t, x, v, m->rate, m->G);
  if (!status) status = cb_ida_metric(m, x);
  if (status) return status;
  gather(m, yp + 2 * nk, yp + 2 * nk + rows);

  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)(a * k);
    const double *W = m->W + at * (size_t)k;
    double F[CB_Q_MAX], acceleration[CB_Q_MAX] = {0};
    if (m->g->chart) {
      double room[CB_CHART_METRIC_ROOM];
      const cb_chart_metric metric = cb_chart_metric_in(k, room);
      if ((status = cb_chart_metric_at(m->g, x + at, 1, &metric))) return status;
      for (int i = 0; i < k; i++) F[i] = m->force[at + (size_t)i] - m->push[at + (size_t)i];
      cb_chart_rate_velocity(k, &metric, m->mass[a], v + at, F, acceleration);
    } else {
      for (int i = 0; i < k; i++) {
        F[i] = m->g->form[i] * m->force[at + (size_t)i] - m->push[at + (size_t)i];
        acceleration[i] = W[i * k + i] * F[i];
      }
    }
    for (int i = 0; i < k; i++) {
      double lift = 0;
      for (int j = 0; j < k; j++) lift += W[i * k + j] * m->shift[at + (size_t)j];
      r[at + (size_t)i] = xp[at + (size_t)i] - v[at + (size_t)i] + lift;
      r[(size_t)nk + at + (size_t)i] = vp[at + (size_t)i] - acceleration[i];
    }
  }
  for (int i = 0; i < rows; i++) {
    r[2 * nk + i] = m->rate[i];
    if (m->position[i] >= 0) r[2 * nk + rows + m->position[i]] = m->g_value[i];
  }
  return CB_OK;
}

static double largest(const double *u, int k) {
  double most = 0;
  for (int i = 0; i < k; i++) most = fmax(most, fabs(u[i]));
  return most;
}

/* Positions and velocities are measured by the largest number of their particle, so that a coordinate that passes zero
 * is not held to more than the others. Integrated multipliers take part in the convergence of Newton's method alone,
 * where they follow the velocities (L) and positions (M) that they move. */
void cb_ida_weights(const cb_ida *m, const double *y, double *weight) {
  const int k = m->k, nk = m->nk, rows = m->rows->rows;
  for (int part = 0; part < 2; part++)
    for (int a = 0; a < m->n; a++) {
      const size_t at = (size_t)(part * nk + a * k);
      const double w = 1 / (m->rtol * largest(y + at, k) + m->atol);
      for (int i = 0; i < k; i++) weight[at + (size_t)i] = w;
    }
  for (int r = 0; r < rows; r++) {
    double L = m->rtol * fabs(y[2 * nk + r]), M = 0;
    for (int e = m->rows->start[r]; e < m->rows->start[r + 1]; e++) {
      const int a = m->rows->particle[e];
      L = fmax(L, m->mass[a] / weight[nk + a * k]);
      M = fmax(M, m->mass[a] / weight[a * k]);
    }
    weight[2 * nk + r] = 1 / L;
    if (m->position[r] >= 0) weight[2 * nk + rows + m->position[r]] = 1 / M;
  }
}
