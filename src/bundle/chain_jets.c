/* Connection of a plane chain: the equations of chain.h on jets, for second derivatives. */
#include "bundle/chain.h"

enum { HINGES = CB_CHAIN_LINKS - 1, COLUMNS = 3 + HINGES };

/* a += s b c */
static void add_product(cb_jet *a, double s, const cb_jet *b, const cb_jet *c) {
  const cb_jet product = cb_jet_mul(b, c), more = cb_jet_scale(&product, s);
  *a = cb_jet_add(a, &more);
}

typedef struct work {
  cb_jet u[3][COLUMNS], G[COLUMNS][COLUMNS], inv[3][3], A[3][HINGES];
} work;

/* Velocities of the columns in the link beyond a hinge; see sum_side of chain.c. */
static void cross_hinge(cb_jet u[3][COLUMNS], int columns, const cb_jet *angle, double before, double after, int sign) {
  const cb_jet cs = cb_jet_cos(angle), sine = cb_jet_sin(angle), sn = cb_jet_scale(&sine, sign);
  for (int i = 0; i < columns; i++) {
    const cb_jet x = u[0][i], at = cb_jet_scale(&u[2][i], before), y = cb_jet_add(&u[1][i], &at);
    u[0][i] = cb_jet_mul(&cs, &x);
    add_product(&u[0][i], 1, &sn, &y);
    u[1][i] = cb_jet_mul(&cs, &y);
    add_product(&u[1][i], -1, &sn, &x);
    const cb_jet beyond = cb_jet_scale(&u[2][i], after);
    u[1][i] = cb_jet_add(&u[1][i], &beyond);
  }
}

static void sum_link(const cb_chain *c, int k, const cb_jet u[3][COLUMNS], int columns, const int *column,
                     cb_jet G[COLUMNS][COLUMNS]) {
  for (int i = 0; i < columns; i++)
    for (int j = 0; j <= i; j++)
      for (int d = 0; d < 3; d++) add_product(&G[column[i]][column[j]], c->D[k][d], &u[d][i], &u[d][j]);
}

cb_status cb_chain_on_jets(const cb_chain *c, const cb_jet *r, cb_jet *A, cb_jet *M) {
  const int n = c->links - 1, b = c->base, jets = r->n;
  work w;
  for (int i = 0; i < 3 + n; i++)
    for (int j = 0; j < 3 + n; j++) w.G[i][j] = cb_jet_constant(jets, 0);
  for (int sign = 1; sign >= -1; sign -= 2) {
    int column[COLUMNS] = {0, 1, 2}, columns = 3;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) w.u[i][j] = cb_jet_constant(jets, i == j);
    if (sign > 0) sum_link(c, b, w.u, 3, column, w.G);
    for (int k = b + sign; k >= 0 && k < c->links; k += sign) {
      const int hinge = sign > 0 ? k - 1 : k;
      const double before = 0.5 * sign * c->length[k - sign], after = 0.5 * sign * c->length[k];
      cross_hinge(w.u, columns, &r[hinge], before, after, sign);
      w.u[0][columns] = cb_jet_constant(jets, 0);
      w.u[1][columns] = cb_jet_constant(jets, after * sign);
      w.u[2][columns] = cb_jet_constant(jets, sign);
      column[columns++] = 3 + hinge;
      sum_link(c, k, w.u, columns, column, w.G);
    }
  }
  /* A = P^-1 Q by cofactors; column[] of the side before the base runs backwards, so Q and R sit in either triangle */
  cb_jet(*const G)[COLUMNS] = w.G;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++) G[j][i] = G[i][j];
  cb_jet det = cb_jet_constant(jets, 0);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const int p = (i + 1) % 3, q = (i + 2) % 3, s = (j + 1) % 3, t = (j + 2) % 3;
      w.inv[i][j] = cb_jet_mul(&G[p][s], &G[q][t]);
      add_product(&w.inv[i][j], -1, &G[p][t], &G[q][s]);
      if (i == 0) add_product(&det, 1, &G[0][j], &w.inv[0][j]);
    }
  if (!(G[0][0].v > 0 && w.inv[2][2].v > 1e-15 * G[0][0].v * G[1][1].v &&
        det.v > 1e-15 * w.inv[2][2].v * G[2][2].v))
    return cb_fail(CB_STEP_SINGULAR, "the tensor of the locked chain is not positive definite");
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < n; j++) {
      cb_jet sum = cb_jet_constant(jets, 0);
      for (int k = 0; k < 3; k++) add_product(&sum, 1, &w.inv[i][k], &G[3 + j][k]);
      w.A[i][j] = cb_jet_div(&sum, &det);
      if (A) A[i * n + j] = w.A[i][j];
    }
  for (int i = 0; M && i < n; i++)
    for (int j = 0; j <= i; j++) {
      const bool same = (i >= b) == (j >= b);
      cb_jet value = !same ? cb_jet_constant(jets, 0) : i >= b ? G[3 + i][3 + j] : G[3 + j][3 + i];
      for (int k = 0; k < 3; k++) add_product(&value, -1, &G[3 + i][k], &w.A[k][j]);
      M[i * n + j] = M[j * n + i] = value;
    }
  return CB_OK;
}
