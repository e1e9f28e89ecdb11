/* The far field's tree, its lists, and the near rows that are kept. */
#include "core/threads.h"
#include "potential/far_private.h"
#include "potential/panel_kernel.h"

#include <string.h>

/* Bytes of near rows of D that are kept; groups beyond compute theirs anew in each product. */
static const size_t kept_bytes = (size_t)2 << 30;

static size_t padded(int n) { return ((size_t)n + CB_TREE_CHUNK - 1) / CB_TREE_CHUNK * CB_TREE_CHUNK; }

static size_t work_doubles(void) { return CB_TREE_WORK + 3 * CB_TREE_LEAF * CB_TREE_COLUMNS + 6 * CB_TREE_LEAF; }
static size_t cb_far_work_bytes(void) { return work_doubles() * sizeof(double); }

cb_far_work *cb_far_work_create(cb_arena *arena, int threads) {
  cb_far_work *w = cb_arena_alloc(arena, (size_t)threads, sizeof *w);
  for (int i = 0; w && i < threads; i++) {
    double *p = cb_arena_alloc_aligned(arena, work_doubles(), sizeof *p, CB_CACHE_LINE);
    if (!p) return NULL;
    w[i].harmonics = p, p += CB_TREE_WORK;
    w[i].far = p, p += CB_TREE_LEAF * CB_TREE_COLUMNS;
    w[i].near = p, p += 2 * CB_TREE_LEAF * CB_TREE_COLUMNS;
    w[i].row = p;
  }
  return w;
}

/* The tree and the lists without what is filled into them: all that cb_far_bytes asks. */
static cb_status plan(const cb_panels *p, int solids, double error, cb_far **out) {
  if (!(error >= CB_FAR_ERROR_MIN && error <= CB_FAR_ERROR_MAX))
    return cb_fail(CB_ERROR_ARGUMENT, "an error of %g in the far field: expected %g to %g", error, CB_FAR_ERROR_MIN,
                   CB_FAR_ERROR_MAX);
  if (p->n < 1) return cb_fail(CB_ERROR_ARGUMENT, "a far field of no panels");
  cb_far *f = cb_arena_object(sizeof *f, "a far field");
  if (!f) return CB_ERROR_MEMORY;
  cb_tree_factors_fill(&f->factor);
  f->kernels = cb_tree_kernels_of_isa();
  f->threads = cb_threads_for((size_t)p->n * CB_TREE_LEAF);
  cb_far_choose(f, error);
  f->solids = solids;
  if (!cb_tree_build(f->arena, p->n, (const double(*)[3])p->centre, CB_TREE_LEAF, &f->tree) ||
      !(f->list = cb_arena_alloc(f->arena, (size_t)f->tree.groups, sizeof *f->list))) {
    cb_arena_free(f->arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a tree of %d panels", p->n);
  }
  cb_far_balls(&f->tree, p);
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 16)
  for (int g = 0; g < f->tree.groups; g++) cb_far_find(f, &f->tree.cell[f->tree.leaf[g]], &f->list[g]);
  *out = f;
  return CB_OK;
}

static size_t near_bytes(const cb_far *f, int g) {
  return (size_t)f->tree.cell[f->tree.leaf[g]].n * (size_t)f->list[g].panels * sizeof(double);
}

static size_t slope_doubles(const cb_far *f) {
  return f->solids < f->tree.n ? 3 * (size_t)f->tree.cells * cb_far_slope_size(f) : 0;
}

size_t cb_far_bytes(const cb_panels *p, int solids, double error) {
  cb_far *f;
  if (plan(p, solids, error, &f)) return 0;
  size_t kept = 0, bytes = 0;
  for (int g = 0; g < f->tree.groups; g++) {
    if (kept + near_bytes(f, g) <= kept_bytes) kept += near_bytes(f, g);
    bytes += (size_t)f->list[g].fars * sizeof(cb_far_cell) + (size_t)f->list[g].nears * sizeof(int);
  }
  const size_t n = padded(p->n);
  bytes += n * (size_t)(12 + 3 + 1) * sizeof(double) + (size_t)p->stride * CB_PANEL_LANES * sizeof(double);
  bytes += n / 8 * sizeof *f->block + n * (3 + 2 * CB_TREE_COLUMNS) * sizeof(double) + (size_t)p->n * sizeof(int) +
           (size_t)f->tree.cells * ((size_t)cb_far_terms(f) * CB_TREE_COLUMNS * sizeof(double) + sizeof *f->tree.cell) +
           (size_t)f->tree.groups * (sizeof *f->list + sizeof *f->tree.leaf) + (size_t)f->threads * cb_far_work_bytes();
  bytes += slope_doubles(f) * sizeof(double);
  cb_arena_free(f->arena);
  return bytes + kept;
}

/* The panels in the tree's order. */
static cb_status reorder(cb_far *f, const cb_panels *p) {
  cb_arena *arena = cb_arena_create();
  const size_t n = (size_t)p->n;
  double(*x)[3][3] = cb_arena_alloc(arena, n, sizeof *x);
  int(*face)[3] = cb_arena_alloc(arena, n, sizeof *face);
  cb_status status = CB_OK;
  if (!x || !face) status = cb_fail(CB_ERROR_MEMORY, "no memory to order %d panels", p->n);
  for (int j = 0; !status && j < p->n; j++) {
    memcpy(x[j], p->corner[f->tree.order[j]], sizeof *x);
    for (int k = 0; k < 3; k++) face[j][k] = 3 * j + k;
  }
  if (!status) status = cb_panels_create(p->n, (const double(*)[3])x, (const int(*)[3])face, &f->p);
  cb_arena_free(arena);
  return status;
}

/* As many as whole chunks have: those beyond have no area and the last one's place. */
static void fill_blocks(cb_far *f) {
  const cb_panels *p = f->p;
  for (int j = 0; j < (int)padded(f->tree.n); j++) {
    const int i = j < f->tree.n ? j : f->tree.n - 1, lane = j % 8;
    cb_tree_block *b = &f->block[j / 8];
    for (int a = 0; a < 3; a++) {
      b->corner[a][lane] = p->corner[i][0][a];
      b->corner[3 + a][lane] = p->corner[i][1][a] - p->corner[i][0][a];
      b->corner[6 + a][lane] = p->corner[i][2][a] - p->corner[i][0][a];
      b->normal[a][lane] = p->normal[i][a];
    }
    b->area[lane] = j < f->tree.n ? p->area[i] : 0;
    f->x[j] = p->centre[i][0], f->y[j] = p->centre[i][1], f->z[j] = p->centre[i][2];
  }
}

static void keep_near(const cb_far *f, int g) {
  const cb_far_list *list = &f->list[g];
  const cb_tree_cell *group = &f->tree.cell[f->tree.leaf[g]];
  double *D = list->D;
  for (int t = 0; t < group->n; t++)
    for (int i = 0; i < list->nears; i++) {
      const cb_tree_cell *leaf = &f->tree.cell[list->near[i]];
      cb_far_near_row(f, group, leaf, t, NULL, D);
      D += leaf->n;
    }
}

static bool take(cb_far *f) {
  size_t kept = 0;
  const size_t n = padded(f->tree.n);
  for (int g = 0; g < f->tree.groups; g++) {
    cb_far_list *list = &f->list[g];
    list->far = cb_arena_alloc(f->arena, (size_t)list->fars, sizeof *list->far);
    list->near = cb_arena_alloc(f->arena, (size_t)list->nears, sizeof *list->near);
    if (kept + near_bytes(f, g) > kept_bytes) continue;
    kept += near_bytes(f, g);
    list->D = cb_arena_alloc(f->arena, near_bytes(f, g), 1);
  }
  f->block = cb_arena_alloc_aligned(f->arena, n / 8, sizeof *f->block, CB_CACHE_LINE);
  cb_arena_doubles(f->arena, n, &f->x, &f->y, &f->z);
  cb_arena_doubles(f->arena, n * CB_TREE_COLUMNS, &f->sigma, &f->mu);
  f->moments = cb_arena_alloc_aligned(f->arena, (size_t)f->tree.cells * (size_t)cb_far_terms(f) * CB_TREE_COLUMNS,
                                      sizeof(double), CB_CACHE_LINE);
  if (slope_doubles(f)) f->slopes = cb_arena_alloc_aligned(f->arena, slope_doubles(f), sizeof(double), CB_CACHE_LINE);
  f->work = cb_far_work_create(f->arena, f->threads);
  return !cb_arena_lost(f->arena);
}

void cb_far_free(cb_far *f) {
  if (!f) return;
  cb_panels_free(f->p);
  cb_arena_free(f->arena);
}

cb_status cb_far_create(const cb_panels *p, double error, cb_far **out) {
  return cb_far_create_sheets(p, p->n, error, out);
}

cb_status cb_far_create_sheets(const cb_panels *p, int solids, double error, cb_far **out) {
  cb_far *f;
  cb_status status = plan(p, solids, error, &f);
  if (status) return status;
  status = take(f) ? cb_far_rules(f) : cb_fail(CB_ERROR_MEMORY, "no memory for the far field of %d panels", p->n);
  if (!status) status = reorder(f, p);
  if (status) {
    cb_far_free(f);
    return status;
  }
  fill_blocks(f);
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 4)
  for (int g = 0; g < f->tree.groups; g++) {
    cb_far_list *list = &f->list[g];
    cb_tree_cell *leaf = &f->tree.cell[f->tree.leaf[g]];
    list->fars = list->nears = list->panels = 0;
    cb_far_find(f, leaf, list);
    if (list->D) keep_near(f, g);
    leaf->rule = cb_far_rule_of(f, leaf);
  }
  *out = f;
  return CB_OK;
}

int cb_far_groups(const cb_far *f) { return f->tree.groups; }

void cb_far_group(const cb_far *f, int g, int *first, int *n, const int **numbers) {
  const cb_tree_cell *c = &f->tree.cell[f->tree.leaf[g]];
  *first = c->first;
  *n = c->n;
  *numbers = f->tree.order + c->first;
}
