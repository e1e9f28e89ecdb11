/* Linear algebra for some hundred unknowns: Cholesky factors and functions of symmetric matrices a[n][n], which are
 * stored in full by rows, and sums of outer products. Results are the same, bit for bit, for vector registers of any
 * width.
 *
 *   a = U'U;   a = Q T Q', T tridiagonal, Q: reflections 1 - beta v v';   T = Z D Z', Z: rotations
 * U: upper triangular; D: diagonal; v, beta: a vector and a number for each reflection; a prime: the transpose. Q and Z
 * are products of reflections and of rotations. For a function f and a vector b, f(a) b = Q Z f(D) Z' Q' b: reflections
 * and rotations are applied to vectors, and Q Z is never formed.
 * Source: Golub & Van Loan, Matrix Computations, 4th ed. (2013), sections 4.2 and 8.3.
 */
#pragma once

#include <stdbool.h>

/* Writes U to the upper triangle of u, which must not be a. Returns false if a pivot is not finite, or not above
 * `least` times the diagonal entry of a in its row. */
bool cb_symmetric_factor(int n, double least, const double *a, double *u);
/* Replaces x by a^-1 x, given the factor u of a. */
void cb_symmetric_solve(int n, const double *u, double *x);

/* cb_symmetric_times computes p = a x, and cb_symmetric_take a -= x y' + y x', for a block a of n rows that are
 * `stride` numbers apart. */
void cb_symmetric_times(int n, int stride, const double *a, const double *x, double *restrict p);
void cb_symmetric_take(int n, int stride, const double *x, const double *y, double *restrict a);

/* Computes T from a: its diagonal d[n], and its entries e[n] next to the diagonal (the last one is 0). The rows of a
 * are overwritten by the vectors v of the reflections, with their factors beta[n]. scratch[n] is work memory. */
void cb_symmetric_reduce(int n, double *a, double *d, double *e, double *beta, double *scratch);
/* Replaces x by Q'x, or, if `back` is true, by Q x. a and beta are those of cb_symmetric_reduce. */
void cb_symmetric_reflect(int n, const double *a, const double *beta, bool back, double *x);

typedef struct cb_rotation {
  double c, s;
  int at;
} cb_rotation;

/* Returns the maximum number of rotations for n eigenvalues. */
int cb_symmetric_rotations(int n);
/* Computes the eigenvalues of T: replaces d by D, e by zero and x (NULL: none) by Z'x. Returns the number of rotations,
 * or -1 if the iteration does not converge, as with a number that is not finite. The rotations are stored in `kept` if
 * x is not NULL. */
int cb_symmetric_diagonal(int n, double *d, double *e, double *x, cb_rotation *kept);
/* Replaces x by Z x, from the rotations that cb_symmetric_diagonal kept. */
void cb_symmetric_rotate_back(int count, const cb_rotation *kept, double *x);

/* --- sums of outer products --- */

enum { CB_OUTER_SLACK = 8 };

/* C[rows][stride] += sum_q a_q b_q' in the order of q, where a_q and b_q are the rows of A[count][rows] and
 * B[count][columns]. Both arrays need memory for CB_OUTER_SLACK more numbers at their end. */
void cb_outer_add(int count, int rows, const double *A, int columns, const double *B, double *C, int stride);

/* Compiles a function for wider registers too, with the same results bit for bit. The loops of the function may contain
 * only elementwise products and sums. The macro is empty for clang, because clang 14 gives a cloned function a name
 * that other files do not find. */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__
#define CB_LANES __attribute__((target_clones("avx2", "default")))
#else
#define CB_LANES
#endif
