/* Sums of outer products, the same to the last bit in registers of any width. */
#pragma once

enum { CB_OUTER_SLACK = 8 };

/* C[rows][stride] += sum_q a_q b_q' in the order of q, a_q and b_q the rows of A[count][rows] and B[count][columns], behind
 * both of which there is room for CB_OUTER_SLACK numbers more. */
void cb_outer_add(int count, int rows, const double *A, int columns, const double *B, double *C, int stride);

/* For functions whose loops are products and sums by element: clones for wider registers, with the same bits. (clang 14
 * gives a function that has clones a name that other files do not find.) */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__
#define CB_LANES __attribute__((target_clones("avx2", "default")))
#else
#define CB_LANES
#endif
