/* The far field: its tree (tree_far.c) with moments (tree_moments.c), what is near and far (tree_lists.c), what panels
 * do upon each other (tree_apply.c) and at points (tree_at.c). */
#pragma once

#include "potential/far.h"
#include "potential/tree_kernels.h"

/* A cell that is far from a group, and the order that it is evaluated to. */
typedef struct cb_far_cell {
  int cell, order;
} cb_far_cell;

/* A group's far cells, and its near leaves (cells) with the number of their panels. */
typedef struct cb_far_list {
  cb_far_cell *far;
  int *near, fars, nears, panels;
  double *D; /* [targets][panels], or slopes; NULL: computed anew */
} cb_far_list;

/* Work of one thread. */
typedef struct cb_far_work {
  double *harmonics, *far, *near, *row;
} cb_far_work;

struct cb_far {
  cb_arena *arena;
  cb_panels *p; /* in the tree's order */
  const cb_tree_kernels *kernels;
  cb_tree_factors factor;
  cb_panel_tree tree;
  int order, threads;
  double log_share;                 /* of the potential, that may be left out */
  cb_tree_rule rule[CB_TREE_ORDER]; /* by points on a side */
  cb_tree_block *block;             /* of eight panels each */
  double *x, *y, *z;                /* centres, padded as the blocks are */
  cb_far_list *list;                /* of each group */
  double *sigma, *mu;               /* rows of densities in the tree's order */
  double *moments;                  /* of each cell */
  int solids;                       /* panels of which potentials are asked */
  double *slopes;                   /* [3] of gradients' moments of each cell, finished; NULL: not asked */
  cb_far_work *work;                /* of each thread */
};

/* Balls about the panels of every cell. */
void cb_far_balls(cb_panel_tree *t, const cb_panels *p);
int cb_far_terms(const cb_far *f);
/* A cell's moments: rows of CB_TREE_COLUMNS. */
double *cb_far_moments_of(const cb_far *f, int cell);

/* The largest radius of a cell, of the distance that it is seen from: a higher one has fewer near panels and more
 * terms. */
extern const double cb_far_opening;
/* The order that an error asks for. */
void cb_far_choose(cb_far *f, double error);
/* What is far and near of the points of a cell (of the tree or another): adds to the counts, fills the lists where
 * they are not NULL. */
void cb_far_find(const cb_far *f, const cb_tree_cell *points, cb_far_list *out);
/* The quadratures on panels; CB_ERROR_MEMORY. */
cb_status cb_far_rules(cb_far *f);
int cb_far_rule_of(const cb_far *f, const cb_tree_cell *leaf);

/* Whether a slope is asked of a panel, by its place in the tree's order. */
static inline bool cb_far_has_slope(const cb_far *f, int at) { return f->tree.order[at] >= f->solids; }
/* Of a gradient's moments of a cell. */
static inline size_t cb_far_slope_size(const cb_far *f) {
  return (size_t)((f->order + 2) * (f->order + 2)) * CB_TREE_COLUMNS;
}
/* What the panels of a near leaf do at the centre of a group's panel t; S and D as in cb_panels_range. */
void cb_far_near_row(const cb_far *f, const cb_tree_cell *group, const cb_tree_cell *leaf, int t, double *S, double *D);

/* For each thread; NULL: no memory. */
cb_far_work *cb_far_work_create(cb_arena *arena, int threads);

/* Moments of all cells for rows of densities in caller's order. */
void cb_far_moments(cb_far *f, int columns, const double *sigma, const double *mu);
/* Moments to what kernels evaluate; `to` may be `from`. Of a gradient: with the square of the radius. */
void cb_far_finish(const cb_tree_factors *f, int order, double radius, const double *from, double *to);
