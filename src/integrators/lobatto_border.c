/* Constraints in Newton's method for the stages of Lobatto IIIA-IIIB: with N the matrix of the other unknowns u,
 *
 *   [N B; C 0] (du, dy) = (r, -g),   y_k = h^2 lambda_k,   B: W_ik I^-1 G_k/m on D_i, a^_ik I^-1 G_k/(h m) on Q_i,
 *   C: G_i on D_i;    (C N^-1 B) dy = C N^-1 r + g,   du = N^-1 r - N^-1 B dy.
 *
 * N holds the derivatives of the pulls as forces. The inverse on B costs one solution a multiplier: for few. */
#include "integrators/lobatto_constraints.h"

#include "numerics/small.h"

#include <string.h>

bool cb_lobatto_constraints_bordered(const cb_lobatto_constraints *c) { return c->size <= CB_LOBATTO_BORDER; }

cb_status cb_lobatto_constraints_reserve(cb_lobatto_constraints *c, cb_integrator *in, const cb_lobatto *l, int block) {
  const cb_pattern *pattern = cb_forces_pattern(in->forces);
  if (!pattern) return CB_ERROR_MEMORY;
  const size_t size = (size_t)c->size, k = (size_t)l->k;
  c->blocks = cb_arena_alloc(c->arena, (size_t)pattern->start[pattern->n] * k * k, sizeof(double));
  c->border = cb_arena_alloc(c->arena, size * (size_t)l->n * (size_t)block, sizeof(double));
  c->schur = cb_arena_alloc(c->arena, size * size, sizeof(double));
  if (c->blocks && c->border && c->schur) return CB_OK;
  return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints in Newton's method", c->m);
}

cb_status cb_lobatto_constraints_pulls(cb_lobatto_constraints *c, cb_integrator *in, cb_lobatto *l, double t, double h,
                                       double *const *dx) {
  const cb_pattern *pattern = cb_forces_pattern(in->forces);
  const int s = l->s, k = l->k;
  if (!pattern) return CB_ERROR_MEMORY;
  const size_t numbers = (size_t)pattern->start[pattern->n] * (size_t)(k * k);
  for (int i = 0; i < s; i++) {
    const double time = t + l->c[i] * h;
    cb_status status =
        cb_constraints_eval(c->c, time, l->X[i], i ? c->g + (size_t)(i - 1) * (size_t)c->m : NULL, c->G[i]);
    if (status) return status;
    if (i) cb_lobatto_constraints_chords(c, l, time, i, c->g + (size_t)(i - 1) * (size_t)c->m);
    if (i == s - 1) break;
    if (i == 0 && !l->V) memcpy(l->F[0], c->raw, (size_t)l->n * (size_t)k * sizeof(double));
    for (int r = 0; r < c->m; r++)
      for (int e = c->rows->start[r]; e < c->rows->start[r + 1]; e++)
        for (int a = 0; a < k; a++)
          l->F[i][(size_t)c->rows->particle[e] * k + a] -=
              c->lambda[i][r] * c->space->form[a] * c->G[i][(size_t)e * k + a];
    if (!dx) continue;
    memset(c->blocks, 0, numbers * sizeof(double));
    if ((status = cb_constraints_hessian(c->c, time, l->X[i], c->lambda[i], c->blocks))) return status;
    for (size_t e = 0; e < numbers; e++) dx[i][e] -= c->space->form[e / (size_t)k % (size_t)k] * c->blocks[e];
  }
  c->has_gradient = false; /* the raised ones are not those of the sweeps */
  return CB_OK;
}

/* N^-1 B and the factors of C N^-1 B. */
static cb_status factor(cb_lobatto_constraints *c, const cb_lobatto *l, cb_stage_matrix *matrix, int block, int q,
                        double h) {
  const int s = l->s, k = l->k, m = c->m, size = c->size;
  const size_t length = (size_t)l->n * (size_t)block;
  const double *mass = cb_system_masses(c->system);
  for (int stage = 0; stage < s - 1; stage++)
    for (int r = 0; r < m; r++) {
      double *column = c->border + (size_t)(stage * m + r) * length;
      memset(column, 0, length * sizeof *column);
      for (int e = c->rows->start[r]; e < c->rows->start[r + 1]; e++) {
        const int p = c->rows->particle[e];
        double *at = column + (size_t)p * (size_t)block;
        for (int a = 0; a < k; a++) {
          const double pull = c->space->form[a] * c->G[stage][(size_t)e * k + a] / mass[p];
          for (int i = 1; i < s; i++) at[(i - 1) * k + a] = l->W[i][stage] * pull;
          for (int i = 0; q < block && i < s - 1; i++) at[q + i * k + a] = l->Ahat[i][stage] / h * pull;
        }
      }
      cb_stage_matrix_solve(matrix, column);
    }
  for (int i = 1; i < s; i++)
    for (int r = 0; r < m; r++)
      for (int other = 0; other < size; other++) {
        const double *column = c->border + (size_t)other * length;
        double sum = 0;
        for (int e = c->rows->start[r]; e < c->rows->start[r + 1]; e++)
          for (int a = 0; a < k; a++)
            sum += c->G[i][(size_t)e * k + a] * column[(size_t)c->rows->particle[e] * (size_t)block + (i - 1) * k + a];
        c->schur[((i - 1) * m + r) * size + other] = sum;
      }
  return cb_dense_factor(size, c->schur, c->pivot);
}

cb_status cb_lobatto_constraints_border(cb_lobatto_constraints *c, const cb_lobatto *l, cb_stage_matrix *matrix,
                                        int block, int q, double h, bool fresh, double *rhs) {
  const int s = l->s, k = l->k, m = c->m;
  const size_t length = (size_t)l->n * (size_t)block;
  if (fresh) {
    const cb_status status = factor(c, l, matrix, block, q, h);
    if (status) return status;
  }
  for (int i = 1; i < s; i++)
    for (int r = 0; r < m; r++) {
      double sum = 0;
      for (int e = c->rows->start[r]; e < c->rows->start[r + 1]; e++)
        for (int a = 0; a < k; a++)
          sum += c->G[i][(size_t)e * k + a] * rhs[(size_t)c->rows->particle[e] * (size_t)block + (i - 1) * k + a];
      c->g[(size_t)(i - 1) * m + r] += sum;
    }
  cb_dense_solve(c->size, c->schur, c->pivot, c->g);
  for (int other = 0; other < c->size; other++) {
    const double *column = c->border + (size_t)other * length, y = c->g[other];
    for (size_t e = 0; e < length; e++) rhs[e] -= y * column[e];
    c->lambda[other / m][other % m] += y / (h * h);
  }
  return CB_OK;
}
