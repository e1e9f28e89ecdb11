/* Second derivatives of a connection and a cost metric: of the kind in closed form, from jets, or by differences.
 *
 *   ddA[i][j] = d_i d_j A,   ddM[i][j] = d_i d_j M
 * By central differences of dA and dM of order 8: error about 1e-13/h + h^8, h = .005 max(1, |r_k|).
 */
#include "bundle/bundle_private.h"
#include "core/failure.h"

#include <math.h>
#include <string.h>

enum { ENTRIES = CB_GROUP_DIM * CB_SHAPE_MAX, SQUARE = CB_SHAPE_MAX * CB_SHAPE_MAX };

static void read_hessians(const cb_jet *jets, int count, int n, double *out) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < count; k++) out[(i * n + j) * count + k] = jets[k].h[cb_jet_packed(i, j)];
}

static cb_status from_jets(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  const int n = b->n;
  cb_jet x[CB_JET_MAX], A[CB_GROUP_DIM * CB_JET_MAX], M[CB_JET_MAX * CB_JET_MAX];
  for (int i = 0; i < n; i++) x[i] = cb_jet_variable(n, i, r[i]);
  const cb_status status = b->kind->on_jets(b, x, ddA ? A : NULL, ddM ? M : NULL);
  if (status) return status;
  if (ddA) read_hessians(A, b->group->dim * n, n, ddA);
  if (ddM) read_hessians(M, n * n, n, ddM);
  return CB_OK;
}

static cb_status by_differences(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  static const double weight[4] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
  const int n = b->n, a = n * n * b->group->dim, m = n * n * n;
  double x[CB_SHAPE_MAX], dA[CB_SHAPE_MAX * ENTRIES], dM[CB_SHAPE_MAX * SQUARE];
  memcpy(x, r, (size_t)n * sizeof *x);
  if (ddA) memset(ddA, 0, (size_t)(n * a) * sizeof *ddA);
  if (ddM) memset(ddM, 0, (size_t)(n * m) * sizeof *ddM);
  for (int k = 0; k < n; k++) {
    const double h = .005 * fmax(1, fabs(r[k]));
    for (int s = -4; s <= 4; s++) {
      if (s == 0) continue;
      const double w = (s > 0 ? weight[s - 1] : -weight[-s - 1]) / h;
      x[k] = r[k] + s * h;
      const cb_status status = cb_bundle_connection(b, x, NULL, ddA ? dA : NULL, NULL, ddM ? dM : NULL);
      if (status) return status;
      for (int e = 0; ddA && e < a; e++) ddA[k * a + e] += w * dA[e];
      for (int e = 0; ddM && e < m; e++) ddM[k * m + e] += w * dM[e];
    }
    x[k] = r[k];
  }
  return CB_OK;
}

cb_status cb_bundle_second(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  cb_status status = CB_OK;
  if (b->kind->second)
    status = b->kind->second(b, r, ddA, ddM);
  else if (b->kind->on_jets && b->n <= CB_JET_MAX)
    status = from_jets(b, r, ddA, ddM);
  else
    return by_differences(b, r, ddA, ddM);
  return status ? cb_bundle_fail_at(b, r, status) : CB_OK;
}
