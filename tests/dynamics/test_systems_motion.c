/* Tests of configuration spaces: a symmetric heavy top, a driven pendulum, a skate, a rolling disc, and a run that
 * leaves the domain. Motions are compared with closed forms, quadratures and solutions by GSL.
 */
#include "memory_sink.h"
#include "system_runs.h"
#include <gsl/gsl_poly.h>

static const double pi = 3.14159265358979323846;

/* --- heavy symmetric top with moments of inertia A = 1 across the axis and C = .5 along it; mass times gravity times
 * distance of the centre of mass from the fixed point is mgl = 2 --- */

#define TOP                                                                      \
  "  coordinates: [phi, theta, psi]\n  parameters: {A: 1, C: 0.5, mgl: 2}\n"     \
  "  metric:\n    - [\"A*sin(theta)^2 + C*cos(theta)^2\"]\n    - [0, A]\n"       \
  "    - [C*cos(theta), 0, C]\n  potential: mgl*cos(theta)\n  base: [0, 1, 0]\n" \
  "  domain: [theta > 0, theta < pi]\n  periodic: [2*pi, 0, 2*pi]\n"
#define TOP_START "  position: [0.2, 0.7, 0.1]\n  velocity: [0.4, 0.6, 7]\n"

/* The motion of the top. u = cos theta moves between the roots u1 and u2 of a cubic with the third root u3:
 * u'^2 = k (u - u1)(u2 - u)(u3 - u), k = 2 mgl/A, phi' = (p_phi - p_psi u)/(A (1 - u^2)), psi' = p_psi/C - u phi'.
 * theta, phi and psi are Euler's angles, p_phi and p_psi momenta, A and C the moments of inertia across and along the
 * axis of symmetry. Source: Goldstein, Classical Mechanics, 2nd ed. (1980), section 5-7. */
typedef struct top {
  double u1, u2, u3, k, p_phi, p_psi;
  enum { PERIOD, PHI, PSI } what;
} top;

/* Returns the derivative of the time, of phi or of psi with respect to s; x->what selects which one. Here
 * u = u1 + (u2 - u1) sin^2 s and dt = 2 ds/sqrt(k (u3 - u)). */
static double top_rate(double s, const top *x) {
  const double u = x->u1 + (x->u2 - x->u1) * sin(s) * sin(s), dt = 2 / sqrt(x->k * (x->u3 - u));
  const double phi = (x->p_phi - x->p_psi * u) / (1 - u * u);
  return dt * (x->what == PERIOD ? 1 : x->what == PHI ? phi : x->p_psi / 0.5 - u * phi);
}

/* Integrates top_rate over one complete nutation, s from 0 to pi, by the trapezoidal rule. The integrand is periodic,
 * so that this rule converges exponentially. */
static double top_integral(top x, int what) {
  enum { POINTS = 256 };
  double sum = 0;
  x.what = what;
  for (int i = 0; i < POINTS; i++) sum += top_rate(pi * i / POINTS, &x);
  return sum * pi / POINTS;
}

static top exact_top(double theta, double phi_dot, double theta_dot, double psi_dot) {
  const double u = cos(theta), s2 = 1 - u * u;
  top x = {.k = 4, .p_psi = 0.5 * (psi_dot + phi_dot * u)};
  x.p_phi = s2 * phi_dot + x.p_psi * u;
  const double e = (theta_dot * theta_dot + s2 * phi_dot * phi_dot) / 2 +
                   2 * u; /* the energy without its constant part p_psi^2/(2 C) */
  /* u'^2 = (1 - u^2)(2 e - 4 u) - (p_phi - p_psi u)^2
   *      = 4 u^3 - (2 e + p_psi^2) u^2 + (2 p_phi p_psi - 4) u + 2 e - p_phi^2 */
  gsl_poly_solve_cubic(-(2 * e + x.p_psi * x.p_psi) / 4, (2 * x.p_phi * x.p_psi - 4) / 4,
                       (2 * e - x.p_phi * x.p_phi) / 4, &x.u1, &x.u2, &x.u3);
  return x;
}

static void heavy_top_nutates_and_precesses_as_by_quadrature(void **unused) {
  const top x = exact_top(0.7, 0.4, 0.6, 7);
  const double period = top_integral(x, PERIOD), phi = top_integral(x, PHI), psi = top_integral(x, PSI);
  print_message("period %.15g, precession %.15g, spin %.15g\n", period, phi, psi);
  static const char *const methods[] = {"gauss, stages: 4", "lobatto, stages: 5", "radau_iia, stages: 5",
                                        "ida, rtol: 1e-12, atol: 1e-14"};
  enum { TURNS = 3 };
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    const bool ida = methods[i][0] == 'i';
    simulation *s = run_system(TOP TOP_START, methods[i], period / 200, TURNS * period);
    const double *q = last_of(s, POSITION), *p = last_of(s, MOMENTUM),
                 end[] = {0.2 + TURNS * phi, 0.7, 0.1 + TURNS * psi};
    print_message("%-30s %.1e, energy %.1e\n", methods[i], distance_to(3, q, end), energy_drift(s));
    check_at_most(distance_to(3, q, end), ida ? 1e-7 : 1e-10);
    check_near(p[1], 0.6, ida ? 1e-7 : 1e-10);
    check_at_most(energy_drift(s), ida ? 1e-8 : 1e-12);
    double most = 0, least = 1;
    for (size_t row = 0; row < s->rows; row++) {
      check_near(row_of(s, MOMENTUM, row)[0], x.p_phi, ida ? 1e-8 : 1e-13); /* phi and psi are cyclic coordinates, so
                                                                             * their momenta are constant */
      check_near(row_of(s, MOMENTUM, row)[2], x.p_psi, ida ? 1e-8 : 1e-13);
      most = fmax(most, cos(row_of(s, POSITION, row)[1]));
      least = fmin(least, cos(row_of(s, POSITION, row)[1]));
    }
    check_near(most, x.u2, 1e-3); /* rows miss the maximum by little: 200 rows per nutation */
    check_near(least, x.u1, 1e-3);
    check_at_most(most, x.u2 + 1e-9);
    check_at_least(least, x.u1 - 1e-9);
    simulation_free(s);
  }
}

static void momentum_at_the_start_is_the_metric_times_velocity(void **unused) {
  char text[2048];
  const double c = cos(0.7), s2 = 1 - c * c,
               p[] = {(s2 + 0.5 * c * c) * 0.4 + 0.5 * c * 7, 0.6, 0.5 * c * 0.4 + 0.5 * 7};
  snprintf(text, sizeof text, TOP "  position: [0.2, 0.7, 0.1]\n  momentum: [%.17g, %.17g, %.17g]\n", p[0], p[1], p[2]);
  simulation *a = run_system(text, "gauss", 0.01, 0.5), *b = run_system(TOP TOP_START, "gauss", 0.01, 0.5);
  check_at_most(distance_to(3, row_of(a, MOMENTUM, 0), p), 1e-15);
  check_at_most(distance_to(3, last_of(a, POSITION), last_of(b, POSITION)), 1e-13);
  simulation_free(a);
  simulation_free(b);
}

/* --- Kapitza's pendulum: it has length 1 and gravity g = 9.81, and its pivot has the height .05 cos(120 t). It stays
 * upright, because (.05 × 120)^2 > 2 g × 1. --- */

#define KAPITZA                                                                     \
  "  coordinates: [a]\n  parameters: {g: 9.81, y: 0.05, w: 120}\n  metric: [[1]]\n" \
  "  potential: \"-(g - y*w^2*cos(w*t))*cos(a)\"\n  position: [pi - 0.3]\n  periodic: [2*pi]\n"

static int kapitza(double t, const double *z, double *dz, void *unused) {
  dz[0] = z[1];
  dz[1] = -(9.81 - 0.05 * 14400 * cos(120 * t)) * sin(z[0]);
  return GSL_SUCCESS;
}

static void driven_pendulum_stays_up_as_by_gsl(void **unused) {
  double z[2] = {pi - 0.3, 0};
  solve_reference(kapitza, NULL, 2, 3, z);
  static const char *const methods[] = {"gauss, stages: 4", "lobatto, stages: 5", "radau_iia, stages: 5", "rk4",
                                        "ida, rtol: 1e-12, atol: 1e-14"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    simulation *s = run_system(KAPITZA, methods[i], methods[i][1] == 'k' ? 2.5e-5 : 0.001, 3);
    print_message("%-30s %.1e\n", methods[i], fabs(*last_of(s, POSITION) - z[0]));
    check_near(*last_of(s, POSITION), z[0], methods[i][0] == 'i' ? 1e-7 : 1e-10);
    /* The pendulum stays upright; with a fixed pivot it would fall. */
    for (size_t row = 0; row < s->rows; row++) check_near(*row_of(s, POSITION, row), pi, 0.4);
    simulation_free(s);
  }
}

/* --- constraints of velocities --- */

static const char *const nonholonomic[] = {"radau_iia, stages: 4", "radau_iia, stages: 4, solver: newton",
                                           "ida, rtol: 1e-12, atol: 1e-14"};
enum { NONHOLONOMIC = sizeof nonholonomic / sizeof *nonholonomic };

/* A skate on a slope with the acceleration 1 along x. It starts without speed and rotates at the rate w = .8. It moves
 * on a cycloid and does not descend for ever: x = sin^2(w t)/(2 w^2), y = (w t - sin(2 w t)/2)/(2 w^2). Source: Bloch,
 * Nonholonomic Mechanics and Control (2nd ed. 2015), section 1.6. */
static void skate_on_a_slope_draws_a_cycloid(void **unused) {
  static const char text[] =
      "  coordinates: [x, y, h]\n  parameters: {m: 2, J: 0.3}\n  metric: [[m], [0, m], [0, 0, J]]\n"
      "  potential: \"-m*x\"\n  velocity: [0, 0, 0.8]\n"
      "  constraints:\n    - {name: blade, velocity: [sin(h), -cos(h), 0]}\n";
  for (int i = 0; i < NONHOLONOMIC; i++) {
    const bool ida = nonholonomic[i][0] == 'i';
    simulation *s = run_system(text, nonholonomic[i], 0.01, 10);
    double worst = 0;
    for (size_t row = 0; row < s->rows; row++) {
      const double w = 0.8, a = w * *row_of(s, TIME, row), scale = 1 / (2 * w * w);
      worst = fmax(worst, distance_to(3, row_of(s, POSITION, row),
                                      (double[]){sin(a) * sin(a) * scale, (a - sin(2 * a) / 2) * scale, a}));
    }
    print_message("%-40s %.1e\n", nonholonomic[i], worst);
    check_at_most(worst, ida ? 1e-8 : 1e-10);
    simulation_free(s);
  }
}

/* An upright disc of radius .5 rolls at the rate 2 and rotates around the vertical at the rate .7, so that it moves on
 * a circle. */
static void disc_rolls_in_a_circle(void **unused) {
  static const char text[] =
      "  coordinates: [x, y, h, roll]\n  parameters: {m: 2, R: 0.5, I: 0.25, J: 0.13}\n"
      "  metric: [[m], [0, m], [0, 0, J], [0, 0, 0, I]]\n  position: [0, 0, 0.3, 0]\n"
      "  velocity: [R*2*cos(0.3), R*2*sin(0.3), 0.7, 2]\n"
      "  constraints:\n    - {velocity: [1, 0, 0, -R*cos(h)]}\n    - {velocity: [0, 1, 0, -R*sin(h)], equals: 0}\n";
  for (int i = 0; i < NONHOLONOMIC; i++) {
    const bool ida = nonholonomic[i][0] == 'i';
    simulation *s = run_system(text, nonholonomic[i], 0.01, 10);
    double worst = 0;
    for (size_t row = 0; row < s->rows; row++) {
      const double t = *row_of(s, TIME, row), h = 0.3 + 0.7 * t, r = 1 / 0.7;
      worst = fmax(worst, distance_to(4, row_of(s, POSITION, row),
                                      (double[]){r * (sin(h) - sin(0.3)), r * (cos(0.3) - cos(h)), h, 2 * t}));
    }
    print_message("%-40s %.1e\n", nonholonomic[i], worst);
    check_at_most(worst, ida ? 1e-8 : 1e-10);
    simulation_free(s);
  }
}

/* A particle on a belt has the constraint x' = 1 + sin t, whose right-hand side depends on time. */
static void constraint_of_velocity_may_be_driven(void **unused) {
  static const char text[] =
      "  coordinates: [x, y]\n  metric: [[1], [0, 1]]\n  potential: y^2/2\n  position: [0.5, 1]\n  velocity: [1, 0]\n"
      "  constraints:\n    - {velocity: [1, 0], equals: 1 + sin(t)}\n";
  simulation *s = run_system(text, "radau_iia, stages: 5", 0.01, 4);
  check_near(last_of(s, POSITION)[0], 0.5 + 4 + 1 - cos(4), 1e-11);
  check_near(last_of(s, POSITION)[1], cos(4), 1e-11);
  simulation_free(s);
}

/* --- a run that leaves the domain --- */

static void run_that_leaves_the_domain_fails_there_and_keeps_its_rows(void **unused) {
  static const char form[] =
      "curvebody: 1\nsystem:\n  coordinates: [u, v]\n  metric: [[1], [0, 1 - u]]\n  domain: u < 1\n"
      "  velocity: [0.5, 0]\nintegrator: {name: %s, step: 0.01}\ntime: {end: 10}\nrecord: {every: 1}\n";
  static const char *const methods[] = {"gauss", "lobatto", "radau_iia", "rk4", "ida"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    char text[1024];
    cb_scenario *s;
    snprintf(text, sizeof text, form, methods[i]);
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
    memory_sink m;
    cb_sink sink = memory_open(&m, cb_scenario_run(s));
    const cb_status status = cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL);
    print_message("%s: %s: %s\n", methods[i], cb_status_name(status), cb_error_text());
    assert_int_not_equal(status, CB_OK);
    assert_non_null(strstr(cb_error_text(), "outside the domain of the space: expected u < 1"));
    assert_in_range(m.n_rows, 199, 201); /* u reaches 1, the end of the domain, at t = 2 */
    for (size_t row = 0; row < m.n_rows; row++)
      check_near(memory_value(&m, row, "position", 0), 0.5 * memory_value(&m, row, "time", 0), 1e-9);
    memory_free(&m);
    cb_scenario_free(s);
  }
}

static void metric_that_is_not_positive_at_the_start_is_refused_there(void **unused) {
  static const char text[] =
      "curvebody: 1\nsystem:\n  coordinates: [u, v]\n  metric: [[1], [u, 1]]\n  position: [2, 0]\n"
      "integrator: {name: gauss, step: 0.01}\ntime: {end: 1}\n";
  cb_scenario *s;
  check_error(cb_scenario_open_text("test", text, NULL, 0, &s), CB_ERROR_INPUT,
              "test:5:13: error: the metric is not positive definite at u = 2, v = 0: pivot 2 of 2 is -3");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(heavy_top_nutates_and_precesses_as_by_quadrature),
                                     cmocka_unit_test(momentum_at_the_start_is_the_metric_times_velocity),
                                     cmocka_unit_test(driven_pendulum_stays_up_as_by_gsl),
                                     cmocka_unit_test(skate_on_a_slope_draws_a_cycloid),
                                     cmocka_unit_test(disc_rolls_in_a_circle),
                                     cmocka_unit_test(constraint_of_velocity_may_be_driven),
                                     cmocka_unit_test(run_that_leaves_the_domain_fails_there_and_keeps_its_rows),
                                     cmocka_unit_test(metric_that_is_not_positive_at_the_start_is_refused_there)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
