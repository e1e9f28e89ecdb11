/* Newton's method for the stages of Lobatto IIIA-IIIB in the embedding.
 *
 * Unknowns of a particle, with y_k = (h^2/m) Lambda_k in each curved factor and, where forces use velocities, Q_k =
 * P_k/m:
 *   R_i = D_i - h c_i p0/m - (h^2/m) sum_k W_ik F_k + sum_k W_ik y_k X_k = 0          i = 2..s, k = 1..s-1
 *   C_i = (<x0,x0> - 1/K)/2 + <x0,D_i> + <D_i,D_i>/2 = 0
 *   S_k = Q_k - p0/m - (h/m) sum_j a^_kj F_j + (1/h) sum_j a^_kj y_j X_j = 0
 * with X_i = x0 + D_i (X_1 = x0), the multipliers Lambda_k, W and a^ of lobatto_embedding.c, F_k = F(X_k, V_k), V_k =
 * Q_k - K <X_k,Q_k> X_k. The matrix is exact: dF/dx and dF/dv come from the forces, which have the same pattern as the
 * matrix. The matrix is factored again until the change is so small that the last factors are sufficient.
 */
#include "integrators/lobatto.h"

#include "integrators/iteration.h"
#include "integrators/lobatto_constraints.h"

#include <math.h>
#include <string.h>

enum { WIDEST = (CB_LOBATTO_MAX - 1) * (2 * CB_COORD_MAX + CB_FACTOR_MAX) };

typedef struct cb_lobatto_newton {
  cb_arena *arena;
  cb_stage_matrix *matrix;
  const cb_pattern *pattern;
  int B, q;    /* number of unknowns per particle; the position of Q among them, or B if there are no Q */
  double *rhs; /* [n][B]: the right-hand side, then the correction */
  double *y;   /* [n][s-1][factors]: y_k of each particle and factor */
  double *Q[CB_LOBATTO_MAX];
  double *dx[CB_LOBATTO_MAX], *dv[CB_LOBATTO_MAX]; /* dF/dx and dF/dv of the stages, in pattern order */
} cb_lobatto_newton;

/* These functions return the positions of unknowns among those of a particle: D_i (i from 1), y_k of factor f, Q_k. */
static int at_D(const cb_lobatto *l, int i) { return (i - 1) * l->k; }
static int at_y(const cb_lobatto *l, const cb_space *g, int k, int f) {
  return (l->s - 1) * l->k + k * g->n_factors + f;
}

void cb_lobatto_newton_free(cb_lobatto_newton *w) {
  if (!w) return;
  cb_stage_matrix_free(w->matrix);
  cb_arena_free(w->arena);
}

/* Computes the diagonal block of a particle without forces, for its unknowns D, y and Q, at the stages X[k]. */
static void free_block(const cb_lobatto *l, const cb_space *g, int B, int q, double h, const double *const *X,
                       const double (*y)[CB_FACTOR_MAX], double *block) {
  const int s = l->s;
  memset(block, 0, (size_t)B * B * sizeof *block);
  for (int i = 1; i < s; i++)
    for (int e = 0; e < l->k; e++) block[(at_D(l, i) + e) * B + at_D(l, i) + e] = 1;
  for (int k = 0; k < s - 1; k++)
    for (int f = 0; f < g->n_factors; f++) {
      const cb_factor *factor = &g->factor[f];
      const int column = at_y(l, g, k, f), row = at_y(l, g, k, f); /* C_{k+1} is in row y_k */
      if (factor->curvature == 0) {
        block[row * B + column] = 1;
        continue;
      }
      for (int e = factor->offset; e < factor->offset + factor->count; e++) {
        for (int i = 1; i < s; i++) {
          block[(at_D(l, i) + e) * B + column] = l->W[i][k] * X[k][e];
          if (k > 0) block[(at_D(l, i) + e) * B + at_D(l, k) + e] += l->W[i][k] * y[k][f];
        }
        block[row * B + at_D(l, k + 1) + e] = g->form[e] * X[k + 1][e];
        if (q == B) continue;
        for (int r = 0; r < s - 1; r++) {
          block[(q + r * l->k + e) * B + column] = l->Ahat[r][k] / h * X[k][e];
          if (k > 0) block[(q + r * l->k + e) * B + at_D(l, k) + e] += l->Ahat[r][k] / h * y[k][f];
        }
      }
    }
  for (int e = q; e < B; e++) block[e * B + e] = 1;
}

/* The data for the derivatives of the force on one particle by another particle, at the stages: X and Q of the other
 * particle, and dF/dx and dF/dv. */
typedef struct force_stages {
  const double *X[CB_LOBATTO_MAX], *Q[CB_LOBATTO_MAX], *dx[CB_LOBATTO_MAX], *dv[CB_LOBATTO_MAX];
} force_stages;

/* Adds the contributions of dF/dx and dF/dv to the block of two particles. dF/dv acts on the velocity projected to the
 * tangent space. */
static void force_block(const cb_lobatto *l, const cb_lobatto_newton *w, double h, double mass, const force_stages *at,
                        double *block) {
  const cb_space *g = l->g;
  const double *const *X = at->X, *const *Q = at->Q, *const *dv = at->dv;
  const int s = l->s, n = l->k, B = w->B, q = w->q;
  for (int k = 0; k < s - 1; k++) {
    double by_x[CB_COORD_MAX * CB_COORD_MAX], by_q[CB_COORD_MAX * CB_COORD_MAX];
    memcpy(by_x, at->dx[k], (size_t)n * n * sizeof *by_x);
    if (q < B) {
      memcpy(by_q, dv[k], (size_t)n * n * sizeof *by_q);
      for (int f = 0; f < g->n_factors; f++) {
        const cb_factor *c = &g->factor[f];
        if (c->curvature == 0) continue;
        double xq = 0;
        for (int e = c->offset; e < c->offset + c->count; e++) xq += g->form[e] * X[k][e] * Q[k][e];
        for (int r = 0; r < n; r++) {
          double along = 0;
          for (int e = c->offset; e < c->offset + c->count; e++) along += dv[k][r * n + e] * X[k][e];
          for (int e = c->offset; e < c->offset + c->count; e++) {
            by_x[r * n + e] -= c->curvature * (xq * dv[k][r * n + e] + along * g->form[e] * Q[k][e]);
            by_q[r * n + e] -= c->curvature * along * g->form[e] * X[k][e];
          }
        }
      }
    }
    for (int r = 0; r < n; r++)
      for (int e = 0; e < n; e++) {
        for (int i = 1; i < s; i++) {
          const double weight = -h * h / mass * l->W[i][k];
          if (k > 0) block[(at_D(l, i) + r) * B + at_D(l, k) + e] += weight * by_x[r * n + e];
          if (q < B) block[(at_D(l, i) + r) * B + q + k * n + e] += weight * by_q[r * n + e];
        }
        if (q == B) continue;
        for (int i = 0; i < s - 1; i++) {
          const double weight = -h / mass * l->Ahat[i][k];
          if (k > 0) block[(q + i * n + r) * B + at_D(l, k) + e] += weight * by_x[r * n + e];
          block[(q + i * n + r) * B + q + k * n + e] += weight * by_q[r * n + e];
        }
      }
  }
}

cb_status cb_lobatto_newton_create(cb_lobatto *l) {
  const cb_space *g = l->g;
  cb_lobatto_newton *w = cb_arena_object(sizeof *w, "Newton's method");
  if (!w) return CB_ERROR_MEMORY;
  w->pattern = cb_forces_pattern(l->in->forces);
  const int s = l->s, n = l->k, states = (s - 1) * (n + g->n_factors);
  w->q = states;
  w->B = states + (l->V ? (s - 1) * n : 0);
  const size_t entries = w->pattern ? (size_t)w->pattern->start[l->n] * n * n : 0, square = (size_t)w->B * w->B;
  double *pivots, *mask_values;
  cb_arena_doubles(w->arena, (size_t)l->n * w->B, &w->rhs);
  cb_arena_doubles(w->arena, (size_t)l->n * (s - 1) * g->n_factors, &w->y);
  for (int k = 0; k < s - 1; k++) {
    cb_arena_doubles(w->arena, entries, &w->dx[k]);
    if (!l->V) continue;
    cb_arena_doubles(w->arena, (size_t)l->n * n, &w->Q[k]);
    cb_arena_doubles(w->arena, entries, &w->dv[k]);
  }
  cb_arena_doubles(w->arena, square, &pivots, &mask_values);
  bool *mask = cb_arena_alloc(w->arena, square, sizeof *mask);
  if (!w->pattern || cb_arena_lost(w->arena)) {
    cb_arena_free(w->arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for Newton's method with %d particles", l->n);
  }

  /* Finds the pattern of a block off the diagonal: the entries that are not 0 when all derivatives of the force are set
   * to 1. The stage values X and Q are set to 0, so that no terms cancel. */
  double ones[CB_COORD_MAX * CB_COORD_MAX], none[CB_FACTOR_MAX] = {0}, base[CB_COORD_MAX], zero[CB_COORD_MAX] = {0};
  for (int e = 0; e < CB_COORD_MAX * CB_COORD_MAX; e++) ones[e] = 1;
  cb_space_base_point(g, base);
  const double *X[CB_LOBATTO_MAX];
  force_stages full;
  double y[CB_LOBATTO_MAX][CB_FACTOR_MAX];
  for (int k = 0; k < s; k++) {
    X[k] = base;
    full.X[k] = full.Q[k] = zero;
    full.dx[k] = full.dv[k] = ones;
    memcpy(y[k], none, sizeof none);
  }
  double flat_h = 1;
  force_block(l, w, flat_h, 1, &full, mask_values);
  for (int e = 0; e < w->B * w->B; e++) mask[e] = mask_values[e] != 0;
  free_block(l, g, w->B, w->q, flat_h, X, (const double(*)[CB_FACTOR_MAX])y, pivots);
  cb_status status = cb_stage_matrix_create(w->pattern, w->B, mask, pivots, &w->matrix);
  if (!status && l->rods && (status = cb_lobatto_constraints_reserve(l->rods, l->in, l, w->B)))
    cb_stage_matrix_free(w->matrix);
  if (status) {
    cb_arena_free(w->arena);
    return status;
  }
  l->newton = w;
  return CB_OK;
}

/* Sets the first values of the unknowns y and Q from F and G, where G holds predicted values. */
static void start(cb_lobatto_newton *w, const cb_lobatto *l) {
  const cb_space *g = l->g;
  const double *p0 = l->start->p, h = l->h;
  for (int a = 0; a < l->n; a++)
    for (int k = 0; k < l->s - 1; k++) {
      const size_t at = (size_t)a * l->k;
      for (int f = 0; f < g->n_factors; f++) {
        const cb_factor *c = &g->factor[f];
        double normal = 0;
        for (int e = c->offset; e < c->offset + c->count; e++)
          normal += g->form[e] * (l->F[k][at + e] - l->G[k][at + e]) * l->X[k][at + e];
        w->y[((size_t)a * (l->s - 1) + k) * g->n_factors + f] = h * h / l->mass[a] * c->curvature * normal;
      }
      if (!l->V) continue;
      for (int e = 0; e < l->k; e++) {
        double sum = 0;
        for (int j = 0; j < l->s - 1; j++) sum += l->Ahat[k][j] * l->G[j][at + e];
        w->Q[k][at + e] = (p0[at + e] + h * sum) / l->mass[a];
      }
    }
}

static cb_status forces(cb_lobatto_newton *w, cb_lobatto *l, bool derivatives) {
  const cb_space *g = l->g;
  for (int k = 0; k < l->s - 1; k++) {
    if (l->V)
      for (int a = 0; a < l->n; a++) {
        const size_t at = (size_t)a * l->k;
        for (int f = 0; f < g->n_factors; f++) {
          const cb_factor *c = &g->factor[f];
          double xq = 0;
          for (int e = c->offset; e < c->offset + c->count; e++) xq += g->form[e] * l->X[k][at + e] * w->Q[k][at + e];
          for (int e = c->offset; e < c->offset + c->count; e++)
            l->V[at + e] = w->Q[k][at + e] - c->curvature * xq * l->X[k][at + e];
        }
      }
    const double t = l->start->t + l->c[k] * l->h;
    cb_status status = cb_forces_eval(l->in->forces, t, l->X[k], l->V, l->F[k]);
    if (!status && derivatives) status = cb_forces_jacobian(l->in->forces, t, l->X[k], l->V, w->dx[k], w->dv[k]);
    if (status) return status;
  }
  if (!l->rods) return CB_OK;
  return cb_lobatto_constraints_pulls(l->rods, l->in, l, l->start->t, l->h, derivatives ? w->dx : NULL);
}

/* Writes minus the residuals to rhs. */
static void residuals(cb_lobatto_newton *w, const cb_lobatto *l) {
  const cb_space *g = l->g;
  const double *x0 = l->start->x, *p0 = l->start->p, h = l->h;
  const int s = l->s, nf = g->n_factors;
  for (int a = 0; a < l->n; a++) {
    const size_t at = (size_t)a * l->k;
    const double im = 1 / l->mass[a], *y = w->y + (size_t)a * (s - 1) * nf;
    double *r = w->rhs + (size_t)a * w->B;
    for (int f = 0; f < nf; f++) {
      const cb_factor *c = &g->factor[f];
      for (int e = c->offset; e < c->offset + c->count; e++) {
        for (int i = 1; i < s; i++) {
          double sum = 0, normal = 0;
          for (int k = 0; k < s - 1; k++) {
            sum += l->W[i][k] * l->F[k][at + e];
            normal += l->W[i][k] * y[k * nf + f] * l->X[k][at + e];
          }
          r[at_D(l, i) + e] = h * l->c[i] * im * p0[at + e] + h * h * im * sum - normal - l->D[i][at + e];
        }
        for (int k = 0; l->V && k < s - 1; k++) {
          double sum = 0, normal = 0;
          for (int j = 0; j < s - 1; j++) {
            sum += l->Ahat[k][j] * l->F[j][at + e];
            normal += l->Ahat[k][j] * y[j * nf + f] * l->X[j][at + e];
          }
          r[w->q + k * l->k + e] = im * p0[at + e] + h * im * sum - normal / h - w->Q[k][at + e];
        }
      }
      for (int k = 0; k < s - 1; k++) {
        double sum = 0.5 * (c->curvature != 0 ? l->residual[a * nf + f] : 0);
        for (int e = c->offset; e < c->offset + c->count; e++)
          sum += g->form[e] * l->D[k + 1][at + e] * (x0[at + e] + 0.5 * l->D[k + 1][at + e]);
        r[at_y(l, g, k, f)] = c->curvature != 0 ? -sum : 0;
      }
    }
  }
}

static cb_status factor(cb_lobatto_newton *w, const cb_lobatto *l) {
  const cb_space *g = l->g;
  const int s = l->s, n = l->k, nf = g->n_factors;
  double block[WIDEST * WIDEST];
  for (int a = 0; a < l->n; a++)
    for (int entry = w->pattern->start[a]; entry < w->pattern->start[a + 1]; entry++) {
      const int other = w->pattern->column[entry];
      force_stages at;
      double y[CB_LOBATTO_MAX][CB_FACTOR_MAX] = {{0}};
      for (int k = 0; k < s; k++) at.X[k] = l->X[k] + (size_t)other * n;
      for (int k = 0; k < s - 1; k++) {
        at.Q[k] = l->V ? w->Q[k] + (size_t)other * n : NULL;
        at.dx[k] = w->dx[k] + (size_t)entry * n * n;
        at.dv[k] = l->V ? w->dv[k] + (size_t)entry * n * n : NULL;
        for (int f = 0; f < nf; f++) y[k][f] = w->y[((size_t)a * (s - 1) + k) * nf + f];
      }
      if (other == a)
        free_block(l, g, w->B, w->q, l->h, at.X, (const double(*)[CB_FACTOR_MAX])y, block);
      else
        memset(block, 0, (size_t)w->B * w->B * sizeof *block);
      force_block(l, w, l->h, l->mass[a], &at, block);
      cb_stage_matrix_set(w->matrix, a, entry, block);
    }
  return cb_stage_matrix_factor(w->matrix);
}

/* Adds the correction to the unknowns; *c receives the changes of the displacements D_i. */
static void update(cb_lobatto_newton *w, cb_lobatto *l, cb_stage_change *c) {
  const cb_space *g = l->g;
  const double *x0 = l->start->x;
  const int s = l->s, nf = g->n_factors;
  double poison = 0; /* nan if a number is not finite */
  for (int a = 0; a < l->n; a++) {
    const size_t at = (size_t)a * l->k;
    const double *r = w->rhs + (size_t)a * w->B;
    for (int i = 1; i < s; i++)
      for (int e = 0; e < l->k; e++) {
        const double delta = r[at_D(l, i) + e];
        l->D[i][at + e] += delta;
        l->X[i][at + e] = x0[at + e] + l->D[i][at + e];
        c->change = fmax(c->change, fabs(delta));
        poison += 0 * delta;
        c->size = fmax(c->size, fabs(l->D[i][at + e]));
      }
    for (int k = 0; k < s - 1; k++) {
      for (int f = 0; f < nf; f++) w->y[((size_t)a * (s - 1) + k) * nf + f] += r[at_y(l, g, k, f)];
      for (int e = 0; l->V && e < l->k; e++) w->Q[k][at + e] += r[w->q + k * l->k + e];
    }
  }
  c->change += poison;
}

/* Sets G_k = F_k - Lambda_k X_k. */
static void finish(const cb_lobatto_newton *w, cb_lobatto *l) {
  const cb_space *g = l->g;
  const double h = l->h;
  for (int a = 0; a < l->n; a++)
    for (int k = 0; k < l->s - 1; k++)
      for (int f = 0; f < g->n_factors; f++) {
        const cb_factor *c = &g->factor[f];
        const double lambda = w->y[((size_t)a * (l->s - 1) + k) * g->n_factors + f] * l->mass[a] / (h * h);
        for (int e = c->offset; e < c->offset + c->count; e++) {
          const size_t at = (size_t)a * l->k + e;
          l->G[k][at] = l->F[k][at] - lambda * l->X[k][at];
        }
      }
}

static cb_status correct(void *method, cb_stage_change *c) {
  cb_lobatto *l = method;
  const bool fresh = cb_stage_change_asks_matrix(c);
  cb_lobatto_newton *w = l->newton;
  cb_status status = forces(w, l, fresh);
  if (status) return status;
  residuals(w, l);
  if (fresh && (status = factor(w, l))) return status;
  cb_stage_matrix_solve(w->matrix, w->rhs);
  if (l->rods) status = cb_lobatto_constraints_border(l->rods, l, w->matrix, w->B, w->q, l->h, fresh, w->rhs);
  if (!status) update(w, l, c);
  return status;
}

cb_status cb_lobatto_newton_solve(cb_lobatto *l) {
  const cb_iteration how = {"lobatto",
                            CB_NEWTON,
                            correct,
                            cb_end_by_change,
                            .target = l->tolerance,
                            .noise = l->noise,
                            .rounding = l->rounding,
                            .stall = 0.25,
                            .lost = INFINITY,
                            .maximum = l->max_iterations < 30 ? l->max_iterations : 30};
  cb_status status = forces(l->newton, l, false);
  if (status) return status;
  start(l->newton, l);
  status = cb_iterate(&how, l->in, l);
  if (!status) status = forces(l->newton, l, false);
  if (!status) finish(l->newton, l);
  return status;
}
