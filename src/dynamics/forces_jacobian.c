/* The pattern and the values of dF/dx and dF/dv, in blocks of k x k. */
#include "dynamics/forces_private.h"
#include <stdlib.h>
#include <string.h>

int cb_pattern_find(const cb_pattern *p, int i, int j) {
  int low = p->start[i], high = p->start[i + 1] - 1;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (p->column[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void cb_forces_add_block(const cb_forces *f, const double *hessian, int row, int column, double *block) {
  int k = f->system->k, n = 2 * k;
  for (int a = 0; a < k; a++)
    for (int b = 0; b < k; b++) block[a * k + b] += f->raise[a] * hessian[(row * k + a) * n + column * k + b];
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Calls visit(i, j) for every pair that a force or a constraint couples, both ways, repetitions included. */
static void for_each_pair(const cb_system *s, void (*visit)(int i, int j, void *self), void *self) {
  for (int e = 0; e < s->n_springs; e++) {
    visit(s->spring_i[e], s->spring_j[e], self);
    visit(s->spring_j[e], s->spring_i[e], self);
  }
  for (int r = 0; r < s->n_constraints; r++) {
    const cb_constraint *row = &s->constraint[r];
    for (int e = 0; e < row->elements; e++)
      for (int a = 0; a < row->width; a++)
        for (int b = 0; b < row->width; b++)
          if (a != b) visit(row->particle[e * row->width + a], row->particle[e * row->width + b], self);
  }
  for (int q = 0; q < s->n_interactions; q++) {
    const cb_interaction *x = &s->interaction[q];
    for (int a = 0; a < x->a.n; a++)
      for (int b = 0; b < x->b.n; b++) {
        visit(x->a.particle[a], x->b.particle[b], self);
        if (!x->same) visit(x->b.particle[b], x->a.particle[a], self);
      }
  }
}

static void count(int i, int j, void *self) {
  (void)j;
  ((size_t *)self)[i]++;
}

typedef struct fill_state {
  size_t *end;
  int *column;
} fill_state;

static void fill(int i, int j, void *self) {
  fill_state *s = self;
  s->column[s->end[i]++] = j;
}

/* Rows with repetitions in `all`, sorted and made unique into the pattern. */
static cb_status make_pattern(cb_forces *f) {
  const cb_system *s = f->system;
  size_t n = (size_t)s->n, *start = calloc(n + 1, sizeof *start), *end = calloc(n + 1, sizeof *end);
  if (!start || !end) goto no_memory;
  for (size_t i = 0; i < n; i++) start[i] = 1; /* the diagonal */
  for_each_pair(s, count, start);
  size_t total = 0;
  for (size_t i = 0; i <= n; i++) {
    size_t here = start[i];
    start[i] = end[i] = total;
    total += i < n ? here : 0;
  }
  int *all = malloc(total * sizeof *all);
  int *row = cb_arena_alloc(f->arena, n + 1, sizeof *row);
  f->spring_block = cb_arena_alloc(f->arena, 4 * (size_t)s->n_springs, sizeof(int));
  if (!all || !row || !f->spring_block || total > INT32_MAX) {
    free(all);
    goto no_memory;
  }
  for (size_t i = 0; i < n; i++) all[end[i]++] = (int)i;
  for_each_pair(s, fill, &(fill_state){end, all});
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    size_t first = start[i], last = end[i];
    qsort(all + first, last - first, sizeof *all, ascending);
    row[i] = (int)kept;
    for (size_t c = first; c < last; c++)
      if (c == first || all[c] != all[c - 1]) all[kept++] = all[c];
  }
  row[n] = (int)kept;
  int *column = cb_arena_alloc(f->arena, kept, sizeof *column);
  if (!column) {
    free(all);
    goto no_memory;
  }
  memcpy(column, all, kept * sizeof *column);
  free(all);
  free(start);
  free(end);
  f->pattern = (cb_pattern){s->n, s->k, row, column};
  for (int e = 0; e < s->n_springs; e++) {
    int i = s->spring_i[e], j = s->spring_j[e], *block = f->spring_block + 4 * e;
    block[0] = cb_pattern_find(&f->pattern, i, i);
    block[1] = cb_pattern_find(&f->pattern, i, j);
    block[2] = cb_pattern_find(&f->pattern, j, i);
    block[3] = cb_pattern_find(&f->pattern, j, j);
  }
  return CB_OK;
no_memory:
  free(start);
  free(end);
  return cb_fail(CB_ERROR_MEMORY, "no memory for the Jacobian of %d particles", s->n);
}

const cb_pattern *cb_forces_pattern(cb_forces *f) {
  if (!f->pattern.start && make_pattern(f)) return NULL;
  return &f->pattern;
}

cb_status cb_forces_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv) {
  if (!cb_forces_pattern(f)) return CB_ERROR_MEMORY;
  size_t bytes =
      (size_t)f->pattern.start[f->pattern.n] * (size_t)(f->pattern.block * f->pattern.block) * sizeof(double);
  memset(dx, 0, bytes);
  if (dv) memset(dv, 0, bytes);
  cb_status status = cb_springs_part_jacobian(f, x, v, dx, dv);
  if (!status) status = cb_interactions_jacobian(f, t, x, dx);
  if (!status) status = cb_centrals_jacobian(f, t, x, dx);
  if (!status) status = cb_fields_jacobian(f, t, x, dx);
  if (!status) status = cb_generalised_jacobian(f, t, x, v, dx, dv);
  return status;
}
