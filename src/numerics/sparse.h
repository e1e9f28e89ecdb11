/* Square linear systems M x = r that are solved again and again with one pattern of nonzeros.
 *
 * The pattern is analysed once; a step only refactors and solves, and allocates nothing. The order of the pivots is
 * chosen at creation from values that the caller gives (representative of those to come), so that what follows does not
 * depend on history. Small or full systems are kept dense. Sparse ones go to KLU: Davis & Palamadai Natarajan (2010),
 * ACM TOMS 37, 36, doi:10.1145/1824801.1824814.
 */
#pragma once

#include <curvebody/status.h>
#include <stddef.h>

/* Up to this many unknowns, and always when more than a third of the entries are nonzero, a matrix is dense. */
enum { CB_SPARSE_DENSE_MAX = 60 };

typedef struct cb_sparse cb_sparse;

/* n x n by compressed columns: start[n+1], row[start[n]] ascending in each column (copied). value: as above. */
cb_status cb_sparse_create(int n, const int *start, const int *row, const double *value, cb_sparse **out);
/* The same with the order of elimination given: order[i] is the i-th unknown, and the i-th equation, to be eliminated;
 * pivots are taken from the diagonal where they are not small. For systems with zeros there (NULL: found by itself). */
cb_status cb_sparse_create_ordered(int n, const int *start, const int *row, const double *value, const int *order,
                                   cb_sparse **out);
void cb_sparse_free(cb_sparse *m);

/* The values in the order of the pattern, to be written before each factorisation. */
double *cb_sparse_values(cb_sparse *m);

/* CB_STEP_SINGULAR where a pivot is zero or not finite. */
cb_status cb_sparse_factor(cb_sparse *m);
/* x[n]: the right side, then the solution. Needs a factorisation that succeeded. */
void cb_sparse_solve(cb_sparse *m, double *x);
