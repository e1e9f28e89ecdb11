/* Solids and sheets together (operator.h). The rows of solids are those of a body without sheets. The rows of sheets
 * are multiplied by the square root of the panel's area, so that all rows have the same size. For faces of size h the
 * condition number grows like 1/h. The iteration is therefore preconditioned by the inverses of blocks of neighbouring
 * panels (cb_schwarz). For few panels the matrix is stored and factored.
 */
#include "potential/operator.h"

#include "core/arena.h"
#include "core/threads.h"
#include "potential/linear_solvers.h"
#include "potential/panel_kernel.h"
#include "potential/tree_kernels.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* --- the Schwarz preconditioner --- */

/* A preconditioner P for equations on panels whose matrix A is dominated by neighbours. Each group of neighbours is
 * solved together with the nearest panels around it, and only the solution at the group's own panels is used.
 *
 *   P = sum_g Q_g^T A_g^-1 R_g   R_g selects the panels of group g and those around it, Q_g^T keeps the group's own
 *                                panels, and A_g has the rows and columns of A at the panels of R_g
 * This is the restricted additive Schwarz method: Cai & Sarkis (1999), SIAM J. Sci. Comput. 21, 792, doi
 * 10.1137/S106482759732678X. For vortex rings on a sheet it removes the part of the condition number that is due to
 * scales smaller than the groups. The remaining part grows like the square root of the number of groups. The inverses
 * of the blocks are stored, so that the preconditioner is applied by products of small matrices. */

typedef struct cb_schwarz cb_schwarz;

/* Sets row[0..n) to the entries of row i of A at the columns which[0..n). It is called from any thread. */
typedef void (*cb_schwarz_row)(const void *context, int i, int n, const int *which, double *row);

enum { BLOCK = 3 * CB_TREE_LEAF }; /* maximum number of panels in a block: the group and those around it */

typedef struct block {
  int n, own, *numbers; /* numbers: [n]: the panels of the block; the `own` panels of the group come first */
  double *inverse;      /* [own][n]: the rows of A_g^-1 for the group's own panels */
} block;

struct cb_schwarz {
  cb_arena *arena;
  int panels, blocks;
  block *block;
  const cb_tree_kernels *kernels;
};

typedef struct block_task {
  const cb_schwarz *s;
  cb_schwarz_row row;
  const void *context;
  atomic_int failed; /* the first block that is singular or for which there was no memory */
  int columns;
  const double *x;
  double *out;
} block_task;

/* Computes the rows of the inverse of a block. The transpose is factored, because its solutions for unit vectors are
 * these rows. */
static cb_status invert(const block_task *t, block *b) {
  const size_t n = (size_t)b->n;
  double *a = malloc(n * n * sizeof *a), *row = malloc(n * sizeof *row);
  int *pivots = malloc(n * sizeof *pivots);
  cb_status status = a && row && pivots ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a block of %d panels", b->n);
  for (size_t i = 0; i < n && !status; i++) {
    t->row(t->context, b->numbers[i], b->n, b->numbers, row);
    for (size_t j = 0; j < n; j++) a[j * n + i] = row[j];
  }
  if (!status) status = cb_potential_factor(b->n, n, a, pivots);
  if (!status) {
    memset(b->inverse, 0, (size_t)b->own * n * sizeof *b->inverse);
    for (int i = 0; i < b->own; i++) b->inverse[(size_t)i * n + (size_t)i] = 1;
    cb_potential_back(b->n, n, a, pivots, b->own, b->inverse);
  }
  free(a);
  free(row);
  free(pivots);
  return status;
}

static void invert_blocks(void *context, int begin, int end) {
  block_task *t = context;
  for (int g = begin; g < end; g++)
    if (invert(t, &t->s->block[g])) cb_threads_least(&t->failed, g);
}

static void apply_blocks(void *context, int begin, int end) {
  const block_task *t = context;
  const size_t panels = (size_t)t->s->panels;
  double in[BLOCK * CB_TREE_COLUMNS], out[CB_TREE_LEAF * CB_TREE_COLUMNS];
  for (int g = begin; g < end; g++) {
    const block *b = &t->s->block[g];
    memset(out, 0, sizeof out);
    for (int j = 0; j < b->n; j++)
      for (int k = 0; k < CB_TREE_COLUMNS; k++)
        in[j * CB_TREE_COLUMNS + k] = k < t->columns ? t->x[(size_t)k * panels + (size_t)b->numbers[j]] : 0;
    t->s->kernels->rows(b->own, b->n, (size_t)b->n, b->inverse, in, out);
    for (int k = 0; k < t->columns; k++)
      for (int i = 0; i < b->own; i++)
        t->out[(size_t)k * panels + (size_t)b->numbers[i]] = out[i * CB_TREE_COLUMNS + k];
  }
}

static int threads_of(const cb_schwarz *s) { return cb_threads_for((size_t)s->panels * BLOCK); }

/* Computes out = P x, both [columns][panels], for at most CB_TREE_COLUMNS columns. */
static void schwarz_apply(const cb_schwarz *s, int columns, const double *x, double *out) {
  block_task t = {.s = s, .columns = columns, .x = x, .out = out};
  cb_threads_range(threads_of(s), s->blocks, apply_blocks, &t);
}

static bool take(cb_schwarz *s, const cb_far *f) {
  s->block = cb_arena_alloc(s->arena, (size_t)s->blocks, sizeof *s->block);
  for (int g = 0; g < s->blocks && s->block; g++) {
    block *b = &s->block[g];
    const int *numbers;
    int first, near[BLOCK];
    cb_far_group(f, g, &first, &b->own, &numbers);
    b->n = cb_far_near(f, g, BLOCK, near);
    b->numbers = cb_arena_alloc(s->arena, (size_t)b->n, sizeof *b->numbers);
    cb_arena_doubles(s->arena, (size_t)b->own * (size_t)b->n, &b->inverse);
    if (b->numbers) memcpy(b->numbers, near, (size_t)b->n * sizeof *near);
  }
  return !cb_arena_lost(s->arena);
}

static void schwarz_free(cb_schwarz *s) {
  if (s) cb_arena_free(s->arena);
}

/* Creates the preconditioner for the groups of f, which may be freed afterwards. Returns CB_ERROR_DOMAIN for a singular
 * block. The caller frees the result. */
static cb_status schwarz_create(const cb_far *f, int panels, cb_schwarz_row row, const void *context,
                                cb_schwarz **out) {
  cb_schwarz *s = cb_arena_object(sizeof *s, "blocks of neighbouring panels");
  if (!s) return CB_ERROR_MEMORY;
  s->panels = panels;
  s->blocks = cb_far_groups(f);
  s->kernels = cb_tree_kernels_of_isa();
  cb_status status = take(s, f) ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for blocks of %d panels", panels);
  if (!status) {
    block_task t = {.s = s, .row = row, .context = context, .failed = s->blocks};
    cb_threads_range(threads_of(s), s->blocks, invert_blocks, &t);
    if (t.failed < s->blocks) status = invert(&t, &s->block[t.failed]);
  }
  if (status) {
    schwarz_free(s);
    return status;
  }
  *out = s;
  return CB_OK;
}

/* Returns a bound on the memory for this number of panels, in bytes. Each panel has one row, and all groups except the
 * last are at least half full. */
static size_t schwarz_bytes(int panels) {
  const size_t blocks = 2 * (size_t)panels / CB_TREE_LEAF + 1;
  return (size_t)panels * BLOCK * sizeof(double) + blocks * (BLOCK * sizeof(int) + sizeof(block));
}

/* --- solids and sheets --- */

enum {
  FACTORED = 3000, /* up to this number of panels LU factors are as fast as the iteration */
  RESTART = 60
};

struct cb_sheet {
  const cb_panels *p;
  int solids;
  cb_kirchhoff_options options;
  cb_operator_report report;
  bool filled, dense;
  size_t stride;
  double *a; /* the matrix, later its factors; NULL: none */
  int *pivots;
  cb_far *far; /* NULL: not created yet */
  cb_schwarz *blocks;
  cb_krylov *krylov;
  double *x, *b, *row_sum; /* x, b: [columns][n]; row_sum: [n], sums of D over the panels of solids */
};

static cb_status no_memory(const cb_sheet *s) {
  return cb_fail(CB_ERROR_MEMORY, "no memory for the potentials of %d panels", s->p->n);
}

static double scale_of(const cb_sheet *s, int i) { return i < s->solids ? 1 : sqrt(s->p->area[i]); }

/* Sets row[0..n) to the entries of row i of the matrix at the panels which[0..n), or at the first n panels if `which`
 * is NULL. */
static void matrix_row(const void *context, int i, int n, const int *which, double *row) {
  const cb_sheet *s = context;
  const cb_panels *p = s->p;
  int self = which ? -1 : i;
  for (int j = 0; which && j < n; j++)
    if (which[j] == i) self = j;
  if (i < s->solids)
    cb_panels_row(p, p->centre[i], n, which, self, NULL, row);
  else
    cb_panels_slopes(p, p->centre[i], p->normal[i], (cb_panel_choice){0, n, which, self}, NULL, row);
  for (int j = 0; j < n; j++) row[j] *= -scale_of(s, i);
  if (i < s->solids) row[self] += 0.5;
}

/* Returns the right-hand side b of panel i for its normal velocity w. sum is S w at the centre of the panel for a
 * solid, and n.grad S w for a sheet. */
static double source(const cb_sheet *s, int i, double w, double sum) {
  return i < s->solids ? -sum : -scale_of(s, i) * (w + sum);
}

/* Fails for solids that are not closed, and for sheets inside solids. The sum of D over the panels of solids is -1/2 at
 * panels of solids; at panels of sheets it is 0 outside of solids and -1 inside. */
static cb_status check_places(cb_sheet *s) {
  s->report.row_sum = 0;
  s->report.row = 0;
  for (int i = 0; i < s->p->n && s->solids; i++) {
    const double *c = s->p->centre[i];
    if (i >= s->solids && s->row_sum[i] < -0.5)
      return cb_fail(CB_ERROR_DOMAIN, "the sheet's face at (%g, %g, %g) is inside a solid: expected sheets outside",
                     c[0], c[1], c[2]);
    if (i >= s->solids || fabs(s->row_sum[i] + 0.5) <= s->report.row_sum) continue;
    s->report.row_sum = fabs(s->row_sum[i] + 0.5);
    s->report.row = i;
  }
  if (s->report.row_sum <= 1e-3) return CB_OK;
  const double *c = s->p->centre[s->report.row];
  return cb_fail(
      CB_ERROR_DOMAIN,
      "a solid is not closed or not oriented outwards: seen from its face at (%g, %g, %g) it has a solid angle of "
      "%.4g pi: expected 2 pi",
      c[0], c[1], c[2], 4 * fabs(s->row_sum[s->report.row]));
}

/* --- solution by the complete matrix --- */

typedef struct task {
  cb_sheet *s;
  int columns;
  const double *w; /* [columns][n]: normal velocities of the panels */
} task;

static void fill_rows(void *context, int begin, int end) {
  const cb_sheet *s = ((task *)context)->s;
  for (int i = begin; i < end; i++) {
    double *row = s->a + (size_t)i * s->stride;
    cb_panels_range(s->p, s->p->centre[i], 0, s->solids, i < s->solids ? i : -1, NULL, row);
    s->row_sum[i] = 0;
    for (int j = 0; j < s->solids; j++) s->row_sum[i] += row[j];
    matrix_row(s, i, s->p->n, NULL, row);
  }
}

/* Computes the right-hand side b. S, or n.grad S on sheets, is computed and summed by tiles of panels. */
static void source_rows(void *context, int begin, int end) {
  const task *t = context;
  const cb_panels *p = t->s->p;
  double S[CB_PANEL_COLUMNS * CB_PANEL_PAD];
  enum { TILE = CB_PANEL_COLUMNS * CB_PANEL_PAD };
  for (int i = begin; i < end; i++) {
    double sum[CB_PANEL_COLUMNS] = {0};
    for (int j = 0; j < t->s->solids; j += TILE) {
      const int n = t->s->solids - j < TILE ? t->s->solids - j : TILE;
      if (i < t->s->solids)
        cb_panels_range(p, p->centre[i], j, n, -1, S, NULL);
      else
        cb_panels_slopes(p, p->centre[i], p->normal[i], (cb_panel_choice){j, n, NULL, -1}, S, NULL);
      for (int c = 0; c < t->columns; c++)
        for (int k = 0; k < n; k++) sum[c] += S[k] * t->w[(size_t)c * (size_t)p->n + (size_t)(j + k)];
    }
    for (int c = 0; c < t->columns; c++) {
      const size_t at = (size_t)c * (size_t)p->n + (size_t)i;
      t->s->b[at] = source(t->s, i, t->w[at], sum[c]);
    }
  }
}

static size_t stored_bytes(const cb_sheet *s) { return s->stride * (size_t)s->p->n * sizeof(double); }

static cb_status factor(cb_sheet *s) {
  const size_t n = (size_t)s->p->n;
  if (!s->a) s->a = aligned_alloc(CB_CACHE_LINE, stored_bytes(s));
  if (!s->pivots) s->pivots = malloc(n * sizeof *s->pivots);
  if (!s->a || !s->pivots) return no_memory(s);
  task t = {.s = s};
  cb_threads_range(cb_threads_for(n * n), s->p->n, fill_rows, &t);
  cb_status status = check_places(s);
  if (!status) status = cb_potential_factor(s->p->n, s->stride, s->a, s->pivots);
  s->filled = !status;
  return status;
}

static cb_status solve_dense(cb_sheet *s, int columns, const double *w, double *phi) {
  const size_t n = (size_t)s->p->n;
  const cb_status status = s->filled ? CB_OK : factor(s);
  if (status) return status;
  task t = {.s = s, .columns = columns, .w = w};
  cb_threads_range(cb_threads_for(n * n), s->p->n, source_rows, &t);
  cb_potential_back(s->p->n, s->stride, s->a, s->pivots, columns, s->b);
  memcpy(phi, s->b, (size_t)columns * n * sizeof *phi);
  s->report.solved = (cb_krylov_result){0};
  return CB_OK;
}

/* --- solution by the tree --- */

static cb_status product(void *context, int columns, const double *x, double *out) {
  cb_sheet *s = context;
  const size_t n = (size_t)s->p->n, solids = (size_t)s->solids;
  memset(out, 0, (size_t)columns * n * sizeof *out);
  const cb_status status = cb_far_apply(s->far, columns, NULL, x, out);
  for (size_t c = 0; c < (size_t)columns; c++) {
    double *own = out + c * n;
    for (size_t i = 0; i < solids; i++) own[i] = 0.5 * x[c * n + i] - own[i];
    for (size_t i = solids; i < n; i++) own[i] *= -scale_of(s, (int)i);
  }
  return status;
}

static cb_status precondition(void *context, int columns, const double *x, double *out) {
  schwarz_apply(((cb_sheet *)context)->blocks, columns, x, out);
  return CB_OK;
}

/* Computes the row sums of D. At solids this is the product of D with the density 1 on the solids. At sheets it is the
 * potential of these dipoles. */
static cb_status find_row_sums(cb_sheet *s) {
  const size_t n = (size_t)s->p->n, solids = (size_t)s->solids;
  cb_far_field *ones = NULL;
  for (size_t i = 0; i < n; i++) {
    s->x[i] = i < solids;
    s->row_sum[i] = 0;
  }
  cb_status status = cb_far_apply(s->far, 1, NULL, s->x, s->row_sum);
  if (!status) status = cb_far_field_create(s->far, CB_FAR_POTENTIAL, 1, NULL, s->x, &ones);
  if (!status)
    status = cb_far_field_at(ones, s->p->n - s->solids, (const double(*)[3])s->p->centre + solids, s->row_sum + solids);
  cb_far_field_free(ones);
  return status;
}

static cb_status plant(cb_sheet *s) {
  cb_status status = cb_far_create_sheets(s->p, s->solids, s->options.far_error, &s->far);
  if (!status && s->solids) status = find_row_sums(s);
  if (!status) status = check_places(s);
  if (!status) status = schwarz_create(s->far, s->p->n, matrix_row, s, &s->blocks);
  s->filled = !status;
  return status;
}

static cb_status tree_source(cb_sheet *s, int columns, const double *w) {
  const size_t n = (size_t)s->p->n, count = (size_t)columns * n;
  memset(s->b, 0, count * sizeof *s->b);
  for (size_t i = 0; i < count; i++) s->x[i] = i % n < (size_t)s->solids ? w[i] : 0;
  const cb_status status = s->solids ? cb_far_apply(s->far, columns, s->x, NULL, s->b) : CB_OK;
  for (size_t i = 0; i < count; i++) s->b[i] = source(s, (int)(i % n), w[i], s->b[i]);
  return status;
}

static cb_status not_converged(const cb_sheet *s) {
  return cb_fail(CB_ERROR_STEP,
                 "the potential of %d panels has not converged in %d iterations: residual %.3g, expected at most %.3g; "
                 "the method dense takes %.3g GB, and `memory` is %.3g GB",
                 s->p->n, s->report.solved.iterations, s->report.solved.residual, s->options.tolerance,
                 1e-9 * (double)stored_bytes(s), 1e-9 * (double)s->options.memory);
}

static cb_status iterate(cb_sheet *s, int columns, const double *w, double *phi) {
  const cb_krylov_problem problem = {.product = product,
                                     .precondition = precondition,
                                     .context = s,
                                     .tolerance = s->options.tolerance,
                                     .iterations = s->options.iterations};
  cb_status status = s->filled ? CB_OK : plant(s);
  if (!status) status = tree_source(s, columns, w);
  if (!status && !s->krylov) status = cb_krylov_create(s->p->n, CB_PANEL_COLUMNS, RESTART, &s->krylov);
  return status ? status : cb_krylov_solve(s->krylov, &problem, columns, s->b, phi, &s->report.solved);
}

static void turn_dense(cb_sheet *s) {
  s->dense = true;
  s->filled = false;
  s->report.method = CB_POTENTIAL_DENSE;
  s->report.bytes += stored_bytes(s);
}

cb_status cb_sheet_solve(cb_sheet *s, int columns, const double *w, double *phi) {
  if (s->dense) return solve_dense(s, columns, w, phi);
  const cb_status status = iterate(s, columns, w, phi);
  if (status != CB_STEP_NO_CONVERGENCE) return status;
  if (s->options.method != CB_POTENTIAL_BEST || s->report.bytes + stored_bytes(s) > s->options.memory)
    return not_converged(s);
  turn_dense(s);
  return solve_dense(s, columns, w, phi);
}

/* --- create and free --- */

void cb_sheet_renew(cb_sheet *s) {
  cb_far_free(s->far);
  schwarz_free(s->blocks);
  s->far = NULL;
  s->blocks = NULL;
  s->filled = false;
}

/* Chooses the stored matrix if it is small or requested, and otherwise the tree. */
static cb_status choose(cb_sheet *s) {
  const size_t n = (size_t)s->p->n, vectors = (2 * CB_PANEL_COLUMNS + 1) * n * sizeof(double),
               all = vectors + stored_bytes(s);
  const bool few = s->options.method == CB_POTENTIAL_BEST && s->p->n <= FACTORED && all <= s->options.memory;
  s->dense = few || s->options.method == CB_POTENTIAL_DENSE;
  s->report.method = s->dense ? CB_POTENTIAL_DENSE : CB_POTENTIAL_ITERATIVE;
  s->report.bytes = all;
  if (!s->dense) {
    const size_t far = cb_far_bytes(s->p, s->solids, s->options.far_error);
    if (!far) return CB_ERROR_MEMORY;
    s->report.bytes = vectors + far + schwarz_bytes(s->p->n) + cb_krylov_bytes(s->p->n, CB_PANEL_COLUMNS, RESTART);
  }
  if (s->report.bytes <= s->options.memory) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT,
                 "the %s of %d panels with sheets takes %.3g GB, more than `memory` = %.3g GB: expected fewer faces or "
                 "more `memory`",
                 s->dense ? "matrix" : "tree", s->p->n, 1e-9 * (double)s->report.bytes,
                 1e-9 * (double)s->options.memory);
}

cb_status cb_sheet_create(const cb_panels *p, int solids, const cb_kirchhoff_options *options, cb_sheet **out) {
  if (options->method == CB_POTENTIAL_HLU)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the method `hlu` does not support bodies with sheets: expected best, "
                   "dense or iterative");
  cb_sheet *s = calloc(1, sizeof *s);
  if (!s) return cb_fail(CB_ERROR_MEMORY, "no memory for the potentials of %d panels", p->n);
  const size_t n = (size_t)p->n;
  *s = (cb_sheet){.p = p, .solids = solids, .options = *options};
  s->stride = (n + CB_PANEL_PAD - 1) / CB_PANEL_PAD * CB_PANEL_PAD;
  cb_status status = choose(s);
  s->x = malloc(CB_PANEL_COLUMNS * n * sizeof *s->x);
  s->b = malloc(CB_PANEL_COLUMNS * n * sizeof *s->b);
  s->row_sum = calloc(n, sizeof *s->row_sum);
  if (!status && !(s->x && s->b && s->row_sum)) status = no_memory(s);
  if (status) {
    cb_sheet_free(s);
    return status;
  }
  *out = s;
  return CB_OK;
}

void cb_sheet_free(cb_sheet *s) {
  if (!s) return;
  cb_sheet_renew(s);
  cb_krylov_free(s->krylov);
  free(s->a);
  free(s->pivots);
  free(s->x);
  free(s->b);
  free(s->row_sum);
  free(s);
}

cb_operator_report cb_sheet_report_of(const cb_sheet *s) { return s->report; }
