/* The way of a state into `ida` and out of it: consistent beginnings, outputs brought to the rows. */
#include "integrators/ida_private.h"

#include "dynamics/chart_dynamics.h"

#include <math.h>
#include <string.h>

/* Positions to the rows of position, velocities to all rows. */
static cb_status project(cb_ida *m, double t, double *x, double *v) {
  double moved, turned;
  if (m->rows->own) return cb_gram_project(m->gram, t, x, v, 0, &moved, &turned, NULL);
  for (int a = 0; !m->g->chart && a < m->n; a++) {
    cb_geometry_project_point(m->g, x + (size_t)(a * m->k));
    cb_geometry_project_tangent(m->g, x + (size_t)(a * m->k), v + (size_t)(a * m->k));
  }
  return CB_OK;
}

/* v = p/m or g^-1 p/m */
static cb_status velocities(const cb_ida *m, const double *x, const double *p, double *v) {
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)(a * m->k);
    const cb_status status = cb_geometry_raise(m->g, x + at, p + at, v + at);
    if (status) return status;
    for (int i = 0; i < m->k; i++) v[at + (size_t)i] /= m->mass[a];
  }
  return CB_OK;
}

static cb_status momenta(const cb_ida *m, const double *x, const double *v, double *p) {
  for (int a = 0; a < m->n; a++) {
    const size_t at = (size_t)(a * m->k);
    if (m->g->chart) {
      double room[CB_CHART_METRIC_ROOM];
      const cb_chart_metric metric = cb_chart_metric_in(m->k, room);
      const cb_status status = cb_chart_metric_at(m->g, x + at, 0, &metric);
      if (status) return status;
      cb_chart_momentum_of(m->k, &metric, m->mass[a], v + at, p + at);
    } else {
      for (int i = 0; i < m->k; i++) p[at + (size_t)i] = m->mass[a] * v[at + (size_t)i];
    }
  }
  return CB_OK;
}

/* L = M = 0, L' the multipliers that keep the rates, M' = 0, and v' what the equations make of them. */
cb_status cb_ida_start(cb_ida *m, const cb_state *state) {
  const int nk = m->nk;
  double *y = N_VGetArrayPointer(m->y), *yp = N_VGetArrayPointer(m->yp), *r = N_VGetArrayPointer(m->residual);
  memset(y, 0, (size_t)m->size * sizeof *y);
  memset(yp, 0, (size_t)m->size * sizeof *yp);
  memcpy(y, state->x, (size_t)nk * sizeof *y);
  cb_status status = velocities(m, state->x, state->p, y + nk);
  if (!status) status = project(m, state->t, y, y + nk);
  if (!status && m->gram) status = cb_gram_multipliers(m->gram, state->t, y, y + nk, yp + 2 * nk, NULL);
  memcpy(yp, y + nk, (size_t)nk * sizeof *yp);
  if (!status) status = cb_ida_residual(m, state->t, y, yp, r);
  if (status) return status;
  for (int i = 0; i < nk; i++) yp[nk + i] = -r[nk + i];
  return CB_OK;
}

cb_status cb_ida_output(cb_ida *m, double t, double t_low, cb_state *state) {
  const size_t bytes = (size_t)m->nk * sizeof(double);
  const double *y = N_VGetArrayPointer(m->y);
  memcpy(m->x, y, bytes);
  memcpy(m->v, y + m->nk, bytes);
  cb_status status = project(m, t, m->x, m->v);
  if (!status) status = momenta(m, m->x, m->v, m->left_p);
  if (status) return status;
  double total = 0;
  for (int i = 0; i < m->nk; i++) total += fabs(m->x[i]) + fabs(m->left_p[i]);
  if (!(total < INFINITY)) return cb_fail(CB_STEP_NOT_FINITE, "ida: the state is not finite at time %.17g", t);
  memcpy(m->left_x, m->x, bytes);
  m->left_t = state->t = t;
  m->left_t_low = state->t_low = t_low;
  memcpy(state->x, m->x, bytes);
  memcpy(state->p, m->left_p, bytes);
  memset(state->x_low, 0, bytes);
  memset(state->p_low, 0, bytes);
  return CB_OK;
}

bool cb_ida_continues(const cb_ida *m, const cb_state *state, double h) {
  const size_t bytes = (size_t)m->nk * sizeof(double);
  if (!m->running || !(m->direction * h > 0) || m->left_t != state->t || m->left_t_low != state->t_low) return false;
  for (int i = 0; i < m->nk; i++)
    if (state->x_low[i] != 0 || state->p_low[i] != 0) return false;
  return !memcmp(m->left_x, state->x, bytes) && !memcmp(m->left_p, state->p, bytes);
}
