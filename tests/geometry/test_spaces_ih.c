/* The distance and geodesics of IH in closed form agree with geodesics integrated by GSL's Prince-Dormand 8(9). */
#include "check_spaces.h"
#include "numerics/vec3.h"
#include <curvebody/intrinsic.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

/* The equation of geodesics of IH, x'' = (|x'|^2 x - 2 (x.x') x')/(|x|^2 + 2), with z = (x, x'). */
static int geodesic(double t, const double *z, double *dz, void *unused) {
  const double *x = z, *v = z + 3, f = cb_dot3(x, x) + 2, vv = cb_dot3(v, v), xv = cb_dot3(x, v);
  for (int i = 0; i < 3; i++) {
    dz[i] = v[i];
    dz[3 + i] = (vv * x[i] - 2 * xv * v[i]) / f;
  }
  return GSL_SUCCESS;
}

static void integrate(double *z) {
  gsl_odeiv2_system system = {geodesic, NULL, 6, NULL};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&system, gsl_odeiv2_step_rk8pd, 1e-3, 1e-15, 1e-15);
  double t = 0;
  assert_int_equal(gsl_odeiv2_driver_apply(driver, &t, 1, z), GSL_SUCCESS);
  gsl_odeiv2_driver_free(driver);
}

static cb_space *make_ih(void) {
  cb_space *g;
  check_ok(cb_space_create("ih", NULL, &g));
  return g;
}

static void random_in_ball(uint64_t *state, double radius, double *x) {
  do
    for (int i = 0; i < 3; i++) x[i] = check_uniform(state, -radius, radius);
  while (cb_dot3(x, x) > radius * radius);
}

/* Returns a length between 1e-3 and `maximum`, uniform in its logarithm. */
static double random_scale(uint64_t *state, double maximum) {
  return exp(check_uniform(state, log(1e-3), log(maximum)));
}

/* Makes start = (x, v) with |x| <= 80, in about a third of the cases near the centre, and the end of the geodesic after
 * unit time. The end is also within |x| <= 80. */
static void random_geodesic(uint64_t *state, double *start, double *end) {
  do {
    random_in_ball(state, check_uniform(state, 0, 1) < 0.3 ? 3 : 80, start);
    random_in_ball(state, 1, start + 3);
    const double scale = random_scale(state, 100) / sqrt(cb_dot3(start + 3, start + 3));
    for (int i = 3; i < 6; i++) start[i] *= scale;
    memcpy(end, start, 6 * sizeof *end);
    integrate(end);
  } while (cb_dot3(end, end) > 80 * 80);
}

static void distance_agrees_with_integrated_geodesics(void **unused) {
  uint64_t state = check_seed();
  cb_space *g = make_ih();
  double worst = 0;
  for (int repeat = 0; repeat < 1000; repeat++) {
    double start[6], end[6], d;
    random_geodesic(&state, start, end);
    const double expected = sqrt((cb_dot3(start, start) + 2) * cb_dot3(start + 3, start + 3));
    check_ok(g->chart->distance(g, start, end, &d, NULL, NULL));
    /* If two points are near each other and far from the origin, the round-off of their coordinates is large relative
     * to their distance, by the factor `condition`. */
    double apart = 0;
    for (int i = 0; i < 3; i++) apart += (start[i] - end[i]) * (start[i] - end[i]);
    const double condition = sqrt(cb_dot3(start, start) / apart);
    worst = fmax(worst, fabs(d - expected) / expected / fmax(1, condition / 10));
  }
  print_message("largest relative error of the distance %.2e\n", worst);
  check_at_most(worst, 2e-13);
  cb_space_free(g);
}

static void geodesics_in_closed_form_are_those_integrated(void **unused) {
  uint64_t state = check_seed();
  cb_space *g = make_ih();
  double worst = 0, worst_speed = 0;
  for (int repeat = 0; repeat < 1000; repeat++) {
    double start[6], end[6], x[3], v[3], dx = 0, dv = 0;
    random_geodesic(&state, start, end);
    cb_exp(g, start, start + 3, x, v);
    for (int i = 0; i < 3; i++) {
      dx += (x[i] - end[i]) * (x[i] - end[i]);
      dv += (v[i] - end[3 + i]) * (v[i] - end[3 + i]);
    }
    worst = fmax(worst, sqrt(dx / (1 + cb_dot3(start, start) + cb_dot3(end, end))));
    worst_speed = fmax(worst_speed, sqrt(dv / cb_dot3(end + 3, end + 3)));
    check_relative((cb_dot3(x, x) + 2) * cb_dot3(v, v), (cb_dot3(start, start) + 2) * cb_dot3(start + 3, start + 3),
                   1e-13);
  }
  print_message("largest error of the point %.2e, of the velocity %.2e\n", worst, worst_speed);
  check_at_most(worst, 1e-13);
  check_at_most(worst_speed, 1e-13);
  cb_space_free(g);
}

static void exp_of_log_is_the_point(void **unused) {
  uint64_t state = check_seed();
  cb_space *g = make_ih();
  double worst = 0;
  for (int repeat = 0; repeat < 1000; repeat++) {
    double p[3], q[3], u[3], end[3], d, error = 0;
    random_in_ball(&state, random_scale(&state, 80), p);
    random_in_ball(&state, random_scale(&state, 80), q);
    check_ok(cb_log(g, p, q, u));
    check_ok(g->chart->distance(g, p, q, &d, NULL, NULL));
    check_relative(sqrt((cb_dot3(p, p) + 2) * cb_dot3(u, u)), d, 1e-13);
    cb_exp(g, p, u, end, NULL);
    for (int i = 0; i < 3; i++) error += (end[i] - q[i]) * (end[i] - q[i]);
    worst = fmax(worst, sqrt(error / (1 + cb_dot3(q, q) + cb_dot3(p, p))));
  }
  print_message("largest error of exp(log) %.2e\n", worst);
  check_at_most(worst, 1e-12);
  cb_space_free(g);
}

/* Returns the distance d of p and q in extended precision: d = F(u_plus) - F(u_minus), with
 * u_plus = (|p + q| + |p - q|)/2, u_minus = (|p + q| - |p - q|)/2 and F(u) = asinh(u/sqrt 2) + u/2 sqrt(u^2 + 2). */
static long double plain_distance(const double *p, const double *q) {
  long double P = 0, M = 0, f[2];
  for (int i = 0; i < 3; i++) {
    P += ((long double)p[i] + q[i]) * ((long double)p[i] + q[i]);
    M += ((long double)p[i] - q[i]) * ((long double)p[i] - q[i]);
  }
  P = sqrtl(P);
  M = sqrtl(M);
  for (int k = 0; k < 2; k++) {
    const long double c = k ? (P - M) / 2 : (P + M) / 2;
    f[k] = asinhl(c / sqrtl(2)) + c / 2 * sqrtl(c * c + 2);
  }
  return f[0] - f[1];
}

static void distance_loses_no_digits(void **unused) {
  uint64_t state = check_seed();
  cb_space *g = make_ih();
  for (int repeat = 0; repeat < 10000; repeat++) {
    double p[3], q[3], d;
    random_in_ball(&state, random_scale(&state, 80), p);
    random_in_ball(&state, random_scale(&state, 80), q);
    check_ok(g->chart->distance(g, p, q, &d, NULL, NULL));
    const long double exact = plain_distance(p, q); /* plain_distance has an error of 1e-19 80^2/d */
    check_near(d, (double)exact, 2e-15 * d + 2e-15);
  }
  /* The distance of opposite points at the radius r is d = 2 F(r), with F as in plain_distance. For points close
   * together d = sqrt(r^2 + 2) |p - q|, where r is the radius of their middle. */
  for (int repeat = 0; repeat < 1000; repeat++) {
    double p[3], q[3], d;
    random_in_ball(&state, random_scale(&state, 80), p);
    for (int i = 0; i < 3; i++) q[i] = -p[i];
    const double r = sqrt(cb_dot3(p, p));
    check_ok(g->chart->distance(g, p, q, &d, NULL, NULL));
    check_relative(d, 2 * asinh(r / sqrt(2)) + r * sqrt(r * r + 2), 2e-15);
    const double h = exp(check_uniform(&state, log(1e-12), log(1e-6)));
    double apart = 0;
    for (int i = 0; i < 3; i++) {
      q[i] = p[i] + h * check_uniform(&state, -1, 1);
      apart += (q[i] - p[i]) * (q[i] - p[i]);
    }
    double middle = 0;
    for (int i = 0; i < 3; i++) middle += (p[i] + q[i]) * (p[i] + q[i]) / 4;
    check_ok(g->chart->distance(g, p, q, &d, NULL, NULL));
    check_relative(d, sqrt(apart * (middle + 2)), 1e-12 * h / 1e-6 + 3e-15); /* the next term is about h^2/24 times this
                                                                              * one */
  }
  const double zero[3] = {0};
  double d;
  check_ok(g->chart->distance(g, zero, zero, &d, NULL, NULL));
  check_near(d, 0, 0);
  cb_space_free(g);
}

static void check_derivatives(const cb_space *g, double *p, double *q) {
  double d, gradient[6], hessian[36], plus, minus, up[6], down[6];
  check_ok(g->chart->distance(g, p, q, &d, gradient, hessian));
  /* |gradient|^2 = |p|^2 + 2, because the gradient is a unit covector of the metric (|p|^2 + 2) dx^2. */
  check_relative(cb_dot3(gradient, gradient), cb_dot3(p, p) + 2, 1e-14);
  check_relative(cb_dot3(gradient + 3, gradient + 3), cb_dot3(q, q) + 2, 1e-14);
  double apart = 0;
  for (int i = 0; i < 3; i++) apart += (p[i] - q[i]) * (p[i] - q[i]);
  /* Differences of sixth order have the truncation error (h/scale)^6, and the round-off of x and d divided by h. */
  static const double weight[] = {45. / 60, -9. / 60, 1. / 60};
  const double scale = fmin(1, sqrt(apart)), h = 0.02 * scale, size = sqrt(cb_dot3(p, p) + cb_dot3(q, q) + 2);
  const double round_off = 1e-15 * size * size / h;
  for (int a = 0; a < 6; a++) {
    double *x = a < 3 ? &p[a] : &q[a - 3], before = *x, first = 0, second[6] = {0};
    for (int k = 0; k < 3; k++) {
      *x = before + (k + 1) * h;
      check_ok(g->chart->distance(g, p, q, &plus, up, NULL));
      *x = before - (k + 1) * h;
      check_ok(g->chart->distance(g, p, q, &minus, down, NULL));
      first += weight[k] * (plus - minus) / h;
      for (int b = 0; b < 6; b++) second[b] += weight[k] * (up[b] - down[b]) / h;
    }
    *x = before;
    check_near(first, gradient[a], 1e-9 * size + round_off);
    for (int b = 0; b < 6; b++) {
      check_near(second[b], hessian[a * 6 + b], 1e-8 * size / scale + round_off / scale);
      check_near(hessian[a * 6 + b], hessian[b * 6 + a], 0);
    }
  }
}

static void derivatives_of_the_distance_are_right(void **unused) {
  uint64_t state = check_seed();
  cb_space *g = make_ih();
  for (int repeat = 0; repeat < 1000; repeat++) {
    double p[3], q[3];
    random_in_ball(&state, random_scale(&state, 80), p);
    random_in_ball(&state, random_scale(&state, 80), q);
    check_derivatives(g, p, q);
    for (int i = 0; i < 3; i++) q[i] = -p[i]; /* p + q = 0 */
    check_derivatives(g, p, q);
    for (int i = 0; i < 3; i++) q[i] = p[i] + 1e-4 * check_uniform(&state, -1, 1); /* p - q is small */
    check_derivatives(g, p, q);
  }
  double p[3] = {1, 2, 3}, d = 7, gradient[6];
  assert_int_equal(g->chart->distance(g, p, p, &d, gradient, NULL), CB_ERROR_DOMAIN);
  check_near(d, 7, 0);
  cb_space_free(g);
}

static void distance_by_newton_on_geodesics_is_the_closed_form(void **unused) {
  uint64_t state = check_seed();
  cb_space *g = make_ih();
  double worst = 0, worst_gradient = 0, worst_hessian = 0;
  for (int repeat = 0; repeat < 300; repeat++) {
    double p[3], q[3], d, gradient[6], hessian[36], own, own_gradient[6], own_hessian[36], largest = 0;
    const double radius = repeat % 3 == 0 ? 80 : repeat % 3 == 1 ? 15 : 3;
    random_in_ball(&state, radius, p);
    random_in_ball(&state, radius, q);
    check_ok(g->chart->distance(g, p, q, &d, gradient, hessian));
    check_ok(cb_numeric_distance(g, p, q, &own, own_gradient, own_hessian));
    worst = fmax(worst, fabs(own - d) / d);
    worst_gradient = fmax(worst_gradient, check_distance_max(6, own_gradient, gradient));
    for (int i = 0; i < 36; i++) largest = fmax(largest, fabs(hessian[i]));
    worst_hessian = fmax(worst_hessian, check_distance_max(36, own_hessian, hessian) / largest);
  }
  print_message("largest errors: distance %.1e, gradient %.1e, Hessian %.1e\n", worst, worst_gradient, worst_hessian);
  check_at_most(worst, 1e-11);
  check_at_most(worst_gradient, 1e-9);
  check_at_most(worst_hessian, 1e-8);
  cb_space_free(g);
}

static void distance_is_a_metric(void **unused) {
  uint64_t state = check_seed();
  cb_space *g = make_ih();
  for (int repeat = 0; repeat < 10000; repeat++) {
    double x[3][3], ab, ba, bc, ac;
    for (int k = 0; k < 3; k++) random_in_ball(&state, random_scale(&state, 80), x[k]);
    ab = cb_distance(g, x[0], x[1]);
    ba = cb_distance(g, x[1], x[0]);
    bc = cb_distance(g, x[1], x[2]);
    ac = cb_distance(g, x[0], x[2]);
    check_near(ab, ba, 0);
    check_at_most(ac, (ab + bc) * (1 + 1e-14));
    check_at_least(ab, 0);
  }
  cb_space_free(g);
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distance_agrees_with_integrated_geodesics),
      cmocka_unit_test(geodesics_in_closed_form_are_those_integrated),
      cmocka_unit_test(exp_of_log_is_the_point),
      cmocka_unit_test(distance_loses_no_digits),
      cmocka_unit_test(derivatives_of_the_distance_are_right),
      cmocka_unit_test(distance_by_newton_on_geodesics_is_the_closed_form),
      cmocka_unit_test(distance_is_a_metric),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
