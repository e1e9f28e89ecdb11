/* dr/dy + c dr/dy' of the equations of `ida`, with one function for the pattern and for the values.
 *
 *   rows\columns      x                                  v                L         M
 *   x' - v + W s      c - d(W) s/dx + W d(G^T M')/dx     -1                         c W G^T
 *   v' - W f          -W d(F - G^T L')/dx                c - W dF/dv      c W G^T
 *   rate              d(rate)/dx                         G
 *   g                 G
 * (in a chart W f is the acceleration g^-1 (F - G^T L')/m - Gamma(v,v), with its own derivatives).
 */
#include "integrators/ida_private.h"

#include "dynamics/chart_dynamics.h"

#include <string.h>

/* W block */
static void lift(int k, const double *W, const double *block, double *out) {
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += W[i * k + l] * block[l * k + j];
      out[i * k + j] = sum;
    }
}

/* What a particle does to itself by x', v', and in a chart by the metric; sets its W there. */
static cb_status put_particle(cb_ida *m, int a, double c, const double *x, const double *v) {
  enum { D = CB_Q_MAX };
  cb_entries *out = &m->entries;
  const int k = m->k, nk = m->nk, at = a * k;
  for (int i = 0; i < k; i++) {
    cb_entries_add(out, at + i, at + i, c);
    cb_entries_add(out, at + i, nk + at + i, -1);
    cb_entries_add(out, nk + at + i, nk + at + i, c);
  }
  if (!m->g->chart) return CB_OK;
  double room[CB_CHART_METRIC_ROOM], derivatives[CB_CHART_JET_ROOM];
  const cb_chart_metric metric = cb_chart_metric_in(k, room);
  const cb_chart_jet jet = cb_chart_jet_in(k, derivatives);
  if (!out->value) memset(derivatives, 0, cb_chart_jet_size(k) * sizeof *derivatives);
  double F[D], raised[D], *W = m->W + (size_t)(at * k);
  if (out->value) {
    const cb_status status = cb_chart_metric_at(m->g, x + at, 2, &metric);
    if (status) return status;
    for (int i = 0; i < k; i++) F[i] = m->force[at + i] - m->push[at + i];
    cb_chart_derivatives_velocity(k, &metric, m->mass[a], v + at, F, &jet);
    for (int i = 0; i < k; i++) {
      raised[i] = 0;
      for (int j = 0; j < k; j++) raised[i] += (W[i * k + j] = jet.W_F[i * k + j]) * m->shift[at + j];
    }
  }
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) {
      double turn = 0; /* d(g^-1)/dq_j s/m = -g^-1 (d_j g) g^-1 s/m */
      for (int l = 0; out->value && l < k; l++)
        for (int b = 0; b < k; b++) turn -= metric.inverse[i * k + l] * metric.dg[(j * k + l) * k + b] * raised[b];
      cb_entries_add(out, at + i, at + j, turn);
      cb_entries_add(out, nk + at + i, at + j, -jet.W_q[i * k + j]);
      cb_entries_add(out, nk + at + i, nk + at + j, -jet.W_u[i * k + j]);
    }
  return CB_OK;
}

/* Forces, and second derivatives of the rows, between the particles of block e of the pattern. */
static void put_block(cb_ida *m, int a, size_t e) {
  cb_entries *out = &m->entries;
  const int k = m->k, nk = m->nk, row = a * k, column = m->pattern->column[e] * k;
  const bool rows = m->rows->rows > 0;
  double covector[CB_Q_MAX * CB_Q_MAX] = {0}, by_x[CB_Q_MAX * CB_Q_MAX] = {0},
                                 by_v[CB_Q_MAX * CB_Q_MAX] = {0}, shift[CB_Q_MAX * CB_Q_MAX] = {0};
  if (out->value) {
    const double *W = m->W + (size_t)(row * k);
    const size_t at = e * (size_t)(k * k);
    for (int part = 0; part < 1 + m->damped; part++) {
      const double *F = (part ? m->force_v : m->force_x) + at;
      for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++)
          covector[i * k + j] = (!part && rows ? m->push_x[at + (size_t)(i * k + j)] : 0) -
                                (m->g->chart ? 1 : m->g->form[i]) * F[i * k + j];
      lift(k, W, covector, part ? by_v : by_x);
    }
    if (rows) lift(k, W, m->shift_x + at, shift);
  }
  for (int i = 0; i < k; i++)
    for (int j = 0; j < k; j++) {
      cb_entries_add(out, nk + row + i, column + j, by_x[i * k + j]);
      if (m->damped) cb_entries_add(out, nk + row + i, nk + column + j, by_v[i * k + j]);
      if (rows) cb_entries_add(out, row + i, column + j, shift[i * k + j]);
    }
}

static void put_row(cb_ida *m, int r, double c) {
  cb_entries *out = &m->entries;
  const int k = m->k, nk = m->nk, rows = m->rows->rows, M = m->position[r];
  for (int e = m->rows->start[r]; e < m->rows->start[r + 1]; e++) {
    const int at = m->rows->particle[e] * k;
    const double *W = m->W + (size_t)(at * k), *G = m->G + (size_t)e * (size_t)k,
                 *rate_x = m->rate_x + (size_t)e * (size_t)k;
    for (int i = 0; i < k; i++) {
      double raised = 0;
      for (int j = 0; j < k; j++) raised += W[i * k + j] * G[j];
      cb_entries_add(out, nk + at + i, 2 * nk + r, c * raised);
      cb_entries_add(out, 2 * nk + r, at + i, rate_x[i]);
      cb_entries_add(out, 2 * nk + r, nk + at + i, G[i]);
      if (M < 0) continue;
      cb_entries_add(out, at + i, 2 * nk + rows + M, c * raised);
      cb_entries_add(out, 2 * nk + rows + M, at + i, G[i]);
    }
  }
}

static cb_status put_all(cb_ida *m, double c, const double *x, const double *v) {
  for (int a = 0; a < m->n; a++) {
    const cb_status status = put_particle(m, a, c, x, v);
    if (status) return status;
    for (int e = m->pattern->start[a]; e < m->pattern->start[a + 1]; e++) put_block(m, a, (size_t)e);
  }
  for (int r = 0; r < m->rows->rows; r++) put_row(m, r, c);
  return CB_OK;
}

cb_status cb_ida_pattern(cb_ida *m) {
  cb_entries *e = &m->entries;
  put_all(m, 0, NULL, NULL);
  if (m->sparse) return cb_entries_compress(e, m->size, m->arena, &m->columns);
  return cb_entries_fill(e, m->size);
}

cb_status cb_ida_jacobian(cb_ida *m, double t, double c, const double *y, const double *yp) {
  const int nk = m->nk, rows = m->rows->rows;
  const size_t blocks = (size_t)m->pattern->start[m->n] * (size_t)(m->k * m->k) * sizeof(double);
  const double *x = y, *v = y + nk, *L = yp + 2 * nk, *M = L + rows;
  cb_status status = cb_forces_jacobian(m->forces, t, x, v, m->force_x, m->damped ? m->force_v : NULL);
  if (!status && rows) {
    for (int r = 0; r < rows; r++) m->multiplier[r] = m->position[r] < 0 ? 0 : M[m->position[r]];
    memset(m->push_x, 0, blocks);
    memset(m->shift_x, 0, blocks);
    status = cb_constraints_hessian(m->constraints, t, x, L, m->push_x);
    if (!status) status = cb_constraints_hessian(m->constraints, t, x, m->multiplier, m->shift_x);
    if (!status) status = cb_constraints_second(m->constraints, t, x, v, m->gamma, m->rate_x);
  }
  /* force, push, shift, G and the metric */
  if (!status) status = cb_ida_residual(m, t, y, yp, N_VGetArrayPointer(m->residual));
  if (status) return status;
  return put_all(m, c, x, v);
}
