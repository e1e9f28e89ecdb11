/* Solid harmonics of cells, compiled for each instruction set (tree_kernel.h).
 *
 *   R_l^m = r^l P_l^m(cos t) e^{imp}/(l + m)!,   I_l^m = (l - m)! P_l^m(cos t) e^{imp}/r^{l+1}    (P without (-1)^m)
 *   1/|x - y| = sum_l sum_m conj(R_l^m(y)) I_l^m(x),  |y| < |x|;    X_l^{-m} = (-1)^m conj(X_l^m)
 *   R_l^m(x + y) = sum_jk R_j^k(x) R_{l-j}^{m-k}(y)
 *   n . grad R_l^m = n_z R_{l-1}^m - (n_x - i n_y)/2 R_{l-1}^{m+1} + (n_x + i n_y)/2 R_{l-1}^{m-1}
 * Source: Epton & Dembart (1995), SIAM J. Sci. Comput. 16, 865, doi 10.1137/0916051, in this normalisation.
 * Real numbers of one degree lie together: number l^2 is m = 0, l^2 + 2m - 1 and l^2 + 2m are the real and the
 * imaginary part of m, so that lower orders are beginnings. Lengths are in radii of the cell.
 */
#pragma once

#include "potential/tree.h"

enum {
  CB_TREE_ORDER = 30,                                        /* the highest degree */
  CB_TREE_TERMS = (CB_TREE_ORDER + 2) * (CB_TREE_ORDER + 2), /* of a gradient's, too */
  CB_TREE_COLUMNS = 8                                        /* rows of coefficients and densities have so many */
};

/* Factors of the recurrences by number of the term; the same for all cells. */
typedef struct cb_tree_factors {
  double up[CB_TREE_TERMS]; /* R_{l+1} = up z R_l - down r^2 R_{l-1}, at the number of R_{l+1} */
  double down[CB_TREE_TERMS];
  double across[CB_TREE_TERMS]; /* I'_{l+1} = z/r^2 I'_l - across/r^2 I'_{l-1},  I_l = (2l - 1)!! I'_l */
  double finish[CB_TREE_TERMS]; /* what a moment is multiplied by for I': (2l - 1)!! (2 where m > 0)/(4 pi) */
} cb_tree_factors;
void cb_tree_factors_fill(cb_tree_factors *f);

/* Of a quadrature on the triangle p + s e + t f: s, t and the share of the area. */
typedef struct cb_tree_rule {
  int points;
  double (*at)[3];
} cb_tree_rule;

/* A block of eight panels: p, e, f, then the area, rows of eight. normal: three rows of eight. */
typedef struct cb_tree_block {
  double corner[9][8], area[8], normal[3][8];
} cb_tree_block;

typedef struct cb_tree_kernels {
  /* Adds the moments of n panels (blocks of eight) with rows of densities sigma and mu (either NULL) about a centre. */
  void (*panels)(const cb_tree_factors *f, int order, const cb_tree_rule *rule, int n, const cb_tree_block *blocks,
                 const double centre[3], double radius, const double *sigma, const double *mu, double *moments,
                 double *work);
  /* Adds the moments of a child whose centre is at d from the parent's, both in the parent's radii. */
  void (*shift)(const cb_tree_factors *f, int order, const double d[3], double ratio, const double *child,
                double *parent, double *work);
  /* out[column CB_TREE_LEAF + i] += the potential at n points x - centre of rows of coefficients, finished. */
  void (*evaluate)(const cb_tree_factors *f, int order, int columns, const double *coefficients, const double centre[3],
                   double inverse_radius, int n, const double *x, const double *y, const double *z, double *out,
                   double *work);
  /* out[i][column] += sum_j matrix[i stride + j] density[j][column] */
  void (*rows)(int rows, int n, size_t stride, const double *matrix, const double *density, double *out);
} cb_tree_kernels;

enum { CB_TREE_WORK = 4 * CB_TREE_TERMS * CB_TREE_CHUNK };

extern const cb_tree_kernels cb_tree_kernels_x86_64, cb_tree_kernels_avx2, cb_tree_kernels_avx512;
const cb_tree_kernels *cb_tree_kernels_of_isa(void);

/* to[a][0..terms of order + 1) = minus the moments of the derivatives along axes a of those of the order, in radii:
 * those of the gradient of the potential. */
void cb_tree_gradient(int order, const double *moments, double *const to[3]);
