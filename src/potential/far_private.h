/* The data of the far field. tree_far.c builds the tree and decides which cells are far and near; tree_moments.c
 * computes moments; tree_at.c evaluates them at the panels and at any points.
 */
#pragma once

#include "potential/far.h"
#include "potential/tree_kernels.h"

/* A cell that is far from a group, and the order (degree of the harmonics) to which the cell is evaluated. */
typedef struct cb_far_cell {
  int cell, order;
} cb_far_cell;

/* The far cells and the near leaves of a group, and the number of panels in these leaves. */
typedef struct cb_far_list {
  cb_far_cell *far;
  int *near, fars, nears, panels;
  /* [panels of the group][panels]: D, or its derivatives along the normals; NULL: computed in each product */
  double *D;
} cb_far_list;

/* The work space of one thread. */
typedef struct cb_far_work {
  double *harmonics, *far, *near, *row;
} cb_far_work;

struct cb_far {
  cb_arena *arena;
  cb_panels *p; /* the panels in the tree's order */
  const cb_tree_kernels *kernels;
  cb_tree_factors factor;
  cb_panel_tree tree;
  int order, threads;
  double log_share;                 /* logarithm of the relative error of the potential that is allowed */
  cb_tree_rule rule[CB_TREE_ORDER]; /* the quadrature rules; rule n has n × n points */
  cb_tree_block *block;             /* eight panels per block */
  double *x, *y, *z;                /* centres, padded like the blocks */
  cb_far_list *list;                /* one per group */
  double *sigma, *mu;               /* rows of CB_TREE_COLUMNS densities in the tree's order */
  double *moments;                  /* the moments of all cells */
  int solids; /* number of panels at which potentials are wanted; at the others n.grad phi is wanted */
  /* [3][cells]: the moments of the gradient of each cell after cb_far_finish; NULL: only potentials are wanted */
  double *slopes;
  cb_far_work *work; /* one per thread */
};

/* Computes a ball around the panels of every cell. */
void cb_far_balls(cb_panel_tree *t, const cb_panels *p);
int cb_far_terms(const cb_far *f);
/* Returns the moments of a cell: cb_far_terms(f) rows of CB_TREE_COLUMNS numbers. */
double *cb_far_moments_of(const cb_far *f, int cell);

/* The largest ratio of the radius of a cell to the distance at which it counts as far. A larger ratio means fewer near
 * panels and more terms. */
extern const double cb_far_opening;
/* Finds the cells of f that are far from the points of a cell of this or another tree, and the leaves that are near.
 * Adds their numbers to the counts in *out, and fills the lists unless they are NULL. */
void cb_far_find(const cb_far *f, const cb_tree_cell *points, cb_far_list *out);
/* Makes the quadrature rules on panels. Returns CB_ERROR_MEMORY if there is no memory. */
cb_status cb_far_rules(cb_far *f);
int cb_far_rule_of(const cb_far *f, const cb_tree_cell *leaf);

/* Returns whether n.grad phi is wanted at this panel, given by its position in the order of the tree. */
static inline bool cb_far_has_slope(const cb_far *f, int at) { return f->tree.order[at] >= f->solids; }
/* Returns the number of doubles for one component of the moments of the gradient of a cell. */
static inline size_t cb_far_slope_size(const cb_far *f) {
  return (size_t)((f->order + 2) * (f->order + 2)) * CB_TREE_COLUMNS;
}
/* Computes S and D (or their derivatives along the normal, if cb_far_has_slope) of the panels of a near leaf at the
 * centre of panel t of a group. Either may be NULL. */
void cb_far_near_row(const cb_far *f, const cb_tree_cell *group, const cb_tree_cell *leaf, int t, double *S, double *D);

/* Allocates the work space of all threads. Returns NULL if there is no memory. */
cb_far_work *cb_far_work_create(cb_arena *arena, int threads);

/* Computes the moments of all cells, for `columns` columns of densities in the caller's order of the panels. */
void cb_far_moments(cb_far *f, int columns, const double *sigma, const double *mu);
/* Converts moments to the coefficients that the kernels evaluate, for a cell of this radius; `to` may be `from`. For a
 * gradient, pass the square of the radius. */
void cb_far_finish(const cb_tree_factors *f, int order, double radius, const double *from, double *to);
