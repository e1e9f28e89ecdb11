/* Bounds on the second derivatives in time of walls and events that are functions of coordinates in the world, such as
 * expressions.
 *
 * Let s = f(x, t) along the motion of a particle at x with speed v and covariant acceleration acc:
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
 * Source: do Carmo, Riemannian Geometry (1992), chapters 2 and 6.
 */
#include "dynamics/gap_class.h"

#include "dynamics/constraint_private.h"
#include "geometry/numeric.h"
#include "geometry/quadric.h"
#include <curvebody/intrinsic.h>

#include <math.h>
#include <string.h>

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

/* Computes the norms from components in an orthonormal frame of n vectors. Returns false if a component is not finite.
 */
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

/* Computes the norms of the derivatives of f in a space with a chart. f: the value and derivatives in the coordinates
 * of the function and in t. m[c][i]: the derivative of coordinate c of the function by coordinate i of the space's
 * chart; NULL: the coordinates are the same. frame: n orthonormal vectors at x. */
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

/* Computes the norms of the derivatives of f in the embedding. f: the value and derivatives in the coordinates q of the
 * function and in t. curved_chart: q has second derivatives that are not 0. */
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

/* The data that all samples share. One particle moves. If the gap has two particles, the other one stays. */
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

/* both: the derivatives of f in the coordinates of two particles and in t. Returns those in the coordinates of the
 * moving particle and in t, and updates *s->cross, the largest norm of the mixed derivatives. */
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

/* Computes the norms of the derivatives of f at time t and at x. With s->own, x are coordinates of the space's chart,
 * otherwise a point of the embedding. frame: an orthonormal frame at x. */
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

/* Takes a sample at time t and at x, and updates the maximum of each norm. Returns false and updates nothing if f does
 * not exist there. */
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
 * derivatives of these along the vectors of an orthonormal frame at x. Returns false outside the chart. */
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

/* Returns the bound on |s''| while one particle moves, from the largest sampled derivatives. INFINITY if all samples
 * failed. */
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

double cb_gap_coordinates_bound(const cb_gaps *gaps, const cb_gap_function *f, const cb_gap *gap, double t,
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
