/* A binary tree over points: each cell's are cut across the longest side of their box into two halves, until a leaf
 * has few enough. Leaves have multiples of CB_TREE_CHUNK points, but for the last, so that vectors are full. */
#pragma once

#include "core/arena.h"
#include <curvebody/status.h>

enum { CB_TREE_CHUNK = 16, CB_TREE_LEAF = 64, CB_TREE_LEVELS = 32 };

typedef struct cb_tree_cell {
  int first, n;             /* points order[first..first + n) */
  int child;                /* of two that follow each other; 0: a leaf */
  double low[3], high[3];   /* box of its points */
  double centre[3], radius; /* of a ball about what belongs to the points: filled by the owner, */
  int rule;                 /* and how they are sampled */
} cb_tree_cell;

typedef struct cb_panel_tree {
  int n, cells, groups, levels;
  int *order;                    /* points by leaves */
  int level[CB_TREE_LEVELS + 1]; /* cells level[l]..level[l + 1] have depth l */
  int *leaf;                     /* cells of the leaves, in the order of their points */
  cb_tree_cell *cell;
} cb_panel_tree;

/* leaf: the most points of one, CB_TREE_CHUNK to CB_TREE_LEAF. False: no memory. */
bool cb_tree_build(cb_arena *arena, int n, const double (*x)[3], int leaf, cb_panel_tree *out);

/* The distance of x from the box of a cell's points. */
double cb_tree_distance(const cb_tree_cell *c, const double x[3]);
