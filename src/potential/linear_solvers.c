/* Restarted GMRES for several columns, and LU factors of dense matrices (linear_solvers.h). The product A x omits
 * columns that have converged.
 */
#include "potential/linear_solvers.h"

#include "core/arena.h"
#include "core/threads.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { PIECE = 4096 }; /* number of terms of a partial sum, the same for any number of threads */

typedef struct column {
  double *basis; /* [restart + 1][n]: the vectors of the Krylov basis */
  /* h: the triangular matrix of GMRES, in columns of restart + 1 numbers; cosine, sine: those of Givens rotations */
  double *h, *cosine, *sine;
  double *g;       /* the right-hand side of the triangular equations, after the rotations */
  double size;     /* |b|, b the right-hand side */
  double residual; /* |b - A x| */
  int steps;       /* number of steps in this cycle */
} column;

struct cb_krylov {
  cb_arena *arena;
  int n, columns, restart, threads;
  column *column;
  double *in, *out, *part; /* in, out: [columns][n], for the active columns; part: partial sums of `dot` */
  int *active;
};

size_t cb_krylov_bytes(int n, int columns, int restart) {
  return (size_t)columns * ((size_t)restart + 4) * (size_t)n * sizeof(double);
}

cb_status cb_krylov_create(int n, int columns, int restart, cb_krylov **out) {
  cb_krylov *k = cb_arena_object(sizeof *k, "GMRES");
  if (!k) return CB_ERROR_MEMORY;
  const size_t size = (size_t)n, m = (size_t)restart;
  k->n = n;
  k->columns = columns;
  k->restart = restart;
  k->threads = cb_threads_for(size * (size_t)columns);
  k->column = cb_arena_alloc(k->arena, (size_t)columns, sizeof *k->column);
  k->active = cb_arena_alloc(k->arena, (size_t)columns, sizeof *k->active);
  cb_arena_doubles(k->arena, size * (size_t)columns, &k->in, &k->out);
  cb_arena_doubles(k->arena, size / PIECE + 1, &k->part);
  for (int c = 0; c < columns && k->column; c++) {
    column *q = k->column + c;
    cb_arena_doubles(k->arena, (m + 1) * size, &q->basis);
    cb_arena_doubles(k->arena, m * (m + 1), &q->h);
    cb_arena_doubles(k->arena, m + 1, &q->cosine, &q->sine, &q->g);
  }
  if (cb_arena_lost(k->arena)) {
    cb_arena_free(k->arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d steps of GMRES on %d unknowns", restart, n);
  }
  *out = k;
  return CB_OK;
}

void cb_krylov_free(cb_krylov *k) {
  if (k) cb_arena_free(k->arena);
}

/* --- vectors --- */

typedef struct pair {
  const cb_krylov *k;
  const double *a;
  double *b, factor;
} pair;

static void dot_pieces(void *context, int begin, int end) {
  const pair *t = context;
  for (int p = begin; p < end; p++) {
    const int last = (p + 1) * PIECE < t->k->n ? (p + 1) * PIECE : t->k->n;
    double sum[8] = {0};
    int i = p * PIECE;
    for (; i + 8 <= last; i += 8)
      for (int j = 0; j < 8; j++) sum[j] += t->a[i + j] * t->b[i + j];
    for (; i < last; i++) sum[0] += t->a[i] * t->b[i];
    t->k->part[p] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}

static double dot(const cb_krylov *k, const double *a, const double *b) {
  const int pieces = (k->n + PIECE - 1) / PIECE;
  pair t = {.k = k, .a = a, .b = (double *)b};
  double sum = 0;
  cb_threads_range(k->threads, pieces, dot_pieces, &t);
  for (int p = 0; p < pieces; p++) sum += k->part[p];
  return sum;
}

static void add_range(void *context, int begin, int end) {
  const pair *t = context;
  for (int i = begin; i < end; i++) t->b[i] += t->factor * t->a[i];
}

/* Adds factor times a to b. */
static void add(const cb_krylov *k, double factor, const double *a, double *b) {
  pair t = {.k = k, .a = a, .b = b, .factor = factor};
  cb_threads_range(k->threads, k->n, add_range, &t);
}

static void scale(int n, double factor, const double *a, double *out) {
  for (int i = 0; i < n; i++) out[i] = factor * a[i];
}

/* --- steps --- */

/* Makes one step of GMRES: makes w orthogonal to the Krylov basis and appends it. Givens rotations transform the
 * coefficients of w, a column of the Hessenberg matrix, to a column of the triangular matrix. */
static void extend(const cb_krylov *k, column *q, double *w) {
  const int j = q->steps;
  double *h = q->h + (size_t)j * ((size_t)k->restart + 1);
  for (int i = 0; i <= j; i++) {
    const double *v = q->basis + (size_t)i * (size_t)k->n;
    h[i] = dot(k, v, w);
    add(k, -h[i], v, w);
  }
  const double left = sqrt(dot(k, w, w));
  if (j + 1 <= k->restart) scale(k->n, left > 0 ? 1 / left : 0, w, q->basis + ((size_t)j + 1) * (size_t)k->n);
  for (int i = 0; i < j; i++) {
    const double a = h[i], b = h[i + 1];
    h[i] = q->cosine[i] * a + q->sine[i] * b;
    h[i + 1] = q->cosine[i] * b - q->sine[i] * a;
  }
  const double size = hypot(h[j], left);
  q->cosine[j] = size > 0 ? h[j] / size : 1;
  q->sine[j] = size > 0 ? left / size : 0;
  h[j] = size;
  q->g[j + 1] = -q->sine[j] * q->g[j];
  q->g[j] *= q->cosine[j];
  q->residual = fabs(q->g[j + 1]);
  q->steps++;
}

/* Computes out = sum_i y_i v_i, where y solves the triangular equations for the rotated right-hand side g, and v_i are
 * the vectors of the basis. */
static void combine(const cb_krylov *k, const column *q, double *out) {
  double *y = q->g;
  for (int i = q->steps - 1; i >= 0; i--) {
    for (int j = i + 1; j < q->steps; j++) y[i] -= q->h[(size_t)j * ((size_t)k->restart + 1) + (size_t)i] * y[j];
    const double d = q->h[(size_t)i * ((size_t)k->restart + 1) + (size_t)i];
    y[i] = d != 0 ? y[i] / d : 0;
  }
  memset(out, 0, (size_t)k->n * sizeof *out);
  for (int i = 0; i < q->steps; i++) add(k, y[i], q->basis + (size_t)i * (size_t)k->n, out);
}

static int still_active(cb_krylov *k, int columns, double tolerance) {
  int n = 0;
  for (int c = 0; c < columns; c++) {
    const column *q = k->column + c;
    if (q->residual > tolerance * q->size) k->active[n++] = c;
  }
  return n;
}

/* Adds P sum_i y_i v_i (see `combine`) to x, for all columns that made steps in this cycle. */
static cb_status correct(cb_krylov *k, const cb_krylov_problem *p, int columns, double *x) {
  int count = 0;
  cb_status status = CB_OK;
  for (int c = 0; c < columns; c++)
    if (k->column[c].steps > 0) {
      k->active[count] = c;
      combine(k, k->column + c, k->in + (size_t)count++ * (size_t)k->n);
    }
  if (p->precondition && count) status = p->precondition(p->context, count, k->in, k->out);
  const double *step = p->precondition ? k->out : k->in;
  for (int i = 0; i < count && !status; i++)
    add(k, 1, step + (size_t)i * (size_t)k->n, x + (size_t)k->active[i] * (size_t)k->n);
  return status;
}

/* Starts a cycle from the residuals of x. Sets *active to the number of columns that have not converged. */
static cb_status begin(cb_krylov *k, const cb_krylov_problem *p, int columns, const double *b, const double *x,
                       int *active) {
  const size_t n = (size_t)k->n;
  bool zero = true;
  for (size_t i = 0; zero && i < (size_t)columns * n; i++) zero = x[i] == 0;
  if (zero) memset(k->out, 0, (size_t)columns * n * sizeof *x);
  const cb_status status = zero ? CB_OK : p->product(p->context, columns, x, k->out);
  if (status) return status;
  for (int c = 0; c < columns; c++) {
    column *q = k->column + c;
    double *r = k->out + (size_t)c * n;
    for (size_t i = 0; i < n; i++) r[i] = b[(size_t)c * n + i] - r[i];
    q->residual = q->g[0] = sqrt(dot(k, r, r));
    q->steps = 0;
    if (q->residual > 0) scale(k->n, 1 / q->residual, r, q->basis);
  }
  *active = still_active(k, columns, p->tolerance);
  return CB_OK;
}

static cb_status step(cb_krylov *k, const cb_krylov_problem *p, int active) {
  const size_t n = (size_t)k->n;
  cb_status status = CB_OK;
  for (int i = 0; i < active; i++) {
    const column *q = k->column + k->active[i];
    memcpy(k->in + (size_t)i * n, q->basis + (size_t)q->steps * n, n * sizeof(double));
  }
  double *from = k->in, *to = k->out;
  if (p->precondition) {
    status = p->precondition(p->context, active, from, to);
    from = k->out;
    to = k->in;
  }
  if (!status) status = p->product(p->context, active, from, to);
  for (int i = 0; i < active && !status; i++) extend(k, k->column + k->active[i], to + (size_t)i * n);
  return status;
}

cb_status cb_krylov_solve(cb_krylov *k, const cb_krylov_problem *p, int columns, const double *b, double *x,
                          cb_krylov_result *result) {
  int active, done = 0;
  if (columns > k->columns) return cb_fail(CB_ERROR_ARGUMENT, "%d columns: expected at most %d", columns, k->columns);
  for (int c = 0; c < columns; c++) {
    const double *own = b + (size_t)c * (size_t)k->n;
    k->column[c].size = sqrt(dot(k, own, own));
    if (!isfinite(k->column[c].size))
      return cb_fail(CB_ERROR_DOMAIN, "column %d of the right-hand side is not finite: expected finite velocities",
                     c + 1);
  }
  cb_status status = begin(k, p, columns, b, x, &active);
  while (!status && active && done < p->iterations) {
    for (int j = 0; j < k->restart && active && done < p->iterations && !status; j++, done++) {
      status = step(k, p, active);
      active = still_active(k, columns, p->tolerance);
    }
    if (!status) status = correct(k, p, columns, x);
    active = still_active(k, columns, p->tolerance);
    if (!status && active && done < p->iterations) status = begin(k, p, columns, b, x, &active);
  }
  if (status) return status;
  *result = (cb_krylov_result){.iterations = done};
  for (int c = 0; c < columns; c++)
    if (k->column[c].size > 0) result->residual = fmax(result->residual, k->column[c].residual / k->column[c].size);
  return active ? CB_STEP_NO_CONVERGENCE : CB_OK;
}

/* LU factors with partial pivoting by blocks of columns, all in one thread. LAPACK factors a block, and the columns on
 * its right are updated by tiles. Only one thread of the process calls the BLAS at a time. With OpenBLAS 0.3.21 without
 * threads, two calls at once gave wrong factors in about one of several hundred runs (tests/potential/test_dense.c).
 * The results depend on the linked BLAS and on the kernels that it chooses for the processor, but not on the number of
 * threads.
 *
 * LAPACK stores matrices column by column, so the transpose is factored. The routines are called by their Fortran
 * names, because GSL's CBLAS defines the C names of BLAS routines. The last arguments are the lengths of the texts.
 * Source: Golub & Van Loan, Matrix Computations (2013), section 3.4.7. */

extern void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivots, int *info);
extern void dlaswp_(const int *n, double *a, const int *lda, const int *first, const int *last, const int *pivots,
                    const int *step);
extern void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m, const int *n,
                   const double *alpha, const double *a, const int *lda, double *b, const int *ldb, size_t, size_t,
                   size_t, size_t);
extern void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                   const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
                   const double *beta, double *c, const int *ldc, size_t, size_t);
extern void dgetrs_(const char *trans, const int *n, const int *columns, const double *a, const int *lda,
                    const int *pivots, double *b, const int *ldb, int *info, size_t);

enum { BLOCK = 128 };

static pthread_mutex_t blas = PTHREAD_MUTEX_INITIALIZER;

void cb_potential_blas_begin(void) { pthread_mutex_lock(&blas); }
void cb_potential_blas_end(void) { pthread_mutex_unlock(&blas); }

typedef struct task {
  double *a;
  const int *pivots;
  int n, stride, at, width; /* at, width: the first column and the width of the block that was factored last */
} task;

/* Updates `columns` columns from column `from` on, after a block was factored. In columns to the left of the block,
 * rows are only swapped. */
static void update(const task *t, int from, int columns) {
  const double one = 1, minus = -1;
  const int first = t->at + 1, last = t->at + t->width, step = 1, below = t->n - last;
  double *tile = t->a + (size_t)from * (size_t)t->stride, *block = t->a + (size_t)t->at * (size_t)t->stride + t->at;
  dlaswp_(&columns, tile, &t->stride, &first, &last, t->pivots, &step);
  if (from < t->at) return;
  dtrsm_("L", "L", "N", "U", &t->width, &columns, &one, block, &t->stride, tile + t->at, &t->stride, 1, 1, 1, 1);
  if (below > 0)
    dgemm_("N", "N", &below, &columns, &t->width, &minus, block + t->width, &t->stride, tile + t->at, &t->stride, &one,
           tile + last, &t->stride, 1, 1);
}

static cb_status factor(int n, size_t stride, double *a, int *pivots) {
  const int tiles = (n + BLOCK - 1) / BLOCK;
  const int lda = (int)stride;
  for (int k = 0; k < tiles; k++) {
    const int at = k * BLOCK, width = n - at < BLOCK ? n - at : BLOCK, below = n - at;
    int info;
    dgetrf_(&below, &width, a + (size_t)at * stride + at, &lda, pivots + at, &info);
    if (info > 0)
      return cb_fail(
          CB_ERROR_DOMAIN,
          "the matrix of %d panels is singular in column %d: expected a surface that does not intersect itself", n,
          at + info);
    for (int i = at; i < at + width; i++) pivots[i] += at;
    const task t = {a, pivots, n, lda, at, width};
    for (int j = 0; j < tiles; j++)
      if (j != k) update(&t, j * BLOCK, n - j * BLOCK < BLOCK ? n - j * BLOCK : BLOCK);
  }
  return CB_OK;
}

cb_status cb_potential_factor(int n, size_t stride, double *a, int *pivots) {
  cb_potential_blas_begin();
  const cb_status status = factor(n, stride, a, pivots);
  cb_potential_blas_end();
  return status;
}

static void back(const char *which, int n, size_t stride, const double *a, const int *pivots, int columns, double *b) {
  const int lda = (int)stride;
  int info;
  cb_potential_blas_begin();
  dgetrs_(which, &n, &columns, a, &lda, pivots, b, &n, &info, 1);
  cb_potential_blas_end();
}

void cb_potential_back(int n, size_t stride, const double *a, const int *pivots, int columns, double *b) {
  back("T", n, stride, a, pivots, columns, b);
}

void cb_potential_back_transposed(int n, size_t stride, const double *a, const int *pivots, int columns, double *b) {
  back("N", n, stride, a, pivots, columns, b);
}
