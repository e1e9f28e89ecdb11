/* The data of the far field. tree_far.c builds the tree and decides which cells are far and near; tree_moments.c
 * computes moments; tree_at.c evaluates them at the panels and at any points.
 */
#pragma once

#include "potential/far.h"
#include "potential/tree_kernels.h"

/* A cell that is far from a group, and the order to which it is evaluated. */
typedef struct cb_far_cell {
  int cell, order;
} cb_far_cell;

/* The far cells of a group, and its near leaves (cells) with the total number of their panels. */
typedef struct cb_far_list {
  cb_far_cell *far;
  int *near, fars, nears, panels;
  double *D; /* [panels of the group][panels]: D, or its slopes; NULL: computed in each product */
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
  double log_share;                 /* logarithm of the share of the potential that may be neglected */
  cb_tree_rule rule[CB_TREE_ORDER]; /* the rules, by the number of points on a side */
  cb_tree_block *block;             /* eight panels per block */
  double *x, *y, *z;                /* centres, padded like the blocks */
  cb_far_list *list;                /* one per group */
  double *sigma, *mu;               /* rows of densities in the tree's order */
  double *moments;                  /* the moments of all cells */
  int solids;                       /* number of panels at which potentials are wanted; slopes at the others */
  double *slopes;                   /* [3]: finished moments of the gradient of each cell; NULL: no slopes */
  cb_far_work *work;                /* one per thread */
};

/* Computes a ball around the panels of every cell. */
void cb_far_balls(cb_panel_tree *t, const cb_panels *p);
int cb_far_terms(const cb_far *f);
/* The moments of a cell: rows of CB_TREE_COLUMNS numbers. */
double *cb_far_moments_of(const cb_far *f, int cell);

/* The largest ratio of the radius of a cell to the distance at which it counts as far. A larger ratio means fewer near
 * panels and more terms. */
extern const double cb_far_opening;
/* Finds the cells that are far from the points of a cell (of this tree or another) and the cells that are near. Adds to
 * the counts, and fills the lists unless they are NULL. */
void cb_far_find(const cb_far *f, const cb_tree_cell *points, cb_far_list *out);
/* Makes the quadrature rules on panels. CB_ERROR_MEMORY. */
cb_status cb_far_rules(cb_far *f);
int cb_far_rule_of(const cb_far *f, const cb_tree_cell *leaf);

/* Is a slope wanted at this panel, given by its position in the order of the tree? */
static inline bool cb_far_has_slope(const cb_far *f, int at) { return f->tree.order[at] >= f->solids; }
/* The number of moments of the gradient of a cell. */
static inline size_t cb_far_slope_size(const cb_far *f) {
  return (size_t)((f->order + 2) * (f->order + 2)) * CB_TREE_COLUMNS;
}
/* The potentials of the panels of a near leaf at the centre of panel t of a group; S and D as in cb_panels_range. */
void cb_far_near_row(const cb_far *f, const cb_tree_cell *group, const cb_tree_cell *leaf, int t, double *S, double *D);

/* Allocates the work space of all threads. NULL: no memory. */
cb_far_work *cb_far_work_create(cb_arena *arena, int threads);

/* Computes the moments of all cells, for columns of densities in the caller's order. */
void cb_far_moments(cb_far *f, int columns, const double *sigma, const double *mu);
/* Converts moments to the coefficients that kernels evaluate; `to` may be `from`. For a gradient, pass the square of
 * the radius. */
void cb_far_finish(const cb_tree_factors *f, int order, double radius, const double *from, double *to);
