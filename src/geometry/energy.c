/* Geodesics as minima of the energy of polynomial curves:
 *
 *   E(x_0, ..., x_N) = 1/2 sum_a w_a g(x_a)(v_a, v_a),  v_a = sum_j D_aj x_j;  s_a, w_a: Lobatto's on [0, 1]
 *   dE/dx_j = 0 inside, by Newton's method;   d = sqrt(2 E),  dd = dE/d,  ddd = (S - dd dd^T)/d
 *   S = H_ee - H_ei H_ii^-1 H_ie: the Hessian of E in the two ends e when the inner points i follow
 *
 * E and its derivatives in the ends are of order 2N, twice that of the curve itself: a curve resolved to 3e-7 gives
 * them to 1e-13. H_ii is positive <=> no conjugate point. Degrees are raised until the curve's highest Legendre
 * coefficients are small.
 * Source: Hall & Leok, Spectral variational integrators (2015), section 3, doi:10.1007/s00211-014-0679-0; Milnor, Morse
 * Theory (1963), section 15.
 */
#include "geometry/energy.h"

#include "geometry/numeric.h"
#include <math.h>
#include <string.h>

enum { D = CB_DIM_MAX, N_MAX = 24, POINTS = N_MAX + 1, SIZE = POINTS * D, ITERATIONS = 24 };

static const int degrees[] = {6, 10, 16, N_MAX};
enum { DEGREES = sizeof degrees / sizeof *degrees };

/* |step|^2/2E of Newton's method at which what is left changes E and its gradient by less than rounding. */
static const double settled = 1e-18;
/* |step|^2/E at which the curve is near enough to tell whether its degree is. */
static const double seen = 1e-6;
/* Highest coefficients of the velocity, relative; their square is the error of E. */
static const double resolved = 3e-7;

/* Points stand inner ones first, then the start, then the end, as their coordinates do in gradient and Hessian. */
typedef struct curve {
  const cb_geometry *g;
  const double *q;
  int n, degree;
  double s[POINTS], w[POINTS], legendre[POINTS], sign[POINTS]; /* nodes on [0, 1], weights, P_N and its sign there */
  double d[POINTS][POINTS];
  double x[POINTS][D]; /* less q */
  double v[POINTS][D];
  double energy, gradient[SIZE], h[SIZE][SIZE];
} curve;

/* Lobatto's nodes by Newton's method on (1 - t^2) P_N', and differentiation at them. */
static void nodes(curve *c) {
  const int N = c->degree;
  for (int a = 0; a <= N; a++) {
    double t = -cos(M_PI * a / N), p = 1;
    for (int k = 0; k < 10; k++) {
      double before = 1, now = t;
      for (int j = 2; j <= N; j++) {
        const double next = ((2 * j - 1) * t * now - (j - 1) * before) / j;
        before = now;
        now = next;
      }
      const double step = (t * now - before) / ((N + 1) * now);
      t -= step;
      p = now;
      if (fabs(step) < 1e-13) break;
    }
    const int at = a == 0 ? N - 1 : a == N ? N : a - 1;
    c->legendre[at] = p;
    c->sign[at] = a % 2 ? -1 : 1;
    c->s[at] = (1 + t) / 2;
    c->w[at] = 1 / (N * (N + 1) * p * p);
  }
  for (int a = 0; a <= N; a++) {
    double sum = 0;
    for (int j = 0; j <= N; j++) {
      if (j == a) continue;
      c->d[a][j] = c->legendre[a] / (c->legendre[j] * (c->s[a] - c->s[j]));
      sum += c->d[a][j];
    }
    c->d[a][a] = -sum;
  }
}

static void velocities(curve *c) {
  for (int a = 0; a <= c->degree; a++)
    for (int i = 0; i < c->n; i++) {
      double sum = 0;
      for (int j = 0; j <= c->degree; j++) sum += c->d[a][j] * c->x[j][i];
      c->v[a][i] = sum;
    }
}

static cb_status energy_only(curve *c) {
  double sum = 0;
  velocities(c);
  for (int a = 0; a <= c->degree; a++) {
    double at[D], gij[D * D];
    for (int i = 0; i < c->n; i++) at[i] = c->q[i] + c->x[a][i];
    const cb_status status = cb_numeric_metric(c->g, at, gij, NULL, NULL);
    if (status) return status;
    for (int i = 0; i < c->n; i++)
      for (int j = 0; j < c->n; j++) sum += c->w[a] * gij[i * c->n + j] * c->v[a][i] * c->v[a][j];
  }
  c->energy = sum / 2;
  return isfinite(sum) ? CB_OK : cb_fail(CB_ERROR_DOMAIN, "a curve that is not finite");
}

/* Energy, gradient and the upper triangle of the Hessian; convex: without the terms that may be negative. */
static cb_status expand(curve *c, bool convex) {
  const int n = c->n, N = c->degree, size = (N + 1) * n;
  memset(c->gradient, 0, sizeof c->gradient);
  for (int r = 0; r < size; r++) memset(c->h[r], 0, (size_t)size * sizeof(double));
  velocities(c);
  c->energy = 0;
  for (int a = 0; a <= N; a++) {
    double at[D], gij[D * D], dg[D * D * D], ddg[D * D * D * D], p[D], turn[D][D], row[D][SIZE];
    const double *v = c->v[a], w = c->w[a];
    for (int i = 0; i < n; i++) at[i] = c->q[i] + c->x[a][i];
    const cb_status status = cb_numeric_metric(c->g, at, gij, dg, ddg);
    if (status) return status;
    for (int i = 0; i < n; i++) {
      p[i] = 0;
      for (int j = 0; j < n; j++) {
        p[i] += gij[i * n + j] * v[j];
        turn[i][j] = 0; /* w d_j g_ik v^k */
        for (int k = 0; k < n; k++) turn[i][j] += w * dg[(j * n + i) * n + k] * v[k];
      }
      c->energy += w * p[i] * v[i] / 2;
    }
    const int own = a * n;
    for (int l = 0; l < n; l++)
      for (int i = 0; i < n; i++) c->gradient[own + l] += turn[i][l] * v[i] / 2;
    /* row[i]: w d(g v)_i/dx, without and with the turn of g */
    for (int i = 0; i < n; i++) {
      for (int k = 0; k <= N; k++)
        for (int l = 0; l < n; l++) row[i][k * n + l] = w * gij[i * n + l] * c->d[a][k];
      for (int l = 0; l < n && !convex; l++) row[i][own + l] += turn[i][l];
    }
    for (int j = 0; j <= N; j++)
      for (int i = 0; i < n; i++) {
        const double factor = c->d[a][j];
        double *restrict out = c->h[j * n + i];
        const double *restrict in = row[i];
        c->gradient[j * n + i] += w * factor * p[i];
        for (int r = j * n; r < size; r++) out[r] += factor * in[r];
      }
    for (int l = 0; l < n && !convex; l++) {
      for (int j = 0; j <= N; j++)
        for (int i = 0; i < n; i++) c->h[own + l][j * n + i] += c->d[a][j] * turn[i][l];
      for (int m = 0; m < n; m++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++) sum += ddg[((m * n + l) * n + i) * n + j] * v[i] * v[j];
        c->h[own + l][own + m] += w * sum / 2;
      }
    }
  }
  return isfinite(c->energy) ? CB_OK : cb_fail(CB_ERROR_DOMAIN, "a curve that is not finite");
}

/* Cholesky's factor of H_ii, transposed, in place: H_ii = U^T U, and the columns of the ends along with it, U^-T H_ie;
 * the ends' own block becomes the Hessian S of the ends. */
static bool factor(curve *c) {
  const int inner = (c->degree - 1) * c->n, size = inner + 2 * c->n;
  double diagonal[SIZE];
  for (int k = 0; k < inner; k++) diagonal[k] = c->h[k][k];
  for (int k = 0; k < inner; k++) {
    double *restrict pivot = c->h[k];
    if (!(pivot[k] > 1e-4 * diagonal[k])) return false;
    const double scale = 1 / sqrt(pivot[k]);
    for (int r = k; r < size; r++) pivot[r] *= scale;
    for (int m = k + 1; m < size; m++) {
      double *restrict row = c->h[m];
      const double by = pivot[m];
      for (int r = m; r < size; r++) row[r] -= by * pivot[r];
    }
  }
  return true;
}

/* y = U^-T gradient; |y|^2 is Newton's decrement. */
static double forward(const curve *c, double *y) {
  const int inner = (c->degree - 1) * c->n;
  double square = 0;
  memcpy(y, c->gradient, (size_t)inner * sizeof *y);
  for (int k = 0; k < inner; k++) {
    y[k] /= c->h[k][k];
    square += y[k] * y[k];
    for (int r = k + 1; r < inner; r++) y[r] -= c->h[k][r] * y[k];
  }
  return square;
}

static void backward(const curve *c, double *y) {
  const int inner = (c->degree - 1) * c->n;
  for (int r = inner - 1; r >= 0; r--) {
    for (int m = r + 1; m < inner; m++) y[r] -= c->h[r][m] * y[m];
    y[r] /= c->h[r][r];
  }
}

/* The two highest Legendre coefficients of the velocity that the nodes tell, relative. */
static bool is_resolved(const curve *c) {
  const int N = c->degree;
  double size = 0, high = 0;
  for (int i = 0; i < c->n; i++) {
    double top[2] = {0}, most = 0, scale = 0;
    for (int a = 0; a <= N; a++) {
      const double t = 2 * c->s[a] - 1;
      double before = 1, now = t; /* P_0, P_1 */
      for (int j = 2; j <= N - 1; j++) {
        const double next = ((2 * j - 1) * t * now - (j - 1) * before) / j;
        before = now;
        now = next;
      }
      top[0] += c->w[a] * (2 * N - 1) * now * c->v[a][i];
      top[1] += c->w[a] * (2 * N - 3) * before * c->v[a][i];
      most = fmax(most, fabs(c->v[a][i]));
    }
    scale = most;
    size = fmax(size, scale);
    high = fmax(high, fmax(fabs(top[0]), fabs(top[1])));
  }
  return high <= resolved * size;
}

/* Newton's method with halved steps. At the end h is factored, y = U^-T gradient; it stops short where the curve is
 * seen to need a higher degree. */
static cb_status minimize(curve *c, double *y, bool *enough) {
  const cb_status lost = CB_ERROR_DOMAIN;
  for (int iteration = 0; iteration < ITERATIONS; iteration++) {
    if (expand(c, false)) return lost;
    const bool minimum = factor(c);
    if (!minimum && (expand(c, true) || !factor(c))) return lost;
    const double square = forward(c, y), before = c->energy;
    if (!(before > 0)) return lost;
    if (square <= seen * before && !(*enough = is_resolved(c))) return CB_OK;
    if (square <= settled * 2 * before) return minimum ? CB_OK : cb_fail(lost, "a conjugate point");
    double step[SIZE], start[POINTS][D];
    memcpy(step, y, sizeof step);
    backward(c, step);
    memcpy(start, c->x, sizeof start);
    double lambda = 1;
    for (;; lambda /= 2) {
      if (lambda < 0.01) return cb_fail(lost, "no descent of the energy");
      for (int a = 0; a < c->degree - 1; a++)
        for (int i = 0; i < c->n; i++) c->x[a][i] = start[a][i] - lambda * step[a * c->n + i];
      if (square < 1e-8 * before) break; /* near the minimum, where E says no more */
      if (!energy_only(c) && c->energy <= before - 0.1 * lambda * square) break;
    }
  }
  return cb_fail(lost, "no minimum of the energy after %d steps", ITERATIONS);
}

/* The curve at the nodes of another degree. */
static void prolong(const curve *from, curve *to) {
  const int N = from->degree;
  for (int b = 0; b < to->degree - 1; b++) {
    double sum[D] = {0}, total = 0;
    for (int a = 0; a <= N; a++) { /* barycentric: weights sign_a sqrt(w_a), up to a factor */
      const double apart = to->s[b] - from->s[a];
      if (fabs(apart) < 1e-14) {
        memcpy(sum, from->x[a], sizeof sum);
        total = 1;
        break;
      }
      const double weight = from->sign[a] * sqrt(from->w[a]) / apart;
      for (int i = 0; i < from->n; i++) sum[i] += weight * from->x[a][i];
      total += weight;
    }
    for (int i = 0; i < from->n; i++) to->x[b][i] = sum[i] / total;
  }
}

/* d and its derivatives; first order in what is left of the gradient inside. */
static void conclude(const curve *c, const double *y, double *length, double *gradient, double *hessian, double *u) {
  const int n = c->n, inner = (c->degree - 1) * n, ends = 2 * n;
  double square = 0, first[2 * D], d;
  for (int m = 0; m < inner; m++) square += y[m] * y[m];
  d = sqrt(2 * c->energy - square);
  for (int e = 0; e < ends; e++) {
    first[e] = c->gradient[inner + e];
    for (int m = 0; m < inner; m++) first[e] -= c->h[m][inner + e] * y[m];
    first[e] /= d;
  }
  *length = d;
  if (gradient) memcpy(gradient, first, (size_t)ends * sizeof *first);
  for (int e = 0; e < ends && hessian; e++)
    for (int f = e; f < ends; f++)
      hessian[e * ends + f] = hessian[f * ends + e] = (c->h[inner + e][inner + f] - first[e] * first[f]) / d;
  for (int i = 0; u && i < n; i++) u[i] = -first[i] * d; /* lowered */
}

/* u = g^-1 p */
static bool raise(const cb_geometry *g, const double *q, double *u) { return !cb_geometry_raise(g, q, u, u); }

cb_status cb_energy_geodesic(const cb_geometry *g, const double *q, const double *move, double *length,
                             double *gradient, double *hessian, double *u) {
  curve both[2], *c = NULL, *last = NULL;
  double y[SIZE];
  for (int k = 0; k < DEGREES; k++, last = c) {
    c = &both[k % 2];
    c->g = g;
    c->q = q;
    c->n = g->dim;
    c->degree = degrees[k];
    nodes(c);
    for (int a = 0; a <= c->degree; a++)
      for (int i = 0; i < c->n; i++) c->x[a][i] = c->s[a] * move[i];
    if (last) prolong(last, c);
    bool enough = false;
    const cb_status status = minimize(c, y, &enough);
    if (status) return status;
    if (!enough) continue;
    double momentum[D];
    if (u) {
      double d, first[2 * D];
      conclude(c, y, &d, first, NULL, momentum);
      if (!raise(g, q, momentum)) return CB_ERROR_DOMAIN;
      memcpy(u, momentum, (size_t)g->dim * sizeof *u);
    }
    conclude(c, y, length, gradient, hessian, NULL);
    return CB_OK;
  }
  return cb_fail(CB_ERROR_DOMAIN, "a geodesic too long for curves of degree %d", N_MAX);
}

/* --- the shortest --- */

/* Lengths nearer to each other than this, relative, are equal. */
static const double equal = 1e-10;
/* No image is looked at for geodesics shorter than this part of the period, measured at both ends. */
static const double alone = 0.125;

/* Other images of y by the period of each coordinate: is there a shorter geodesic, or another as short? */
static cb_status rivals(const cb_geometry *g, const double *q, const double *y, const double *move, double d) {
  const double *period = g->intrinsic->period;
  double here[D * D], there[D * D];
  const int n = g->dim;
  cb_status status = cb_numeric_metric(g, q, here, NULL, NULL);
  if (!status) status = cb_numeric_metric(g, y, there, NULL, NULL);
  if (status) return status;
  int axes[D], count = 0;
  for (int i = 0; i < n; i++)
    if (period[i] > 0 && !(d < alone * period[i] * sqrt(fmin(here[i * n + i], there[i * n + i])))) axes[count++] = i;
  for (int image = 1; image < 1 << count; image++) {
    double other[D], length;
    memcpy(other, move, (size_t)n * sizeof *other);
    for (int k = 0; k < count; k++)
      if (image >> k & 1) other[axes[k]] -= copysign(period[axes[k]], move[axes[k]]);
    if (cb_energy_geodesic(g, q, other, &length, NULL, NULL, NULL) == CB_OK && length < d * (1 + equal))
      return cb_fail(CB_ERROR_DOMAIN, "another geodesic is no longer than %.12g", d);
  }
  return CB_OK;
}

cb_status cb_energy_distance(const cb_geometry *g, const double *q, const double *y, double *d, double *gradient,
                             double *hessian) {
  const double *period = g->intrinsic ? g->intrinsic->period : NULL;
  double move[D], length, first[2 * D], second[4 * D * D];
  const size_t ends = 2 * (size_t)g->dim;
  for (int i = 0; i < g->dim; i++) {
    move[i] = y[i] - q[i];
    if (period && period[i] > 0 && fabs(move[i]) > 0.5 * period[i]) move[i] -= period[i] * rint(move[i] / period[i]);
  }
  cb_status status = cb_energy_geodesic(g, q, move, &length, gradient ? first : NULL, hessian ? second : NULL, NULL);
  if (!status && period) status = rivals(g, q, y, move, length);
  if (status) return status;
  *d = length;
  if (gradient) memcpy(gradient, first, ends * sizeof *gradient);
  if (hessian) memcpy(hessian, second, ends * ends * sizeof *hessian);
  return CB_OK;
}
