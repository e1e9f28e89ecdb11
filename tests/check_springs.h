/* Spaces, random points and an independent computation of the lengths of springs in extended precision, for the tests
 * of springs. */
#pragma once

#include "check.h"
#include "core/threads.h"
#include "dynamics/springs.h"
#include <float.h>

enum { CHECK_SPACES = 10 };

/* Returns space number `index`: E, S and H of two and three dimensions, S3 and H3 with other curvatures than 1 and -1,
 * and two products. The members of the space are set here, so that the tests of springs do not depend on the code of
 * spaces. */
static inline cb_space check_space(int index) {
  static const struct {
    int k, first; /* number of coordinates, and how many of them belong to the first factor */
    double curvature, second;
  } table[CHECK_SPACES] = {{2, 2, 0, 0},  {3, 3, 0, 0},  {3, 3, 1, 0},    {4, 4, 1, 0},    {3, 3, -1, 0},
                           {4, 4, -1, 0}, {4, 4, .3, 0}, {4, 4, -2.5, 0}, {4, 3, -1.3, 0}, {4, 2, 0, .8}};
  int k = table[index].k, first = table[index].first;
  cb_space g = {.k = k, .embedding = k, .n_factors = first < k ? 2 : 1, .form = {1, 1, 1, 1}};
  g.factor[0] = (cb_factor){0, first, table[index].curvature};
  g.factor[1] = (cb_factor){first, k - first, table[index].second};
  if (table[index].curvature < 0) g.form[first - 1] = -1;
  for (int f = 0; f < g.n_factors; f++) g.dim += g.factor[f].count - (g.factor[f].curvature != 0);
  return g;
}

/* Makes a random point x. In every factor its distance from the base point is at most `size`. */
static inline void check_space_point(const cb_space *g, uint64_t *state, double size, double *x) {
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor *factor = &g->factor[f];
    double *at = x + factor->offset, length = 0, curvature = factor->curvature, radius = 1 / sqrt(fabs(curvature));
    int dim = factor->count - (curvature != 0);
    do {
      length = 0;
      for (int a = 0; a < dim; a++) {
        at[a] = check_uniform(state, -1, 1);
        length += at[a] * at[a];
      }
    } while (length > 1);
    length = sqrt(length);
    if (curvature == 0) {
      for (int a = 0; a < dim; a++) at[a] *= size;
      continue;
    }
    double angle = length * size / radius, s = curvature > 0 ? sin(angle) : sinh(angle);
    for (int a = 0; a < dim; a++) at[a] *= radius * s / length;
    at[dim] = radius * (curvature > 0 ? cos(angle) : cosh(angle));
  }
}

/* Returns the distance d of the ends x and y of a spring, by the formulas of src/dynamics/springs.h with asinl and
 * asinhl. Writes its partial derivatives by x to `gradient`; the derivatives by y have the opposite sign. Relative
 * errors of d and of the gradient can exceed those of the coordinate differences by the factor *condition. */
static inline long double check_spring_distance(const cb_space *g, const double *x, const double *y,
                                                long double *gradient, double *condition) {
  long double square = 0, part[CB_FACTOR_MAX] = {0}, slope[CB_FACTOR_MAX] = {0};
  *condition = 1;
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor *factor = &g->factor[f];
    long double q = 0, sum = 0, curvature = factor->curvature;
    for (int a = factor->offset; a < factor->offset + factor->count; a++) {
      long double delta = (long double)x[a] - y[a];
      q += g->form[a] * delta * delta;
      sum += delta * delta;
    }
    long double t = curvature * q / 4, c = sqrtl(q), radius = curvature == 0 ? 1 : 1 / sqrtl(fabsl(curvature)),
                u = c / (2 * radius);
    part[f] = curvature == 0 ? c : 2 * radius * (curvature > 0 ? asinl(u) : asinhl(u));
    slope[f] = q > 0 ? 1 / (c * sqrtl(1 - t)) : 0;
    square += part[f] * part[f];
    double worse = q > 0 ? (double)(sum / q * (1 + fabsl(t) / (1 - t))) : 1;
    if (worse > *condition) *condition = worse;
  }
  long double d = sqrtl(square);
  for (int f = 0; f < g->n_factors; f++)
    for (int a = g->factor[f].offset; a < g->factor[f].offset + g->factor[f].count; a++)
      gradient[a] = d > 0 ? part[f] / d * slope[f] * g->form[a] * ((long double)x[a] - y[a]) : 0;
  return d;
}

static const char *const check_isa[] = {CB_ISA_BASE, "avx2", "avx512"};

/* A plan of springs and its work memory, for the instruction set in use. */
typedef struct check_plan {
  cb_springs *plan;
  cb_springs_work *work;
} check_plan;

static inline check_plan check_plan_create(const cb_space *g, int n, size_t m, const cb_spring *spring, int threads) {
  check_plan p;
  check_ok(cb_springs_create(g, n, m, spring, &p.plan));
  check_ok(cb_springs_work_create(p.plan, threads, &p.work));
  return p;
}

static inline void check_plan_free(check_plan p) {
  cb_springs_work_free(p.work);
  cb_springs_free(p.plan);
}

static inline void check_force(check_plan p, const double *x, const double *v, double *force) {
  cb_springs_force(p.work, 1, &x, &v, &force);
}
