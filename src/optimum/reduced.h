/* Two quadratic programs. The first is a minimum under linear equations. The second, at the end of this file, is the
 * projection of a vector on a cone of inequalities.
 *
 * The first program is solved with Householder's factors of J:
 *   min d'Hd/2 + g'd  where  J d = -c;   J' = Q (R; 0),  d = Q (x, z):  R' x = -c,
 *   (Q'HQ)_22 z = -(Q'g)_2 - (Q'HQ)_21 x
 * d: the step; H, g, J, c: given; Q: orthogonal, R: upper triangular; x, z: the parts of the step in the coordinates of
 * Q; index 1: the first `rank` rows or columns, index 2: the others; a prime: the transpose. (Q'HQ)_22 is the reduced
 * Hessian. If it is not positive definite, its eigenvalues are replaced by their absolute values, but at least by 1e-6
 * of the largest. The objective then decreases along the step, and the step stays short in directions of zero
 * curvature.
 * Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), sections 16.2 and 18.3,
 * doi:10.1007/978-0-387-40065-5.
 */
#pragma once

#include <curvebody/status.h>

#include <stdbool.h>

typedef struct cb_reduced {
  int unknowns, rows; /* the numbers of entries of d and of rows of J in the present program */
  int rank;           /* rank of J; equations that depend on others are left out */
  double *H;          /* [unknowns][unknowns]: given by the caller, then overwritten by Q'HQ */
  double *J;          /* [rows][unknowns]: given by the caller, then overwritten by Householder's vectors */
  double *g, *c;      /* [unknowns] and [rows]: given by the caller; g is overwritten by Q'g */
  double *step;       /* [unknowns]: the step d */
  double *multiplier; /* [rows]: the multipliers nu that minimise |g + J'nu| */
  double *eigen;      /* [unknowns]: the eigenvalues of the reduced Hessian, ascending. They are computed by
                       * cb_reduced_eigenvalues, and by cb_reduced_solve if the reduced Hessian is not positive
                       * definite */
  int values;         /* the number of eigenvalues */
  double slope;       /* |(Q'g)_2|, the length of the gradient along J d = 0 */
  bool stationary;    /* option: negative eigenvalues keep their sign, for Newton's steps to any stationary point */
  bool convex;        /* result: the reduced Hessian was positive definite */
  double size;        /* option: the scale of curvatures. In a reduced Hessian that is not positive definite, curvatures
                       * are raised to at least 1e-6 of the scale; 0: the scale is the largest eigenvalue */
  struct cb_reduced_work *work;
} cb_reduced;

/* Allocates memory for at most this number of unknowns and rows. The caller frees *out. */
cb_status cb_reduced_create(int unknowns, int rows, cb_reduced **out);
void cb_reduced_free(cb_reduced *r);

/* Computes step and multiplier from H, J, g and c; H, J and g are overwritten. Returns CB_STEP_NOT_FINITE if a number
 * is not finite. */
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
 * -g: the given vector; x: the nearest vector; z: multipliers of the rows of A (forces); y: the values of the rows at
 * x. The equations are solved by a primal-dual interior point method. If rows of A are dependent, z is not unique, and
 * the method ends near the analytic centre of all solutions. The force is then shared between the dependent rows. Row j
 * counts as pressing if z_j > y_j, after z_j and y_j are scaled as if all rows had length 1.
 * Source: Nocedal & Wright, Numerical Optimization, 2nd ed. (2006), section 16.6, doi:10.1007/978-0-387-40065-5.
 */

/* Computes z[rows] and y[rows] from A[rows][n] and g[n]. z and y are those for g scaled to |g| = 1. Returns
 * CB_STEP_NO_CONVERGENCE if the iteration does not converge. */
cb_status cb_cone_projection(int rows, int n, const double *A, const double *g, double *z, double *y);

/* --- sums of outer products --- */

enum { CB_OUTER_SLACK = 8 };

/* Adds sum_q a_q b_q' to C[rows][stride], in the order of q, where a_q and b_q are the rows of A[count][rows] and
 * B[count][columns]. A and B need memory for CB_OUTER_SLACK more numbers at their end. */
void cb_outer_add(int count, int rows, const double *A, int columns, const double *B, double *C, int stride);
