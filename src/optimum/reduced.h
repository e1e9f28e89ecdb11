/* Two quadratic programs: one with equality constraints, in the coordinates of Householder's factors of their
 * gradients; and the projection on a cone of inequalities.
 *
 *   min d'Hd/2 + g'd  where  J d = -c;   J' = Q (R; 0),  d = Q (x, z):  R' x = -c,
 *   (Q'HQ)_22 z = -(Q'g)_2 - (Q'HQ)_21 x
 * d: the step; H, g, J, c: given; Q: orthogonal, R: upper triangular; index 1: the first `rank` rows or columns, index
 * 2: the others. If (Q'HQ)_22 is not positive definite, its eigenvalues are replaced by their absolute values, but at
 * least by 1e-6 of the largest: the step then descends, and it stays short in directions of zero curvature.
 * Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), sections 16.2 and 18.3,
 * doi:10.1007/978-0-387-40065-5.
 */
#pragma once

#include <curvebody/status.h>

#include <stdbool.h>

typedef struct cb_reduced {
  int unknowns, rows; /* current sizes */
  int rank;           /* rank of J; redundant equations are left out */
  double *H;          /* [unknowns][unknowns], given; then Q'HQ */
  double *J;          /* [rows][unknowns], given; then Householder's vectors */
  double *g, *c;      /* [unknowns], [rows] */
  double *step;       /* [unknowns] */
  double *multiplier; /* [rows]: nu that minimises |g + J'nu| */
  double *eigen;      /* [unknowns]: eigenvalues of the reduced Hessian, ascending, if they were requested, or if
                       * cb_reduced_solve found that the reduced Hessian is not positive definite */
  int values;         /* the number of eigenvalues */
  double slope;       /* |(Q'g)_2| */
  bool stationary;    /* option: eigenvalues keep their sign, for Newton's steps to any stationary point */
  bool convex;        /* result: the reduced Hessian was positive definite */
  double size;        /* option: curvatures below 1e-6 of this are raised; 0: below 1e-6 of the largest eigenvalue */
  struct cb_reduced_work *work;
} cb_reduced;

/* Allocates memory for this number of unknowns and rows. The caller frees. */
cb_status cb_reduced_create(int unknowns, int rows, cb_reduced **out);
void cb_reduced_free(cb_reduced *r);

/* Computes step and multiplier from H, J, g and c; H, J and g are overwritten. CB_STEP_NOT_FINITE if a number is not
 * finite. */
cb_status cb_reduced_solve(cb_reduced *r);
/* Computes, after a solution, the shortest step[unknowns] with J step = -c. */
void cb_reduced_restore(const cb_reduced *r, const double *c, double *step);
/* Computes only multiplier and slope, from J and g, which are overwritten. */
void cb_reduced_slope(cb_reduced *r);
/* Computes the eigenvalues of the reduced Hessian from H and J, which are overwritten. */
void cb_reduced_eigenvalues(cb_reduced *r);

/* The nearest vector to a given one in a cone of inequalities.
 *
 *   min |x + g|^2/2 where A x >= 0:  x = -g + A'z,  y = A x,  y >= 0, z >= 0, y_j z_j = 0
 * -g: the given vector; x: the nearest one; z: multipliers of the rows of A (forces); y: distances from them.
 * The primal-dual interior point method in z ends near the analytic centre of all solutions z: if rows are dependent,
 * the force is shared between them, so that z_j > y_j, suitably scaled, decides which rows press.
 * Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), section 16.6, doi:10.1007/978-0-387-40065-5.
 */

/* A[rows][n], g[n]; results z[rows] and y[rows] for g scaled to |g| = 1. CB_STEP_NO_CONVERGENCE if the iteration does
 * not converge. */
cb_status cb_cone_projection(int rows, int n, const double *A, const double *g, double *z, double *y);
