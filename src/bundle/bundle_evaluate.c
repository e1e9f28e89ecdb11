/* Bundles by name: connection and cost metric with their first and second derivatives, and the curvature.
 *
 * If a class has only the function on_jets, A, dA, M and dM are the values and gradients of its jets.
 *
 * cb_form_reduce computes connection and cost metric from a form. The block P of the form is factored as P = S L L^T S:
 * S is diagonal with the square roots of the diagonal of P, and L is lower triangular.
 */
#include "bundle/bundle_private.h"

#include "tree/scalar.h"
#include <curvebody/bundle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cb_status cb_bundle_create_class(const cb_bundle_class *class_, const cb_node *node, cb_bundle **out) {
  static const char *const shared[] = {"name"};
  const cb_node *map = node && node->kind == CB_NODE_MAP ? node : NULL;
  void *params = calloc(1, class_->params_size ? class_->params_size : 1);
  cb_bundle *b = calloc(1, sizeof *b);
  if (!params || !b) {
    free(params);
    free(b);
    return cb_fail(CB_ERROR_MEMORY, "no memory for bundle %s", class_->name);
  }
  b->class_ = class_;
  b->resistance = class_->resistance;
  cb_status status = cb_params_bind(class_->params, map, node, shared, 1, params);
  if (!status) {
    status = class_->init(b, params);
    /* an input error already has a position in the file; a lack of memory has no position */
    if (status && status != CB_ERROR_INPUT && status != CB_ERROR_MEMORY && map)
      status = cb_node_fail(map, "bundle %s: %s", class_->name, cb_error_text());
  }
  if (!status && (!b->group || b->n < 1 || b->n > CB_SHAPE_MAX))
    status = cb_fail(CB_ERROR_ARGUMENT, "bundle %s has %d shape variables: expected at most %d", class_->name, b->n,
                     CB_SHAPE_MAX);
  if (!status && !class_->connection && b->n > CB_JET_MAX)
    status = cb_fail(CB_ERROR_ARGUMENT,
                     "bundle %s has %d shape variables: expected at most %d for a class that works on jets",
                     class_->name, b->n, CB_JET_MAX);
  free(params);
  if (status) {
    cb_bundle_free(b);
    return status;
  }
  *out = b;
  return CB_OK;
}

cb_status cb_bundle_create(const char *name, const cb_node *node, cb_bundle **out) {
  const cb_bundle_class *c = cb_bundle_classes[cb_registry_find(&cb_bundle_registry, name, strlen(name))];
  return c ? cb_bundle_create_class(c, node, out) : cb_fail_no_class(node, "bundle", name, &cb_bundle_registry);
}

void cb_bundle_free(cb_bundle *b) {
  if (!b) return;
  if (b->class_->destroy) b->class_->destroy(b);
  free(b);
}

/* Writes a shape as text, "alpha1 = 0.5, alpha2 = 1", cut to the size of the buffer. */
static void cb_bundle_shape_text(const cb_bundle *b, const double *r, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < b->n && used < size; i++) {
    const int more =
        snprintf(text + used, size - used, "%s%.20s = %.9g", i ? ", " : "", b->shape[i] ? b->shape[i] : "r", r[i]);
    if (more < 0) break;
    used += (size_t)more;
  }
}

cb_status cb_bundle_fail_at(const cb_bundle *b, const double *r, cb_status status) {
  char shape[CB_SHAPE_MAX * 64];
  cb_bundle_shape_text(b, r, shape, sizeof shape);
  return cb_fail(status, "bundle %s at %s: %s", b->class_->name, shape, cb_error_text());
}

/* The jets of a connection and of a cost metric. Only the entries that the bundle uses are initialised. */
typedef struct connection_jets {
  cb_jet r[CB_JET_MAX], A[CB_GROUP_DIM * CB_JET_MAX], M[CB_JET_MAX * CB_JET_MAX];
} connection_jets;

static void read_jets(const cb_jet *jets, int count, int n, double *value, double *derivative) {
  for (int k = 0; k < count; k++) {
    if (value) value[k] = jets[k].v;
    if (derivative)
      for (int i = 0; i < n; i++) derivative[i * count + k] = jets[k].g[i];
  }
}

static cb_status from_jets(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  connection_jets J;
  const int n = b->n;
  const bool metric = M || dM, connection = A || dA;
  for (int i = 0; i < n; i++) J.r[i] = cb_jet_variable(n, i, r[i]);
  const cb_status status = b->class_->on_jets(b, J.r, connection ? J.A : NULL, metric ? J.M : NULL);
  if (status) return status;
  if (connection) read_jets(J.A, b->group->dim * n, n, A, dA);
  if (metric) read_jets(J.M, n * n, n, M, dM);
  return CB_OK;
}

/* Returns whether x is NULL or all its numbers are finite. The test uses that 0 times a number is 0 unless the number
 * is infinite or nan. */
static bool all_finite(const double *x, int count) {
  double sum = 0;
  for (int k = 0; x && k < count; k++) sum += 0 * x[k];
  return sum == 0;
}

cb_status cb_bundle_evaluate(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  const int n = b->n, count = b->group->dim * n;
  cb_status status = b->class_->connection ? b->class_->connection(b, r, A, dA, M, dM) : from_jets(b, r, A, dA, M, dM);
  if (!status &&
      !(all_finite(A, count) && all_finite(dA, n * count) && all_finite(M, n * n) && all_finite(dM, n * n * n)))
    status = cb_fail(CB_STEP_NOT_FINITE, "the connection is not finite at this shape");
  return status;
}

cb_status cb_bundle_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  const cb_status status = cb_bundle_evaluate(b, r, A, dA, M, dM);
  return status ? cb_bundle_fail_at(b, r, status) : CB_OK;
}

cb_status cb_bundle_locked(const cb_bundle *b, const double *r, double *P) {
  enum { SIZE = CB_GROUP_DIM + CB_SHAPE_MAX };
  const int dim = b->group->dim, size = dim + b->n;
  double G[SIZE * SIZE];
  if (!b->class_->form)
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "bundle %s gives its connection directly, without the inertia or drag of its body: leave the locked form out",
        b->class_->name);
  cb_status status = b->class_->form(b, r, G, NULL);
  for (int i = 0; !status && i < dim; i++)
    if (!all_finite(G + i * size, dim))
      status = cb_fail(CB_STEP_NOT_FINITE, "the locked form is not finite at this shape");
  if (status) return cb_bundle_fail_at(b, r, status);
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) P[i * dim + j] = G[i * size + j];
  return CB_OK;
}

/* Second derivatives of a connection A and a cost metric M: in closed form if the class has one, from jets, or by
 * differences.
 *
 *   ddA[i][j] = d_i d_j A,   ddM[i][j] = d_i d_j M,   d_i the derivative by the shape variable r_i
 * Differences of dA and dM along r_k are of order 8. Their error is about 1e-13/h + h^8 for the step h = .005 max(1,
 * |r_k|), or h = .005 if r_k has a period. Near a break or the end of the domain they are one-sided and less accurate.
 *
 * If dA and dM are differences themselves and cost far more than A and M, second differences of A and M along r_i, r_j
 * and r_i + r_j are used, also of order 8. For n shape variables they need 9 n (n + 1)/2 values of A and M, instead of
 * 8 n values of dA and dM. Their error is about 1e-15/h^2 + h^8 for the step h = .02 max(1, |r_k|), or h = .02 if r_k
 * has a period.
 */

enum { ENTRIES = CB_GROUP_DIM * CB_SHAPE_MAX, SQUARE = CB_SHAPE_MAX * CB_SHAPE_MAX };

/* Copies the Hessians of jets to out. Returns false if a number is not finite. */
static bool read_hessians(const cb_jet *jets, int count, int n, double *out) {
  double sum = 0; /* 0 if all numbers are finite */
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < count; k++) {
        const double h = out[(i * n + j) * count + k] = jets[k].h[cb_jet_packed(i, j)];
        sum += 0 * h;
      }
  return sum == 0;
}

static cb_status second_from_jets(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  const int n = b->n;
  cb_jet x[CB_JET_MAX], A[CB_GROUP_DIM * CB_JET_MAX], M[CB_JET_MAX * CB_JET_MAX];
  for (int i = 0; i < n; i++) x[i] = cb_jet_variable(n, i, r[i]);
  const cb_status status = b->class_->on_jets(b, x, ddA ? A : NULL, ddM ? M : NULL);
  if (status) return status;
  if ((ddA && !read_hessians(A, b->group->dim * n, n, ddA)) || (ddM && !read_hessians(M, n * n, n, ddM)))
    return cb_fail(CB_STEP_NOT_FINITE,
                   "a second derivative of the connection or the metric is not finite at this shape");
  return CB_OK;
}

/* Computes the distances from r_k = x to the next breaks of shape variable k below and above x; infinite if there is no
 * break. */
static void smooth_interval(const cb_bundle *b, int k, double x, double *below, double *above) {
  const double period = b->period[k];
  *below = *above = INFINITY;
  for (int i = 0; i < b->breaks[k]; i++) {
    const double way = b->at[k][i] - x, ahead = period > 0 ? way - period * floor(way / period) : way;
    if (ahead > 0) *above = fmin(*above, ahead);
    if (period > 0 || ahead <= 0) *below = fmin(*below, ahead > 0 ? period - ahead : -ahead);
  }
}

enum { NODES = 9 };

/* Computes the derivatives of dA and dM by r_k by differences. They are central for side = 0, and one-sided for side =
 * 1 (nodes above r_k) and side = -1 (nodes below r_k). */
static cb_status slopes(const cb_bundle *b, const double *r, int k, int side, double h, double *ddA, double *ddM) {
  static const double about[NODES] = {1. / 280, -4. / 105, 1. / 5, -4. / 5, 0, 4. / 5, -1. / 5, 4. / 105, -1. / 280};
  static const double ahead[NODES] = {-761. / 280, 8, -14, 56. / 3, -35. / 2, 56. / 5, -14. / 3, 8. / 7, -1. / 8};
  const int n = b->n, a = n * n * b->group->dim, m = n * n * n;
  const double step = side < 0 ? -h : h;
  double x[CB_SHAPE_MAX], buffer_A[CB_SHAPE_MAX * ENTRIES], buffer_M[CB_SHAPE_MAX * SQUARE];
  double *const dA = ddA ? buffer_A : NULL, *const dM = ddM ? buffer_M : NULL;
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

/* Computes ddA and ddM by differences. The nodes are on one side of r if a break or the end of the domain is near. */
static cb_status by_differences(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  const int n = b->n, a = n * n * b->group->dim, m = n * n * n;
  for (int k = 0; k < n; k++) {
    double below, above, h = .005 * (b->period[k] > 0 ? 1 : fmax(1, fabs(r[k])));
    smooth_interval(b, k, r[k], &below, &above);
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

/* Adds A and M at the shape r + s step, multiplied by `weight`, to ddA and ddM. */
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

/* Adds the second derivatives of A and M by s to ddA and ddM. The shapes are r + s (h_i e_i + h_j e_j), or r + s h_i
 * e_i if i = j, where e_i is the unit vector of shape variable i. */
static cb_status second_along(const cb_bundle *b, const double *r, int i, int j, const double *h, double *ddA,
                              double *ddM) {
  static const double weight[NODES / 2 + 1] = {-205. / 72, 8. / 5, -1. / 5, 8. / 315, -1. / 560};
  double step[CB_SHAPE_MAX] = {0};
  step[i] = h[i];
  step[j] = h[j];
  cb_status status = add_values(b, r, step, 0, weight[0], ddA, ddM);
  for (int s = 1; !status && s <= NODES / 2; s++) {
    status = add_values(b, r, step, s, weight[s], ddA, ddM);
    if (!status) status = add_values(b, r, step, -s, weight[s], ddA, ddM);
  }
  return status;
}

/* On entry dd_ij with i > j is the second derivative along r_i + r_j, and dd_ii that along r_i. Replaces each dd_ij
 * with i > j, and dd_ji, by the mixed derivative (dd_ij - dd_ii - dd_jj)/2. Then divides all dd_ij by h_i h_j. */
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
    smooth_interval(b, i, r[i], &below, &above);
    near |= fmin(below, above) < NODES / 2 * h[i];
  }
  cb_status status = near ? CB_STEP_DOMAIN : CB_OK;
  if (ddA) memset(ddA, 0, (size_t)(n * n * a) * sizeof *ddA);
  if (ddM) memset(ddM, 0, (size_t)(n * n * m) * sizeof *ddM);
  for (int i = 0; i < n && !status; i++)
    for (int j = 0; j <= i && !status; j++)
      status = second_along(b, r, i, j, h, ddA ? ddA + (i * n + j) * a : NULL, ddM ? ddM + (i * n + j) * m : NULL);
  if (status > 0) return by_differences(b, r, ddA, ddM);
  if (ddA) polarise(n, a, h, ddA);
  if (ddM) polarise(n, m, h, ddM);
  return status;
}

cb_status cb_bundle_evaluate_second(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  if (b->class_->second) return b->class_->second(b, r, ddA, ddM);
  if (b->class_->on_jets && b->n <= CB_JET_MAX) return second_from_jets(b, r, ddA, ddM);
  return by_differences(b, r, ddA, ddM);
}

cb_status cb_bundle_second(const cb_bundle *b, const double *r, double *ddA, double *ddM) {
  const cb_status status = cb_bundle_evaluate_second(b, r, ddA, ddM);
  return status ? cb_bundle_fail_at(b, r, status) : CB_OK;
}

/* Curvature of a connection and its covariant derivative.
 *
 *   B_ij = d_i A_j - d_j A_i - [A_i, A_j];   D_k B_ij = d_k B_ij - [A_k, B_ij]
 *   d_k B_ij = d_ki A_j - d_kj A_i - [d_k A_i, A_j] - [A_i, d_k A_j]
 * A_i: column of A for r_i; d_i: derivative by r_i, d_ki = d_k d_i; D_k: covariant derivative. In another body frame g
 * h(r), A becomes Ad_h^-1 A - h^-1 dh, B becomes Ad_h^-1 B, and DB becomes Ad_h^-1 DB. Bianchi's identity: D_i B_jk +
 * D_j B_ki + D_k B_ij = 0.
 * Source: Kobayashi & Nomizu, Foundations of Differential Geometry I (1963), chapter II, sections 5 and 7, with the
 * sign of xi = -A r'.
 */

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
  for (int a = 0; a < dim; a++) B[a] = dA[(i * dim + a) * n + j] - dA[(j * dim + a) * n + i] - bracket[a];
}

static void all_curvatures(const cb_bundle *b, const double *A, const double *dA, double *B) {
  for (int i = 0; i < b->n; i++)
    for (int j = i + 1; j < b->n; j++, B += b->group->dim) pair_curvature(b, A, dA, i, j, B);
}

cb_status cb_bundle_curvature(const cb_bundle *b, const double *r, int i, int j, double *B) {
  double A[ENTRIES_MAX], dA[CB_SHAPE_MAX * ENTRIES_MAX];
  if (i < 0 || j < 0 || i >= b->n || j >= b->n || i == j)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "bundle %s has no curvature for the pair %d, %d: expected two different indices below %d",
                   b->class_->name, i, j, b->n);
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

typedef struct factor {
  int dim;
  double scale[CB_GROUP_DIM];           /* 1/sqrt(P_aa) for each diagonal entry P_aa of P */
  double L[CB_GROUP_DIM][CB_GROUP_DIM]; /* the reciprocal of each diagonal entry is stored in its place */
} factor;

/* Factors P. After scaling, axes with different units are comparable: all pivots are squares of sines of angles between
 * motions, and one tolerance is right for all of them. */
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

/* Replaces X[dim][n] by P^-1 X, where f holds the factors of P. */
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
