/* Polar coordinates of a factor of curvature K:
 *
 *   x = (S sin b cos g, S sin b sin g, S cos b, R C),  S = s_K(a), C = c_K(a)     (a, b, g)
 *   x = (S cos g, S sin g, R C)                                                   (a, g), the line above at b = pi/2
 *   metric diag(1, S^2, S^2 sin^2 b);  flat: S = a and no last coordinate
 *   s_K(d/2)^2 = s_K((a1-a2)/2)^2 + S1 S2 Q,  Q = sin^2((b1-b2)/2) + sin b1 sin b2 sin^2((g1-g2)/2)
 *   c_K(d/2)^2 = c_K((a1+a2)/2)^2 + K S1 S2 (1 - Q),  1 - Q = cos^2((b1+b2)/2) + sin b1 sin b2 cos^2((g1-g2)/2)
 * x is the point of the embedding, a the arc length from the base point, b the angle from the z axis, and g the angle
 * around it. R is 1/sqrt|K|, d is the distance of the points 1 and 2, and s_K, c_K are those of numerics_curved.h.
 *
 * For 0 <= a <= pi R and 0 <= b <= pi all terms of s_K(d/2)^2 have the same sign, and on a sphere all terms of
 * c_K(d/2)^2. Therefore no digits are lost, not even at a = 10 R in H^n. The formulae are valid for any numbers a, b,
 * g; the chart is singular at S = 0 and sin b = 0.
 */
#include "geometry/chart.h"

#include <math.h>

static void to_point(cb_trig k, int dim, const double *q, double *x, double j[CB_COORD_MAX][CB_DIM_MAX]) {
  double s = cb_trig_s(k, q[0]), c = cb_trig_c(k, q[0]), sg = sin(q[dim - 1]), cg = cos(q[dim - 1]);
  if (dim == 3) {
    double sb = sin(q[1]), cb = cos(q[1]);
    const double unit[3] = {sb * cg, sb * sg, cb}, by_b[3] = {cb * cg, cb * sg, -sb}, by_g[3] = {-sb * sg, sb * cg, 0};
    for (int a = 0; a < 3; a++) {
      x[a] = s * unit[a];
      j[a][0] = c * unit[a];
      j[a][1] = s * by_b[a];
      j[a][2] = s * by_g[a];
    }
  } else {
    x[0] = s * cg;
    x[1] = s * sg;
    j[0][0] = c * cg;
    j[0][1] = -s * sg;
    j[1][0] = c * sg;
    j[1][1] = s * cg;
  }
  if (k.k == 0) return;
  x[dim] = c / k.r;
  j[dim][0] = -k.k * s / k.r;
  for (int i = 1; i < dim; i++) j[dim][i] = 0;
}

static void from_point(cb_trig k, int dim, const double *x, double *q) {
  double rho = hypot(x[0], x[1]), s = dim == 3 ? hypot(rho, x[2]) : rho;
  q[0] = cb_trig_arc(k, s, k.k == 0 ? 1 : k.r * x[dim]);
  if (dim == 3) q[1] = atan2(rho, x[2]);
  q[dim - 1] = atan2(x[1], x[0]);
}

static void metric(cb_trig k, int dim, const double *q, cb_diagonal *m) {
  double s = cb_trig_s(k, q[0]), ss = s * s, double_s = cb_trig_s(k, 2 * q[0]), double_c = 2 * cb_trig_c(k, 2 * q[0]);
  m->g[0] = 1;
  m->g[1] = ss; /* the entry of b, or of g in two dimensions */
  m->dg[0][1] = double_s;
  m->ddg[0][0][1] = double_c;
  if (dim == 2) return;
  double sb = sin(q[1]), sb2 = sb * sb, sin_2b = sin(2 * q[1]);
  m->g[2] = ss * sb2;
  m->dg[0][2] = double_s * sb2;
  m->dg[1][2] = ss * sin_2b;
  m->ddg[0][0][2] = double_c * sb2;
  m->ddg[0][1][2] = m->ddg[1][0][2] = double_s * sin_2b;
  m->ddg[1][1][2] = 2 * ss * cos(2 * q[1]);
}

static void half_chord(cb_trig k, int dim, const double *q1, const double *q2, bool derivatives, cb_half_chord *out) {
  int last = dim - 1;
  double s1 = cb_trig_s(k, q1[0]), s2 = cb_trig_s(k, q2[0]), da = q1[0] - q2[0], dg = q1[last] - q2[last];
  double sg = square(sin(dg / 2)), sb1 = 1, sb2 = 1, db = 0, q = sg;
  if (dim == 3) {
    sb1 = sin(q1[1]);
    sb2 = sin(q2[1]);
    db = q1[1] - q2[1];
    q = square(sin(db / 2)) + sb1 * sb2 * sg;
  }
  double ss = s1 * s2;
  out->f = square(cb_trig_s(k, da / 2)) + ss * q;
  out->cos2 = 1 - k.k * out->f;
  if (k.k > 0 && out->cos2 < 0.5) {
    double rest = sb1 * sb2 * square(cos(dg / 2)) + (dim == 3 ? square(cos((q1[1] + q2[1]) / 2)) : 0);
    out->cos2 = square(cb_trig_c(k, (q1[0] + q2[0]) / 2)) + k.k * ss * rest;
  }
  if (!derivatives) return;

  /* the indices of a1, g1, a2, g2 and, in three dimensions, of b1, b2 */
  enum { A1 = 0 };
  const int a2 = dim, g1 = last, g2 = dim + last;
  double c1 = cb_trig_c(k, q1[0]), c2 = cb_trig_c(k, q2[0]), sin_dg = sin(dg) / 2, cos_dg = cos(dg) / 2;
  double sin_a = cb_trig_s(k, da) / 2, cos_a = cb_trig_c(k, da) / 2, ksq = k.k * ss * q, qg = sb1 * sb2 * sin_dg;
  out->g[A1] = sin_a + c1 * s2 * q;
  out->g[a2] = -sin_a + s1 * c2 * q;
  out->g[g1] = ss * qg;
  out->g[g2] = -ss * qg;
  cb_half_chord_set(out, A1, A1, cos_a - ksq);
  cb_half_chord_set(out, a2, a2, cos_a - ksq);
  cb_half_chord_set(out, A1, a2, -cos_a + c1 * c2 * q);
  cb_half_chord_set(out, A1, g1, c1 * s2 * qg);
  cb_half_chord_set(out, A1, g2, -c1 * s2 * qg);
  cb_half_chord_set(out, a2, g1, s1 * c2 * qg);
  cb_half_chord_set(out, a2, g2, -s1 * c2 * qg);
  double gg = ss * sb1 * sb2 * cos_dg;
  cb_half_chord_set(out, g1, g1, gg);
  cb_half_chord_set(out, g2, g2, gg);
  cb_half_chord_set(out, g1, g2, -gg);
  if (dim == 2) return;

  enum { B1 = 1, B2 = 4 };
  double cb1 = cos(q1[1]), cb2 = cos(q2[1]), sin_db = sin(db) / 2, cos_db = cos(db) / 2;
  double qb1 = sin_db + cb1 * sb2 * sg, qb2 = -sin_db + sb1 * cb2 * sg;
  out->g[B1] = ss * qb1;
  out->g[B2] = ss * qb2;
  cb_half_chord_set(out, A1, B1, c1 * s2 * qb1);
  cb_half_chord_set(out, A1, B2, c1 * s2 * qb2);
  cb_half_chord_set(out, a2, B1, s1 * c2 * qb1);
  cb_half_chord_set(out, a2, B2, s1 * c2 * qb2);
  cb_half_chord_set(out, B1, B1, ss * (cos_db - sb1 * sb2 * sg));
  cb_half_chord_set(out, B2, B2, ss * (cos_db - sb1 * sb2 * sg));
  cb_half_chord_set(out, B1, B2, ss * (-cos_db + cb1 * cb2 * sg));
  cb_half_chord_set(out, B1, g1, ss * cb1 * sb2 * sin_dg);
  cb_half_chord_set(out, B1, g2, -ss * cb1 * sb2 * sin_dg);
  cb_half_chord_set(out, B2, g1, ss * sb1 * cb2 * sin_dg);
  cb_half_chord_set(out, B2, g2, -ss * sb1 * cb2 * sin_dg);
}

/* Computes the sine and the cosine of an angle. The double that is nearest to a multiple of pi/2 is treated as that
 * multiple. Far from the base point, the round-off of the angle would otherwise matter. */
static void turn(double angle, double *sine, double *cosine) {
  static const double quarter = 1.57079632679489661923;
  *sine = sin(angle);
  *cosine = cos(angle);
  if (angle != nearbyint(angle / quarter) * quarter) return;
  *sine = nearbyint(*sine);
  *cosine = nearbyint(*cosine);
}

static int reach(cb_trig k, int dim, const double *q, const double *u, double direction[][CB_DIM_MAX], double *length,
                 double *v) {
  double sg, cg, sb = 1, cb = 0, along_b = 0;
  turn(q[dim - 1], &sg, &cg);
  if (dim == 3) turn(q[1], &sb, &cb);
  const double n[3] = {sb * cg, sb * sg, cb}, by_b[3] = {cb * cg, cb * sg, -sb}, by_g[3] = {-sg, cg, 0};
  if (dim == 3) along_b = cb_trig_s_times(k, q[0], u[1]);
  const double along_g = cb_trig_s_times(k, q[0], sb * u[dim - 1]);
  for (int i = 0; i < dim; i++) {
    direction[0][i] = q[0] < 0 ? -n[i] : n[i];
    v[i] = u[0] * n[i] + along_b * by_b[i] + along_g * by_g[i];
  }
  length[0] = fabs(q[0]);
  return 1;
}

static void from_reach(int dim, const double *n, double length, double *q) {
  q[0] = length;
  if (dim == 3) q[1] = atan2(hypot(n[0], n[1]), n[2]);
  q[dim - 1] = atan2(n[1], n[0]);
}

static const cb_factor_chart polar = {
    .names2 = {"a", "g"},
    .names3 = {"a", "b", "g"},
    CB_FACTOR_CHART,
    .from_reach = from_reach,
};

CB_PRODUCT_CHART_FUNCTIONS(polar)

cb_status cb_chart_polar_add(cb_space *g) {
  static const cb_chart chart = {
      .name = "polar",
      .doc = "arc length a from the base point, angle b from the z axis (in three dimensions), angle g around it",
      CB_PRODUCT_CHART,
  };
  return cb_product_add(g, &chart, &polar);
}
