/* From a moving frame to the world, world = T(n, L) A local, with L in radii of curvature, and places in the world:
 *
 *   T: w' +- x_n' = exp(+-L) (w +- x_n), x across n unchanged
 *   in the ball of radius 1, b = x/(1 + w), T is Moebius addition with a = n tanh(L/2):
 *     T(b) = ((1 + 2 a.b + |b|^2) a + (1 - |a|^2) b)/D,  D = 1 + 2 a.b + |a|^2 |b|^2,  1 - |a|^2 = 1/cosh^2(L/2)
 *     T'(b) c = (1 - |a|^2)/D (c - 2 (1 + a.b)/D G c + 2/D G G c),  G c = b (a.c) - a (b.c)
 * (x, w) is a point in units of the radius, x_n = x.n, c is a tangent vector at b, and T' is the derivative of T. In
 * the first line ' is the image.
 *
 * Source: Ratcliffe, Foundations of Hyperbolic Manifolds, 2nd ed. (2006), section 4.5, doi:10.1007/978-0-387-47322-2;
 * the derivative is (1 - |a|^2)/D times a rotation, since T is conformal.
 */
#include "geometry/origin.h"
#include <curvebody/intrinsic.h>

#include <string.h>

/* Returns x exp(L), and 0 for x = 0, where exp(L) may be infinite. */
static double grown(double x, double L) { return x == 0 ? 0 : x * exp(L); }

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
      double plus = grown(w + along, L), minus = (w - along) * exp(-L), change = (plus - minus) / 2 - along;
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

void cb_origin_world_place(const cb_space *g, const cb_origin *origin, const double *x, double *world) {
  double b[CB_COORD_MAX];
  cb_origin_world_vector(g, origin, x, world);
  if (!cb_origin_moves(g)) return;
  offset_of(g, origin, b);
  for (int i = 0; i < g->embedding; i++) world[i] += b[i];
}

void cb_origin_world_point(const cb_space *g, const cb_origin *origin, const double *x, double *world) {
  cb_origin_world_place(g, origin, x, world);
  if (cb_origin_moves(g) && !g->intrinsic) cb_space_project_point(g, world);
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
