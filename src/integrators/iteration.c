/* The loop that solves for stages, the predictor, the matrix of Newton's method, and compensated sums of the states of
 * all particles (iteration.h). */
#include "integrators/iteration.h"
#include "core/arena.h"
#include "core/threads.h"
#include "numerics/dd.h"
#include "numerics/tableau.h"
#include "numerics/sparse.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <stdint.h>
#include <stdlib.h>

cb_status cb_stage_not_finite(const char *name, int iteration) {
  return cb_fail(CB_STEP_NOT_FINITE, "%s: a stage is not finite in iteration %d: use a smaller `step`", name,
                 iteration);
}

void cb_stage_sum(size_t count, int s, double h, const double *a, const double *value, size_t stride, double *sum) {
  for (int j = 0; j < s; j++) {
    const double factor = h * a[j], *v = value + (size_t)j * stride;
    if (j == 0)
      for (size_t e = 0; e < count; e++) sum[e] = factor * v[e];
    else
      for (size_t e = 0; e < count; e++) sum[e] += factor * v[e];
  }
}

/* Returns the larger of a and b. It replaces fmax, which would be a function call. */
static inline double larger(double a, double b) { return b > a ? b : a; }

double cb_stage_move(size_t count, const double *next, const double *x0, double *moves, cb_stage_change *c) {
  double total = 0;
  for (size_t e = 0; e < count; e++) {
    const double change = fabs(next[e] - moves[e]);
    total += change;
    c->change = larger(c->change, change);
    c->size = larger(c->size, fabs(next[e]));
    c->position = larger(c->position, fabs(x0[e]));
    moves[e] = next[e];
  }
  return total;
}

cb_stage_end cb_end_by_contraction(const cb_iteration *how, const cb_stage_change *c) {
  const double rho = c->rho;
  const bool noise = cb_stage_change_is_noise(c, how->noise), later = c->iteration > 1;
  if (later && how->contraction && (!noise || !*how->contraction)) *how->contraction = rho < 1 ? rho : 0;
  const bool accurate = c->change <= how->target * c->size ||
                        (rho > 0 && rho < 1 && c->change * rho / (1 - rho) <= how->target * c->size);
  if (accurate || (later && noise && rho > how->stall)) return CB_STAGE_ENDED;
  return c->iteration > 4 && rho > how->lost ? CB_STAGE_LOST : CB_STAGE_ON;
}

cb_stage_end cb_end_by_change(const cb_iteration *how, const cb_stage_change *c) {
  const bool small = c->relative <= fmax(1e-12, how->rounding), unresolved = c->change <= how->noise;
  if (c->relative <= how->target || (small && c->change > c->before / 4) ||
      (unresolved && c->change > how->stall * c->before))
    return CB_STAGE_ENDED;
  return c->iteration > 3 && !small && !unresolved && c->change > how->lost * c->before ? CB_STAGE_LOST : CB_STAGE_ON;
}

cb_status cb_iterate(const cb_iteration *how, cb_integrator *in, void *method) {
  cb_stage_change c = {.change = INFINITY};
  while (c.iteration < how->maximum) {
    c = (cb_stage_change){.iteration = c.iteration + 1, .before = c.change, .relative = c.relative, .rho = -1};
    const cb_status status = how->pass(method, &c);
    if (status) return status;
    if (!(c.change < INFINITY && c.size < INFINITY)) return cb_stage_not_finite(how->name, c.iteration);
    in->iterations = c.iteration;
    in->residual = c.relative = c.size > 0 ? c.change / c.size : 0;
    if (c.rho < 0 && c.iteration == 1)
      c.rho = how->contraction ? *how->contraction : 0;
    else if (c.rho < 0)
      c.rho = c.before > 0 ? c.change / c.before : 0;
    const cb_stage_end end = how->end(how, &c);
    if (end == CB_STAGE_ENDED) return CB_OK;
    if (end == CB_STAGE_LOST) break;
  }
  if (how->contraction) *how->contraction = 0;
  return cb_fail(CB_STEP_NO_CONVERGENCE, "%s: %s of %.2g after %d iterations; %s", how->name, how->what, in->residual,
                 in->iterations, how->advice);
}

/* --- the predictor: Lagrange extrapolation; its weights are reused while the step lengths stay the same --- */

enum { DEPTH = 2 };

struct cb_predictor {
  cb_arena *arena;
  int s, depth, known;
  size_t count;
  double c[CB_STAGES_MAX];
  double *past[DEPTH]; /* the values of the last step come first */
  double h[DEPTH];
  /* weight[i][j]: weight of past value j in stage i, for the step lengths below */
  double weight[CB_STAGES_MAX][DEPTH * CB_STAGES_MAX];
  double weight_h, weight_past[DEPTH];
  int weight_depth;
};

cb_status cb_predictor_create(int s, const double *c, int depth, size_t count, cb_predictor **out) {
  cb_predictor *p = cb_arena_object(sizeof *p, "past stages");
  if (!p) return CB_ERROR_MEMORY;
  for (int d = 0; d < depth; d++) cb_arena_doubles(p->arena, (size_t)s * count, &p->past[d]);
  if (cb_arena_lost(p->arena)) {
    cb_arena_free(p->arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the past stages of %zu numbers", count);
  }
  p->s = s;
  p->depth = depth;
  p->count = count;
  memcpy(p->c, c, (size_t)s * sizeof *c);
  *out = p;
  return CB_OK;
}

void cb_predictor_free(cb_predictor *p) {
  if (p) cb_arena_free(p->arena);
}

void cb_predictor_reset(cb_predictor *p) { p->known = 0; }

void cb_predictor_push(cb_predictor *p, double h, const double *stage) {
  if (p->depth == 2) {
    double *oldest = p->past[1];
    p->past[1] = p->past[0];
    p->past[0] = oldest;
    p->h[1] = p->h[0];
  }
  memcpy(p->past[0], stage, (size_t)p->s * p->count * sizeof *stage);
  p->h[0] = h;
  if (p->known < p->depth) p->known++;
}

double *cb_predictor_past(cb_predictor *p, int age) { return age < p->known ? p->past[age] : NULL; }

/* Returns the number of past steps to use. The older of two steps is useful only if it has the same sign as the other
 * one, and a quarter to four times its length. */
static int useful_depth(const cb_predictor *p) {
  if (p->known < 2) return p->known;
  const double ratio = p->h[1] / p->h[0];
  return ratio >= 0.25 && ratio <= 4 ? 2 : 1;
}

static void make_weights(cb_predictor *p, double h, int depth) {
  const int s = p->s;
  double node[DEPTH * CB_STAGES_MAX]; /* times in units of the last step, which ends at 0 */
  bool used[DEPTH * CB_STAGES_MAX];
  for (int j = 0; j < s; j++) {
    node[j] = p->c[j] - 1;
    used[j] = true;
    if (depth < 2) continue;
    node[s + j] = -1 + (p->c[j] - 1) * (p->h[1] / p->h[0]);
    used[s + j] = node[s + j] < node[0]; /* if c_1 = 0 and c_s = 1, the end of the older step is the start of the last
                                          * step, and this time is used once */
  }
  for (int i = 0; i < s; i++)
    for (int j = 0; j < depth * s; j++) {
      const double t = p->c[i] * h / p->h[0];
      double w = used[j];
      for (int k = 0; k < depth * s; k++)
        if (k != j && used[k] && used[j]) w *= (t - node[k]) / (node[j] - node[k]);
      p->weight[i][j] = w;
    }
  p->weight_h = h;
  p->weight_past[0] = p->h[0];
  p->weight_past[1] = p->h[1];
  p->weight_depth = depth;
}

int cb_predictor_next(cb_predictor *p, double h, double *stage) {
  const int s = p->s, depth = useful_depth(p);
  const size_t count = p->count;
  if (!depth) return 0;
  if (p->weight_depth != depth || p->weight_h != h || p->weight_past[0] != p->h[0] || p->weight_past[1] != p->h[1])
    make_weights(p, h, depth);
  for (int i = 0; i < s; i++) {
    double *to = stage + (size_t)i * count;
    for (int d = 0; d < depth; d++)
      for (int j = 0; j < s; j++) {
        const double w = p->weight[i][d * s + j], *from = p->past[d] + (size_t)j * count;
        if (d == 0 && j == 0)
          for (size_t e = 0; e < count; e++) to[e] = w * from[e];
        else
          for (size_t e = 0; e < count; e++) to[e] += w * from[e];
      }
  }
  return depth;
}

/* --- the matrix of Newton's method: how its blocks are stored in compressed columns ---
 *
 * In the column of particle j the blocks follow in the order of their rows, so entry (r, c) of a block is at
 *   start[j B + c] + first[e] (+ its rank among the entries of that column of the block),
 * where first[e] is the number of entries in that column above the block. This number depends on c only through the
 * mask, so that it is enough to count the blocks above: `above[e]` is the number of off-diagonal blocks above, and the
 * diagonal block may be above too.
 */

struct cb_stage_matrix {
  cb_arena *arena;
  int n, block;
  const int *column; /* the column of each entry of the pattern */
  const int *above;  /* number of blocks off the diagonal above each block, in its column */
  const bool *mask;  /* [B*B], B = block: true for the entries that a block off the diagonal has */
  const int *rank;   /* [B*B]: number of true entries of `mask` above each entry, in its column */
  const int *height; /* [B]: number of true entries of `mask` in each column */
  const int *start;  /* the starts of the columns of the complete matrix */
  cb_sparse *sparse;
};

/* Returns the position at which column c of block e, in the row of particle i, begins. */
static inline int begin_of(const cb_stage_matrix *m, int i, int e, int c) {
  const int j = m->column[e];
  return m->start[j * m->block + c] + m->above[e] * m->height[c] + (j < i ? m->block : 0);
}

/* For a block off the diagonal: copies its mask, and finds the rank of each entry in its column and the number of
 * entries per column. */
static void rank_entries(int B, const bool *mask, bool *copy, int *rank, int *height) {
  for (int r = 0; r < B; r++)
    for (int c = 0; c < B; c++) {
      copy[r * B + c] = mask ? mask[r * B + c] : true;
      if (copy[r * B + c]) rank[r * B + c] = height[c]++;
    }
}

/* Fills in the row number of each entry, and the values of the diagonal blocks. */
static void fill_entries(const cb_stage_matrix *m, const cb_pattern *p, const double *pivots, int *row, double *value) {
  const int n = p->n, B = m->block;
  for (int i = 0; i < n; i++)
    for (int e = p->start[i]; e < p->start[i + 1]; e++)
      for (int c = 0; c < B; c++) {
        const int at = begin_of(m, i, e, c);
        for (int r = 0; r < B; r++) {
          if (m->column[e] == i) {
            row[at + r] = i * B + r;
            value[at + r] = pivots[r * B + c];
          } else if (m->mask[r * B + c])
            row[at + m->rank[r * B + c]] = i * B + r;
        }
      }
}

static cb_status build(cb_stage_matrix *m, const cb_pattern *p, const bool *mask, const double *pivots) {
  const int n = p->n, B = m->block;
  const size_t entries = (size_t)p->start[n], unknowns = (size_t)n * (size_t)B;
  int *column = cb_arena_alloc(m->arena, entries, sizeof *column),
      *above = cb_arena_alloc(m->arena, entries, sizeof *above);
  int *rank = cb_arena_alloc(m->arena, (size_t)(B * B), sizeof *rank),
      *height = cb_arena_alloc(m->arena, (size_t)B, sizeof *height);
  bool *copy = cb_arena_alloc(m->arena, (size_t)(B * B), sizeof *copy);
  int *start = cb_arena_alloc(m->arena, unknowns + 1, sizeof *start);
  int *blocks = calloc((size_t)n, sizeof *blocks);
  int *row = NULL;
  double *value = NULL;
  cb_status status = CB_OK;
  if (cb_arena_lost(m->arena) || !blocks) goto no_memory;

  memcpy(column, p->column, entries * sizeof *column);
  rank_entries(B, mask, copy, rank, height);
  for (int i = 0; i < n; i++)
    for (int e = p->start[i]; e < p->start[i + 1]; e++) {
      above[e] = blocks[column[e]];
      if (column[e] != i) blocks[column[e]]++;
    }
  size_t total = 0;
  for (int j = 0; j < n; j++)
    for (int c = 0; c < B; c++) {
      start[j * B + c] = (int)total;
      total += (size_t)blocks[j] * (size_t)height[c] + (size_t)B;
      if (total > INT32_MAX) {
        status = cb_fail(CB_ERROR_UNSUPPORTED,
                         "a Newton matrix of %zu unknowns has too many entries; use `solver: fixed-point`", unknowns);
        goto end;
      }
    }
  start[unknowns] = (int)total;
  m->column = column;
  m->above = above;
  m->mask = copy;
  m->rank = rank;
  m->height = height;
  m->start = start;

  row = malloc((total + 1) * sizeof *row);
  value = calloc(total + 1, sizeof *value);
  if (!row || !value) goto no_memory;
  fill_entries(m, p, pivots, row, value);
  status = cb_sparse_create((int)unknowns, start, row, value, &m->sparse);
  goto end;
no_memory:
  status = cb_fail(CB_ERROR_MEMORY, "no memory for a Newton matrix of %zu unknowns", unknowns);
end:
  free(blocks);
  free(row);
  free(value);
  return status;
}

cb_status cb_stage_matrix_create(const cb_pattern *pattern, int block, const bool *mask, const double *pivots,
                                 cb_stage_matrix **out) {
  cb_stage_matrix *m = cb_arena_object(sizeof *m, "a Newton matrix");
  if (!m) return CB_ERROR_MEMORY;
  m->n = pattern->n;
  m->block = block;
  const cb_status status = build(m, pattern, mask, pivots);
  if (status) {
    cb_stage_matrix_free(m);
    return status;
  }
  *out = m;
  return CB_OK;
}

void cb_stage_matrix_free(cb_stage_matrix *m) {
  if (!m) return;
  cb_sparse_free(m->sparse);
  cb_arena_free(m->arena);
}

void cb_stage_matrix_set(cb_stage_matrix *m, int particle, int e, const double *block) {
  const int B = m->block;
  double *value = cb_sparse_values(m->sparse);
  if (m->column[e] == particle) {
    for (int c = 0; c < B; c++) {
      double *to = value + begin_of(m, particle, e, c);
      for (int r = 0; r < B; r++) to[r] = block[r * B + c];
    }
    return;
  }
  for (int c = 0; c < B; c++) {
    double *to = value + begin_of(m, particle, e, c);
    for (int r = 0; r < B; r++)
      if (m->mask[r * B + c]) to[m->rank[r * B + c]] = block[r * B + c];
  }
}

cb_status cb_stage_matrix_factor(cb_stage_matrix *m) { return cb_sparse_factor(m->sparse); }
void cb_stage_matrix_solve(cb_stage_matrix *m, double *x) { cb_sparse_solve(m->sparse, x); }

/* --- compensated sums (numerics/dd.h) --- */

typedef struct addition {
  double *high, *low;
  const double *increment;
  bool keep;
} addition;

static void add_range(void *context, int begin, int end) {
  const addition *a = context;
  for (int i = begin; i < end; i++) {
    cb_compensated_add_one(&a->high[i], &a->low[i], a->increment[i]);
    if (!a->keep) a->low[i] = 0;
  }
}

void cb_compensated_add(size_t count, double *high, double *low, const double *increment, bool keep, int threads) {
  addition a = {high, low, increment, keep};
  cb_threads_range(threads, (int)count, add_range, &a);
}
