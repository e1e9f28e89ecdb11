/* Angle and area of geodesic triangles by their sides; s = s_K, c = c_K of numerics/trig.h, sigma_0 = (a + b + c)/2,
 * sigma_i = sigma_0 minus the i-th side:
 *
 *   area    A = 4/|K| atan(|K| P),   P = prod over i = 0..3 of t(sigma_i/2)^(1/2),   t = s/c      (L'Huilier)
 *   angle between a and b, opposite c:   2 atan T,   T^2 = s(sigma_a) s(sigma_b) / (s(sigma_0) s(sigma_c))
 *
 * P and T are differentiated by their logarithms, in which the sides stand apart:
 *   d log t(x/2)^(1/2) = dx/(2 s(x)),   d log s(x) = c/s dx,   d^2 log s(x) = -dx^2/s^2
 * so small triangles are as exact as large ones. In a product the angle is that of the sums over factors,
 *   cos(angle) = sum_f <u_f, v_f>/(|u| |v|),   <u_f, v_f> = B_a B_b (2 (F_a + F_b - F_c) - 4 K F_a F_b)
 * which is the law of cosines with F = s(d/2)^2 and B = d/s(d) (geometry/chord.h), smooth also where the factor's
 * points coincide.
 * Source: Todhunter, Spherical Trigonometry (1886), articles 45 and 102.
 */
#include "dynamics/constraint_charts.h"
#include "dynamics/pair.h"
#include "geometry/chord.h"
#include "geometry/quadric.h"
#include <math.h>

enum { K = CB_COORD_MAX, SIDES = 3, FACTORS = CB_FACTOR_MAX };

/* sigma_i = sum of half[i][j] times side j. */
static const double half[4][SIDES] = {{.5, .5, .5}, {-.5, .5, .5}, {.5, -.5, .5}, {.5, .5, -.5}};

/* Sum over i of w_i f(sigma_i), given first[i] = w_i f', second[i] = w_i f'', in the sides. */
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

/* From the derivatives l of log X to those of F(X), given X F' and X (X F')'. hessian may be NULL. */
static void by_logarithm(double f1, double f2, const double *l, const double *ll, double *gradient, double *hessian) {
  for (int a = 0; a < SIDES; a++) {
    gradient[a] = f1 * l[a];
    for (int b = 0; hessian && b < SIDES; b++) hessian[a * SIDES + b] = f2 * l[a] * l[b] + f1 * ll[a * SIDES + b];
  }
}

static void half_sums(const double *d, double *sigma) {
  for (int i = 0; i < 4; i++) sigma[i] = half[i][0] * d[0] + half[i][1] * d[1] + half[i][2] * d[2];
}

static cb_status area_by_sides(const cb_geometry *g, const double *d, double *value, double *gradient,
                               double *hessian) {
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
      return cb_fail(CB_STEP_DOMAIN, "a triangle with sides %g, %g, %g has no area with derivatives", d[0], d[1], d[2]);
  }
  double P = sqrt(product), z = size * P, turn = 1 + z * z;
  *value = size > 0 ? 4 / size * atan(z) : 4 * P;
  if (!gradient) return CB_OK;
  in_sides(first, second, l, ll);
  by_logarithm(4 * P / turn, 4 * P * (1 - z * z) / (turn * turn), l, ll, gradient, hessian);
  return CB_OK;
}

/* The angle between the sides 0 and 1. */
static cb_status angle_by_sides(const cb_geometry *g, const double *d, double *value, double *gradient,
                                double *hessian) {
  static const double weight[4] = {-0.5, 0.5, 0.5, -0.5};
  const cb_trig trig = cb_trig_of(g->factor[0].curvature);
  double sigma[4], s[4], first[4], second[4], l[SIDES], ll[SIDES * SIDES];
  half_sums(d, sigma);
  for (int i = 0; i < 4; i++) {
    s[i] = cb_trig_s(trig, sigma[i]);
    first[i] = weight[i] * cb_trig_c(trig, sigma[i]) / s[i];
    second[i] = -weight[i] / (s[i] * s[i]);
    if (!(s[i] > 0))
      return cb_fail(CB_STEP_DOMAIN, "a triangle with sides %g, %g, %g has no angle with derivatives", d[0], d[1],
                     d[2]);
  }
  double sine = sqrt(s[1] * s[2]), cosine = sqrt(s[0] * s[3]), T = sine / cosine, turn = 1 + T * T;
  *value = 2 * atan2(sine, cosine);
  if (!gradient) return CB_OK;
  in_sides(first, second, l, ll);
  by_logarithm(2 * T / turn, 2 * T * (1 - T * T) / (turn * turn), l, ll, gradient, hessian);
  return CB_OK;
}

/* f of the sides of three points; side s joins ends[s]. */
static cb_status by_sides(const cb_geometry *g, cb_distance_function *f, const int ends[SIDES][2],
                          const double *const *x, int order, cb_element *out) {
  const int k = g->k, size = SIDES * k;
  double d[SIDES], room[SIDES][CB_PAIR_MAX], square[SIDES][CB_PAIR_MAX * CB_PAIR_MAX];
  double(*const first)[CB_PAIR_MAX] = room, (*const second)[CB_PAIR_MAX * CB_PAIR_MAX] = square;
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

/* B(z) = asin(sqrt z)/sqrt(z (1-z)) with B', B'': b_n = b_(n-1) 2n/(2n+1); 2 z (1-z) B' = 1 - (1-2z) B. */
static void arc_ratio(double z, double b[3]) {
  if (fabs(z) < 0.25) { /* 40 terms leave 1e-20 */
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

/* B(K F) as a jet, and d^2 = 4 F B^2 (1 - K F), which is (d/s(d/2))^2 F. */
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

/* The angle as a function of F[factor][side]; variable of (factor, side): SIDES*factor + side. */
static cb_status angle_by_factors(const cb_geometry *g, double F[FACTORS][SIDES], cb_jet *angle) {
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
    return cb_fail(CB_STEP_DOMAIN, "three points on a geodesic have no angle with derivatives");
  size = cb_jet_sqrt(&size);
  cosine = cb_jet_div(&dot, &size);
  *angle = cb_jet_acos(&cosine);
  return CB_OK;
}

static const int angle_ends[SIDES][2] = {{1, 0}, {1, 2}, {0, 2}}; /* particle 1 is the vertex */

/* F_x = I (x - y)/2 = -F_y,  F_xx = I/2 = F_yy = -F_xy. */
static cb_status angle_in_embedding(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                    const double *const *x, int order, cb_element *out) {
  const cb_geometry *g = c->space;
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

/* --- the kinds --- */

static cb_status angle(const cb_constraints *c, const cb_constraint *row, int element, double t, const double *const *x,
                       int order, cb_element *out) {
  if (c->space->intrinsic) return cb_angle_by_metric(c->space, x, order, out);
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

const cb_constraint_kind cb_constraint_angle = {.name = "angle", .element = angle};
const cb_constraint_kind cb_constraint_area = {.name = "area", .element = area, .sized = true};
