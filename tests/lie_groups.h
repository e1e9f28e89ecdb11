/* Functions for the tests of Lie groups: the groups, random elements, and the comparison of elements as matrices. */
#pragma once

#include "lie_matrices.h"
#include <float.h>

enum { GROUPS = 14, REPEATS = 40, SQUARE = CB_GROUP_DIM * CB_GROUP_DIM };

/* Returns group number k of GROUPS groups: the nine of cb_groups, then R^1 to R^4 and R^12. */
static inline const cb_group *group(int k) {
  static const char *const rn[] = {"r1", "r2", "r3", "r4", "r12"};
  return k < 9 ? cb_groups[k] : cb_group_find(rn[k - 9]);
}

/* Both macros repeat the following statement for each group G. EACH_MATRIX_GROUP leaves out R^12, because
 * cb_group.matrix has at most 5 rows. */
#define EACH_GROUP(G)                          \
  for (int which = 0; which < GROUPS; which++) \
    for (const cb_group *G = group(which); G; G = NULL)
#define EACH_MATRIX_GROUP(G)                       \
  for (int which = 0; which < GROUPS - 1; which++) \
    for (const cb_group *G = group(which); G; G = NULL)

static inline void random_algebra(const cb_group *G, uint64_t *seed, double size, double *a) {
  for (int i = 0; i < G->dim; i++) a[i] = check_uniform(seed, -size, size);
}

static inline void random_element(const cb_group *G, uint64_t *seed, double size, double *g) {
  double a[CB_GROUP_DIM], h[CB_GROUP_SIZE];
  random_algebra(G, seed, size, a);
  G->exp(G, a, g);
  random_algebra(G, seed, size, a);
  G->exp(G, a, h);
  G->multiply(G, g, h, g);
}

static inline bool has_boosts(const cb_group *G) {
  return strcmp(G->name, "so31") == 0 || strcmp(G->name, "so21") == 0 || strcmp(G->name, "h2e") == 0;
}

static inline double length(int n, const double *a) {
  double size = 0;
  for (int i = 0; i < n; i++) size = fmax(size, fabs(a[i]));
  return size;
}

static inline double distance(int n, const double *a, const double *b) {
  double size = 0;
  for (int i = 0; i < n; i++) size = fmax(size, fabs(a[i] - b[i]));
  return size;
}

static inline void apply(int n, const double *m, const double *a, double *out) {
  for (int i = 0; i < n; i++) {
    out[i] = 0;
    for (int j = 0; j < n; j++) out[i] += m[i * n + j] * a[j];
  }
}

static inline void product(int n, const double *a, const double *b, double *out) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      out[i * n + j] = 0;
      for (int k = 0; k < n; k++) out[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

/* Compares two elements as matrices, or number by number if they are in R^12. */
static inline void check_same(const cb_group *G, const double *g, const double *h, double tolerance) {
  double unused[25];
  if (G->matrix(G, g, unused) == 0) {
    check_at_most(distance(G->size, g, h), tolerance);
    return;
  }
  const lie_matrix a = lie_element(G, g), b = lie_element(G, h);
  check_at_most(lie_distance(&a, &b) / (double)lie_size(&b), tolerance);
}
