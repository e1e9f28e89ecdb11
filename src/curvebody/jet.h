/* Jets: numbers that carry the value, the gradient and the Hessian of a function of n <= CB_JET_MAX variables.
 *
 * The Hessian is stored as its packed lower triangle: the second derivative by the variables i and j <= i has the index
 * i(i+1)/2 + j.
 * For authors: the derivatives of a metric or a connection that is written on jets need no further code.
 * Source: Griewank & Walther, Evaluating Derivatives, 2nd ed. (2008), chapter 13, doi:10.1137/1.9780898717761.
 *
 * Only the derivatives by the n variables are computed; the other elements of g and h have no defined value. The
 * operands of one operation must have the same n. Outside its domain a function returns nan as value and derivatives;
 * where one derivative is infinite, others may be nan.
 */
#ifndef CURVEBODY_JET_H
#define CURVEBODY_JET_H

#include <curvebody/api.h>

CB_API_BEGIN

#define CB_JET_MAX 13
#define CB_JET_PACKED (CB_JET_MAX * (CB_JET_MAX + 1) / 2)

typedef struct cb_jet {
  int n;                   /* number of variables, 0 <= n <= CB_JET_MAX */
  double v;                /* value */
  double g[CB_JET_MAX];    /* gradient */
  double h[CB_JET_PACKED]; /* Hessian, packed lower triangle */
} cb_jet;

cb_jet cb_jet_constant(int n, double value);
cb_jet cb_jet_variable(int n, int i, double value); /* the variable number i of n, 0 <= i < n */

cb_jet cb_jet_add(const cb_jet *a, const cb_jet *b);
cb_jet cb_jet_sub(const cb_jet *a, const cb_jet *b);
cb_jet cb_jet_mul(const cb_jet *a, const cb_jet *b);
cb_jet cb_jet_div(const cb_jet *a, const cb_jet *b);
cb_jet cb_jet_scale(const cb_jet *a, double s); /* s times a */
cb_jet cb_jet_shift(const cb_jet *a, double s); /* a + s */

/* Returns F(a) for a function F of one variable. f, df and ddf are the values of F, F' and F'' at a->v. */
cb_jet cb_jet_compose(const cb_jet *a, double f, double df, double ddf);

cb_jet cb_jet_sqrt(const cb_jet *a);
cb_jet cb_jet_exp(const cb_jet *a);
cb_jet cb_jet_log(const cb_jet *a);
cb_jet cb_jet_pow(const cb_jet *a, const cb_jet *b); /* a^b; nan for a < 0 unless b is a constant integer */
cb_jet cb_jet_powi(const cb_jet *a, int n);          /* a^n, by multiplications if |n| <= 32 */
cb_jet cb_jet_sin(const cb_jet *a);
cb_jet cb_jet_cos(const cb_jet *a);
cb_jet cb_jet_tan(const cb_jet *a);
cb_jet cb_jet_sinh(const cb_jet *a);
cb_jet cb_jet_cosh(const cb_jet *a);
cb_jet cb_jet_tanh(const cb_jet *a);
cb_jet cb_jet_asin(const cb_jet *a);
cb_jet cb_jet_acos(const cb_jet *a);
cb_jet cb_jet_atan(const cb_jet *a);
cb_jet cb_jet_atan2(const cb_jet *y, const cb_jet *x); /* the angle of (x, y); derivatives are nan at the origin */
cb_jet cb_jet_asinh(const cb_jet *a);
cb_jet cb_jet_acosh(const cb_jet *a);
cb_jet cb_jet_atanh(const cb_jet *a);
cb_jet cb_jet_abs(const cb_jet *a); /* at a = 0 the slope is +1, as from the right */

static inline int cb_jet_packed(int i, int j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

CB_API_END
#endif
