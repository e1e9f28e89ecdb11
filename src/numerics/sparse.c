/* KLU behind a pattern, or a dense LU; see sparse.h. */
#include "numerics/sparse.h"
#include "numerics/small.h"

#include <klu.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct cb_sparse {
  int n;
  int *start, *row;
  double *value;
  bool dense;
  double *full; /* dense: n*n, row-major */
  int *pivot;
  klu_common common;
  klu_symbolic *symbolic;
  klu_numeric *numeric;  /* pivots of the values at creation */
  klu_numeric *repaired; /* pivots of its own, where those of `numeric` let the factors grow; else NULL */
};

/* Smallest reciprocal growth of the factors with the pivots from creation; Newton's method corrects what is lost above
 * it. */
static const double smallest_growth = 1e-8;

static cb_status no_factors(const cb_sparse *m, cb_status singular, const char *what) {
  if (m->common.status == KLU_OUT_OF_MEMORY || m->common.status == KLU_TOO_LARGE)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the factors of a matrix of %d unknowns", m->n);
  return cb_fail(singular, "%s of %d unknowns is singular", what, m->n);
}

static cb_status analyse(cb_sparse *m, const int *order) {
  klu_defaults(&m->common);
  m->common.btf = 0; /* a component of particles is one strongly connected block */
  m->symbolic = order ? klu_analyze_given(m->n, m->start, m->row, (int *)order, (int *)order, &m->common)
                      : klu_analyze(m->n, m->start, m->row, &m->common);
  if (m->symbolic) m->numeric = klu_factor(m->start, m->row, m->value, m->symbolic, &m->common);
  return m->numeric && m->common.status == KLU_OK ? CB_OK : no_factors(m, CB_ERROR_ARGUMENT, "the pattern of a matrix");
}

cb_status cb_sparse_create(int n, const int *start, const int *row, const double *value, cb_sparse **out) {
  return cb_sparse_create_ordered(n, start, row, value, NULL, out);
}

cb_status cb_sparse_create_ordered(int n, const int *start, const int *row, const double *value, const int *order,
                                   cb_sparse **out) {
  const size_t count = (size_t)start[n];
  cb_sparse *m = calloc(1, sizeof *m);
  if (!m) return cb_fail(CB_ERROR_MEMORY, "no memory for a matrix of %d unknowns", n);
  m->n = n;
  m->dense = n <= CB_SPARSE_DENSE_MAX || count > (size_t)n * (size_t)n / 3;
  m->start = malloc(((size_t)n + 1) * sizeof *m->start);
  m->row = malloc((count + 1) * sizeof *m->row);
  m->value = malloc((count + 1) * sizeof *m->value);
  if (m->dense) {
    m->full = malloc((size_t)n * (size_t)n * sizeof *m->full);
    m->pivot = malloc((size_t)n * sizeof *m->pivot);
  }
  cb_status status = CB_OK;
  if (!m->start || !m->row || !m->value || (m->dense && (!m->full || !m->pivot))) {
    status = cb_fail(CB_ERROR_MEMORY, "no memory for a matrix of %d unknowns", n);
  } else {
    memcpy(m->start, start, ((size_t)n + 1) * sizeof *start);
    memcpy(m->row, row, count * sizeof *row);
    memcpy(m->value, value, count * sizeof *value);
    if (!m->dense) status = analyse(m, order);
  }
  if (status) return cb_sparse_free(m), status;
  *out = m;
  return CB_OK;
}

void cb_sparse_free(cb_sparse *m) {
  if (!m) return;
  if (m->repaired) klu_free_numeric(&m->repaired, &m->common);
  if (m->numeric) klu_free_numeric(&m->numeric, &m->common);
  if (m->symbolic) klu_free_symbolic(&m->symbolic, &m->common);
  free(m->start);
  free(m->row);
  free(m->value);
  free(m->full);
  free(m->pivot);
  free(m);
}

double *cb_sparse_values(cb_sparse *m) { return m->value; }

static cb_status factor_dense(cb_sparse *m) {
  memset(m->full, 0, (size_t)m->n * (size_t)m->n * sizeof *m->full);
  for (int j = 0; j < m->n; j++)
    for (int e = m->start[j]; e < m->start[j + 1]; e++)
      m->full[(size_t)m->row[e] * (size_t)m->n + (size_t)j] = m->value[e];
  return cb_dense_factor(m->n, m->full, m->pivot);
}

cb_status cb_sparse_factor(cb_sparse *m) {
  if (m->dense) return factor_dense(m);
  if (m->repaired) klu_free_numeric(&m->repaired, &m->common);
  m->repaired = NULL;
  const bool done = klu_refactor(m->start, m->row, m->value, m->symbolic, m->numeric, &m->common) &&
                    m->common.status == KLU_OK &&
                    klu_rgrowth(m->start, m->row, m->value, m->symbolic, m->numeric, &m->common);
  if (done && m->common.rgrowth >= smallest_growth) return CB_OK;
  /* Rare, and the one place that allocates: other pivots for this matrix alone. */
  m->repaired = klu_factor(m->start, m->row, m->value, m->symbolic, &m->common);
  return m->repaired && m->common.status == KLU_OK ? CB_OK : no_factors(m, CB_STEP_SINGULAR, "a matrix");
}

void cb_sparse_solve(cb_sparse *m, double *x) {
  if (m->dense) {
    cb_dense_solve(m->n, m->full, m->pivot, x);
    return;
  }
  klu_solve(m->symbolic, m->repaired ? m->repaired : m->numeric, m->n, 1, x, &m->common);
}
