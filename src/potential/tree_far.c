/* Makes the tree of the far field (far.h), its lists of far and near cells, and the stored near rows. Also searches for
 * panels with the tree. */
#include "potential/tree_kernels.h"

#include "core/threads.h"
#include "numerics/vec3.h"
#include "potential/panel_kernel.h"

#include <math.h>
#include <string.h>

/* --- the tree ---
 *
 * These functions build a binary tree over points. Points with the same coordinate are ordered by their indices, so the
 * points alone determine the tree.
 */

/* Adds a cell of n points at this level, and all cells below it, to the numbers of cells, groups (leaves) and levels in
 * t. A leaf has at most `maximum` points. */
static void count(int n, int maximum, int level, cb_panel_tree *t) {
  t->cells++;
  if (level >= t->levels) t->levels = level + 1;
  if (n <= maximum) {
    t->groups++;
    return;
  }
  const int left = (n / 2 + CB_TREE_CHUNK - 1) / CB_TREE_CHUNK * CB_TREE_CHUNK;
  count(left, maximum, level + 1, t);
  count(n - left, maximum, level + 1, t);
}

static bool before(const double (*x)[3], int axis, int a, int b) {
  return x[a][axis] < x[b][axis] || (a < b && x[a][axis] == x[b][axis]);
}

/* Reorders order[0..n) so that the k points with the smallest coordinates along the axis come first (Hoare's
 * selection). */
static void select_first(const double (*x)[3], int axis, int *order, int n, int k) {
  int low = 0, high = n - 1;
  while (low < high) {
    const int pivot = order[low + (high - low) / 2];
    int i = low, j = high;
    while (i <= j) {
      while (before(x, axis, order[i], pivot)) i++;
      while (before(x, axis, pivot, order[j])) j--;
      if (i > j) break;
      const int swap = order[i];
      order[i++] = order[j];
      order[j--] = swap;
    }
    if (k <= j)
      high = j;
    else if (k >= i)
      low = i;
    else
      return;
  }
}

static void box(const double (*x)[3], const int *order, cb_tree_cell *c) {
  for (int a = 0; a < 3; a++) {
    c->low[a] = INFINITY;
    c->high[a] = -INFINITY;
    for (int i = c->first; i < c->first + c->n; i++) {
      c->low[a] = fmin(c->low[a], x[order[i]][a]);
      c->high[a] = fmax(c->high[a], x[order[i]][a]);
    }
  }
}

static void split(const double (*x)[3], cb_panel_tree *t, cb_tree_cell *c, int *cells) {
  int axis = 0;
  for (int a = 1; a < 3; a++)
    if (c->high[a] - c->low[a] > c->high[axis] - c->low[axis]) axis = a;
  const int left = (c->n / 2 + CB_TREE_CHUNK - 1) / CB_TREE_CHUNK * CB_TREE_CHUNK;
  select_first(x, axis, t->order + c->first, c->n, left);
  c->child = *cells;
  t->cell[(*cells)++] = (cb_tree_cell){.first = c->first, .n = left};
  t->cell[(*cells)++] = (cb_tree_cell){.first = c->first + left, .n = c->n - left};
}

static void list_leaves(cb_panel_tree *t, int cell, int *leaves) {
  const int child = t->cell[cell].child;
  if (!child) {
    t->leaf[(*leaves)++] = cell;
    return;
  }
  list_leaves(t, child, leaves);
  list_leaves(t, child + 1, leaves);
}

bool cb_tree_build(cb_arena *arena, int n, const double (*x)[3], int leaf, cb_panel_tree *out) {
  cb_panel_tree t = {.n = n};
  count(n, leaf, 0, &t);
  t.order = cb_arena_alloc(arena, (size_t)n, sizeof *t.order);
  t.leaf = cb_arena_alloc(arena, (size_t)t.groups, sizeof *t.leaf);
  t.cell = cb_arena_alloc(arena, (size_t)t.cells, sizeof *t.cell);
  if (!t.order || !t.leaf || !t.cell) return false;
  for (int i = 0; i < n; i++) t.order[i] = i;
  t.cell[0] = (cb_tree_cell){.n = n};
  int cells = 1, done = 0;
  for (int l = 0; l < t.levels; l++) {
    t.level[l] = done;
    for (const int end = cells; done < end; done++) {
      box(x, t.order, &t.cell[done]);
      if (t.cell[done].n > leaf) split(x, &t, &t.cell[done], &cells);
    }
  }
  t.level[t.levels] = cells;
  int leaves = 0;
  list_leaves(&t, 0, &leaves);
  *out = t;
  return true;
}

/* Returns the distance of x from the bounding box of a cell's points. */
static double tree_distance(const cb_tree_cell *c, const double x[3]) {
  double square = 0;
  for (int a = 0; a < 3; a++) {
    const double d = fmax(fmax(c->low[a] - x[a], x[a] - c->high[a]), 0);
    square += d * d;
  }
  return sqrt(square);
}

/* --- the far field --- */

/* Far and near cells.
 *
 * The moments of a cell of radius a are used up to a degree p. At a distance of at least r the potential then has a
 * relative error of about (a/r)^(p + 1). Each pair of a cell and a group uses the lowest p for which this error is
 * below the allowed relative error. If no p up to f->order is sufficient, the cell is replaced by its children. A leaf
 * has no children and is then near. */

/* A pair may have a relative error of share_per_error times `error` (measured, tests/potential/test_far.c). With the
 * value 1 the error is met for random and smooth densities on spheres of up to 1e5 panels (where the bound is sharp),
 * on discs and on pairs of spheres. */
static const double share_per_error = 1;
const double cb_far_opening = 0.42;

/* Chooses the highest order of the harmonics for the relative error `error` of the potential. */
static void choose_order(cb_far *f, double error) {
  f->log_share = log(share_per_error * error);
  f->order = (int)ceil(f->log_share / log(cb_far_opening)) - 1;
}

/* Returns the lowest order of harmonics whose relative error is below exp(log_share), or CB_TREE_ORDER + 1 if there is
 * none. `ratio` is the radius a of the cell divided by the distance r at which the cell is evaluated. */
static int order_of(double log_share, double ratio) {
  const double order = ratio < 1 ? ceil(log_share / log(ratio)) - 1 : INFINITY;
  return order < 1 ? 1 : order > CB_TREE_ORDER ? CB_TREE_ORDER + 1 : (int)order;
}

void cb_far_find(const cb_far *f, const cb_tree_cell *points, cb_far_list *out) {
  int stack[2 * CB_TREE_LEVELS], top = 0;
  stack[top++] = 0;
  while (top) {
    const int i = stack[--top];
    const cb_tree_cell *c = &f->tree.cell[i];
    const double ratio = c->radius / tree_distance(points, c->centre);
    const int order = order_of(f->log_share, ratio);
    if (order <= f->order) {
      if (out->far) out->far[out->fars] = (cb_far_cell){i, order};
      out->fars++;
    } else if (c->child) {
      stack[top++] = c->child + 1;
      stack[top++] = c->child;
    } else {
      if (out->near) out->near[out->nears] = i;
      out->nears++;
      out->panels += c->n;
    }
  }
}

/* The stored near rows of D take at most this number of bytes. Groups whose rows do not fit compute them in each
 * product. */
static const size_t kept_bytes = (size_t)2 << 30;

static size_t padded(int n) { return ((size_t)n + CB_TREE_CHUNK - 1) / CB_TREE_CHUNK * CB_TREE_CHUNK; }

static size_t work_doubles(void) { return CB_TREE_WORK + 3 * CB_TREE_LEAF * CB_TREE_COLUMNS + 6 * CB_TREE_LEAF; }
static size_t cb_far_work_bytes(void) { return work_doubles() * sizeof(double); }

cb_far_work *cb_far_work_create(cb_arena *arena, int threads) {
  cb_far_work *w = cb_arena_alloc(arena, (size_t)threads, sizeof *w);
  for (int i = 0; w && i < threads; i++) {
    double *p = cb_arena_alloc_aligned(arena, work_doubles(), sizeof *p, CB_CACHE_LINE);
    if (!p) return NULL;
    w[i].harmonics = p;
    p += CB_TREE_WORK;
    w[i].far = p;
    p += CB_TREE_LEAF * CB_TREE_COLUMNS;
    w[i].near = p;
    p += 2 * CB_TREE_LEAF * CB_TREE_COLUMNS;
    w[i].row = p;
  }
  return w;
}

/* Makes the tree and counts the cells of the lists, but does not fill the lists. cb_far_bytes needs only this. */
static cb_status plan(const cb_panels *p, int solids, double error, cb_far **out) {
  if (!(error >= CB_FAR_ERROR_MIN && error <= CB_FAR_ERROR_MAX))
    return cb_fail(CB_ERROR_ARGUMENT, "error %g of the far field: expected %g to %g", error, CB_FAR_ERROR_MIN,
                   CB_FAR_ERROR_MAX);
  if (p->n < 1) return cb_fail(CB_ERROR_ARGUMENT, "a far field: expected at least one panel");
  cb_far *f = cb_arena_object(sizeof *f, "a far field");
  if (!f) return CB_ERROR_MEMORY;
  cb_tree_factors_fill(&f->factor);
  f->kernels = cb_tree_kernels_of_isa();
  f->threads = cb_threads_for((size_t)p->n * CB_TREE_LEAF);
  choose_order(f, error);
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

/* Puts the panels into the order of the tree. */
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

/* Fills the blocks with the panels in the order of the tree. To fill the last chunk, copies of the last panel with the
 * area 0 follow. */
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
    f->x[j] = p->centre[i][0];
    f->y[j] = p->centre[i][1];
    f->z[j] = p->centre[i][2];
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

/* --- the panel on which a point lies, and the panels near a group, by the balls of the tree --- */

static double squared_distance(const double x[3], const double y[3]) {
  const double d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]};
  return cb_dot3(d, d);
}

/* Returns the squared distance of x from the nearest point sum_k weight_k corner_k of a triangle, and sets the
 * weights. */
static double nearest_point(const double corner[3][3], const double normal[3], const double x[3], double weight[3]) {
  double least = INFINITY, inner[3], sum = 0, fewest = INFINITY;
  for (int k = 0; k < 3; k++) {
    double n2[3];
    cb_normal3(x, corner[(k + 1) % 3], corner[(k + 2) % 3], n2);
    inner[k] = cb_dot3(n2, normal);
    sum += inner[k];
    fewest = fmin(fewest, inner[k]);
  }
  if (fewest >= 0) {
    const double d[3] = {x[0] - corner[0][0], x[1] - corner[0][1], x[2] - corner[0][2]}, h = cb_dot3(d, normal);
    for (int k = 0; k < 3; k++) weight[k] = inner[k] / sum;
    return h * h;
  }
  for (int k = 0; k < 3; k++) {
    const double *a = corner[k], *b = corner[(k + 1) % 3], along[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
                 d[3] = {x[0] - a[0], x[1] - a[1], x[2] - a[2]},
                 t = fmin(fmax(cb_dot3(d, along) / cb_dot3(along, along), 0), 1),
                 y[3] = {a[0] + t * along[0], a[1] + t * along[1], a[2] + t * along[2]},
                 square = squared_distance(x, y);
    if (square >= least) continue;
    least = square;
    weight[k] = 1 - t;
    weight[(k + 1) % 3] = t;
    weight[(k + 2) % 3] = 0;
  }
  return least;
}

int cb_far_panel(const cb_far *f, double share, const double x[3], double weight[3]) {
  int stack[CB_TREE_LEVELS + 1] = {0}, waiting = 1, best = -1;
  double least = INFINITY;
  while (waiting > 0) {
    const cb_tree_cell *c = &f->tree.cell[stack[--waiting]];
    /* `share` is relative to the square root of the area of a triangle. A triangle in a ball of radius 1 has an area
     * below 1.3, and sqrt(1.3) is about 1.14. */
    const double reach = c->radius * (1 + 1.14 * share);
    if (!(squared_distance(x, c->centre) <= reach * reach)) continue;
    if (c->child) {
      stack[waiting++] = c->child;
      stack[waiting++] = c->child + 1;
      continue;
    }
    for (int j = c->first; j < c->first + c->n; j++) {
      double at[3] = {0};
      const double square = nearest_point((const double(*)[3])f->p->corner[j], f->p->normal[j], x, at);
      if (square > share * share * f->p->area[j] || square >= least) continue;
      least = square;
      best = f->tree.order[j];
      for (int k = 0; k < 3; k++) weight[k] = at[k];
    }
  }
  return best;
}

/* Keeps the nearest panels that were found so far sorted by distance. */
int cb_far_near(const cb_far *f, int g, int maximum, int *numbers) {
  const cb_tree_cell *group = &f->tree.cell[f->tree.leaf[g]];
  double distance[CB_TREE_LEAF * 8];
  int n = 0;
  const int capacity = maximum < CB_TREE_LEAF * 8 ? maximum : CB_TREE_LEAF * 8;
  for (; n < group->n && n < capacity; n++) {
    numbers[n] = f->tree.order[group->first + n];
    distance[n] = -1;
  }
  for (int i = 0; i < f->list[g].nears; i++) {
    const cb_tree_cell *leaf = &f->tree.cell[f->list[g].near[i]];
    for (int j = leaf->first; j < leaf->first + leaf->n && leaf != group; j++) {
      const double d = tree_distance(group, f->p->centre[j]);
      if (n == capacity && !(d < distance[n - 1])) continue;
      int at = n < capacity ? n++ : n - 1;
      for (; at > group->n && d < distance[at - 1]; at--) {
        distance[at] = distance[at - 1];
        numbers[at] = numbers[at - 1];
      }
      distance[at] = d;
      numbers[at] = f->tree.order[j];
    }
  }
  return n;
}
