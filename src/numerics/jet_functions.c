/* Quotient and elementary functions of second-order jets: the derivatives of elementary.h through the chain rule. */
#include <curvebody/jet.h>
#include "numerics/jet_kernels.h"
#include <stdbool.h>

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

/* A constant exponent does not ask for log a, which a negative base has not. */
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
