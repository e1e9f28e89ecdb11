/* Bounds on the second derivatives of gaps s in time: A with s'' >= -A, while the speeds of the two points are at most
 * a and b and the sum of their covariant accelerations is at most acc.
 *
 * Distances d of two points: let K be the maximum of 0 and all sectional curvatures, and k the minimum of 0 and all
 * sectional curvatures. In the duration T, d stays between d0 - (a + b) T and d0 + (a + b) T, where d0 is the distance
 * at the start. The index form of the field along the geodesic between the points gives
 *   d'' >= -(a^2 + b^2) sqrt(K) tan(sqrt(K) d/2) - acc,   d'' <= (a^2 + b^2) sqrt(-k) coth(sqrt(-k) d/2) + acc
 * In a space that is given by its metric, K and k are taken as twice their values at the two points. In such a space no
 * bound is known if a geodesic may be longer than a quarter of a period of a coordinate. Then A is 0 if the speeds
 * cannot close the gap, and INFINITY if they can.
 *
 * Walls and events that are functions of coordinates in the world, such as expressions: let s = f(x, t) along the
 * motion of a particle at x with speed v and covariant acceleration acc:
 *
 *   |s''| <= |Hess f| v^2 + 2 |d f_t| v + |f_tt| + |df| acc,   Hess f = f_ij - Gamma^c_ij f_c
 * Indices of f are derivatives, and Gamma are the Christoffel symbols. The norms are those of the metric. For two
 * particles at x and y with speeds v_1 and v_2, each particle gives these terms, and 2 |d^2 f/dx dy| v_1 v_2 is added.
 * In the embedding f_ab are the second derivatives of f as a function there, K_F is the curvature of factor F, and x_F
 * and <,>_F are the parts in this factor. For tangent vectors u and w
 *   Hess f(u, w) = u^a f_ab w^b - sum_F K_F <u, w>_F x_F.df,   because x'' = -K <x', x'> x along geodesics.
 * The result uses the largest sample of each norm, times `between`. The samples lie at x and on the geodesics along the
 * vectors of a frame, at fractions of the distance that is possible in the time. The ratios of these fractions are
 * irrational, so that an oscillating function is not sampled only at its zeros.
 * Source: do Carmo, Riemannian Geometry (1992), chapters 2, 6, 9 and 10.
 */
#include "dynamics/gap_class.h"

#include "dynamics/constraint_private.h"
#include "geometry/numeric.h"
#include "geometry/quadric.h"
#include "numerics/numerics_curved.h"
#include <curvebody/intrinsic.h>

#include <math.h>
#include <string.h>

/* --- functions of coordinates --- */

enum { N = CB_Q_MAX };

/* The largest sample is multiplied by this factor, because values at points between the samples may be larger. */
static const double between = 2;
/* Samples are taken at these fractions of the largest distance that the particle can move, and of the duration. */
static const double part[] = {1, 0.618033988749895, 0.2679491924311227};
enum { PARTS = sizeof part / sizeof *part };

/* Norms of the first and second derivatives of f at a point, by an orthonormal frame and by the time t. */
typedef struct derivatives {
  double hessian, gradient, gradient_t, second_t; /* |Hess f|, |df|, |d f_t|, |f_tt| */
} derivatives;

/* Computes the norms of the derivatives of f from their components in an orthonormal frame of n vectors. Returns false
 * if a component is not finite. */
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

/* Computes the norms of the derivatives of f in a space with a chart. `f` holds the value and derivatives in the
 * coordinates of the function and in t. m[c][i] is the derivative of coordinate c of the function by coordinate i of
 * the space's chart; m is NULL if the coordinates are the same. `frame` holds n orthonormal vectors at x. */
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
  /* components of df and dft in the frame, and up[l] = sum_m g^lm df_m with the inverse metric g^lm */
  for (int e = 0; e < n; e++) {
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

/* Computes the norms of the derivatives of f in the embedding. `f` holds the value and derivatives in the coordinates q
 * of the function and in t. `curved_chart` says whether the second derivatives of q are not 0. */
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

/* The data that all samples share. In a sample only one particle moves. If the gap has two particles, the other one
 * stays at its place. */
typedef struct sampling {
  const cb_gaps *gaps;
  const cb_gap_function *f;
  const cb_gap *gap;
  const cb_chart *chart; /* the chart of f */
  bool own;              /* the samples are coordinates of the space's chart */
  int moving, size;      /* moving: which particle of the gap moves; size: number of coordinates of f per particle */
  cb_isometry world;
  /* the coordinates of the particle that stays, and their derivatives along the vectors of a frame at its position */
  double other[N], other_slope[CB_DIM_MAX][N];
  double *cross; /* the largest |d^2 f/dx dy| so far, for particles at x and y */
} sampling;

/* Computes the coordinates q that f uses, for a particle at x, with derivatives up to `order`. Returns false outside
 * the chart. */
static bool locate(const sampling *s, const cb_isometry *world, const double *x, int order, cb_coordinates *q) {
  if (!s->own || s->gaps->moves) return !cb_coordinates_at(s->gaps->space, s->chart, world, x, order, q);
  q->size = s->size;
  memcpy(q->q, x, (size_t)s->size * sizeof *x);
  return true;
}

/* Sets rate[i][c] to the derivative of coordinate c along the vector frame[i]. */
static void rates(const sampling *s, const cb_coordinates *q, const double *frame, double (*rate)[N]) {
  const cb_space *g = s->gaps->space;
  const int k = s->own ? g->dim : g->embedding;
  for (int i = 0; i < g->dim; i++)
    for (int c = 0; c < s->size; c++) {
      rate[i][c] = s->own && !s->gaps->moves ? frame[i * k + c] : 0;
      for (int a = 0; a < k && !(s->own && !s->gaps->moves); a++) rate[i][c] += q->first[c][a] * frame[i * k + a];
    }
}

/* `both` holds the derivatives of f in the coordinates of two particles and in t. Returns the derivatives in the
 * coordinates of the moving particle and in t. Updates *s->cross, the largest norm of the mixed derivatives. */
static cb_jet split(const sampling *s, const cb_jet *both, const cb_coordinates *q, const double *frame) {
  const int n = s->size, mine = s->moving * n, others = n - mine, dim = s->gaps->space->dim;
  cb_jet f = {.n = n + 1, .v = both->v};
  double rate[CB_DIM_MAX][N], square = 0;
  for (int i = 0; i <= n; i++) {
    const int at = i < n ? mine + i : 2 * n;
    f.g[i] = both->g[at];
    for (int j = 0; j <= i; j++) f.h[cb_jet_packed(i, j)] = both->h[cb_jet_packed(at, j < n ? mine + j : 2 * n)];
  }
  rates(s, q, frame, rate);
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) {
      double mixed = 0;
      for (int c = 0; c < n; c++)
        for (int d = 0; d < n; d++)
          mixed += rate[i][c] * both->h[cb_jet_packed(mine + c, others + d)] * s->other_slope[j][d];
      square += mixed * mixed;
    }
  *s->cross = fmax(*s->cross, sqrt(square));
  return f;
}

/* Computes the norms of the derivatives of f at time t and at x. With s->own, x are coordinates of the space's chart;
 * otherwise x is a point of the embedding. `frame` is an orthonormal frame at x. */
static bool sample(const sampling *s, double t, const double *x, const double *frame, derivatives *out) {
  const cb_space *g = s->gaps->space;
  const bool same = s->own && !s->gaps->moves;
  const int n = s->gap->n * s->size;
  double at[CB_JET_MAX + 2], m[CB_DIM_MAX * CB_DIM_MAX];
  cb_coordinates q;
  if (!locate(s, &s->world, x, s->chart ? 2 : 1, &q)) return false;
  memcpy(at + s->moving * s->size, q.q, (size_t)s->size * sizeof *at);
  if (s->gap->n == 2) memcpy(at + (s->size - s->moving * s->size), s->other, (size_t)s->size * sizeof *at);
  at[n] = t;
  for (int p = 0; p < s->gap->n; p++) at[n + 1 + p] = s->gaps->system->radius[s->gap->particle[p]];
  cb_jet f = cb_gap_function_jet(g, s->f, n, at);
  if (s->gap->n == 2) f = split(s, &f, &q, frame);
  if (!s->own) return in_embedding(g, &f, &q, s->chart != NULL, x, out);
  for (int c = 0; !same && c < q.size; c++)
    for (int i = 0; i < g->dim; i++) m[c * g->dim + i] = q.first[c][i];
  return in_chart(g, &f, same ? NULL : m, x, frame, out);
}

/* Computes an orthonormal frame e[dim][dim] of the metric of the chart at q. Returns false if a number of the frame is
 * not finite. */
static bool chart_frame(const cb_space *g, const double *q, double *e) {
  cb_intrinsic_frame(g, q, e);
  for (int i = 0; i < g->dim * g->dim; i++)
    if (!isfinite(e[i])) return false;
  return true;
}

/* Takes a sample at time t and at x, and updates the maximum of each norm. If f does not exist at x, returns false and
 * updates nothing. */
static bool take(const sampling *s, double t, const double *x, derivatives *maximum) {
  derivatives d;
  double frame[N * N];
  if (s->own && !chart_frame(s->gaps->space, x, frame)) return false;
  if (!s->own && s->gap->n == 2) cb_space_frame(s->gaps->space, x, frame);
  if (!sample(s, t, x, frame, &d)) return false;
  maximum->hessian = fmax(maximum->hessian, d.hessian);
  maximum->gradient = fmax(maximum->gradient, d.gradient);
  maximum->gradient_t = fmax(maximum->gradient_t, d.gradient_t);
  maximum->second_t = fmax(maximum->second_t, d.second_t);
  return true;
}

/* Converts the position x of a particle to the coordinates in which samples are taken. Returns false outside the chart.
 */
static bool point_of(const sampling *s, const double *x, double *at) {
  const cb_space *g = s->gaps->space;
  memcpy(at, x, (size_t)g->k * sizeof *x);
  return !g->chart || s->own || !g->chart->to_point(g, x, at, NULL);
}

/* For the particle that stays, at the position x: sets s->other to its coordinates, and s->other_slope to the
 * derivatives of these coordinates along the vectors of an orthonormal frame at x. Returns false outside the chart. */
static bool hold(sampling *s, const double *x) {
  const cb_space *g = s->gaps->space;
  double at[N], frame[N * N];
  cb_isometry world;
  cb_coordinates q;
  if (!point_of(s, x, at)) return false;
  if (!s->own || s->gaps->moves) cb_origin_isometry(g, cb_gap_origin(s->gaps, s->gap->particle[1 - s->moving]), &world);
  if (!locate(s, &world, at, 1, &q) || (s->own && !chart_frame(g, at, frame))) return false;
  if (!s->own) cb_space_frame(g, at, frame);
  memcpy(s->other, q.q, (size_t)s->size * sizeof *s->other);
  rates(s, &q, frame, s->other_slope);
  return true;
}

/* Returns the bound on |s''| while one particle moves, from the largest sampled derivatives. Returns INFINITY if all
 * samples failed. */
static double one_moves(const sampling *s, double t, const double *x, double speed, double acceleration,
                        double duration) {
  const cb_space *g = s->gaps->space;
  const int k = s->own ? g->dim : g->embedding;
  const bool timed = cb_gap_function_timed(g, s->f);
  const double reach = speed * duration;
  double at[N], frame[N * N], v[N], y[N];
  derivatives maximum = {0, 0, 0, 0};
  if (!point_of(s, x, at)) return INFINITY;
  bool known = take(s, t, at, &maximum); /* at the tip of a cone this sample fails, but those around the tip do not */
  for (int j = 0; timed && j < PARTS; j++) known = take(s, t + part[j] * duration, at, &maximum) || known;
  if (s->own) {
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
    if (!s->own) cb_exp(g, at, v, y, NULL);
    known = take(s, t + (timed && i / PARTS % 4 < 2 ? way * duration : 0), y, &maximum) || known;
  }
  if (!known) return INFINITY;
  return between * (maximum.hessian * speed * speed + 2 * maximum.gradient_t * speed + maximum.second_t) +
         between * maximum.gradient * acceleration;
}

/* Returns the bound A of cb_gap_second_derivative_bound for a function f of coordinates, from samples of the
 * derivatives of f along the motion. */
static double gap_coordinates_bound(const cb_gaps *gaps, const cb_gap_function *f, const cb_gap *gap, double t,
                                    const double *const *x, const double *speed, const double *acceleration,
                                    double duration) {
  const cb_space *g = gaps->space;
  const cb_chart *chart = cb_gap_function_chart(g, f);
  double sum = 0, cross = 0;
  sampling s = {.gaps = gaps, .f = f, .gap = gap, .chart = chart, .cross = &cross};
  s.own = g->chart && (g->intrinsic || chart == g->chart);
  s.size = chart ? chart->size : g->embedding;
  for (int p = 0; p < gap->n; p++) {
    s.moving = p;
    if (!s.own || gaps->moves) cb_origin_isometry(g, cb_gap_origin(gaps, gap->particle[p]), &s.world);
    if (gap->n == 2 && !hold(&s, x[1 - p])) return INFINITY;
    sum += one_moves(&s, t, x[p], speed[p], acceleration[p], duration);
  }
  return gap->n == 2 ? sum + 2 * between * cross * speed[0] * speed[1] : sum;
}

/* --- distances --- */

/* The gaps s of surfaces in flat space. n is the unit normal, Omega a bound on its rate, W the relative speed, and acc
 * the sum of the largest accelerations of the two features.
 *
 *   face   |n'| <= Omega = sum_i v_i/h_i,                 s'' >= -acc - Omega (2 W + s Omega)
 *   edges  |n'| <= Omega = (w_1 + w_2)/sin(angle), w = (v_a + v_b)/length,   s'' >= -acc - Omega (3 W + 2 s Omega)
 * v are the speeds of the points, h_i the heights of the face, and a and b the ends of an edge. In a curved space of
 * curvature K, the bound grows by |K| W^2 s. Distances take the largest values that are possible in the duration. All
 * other quantities are taken at x, and the factor `slack` covers their changes. The bound is therefore an estimate. It
 * is valid while faces and edges keep more than a quarter of their size and while edges are not nearly parallel. If
 * edges are parallel, vertices touch faces at the same time. */

enum { P = CB_GAP_PARTICLES };

static const double slack = 2;
/* Faces and edges may shrink during the motion. Heights and angles are therefore taken as at least the fraction
 * `shrunk` of their size at x, and the sine of an angle as at least `least_sine`. */
static const double shrunk = 0.25, least_sine = 0.02;

/* Returns the height of the corner x[i] (i = 1 .. m) of a face above the span of the other corners; m is the
 * dimension. */
static double height(const cb_space *g, int m, const double x[][CB_COORD_MAX], int i) {
  const double *a = x[i % m + 1], *b = m == 3 ? x[(i + 1) % m + 1] : NULL, *p = x[i];
  if (!b) return cb_distance(g, a, p);
  const cb_trig t = cb_trig_of(g->factor[0].curvature); /* S(height) = S(pb) sin(angle at b), with S = cb_trig_s */
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
    return gap_coordinates_bound(gaps, f, gap, t, x, speed, acceleration, duration);
  if (!f && gap->kind != CB_GAP_SPHERES) return surface_bound(gaps, gap, x, speed, acceleration, duration);
  if (cb_gap_eval(gaps, gap, t, x, 0, &v)) return INFINITY;
  if (f) return f->class->forms->bound(gaps, gap, f->of, x, v.gap, m);
  return cb_gap_pair_bound(gaps, x, v.gap + radius[gap->particle[0]] + radius[gap->particle[1]], v.gap, m, false);
}
