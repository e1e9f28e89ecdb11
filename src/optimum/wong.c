/* Wong's equations and their first derivatives, which need no more than second derivatives of A and M. */
#include "optimum/wong.h"

#include "numerics/small.h"

#include <string.h>

enum { ENTRIES = CB_GROUP_DIM * CB_SHAPE_MAX, SQUARE = CB_SHAPE_MAX * CB_SHAPE_MAX };

void cb_wong_init(cb_wong *w, const cb_bundle *b) {
  const cb_group *G = b->group;
  *w = (cb_wong){.bundle = b, .n = b->n, .dim = G->dim, .size = 2 * b->n + G->dim};
  for (int i = 0; i < G->dim; i++)
    for (int j = 0; j < G->dim; j++) {
      double a[CB_GROUP_DIM] = {0}, c[CB_GROUP_DIM] = {0};
      a[i] = c[j] = 1;
      G->bracket(G, a, c, w->bracket[i][j]);
    }
}

/* What is known of a point: of the free variables free[count], the factor of M_FF. */
typedef struct point {
  double A[ENTRIES], dA[CB_SHAPE_MAX * ENTRIES], M[SQUARE], dM[CB_SHAPE_MAX * SQUARE];
  double factor[SQUARE], v[CB_SHAPE_MAX], xi[CB_GROUP_DIM];
  double Al[CB_SHAPE_MAX][CB_SHAPE_MAX]; /* (d_kA)^T lambda */
  double Mv[CB_SHAPE_MAX][CB_SHAPE_MAX]; /* d_kM v */
  double Av[CB_SHAPE_MAX][CB_GROUP_DIM]; /* d_kA v */
  int free[CB_SHAPE_MAX], count;
} point;

/* out[n] = a^T lambda, a[dim][n] */
static void transposed(const cb_wong *w, const double *a, const double *lambda, double *out) {
  for (int i = 0; i < w->n; i++) out[i] = 0;
  for (int k = 0; k < w->dim; k++)
    for (int i = 0; i < w->n; i++) out[i] += a[k * w->n + i] * lambda[k];
}

static void times(int rows, int n, const double *a, const double *v, double *out) {
  for (int k = 0; k < rows; k++) {
    out[k] = 0;
    for (int i = 0; i < n; i++) out[k] += a[k * n + i] * v[i];
  }
}

/* A right side in place of the free rows' solution of M_FF; rows of held ones are 0. */
static void solve(const point *q, int n, double *x) {
  double part[CB_SHAPE_MAX];
  for (int i = 0; i < q->count; i++) part[i] = x[q->free[i]];
  cb_cholesky_solve(q->count, q->factor, part);
  memset(x, 0, (size_t)n * sizeof *x);
  for (int i = 0; i < q->count; i++) x[q->free[i]] = part[i];
}

/* What follows from v. */
static cb_status fibre(const cb_wong *w, point *q, const double *lambda) {
  const int n = w->n, dim = w->dim;
  times(dim, n, q->A, q->v, q->xi);
  for (int a = 0; a < dim; a++) q->xi[a] = -q->xi[a];
  for (int k = 0; k < n; k++) {
    transposed(w, q->dA + k * dim * n, lambda, q->Al[k]);
    times(n, n, q->dM + k * n * n, q->v, q->Mv[k]);
    times(dim, n, q->dA + k * dim * n, q->v, q->Av[k]);
  }
  return CB_OK;
}

static cb_status evaluate(const cb_wong *w, unsigned held, const double *x, point *q) {
  const int n = w->n;
  const double *p = x + n, *lambda = x + 2 * n;
  const cb_status status = cb_bundle_connection(w->bundle, x, q->A, q->dA, q->M, q->dM);
  if (status) return status;
  if (w->speed != 0) {
    memset(q->dM, 0, sizeof q->dM);
    const cb_status singular = cb_wong_abnormal_velocity(w, x, q->v, NULL);
    return singular ? singular : fibre(w, q, lambda);
  }
  q->count = 0;
  for (int i = 0; i < n; i++)
    if (!(held >> i & 1)) q->free[q->count++] = i;
  double m[SQUARE];
  for (int i = 0; i < q->count; i++)
    for (int j = 0; j <= i; j++) m[i * q->count + j] = q->M[q->free[i] * n + q->free[j]];
  if (!cb_cholesky(q->count, m, 0, q->factor))
    return cb_fail(CB_STEP_SINGULAR, "bundle %s: the cost metric is not positive", w->bundle->kind->name);
  transposed(w, q->A, lambda, q->v);
  for (int i = 0; i < n; i++) q->v[i] = p[i] - q->v[i];
  solve(q, n, q->v);
  return fibre(w, q, lambda);
}

static void rates(const cb_wong *w, unsigned held, const point *q, const double *lambda, double *f) {
  const int n = w->n;
  for (int i = 0; i < n; i++) {
    f[i] = q->v[i];
    f[n + i] = held >> i & 1 ? 0 : cb_dot(n, q->v, q->Mv[i]) / 2 + cb_dot(w->dim, lambda, q->Av[i]);
  }
  for (int b = 0; b < w->dim; b++) {
    f[2 * n + b] = 0;
    for (int a = 0; a < w->dim; a++) f[2 * n + b] += q->xi[a] * cb_dot(w->dim, w->bracket[a][b], lambda);
  }
}

/* V[n][size] and X[dim][size] */
static cb_status velocity_slopes(const cb_wong *w, const point *q, const double *x, double *V, double *X) {
  const int n = w->n, dim = w->dim, size = w->size;
  double v[CB_SHAPE_MAX];
  const cb_status status = w->speed != 0 ? cb_wong_abnormal_velocity(w, x, v, V) : CB_OK;
  if (status) return status;
  for (int c = 0; c < size; c++) {
    double column[CB_SHAPE_MAX];
    for (int i = 0; i < n; i++)
      column[i] = c < n ? -q->Al[c][i] - q->Mv[c][i] : c < 2 * n ? c - n == i : -q->A[(c - 2 * n) * n + i];
    if (w->speed == 0) solve(q, n, column);
    for (int i = 0; i < n; i++)
      if (w->speed == 0)
        V[i * size + c] = column[i];
      else
        column[i] = V[i * size + c];
    for (int a = 0; a < dim; a++) X[a * size + c] = -cb_dot(n, q->A + a * n, column) - (c < n ? q->Av[c][a] : 0);
  }
  return CB_OK;
}

static cb_status slopes(const cb_wong *w, unsigned held, const double *x, const point *q, const double *V,
                        const double *X, double *J) {
  const int n = w->n, dim = w->dim, size = w->size;
  const double *lambda = x + 2 * n;
  double ddA[CB_SHAPE_MAX * CB_SHAPE_MAX * ENTRIES], ddM[SQUARE * SQUARE];
  const cb_status status = cb_bundle_second(w->bundle, x, ddA, ddM);
  if (status) return status;
  if (w->speed != 0) memset(ddM, 0, sizeof ddM);
  memcpy(J, V, (size_t)(n * size) * sizeof *J);
  for (int i = 0; i < n; i++) {
    double *row = J + (n + i) * size;
    memset(row, 0, (size_t)size * sizeof *row);
    if (held >> i & 1) continue;
    for (int j = 0; j < n; j++)
      for (int c = 0; c < size; c++) row[c] += (q->Mv[i][j] + q->Al[i][j]) * V[j * size + c];
    for (int k = 0; k < n; k++) {
      double Mv[CB_SHAPE_MAX], Av[CB_GROUP_DIM];
      times(n, n, ddM + (i * n + k) * n * n, q->v, Mv);
      times(dim, n, ddA + (i * n + k) * dim * n, q->v, Av);
      row[k] += cb_dot(n, q->v, Mv) / 2 + cb_dot(dim, lambda, Av);
    }
    for (int a = 0; a < dim; a++) row[2 * n + a] += q->Av[i][a];
  }
  for (int b = 0; b < dim; b++) {
    double *row = J + (2 * n + b) * size;
    memset(row, 0, (size_t)size * sizeof *row);
    for (int a = 0; a < dim; a++) {
      const double moved = cb_dot(dim, w->bracket[a][b], lambda);
      for (int c = 0; c < size; c++) row[c] += moved * X[a * size + c];
      for (int d = 0; d < dim; d++) row[2 * n + d] += q->xi[a] * w->bracket[a][b][d];
    }
  }
  return CB_OK;
}

cb_status cb_wong_at(const cb_wong *w, unsigned held, const double *x, const cb_wong_rates *out) {
  point q;
  double V[CB_SHAPE_MAX * CB_WONG_MAX], X[CB_GROUP_DIM * CB_WONG_MAX];
  const int n = w->n;
  const cb_status status = evaluate(w, held, x, &q);
  if (status) return status;
  if (out->f) rates(w, held, &q, x + 2 * n, out->f);
  if (out->v) memcpy(out->v, q.v, (size_t)n * sizeof *q.v);
  if (out->xi) memcpy(out->xi, q.xi, (size_t)w->dim * sizeof *q.xi);
  if (out->H) {
    double Mv[CB_SHAPE_MAX];
    times(n, n, q.M, q.v, Mv);
    *out->H = cb_dot(n, q.v, Mv) / 2;
  }
  if (!out->J && !out->X && !out->V) return CB_OK;
  double *const v = out->V ? out->V : V, *const xi = out->X ? out->X : X;
  const cb_status sloped = velocity_slopes(w, &q, x, v, xi);
  return sloped || !out->J ? sloped : slopes(w, held, x, &q, v, xi, out->J);
}

cb_status cb_wong_momentum(const cb_wong *w, const double *r, const double *v, const double *lambda, double *p) {
  double A[ENTRIES], M[SQUARE], Al[CB_SHAPE_MAX];
  const cb_status status = cb_bundle_connection(w->bundle, r, A, NULL, M, NULL);
  if (status) return status;
  times(w->n, w->n, M, v, p);
  transposed(w, A, lambda, Al);
  for (int i = 0; i < w->n; i++) p[i] += Al[i];
  return CB_OK;
}

cb_status cb_wong_release(const cb_wong *w, unsigned held, double *x, double *D) {
  const int n = w->n, size = w->size;
  point q;
  double V[CB_SHAPE_MAX * CB_WONG_MAX], X[CB_GROUP_DIM * CB_WONG_MAX], p[CB_SHAPE_MAX], Al[CB_SHAPE_MAX];
  const cb_status status = evaluate(w, held, x, &q);
  if (status) return status;
  times(n, n, q.M, q.v, p);
  transposed(w, q.A, x + 2 * n, Al);
  if (D) velocity_slopes(w, &q, x, V, X); /* of bounds: not abnormal, and cannot fail */
  for (int i = 0; D && i < size; i++)
    for (int c = 0; c < size; c++) D[i * size + c] = i == c;
  for (int i = 0; i < n; i++) {
    if (!(held >> i & 1)) continue;
    x[n + i] = p[i] + Al[i];
    if (!D) continue;
    double *row = D + (n + i) * size;
    for (int c = 0; c < size; c++) {
      row[c] = c < n ? q.Mv[c][i] + q.Al[c][i] : c < 2 * n ? 0 : q.A[(c - 2 * n) * n + i];
      for (int j = 0; j < n; j++) row[c] += q.M[i * n + j] * V[j * size + c];
    }
  }
  return CB_OK;
}

cb_status cb_wong_contact(const cb_wong *w, unsigned held, const double *x, double *force) {
  const int n = w->n, size = w->size;
  double y[CB_WONG_MAX], f[CB_WONG_MAX], D[CB_WONG_MAX * CB_WONG_MAX];
  point q;
  memcpy(y, x, (size_t)size * sizeof *y);
  cb_status status = evaluate(w, held, x, &q);
  if (!status) status = cb_wong_release(w, held, y, D); /* p_i' is the derivative of p_i(x) along f */
  if (status) return status;
  rates(w, held, &q, x + 2 * n, f);
  for (int i = 0; i < n; i++)
    force[i] = held >> i & 1 ? cb_dot(size, D + (n + i) * size, f) - cb_dot(n, q.v, q.Mv[i]) / 2 -
                                   cb_dot(w->dim, x + 2 * n, q.Av[i])
                             : 0;
  return CB_OK;
}
