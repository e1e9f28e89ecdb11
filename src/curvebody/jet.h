/* Truncated Taylor numbers of second order ("jets"): value, gradient and Hessian in n <= CB_JET_MAX variables.
 *
 * For f: R^n -> R, a jet holds f, f_i and f_ij (packed lower triangle, row i column j <= i at i(i+1)/2 + j).
 * For authors: if a metric or a connection is written on jets, its derivatives need no code.
 * Source: Griewank & Walther, Evaluating Derivatives, 2nd ed. (2008), chapter 13, doi:10.1137/1.9780898717761.
 *
 * Only the n variables in use are computed and stored: entries beyond them are indeterminate. The operands of one
 * operation have the same n. Outside its domain a function returns nan as value and derivatives; where one derivative
 * is infinite, others may be nan. The comment of each function says which value it takes at kinks and jumps.
 */
#ifndef CURVEBODY_JET_H
#define CURVEBODY_JET_H

#include <curvebody/api.h>

CB_API_BEGIN

#define CB_JET_MAX 13
#define CB_JET_PACKED (CB_JET_MAX * (CB_JET_MAX + 1) / 2)

typedef struct cb_jet {
  int n;                   /* variables in use, 0 <= n <= CB_JET_MAX */
  double v;                /* value */
  double g[CB_JET_MAX];    /* gradient */
  double h[CB_JET_PACKED]; /* Hessian, packed lower triangle */
} cb_jet;

cb_jet cb_jet_constant(int n, double value);
cb_jet cb_jet_variable(int n, int i, double value); /* 0 <= i < n */

cb_jet cb_jet_add(const cb_jet *a, const cb_jet *b);
cb_jet cb_jet_sub(const cb_jet *a, const cb_jet *b);
cb_jet cb_jet_mul(const cb_jet *a, const cb_jet *b);
cb_jet cb_jet_div(const cb_jet *a, const cb_jet *b);
cb_jet cb_jet_scale(const cb_jet *a, double s); /* s a */
cb_jet cb_jet_shift(const cb_jet *a, double s); /* a + s */

/* Returns f(a) of one variable, from f, f', f'' at a->v (Faà di Bruno to second order). */
cb_jet cb_jet_compose(const cb_jet *a, double f, double df, double ddf);

cb_jet cb_jet_sqrt(const cb_jet *a);
cb_jet cb_jet_exp(const cb_jet *a);
cb_jet cb_jet_log(const cb_jet *a);
cb_jet cb_jet_pow(const cb_jet *a, const cb_jet *b); /* a < 0 needs a constant integer b */
cb_jet cb_jet_powi(const cb_jet *a, int n);          /* by multiplications for |n| <= 32, otherwise C's pow */
cb_jet cb_jet_sin(const cb_jet *a);
cb_jet cb_jet_cos(const cb_jet *a);
cb_jet cb_jet_tan(const cb_jet *a);
cb_jet cb_jet_sinh(const cb_jet *a);
cb_jet cb_jet_cosh(const cb_jet *a);
cb_jet cb_jet_tanh(const cb_jet *a);
cb_jet cb_jet_asin(const cb_jet *a);
cb_jet cb_jet_acos(const cb_jet *a);
cb_jet cb_jet_atan(const cb_jet *a);
cb_jet cb_jet_atan2(const cb_jet *y, const cb_jet *x); /* derivatives are nan at the origin */
cb_jet cb_jet_asinh(const cb_jet *a);
cb_jet cb_jet_acosh(const cb_jet *a);
cb_jet cb_jet_atanh(const cb_jet *a);
cb_jet cb_jet_abs(const cb_jet *a); /* derivative at 0 from the right, +1 */

static inline int cb_jet_packed(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

CB_API_END
#endif
