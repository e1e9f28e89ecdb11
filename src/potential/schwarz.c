/* The Schwarz preconditioner (linear_solvers.h). The inverses of the blocks are stored, so that the preconditioner is
 * applied by products of small matrices.
 */
#include "potential/linear_solvers.h"

#include "core/threads.h"
#include "potential/tree_kernels.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 3 * CB_TREE_LEAF }; /* maximum number of panels in a block: the group and those around it */

typedef struct block {
  int n, own, *numbers; /* [n]: the panels of the block; the group's own panels come first */
  double *inverse;      /* [own][n] */
} block;

struct cb_schwarz {
  cb_arena *arena;
  int panels, blocks;
  block *block;
  const cb_tree_kernels *kernels;
};

typedef struct task {
  const cb_schwarz *s;
  cb_schwarz_row row;
  const void *context;
  atomic_int failed; /* the first block that is singular or for which there was no memory */
  int columns;
  const double *x;
  double *out;
} task;

/* Computes the rows of the inverse of a block. The transpose is factored, because its solutions for unit vectors are
 * these rows. */
static cb_status invert(const task *t, block *b) {
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
  task *t = context;
  for (int g = begin; g < end; g++)
    if (invert(t, &t->s->block[g])) cb_threads_least(&t->failed, g);
}

static void apply_blocks(void *context, int begin, int end) {
  const task *t = context;
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

void cb_schwarz_apply(const cb_schwarz *s, int columns, const double *x, double *out) {
  task t = {.s = s, .columns = columns, .x = x, .out = out};
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

cb_status cb_schwarz_create(const cb_far *f, int panels, cb_schwarz_row row, const void *context, cb_schwarz **out) {
  cb_schwarz *s = cb_arena_object(sizeof *s, "blocks of neighbouring panels");
  if (!s) return CB_ERROR_MEMORY;
  s->panels = panels;
  s->blocks = cb_far_groups(f);
  s->kernels = cb_tree_kernels_of_isa();
  cb_status status = take(s, f) ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for blocks of %d panels", panels);
  if (!status) {
    task t = {.s = s, .row = row, .context = context, .failed = s->blocks};
    cb_threads_range(threads_of(s), s->blocks, invert_blocks, &t);
    if (t.failed < s->blocks) status = invert(&t, &s->block[t.failed]);
  }
  if (status) {
    cb_schwarz_free(s);
    return status;
  }
  *out = s;
  return CB_OK;
}

void cb_schwarz_free(cb_schwarz *s) {
  if (s) cb_arena_free(s->arena);
}

/* Each panel has one row, and all groups except the last are at least half full. */
size_t cb_schwarz_bytes(int panels) {
  const size_t blocks = 2 * (size_t)panels / CB_TREE_LEAF + 1;
  return (size_t)panels * BLOCK * sizeof(double) + blocks * (BLOCK * sizeof(int) + sizeof(block));
}
