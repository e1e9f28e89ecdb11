/* Gaits in a basis of functions of time: their cost and holonomy, with first and second derivatives in the coefficients
 * c.
 *
 *   v = r';  E = int v.M v dt;   with r + d in place of r, g becomes exp(y) g:
 *   y' = dexp_{-y}^-1 w,  w = -Ad_g (A(r + d) (v + d') - A v)
 *   first:   y_1 = int w_1,  w_1 = -Ad_g (A_,i v d_i + A d'),  A_,i = dA/dr_i
 *   second:  y_2 = int w_2 + int [y_1, w_1]/2,  w_2 = -Ad_g (A_,ij v d_i d_j/2 + A_,i d' d_i)
 * r: gait; E: cost; g: group element along the gait; A, M, B: connection, cost metric and curvature
 * (curvebody/bundle.h); d: change of the gait; y = y_1 + y_2 + ..: its effect of first and second order; i, j: shape
 * variables. Integration by parts gives y_1 = -Ad_g A d | + int Ad_g B(v, d), where | is the difference between both
 * ends.
 *
 * The Hessian of <Lambda, y(1)>, Lambda a covector, contains the brackets [y_1, w_1]. It is a bilinear form of two
 * changes of the gait, with first-order effects y and z:
 *   <Lambda, [y, z]> = sum over planes (a, b) of  a.y b.z - b.y a.z,   a, b: covectors
 *   each plane gives  int (a.y b.z' + a.z b.y') - (a.y b.z + a.z b.y)(1)/2
 * Integrals use Gauss's rule on panels. g at the nodes is found by collocation in canonical coordinates of each panel.
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
 * c: coefficients; phi_a: function a; k = 1, 2, ..: harmonics. The rates phi' have int phi'^2 dt = 1, so that the
 * Hessian of a cost is well scaled; the constant and the functions of the vertices are exceptions. Integrals use
 * Gauss's rule on panels of CB_BASIS_STAGES nodes, and arcs end where panels end.
 */

enum { CB_BASIS_STAGES = 6, CB_BASIS_ARCS_MAX = 64 };

typedef struct cb_basis {
  int functions, panels, nodes; /* nodes = panels times CB_BASIS_STAGES */
  int harmonics;                /* number of harmonics of a basis `fourier`; 0: the basis is `arcs` */
  int arcs, degree;
  double *end; /* [arcs + 1]: the times at which arcs end, from 0 */
  cb_tableau gauss;
  double *edge;          /* [panels + 1]: the times at which panels end, from 0 */
  double *time, *weight; /* [nodes]: times and weights of the nodes */
  double *phi, *rate;    /* [nodes][functions]: the functions and their rates at the nodes */
  double *curve;         /* [nodes][functions]: the second derivatives of the functions at the nodes */
  double *first, *last;  /* [functions]: the rates at the times 0 and 1 */
  struct cb_arena *arena;
} cb_basis;

/* These functions create a basis. `panels` is the total number of panels (at least 2 on each arc); if it is 0, the
 * number is chosen so that the panels resolve the functions. They return CB_ERROR_ARGUMENT for more than 256 harmonics,
 * more than CB_BASIS_ARCS_MAX arcs, or a degree outside 2 to 64. The caller frees *out. */
cb_status cb_basis_fourier(int harmonics, int panels, cb_basis **out);
/* The ends[arcs + 1] of the arcs must increase from 0 to 1. */
cb_status cb_basis_arcs(int arcs, const double *ends, int degree, int panels, cb_basis **out);
void cb_basis_free(cb_basis *b);

/* Computes phi[functions] and rate[functions] (or NULL) at a time. */
void cb_basis_at(const cb_basis *b, double t, double *phi, double *rate);
/* cb_basis_gait creates the gait with the coefficients c[n][functions]. cb_basis_project computes the coefficients of
 * the gait that is nearest to a given one, by least squares of r and r' at the nodes. It returns CB_STEP_SINGULAR if
 * the nodes do not determine the coefficients. */
cb_status cb_basis_gait(const cb_basis *b, int n, const double *c, cb_gait **out);
cb_status cb_basis_project(const cb_basis *b, const cb_gait *gait, double *c);

typedef struct cb_variation {
  const cb_bundle *bundle;
  const cb_basis *basis; /* borrowed */
  int n, dim, unknowns;  /* numbers of shape variables, of dimensions of the group, and of coefficients c */
  /* r(1) - r(0), which are full periods of the variables, set by the caller. The gait is drift t plus the sum of the
   * basis functions with the coefficients c. */
  double drift[CB_SHAPE_MAX];
  double cost;
  double g[CB_GROUP_SIZE];
  double *dcost; /* [unknowns]: the derivative of cost in c */
  double *dy;    /* [dim][unknowns]: y_1(1), the derivative of the holonomy in c */
  /* The following arrays have values at the nodes. */
  double *r, *v;   /* [nodes][n]: the shape r of the gait and v = r' */
  double *element; /* [nodes][group->size]: the group element g */
  double *A, *dA, *M, *dM;
  struct cb_effort
      *effort; /* borrowed, set by the caller: the cost is that of torques (effort.h); NULL: int v.M v dt */
  struct cb_variation_work *work;
} cb_variation;

cb_status cb_variation_create(const cb_bundle *b, const cb_basis *basis, cb_variation **out);
void cb_variation_free(cb_variation *v);
/* Divides the gait into pieces; piece[panels] is the piece of each panel, from 0 to pieces - 1. After this call the
 * cost is that at the optimal times of the pieces: E = (sum_k sqrt(s_k E_k))^2 for costs E_k on shares s_k of the time.
 * It is the sum of E_k if all pieces have the same speed. */
cb_status cb_variation_divide(cb_variation *v, int pieces, const int *piece);
/* Returns how much the speeds of the pieces differ, or 0 without pieces. This is the maximum of |E_k/(s_k sum E_k) -
 * 1|/2 over the pieces, which have the cost E_k on a share s_k of the time. *cost becomes the sum of E_k. */
double cb_variation_uneven(const cb_variation *v, double *cost);

/* Computes cost and g for the coefficients c; with order > 0 also dcost and dy. Returns the status of the bundle if its
 * evaluation fails. */
cb_status cb_variation_at(cb_variation *v, const double *c, int order);
/* Computes H[unknowns][unknowns], the Hessian of mu E/2 + <Lambda, y(1)> + y(1)' W y(1)/2. E is the cost, and exp(y)
 * g(1) is the holonomy of the changed gait. mu, Lambda[dim] and W[dim][dim] (NULL: 0) are given. Must be called after
 * cb_variation_at with order 1. */
cb_status cb_variation_hessian(cb_variation *v, double mu, const double *Lambda, const double *W, double *H);
