/* Second-order jets in two variables by value, written as arithmetic: what models with at most two shape variables are
 * computed in. cb_jet has room for thirteen variables, and copying it would cost more than the model.
 * Value, gradient, Hessian (00, 10, 11); rules as in curvebody/jet.h. */
#pragma once

#include <curvebody/jet.h>

#include <math.h>

typedef struct jet2 {
  double v, g[2], h[3];
} jet2;

/* From and to a jet in one or two variables. */
static inline jet2 take(const cb_jet *a) {
  if (a->n < 2) return (jet2){a->v, {a->g[0]}, {a->h[0]}};
  return (jet2){a->v, {a->g[0], a->g[1]}, {a->h[0], a->h[1], a->h[2]}};
}

static inline void give(cb_jet *out, int n, jet2 a) {
  out->n = n;
  out->v = a.v;
  for (int i = 0; i < n; i++) out->g[i] = a.g[i];
  for (int k = 0; k < n * (n + 1) / 2; k++) out->h[k] = a.h[k];
}

static inline jet2 constant(double v) { return (jet2){.v = v}; }
static inline jet2 scaled(double s, jet2 a) {
  return (jet2){s * a.v, {s * a.g[0], s * a.g[1]}, {s * a.h[0], s * a.h[1], s * a.h[2]}};
}
static inline jet2 shifted(double s, jet2 a) { return a.v += s, a; }
static inline jet2 plus(jet2 a, jet2 b) {
  return (jet2){a.v + b.v, {a.g[0] + b.g[0], a.g[1] + b.g[1]}, {a.h[0] + b.h[0], a.h[1] + b.h[1], a.h[2] + b.h[2]}};
}
static inline jet2 minus(jet2 a, jet2 b) {
  return (jet2){a.v - b.v, {a.g[0] - b.g[0], a.g[1] - b.g[1]}, {a.h[0] - b.h[0], a.h[1] - b.h[1], a.h[2] - b.h[2]}};
}
static inline jet2 times(jet2 a, jet2 b) {
  return (jet2){a.v * b.v,
                {a.v * b.g[0] + b.v * a.g[0], a.v * b.g[1] + b.v * a.g[1]},
                {a.v * b.h[0] + b.v * a.h[0] + 2 * a.g[0] * b.g[0],
                 a.v * b.h[1] + b.v * a.h[1] + a.g[0] * b.g[1] + a.g[1] * b.g[0],
                 a.v * b.h[2] + b.v * a.h[2] + 2 * a.g[1] * b.g[1]}};
}
/* f(a) from f, f', f'' at a.v */
static inline jet2 compose(jet2 a, double f, double df, double ddf) {
  return (jet2){f,
                {df * a.g[0], df * a.g[1]},
                {df * a.h[0] + ddf * a.g[0] * a.g[0], df * a.h[1] + ddf * a.g[0] * a.g[1],
                 df * a.h[2] + ddf * a.g[1] * a.g[1]}};
}
static inline jet2 square(jet2 a) { return compose(a, a.v * a.v, 2 * a.v, 2); }
static inline jet2 inverse(jet2 a) {
  const double f = 1 / a.v;
  return compose(a, f, -f * f, 2 * f * f * f);
}
static inline jet2 over(jet2 a, jet2 b) { return times(a, inverse(b)); }
static inline jet2 sine(jet2 a) {
  const double s = sin(a.v);
  return compose(a, s, cos(a.v), -s);
}
static inline jet2 cosine(jet2 a) {
  const double c = cos(a.v);
  return compose(a, c, -sin(a.v), -c);
}
static inline jet2 hyperbolic_sine(jet2 a) {
  const double s = sinh(a.v);
  return compose(a, s, cosh(a.v), s);
}
static inline jet2 hyperbolic_cosine(jet2 a) {
  const double c = cosh(a.v);
  return compose(a, c, sinh(a.v), c);
}
