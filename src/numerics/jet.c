/* Arithmetic of second-order jets: the chain rules of jet_kernels.h on the struct of jet.h. */
#include <curvebody/jet.h>
#include "numerics/jet_kernels.h"

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
