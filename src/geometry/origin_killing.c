/* Killing momenta in another frame, T(n, L) A with L in radii of curvature, and their invariants.
 *
 *   E = w p - x p_w (E^n: P = p) and B_ij = x_i p_j - x_j p_i are first turned by A; with B_n = n_j B_ji
 *   H^n: E across n +- B_n  grow and shrink by exp(+-L), E along n and B across n stay
 *   E^n: P stays, B' = B + c P^T - P c^T, c = L n
 */
#include "geometry/origin_private.h"

#include <string.h>

/* Momenta as they come (dim translations, then rotations by name) to E = T radius (E^n: P) and B, and back. */
static void unpack(int dim, double radius, const double *momentum, double *e, double b[CB_DIM_MAX][CB_DIM_MAX]) {
  memset(b, 0, CB_DIM_MAX * CB_DIM_MAX * sizeof(double));
  for (int i = 0; i < dim; i++) e[i] = radius * momentum[i];
  for (int name = 0, at = dim; name < CB_DIM_MAX; name++) {
    int i = (name + 1) % CB_DIM_MAX, j = (name + 2) % CB_DIM_MAX;
    if (i >= dim || j >= dim) continue;
    b[i][j] = momentum[at];
    b[j][i] = -momentum[at++];
  }
}

static void pack(int dim, double radius, const double *e, double b[CB_DIM_MAX][CB_DIM_MAX], double *momentum) {
  for (int i = 0; i < dim; i++) momentum[i] = e[i] / radius;
  for (int name = 0, at = dim; name < CB_DIM_MAX; name++) {
    int i = (name + 1) % CB_DIM_MAX, j = (name + 2) % CB_DIM_MAX;
    if (i < dim && j < dim) momentum[at++] = b[i][j];
  }
}

/* b <- A b A^T */
static void turn_tensor(int dim, const double *a, double b[CB_DIM_MAX][CB_DIM_MAX]) {
  double half[CB_DIM_MAX][CB_DIM_MAX] = {{0}}, whole[CB_DIM_MAX][CB_DIM_MAX] = {{0}};
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++)
      for (int k = 0; k < dim; k++) half[i][j] += a[i * dim + k] * b[k][j];
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++)
      for (int k = 0; k < dim; k++) whole[i][j] += half[i][k] * a[j * dim + k];
  memcpy(b, whole, sizeof whole);
}

static double grown(double x, double L) { return x == 0 ? 0 : x * exp(L); }

static void transvect(int dim, const double *n, double L, double *e, double b[CB_DIM_MAX][CB_DIM_MAX]) {
  double along = cb_origin_dot(dim, n, e), bn[CB_DIM_MAX] = {0}, change[CB_DIM_MAX];
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) bn[i] += n[j] * b[j][i];
  for (int i = 0; i < dim; i++) {
    double across = e[i] - along * n[i], plus = grown(across + bn[i], L), minus = (across - bn[i]) * exp(-L);
    e[i] = along * n[i] + (plus + minus) / 2;
    change[i] = (plus - minus) / 2 - bn[i];
  }
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) b[i][j] += n[i] * change[j] - change[i] * n[j];
}

void cb_origin_killing(const cb_geometry *g, const cb_origin *origin, const double *local, double *world) {
  double e[CB_DIM_MAX], turned[CB_DIM_MAX], b[CB_DIM_MAX][CB_DIM_MAX], rate = 0;
  int n = g->dim;
  if (!cb_origin_moves(g)) {
    memmove(world, local, (size_t)g->n_killing * sizeof *local);
    return;
  }
  bool flat = g->factor[0].curvature == 0;
  rate = flat ? 1 : cb_origin_rate(g);
  unpack(n, 1 / rate, local, e, b);
  cb_origin_turn(n, origin->rotation, e, turned);
  turn_tensor(n, origin->rotation, b);
  if (flat) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        b[i][j] += origin->length * (origin->direction[i] * turned[j] - turned[i] * origin->direction[j]);
  } else {
    transvect(n, origin->direction, rate * origin->length, turned, b);
  }
  pack(n, 1 / rate, turned, b, world);
}

void cb_killing_casimirs(const cb_geometry *g, const double *momentum, double *casimir) {
  casimir[0] = casimir[1] = 0;
  if (g->n_factors != 1) return;
  int n = g->dim, rotations = n * (n - 1) / 2;
  const double *t = momentum, *j = momentum + n;
  casimir[0] = cb_origin_dot(n, t, t) + g->factor[0].curvature * cb_origin_dot(rotations, j, j);
  if (n == 3) casimir[1] = cb_origin_dot(n, t, j);
}
