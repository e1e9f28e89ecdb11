/* Square linear systems M x = r that are solved again and again with one pattern of nonzeros, and their entries.
 *
 * The pattern is analysed once; later the matrix is only factored and solved, which allocates no memory unless new
 * pivots are needed. The order of the pivots is chosen at creation from representative values that the caller gives, so
 * that results do not depend on earlier matrices. Small or full systems are stored as dense matrices. Sparse systems
 * are solved by KLU: Davis & Palamadai Natarajan (2010), ACM TOMS 37, 36, doi:10.1145/1824801.1824814.
 */
#pragma once

#include "core/arena.h"
#include <curvebody/status.h>

#include <stddef.h>

/* A matrix is dense up to this number of unknowns, and always when more than a third of its entries are nonzero. */
enum { CB_SPARSE_DENSE_MAX = 60 };

typedef struct cb_sparse cb_sparse;

/* Creates an n x n matrix from compressed columns: start[n+1], and row[start[n]] ascending in each column (both are
 * copied). value[start[n]] are the representative values. Returns CB_ERROR_ARGUMENT if a sparse matrix with these
 * values is singular. The caller frees the result with cb_sparse_free. */
cb_status cb_sparse_create(int n, const int *start, const int *row, const double *value, cb_sparse **out);
/* Creates a matrix as cb_sparse_create does, but with a given order of elimination, for systems with zeros on the
 * diagonal. order[i] is the index of the unknown, and of the equation, that is eliminated as number i (NULL: the order
 * is chosen). Pivots are on the diagonal if its entry is not small. */
cb_status cb_sparse_create_ordered(int n, const int *start, const int *row, const double *value, const int *order,
                                   cb_sparse **out);
void cb_sparse_free(cb_sparse *m);

/* Returns the array of the values of the nonzeros, in the order of the pattern. The caller writes the values before
 * each factorisation. */
double *cb_sparse_values(cb_sparse *m);

/* Factors the matrix. Returns CB_STEP_SINGULAR if a pivot is zero or not finite, and CB_ERROR_MEMORY if there is no
 * memory for new pivots. */
cb_status cb_sparse_factor(cb_sparse *m);
/* Replaces the right-hand side x[n] by the solution, after a factorisation that succeeded. */
void cb_sparse_solve(cb_sparse *m, double *x);

/* --- the entries of a matrix that is filled again and again in one order, in compressed columns ---
 *
 * The first time, entries are recorded with rows, columns and values. After they have been compressed, each entry is
 * added at its place, and entries of the same row and column have the same place.
 */

typedef struct cb_entries {
  size_t next, nonzeros;
  double *value; /* the values of the matrix; NULL while entries are being recorded */
  int *place;    /* the index of each entry in `value` */
  size_t capacity;
  int *row, *column; /* the recorded entries: their rows and columns; their values are in `made` */
  double *made;
  bool lost; /* there was not enough memory to record all entries */
} cb_entries;

typedef struct cb_columns {
  int *start, *row; /* start: [n+1]; row: [start[n]], ascending in each column */
  double *value;    /* the sums of the recorded values */
} cb_columns;

void cb_entries_note(cb_entries *e, int row, int column, double value);
static inline void cb_entries_add(cb_entries *e, int row, int column, double value) {
  if (e->value)
    e->value[e->place[e->next++]] += value;
  else
    cb_entries_note(e, row, column, value);
}

/* Compresses the recorded entries, for n unknowns, and assigns a place to each. The arrays of *out are in the arena.
 * Returns CB_ERROR_MEMORY if there is no memory, and CB_ERROR_UNSUPPORTED for too many entries. */
cb_status cb_entries_compress(cb_entries *e, int n, cb_arena *arena, cb_columns *out);
/* Assigns to each recorded entry its place in a full n x n matrix, which is stored column after column. */
cb_status cb_entries_fill(cb_entries *e, int n);
/* Sets value[nonzeros] to 0. The next entries are added to it, beginning with the first entry. */
void cb_entries_begin(cb_entries *e, double *value);
void cb_entries_free(cb_entries *e);
