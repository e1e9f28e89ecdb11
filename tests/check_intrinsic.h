/* Random points of the spaces that are known by the metric of one chart, and their metric. */
#ifndef CB_TESTS_CHECK_INTRINSIC_H
#define CB_TESTS_CHECK_INTRINSIC_H

#include "check_spaces.h"
#include <curvebody/intrinsic.h>

enum { N = CB_DIM_MAX };

static inline void random_coordinates(const cb_geometry *g, uint64_t *state, double *q) {
  do {
    for (int i = 0; i < g->dim; i++) q[i] = check_uniform(state, -1.5, 1.5);
    if (strcmp(g->class->name, "schwarzschild") == 0)
      for (int i = 0; i < g->dim; i++) q[i] *= 4;
  } while (cb_geometry_check_point(g, q, 1e-12));
}

static inline void metric_at(const cb_geometry *g, const double *q, double *gij, double *dg, double *ddg) {
  check_ok(g->chart->metric(g, q, gij, dg, ddg));
}

#endif
