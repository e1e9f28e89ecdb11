/* Converts Killing momenta from a frame T(n, L) A (origin.h) to the axes of the world, and computes their sizes and
 * errors. A is the rotation of the frame, and T(n, L) the transvection by the length L along the unit vector n.
 *
 *   translations:  e = w p - x p_w  in hyperbolic space,  e = p  in flat space
 *   rotations:     B_ij = x_i p_j - x_j p_i
 * (x, w) is the point and (p, p_w) the momentum, where w and p_w are the last coordinates of hyperbolic space. First A
 * rotates e and B. Then T(n, L) changes them:
 *   hyperbolic     with L in radii of curvature, b_i = sum_j n_j B_ji, and the part e_t of e orthogonal to n:
 *                  (e_t + b)/2 grows by exp(L), and (e_t - b)/2 shrinks by exp(-L); e along n and the rest of B stay
 *   flat           e stays, B' = B + c e^T - e c^T with c = L n
 */
#include "geometry/origin.h"
#include <curvebody/intrinsic.h>

#include <float.h>
#include <string.h>

/* Converts momenta in the order of the Killing fields (dim translations, then the rotations in the order of the names
 * of their axes) to e and B. The momenta of translations are multiplied by `radius`, the radius of curvature (flat
 * space: 1). */
static void unpack(int dim, int axis, double radius, const double *momentum, double *e,
                   double b[CB_DIM_MAX][CB_DIM_MAX]) {
  memset(b, 0, CB_DIM_MAX * CB_DIM_MAX * sizeof(double));
  for (int i = 0; i < dim; i++) e[i] = radius * momentum[i];
  for (int name = 0, at = dim; name < CB_DIM_MAX; name++) {
    int i = (name + 1) % CB_DIM_MAX - axis, j = (name + 2) % CB_DIM_MAX - axis;
    if (i < 0 || j < 0 || i >= dim || j >= dim) continue;
    b[i][j] = momentum[at];
    b[j][i] = -momentum[at++];
  }
}

static void pack(int dim, int axis, double radius, const double *e, double b[CB_DIM_MAX][CB_DIM_MAX],
                 double *momentum) {
  for (int i = 0; i < dim; i++) momentum[i] = e[i] / radius;
  for (int name = 0, at = dim; name < CB_DIM_MAX; name++) {
    int i = (name + 1) % CB_DIM_MAX - axis, j = (name + 2) % CB_DIM_MAX - axis;
    if (i >= 0 && j >= 0 && i < dim && j < dim) momentum[at++] = b[i][j];
  }
}

/* Replaces b by A b A^T. */
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

static double grown(double x, double growth) { return x == 0 ? 0 : x * growth; }

/* Applies T(n, L) of hyperbolic space to e and B (equations above). The growing part is multiplied last, so that an
 * overflow gives infinity and never inf - inf. */
static void transvect(int dim, const double *n, double L, double *e, double b[CB_DIM_MAX][CB_DIM_MAX]) {
  const double along = cb_origin_dot(dim, n, e), growth = exp(L), decay = exp(-L);
  double grow[CB_DIM_MAX], shrink[CB_DIM_MAX], bn[CB_DIM_MAX] = {0};
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) bn[i] += n[j] * b[j][i];
  for (int i = 0; i < dim; i++) {
    const double across = e[i] - along * n[i];
    grow[i] = (across + bn[i]) / 2;
    shrink[i] = (across - bn[i]) / 2 * decay;
  }
  const double rest =
      cb_origin_dot(dim, n, grow); /* 0 except for round-off, which would grow like exp(L); it is subtracted */
  for (int i = 0; i < dim; i++) {
    grow[i] -= rest * n[i];
    e[i] = along * n[i] + (shrink[i] + grown(grow[i], growth));
  }
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++)
      b[i][j] +=
          n[j] * (shrink[i] + bn[i]) - n[i] * (shrink[j] + bn[j]) + grown(n[i] * grow[j] - grow[i] * n[j], growth);
}

/* Replaces B by B + c p^T - p c^T with c = length n. */
static void displace(int dim, const double *n, double length, const double *p, double b[CB_DIM_MAX][CB_DIM_MAX]) {
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) b[i][j] += length * (n[i] * p[j] - p[i] * n[j]);
}

/* Converts the momenta of the factor on which T acts. The first axis of this factor is part.axis. */
static void killing_of_part(cb_origin_part part, const cb_origin *origin, const double *local, double *world) {
  double e[CB_DIM_MAX], turned[CB_DIM_MAX], b[CB_DIM_MAX][CB_DIM_MAX], rate = part.curvature == 0 ? 1 : part.rate;
  const int n = part.dim;
  unpack(n, part.axis, 1 / rate, local, e, b);
  cb_origin_turn(n, origin->rotation, e, turned);
  turn_tensor(n, origin->rotation, b);
  if (part.curvature == 0)
    displace(n, origin->direction, origin->length, turned, b);
  else
    transvect(n, origin->direction, rate * origin->length, turned, b);
  pack(n, part.axis, 1 / rate, turned, b, world);
}

void cb_origin_killing(const cb_space *g, const cb_origin *origin, const double *local, double *world) {
  const cb_origin_part part = cb_origin_part_of(g);
  double e[CB_DIM_MAX], b[CB_DIM_MAX][CB_DIM_MAX];
  memmove(world, local, (size_t)g->n_killing * sizeof *local);
  if (!cb_origin_moves(g) || g->intrinsic) return;
  for (int f = 0, at = 0, axis = 0; f < g->n_factors; f++) {
    const int n = cb_origin_dimension(g->factor[f]);
    if (part.dim && g->factor[f].offset == part.offset) {
      killing_of_part(part, origin, world + at, world + at);
    } else if (g->factor[f].curvature == 0) {
      unpack(n, axis, 1, world + at, e, b);
      displace(n, origin->shift + axis, 1, e, b);
      pack(n, axis, 1, e, b, world + at);
    }
    at += n * (n + 1) / 2;
    axis += n;
  }
}

/* For an intrinsic space: computes the lengths norm[i] = |X_i| of the Killing fields at q, from the components of X_i
 * in the chart. */
static cb_status sizes_in_chart(const cb_space *g, const cb_origin *origin, const double *q, double *norm) {
  double metric[CB_Q_MAX * CB_Q_MAX], X[CB_KILLING_MAX][CB_Q_MAX];
  const cb_status status = g->chart->metric(g, q, metric, NULL, NULL);
  for (int a = 0; a < g->dim && !status; a++) {
    double p[CB_Q_MAX] = {0}, here[CB_KILLING_MAX] = {0};
    p[a] = 1;
    cb_origin_killing_add(g, origin, q, p, here);
    for (int i = 0; i < g->n_killing; i++) X[i][a] = here[i];
  }
  for (int i = 0; i < g->n_killing && !status; i++) {
    double square = 0;
    for (int a = 0; a < g->dim; a++)
      for (int b = 0; b < g->dim; b++) square += X[i][a] * metric[a * g->dim + b] * X[i][b];
    norm[i] = sqrt(fmax(0, square));
  }
  return status;
}

static double length(double x, double y) {
  const double square = x * x + y * y;
  return square < INFINITY ? sqrt(square) : hypot(x, y);
}

/* Computes the lengths norm[i] = |X_i| of the Killing fields at the position in the world. In hyperbolic space the
 * field X of a translation along an axis has <X,X> = 1 + |x'|^2/R^2, where x' is the part of x orthogonal to this axis
 * and R the radius of curvature; (w^2 - x_i^2)/R^2 would lose digits. */
cb_status cb_origin_killing_sizes(const cb_space *g, const cb_origin *origin, const double *q, double *norm) {
  double x[CB_Q_MAX], world[CB_Q_MAX], e[CB_DIM_MAX], b[CB_DIM_MAX][CB_DIM_MAX];
  if (g->intrinsic) return sizes_in_chart(g, origin, q, norm);
  const cb_status status = g->chart ? g->chart->to_point(g, q, x, NULL) : CB_OK;
  if (status) return status;
  cb_origin_world_place(g, origin, g->chart ? x : q, world);
  for (int f = 0, at = 0, axis = 0; f < g->n_factors; f++) {
    const int n = cb_origin_dimension(g->factor[f]);
    const double K = g->factor[f].curvature, rate = sqrt(fabs(K)), *y = world + g->factor[f].offset;
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) b[i][j] = b[j][i] = i == j ? fabs(y[i]) : length(y[i], y[j]);
    for (int i = 0; i < n; i++) { /* across: the length of y along the other axes, of which there are one or two */
      const double across = b[(i + 1) % n][(i + n - 1) % n];
      e[i] = K > 0 ? rate * length(y[i], y[n]) : K < 0 ? length(1, rate * across) : 1;
    }
    pack(n, axis, 1, e, b, norm + at);
    at += n * (n + 1) / 2;
    axis += n;
  }
  return CB_OK;
}

/* Adds the error of Killing momenta that the round-off of the direction n of a frame causes. A relative error in the
 * component n_i rotates each plane (i, j) by n_i n_j times this error. A component that underflowed to 0 rotates these
 * planes by at most the smallest normal number. */
static void noise_of_part(cb_origin_part part, const double *n, const double *sizes, const double *world,
                          double *noise) {
  static const double least = DBL_MIN / DBL_EPSILON;
  double e[CB_DIM_MAX], b[CB_DIM_MAX][CB_DIM_MAX], we[CB_DIM_MAX], wb[CB_DIM_MAX][CB_DIM_MAX],
      turned[CB_DIM_MAX] = {0}, both[CB_DIM_MAX][CB_DIM_MAX] = {{0}}, add[CB_KILLING_MAX] = {0};
  const int dim = part.dim;
  unpack(dim, part.axis, 1, sizes, e, b);
  unpack(dim, part.axis, 1, world, we, wb);
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) {
      const double angle = fabs(n[i] * n[j]);
      if (i == j) continue;
      turned[i] += least * fabs(we[j]) + (angle > 0 ? angle * e[j] : 0); /* 0 times infinity would be nan */
      for (int k = 0; k < dim; k++)
        if (k != i && k != j)
          both[i][k] = both[k][i] += least * fabs(wb[j][k]) + (angle > 0 ? angle * fabs(b[j][k]) : 0);
    }
  pack(dim, part.axis, 1, turned, both, add);
  for (int i = 0; i < dim * (dim + 1) / 2; i++) noise[i] += add[i];
}

void cb_origin_killing_noise(const cb_space *g, const cb_origin *origin, const double *sizes, const double *world,
                             double *noise) {
  const cb_origin_part part = cb_origin_part_of(g);
  for (int i = 0; i < g->n_killing; i++) noise[i] += sizes[i];
  if (!cb_origin_moves(g) || g->intrinsic || !part.dim) return;
  for (int f = 0, at = 0; f < g->n_factors; f++) {
    const int n = cb_origin_dimension(g->factor[f]);
    if (g->factor[f].offset == part.offset) noise_of_part(part, origin->direction, sizes + at, world + at, noise + at);
    at += n * (n + 1) / 2;
  }
}

/* Adds J = p.(m^-1 X(L x)) for each Killing field X, where p is the covector at the local point x and L x = shift + m x
 * (origin.h). The product is computed at x, because the numbers of p and X in the world may be larger. */
void cb_origin_killing_add(const cb_space *g, const cb_origin *origin, const double *x, const double *p,
                           double *momentum) {
  const int n = g->dim;
  const bool moves = cb_origin_moves(g);
  cb_dd m[CB_COORD_MAX][CB_COORD_MAX], inverse[CB_COORD_MAX][CB_COORD_MAX];
  double world[CB_DIM_MAX], field[CB_DIM_MAX];
  if (moves) cb_origin_translation(g, origin->shift, m, inverse);
  if (moves) cb_origin_world_point(g, origin, x, world);
  for (int f = 0; f < g->n_killing; f++) {
    g->intrinsic->killing(g, f, moves ? world : x, field);
    for (int i = 0; i < n; i++)
      for (int j = moves ? 0 : i; j < (moves ? n : i + 1); j++)
        momentum[f] += p[i] * (moves ? inverse[i][j].hi : 1) * field[j];
  }
}
