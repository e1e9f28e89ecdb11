/* Splines through samples: B-splines by recursion, and their coefficients by elimination.
 *
 *   N_i,0 = 1 on its span,  N_i,q = (x - t_i)/(t_i+q - t_i) N_i,q-1 + (t_i+q+1 - x)/(t_i+q+1 - t_i+1) N_i+1,q-1
 *   N'_i,q = q (N_i,q-1/(t_i+q - t_i) - N_i+1,q-1/(t_i+q+1 - t_i+1))
 * N_i,q: B-spline of degree q from knot t_i to t_i+q+1; x_i: samples. The matrix N_k(x_i) is banded and totally
 * positive, so that no pivoting is needed. For a periodic spline the matrix has entries in two corners as well: C = T +
 * U V^T, with the banded matrix T, unit columns U, and V, the rows in the corners. Woodbury's formula gives C^-1. GSL
 * has such functions too, but they store state in a workspace; any number of threads can call the functions here at
 * once.
 * Source: C. de Boor, A Practical Guide to Splines (2001), chapters IX, X and XIII; de Boor & Pinkus, Numer. Math. 27
 * (1977) 485, doi:10.1007/BF01399609.
 */
#include "bundle/samples.h"
#include "core/threads.h"
#include "numerics/small.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

cb_status cb_spline_axis_create(int degree, int points, const double *x, double period, cb_arena *arena,
                                cb_spline_axis *out) {
  const int skip = (degree + 1) / 2;
  cb_spline_axis a = {.points = points, .degree = degree, .low = x[0], .period = period, .x = x};
  a.high = period > 0 ? x[0] + period : x[points - 1];
  a.spans = period > 0 ? points : points - degree;
  a.knot = cb_arena_alloc(arena, (size_t)(a.spans + 1 + 2 * degree), sizeof *a.knot);
  if (!a.knot) return cb_fail(CB_ERROR_MEMORY, "no memory for a spline through %d points", points);
  for (int k = 0; k <= a.spans + 2 * degree; k++) {
    const int i = k - degree; /* span i begins at this knot */
    if (period > 0) {
      const int turn = (i + points * degree) / points - degree; /* floor(i/points) */
      a.knot[k] = x[i - turn * points] + turn * period;
    } else {
      a.knot[k] = i <= 0 ? a.low : i >= a.spans ? a.high : x[i + skip - 1];
    }
  }
  *out = a;
  return CB_OK;
}

int cb_spline_span(const cb_spline_axis *a, double *x) {
  const double *t = a->knot + a->degree, slack = 1e-12 * (a->high - a->low);
  if (a->period > 0) *x -= a->period * floor((*x - a->low) / a->period);
  if (!(*x >= a->low - slack && *x <= a->high + slack)) return -1;
  *x = fmin(fmax(*x, a->low), a->high);
  int low = 0, high = a->spans; /* invariant: t[low] <= x */
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (t[middle] <= *x)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Computes out[q + 1], the B-splines of degree q that are not 0 in a span, from lower[q], which are those of degree q -
 * 1. If `derivative` is true, `lower` holds derivatives of some order, and `out` gets those of the next order. t points
 * to the knot at the end of the span. */
static void lift(const double *t, int q, double x, const double *lower, double *out, bool derivative) {
  memset(out, 0, (size_t)(q + 1) * sizeof *out);
  for (int j = 0; j < q; j++) {
    const double left = t[j - q], right = t[j], share = lower[j] / (right - left);
    out[j] += derivative ? -q * share : (right - x) * share;
    out[j + 1] += derivative ? q * share : (x - left) * share;
  }
}

void cb_spline_basis(const cb_spline_axis *a, int span, double x, int order, double (*basis)[CB_SPLINE_BASIS],
                     int *coefficient) {
  const int p = a->degree;
  const double *t = a->knot + p + span + 1;
  double values[CB_SPLINE_BASIS + 1][CB_SPLINE_BASIS] = {{1}}, slope[CB_SPLINE_BASIS];
  for (int q = 1; q <= p; q++) lift(t, q, x, values[q - 1], values[q], false);
  memcpy(basis[0], values[p], sizeof *basis);
  if (order > 0) lift(t, p, x, values[p - 1], basis[1], true);
  if (order > 1) {
    memset(basis[2], 0, sizeof basis[2]);
    if (p > 1) {
      lift(t, p - 1, x, values[p - 2], slope, true);
      lift(t, p, x, slope, basis[2], true);
    }
  }
  for (int j = 0; j <= p; j++) /* a B-spline of a periodic spline has the number of the sample at its middle knot */
    coefficient[j] = a->period > 0 ? (span + j - (p - 1) / 2 + a->points) % a->points : span + j;
}

/* --- coefficients --- */

/* The factors L and U of a matrix T whose entries are within `width` of the diagonal. Entry (i, j) is band[i][width + j
 * - i]. The matrix of a periodic spline is T plus the row V[k] added to row row[k], for each k. */
typedef struct factors {
  int n, width, corners;
  double *band;
  double *V, *Z; /* [corners][n]: V: the entries outside the band in row row[k]; Z: column row[k] of T^-1 */
  int row[2 * CB_SPLINE_DEGREE];
  double S[4 * CB_SPLINE_DEGREE * CB_SPLINE_DEGREE]; /* the matrix 1 + V^T Z, and then its factors */
  int pivot[2 * CB_SPLINE_DEGREE];
} factors;

static double *at(const factors *f, int i, int j) {
  return f->band + (size_t)i * (size_t)(2 * f->width + 1) + f->width + j - i;
}

static cb_status eliminate(factors *f) {
  for (int k = 0; k < f->n; k++) {
    if (!(fabs(*at(f, k, k)) > 1e-14))
      return cb_fail(
          CB_ERROR_DOMAIN,
          "no spline goes through these points: expected distinct points that are not too close to each other");
    for (int i = k + 1; i <= k + f->width && i < f->n; i++) {
      const double l = *at(f, i, k) /= *at(f, k, k);
      for (int j = k + 1; j <= k + f->width && j < f->n && l != 0; j++) *at(f, i, j) -= l * *at(f, k, j);
    }
  }
  return CB_OK;
}

/* Replaces v[n][inner] by T^-1 v, for the matrix T of the factors. */
static void substitute(const factors *f, size_t inner, double *v) {
  for (int i = 0; i < f->n; i++)
    for (int k = i > f->width ? i - f->width : 0; k < i; k++) {
      const double l = *at(f, i, k);
      for (size_t e = 0; e < inner && l != 0; e++) v[(size_t)i * inner + e] -= l * v[(size_t)k * inner + e];
    }
  for (int i = f->n - 1; i >= 0; i--) {
    for (int j = i + 1; j <= i + f->width && j < f->n; j++) {
      const double u = *at(f, i, j);
      for (size_t e = 0; e < inner && u != 0; e++) v[(size_t)i * inner + e] -= u * v[(size_t)j * inner + e];
    }
    for (size_t e = 0; e < inner; e++) v[(size_t)i * inner + e] /= *at(f, i, i);
  }
}

static cb_status factor(const cb_spline_axis *a, factors *f) {
  const size_t n = (size_t)a->points;
  f->n = a->points;
  f->width = a->period > 0 ? (a->degree - 1) / 2 : a->degree;
  f->corners = a->period > 0 ? 2 * f->width : 0;
  f->band = calloc(n * (size_t)(2 * f->width + 1), sizeof *f->band);
  f->V = calloc((size_t)f->corners * n + 1, sizeof *f->V);
  f->Z = calloc((size_t)f->corners * n + 1, sizeof *f->Z);
  if (!f->band || !f->V || !f->Z) return cb_fail(CB_ERROR_MEMORY, "no memory for a spline through %d points", f->n);
  for (int k = 0; k < f->corners; k++) f->row[k] = k < f->width ? k : f->n - f->corners + k;
  for (int i = 0; i < f->n; i++) {
    double x = a->x[i], basis[1][CB_SPLINE_BASIS];
    int column[CB_SPLINE_BASIS];
    const int span = cb_spline_span(a, &x);
    cb_spline_basis(a, span, x, 0, basis, column);
    for (int k = 0; k <= a->degree; k++) {
      if (basis[0][k] == 0) continue;
      if (abs(column[k] - i) <= f->width)
        *at(f, i, column[k]) += basis[0][k];
      else if (i < f->width || i >= f->n - f->width)
        f->V[(size_t)(i < f->width ? i : i - f->n + f->corners) * n + (size_t)column[k]] += basis[0][k];
    }
  }
  const cb_status status = eliminate(f);
  for (int k = 0; k < f->corners && !status; k++) {
    f->Z[(size_t)k * n + (size_t)f->row[k]] = 1;
    substitute(f, 1, f->Z + (size_t)k * n);
  }
  for (int k = 0; k < f->corners; k++)
    for (int l = 0; l < f->corners; l++) {
      double *S = f->S + k * f->corners + l;
      *S = k == l;
      for (size_t i = 0; i < n; i++) *S += f->V[(size_t)k * n + i] * f->Z[(size_t)l * n + i];
    }
  bool singular = status || cb_dense_factor(f->corners, f->S, f->pivot);
  for (int k = 0; k < f->corners && !singular; k++) singular = !(fabs(f->S[k * f->corners + k]) > 1e-14);
  if (singular && !status)
    return cb_fail(
        CB_ERROR_DOMAIN,
        "no periodic spline goes through these points: expected distinct points that are not too close to each other");
  return status;
}

/* Replaces the samples value[outer][points][inner] by the coefficients of the splines through them. */
static cb_status cb_spline_solve(const cb_spline_axis *a, size_t outer, size_t inner, double *value) {
  factors f = {.n = 0};
  const size_t n = (size_t)a->points;
  cb_status status = factor(a, &f);
  for (size_t o = 0; o < outer && !status; o++) {
    double *v = value + o * n * inner;
    substitute(&f, inner, v);
    for (size_t e = 0; e < inner && f.corners; e++) {
      double w[2 * CB_SPLINE_DEGREE] = {0};
      for (int k = 0; k < f.corners; k++)
        for (size_t i = 0; i < n; i++) w[k] += f.V[(size_t)k * n + i] * v[i * inner + e];
      cb_dense_solve(f.corners, f.S, f.pivot, w);
      for (int k = 0; k < f.corners; k++)
        for (size_t i = 0; i < n; i++) v[i * inner + e] -= f.Z[(size_t)k * n + i] * w[k];
    }
  }
  free(f.band);
  free(f.V);
  free(f.Z);
  return status;
}

/* --- tensor products --- */

cb_status cb_spline_grid_solve(cb_spline_grid *g) {
  size_t outer = 1, inner = (size_t)g->entries;
  for (int i = 0; i < g->n; i++) inner *= (size_t)g->axis[i].points;
  cb_status status = CB_OK;
  for (int i = 0; i < g->n && !status; i++) {
    inner /= (size_t)g->axis[i].points;
    status = cb_spline_solve(&g->axis[i], outer, inner, g->coefficient);
    outer *= (size_t)g->axis[i].points;
  }
  return status;
}

typedef struct place {
  double basis[CB_SAMPLES_AXES][3][CB_SPLINE_BASIS];
  int coefficient[CB_SAMPLES_AXES][CB_SPLINE_BASIS];
} place;

/* Sets w[l] to a product of B-splines, one for each axis. On the last axis it is number l of the B-splines in the span;
 * on each other axis it is number k[axis]. The product is differentiated along the axes i and j (-1: none). */
static void products(const place *p, const cb_spline_grid *g, const int *k, int i, int j, double *w) {
  const int last = g->n - 1;
  double before = 1;
  for (int a = 0; a < last; a++) before *= p->basis[a][(a == i) + (a == j)][k[a]];
  for (int l = 0; l <= g->axis[last].degree; l++) w[l] = before * p->basis[last][(last == i) + (last == j)][l];
}

/* Adds sum_l w[l] c[l] to sum, in the order of l, for the coefficients of one line of the grid along its last axis. */
static inline __attribute__((always_inline)) void add_terms(int count, int degree, const double *w,
                                                            const double *const *c, double *restrict sum) {
  if (degree == 5) {
    const double *const c0 = c[0], *const c1 = c[1], *const c2 = c[2], *const c3 = c[3], *const c4 = c[4],
                        *const c5 = c[5];
    for (int e = 0; e < count; e++)
      sum[e] =
          (((((sum[e] + w[0] * c0[e]) + w[1] * c1[e]) + w[2] * c2[e]) + w[3] * c3[e]) + w[4] * c4[e]) + w[5] * c5[e];
    return;
  }
  for (int l = 0; l <= degree; l++)
    for (int e = 0; e < count; e++) sum[e] += w[l] * c[l][e];
}

#if defined(__x86_64__)
/* Does the same as add_terms, in vectors of four numbers. The compiler does not fuse products and sums here, so the
 * results are the same bit for bit. */
__attribute__((target("avx2"))) static void add_line_avx2(int count, int degree, const double *w,
                                                          const double *const *c, double *sum) {
  add_terms(count, degree, w, c, sum);
}
#endif

static void add_line(int count, int degree, const double *w, const double *const *c, double *sum) {
#if defined(__x86_64__)
  if (cb_isa_get() >= CB_ISA_AVX2) {
    add_line_avx2(count, degree, w, c, sum);
    return;
  }
#endif
  add_terms(count, degree, w, c, sum);
}

bool cb_spline_grid_at(const cb_spline_grid *g, const double *r, int first, int last, double *value, double *slope,
                       double *curve, int *outside) {
  const int n = g->n, count = last - first;
  const int degree = g->axis[n - 1].degree;
  int k[CB_SAMPLES_AXES] = {0}, axis = 0;
  place p; /* only the entries for the degrees of the splines are set */
  for (int i = 0; i < n; i++) {
    double x = r[i];
    const int span = cb_spline_span(&g->axis[i], &x);
    if (span < 0) {
      *outside = i;
      return false;
    }
    cb_spline_basis(&g->axis[i], span, x, curve ? 2 : slope ? 1 : 0, p.basis[i], p.coefficient[i]);
  }
  memset(value, 0, (size_t)count * sizeof *value);
  if (slope) memset(slope, 0, (size_t)(n * count) * sizeof *slope);
  if (curve) memset(curve, 0, (size_t)(n * (n + 1) / 2 * count) * sizeof *curve);
  while (axis >= 0) {
    double w[CB_SPLINE_BASIS];
    const double *c[CB_SPLINE_BASIS];
    size_t line = 0;
    for (int i = 0; i < n - 1; i++) line = line * (size_t)g->axis[i].points + (size_t)p.coefficient[i][k[i]];
    line *= (size_t)g->axis[n - 1].points;
    for (int l = 0; l <= degree; l++)
      c[l] = g->coefficient + (line + (size_t)p.coefficient[n - 1][l]) * (size_t)g->entries + first;
    products(&p, g, k, -1, -1, w);
    add_line(count, degree, w, c, value);
    for (int i = 0; slope && i < n; i++) {
      products(&p, g, k, i, -1, w);
      add_line(count, degree, w, c, slope + i * count);
    }
    for (int i = 0, ij = 0; curve && i < n; i++)
      for (int j = 0; j <= i; j++, ij++) {
        products(&p, g, k, i, j, w);
        add_line(count, degree, w, c, curve + ij * count);
      }
    for (axis = n - 2; axis >= 0 && ++k[axis] > g->axis[axis].degree; axis--) k[axis] = 0;
  }
  return true;
}
