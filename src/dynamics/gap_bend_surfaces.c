/* How fast the gaps of surfaces bend. With n the unit normal and its rate Omega, W the relative speed, in flat space
 *
 *   face   |n'| <= Omega = sum_i v_i/h_i,                 s'' >= -acc - Omega (2 W + s Omega)
 *   edges  |n'| <= Omega = (w_1 + w_2)/sin(angle), w = (v_a + v_b)/length,   s'' >= -acc - Omega (3 W + 2 s Omega)
 * with h_i the heights of the face; a curved space adds |K| W^2 s. All as at x, with the distances that the time allows
 * and `slack` for the rest: an estimate, that holds while faces and edges stay more than a quarter of what they are and
 * edges are not nearly parallel; where they are, vertices meet faces at the same time.
 */
#include "dynamics/gap_private.h"
#include "numerics/trig.h"
#include <math.h>

enum { K = CB_COORD_MAX, P = CB_GAP_PARTICLES };

static const double slack = 2;
/* What heights and angles may shrink to in the time, at most; and the least sine of an angle. */
static const double shrunk = 0.25, least_sine = 0.02;

/* Height of point i of a face (1 .. m) above what the others span. */
static double height(const cb_geometry *g, int m, const double x[][K], int i) {
  const double *a = x[i % m + 1], *b = m == 3 ? x[(i + 1) % m + 1] : NULL, *p = x[i];
  if (!b) return cb_distance(g, a, p);
  const cb_trig t = cb_trig_of(g->factor[0].curvature); /* s(h) = s(pb) sin(angle at b) */
  const double pa = cb_distance(g, p, a), pb = cb_distance(g, p, b), ab = cb_distance(g, a, b),
               half = (pa + pb + ab) / 2;
  const double sine =
      2 *
      sqrt(fmax(0, cb_trig_s(t, half) * cb_trig_s(t, half - pa) * cb_trig_s(t, half - pb) * cb_trig_s(t, half - ab))) /
      cb_trig_s(t, ab);
  if (t.k == 0) return sine;
  return t.k > 0 ? asin(fmin(1, sine * t.r)) / t.r : asinh(sine * t.r) / t.r;
}

static double face_bend(const cb_geometry *g, const double x[][K], double s, const double *speed,
                        const double *acceleration, double duration) {
  const int m = g->dim;
  double fastest = 0, accelerations = 0, Omega = 0;
  for (int i = 1; i <= m; i++) {
    fastest = fmax(fastest, speed[i]);
    accelerations = fmax(accelerations, acceleration[i]);
  }
  for (int i = 1; i <= m; i++) {
    const double h = height(g, m, x, i);
    Omega += speed[i] / fmax(h - (speed[i] + fastest) * duration, shrunk * h);
  }
  const double W = speed[0] + fastest, most = fabs(s) + W * duration;
  return slack * (acceleration[0] + accelerations + Omega * (2 * W + most * Omega) +
                  fabs(g->factor[0].curvature) * W * W * most);
}

static double edge_bend(const cb_geometry *g, const double x[][K], double s, const double *speed,
                        const double *acceleration, double duration) {
  const double l = cb_distance(g, x[0], x[1]), m = cb_distance(g, x[2], x[3]);
  const double w = (speed[0] + speed[1]) / l, u = (speed[2] + speed[3]) / m;
  /* the angle by the directions at the middles, the second carried to the first */
  double p[K], q[K], t[K], r[K], carried[K];
  for (int a = 0; a < g->embedding; a++) {
    p[a] = x[0][a] + x[1][a], q[a] = x[2][a] + x[3][a];
    t[a] = x[1][a] - x[0][a], r[a] = x[3][a] - x[2][a];
    if (g->factor[0].curvature == 0) p[a] /= 2, q[a] /= 2;
  }
  cb_geometry_project_point(g, p);
  cb_geometry_project_point(g, q);
  cb_geometry_project_tangent(g, p, t);
  cb_geometry_project_tangent(g, q, r);
  if (cb_transport(g, q, p, r, carried)) return INFINITY;
  const double cosine = cb_inner(g, t, carried) / sqrt(cb_inner(g, t, t) * cb_inner(g, r, r));
  const double angle = asin(sqrt(fmax(0, 1 - cosine * cosine)));
  const double sine = fmax(least_sine, sin(fmax(angle - (w + u) * duration, shrunk * angle)));
  const double Omega = (w + u) / sine, W = fmax(speed[0], speed[1]) + fmax(speed[2], speed[3]),
               most = fabs(s) + W * duration;
  return slack * (fmax(acceleration[0], acceleration[1]) + fmax(acceleration[2], acceleration[3]) +
                  Omega * (3 * W + 2 * most * Omega) + fabs(g->factor[0].curvature) * W * W * most);
}

double cb_gap_surface_bend(const cb_gaps *gaps, const cb_gap *gap, const double *const *x, const double *speed,
                           const double *acceleration, double duration) {
  const cb_geometry *g = gaps->space;
  const bool edges = gap->kind == CB_GAP_EDGE_EDGE;
  double point[P][K], jacobian[P][K * K];
  cb_gap_value v;
  if (cb_gap_surface(gaps, gap, x, 0, &v) || cb_gap_gather(gaps, gap, x, point, jacobian)) return INFINITY;
  return (edges ? edge_bend : face_bend)(g, point, v.gap, speed, acceleration, duration);
}
