/* Lie groups of matrices, as references for the groups of the library: matrices of their algebras, and the exponential
 * by scaling and squaring of its Taylor series in long double. */
#pragma once

#include "check.h"
#include <curvebody/lie.h>

enum { LIE_N = 12 }; /* twice the rows of the largest matrix, which is ad of a group of dimension 6 */
typedef struct lie_matrix {
  int n;
  long double m[LIE_N][LIE_N];
} lie_matrix;

static inline lie_matrix lie_zero(int n) {
  lie_matrix a = {.n = n};
  return a;
}

static inline lie_matrix lie_product(const lie_matrix *a, const lie_matrix *b) {
  lie_matrix c = lie_zero(a->n);
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < a->n; j++)
      for (int k = 0; k < a->n; k++) c.m[i][j] += a->m[i][k] * b->m[k][j];
  return c;
}

/* Returns a + c b. */
static inline lie_matrix lie_sum(const lie_matrix *a, long double c, const lie_matrix *b) {
  lie_matrix s = *a;
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < a->n; j++) s.m[i][j] += c * b->m[i][j];
  return s;
}

static inline long double lie_size(const lie_matrix *a) {
  long double size = 0;
  for (int i = 0; i < a->n; i++)
    for (int j = 0; j < a->n; j++) size = fmaxl(size, fabsl(a->m[i][j]));
  return size;
}

static inline double lie_distance(const lie_matrix *a, const lie_matrix *b) {
  const lie_matrix d = lie_sum(a, -1, b);
  return (double)lie_size(&d);
}

static inline lie_matrix lie_exponential(const lie_matrix *a) {
  int halvings = 0;
  long double scale = 1;
  while (lie_size(a) * a->n * scale > 0.5L) {
    scale /= 2;
    halvings++;
  }
  lie_matrix x = lie_zero(a->n), term = lie_zero(a->n), sum;
  x = lie_sum(&x, scale, a);
  for (int i = 0; i < a->n; i++) term.m[i][i] = 1;
  sum = term;
  for (int k = 1; k < 24; k++) { /* |x| <= 1/2, so the next term is at most 2^-24/24! < 1e-30 */
    const lie_matrix next = lie_product(&term, &x), none = lie_zero(a->n);
    term = lie_sum(&none, 1.0L / k, &next);
    sum = lie_sum(&sum, 1, &term);
  }
  while (halvings-- > 0) sum = lie_product(&sum, &sum);
  return sum;
}

/* Returns the matrix of the element g. */
static inline lie_matrix lie_element(const cb_group *G, const double *g) {
  double m[25];
  lie_matrix a = lie_zero(G->matrix(G, g, m));
  for (int i = 0; i < a.n * a.n; i++) a.m[i / a.n][i % a.n] = m[i];
  return a;
}

/* Returns the matrix of the element a of the algebra. */
static inline lie_matrix lie_algebra(const cb_group *G, const double *a) {
  if (strcmp(G->name, "so2") == 0) return (lie_matrix){2, {{0, -a[0]}, {a[0], 0}}};
  if (strcmp(G->name, "se2") == 0) return (lie_matrix){3, {{0, -a[2], a[0]}, {a[2], 0, a[1]}, {0}}};
  if (strcmp(G->name, "so3") == 0) return (lie_matrix){3, {{0, -a[2], a[1]}, {a[2], 0, -a[0]}, {-a[1], a[0], 0}}};
  if (strcmp(G->name, "so21") == 0) return (lie_matrix){3, {{0, -a[2], a[0]}, {a[2], 0, a[1]}, {a[0], a[1], 0}}};
  if (strcmp(G->name, "heisenberg") == 0) return (lie_matrix){3, {{0, a[0], a[2]}, {0, 0, a[1]}, {0}}};
  if (strcmp(G->name, "h2e") == 0)
    return (lie_matrix){5, {{0, -a[2], a[0]}, {a[2], 0, a[1]}, {a[0], a[1], 0}, {0, 0, 0, 0, a[3]}, {0}}};
  const bool se3 = strcmp(G->name, "se3") == 0, so4 = strcmp(G->name, "so4") == 0;
  if (se3 || so4 || strcmp(G->name, "so31") == 0) {
    const double back = se3 ? 0 : so4 ? -1 : 1;
    return (lie_matrix){4,
                        {{0, -a[2], a[1], a[3]},
                         {a[2], 0, -a[0], a[4]},
                         {-a[1], a[0], 0, a[5]},
                         {back * a[3], back * a[4], back * a[5], 0}}};
  }
  lie_matrix m = lie_zero(G->dim + 1);
  for (int i = 0; i < G->dim; i++) m.m[i][G->dim] = a[i];
  return m;
}
