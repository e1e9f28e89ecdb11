/* Bounds on the second derivatives of gaps s in time: A with s'' >= -A, while the speeds of the two points are at most
 * a and b and the sum of their covariant accelerations is at most acc.
 *
 * Distances d of two points: let K be the maximum of 0 and all sectional curvatures, k their minimum with 0, and d
 * between d0 - (a + b) T and d0 + (a + b) T, d0 the distance now and T the duration. The index form of the field along
 * the geodesic between the points gives
 *   d'' >= -(a^2 + b^2) sqrt(K) tan(sqrt(K) d/2) - acc,   d'' <= (a^2 + b^2) sqrt(-k) coth(sqrt(-k) d/2) + acc
 * and for a point at rest, b = 0:
 *   d'' >= a^2 min(0, sqrt(K) cot(sqrt(K) d)) - acc,      d'' <= a^2 sqrt(-k) coth(sqrt(-k) d) + acc
 * The distance from a plane has d'' >= -sqrt(K) tan(sqrt(K) d) |v_t|^2 - acc, v_t the part of the velocity along the
 * parallel surface; in H^n, -sqrt(-K) tanh(sqrt(-K) d) takes the place of sqrt(K) tan(sqrt(K) d). In a space that is
 * given by its metric, K and k are twice the values at the two points, and no bound is known if geodesics may have gone
 * around a period. If no bound is known, A is 0 if the speeds cannot close the gap. Source: do Carmo, Riemannian
 * Geometry (1992), chapters 9 and 10.
 */
#include "dynamics/gap.h"

#include "dynamics/constraint_private.h"
#include "geometry/numeric.h"
#include "geometry/quadric.h"
#include "numerics/numerics_curved.h"
#include <curvebody/intrinsic.h>

#include <math.h>
#include <string.h>

/* Expressions s = f(x, t) along the motion of a particle with speed v and covariant acceleration acc:
 *
 *   |s''| <= |Hess f| v^2 + 2 |d f_t| v + |f_tt| + |df| acc,   Hess f = f_ij - Gamma^c_ij f_c
 * The norms are those of the metric. In the embedding, with f_ab of the expression as a function there,
 *   Hess f(u, w) = u^a f_ab w^b - sum_F K_F <u, w>_F x_F.df over factors F,   as x'' = -K <x', x'> x along geodesics.
 * The result is the largest sample times `between`. The samples lie at x and on the geodesics along the vectors of a
 * frame, at fractions of the distance that is possible in the time. These fractions have no common measure, so that an
 * oscillating function is not sampled only at its zeros. */

enum { N = CB_Q_MAX };

/* Factor for the points between samples. */
static const double between = 2;
/* Fractions of the distance at which samples are taken. */
static const double part[] = {1, 0.618033988749895, 0.2679491924311227};
enum { PARTS = sizeof part / sizeof *part };

/* Norms of the first and second derivatives at a point, in an orthonormal frame and in t. */
typedef struct derivatives {
  double hessian, gradient, gradient_t, second_t; /* |Hess f|, |df|, |d f_t|, |f_tt| */
} derivatives;

/* Computes the norms from components in an orthonormal frame of n vectors. Returns false if one is not finite. */
static bool norms(int n, const double *df, const double *dft, double (*h)[N], double ftt, derivatives *out) {
  double first = 0, mixed = 0, second = 0;
  for (int i = 0; i < n; i++) {
    first += df[i] * df[i];
    mixed += dft[i] * dft[i];
    for (int j = 0; j < n; j++) second += h[i][j] * h[i][j];
  }
  *out = (derivatives){sqrt(second), sqrt(first), sqrt(mixed), fabs(ftt)};
  return isfinite(first + mixed + second + ftt);
}

/* The derivatives in the coordinates of the space's own chart. m: the Jacobian of the expression's coordinates in those
 * coordinates; NULL: they are the same. frame: the orthonormal vectors e[n][n]. */
static bool in_chart(const cb_space *g, const cb_jet *f, const double *m, const double *x, const double *frame,
                     derivatives *out) {
  const int n = g->dim;
  double metric[N * N], dg[N * N * N], df[N], dft[N], h[N][N], up[N] = {0}, e_df[N] = {0}, e_dft[N] = {0}, e_h[N][N];
  if (g->chart->metric(g, x, metric, dg, NULL)) return false;
  for (int i = 0; i < n; i++) {
    df[i] = m ? 0 : f->g[i];
    dft[i] = m ? 0 : f->h[cb_jet_packed(n, i)];
    for (int c = 0; m && c < n; c++) {
      df[i] += f->g[c] * m[c * n + i];
      dft[i] += f->h[cb_jet_packed(n, c)] * m[c * n + i];
    }
    for (int j = 0; j < n; j++) {
      h[i][j] = m ? 0 : f->h[cb_jet_packed(i > j ? i : j, i > j ? j : i)];
      for (int c = 0; m && c < n; c++)
        for (int d = 0; d < n; d++)
          h[i][j] += f->h[cb_jet_packed(c > d ? c : d, c > d ? d : c)] * m[c * n + i] * m[d * n + j];
    }
  }
  for (int e = 0; e < n; e++) { /* components of df and dft in the frame, and up[l] = g^lm df_m */
    for (int i = 0; i < n; i++) {
      e_df[e] += frame[e * n + i] * df[i];
      e_dft[e] += frame[e * n + i] * dft[i];
    }
    for (int l = 0; l < n; l++) up[l] += frame[e * n + l] * e_df[e];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int l = 0; l < n; l++)
        h[i][j] -= 0.5 * up[l] * (dg[(i * n + l) * n + j] + dg[(j * n + l) * n + i] - dg[(l * n + i) * n + j]);
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) {
      e_h[a][b] = 0;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) e_h[a][b] += frame[a * n + i] * h[i][j] * frame[b * n + j];
    }
  return norms(n, e_df, e_dft, e_h, f->h[cb_jet_packed(n, n)], out);
}

/* The derivatives in the embedding, by way of the coordinates of the expression. */
static bool in_embedding(const cb_space *g, const cb_jet *f, const cb_coordinates *q, bool curved_chart,
                         const double *x, derivatives *out) {
  const int k = g->embedding, n = q->size;
  double frame[CB_DIM_MAX * CB_COORD_MAX], df[CB_COORD_MAX] = {0}, dft[CB_COORD_MAX] = {0},
                                           h[CB_COORD_MAX][CB_COORD_MAX], e_df[N] = {0}, e_dft[N] = {0}, e_h[N][N];
  for (int a = 0; a < k; a++) {
    for (int c = 0; c < n; c++) {
      df[a] += f->g[c] * q->first[c][a];
      dft[a] += f->h[cb_jet_packed(n, c)] * q->first[c][a];
    }
    for (int b = 0; b < k; b++) {
      h[a][b] = 0;
      for (int c = 0; c < n; c++) {
        if (curved_chart) h[a][b] += f->g[c] * q->second[c][a][b];
        for (int d = 0; d < n; d++)
          h[a][b] += f->h[cb_jet_packed(c > d ? c : d, c > d ? d : c)] * q->first[c][a] * q->first[d][b];
      }
    }
  }
  cb_space_frame(g, x, frame);
  for (int i = 0; i < g->dim; i++) {
    const double *ei = frame + i * k;
    for (int a = 0; a < k; a++) {
      e_df[i] += ei[a] * df[a];
      e_dft[i] += ei[a] * dft[a];
    }
    for (int j = 0; j < g->dim; j++) {
      const double *ej = frame + j * k;
      e_h[i][j] = 0;
      for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++) e_h[i][j] += ei[a] * h[a][b] * ej[b];
      for (int F = 0; F < g->n_factors; F++) {
        const cb_factor factor = g->factor[F];
        const int o = factor.offset;
        double along = 0;
        for (int a = o; a < o + factor.count; a++) along += x[a] * df[a];
        e_h[i][j] -= factor.curvature * cb_factor_inner(factor, ei + o, ej + o) * along;
      }
    }
  }
  return norms(g->dim, e_df, e_dft, e_h, f->h[cb_jet_packed(n, n)], out);
}

/* The data that all samples share. */
typedef struct sampling {
  const cb_gaps *gaps;
  const cb_gap_formula *f;
  bool chart; /* the samples are coordinates of the space's chart */
  cb_isometry world;
} sampling;

/* Computes the derivatives of the expression at time t and at x (with `chart` coordinates, otherwise a point of the
 * embedding). frame: an orthonormal frame at x. */
static bool sample(const sampling *s, double t, const double *x, const double *frame, derivatives *out) {
  const cb_space *g = s->gaps->space;
  const bool own = s->chart && !s->gaps->moves;
  double at[N + 2], m[CB_DIM_MAX * CB_DIM_MAX];
  cb_coordinates q;
  if (own) {
    q.size = g->dim;
    memcpy(q.q, x, (size_t)g->dim * sizeof *x);
  } else if (cb_coordinates_at(g, s->f->chart, &s->world, x, s->f->chart ? 2 : 1, &q)) {
    return false;
  }
  memcpy(at, q.q, (size_t)q.size * sizeof *at);
  at[q.size] = t;
  at[q.size + 1] = s->gaps->system->radius[s->f->particle];
  const cb_jet f = cb_expression_jet(s->f->expression, at, q.size + 1);
  if (!s->chart) return in_embedding(g, &f, &q, s->f->chart != NULL, x, out);
  for (int c = 0; !own && c < q.size; c++)
    for (int i = 0; i < g->dim; i++) m[c * g->dim + i] = q.first[c][i];
  return in_chart(g, &f, own ? NULL : m, x, frame, out);
}

/* An orthonormal frame e[n][n] of the chart's metric, in any dimension. Returns false if there is none. */
static bool chart_frame(const cb_space *g, const double *q, double *e) {
  cb_intrinsic_frame(g, q, e);
  for (int i = 0; i < g->dim * g->dim; i++)
    if (!isfinite(e[i])) return false;
  return true;
}

/* Updates the maximum with a sample. A sample outside the domain of the expression is left out: returns false. */
static bool take(const sampling *s, double t, const double *x, derivatives *maximum) {
  derivatives d;
  double frame[N * N];
  if (s->chart && !chart_frame(s->gaps->space, x, frame)) return false;
  if (!sample(s, t, x, frame, &d)) return false;
  maximum->hessian = fmax(maximum->hessian, d.hessian);
  maximum->gradient = fmax(maximum->gradient, d.gradient);
  maximum->gradient_t = fmax(maximum->gradient_t, d.gradient_t);
  maximum->second_t = fmax(maximum->second_t, d.second_t);
  return true;
}

/* The bound on |s''| from the largest sampled derivatives; INFINITY if all samples failed. */
static double expression_bound(const cb_gaps *gaps, const cb_gap_formula *f, double t, const double *x, double speed,
                               double acceleration, double duration) {
  const cb_space *g = gaps->space;
  sampling s = {.gaps = gaps, .f = f, .chart = g->chart && (g->intrinsic || f->chart == g->chart)};
  const int k = s.chart ? g->dim : g->embedding, variables = f->chart ? f->chart->size : g->embedding;
  const bool timed = cb_expression_uses(f->expression, (size_t)variables);
  const double reach = speed * duration;
  double at[N], frame[N * N], v[N], y[N];
  derivatives maximum = {0, 0, 0, 0};
  memcpy(at, x, (size_t)g->k * sizeof *x);
  if (g->chart && !s.chart && g->chart->to_point(g, x, at, NULL)) return INFINITY;
  if (!s.chart || gaps->moves) cb_origin_isometry(g, cb_gap_origin(gaps, f->particle), &s.world);
  bool known = take(&s, t, at, &maximum); /* the sample at the tip of a cone fails, but those around the tip do not */
  for (int j = 0; timed && j < PARTS; j++) known = take(&s, t + part[j] * duration, at, &maximum) || known;
  if (s.chart) {
    if (!chart_frame(g, at, frame)) return INFINITY;
  } else {
    cb_space_frame(g, at, frame);
  }
  for (int i = 0; i < 2 * g->dim * PARTS && reach > 0; i++) {
    const double way = part[i % PARTS], length = i / PARTS % 2 ? -way * reach : way * reach;
    const double *e = frame + i / PARTS / 2 * k;
    for (int a = 0; a < k; a++) {
      v[a] = length * e[a];
      y[a] = at[a] + v[a];
    }
    if (!s.chart) cb_exp(g, at, v, y, NULL);
    known = take(&s, t + (timed && i / PARTS % 4 < 2 ? way * duration : 0), y, &maximum) || known;
  }
  if (!known) return INFINITY;
  return between * (maximum.hessian * speed * speed + 2 * maximum.gradient_t * speed + maximum.second_t) +
         between * maximum.gradient * acceleration;
}

/* The gaps s of surfaces. With the unit normal n, the bound Omega of its rate, the relative speed W, and the sum acc of
 * the largest accelerations of the two features, in flat space
 *
 *   face   |n'| <= Omega = sum_i v_i/h_i,                 s'' >= -acc - Omega (2 W + s Omega)
 *   edges  |n'| <= Omega = (w_1 + w_2)/sin(angle), w = (v_a + v_b)/length,   s'' >= -acc - Omega (3 W + 2 s Omega)
 * v are the speeds of the points, h_i the heights of the face, and a and b the ends of an edge. A curved space adds |K|
 * W^2 s. All quantities are those at x, except for distances that the time allows, and the factor `slack` covers the
 * other changes. This is an estimate. It is valid while faces and edges keep more than a quarter of their size and
 * while edges are not nearly parallel. If edges are parallel, vertices touch faces at the same time. */

enum { P = CB_GAP_PARTICLES };

static const double slack = 2;
/* The minimum fraction to which heights and angles may shrink in the time, and the minimum sine of an angle. */
static const double shrunk = 0.25, least_sine = 0.02;

/* The height of point i of a face (1 .. m) above the span of the others. */
static double height(const cb_space *g, int m, const double x[][CB_COORD_MAX], int i) {
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
  /* The angle between the directions at the midpoints, with the second direction transported to the first midpoint. */
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

/* Bounds on the sectional curvature, and the length up to which every geodesic is certainly the shortest one. */
typedef struct curvature {
  double least, greatest, unique;
} curvature;

/* Widens c to include the curvature at q. The eigenvalues of the curvature operator R(e_a, e_b, e_c, e_d) on the planes
 * of an orthonormal frame lie in Gershgorin's discs. */
static bool widen(const cb_space *g, const double *q, curvature *c) {
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

/* Finds bounds on the curvature of the space around the points p[n] (coordinates). Returns false if they are unknown.
 */
static bool curvature_about(const cb_space *g, int n, const double *const *p, curvature *c) {
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

/* sqrt(K) tan(sqrt(K) x), 0 for K = 0; INFINITY if sqrt(K) x >= pi/2. */
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

/* Returns A if it is finite; 0 if |gap| is larger than its largest possible change `maximum`; otherwise INFINITY. */
static double or_far(double A, double gap, double maximum) {
  return isfinite(A) ? A : fabs(gap) > maximum ? 0 : INFINITY;
}

typedef struct motion {
  double squares, acceleration, maximum; /* a^2 + b^2, the sum of the accelerations, (a + b) T */
} motion;

static motion motion_of(int n, const double *speed, const double *acceleration, double duration) {
  motion m = {0, 0, 0};
  for (int i = 0; i < n; i++) {
    m.squares += speed[i] * speed[i];
    m.acceleration += acceleration[i];
    m.maximum += speed[i] * duration;
  }
  return m;
}

/* The bound for a distance d of two particles. both: for events, s'' must be bounded from both sides. */
static double pair_bound(const cb_gaps *gaps, const double *const *x, double d, double gap, motion m, bool both) {
  curvature c;
  if (!curvature_about(gaps->space, 2, x, &c)) return or_far(INFINITY, gap, m.maximum);
  double A =
      d + m.maximum < c.unique ? m.squares * tangent(c.greatest, (d + m.maximum) / 2) + m.acceleration : INFINITY;
  if (both) A = fmax(A, m.squares * cotangent(c.least, (d - m.maximum) / 2) + m.acceleration);
  return or_far(A, gap, m.maximum);
}

static double ball_bound(const cb_gaps *gaps, const cb_wall *wall, const double *x, double d, double gap, motion m) {
  const double *points[2] = {x, wall->centre};
  curvature c;
  if (!curvature_about(gaps->space, 2, points, &c)) return or_far(INFINITY, gap, m.maximum);
  double A = INFINITY;
  if (wall->inside) {
    A = m.squares * cotangent(c.least, d - m.maximum) + m.acceleration;
  } else if (d + m.maximum < c.unique) {
    const double r = sqrt(c.greatest), at = r * (d + m.maximum);
    A = (at > pi / 2 ? m.squares * -r / tan(at) : 0) + m.acceleration;
  }
  return or_far(A, gap, m.maximum);
}

static double plane_bound(const cb_gaps *gaps, const cb_wall *wall, double d, double gap, motion m) {
  const double k = gaps->space->factor[wall->factor].curvature, r = sqrt(fabs(k));
  double A = m.acceleration;
  if (k > 0) A += m.squares * tangent(k, fmax(0, d + m.maximum));
  if (k < 0) A += m.squares * r * tanh(r * fmax(0, m.maximum - d));
  return or_far(A, gap, m.maximum);
}

double cb_gap_second_derivative_bound(cb_gaps *gaps, const cb_gap *gap, double t, const double *const *x,
                                      const double *speed, const double *acceleration, double duration) {
  const double *radius = gaps->system->radius;
  const motion m = motion_of(gap->n, speed, acceleration, duration);
  cb_gap_value v;
  if (gap->kind == CB_GAP_WALL || gap->kind == CB_GAP_EVENT) {
    cb_gap_formula f = {.particle = gap->particle[0]};
    if (gap->kind == CB_GAP_WALL) {
      f.expression = gaps->set->wall[gap->index].expression;
      f.chart = gaps->set->wall[gap->index].chart;
    } else {
      f.expression = gaps->set->event[gap->index].expression;
      f.chart = gaps->set->event[gap->index].chart;
    }
    if (f.expression) return expression_bound(gaps, &f, t, x[0], speed[0], acceleration[0], duration);
  }
  if (gap->kind != CB_GAP_SPHERES && gap->kind != CB_GAP_WALL && gap->kind != CB_GAP_EVENT)
    return surface_bound(gaps, gap, x, speed, acceleration, duration);
  if (cb_gap_eval(gaps, gap, t, x, 0, &v)) return INFINITY;
  if (gap->kind == CB_GAP_SPHERES)
    return pair_bound(gaps, x, v.gap + radius[gap->particle[0]] + radius[gap->particle[1]], v.gap, m, false);
  if (gap->kind == CB_GAP_EVENT) return pair_bound(gaps, x, v.gap + gaps->set->event[gap->index].value, v.gap, m, true);
  const cb_wall *wall = &gaps->set->wall[gap->index];
  const double r = radius[gap->particle[0]];
  if (wall->kind == CB_WALL_PLANE) return plane_bound(gaps, wall, v.gap + r, v.gap, m);
  return ball_bound(gaps, wall, x[0], wall->inside ? wall->radius - r - v.gap : v.gap + wall->radius + r, v.gap, m);
}
