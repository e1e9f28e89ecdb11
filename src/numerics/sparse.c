/* This file solves linear systems: sparse systems by KLU, small or full systems by a dense LU (sparse.h, small.h). */
#include "numerics/sparse.h"
#include "numerics/small.h"

#include <klu.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

struct cb_sparse {
  int n;
  int *start, *row;
  double *value;
  bool dense;
  double *full; /* [n*n], row after row, for a dense matrix */
  int *pivot;
  klu_common common;
  klu_symbolic *symbolic;
  klu_numeric *numeric; /* factors with the pivots chosen at creation */
  klu_numeric *
      /* factors with new pivots for the present values, if the factors in `numeric` grow too much; otherwise NULL */
      repaired;
};

/* The smallest reciprocal growth that is accepted, for factors with the pivots from creation. The growth is the factor
 * by which the largest numbers grow during the elimination. Newton's method corrects the errors of a moderate
 * growth. */
static const double smallest_growth = 1e-8;

static cb_status no_factors(const cb_sparse *m, cb_status singular, const char *what) {
  if (m->common.status == KLU_OUT_OF_MEMORY || m->common.status == KLU_TOO_LARGE)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the factors of a matrix of %d unknowns", m->n);
  return cb_fail(singular,
                 "%s of %d unknowns is singular: use a smaller `step`, or leave out constraints that depend on others",
                 what, m->n);
}

static cb_status analyse(cb_sparse *m, const int *order) {
  klu_defaults(&m->common);
  /* no search for a block triangular form, because the matrix of connected particles is a single block */
  m->common.btf = 0;
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
  if (status) {
    cb_sparse_free(m);
    return status;
  }
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
  /* New pivots are chosen for these values only. This is rare, and only here memory is allocated. */
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

/* --- entries: recorded in growing arrays and sorted by counting --- */

static bool grow(void *array, size_t capacity, size_t size) {
  void **to = array, *more = realloc(*to, capacity * size);
  if (more) *to = more;
  return more;
}

void cb_entries_note(cb_entries *e, int row, int column, double value) {
  if (e->next == e->capacity) {
    const size_t capacity = 2 * e->capacity + 1024;
    if (!grow(&e->row, capacity, sizeof *e->row) || !grow(&e->column, capacity, sizeof *e->column) ||
        !grow(&e->made, capacity, sizeof *e->made))
      e->lost = true;
    if (e->lost) return;
    e->capacity = capacity;
  }
  e->row[e->next] = row;
  e->column[e->next] = column;
  e->made[e->next++] = value;
}

/* Writes order[count] (NULL: 0, 1, ...) to out[count], sorted by key[order[t]], which is in [0, n). Items with equal
 * keys keep their order. */
static void sort_by(int n, const int *key, size_t count, const int *order, int *first, int *out) {
  memset(first, 0, ((size_t)n + 1) * sizeof *first);
  for (size_t t = 0; t < count; t++) first[key[t] + 1]++;
  for (int i = 0; i < n; i++) first[i + 1] += first[i];
  for (size_t t = 0; t < count; t++) {
    const int which = order ? order[t] : (int)t;
    out[first[key[which]]++] = which;
  }
}

static void merge(cb_entries *e, int n, const int *order, cb_columns *out) {
  int made = 0;
  for (size_t t = 0; t < e->next; t++) {
    const int now = order[t], before = order[t ? t - 1 : 0];
    if (!t || e->row[now] != e->row[before] || e->column[now] != e->column[before]) {
      out->row[made++] = e->row[now];
      out->start[e->column[now] + 1]++;
    }
    e->place[now] = made - 1;
    out->value[made - 1] += e->made[now];
  }
  for (int j = 0; j < n; j++) out->start[j + 1] += out->start[j];
  e->nonzeros = (size_t)made;
}

/* Frees the arrays of recorded entries; if `complete` is false, fails because memory has run out. */
static cb_status finish(cb_entries *e, int n, bool complete) {
  free(e->row);
  free(e->column);
  free(e->made);
  e->row = e->column = NULL;
  e->made = NULL;
  return complete ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a Newton matrix of %d unknowns", n);
}

cb_status cb_entries_fill(cb_entries *e, int n) {
  e->nonzeros = (size_t)n * (size_t)n;
  e->place = malloc((e->next + 1) * sizeof *e->place);
  const bool complete = !e->lost && e->place;
  for (size_t t = 0; complete && t < e->next; t++) e->place[t] = e->row[t] + e->column[t] * n;
  return finish(e, n, complete);
}

cb_status cb_entries_compress(cb_entries *e, int n, cb_arena *arena, cb_columns *out) {
  if (e->next > INT32_MAX)
    return cb_fail(CB_ERROR_UNSUPPORTED, "a Newton matrix of %d unknowns has too many entries; use another `solver`",
                   n);
  const size_t count = e->next;
  cb_arena *scratch = cb_arena_create();
  int *by_row = cb_arena_alloc(scratch, count, sizeof *by_row), *order = cb_arena_alloc(scratch, count, sizeof *order);
  int *first = cb_arena_alloc(scratch, (size_t)n + 1, sizeof *first);
  out->start = cb_arena_alloc(arena, (size_t)n + 1, sizeof *out->start);
  out->row = cb_arena_alloc(arena, count, sizeof *out->row);
  cb_arena_doubles(arena, count, &out->value);
  e->place = malloc((count + 1) * sizeof *e->place);
  const bool complete = !e->lost && e->place && !cb_arena_lost(scratch) && !cb_arena_lost(arena);
  if (complete) {
    sort_by(n, e->row, count, NULL, first, by_row);
    sort_by(n, e->column, count, by_row, first, order);
    merge(e, n, order, out);
  }
  cb_arena_free(scratch);
  return finish(e, n, complete);
}

void cb_entries_begin(cb_entries *e, double *value) {
  e->next = 0;
  e->value = value;
  memset(value, 0, e->nonzeros * sizeof *value);
}

void cb_entries_free(cb_entries *e) {
  free(e->place);
  free(e->row);
  free(e->column);
  free(e->made);
}

/* --- dense matrices (small.h) --- */

cb_status cb_dense_factor(int n, double *a, int *pivot) {
  const int k = cb_lu_factor(n, a, pivot);
  if (!k) return CB_OK;
  return cb_fail(CB_STEP_SINGULAR, "a matrix is singular: pivot %d of %d is %g", k, n, a[(k - 1) * (n + 1)]);
}

void cb_dense_solve(int n, const double *a, const int *pivot, double *x) { cb_lu_solve(n, a, pivot, x); }
