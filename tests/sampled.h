/* Makes a bundle from values of the connection A and the metric M of the bundle b on a regular grid. The grid has
 * points[i] values of shape variable i from low[i] to high[i]. Splines of this degree interpolate between them. */
#pragma once

#include "bundle/samples.h"
#include "check.h"

static inline cb_bundle *sampled(const cb_bundle *b, const double *low, const double *high, const int *points,
                                 int degree) {
  const int n = b->n, count = b->group->dim * n;
  cb_bundle_table t = {.group = b->group, .n = n};
  cb_bundle *out;
  double *axis[CB_SAMPLES_AXES], r[CB_SAMPLES_AXES];
  size_t total = 1;
  for (int i = 0; i < n; i++) {
    axis[i] = malloc((size_t)points[i] * sizeof *axis[i]);
    for (int k = 0; k < points[i]; k++) axis[i][k] = low[i] + (high[i] - low[i]) * k / (points[i] - 1);
    t.axis[i] = axis[i];
    t.points[i] = points[i];
    t.shape[i] = b->shape[i];
    if (fabs(high[i] - low[i] - b->period[i]) <= 1e-9 * b->period[i]) t.period[i] = b->period[i];
    total *= (size_t)points[i];
  }
  double *A = malloc(total * (size_t)count * sizeof *A), *M = malloc(total * (size_t)(n * n) * sizeof *M);
  for (size_t at = 0; at < total; at++) {
    size_t rest = at;
    for (int i = n - 1; i >= 0; rest /= (size_t)points[i--]) r[i] = axis[i][rest % (size_t)points[i]];
    check_ok(cb_bundle_connection(b, r, A + at * (size_t)count, NULL, M + at * (size_t)(n * n), NULL));
  }
  t.connection = A;
  t.metric = M;
  check_ok(cb_bundle_samples(&t, degree, &out));
  for (int i = 0; i < n; i++) free(axis[i]);
  free(A);
  free(M);
  return out;
}
