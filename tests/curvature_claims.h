/* Properties of the curvature B and of the derivatives of every bundle, which tests check: the holonomy of small loops,
 * differences of the connection A, of its derivatives dA and of the derivatives dM of the cost metric M, and Bianchi's
 * identity. The signs and equations are those of curvebody/bundle.h. D_k is the covariant derivative
 * (cb_bundle_covariant). */
#pragma once

#include <curvebody/holonomy.h>
#include "check.h"

/* A function that checks a property of the bundle b to the tolerance. It chooses random shapes in the box of all r with
 * from[i] <= r[i] <= to[i]. */
typedef void (*claim)(const cb_bundle *b, const double *from, const double *to, double tolerance, uint64_t *seed);

/* Computes remainders for the holonomy g of the triangle with the corners r0, r0 + size u and r0 + size v. `B area`
 * stands for the sum over i < j of B_ij (u_i v_j - u_j v_i) size^2/2, with the curvature B_ij at r0. Adds the maximum
 * component of log g + B area to rest[0], and the maximum component of log g + B area + (D_u B + D_v B) area size/3 to
 * rest[1]. If sign is -1, the bracket in B has the wrong sign. */
static inline void add_remainders(const cb_bundle *b, const double *r0, const double *u, const double *v, double size,
                                  double sign, double rest[2]) {
  enum { N = 6, PAIRS = N * (N - 1) / 2 };
  const cb_group *G = b->group;
  const int n = b->n, dim = G->dim, pairs = n * (n - 1) / 2;
  static double DB[N * PAIRS * CB_GROUP_DIM];
  double r[3 * N], g[CB_GROUP_SIZE], w[CB_GROUP_DIM], B[PAIRS * CB_GROUP_DIM], A[N * CB_GROUP_DIM], worst[2] = {0};
  cb_gait *gait = NULL;
  assert_true(n <= N);
  for (int i = 0; i < n; i++) {
    r[i] = r0[i];
    r[n + i] = r0[i] + size * u[i];
    r[2 * n + i] = r0[i] + size * v[i];
  }
  check_ok(cb_gait_polygon(n, 3, r, &gait));
  check_ok(cb_holonomy(b, gait, 0, g, NULL, NULL));
  check_ok(G->log(G, g, w));
  check_ok(cb_bundle_curvatures(b, r0, B));
  check_ok(cb_bundle_covariant(b, r0, DB));
  check_ok(cb_bundle_connection(b, r0, A, NULL, NULL, NULL));
  double more[CB_GROUP_DIM] = {0};
  for (int i = 0, p = 0; i < n; i++)
    for (int j = i + 1; j < n; j++, p++) {
      double ai[CB_GROUP_DIM] = {0}, aj[CB_GROUP_DIM] = {0}, bracket[CB_GROUP_DIM];
      for (int a = 0; a < dim; a++) {
        ai[a] = A[a * n + i];
        aj[a] = A[a * n + j];
      }
      G->bracket(G, ai, aj, bracket);
      const double area = size * size * (u[i] * v[j] - u[j] * v[i]) / 2;
      for (int a = 0; a < dim; a++) {
        w[a] += area * (B[p * dim + a] + (1 - sign) * bracket[a]);
        for (int k = 0; k < n; k++) more[a] += area * size / 3 * (u[k] + v[k]) * DB[(k * pairs + p) * dim + a];
      }
    }
  for (int a = 0; a < dim; a++) {
    worst[0] = fmax(worst[0], fabs(w[a]));
    worst[1] = fmax(worst[1], fabs(w[a] + more[a]));
  }
  for (int k = 0; k < 2; k++) rest[k] += worst[k];
  cb_gait_free(gait);
}

enum { SIZES = 4, LOOPS = 6 };

/* Returns the slope of log rest as a function of log size, by least squares. Each size is half the previous one. `rest`
 * is a sum over several loops: for a single loop the leading coefficient may be small by accident, and then the next
 * order would dominate. */
static inline double slope_of(const double *rest) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (int s = 0; s < SIZES; s++) {
    const double u = -s, v = log2(rest[s]);
    x += u;
    y += v;
    xx += u * u;
    xy += u * v;
  }
  return (SIZES * xy - x * y) / (SIZES * xx - x * x);
}

typedef struct orders {
  double first, second, largest;
} orders;

/* Fits the orders in which the two remainders of add_remainders decrease with the size of the loop, at random shapes
 * between low and high. `size` is the largest size. The member `largest` of the result is the first remainder at this
 * size. */
static inline orders orders_of(const cb_bundle *b, const double *low, const double *high, uint64_t *seed, double size,
                               double sign) {
  double rest[2][SIZES] = {{0}};
  for (int loop = 0; loop < LOOPS; loop++) {
    double r0[CB_SHAPE_MAX], u[CB_SHAPE_MAX], v[CB_SHAPE_MAX];
    for (int i = 0; i < b->n; i++) r0[i] = check_uniform(seed, low[i], high[i]);
    check_direction(seed, b->n, u);
    check_direction(seed, b->n, v);
    for (int s = 0; s < SIZES; s++) {
      double both[2] = {0};
      add_remainders(b, r0, u, v, ldexp(size, -s), sign, both);
      rest[0][s] += both[0];
      rest[1][s] += both[1];
    }
  }
  return (orders){slope_of(rest[0]), slope_of(rest[1]), rest[0][0]};
}

/* The first remainder of add_remainders is of order 3 in the size of the loop. The second one is of order 4, which is
 * checked for classes with jets. No order is checked if the first remainder is less than `flat`: in a flat bundle it is
 * only round-off. */
static inline void small_loops(const cb_bundle *b, const double *from, const double *to, double flat, uint64_t *seed) {
  if (b->n < 2) return;
  const orders o = orders_of(b, from, to, seed, 1.6e-2, 1);
  if (o.largest < flat) return;
  check_at_least(o.first, 2.9);
  if (b->class_->on_jets) check_at_least(o.second, o.largest < 1e-8 ? 3 : 3.8);
}

/* If the bracket in B has the wrong sign, the first remainder of add_remainders is only of order 2, because the
 * brackets are not 0 at these shapes. In abelian groups all brackets are 0, so nothing is checked. */
static inline void wrong_sign(const cb_bundle *b, const double *from, const double *to, double unused, uint64_t *seed) {
  if (b->n < 2 || b->group->abelian) return;
  const orders o = orders_of(b, from, to, seed, 4e-4, -1);
  check_near(o.first, 2, .05);
}

/* The curvature B agrees with d_i A_j - d_j A_i - [A_i, A_j], where the derivatives are central differences of order 6
 * with the step h = 4e-3. */
static inline void curvature_by_differences(const cb_bundle *b, const double *from, const double *to, double tolerance,
                                            uint64_t *seed) {
  static const double weight[3] = {3. / 4, -3. / 20, 1. / 60}, h = 4e-3;
  enum { ENTRIES = CB_GROUP_DIM * CB_SHAPE_MAX };
  static double dA[CB_SHAPE_MAX][ENTRIES], B[CB_SHAPE_MAX * CB_SHAPE_MAX / 2 * CB_GROUP_DIM];
  const cb_group *G = b->group;
  const int n = b->n, dim = G->dim;
  double r[CB_SHAPE_MAX], A[ENTRIES], plus[ENTRIES], minus[ENTRIES];
  for (int trial = 0; trial < 3; trial++) {
    for (int i = 0; i < n; i++) r[i] = check_uniform(seed, from[i], to[i]);
    check_ok(cb_bundle_connection(b, r, A, NULL, NULL, NULL));
    check_ok(cb_bundle_curvatures(b, r, B));
    for (int c = 0; c < n; c++) {
      const double at = r[c];
      memset(dA[c], 0, sizeof dA[c]);
      for (int s = 1; s <= 3; s++) {
        r[c] = at + s * h;
        check_ok(cb_bundle_connection(b, r, plus, NULL, NULL, NULL));
        r[c] = at - s * h;
        check_ok(cb_bundle_connection(b, r, minus, NULL, NULL, NULL));
        for (int e = 0; e < dim * n; e++) dA[c][e] += weight[s - 1] * (plus[e] - minus[e]) / h;
      }
      r[c] = at;
    }
    for (int i = 0, p = 0; i < n; i++)
      for (int j = i + 1; j < n; j++, p++) {
        double ai[CB_GROUP_DIM] = {0}, aj[CB_GROUP_DIM] = {0}, bracket[CB_GROUP_DIM];
        for (int a = 0; a < dim; a++) {
          ai[a] = A[a * n + i];
          aj[a] = A[a * n + j];
        }
        G->bracket(G, ai, aj, bracket);
        for (int a = 0; a < dim; a++)
          check_near(B[p * dim + a], dA[i][a * n + j] - dA[j][a * n + i] - bracket[a], tolerance);
      }
  }
}

/* Compares the second derivatives dd[n][n][count] with `slope`, differences of the first derivatives, and checks that
 * dd is symmetric in its first two indices. */
static inline void check_second(const double *dd, const double *slope, int n, int count, double tolerance) {
  double largest = 1;
  for (int e = 0; e < n * n * count; e++) largest = fmax(largest, fabs(dd[e]));
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int e = 0; e < count; e++) {
        const int at = (i * n + j) * count + e;
        check_near(dd[at], slope[at], tolerance * largest);
        check_near(dd[at], dd[(j * n + i) * count + e], 0);
      }
}

/* Compares the second derivatives ddA and ddM with central differences of dA and dM of order 6, with the step h = 2e-3.
 * The errors of the differences are of the size h^6, 1e-15/h from round-off, and 1e-12/h if dA is itself computed by
 * differences. */
static inline void second_by_differences(const cb_bundle *b, const double *from, const double *to, double tolerance,
                                         uint64_t *seed) {
  static const double weight[3] = {3. / 4, -3. / 20, 1. / 60}, h = 2e-3;
  enum { ENTRIES = CB_GROUP_DIM * CB_SHAPE_MAX, SQUARE = CB_SHAPE_MAX * CB_SHAPE_MAX };
  static double ddA[SQUARE * ENTRIES], ddM[SQUARE * SQUARE], slopeA[SQUARE * ENTRIES], slopeM[SQUARE * SQUARE];
  static double dA[CB_SHAPE_MAX * ENTRIES], dM[CB_SHAPE_MAX * SQUARE];
  const int n = b->n, a = n * b->group->dim * n, m = n * n * n;
  double r[CB_SHAPE_MAX] = {0};
  for (int i = 0; i < n; i++) r[i] = check_uniform(seed, from[i], to[i]);
  check_ok(cb_bundle_second(b, r, ddA, ddM));
  memset(slopeA, 0, sizeof slopeA);
  memset(slopeM, 0, sizeof slopeM);
  for (int k = 0; k < n; k++) {
    const double at = r[k];
    for (int s = -3; s <= 3; s++) {
      const double w = s ? (s > 0 ? weight[s - 1] : -weight[-s - 1]) / h : 0;
      r[k] = at + s * h;
      check_ok(cb_bundle_connection(b, r, NULL, dA, NULL, dM));
      for (int e = 0; e < a; e++) slopeA[k * a + e] += w * dA[e];
      for (int e = 0; e < m; e++) slopeM[k * m + e] += w * dM[e];
    }
    r[k] = at;
  }
  check_second(ddA, slopeA, n, b->group->dim * n, tolerance);
  check_second(ddM, slopeM, n, n * n, tolerance);
}

/* Compares the first variation of a holonomy g(r) with the derivative of log(g(r + s d) g(r)^-1) by s at s = 0, by
 * central differences of order 8 with the step eps = .02. The gait r is a random Fourier series around the middle of
 * the box. Its change d is a random Fourier series whose coefficients are at most 1/40 of the box, and which also moves
 * the start. */
static inline void variation_by_differences(const cb_bundle *b, const double *from, const double *to, double tolerance,
                                            uint64_t *seed) {
  static const double weight[5] = {0, 4. / 5, -1. / 5, 4. / 105, -1. / 280}, eps = .02;
  enum { ROWS = 6 }; /* at least 5: the mean, two cosines and two sines */
  const cb_group *G = b->group;
  const int n = b->n;
  double c[2][ROWS * CB_SHAPE_MAX] = {{0}}, moved[ROWS * CB_SHAPE_MAX], g[CB_GROUP_SIZE], back[CB_GROUP_SIZE];
  double y[CB_GROUP_DIM], slope[CB_GROUP_DIM] = {0};
  cb_gait *gait[2] = {NULL}, *other = NULL;
  for (int i = 0; i < n; i++) c[0][i] = (from[i] + to[i]) / 2;
  for (int k = 0; k < 2; k++) {
    for (int e = k ? 0 : n; e < 5 * n; e++)
      c[k][e] = (to[e % n] - from[e % n]) * check_uniform(seed, -1, 1) / (k ? 40 : 10);
    check_ok(cb_gait_fourier(n, 2, c[k], c[k] + n, c[k] + 3 * n, &gait[k]));
  }
  check_ok(cb_holonomy(b, gait[0], 0, g, NULL, NULL));
  check_ok(cb_holonomy_variation(b, gait[0], gait[1], 0, y));
  G->inverse(G, g, back);
  for (int s = -4; s <= 4; s++) {
    double w[CB_GROUP_DIM];
    for (int e = 0; e < 5 * n; e++) moved[e] = c[0][e] + s * eps * c[1][e];
    check_ok(cb_gait_fourier(n, 2, moved, moved + n, moved + 3 * n, &other));
    check_ok(cb_holonomy(b, other, 0, g, NULL, NULL));
    cb_gait_free(other);
    G->multiply(G, g, back, g);
    check_ok(G->log(G, g, w));
    for (int a = 0; a < G->dim; a++) slope[a] += (s < 0 ? -1 : 1) * weight[abs(s)] * w[a] / eps;
  }
  for (int a = 0; a < G->dim; a++) check_near(y[a], slope[a], tolerance);
  for (int k = 0; k < 2; k++) cb_gait_free(gait[k]);
}

/* Returns the index of the pair i < j among all pairs of n shape variables. */
static inline int pair_of(int n, int i, int j) { return i * n - i * (i + 1) / 2 + j - i - 1; }

/* Bianchi's identity: D_i B_jk - D_j B_ik + D_k B_ij = 0 for all i < j < k. */
static inline void bianchi(const cb_bundle *b, const double *from, const double *to, double tolerance, uint64_t *seed) {
  static double DB[CB_SHAPE_MAX * CB_SHAPE_MAX * CB_SHAPE_MAX / 2 * CB_GROUP_DIM];
  const int n = b->n, dim = b->group->dim, pairs = n * (n - 1) / 2;
  double r[CB_SHAPE_MAX], largest = 0;
  if (n < 3) return;
  for (int i = 0; i < n; i++) r[i] = check_uniform(seed, from[i], to[i]);
  check_ok(cb_bundle_covariant(b, r, DB));
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      for (int k = j + 1; k < n; k++)
        for (int a = 0; a < dim; a++) {
          const double x = DB[(i * pairs + pair_of(n, j, k)) * dim + a];
          const double y = DB[(j * pairs + pair_of(n, i, k)) * dim + a];
          const double z = DB[(k * pairs + pair_of(n, i, j)) * dim + a];
          check_near(x - y + z, 0, tolerance);
          largest = fmax(largest, fmax(fabs(x), fabs(y)));
        }
  check_at_least(largest, 1e-4);
}
