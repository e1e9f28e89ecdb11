/* A preconditioner of equations on panels whose matrix is strongest next to the diagonal: each group of neighbours is
 * solved for together with the nearest panels about it, and keeps its own part of the solution.
 *
 *   P = sum_g R_g^T (A_g^-1)_own   A_g: the rows and columns of a group and of those about it
 * The restricted additive Schwarz method: Cai & Sarkis (1999), SIAM J. Sci. Comput. 21, 792, doi
 * 10.1137/S106482759732678X. For vortex rings on a sheet it takes away the part of the condition that is due to panels
 * smaller than the groups: what is left grows with the square root of the groups' number.
 */
#pragma once

#include "potential/far.h"

typedef struct cb_schwarz cb_schwarz;

/* row[0..n) = entries of row i of A at the columns which[0..n); from any thread. */
typedef void (*cb_schwarz_row)(const void *context, int i, int n, const int *which, double *row);

/* Groups of f, which it does not need afterwards. CB_ERROR_DOMAIN for a singular block. The caller frees. */
cb_status cb_schwarz_create(const cb_far *f, int panels, cb_schwarz_row row, const void *context, cb_schwarz **out);
void cb_schwarz_free(cb_schwarz *s);
/* At most what so many panels take. */
size_t cb_schwarz_bytes(int panels);

/* out[columns][panels] = P x, of at most CB_TREE_COLUMNS columns. */
void cb_schwarz_apply(const cb_schwarz *s, int columns, const double *x, double *out);
