/* The angle at a particle between the geodesics to two others. In spaces of one factor it follows from the sides of the
 * triangle, with the notation of dynamics/constraint_charts.c:
 *
 *   angle between sides 1 and 2 (d_0 and d_1):   2 atan T,   T^2 = s(sigma_1) s(sigma_2) / (s(sigma_0) s(sigma_3))
 *
 * T is differentiated by its logarithm: d log s(x) = c/s dx, d^2 log s(x) = -dx^2/s^2. In a product the angle follows
 * from sums over the factors,
 *   cos(angle) = sum_f <u_f, v_f>/(|u| |v|),   <u_f, v_f> = B_a B_b (2 (F_a + F_b - F_c) - 4 K F_a F_b)
 * Here u and v are the vectors from the vertex along the sides a and b, and have the lengths of these sides. u_f and
 * v_f are their parts in factor f, and K is the curvature of this factor. This is the law of cosines with the opposite
 * side c, where F = s(d/2)^2 and B = d/s(d) for a side of length d (geometry/quadric.h). The formula is smooth even
 * where the points coincide in one factor. Source: Todhunter, Spherical Trigonometry (1886), articles 45 and 102.
 *
 * In spaces that are given by the metric of one chart the angle follows from the derivatives of the distance. Let d_i
 * be the derivative by coordinate i of the vertex q, d(q, x) and d(q, y) the distances of the ends x and y, and g the
 * metric at q. a_i = d_i d(q, x) and b_i = d_i d(q, y) are unit covectors, A = g^-1 a, B = g^-1 b:
 *   theta = 2 atan(|A - B|/|A + B|),   cos theta = a_i B^i
 *   d_k cos theta = a_ik B^i + b_ik A^i - d_k g_ij A^i B^j
 * In the derivatives by x and y only the mixed derivatives of d contribute. The second derivatives contain third
 * derivatives of the distance, so they are differences of sixth order of the first derivatives. For the angle, steps of
 * 0.01 times the shorter side times the sine of the angle give an error of 1e-8. For the cosine, the steps are 0.01
 * times the shorter side.
 *
 * The angle has no derivatives where the three points are on one geodesic; its cosine is smooth there, and potentials
 * such as the bending energy of a straight chain use the cosine.
 */
#include "dynamics/builder_private.h"

#include "dynamics/pair_potential_private.h"
#include "geometry/quadric.h"
#include "numerics/numerics_curved.h"

#include <math.h>
#include <string.h>

extern const cb_constraint_class cb_constraint_angle;

typedef struct keys {
  const cb_node *at, *between, *target, *name;
} keys;

static const cb_param table[] = {
    CB_CONSTRAINT_KEY(keys, "at", at, NULL, "", "the particle at the vertex"),
    CB_CONSTRAINT_KEY(keys, "between", between, NULL, "", "the two particles at the ends of the angle"),
    CB_CONSTRAINT_TARGET(keys, "angle", target, ""),
    CB_CONSTRAINT_NAME(keys, name),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static const double pi = 3.14159265358979323846;

cb_status cb_builder_angle(cb_builder *b, const char *name, int i, int vertex, int j, cb_target angle) {
  cb_constraint row = {
      .class = &cb_constraint_angle, .name = name, .elements = 1, .width = 3, .particle = (int[]){i, vertex, j}};
  cb_status status = cb_builder_check_particles(b, "angle", 3, row.particle);
  if (!status && !b->space->intrinsic) status = cb_builder_check_factors(b, "angle", CB_FACTOR_MAX);
  if (!status) status = cb_builder_check_range("angle", "value", angle, 0, pi);
  return status ? status : cb_builder_add_targeted(b, &row, &angle);
}

static cb_status read(const cb_constraint_entry *e, const void *params) {
  const keys *p = params;
  int vertex = -1, ends[2] = {-1, -1};
  cb_target angle;
  cb_status status = cb_constraint_read_particle(e, p->at, &vertex);
  if (!status) status = cb_constraint_read_particles(e, "between", p->between, 2, 2, ends);
  if (!status) status = cb_target_read(p->target, "angle", "> 0", &angle);
  if (status) return status;
  return cb_constraint_placed(e, cb_builder_angle(e->builder, e->name, ends[0], vertex, ends[1], angle), e->map);
}

enum { D = CB_DIM_MAX, CORNERS = 3, K = CB_COORD_MAX, SIDES = CB_TRIANGLE_SIDES, FACTORS = CB_FACTOR_MAX };

/* --- from the metric of a chart --- */

/* The distance d of the vertex and one end, with its derivatives by the coordinates of the vertex and then of the
 * end. */
typedef struct side_distance {
  double d, first[2 * D], second[4 * D * D];
} side_distance;

static cb_status side_to(const cb_space *g, const double *vertex, const double *end, int order, side_distance *s) {
  return cb_pair_distance(g, vertex, end, &s->d, s->first, order ? s->second : NULL);
}

/* The metric at the vertex and the distances of the two ends from the vertex. `cosine` says whether the cosine is
 * computed instead of the angle. */
typedef struct corner {
  cb_local_metric m;
  side_distance s[2];
  bool cosine;
} corner;

/* Computes the angle, or its cosine. For order > 0 also computes its gradient[3*dim] by the coordinates of end 0, of
 * the vertex and of end 1, in this order. */
static cb_status angle_of(const cb_space *g, const corner *at, int order, double *value, double *gradient) {
  const int n = g->dim;
  const cb_local_metric *m = &at->m;
  const side_distance *s = at->s;
  double A[2][D], apart = 0, along = 0;
  for (int e = 0; e < 2; e++) cb_local_metric_raise(n, m, s[e].first, A[e]);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      apart += m->g[i * n + j] * (A[0][i] - A[1][i]) * (A[0][j] - A[1][j]);
      along += m->g[i * n + j] * (A[0][i] + A[1][i]) * (A[0][j] + A[1][j]);
    }
  const double sine = sqrt(apart * along) / 2;
  if (!at->cosine && !(sine > 0))
    return cb_fail(CB_STEP_DOMAIN,
                   "the angle of three points on one geodesic has no derivatives: expected other positions");
  *value = at->cosine ? (along - apart) / (along + apart) : 2 * atan2(sqrt(apart), sqrt(along));
  for (int k = 0; order && k < n; k++) {
    double by_vertex = 0;
    for (int i = 0; i < n; i++) {
      by_vertex += s[0].second[i * 2 * n + k] * A[1][i] + s[1].second[i * 2 * n + k] * A[0][i];
      for (int j = 0; j < n; j++) by_vertex -= m->dg[(k * n + i) * n + j] * A[0][i] * A[1][j];
    }
    gradient[n + k] = at->cosine ? by_vertex : -by_vertex / sine;
    for (int e = 0; e < 2; e++) {
      double by_end = 0;
      for (int i = 0; i < n; i++) by_end += s[e].second[i * 2 * n + n + k] * A[1 - e][i];
      gradient[2 * e * n + k] = at->cosine ? by_end : -by_end / sine;
    }
  }
  return CB_OK;
}

/* Computes the gradient after coordinate c of corner p (1: the vertex) was moved by `step`. */
static cb_status moved_gradient(const cb_space *g, const double *const *x, int p, int c, double step, const corner *at,
                                double *gradient) {
  double q[D], value;
  corner moved = *at;
  cb_status status = CB_OK;
  memcpy(q, x[p], (size_t)g->dim * sizeof *q);
  q[c] += step;
  if (p == 1) status = cb_local_metric_at(g, q, &moved.m);
  for (int e = 0; e < 2 && !status; e++)
    if (p == 1 || p == 2 * e) status = side_to(g, p == 1 ? q : x[1], p == 1 ? x[2 * e] : q, 1, &moved.s[e]);
  return status ? status : angle_of(g, &moved, 1, &value, gradient);
}

/* Computes the angle at x[1] between the geodesics to x[0] and x[2], or its cosine. */
static cb_status by_metric(const cb_space *g, bool cosine, const double *const *x, int order, cb_element *out) {
  static const double weight[3] = {45. / 60, -9. / 60, 1. / 60}, part = 0.01;
  const int n = g->dim, size = CORNERS * n;
  corner at = {.cosine = cosine};
  double hessian[CORNERS * D][CORNERS * D] = {{0}};
  cb_status status = cb_local_metric_at(g, x[1], &at.m);
  for (int e = 0; e < 2 && !status; e++) status = side_to(g, x[1], x[2 * e], order, &at.s[e]);
  if (!status) status = angle_of(g, &at, order, &out->value, out->gradient);
  if (status || order < 2) return status;
  for (int j = 0; j < size; j++) {
    const int p = j / n, c = j % n;
    cb_local_metric here;
    status = cb_local_metric_at(g, x[p], &here);
    if (status) return status;
    const double h = part * (cosine ? 1 : sin(out->value)) * fmin(at.s[0].d, at.s[1].d) / sqrt(here.g[c * n + c]);
    for (int k = 1; k <= 3; k++)
      for (int sign = -1; sign <= 1; sign += 2) {
        double gradient[CORNERS * D];
        status = moved_gradient(g, x, p, c, sign * k * h, &at, gradient);
        if (status) return status;
        for (int i = 0; i < size; i++) hessian[i][j] += sign * weight[k - 1] / h * gradient[i];
      }
  }
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) out->hessian[i * size + j] = (hessian[i][j] + hessian[j][i]) / 2;
  return CB_OK;
}

/* --- from the sides --- */

/* Computes the angle between the sides of lengths d[0] and d[1]. */
static cb_status angle_by_sides(const cb_space *g, const double *d, double *value, double *gradient, double *hessian) {
  static const double weight[4] = {-0.5, 0.5, 0.5, -0.5};
  const cb_trig trig = cb_trig_of(g->factor[0].curvature);
  double sigma[4], s[4], first[4], second[4], l[SIDES], ll[SIDES * SIDES];
  cb_triangle_half_sums(d, sigma);
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
  cb_triangle_in_sides(first, second, l, ll);
  cb_triangle_by_logarithm(2 * T / turn, 2 * T * (1 - T * T) / (turn * turn), l, ll, gradient, hessian);
  return CB_OK;
}

/* --- from the factors of a space --- */

/* Sets b[0] = B(z) = asin(sqrt z)/sqrt(z (1-z)), b[1] = B' and b[2] = B''. B has a power series with the coefficients
 * c_n = c_(n-1) 2n/(2n+1), c_0 = 1. For larger |z| the equation 2 z (1-z) B' = 1 - (1-2z) B is used. */
static void arc_ratio(double z, double b[3]) {
  if (fabs(z) < 0.25) { /* the error of 40 terms is below 1e-20 */
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

/* Returns B(K F) as a jet, where K is the curvature and F = s(d/2)^2. Then d^2 = 4 F B^2 (1 - K F), which square()
 * computes. */
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

/* Computes the angle, or its cosine, as a function of F[factor][side]. The variable of (factor, side) in the jet is
 * number SIDES*factor + side. */
static cb_status angle_by_factors(const cb_space *g, bool cosine, double F[FACTORS][SIDES], cb_jet *out) {
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
  cb_jet size = cb_jet_mul(&aa, &bb), quotient = dot;
  if (!(cosine ? size.v > 0 : fabs(dot.v) < sqrt(size.v)))
    return cb_fail(CB_STEP_DOMAIN,
                   "the angle of three points on one geodesic has no derivatives: expected other positions");
  size = cb_jet_sqrt(&size);
  quotient = cb_jet_div(&dot, &size);
  *out = cosine ? quotient : cb_jet_acos(&quotient);
  return CB_OK;
}

static const int angle_ends[SIDES][2] = {{1, 0}, {1, 2}, {0, 2}}; /* particle 1 is the vertex */

/* F = <x-y, x-y>/4 of the ends x and y of a side in one factor, I = diag(form):  F_x = I (x - y)/2 = -F_y,  F_xx = I/2
 * = F_yy = -F_xy. */
static cb_status by_factors(const cb_space *g, bool cosine, const double *const *x, int order, cb_element *out) {
  const int k = g->embedding, size = SIDES * k, n = SIDES * g->n_factors;
  double F[FACTORS][SIDES], e[SIDES][K], F_x[FACTORS * SIDES][SIDES * K] = {{0}};
  for (int s = 0; s < SIDES; s++)
    for (int f = 0; f < g->n_factors; f++) {
      const cb_factor factor = g->factor[f];
      const int o = factor.offset;
      F[f][s] = 0.25 * cb_factor_chord(factor, x[angle_ends[s][0]] + o, x[angle_ends[s][1]] + o, e[s] + o);
      for (int a = o; a < o + factor.count; a++)
        for (int end = 0; end < 2; end++)
          F_x[SIDES * f + s][angle_ends[s][end] * k + a] = (end ? -0.5 : 0.5) * g->form[a] * e[s][a];
    }
  cb_jet angle = cb_jet_constant(n, 0);
  cb_status status = angle_by_factors(g, cosine, F, &angle);
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

/* --- the class --- */

static cb_status angle_in_embedding(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                    const double *const *x, int order, cb_element *out) {
  (void)row;
  (void)element;
  (void)t;
  return by_factors(c->space, false, x, order, out);
}

static cb_status cosine_in_embedding(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                     const double *const *x, int order, cb_element *out) {
  (void)row;
  (void)element;
  (void)t;
  return by_factors(c->space, true, x, order, out);
}

static cb_status angle(const cb_constraints *c, const cb_constraint *row, int element, double t, const double *const *x,
                       int order, cb_element *out) {
  if (c->space->intrinsic) return by_metric(c->space, false, x, order, out);
  if (c->space->n_factors == 1) return cb_triangle_by_sides(c->space, angle_by_sides, angle_ends, x, order, out);
  return cb_element_by_embedding(angle_in_embedding, c, row, element, t, x, order, out);
}

static cb_status cosine(const cb_constraints *c, const cb_constraint *row, int element, double t,
                        const double *const *x, int order, cb_element *out) {
  if (c->space->intrinsic) return by_metric(c->space, true, x, order, out);
  return cb_element_by_embedding(cosine_in_embedding, c, row, element, t, x, order, out);
}

const cb_constraint_class cb_constraint_angle = {.name = "angle",
                                                 .title = "angle between geodesics to two particles",
                                                 .doc = "",
                                                 .params = table,
                                                 .params_size = sizeof(keys),
                                                 .read = read,
                                                 .points = 3,
                                                 .element = angle,
                                                 .cosine = cosine};
