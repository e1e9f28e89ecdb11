/* Wong's equations in rates and homogeneous multipliers, and their first derivatives. */
#include "optimum/wong.h"

#include "numerics/small.h"

#include <string.h>

enum { ENTRIES = CB_GROUP_DIM * CB_SHAPE_MAX, SQUARE = CB_SHAPE_MAX * CB_SHAPE_MAX };

typedef struct point {
  double A[ENTRIES], dA[CB_SHAPE_MAX * ENTRIES], M[SQUARE], dM[CB_SHAPE_MAX * SQUARE];
  double p[CB_SHAPE_MAX];                /* Mv */
  double Al[CB_SHAPE_MAX][CB_SHAPE_MAX]; /* (d_kA)^T lambda */
  double Mv[CB_SHAPE_MAX][CB_SHAPE_MAX]; /* d_kM v */
  double Av[CB_SHAPE_MAX][CB_GROUP_DIM]; /* d_kA v */
  double s, kappa, xi[CB_GROUP_DIM];
  double dkappa[CB_WONG_MAX], dkappa_dcost;
} point;

static void times(int rows, int n, const double *a, const double *v, double *out) {
  for (int k = 0; k < rows; k++) out[k] = cb_dot(n, a + k * n, v);
}

static void transposed(int rows, int n, const double *a, const double *lambda, double *out) {
  memset(out, 0, (size_t)n * sizeof *out);
  for (int k = 0; k < rows; k++)
    for (int i = 0; i < n; i++) out[i] += a[k * n + i] * lambda[k];
}

static cb_status evaluate(const cb_wong *w, double mu, double cost, const double *x, point *q) {
  const int n = w->n, dim = w->dim;
  const double *v = x + n, *lambda = x + 2 * n;
  const cb_status status = cb_bundle_connection(w->bundle, x, q->A, q->dA, q->M, q->dM);
  if (status) return status;
  times(n, n, q->M, v, q->p);
  times(dim, n, q->A, v, q->xi);
  for (int a = 0; a < dim; a++) q->xi[a] = -q->xi[a];
  q->s = cb_dot(n, v, q->p);
  q->kappa = mu + q->s / cost - 1;
  memset(q->dkappa, 0, sizeof q->dkappa);
  for (int k = 0; k < n; k++) {
    transposed(dim, n, q->dA + k * dim * n, lambda, q->Al[k]);
    times(n, n, q->dM + k * n * n, v, q->Mv[k]);
    times(dim, n, q->dA + k * dim * n, v, q->Av[k]);
    q->dkappa[k] = cb_dot(n, v, q->Mv[k]) / cost;
    q->dkappa[n + k] = 2 * q->p[k] / cost;
  }
  q->dkappa_dcost = -q->s / (cost * cost);
  return CB_OK;
}

static void values(const cb_wong *w, const point *q, const double *x, const cb_wong_homogeneous *out) {
  const int n = w->n, dim = w->dim;
  const double *v = x + n, *lambda = x + 2 * n;
  transposed(dim, n, q->A, lambda, out->P + n);
  for (int i = 0; i < n; i++) {
    out->P[i] = x[i];
    out->P[n + i] += q->kappa * q->p[i];
    out->f[i] = v[i];
    out->f[n + i] = q->kappa * cb_dot(n, v, q->Mv[i]) / 2 + cb_dot(dim, lambda, q->Av[i]);
  }
  for (int b = 0; b < dim; b++) {
    out->P[2 * n + b] = lambda[b];
    out->f[2 * n + b] = 0;
    for (int a = 0; a < dim; a++) out->f[2 * n + b] += q->xi[a] * cb_dot(dim, w->bracket[a][b], lambda);
  }
  memcpy(out->xi, q->xi, (size_t)dim * sizeof *q->xi);
  *out->s = q->s;
}

/* Of P, and of the speed and xi. */
static void slopes(const cb_wong *w, const point *q, const cb_wong_homogeneous *out) {
  const int n = w->n, dim = w->dim, size = w->size;
  memset(out->D, 0, (size_t)(size * size) * sizeof *out->D);
  memset(out->DG, 0, (size_t)(2 * size) * sizeof *out->DG);
  memset(out->X, 0, (size_t)(dim * size) * sizeof *out->X);
  memset(out->ds, 0, (size_t)size * sizeof *out->ds);
  for (int i = 0; i < n; i++) {
    double *row = out->D + (n + i) * size;
    out->D[i * size + i] = 1;
    for (int c = 0; c < size; c++) row[c] = q->dkappa[c] * q->p[i];
    for (int k = 0; k < n; k++) {
      row[k] += q->kappa * q->Mv[k][i] + q->Al[k][i];
      row[n + k] += q->kappa * q->M[i * n + k];
    }
    for (int a = 0; a < dim; a++) row[2 * n + a] += q->A[a * n + i];
    out->DG[(n + i) * 2] = q->p[i];
    out->DG[(n + i) * 2 + 1] = q->dkappa_dcost * q->p[i];
  }
  for (int a = 0; a < dim; a++) {
    out->D[(2 * n + a) * size + 2 * n + a] = 1;
    for (int k = 0; k < n; k++) {
      out->X[a * size + k] = -q->Av[k][a];
      out->X[a * size + n + k] = -q->A[a * n + k];
    }
  }
}

/* Of f. */
static cb_status bends(const cb_wong *w, const point *q, const double *x, const cb_wong_homogeneous *out) {
  const int n = w->n, dim = w->dim, size = w->size;
  const double *v = x + n, *lambda = x + 2 * n;
  double ddA[CB_SHAPE_MAX * CB_SHAPE_MAX * ENTRIES], ddM[SQUARE * SQUARE];
  const cb_status status = cb_bundle_second(w->bundle, x, ddA, ddM);
  if (status) return status;
  memset(out->J, 0, (size_t)(size * size) * sizeof *out->J);
  memset(out->JG, 0, (size_t)(2 * size) * sizeof *out->JG);
  for (int i = 0; i < n; i++) {
    double *row = out->J + (n + i) * size;
    const double half = cb_dot(n, v, q->Mv[i]) / 2;
    out->J[i * size + n + i] = 1;
    for (int c = 0; c < size; c++) row[c] = q->dkappa[c] * half;
    for (int k = 0; k < n; k++) {
      double Mv[CB_SHAPE_MAX], Av[CB_GROUP_DIM];
      times(n, n, ddM + (i * n + k) * n * n, v, Mv);
      times(dim, n, ddA + (i * n + k) * dim * n, v, Av);
      row[k] += q->kappa * cb_dot(n, v, Mv) / 2 + cb_dot(dim, lambda, Av);
      row[n + k] += q->kappa * q->Mv[i][k] + q->Al[i][k];
    }
    for (int a = 0; a < dim; a++) row[2 * n + a] += q->Av[i][a];
    out->JG[(n + i) * 2] = half;
    out->JG[(n + i) * 2 + 1] = q->dkappa_dcost * half;
  }
  for (int b = 0; b < dim; b++) {
    double *row = out->J + (2 * n + b) * size;
    for (int a = 0; a < dim; a++) {
      const double moved = cb_dot(dim, w->bracket[a][b], lambda);
      for (int c = 0; c < size; c++) row[c] += moved * out->X[a * size + c];
      for (int d = 0; d < dim; d++) row[2 * n + d] += q->xi[a] * w->bracket[a][b][d];
    }
  }
  return CB_OK;
}

cb_status cb_wong_homogeneous_at(const cb_wong *w, double mu, double cost, const double *x,
                                 const cb_wong_homogeneous *out) {
  point q;
  const cb_status status = evaluate(w, mu, cost, x, &q);
  if (status) return status;
  values(w, &q, x, out);
  if (!out->J) return CB_OK;
  slopes(w, &q, out);
  for (int c = 0; c < w->size; c++) out->ds[c] = q.dkappa[c] * cost;
  return bends(w, &q, x, out);
}
