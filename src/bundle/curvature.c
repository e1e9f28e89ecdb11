/* Curvature of a connection and its covariant derivative.
 *
 *   B_ij = d_i A_j - d_j A_i - [A_i, A_j];   D_k B_ij = d_k B_ij - [A_k, B_ij]
 *   d_k B_ij = d_ki A_j - d_kj A_i - [d_k A_i, A_j] - [A_i, d_k A_j]
 * Another body frame g h(r) gives A -> Ad_h^-1 A - h^-1 dh, and then B -> Ad_h^-1 B, DB -> Ad_h^-1 DB. Bianchi's identity:
 * D_i B_jk + D_j B_ki + D_k B_ij = 0.
 * Source: Kobayashi & Nomizu, Foundations of Differential Geometry I (1963), chapter II, sections 5 and 7, with the sign
 * of xi = -A r'.
 */
#include <curvebody/bundle.h>

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

cb_status cb_bundle_covariant(const cb_bundle *b, const double *r, double *DB) {
  const cb_group *G = b->group;
  const int dim = G->dim, n = b->n;
  double A[ENTRIES_MAX], dA[CB_SHAPE_MAX * ENTRIES_MAX], B[PAIRS_MAX * CB_GROUP_DIM];
  double ddA[CB_SHAPE_MAX * CB_SHAPE_MAX * ENTRIES_MAX];
  cb_status status = cb_bundle_connection(b, r, A, dA, NULL, NULL);
  if (!status) status = cb_bundle_second(b, r, ddA, NULL);
  if (status) return status;
  all_curvatures(b, A, dA, B);
  for (int k = 0; k < n; k++) {
    double ak[CB_GROUP_DIM];
    column(A, dim, n, k, ak);
    for (int i = 0, p = 0; i < n; i++)
      for (int j = i + 1; j < n; j++, p++, DB += dim) {
        const double *ki = ddA + (k * n + i) * dim * n, *kj = ddA + (k * n + j) * dim * n;
        double ai[CB_GROUP_DIM], aj[CB_GROUP_DIM], dai[CB_GROUP_DIM], daj[CB_GROUP_DIM];
        double left[CB_GROUP_DIM], right[CB_GROUP_DIM], bracket[CB_GROUP_DIM];
        column(A, dim, n, i, ai);
        column(A, dim, n, j, aj);
        column(dA + k * dim * n, dim, n, i, dai);
        column(dA + k * dim * n, dim, n, j, daj);
        G->bracket(G, dai, aj, left);
        G->bracket(G, ai, daj, right);
        G->bracket(G, ak, B + p * dim, bracket);
        for (int a = 0; a < dim; a++) DB[a] = ki[a * n + j] - kj[a * n + i] - left[a] - right[a] - bracket[a];
      }
  }
  return CB_OK;
}
