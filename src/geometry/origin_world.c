/* Converts points, places and Killing momenta from a moving frame to the world: world = T(n, L) A local, with L in
 * radii of curvature. A is the rotation of the frame, and T(n, L) the transvection by the length L along the unit
 * vector n (origin.h).
 *
 *   T: w' +- x_n' = exp(+-L) (w +- x_n), x across n unchanged
 *   in the ball of radius 1, b = x/(1 + w), T is Moebius addition with a = n tanh(L/2):
 *     T(b) = ((1 + 2 a.b + |b|^2) a + (1 - |a|^2) b)/D,  D = 1 + 2 a.b + |a|^2 |b|^2,  1 - |a|^2 = 1/cosh^2(L/2)
 *     T'(b) c = (1 - |a|^2)/D (c - 2 (1 + a.b)/D G c + 2/D G G c),  G c = b (a.c) - a (b.c)
 * (x, w) is a point in units of the radius, x_n = x.n, c is a tangent vector at b, and T' is the derivative of T. In
 * the first line a prime marks the image.
 *
 * Killing momenta are converted to the axes of the world, with their sizes and errors:
 *   translations:  e = w p - x p_w  in hyperbolic space,  e = p  in flat space
 *   rotations:     B_ij = x_i p_j - x_j p_i
 * (x, w) is the point and (p, p_w) the momentum, where w and p_w are the last coordinates of hyperbolic space. First A
 * rotates e and B. Then T(n, L) changes them:
 *   hyperbolic     with b_i = sum_j n_j B_ji, and the part e_t of e orthogonal to n: (e_t + b)/2 grows by exp(L), and
 *                  (e_t - b)/2 shrinks by exp(-L); e along n and the rest of B stay
 *   flat           e stays, B' = B + c e^T - e c^T with c = L n
 *
 * Source: Ratcliffe, Foundations of Hyperbolic Manifolds, 2nd ed. (2006), section 4.5, doi:10.1007/978-0-387-47322-2;
 * the derivative is (1 - |a|^2)/D times a rotation, since T is conformal.
 */
#include "geometry/origin.h"

#include <curvebody/intrinsic.h>

#include <float.h>
#include <string.h>

/* --- points and places --- */

/* Returns x times growth, and 0 for x = 0, where the growth may be infinite. */
static double grown(double x, double growth) { return x == 0 ? 0 : x * growth; }

void cb_origin_world_vector(const cb_space *g, const cb_origin *origin, const double *v, double *world) {
  double all[CB_Q_MAX], *y = all;
  memcpy(all, v, (size_t)g->embedding * sizeof *v);
  if (g->intrinsic && cb_origin_moves(g)) {
    double m[CB_DIM_MAX * CB_DIM_MAX];
    g->intrinsic->translation(g, origin->shift, m, NULL);
    for (int i = 0; i < g->dim; i++) all[i] = cb_origin_dot(g->dim, m + i * g->dim, v);
  } else if (cb_origin_moves(g)) {
    const cb_origin_part part = cb_origin_part_of(g);
    const int n = part.dim;
    y += part.offset;
    cb_origin_turn(n, origin->rotation, v + part.offset, y);
    if (part.curvature != 0) {
      double L = part.rate * origin->length, along = cb_origin_dot(n, origin->direction, y), w = y[n];
      double plus = grown(w + along, exp(L)), minus = (w - along) * exp(-L), change = (plus - minus) / 2 - along;
      for (int i = 0; i < n; i++)
        if (origin->direction[i] != 0)
          y[i] += change * origin->direction[i]; /* 0 times an infinite change would be NaN */
      y[n] = (plus + minus) / 2;
    }
  }
  memcpy(world, all, (size_t)g->embedding * sizeof *all);
}

/* Computes the point to which an origin moves the base point, for spaces where this is an addition: flat factors and
 * groups. */
static void offset_of(const cb_space *g, const cb_origin *origin, double *b) {
  int axis[CB_DIM_MAX], coordinate[CB_DIM_MAX];
  memset(b, 0, CB_COORD_MAX * sizeof *b);
  if (!cb_origin_moves(g)) return;
  if (g->intrinsic) {
    memcpy(b, origin->shift, (size_t)g->dim * sizeof *b);
    return;
  }
  for (int i = cb_origin_shifted(g, axis, coordinate) - 1; i >= 0; i--) b[coordinate[i]] = origin->shift[axis[i]];
  for (int i = 0; g->n_factors == 1 && g->factor[0].curvature == 0 && i < g->dim; i++)
    b[i] = origin->length * origin->direction[i];
}

/* Computes the point of the world as cb_origin_world_point does, but without the projection, so that the result is off
 * the space by round-off. */
static void origin_world_place(const cb_space *g, const cb_origin *origin, const double *x, double *world) {
  double b[CB_COORD_MAX];
  cb_origin_world_vector(g, origin, x, world);
  if (!cb_origin_moves(g)) return;
  offset_of(g, origin, b);
  for (int i = 0; i < g->embedding; i++) world[i] += b[i];
}

void cb_origin_world_point(const cb_space *g, const cb_origin *origin, const double *x, double *world) {
  origin_world_place(g, origin, x, world);
  if (cb_origin_moves(g) && !g->intrinsic) cb_space_project_point(g, world);
}

void cb_origin_local_point(const cb_space *g, const cb_origin *origin, const double *world, double *x) {
  cb_origin inverse;
  cb_origin_inverse(g, origin, &inverse);
  cb_origin_world_point(g, &inverse, world, x);
}

cb_status cb_origin_relative_point(const cb_space *g, const cb_origin *a, const cb_origin *b, const double *x,
                                   double *out) {
  cb_origin relative;
  double y[CB_Q_MAX];
  cb_origin_relative(g, a, b, &relative);
  cb_origin_world_point(g, &relative, x, y);
  for (int i = 0; i < g->embedding; i++)
    if (!isfinite(y[i]))
      return cb_fail(CB_ERROR_DOMAIN,
                     "two frames are %g apart, so that coordinates of one overflow in the other: expected frames "
                     "closer to each other",
                     relative.length);
  memcpy(out, y, (size_t)g->embedding * sizeof *y);
  return CB_OK;
}

void cb_origin_isometry(const cb_space *g, const cb_origin *origin, cb_isometry *out) {
  cb_isometry_identity(g, out);
  if (!cb_origin_moves(g)) return;
  for (int j = 0; j < g->embedding; j++) {
    double column[CB_COORD_MAX] = {0};
    column[j] = 1;
    cb_origin_world_vector(g, origin, column, column);
    for (int i = 0; i < g->embedding; i++) out->m[i][j] = column[i];
  }
  offset_of(g, origin, out->b);
}

/* Computes Moebius addition in the unit ball: point = T(b) and rate = T'(b) c, for a = n tanh(L/2). */
static void moebius(int dim, const double *n, double L, const double *b, const double *c, double *point, double *rate) {
  double a[CB_DIM_MAX], G[CB_DIM_MAX], GG[CB_DIM_MAX], size = tanh(L / 2), sech = 1 / cosh(L / 2);
  for (int i = 0; i < dim; i++) a[i] = size * n[i];
  double ab = cb_origin_dot(dim, a, b), bb = cb_origin_dot(dim, b, b), shrink = sech * sech;
  double D = 1 + 2 * ab + size * size * bb;
  for (int i = 0; i < dim; i++) point[i] = ((1 + 2 * ab + bb) * a[i] + shrink * b[i]) / D;
  double ac = cb_origin_dot(dim, a, c), bc = cb_origin_dot(dim, b, c);
  for (int i = 0; i < dim; i++) G[i] = b[i] * ac - a[i] * bc;
  double aG = cb_origin_dot(dim, a, G), bG = cb_origin_dot(dim, b, G);
  for (int i = 0; i < dim; i++) {
    GG[i] = b[i] * aG - a[i] * bG;
    rate[i] = shrink / D * (c[i] - 2 * (1 + ab) / D * G[i] + 2 / D * GG[i]);
  }
}

void cb_origin_plot(const cb_space *g, const cb_origin *origin, const double *x, const double *v, double *plot,
                    double *velocity) {
  const cb_origin_part part = cb_origin_part_of(g);
  bool hyperbolic = cb_origin_moves(g) && part.curvature < 0;
  if (!hyperbolic || strcmp(g->plot, "embedding") == 0) {
    double y[CB_Q_MAX], u[CB_Q_MAX];
    cb_origin_world_point(g, origin, x, y);
    if (v) cb_origin_world_vector(g, origin, v, u);
    cb_plot_coordinates(g, y, v ? u : NULL, plot, velocity);
    return;
  }
  int n = part.dim, axis[CB_DIM_MAX], coordinate[CB_DIM_MAX];
  double rate = part.rate, b[CB_DIM_MAX], c[CB_DIM_MAX] = {0}, turned[CB_DIM_MAX] = {0}, point[3] = {0}, speed[3] = {0};
  const double *y = x + part.offset, *u = v ? v + part.offset : NULL;
  double s = 1 + rate * y[n], whole[3] = {0}, whole_rate[3] = {0};
  for (int i = 0; i < n; i++) {
    b[i] = rate * y[i] / s;
    if (v) c[i] = rate * (u[i] - b[i] * u[n]) / s;
  }
  cb_origin_turn(n, origin->rotation, b, turned);
  memcpy(b, turned, sizeof b);
  cb_origin_turn(n, origin->rotation, c, turned);
  moebius(n, origin->direction, rate * origin->length, b, turned, point, speed);
  for (int i = 0; i < n; i++) {
    whole[part.axis + i] = point[i] / rate;
    whole_rate[part.axis + i] = speed[i] / rate;
  }
  for (int i = cb_origin_shifted(g, axis, coordinate) - 1; i >= 0; i--) {
    whole[axis[i]] = x[coordinate[i]] + origin->shift[axis[i]];
    if (v) whole_rate[axis[i]] = v[coordinate[i]];
  }
  memcpy(plot, whole, sizeof whole);
  if (v && velocity) memcpy(velocity, whole_rate, sizeof whole_rate);
}

/* --- places as moving origins ---
 *
 * These functions find the place that coordinates describe, and fields of the world at this place. They do not use
 * coordinates of the embedding of the world, which grow like exp(distance).
 *
 *   field X of the world at T y, mapped to y:  T^-1 X T = sum_k M_k X_k, M the coadjoint action of cb_origin_killing:
 *   p.(T^-1 X T) = (T p).X
 * T is the origin, y a local point, p a momentum, and X_k are the Killing fields.
 */

bool cb_origin_grows(const cb_space *g) {
  return cb_origin_moves(g) && !g->intrinsic && cb_origin_part_of(g).curvature < 0;
}

double cb_origin_radii(const cb_space *g, const cb_origin *origin) {
  return cb_origin_part_of(g).rate * origin->length;
}

cb_status cb_origin_of(const cb_space *g, const cb_chart *chart, const double *q, const double *u, cb_origin *origin,
                       double *v) {
  double x[CB_Q_MAX], world[CB_Q_MAX];
  cb_origin back;
  if (chart && chart->to_origin) return chart->to_origin(g, q, u, origin, v);
  if (chart) {
    const cb_status status = cb_chart_push(g, chart, q, u, x, world);
    if (status) return status;
  } else {
    memcpy(x, q, (size_t)g->embedding * sizeof *x);
    memcpy(world, u, (size_t)g->embedding * sizeof *world);
  }
  cb_origin_at(g, x, origin);
  cb_origin_inverse(g, origin, &back);
  cb_origin_world_vector(g, &back, world, v);
  return CB_OK;
}

cb_status cb_origin_coordinates(const cb_space *g, const cb_origin *origin, const double *x, const cb_chart *chart,
                                double *q) {
  double world[CB_Q_MAX];
  cb_origin there, point;
  bool finite = true;
  cb_origin_world_point(g, origin, x, world);
  for (int a = 0; a < g->embedding; a++) finite = finite && isfinite(world[a]);
  if (finite || !chart->from_origin) return chart->from_point(g, world, q);
  cb_origin_at(g, x, &there);
  cb_origin_compose(g, origin, &there, &point);
  return chart->from_origin(g, &point, q);
}

void cb_origin_field(const cb_space *g, const cb_origin *origin, int killing, const double *x, double *v) {
  double field[CB_Q_MAX], sum[CB_Q_MAX] = {0};
  for (int k = 0; k < g->n_killing; k++) {
    double local[CB_KILLING_MAX] = {0}, world[CB_KILLING_MAX];
    local[k] = 1;
    cb_origin_killing(g, origin, local, world);
    if (world[killing] == 0) continue;
    cb_killing_at(g, k, x, field);
    for (int a = 0; a < g->embedding; a++) sum[a] += world[killing] * field[a];
  }
  memcpy(v, sum, (size_t)g->embedding * sizeof *v);
}

/* --- Killing momenta --- */

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
  origin_world_place(g, origin, g->chart ? x : q, world);
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
