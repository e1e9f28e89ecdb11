/* Curvature of a connection and its covariant derivative.
 *
 *   B_ij = d_i A_j - d_j A_i - [A_i, A_j];   D_k B_ij = d_k B_ij - [A_k, B_ij]
 * Another body frame g h(r) gives A -> Ad_h^-1 A - h^-1 dh, and then B -> Ad_h^-1 B, DB -> Ad_h^-1 DB. Bianchi's identity:
 * D_i B_jk + D_j B_ki + D_k B_ij = 0.
 * Source: Kobayashi & Nomizu, Foundations of Differential Geometry I (1963), chapter II, sections 5 and 7, with the sign
 * of xi = -A r'.
 */
#include "bundle/bundle_private.h"

#include <math.h>

enum { PAIRS_MAX = CB_SHAPE_MAX * (CB_SHAPE_MAX - 1) / 2, ENTRIES_MAX = CB_GROUP_DIM * CB_SHAPE_MAX };

static void column(const double *A, int dim, int n, int j, double *out) {
  for (int a = 0; a < dim; a++) out[a] = A[a * n + j];
}

static void pair_curvature(const cb_bundle *b, const double *A, const double *dA, int i, int j, double *B) {
  const int dim = b->group->dim, n = b->n;
  double ai[CB_GROUP_DIM], aj[CB_GROUP_DIM], bracket[CB_GROUP_DIM] = {0};
  if (!b->group->abelian) {
    column(A, dim, n, i, ai);
    column(A, dim, n, j, aj);
    b->group->bracket(b->group, ai, aj, bracket);
  }
  for (int a = 0; a < dim; a++)
    B[a] = dA[(i * dim + a) * n + j] - dA[(j * dim + a) * n + i] - bracket[a];
}

static void all_curvatures(const cb_bundle *b, const double *A, const double *dA, double *B) {
  for (int i = 0; i < b->n; i++)
    for (int j = i + 1; j < b->n; j++, B += b->group->dim) pair_curvature(b, A, dA, i, j, B);
}

cb_status cb_bundle_curvature(const cb_bundle *b, const double *r, int i, int j, double *B) {
  double A[ENTRIES_MAX], dA[CB_SHAPE_MAX * ENTRIES_MAX];
  if (i < 0 || j < 0 || i >= b->n || j >= b->n || i == j)
    return cb_fail(CB_ERROR_ARGUMENT, "bundle %s: no curvature of the pair %d, %d of %d shape variables", b->kind->name,
                   i, j, b->n);
  const cb_status status = cb_bundle_connection(b, r, A, dA, NULL, NULL);
  if (status) return status;
  pair_curvature(b, A, dA, i, j, B);
  return CB_OK;
}

cb_status cb_bundle_curvatures(const cb_bundle *b, const double *r, double *B) {
  double A[ENTRIES_MAX], dA[CB_SHAPE_MAX * ENTRIES_MAX];
  const cb_status status = cb_bundle_connection(b, r, A, dA, NULL, NULL);
  if (status) return status;
  all_curvatures(b, A, dA, B);
  return CB_OK;
}

/* dB[n][pairs][dim] from second derivatives of A: d_k B_ij = d_ki A_j - d_kj A_i - [d_k A_i, A_j] - [A_i, d_k A_j] */
static cb_status derivative_from_jets(const cb_bundle *b, const double *r, double *dB) {
  const cb_group *G = b->group;
  const int dim = G->dim, n = b->n;
  cb_jet x[CB_JET_MAX], A[CB_GROUP_DIM * CB_JET_MAX];
  for (int i = 0; i < n; i++) x[i] = cb_jet_variable(n, i, r[i]);
  const cb_status status = b->kind->on_jets(b, x, A, NULL);
  if (status) return cb_bundle_fail_at(b, r, status);
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++, dB += dim) {
        double ai[CB_GROUP_DIM], aj[CB_GROUP_DIM], dai[CB_GROUP_DIM], daj[CB_GROUP_DIM];
        double left[CB_GROUP_DIM], right[CB_GROUP_DIM];
        for (int a = 0; a < dim; a++) {
          const cb_jet *p = &A[a * n + i], *q = &A[a * n + j];
          ai[a] = p->v, aj[a] = q->v, dai[a] = p->g[k], daj[a] = q->g[k];
        }
        G->bracket(G, dai, aj, left);
        G->bracket(G, ai, daj, right);
        for (int a = 0; a < dim; a++)
          dB[a] = A[a * n + j].h[cb_jet_packed(k, i)] - A[a * n + i].h[cb_jet_packed(k, j)] - left[a] - right[a];
      }
  return CB_OK;
}

/* The same by central differences of order 8: error about 1e-13/h + h^8, h = .005 max(1, |r_k|). */
static cb_status derivative_by_differences(const cb_bundle *b, const double *r, double *dB) {
  static const double weight[4] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
  const int n = b->n, count = n * (n - 1) / 2 * b->group->dim;
  double x[CB_SHAPE_MAX], plus[PAIRS_MAX * CB_GROUP_DIM], minus[PAIRS_MAX * CB_GROUP_DIM];
  for (int i = 0; i < n; i++) x[i] = r[i];
  for (int k = 0; k < n; k++) {
    const double h = .005 * fmax(1, fabs(r[k]));
    for (int a = 0; a < count; a++) dB[k * count + a] = 0;
    for (int s = 1; s <= 4; s++) {
      x[k] = r[k] + s * h;
      cb_status status = cb_bundle_curvatures(b, x, plus);
      x[k] = r[k] - s * h;
      if (!status) status = cb_bundle_curvatures(b, x, minus);
      if (status) return status;
      for (int a = 0; a < count; a++) dB[k * count + a] += weight[s - 1] * (plus[a] - minus[a]) / h;
    }
    x[k] = r[k];
  }
  return CB_OK;
}

cb_status cb_bundle_covariant(const cb_bundle *b, const double *r, double *DB) {
  const cb_group *G = b->group;
  const int dim = G->dim, n = b->n, pairs = n * (n - 1) / 2;
  double A[ENTRIES_MAX], dA[CB_SHAPE_MAX * ENTRIES_MAX], B[PAIRS_MAX * CB_GROUP_DIM];
  double dB[CB_SHAPE_MAX * PAIRS_MAX * CB_GROUP_DIM];
  cb_status status = cb_bundle_connection(b, r, A, dA, NULL, NULL);
  if (!status)
    status = b->kind->on_jets && n <= CB_JET_MAX ? derivative_from_jets(b, r, dB) : derivative_by_differences(b, r, dB);
  if (status) return status;
  all_curvatures(b, A, dA, B);
  for (int k = 0; k < n; k++) {
    double ak[CB_GROUP_DIM], bracket[CB_GROUP_DIM];
    column(A, dim, n, k, ak);
    for (int p = 0; p < pairs; p++) {
      G->bracket(G, ak, B + p * dim, bracket);
      for (int a = 0; a < dim; a++) {
        const int at = (k * pairs + p) * dim + a;
        DB[at] = dB[at] - bracket[a];
      }
    }
  }
  return CB_OK;
}
