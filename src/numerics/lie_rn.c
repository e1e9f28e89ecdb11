/* R^n, n = 1 to 12: translations. The matrix is [[1, x], [0, 1]], for n up to 4. */
#include "numerics/lie_private.h"

static int matrix(const cb_group *G, const double *g, double *out) {
  const int n = G->dim + 1;
  if (n > 5) return 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i * n + j] = i == j ? 1 : j == n - 1 ? g[i] : 0;
  return n;
}

#define COORDINATES \
  { "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12" }
#define TRANSLATIONS(n)                                                                                              \
  {                                                                                                                  \
    .name = "r" #n, .doc = "translations of R^" #n, .dim = n, .size = n, .axis = COORDINATES, .number = COORDINATES, \
    .abelian = true, CB_LIE_VECTORS, .multiply = cb_lie_vector_multiply,             \
    .adjoint = cb_lie_vector_adjoint, .bracket = cb_lie_vector_bracket, .matrix = matrix                             \
  }

const cb_group cb_group_rn_table[CB_GROUP_DIM] = {
    TRANSLATIONS(1), TRANSLATIONS(2), TRANSLATIONS(3), TRANSLATIONS(4),  TRANSLATIONS(5),  TRANSLATIONS(6),
    TRANSLATIONS(7), TRANSLATIONS(8), TRANSLATIONS(9), TRANSLATIONS(10), TRANSLATIONS(11), TRANSLATIONS(12)};

cb_group cb_group_rn(int n) { return n >= 1 && n <= CB_GROUP_DIM ? cb_group_rn_table[n - 1] : (cb_group){0}; }
