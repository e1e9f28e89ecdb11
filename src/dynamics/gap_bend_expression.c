/* How fast expressions bend along what moves with speed v and covariant acceleration acc:
 *
 *   |s''| <= |Hess f| v^2 + 2 |d f_t| v + |f_tt| + |df| acc,   Hess f = f_ij - Gamma^c_ij f_c
 * norms in the metric. In the embedding, f_ab of the expression as a function there,
 *   Hess f(u, w) = u f_ab w - sum_F K_F <u, w>_F <x_F, f>,   for x'' = -K <x', x'> x along geodesics.
 * Sampled at x and along the geodesics of a frame at parts of the way in the time, the largest times `between`. These
 * parts have no common measure: what oscillates is not sampled at its zeros alone.
 */
#include "dynamics/constraint_charts.h"
#include "dynamics/gap_private.h"
#include "geometry/intrinsic_private.h"
#include "geometry/quadric.h"
#include <math.h>
#include <string.h>

enum { N = CB_Q_MAX, K = CB_COORD_MAX };

/* For what lies between samples. */
static const double between = 2;
/* Where along the way they lie. */
static const double part[] = {1, 0.618033988749895, 0.2679491924311227};
enum { PARTS = sizeof part / sizeof *part };

/* First and second derivatives at a point in an orthonormal frame of n vectors, and in t. */
typedef struct derivatives {
  double hessian, gradient, gradient_t, second_t; /* norms */
} derivatives;

/* From components in an orthonormal frame. */
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

/* In the coordinates of the chart that the space is used in; m: of the expression's coordinates by those, NULL: the
 * same. frame: e[n][n], orthonormal. */
static bool in_chart(const cb_geometry *g, const cb_jet *f, const double *m, const double *x, const double *frame,
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
  for (int e = 0; e < n; e++) { /* f^l = e^l (e . df) */
    for (int i = 0; i < n; i++) e_df[e] += frame[e * n + i] * df[i], e_dft[e] += frame[e * n + i] * dft[i];
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

/* In the embedding, through the coordinates of the expression. */
static bool in_embedding(const cb_geometry *g, const cb_jet *f, const cb_coordinates *q, bool curved_chart,
                         const double *x, derivatives *out) {
  const int k = g->embedding, n = q->size;
  double frame[CB_DIM_MAX * K], df[K] = {0}, dft[K] = {0}, h[K][K], e_df[N] = {0}, e_dft[N] = {0}, e_h[N][N];
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
  cb_geometry_frame(g, x, frame);
  for (int i = 0; i < g->dim; i++) {
    const double *ei = frame + i * k;
    for (int a = 0; a < k; a++) e_df[i] += ei[a] * df[a], e_dft[i] += ei[a] * dft[a];
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

/* What is the same at all samples. */
typedef struct sampling {
  const cb_gaps *gaps;
  const cb_gap_formula *f;
  bool chart; /* the samples are coordinates of the space's chart */
  cb_isometry world;
} sampling;

/* Derivatives at time t and x, which is a point of the embedding or, with chart, coordinates; frame: there. */
static bool sample(const sampling *s, double t, const double *x, const double *frame, derivatives *out) {
  const cb_geometry *g = s->gaps->space;
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

/* An orthonormal frame e[n][n] of the chart's metric, in any dimension; false where there is none. */
static bool chart_frame(const cb_geometry *g, const double *q, double *e) {
  cb_intrinsic_frame(g, q, e);
  for (int i = 0; i < g->dim * g->dim; i++)
    if (!isfinite(e[i])) return false;
  return true;
}

/* Widens the largest by a sample; those beyond the expression's domain are left out. */
static bool take(const sampling *s, double t, const double *x, derivatives *most) {
  derivatives d;
  double frame[N * N];
  if (s->chart && !chart_frame(s->gaps->space, x, frame)) return false;
  if (!sample(s, t, x, frame, &d)) return false;
  most->hessian = fmax(most->hessian, d.hessian);
  most->gradient = fmax(most->gradient, d.gradient);
  most->gradient_t = fmax(most->gradient_t, d.gradient_t);
  most->second_t = fmax(most->second_t, d.second_t);
  return true;
}

double cb_gap_expression_bend(const cb_gaps *gaps, const cb_gap_formula *f, double t, const double *x, double speed,
                              double acceleration, double duration) {
  const cb_geometry *g = gaps->space;
  sampling s = {.gaps = gaps, .f = f, .chart = g->chart && (g->intrinsic || f->chart == g->chart)};
  const int k = s.chart ? g->dim : g->embedding, variables = f->chart ? f->chart->size : g->embedding;
  const bool timed = cb_expression_uses(f->expression, (size_t)variables);
  const double reach = speed * duration;
  double at[N], frame[N * N], v[N], y[N];
  derivatives most = {0, 0, 0, 0};
  memcpy(at, x, (size_t)g->k * sizeof *x);
  if (g->chart && !s.chart && g->chart->to_point(g, x, at, NULL)) return INFINITY;
  if (!s.chart || gaps->moves) cb_origin_isometry(g, cb_gap_origin(gaps, f->particle), &s.world);
  bool known = take(&s, t, at, &most); /* not so at the tip of a cone: about it */
  for (int j = 0; timed && j < PARTS; j++) known = take(&s, t + part[j] * duration, at, &most) || known;
  if (s.chart) {
    if (!chart_frame(g, at, frame)) return INFINITY;
  } else {
    cb_geometry_frame(g, at, frame);
  }
  for (int i = 0; i < 2 * g->dim * PARTS && reach > 0; i++) {
    const double way = part[i % PARTS], length = i / PARTS % 2 ? -way * reach : way * reach;
    const double *e = frame + i / PARTS / 2 * k;
    for (int a = 0; a < k; a++) {
      v[a] = length * e[a];
      y[a] = at[a] + v[a];
    }
    if (!s.chart) cb_exp(g, at, v, y, NULL);
    known = take(&s, t + (timed && i / PARTS % 4 < 2 ? way * duration : 0), y, &most) || known;
  }
  if (!known) return INFINITY;
  return between * (most.hessian * speed * speed + 2 * most.gradient_t * speed + most.second_t) +
         between * most.gradient * acceleration;
}
