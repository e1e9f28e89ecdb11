/* Tests that the classification of a falling plate is correct for given motions, in the plane and rotated in space,
 * through complete turns and across the vertical. Tests that the system of falling-plate.yaml gives the motion of the
 * equations of Andersen, Pesavento & Wang (2005, doi:10.1017/S0022112005005847), and that the circulation in it does no
 * work. */
#include "check.h"
#include "run/falling.h"

#include <curvebody/scenario.h>

#define SCENARIO CB_TESTS_DIR "/../analysis/scenarios/systems/falling-plate.yaml"

/* --- given motions --- */

typedef double of_time(double t);

static double still(double t) { return 0.3 + exp(-t); }
static double swinging(double t) { return 0.1 + 0.7 * sin(2 * t); }
static double far_swinging(double t) { return 3 * sin(2 * t); } /* almost half a turn to each side */
static double tumbling(double t) { return -1.5 * t + 0.4 * sin(3 * t); }
static double back_and_on(double t) { return t + 0.9 * sin(2 * t); } /* reverses, but advances by pi per period */
static double growing(double t) { return 0.02 * exp(0.01 * t) * sin(2 * t); }
/* The amplitudes of successive swings follow the logistic map, which is chaotic. */
static double irregular(double t) {
  double a = 0.37;
  for (int k = 0; k < (int)(t / M_PI); k++) a = 4 * a * (1 - a);
  return (0.3 + a) * sin(t);
}

/* Classifies a fall until `end` in the vertical plane in the direction `heading`. The plate descends with the speed 2
 * and drifts horizontally with the speed 0.5. */
static cb_falling_class judged(of_time *angle, double heading, double end) {
  cb_falling f = {0};
  for (int k = 0; k * 0.05 <= end; k++) {
    const double t = k * 0.05, a = angle(t), c = cos(heading), s = sin(heading);
    cb_falling_add(&f, t, (double[]){c * sin(a), s * sin(a), cos(a)}, (double[]){0.5 * c * t, 0.5 * s * t, -2 * t});
  }
  return cb_falling_judge(&f);
}

static void motions_are_what_they_were_made_to_be(void **unused) {
  static const struct {
    of_time *angle;
    cb_falling_regime regime;
    double period, turns, mean, swing;
  } cases[] = {
      {still, CB_FALLING_STEADY, NAN, NAN, 0.3, NAN},        {swinging, CB_FALLING_FLUTTER, M_PI, 0, 0.1, 0.7},
      {far_swinging, CB_FALLING_FLUTTER, M_PI, 0, 0, 3},     {tumbling, CB_FALLING_TUMBLE, 4 * M_PI / 3, -1, NAN, NAN},
      {back_and_on, CB_FALLING_TUMBLE, M_PI, 0.5, NAN, NAN}, {growing, CB_FALLING_UNDECIDED, NAN, NAN, NAN, NAN},
      {irregular, CB_FALLING_CHAOTIC, NAN, NAN, NAN, NAN}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int h = 0; h < 3; h++) {
      const double heading = 1.1 * h;
      const cb_falling_class v = judged(cases[i].angle, heading, 400);
      assert_string_equal(cb_falling_names[v.regime], cb_falling_names[cases[i].regime]);
      check_near(v.drift, 0.5, 1e-9);
      check_near(v.descent, 2, 1e-9);
      /* parabolas through rows at intervals of 0.05 find a turning point to 1e-4 */
      if (!isnan(cases[i].period)) check_relative(v.period, cases[i].period, 1e-4);
      if (!isnan(cases[i].turns)) check_near(fabs(v.turns), fabs(cases[i].turns), 1e-4);
      if (!isnan(cases[i].mean)) check_near(fabs(v.angle), cases[i].mean, 1e-4);
      if (!isnan(cases[i].swing)) check_near(v.swing, cases[i].swing, 2e-3);
      assert_int_equal(isnan(v.period), isnan(cases[i].period));
      assert_int_equal(isnan(v.swing), isnan(cases[i].swing));
    }
}

/* A plate of constant tilt, whose direction of tilt rotates, is steady: its normal does not pass through the
 * vertical. */
static void a_lean_that_goes_round_is_steady(void **unused) {
  cb_falling f = {0};
  for (int k = 0; k < 4000; k++) {
    const double t = 0.05 * k, a = 0.4;
    cb_falling_add(&f, t, (double[]){sin(a) * cos(t), sin(a) * sin(t), cos(a)}, (double[]){cos(t), sin(t), -t});
  }
  const cb_falling_class v = cb_falling_judge(&f);
  assert_int_equal(v.regime, CB_FALLING_STEADY);
  check_near(v.angle, 0.4, 1e-12);
}

static void little_is_undecided(void **unused) {
  assert_int_equal(judged(swinging, 0, 0).regime, CB_FALLING_UNDECIDED);
  assert_int_equal(judged(swinging, 0, 6).regime, CB_FALLING_UNDECIDED);
  assert_int_equal(judged(irregular, 0, 60).regime, CB_FALLING_UNDECIDED);
}

/* --- the planar equations --- */

/* The equations of Andersen, Pesavento & Wang. s contains the velocities u along and v across the plate, the angular
 * velocity w, the angle theta, and the position x, y. `rate` receives their rates. */
static void printed(const double s[6], double rate[6]) {
  const double I = 1.35, beta = 0.2, C_T = 1.2, C_R = M_PI, A = 1.4, B = 1, mu1 = 0.2, mu2 = 0.2;
  const double u = s[0], v = s[1], w = s[2], theta = s[3], V = sqrt(u * u + v * v);
  const double G = 2 / M_PI * (-C_T * u * v / V + C_R * w), F = (A - B * (u * u - v * v) / (V * V)) * V / M_PI;
  rate[0] = ((I + 1) * w * v - G * v - sin(theta) - F * u) / (I + beta * beta);
  rate[1] = (-(I + beta * beta) * w * u + G * u - cos(theta) - F * v) / (I + 1);
  rate[2] = 4 * (-(1 - beta * beta) * u * v - (mu1 + mu2 * fabs(w)) * w) /
            (I * (1 + beta * beta) + pow(1 - beta * beta, 2) / 2);
  rate[3] = w;
  rate[4] = u * cos(theta) - v * sin(theta);
  rate[5] = u * sin(theta) + v * cos(theta);
}

static void step_printed(double s[6], double h) {
  static const double at[] = {0, 0.5, 0.5, 1}, weight[] = {1, 2, 2, 1};
  double k[6] = {0}, y[6], sum[6] = {0};
  for (int i = 0; i < 4; i++) {
    for (int a = 0; a < 6; a++) y[a] = s[a] + h * at[i] * k[a];
    printed(y, k);
    for (int a = 0; a < 6; a++) sum[a] += weight[i] * k[a];
  }
  for (int a = 0; a < 6; a++) s[a] += h / 6 * sum[a];
}

static cb_scenario *opened(size_t n, const char *const *sets) {
  cb_scenario *s;
  check_ok(cb_scenario_open(SCENARIO, sets, n, &s));
  return s;
}

static cb_status no_row(void *self, const void *const *row) { return CB_OK; }
static cb_status no_checkpoint(void *self, const cb_blob *state, size_t n) { return CB_OK; }
static void go(cb_scenario *s) {
  cb_sink sink = {.row = no_row, .checkpoint = no_checkpoint};
  check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
}

static void the_system_is_the_printed_equations(void **unused) {
  const char *sets[] = {"time.end=10", "integrator.step=0.005"};
  cb_scenario *s = opened(2, sets);
  go(s);
  double z[6] = {0.01 * cos(0.2), -0.01 * sin(0.2), 0, 0.2};
  for (int k = 0; k < 2000; k++) step_printed(z, 0.005);
  const cb_state *at = cb_run_current(cb_scenario_run(s));
  /* the tolerance covers errors of order 4 in the step */
  for (int a = 0; a < 3; a++) check_near(at->x[a], z[a < 2 ? 4 + a : 3], 1e-6);
  cb_scenario_free(s);
}

static void circulation_does_no_work(void **unused) {
  const char *sets[] = {"time.end=10",           "integrator.step=0.005",   "system.parameters.A=0",
                        "system.parameters.B=0", "system.parameters.mu1=0", "system.parameters.mu2=0"};
  cb_scenario *s = opened(6, sets);
  cb_forces *f = cb_scenario_integrator(s)->forces;
  const cb_state *at = cb_run_current(cb_scenario_run(s));
  double kinetic[2], potential[2];
  check_ok(cb_forces_energy(f, at, &kinetic[0], &potential[0]));
  go(s);
  check_ok(cb_forces_energy(f, at, &kinetic[1], &potential[1]));
  check_at_least(kinetic[1], 1);
  /* the tolerance is the error of the integrator */
  check_near(kinetic[1] + potential[1], kinetic[0] + potential[0], 1e-6 * kinetic[1]);
  cb_scenario_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(motions_are_what_they_were_made_to_be), cmocka_unit_test(a_lean_that_goes_round_is_steady),
      cmocka_unit_test(little_is_undecided), cmocka_unit_test(the_system_is_the_printed_equations),
      cmocka_unit_test(circulation_does_no_work)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
