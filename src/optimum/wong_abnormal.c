/* Velocities of abnormal extremals, from r and lambda alone (wong.h). */
#include "numerics/differences.h"
#include "numerics/small.h"
#include "optimum/wong.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SQUARE = CB_SHAPE_MAX * CB_SHAPE_MAX, PAIRS = 3, NODES = 4 };

static const double difference_step = .01; /* of order 8: 1e-14 of what changes over a radian */

/* <lambda, B> of all pairs. */
static cb_status field(const cb_wong *w, const double *x, double *F) {
  double B[PAIRS * CB_GROUP_DIM];
  const cb_status status = cb_bundle_curvatures(w->bundle, x, B);
  for (int k = 0; k < w->n * (w->n - 1) / 2; k++) {
    F[k] = 0;
    for (int a = 0; a < w->dim; a++) F[k] += x[2 * w->n + a] * B[k * w->dim + a];
  }
  return status;
}

/* Along v, of any length. */
static cb_status direction(const cb_wong *w, const double *x, double *d) {
  double D[PAIRS * CB_SHAPE_MAX * CB_GROUP_DIM], F[PAIRS];
  cb_status status;
  if (w->n == 3) {
    status = field(w, x, F);
    d[0] = F[2], d[1] = -F[1], d[2] = F[0];
    return status;
  }
  if (w->n != 2)
    return cb_fail(CB_ERROR_UNSUPPORTED, "an abnormal extremal of %d shape variables, expected 2 or 3", w->n);
  status = cb_bundle_covariant(w->bundle, x, D);
  d[0] = d[1] = 0;
  for (int a = 0; a < w->dim; a++) {
    d[0] += x[4 + a] * D[w->dim + a];
    d[1] -= x[4 + a] * D[a];
  }
  return status;
}

/* What that changes by in variable c of x: it is linear in lambda. */
static cb_status direction_slope(const cb_wong *w, const double *x, int c, double *slope) {
  double at[CB_WONG_MAX], plus[CB_SHAPE_MAX] = {0}, minus[CB_SHAPE_MAX] = {0};
  cb_status status = CB_OK;
  memcpy(at, x, (size_t)w->size * sizeof *at);
  if (c >= w->n) {
    for (int a = 0; a < w->dim; a++) at[2 * w->n + a] = c == 2 * w->n + a;
    return direction(w, at, slope);
  }
  memset(slope, 0, (size_t)w->n * sizeof *slope);
  for (int k = 1; !status && k <= NODES; k++) {
    at[c] = x[c] + k * difference_step;
    status = direction(w, at, plus);
    at[c] = x[c] - k * difference_step;
    if (!status) status = direction(w, at, minus);
    for (int i = 0; !status && i < w->n; i++)
      slope[i] += cb_central_weight[k - 1] * (plus[i] - minus[i]) / difference_step;
  }
  return status;
}

cb_status cb_wong_abnormal_velocity(const cb_wong *w, const double *x, double *v, double *V) {
  const int n = w->n, size = w->size;
  double d[CB_SHAPE_MAX] = {0}, p[CB_SHAPE_MAX], M[SQUARE], dM[SQUARE * CB_SHAPE_MAX], slope[CB_SHAPE_MAX] = {0};
  cb_status status = direction(w, x, d);
  if (!status) status = cb_bundle_connection(w->bundle, x, NULL, NULL, M, V ? dM : NULL);
  if (status) return status;
  for (int i = 0; i < n; i++) p[i] = cb_dot(n, M + i * n, d);
  const double length = sqrt(cb_dot(n, d, p));
  if (!(length > DBL_MIN)) return cb_fail(CB_STEP_SINGULAR, "the velocity of an abnormal extremal is not determined");
  for (int i = 0; i < n; i++) v[i] = w->speed * d[i] / length;
  for (int c = 0; V && c < size; c++) {
    const bool momentum = c >= n && c < 2 * n;
    if (!momentum) status = direction_slope(w, x, c, slope);
    if (status) return status;
    double along = momentum ? 0 : cb_dot(n, p, slope);
    for (int i = 0; c < n && i < n; i++) along += d[i] * cb_dot(n, dM + (c * n + i) * n, d) / 2;
    for (int i = 0; i < n; i++)
      V[i * size + c] = momentum ? 0 : w->speed * (slope[i] - d[i] * along / (length * length)) / length;
  }
  return CB_OK;
}

cb_status cb_wong_singular(const cb_wong *w, const double *x, double *b, double *db) {
  double B[CB_GROUP_DIM];
  cb_status status = field(w, x, b);
  if (status || !db) return status;
  memset(db, 0, (size_t)w->size * sizeof *db);
  for (int c = 0; c < w->n; c++) {
    double at[CB_WONG_MAX], plus, minus;
    memcpy(at, x, (size_t)w->size * sizeof *at);
    for (int k = 1; k <= NODES; k++) {
      at[c] = x[c] + k * difference_step;
      status = field(w, at, &plus);
      at[c] = x[c] - k * difference_step;
      if (!status) status = field(w, at, &minus);
      if (status) return status;
      db[c] += cb_central_weight[k - 1] * (plus - minus) / difference_step;
    }
  }
  status = cb_bundle_curvatures(w->bundle, x, B);
  for (int a = 0; a < w->dim; a++) db[2 * w->n + a] = B[a];
  return status;
}
