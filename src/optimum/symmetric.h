/* Linear algebra for some hundred unknowns, with results that are the same, bit for bit, for vector registers of any
 * width: symmetric matrices a[n][n], stored in full by rows, their Cholesky factors, functions of a matrix by its
 * eigenvalues, and sums of outer products.
 *
 *   a = U'U;   a = Q T Q', T tridiagonal, Q: reflections 1 - beta v v';   T = Z D Z', Z: rotations
 * U: upper triangular, D: diagonal, f: a function of a matrix, b: a vector. f(a) b = Q Z f(D) Z' Q' b: reflections and
 * rotations are applied to vectors, and Q Z is never formed.
 * Source: Golub & Van Loan, Matrix Computations, 4th ed. (2013), sections 4.2 and 8.3.
 */
#pragma once

#include <stdbool.h>

/* Writes U to the upper triangle of u, which must not be a. Returns false if a pivot is not finite, or not above
 * `least` times its entry of a. */
bool cb_symmetric_factor(int n, double least, const double *a, double *u);
/* Replaces x by a^-1 x. */
void cb_symmetric_solve(int n, const double *u, double *x);

/* p = a x, and a -= x y' + y x', for a block of n rows that are `stride` numbers apart. */
void cb_symmetric_times(int n, int stride, const double *a, const double *x, double *restrict p);
void cb_symmetric_take(int n, int stride, const double *x, const double *y, double *restrict a);

/* Computes d[n] and e[n], the diagonals of T, from a, whose rows then hold the vectors v; beta[n]; scratch[n]. */
void cb_symmetric_reduce(int n, double *a, double *d, double *e, double *beta, double *scratch);
/* Replaces x by Q'x, or by Q x (back). */
void cb_symmetric_reflect(int n, const double *a, const double *beta, bool back, double *x);

typedef struct cb_rotation {
  double c, s;
  int at;
} cb_rotation;

/* Returns the maximum number of rotations for n eigenvalues. */
int cb_symmetric_rotations(int n);
/* Replaces d by D, e by zero and x (NULL: none) by Z'x. Returns the number of rotations, or -1 if the iteration does
 * not converge, as with a number that is not finite. The rotations are stored in `kept` if x is not NULL. */
int cb_symmetric_diagonal(int n, double *d, double *e, double *x, cb_rotation *kept);
/* Replaces x by Z x. */
void cb_symmetric_rotate_back(int count, const cb_rotation *kept, double *x);

/* --- sums of outer products --- */

enum { CB_OUTER_SLACK = 8 };

/* C[rows][stride] += sum_q a_q b_q' in the order of q, where a_q and b_q are the rows of A[count][rows] and
 * B[count][columns]. Both arrays need memory for CB_OUTER_SLACK more numbers at their end. */
void cb_outer_add(int count, int rows, const double *A, int columns, const double *B, double *C, int stride);

/* Compiles a function for wider registers too, with the same results bit for bit. Its loops may contain only
 * elementwise products and sums. (clang 14 gives a cloned function a name that other files do not find.) */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__
#define CB_LANES __attribute__((target_clones("avx2", "default")))
#else
#define CB_LANES
#endif
