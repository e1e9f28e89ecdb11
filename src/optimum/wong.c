/* Wong's equations (extremal.h) and their first derivatives, which need at most second derivatives of A and M. There
 * are three forms: in momenta, in rates with homogeneous multipliers, and for abnormal extremals. */
#include "optimum/extremal.h"

#include "numerics/tableau.h"
#include "numerics/small.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
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

/* The quantities at a state x. free[count] are the variables that are not held; `factor` is the Cholesky factor of M
 * restricted to these variables. */
typedef struct point {
  double A[ENTRIES], dA[CB_SHAPE_MAX * ENTRIES], M[SQUARE], dM[CB_SHAPE_MAX * SQUARE];
  double factor[SQUARE], v[CB_SHAPE_MAX], xi[CB_GROUP_DIM];
  double Al[CB_SHAPE_MAX][CB_SHAPE_MAX]; /* (d_kA)^T lambda, d_k: derivative by r_k */
  double Mv[CB_SHAPE_MAX][CB_SHAPE_MAX]; /* (d_kM) v */
  double Av[CB_SHAPE_MAX][CB_GROUP_DIM]; /* (d_kA) v */
  int free[CB_SHAPE_MAX], count;
} point;

/* Computes out[n] = a^T lambda for a[dim][n]. */
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

/* Replaces a right side x by M^-1 x, where M is restricted to the free variables. The entries of held variables become
 * 0. */
static void solve(const point *q, int n, double *x) {
  double part[CB_SHAPE_MAX];
  for (int i = 0; i < q->count; i++) part[i] = x[q->free[i]];
  cb_cholesky_solve(q->count, q->factor, part);
  memset(x, 0, (size_t)n * sizeof *x);
  for (int i = 0; i < q->count; i++) x[q->free[i]] = part[i];
}

/* Computes xi, Al, Mv and Av, which follow from v and lambda. */
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
    return cb_fail(
        CB_STEP_SINGULAR,
        "bundle %s: the cost metric is not positive definite at this shape: try bounds that exclude the shape",
        w->bundle->class_->name);
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

/* Computes V[n][size] and X[dim][size], the derivatives of v and xi in x. */
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
  if (D) velocity_slopes(w, &q, x, V, X); /* a system with bounds is not abnormal, so this call cannot fail */
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

cb_status cb_wong_bound_force(const cb_wong *w, unsigned held, const double *x, double *force) {
  const int n = w->n, size = w->size;
  double y[CB_WONG_MAX], f[CB_WONG_MAX], D[CB_WONG_MAX * CB_WONG_MAX];
  point q;
  memcpy(y, x, (size_t)size * sizeof *y);
  cb_status status = evaluate(w, held, x, &q);
  if (!status) status = cb_wong_release(w, held, y, D); /* row n + i of D is dp_i/dx; times f it is p_i' */
  if (status) return status;
  rates(w, held, &q, x + 2 * n, f);
  for (int i = 0; i < n; i++)
    force[i] = held >> i & 1 ? cb_dot(size, D + (n + i) * size, f) - cb_dot(n, q.v, q.Mv[i]) / 2 -
                                   cb_dot(w->dim, x + 2 * n, q.Av[i])
                             : 0;
  return CB_OK;
}

/* --- Wong's equations in rates and homogeneous multipliers, and their first derivatives --- */

typedef struct rates_point {
  double A[ENTRIES], dA[CB_SHAPE_MAX * ENTRIES], M[SQUARE], dM[CB_SHAPE_MAX * SQUARE];
  double p[CB_SHAPE_MAX];                /* M v */
  double Al[CB_SHAPE_MAX][CB_SHAPE_MAX]; /* (d_kA)^T lambda, d_k: derivative by r_k */
  double Mv[CB_SHAPE_MAX][CB_SHAPE_MAX]; /* (d_kM) v */
  double Av[CB_SHAPE_MAX][CB_GROUP_DIM]; /* (d_kA) v */
  double s, kappa, xi[CB_GROUP_DIM];
  double dkappa[CB_WONG_MAX], dkappa_dcost;
} rates_point;

static cb_status evaluate_rates(const cb_wong *w, double mu, double cost, const double *x, rates_point *q) {
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
    transposed(w, q->dA + k * dim * n, lambda, q->Al[k]);
    times(n, n, q->dM + k * n * n, v, q->Mv[k]);
    times(dim, n, q->dA + k * dim * n, v, q->Av[k]);
    q->dkappa[k] = cb_dot(n, v, q->Mv[k]) / cost;
    q->dkappa[n + k] = 2 * q->p[k] / cost;
  }
  q->dkappa_dcost = -q->s / (cost * cost);
  return CB_OK;
}

static void values(const cb_wong *w, const rates_point *q, const double *x, const cb_wong_homogeneous *out) {
  const int n = w->n, dim = w->dim;
  const double *v = x + n, *lambda = x + 2 * n;
  transposed(w, q->A, lambda, out->P + n);
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

/* Computes the derivatives D and DG of P, and X of xi (cb_wong_homogeneous). */
static void rates_slopes(const cb_wong *w, const rates_point *q, const cb_wong_homogeneous *out) {
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

/* Computes the derivatives J and JG of f (cb_wong_homogeneous). */
static cb_status second_rates(const cb_wong *w, const rates_point *q, const double *x, const cb_wong_homogeneous *out) {
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
  rates_point q;
  const cb_status status = evaluate_rates(w, mu, cost, x, &q);
  if (status) return status;
  values(w, &q, x, out);
  if (!out->J) return CB_OK;
  rates_slopes(w, &q, out);
  for (int c = 0; c < w->size; c++) out->ds[c] = q.dkappa[c] * cost;
  return second_rates(w, &q, x, out);
}

/* --- velocities of abnormal extremals, from r and lambda only --- */

enum { PAIRS = 3, NODES = 4 };

static const double difference_step =
    .01; /* the step of differences of order 8; their error is 1e-14 for functions such as sin(x) */

/* Computes F = <lambda, B_ij> for all pairs i < j of shape variables, where B is the curvature. */
static cb_status field(const cb_wong *w, const double *x, double *F) {
  double B[PAIRS * CB_GROUP_DIM];
  const cb_status status = cb_bundle_curvatures(w->bundle, x, B);
  for (int k = 0; k < w->n * (w->n - 1) / 2; k++) {
    F[k] = 0;
    for (int a = 0; a < w->dim; a++) F[k] += x[2 * w->n + a] * B[k * w->dim + a];
  }
  return status;
}

/* Computes a vector d[n] in the direction of the velocity v of an abnormal extremal, from r and lambda. Its length is
 * arbitrary. Returns CB_ERROR_UNSUPPORTED unless n is 2 or 3. */
static cb_status direction(const cb_wong *w, const double *x, double *d) {
  double D[PAIRS * CB_SHAPE_MAX * CB_GROUP_DIM], F[PAIRS];
  cb_status status;
  if (w->n == 3) {
    status = field(w, x, F);
    d[0] = F[2];
    d[1] = -F[1];
    d[2] = F[0];
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

/* Computes the derivative of the vector of direction() by entry c of x. The vector is linear in lambda. */
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
  if (!(length > DBL_MIN))
    return cb_fail(CB_STEP_SINGULAR,
                   "the velocity of an abnormal extremal is not determined at this point: try another start");
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
