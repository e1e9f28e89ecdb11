/* This file computes second-order jets (curvebody/jet.h): arithmetic and elementary functions by the chain rules of
 * elementary.h. */
#include "numerics/elementary.h"
#include <curvebody/jet.h>

#include <stdbool.h>

cb_jet cb_jet_constant(int n, double value) {
  cb_jet r;
  r.n = n;
  r.v = value;
  for (int i = 0; i < n; i++) r.g[i] = 0;
  for (int k = 0; k < n * (n + 1) / 2; k++) r.h[k] = 0;
  return r;
}

cb_jet cb_jet_variable(int n, int i, double value) {
  cb_jet r = cb_jet_constant(n, value);
  r.g[i] = 1;
  return r;
}

cb_jet cb_jet_add(const cb_jet *a, const cb_jet *b) {
  cb_jet r;
  r.n = a->n;
  r.v = a->v + b->v;
  cb_kernel_linear(a->n, r.g, r.h, 1, a->g, a->h, 1, b->g, b->h);
  return r;
}

cb_jet cb_jet_sub(const cb_jet *a, const cb_jet *b) {
  cb_jet r;
  r.n = a->n;
  r.v = a->v - b->v;
  cb_kernel_linear(a->n, r.g, r.h, 1, a->g, a->h, -1, b->g, b->h);
  return r;
}

cb_jet cb_jet_mul(const cb_jet *a, const cb_jet *b) {
  cb_jet r;
  r.n = a->n;
  r.v = a->v * b->v;
  cb_kernel_product(a->n, r.g, r.h, a->v, a->g, a->h, b->v, b->g, b->h);
  return r;
}

cb_jet cb_jet_scale(const cb_jet *a, double s) { return cb_jet_compose(a, s * a->v, s, 0); }

cb_jet cb_jet_shift(const cb_jet *a, double s) { return cb_jet_compose(a, a->v + s, 1, 0); }

cb_jet cb_jet_compose(const cb_jet *a, double f, double df, double ddf) {
  cb_jet r;
  r.n = a->n;
  r.v = f;
  cb_kernel_one(a->n, r.g, r.h, df, ddf, a->g, a->h);
  return r;
}

/* --- quotient and elementary functions, from the derivatives of elementary.h --- */

static cb_jet compose(const cb_jet *a, cb_taylor t) {
  t = cb_taylor_settle(t);
  return cb_jet_compose(a, t.f, t.a, t.aa);
}

static bool is_constant(const cb_jet *a) {
  for (int i = 0; i < a->n; i++)
    if (a->g[i] != 0) return false;
  for (int k = 0; k < a->n * (a->n + 1) / 2; k++)
    if (a->h[k] != 0) return false;
  return true;
}

static cb_jet compose_two(const cb_jet *a, const cb_jet *b, cb_taylor t) {
  t = cb_taylor_settle(t);
  cb_jet r;
  r.n = a->n;
  r.v = t.f;
  cb_kernel_two(a->n, r.g, r.h, &t, a->g, a->h, b->g, b->h);
  return r;
}

cb_jet cb_jet_div(const cb_jet *a, const cb_jet *b) { return compose_two(a, b, cb_taylor_divide(a->v, b->v, 2)); }

cb_jet cb_jet_sqrt(const cb_jet *a) { return compose(a, cb_taylor_sqrt(a->v, 2)); }
cb_jet cb_jet_exp(const cb_jet *a) { return compose(a, cb_taylor_exp(a->v, 2)); }
cb_jet cb_jet_log(const cb_jet *a) { return compose(a, cb_taylor_log(a->v, 2)); }
cb_jet cb_jet_powi(const cb_jet *a, int n) { return compose(a, cb_taylor_power_integer(a->v, n, 2)); }

/* With a constant exponent, log a is not needed, so that a may be negative. */
cb_jet cb_jet_pow(const cb_jet *a, const cb_jet *b) {
  if (!is_constant(b)) return compose_two(a, b, cb_taylor_power(a->v, b->v, 2));
  if (fabs(b->v) <= CB_POWER_MULTIPLY_MAX && b->v == floor(b->v)) return cb_jet_powi(a, (int)b->v);
  return compose(a, cb_taylor_power_constant(a->v, b->v, 2));
}

cb_jet cb_jet_sin(const cb_jet *a) { return compose(a, cb_taylor_sin(a->v, 2)); }
cb_jet cb_jet_cos(const cb_jet *a) { return compose(a, cb_taylor_cos(a->v, 2)); }
cb_jet cb_jet_tan(const cb_jet *a) { return compose(a, cb_taylor_tan(a->v, 2)); }
cb_jet cb_jet_sinh(const cb_jet *a) { return compose(a, cb_taylor_sinh(a->v, 2)); }
cb_jet cb_jet_cosh(const cb_jet *a) { return compose(a, cb_taylor_cosh(a->v, 2)); }
cb_jet cb_jet_tanh(const cb_jet *a) { return compose(a, cb_taylor_tanh(a->v, 2)); }
cb_jet cb_jet_asin(const cb_jet *a) { return compose(a, cb_taylor_asin(a->v, 2)); }
cb_jet cb_jet_acos(const cb_jet *a) { return compose(a, cb_taylor_acos(a->v, 2)); }
cb_jet cb_jet_atan(const cb_jet *a) { return compose(a, cb_taylor_atan(a->v, 2)); }
cb_jet cb_jet_atan2(const cb_jet *y, const cb_jet *x) { return compose_two(y, x, cb_taylor_atan2(y->v, x->v, 2)); }
cb_jet cb_jet_asinh(const cb_jet *a) { return compose(a, cb_taylor_asinh(a->v, 2)); }
cb_jet cb_jet_acosh(const cb_jet *a) { return compose(a, cb_taylor_acosh(a->v, 2)); }
cb_jet cb_jet_atanh(const cb_jet *a) { return compose(a, cb_taylor_atanh(a->v, 2)); }
cb_jet cb_jet_abs(const cb_jet *a) { return compose(a, cb_taylor_abs(a->v, 2)); }
