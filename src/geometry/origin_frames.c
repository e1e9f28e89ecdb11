/* Distances between moving frames. Frame b relative to frame a is T(n, L) A, where T is the transvection by L in the
 * direction n and A an isometry that fixes the base point. x is local in a, y is local in b, and lengths are in radii
 * of curvature R. x_w is the last coordinate of x, and x_n = <x, n>.
 *
 *   u = cosh d = -<x, T A y>/R^2 = exp(L) U,  z = A y,  ' the part orthogonal to n:
 *   2 U R^2 = (x_w - x_n)(z_w + z_n) + exp(-2L) (x_w + x_n)(z_w - z_n) - 2 exp(-L) x'.z'
 *   d = L + log(U + sqrt(U^2 - exp(-2L)))
 *   d_a = u_a/sinh d,  d_ab = u_ab/sinh d - coth(d) d_a d_b;  u is bilinear in x and y
 * d_a and d_ab are the derivatives of d with respect to the coordinates of x and y. x_w - x_n = (R^2 + |x'|^2)/(x_w +
 * x_n) loses no digits if x is in the direction n. For points close to each other the chord is used.
 */
#include "geometry/origin.h"

#include <string.h>

/* For frames farther apart than `far_apart` radii, distances are computed from u as above, because a chord would have
 * an error of up to exp(2 far_apart) units of round-off. But if u is below `near`, the points are close to each other
 * and the chord is used, because the logarithm would amplify errors by 1/sinh d. The matrix of a frame is not used
 * above longest_matrix radii. */
static const double far_apart = 2, near = 1.5, longest_matrix = 300;

void cb_frames_make(const cb_space *g, const cb_origin *a, const cb_origin *b, cb_frames *frames) {
  cb_origin_relative(g, a, b, &frames->relative);
  double length = cb_origin_moves(g) ? cb_origin_part_of(g).rate * frames->relative.length : 0;
  frames->far = length > far_apart;
  cb_isometry_identity(g, &frames->isometry);
  if (length <= longest_matrix) cb_origin_isometry(g, &frames->relative, &frames->isometry);
}

/* Maps y to the frame a, and computes the distance of x and y from their chord. The transpose of this map converts
 * derivatives with respect to y to the frame b. */
static cb_status by_chord(const cb_space *g, const cb_frames *frames, const double *x, const double *y, double *d,
                          double *gradient, double *hessian) {
  int k = g->embedding, n = 2 * k;
  double here[CB_COORD_MAX], gr[2 * CB_COORD_MAX], he[4 * CB_COORD_MAX * CB_COORD_MAX];
  cb_isometry_point(g, &frames->isometry, y, here);
  if (!gradient && !hessian) {
    *d = cb_distance(g, x, here);
    return CB_OK;
  }
  cb_status status = cb_distance_derivatives(g, x, here, d, gr, hessian ? he : NULL);
  if (status) return status;
  /* chain: derivatives of (x, here) by (x, y): the identity for x, and the matrix of the isometry for y */
  double chain[2 * CB_COORD_MAX][2 * CB_COORD_MAX] = {{0}};
  for (int i = 0; i < k; i++) {
    chain[i][i] = 1;
    for (int j = 0; j < k; j++) chain[k + i][k + j] = frames->isometry.m[i][j];
  }
  for (int i = 0; gradient && i < n; i++) {
    gradient[i] = 0;
    for (int a = 0; a < n; a++) gradient[i] += chain[a][i] * gr[a];
  }
  for (int i = 0; hessian && i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) sum += chain[a][i] * he[a * n + b] * chain[b][j];
      hessian[i * n + j] = sum;
    }
  return CB_OK;
}

/* For a point (x, w) and the unit vector n, with x_n = x.n: along = x_n, plus = w + x_n and minus = w - x_n. The last
 * two are computed without cancellation. */
typedef struct cone {
  double along, plus, minus;
} cone;

static cone cone_of(int dim, const double *n, const double *x, double radius) {
  cone c = {.along = cb_origin_dot(dim, n, x)};
  double square = radius * radius, w = x[dim];
  for (int i = 0; i < dim; i++) {
    double across = x[i] - c.along * n[i];
    square += across * across;
  }
  c.plus = c.along > 0 ? w + c.along : square / (w - c.along);
  c.minus = c.along > 0 ? square / (w + c.along) : w - c.along;
  return c;
}

/* Computes exp(-L) T v, or with side = -1 exp(-L) T^-1 v, from v and its cone c. e is exp(-L). */
static void carried(int dim, const double *n, double e, int side, const double *v, cone c, double *out) {
  double plus = side > 0 ? c.plus : e * e * c.plus, minus = side > 0 ? e * e * c.minus : c.minus;
  for (int i = 0; i < dim; i++) out[i] = e * (v[i] - c.along * n[i]) + (plus - minus) / 2 * n[i];
  out[dim] = (plus + minus) / 2;
}

/* Computes the distance in the hyperbolic factor; x and y begin at its first coordinate. If cosh d < near and L <=
 * longest_matrix, *is_far becomes false, and nothing else is written. gradient and hessian may be NULL. */
static void by_cone(cb_origin_part part, const cb_frames *frames, const double *x, const double *y, double *d,
                    double *gradient, double *hessian, bool *is_far) {
  int dim = part.dim, k = dim + 1;
  const double *n = frames->relative.direction, *rotation = frames->relative.rotation;
  double rate = part.rate, L = rate * frames->relative.length, e = exp(-L), z[CB_COORD_MAX], dot = 0;
  cb_origin_turn(dim, rotation, y, z);
  z[dim] = y[dim];
  cone cx = cone_of(dim, n, x, 1 / rate), cz = cone_of(dim, n, z, 1 / rate);
  for (int i = 0; i < dim; i++) dot += (x[i] - cx.along * n[i]) * (z[i] - cz.along * n[i]);
  double U = rate * rate * (cx.minus * cz.plus + e * e * cx.plus * cz.minus - 2 * e * dot) / 2;
  *is_far = !(U < near * e && L <= longest_matrix);
  if (!*is_far) return;
  double S = sqrt((U - e) * (U + e)); /* equal to exp(-L) sinh d */
  *d = (L + log(U + S)) / rate;
  if (!gradient && !hessian) return;

  double tz[CB_COORD_MAX], tx[CB_COORD_MAX], back[CB_COORD_MAX], gr[2 * CB_COORD_MAX];
  carried(dim, n, e, 1, z, cz, tz);
  carried(dim, n, e, -1, x, cx, tx);
  cb_origin_turn_back(dim, rotation, tx, back);
  back[dim] = tx[dim];
  for (int a = 0; a < k; a++) {
    gr[a] = -rate / S * (a < dim ? 1 : -1) * tz[a];
    gr[k + a] = -rate / S * (a < dim ? 1 : -1) * back[a];
  }
  if (gradient) memcpy(gradient, gr, (size_t)(2 * k) * sizeof *gr);
  if (!hessian) return;
  for (int a = 0; a < 2 * k; a++)
    for (int b = 0; b < 2 * k; b++) hessian[a * 2 * k + b] = -rate * U / S * gr[a] * gr[b];
  for (int b = 0; b < k; b++) { /* u_ab = -(I T A)_ab/R^2 with the form I; column b of exp(-L) T A is exp(-L) T A E_b */
    double column[CB_COORD_MAX] = {0}, axis[CB_COORD_MAX] = {0};
    for (int i = 0; b < dim && i < dim; i++) axis[i] = rotation[i * dim + b];
    if (b == dim) axis[dim] = 1;
    double along = cb_origin_dot(dim, n, axis);
    carried(dim, n, e, 1, axis, (cone){along, axis[dim] + along, axis[dim] - along}, column);
    for (int a = 0; a < k; a++) {
      double mixed = -rate / S * (a < dim ? 1 : -1) * column[a];
      hessian[a * 2 * k + k + b] += mixed;
      hessian[(k + b) * 2 * k + a] += mixed;
    }
  }
}

/* Computes the distance D in a product: D^2 = d^2 + |z|^2 with the distance d in the hyperbolic factor and z = x - y -
 * shift in the flat factors. With S = D^2/2 the derivatives are D_i = S_i/D and D_ij = (S_ij - D_i D_j)/D. */
static cb_status by_factors(const cb_space *g, const cb_frames *frames, const double *x, const double *y, double *d,
                            double *gradient, double *hessian) {
  const cb_origin_part part = cb_origin_part_of(g);
  const int k = g->embedding, n = 2 * k, m = part.dim + 1, o = part.offset;
  int axis[CB_DIM_MAX], coordinate[CB_DIM_MAX], flat = cb_origin_shifted(g, axis, coordinate);
  double gr[2 * CB_COORD_MAX], he[4 * CB_COORD_MAX * CB_COORD_MAX],
      S1[2 * CB_COORD_MAX] = {0}, S2[2 * CB_COORD_MAX][2 * CB_COORD_MAX] = {{0}}, near_d, square;
  const bool derivatives = gradient || hessian;
  bool is_far;
  by_cone(part, frames, x + o, y + o, &near_d, derivatives ? gr : NULL, derivatives ? he : NULL, &is_far);
  if (!is_far) return by_chord(g, frames, x, y, d, gradient, hessian);
  square = near_d * near_d;
  for (int i = 0; i < flat; i++) {
    const int a = coordinate[i];
    const double z = x[a] - y[a] - frames->relative.shift[axis[i]];
    square += z * z;
    S1[a] = z;
    S1[k + a] = -z;
    S2[a][a] = S2[k + a][k + a] = 1;
    S2[a][k + a] = S2[k + a][a] = -1;
  }
  for (int i = 0; derivatives && i < 2 * m; i++) {
    const int a = i < m ? o + i : k + o + i - m;
    S1[a] = near_d * gr[i];
    for (int j = 0; j < 2 * m; j++) S2[a][j < m ? o + j : k + o + j - m] = gr[i] * gr[j] + near_d * he[i * 2 * m + j];
  }
  const double D = flat ? sqrt(square) : near_d;
  *d = D;
  for (int a = 0; gradient && a < n; a++) gradient[a] = S1[a] / D;
  for (int a = 0; hessian && a < n; a++)
    for (int b = 0; b < n; b++) hessian[a * n + b] = (S2[a][b] - S1[a] / D * (S1[b] / D)) / D;
  return CB_OK;
}

static cb_status far_off(const cb_space *g, const cb_frames *frames, const double *x, const double *y, double *d,
                         double *gradient, double *hessian) {
  bool is_far;
  if (g->n_factors > 1) return by_factors(g, frames, x, y, d, gradient, hessian);
  by_cone(cb_origin_part_of(g), frames, x, y, d, gradient, hessian, &is_far);
  return is_far ? CB_OK : by_chord(g, frames, x, y, d, gradient, hessian);
}

cb_status cb_frames_distance(const cb_space *g, const cb_frames *frames, const double *x, const double *y, double *d,
                             double *gradient, double *hessian) {
  return (frames->far ? far_off : by_chord)(g, frames, x, y, d, gradient, hessian);
}

/* Sets `base` to the base point. In a product, origins do not move along spheres; there `base` has the components of
 * the point itself. */
static void base_of(const cb_space *g, const double *point, double *base) {
  cb_space_base_point(g, base);
  for (int f = 0; f < g->n_factors; f++)
    if (g->factor[f].curvature > 0)
      memcpy(base + g->factor[f].offset, point + g->factor[f].offset, (size_t)g->factor[f].count * sizeof *base);
}

/* A point x is local to its own origin O. Let T(x) be the transvection to x, and T the transvection from the base point
 * of the world to the point; then O T(x) = T W with a rotation W. Relative to O, T is therefore T(x) W^-1, whose
 * numbers are small at any distance of O. */
void cb_anchor_of(const cb_space *g, const cb_origin *origin, const cb_fixed *point, cb_anchor *anchor) {
  double base[CB_Q_MAX];
  cb_origin there, identity;
  cb_origin_identity(g, &identity);
  const bool home = !cb_origin_moves(g) || cb_origin_same(g, origin, &point->origin);
  if (home) memcpy(anchor->x, point->x, (size_t)g->embedding * sizeof *anchor->x);
  if (home && (!cb_origin_moves(g) || cb_origin_same(g, origin, &identity))) {
    cb_frames_make(g, &identity, &identity, &anchor->frames);
    return;
  }
  cb_origin_at(g, point->x, &there);
  if (home) {
    cb_origin turn, back;
    cb_origin_compose(g, origin, &there, &turn);
    memset(turn.shift, 0, sizeof turn.shift);
    turn.length = 0;
    cb_origin_inverse(g, &turn, &back);
    cb_origin_compose(g, &there, &back, &there);
    cb_frames_make(g, &identity, &there, &anchor->frames);
    anchor->frames.far = false;
    return;
  }
  if (!cb_origin_same(g, &point->origin, &identity)) {
    cb_origin_compose(g, &point->origin, &there, &there);
    memcpy(there.rotation, identity.rotation, sizeof there.rotation);
  }
  cb_frames_make(g, origin, &there, &anchor->frames);
  base_of(g, point->x, base);
  cb_isometry_point(g, &anchor->frames.isometry, base, anchor->x);
  if (!g->intrinsic) cb_space_project_point(g, anchor->x);
}

void cb_anchor_make(const cb_space *g, const cb_origin *origin, const double *world_point, cb_anchor *anchor) {
  cb_fixed point;
  cb_origin_identity(g, &point.origin);
  memcpy(point.x, world_point, (size_t)g->embedding * sizeof *point.x);
  cb_anchor_of(g, origin, &point, anchor);
}

cb_status cb_anchor_distance(const cb_space *g, const cb_anchor *anchor, const double *x, double *d, double *gradient,
                             double *hessian) {
  int k = g->embedding;
  double base[CB_Q_MAX], gr[2 * CB_COORD_MAX], he[4 * CB_COORD_MAX * CB_COORD_MAX];
  cb_status status;
  base_of(g, anchor->x, base);
  if (!gradient && !hessian) {
    if (anchor->frames.far) return cb_frames_distance(g, &anchor->frames, x, base, d, NULL, NULL);
    *d = cb_distance(g, x, anchor->x);
    return CB_OK;
  }
  if (anchor->frames.far)
    status = cb_frames_distance(g, &anchor->frames, x, base, d, gr, hessian ? he : NULL);
  else
    status = cb_distance_derivatives(g, x, anchor->x, d, gr, hessian ? he : NULL);
  if (status) return status;
  if (gradient) memcpy(gradient, gr, (size_t)k * sizeof *gr);
  for (int a = 0; hessian && a < k; a++) memcpy(hessian + a * k, he + a * 2 * k, (size_t)k * sizeof *he);
  return CB_OK;
}

cb_status cb_origin_distance(const cb_space *g, const cb_origin *a, const double *x, const cb_origin *b,
                             const double *y, double *d) {
  cb_frames frames;
  cb_frames_make(g, a, b, &frames);
  return cb_frames_distance(g, &frames, x, y, d, NULL, NULL);
}
