/* Blocks scattered to compressed columns; see stage_matrix.h.
 *
 * In the column of particle j the blocks stand in the order of their rows, so entry (r, c) of a block is at
 *   start[j B + c] + first[e] (+ its rank among the entries of that column of the block),
 * first[e] the number of entries in that column above the block. It depends on c only through the mask, so
 * it is counted as blocks above: `above[e]` of them off the diagonal, and whether the diagonal is among them.
 */
#include "integrators/stage_matrix.h"

#include "core/arena.h"
#include "numerics/sparse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct cb_stage_matrix {
  cb_arena *arena;
  int n, block;
  const int *column; /* of each entry of the pattern */
  const int *above;  /* blocks off the diagonal above the entry in its column */
  const bool *mask;  /* [B*B] */
  const int *rank;   /* [B*B] rank of a masked entry within its column of the block */
  const int *height; /* [B] masked entries of a column of the block */
  const int *start;  /* of the columns of the whole */
  cb_sparse *sparse;
};

/* Where column c of block e, in the row of particle i, begins. */
static inline int begin_of(const cb_stage_matrix *m, int i, int e, int c) {
  const int j = m->column[e];
  return m->start[j * m->block + c] + m->above[e] * m->height[c] + (j < i ? m->block : 0);
}

/* Of a block off the diagonal: its entries, the rank of each in its column, and how many a column has. */
static void rank_entries(int B, const bool *mask, bool *copy, int *rank, int *height) {
  for (int r = 0; r < B; r++)
    for (int c = 0; c < B; c++) {
      copy[r * B + c] = mask ? mask[r * B + c] : true;
      if (copy[r * B + c]) rank[r * B + c] = height[c]++;
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
  m->column = column, m->above = above, m->mask = copy, m->rank = rank, m->height = height, m->start = start;

  row = malloc((total + 1) * sizeof *row);
  value = calloc(total + 1, sizeof *value);
  if (!row || !value) goto no_memory;
  for (int i = 0; i < n; i++)
    for (int e = p->start[i]; e < p->start[i + 1]; e++)
      for (int c = 0; c < B; c++) {
        int *to = row + begin_of(m, i, e, c);
        for (int r = 0; r < B; r++) {
          if (column[e] == i) to[r] = i * B + r, value[begin_of(m, i, e, c) + r] = pivots[r * B + c];
          else if (copy[r * B + c]) to[rank[r * B + c]] = i * B + r;
        }
      }
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
  if (status) return cb_stage_matrix_free(m), status;
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
