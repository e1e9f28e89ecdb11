/* Coefficients: the tableaux of collocation methods, computed in quadruple precision and rounded once, and the weights
 * of central differences.
 *
 *   stages  Y_i = y0 + h sum_j a_ij f(Y_j),   end  y1 = y0 + h sum_j b_j f(Y_j),   at times c_i h
 *   Gauss            c: zeros of P_s(2c-1)                       order 2s    1 <= s <= 8
 *   Radau IIA        c: zeros of P_s(2c-1) - P_{s-1}(2c-1)       order 2s-1  1 <= s <= 5
 *   Lobatto IIIA     c: 0, zeros of P'_{s-1}(2c-1), 1            order 2s-2  2 <= s <= 5
 *   Lobatto IIIB     b_i a^_ij + b_j a_ji = b_i b_j: with IIIA a symplectic pair for (q, p)
 * s is the number of stages, h the length of the step, y0 the state at its beginning, f the rate of y, and P_s
 * Legendre's polynomial. a^ (a_hat) are the a_ij of Lobatto IIIB, and (q, p) are positions and momenta.
 * Source: Hairer, Lubich & Wanner, Geometric Numerical Integration, 2nd ed. (2006), II.1.3 and IV.2.1,
 * doi:10.1007/3-540-30666-8; the pair: Jay (1996), SIAM J. Numer. Anal. 33, 368, doi:10.1137/0733019.
 */
#pragma once

#include <curvebody/status.h>

enum { CB_STAGES_MAX = 8 };

typedef struct cb_tableau {
  int s;
  double c[CB_STAGES_MAX];
  double b[CB_STAGES_MAX], b_low[CB_STAGES_MAX]; /* b + b_low is the weight to 32 digits */
  double a[CB_STAGES_MAX][CB_STAGES_MAX];
  double a_hat[CB_STAGES_MAX][CB_STAGES_MAX]; /* the a_ij of Lobatto IIIB; for other methods the same as a */
} cb_tableau;

/* These functions compute the tableau of s stages. They return CB_ERROR_ARGUMENT if s is outside the range above. */
cb_status cb_tableau_gauss(int s, cb_tableau *out);
cb_status cb_tableau_radau_iia(int s, cb_tableau *out);
cb_status cb_tableau_lobatto(int s, cb_tableau *out);

/* Computes the inverse of a[s][s] in quadruple precision, rounded, into inverse[s*s], row after row. Only Gauss and
 * Radau IIA have an inverse. */
void cb_tableau_inverse(const cb_tableau *t, double *inverse);

/* --- first derivatives by central differences of order 8: f'(x) = sum_k w_k (f(x + k h) - f(x - k h))/h, k = 1..4 ---
 *
 * w_k are the weights below, and h is the step. The error is about h^8 f^(9)/630, plus round-off/h. Source: Fornberg,
 * Math. Comp. 51 (1988) 699, doi:10.1090/S0025-5718-1988-0935077-0, table 1. */
static const double cb_central_weight[4] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
