/* Newton's method of Radau IIA: its unknowns, its residual and the pattern of its matrix. The entries are in
 * radau_matrix.c. */
#include "integrators/radau.h"

#include <amd.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

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

/* The order of elimination: particles by the minimum degree of their graph, each with all its stages, and behind them
 * the multipliers of the rows of which it is the last particle. Only then have multipliers pivots. */
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

/* The pattern, with values at the system's start, without forces and for a short step: they choose the order of the
 * pivots, which thus does not depend on history. */
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
    return cb_fail(CB_ERROR_UNSUPPORTED, "Newton's method has too many unknowns; use `solver: fixed-point`");
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

/* R^D and R^E as they come out where positions and velocities themselves are the unknowns: with their round-off. */
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
    if (m->mu) { /* h a W G^T mu, by the first equation */
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
      if (velocity || m->mu) to[r] = rate;
      else if (m->index == CB_RADAU_POSITION) to[r] = g;
      else if (i == 0) to[r] = cb_radau_row(m, m->g_rows, last)[r];
      else if (i == 1) to[r] = h * cb_radau_row(m, m->rate, last)[r];
      else to[r] = across[r];
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
      if (m->published) { /* positions and velocities are the unknowns there, with their round-off */
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
