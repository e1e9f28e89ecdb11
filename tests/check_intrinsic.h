/* Random points of spaces that are defined by the metric in one chart (intrinsic spaces), and the metric at a point. */
#pragma once

#include "check_spaces.h"
#include <curvebody/intrinsic.h>

enum { N = CB_DIM_MAX };

/* Makes random coordinates q, which differ from the coordinates of the base point by at most 1.5. If one coordinate of
 * q changes by 0.5 in either direction, the result is a point of the chart, too. */
static inline void random_coordinates(const cb_space *g, uint64_t *state, double *q) {
  for (bool room = false; !room;) {
    double base[N];
    cb_space_base_point(g, base);
    for (int i = 0; i < g->dim; i++) q[i] = base[i] + check_uniform(state, -1.5, 1.5);
    room = true;
    for (int i = 0; i < 2 * g->dim; i++) {
      double at[N];
      memcpy(at, q, (size_t)g->dim * sizeof *at);
      at[i / 2] += i % 2 ? 0.5 : -0.5;
      room = room && cb_space_check_point(g, at, 1e-12) == CB_OK;
    }
  }
}

static inline void metric_at(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  check_ok(g->chart->metric(g, q, gij, dg, ddg));
}
