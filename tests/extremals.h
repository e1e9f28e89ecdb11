/* Extremals (gaits of stationary cost, curvebody/optimum.h) for the tests. The search for each begins at an ellipse
 * near it. */
#pragma once

#include "models.h"
#include "optimum/extremal.h"
#include <curvebody/holonomy.h>

/* The gait mean + cosine cos(2 pi t) + sine sin(2 pi t) in two shape variables, and an estimate of the multiplier
 * lambda of the holonomy at t = 0. */
typedef struct ellipse {
  double mean[2], cosine[2], sine[2], lambda[CB_GROUP_DIM];
} ellipse;

static inline cb_status extremal_try(const cb_optimum_problem *o, const ellipse *from, double amount,
                                     cb_extremal **out) {
  cb_gait *start;
  check_ok(cb_gait_fourier(2, 1, from->mean, from->cosine, from->sine, &start));
  const cb_status status = cb_extremal_solve(o, start, from->lambda, amount, out);
  cb_gait_free(start);
  return status;
}

/* Solves for an extremal and checks that its invariants are constant. Checks that its gait has the cost and the
 * holonomy that the extremal states; cb_holonomy computes them again by Magnus's method. */
static inline cb_extremal *extremal(const cb_optimum_problem *o, const ellipse *from, double amount) {
  cb_extremal *e;
  cb_gait *gait;
  double g[CB_GROUP_SIZE], cost;
  check_ok(extremal_try(o, from, amount, &e));
  check_at_most(e->residual, 1e-11);
  check_at_most(e->error, 1e-12);
  check_at_most(e->speed, 1e-12);
  check_at_most(e->momentum, 1e-12);
  check_at_most(e->casimir, 1e-12);
  check_ok(cb_extremal_gait(e, &gait));
  check_ok(cb_holonomy(o->bundle, gait, 0, g, NULL, &cost));
  check_relative(cost, e->cost, 1e-11);
  for (int i = 0; i < o->bundle->group->size; i++) check_near(g[i], e->g[i], 1e-11);
  cb_gait_free(gait);
  return e;
}

/* Optimal gaits of Purcell's three-link swimmer. Columns of the table: the displacement, the cost, two numbers s and w,
 * and the multipliers of x and of theta. At the start the shape is (s, s) and its rate is (w, -w). */
enum { PURCELL_ROWS = 4 };
static const double purcell_row[PURCELL_ROWS][6] = {
    {.001, .003274173125, .058488506508, .845625629556, 1.651904897, -.010718774},
    {.01, .035480647743, .207486787210, 2.761789598735, 1.930215772, -.043856808},
    {.03, .126266414425, .442042215276, 5.055830806645, 2.627947737, -.123910093},
    {.05, .247785398952, .663382472070, 6.756148993490, 3.488942249, -.240132450}};

/* Returns an ellipse that differs by a few per cent from the gait of a row of this table. */
static inline ellipse purcell_near(const double *row) {
  const double s = 1.02 * row[2], w = .97 * row[3] / (2 * M_PI);
  return (ellipse){{0, 0}, {s, s}, {w, -w}, {1.01 * row[4], 0, row[5]}};
}
