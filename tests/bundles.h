/* Bundles for the tests: random connections on any group, the same connections in another body frame, and explicit
 * formulas for Purcell's swimmer and for the PMPY (pushmepullyou) swimmer. A and M are the connection and the cost
 * metric of a bundle, as in curvebody/bundle.h; dA and dM are their derivatives. */
#pragma once

#include "bundle/bundle_private.h"
#include <curvebody/holonomy.h>
#include "check.h"

/* test_polynomial is a function of the shape r_0, ..., r_last with the coefficients c:
 * c_0 + c_1 sin(r_0 + 2 r_last) + sum_i c_(2+i) r_i + sum_ij c_(5+3i+j) r_i r_j. It has TEST_TERMS coefficients. */
enum { TEST_TERMS = 2 + 3 + 9, TEST_ENTRIES = CB_GROUP_DIM * 3 };

typedef struct random_bundle {
  cb_bundle b;
  double c[TEST_ENTRIES][TEST_TERMS];     /* coefficients of the entries of A */
  double frame[CB_GROUP_DIM][TEST_TERMS]; /* coefficients of the components of log h(r), h(r) an element of the group */
  bool moved;                             /* the body frame is g h(r) instead of the group element g */
} random_bundle;

static inline cb_jet test_polynomial(const double *c, const cb_jet *r, int n) {
  cb_jet angle = cb_jet_scale(&r[n - 1], 2);
  angle = cb_jet_add(&angle, &r[0]);
  angle = cb_jet_sin(&angle);
  cb_jet sum = cb_jet_scale(&angle, c[1]);
  sum = cb_jet_shift(&sum, c[0]);
  for (int i = 0; i < n; i++) {
    cb_jet factor = cb_jet_constant(n, c[2 + i]);
    for (int j = 0; j < n; j++) {
      const cb_jet term = cb_jet_scale(&r[j], c[5 + 3 * i + j]);
      factor = cb_jet_add(&factor, &term);
    }
    factor = cb_jet_mul(&factor, &r[i]);
    sum = cb_jet_add(&sum, &factor);
  }
  return sum;
}

static inline cb_status random_on_jets(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  const random_bundle *p = b->self;
  const int n = b->n;
  for (int k = 0; A && k < b->group->dim * n; k++) A[k] = test_polynomial(p->c[k], r, n);
  for (int k = 0; M && k < n * n; k++) { /* M has 2 + cos r_0 on the diagonal and 1/4 elsewhere */
    M[k] = cb_jet_constant(n, .25);
    if (k % (n + 1) == 0) {
      M[k] = cb_jet_cos(&r[0]);
      M[k] = cb_jet_shift(&M[k], 2);
    }
  }
  return CB_OK;
}

/* Returns the value of test_polynomial and writes its gradient to d[n] (may be NULL). It uses no jets. */
static inline double test_polynomial_value(const double *c, const double *r, int n, double *d) {
  const double angle = r[0] + 2 * r[n - 1];
  double sum = c[0] + c[1] * sin(angle);
  for (int i = 0; d && i < n; i++) d[i] = c[1] * cos(angle) * ((i == 0) + 2 * (i == n - 1));
  for (int i = 0; i < n; i++) {
    double factor = c[2 + i];
    for (int j = 0; j < n; j++) {
      factor += c[5 + 3 * i + j] * r[j];
      if (d) d[j] += c[5 + 3 * i + j] * r[i];
    }
    sum += factor * r[i];
    if (d) d[i] += factor;
  }
  return sum;
}

static inline cb_status random_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M,
                                          double *dM) {
  const random_bundle *p = b->self;
  const int n = b->n, count = b->group->dim * n;
  for (int k = 0; (A || dA) && k < count; k++) {
    double d[3];
    const double value = test_polynomial_value(p->c[k], r, n, dA ? d : NULL);
    if (A) A[k] = value;
    for (int i = 0; dA && i < n; i++) dA[i * count + k] = d[i];
  }
  for (int k = 0; k < n * n; k++) {
    const bool diagonal = k % (n + 1) == 0;
    if (M) M[k] = diagonal ? 2 + cos(r[0]) : .25;
    for (int i = 0; dM && i < n; i++) dM[i * n * n + k] = diagonal && i == 0 ? -sin(r[0]) : 0;
  }
  return CB_OK;
}

/* Computes h = exp(f) and the matrix hdh of h^-1 dh = dexp_{-f} df, where f(r) has the coefficients p->frame. (exp is
 * the exponential of the group, and dexp its right-trivialised derivative.) In the body frame g h instead of g the
 * connection is Ad_(h^-1) A - h^-1 dh, which moved_connection returns. */
static inline void test_frame(const random_bundle *p, const double *r, double *h, double *hdh) {
  const cb_group *G = p->b.group;
  const int n = p->b.n, dim = G->dim;
  double f[CB_GROUP_DIM] = {0}, df[CB_GROUP_DIM * 3], dexp[CB_GROUP_DIM * CB_GROUP_DIM];
  for (int a = 0; a < dim; a++) f[a] = test_polynomial_value(p->frame[a], r, n, df + a * n);
  G->exp(G, f, h);
  for (int a = 0; a < dim; a++) f[a] = -f[a];
  cb_group_dexp(G, f, dexp);
  for (int a = 0; a < dim; a++)
    for (int i = 0; i < n; i++) {
      hdh[a * n + i] = 0;
      for (int c = 0; c < dim; c++) hdh[a * n + i] += dexp[a * dim + c] * df[c * n + i];
    }
}

static inline cb_status moved_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M,
                                         double *dM) {
  const random_bundle *p = b->self;
  const cb_group *G = b->group;
  const int n = b->n, dim = G->dim;
  double h[CB_GROUP_SIZE], hdh[TEST_ENTRIES], Ad[CB_GROUP_DIM * CB_GROUP_DIM], old[TEST_ENTRIES];
  if (dA || dM) return cb_fail(CB_ERROR_UNSUPPORTED, "values only");
  random_connection(b, r, old, NULL, M, NULL);
  test_frame(p, r, h, hdh);
  G->inverse(G, h, h);
  G->adjoint(G, h, Ad);
  for (int a = 0; A && a < dim; a++)
    for (int i = 0; i < n; i++) {
      A[a * n + i] = -hdh[a * n + i];
      for (int c = 0; c < dim; c++) A[a * n + i] += Ad[a * dim + c] * old[c * n + i];
    }
  return CB_OK;
}

static const cb_bundle_class test_random_class = {
    .name = "random", .on_jets = random_on_jets, .connection = random_connection};
static const cb_bundle_class test_moved_class = {.name = "moved", .connection = moved_connection};

/* Makes two bundles with random coefficients in [-size, size]. The second bundle is the first one in another body
 * frame. */
static inline void random_bundles(uint64_t *seed, const cb_group *G, int n, double size, random_bundle *p,
                                  random_bundle *moved) {
  *p = (random_bundle){.b = {.class_ = &test_random_class, .group = G, .n = n, .shape = {"a", "b", "c"}}};
  for (int k = 0; k < TEST_ENTRIES; k++)
    for (int t = 0; t < TEST_TERMS; t++) p->c[k][t] = check_uniform(seed, -size, size);
  for (int k = 0; k < CB_GROUP_DIM; k++)
    for (int t = 0; t < TEST_TERMS; t++) p->frame[k][t] = check_uniform(seed, -size, size);
  p->b.self = p;
  *moved = *p;
  moved->b.class_ = &test_moved_class;
  moved->b.self = moved;
  moved->moved = true;
}

/* Purcell's three-link swimmer of length 1. G = sum J^T D J over the links has the blocks [[P, Q], [Q^T, R]], and then
 * A = P^-1 Q and M = R - Q^T A. D is the drag of a link: per unit length 1 along the link and 2 across it. J gives the
 * velocity of a link from the velocity of the middle link and the rates of the two angles.
 * purcell_link computes J of an outer link, 0 or 1, which are mirror images of each other. If `derivative` is set, it
 * computes the derivative of J with respect to the angle of this link. */
static inline void purcell_link(int link, const double *r, int derivative, double J[3][5]) {
  const double l = 1. / 3, sign = link ? 1 : -1, c = derivative ? -sin(r[link]) : cos(r[link]),
               s = derivative ? cos(r[link]) : sin(r[link]), one = derivative ? 0 : 1;
  memset(J, 0, 15 * sizeof(double));
  J[0][0] = c;
  J[0][1] = sign * s;
  J[0][2] = l * s / 2;
  J[1][0] = -sign * s;
  J[1][1] = c;
  J[1][2] = sign * l * (one + c) / 2;
  J[1][3 + link] = one * l / 2;
  J[2][2] = one;
  J[2][3 + link] = sign * one;
}

static inline cb_status purcell_connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M,
                                           double *dM) {
  const double l = 1. / 3, D[3] = {l, 2 * l, l * l * l / 6};
  double J[3][5], dJ[3][5], G[5][5] = {{0}}, dG[2][5][5] = {{{0}}}, P[3][3], a[3][2], da[2][3][2];
  for (int k = 0; k < 3; k++) G[k][k] = D[k];
  for (int link = 0; link < 2; link++) {
    purcell_link(link, r, 0, J);
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 5; j++)
        for (int k = 0; k < 3; k++) G[i][j] += J[k][i] * D[k] * J[k][j];
    if (!dA && !dM) continue;
    purcell_link(link, r, 1, dJ);
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 5; j++)
        for (int k = 0; k < 3; k++) dG[link][i][j] += D[k] * (dJ[k][i] * J[k][j] + J[k][i] * dJ[k][j]);
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const int p = (j + 1) % 3, q = (j + 2) % 3, u = (i + 1) % 3, v = (i + 2) % 3;
      P[i][j] = G[p][u] * G[q][v] - G[p][v] * G[q][u]; /* the adjugate of the block P of G */
    }
  const double det = G[0][0] * P[0][0] + G[0][1] * P[1][0] + G[0][2] * P[2][0];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 2; j++) {
      a[i][j] = 0;
      for (int k = 0; k < 3; k++) a[i][j] += P[i][k] / det * G[k][3 + j];
      if (A) A[i * 2 + j] = a[i][j];
    }
  for (int m = 0; (dA || dM) && m < 2; m++) {
    double right[3][2];
    for (int k = 0; k < 3; k++)
      for (int j = 0; j < 2; j++) {
        right[k][j] = dG[m][k][3 + j];
        for (int i = 0; i < 3; i++) right[k][j] -= dG[m][k][i] * a[i][j];
      }
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 2; j++) {
        da[m][i][j] = 0;
        for (int k = 0; k < 3; k++) da[m][i][j] += P[i][k] / det * right[k][j];
        if (dA) dA[(m * 3 + i) * 2 + j] = da[m][i][j];
      }
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      if (M) M[i * 2 + j] = G[3 + i][3 + j];
      for (int k = 0; M && k < 3; k++) M[i * 2 + j] -= G[k][3 + i] * a[k][j];
      for (int m = 0; dM && m < 2; m++) {
        double *out = &dM[(m * 2 + i) * 2 + j];
        *out = dG[m][3 + i][3 + j];
        for (int k = 0; k < 3; k++) *out -= dG[m][k][3 + i] * a[k][j] + G[k][3 + i] * da[m][k][j];
      }
    }
  return CB_OK;
}

/* The PMPY swimmer: two spheres with the volumes v and 8 pi/3 - v at the distance l, in a fluid of viscosity 1. The
 * shape is r = (l, v). The function fails with CB_STEP_SINGULAR if l or one of the volumes is not positive. */
static inline cb_status pmpy_on_jets(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  const double v0 = 8 * M_PI / 3, third = 1. / 3;
  if (!(r[0].v > 0 && r[1].v > 0 && r[1].v < v0)) return cb_fail(CB_STEP_SINGULAR, "a sphere without volume");
  const cb_jet exponent = cb_jet_constant(2, third), v1 = r[1];
  cb_jet v2 = cb_jet_scale(&r[1], -1), a1, a2, sum, difference, l2, p, q;
  v2 = cb_jet_shift(&v2, v0);
  a1 = cb_jet_scale(&v1, 3 / (4 * M_PI));
  a2 = cb_jet_scale(&v2, 3 / (4 * M_PI));
  a1 = cb_jet_pow(&a1, &exponent);
  a2 = cb_jet_pow(&a2, &exponent);
  sum = cb_jet_add(&a1, &a2);
  difference = cb_jet_sub(&a1, &a2);
  if (A) {
    difference = cb_jet_scale(&difference, .5);
    A[0] = cb_jet_div(&difference, &sum);
    l2 = cb_jet_powi(&r[0], -2);
    A[1] = cb_jet_scale(&l2, 1 / (4 * M_PI));
  }
  if (M) {
    p = cb_jet_mul(&a1, &a2);
    p = cb_jet_div(&p, &sum);
    M[0] = cb_jet_scale(&p, 6 * M_PI);
    M[1] = M[2] = cb_jet_constant(2, 0);
    p = cb_jet_powi(&v1, -1);
    q = cb_jet_powi(&v2, -1);
    p = cb_jet_add(&p, &q);
    M[3] = cb_jet_scale(&p, 6 * M_PI * 2 / (9 * M_PI));
  }
  return CB_OK;
}

static const cb_bundle_class test_purcell_class = {.name = "purcell_by_hand", .connection = purcell_connection};
static const cb_bundle_class test_pmpy_class = {.name = "pmpy_by_hand", .on_jets = pmpy_on_jets};

static inline cb_bundle test_purcell(void) {
  return (cb_bundle){
      .class_ = &test_purcell_class, .group = cb_group_find("se2"), .n = 2, .shape = {"alpha1", "alpha2"}};
}

static inline cb_bundle test_pmpy(cb_group *line) {
  *line = cb_group_rn(1);
  return (cb_bundle){.class_ = &test_pmpy_class, .group = line, .n = 2, .shape = {"l", "v"}};
}

/* Returns group number k: the line R for 0, R^3 for 1, then the groups of cb_groups, and NULL after the last one. */
static inline const cb_group *test_group(int k) {
  static cb_group lines[2];
  if (k < 2) {
    lines[k] = cb_group_rn(k ? 3 : 1);
    return &lines[k];
  }
  return cb_groups[k - 2];
}

/* Returns the maximum absolute component of log(a^-1 b), or infinity if there is no logarithm. Some groups can store an
 * element with two signs, such as a rotation as the quaternions q and -q; the result is the same for both signs. */
static inline double test_distance(const cb_group *G, const double *a, const double *b) {
  double d[CB_GROUP_SIZE], w[CB_GROUP_DIM], largest = 0;
  G->inverse(G, a, d);
  G->multiply(G, d, b, d);
  if (G->log(G, d, w)) return INFINITY;
  for (int k = 0; k < G->dim; k++) largest = fmax(largest, fabs(w[k]));
  return largest;
}
