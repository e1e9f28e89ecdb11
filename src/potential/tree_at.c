/* Potential and gradient at any points: these have a tree of their own, whose leaves are the groups. */
#include "potential/far_private.h"

#include <omp.h>
#include <string.h>

/* Points of one call, with lists long enough for any group. */
typedef struct field {
  cb_far *f;
  cb_arena *arena;
  cb_panel_tree tree;
  const double (*x)[3];
  double *at[3];     /* in the tree's order, padded */
  cb_far_list *list; /* of each thread */
  cb_far_work *work;
  int points, columns;
  const double *sigma, *mu; /* rows, or NULL */
  double *potential, (*gradient)[3];
} field;

static cb_status open_field(field *a) {
  cb_far *f = a->f;
  a->arena = cb_arena_create();
  bool good = a->arena && cb_tree_build(a->arena, a->points, a->x, &a->tree);
  if (good) {
    const size_t n = (size_t)a->points + CB_TREE_CHUNK;
    cb_arena_doubles(a->arena, n, &a->at[0], &a->at[1], &a->at[2]);
    a->list = cb_arena_alloc(a->arena, (size_t)f->threads, sizeof *a->list);
    a->work = cb_far_work_create(a->arena, f->threads);
    for (int i = 0; a->list && i < f->threads; i++) {
      a->list[i].far = cb_arena_alloc(a->arena, (size_t)f->tree.cells, sizeof *a->list[i].far);
      a->list[i].near = cb_arena_alloc(a->arena, (size_t)f->tree.groups, sizeof *a->list[i].near);
    }
    good = !cb_arena_lost(a->arena);
  }
  if (!good) {
    cb_arena_free(a->arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the flow at %d points", a->points);
  }
  for (size_t j = 0; j < (size_t)a->points + CB_TREE_CHUNK; j++)
    for (int c = 0; c < 3; c++) a->at[c][j] = a->x[a->tree.order[j < (size_t)a->points ? j : (size_t)a->points - 1]][c];
  return CB_OK;
}

/* Adds columns of far and near to out[k points + i], at `step` numbers from each other. */
static void add_columns(const field *a, const cb_tree_cell *group, const double *far, double *out, int step) {
  for (int k = 0; k < a->columns; k++)
    for (int t = 0; t < group->n; t++)
      out[((size_t)k * (size_t)a->points + (size_t)a->tree.order[group->first + t]) * (size_t)step] +=
          far[k * CB_TREE_LEAF + t];
}

static void far_of(const field *a, const cb_tree_cell *group, const cb_far_list *list, const cb_far_work *w, int axis) {
  const cb_far *f = a->f;
  double *moments = w->coefficients;
  memset(w->far, 0, CB_TREE_LEAF * CB_TREE_COLUMNS * sizeof *w->far);
  for (int i = 0; i < list->fars; i++) {
    const cb_tree_cell *c = &f->tree.cell[list->far[i].cell];
    const double *from = cb_far_moments_of(f, list->far[i].cell);
    int order = list->far[i].order;
    if (axis < 3) {
      cb_tree_gradient(order++, axis, from, moments);
      cb_far_finish(&f->factor, order, c->radius * c->radius, moments, moments);
    } else {
      cb_far_finish(&f->factor, order, c->radius, from, moments);
    }
    f->kernels->evaluate(&f->factor, order, a->columns, moments, c->centre, 1 / c->radius, group->n,
                         a->at[0] + group->first, a->at[1] + group->first, a->at[2] + group->first, w->far,
                         w->harmonics);
  }
}

static void near_potential(const field *a, const cb_tree_cell *group, const cb_far_list *list, const cb_far_work *w) {
  const cb_far *f = a->f;
  double *S = a->sigma ? w->row : NULL, *D = a->mu ? w->row + CB_TREE_LEAF : NULL;
  for (int t = 0; t < group->n; t++) {
    const int number = a->tree.order[group->first + t];
    double sum[CB_TREE_COLUMNS] = {0};
    for (int i = 0; i < list->nears; i++) {
      const cb_tree_cell *leaf = &f->tree.cell[list->near[i]];
      const size_t row = (size_t)leaf->first * CB_TREE_COLUMNS;
      cb_panels_range(f->p, a->x[number], leaf->first, leaf->n, -1, S, D);
      if (S) f->kernels->rows(1, leaf->n, 0, S, a->sigma + row, sum);
      if (D) f->kernels->rows(1, leaf->n, 0, D, a->mu + row, sum);
    }
    for (int k = 0; k < a->columns; k++) a->potential[(size_t)k * (size_t)a->points + (size_t)number] += sum[k];
  }
}

static void near_gradient(const field *a, const cb_tree_cell *group, const cb_far_list *list) {
  const cb_far *f = a->f;
  for (int t = 0; t < group->n; t++) {
    const int number = a->tree.order[group->first + t];
    double sum[CB_TREE_COLUMNS][3] = {{0}};
    for (int i = 0; i < list->nears; i++) {
      const cb_tree_cell *leaf = &f->tree.cell[list->near[i]];
      for (int j = leaf->first; j < leaf->first + leaf->n; j++) {
        double S[3] = {0}, D[3] = {0};
        cb_panel_velocity((const double(*)[3])f->p->corner[j], a->x[number], a->sigma ? S : NULL, a->mu ? D : NULL);
        const double *sigma = a->sigma ? a->sigma + (size_t)j * CB_TREE_COLUMNS : S,
                     *mu = a->mu ? a->mu + (size_t)j * CB_TREE_COLUMNS : D;
        for (int k = 0; k < a->columns; k++)
          for (int c = 0; c < 3; c++) sum[k][c] += (a->sigma ? sigma[k] * S[c] : 0) + (a->mu ? mu[k] * D[c] : 0);
      }
    }
    for (int k = 0; k < a->columns; k++)
      for (int c = 0; c < 3; c++) a->gradient[(size_t)k * (size_t)a->points + (size_t)number][c] += sum[k][c];
  }
}

static void list_of(const field *a, const cb_tree_cell *group, cb_far_list *list) {
  list->fars = list->nears = list->panels = 0;
  cb_far_find(a->f, group, list);
}

static void field_of(const field *a, const cb_tree_cell *group, const cb_far_list *list, const cb_far_work *w) {
  far_of(a, group, list, w, 3);
  add_columns(a, group, w->far, a->potential, 1);
  near_potential(a, group, list, w);
  if (!a->gradient) return;
  for (int axis = 0; axis < 3; axis++) {
    far_of(a, group, list, w, axis);
    add_columns(a, group, w->far, (double *)a->gradient + axis, 3);
  }
  near_gradient(a, group, list);
}

/* Points that are far from each other are groups of their own. */
static void group_field(const field *a, int g, int thread) {
  const cb_tree_cell *group = &a->tree.cell[a->tree.leaf[g]];
  cb_far_list *list = &a->list[thread];
  list_of(a, group, list);
  const int panels = list->panels;
  int alone = 0;
  for (int t = 0; t < group->n; t++) {
    const double *x = a->x[a->tree.order[group->first + t]];
    const cb_tree_cell point = {
        .first = group->first + t, .n = 1, .low = {x[0], x[1], x[2]}, .high = {x[0], x[1], x[2]}};
    list_of(a, &point, list);
    if (t == 0) alone = panels > 2 * list->panels;
    if (!alone) break;
    field_of(a, &point, list, &a->work[thread]);
  }
  if (alone) return;
  list_of(a, group, list);
  field_of(a, group, list, &a->work[thread]);
}

cb_status cb_far_at(cb_far *f, int points, const double (*x)[3], int columns, const double *sigma, const double *mu,
                    double *potential, double (*gradient)[3]) {
  if (points < 1) return CB_OK;
  field a = {.f = f, .x = x, .points = points};
  const cb_status status = open_field(&a);
  if (status) return status;
  const size_t all = (size_t)points * (size_t)columns;
  memset(potential, 0, all * sizeof *potential);
  if (gradient) memset(gradient, 0, all * sizeof *gradient);
  for (int k = 0; k < columns; k += CB_TREE_COLUMNS) {
    const size_t from = (size_t)k * (size_t)f->tree.n, to = (size_t)k * (size_t)points;
    a.columns = columns - k < CB_TREE_COLUMNS ? columns - k : CB_TREE_COLUMNS;
    cb_far_moments(f, a.columns, sigma ? sigma + from : NULL, mu ? mu + from : NULL);
    a.sigma = sigma ? f->sigma : NULL, a.mu = mu ? f->mu : NULL;
    a.potential = potential + to, a.gradient = gradient ? gradient + to : NULL;
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1)
    for (int g = 0; g < a.tree.groups; g++) group_field(&a, g, omp_get_thread_num());
  }
  cb_arena_free(a.arena);
  return CB_OK;
}
