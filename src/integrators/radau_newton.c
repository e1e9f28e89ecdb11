/* Newton's method of Radau IIA: its unknowns, its residual, and its matrix. The symbols are those of radau.h; a_ij are
 * the coefficients, A = (a_ij). */
#include "integrators/radau.h"

#include <amd.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static cb_status cb_radau_add_all(cb_radau *m, bool free);

int cb_radau_unknowns(const cb_radau *m) { return m->newton->unknowns; }
double *cb_radau_last(const cb_radau *m) { return m->newton->last; }
cb_sparse *cb_radau_sparse(const cb_radau *m) { return m->newton->matrix; }

void cb_radau_newton_free(cb_radau_newton *w) {
  if (!w) return;
  cb_sparse_free(w->matrix);
  cb_entries_free(&w->entries);
}

static cb_status no_memory(const cb_radau *m) {
  return cb_fail(CB_ERROR_MEMORY, "no memory for a Newton matrix of %d unknowns", m->newton->unknowns);
}

/* Finds the order of elimination: the particles are ordered by the minimum degree of their graph, each with all its
 * stages. Each particle is followed by the multipliers of those rows of which it is the last particle. Multipliers have
 * pivots only in this order. */
static cb_status eliminate(const cb_radau *m, cb_arena *scratch, int *order) {
  const cb_radau_newton *w = m->newton;
  const int n = m->n, R = m->R, k = m->k, s = m->s;
  int *particle = cb_arena_alloc(scratch, (size_t)n, sizeof *particle);
  int *rank = cb_arena_alloc(scratch, (size_t)n, sizeof *rank);
  int *last = cb_arena_alloc(scratch, (size_t)R, sizeof *last);
  int *rows = cb_arena_alloc(scratch, (size_t)R, sizeof *rows);
  int *first = cb_arena_alloc(scratch, (size_t)n + 1, sizeof *first);
  if (cb_arena_lost(scratch) || amd_order(n, w->pattern->start, w->pattern->column, particle, NULL, NULL) < AMD_OK)
    return no_memory(m);
  for (int i = 0; i < n; i++) rank[particle[i]] = i;
  for (int r = 0; r < R; r++) {
    for (int e = m->rows->start[r]; e < m->rows->start[r + 1]; e++) {
      const int at = rank[m->rows->particle[e]];
      if (at > last[r]) last[r] = at;
    }
  }
  for (int r = 0; r < R; r++) first[last[r] + 1]++;
  for (int i = 0; i < n; i++) first[i + 1] += first[i];
  for (int r = 0; r < R; r++) rows[first[last[r]]++] = r;
  for (int i = 0, at = 0, row = 0; i < n; i++) {
    for (int stage = 0; stage < s; stage++)
      for (int part = 0; part < 2; part++)
        for (int c = 0; c < k; c++) order[at++] = stage * w->each + part * (int)m->count + particle[i] * k + c;
    for (; row < R && last[rows[row]] == i; row++)
      for (int part = 0; part < (m->mu ? 2 : 1); part++)
        for (int stage = 0; stage < s; stage++)
          order[at++] = stage * w->each + 2 * (int)m->count + part * R + rows[row];
  }
  return CB_OK;
}

/* Makes the pattern with values for the start of the system at rest, without the derivatives of forces, which are
 * negligible in a short step. These values determine the order of the pivots, which therefore does not depend on
 * earlier steps. */
static cb_status make_pattern(cb_radau *m) {
  cb_radau_newton *w = m->newton;
  cb_state *start;
  cb_status status = cb_state_create(m->integrator->system, &start);
  if (status) return status;
  const cb_state *kept = m->start;
  const double h = m->h;
  const size_t all = (size_t)m->s * m->count * sizeof(double);
  status = cb_system_start(m->integrator->system, start);
  m->start = start;
  m->h = 1;
  memset(m->D, 0, all);
  memset(m->E, 0, all);
  memset(m->v0, 0, m->count * sizeof(double));
  memset(m->rates, 0, (size_t)m->s * (m->count + (size_t)m->R) * sizeof(double));
  if (m->mu) memset(m->mu, 0, (size_t)m->s * (size_t)m->R * sizeof(double));
  if (!status) status = cb_forces_set_origins(m->forces, start->origin);
  if (!status) status = cb_radau_evaluate(m);
  if (!status) status = cb_radau_add_all(m, true);
  m->start = kept;
  m->h = h;
  if (!status && kept) status = cb_forces_set_origins(m->forces, kept->origin);
  cb_state_free(start);
  if (status) return status;
  cb_arena *scratch = cb_arena_create();
  int *order = cb_arena_alloc(scratch, (size_t)w->unknowns, sizeof *order);
  cb_columns of;
  status = order ? cb_entries_compress(&w->entries, w->unknowns, scratch, &of) : no_memory(m);
  if (!status) status = eliminate(m, scratch, order);
  if (!status) status = cb_sparse_create_ordered(w->unknowns, of.start, of.row, of.value, order, &w->matrix);
  cb_arena_free(scratch);
  return status;
}

cb_status cb_radau_newton_create(cb_radau *m) {
  cb_arena *arena = m->arena;
  cb_radau_newton *w = cb_arena_alloc(arena, 1, sizeof *w);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for Newton's method");
  w->pattern = cb_forces_pattern(m->forces);
  if (!w->pattern) return CB_ERROR_MEMORY;
  const double unknowns = (double)m->s * (2 * (double)m->count + (m->mu ? 2 : 1) * (double)m->R);
  if (unknowns > INT32_MAX)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "Newton's method has too many unknowns for the integers of the solver; use `solver: fixed-point`");
  w->each = 2 * (int)m->count + (m->mu ? 2 : 1) * m->R;
  w->unknowns = m->s * w->each;
  w->blocks = (size_t)w->pattern->start[m->n] * (size_t)(m->k * m->k);
  const bool coupled = m->R > 0, joined = coupled && m->rows->own > 0;
  cb_arena_doubles(arena, w->blocks, &w->by_x);
  if (m->damped) cb_arena_doubles(arena, w->blocks, &w->by_v);
  if (coupled) cb_arena_doubles(arena, w->blocks, &w->by_l);
  if (joined && m->mu) cb_arena_doubles(arena, w->blocks, &w->by_m);
  cb_arena_doubles(arena, m->entries, &w->rate_x, &w->gamma_x, &w->away);
  cb_arena_doubles(arena, m->count, &w->mean, &w->probe);
  cb_arena_doubles(arena, (size_t)w->unknowns, &w->residual, &w->last);
  if (cb_arena_lost(arena))
    return cb_fail(CB_ERROR_MEMORY, "no memory for the Newton method of %d unknowns", w->unknowns);
  m->newton = w;
  const cb_status status = make_pattern(m);
  if (!status) return CB_OK;
  cb_radau_newton_free(w);
  m->newton = NULL;
  return status;
}

cb_status cb_radau_matrix(cb_radau *m) {
  cb_radau_newton *w = m->newton;
  cb_entries_begin(&w->entries, cb_sparse_values(w->matrix));
  return cb_radau_add_all(m, false);
}

/* Computes R^D and R^E (defined below) with the round-off that they have if the unknowns are positions and velocities
 * themselves. */
static void published_residual(cb_radau *m) {
  cb_radau_newton *w = m->newton;
  const size_t count = m->count;
  for (size_t e = 0; e < count; e++) {
    double D[CB_RADAU_MAX], E[CB_RADAU_MAX];
    for (int i = 0; i < m->s; i++) {
      double x = m->start->x[e], v = m->v0[e];
      for (int j = 0; j < m->s; j++) {
        const double weight = m->h * m->tableau.a[i][j];
        x += weight * (cb_radau_of(m, m->V, j)[e] + (m->mu ? cb_radau_of(m, m->drift, j)[e] : 0));
        v += weight * cb_radau_rate(m, j)[e];
      }
      D[i] = cb_radau_of(m, m->X, i)[e] - x;
      E[i] = m->h * (cb_radau_of(m, m->V, i)[e] - v);
    }
    for (int i = 0; i < m->s; i++) {
      double *to = w->residual + (size_t)i * (size_t)w->each + e;
      to[0] = to[count] = 0;
      for (int j = 0; j < m->s; j++) {
        to[0] += m->inverse_a[i][j] * D[j];
        to[count] += m->inverse_a[i][j] * E[j];
      }
    }
  }
}

double *cb_radau_residual(cb_radau *m) {
  cb_radau_newton *w = m->newton;
  const int s = m->s, last = s - 1;
  const size_t count = m->count;
  const double h = m->h;
  if (m->published) published_residual(m);
  for (int i = 0; !m->published && i < s; i++) {
    double *to = w->residual + (size_t)i * (size_t)w->each;
    const double *v = cb_radau_of(m, m->V, i), *rate = cb_radau_rate(m, i);
    for (size_t e = 0; e < count; e++) {
      double D = -h * (v[e] + (m->mu ? m->drift[(size_t)i * count + e] : 0)), E = -h * h * rate[e];
      for (int j = 0; j < s; j++) {
        D += m->inverse_a[i][j] * cb_radau_of(m, m->D, j)[e];
        E += m->inverse_a[i][j] * (h * cb_radau_of(m, m->E, j)[e]);
      }
      to[e] = D;
      to[count + e] = E;
    }
  }
  if (!m->R) return w->residual;
  for (int i = 0; i < s; i++) {
    double *to = w->residual + (size_t)i * (size_t)w->each + 2 * count;
    double *across = cb_radau_row(m, m->z, i);
    if (m->mu) { /* h G W G^T mu, from the equation R^D_i = 0 */
      for (size_t e = 0; e < count; e++) {
        double sum = -h * cb_radau_of(m, m->V, i)[e];
        for (int j = 0; j < s; j++) sum += m->inverse_a[i][j] * cb_radau_of(m, m->D, j)[e];
        m->lift[e] = sum;
      }
      cb_radau_along(m, i, m->lift, across);
    } else if (m->index == CB_RADAU_ACCELERATION && i == 2) {
      for (size_t e = 0; e < count; e++) {
        double sum = 0;
        for (int j = 0; j < s; j++) sum += m->inverse_a[last][j] * (h * cb_radau_of(m, m->E, j)[e]);
        m->lift[e] = sum;
      }
      cb_radau_along(m, last, m->lift, across);
      for (int r = 0; r < m->R; r++) across[r] += h * h * m->gamma[r];
    }
    for (int r = 0; r < m->R; r++) {
      const bool velocity = m->rows->velocity[r];
      const double g = cb_radau_row(m, m->g_rows, i)[r], rate = h * cb_radau_row(m, m->rate, i)[r];
      if (velocity || m->mu)
        to[r] = rate;
      else if (m->index == CB_RADAU_POSITION)
        to[r] = g;
      else if (i == 0)
        to[r] = cb_radau_row(m, m->g_rows, last)[r];
      else if (i == 1)
        to[r] = h * cb_radau_row(m, m->rate, last)[r];
      else
        to[r] = across[r];
      if (m->mu) to[m->R + r] = velocity ? across[r] : g;
    }
  }
  return w->residual;
}

double cb_radau_size(const cb_radau *m, const double *step) {
  double largest = 0, total = 0;
  for (int i = 0; i < m->s; i++) {
    const double *from = step + (size_t)i * (size_t)m->newton->each;
    for (size_t e = 0; e < 2 * m->count; e++) {
      largest = fmax(largest, fabs(from[e]));
      total += from[e];
    }
  }
  return total - total == 0 ? largest : INFINITY;
}

void cb_radau_correct(cb_radau *m, const double *step, double scale, cb_stage_change *c) {
  const cb_radau_newton *w = m->newton;
  const double h = m->h;
  double total = 0;
  for (size_t e = 0; e < m->count; e++) c->position = fmax(c->position, fabs(m->start->x[e]));
  for (int i = 0; i < m->s; i++) {
    const double *from = step + (size_t)i * (size_t)w->each;
    double *D = cb_radau_of(m, m->D, i), *E = cb_radau_of(m, m->E, i), *lambda = cb_radau_lambda(m, i);
    for (size_t e = 0; e < m->count; e++) {
      const double x = scale * from[e], y = scale * from[m->count + e];
      D[e] -= x;
      E[e] -= y / h;
      if (m->published) { /* adds the round-off of positions and velocities, which are the unknowns of this method */
        D[e] = (m->start->x[e] + D[e]) - m->start->x[e];
        E[e] = (m->v0[e] + E[e]) - m->v0[e];
      }
      c->change = fmax(c->change, fmax(fabs(x), fabs(y)));
      c->size = fmax(c->size, fabs(D[e]));
      total += x + y;
    }
    for (int r = 0; r < m->R; r++) {
      const double d = scale * from[2 * m->count + (size_t)r] / (h * h);
      lambda[r] -= d;
      c->multiplier = fmax(c->multiplier, fabs(d));
      if (m->mu) cb_radau_row(m, m->mu, i)[r] -= scale * from[2 * m->count + (size_t)(m->R + r)] / h;
      total += d;
    }
  }
  if (total - total != 0) c->change = NAN;
}

/* --- the entries of the matrix, at the stages that were evaluated last ---
 *
 *   R^D_i = sum_j A^-1_ij D_j - h (v0 + E_i + W G_i^T mu_i)
 *   R^E_i = sum_j A^-1_ij h E_j - h^2 a_i,   a = W (F - G^T lambda) + the terms of the chart (chart_dynamics.h)
 *   ggl           h rate_i and g_i           position      g_i
 *   velocity      g_s and h rate_s           acceleration  g_s, h rate_s and G_s sum_j A^-1_sj h E_j + h^2 gamma_s
 *   rows of velocity   h rate_i, with `ggl` also G_i (sum_j A^-1_ij D_j - h (v0 + E_i))
 * with the symbols of radau.h and radau_iia.c, and the acceleration a_i of stage i. d(gamma)/dx is the change of
 * d(rate)/dx along the motion, d(gamma)/dv twice d(rate)/dx.
 */

static int at_D(const cb_radau *m, int i) { return i * m->newton->each; }
static int at_E(const cb_radau *m, int i) { return at_D(m, i) + (int)m->count; }
static int at_lambda(const cb_radau *m, int i) { return at_E(m, i) + (int)m->count; }
static int at_mu(const cb_radau *m, int i) { return at_lambda(m, i) + m->R; }

static void add(cb_radau_newton *w, int row, int column, double value) {
  cb_entries_add(&w->entries, row, column, value);
}

/* Adds the derivatives of the force on particle a by particle b, and the second derivatives of the rows for these
 * particles, in stage i. b is the column of entry e of the pattern. */
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
      double buffer[CB_CHART_METRIC_CAPACITY];
      const cb_chart_metric metric = cb_chart_metric_in(k, buffer);
      double derivatives[CB_CHART_JET_CAPACITY];
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

/* Adds to the matrix the contribution of entry e of row r in stage i; this entry belongs to the particle b. */
static void row_entry(cb_radau *m, int i, int r, int e) {
  cb_radau_newton *w = m->newton;
  const int s = m->s, last = s - 1, k = m->k, b = m->rows->particle[e];
  const double h = m->h, *G = m->G + (size_t)i * m->entries + (size_t)(e * k);
  const double *rate_x = w->rate_x + (size_t)(e * k), *gamma_x = w->gamma_x + (size_t)(e * k);
  const bool velocity = m->rows->velocity[r];
  double lifted[CB_Q_MAX]; /* W G^T */
  for (int c = 0; c < k; c++) {
    lifted[c] = 0;
    if (!m->chart)
      lifted[c] = m->g->form[c] * G[c] / m->mass[b];
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

/* Computes rate_x of stage i and, at the last stage for CB_RADAU_ACCELERATION, gamma_x = h^2 d(gamma)/dx + d(G sum_j
 * A^-1_sj h E_j)/dx. */
static cb_status second(cb_radau *m, int i) {
  cb_radau_newton *w = m->newton;
  const double t = m->start->t + m->tableau.c[i] * m->h, *x = cb_radau_of(m, m->X, i), *v = cb_radau_of(m, m->V, i);
  double *unused = cb_radau_row(m, m->y, i);
  cb_status status = cb_constraints_second(m->constraints, t, x, v, unused, w->rate_x);
  if (status || m->index != CB_RADAU_ACCELERATION || i < m->s - 1) return status;
  double speed = 0, size = 0;
  for (size_t e = 0; e < m->count; e++) {
    speed = fmax(speed, fabs(v[e]));
    size = fmax(size, fabs(x[e]));
  }
  const double eps = 6e-6 * (speed > 0 ? fmax(1e-3, size) / speed : 1); /* 6e-6: the cube root of round-off */
  for (int side = -1; side <= 1 && !status; side += 2) {
    for (size_t e = 0; e < m->count; e++) w->probe[e] = x[e] + side * eps * v[e];
    status = cb_constraints_second(m->constraints, t + side * eps, w->probe, v, unused, w->away);
    for (size_t e = 0; e < m->entries; e++)
      w->gamma_x[e] = (side < 0 ? 0 : w->gamma_x[e]) + side * m->h * m->h / (2 * eps) * w->away[e];
  }
  /* d(rate)/dx for the velocity sum_j A^-1_sj h E_j, without the part that does not depend on velocity */
  memset(w->probe, 0, m->count * sizeof(double));
  for (int j = 0; j < m->s; j++)
    for (size_t e = 0; e < m->count; e++) w->probe[e] += m->inverse_a[i][j] * m->h * cb_radau_of(m, m->E, j)[e];
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
  /* mean = G^T lambda */
  memset(w->mean, 0, m->count * sizeof(double));
  for (int r = 0; r < m->R; r++)
    for (int e = m->rows->start[r]; e < m->rows->start[r + 1]; e++)
      for (int c = 0; c < m->k; c++)
        w->mean[m->rows->particle[e] * m->k + c] +=
            cb_radau_lambda(m, i)[r] * m->G[(size_t)i * m->entries + (size_t)(e * m->k + c)];
  return CB_OK;
}

/* Adds all entries of Newton's matrix. If free is true, the derivatives of the forces are left out; they would be
 * negligible in a short step. */
static cb_status cb_radau_add_all(cb_radau *m, bool free) {
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
