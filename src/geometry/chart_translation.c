/* Translation coordinates: from the base point move by g along the z axis, then by b along x, then by a along y. Each
 * motion is the flow of a translation (on H^n a boost, on a sphere a rotation). If g = 0, the flow of the translation
 * along x changes only b.
 *
 *   x = C(a) s_K(b),  y = s_K(a),  z = C(a) C(b) s_K(g),  w = R C(a) C(b) C(g),  C = c_K     (a, b, g)
 *   the same without z, at g = 0                                                             (a, b)
 *   metric diag(1, C(a)^2, C(a)^2 C(b)^2), without the last entry in two dimensions
 *   F = s_K((a1-a2)/2)^2 + C(a1) C(a2) F',  F' = s_K((b1-b2)/2)^2 + C(b1) C(b2) s_K((g1-g2)/2)^2,  F = s_K(d/2)^2
 * K is the curvature, R = 1/sqrt|K|, and (x, y, z, w) the point of the embedding. d is the distance of the points 1 and
 * 2, and F' is F of the coordinates b and g alone. s_K and c_K are those of numerics_curved.h.
 *
 * The chart is valid on a sphere for |a|, |b| < pi R/2.
 */
#include "geometry/chart.h"

#include <math.h>

static void to_point(cb_trig k, int dim, const double *q, double *x, double j[CB_COORD_MAX][CB_DIM_MAX]) {
  double sa = cb_trig_s(k, q[0]), ca = cb_trig_c(k, q[0]), sb = cb_trig_s(k, q[1]), cb = cb_trig_c(k, q[1]);
  double sg = dim == 3 ? cb_trig_s(k, q[2]) : 0, cg = dim == 3 ? cb_trig_c(k, q[2]) : 1;
  x[0] = ca * sb;
  j[0][0] = -k.k * sa * sb;
  j[0][1] = ca * cb;
  x[1] = sa;
  j[1][0] = ca;
  j[1][1] = 0;
  if (dim == 3) {
    j[0][2] = j[1][2] = 0;
    x[2] = ca * cb * sg;
    j[2][0] = -k.k * sa * cb * sg;
    j[2][1] = -k.k * ca * sb * sg;
    j[2][2] = ca * cb * cg;
  }
  if (k.k == 0) return;
  x[dim] = ca * cb * cg / k.r;
  j[dim][0] = -k.k * sa * cb * cg / k.r;
  j[dim][1] = -k.k * ca * sb * cg / k.r;
  if (dim == 3) j[dim][2] = -k.k * ca * cb * sg / k.r;
}

static void from_point(cb_trig k, int dim, const double *x, double *q) {
  double z = dim == 3 ? x[2] : 0;
  if (k.k == 0) {
    q[0] = x[1];
    q[1] = x[0];
    if (dim == 3) q[2] = z;
    return;
  }
  double w = k.r * x[dim], zw, across; /* zw = C(a) C(b), across = C(a) */
  if (k.k > 0) {
    zw = hypot(k.r * z, w);
    across = hypot(zw, k.r * x[0]);
  } else {
    across = hypot(1, k.r * x[1]);
    zw = hypot(across, k.r * x[0]);
  }
  q[0] = cb_trig_arc(k, x[1], across);
  q[1] = cb_trig_arc(k, k.k > 0 ? x[0] : x[0] / across, zw);
  if (dim == 3) q[2] = cb_trig_arc(k, k.k > 0 ? z : z / zw, w);
}

static void metric(cb_trig k, int dim, const double *q, cb_diagonal *m) {
  double ca = cb_trig_c(k, q[0]), a = ca * ca, da = -k.k * cb_trig_s(k, 2 * q[0]),
         dda = -2 * k.k * cb_trig_c(k, 2 * q[0]);
  m->g[0] = 1;
  m->g[1] = a;
  m->dg[0][1] = da;
  m->ddg[0][0][1] = dda;
  if (dim == 2) return;
  double cb = cb_trig_c(k, q[1]), b = cb * cb, db = -k.k * cb_trig_s(k, 2 * q[1]),
         ddb = -2 * k.k * cb_trig_c(k, 2 * q[1]);
  m->g[2] = a * b;
  m->dg[0][2] = da * b;
  m->dg[1][2] = a * db;
  m->ddg[0][0][2] = dda * b;
  m->ddg[0][1][2] = m->ddg[1][0][2] = da * db;
  m->ddg[1][1][2] = a * ddb;
}

/* Extends *h by the coordinate u = q[first - 1]: replaces the value F' for the coordinates from `first` on, and its
 * derivatives if they are requested, by F = s_K((u1-u2)/2)^2 + C(u1) C(u2) F'. */
static void one_more(cb_trig k, int dim, int first, const double *q1, const double *q2, bool derivatives,
                     cb_half_chord *h) {
  int u = first - 1;
  double c1 = cb_trig_c(k, q1[u]), c2 = cb_trig_c(k, q2[u]), du = q1[u] - q2[u], f = h->f;
  h->f = square(cb_trig_s(k, du / 2)) + c1 * c2 * f;
  if (!derivatives) return;
  double d1 = -k.k * cb_trig_s(k, q1[u]), d2 = -k.k * cb_trig_s(k, q2[u]); /* C'(u1), C'(u2) */
  double s = cb_trig_s(k, du) / 2, c = cb_trig_c(k, du) / 2, kcc = k.k * c1 * c2;
  for (int i = first; i < dim; i++)
    for (int side = 0; side <= dim; side += dim) {
      cb_half_chord_set(h, u, i + side, d1 * c2 * h->g[i + side]);
      cb_half_chord_set(h, u + dim, i + side, c1 * d2 * h->g[i + side]);
    }
  for (int i = 0; i < 2 * dim; i++) {
    if (i % dim < first) continue;
    h->g[i] *= c1 * c2;
    for (int j = 0; j < 2 * dim; j++)
      if (j % dim >= first) h->h[i][j] *= c1 * c2;
  }
  h->g[u] = s + d1 * c2 * f;
  h->g[u + dim] = -s + c1 * d2 * f;
  cb_half_chord_set(h, u, u, c - kcc * f);
  cb_half_chord_set(h, u + dim, u + dim, c - kcc * f);
  cb_half_chord_set(h, u, u + dim, -c + d1 * d2 * f);
}

static void half_chord(cb_trig k, int dim, const double *q1, const double *q2, bool derivatives, cb_half_chord *out) {
  out->f = 0;
  for (int first = dim; first > 0; first--) one_more(k, dim, first, q1, q2, derivatives, out);
  out->cos2 = 1 - k.k * out->f;
  if (k.k > 0 && out->cos2 < 0.5) {
    /* For K = 1: cos^2(d/2) = sin^2((a1+a2)/2) + cos a1 cos a2 cos^2(d'/2), where d' is the distance that follows from
     * b and g alone. */
    out->cos2 = 1;
    for (int u = dim - 1; u >= 0; u--)
      out->cos2 =
          k.k * square(cb_trig_s(k, (q1[u] + q2[u]) / 2)) + cb_trig_c(k, q1[u]) * cb_trig_c(k, q2[u]) * out->cos2;
  }
}

static int reach(cb_trig k, int dim, const double *q, const double *u, double direction[][CB_DIM_MAX], double *length,
                 double *v) {
  static const int axis[CB_DIM_MAX] = {1, 0, 2}; /* the axes of a, b, g */
  for (int i = 0; i < dim; i++) {
    const int place = dim - 1 - i; /* the list begins with the last coordinate */
    for (int e = 0; e < dim; e++) direction[place][e] = e == axis[i] ? copysign(1, q[i]) : 0;
    length[place] = fabs(q[i]);
    v[axis[i]] = u[i];
    for (int inner = 0; inner < i; inner++) v[axis[i]] = cb_trig_c_times(k, q[inner], v[axis[i]]);
  }
  return dim;
}

static const cb_factor_chart translation = {
    .names2 = {"a", "b"},
    .names3 = {"a", "b", "g"},
    CB_FACTOR_CHART,
};

CB_PRODUCT_CHART_FUNCTIONS(translation)

cb_status cb_chart_translation_add(cb_space *g) {
  static const cb_chart chart = {
      .name = "translation",
      .doc = "lengths of translations from the base point: g along z (in three dimensions), b along x, a along y",
      CB_PRODUCT_CHART,
  };
  return cb_product_add(g, &chart, &translation);
}
