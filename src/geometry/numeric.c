/* The numerical geometry of one chart: its metric inside the domain, the exponential map, the distance, and the
 * shortest geodesic between two points by Newton's method on the exponential map.
 *
 *   g = c c^T,  a^-1 x by LU   (numerics/small.h)
 *   F(u) = exp_q(u) - y = 0,   u <- u - lambda (dq1/du)^-1 F,   |F| in the metric at y
 * g is the metric, c its lower triangular factor, and a any square matrix. u is the velocity at q, q1 = exp_q(u) the
 * end, and lambda <= 1 the damping factor. If this iteration fails, the search starts from curves that bulge to the
 * sides of the straight line of coordinates and are shortened as in energy.c. Then it follows the straight line itself,
 * exp_q(u(s)) = q + s (y - q), by u' = (dq1/du)^-1 (y - q) with the fraction s of the line.
 *
 * y stands for all its images under the periods of the coordinates; the two nearest are tried in each coordinate. Where
 * the curvature is positive on the scale of the geodesic that was found, the search also starts from velocities that
 * are rotated to its sides. A geodesic with a conjugate point is no minimum and is ignored. The shortest geodesic that
 * was found is certainly the shortest of all in two cases: if the curvature is not positive and the domain is simply
 * connected, or if the geodesic is shorter than the injectivity radius. Otherwise a shorter geodesic may be missed.
 * Source: do Carmo, Riemannian Geometry (1992), chapters 3, 7 and 13; Deuflhard, Newton Methods for Nonlinear Problems
 * (2004), chapters 3 and 5, doi:10.1007/978-3-642-23899-4.
 */
#include "geometry/numeric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- metric, exponential map and distance --- */

enum { D = CB_DIM_MAX };

/* A metric is not positive definite if a pivot is smaller than this, relative to the diagonal entry. */
static const double singular = 1e-14;

const char *cb_numeric_position(int n, const double *q, char text[CB_POSITION_TEXT]) {
  int used = snprintf(text, CB_POSITION_TEXT, "(");
  for (int i = 0; i < n && used < CB_POSITION_TEXT; i++)
    used += snprintf(text + used, (size_t)(CB_POSITION_TEXT - used), i ? ", %.10g" : "%.10g", q[i]);
  if (used < CB_POSITION_TEXT) snprintf(text + used, (size_t)(CB_POSITION_TEXT - used), ")");
  return text;
}

cb_status cb_numeric_factor(const cb_space *g, const double *q, const double *gij, double c[D * D]) {
  char at[CB_POSITION_TEXT];
  if (cb_cholesky(g->dim, gij, singular, c)) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN, "the metric is not positive definite at %s", cb_numeric_position(g->dim, q, at));
}

cb_status cb_numeric_metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  cb_status status = g->intrinsic && g->intrinsic->inside ? g->intrinsic->inside(g, q) : CB_OK;
  return status ? status : g->chart->metric(g, q, gij, dg, ddg);
}

bool cb_numeric_divide(int n, const double *a, int m, double *x) {
  double lu[D * D], y[2 * D][D];
  int pivot[D];
  memcpy(lu, a, (size_t)(n * n) * sizeof *lu);
  if (cb_dense_factor(n, lu, pivot)) return false;
  for (int j = 0; j < m; j++) {
    for (int i = 0; i < n; i++) y[j][i] = x[i * m + j];
    cb_dense_solve(n, lu, pivot, y[j]);
    for (int i = 0; i < n; i++)
      if (!isfinite(y[j][i])) return false;
  }
  for (int j = 0; j < m; j++)
    for (int i = 0; i < n; i++) x[i * m + j] = y[j][i];
  return true;
}

/* --- the exponential map, with Jacobi fields and parallel transport, by integration ---
 *
 *   q'' = -Gamma(q', q'),  w' = -Gamma(q', w),  from time 0 to 1   (numeric_flow.c)
 * q is the position, w a transported vector, and Gamma are the Christoffel symbols.
 *
 * Source: do Carmo, Riemannian Geometry (1992), chapters 2, 3 and 5.
 */

/* The tolerance for the estimated error of the extrapolation. The estimate is the error of the second column from the
 * end. The result is the last column, whose error is smaller by about two digits. */
static const double flow_tolerance = 1e-13;

cb_status cb_numeric_exp(const cb_space *g, const double *q, const double *u, double *q1, double *u1, cb_jacobi *j) {
  cb_geodesic_end end;
  cb_status status = cb_flow_geodesic(g, q, u, NULL, j != NULL, flow_tolerance, &end);
  if (status) return status;
  size_t size = (size_t)g->dim * sizeof *q;
  if (q1) memcpy(q1, end.q, size);
  if (u1) memcpy(u1, end.u, size);
  if (j) *j = end.jacobi;
  return CB_OK;
}

cb_status cb_numeric_transport(const cb_space *g, const double *q, const double *u, const double *w, double *w1) {
  cb_geodesic_end end;
  cb_status status = cb_flow_geodesic(g, q, u, w, false, flow_tolerance, &end);
  if (!status) memcpy(w1, end.w, (size_t)g->dim * sizeof *w);
  return status;
}

/* --- the distance of two points q and y, with derivatives, from the shortest geodesic and its Jacobi fields ---
 *
 *   d = |u|, u = log_q y;   p = g(q) u, p1 = g(y) u1 the momenta at the ends, u1 the velocity at y
 *   d_q = -p/d,  d_y = p1/d
 *   from dy = Q_q dq + Q_u du,  du1 = U_q dq + U_u du (as in cb_jacobi):
 *     du/dy = Q_u^-1,  du/dq = -Q_u^-1 Q_q,  du1/dy = U_u Q_u^-1
 *   d_yy = (d(p1)/dy)/d - p1 p1^T/d^3,   d(p1)_i/dy_k = d_k g_ij u1^j + g_ij du1^j/dy_k
 *   d_qy = -g(q) Q_u^-1/d + p p1^T/d^3,  d_qq = -(dp/dq)/d - p p^T/d^3,   likewise at q
 * g is the metric, and d_q and d_y are the derivatives of d with respect to q and y.
 *
 * Source: do Carmo, Riemannian Geometry (1992), chapters 5 and 9.
 */

static void lower(int n, const double *metric, const double *v, double *p) {
  for (int i = 0; i < n; i++) {
    p[i] = 0;
    for (int j = 0; j < n; j++) p[i] += metric[i * n + j] * v[j];
  }
}

/* Computes out_ik = d_k g_ij v^j + g_ij m^j_k with dg = d_k g_ij. */
static void momentum_derivative(int n, const double *metric, const double *dg, const double *v, const double *m,
                                double out[D][D]) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += dg[(k * n + i) * n + j] * v[j] + metric[i * n + j] * m[j * n + k];
      out[i][k] = sum;
    }
}

cb_status cb_numeric_distance_of(const cb_space *g, const double *q1, const double *q2, const cb_shortest *path,
                                 double *gradient, double *hessian) {
  int n = g->dim, n2 = 2 * n;
  double d = path->length, p[D], p1[D], gr[2 * D];
  if (!(d > 0))
    return cb_fail(CB_ERROR_DOMAIN,
                   "the distance of coincident points has no derivatives: expected two different points");
  lower(n, path->metric0, path->u, p);
  lower(n, path->metric1, path->end.u, p1);
  for (int i = 0; i < n; i++) {
    gr[i] = -p[i] / d;
    gr[n + i] = p1[i] / d;
  }
  if (hessian) {
    double dg0[D * D * D], dg1[D * D * D], metric[D * D], at_q[D][D], at_y[D][D];
    double inverse[D * D] = {0}, by_q[D * D], by_y[D * D] = {0}, h[4 * D * D];
    const cb_jacobi *j = &path->end.jacobi;
    cb_status status = cb_numeric_metric(g, q1, metric, dg0, NULL);
    if (!status) status = cb_numeric_metric(g, q2, metric, dg1, NULL);
    if (status) return status;
    for (int i = 0; i < n; i++) inverse[i * n + i] = 1;
    memcpy(by_q, j->q_q, sizeof by_q);
    if (!cb_numeric_divide(n, j->q_u, n, inverse) || !cb_numeric_divide(n, j->q_u, n, by_q))
      return cb_fail(CB_ERROR_DOMAIN,
                     "the distance of conjugate points has no derivatives: expected points closer to each other");
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        double sum = 0;
        for (int m = 0; m < n; m++) sum += j->u_u[i * n + m] * inverse[m * n + k];
        by_y[i * n + k] = sum;
        by_q[i * n + k] = -by_q[i * n + k];
      }
    momentum_derivative(n, path->metric0, dg0, path->u, by_q, at_q);
    momentum_derivative(n, path->metric1, dg1, path->end.u, by_y, at_y);
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n; k++) {
        double cross = 0;
        for (int m = 0; m < n; m++) cross -= path->metric0[i * n + m] * inverse[m * n + k];
        h[i * n2 + k] = -(0.5 * (at_q[i][k] + at_q[k][i]) + p[i] * p[k] / d / d) / d;
        h[(n + i) * n2 + n + k] = (0.5 * (at_y[i][k] + at_y[k][i]) - p1[i] * p1[k] / d / d) / d;
        h[i * n2 + n + k] = h[(n + k) * n2 + i] = (cross + p[i] * p1[k] / d / d) / d;
      }
    memcpy(hessian, h, (size_t)(n2 * n2) * sizeof *h);
  }
  if (gradient) memcpy(gradient, gr, (size_t)n2 * sizeof *gr);
  return CB_OK;
}

static cb_status length_of(const cb_space *g, const double *q, const double *u, double *length) {
  double metric[D * D], p[D], square = 0;
  const cb_status status = cb_numeric_metric(g, q, metric, NULL, NULL);
  if (status) return status;
  lower(g->dim, metric, u, p);
  for (int i = 0; i < g->dim; i++) square += p[i] * u[i];
  *length = sqrt(square);
  return CB_OK;
}

cb_status cb_numeric_distance(const cb_space *g, const double *q1, const double *q2, double *d, double *gradient,
                              double *hessian) {
  if (cb_energy_distance(g, q1, q2, d, gradient, hessian) == CB_OK) return CB_OK;
  double u[D];
  const bool known = g->intrinsic && g->intrinsic->log;
  cb_shortest path;
  cb_status status = known ? g->intrinsic->log(g, q1, q2, u) : CB_OK;
  if (status) return status;
  if (known && !gradient && !hessian) return length_of(g, q1, u, d);
  status = cb_numeric_shortest(g, q1, q2, known ? u : NULL, &path);
  if (!status && (gradient || hessian)) status = cb_numeric_distance_of(g, q1, q2, &path, gradient, hessian);
  if (!status) *d = path.length;
  return status;
}

/* --- the shortest geodesic --- */

/* EVALUATIONS_MAX evaluations of the metric take some seconds. Near the border of a domain, geodesics need very many
 * evaluations. */
enum { IMAGES = 8, ITERATIONS = 20, FOUND_MAX = 24, EVALUATIONS_MAX = 1000000 };

/* coarse: the tolerance of integration during the iteration. fine: the tolerance of the last evaluations, which begin
 * when |F|/|u| is below `near`. */
static const double coarse = 1e-7, fine = 1e-13, near = 1e-5;
/* The maximum size of the last correction, relative to u. The Jacobi fields are from before this correction. */
static const double solved = 1e-10;
/* Lengths with a smaller relative difference count as equal, because of the accuracy of integration. */
static const double equal = 1e-10;
/* Velocities with a smaller relative difference belong to one geodesic. */
static const double same = 1e-6;
/* Coarse solutions with a smaller relative difference count as one geodesic, because the tolerance does not show which
 * of them is shorter. */
static const double alike = 1e-3;
/* If the curvature times length^2 is below this, no other geodesic is searched for nearby. At a conjugate point this
 * product is at least pi^2. */
static const double bent = 1.5;
/* The tangent of the angle by which the starts of search_sideways are rotated. */
static const double turn = 1;
/* A search stops at this multiple of the shortest length that was found before. */
static const double too_long = 3;
/* Images of the end differ by the period of a coordinate. Other images are not tried if a geodesic is shorter than this
 * fraction of the period's length. The metric at each end gives such a length, and the smaller one counts. */
static const double alone = 0.125;

/* The coarse solutions that were found, one per geodesic. */
typedef struct found {
  int count;
  struct {
    double u[D], target[D], length;
  } at[FOUND_MAX];
  double shortest; /* the smallest length in `at` */
} found;

static double norm(int n, const double *metric, const double *v) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += metric[i * n + j] * v[i] * v[j];
  return sqrt(sum > 0 ? sum : 0);
}

typedef struct problem {
  const cb_space *g;
  int n;
  const double *q;
  double metric0[D * D], metric1[D * D]; /* the metric at q and at y */
  int evaluations;                       /* number of evaluations of the metric in searches */
} problem;

/* Computes F at u, its size in the metric at y, and the end of the geodesic. Returns CB_ERROR_DOMAIN if the geodesic
 * leaves the chart, or, with a coarse tolerance, after more than EVALUATIONS_MAX evaluations. */
static cb_status residual(problem *p, const double *target, const double *u, double tolerance, cb_geodesic_end *end,
                          double *f, double *size) {
  if (tolerance >= coarse && p->evaluations > EVALUATIONS_MAX)
    return cb_fail(CB_ERROR_DOMAIN,
                   "no geodesic was found in %d evaluations of the metric: expected points closer to each other",
                   EVALUATIONS_MAX);
  cb_status status = cb_flow_geodesic(p->g, p->q, u, NULL, true, tolerance, end);
  p->evaluations += end->evaluations;
  if (status) return status;
  for (int i = 0; i < p->n; i++) f[i] = end->moved[i] - target[i];
  *size = norm(p->n, p->metric1, f);
  return CB_OK;
}

/* Finds the velocity u of the geodesic from q with displacement `target` (cb_geodesic_end.moved), to the coarse
 * tolerance, by damped Newton steps that start from u. Returns false if no solution with |u| <= limit is found. u is
 * changed only on success. */
static bool newton(problem *p, const double *target, int iterations, double limit, double *u, cb_geodesic_end *end) {
  int n = p->n;
  double at[D], f[D], size = 0, floor = 1e-3 * near * norm(n, p->metric0, target);
  memcpy(at, u, (size_t)n * sizeof *u);
  if (residual(p, target, at, coarse, end, f, &size)) return false;
  for (int iteration = 0; iteration < iterations; iteration++) {
    if (size <= fmax(near * norm(n, p->metric0, at), floor)) {
      memcpy(u, at, (size_t)n * sizeof *u);
      return true;
    }
    double step[D];
    memcpy(step, f, sizeof step);
    if (!cb_numeric_divide(n, end->jacobi.q_u, 1, step)) return false;
    double before = norm(n, p->metric0, at), length = norm(n, p->metric0, step);
    double maximum = 2 * fmax(before, norm(n, p->metric0, target)), lambda = length > maximum ? maximum / length : 1;
    for (;; lambda /= 2) {
      double next[D], f1[D], size1 = 0;
      cb_geodesic_end end1;
      if (lambda < 0.05) return false;
      for (int i = 0; i < n; i++) next[i] = at[i] - lambda * step[i];
      if (residual(p, target, next, coarse, &end1, f1, &size1)) continue;
      if (!(size1 < (1 - 0.25 * lambda) * size)) continue;
      if (norm(n, p->metric0, next) > limit) return false;
      memcpy(at, next, sizeof at);
      memcpy(f, f1, sizeof f);
      size = size1;
      *end = end1;
      break;
    }
  }
  return false;
}

/* Finds u by continuation along the straight line of coordinates from q to the target. */
static bool continuation(problem *p, const double *target, double *u, cb_geodesic_end *end) {
  int n = p->n;
  double at[D] = {0}, s = 0, ds = 0.25;
  cb_geodesic_end here = {0};
  for (int i = 0; i < n; i++) here.jacobi.q_u[i * n + i] = 1;
  while (s < 1) {
    double to = fmin(1, s + ds), part[D], next[D];
    for (int i = 0; i < n; i++) {
      part[i] = to * target[i];
      next[i] = (to - s) * target[i];
    }
    if (!cb_numeric_divide(n, here.jacobi.q_u, 1, next)) return false;
    for (int i = 0; i < n; i++) next[i] += at[i];
    if (newton(p, part, 5, INFINITY, next, end)) {
      memcpy(at, next, sizeof at);
      here = *end;
      s = to;
      ds *= 2;
    } else if ((ds /= 2) < 1.0 / 128) {
      return false;
    }
  }
  memcpy(u, at, (size_t)n * sizeof *u);
  return true;
}

/* Improves a coarse solution to round-off. */
static bool polish(problem *p, const double *target, const double *u, cb_shortest *out) {
  int n = p->n;
  double f[D], size;
  memcpy(out->u, u, (size_t)n * sizeof *u);
  for (int k = 0; k < 6; k++) {
    if (residual(p, target, out->u, fine, &out->end, f, &size)) return false;
    if (out->end.conjugate) return false;
    if (!cb_numeric_divide(n, out->end.jacobi.q_u, 1, f)) return false;
    for (int i = 0; i < n; i++) out->u[i] -= f[i];
    out->length = norm(n, p->metric0, out->u);
    if (norm(n, p->metric0, f) > solved * out->length) continue;
    /* The last correction is also applied to the velocity at the end. */
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) out->end.u[i] -= out->end.jacobi.u_u[i * n + j] * f[j];
    return true;
  }
  return false;
}

/* Looks for a geodesic without conjugate points to the image of y with displacement `target`, from the velocity
 * `start`. If that fails and `thoroughly` is true, looks along the straight line of coordinates. Adds the geodesic to
 * `all` if it is new. Returns whether it was found. */
static bool search(problem *p, const double *target, const double *start, bool thoroughly, found *all) {
  int n = p->n;
  double u[D], difference[D];
  cb_geodesic_end end;
  memcpy(u, start, (size_t)n * sizeof *u);
  bool success = newton(p, target, ITERATIONS, too_long * all->shortest, u, &end) && !end.conjugate;
  if (!success) success = thoroughly && continuation(p, target, u, &end) && !end.conjugate;
  if (!success || all->count == FOUND_MAX) return success;
  double length = norm(n, p->metric0, u);
  for (int k = 0; k < all->count; k++) {
    for (int i = 0; i < n; i++) difference[i] = u[i] - all->at[k].u[i];
    if (norm(n, p->metric0, difference) < alike * length) return true;
  }
  memcpy(all->at[all->count].u, u, sizeof u);
  memcpy(all->at[all->count].target, target, sizeof u);
  all->at[all->count++].length = length;
  all->shortest = fmin(all->shortest, length);
  return true;
}

/* Returns the largest sectional curvature of coordinate planes at q, at an image of y, and at three points between
 * them. Returns 0 if all are negative, and infinity if one cannot be computed. */
static double curvature(const problem *p, const double *target) {
  double maximum = 0;
  for (int part = 0; part < 5; part++) {
    double at[D];
    cb_curvature c;
    for (int i = 0; i < p->n; i++) at[i] = p->q[i] + 0.25 * part * target[i];
    if (cb_curvature_at(p->g, at, &c)) return INFINITY;
    for (int i = 0; i < p->n; i++)
      for (int j = 0; j < i; j++) maximum = fmax(maximum, c.sectional[i][j]);
  }
  return maximum;
}

/* Searches from velocities that are u rotated to its two sides, in each plane of u and a coordinate axis. */
static void search_sideways(problem *p, const double *target, const double *u, found *all) {
  int n = p->n;
  double uu = norm(n, p->metric0, u);
  for (int axis = 0; axis < n; axis++) {
    double side[D] = {0}, along = 0, start[D];
    side[axis] = 1;
    for (int i = 0; i < n; i++) along += p->metric0[axis * n + i] * u[i];
    for (int i = 0; i < n; i++) side[i] -= along * u[i] / (uu * uu);
    double size = norm(n, p->metric0, side);
    if (size * size < 0.3 * p->metric0[axis * (n + 1)]) continue; /* nearly along u: the other axes suffice */
    for (int sign = -1; sign <= 1; sign += 2) {
      for (int i = 0; i < n; i++) start[i] = (u[i] + sign * turn * uu / size * side[i]) / sqrt(1 + turn * turn);
      search(p, target, start, false, all);
    }
  }
}

/* Searches for geodesics around a hole of the domain, from curves that bulge to the sides of the straight line of
 * coordinates. The bulge is the smallest that keeps the curve inside the domain. */
static void search_around(problem *p, const double *target, found *all) {
  /* the direction of the bulge is -1, 0 or 1 in each coordinate */
  const int n = p->n, ways = n == 3 ? 27 : n == 2 ? 9 : 3;
  const double length = norm(n, p->metric0, target);
  for (int way = 0; way < ways; way++) {
    double side[D], start[D], bulge[D], along = 0;
    for (int i = 0, rest = way; i < n; i++, rest /= 3) side[i] = rest % 3 - 1;
    const double whole = norm(n, p->metric0, side);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) along += p->metric0[i * n + j] * side[i] * target[j];
    for (int i = 0; i < n; i++) side[i] -= along * target[i] / (length * length);
    const double size = norm(n, p->metric0, side);
    if (!(size > 0.5 * whole)) continue; /* nearly along the line: the other directions suffice */
    for (double height = 0.25; height < 3; height *= 2) {
      for (int i = 0; i < n; i++) bulge[i] = side[i] * height * length / size;
      if (cb_energy_start(p->g, p->q, target, bulge, start)) continue;
      search(p, target, start, false, all);
      break;
    }
  }
}

/* Writes y - q for the images of y to target, first the image that is nearest in the chart. Returns their number. */
static int images(const problem *p, const double *y, double target[IMAGES][D]) {
  int n = p->n, count = 1;
  const double *period = p->g->intrinsic ? p->g->intrinsic->period : NULL;
  double shift[D] = {0};
  for (int i = 0; i < n; i++) {
    double d = y[i] - p->q[i];
    target[0][i] = d;
    if (!period || !(period[i] > 0)) continue;
    target[0][i] = fabs(d) <= 0.5 * period[i] ? d : d - period[i] * rint(d / period[i]);
    shift[i] = target[0][i] > 0 ? -period[i] : period[i];
  }
  for (int i = 0; i < n; i++) {
    if (shift[i] == 0) continue;
    for (int k = 0; k < count; k++) {
      memcpy(target[count + k], target[k], sizeof target[k]);
      target[count + k][i] += shift[i];
    }
    count *= 2;
  }
  return count;
}

/* Returns whether a geodesic is so short that no geodesic to another image can be as short. */
static bool short_of_periods(const problem *p, double length) {
  if (!p->g->intrinsic || length < p->g->intrinsic->injectivity) return true;
  for (int i = 0; i < p->n; i++) {
    double period = p->g->intrinsic->period[i], g = fmin(p->metric0[i * p->n + i], p->metric1[i * p->n + i]);
    if (period > 0 && !(length < alone * period * sqrt(g))) return false;
  }
  return true;
}

/* Finds the displacement `target` from q to the image of y that is nearest to the end of the geodesic with the velocity
 * u, a guess. Returns false if this geodesic leaves the chart. */
static bool image_of_guess(const problem *p, const double *y, const double *u, double *target) {
  cb_geodesic_end end;
  if (cb_flow_geodesic(p->g, p->q, u, NULL, false, coarse, &end)) return false;
  for (int i = 0; i < p->n; i++) {
    double period = p->g->intrinsic ? p->g->intrinsic->period[i] : 0;
    target[i] = y[i] - p->q[i];
    if (period > 0) target[i] -= period * rint((target[i] - end.moved[i]) / period);
  }
  return true;
}

/* Computes the metric at both ends; fails if one of them is outside the domain. */
static cb_status set_up(problem *p, const cb_space *g, const double *q, const double *y) {
  double factor[D * D];
  *p = (problem){.g = g, .n = g->dim, .q = q};
  cb_status status = cb_numeric_metric(g, q, p->metric0, NULL, NULL);
  if (!status) status = cb_numeric_factor(g, q, p->metric0, factor);
  if (!status) status = cb_numeric_metric(g, y, p->metric1, NULL, NULL);
  if (!status) status = cb_numeric_factor(g, y, p->metric1, factor);
  return status;
}

/* Finds the geodesics to which the starts converge. Later starts are used only if the geodesics from earlier starts may
 * not be sufficient. */
static void search_all(problem *p, const double *y, const double *guess, found *all) {
  double target[IMAGES][D], wanted[D];
  int count = images(p, y, target), first = 0;
  *all = (found){.shortest = INFINITY};
  bool guessed = guess && image_of_guess(p, y, guess, wanted) && search(p, wanted, guess, false, all);
  if (!guessed) {
    if (!search(p, target[0], target[0], false, all)) search_around(p, target[0], all);
    if (!all->count) search(p, target[0], target[0], true, all);
    first = 1;
  }
  if (!all->count || !short_of_periods(p, all->shortest))
    for (int k = first; k < count; k++) search(p, target[k], target[k], !all->count, all);
  if (!all->count) search_sideways(p, target[0], target[0], all);
  if (guessed || !all->count) return;
  if (p->g->intrinsic && all->shortest < p->g->intrinsic->injectivity) return;
  int shortest = 0;
  for (int k = 1; k < all->count; k++)
    if (all->at[k].length < all->at[shortest].length) shortest = k;
  double u[D];
  memcpy(u, all->at[shortest].u, sizeof u);
  memcpy(wanted, all->at[shortest].target, sizeof wanted);
  if (curvature(p, wanted) * all->shortest * all->shortest > bent) search_sideways(p, wanted, u, all);
}

cb_status cb_numeric_shortest(const cb_space *g, const double *q, const double *y, const double *guess,
                              cb_shortest *out) {
  problem p;
  int n = g->dim;
  cb_status status = set_up(&p, g, q, y);
  if (status) return status;
  double target[IMAGES][D], rival = INFINITY;
  cb_shortest best = {.length = INFINITY}, one;
  bool coincide = true;
  images(&p, y, target);
  for (int i = 0; i < n; i++) coincide &= target[0][i] == 0;
  if (coincide) {
    status = cb_flow_geodesic(g, q, target[0], NULL, true, fine, &best.end);
    if (status) return status;
    best.length = 0;
  } else {
    found all;
    search_all(&p, y, guess, &all);
    for (int k = 0; k < all.count; k++) {
      if (all.at[k].length > (1 + alike) * all.shortest && isfinite(best.length)) continue;
      if (!polish(&p, all.at[k].target, all.at[k].u, &one)) continue;
      double difference[D];
      for (int i = 0; i < n; i++) difference[i] = one.u[i] - best.u[i];
      if (isfinite(best.length) && norm(n, p.metric0, difference) < same * best.length) continue;
      rival = fmin(rival, fmax(one.length, best.length));
      if (one.length < best.length) best = one;
    }
  }
  char from[CB_POSITION_TEXT], to[CB_POSITION_TEXT];
  if (!isfinite(best.length))
    return cb_fail(CB_ERROR_DOMAIN,
                   "no shortest geodesic was found from %s to %s: it may be too long or bend too much for Newton's "
                   "method, have a conjugate point, or leave the chart; expected points closer to each other%s",
                   cb_numeric_position(n, q, from), cb_numeric_position(n, y, to),
                   p.evaluations > EVALUATIONS_MAX ? "; the search reached its limit of evaluations" : "");
  if (rival - best.length <= equal * best.length)
    return cb_fail(
        CB_ERROR_DOMAIN,
        "from %s to %s there is more than one shortest geodesic (length %.12g): expected points closer to each other",
        cb_numeric_position(n, q, from), cb_numeric_position(n, y, to), best.length);
  *out = best;
  memcpy(out->metric0, p.metric0, sizeof p.metric0);
  memcpy(out->metric1, p.metric1, sizeof p.metric1);
  return CB_OK;
}

cb_status cb_numeric_log(const cb_space *g, const double *q, const double *y, bool guess, double *u, cb_jacobi *j) {
  cb_shortest path;
  cb_status status = cb_numeric_shortest(g, q, y, guess ? u : NULL, &path);
  if (status) return status;
  memcpy(u, path.u, (size_t)g->dim * sizeof *u);
  if (j) *j = path.end.jacobi;
  return CB_OK;
}
