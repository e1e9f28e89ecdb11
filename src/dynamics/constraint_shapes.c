/* The angle and the area of geodesic triangles, from their sides, and in spaces that are given by the metric of one
 * chart. With s = s_K and c = c_K of numerics/numerics_curved.h, sigma_0 half the sum of the three sides, and sigma_i =
 * sigma_0 minus side i:
 *
 *   area    A = 4/|K| atan(|K| P),   P = prod over i = 0..3 of t(sigma_i/2)^(1/2),   t = s/c      (L'Huilier)
 *   angle between sides 1 and 2:   2 atan T,   T^2 = s(sigma_1) s(sigma_2) / (s(sigma_0) s(sigma_3))
 *
 * P and T are differentiated by their logarithms, which are sums of functions of one sigma each:
 *   d log t(x/2)^(1/2) = dx/(2 s(x)),   d log s(x) = c/s dx,   d^2 log s(x) = -dx^2/s^2
 * Small triangles are therefore as accurate as large ones. In a product the angle follows from sums over the factors,
 *   cos(angle) = sum_f <u_f, v_f>/(|u| |v|),   <u_f, v_f> = B_a B_b (2 (F_a + F_b - F_c) - 4 K F_a F_b)
 * This is the law of cosines for the sides a, b along u, v and the side c opposite, with F = s(d/2)^2 and B = d/s(d)
 * for a side of length d (geometry/quadric.h). The formula is smooth even where the points coincide in one factor.
 * Source: Todhunter, Spherical Trigonometry (1886), articles 45 and 102.
 */
#include "dynamics/constraint_private.h"

#include "dynamics/pair_potential.h"
#include "geometry/quadric.h"
#include "numerics/small.h"

#include <math.h>
#include <string.h>

/* Angle and knife edge in spaces that are given by the metric of one chart, from the derivatives of the distance. Let
 * a_i = d_i d(q, x) and b_i = d_i d(q, y) be the unit covectors at the vertex q, A = g^-1 a, B = g^-1 b:
 *
 *   angle   theta = 2 atan(|A - B|/|A + B|),   cos theta = a_i B^i
 *           d_k cos theta = a_ik B^i + b_ik A^i - d_k g_ij A^i B^j,   by x and y: only the mixed derivatives of d
 *   knife edge   of x along the geodesic to y in a surface: 0 = sqrt(det g) (u^0 v^1 - u^1 v^0),   u = -A
 *           d_k u^i = -g^ij (a_jk + d_k g_jl u^l)
 *
 * By the first variation of length, the unit velocity of the geodesic to y is minus the gradient of the distance. The
 * second derivatives of the angle contain third derivatives of the distance, so they are differences of sixth order of
 * the first derivatives. Steps of 0.01 times the shorter side times the sine of the angle give an error of 1e-8.
 * Source: do Carmo, Riemannian Geometry (1992), chapter 9, proposition 2.4. */

enum { D = CB_DIM_MAX, CORNERS = 3 };

/* The metric at a point, its derivatives and its inverse. */
typedef struct local {
  double g[D * D], dg[D * D * D], inverse[D * D], root; /* root: sqrt(det g) */
} local;

static cb_status local_at(const cb_space *g, const double *q, local *m) {
  const int n = g->dim;
  double l[D * D];
  const cb_status status = g->chart->metric(g, q, m->g, m->dg, NULL);
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  if (!cb_cholesky(n, m->g, 0, l))
    return cb_fail(CB_STEP_DOMAIN,
                   "a constraint is at a point where the metric is not positive definite: expected positions inside "
                   "the chart's domain");
  m->root = cb_cholesky_whole_inverse(n, l, m->inverse);
  return CB_OK;
}

static void raise(int n, const local *m, const double *a, double *A) {
  for (int i = 0; i < n; i++) {
    A[i] = 0;
    for (int j = 0; j < n; j++) A[i] += m->inverse[i * n + j] * a[j];
  }
}

/* --- angle --- */

/* The distance d of the vertex and one end, with its derivatives in (vertex, end). */
typedef struct side_distance {
  double d, first[2 * D], second[4 * D * D];
} side_distance;

static cb_status side_to(const cb_space *g, const double *vertex, const double *end, int order, side_distance *s) {
  return cb_pair_distance(g, vertex, end, &s->d, s->first, order ? s->second : NULL);
}

/* The angle and, for order 1, its gradient[3 n] in (end 0, vertex, end 1). */
static cb_status angle_of(const cb_space *g, const local *m, const side_distance *s, int order, double *value,
                          double *gradient) {
  const int n = g->dim;
  double A[2][D], apart = 0, along = 0;
  for (int e = 0; e < 2; e++) raise(n, m, s[e].first, A[e]);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      apart += m->g[i * n + j] * (A[0][i] - A[1][i]) * (A[0][j] - A[1][j]);
      along += m->g[i * n + j] * (A[0][i] + A[1][i]) * (A[0][j] + A[1][j]);
    }
  const double sine = sqrt(apart * along) / 2;
  if (!(sine > 0))
    return cb_fail(CB_STEP_DOMAIN,
                   "the angle of three points on one geodesic has no derivatives: expected other positions");
  *value = 2 * atan2(sqrt(apart), sqrt(along));
  for (int k = 0; order && k < n; k++) {
    double by_vertex = 0;
    for (int i = 0; i < n; i++) {
      by_vertex += s[0].second[i * 2 * n + k] * A[1][i] + s[1].second[i * 2 * n + k] * A[0][i];
      for (int j = 0; j < n; j++) by_vertex -= m->dg[(k * n + i) * n + j] * A[0][i] * A[1][j];
    }
    gradient[n + k] = -by_vertex / sine;
    for (int e = 0; e < 2; e++) {
      double by_end = 0;
      for (int i = 0; i < n; i++) by_end += s[e].second[i * 2 * n + n + k] * A[1 - e][i];
      gradient[2 * e * n + k] = -by_end / sine;
    }
  }
  return CB_OK;
}

/* The gradient after coordinate c of corner p (1: the vertex) was moved by `step`. The caller passes all quantities
 * that do not depend on the moved coordinate. */
static cb_status moved_gradient(const cb_space *g, const double *const *x, int p, int c, double step, const local *at,
                                const side_distance *given, double *gradient) {
  double q[D], value;
  local m = *at;
  side_distance s[2] = {given[0], given[1]};
  cb_status status = CB_OK;
  memcpy(q, x[p], (size_t)g->dim * sizeof *q);
  q[c] += step;
  if (p == 1) status = local_at(g, q, &m);
  for (int e = 0; e < 2 && !status; e++)
    if (p == 1 || p == 2 * e) status = side_to(g, p == 1 ? q : x[1], p == 1 ? x[2 * e] : q, 1, &s[e]);
  return status ? status : angle_of(g, &m, s, 1, &value, gradient);
}

/* The angle at x[1] between the geodesics to x[0] and x[2]. */
static cb_status angle_by_metric(const cb_space *g, const double *const *x, int order, cb_element *out) {
  static const double weight[3] = {45. / 60, -9. / 60, 1. / 60}, part = 0.01;
  const int n = g->dim, size = CORNERS * n;
  local m;
  side_distance s[2];
  double hessian[CORNERS * D][CORNERS * D] = {{0}};
  cb_status status = local_at(g, x[1], &m);
  for (int e = 0; e < 2 && !status; e++) status = side_to(g, x[1], x[2 * e], order, &s[e]);
  if (!status) status = angle_of(g, &m, s, order, &out->value, out->gradient);
  if (status || order < 2) return status;
  for (int j = 0; j < size; j++) {
    const int p = j / n, c = j % n;
    local here;
    status = local_at(g, x[p], &here);
    if (status) return status;
    const double h = part * sin(out->value) * fmin(s[0].d, s[1].d) / sqrt(here.g[c * n + c]);
    for (int k = 1; k <= 3; k++)
      for (int sign = -1; sign <= 1; sign += 2) {
        double gradient[CORNERS * D];
        status = moved_gradient(g, x, p, c, sign * k * h, &m, s, gradient);
        if (status) return status;
        for (int i = 0; i < size; i++) hessian[i][j] += sign * weight[k - 1] / h * gradient[i];
      }
  }
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) out->hessian[i * size + j] = (hessian[i][j] + hessian[j][i]) / 2;
  return CB_OK;
}

/* --- knife edge --- */

cb_status cb_knife_edge_by_metric(const cb_space *g, const double *const *x, int order, cb_element *out) {
  enum { N = 2 };
  double d, first[2 * N], second[4 * N * N], u[N];
  local m;
  cb_status status = local_at(g, x[0], &m);
  if (!status) status = cb_pair_distance(g, x[0], x[1], &d, first, order > 1 ? second : NULL);
  if (status || !order) return status;
  raise(N, &m, first, u);
  for (int i = 0; i < N; i++) u[i] = -u[i];
  out->gradient[0] = -m.root * u[1];
  out->gradient[1] = m.root * u[0];
  for (int k = 0; order > 1 && k < 2 * N; k++) { /* derivatives in x, then in y */
    double low[N], du[N], growth = 0;            /* growth: d_k log sqrt(det g) */
    for (int i = 0; i < N; i++) {
      low[i] = -second[i * 2 * N + k];
      for (int j = 0; k < N && j < N; j++) {
        low[i] -= m.dg[(k * N + i) * N + j] * u[j];
        growth += 0.5 * m.inverse[i * N + j] * m.dg[(k * N + i) * N + j];
      }
    }
    raise(N, &m, low, du);
    out->hessian[0 * 2 * N + k] = -m.root * (du[1] + growth * u[1]);
    out->hessian[1 * 2 * N + k] = m.root * (du[0] + growth * u[0]);
  }
  return CB_OK;
}

enum { K = CB_COORD_MAX, SIDES = 3, FACTORS = CB_FACTOR_MAX };

/* sigma_i is the sum of half[i][j] times side j. */
static const double half[4][SIDES] = {{.5, .5, .5}, {-.5, .5, .5}, {.5, -.5, .5}, {.5, .5, -.5}};

/* The derivatives in the sides of the sum over i of w_i f(sigma_i), where first[i] = w_i f' and second[i] = w_i f''. */
static void in_sides(const double *first, const double *second, double *gradient, double *hessian) {
  for (int a = 0; a < SIDES; a++) {
    gradient[a] = 0;
    for (int i = 0; i < 4; i++) gradient[a] += first[i] * half[i][a];
    for (int b = 0; b < SIDES; b++) {
      hessian[a * SIDES + b] = 0;
      for (int i = 0; i < 4; i++) hessian[a * SIDES + b] += second[i] * half[i][a] * half[i][b];
    }
  }
}

/* Converts the derivatives of log X (l first, ll second) to those of F(X), given f1 = X F' and f2 = X (X F')'. hessian
 * may be NULL. */
static void by_logarithm(double f1, double f2, const double *l, const double *ll, double *gradient, double *hessian) {
  for (int a = 0; a < SIDES; a++) {
    gradient[a] = f1 * l[a];
    for (int b = 0; hessian && b < SIDES; b++) hessian[a * SIDES + b] = f2 * l[a] * l[b] + f1 * ll[a * SIDES + b];
  }
}

static void half_sums(const double *d, double *sigma) {
  for (int i = 0; i < 4; i++) sigma[i] = half[i][0] * d[0] + half[i][1] * d[1] + half[i][2] * d[2];
}

static cb_status area_by_sides(const cb_space *g, const double *d, double *value, double *gradient, double *hessian) {
  const double curvature = g->factor[0].curvature, size = fabs(curvature);
  const cb_trig trig = cb_trig_of(curvature);
  double sigma[4], first[4], second[4], l[SIDES], ll[SIDES * SIDES], product = 1;
  half_sums(d, sigma);
  for (int i = 0; i < 4; i++) {
    double s = cb_trig_s(trig, sigma[i]), c = cb_trig_c(trig, sigma[i]);
    product *= cb_trig_s(trig, sigma[i] / 2) / cb_trig_c(trig, sigma[i] / 2);
    first[i] = 0.5 / s;
    second[i] = -0.5 * c / (s * s);
    if (!(s > 0))
      return cb_fail(CB_STEP_DOMAIN,
                     "the area of a triangle with sides %g, %g, %g has no derivatives: expected a triangle with three "
                     "different corners that are not on one geodesic",
                     d[0], d[1], d[2]);
  }
  double P = sqrt(product), z = size * P, turn = 1 + z * z;
  *value = size > 0 ? 4 / size * atan(z) : 4 * P;
  if (!gradient) return CB_OK;
  in_sides(first, second, l, ll);
  by_logarithm(4 * P / turn, 4 * P * (1 - z * z) / (turn * turn), l, ll, gradient, hessian);
  return CB_OK;
}

/* The angle between sides 0 and 1. */
static cb_status angle_by_sides(const cb_space *g, const double *d, double *value, double *gradient, double *hessian) {
  static const double weight[4] = {-0.5, 0.5, 0.5, -0.5};
  const cb_trig trig = cb_trig_of(g->factor[0].curvature);
  double sigma[4], s[4], first[4], second[4], l[SIDES], ll[SIDES * SIDES];
  half_sums(d, sigma);
  for (int i = 0; i < 4; i++) {
    s[i] = cb_trig_s(trig, sigma[i]);
    first[i] = weight[i] * cb_trig_c(trig, sigma[i]) / s[i];
    second[i] = -weight[i] / (s[i] * s[i]);
    if (!(s[i] > 0))
      return cb_fail(CB_STEP_DOMAIN,
                     "the angle of a triangle with sides %g, %g, %g has no derivatives: expected other positions", d[0],
                     d[1], d[2]);
  }
  double sine = sqrt(s[1] * s[2]), cosine = sqrt(s[0] * s[3]), T = sine / cosine, turn = 1 + T * T;
  *value = 2 * atan2(sine, cosine);
  if (!gradient) return CB_OK;
  in_sides(first, second, l, ll);
  by_logarithm(2 * T / turn, 2 * T * (1 - T * T) / (turn * turn), l, ll, gradient, hessian);
  return CB_OK;
}

/* The element f(d_0, d_1, d_2) of three points, where d_s is the distance of the points ends[s]. */
static cb_status by_sides(const cb_space *g, cb_distance_function *f, const int ends[SIDES][2], const double *const *x,
                          int order, cb_element *out) {
  const int k = g->k, size = SIDES * k;
  double d[SIDES], buffer[SIDES][CB_PAIR_MAX], square[SIDES][CB_PAIR_MAX * CB_PAIR_MAX];
  double(*const first)[CB_PAIR_MAX] = buffer, (*const second)[CB_PAIR_MAX * CB_PAIR_MAX] = square;
  double f_d[SIDES], f_dd[SIDES * SIDES];
  for (int s = 0; s < SIDES; s++) {
    double *const by_ends = order ? first[s] : NULL, *const twice = order > 1 ? second[s] : NULL;
    cb_status status = cb_pair_distance(g, x[ends[s][0]], x[ends[s][1]], &d[s], by_ends, twice);
    if (status) return status;
  }
  cb_status status = f(g, d, &out->value, order ? f_d : NULL, order > 1 ? f_dd : NULL);
  if (status || !order) return status;

  double d_x[SIDES][SIDES * K] = {{0}};
  for (int s = 0; s < SIDES; s++)
    for (int end = 0; end < 2; end++)
      for (int a = 0; a < k; a++) {
        d_x[s][ends[s][end] * k + a] = first[s][end * k + a];
        out->gradient[ends[s][end] * k + a] += f_d[s] * first[s][end * k + a];
      }
  if (order < 2) return CB_OK;
  for (int a = 0; a < size; a++) {
    double row[SIDES] = {0}; /* d(f_d)/dx_a */
    for (int s = 0; s < SIDES; s++)
      for (int r = 0; r < SIDES; r++) row[s] += f_dd[s * SIDES + r] * d_x[r][a];
    for (int b = 0; b < size; b++)
      out->hessian[a * size + b] = row[0] * d_x[0][b] + row[1] * d_x[1][b] + row[2] * d_x[2][b];
  }
  for (int s = 0; s < SIDES; s++)
    for (int i = 0; i < 2 * k; i++)
      for (int j = 0; j < 2 * k; j++) {
        int a = ends[s][i / k] * k + i % k, b = ends[s][j / k] * k + j % k;
        out->hessian[a * size + b] += f_d[s] * second[s][i * 2 * k + j];
      }
  return CB_OK;
}

/* --- the angle in a product --- */

/* B(z) = asin(sqrt z)/sqrt(z (1-z)) with B' and B'': b_n = b_(n-1) 2n/(2n+1); 2 z (1-z) B' = 1 - (1-2z) B. */
static void arc_ratio(double z, double b[3]) {
  if (fabs(z) < 0.25) { /* 40 terms have an error of 1e-20 */
    double c[41] = {1};
    for (int n = 1; n <= 40; n++) c[n] = c[n - 1] * 2 * n / (2 * n + 1);
    b[0] = b[1] = b[2] = 0;
    for (int n = 40; n >= 0; n--) {
      b[2] = b[2] * z + 2 * b[1];
      b[1] = b[1] * z + b[0];
      b[0] = b[0] * z + c[n];
    }
    return;
  }
  double root = sqrt(fabs(z) * (1 - z)), two = 2 * z * (1 - z);
  b[0] = (z > 0 ? atan2(sqrt(z), sqrt(1 - z)) : asinh(sqrt(-z))) / root;
  b[1] = (1 - (1 - 2 * z) * b[0]) / two;
  b[2] = (2 * b[0] - 3 * (1 - 2 * z) * b[1]) / two;
}

/* B(K F) as a jet, with d^2 = 4 F B^2 (1 - K F) = (d/s(d/2))^2 F. */
static cb_jet ratio(const cb_jet *F, double curvature) {
  double b[3];
  arc_ratio(curvature * F->v, b);
  return cb_jet_compose(F, b[0], curvature * b[1], curvature * curvature * b[2]);
}

static cb_jet square(const cb_jet *F, const cb_jet *B, double curvature) {
  cb_jet BB = cb_jet_mul(B, B), FBB = cb_jet_mul(F, &BB), rest = cb_jet_scale(F, -curvature);
  rest = cb_jet_shift(&rest, 1);
  FBB = cb_jet_mul(&FBB, &rest);
  return cb_jet_scale(&FBB, 4);
}

/* The angle as a function of F[factor][side]. The variable of (factor, side) is number SIDES*factor + side. */
static cb_status angle_by_factors(const cb_space *g, double F[FACTORS][SIDES], cb_jet *angle) {
  const int n = SIDES * g->n_factors;
  cb_jet dot = cb_jet_constant(n, 0), aa = dot, bb = dot;
  for (int f = 0; f < g->n_factors; f++) {
    const double curvature = g->factor[f].curvature;
    cb_jet side[SIDES];
    for (int s = 0; s < SIDES; s++) side[s] = cb_jet_variable(n, SIDES * f + s, F[f][s]);
    cb_jet Ba = ratio(&side[0], curvature), Bb = ratio(&side[1], curvature), BB = cb_jet_mul(&Ba, &Bb);
    cb_jet sum = cb_jet_add(&side[0], &side[1]), product = cb_jet_mul(&side[0], &side[1]);
    sum = cb_jet_sub(&sum, &side[2]);
    sum = cb_jet_scale(&sum, 2);
    product = cb_jet_scale(&product, -4 * curvature);
    sum = cb_jet_add(&sum, &product);
    sum = cb_jet_mul(&sum, &BB);
    dot = cb_jet_add(&dot, &sum);
    cb_jet a = square(&side[0], &Ba, curvature), b = square(&side[1], &Bb, curvature);
    aa = cb_jet_add(&aa, &a);
    bb = cb_jet_add(&bb, &b);
  }
  cb_jet size = cb_jet_mul(&aa, &bb), cosine = dot;
  if (!(fabs(dot.v) < sqrt(size.v)))
    return cb_fail(CB_STEP_DOMAIN,
                   "the angle of three points on one geodesic has no derivatives: expected other positions");
  size = cb_jet_sqrt(&size);
  cosine = cb_jet_div(&dot, &size);
  *angle = cb_jet_acos(&cosine);
  return CB_OK;
}

static const int angle_ends[SIDES][2] = {{1, 0}, {1, 2}, {0, 2}}; /* particle 1 is the vertex */

/* F_x = I (x - y)/2 = -F_y,  F_xx = I/2 = F_yy = -F_xy. */
static cb_status angle_in_embedding(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                    const double *const *x, int order, cb_element *out) {
  const cb_space *g = c->space;
  const int k = g->embedding, size = SIDES * k, n = SIDES * g->n_factors;
  double F[FACTORS][SIDES], e[SIDES][K], F_x[FACTORS * SIDES][SIDES * K] = {{0}};
  (void)row;
  (void)element;
  (void)t;
  for (int s = 0; s < SIDES; s++)
    for (int f = 0; f < g->n_factors; f++) {
      const cb_factor factor = g->factor[f];
      const int o = factor.offset;
      F[f][s] = 0.25 * cb_factor_chord(factor, x[angle_ends[s][0]] + o, x[angle_ends[s][1]] + o, e[s] + o);
      for (int a = o; a < o + factor.count; a++)
        for (int end = 0; end < 2; end++)
          F_x[SIDES * f + s][angle_ends[s][end] * k + a] = (end ? -0.5 : 0.5) * g->form[a] * e[s][a];
    }
  cb_jet angle;
  cb_status status = angle_by_factors(g, F, &angle);
  if (status) return status;
  out->value = angle.v;
  for (int a = 0; order && a < size; a++)
    for (int v = 0; v < n; v++) out->gradient[a] += angle.g[v] * F_x[v][a];
  if (order < 2) return CB_OK;
  for (int a = 0; a < size; a++)
    for (int v = 0; v < n; v++) {
      double sum = 0;
      for (int w = 0; w < n; w++) sum += angle.h[cb_jet_packed(v, w)] * F_x[w][a];
      for (int b = 0; b < size; b++) out->hessian[a * size + b] += sum * F_x[v][b];
    }
  for (int f = 0; f < g->n_factors; f++)
    for (int s = 0; s < SIDES; s++)
      for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
          for (int a = g->factor[f].offset; a < g->factor[f].offset + g->factor[f].count; a++)
            out->hessian[(angle_ends[s][i] * k + a) * size + angle_ends[s][j] * k + a] +=
                (i == j ? 0.5 : -0.5) * g->form[a] * angle.g[SIDES * f + s];
  return CB_OK;
}

/* --- the classes --- */

static cb_status angle(const cb_constraints *c, const cb_constraint *row, int element, double t, const double *const *x,
                       int order, cb_element *out) {
  if (c->space->intrinsic) return angle_by_metric(c->space, x, order, out);
  if (c->space->n_factors == 1) return by_sides(c->space, angle_by_sides, angle_ends, x, order, out);
  return cb_element_by_embedding(angle_in_embedding, c, row, element, t, x, order, out);
}

static cb_status area(const cb_constraints *c, const cb_constraint *row, int element, double t, const double *const *x,
                      int order, cb_element *out) {
  static const int ends[SIDES][2] = {{0, 1}, {1, 2}, {2, 0}};
  (void)row;
  (void)element;
  (void)t;
  return by_sides(c->space, area_by_sides, ends, x, order, out);
}

const cb_constraint_class cb_constraint_angle = {.name = "angle", .element = angle};
const cb_constraint_class cb_constraint_area = {.name = "area", .element = area, .sized = true};
