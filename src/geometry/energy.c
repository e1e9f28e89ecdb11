/* Geodesics as minima of the energy E of polynomial curves:
 *
 *   E(x_0, ..., x_N) = 1/2 sum_a w_a g(x_a)(v_a, v_a),  v_a = sum_j D_aj x_j;  s_a, w_a: Lobatto's nodes and
 *   weights on [0, 1], D the derivatives of the polynomials of the nodes (energy_curve.c)
 *   dE/dx_j = 0 inside, by Newton's method;   the distance d = sqrt(2 E), gradient d' = E'/d, Hessian (S - d' d'^T)/d
 *   S = H_ee - H_ei H_ii^-1 H_ie: the Hessian of E in the two ends e, where the inner points i minimise E
 *   start: x'' = -Gamma(v, v) at the ends, and linear between them
 * x_a and v_a are the points and velocities of a curve of degree N at the nodes s_a. g is the metric, Gamma are its
 * Christoffel symbols, and H is the Hessian of E. In d' and E', ' is the derivative with respect to the two ends.
 *
 * The errors of E and its derivatives with respect to the ends are of order 2N, twice the order of the curve: a curve
 * with an error of 3e-7 gives them to 1e-13. H_ii is positive definite if and only if there is no conjugate point. The
 * first curve has a low degree, and the required degree is estimated from the decay of its Legendre coefficients. The
 * matrix is reused while steps decrease fast, because a gradient takes only a third of the time of a matrix.
 * Source: Hall & Leok, Spectral variational integrators (2015), section 3, doi:10.1007/s00211-014-0679-0; Milnor, Morse
 * Theory (1963), section 15; Deuflhard, Newton Methods for Nonlinear Problems (2004), section 2.1.
 */
#include "geometry/numeric.h"

#include <math.h>
#include <string.h>

enum { D = CB_CURVE_DIM, SIZE = CB_CURVE_SIZE, ITERATIONS = 40 };

/* If the relative error of the curve, |step|/d, is below this, the coefficients of the curve show whether its degree is
 * sufficient. d is the distance. */
static const double seen = 5e-4;
/* The maximum size of the highest coefficients of the velocity, relative to the velocity: `finely` if the Hessian of
 * the distance is requested, otherwise `resolved`. The error of the Hessian of E has this size, and the error of E has
 * its square. */
static const double resolved = 3e-7, finely = 1e-8;
/* The maximum size of the highest coefficients, as `resolved`, for a curve from which a search for a geodesic
 * starts. */
static const double roughly = 1e-3;
/* settled: the relative error of the derivatives at which the iteration stops. rounding: the |step|/d that remains
 * because of round-off. */
static const double settled = 2e-14, rounding = 3e-14;
/* Below this |step|/d, the Hessian of E at the curve is accurate enough for the Hessian of d. */
static const double near = 1e-10;
/* If a pivot of the last matrix, relative to its diagonal entry, is below this, the matrix at the final curve is also
 * factored, to test whether it is positive definite. */
static const double doubtful = 0.05;
/* The matrix is recomputed if the ratio of two steps is above this. */
static const double slow = 0.15;

/* The Newton step is U^-1 y with the Cholesky factor U of the matrix U^T U. square = |y|^2 is Newton's decrement, twice
 * the amount by which E can still fall. */
typedef struct descent {
  double y[SIZE]; /* U^-T times the gradient */
  double square;
} descent;

/* Factors the matrix at the curve, and computes y and square of the next step. If the matrix is not positive definite,
 * *minimum is false, and only the part of the matrix that cannot be negative is used. Returns CB_ERROR_DOMAIN if this
 * part is not positive either. */
static cb_status renew(cb_curve *c, bool with_ends, descent *s, bool *minimum) {
  const cb_status status = cb_curve_evaluate(c, 2);
  if (status) return status;
  *minimum = cb_curve_factor(c, false, with_ends);
  if (!*minimum && !cb_curve_factor(c, true, with_ends))
    return cb_fail(CB_ERROR_DOMAIN, "the metric is singular on the curve");
  s->square = cb_curve_newton(c, s->y);
  return CB_OK;
}

/* Moves along the step, which is halved until E falls, and computes the energy and the gradient there. Returns
 * CB_ERROR_DOMAIN if E does not fall for any fraction above 0.01. */
static cb_status move(cb_curve *c, const descent *s) {
  const int inner = c->degree - 1;
  const double before = c->energy;
  double start[D][CB_CURVE_POINTS], step[SIZE];
  cb_curve_step(c, s->y, step);
  for (int i = 0; i < c->n; i++) memcpy(start[i], c->x[i], (size_t)inner * sizeof(double));
  for (double lambda = 1; lambda > 0.01; lambda /= 2) {
    for (int i = 0; i < c->n; i++)
      for (int a = 0; a < inner; a++) c->x[i][a] = start[i][a] - lambda * step[i * inner + a];
    if (cb_curve_evaluate(c, 1)) continue;
    /* Near the minimum, round-off hides the decrease of E. */
    if (s->square < 1e-8 * before || c->energy <= before - 0.1 * lambda * s->square) return CB_OK;
  }
  return cb_fail(CB_ERROR_DOMAIN, "the energy of the curve does not decrease in any step");
}

/* Minimises E by Newton's method with halved steps. Stops early if the curve needs a higher degree. *rest is the size
 * of the highest coefficients of the curve. Returns CB_ERROR_DOMAIN if no minimum is found, or if the geodesic has a
 * conjugate point. */
static cb_status minimize(cb_curve *c, bool with_hessian, descent *s, double *rest) {
  const cb_status lost = CB_ERROR_DOMAIN;
  bool minimum, fresh = true, looked = false;
  double factor = 1;
  cb_status status = renew(c, false, s, &minimum);
  for (int iteration = 0; !status && iteration < ITERATIONS; iteration++) {
    if (!(c->energy > 0)) return lost;
    const double size = sqrt(s->square / (2 * c->energy));
    if (iteration > 0 && size <= seen && !looked) {
      looked = true;
      *rest = cb_curve_rest(c);
      if (*rest > (with_hessian ? finely : resolved)) return CB_OK;
    }
    /* estimate of the error of the derivatives of E after this step */
    const double error = size * (fresh ? 10 * size : factor);
    const bool tolerance = error <= settled && !(with_hessian && size > near);
    if (tolerance || size <= rounding || (size <= 1e-11 && factor > slow && !fresh)) {
      if (!looked) *rest = cb_curve_rest(c);
      if (with_hessian || c->least < doubtful) status = renew(c, with_hessian, s, &minimum);
      return status ? status : minimum ? CB_OK : cb_fail(lost, "the geodesic has a conjugate point");
    }
    if (!fresh && (!minimum || factor > slow)) {
      status = renew(c, false, s, &minimum);
      fresh = true;
      continue;
    }
    const double before = s->square;
    status = move(c, s);
    if (status) return status;
    s->square = cb_curve_newton(c, s->y);
    factor = sqrt(s->square / before);
    fresh = false;
  }
  return status ? status : cb_fail(lost, "no minimum of the energy was found in %d steps", ITERATIONS);
}

/* Computes the distance d = sqrt(2 E) and its derivatives after one more Newton step, without making this step: it
 * changes E by -|y|^2/2, and the gradient of E at the ends to first order. lowered is the covector of the velocity at
 * the start. gradient, hessian and lowered may be NULL. */
static void conclude(const cb_curve *c, const double *y, double *length, double *gradient, double *hessian,
                     double *lowered) {
  const int n = c->n, inner = (c->degree - 1) * n, ends = 2 * n;
  double square = 0, first[2 * D], d;
  for (int m = 0; m < inner; m++) square += y[m] * y[m];
  d = sqrt(2 * c->energy - square);
  memcpy(first, c->gradient + inner, sizeof first);
  for (int m = 0; m < inner; m++)
    for (int e = 0; e < ends; e++) first[e] -= c->h[m][inner + e] * y[m];
  for (int e = 0; e < ends; e++) first[e] /= d;
  *length = d;
  if (gradient) memcpy(gradient, first, (size_t)ends * sizeof *first);
  for (int e = 0; e < ends && hessian; e++)
    for (int f = e; f < ends; f++)
      hessian[e * ends + f] = hessian[f * ends + e] = (c->h[inner + e][inner + f] - first[e] * first[f]) / d;
  for (int i = 0; lowered && i < n; i++) lowered[i] = -first[i] * d;
}

/* Sets a[0] and a[1] such that x'' = a[0] + (a[1] - a[0]) s holds approximately for a geodesic between the ends, which
 * differ by `move`. Returns false if |a| >= 2 |move| at an end, or if the metric is not positive definite. */
static bool bends(const cb_curve_ends *ends, double a[2][D]) {
  const int n = ends->g->dim;
  const double *v = ends->move;
  for (int e = 0; e < 2; e++) {
    const cb_curve_metric *m = &ends->metric[e];
    double factor[CB_DIM_MAX * CB_DIM_MAX], turn[D][D], bend = 0, size = 0; /* turn[l][i] = d_l g_ik v^k */
    if (cb_numeric_factor(ends->g, ends->q, m->g, factor)) return false;
    for (int l = 0; l < n; l++)
      for (int i = 0; i < n; i++) {
        turn[l][i] = 0;
        for (int k = 0; k < n; k++) turn[l][i] += m->dg[(l * n + i) * n + k] * v[k];
      }
    for (int i = 0; i < n; i++) {
      a[e][i] = 0;
      for (int k = 0; k < n; k++) a[e][i] += (0.5 * turn[i][k] - turn[k][i]) * v[k];
    }
    cb_cholesky_solve(n, factor, a[e]);
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        bend += m->g[i * n + k] * a[e][i] * a[e][k];
        size += m->g[i * n + k] * v[i] * v[k];
      }
    if (!(bend < 4 * size)) return false;
  }
  return true;
}

static cb_status find_ends(const cb_space *g, const double *q, const double *move, cb_curve_ends *ends) {
  double y[D];
  ends->g = g;
  ends->q = q;
  for (int i = 0; i < g->dim; i++) {
    ends->move[i] = move[i];
    y[i] = q[i] + move[i];
  }
  for (int e = 0; e < 2; e++) {
    cb_curve_metric *m = &ends->metric[e];
    const cb_status status = cb_numeric_metric(g, e ? y : q, m->g, m->dg, m->ddg);
    if (status) return status;
  }
  return CB_OK;
}

/* Sets the inner nodes of the first curve. With a bulge it is the straight line of coordinates plus the bulge. Without
 * one it is an approximate geodesic from data at the ends, or the straight line if `bends` returns false. */
static void start(const cb_curve_ends *ends, const double *bulge, cb_curve *c) {
  double a[2][D];
  const bool bent = !bulge && bends(ends, a);
  for (int i = 0; i < c->n; i++)
    for (int k = 0; k < c->degree - 1; k++) {
      const double s = c->s[k];
      c->x[i][k] = s * ends->move[i];
      if (bulge) c->x[i][k] += 4 * s * (1 - s) * bulge[i];
      if (bent) c->x[i][k] -= s * (1 - s) * ((2 - s) * a[0][i] + (1 + s) * a[1][i]) / 6;
    }
}

/* Does the same as cb_energy_geodesic, and sets `lowered` to the covector of the velocity at q. Fails if the geodesic
 * turns out to be clearly longer than `limit`. */
static cb_status geodesic(const cb_curve_ends *ends, double limit, double *length, double *gradient, double *hessian,
                          double *lowered) {
  cb_curve both[2], *c = NULL, *last = NULL;
  descent s;
  const double tolerance = hessian ? finely : resolved;
  double wanted = 0;
  for (int k = 0; cb_curve_degrees[k]; k++) {
    if (cb_curve_degrees[k] < wanted && cb_curve_degrees[k + 1]) continue;
    c = last == both ? both + 1 : both;
    cb_curve_begin(ends, cb_curve_degrees[k], c);
    if (last)
      cb_curve_prolong(last, c);
    else
      start(ends, NULL, c);
    double rest = 1;
    const cb_status status = minimize(c, hessian != NULL, &s, &rest);
    if (status) return status;
    if (rest <= tolerance) {
      conclude(c, s.y, length, gradient, hessian, lowered);
      return CB_OK;
    }
    if (rest < 0.1 && 2 * c->energy > 1.2 * limit * limit)
      return cb_fail(CB_ERROR_DOMAIN, "the geodesic is longer than the given limit");
    /* the required degree, if the coefficients decrease geometrically */
    wanted = rest < 0.5 ? 2 + 0.9 * (c->degree - 2) * log(tolerance) / log(rest) : 0;
    last = c;
  }
  return cb_fail(CB_ERROR_DOMAIN,
                 "the geodesic is too long for curves of degree %d: expected points closer to each other",
                 CB_CURVE_DEGREE_MAX);
}

cb_status cb_energy_geodesic(const cb_space *g, const double *q, const double *move, double *length, double *gradient,
                             double *hessian, double *u) {
  cb_curve_ends ends;
  double p[D], d, first[2 * D], second[4 * D * D];
  const int n = g->dim;
  if (n > D) return cb_fail(CB_ERROR_DOMAIN, "dimension %d: expected at most %d", n, D);
  cb_status status = find_ends(g, q, move, &ends);
  if (!status) status = geodesic(&ends, INFINITY, &d, first, hessian ? second : NULL, p);
  if (!status && u) status = cb_space_raise(g, q, p, p);
  if (status) return status;
  *length = d;
  if (gradient) memcpy(gradient, first, 2 * (size_t)n * sizeof *gradient);
  if (hessian) memcpy(hessian, second, 4 * (size_t)(n * n) * sizeof *hessian);
  if (u) memcpy(u, p, (size_t)n * sizeof *u);
  return CB_OK;
}

cb_status cb_energy_start(const cb_space *g, const double *q, const double *move, const double *bulge, double *u) {
  cb_curve_ends ends;
  cb_curve both[2], *c = NULL, *last = NULL;
  descent s;
  double d, p[D], first[2 * D], rest = 1;
  if (g->dim > D) return cb_fail(CB_ERROR_DOMAIN, "dimension %d: expected at most %d", g->dim, D);
  cb_status status = find_ends(g, q, move, &ends);
  for (int k = 0; cb_curve_degrees[k] && !status && rest > roughly; k++) {
    c = last == both ? both + 1 : both;
    cb_curve_begin(&ends, cb_curve_degrees[k], c);
    if (last)
      cb_curve_prolong(last, c);
    else
      start(&ends, bulge, c);
    status = minimize(c, false, &s, &rest);
    last = c;
  }
  if (status) return status;
  status = renew(c, true, &s, &(bool){false});
  if (status) return status;
  conclude(c, s.y, &d, first, NULL, p);
  return cb_space_raise(g, q, p, u);
}

/* --- the shortest geodesic --- */

/* Lengths with a smaller relative difference count as equal. */
static const double equal = 1e-10;
/* Images of the end differ by the period of a coordinate. Other images are not tried if a geodesic is shorter than this
 * fraction of the period's length. The metric at each end gives such a length, and the smaller one counts. */
static const double alone = 0.125;

/* Fails if a shorter or equally short geodesic leads to the end with one coordinate shifted by its period, which is the
 * same point. */
static cb_status rivals(const cb_curve_ends *ends, double d) {
  const cb_space *g = ends->g;
  const double *period = g->intrinsic->period;
  const int n = g->dim;
  if (d < g->intrinsic->injectivity) return CB_OK;
  int axes[D], count = 0;
  for (int i = 0; i < n; i++) {
    const int ii = i * (n + 1);
    const double least = fmin(ends->metric[0].g[ii], ends->metric[1].g[ii]);
    if (period[i] > 0 && !(d < alone * period[i] * sqrt(least))) axes[count++] = i;
  }
  for (int image = 1; image < 1 << count; image++) {
    cb_curve_ends other = *ends;
    double length;
    for (int k = 0; k < count; k++)
      if (image >> k & 1) other.move[axes[k]] -= copysign(period[axes[k]], ends->move[axes[k]]);
    if (geodesic(&other, d, &length, NULL, NULL, NULL) == CB_OK && length < d * (1 + equal))
      return cb_fail(CB_ERROR_DOMAIN,
                     "another geodesic is not longer than %.12g, so the shortest one is not unique: expected points "
                     "closer to each other",
                     d);
  }
  return CB_OK;
}

cb_status cb_energy_distance(const cb_space *g, const double *q, const double *y, double *d, double *gradient,
                             double *hessian) {
  const double *period = g->intrinsic ? g->intrinsic->period : NULL;
  cb_curve_ends ends;
  double nearest[D], length, first[2 * D], second[4 * D * D];
  const size_t n2 = 2 * (size_t)g->dim;
  if (g->dim > D) return cb_fail(CB_ERROR_DOMAIN, "dimension %d: expected at most %d", g->dim, D);
  for (int i = 0; i < g->dim; i++) {
    nearest[i] = y[i] - q[i];
    if (period && period[i] > 0 && fabs(nearest[i]) > 0.5 * period[i])
      nearest[i] -= period[i] * rint(nearest[i] / period[i]);
  }
  cb_status status = find_ends(g, q, nearest, &ends);
  if (!status) status = geodesic(&ends, INFINITY, &length, first, hessian ? second : NULL, NULL);
  if (!status && period) status = rivals(&ends, length);
  if (status) return status;
  *d = length;
  if (gradient) memcpy(gradient, first, n2 * sizeof *gradient);
  if (hessian) memcpy(hessian, second, n2 * n2 * sizeof *hessian);
  return CB_OK;
}
