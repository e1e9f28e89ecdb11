/* A bundle with another cost metric M'.
 *
 *   M'_ij = (M_ij, or delta_ij, or e_ij(r)) + f_ij(r);   e, f: symmetric matrices of expressions of the shape r
 * M is the cost metric of the given bundle (the default), delta the identity. The connection is that of the given
 * bundle; derivatives of expressions are exact. M' must be positive definite, with pivots above 1e-14 n times its
 * diagonal for n shape variables; otherwise evaluation returns CB_STEP_SINGULAR.
 */
#include "bundle/bundle_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 2, SYMMETRIC = CB_SHAPE_MAX * (CB_SHAPE_MAX + 1) / 2, SQUARE = CB_SHAPE_MAX * CB_SHAPE_MAX };

typedef struct metric {
  cb_bundle_class class;
  const cb_bundle *inner;
  bool kept;                              /* M of the bundle is part of the sum */
  double diagonal;                        /* 1 if the identity is part of the sum, otherwise 0 */
  cb_expression *lower[PARTS][SYMMETRIC]; /* row by row; NULL: 0 */
  cb_expression *upper[PARTS][SYMMETRIC]; /* the entry across the diagonal, if it is a different expression */
} metric;

static void destroy(cb_bundle *b) {
  metric *own = b->self;
  for (int p = 0; p < PARTS; p++)
    for (int k = 0; k < SYMMETRIC; k++) {
      cb_expression_free(own->lower[p][k]);
      cb_expression_free(own->upper[p][k]);
    }
  free(own);
}

/* --- evaluation --- */

/* Adds the expressions to M[n*n] and to dM (or NULL), in the order of cb_bundle_class. Returns CB_STEP_DOMAIN if a
 * value is not finite, and CB_ERROR_ARGUMENT if two entries across the diagonal differ. */
static cb_status add_expressions(const cb_bundle *b, const double *r, double *M, double *dM) {
  const metric *own = b->self;
  const int n = b->n;
  for (int p = 0; p < PARTS; p++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) {
        const cb_expression *e = own->lower[p][cb_jet_packed(i, j)], *across = own->upper[p][cb_jet_packed(i, j)];
        double d[CB_SHAPE_MAX] = {0};
        if (!e) continue;
        const double value = dM ? cb_expression_gradient(e, r, n, d) : cb_expression_value(e, r);
        const double other = across ? cb_expression_value(across, r) : value;
        if (!isfinite(value) || !isfinite(other))
          return cb_fail(CB_STEP_DOMAIN, "the entry of the metric for %s and %s is %g: expected a finite number",
                         b->shape[i], b->shape[j], isfinite(value) ? other : value);
        if (fabs(value - other) > 1e-12 * (fabs(value) + fabs(other)))
          return cb_fail(CB_ERROR_ARGUMENT, "the metric is not symmetric: %.9g for %s and %s, but %.9g for %s and %s",
                         value, b->shape[i], b->shape[j], other, b->shape[j], b->shape[i]);
        M[i * n + j] += value;
        if (i != j) M[j * n + i] += value;
        for (int k = 0; dM && k < n; k++) {
          dM[(k * n + i) * n + j] += d[k];
          if (i != j) dM[(k * n + j) * n + i] += d[k];
        }
      }
  return CB_OK;
}

static cb_status check_positive(const cb_bundle *b, const double *M) {
  const int n = b->n;
  double L[CB_SHAPE_MAX][CB_SHAPE_MAX];
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = M[i * n + j];
      for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
      if (j < i)
        L[i][j] = sum / L[j][j];
      else if (!(M[i * n + i] > 0 && sum > 1e-14 * n * M[i * n + i]))
        return cb_fail(CB_STEP_SINGULAR,
                       "the cost metric is not positive definite: a change of %s%s has a cost of 0 or less",
                       b->shape[i], M[i * n + i] > 0 ? " with others" : "");
      else
        L[i][i] = sqrt(sum);
    }
  return CB_OK;
}

static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  const metric *own = b->self;
  const int n = b->n;
  const bool wanted = M || dM, kept = own->kept && wanted;
  double sum[SQUARE] = {0};
  cb_status status = cb_bundle_evaluate(own->inner, r, A, dA, kept ? sum : NULL, kept ? dM : NULL);
  if (status || !wanted) return status;
  if (dM && !kept) memset(dM, 0, (size_t)(n * n * n) * sizeof *dM);
  for (int i = 0; i < n; i++) sum[i * n + i] += own->diagonal;
  status = add_expressions(b, r, sum, dM);
  if (!status) status = check_positive(b, sum);
  if (M) memcpy(M, sum, (size_t)(n * n) * sizeof *M);
  return status;
}

static cb_status second(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  const metric *own = b->self;
  const int n = b->n;
  const cb_status status = cb_bundle_evaluate_second(own->inner, r, ddA, own->kept ? ddM : NULL);
  if (status || !ddM) return status;
  if (!own->kept) memset(ddM, 0, (size_t)(n * n * n * n) * sizeof *ddM);
  for (int p = 0; p < PARTS; p++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) {
        const cb_expression *e = own->lower[p][cb_jet_packed(i, j)];
        if (!e) continue;
        const cb_jet jet = cb_expression_jet(e, r, n);
        for (int k = 0; k < n; k++)
          for (int l = 0; l < n; l++) {
            const double h = jet.h[cb_jet_packed(k, l)];
            double *at = ddM + (k * n + l) * n * n;
            if (!isfinite(h))
              return cb_fail(CB_STEP_NOT_FINITE,
                             "a second derivative of the metric for %s and %s is %g: expected a finite number",
                             b->shape[i], b->shape[j], h);
            at[i * n + j] += h;
            if (i != j) at[j * n + i] += h;
          }
      }
  return CB_OK;
}

static cb_status plot(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
  const cb_bundle *inner = ((const metric *)b->self)->inner;
  return inner->class_->plot(inner, r, g, x);
}

static cb_status strain(const cb_bundle *b, const double *r, double *S) {
  const cb_bundle *inner = ((const metric *)b->self)->inner;
  return inner->class_->strain(inner, r, S);
}

/* --- creation --- */

static const cb_bundle_class class_of_metrics = {
    .doc = "a bundle with another cost metric", .destroy = destroy, .connection = connection, .second = second};

/* Copies the expressions of the entries (NULL: none) as part p. Returns CB_ERROR_ARGUMENT if an entry is on only one
 * side of the diagonal. */
static cb_status take(metric *own, int p, int n, const cb_expression *const *entry) {
  cb_status status = CB_OK;
  for (int i = 0; entry && i < n; i++)
    for (int j = 0; !status && j <= i; j++) {
      const cb_expression *e = entry[i * n + j], *across = entry[j * n + i];
      const int at = cb_jet_packed(i, j);
      if (!e != !across)
        return cb_fail(CB_ERROR_ARGUMENT,
                       "the metric has an entry %d, %d on only one side of its diagonal: expected both or none", i, j);
      if (n > CB_JET_MAX && e) own->class.second = NULL;
      if (e) status = cb_expression_copy(e, &own->lower[p][at]);
      if (!status && across != e) status = cb_expression_copy(across, &own->upper[p][at]);
    }
  return status;
}

cb_status cb_bundle_with_metric(const cb_bundle *b, const cb_bundle_metric *m, cb_bundle **out) {
  cb_bundle *made = calloc(1, sizeof *made);
  metric *own = calloc(1, sizeof *own);
  if (!made || !own) {
    free(made);
    free(own);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a metric of bundle %s", b->class_->name);
  }
  *own = (metric){
      .class = class_of_metrics, .inner = b, .kept = !m->identity && !m->entry, .diagonal = m->identity && !m->entry};
  own->class.name = b->class_->name;
  own->class.title = b->class_->title;
  if (b->class_->plot) own->class.plot = plot;
  if (b->class_->strain) own->class.strain = strain;
  *made = *b;
  made->class_ = &own->class;
  made->self = own;
  cb_status status = take(own, 0, b->n, m->entry);
  if (!status) status = take(own, 1, b->n, m->add);
  if (status)
    cb_bundle_free(made);
  else
    *out = made;
  return status;
}
