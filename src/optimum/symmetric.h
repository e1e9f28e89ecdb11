/* Symmetric matrices a[n][n], whole, row after row: Cholesky's factors, and functions of a matrix by its eigenvalues.
 *
 *   a = U'U;   a = Q T Q', T tridiagonal, Q of reflections 1 - beta v v';   T = Z D Z', Z of rotations
 * f(a) b = Q Z f(D) Z' Q' b: reflections and rotations are applied to vectors, and Q Z is not made. The same to the last
 * bit in registers of any width.
 * Source: Golub & Van Loan, Matrix Computations, 4th ed. (2013), sections 4.2 and 8.3.
 */
#pragma once

#include <stdbool.h>

/* U in the upper triangle of u, which is not a. False where a pivot is not finite, or not above `least` of its entry of
 * a. */
bool cb_symmetric_factor(int n, double least, const double *a, double *u);
/* x becomes a^-1 x. */
void cb_symmetric_solve(int n, const double *u, double *x);

/* p = a x and a -= x y' + y x', of a block of n rows `stride` numbers apart. */
void cb_symmetric_times(int n, int stride, const double *a, const double *x, double *restrict p);
void cb_symmetric_take(int n, int stride, const double *x, const double *y, double *restrict a);

/* d[n] and e[n] of T, from a, whose rows keep v; beta[n], room for 2 n numbers. */
void cb_symmetric_reduce(int n, double *a, double *d, double *e, double *beta, double *room);
/* x becomes Q'x, or Q x. */
void cb_symmetric_reflect(int n, const double *a, const double *beta, bool back, double *x);

typedef struct cb_rotation {
  double c, s;
  int at;
} cb_rotation;

/* How many rotations n eigenvalues may take. */
int cb_symmetric_rotations(int n);
/* d becomes D, e zero, x (NULL: none) Z'x; how many rotations there were, kept where there is an x. -1: not finite. */
int cb_symmetric_diagonal(int n, double *d, double *e, double *x, cb_rotation *kept);
/* x becomes Z x. */
void cb_symmetric_rotate_back(int count, const cb_rotation *kept, double *x);
