/* Walls that are planes or expressions.
 *
 * The signed distance d of x from the totally geodesic plane through c with the unit normal n, where I = diag(form) and
 * K is the curvature of the factor (d for K > 0, K = 0 and K < 0):
 *   u = <x, n>, in flat space <x - c, n>,   d = asin(sqrt(K) u)/sqrt(K) | u | asinh(sqrt(-K) u)/sqrt(-K),
 *   d_x = I n/sqrt(1 - K u^2)
 * In a moved frame, n and c are expressed in that frame. n may then be as large as exp(distance of c), while u is small
 * if the particle is near the plane. On a sphere sqrt(1 - K u^2) is the length, in radii, of x without its part along
 * n.
 *
 * Expressions f(q, t, r) in the coordinates q of a chart of the world, the time t and the particle's radius r have the
 * derivatives f_x = f_q q_x (constraint_private.h). Source: Ratcliffe, Foundations of Hyperbolic Manifolds (2006),
 * sections 2.1 and 3.2, doi:10.1007/978-0-387-47322-2.
 */
#include "dynamics/constraint_private.h"

#include "dynamics/gap.h"

#include <math.h>
#include <string.h>

enum { K = CB_COORD_MAX };

/* The rest of the distance (plane.beyond) is added only if |u| is above this. */
static const double huge_normal = 1e100;
/* Frames farther than this from the plane, in radii, are moved to this distance, and the rest of the distance is added
 * to the result.
 */
static const double longest = 300;

static cb_status step_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

/* The plane relative to a frame: its normal, a point of it, and the distance that is added to the distance computed
 * from the normal. */
typedef struct plane {
  double normal[K], foot[K], beyond;
} plane;

static double rate_of(const cb_space *g) {
  double rate = 0;
  for (int f = 0; f < g->n_factors; f++)
    if (g->factor[f].curvature < 0) rate = sqrt(-g->factor[f].curvature);
  return rate;
}

static void seen_from(const cb_gaps *gaps, const cb_wall *wall, const cb_origin *origin, plane *p) {
  const cb_space *g = gaps->space;
  p->beyond = 0;
  if (origin == &gaps->identity || memcmp(origin, &gaps->identity, sizeof *origin) == 0) {
    memcpy(p->normal, wall->normal, sizeof p->normal);
    memcpy(p->foot, wall->foot, sizeof p->foot);
    return;
  }
  cb_origin there, relative;
  cb_isometry to, back, change;
  double normal[K] = {0}, base[K];
  cb_origin_at(g, wall->foot, &there);
  cb_origin_isometry(g, &there, &to);
  cb_isometry_inverse(g, &to, &back);
  memcpy(normal, wall->local, sizeof normal);
  cb_isometry_point(g, &back, wall->foot, base);
  cb_origin_relative(g, origin, &there, &relative);
  const double rate = rate_of(g);
  if (rate > 0 && rate * relative.length > longest) {
    p->beyond = relative.length - longest / rate;
    relative.length = longest / rate;
  }
  cb_origin_isometry(g, &relative, &change);
  cb_isometry_vector(g, &change, normal, p->normal);
  cb_isometry_point(g, &change, base, p->foot);
}

/* The signed distance of x from the plane, in the embedding. */
static void plane_distance(const cb_space *g, int f, const plane *p, const double *x, double *d, double *gradient) {
  const cb_factor factor = g->factor[f];
  const double k = factor.curvature, rate = sqrt(fabs(k));
  const double *n = p->normal + factor.offset, *at = x + factor.offset;
  double u = 0, across = 0, slope;
  if (gradient) memset(gradient, 0, (size_t)g->embedding * sizeof *gradient);
  for (int a = 0; a < factor.count; a++)
    u += g->form[factor.offset + a] * (k == 0 ? at[a] - p->foot[factor.offset + a] : at[a]) * n[a];
  if (k > 0) {
    for (int a = 0; a < factor.count; a++) across += (at[a] - u * n[a]) * (at[a] - u * n[a]);
    across = rate * sqrt(across);
    *d = atan2(rate * u, across) / rate;
    slope = across > 0 ? 1 / across : 0; /* at the pole every direction leads to the plane */
  } else if (k < 0) {
    *d = asinh(rate * u) / rate;
    if (p->beyond > 0 && fabs(u) > huge_normal) *d += copysign(p->beyond, u);
    slope = 1 / hypot(1, rate * u);
  } else {
    *d = u;
    slope = 1;
  }
  for (int a = 0; gradient && a < factor.count; a++)
    gradient[factor.offset + a] = slope * g->form[factor.offset + a] * n[a];
}

/* In a chart space: gradient[k] = J^T of the gradient in the embedding. */
static void pull(const cb_space *g, const double *J, const double *from, double *to) {
  for (int i = 0; i < g->dim; i++) {
    to[i] = 0;
    for (int a = 0; a < g->embedding; a++) to[i] += J[a * g->dim + i] * from[a];
  }
}

cb_status cb_gap_plane(const cb_gaps *gaps, const cb_wall *wall, int i, const double *x, int order, double *d,
                       double *gradient) {
  const cb_space *g = gaps->space;
  plane p;
  seen_from(gaps, wall, cb_gap_origin(gaps, i), &p);
  if (!g->chart) {
    plane_distance(g, wall->factor, &p, x, d, order ? gradient : NULL);
    return CB_OK;
  }
  double point[K], J[K * CB_DIM_MAX], slope[K];
  const cb_status status = g->chart->to_point(g, x, point, order ? J : NULL);
  if (status) return step_status(status);
  plane_distance(g, wall->factor, &p, point, d, order ? slope : NULL);
  if (order) pull(g, J, slope, gradient);
  return CB_OK;
}

/* --- expressions --- */

/* A branch is valid where its guard is not negative, and up to `border` beyond that, relative to the coordinates. Where
 * a resting particle has sunk into the wall, the branch is valid up to `sunk` times the depth -f farther: this is the
 * width that a kink with a slope of 0.1 has at that depth. */
static const double border = 1e-9, sunk = 10;

static bool holds(const cb_gap_formula *f, int n, const double *at) {
  double slope[CB_Q_MAX + 2], squares = 0, size = 1;
  const double guard = cb_expression_gradient(f->guard, at, n, slope);
  if (guard >= 0) return true;
  for (int i = 0; i < n; i++) {
    squares += slope[i] * slope[i];
    size = fmax(size, fabs(at[i]));
  }
  const double depth = f->whole ? fmax(0, -cb_expression_value(f->whole, at)) : 0;
  return guard >= -(border * size + sunk * depth) * sqrt(squares);
}

/* Computes the value of the expression and, for order 1, its derivatives in the coordinates q and in t. */
static cb_status differentiate(const cb_gap_formula *f, int n, const double *q, double t, double r, int order,
                               cb_gap_value *out, double *first) {
  double at[CB_Q_MAX + 2];
  memcpy(at, q, (size_t)n * sizeof *at);
  at[n] = t;
  at[n + 1] = r;
  out->gap = order ? cb_expression_gradient(f->expression, at, n + 1, first) : cb_expression_value(f->expression, at);
  bool finite = isfinite(out->gap);
  for (int i = 0; order && i <= n; i++) finite = finite && isfinite(first[i]);
  if (!finite)
    return cb_fail(
        CB_STEP_DOMAIN,
        "the expression of a wall or event is not finite at this point: use a smaller `step` or another expression");
  out->rate_t = order ? first[n] : 0;
  if (f->guard) out->active = holds(f, n, at);
  return CB_OK;
}

cb_status cb_gap_expression(const cb_gaps *gaps, const cb_gap_formula *f, double t, const double *x, int order,
                            cb_gap_value *out) {
  const cb_space *g = gaps->space;
  const double r = gaps->system->radius[f->particle];
  const bool in_chart = g->chart && !g->intrinsic &&
                        f->chart != g->chart; /* true in a chart space if the expression uses another chart */
  double first[CB_Q_MAX + 1], point[K], J[K * CB_DIM_MAX], slope[K];
  if (g->chart && !gaps->moves && !in_chart) return differentiate(f, g->dim, x, t, r, order, out, out->gradient);
  cb_status status;
  cb_coordinates q;
  cb_isometry world;
  if (in_chart) {
    status = step_status(g->chart->to_point(g, x, point, order ? J : NULL));
    if (status) return status;
  }
  cb_origin_isometry(g, cb_gap_origin(gaps, f->particle), &world);
  status = cb_coordinates_at(g, f->chart, &world, in_chart ? point : x, order, &q);
  if (!status) status = differentiate(f, q.size, q.q, t, r, order, out, first);
  if (status || !order) return status;
  double *gradient = in_chart ? slope : out->gradient;
  for (int a = 0; a < g->embedding; a++) {
    gradient[a] = 0;
    for (int c = 0; c < q.size; c++) gradient[a] += first[c] * q.first[c][a];
  }
  if (in_chart) pull(g, J, slope, out->gradient);
  return CB_OK;
}
