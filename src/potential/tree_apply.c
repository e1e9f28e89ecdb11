/* The far field of panels upon themselves. */
#include "potential/far_private.h"

#include <omp.h>
#include <string.h>

void cb_far_near_row(const cb_far *f, const cb_tree_cell *group, const cb_tree_cell *leaf, int t, double *S,
                     double *D) {
  const int at = group->first + t, self = leaf == group ? t : -1;
  const double *x = f->p->centre[at];
  if (cb_far_has_slope(f, at))
    cb_panels_slopes(f->p, x, f->p->normal[at], leaf->first, leaf->n, NULL, self, S, D);
  else
    cb_panels_range(f->p, x, leaf->first, leaf->n, self, S, D);
}

static void near_anew(const cb_far *f, const cb_tree_cell *group, const cb_tree_cell *leaf, bool sigma, bool mu,
                      const cb_far_work *w) {
  double *S = sigma ? w->row : NULL, *D = mu ? w->row + CB_TREE_LEAF : NULL;
  const size_t row = (size_t)leaf->first * CB_TREE_COLUMNS;
  for (int t = 0; t < group->n; t++) {
    cb_far_near_row(f, group, leaf, t, S, D);
    if (S) f->kernels->rows(1, leaf->n, 0, S, f->sigma + row, w->near + t * CB_TREE_COLUMNS);
    if (D) f->kernels->rows(1, leaf->n, 0, D, f->mu + row, w->near + t * CB_TREE_COLUMNS);
  }
}

/* Adds the far potential (axis 3), or the slope's share along an axis, to the sums of those that have it. */
static void add_far(const cb_far *f, int g, int columns, int axis, const cb_far_work *w) {
  const cb_far_list *list = &f->list[g];
  const cb_tree_cell *group = &f->tree.cell[f->tree.leaf[g]];
  const double *x = f->x + group->first, *y = f->y + group->first, *z = f->z + group->first;
  const bool slope = axis < 3;
  bool any = false;
  for (int t = 0; t < group->n && !any; t++) any = cb_far_has_slope(f, group->first + t) == slope;
  if (!any) return;
  memset(w->far, 0, CB_TREE_LEAF * CB_TREE_COLUMNS * sizeof(double));
  for (int i = 0; i < list->fars; i++) {
    const size_t cell = (size_t)list->far[i].cell;
    const cb_tree_cell *c = &f->tree.cell[cell];
    const double *moments = slope ? f->slopes + ((size_t)axis * (size_t)f->tree.cells + cell) * cb_far_slope_size(f)
                                  : cb_far_moments_of(f, list->far[i].cell);
    f->kernels->evaluate(&f->factor, list->far[i].order + slope, columns, moments, c->centre, 1 / c->radius, group->n,
                         x, y, z, w->far, w->harmonics);
  }
  for (int t = 0; t < group->n; t++) {
    if (cb_far_has_slope(f, group->first + t) != slope) continue;
    const double by = slope ? f->p->normal[group->first + t][axis] : 1;
    for (int k = 0; k < columns; k++) w->near[t * CB_TREE_COLUMNS + k] += by * w->far[k * CB_TREE_LEAF + t];
  }
}

static void group_potential(const cb_far *f, int g, int columns, bool sigma, bool mu, const cb_far_work *w,
                            double *out) {
  const cb_far_list *list = &f->list[g];
  const cb_tree_cell *group = &f->tree.cell[f->tree.leaf[g]];
  memset(w->near, 0, CB_TREE_LEAF * CB_TREE_COLUMNS * sizeof(double));
  size_t at = 0;
  for (int i = 0; i < list->nears; i++) {
    const cb_tree_cell *leaf = &f->tree.cell[list->near[i]];
    if (mu && list->D)
      f->kernels->rows(group->n, leaf->n, (size_t)list->panels, list->D + at,
                       f->mu + (size_t)leaf->first * CB_TREE_COLUMNS, w->near);
    if (sigma || (mu && !list->D)) near_anew(f, group, leaf, sigma, mu && !list->D, w);
    at += (size_t)leaf->n;
  }
  for (int axis = 0; axis < 4; axis++) add_far(f, g, columns, axis, w);
  for (int k = 0; k < columns; k++)
    for (int t = 0; t < group->n; t++)
      out[(size_t)k * (size_t)f->tree.n + (size_t)f->tree.order[group->first + t]] += w->near[t * CB_TREE_COLUMNS + k];
}

static void finish(const cb_far *f, int cell) {
  double *moments = cb_far_moments_of(f, cell);
  const double radius = f->tree.cell[cell].radius;
  if (f->slopes) {
    const size_t step = (size_t)f->tree.cells * cb_far_slope_size(f);
    double *own = f->slopes + (size_t)cell * cb_far_slope_size(f), *slope[3] = {own, own + step, own + 2 * step};
    cb_tree_gradient(f->order, moments, slope);
    for (int a = 0; a < 3; a++) cb_far_finish(&f->factor, f->order + 1, radius * radius, slope[a], slope[a]);
  }
  cb_far_finish(&f->factor, f->order, radius, moments, moments);
}

cb_status cb_far_apply(cb_far *f, int columns, const double *sigma, const double *mu, double *out) {
  for (; columns > 0; columns -= CB_TREE_COLUMNS) {
    const int some = columns < CB_TREE_COLUMNS ? columns : CB_TREE_COLUMNS;
    const size_t step = (size_t)some * (size_t)f->tree.n;
    cb_far_moments(f, some, sigma, mu);
#pragma omp parallel for num_threads(f->threads) schedule(static)
    for (int i = 0; i < f->tree.cells; i++) finish(f, i);
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1)
    for (int g = 0; g < f->tree.groups; g++)
      group_potential(f, g, some, sigma != NULL, mu != NULL, &f->work[omp_get_thread_num()], out);
    if (sigma) sigma += step;
    if (mu) mu += step;
    out += step;
  }
  return CB_OK;
}
