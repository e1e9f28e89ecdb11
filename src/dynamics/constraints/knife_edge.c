/* A knife edge at x, in a space of dimension 2, is directed along the geodesic to y. It allows no velocity v of x
 * perpendicular to this geodesic:
 *
 *   a.v = det(x, y, v)/(R s_K(d)) = 0,   s_K(d)^2 = w (1 - K w/4),  w = <x-y, x-y>
 * a.v is the component of v to the left of the direction to y. d is the distance, K the curvature, R = 1/sqrt|K|, and
 * 1/R is applied to the last coordinates; in flat space R = 1, and (x, 1), (y, 1) and (v, 0) are the rows of the
 * determinant.
 *
 * In a space that is given by the metric g of one chart, d_i is the derivative by coordinate i of x, a_jk = d_k a_j,
 * and a_i = d_i d(x, y) is a unit covector at x, A = g^-1 a:
 *   0 = sqrt(det g) (u^0 v^1 - u^1 v^0),   u = -A,   d_k u^i = -g^ij (a_jk + d_k g_jl u^l)
 * By the first variation of length, the unit velocity of the geodesic to y is minus the gradient of the distance.
 * Source: do Carmo, Riemannian Geometry (1992), chapter 9, proposition 2.4.
 */
#include "dynamics/builder_private.h"

#include "dynamics/pair_potential_private.h"

#include <math.h>

extern const cb_constraint_class cb_constraint_knife_edge;

typedef struct keys {
  const cb_node *particle, *towards, *name;
} keys;

static const cb_param table[] = {
    CB_CONSTRAINT_KEY(keys, "particle", particle, NULL, "", "[body, number]: where the edge touches"),
    CB_CONSTRAINT_KEY(keys, "towards", towards, NULL, "", "the particle to which the edge points"),
    CB_CONSTRAINT_NAME(keys, name),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

cb_status cb_builder_knife_edge(cb_builder *b, const char *name, int i, int j) {
  cb_constraint row = {
      .class = &cb_constraint_knife_edge, .name = name, .elements = 1, .width = 2, .particle = (int[]){i, j}};
  cb_status status = cb_builder_check_particles(b, "knife_edge", 2, row.particle);
  if (!status && !b->space->intrinsic) status = cb_builder_check_factors(b, "knife_edge", 1);
  if (!status && b->space->dim != 2)
    status = cb_fail(CB_ERROR_ARGUMENT, "knife_edge: expected a space of dimension 2, found %d", b->space->dim);
  return status ? status : cb_builder_add_row(b, &row);
}

static cb_status read(const cb_constraint_entry *e, const void *params) {
  const keys *p = params;
  int i = -1, j = -1;
  cb_status status = cb_constraint_read_particle(e, p->particle, &i);
  if (!status) status = cb_constraint_read_particle(e, p->towards, &j);
  return status ? status : cb_constraint_placed(e, cb_builder_knife_edge(e->builder, e->name, i, j), e->map);
}

enum { N = 3 };

/* Computes the covector det(x, e, .)/R with e = y - x. It is linear in e, and also in x unless the space is flat. */
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
    /* a depends on x and on e = y - x. A change of y_j changes only e_j. The same change of x_j changes x_j, too, and
     * e_j with the opposite sign. */
    double unit[N] = {0}, by_e[N], by_x[N];
    unit[j] = 1;
    cross(g, x[0], unit, by_e);
    /* cross() is affine in x, because of the row (x, 1): the value at x = 0 is subtracted */
    if (curvature == 0) {
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

static cb_status by_metric(const cb_space *g, const double *const *x, int order, cb_element *out) {
  enum { M = 2 };
  double d, first[2 * M], second[4 * M * M], u[M];
  cb_local_metric m;
  cb_status status = cb_local_metric_at(g, x[0], &m);
  if (!status) status = cb_pair_distance(g, x[0], x[1], &d, first, order > 1 ? second : NULL);
  if (status || !order) return status;
  cb_local_metric_raise(M, &m, first, u);
  for (int i = 0; i < M; i++) u[i] = -u[i];
  out->gradient[0] = -m.root * u[1];
  out->gradient[1] = m.root * u[0];
  for (int k = 0; order > 1 && k < 2 * M; k++) { /* derivatives in x, then in y */
    double low[M], du[M], growth = 0;            /* growth: d_k log sqrt(det g) */
    for (int i = 0; i < M; i++) {
      low[i] = -second[i * 2 * M + k];
      for (int j = 0; k < M && j < M; j++) {
        low[i] -= m.dg[(k * M + i) * M + j] * u[j];
        growth += 0.5 * m.inverse[i * M + j] * m.dg[(k * M + i) * M + j];
      }
    }
    cb_local_metric_raise(M, &m, low, du);
    out->hessian[0 * 2 * M + k] = -m.root * (du[1] + growth * u[1]);
    out->hessian[1 * 2 * M + k] = m.root * (du[0] + growth * u[0]);
  }
  return CB_OK;
}

static cb_status knife_edge(const cb_constraints *c, const cb_constraint *row, int element, double t,
                            const double *const *x, int order, cb_element *out) {
  if (c->space->intrinsic) return by_metric(c->space, x, order, out);
  return cb_element_by_embedding(in_embedding, c, row, element, t, x, order, out);
}

const cb_constraint_class cb_constraint_knife_edge = {
    .name = "knife_edge",
    .title = "a particle moves only along the geodesic to another one; in spaces of dimension 2",
    .doc = "",
    .params = table,
    .params_size = sizeof(keys),
    .read = read,
    .points = 2,
    .element = knife_edge,
    .velocity = true};
