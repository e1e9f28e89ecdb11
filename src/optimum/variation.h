/* Gaits in a basis of functions of time, and their cost and holonomy with first and second derivatives in the
 * coefficients c.
 *
 *   v = r';  E = int v.M v dt;   with r + d in place of r, g becomes exp(y) g:
 *   y' = dexp_{-y}^-1 w,  w = -Ad_g (A(r + d) (v + d') - A v)
 *   first:   y_1 = int w_1,  w_1 = -Ad_g (A_,i v d_i + A d'),  A_,i = dA/dr_i
 *   second:  y_2 = int w_2 + int [y_1, w_1]/2,  w_2 = -Ad_g (A_,ij v d_i d_j/2 + A_,i d' d_i)
 * d: change of the gait; y = y_1 + y_2 + ..: its effect of first and second order; i, j: shape variables. By parts
 * y_1 = -Ad_g A d | + int Ad_g B(v, d), | the difference between both ends, B with the sign of [A, A] of
 * curvebody/bundle.h. Lambda is a covector, and a, b are those of a plane. The brackets of the Hessian are a sum over
 * planes, <Lambda, [y, w]> = sum a.y b.w - b.y a.w, and each term is by parts
 *   int a.y b.w' + a.w b.y' - (a.y b.w + a.w b.y)(1)/2
 * Integrals are Gauss's on panels; g at their nodes is found by collocation in canonical coordinates of each panel.
 * cb_variation_at and cb_variation_hessian allocate no memory.
 */
#pragma once

#include "numerics/tableau.h"
#include <curvebody/gait.h>

/* The basis: functions of time, and nodes for integrals over time.
 *
 *   r_i(t) = sum_a c[i functions + a] phi_a(t)
 * fourier  1, sqrt 2 cos w t/w, sqrt 2 sin w t/w, w = 2 pi k: periodic and smooth
 * arcs     polynomials of one degree between given times: continuous, r(1) = r(0), with corners only at these times
 *
 * The rates phi' of all functions except those of the vertices and the constant have int phi'^2 dt = 1, so that the
 * Hessian of a cost is well scaled. Integrals use Gauss's rule on panels of CB_BASIS_STAGES nodes, and arcs end where
 * panels end.
 */

enum { CB_BASIS_STAGES = 6, CB_BASIS_ARCS_MAX = 64 };

typedef struct cb_basis {
  int functions, panels, nodes; /* nodes = panels CB_BASIS_STAGES */
  int harmonics;                /* number of harmonics of a basis `fourier`; 0: the basis is `arcs` */
  int arcs, degree;
  double *end; /* [arcs + 1] */
  cb_tableau gauss;
  double *edge;          /* [panels + 1]: times */
  double *time, *weight; /* [nodes] */
  double *phi, *rate;    /* [nodes][functions]: the functions and their rates at the nodes */
  struct cb_arena *arena;
} cb_basis;

/* panels: the total number of panels (on arcs at least 2 each); 0: as many as resolve the functions. CB_ERROR_ARGUMENT
 * for more than 256 harmonics, CB_BASIS_ARCS_MAX arcs or degree 64, or a degree below 2. The caller frees. */
cb_status cb_basis_fourier(int harmonics, int panels, cb_basis **out);
/* The ends[arcs + 1] of the arcs must increase from 0 to 1. */
cb_status cb_basis_arcs(int arcs, const double *ends, int degree, int panels, cb_basis **out);
void cb_basis_free(cb_basis *b);

/* Computes phi[functions] and rate[functions] (or NULL) at a time. */
void cb_basis_at(const cb_basis *b, double t, double *phi, double *rate);
/* `gait` creates the gait with coefficients c[n][functions]; `project` computes the coefficients nearest to a gait, by
 * least squares of r and r' at the nodes. CB_STEP_SINGULAR if the nodes do not determine them. */
cb_status cb_basis_gait(const cb_basis *b, int n, const double *c, cb_gait **out);
cb_status cb_basis_project(const cb_basis *b, const cb_gait *gait, double *c);

typedef struct cb_variation {
  const cb_bundle *bundle;
  const cb_basis *basis;      /* borrowed */
  int n, dim, unknowns;       /* shape variables; dimension of the group; n functions */
  double drift[CB_SHAPE_MAX]; /* set by the caller: r(1) - r(0), full periods; drift t is added to the functions */
  double cost;
  double g[CB_GROUP_SIZE];
  double *dcost; /* [unknowns]: the derivative of cost in c */
  double *dy;    /* [dim][unknowns]: y_1(1), the derivative of the holonomy in c */
  /* values at the nodes */
  double *r, *v;   /* [nodes][n] */
  double *element; /* [nodes][group->size] */
  double *A, *dA, *M, *dM;
  struct cb_variation_work *work;
} cb_variation;

cb_status cb_variation_create(const cb_bundle *b, const cb_basis *basis, cb_variation **out);
void cb_variation_free(cb_variation *v);
/* Divides the gait into pieces; piece[panels] is the piece of each panel, from 0 to pieces - 1. From then on the cost
 * is the cost at the optimal times of the pieces: with E_k on a share s_k of the time, E = (sum_k sqrt(s_k E_k))^2. It
 * does not change if all pieces have the same speed. */
cb_status cb_variation_divide(cb_variation *v, int pieces, const int *piece);
/* Returns how much the speeds of the pieces differ: the maximum of |E_k/(s_k sum E_k) - 1|/2, or 0 without pieces.
 * *cost: the sum of E_k. */
double cb_variation_uneven(const cb_variation *v, double *cost);

/* order 0: computes cost and g; 1: dcost and dy as well. Returns the status of the bundle if it fails. */
cb_status cb_variation_at(cb_variation *v, const double *c, int order);
/* Computes H[unknowns][unknowns], the Hessian of mu E/2 + <Lambda, y(1)> + y(1)' W y(1)/2 (W[dim][dim], NULL: 0). Call
 * it after cb_variation_at with order 1. */
cb_status cb_variation_hessian(cb_variation *v, double mu, const double *Lambda, const double *W, double *H);
