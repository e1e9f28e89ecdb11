/* The entries of Newton's matrix of Radau IIA, at the stages that were evaluated last.
 *
 *   R^D_i = sum_j A^-1_ij D_j - h (v0 + E_i + W G_i^T mu_i)
 *   R^E_i = sum_j A^-1_ij h E_j - h^2 a_i,   a = W (F - G^T lambda) + what is left in a chart (chart_dynamics.h)
 *   ggl           h rate_i and g_i           position      g_i
 *   velocity      g_s and h rate_s           acceleration  g_s, h rate_s and G_s sum_j A^-1_sj h E_j + h^2 gamma_s
 *   rows of velocity   h rate_i, with `ggl` also a (sum_j A^-1_ij D_j - h (v0 + E_i)) = 0
 * d(gamma)/dx is the change of d(rate)/dx along the motion, d(gamma)/dv twice d(rate)/dx.
 */
#include "integrators/radau.h"

#include <math.h>
#include <string.h>

static int at_D(const cb_radau *m, int i) { return i * m->newton->each; }
static int at_E(const cb_radau *m, int i) { return at_D(m, i) + (int)m->count; }
static int at_lambda(const cb_radau *m, int i) { return at_E(m, i) + (int)m->count; }
static int at_mu(const cb_radau *m, int i) { return at_lambda(m, i) + m->R; }

static void add(cb_radau_newton *w, int row, int column, double value) {
  cb_entries_add(&w->entries, row, column, value);
}

/* Force and curvature of one pair of particles, a and b = column of entry e of the pattern, in stage i. */
static cb_status pair(cb_radau *m, int i, int a, int e) {
  cb_radau_newton *w = m->newton;
  const int k = m->k, b = w->pattern->column[e];
  const double h = m->h, *Fx = w->by_x + (size_t)(e * k * k), *Fv = w->by_v ? w->by_v + (size_t)(e * k * k) : NULL;
  const double *Hl = w->by_l ? w->by_l + (size_t)(e * k * k) : NULL;
  const double *Hm = w->by_m ? w->by_m + (size_t)(e * k * k) : NULL;
  double x[CB_Q_MAX][CB_Q_MAX], v[CB_Q_MAX][CB_Q_MAX], d[CB_Q_MAX][CB_Q_MAX];
  const double factor = 1 / m->mass[a];
  if (!m->chart) {
    for (int r = 0; r < k; r++)
      for (int c = 0; c < k; c++) {
        x[r][c] = factor * (Fx[r * k + c] - (Hl ? m->g->form[r] * Hl[r * k + c] : 0));
        v[r][c] = Fv ? factor * Fv[r * k + c] : 0;
        d[r][c] = Hm ? factor * m->g->form[r] * Hm[r * k + c] : 0;
      }
  } else {
    const size_t at = (size_t)i * m->count + (size_t)(a * k);
    const double *inverse = m->inverse + ((size_t)i * (size_t)m->n + (size_t)a) * (size_t)(k * k);
    for (int r = 0; r < k; r++)
      for (int c = 0; c < k; c++) {
        x[r][c] = v[r][c] = d[r][c] = 0;
        for (int l = 0; l < k; l++) {
          const double weight = factor * inverse[r * k + l];
          x[r][c] += weight * (Fx[l * k + c] - (Hl ? Hl[l * k + c] : 0));
          v[r][c] += Fv ? weight * Fv[l * k + c] : 0;
          d[r][c] += Hm ? weight * Hm[l * k + c] : 0;
        }
      }
    if (a == b) {
      double room[CB_CHART_METRIC_ROOM];
      const cb_chart_metric metric = cb_chart_metric_in(k, room);
      double derivatives[CB_CHART_JET_ROOM];
      const cb_chart_jet jet = cb_chart_jet_in(k, derivatives);
      double total[CB_Q_MAX];
      const cb_status status = cb_chart_metric_at(m->g, m->X + at, 2, &metric);
      if (status) return cb_radau_status(status);
      for (int r = 0; r < k; r++) total[r] = m->F[at + (size_t)r] - (m->R ? w->mean[a * k + r] : 0);
      cb_chart_derivatives_velocity(k, &metric, m->mass[a], m->V + at, total, &jet);
      for (int r = 0; r < k; r++)
        for (int c = 0; c < k; c++) {
          x[r][c] += jet.W_q[r * k + c];
          v[r][c] += jet.W_u[r * k + c];
          for (int l = 0; m->mu && l < k; l++)
            for (int q = 0; q < k; q++)
              d[r][c] -= metric.inverse[r * k + l] * metric.dg[(c * k + l) * k + q] * m->drift[at + (size_t)q];
        }
    }
  }
  const bool by_v = Fv || (m->chart && a == b), by_m = m->mu && (Hm || a == b);
  for (int r = 0; r < k; r++)
    for (int c = 0; c < k; c++) {
      add(w, at_E(m, i) + a * k + r, at_D(m, i) + b * k + c, -h * h * x[r][c]);
      if (by_v) add(w, at_E(m, i) + a * k + r, at_E(m, i) + b * k + c, -h * v[r][c]);
      if (by_m) add(w, at_D(m, i) + a * k + r, at_D(m, i) + b * k + c, -h * d[r][c]);
    }
  return CB_OK;
}

/* Row r in stage i, its entry e at the particle b. */
static void row_entry(cb_radau *m, int i, int r, int e) {
  cb_radau_newton *w = m->newton;
  const int s = m->s, last = s - 1, k = m->k, b = m->rows->particle[e];
  const double h = m->h, *G = m->G + (size_t)i * m->entries + (size_t)(e * k);
  const double *rate_x = w->rate_x + (size_t)(e * k), *gamma_x = w->gamma_x + (size_t)(e * k);
  const bool velocity = m->rows->velocity[r];
  double lifted[CB_Q_MAX]; /* W G^T */
  for (int c = 0; c < k; c++) {
    lifted[c] = 0;
    if (!m->chart) lifted[c] = m->g->form[c] * G[c] / m->mass[b];
    else
      for (int l = 0; l < k; l++)
        lifted[c] += m->inverse[((size_t)i * (size_t)m->n + (size_t)b) * (size_t)(k * k) + (size_t)(c * k + l)] * G[l] /
                     m->mass[b];
  }
  for (int c = 0; c < k; c++) {
    const int D = at_D(m, i) + b * k + c, E = at_E(m, i) + b * k + c;
    add(w, E, at_lambda(m, i) + r, lifted[c]);
    if (m->mu) add(w, D, at_mu(m, i) + r, -lifted[c]);
    if (velocity || m->mu) {
      add(w, at_lambda(m, i) + r, E, G[c]);
      add(w, at_lambda(m, i) + r, D, h * rate_x[c]);
      if (!m->mu) continue;
      if (!velocity) {
        add(w, at_mu(m, i) + r, D, G[c]);
        continue;
      }
      for (int j = 0; j < s; j++) add(w, at_mu(m, i) + r, at_D(m, j) + b * k + c, m->inverse_a[i][j] * G[c]);
      add(w, at_mu(m, i) + r, E, -G[c]);
    } else if (m->index == CB_RADAU_POSITION) {
      add(w, at_lambda(m, i) + r, D, G[c]);
    } else if (i == last) {
      add(w, at_lambda(m, 0) + r, D, G[c]);
      add(w, at_lambda(m, 1) + r, E, G[c]);
      add(w, at_lambda(m, 1) + r, D, h * rate_x[c]);
      if (m->index != CB_RADAU_ACCELERATION) continue;
      for (int j = 0; j < s; j++)
        add(w, at_lambda(m, 2) + r, at_E(m, j) + b * k + c,
            m->inverse_a[last][j] * G[c] + (j == last ? 2 * h * rate_x[c] : 0));
      add(w, at_lambda(m, 2) + r, D, gamma_x[c]);
    }
  }
}

/* rate_x, and with `acceleration` gamma_x = h^2 d(gamma)/dx + d(G sum_j A^-1_sj h E_j)/dx, of stage i. */
static cb_status second(cb_radau *m, int i) {
  cb_radau_newton *w = m->newton;
  const double t = m->start->t + m->tableau.c[i] * m->h, *x = cb_radau_of(m, m->X, i), *v = cb_radau_of(m, m->V, i);
  double *unused = cb_radau_row(m, m->y, i);
  cb_status status = cb_constraints_second(m->constraints, t, x, v, unused, w->rate_x);
  if (status || m->index != CB_RADAU_ACCELERATION || i < m->s - 1) return status;
  double speed = 0, size = 0;
  for (size_t e = 0; e < m->count; e++) speed = fmax(speed, fabs(v[e])), size = fmax(size, fabs(x[e]));
  const double eps = 6e-6 * (speed > 0 ? fmax(1e-3, size) / speed : 1); /* cube root of round-off */
  for (int side = -1; side <= 1 && !status; side += 2) {
    for (size_t e = 0; e < m->count; e++) w->probe[e] = x[e] + side * eps * v[e];
    status = cb_constraints_second(m->constraints, t + side * eps, w->probe, v, unused, w->away);
    for (size_t e = 0; e < m->entries; e++)
      w->gamma_x[e] = (side < 0 ? 0 : w->gamma_x[e]) + side * m->h * m->h / (2 * eps) * w->away[e];
  }
  /* d(rate)/dx for the velocity `mean`, less what of it does not depend on velocity */
  memset(w->probe, 0, m->count * sizeof(double));
  for (int j = 0; j < m->s; j++)
    for (size_t e = 0; e < m->count; e++)
      w->probe[e] += m->inverse_a[i][j] * m->h * cb_radau_of(m, m->E, j)[e];
  if (!status) status = cb_constraints_second(m->constraints, t, x, w->probe, unused, w->away);
  for (size_t e = 0; !status && e < m->entries; e++) w->gamma_x[e] += w->away[e];
  if (status || m->plain) return status;
  memset(w->probe, 0, m->count * sizeof(double));
  status = cb_constraints_second(m->constraints, t, x, w->probe, unused, w->away);
  for (size_t e = 0; !status && e < m->entries; e++) w->gamma_x[e] -= w->away[e];
  return status;
}

static cb_status derivatives(cb_radau *m, int i, bool free) {
  cb_radau_newton *w = m->newton;
  const double t = m->start->t + m->tableau.c[i] * m->h, *x = cb_radau_of(m, m->X, i), *v = cb_radau_of(m, m->V, i);
  const size_t bytes = w->blocks * sizeof(double);
  if (w->by_l) memset(w->by_l, 0, bytes);
  if (w->by_m) memset(w->by_m, 0, bytes);
  if (free) {
    memset(w->by_x, 0, bytes);
    if (w->by_v) memset(w->by_v, 0, bytes);
    return CB_OK;
  }
  cb_status status = cb_forces_jacobian(m->forces, t, x, v, w->by_x, w->by_v);
  if (status || !m->R) return status;
  status = cb_constraints_hessian(m->constraints, t, x, cb_radau_lambda(m, i), w->by_l);
  if (!status && w->by_m) status = cb_constraints_hessian(m->constraints, t, x, cb_radau_row(m, m->mu, i), w->by_m);
  if (!status) status = second(m, i);
  if (status || !m->chart) return status;
  /* G^T lambda */
  memset(w->mean, 0, m->count * sizeof(double));
  for (int r = 0; r < m->R; r++)
    for (int e = m->rows->start[r]; e < m->rows->start[r + 1]; e++)
      for (int c = 0; c < m->k; c++)
        w->mean[m->rows->particle[e] * m->k + c] +=
            cb_radau_lambda(m, i)[r] * m->G[(size_t)i * m->entries + (size_t)(e * m->k + c)];
  return CB_OK;
}

cb_status cb_radau_add_all(cb_radau *m, bool free) {
  cb_radau_newton *w = m->newton;
  for (int i = 0; i < m->s; i++) {
    cb_status status = derivatives(m, i, free);
    if (status) return cb_radau_status(status);
    for (int e = 0; e < (int)m->count; e++) {
      for (int j = 0; j < m->s; j++) {
        add(w, at_D(m, i) + e, at_D(m, j) + e, m->inverse_a[i][j]);
        add(w, at_E(m, i) + e, at_E(m, j) + e, m->inverse_a[i][j]);
      }
      add(w, at_D(m, i) + e, at_E(m, i) + e, -1);
    }
    for (int a = 0; a < m->n; a++)
      for (int e = w->pattern->start[a]; e < w->pattern->start[a + 1]; e++)
        if ((status = pair(m, i, a, e))) return status;
    for (int r = 0; r < m->R; r++)
      for (int e = m->rows->start[r]; e < m->rows->start[r + 1]; e++) row_entry(m, i, r, e);
  }
  return CB_OK;
}
