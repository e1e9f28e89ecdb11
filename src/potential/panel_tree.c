/* This file builds a binary tree over points. Points with the same coordinate are ordered by their indices, so the
 * points alone determine the tree.
 */
#include "potential/tree_kernels.h"

#include <math.h>

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

double cb_tree_distance(const cb_tree_cell *c, const double x[3]) {
  double square = 0;
  for (int a = 0; a < 3; a++) {
    const double d = fmax(fmax(c->low[a] - x[a], x[a] - c->high[a]), 0);
    square += d * d;
  }
  return sqrt(square);
}
