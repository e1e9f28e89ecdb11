/* How fast gaps bend: A with s'' >= -A while speeds are at most a, b and covariant accelerations at most acc.
 *
 * Distances d of two points, K the greatest sectional curvature or 0, k the least or 0, d from d0 - (a + b) T to
 * d0 + (a + b) T; by the index form of the field that the geodesic between them carries,
 *   d'' >= -(a^2 + b^2) sqrt(K) tan(sqrt(K) d/2) - acc,   d'' <= (a^2 + b^2) sqrt(-k) coth(sqrt(-k) d/2) + acc
 * for a point that rests, b = 0:
 *   d'' >= a^2 min(0, sqrt(K) cot(sqrt(K) d)) - acc,      d'' <= a^2 sqrt(-k) coth(sqrt(-k) d) + acc
 * The distance from a plane has d'' = -sqrt(K) tan(sqrt(K) d) |v across|^2 + acc, sqrt(-K) tanh in H^n.
 * In a space known by its metric K and k are twice those at the two points, and no bound is known where geodesics may
 * have turned round a period. Where none is known and the speeds do not let the gap vanish, A is 0.
 * Source: do Carmo, Riemannian Geometry (1992), chapters 9 and 10.
 */
#include "dynamics/gap_private.h"
#include <curvebody/intrinsic.h>
#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* Bounds of the sectional curvature, and the length that geodesics are surely shortest up to. */
typedef struct curvature {
  double least, greatest, unique;
} curvature;

/* Widens c by what the space has at q: its curvature operator R(e_a, e_b, e_c, e_d) on the planes of an orthonormal
 * frame, whose eigenvalues Gershgorin's discs hold. */
static bool widen(const cb_geometry *g, const double *q, curvature *c) {
  enum { D = CB_DIM_MAX };
  static const int plane[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  const int n = g->dim, planes = n * (n - 1) / 2;
  cb_curvature at;
  double metric[D * D], frame[D * D];
  if (n > D || cb_curvature_at(g, q, &at) || g->chart->metric(g, q, metric, NULL, NULL)) return false;
  cb_geometry_frame(g, q, frame);
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

/* Of the space, about the points p[n] (coordinates); false where unknown. */
static bool curvature_about(const cb_geometry *g, int n, const double *const *p, curvature *c) {
  *c = (curvature){0, 0, INFINITY};
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

/* sqrt(K) tan(sqrt(K) x), 0 for K = 0; INFINITY beyond a quarter turn. */
static double tangent(double K, double x) {
  const double r = sqrt(fmax(0, K));
  return r * x < pi / 2 ? r * tan(r * x) : INFINITY;
}

/* sqrt(-k) coth(sqrt(-k) x), 1/x for k = 0. */
static double cotangent(double k, double x) {
  const double r = sqrt(fmax(0, -k));
  if (!(x > 0)) return INFINITY;
  return r * x > 0 ? r / tanh(r * x) : 1 / x;
}

/* The gap and how far it may change: A where it is known, 0 where the gap cannot vanish, INFINITY else. */
static double or_far(double A, double gap, double most) { return isfinite(A) ? A : fabs(gap) > most ? 0 : INFINITY; }

typedef struct motion {
  double squares, acceleration, most; /* a^2 + b^2, sum of acc, (a + b) T + acc T^2/2 */
} motion;

static motion motion_of(int n, const double *speed, const double *acceleration, double duration) {
  motion m = {0, 0, 0};
  for (int i = 0; i < n; i++) {
    m.squares += speed[i] * speed[i];
    m.acceleration += acceleration[i];
    m.most += speed[i] * duration;
  }
  return m;
}

/* The distance of two particles; both: events look at s from either side. */
static double pair_bend(const cb_gaps *gaps, const double *const *x, double d, double gap, motion m, bool both) {
  curvature c;
  if (!curvature_about(gaps->space, 2, x, &c)) return or_far(INFINITY, gap, m.most);
  double A = d + m.most < c.unique ? m.squares * tangent(c.greatest, (d + m.most) / 2) + m.acceleration : INFINITY;
  if (both) A = fmax(A, m.squares * cotangent(c.least, (d - m.most) / 2) + m.acceleration);
  return or_far(A, gap, m.most);
}

static double ball_bend(const cb_gaps *gaps, const cb_wall *wall, const double *x, double d, double gap, motion m) {
  const double *points[2] = {x, wall->centre};
  curvature c;
  if (!curvature_about(gaps->space, 2, points, &c)) return or_far(INFINITY, gap, m.most);
  double A = INFINITY;
  if (wall->inside) {
    A = m.squares * cotangent(c.least, d - m.most) + m.acceleration;
  } else if (d + m.most < c.unique) {
    const double r = sqrt(c.greatest), at = r * (d + m.most);
    A = (at > pi / 2 ? m.squares * -r / tan(at) : 0) + m.acceleration;
  }
  return or_far(A, gap, m.most);
}

static double plane_bend(const cb_gaps *gaps, const cb_wall *wall, double d, double gap, motion m) {
  const double k = gaps->space->factor[wall->factor].curvature, r = sqrt(fabs(k));
  double A = m.acceleration;
  if (k > 0) A += m.squares * tangent(k, fmax(0, d + m.most));
  if (k < 0) A += m.squares * r * tanh(r * fmax(0, m.most - d));
  return or_far(A, gap, m.most);
}

double cb_gap_bend(cb_gaps *gaps, const cb_gap *gap, double t, const double *const *x, const double *speed,
                   const double *acceleration, double duration) {
  const double *radius = gaps->system->radius;
  const motion m = motion_of(gap->n, speed, acceleration, duration);
  cb_gap_value v;
  if (gap->kind == CB_GAP_WALL || gap->kind == CB_GAP_EVENT) {
    cb_gap_formula f = {.particle = gap->particle[0]};
    if (gap->kind == CB_GAP_WALL)
      f.expression = gaps->set->wall[gap->index].expression, f.chart = gaps->set->wall[gap->index].chart;
    else
      f.expression = gaps->set->event[gap->index].expression, f.chart = gaps->set->event[gap->index].chart;
    if (f.expression) return cb_gap_expression_bend(gaps, &f, t, x[0], speed[0], acceleration[0], duration);
  }
  if (gap->kind != CB_GAP_SPHERES && gap->kind != CB_GAP_WALL && gap->kind != CB_GAP_EVENT)
    return cb_gap_surface_bend(gaps, gap, x, speed, acceleration, duration);
  if (cb_gap_eval(gaps, gap, t, x, 0, &v)) return INFINITY;
  if (gap->kind == CB_GAP_SPHERES)
    return pair_bend(gaps, x, v.gap + radius[gap->particle[0]] + radius[gap->particle[1]], v.gap, m, false);
  if (gap->kind == CB_GAP_EVENT) return pair_bend(gaps, x, v.gap + gaps->set->event[gap->index].value, v.gap, m, true);
  const cb_wall *wall = &gaps->set->wall[gap->index];
  const double r = radius[gap->particle[0]];
  if (wall->kind == CB_WALL_PLANE) return plane_bend(gaps, wall, v.gap + r, v.gap, m);
  return ball_bend(gaps, wall, x[0], wall->inside ? wall->radius - r - v.gap : v.gap + wall->radius + r, v.gap, m);
}
