/* LU factors of I/2 - D as a hierarchical matrix: blocks of panels far from each other have low rank, to a tolerance.
 * For bodies on which GMRES is slow; a coarse one (1e-2) is a preconditioner.
 * Source: Hackbusch, Hierarchical Matrices (2015), doi 10.1007/978-3-662-47324-5; the library hmat-oss.
 */
#pragma once

#include "potential/panels.h"
#include <stddef.h>

typedef struct cb_hlu cb_hlu;

/* CB_ERROR_UNSUPPORTED in a build without hmat-oss (hlu_none.c), with the methods that are left. */
cb_status cb_hlu_check(void);

/* p may be freed after. tolerance, in [1e-12, 0.5]: of each block, relative; the residual of a solution was below it in
 * all that was measured (tests/potential/test_hlu.c). CB_ERROR_DOMAIN where the factors are not finite. */
cb_status cb_hlu_create(const cb_panels *p, double tolerance, cb_hlu **out);
void cb_hlu_free(cb_hlu *h);

/* b[columns][n], of panels in the caller's order, becomes x with (I/2 - D) x = b. One call at a time. */
cb_status cb_hlu_solve(cb_hlu *h, int columns, double *b);

/* Bytes of the factors; before they are taken, more than factors of n panels to 1e-2 had in all that was measured
 * (without hmat-oss: more than there can be). */
size_t cb_hlu_bytes(const cb_hlu *h);
size_t cb_hlu_estimate(int n);
