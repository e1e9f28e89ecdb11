/* Newton's method for Lobatto IIIA-IIIB in a fixed chart. The symbols are those of lobatto_chart.c: the step h, the
 * positions Q_i and velocities u_i of the stages, the start q0 and p0, the coefficients a and a^, the constraints
 * g(t, q) = 0 with the gradients G and the multipliers lambda. Here stages count from 0 to s-1.
 *
 * The unknowns are y_0 = h u_0, y_l = Q_l - q0 (l = 1 .. s-1) and mu_k = h^2 lambda_k (k = 0 .. s-2), so that no entry
 * of the matrix grows as h decreases. The equations are
 *   h u_i = sum_l B_il y_l,                         f_j = W(Q_j, u_j, F_j) - G(Q_j)^T lambda_j
 *   R_j = h sum_i C_ji (w_i - p0) - h^2 f_j = 0     (f_{s-1} left out: it has no weight in the stages)
 *   g(t_k+1, Q_k+1) = 0
 * The s x s matrix B comes from the inverse of a without its first row and column, and C from the inverse of a^ without
 * its last row and column. w_i = w(Q_i, u_i) is the momentum of stage i, which is the mass times the metric times u_i.
 * W is its rate by the metric and the forces F_j (chart_dynamics.h). The entries of the matrix are
 *   dR_j/dy_l = sum_i C_ji B_il w_u,i + h C_jl w_q,l - h B_jl (W_u + F_v)_j - h^2 delta_jl (W_q + F_q - lambda G_q)_j
 *   dR_k/dmu_k = G(Q_k)^T,  dg(t_k+1, Q_k+1)/dy_k+1 = G(Q_k+1)
 * w_u, W_q, F_v and so on are the partial derivatives of w(q, u), W(q, u, F) and F(q, v) in u, q and v; the terms in _q
 * exist only for l > 0. Without damping, forces couple different particles only in entries with j = l.
 */
#include "integrators/lobatto_chart_private.h"

#include "numerics/sparse.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct cb_lobatto_chart_newton {
  cb_arena *arena;
  cb_sparse *matrix;
  const cb_pattern *pattern; /* the pattern of the forces */
  int unknowns;
  cb_entries entries; /* the entries of the matrix, in the order in which `assemble` adds them */
  double B[CB_LOBATTO_MAX][CB_LOBATTO_MAX], C[CB_LOBATTO_MAX][CB_LOBATTO_MAX];
  cb_chart_jet *jet; /* [s][n]: derivatives of momenta and their rates at the stages */
  double *F_q[CB_LOBATTO_MAX],
      *F_v[CB_LOBATTO_MAX]; /* F_q - lambda G_q and F_v at stages, in the order of the pattern; F_v only if damped */
  double *weight;           /* [rows]: minus the multipliers of one stage */
  double *r;                /* [unknowns]: the residual, then the correction */
};

static int stage_unknown(const cb_lobatto_chart *m, int particle, int stage) {
  return (particle * m->s + stage) * m->d;
}
static int multiplier_unknown(const cb_lobatto_chart *m, int row, int k) {
  return m->n * m->s * m->d + row * (m->s - 1) + k;
}

void cb_lobatto_chart_newton_free(cb_lobatto_chart_newton *w) {
  if (!w) return;
  cb_sparse_free(w->matrix);
  cb_entries_free(&w->entries);
  cb_arena_free(w->arena);
}

int cb_lobatto_chart_newton_unknowns(const cb_lobatto_chart_newton *w) { return w->unknowns; }

static void tables(cb_lobatto_chart_newton *w, const cb_lobatto_chart *m) {
  const int s = m->s, inner = s - 1;
  long double block[CB_LOBATTO_MAX][CB_LOBATTO_MAX];
  double inverse[CB_LOBATTO_MAX - 1][CB_LOBATTO_MAX - 1];
  for (int i = 0; i < inner; i++)
    for (int j = 0; j < inner; j++) block[i][j] = m->tableau.a[i + 1][j + 1];
  cb_lobatto_invert(inner, block, inverse);
  w->B[0][0] = 1;
  for (int i = 1; i < s; i++)
    for (int l = 1; l < s; l++) {
      w->B[i][l] = inverse[i - 1][l - 1];
      w->B[i][0] -= inverse[i - 1][l - 1] * m->tableau.a[l][0];
    }
  for (int i = 0; i < inner; i++)
    for (int j = 0; j < inner; j++) block[i][j] = m->tableau.a_hat[i][j];
  cb_lobatto_invert(inner, block, inverse);
  for (int j = 0; j < inner; j++)
    for (int i = 0; i < inner; i++) {
      w->C[j][i] = inverse[j][i];
      w->C[inner][i] -= m->tableau.a_hat[inner][j] * inverse[j][i];
    }
  w->C[inner][inner] = 1;
}

/* --- the matrix --- */

/* Adds dR_j/dy_l in the rows of particle a and the columns of the particle of entry e of the pattern. */
static void put_block(cb_lobatto_chart_newton *w, const cb_lobatto_chart *m, int a, int e, int j, int l) {
  const int d = m->d, s = m->s, other = w->pattern->column[e];
  const double h = m->h;
  const bool force = j < s - 1, by_q = force && j == l && l > 0, by_v = force && m->damped;
  if (other != a && !by_q && !by_v) return;
  const size_t at = (size_t)e * (size_t)(d * d);
  for (int r = 0; r < d; r++)
    for (int c = 0; c < d; c++) {
      double sum = 0;
      if (by_q) sum -= h * h * w->F_q[j][at + (size_t)(r * d + c)];
      if (by_v) sum -= h * w->B[j][l] * w->F_v[j][at + (size_t)(r * d + c)];
      if (other == a) {
        for (int i = 0; i < s; i++) sum += w->C[j][i] * w->B[i][l] * w->jet[i * m->n + a].w_u[r * d + c];
        if (l) sum += h * w->C[j][l] * w->jet[l * m->n + a].w_q[r * d + c];
        if (force) sum -= h * w->B[j][l] * w->jet[j * m->n + a].W_u[r * d + c];
        if (by_q) sum -= h * h * w->jet[j * m->n + a].W_q[r * d + c];
      }
      cb_entries_add(&w->entries, stage_unknown(m, a, j) + r, stage_unknown(m, other, l) + c, sum);
    }
}

static void assemble(cb_lobatto_chart_newton *w, const cb_lobatto_chart *m) {
  const int d = m->d, s = m->s;
  for (int a = 0; a < m->n; a++)
    for (int e = w->pattern->start[a]; e < w->pattern->start[a + 1]; e++)
      for (int j = 0; j < s; j++)
        for (int l = 0; l < s; l++) put_block(w, m, a, e, j, l);
  for (int r = 0; r < m->rows; r++)
    for (int e = m->pattern->start[r]; e < m->pattern->start[r + 1]; e++)
      for (int k = 0; k < s - 1; k++)
        for (int c = 0; c < d; c++) {
          const int particle = m->pattern->particle[e], multiplier = multiplier_unknown(m, r, k);
          const double *G = m->G + (size_t)k * m->entries + (size_t)e * (size_t)d + c;
          cb_entries_add(&w->entries, stage_unknown(m, particle, k) + c, multiplier, G[0]);
          cb_entries_add(&w->entries, multiplier, stage_unknown(m, particle, k + 1) + c, G[m->entries]);
        }
}

cb_status cb_lobatto_chart_newton_factor(cb_lobatto_chart_newton *w, const cb_lobatto_chart *m) {
  cb_entries_begin(&w->entries, cb_sparse_values(w->matrix));
  assemble(w, m);
  return cb_sparse_factor(w->matrix);
}

void cb_lobatto_chart_newton_apply(cb_lobatto_chart_newton *w, double *x) { cb_sparse_solve(w->matrix, x); }

/* Makes the sparse matrix with the entries that `assemble` adds for the present derivatives. */
static cb_status make_matrix(cb_lobatto_chart_newton *w, const cb_lobatto_chart *m) {
  cb_arena *scratch = cb_arena_create();
  cb_columns columns;
  assemble(w, m);
  cb_status status = cb_entries_compress(&w->entries, w->unknowns, scratch, &columns);
  if (!status) status = cb_sparse_create(w->unknowns, columns.start, columns.row, columns.value, &w->matrix);
  cb_arena_free(scratch);
  return status;
}

/* Makes the matrix from the system at its start, at rest and without forces. These values determine the order of the
 * pivots. */
static cb_status representative(cb_lobatto_chart_newton *w, cb_lobatto_chart *m) {
  cb_state *state;
  cb_status status = cb_state_create(m->integrator->system, &state);
  if (status) return status;
  status = cb_system_start(m->integrator->system, state);
  for (int a = 0; a < m->n && !status; a++) {
    const double rest[CB_Q_MAX] = {0};
    double buffer[CB_CHART_METRIC_CAPACITY];
    const cb_chart_metric x = cb_chart_metric_in(m->d, buffer);
    status = cb_chart_metric_at(m->g, state->x + a * m->d, 2, &x);
    for (int i = 0; i < m->s && !status; i++)
      cb_chart_derivatives_canonical(m->d, &x, m->mass[a], rest, rest, w->jet + i * m->n + a);
  }
  if (!status && m->rows) status = cb_constraints_eval(m->constraints, state->t, state->x, NULL, m->G);
  for (int i = 1; i < m->s && !status; i++) memcpy(m->G + (size_t)i * m->entries, m->G, m->entries * sizeof(double));
  if (!status) status = make_matrix(w, m);
  cb_state_free(state);
  return status;
}

cb_status cb_lobatto_chart_newton_create(cb_lobatto_chart *m, cb_lobatto_chart_newton **out) {
  cb_lobatto_chart_newton *w = cb_arena_object(sizeof *w, "Newton's method");
  if (!w) return CB_ERROR_MEMORY;
  w->pattern = cb_forces_pattern(m->forces);
  w->unknowns = m->n * m->s * m->d + m->rows * (m->s - 1);
  const size_t entries = w->pattern ? (size_t)w->pattern->start[m->n] * (size_t)(m->d * m->d) : 0;
  w->jet = cb_chart_jets(w->arena, m->d, (size_t)m->s * (size_t)m->n);
  cb_arena_doubles(w->arena, (size_t)w->unknowns, &w->r);
  cb_arena_doubles(w->arena, (size_t)m->rows, &w->weight);
  for (int j = 0; j < m->s - 1; j++) {
    cb_arena_doubles(w->arena, entries, &w->F_q[j]);
    if (m->damped) cb_arena_doubles(w->arena, entries, &w->F_v[j]);
  }
  if (!w->pattern || cb_arena_lost(w->arena)) {
    cb_arena_free(w->arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for Newton's method with %d particles", m->n);
  }
  tables(w, m);
  const cb_status status = representative(w, m);
  if (status) {
    cb_lobatto_chart_newton_free(w);
    return status;
  }
  *out = w;
  return CB_OK;
}

/* --- the iteration --- */

/* Computes u, w, f and the other data from the unknowns, with derivatives if they are requested. */
static cb_status evaluate(cb_lobatto_chart_newton *w, cb_lobatto_chart *m, bool derivatives) {
  const int s = m->s, d = m->d;
  const size_t count = m->count;
  memset(m->u, 0, (size_t)s * count * sizeof *m->u);
  for (int i = 0; i < s; i++)
    for (int l = 0; l < s; l++) {
      const double factor = w->B[i][l] / m->h, *y = m->z + (size_t)l * count;
      double *u = m->u + (size_t)i * count;
      for (size_t e = 0; w->B[i][l] != 0 && e < count; e++) u[e] += factor * y[e];
    }
  cb_lobatto_chart_place(m);
  cb_status status = cb_lobatto_chart_forces(m);
  if (status) return status;
  for (int i = 0; i < s; i++) {
    for (int a = 0; a < m->n; a++) {
      const size_t at = (size_t)(a * d), in_stage = (size_t)i * count + at;
      double buffer[CB_CHART_METRIC_CAPACITY];
      const cb_chart_metric x = cb_chart_metric_in(m->d, buffer);
      if ((status = cb_chart_metric_at(m->g, m->q + in_stage, derivatives ? 2 : i < s - 1, &x)))
        return cb_lobatto_chart_fail(m, a, status);
      const double *u = m->u + in_stage, *F = m->F + in_stage;
      cb_chart_momentum_of(d, &x, m->mass[a], u, m->w + in_stage);
      if (i < s - 1) cb_chart_rate_canonical(d, &x, m->mass[a], u, F, cb_lobatto_chart_rate(m, i) + at);
      if (derivatives) cb_chart_derivatives_canonical(d, &x, m->mass[a], u, F, w->jet + i * m->n + a);
    }
    if (i < s - 1) cb_lobatto_chart_pull(m, i, cb_lobatto_chart_multipliers(m, i), cb_lobatto_chart_rate(m, i));
  }
  for (int j = m->damped ? 0 : 1; derivatives && j < s - 1; j++) {
    const double t = cb_lobatto_chart_time(m, j), *q = m->q + (size_t)j * count;
    status = cb_forces_jacobian(m->forces, t, q, m->u + (size_t)j * count, w->F_q[j], w->F_v[j]);
    for (int r = 0; r < m->rows; r++) w->weight[r] = -cb_lobatto_chart_multipliers(m, j)[r];
    if (!status && m->rows && j > 0) status = cb_constraints_hessian(m->constraints, t, q, w->weight, w->F_q[j]);
    if (status) return cb_lobatto_chart_fail(m, -1, status);
  }
  return CB_OK;
}

cb_status cb_lobatto_chart_newton_residual(cb_lobatto_chart_newton *w, cb_lobatto_chart *m, bool derivatives,
                                           double *residual) {
  const cb_status status = evaluate(w, m, derivatives);
  if (status) return status;
  const int s = m->s, d = m->d;
  const double h = m->h;
  for (int a = 0; a < m->n; a++)
    for (int c = 0; c < d; c++) {
      const size_t e = (size_t)(a * d + c);
      for (int j = 0; j < s; j++) {
        double sum = 0;
        for (int i = 0; i < s; i++)
          sum += w->C[j][i] * ((m->w[(size_t)i * m->count + e] - m->start->p[e]) - m->start->p_low[e]);
        residual[stage_unknown(m, a, j) + c] = h * sum - (j < s - 1 ? h * h * cb_lobatto_chart_rate(m, j)[e] : 0);
      }
    }
  for (int r = 0; r < m->rows; r++)
    for (int k = 0; k < s - 1; k++) residual[multiplier_unknown(m, r, k)] = m->gap[k * m->rows + r];
  return CB_OK;
}

void cb_lobatto_chart_newton_correct(cb_lobatto_chart *m, const double *step, cb_stage_change *c) {
  double poison = 0;
  for (int a = 0; a < m->n; a++)
    for (int l = 0; l < m->s; l++)
      for (int e = 0; e < m->d; e++) {
        const double by = step[stage_unknown(m, a, l) + e];
        double *y = m->z + (size_t)l * m->count + (size_t)(a * m->d + e);
        *y -= by;
        c->change = fmax(c->change, fabs(by));
        poison += 0 * by;
        c->size = fmax(c->size, fabs(*y));
      }
  c->change += poison;
  for (int k = 0; k < m->s - 1; k++)
    for (int r = 0; r < m->rows; r++)
      cb_lobatto_chart_multipliers(m, k)[r] -= step[multiplier_unknown(m, r, k)] / (m->h * m->h);
}

static cb_status correct(void *method, cb_stage_change *c) {
  cb_lobatto_chart *m = method;
  const bool fresh = cb_stage_change_asks_matrix(c);
  cb_lobatto_chart_newton *w = m->newton;
  cb_status status = cb_lobatto_chart_newton_residual(w, m, fresh, w->r);
  if (!status && fresh) status = cb_lobatto_chart_newton_factor(w, m);
  if (status) return status;
  cb_lobatto_chart_newton_apply(w, w->r);
  cb_lobatto_chart_newton_correct(m, w->r, c);
  return CB_OK;
}

cb_status cb_lobatto_chart_newton_solve(cb_lobatto_chart *m) {
  double position = 0; /* the largest absolute value of a coordinate at the start of the step */
  for (size_t e = 0; e < m->count; e++) {
    m->z[e] = m->h * m->u[e]; /* y_0 */
    position = fmax(position, fabs(m->start->x[e]));
  }
  const cb_iteration how = {"lobatto",
                            CB_NEWTON,
                            correct,
                            cb_end_by_change,
                            .target = m->tolerance > 0 ? m->tolerance : 4 * DBL_EPSILON,
                            .noise = 64 * DBL_EPSILON * position,
                            .stall = 0.25,
                            .lost = INFINITY,
                            .maximum = m->max_iterations < 30 ? m->max_iterations : 30};
  const cb_status status = cb_iterate(&how, m->integrator, m);
  return status ? status : evaluate(m->newton, m, false);
}
