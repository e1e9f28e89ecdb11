/* Potential and velocity at any points: these have a tree of their own, whose leaves are the groups. */
#include "core/threads.h"
#include "potential/far_private.h"

#include <omp.h>
#include <string.h>

/* v_a = sum of slopes along axis `axis` of columns `column`, times sign: rot (0, 1, 2) + grad 3. */
static const struct {
  int axis, column, sign;
} velocity[3][3] = {
    {{1, 2, 1}, {2, 1, -1}, {0, 3, 1}}, {{2, 0, 1}, {0, 2, -1}, {1, 3, 1}}, {{0, 1, 1}, {1, 0, -1}, {2, 3, 1}}};

struct cb_far_field {
  cb_arena *arena;
  const cb_far *f;
  cb_far_kind kind;
  int rows;                 /* of moments and of results */
  const double *sigma, *mu; /* rows, or NULL */
  size_t terms;
  double *moments;   /* of each cell, finished */
  cb_far_list *list; /* of each thread, long enough for any group */
  cb_far_work *work;
};

/* Points of one call. */
typedef struct call {
  const cb_far_field *a;
  cb_arena *arena;
  cb_panel_tree tree;
  int points;
  const double (*x)[3];
  double *at[3]; /* in the tree's order, padded */
  double *out;
} call;

/* --- densities --- */

/* Moments of the velocity of those of four columns. */
static void velocity_moments(const cb_far *f, int cell, double *const slope[3], double *to) {
  const int order = f->order + 1;
  cb_tree_gradient(f->order, cb_far_moments_of(f, cell), slope);
  for (int t = 0; t < (order + 1) * (order + 1); t++)
    for (int a = 0; a < 3; a++) {
      double sum = 0;
      for (int i = 0; i < 3; i++)
        sum += velocity[a][i].sign * slope[velocity[a][i].axis][t * CB_TREE_COLUMNS + velocity[a][i].column];
      to[t * CB_TREE_COLUMNS + a] = sum;
    }
  cb_far_finish(&f->factor, order, f->tree.cell[cell].radius * f->tree.cell[cell].radius, to, to);
}

static void keep_moments(cb_far_field *a, double *slopes) {
  const cb_far *f = a->f;
  const size_t size = a->terms * CB_TREE_COLUMNS;
#pragma omp parallel for num_threads(f->threads) schedule(static)
  for (int i = 0; i < f->tree.cells; i++) {
    double *own = slopes + (size_t)omp_get_thread_num() * 3 * size, *to = a->moments + (size_t)i * size;
    if (a->kind == CB_FAR_VELOCITY)
      velocity_moments(f, i, (double *[]){own, own + size, own + 2 * size}, to);
    else
      cb_far_finish(&f->factor, f->order, f->tree.cell[i].radius, cb_far_moments_of(f, i), to);
  }
}

static double *copy_of(cb_arena *arena, size_t n, const double *rows) {
  double *to = cb_arena_alloc_aligned(arena, n * CB_TREE_COLUMNS, sizeof *to, CB_CACHE_LINE);
  if (to) memcpy(to, rows, n * CB_TREE_COLUMNS * sizeof *to);
  return to;
}

cb_status cb_far_field_create(cb_far *f, cb_far_kind kind, int columns, const double *sigma, const double *mu,
                              cb_far_field **out) {
  if (columns < 1 || columns > CB_TREE_COLUMNS || (kind == CB_FAR_VELOCITY && columns != 4))
    return cb_fail(CB_ERROR_ARGUMENT, "a field of %d columns", columns);
  cb_far_field *a = cb_arena_object(sizeof *a, "a field of panels");
  if (!a) return CB_ERROR_MEMORY;
  const size_t n = (size_t)f->tree.n, cells = (size_t)f->tree.cells, order = (size_t)f->order + 1;
  a->f = f, a->kind = kind, a->rows = kind == CB_FAR_VELOCITY ? 3 : columns;
  a->terms = (order + 1) * (order + 1);
  a->moments = cb_arena_alloc_aligned(a->arena, cells * a->terms * CB_TREE_COLUMNS, sizeof(double), CB_CACHE_LINE);
  a->list = cb_arena_alloc(a->arena, (size_t)f->threads, sizeof *a->list);
  a->work = cb_far_work_create(a->arena, f->threads);
  for (int i = 0; a->list && i < f->threads; i++) {
    a->list[i].far = cb_arena_alloc(a->arena, cells, sizeof *a->list[i].far);
    a->list[i].near = cb_arena_alloc(a->arena, (size_t)f->tree.groups, sizeof *a->list[i].near);
  }
  cb_arena *some = cb_arena_create();
  double *slopes = NULL;
  cb_arena_doubles(some, (size_t)f->threads * 3 * a->terms * CB_TREE_COLUMNS, &slopes);
  if (!cb_arena_lost(a->arena) && slopes) {
    cb_far_moments(f, columns, sigma, mu);
    if (sigma) a->sigma = copy_of(a->arena, n, f->sigma);
    if (mu) a->mu = copy_of(a->arena, n, f->mu);
    keep_moments(a, slopes);
  }
  const bool good = slopes && !cb_arena_lost(a->arena);
  cb_arena_free(some);
  if (!good) {
    cb_far_field_free(a);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the field of %d panels", f->tree.n);
  }
  *out = a;
  return CB_OK;
}

void cb_far_field_free(cb_far_field *a) {
  if (a) cb_arena_free(a->arena);
}

/* --- points --- */

static cb_status open_call(call *c) {
  c->arena = cb_arena_create();
  const size_t n = (size_t)c->points + CB_TREE_CHUNK;
  bool good = c->arena && cb_tree_build(c->arena, c->points, c->x, CB_TREE_CHUNK, &c->tree);
  if (good) cb_arena_doubles(c->arena, n, &c->at[0], &c->at[1], &c->at[2]);
  if (!good || cb_arena_lost(c->arena)) {
    cb_arena_free(c->arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the flow at %d points", c->points);
  }
  for (size_t j = 0; j < n; j++)
    for (int k = 0; k < 3; k++) c->at[k][j] = c->x[c->tree.order[j < (size_t)c->points ? j : (size_t)c->points - 1]][k];
  return CB_OK;
}

/* Number `row` of the results of point i. */
static double *result(const call *c, int row, int i) {
  return c->a->kind == CB_FAR_VELOCITY ? c->out + 3 * (size_t)i + row
                                       : c->out + (size_t)row * (size_t)c->points + (size_t)i;
}

static void far_of(const call *c, const cb_tree_cell *group, const cb_far_list *list, const cb_far_work *w) {
  const cb_far *f = c->a->f;
  const int more = c->a->kind == CB_FAR_VELOCITY;
  memset(w->far, 0, (size_t)c->a->rows * CB_TREE_LEAF * sizeof *w->far);
  for (int i = 0; i < list->fars; i++) {
    const cb_tree_cell *cell = &f->tree.cell[list->far[i].cell];
    f->kernels->evaluate(&f->factor, list->far[i].order + more, c->a->rows,
                         c->a->moments + (size_t)list->far[i].cell * c->a->terms * CB_TREE_COLUMNS, cell->centre,
                         1 / cell->radius, group->n, c->at[0] + group->first, c->at[1] + group->first,
                         c->at[2] + group->first, w->far, w->harmonics);
  }
  for (int k = 0; k < c->a->rows; k++)
    for (int t = 0; t < group->n; t++) *result(c, k, c->tree.order[group->first + t]) = w->far[k * CB_TREE_LEAF + t];
}

static void near_potential(const cb_far_field *a, const cb_tree_cell *leaf, const double x[3], double *row,
                           double *sum) {
  const size_t first = (size_t)leaf->first * CB_TREE_COLUMNS;
  double *S = a->sigma ? row : NULL, *D = a->mu ? row + CB_TREE_LEAF : NULL;
  cb_panels_range(a->f->p, x, leaf->first, leaf->n, -1, S, D);
  if (S) a->f->kernels->rows(1, leaf->n, 0, S, a->sigma + first, sum);
  if (D) a->f->kernels->rows(1, leaf->n, 0, D, a->mu + first, sum);
}

static void near_velocity(const cb_far_field *a, const cb_tree_cell *leaf, const double x[3], double *row,
                          double *slope) {
  const size_t first = (size_t)leaf->first * CB_TREE_COLUMNS;
  double *S = a->sigma ? row : NULL, *D = a->mu ? row + 3 * CB_TREE_LEAF : NULL;
  cb_panels_gradients(a->f->p, x, leaf->first, leaf->n, CB_TREE_LEAF, S, D);
  if (S) a->f->kernels->rows(3, leaf->n, CB_TREE_LEAF, S, a->sigma + first, slope);
  if (D) a->f->kernels->rows(3, leaf->n, CB_TREE_LEAF, D, a->mu + first, slope);
}

static void near_of(const call *c, const cb_tree_cell *group, const cb_far_list *list, const cb_far_work *w) {
  const cb_far_field *a = c->a;
  for (int t = 0; t < group->n; t++) {
    const int number = c->tree.order[group->first + t];
    double sum[3 * CB_TREE_COLUMNS] = {0};
    for (int i = 0; i < list->nears; i++) {
      const cb_tree_cell *leaf = &a->f->tree.cell[list->near[i]];
      (a->kind == CB_FAR_VELOCITY ? near_velocity : near_potential)(a, leaf, c->x[number], w->row, sum);
    }
    for (int k = 0; k < a->rows; k++) {
      double *to = result(c, k, number);
      if (a->kind == CB_FAR_POTENTIAL) *to += sum[k];
      for (int i = 0; i < 3 && a->kind == CB_FAR_VELOCITY; i++)
        *to += velocity[k][i].sign * sum[velocity[k][i].axis * CB_TREE_COLUMNS + velocity[k][i].column];
    }
  }
}

static void list_of(const cb_far_field *a, const cb_tree_cell *group, cb_far_list *list) {
  list->fars = list->nears = list->panels = 0;
  cb_far_find(a->f, group, list);
}

/* A cell at half a chunk of points takes about as long as a leaf at one. */
static double work_of(const cb_far_list *list, int points) {
  const int halves = (points + CB_TREE_CHUNK / 2 - 1) / (CB_TREE_CHUNK / 2);
  return (double)list->fars * halves + (double)list->nears * points;
}

/* Points that are far from each other are groups of their own. */
static void group_field(const call *c, int g, int thread) {
  const cb_tree_cell *group = &c->tree.cell[c->tree.leaf[g]];
  const cb_far_work *work = &c->a->work[thread];
  cb_far_list *list = &c->a->list[thread];
  list_of(c->a, group, list);
  const double together = work_of(list, group->n);
  bool alone = false;
  for (int t = 0; t < group->n; t++) {
    const double *x = c->x[c->tree.order[group->first + t]];
    const cb_tree_cell point = {
        .first = group->first + t, .n = 1, .low = {x[0], x[1], x[2]}, .high = {x[0], x[1], x[2]}};
    list_of(c->a, &point, list);
    if (t == 0) alone = together > group->n * work_of(list, 1);
    if (!alone) break;
    far_of(c, &point, list, work);
    near_of(c, &point, list, work);
  }
  if (alone) return;
  list_of(c->a, group, list);
  far_of(c, group, list, work);
  near_of(c, group, list, work);
}

cb_status cb_far_field_at(cb_far_field *a, int points, const double (*x)[3], double *out) {
  if (points < 1) return CB_OK;
  call c = {.a = a, .x = x, .points = points, .out = out};
  const cb_status status = open_call(&c);
  if (status) return status;
#pragma omp parallel for num_threads(cb_threads_for((size_t)points *CB_TREE_LEAF) > 1 ? a->f->threads : 1) \
    schedule(dynamic, 1)
  for (int g = 0; g < c.tree.groups; g++) group_field(&c, g, omp_get_thread_num());
  cb_arena_free(c.arena);
  return CB_OK;
}
