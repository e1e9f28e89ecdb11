/* Bounds on the second derivatives of gaps s in time: A with s'' >= -A, while the speeds of the two points are at most
 * a and b and the sum of their covariant accelerations is at most acc.
 *
 * Distances d of two points: let K be the maximum of 0 and all sectional curvatures, and k the minimum of 0 and all
 * sectional curvatures. In the duration T, d stays between d0 - (a + b) T and d0 + (a + b) T, where d0 is the distance
 * at the start. The index form of the field along the geodesic between the points gives
 *   d'' >= -(a^2 + b^2) sqrt(K) tan(sqrt(K) d/2) - acc,   d'' <= (a^2 + b^2) sqrt(-k) coth(sqrt(-k) d/2) + acc
 * In a space that is given by its metric, K and k are taken as twice their values at the two points. No bound is known
 * there if a geodesic may be longer than a quarter of a period of a coordinate. If no bound is known, A is 0 if the
 * speeds cannot close the gap. Source: do Carmo, Riemannian Geometry (1992), chapters 9 and 10.
 */
#include "dynamics/gap_class.h"

#include "geometry/numeric.h"
#include "geometry/quadric.h"
#include "numerics/numerics_curved.h"
#include <curvebody/intrinsic.h>

#include <math.h>
#include <string.h>

/* The gaps s of surfaces in flat space. n is the unit normal, Omega a bound on its rate, W the relative speed, and acc
 * the sum of the largest accelerations of the two features.
 *
 *   face   |n'| <= Omega = sum_i v_i/h_i,                 s'' >= -acc - Omega (2 W + s Omega)
 *   edges  |n'| <= Omega = (w_1 + w_2)/sin(angle), w = (v_a + v_b)/length,   s'' >= -acc - Omega (3 W + 2 s Omega)
 * v are the speeds of the points, h_i the heights of the face, and a and b the ends of an edge. In a curved space of
 * curvature K, the bound grows by |K| W^2 s. All quantities are those at x, except for distances, which take the values
 * that the time allows. The factor `slack` covers the other changes. This is an estimate. It is valid while faces and
 * edges keep more than a quarter of their size and while edges are not nearly parallel. If edges are parallel, vertices
 * touch faces at the same time. */

enum { P = CB_GAP_PARTICLES };

static const double slack = 2;
/* Heights and angles count with at least the fraction `shrunk` of their size at x, and the sine of an angle with at
 * least `least_sine`. */
static const double shrunk = 0.25, least_sine = 0.02;

/* Returns the height of the corner x[i] (i = 1 .. m) of a face above the span of the other corners; m is the
 * dimension. */
static double height(const cb_space *g, int m, const double x[][CB_COORD_MAX], int i) {
  const double *a = x[i % m + 1], *b = m == 3 ? x[(i + 1) % m + 1] : NULL, *p = x[i];
  if (!b) return cb_distance(g, a, p);
  const cb_trig t = cb_trig_of(g->factor[0].curvature); /* the height h: s(h) = s(pb) sin(angle at b), s = cb_trig_s */
  const double pa = cb_distance(g, p, a), pb = cb_distance(g, p, b), ab = cb_distance(g, a, b),
               half = (pa + pb + ab) / 2;
  const double sine =
      2 *
      sqrt(fmax(0, cb_trig_s(t, half) * cb_trig_s(t, half - pa) * cb_trig_s(t, half - pb) * cb_trig_s(t, half - ab))) /
      cb_trig_s(t, ab);
  if (t.k == 0) return sine;
  return t.k > 0 ? asin(fmin(1, sine * t.r)) / t.r : asinh(sine * t.r) / t.r;
}

static double face_bound(const cb_space *g, const double x[][CB_COORD_MAX], double s, const double *speed,
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
  const double W = speed[0] + fastest, maximum = fabs(s) + W * duration;
  return slack * (acceleration[0] + accelerations + Omega * (2 * W + maximum * Omega) +
                  fabs(g->factor[0].curvature) * W * W * maximum);
}

static double edge_bound(const cb_space *g, const double x[][CB_COORD_MAX], double s, const double *speed,
                         const double *acceleration, double duration) {
  const double l = cb_distance(g, x[0], x[1]), m = cb_distance(g, x[2], x[3]);
  const double w = (speed[0] + speed[1]) / l, u = (speed[2] + speed[3]) / m;
  /* The angle between the directions of the two edges at their midpoints. The second direction is transported to the
   * first midpoint. */
  double p[CB_COORD_MAX], q[CB_COORD_MAX], t[CB_COORD_MAX], r[CB_COORD_MAX], carried[CB_COORD_MAX];
  for (int a = 0; a < g->embedding; a++) {
    p[a] = x[0][a] + x[1][a];
    q[a] = x[2][a] + x[3][a];
    t[a] = x[1][a] - x[0][a];
    r[a] = x[3][a] - x[2][a];
    if (g->factor[0].curvature == 0) {
      p[a] /= 2;
      q[a] /= 2;
    }
  }
  cb_space_project_point(g, p);
  cb_space_project_point(g, q);
  cb_space_project_tangent(g, p, t);
  cb_space_project_tangent(g, q, r);
  if (cb_transport(g, q, p, r, carried)) return INFINITY;
  const double cosine = cb_inner(g, t, carried) / sqrt(cb_inner(g, t, t) * cb_inner(g, r, r));
  const double angle = asin(sqrt(fmax(0, 1 - cosine * cosine)));
  const double sine = fmax(least_sine, sin(fmax(angle - (w + u) * duration, shrunk * angle)));
  const double Omega = (w + u) / sine, W = fmax(speed[0], speed[1]) + fmax(speed[2], speed[3]),
               maximum = fabs(s) + W * duration;
  return slack * (fmax(acceleration[0], acceleration[1]) + fmax(acceleration[2], acceleration[3]) +
                  Omega * (3 * W + 2 * maximum * Omega) + fabs(g->factor[0].curvature) * W * W * maximum);
}

static double surface_bound(const cb_gaps *gaps, const cb_gap *gap, const double *const *x, const double *speed,
                            const double *acceleration, double duration) {
  const cb_space *g = gaps->space;
  const bool edges = gap->kind == CB_GAP_EDGE_EDGE;
  double point[P][CB_COORD_MAX], jacobian[P][CB_COORD_MAX * CB_COORD_MAX];
  cb_gap_value v;
  if (cb_gap_surface(gaps, gap, x, 0, &v) || cb_gap_gather(gaps, gap, x, point, jacobian)) return INFINITY;
  return (edges ? edge_bound : face_bound)(g, point, v.gap, speed, acceleration, duration);
}

static const double pi = 3.14159265358979323846;

/* Widens c to include the sectional curvatures at q. The eigenvalues of the curvature operator R(e_a, e_b, e_c, e_d) on
 * the planes of an orthonormal frame e lie in Gershgorin's discs. Returns false if they cannot be computed. */
static bool widen(const cb_space *g, const double *q, cb_gap_curvature *c) {
  enum { D = CB_DIM_MAX };
  static const int plane[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  const int n = g->dim, planes = n * (n - 1) / 2;
  cb_curvature at;
  double metric[D * D], frame[D * D];
  if (n > D || cb_curvature_at(g, q, &at) || g->chart->metric(g, q, metric, NULL, NULL)) return false;
  cb_space_frame(g, q, frame);
  for (int p = 0; p < planes; p++) {
    double diagonal = 0, others = 0;
    for (int r = 0; r < planes; r++) {
      const double *ea = frame + plane[p][0] * n, *eb = frame + plane[p][1] * n, *ec = frame + plane[r][0] * n,
                   *ed = frame + plane[r][1] * n;
      double sum = 0;
      for (int i = 0; i < n; i++) {
        double lowered = 0;
        for (int s = 0; s < n; s++) lowered += metric[i * n + s] * ea[s];
        for (int j = 0; j < n; j++)
          for (int k = 0; k < n; k++)
            for (int l = 0; l < n; l++) sum += at.riemann[i][j][k][l] * lowered * eb[j] * ec[k] * ed[l];
      }
      if (r == p)
        diagonal = sum;
      else
        others += fabs(sum);
    }
    c->least = fmin(c->least, diagonal - others);
    c->greatest = fmax(c->greatest, diagonal + others);
  }
  for (int i = 0; i < n; i++)
    if (g->intrinsic->period[i] > 0)
      c->unique = fmin(c->unique, g->intrinsic->period[i] * sqrt(metric[i * (n + 1)]) / 4);
  return isfinite(c->least) && isfinite(c->greatest);
}

bool cb_gap_curvature_about(const cb_space *g, int n, const double *const *p, cb_gap_curvature *c) {
  *c = (cb_gap_curvature){0, 0, INFINITY};
  if (!g->intrinsic) {
    for (int f = 0; f < g->n_factors; f++) {
      c->least = fmin(c->least, g->factor[f].curvature);
      c->greatest = fmax(c->greatest, g->factor[f].curvature);
    }
    if (c->greatest > 0) c->unique = pi / sqrt(c->greatest);
    return true;
  }
  for (int i = 0; i < n; i++)
    if (!widen(g, p[i], c)) return false;
  c->least *= 2;
  c->greatest *= 2;
  if (c->greatest > 0) c->unique = fmin(c->unique, pi / sqrt(c->greatest));
  return true;
}

double cb_gap_tangent(double K, double x) {
  const double r = sqrt(fmax(0, K));
  return r * x < pi / 2 ? r * tan(r * x) : INFINITY;
}

double cb_gap_cotangent(double k, double x) {
  const double r = sqrt(fmax(0, -k));
  if (!(x > 0)) return INFINITY;
  return r * x > 0 ? r / tanh(r * x) : 1 / x;
}

double cb_gap_or_far(double A, double gap, double maximum) {
  return isfinite(A) ? A : fabs(gap) > maximum ? 0 : INFINITY;
}

static cb_gap_motion motion_of(int n, const double *speed, const double *acceleration, double duration) {
  cb_gap_motion m = {0, 0, 0};
  for (int i = 0; i < n; i++) {
    m.squares += speed[i] * speed[i];
    m.acceleration += acceleration[i];
    m.maximum += speed[i] * duration;
  }
  return m;
}

double cb_gap_pair_bound(const cb_gaps *gaps, const double *const *x, double d, double gap, cb_gap_motion m,
                         bool both) {
  cb_gap_curvature c;
  if (!cb_gap_curvature_about(gaps->space, 2, x, &c)) return cb_gap_or_far(INFINITY, gap, m.maximum);
  double A = d + m.maximum < c.unique ? m.squares * cb_gap_tangent(c.greatest, (d + m.maximum) / 2) + m.acceleration
                                      : INFINITY;
  if (both) A = fmax(A, m.squares * cb_gap_cotangent(c.least, (d - m.maximum) / 2) + m.acceleration);
  return cb_gap_or_far(A, gap, m.maximum);
}

double cb_gap_second_derivative_bound(cb_gaps *gaps, const cb_gap *gap, double t, const double *const *x,
                                      const double *speed, const double *acceleration, double duration) {
  const double *radius = gaps->system->radius;
  const cb_gap_motion m = motion_of(gap->n, speed, acceleration, duration);
  const cb_gap_function *f = cb_gap_function_of(gaps, gap);
  cb_gap_value v;
  if (f && !cb_gap_function_is_length(f))
    return cb_gap_coordinates_bound(gaps, f, gap, t, x, speed, acceleration, duration);
  if (!f && gap->kind != CB_GAP_SPHERES) return surface_bound(gaps, gap, x, speed, acceleration, duration);
  if (cb_gap_eval(gaps, gap, t, x, 0, &v)) return INFINITY;
  if (f) return f->class->forms->bound(gaps, gap, f->of, x, v.gap, m);
  return cb_gap_pair_bound(gaps, x, v.gap + radius[gap->particle[0]] + radius[gap->particle[1]], v.gap, m, false);
}
