/* Chain rules to second order on bare arrays: gradient g[n] and packed Hessian h[n(n+1)/2].
 *
 * One operand:   g_i = f_a a_i,            h_ij = f_a a_ij + f_aa a_i a_j
 * Two operands:  g_i = f_a a_i + f_b b_i,  h_ij = f_a a_ij + f_b b_ij + f_aa a_i a_j + f_ab (a_i b_j + b_i a_j)
 *                                                 + f_bb b_i b_j
 * f is a function of the operands a and b, and f_a, f_b, f_aa .. are its derivatives with respect to them. a_i, a_ij
 * and b_i, b_ij are the derivatives of a and b with respect to variables i and j, and g_i, h_ij those of the result.
 * Source: Griewank & Walther (2008), table 13.1 and section 13.3, doi:10.1137/1.9780898717761.
 *
 * The functions are inline, so that a constant n unrolls the loops. The result overlaps no operand.
 */
#pragma once

#include "numerics/elementary.h"

static inline void cb_kernel_linear(int n, double *restrict g, double *restrict h, double fa, const double *ag,
                                    const double *ah, double fb, const double *bg, const double *bh) {
  for (int i = 0; i < n; i++) g[i] = fa * ag[i] + fb * bg[i];
  for (int k = 0; k < n * (n + 1) / 2; k++) h[k] = fa * ah[k] + fb * bh[k];
}

static inline void cb_kernel_product(int n, double *restrict g, double *restrict h, double a, const double *ag,
                                     const double *ah, double b, const double *bg, const double *bh) {
  for (int i = 0; i < n; i++) g[i] = b * ag[i] + a * bg[i];
  for (int i = 0, k = 0; i < n; i++)
    for (int j = 0; j <= i; j++, k++) h[k] = b * ah[k] + a * bh[k] + (ag[i] * bg[j] + bg[i] * ag[j]);
}

static inline void cb_kernel_one(int n, double *restrict g, double *restrict h, double fa, double faa, const double *ag,
                                 const double *ah) {
  for (int i = 0; i < n; i++) g[i] = fa * ag[i];
  if (faa == 0) {
    for (int k = 0; k < n * (n + 1) / 2; k++) h[k] = fa * ah[k];
    return;
  }
  for (int i = 0, k = 0; i < n; i++)
    for (int j = 0; j <= i; j++, k++) h[k] = fa * ah[k] + faa * ag[i] * ag[j];
}

static inline void cb_kernel_two(int n, double *restrict g, double *restrict h, const cb_taylor *f, const double *ag,
                                 const double *ah, const double *bg, const double *bh) {
  for (int i = 0; i < n; i++) g[i] = f->a * ag[i] + f->b * bg[i];
  for (int i = 0, k = 0; i < n; i++)
    for (int j = 0; j <= i; j++, k++)
      h[k] = f->a * ah[k] + f->b * bh[k] + f->aa * ag[i] * ag[j] + f->ab * (ag[i] * bg[j] + bg[i] * ag[j]) +
             f->bb * bg[i] * bg[j];
}
