/* Evaluates a flow at one place, and compares its gradient and its rate with differences, for the tests of flows. */
#pragma once

#include "check.h"
#include "fluid/fluid_shared.h"

#define PI 3.14159265358979323846

typedef double vec[3];
typedef double mat[3][3];

static inline void at(const cb_flow *f, double t, const vec x, vec u, mat gradient, vec rate) {
  mat g;
  vec r;
  check_ok(cb_flow_at(f, t, 1, (const vec[]){{x[0], x[1], x[2]}}, (vec *)u, &g, &r));
  if (gradient) memcpy(gradient, g, sizeof g);
  if (rate) memcpy(rate, r, sizeof r);
}

/* Checks that an evaluation without derivatives gives the same velocity. Compares the gradient and the rate of the flow
 * with differences of fourth order with the spacing h in space and in time. */
static inline void check_slopes(const cb_flow *f, double t, const vec x, double h, double tolerance) {
  static const double step[4] = {-2, -1, 1, 2}, weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12};
  vec u, only, rate;
  mat g;
  at(f, t, x, u, g, rate);
  check_ok(cb_flow_at(f, t, 1, (const vec *)x, &only, NULL, NULL));
  for (int i = 0; i < 3; i++) check_near(only[i], u[i], 0);
  for (int k = 0; k < 4; k++) {
    vec d = {0};
    for (int s = 0; s < 4; s++) {
      vec y = {x[0], x[1], x[2]}, v;
      if (k < 3) y[k] += step[s] * h;
      at(f, t + (k == 3 ? step[s] * h : 0), y, v, NULL, NULL);
      for (int i = 0; i < 3; i++) d[i] += weight[s] * v[i] / h;
    }
    for (int i = 0; i < 3; i++) check_near(k < 3 ? g[i][k] : rate[i], d[i], tolerance);
  }
}

static inline void random_place(uint64_t *seed, double size, vec x) {
  for (int i = 0; i < 3; i++) x[i] = check_uniform(seed, -size, size);
}
