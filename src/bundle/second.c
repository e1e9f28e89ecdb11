/* Second derivatives of a connection and a cost metric: of the kind in closed form, from jets, or by differences.
 *
 *   ddA[i][j] = d_i d_j A,   ddM[i][j] = d_i d_j M
 * By differences of dA and dM of order 8: error about 1e-13/h + h^8, h = .005 max(1, |r_k|), .005 where r_k has a period;
 * on one side, where a break or the end of the domain is near, up to 100 times as much.
 *
 * Where dA and dM are themselves differences, and cost far more than A and M, by second differences of these along r_i, r_j
 * and r_i + r_j, of order 8 too: 8 n (n + 1)/2 + 1 values in place of 8 n of dA, error about 1e-15/h^2 + h^8, h = .02.
 */

#include "bundle/bundle_private.h"

#include <math.h>
#include <string.h>

enum { ENTRIES = CB_GROUP_DIM * CB_SHAPE_MAX, SQUARE = CB_SHAPE_MAX * CB_SHAPE_MAX };

/* Are all of them finite? */
static bool read_hessians(const cb_jet *jets, int count, int n, double *out) {
  double sum = 0; /* of 0 times each */
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < count; k++) {
        const double h = out[(i * n + j) * count + k] = jets[k].h[cb_jet_packed(i, j)];
        sum += 0 * h;
      }
  return sum == 0;
}

static cb_status from_jets(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  const int n = b->n;
  cb_jet x[CB_JET_MAX], A[CB_GROUP_DIM * CB_JET_MAX], M[CB_JET_MAX * CB_JET_MAX];
  for (int i = 0; i < n; i++) x[i] = cb_jet_variable(n, i, r[i]);
  const cb_status status = b->kind->on_jets(b, x, ddA ? A : NULL, ddM ? M : NULL);
  if (status) return status;
  if ((ddA && !read_hessians(A, b->group->dim * n, n, ddA)) || (ddM && !read_hessians(M, n * n, n, ddM)))
    return cb_fail(CB_STEP_NOT_FINITE, "a second derivative is not finite");
  return CB_OK;
}

/* How far below and above x the bundle is smooth in r_k. */
static void smooth_room(const cb_bundle *b, int k, double x, double *below, double *above) {
  const double period = b->period[k];
  *below = *above = INFINITY;
  for (int i = 0; i < b->breaks[k]; i++) {
    const double way = b->at[k][i] - x, ahead = period > 0 ? way - period * floor(way / period) : way;
    if (ahead > 0) *above = fmin(*above, ahead);
    if (period > 0 || ahead <= 0) *below = fmin(*below, ahead > 0 ? period - ahead : -ahead);
  }
}

enum { NODES = 9 };

/* d_k of dA and dM by differences about r_k (side 0), above it (1) or below it (-1). */
static cb_status slopes(const cb_bundle *b, const double *r, int k, int side, double h, double *ddA, double *ddM) {
  static const double about[NODES] = {1. / 280, -4. / 105, 1. / 5, -4. / 5, 0, 4. / 5, -1. / 5, 4. / 105, -1. / 280};
  static const double ahead[NODES] = {-761. / 280, 8, -14, 56. / 3, -35. / 2, 56. / 5, -14. / 3, 8. / 7, -1. / 8};
  const int n = b->n, a = n * n * b->group->dim, m = n * n * n;
  const double step = side < 0 ? -h : h;
  double x[CB_SHAPE_MAX], room_A[CB_SHAPE_MAX * ENTRIES], room_M[CB_SHAPE_MAX * SQUARE];
  double *const dA = ddA ? room_A : NULL, *const dM = ddM ? room_M : NULL;
  memcpy(x, r, (size_t)n * sizeof *x);
  if (ddA) memset(ddA, 0, (size_t)a * sizeof *ddA);
  if (ddM) memset(ddM, 0, (size_t)m * sizeof *ddM);
  for (int s = 0; s < NODES; s++) {
    const double w = (side ? ahead[s] : about[s]) / step;
    if (w == 0) continue;
    x[k] = r[k] + (side ? s : s - NODES / 2) * step;
    const cb_status status = cb_bundle_evaluate(b, x, NULL, dA, NULL, dM);
    if (status) return status;
    for (int e = 0; ddA && e < a; e++) ddA[e] += w * dA[e];
    for (int e = 0; ddM && e < m; e++) ddM[e] += w * dM[e];
  }
  return CB_OK;
}

static void make_symmetric(int n, int count, double *dd) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      for (int e = 0; e < count; e++) {
        double *p = &dd[(i * n + j) * count + e], *q = &dd[(j * n + i) * count + e];
        *p = *q = (*p + *q) / 2;
      }
}

/* Nodes lie on one side of r where a break, or the end of the domain, is near. */
static cb_status by_differences(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  const int n = b->n, a = n * n * b->group->dim, m = n * n * n;
  for (int k = 0; k < n; k++) {
    double below, above, h = .005 * (b->period[k] > 0 ? 1 : fmax(1, fabs(r[k])));
    smooth_room(b, k, r[k], &below, &above);
    const bool near = fmin(below, above) < NODES / 2 * h;
    if (near) h = fmin(h, fmax(below, above) / NODES);
    double *A = ddA ? ddA + k * a : NULL, *M = ddM ? ddM + k * m : NULL;
    cb_status status = slopes(b, r, k, near ? above >= below ? 1 : -1 : 0, h, A, M);
    for (int side = 1; status == CB_STEP_DOMAIN && !near && side >= -1; side -= 2)
      status = slopes(b, r, k, side, h, A, M);
    if (status) return status;
  }
  if (ddA) make_symmetric(n, b->group->dim * n, ddA);
  if (ddM) make_symmetric(n, n * n, ddM);
  return CB_OK;
}

/* weight times A and M at r + s step, into ddA and ddM. */
static cb_status add_values(const cb_bundle *b, const double *r, const double *step, double s, double weight,
                            double *ddA, double *ddM) {
  const int n = b->n, a = n * b->group->dim, m = n * n;
  double x[CB_SHAPE_MAX], A[ENTRIES], M[SQUARE];
  for (int i = 0; i < n; i++) x[i] = r[i] + s * step[i];
  const cb_status status = cb_bundle_evaluate(b, x, ddA ? A : NULL, NULL, ddM ? M : NULL, NULL);
  if (status) return status;
  for (int e = 0; ddA && e < a; e++) ddA[e] += weight * A[e];
  for (int e = 0; ddM && e < m; e++) ddM[e] += weight * M[e];
  return CB_OK;
}

/* Second derivatives along r_i + r_j, or along r_i where they are the same. */
static cb_status bend_along(const cb_bundle *b, const double *r, int i, int j, const double *h, double *ddA,
                            double *ddM) {
  static const double weight[NODES / 2 + 1] = {-205. / 72, 8. / 5, -1. / 5, 8. / 315, -1. / 560};
  double step[CB_SHAPE_MAX] = {0};
  step[i] = h[i], step[j] = h[j];
  cb_status status = add_values(b, r, step, 0, weight[0], ddA, ddM);
  for (int s = 1; !status && s <= NODES / 2; s++) {
    status = add_values(b, r, step, s, weight[s], ddA, ddM);
    if (!status) status = add_values(b, r, step, -s, weight[s], ddA, ddM);
  }
  return status;
}

/* dd_ij = (along r_i + r_j less those along each)/2, in units of steps, for i > j; in place. */
static void polarise(int n, int count, const double *h, double *dd) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      for (int e = 0; e < count; e++) {
        const double both = dd[(i * n + j) * count + e],
                     own = dd[(i * n + i) * count + e] + dd[(j * n + j) * count + e];
        dd[(i * n + j) * count + e] = dd[(j * n + i) * count + e] = (both - own) / (2 * h[i] * h[j]);
      }
  for (int i = 0; i < n; i++)
    for (int e = 0; e < count; e++) dd[(i * n + i) * count + e] /= h[i] * h[i];
}

cb_status cb_bundle_second_by_values(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  const int n = b->n, a = b->group->dim * n, m = n * n;
  double h[CB_SHAPE_MAX];
  bool near = false;
  for (int i = 0; i < n; i++) {
    double below, above;
    h[i] = .02 * (b->period[i] > 0 ? 1 : fmax(1, fabs(r[i])));
    smooth_room(b, i, r[i], &below, &above);
    near |= fmin(below, above) < NODES / 2 * h[i];
  }
  cb_status status = near ? CB_STEP_DOMAIN : CB_OK;
  if (ddA) memset(ddA, 0, (size_t)(n * n * a) * sizeof *ddA);
  if (ddM) memset(ddM, 0, (size_t)(n * n * m) * sizeof *ddM);
  for (int i = 0; i < n && !status; i++)
    for (int j = 0; j <= i && !status; j++)
      status = bend_along(b, r, i, j, h, ddA ? ddA + (i * n + j) * a : NULL, ddM ? ddM + (i * n + j) * m : NULL);
  if (status > 0) return by_differences(b, r, ddA, ddM);
  if (ddA) polarise(n, a, h, ddA);
  if (ddM) polarise(n, m, h, ddM);
  return status;
}

cb_status cb_bundle_evaluate_second(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  if (b->kind->second) return b->kind->second(b, r, ddA, ddM);
  if (b->kind->on_jets && b->n <= CB_JET_MAX) return from_jets(b, r, ddA, ddM);
  return by_differences(b, r, ddA, ddM);
}

cb_status cb_bundle_second(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  const cb_status status = cb_bundle_evaluate_second(b, r, ddA, ddM);
  return status ? cb_bundle_fail_at(b, r, status) : CB_OK;
}
