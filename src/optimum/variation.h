/* Cost and holonomy of a gait, with first and second derivatives in its coefficients c.
 *
 *   E = int v'Mv dt;   g_eps(1) = exp(y) g(1):  y' = dexp_{-y}^-1 w, w = -Ad_g (A(r + d) (v + d') - A v)
 *   first:   y_1 = int w_1,  w_1 = -Ad_g (d_i A v d_i + A d')
 *   second:  y_2 = int w_2 + int [y_1, w_1]/2,  w_2 = -Ad_g (d_i d_j A v d_i d_j/2 + d_i A d' d_i)
 * By parts y_1 = -Ad_g A d | + int Ad_g B(v, d), B with the sign of [A, A] of curvebody/bundle.h. The Hessian's brackets
 * are a sum over planes, <Lambda, [y, w]> = sum a.y b.w - b.y a.w, each of which by parts is
 *   int a.y b.w' + a.w b.y' - (a.y b.w + a.w b.y)(1)/2
 * On panels of Gauss's nodes: g there is by collocation in canonical coordinates of each panel. Nothing is allocated but
 * by create.
 */
#pragma once

#include "optimum/basis.h"

typedef struct cb_variation {
  const cb_bundle *bundle;
  const cb_basis *basis; /* borrowed */
  int n, dim, unknowns;  /* n functions */
  double drift[CB_SHAPE_MAX]; /* by the caller: r(1) - r(0), whole periods; it is added to the functions as drift t */
  double cost;
  double g[CB_GROUP_SIZE];
  double *dcost; /* [unknowns] */
  double *dy;    /* [dim][unknowns] */
  /* at the nodes */
  double *r, *v;   /* [nodes][n] */
  double *element; /* [nodes][group->size] */
  double *A, *dA, *M, *dM;
  struct cb_variation_work *work;
} cb_variation;

cb_status cb_variation_create(const cb_bundle *b, const cb_basis *basis, cb_variation **out);
void cb_variation_free(cb_variation *v);
/* Cost where pieces of panels, piece[panels] of 0 to pieces - 1, take the times that are best: with E_k on a share s_k of
 * the time, E = (sum_k sqrt(s_k E_k))^2, the same as before where the speed of all is the same. From there on. */
cb_status cb_variation_divide(cb_variation *v, int pieces, const int *piece);
/* How far the speed is from that: the largest of |E_k/(s_k sum E_k) - 1|/2, and sum E_k; 0 without pieces. */
double cb_variation_uneven(const cb_variation *v, double *cost);

/* order 0: cost and g; 1: dcost and dy. A status of the bundle where it fails. */
cb_status cb_variation_at(cb_variation *v, const double *c, int order);
/* H[unknowns][unknowns] of mu E/2 + <Lambda, y(1)> + y(1)' W y(1)/2 (W[dim][dim], NULL: 0), after order 1. */
cb_status cb_variation_hessian(cb_variation *v, double mu, const double *Lambda, const double *W, double *H);
