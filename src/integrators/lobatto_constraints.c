/* Positional constraints in Lobatto IIIA-IIIB in the embedding, in sweeps and in Newton's method
 * (lobatto_constraints.h). g: values of the rows; G: their gradients; lambda: their multipliers; T: tangential parts of
 * the gradients; X_i: positions at stage i. */
#include "integrators/lobatto_constraints.h"
#include "numerics/dd.h"
#include "numerics/small.h"

#include <string.h>

void cb_lobatto_constraints_free(cb_lobatto_constraints *c) {
  if (!c) return;
  cb_gram_free(c->gram);
  cb_arena_free(c->arena);
}

cb_status cb_lobatto_constraints_create(cb_integrator *in, const cb_lobatto *l, cb_lobatto_constraints **out) {
  *out = NULL;
  cb_constraints *rows = cb_forces_constraints(in->forces);
  if (!rows) return CB_OK;
  cb_arena *arena = cb_arena_create();
  cb_lobatto_constraints *c = cb_arena_alloc(arena, 1, sizeof *c);
  if (!c) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for constraints");
  }
  c->arena = arena;
  c->system = in->system;
  c->space = cb_system_space(in->system);
  c->c = rows;
  c->rows = cb_constraints_rows(rows);
  c->m = c->rows->rows;
  c->entries = c->rows->start[c->m];
  const size_t m = (size_t)c->m, count = (size_t)l->n * (size_t)l->k, numbers = (size_t)c->entries * (size_t)l->k;
  const size_t size = m * (size_t)(l->s - 1);
  c->size = (int)size;
  c->dense = size <= CB_LOBATTO_DENSE;
  bool lost = false;
  for (int i = 0; i < l->s; i++) {
    c->lambda[i] = cb_arena_alloc(arena, m, sizeof(double));
    c->G[i] = cb_arena_alloc(arena, numbers, sizeof(double));
    c->T[i] = cb_arena_alloc(arena, numbers, sizeof(double));
    lost = lost || !c->lambda[i] || !c->G[i] || !c->T[i];
  }
  c->raw = cb_arena_alloc(arena, count, sizeof(double));
  c->velocity = cb_arena_alloc(arena, count, sizeof(double));
  c->g = cb_arena_alloc(arena, size, sizeof(double));
  c->chord = cb_arena_alloc(arena, m, sizeof *c->chord);
  c->y = cb_arena_alloc(arena, m, sizeof(double));
  c->matrix = cb_arena_alloc(arena, c->dense ? size * size : 1, sizeof(double));
  c->pivot = cb_arena_alloc(arena, size, sizeof(int));
  lost = lost || !c->raw || !c->velocity || !c->g || !c->chord || !c->y || !c->matrix || !c->pivot;
  const cb_status status = lost ? cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", c->m)
                                : cb_gram_create(in->forces, rows, &c->gram);
  if (status) {
    cb_arena_free(arena);
    return status;
  }
  *out = c;
  return CB_OK;
}

void cb_lobatto_constraints_forget(cb_lobatto_constraints *c) { c->has_history = c->has_gradient = false; }

void cb_lobatto_constraints_moved(cb_lobatto_constraints *c, const cb_integrator *in, int component,
                                  const cb_isometry *isometry) {
  const int *start = cb_system_component_starts(in->system), k = c->space->k;
  for (int a = start[component]; a < start[component + 1]; a++)
    cb_isometry_vector(c->space, isometry, c->raw + (size_t)a * k, c->raw + (size_t)a * k);
  c->has_gradient = false;
}

/* Computes T from G, entry by entry: T = I^-1 G, with I = diag(form), minus its part along x in each curved factor. */
static void raise(const cb_lobatto_constraints *c, const double *x, const double *G, double *T) {
  const cb_space *g = c->space;
  const int k = g->k;
  for (int e = 0; e < c->entries; e++) {
    const double *at = x + (size_t)c->rows->particle[e] * k, *from = G + (size_t)e * k;
    double *to = T + (size_t)e * k;
    for (int a = 0; a < k; a++) to[a] = g->form[a] * from[a]; /* form is 1 or -1 */
    for (int f = 0; f < g->n_factors; f++) {
      const cb_factor *factor = &g->factor[f];
      if (factor->curvature == 0) continue;
      double normal = 0;
      for (int a = factor->offset; a < factor->offset + factor->count; a++) normal += from[a] * at[a];
      normal *= factor->curvature;
      for (int a = factor->offset; a < factor->offset + factor->count; a++) to[a] -= normal * at[a];
    }
  }
}

static cb_status gradient(cb_lobatto_constraints *c, double t, const double *x, double *g, int stage) {
  const cb_status status = cb_constraints_eval(c->c, t, x, g, c->G[stage]);
  if (!status) raise(c, x, c->G[stage], c->T[stage]);
  return status;
}

/* Subtracts T^T lambda from the force. */
static void pull(const cb_lobatto_constraints *c, const double *T, const double *lambda, double *force) {
  const int k = c->space->k;
  for (int r = 0; r < c->m; r++)
    for (int e = c->rows->start[r]; e < c->rows->start[r + 1]; e++) {
      double *at = force + (size_t)c->rows->particle[e] * k;
      for (int a = 0; a < k; a++) at[a] -= lambda[r] * T[(size_t)e * k + a];
    }
}

static void begin_chords(cb_lobatto_constraints *c, double t, const cb_state *state) {
  const cb_space *g = c->space;
  const int k = g->k;
  for (int r = 0; r < c->m; r++) {
    cb_chord *w = &c->chord[r];
    if (!cb_constraints_chord(c->c, r, t, &w->i, &w->j, &w->square, &w->slope)) continue;
    const double *x = state->x + (size_t)w->i * k, *y = state->x + (size_t)w->j * k;
    double low[CB_COORD_MAX];
    for (int a = 0; a < k; a++) {
      /* low: the exact rounding error of e, plus the difference of the low-order parts of the positions */
      const double e = x[a] - y[a], back = x[a] - e;
      w->e[a] = e;
      low[a] = (x[a] - (e + back)) + (back - y[a]) +
               (state->x_low[(size_t)w->i * k + a] - state->x_low[(size_t)w->j * k + a]);
    }
    w->excess = cb_compensated_norm(k, g->form, w->e, low, w->square);
  }
}

/* Writes the values of the rods' rows at a stage, from their chords (cb_chord), to out[m], in place of the values from
 * the plain distance. */
static void cb_lobatto_constraints_chords(const cb_lobatto_constraints *c, const cb_lobatto *l, double t, int stage,
                                          double *out) {
  const cb_space *g = c->space;
  const int k = g->k;
  for (int r = 0; r < c->m; r++) {
    const cb_chord *w = &c->chord[r];
    int i, j;
    double square, slope, sum = 0;
    if (w->slope == 0) continue;
    cb_constraints_chord(c->c, r, t, &i, &j, &square, &slope);
    for (int a = 0; a < k; a++) {
      const double d = l->D[stage][(size_t)i * k + a] - l->D[stage][(size_t)j * k + a];
      sum += g->form[a] * d * (2 * w->e[a] + d);
    }
    out[r] = slope * (w->excess - (square - w->square) + sum);
  }
}

cb_status cb_lobatto_constraints_begin(cb_lobatto_constraints *c, cb_lobatto *l, double t, const cb_state *state,
                                       double h) {
  const size_t count = (size_t)l->n * (size_t)l->k;
  cb_status status = CB_OK;
  if (!l->has_force || l->V) memcpy(c->raw, l->F[0], count * sizeof(double));
  if (!c->has_gradient) status = gradient(c, t, state->x, NULL, 0);
  if (status) return status;
  c->has_gradient = true;
  if (c->has_history && c->h == h) {
    for (int r = 0; r < c->m; r++) {
      double old[CB_LOBATTO_MAX];
      for (int j = 0; j < l->s; j++) old[j] = c->lambda[j][r];
      for (int i = 0; i < l->s; i++) {
        double sum = 0;
        for (int j = 0; j < l->s; j++) sum += l->E[i][j] * old[j];
        c->lambda[i][r] = sum;
      }
    }
  } else {
    for (int a = 0; a < l->n; a++)
      for (int e = 0; e < l->k; e++) c->velocity[(size_t)a * l->k + e] = state->p[(size_t)a * l->k + e] / l->mass[a];
    status = cb_gram_multipliers(c->gram, t, state->x, c->velocity, c->lambda[0], NULL);
    if (status) return status;
    for (int i = 1; i < l->s; i++) memcpy(c->lambda[i], c->lambda[0], (size_t)c->m * sizeof(double));
  }
  begin_chords(c, t, state);
  memcpy(l->F[0], c->raw, count * sizeof(double));
  pull(c, c->T[0], c->lambda[0], l->F[0]);
  return CB_OK;
}

/* Returns T.U/m for row `row` of T and row `other` of U: the sum over the particles that the two rows share. The
 * particles of a row are stored in ascending order. */
static double overlap(const cb_lobatto_constraints *c, const double *T, int row, const double *U, int other) {
  const cb_space *g = c->space;
  const double *mass = cb_system_masses(c->system);
  const int k = g->k;
  double sum = 0;
  for (int e = c->rows->start[row], f = c->rows->start[other];
       e < c->rows->start[row + 1] && f < c->rows->start[other + 1];) {
    const int i = c->rows->particle[e], j = c->rows->particle[f];
    if (i == j) {
      double product = 0;
      for (int a = 0; a < k; a++) product += g->form[a] * T[(size_t)e * k + a] * U[(size_t)f * k + a];
      sum += product / mass[i];
    }
    e += i <= j;
    f += j <= i;
  }
  return sum;
}

cb_status cb_lobatto_constraints_prepare(cb_lobatto_constraints *c, cb_lobatto *l, double t, double h) {
  const int s = l->s, m = c->m, size = m * (s - 1);
  if (!c->dense) {
    const int middle = (s - 1) / 2;
    cb_status status = CB_OK;
    if (middle > 0) status = cb_constraints_eval(c->c, t + l->c[middle] * h, l->X[middle], NULL, c->G[middle]);
    return status ? status : cb_gram_factor(c->gram, l->X[middle], c->G[middle], NULL);
  }
  for (int i = 1; i < s; i++) {
    const cb_status status = gradient(c, t + l->c[i] * h, l->X[i], NULL, i);
    if (status) return status;
  }
  for (int i = 1; i < s; i++)
    for (int k = 0; k < s - 1; k++)
      for (int r = 0; r < m; r++)
        for (int q = 0; q < m; q++)
          c->matrix[((i - 1) * m + r) * size + k * m + q] = l->W[i][k] * overlap(c, c->T[i], r, c->T[k], q);
  const cb_status status = cb_dense_factor(size, c->matrix, c->pivot);
  return status ? cb_fail(CB_STEP_SINGULAR,
                          "the constraints depend on one another in this step: use a smaller `step`, or leave out "
                          "constraints that depend on others")
                : CB_OK;
}

cb_status cb_lobatto_constraints_sweep(cb_lobatto_constraints *c, cb_lobatto *l, double t, double h) {
  const int s = l->s, m = c->m;
  for (int i = 1; i < s; i++) {
    double *g = c->g + (size_t)(i - 1) * m;
    const cb_status status = gradient(c, t + l->c[i] * h, l->X[i], g, i);
    if (status) return status;
    cb_lobatto_constraints_chords(c, l, t + l->c[i] * h, i, g);
  }
  if (c->dense) {
    cb_dense_solve(m * (s - 1), c->matrix, c->pivot, c->g);
    for (int k = 0; k < s - 1; k++)
      for (int r = 0; r < m; r++) c->lambda[k][r] += c->g[k * m + r] / (h * h);
  } else {
    for (int i = 0; i < s - 1; i++) cb_gram_solve(c->gram, c->g + (size_t)i * m);
    for (int k = 0; k < s - 1; k++)
      for (int r = 0; r < m; r++) {
        double sum = 0;
        for (int i = 0; i < s - 1; i++) sum += l->Winv[k][i] * c->g[(size_t)i * m + r];
        c->lambda[k][r] += sum / (h * h);
      }
  }
  if (!l->V) memcpy(l->F[0], c->raw, (size_t)l->n * (size_t)l->k * sizeof(double));
  for (int k = 0; k < s - 1; k++) pull(c, c->T[k], c->lambda[k], l->F[k]);
  return CB_OK;
}

cb_status cb_lobatto_constraints_end(cb_lobatto_constraints *c, cb_lobatto *l, double t, double h) {
  const int last = l->s - 1;
  const double *x1 = l->X[last];
  cb_status status = gradient(c, t + h, x1, NULL, last);
  if (!status) status = cb_gram_factor(c->gram, x1, c->G[last], NULL);
  if (status) return status;
  memcpy(c->raw, l->F[last], (size_t)l->n * (size_t)l->k * sizeof(double));
  pull(c, c->T[last], c->lambda[last], l->F[last]);
  return CB_OK;
}

cb_status cb_lobatto_constraints_close(cb_lobatto_constraints *c, cb_lobatto *l, double t, const double *x1,
                                       const double *p0, double h, double *dp) {
  const int s = l->s, k = l->k;
  const size_t count = (size_t)l->n * (size_t)k;
  /* the second pass removes the round-off of the first */
  for (int pass = 0; pass < 2; pass++) {
    for (size_t e = 0; e < count; e++) c->velocity[e] = (p0[e] + dp[e]) / l->mass[e / (size_t)k];
    const cb_status status = cb_constraints_rate(c->c, t + h, x1, c->velocity, c->y, NULL);
    if (status) return status;
    cb_gram_solve(c->gram, c->y);
    pull(c, c->T[s - 1], c->y, dp);
    for (int r = 0; r < c->m; r++) {
      const double change = c->y[r] / (h * l->b[s - 1]);
      c->lambda[s - 1][r] += change;
      c->y[r] = change;
    }
    pull(c, c->T[s - 1], c->y, l->G[s - 1]);
  }
  double *swap = c->G[0];
  c->G[0] = c->G[s - 1];
  c->G[s - 1] = swap;
  swap = c->T[0];
  c->T[0] = c->T[s - 1];
  c->T[s - 1] = swap;
  c->has_history = c->has_gradient = true;
  c->h = h;
  return CB_OK;
}

/* --- in Newton's method: u are the unknowns of lobatto_newton.c, among them D_i and Q_i, N is their matrix and r their
 * right-hand side; the other symbols are those of lobatto_constraints.h. y_k = h^2 lambda_k are additional unknowns:
 *
 *   [N B; C 0] (du, dy) = (r, -g);    (C N^-1 B) dy = C N^-1 r + g,   du = N^-1 r - N^-1 B dy.
 *
 * Column k of B has W_ik I^-1 G_k/m in the rows of D_i and a^_ik I^-1 G_k/(h m) in the rows of Q_i; row i of C has G_i
 * in the columns of D_i. N contains the derivatives of the constraint forces. N^-1 B costs one solution per multiplier,
 * so that this is used only for few constraints. */

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
  c->has_gradient = false; /* G[0] has changed, but T[0] has not */
  return CB_OK;
}

/* Computes N^-1 B and the factors of C N^-1 B. */
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
