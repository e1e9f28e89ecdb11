/* LU factors of a dense matrix, and solutions by them. */
#pragma once

#include <curvebody/status.h>
#include <stddef.h>

/* In place of a[n][stride], row by row; pivots[n]. CB_ERROR_DOMAIN for a singular one, with the column. */
cb_status cb_potential_factor(int n, size_t stride, double *a, int *pivots);
/* b[columns][n] becomes x with a x = b. */
void cb_potential_back(int n, size_t stride, const double *a, const int *pivots, int columns, double *b);
/* b becomes x with a^T x = b. */
void cb_potential_back_transposed(int n, size_t stride, const double *a, const int *pivots, int columns, double *b);

/* Around whatever calls the BLAS, which bears one call at a time. */
void cb_potential_blas_begin(void);
void cb_potential_blas_end(void);
