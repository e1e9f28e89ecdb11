/* Constraints of few points: a distance to a fixed point of the world, a pin, rods and path lengths, and a knife edge.
 *
 *   distance to a point  g = d(x, centre) - length
 *   pin     g_a = <e_a, x - centre>, which is linear and has one zero near the centre;  chart: g_a = q_a - centre_a
 *   rod, path length     g = sum of distances - length
 *
 * x is the particle, q are its coordinates in the space's own chart, d is the distance, and e_a are the vectors of the
 * frame at the centre. In a chart with moving origins, q - centre is rotated to the world. The centre is expressed in
 * the moving origin of its particle. The frame is the world's frame, transported to the centre, so that the multipliers
 * of a pin do not rotate when the origin moves.
 */
#include "dynamics/constraint_private.h"

#include "dynamics/pair_potential.h"
#include "geometry/quadric.h"

#include <math.h>
#include <string.h>

static cb_status distance_to_point(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                   const double *const *x, int order, cb_element *out) {
  const cb_space *g = c->space;
  const cb_anchor *anchor = &c->world[row->world].anchor;
  double gradient[CB_PAIR_MAX], hessian[CB_PAIR_MAX * CB_PAIR_MAX];
  const int k = g->k, far = !g->chart && anchor->frames.far, stride = far ? k : 2 * k;
  cb_status status =
      far ? cb_anchor_distance(g, anchor, x[0], &out->value, order ? gradient : NULL, order > 1 ? hessian : NULL)
          : cb_pair_distance(g, x[0], anchor->x, &out->value, order ? gradient : NULL, order > 1 ? hessian : NULL);
  (void)element;
  (void)t;
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  for (int a = 0; order && a < k; a++) out->gradient[a] = gradient[a];
  for (int a = 0; order > 1 && a < k; a++)
    memcpy(out->hessian + a * k, hessian + a * stride, (size_t)k * sizeof *hessian);
  return CB_OK;
}

/* The frame at the centre, relative to the particle's origin. If this origin has moved, the vectors of flat and
 * hyperbolic factors are the columns of the isometry to the centre, which keep their digits at any distance from the
 * world's base point. */
static void frame_at_centre(const cb_constraints *c, const cb_constraint *row, double frame[CB_Q_MAX][CB_Q_MAX]) {
  const cb_space *g = c->space;
  const cb_constraint_world *w = &c->world[row->world];
  bool moved = false;
  for (int a = 0; a < g->embedding; a++) {
    moved = moved || w->world.b[a] != 0;
    for (int b = 0; b < g->embedding; b++) moved = moved || w->world.m[a][b] != (a == b);
  }
  memset(frame, 0, CB_Q_MAX * sizeof *frame);
  double e[CB_Q_MAX * CB_Q_MAX];
  cb_space_frame(g, row->centre.x, e);
  for (int f = 0, i = 0; f < g->n_factors; f++) { /* origins do not move in the spheres of a product */
    const cb_factor factor = g->factor[f];
    const int end = i + cb_factor_dim(factor);
    for (int column = factor.offset; i < end; i++, column++)
      for (int a = 0; a < g->embedding; a++)
        frame[i][a] = moved && factor.curvature <= 0 ? w->anchor.frames.isometry.m[a][column] : e[i * g->embedding + a];
  }
}

static cb_status pin(const cb_constraints *c, const cb_constraint *row, int element, double t, const double *const *x,
                     int order, cb_element *out) {
  const cb_space *g = c->space;
  (void)element;
  (void)t;
  if (g->chart && cb_origin_moves(g)) {
    const cb_constraint_world *w = &c->world[row->world];
    out->value = 0;
    for (int a = 0; a < g->dim; a++) {
      out->value += w->world.m[row->axis][a] * (x[0][a] - w->anchor.x[a]);
      if (order) out->gradient[a] = w->world.m[row->axis][a];
    }
    return CB_OK;
  }
  if (g->chart) {
    out->value = x[0][row->axis] - row->centre.x[row->axis];
    if (order) out->gradient[row->axis] = 1;
    return CB_OK;
  }
  const double *centre = c->world[row->world].anchor.x;
  double frame[CB_Q_MAX][CB_Q_MAX];
  frame_at_centre(c, row, frame);
  out->value = 0;
  for (int a = 0; a < g->k; a++) {
    double e = g->form[a] * frame[row->axis][a];
    out->value += e * (x[0][a] - centre[a]);
    if (order) out->gradient[a] = e;
  }
  return CB_OK;
}

const cb_constraint_class cb_constraint_distance_to_point = {
    .name = "distance_to_point", .element = distance_to_point, .per_world = true, .sized = true};
const cb_constraint_class cb_constraint_pin = {.name = "pin", .element = pin, .per_world = true};

/* --- rods and path lengths --- */

static cb_status distance(const cb_constraints *c, const cb_constraint *row, int element, double t,
                          const double *const *x, int order, cb_element *out) {
  (void)row;
  (void)element;
  (void)t;
  return cb_pair_distance(c->space, x[0], x[1], &out->value, order > 0 ? out->gradient : NULL,
                          order > 1 ? out->hessian : NULL);
}

const cb_constraint_class cb_constraint_rod = {.name = "rod", .element = distance, .sized = true};
const cb_constraint_class cb_constraint_path_length = {.name = "path_length", .element = distance, .sized = true};

/* A knife edge at x, in a space of dimension 2, is directed along the geodesic to y. It allows no velocity v of x
 * perpendicular to this geodesic:
 *
 *   a.v = det(x, y, v)/(R s_K(d)) = 0,   s_K(d)^2 = w (1 - K w/4),  w = <x-y, x-y>
 * a.v is the component of v to the left of the direction to y. d is the distance, K the curvature, R = 1/sqrt|K|, and
 * 1/R is applied to the last coordinates; in flat space R = 1, and (x, 1), (y, 1) and (v, 0) are the rows of the
 * determinant. */

enum { N = 3 };

/* The covector det(x, e, .)/R with e = y - x, which is bilinear in x and e. */
static void cross(const cb_space *g, const double *x, const double *e, double *out) {
  const double curvature = g->factor[0].curvature;
  double last = curvature == 0 ? 1 : sqrt(fabs(curvature)), x2 = curvature == 0 ? 1 : last * x[2],
         e2 = curvature == 0 ? 0 : last * e[2];
  out[0] = x[1] * e2 - x2 * e[1];
  out[1] = x2 * e[0] - x[0] * e2;
  out[2] = curvature == 0 ? 0 : last * (x[0] * e[1] - x[1] * e[0]);
}

static cb_status in_embedding(const cb_constraints *c, const cb_constraint *row, int element, double t,
                              const double *const *x, int order, cb_element *out) {
  const cb_space *g = c->space;
  const int k = g->embedding, size = 2 * k;
  const double curvature = g->factor[0].curvature;
  double e[N] = {0}, w = 0, a[N];
  (void)row;
  (void)element;
  (void)t;
  for (int i = 0; i < k; i++) {
    e[i] = x[1][i] - x[0][i];
    w += g->form[i] * e[i] * e[i];
  }
  double ss = w * (1 - 0.25 * curvature * w), h = 1 / sqrt(ss), h_w = -0.5 * h / ss * (1 - 0.5 * curvature * w);
  if (!(ss > 0))
    return cb_fail(
        CB_STEP_DOMAIN,
        "a knife edge has no direction, because its ends coincide or are antipodal: expected other positions");
  if (!order) return CB_OK;
  cross(g, x[0], e, a);
  for (int i = 0; i < k; i++) out->gradient[i] = h * a[i];
  if (order < 2) return CB_OK;
  for (int j = 0; j < k; j++) {
    /* d/dy_j changes only e; d/dx_j changes x, and e in the opposite direction. */
    double unit[N] = {0}, by_e[N], by_x[N];
    unit[j] = 1;
    cross(g, x[0], unit, by_e);
    if (curvature == 0) { /* minus the value at the origin: the row (x, 1) is not linear in x */
      double origin[N] = {0}, at_origin[N];
      cross(g, unit, e, by_x);
      cross(g, origin, e, at_origin);
      for (int i = 0; i < k; i++) by_x[i] -= at_origin[i];
    } else {
      cross(g, unit, e, by_x);
    }
    for (int i = 0; i < k; i++) {
      double along = 2 * h_w * g->form[j] * e[j] * a[i], turning = h * by_e[i];
      out->hessian[i * size + k + j] = along + turning;
      out->hessian[i * size + j] = -along - turning + h * by_x[i];
    }
  }
  return CB_OK;
}

static cb_status knife_edge(const cb_constraints *c, const cb_constraint *row, int element, double t,
                            const double *const *x, int order, cb_element *out) {
  if (c->space->intrinsic) return cb_knife_edge_by_metric(c->space, x, order, out);
  return cb_element_by_embedding(in_embedding, c, row, element, t, x, order, out);
}

const cb_constraint_class cb_constraint_knife_edge = {.name = "knife_edge", .element = knife_edge, .velocity = true};
