/* LU with partial pivoting by blocks of columns: LAPACK factors one, and those on its right are updated by tiles, all
 * in one thread. The BLAS has one caller at a time in the whole process: with OpenBLAS 0.3.21 without threads, two calls at
 * once gave wrong factors in one run of some hundreds (tests/potential/test_dense.c). Results
 * depend on the BLAS that is linked and on the processor that it chooses its kernels for, not on the number of threads.
 *
 * LAPACK's matrices lie column by column: what is factored is the transpose. The routines are called by their Fortran
 * names, as GSL's CBLAS has the C names of the others; lengths of the texts come last.
 * Source: Golub & Van Loan, Matrix Computations (2013), section 3.4.7.
 */
#include "potential/dense.h"

#include <pthread.h>

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
  int n, stride, at, width; /* the block that has been factored */
} task;

/* Tiles of columns left of the block are only swapped. */
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
    if (info > 0) return cb_fail(CB_ERROR_DOMAIN, "the matrix of %d panels is singular in column %d", n, at + info);
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
