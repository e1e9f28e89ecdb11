/* The first guess of an implicit step from the steps before it: the polynomial through the last values of the unknowns
 * x_k, k = 0, 1, .. steps ago, which are equally spaced in time.
 *
 *   x = sum_{j <= degree} D_j,   D_0 = x_0,  D_j = the j-th backward difference of x
 * The largest entry of D_j in the last step is the error that degree j - 1 would have had there. The degree with the
 * smallest error is used, or the lowest degree whose error one correction of Newton's method reduces to round-off.
 * Source: Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), III.1,
 * doi:10.1007/978-3-540-78862-1.
 */
#pragma once

#include "numerics/tableau.h"
#include <curvebody/bundle.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { CB_SHAPE_DIFFERENCES = 12, CB_SHAPE_HISTORY = CB_STAGES_MAX * CB_SHAPE_MAX };

typedef struct cb_shape_history {
  int count, degree; /* count: number of known differences; degree: that of the last guess */
  double h, t, gap;  /* of the last step: h: its length; t: the time of its start; gap: the time since the step before
                      * it */
  double difference[CB_SHAPE_DIFFERENCES][CB_SHAPE_HISTORY], size[CB_SHAPE_DIFFERENCES];
} cb_shape_history;

/* Returns whether there is a guess for the step h at time t. The history is deleted if its steps have another length,
 * or if the time from the last step to this one differs from the time between the earlier steps. */
static inline bool cb_shape_history_serves(cb_shape_history *past, double h, double t) {
  const double gap = t - past->t;
  if (past->h != h || (past->count > 1 && !(fabs(gap - past->gap) <= 1e-6 * fabs(past->gap)))) past->count = 0;
  past->gap = gap;
  return past->count > 0;
}

/* Computes the guess x[N]. rate: the factor by which one correction of Newton's method reduces an error. This function
 * and cb_shape_remember are inlined so that a constant N gives loops of constant length. */
static inline __attribute__((always_inline)) void cb_shape_guess(cb_shape_history *past, int N, double rate,
                                                                 double *x) {
  const int top = past->count - 1;
  int best = top;
  for (int k = 1; k < top; k++)
    if (past->size[k] < past->size[best]) {
      best = k;
      if (past->size[k] * rate <= DBL_EPSILON / 16 * past->size[0]) break; /* one correction is enough */
    }
  past->degree = best == top ? top : best - 1;
  for (int i = 0; i < N; i++) x[i] = past->difference[past->degree][i];
  for (int k = past->degree - 1; k >= 0; k--)
    for (int i = 0; i < N; i++) x[i] += past->difference[k][i];
}

/* Adds the solution x[N] of the step h from time t to the history. */
static inline __attribute__((always_inline)) void cb_shape_remember(cb_shape_history *past, int N, const double *x,
                                                                    double h, double t) {
  int count = past->count < CB_SHAPE_DIFFERENCES ? past->count : CB_SHAPE_DIFFERENCES - 1;
  if (count > past->degree + 2) count = past->degree + 2; /* differences of higher order are round-off */
  double next[CB_SHAPE_HISTORY];
  for (int i = 0; i < N; i++) next[i] = x[i];
  for (int k = 0; k <= count; k++) {
    double size = 0;
    for (int i = 0; i < N; i++) {
      const double value = next[i];
      next[i] = value - past->difference[k][i];
      past->difference[k][i] = value;
      size = fabs(value) > size ? fabs(value) : size;
    }
    past->size[k] = size;
  }
  past->count = count + 1;
  past->h = h;
  past->t = t;
}

/* Returns the rate of convergence (the ratio of two corrections) for the next step, from that of this step. Steps with
 * one correction do not measure the rate. A small rate is therefore increased slowly until it is measured again. */
static inline double cb_shape_next_rate(double rate) {
  return rate < 2e-5 ? fmin(2e-5, fmax(1.05 * rate, 1e-7)) : rate;
}

/* Returns whether the correction that follows `change` is round-off, for a solution of the size `scale`. */
static inline bool cb_shape_is_last(double change, double rate, double scale) {
  return change <= 1e-8 * scale && change * rate <= DBL_EPSILON * scale;
}
