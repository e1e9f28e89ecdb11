/* Connection and cost metric from a form (cb_form_reduce in bundle_private.h). The block P of the form is factored as P
 * = S L L^T S: S is diagonal with the square roots of the diagonal of P, and L is lower triangular. */
#include "bundle/bundle_private.h"

#include <math.h>
#include <string.h>

typedef struct factor {
  int dim;
  double scale[CB_GROUP_DIM];           /* 1/sqrt of the diagonal of P */
  double L[CB_GROUP_DIM][CB_GROUP_DIM]; /* the diagonal is stored as its inverse */
} factor;

/* Factors P. The scale makes axes with different units comparable, so that one tolerance is right for all pivots, which
 * are squares of the sines of angles between motions. */
static cb_status factorise(const cb_group *group, const double *G, int stride, factor *f) {
  const int dim = f->dim = group->dim;
  for (int i = 0; i < dim; i++) {
    if (!(G[i * stride + i] > 0))
      return cb_fail(CB_STEP_SINGULAR, "the form P of the locked body is %g on axis %s: expected more than 0",
                     G[i * stride + i], group->axis[i]);
    f->scale[i] = 1 / sqrt(G[i * stride + i]);
  }
  for (int i = 0; i < dim; i++)
    for (int j = 0; j <= i; j++) {
      double sum = G[i * stride + j] * f->scale[i] * f->scale[j];
      for (int k = 0; k < j; k++) sum -= f->L[i][k] * f->L[j][k];
      if (j < i) {
        f->L[i][j] = sum * f->L[j][j];
        continue;
      }
      if (!(sum > 1e-14 * dim))
        return cb_fail(CB_STEP_SINGULAR,
                       "the form P of the locked body is singular: it is 0 for a motion along %s combined with other "
                       "axes; expected a positive definite form",
                       group->axis[i]);
      f->L[i][i] = 1 / sqrt(sum);
    }
  return CB_OK;
}

/* Replaces X[dim][n] by P^-1 X. */
static void solve(const factor *f, int n, double *X) {
  for (int i = 0; i < f->dim; i++) {
    double *x = X + i * n;
    for (int c = 0; c < n; c++) x[c] *= f->scale[i];
    for (int k = 0; k < i; k++)
      for (int c = 0; c < n; c++) x[c] -= f->L[i][k] * X[k * n + c];
    for (int c = 0; c < n; c++) x[c] *= f->L[i][i];
  }
  for (int i = f->dim - 1; i >= 0; i--) {
    double *x = X + i * n;
    for (int k = i + 1; k < f->dim; k++)
      for (int c = 0; c < n; c++) x[c] -= f->L[k][i] * X[k * n + c];
    for (int c = 0; c < n; c++) x[c] *= f->L[i][i];
  }
  for (int i = 0; i < f->dim; i++)
    for (int c = 0; c < n; c++) X[i * n + c] *= f->scale[i];
}

cb_status cb_form_reduce(const cb_group *group, int n, const double *G, const double *dG, double *A, double *dA,
                         double *M, double *dM) {
  const int dim = group->dim, N = dim + n;
  double a[CB_GROUP_DIM * CB_SHAPE_MAX], E[CB_GROUP_DIM * CB_SHAPE_MAX];
  factor f;
  const cb_status status = factorise(group, G, N, &f);
  if (status) return status;
  for (int i = 0; i < dim; i++) memcpy(a + i * n, G + i * N + dim, (size_t)n * sizeof *a);
  solve(&f, n, a);
  if (A) memcpy(A, a, (size_t)(dim * n) * sizeof *A);
  for (int i = 0; M && i < n; i++)
    for (int j = 0; j <= i; j++) {
      double sum = G[(dim + i) * N + dim + j];
      for (int k = 0; k < dim; k++) sum -= G[k * N + dim + i] * a[k * n + j];
      M[i * n + j] = M[j * n + i] = sum;
    }
  for (int v = 0; (dA || dM) && v < n; v++) {
    const double *d = dG + v * N * N;
    for (int i = 0; i < dim; i++)
      for (int c = 0; c < n; c++) {
        double sum = d[i * N + dim + c];
        for (int k = 0; k < dim; k++) sum -= d[i * N + k] * a[k * n + c];
        E[i * n + c] = sum;
      }
    for (int i = 0; dM && i < n; i++)
      for (int j = 0; j <= i; j++) {
        double sum = d[(dim + i) * N + dim + j];
        for (int k = 0; k < dim; k++) sum -= d[k * N + dim + i] * a[k * n + j] + a[k * n + i] * E[k * n + j];
        dM[(v * n + i) * n + j] = dM[(v * n + j) * n + i] = sum;
      }
    if (!dA) continue;
    solve(&f, n, E);
    memcpy(dA + v * dim * n, E, (size_t)(dim * n) * sizeof *dA);
  }
  return CB_OK;
}
