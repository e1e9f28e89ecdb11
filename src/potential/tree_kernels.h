/* Solid harmonics of the cells of a tree, compiled for each instruction set (tree_kernel.h), and the tree.
 *
 *   R_l^m = r^l P_l^m(cos t) e^{imp}/(l + m)!,   I_l^m = (l - m)! P_l^m(cos t) e^{imp}/r^{l+1}
 *   1/|x - y| = sum_l sum_m conj(R_l^m(y)) I_l^m(x),  |y| < |x|;    X_l^{-m} = (-1)^m conj(X_l^m)
 *   R_l^m(x + y) = sum_jk R_j^k(x) R_{l-j}^{m-k}(y)
 *   n . grad R_l^m = n_z R_{l-1}^m - (n_x - i n_y)/2 R_{l-1}^{m+1} + (n_x + i n_y)/2 R_{l-1}^{m-1}
 * r, t and p are spherical coordinates, l is the degree, m the order, i the imaginary unit, and P_l^m are the
 * associated Legendre functions without the factor (-1)^m. x and y are points, conj is the complex conjugate, X is R or
 * I, and n is a vector.
 * Source: Epton & Dembart (1995), SIAM J. Sci. Comput. 16, 865, doi 10.1137/0916051, in this normalisation. The real
 * numbers of one degree are stored together: number l^2 is m = 0, and numbers l^2 + 2m - 1 and l^2 + 2m are the real
 * and the imaginary part of m. The numbers of lower degrees therefore come first. Lengths are in radii of the cell.
 */
#pragma once

#include "core/arena.h"
#include "potential/far.h"
#include <curvebody/status.h>

/* A binary tree over points. A cell is divided across the longest side of its box into two halves of its points, until
 * a leaf is small enough. Leaves, except the last, have multiples of CB_TREE_CHUNK points, so that vectors are full. */

enum { CB_TREE_CHUNK = 16, CB_TREE_LEAF = 64, CB_TREE_LEVELS = 32 };

typedef struct cb_tree_cell {
  int first, n;             /* points order[first..first + n) */
  int child;                /* the first of two consecutive children; 0: the cell is a leaf */
  double low[3], high[3];   /* box of its points */
  double centre[3], radius; /* a ball around the panels whose centres are the points; set by cb_far_balls */
  int rule;                 /* quadrature rule of the panels, set by cb_far_create_sheets */
} cb_tree_cell;

typedef struct cb_panel_tree {
  int n, cells, groups, levels;
  int *order;                    /* the points, leaf after leaf */
  int level[CB_TREE_LEVELS + 1]; /* the cells level[l]..level[l + 1] - 1 have depth l */
  int *leaf;                     /* the cells that are leaves, in the order of their points */
  cb_tree_cell *cell;
} cb_panel_tree;

/* Builds the tree over the points x[n]. leaf is the maximum number of points in a leaf, CB_TREE_CHUNK to CB_TREE_LEAF.
 * Returns false if there is no memory. */
bool cb_tree_build(cb_arena *arena, int n, const double (*x)[3], int leaf, cb_panel_tree *out);

enum {
  CB_TREE_ORDER = 30,                                        /* the highest degree */
  CB_TREE_TERMS = (CB_TREE_ORDER + 2) * (CB_TREE_ORDER + 2), /* maximum number of terms, also for a gradient */
  CB_TREE_COLUMNS = 8                                        /* numbers per row of coefficients and densities */
};

/* Factors of the recurrences of the harmonics. Each factor is stored at the number of its term (file head). The factors
 * are the same for all cells. */
typedef struct cb_tree_factors {
  double up[CB_TREE_TERMS]; /* R_{l+1} = up z R_l - down r^2 R_{l-1} for the same m, stored at the number of R_{l+1} */
  double down[CB_TREE_TERMS];
  double across[CB_TREE_TERMS]; /* I'_{l+1} = z/r^2 I'_l - across/r^2 I'_{l-1},  I_l = (2l - 1)!! I'_l */
  double finish[CB_TREE_TERMS]; /* from a moment to the coefficient of I': (2l - 1)!! (2 where m > 0)/(4 pi) */
} cb_tree_factors;
void cb_tree_factors_fill(cb_tree_factors *f);

/* A quadrature rule on the triangle p + s e + t f, where p is a corner and e and f are two edges. at[i] has s, t and
 * the share of the area of point i. */
typedef struct cb_tree_rule {
  int points;
  double (*at)[3];
} cb_tree_rule;

/* A block of eight panels. corner has rows of eight numbers for p, e and f of cb_tree_rule, and normal has three such
 * rows. */
typedef struct cb_tree_block {
  double corner[9][8], area[8], normal[3][8];
} cb_tree_block;

typedef struct cb_tree_kernels {
  /* Adds the moments of n panels (in blocks of eight) about a centre to `moments`, for rows of densities sigma and mu.
   * sigma or mu may be NULL. */
  void (*panels)(const cb_tree_factors *f, int order, const cb_tree_rule *rule, int n, const cb_tree_block *blocks,
                 const double centre[3], double radius, const double *sigma, const double *mu, double *moments,
                 double *work);
  /* Adds the moments of a child cell to those of its parent. d is the centre of the child relative to that of the
   * parent, and ratio is the radius of the child, both in units of the parent's radius.
   */
  void (*shift)(const cb_tree_factors *f, int order, const double d[3], double ratio, const double *child,
                double *parent, double *work);
  /* Adds the potentials of a cell at n points to `out`: that of each column at point i to out[column CB_TREE_LEAF + i].
   * far_finish in tree_at.c computes the coefficients from the moments of the cell. */
  void (*evaluate)(const cb_tree_factors *f, int order, int columns, const double *coefficients, const double centre[3],
                   double inverse_radius, int n, const double *x, const double *y, const double *z, double *out,
                   double *work);
  /* Adds sum_j matrix[i stride + j] density[j][column] to out[i][column], for i = 0..rows - 1 and j = 0..n - 1. */
  void (*rows)(int rows, int n, size_t stride, const double *matrix, const double *density, double *out);
} cb_tree_kernels;

enum { CB_TREE_WORK = 4 * CB_TREE_TERMS * CB_TREE_CHUNK };

extern const cb_tree_kernels cb_tree_kernels_x86_64, cb_tree_kernels_avx2, cb_tree_kernels_avx512;
const cb_tree_kernels *cb_tree_kernels_of_isa(void);

/* --- the far field ---
 *
 * The data of the far field. tree_far.c builds the tree and decides which cells are far and which are near. tree_at.c
 * computes moments and evaluates them at the panels and at any points.
 */

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
  double *x, *y, *z;                /* centres of the panels, in the tree's order, padded like the blocks */
  cb_far_list *list;                /* one list per group (a leaf of the tree) */
  double *sigma, *mu;               /* rows of CB_TREE_COLUMNS densities in the tree's order */
  double *moments;                  /* the moments of all cells */
  int solids;                       /* potentials are wanted at this many panels, n.grad phi at all other panels */
  /* [3][cells]: the moments of the gradient of each cell, as coefficients (far_finish in tree_at.c); NULL: only
   * potentials are wanted */
  double *slopes;
  cb_far_work *work; /* one per thread */
};

/* Computes a ball around the panels of every cell. */
void cb_far_balls(cb_panel_tree *t, const cb_panels *p);
int cb_far_terms(const cb_far *f);

/* The largest ratio of the radius of a cell to the distance at which it counts as far. A larger ratio means fewer near
 * panels and more terms. */
extern const double cb_far_opening;
/* Finds the cells of f that are far from the cell `points` of this or another tree, and the leaves of f that are near
 * it. Increases the counts in *out by how many were found, and stores them in those lists of *out that are not NULL. */
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
 * centre of panel t of a group. S or D may be NULL. */
void cb_far_near_row(const cb_far *f, const cb_tree_cell *group, const cb_tree_cell *leaf, int t, double *S, double *D);

/* Allocates the work space of all threads. Returns NULL if there is no memory. */
cb_far_work *cb_far_work_create(cb_arena *arena, int threads);
