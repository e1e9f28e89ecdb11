/* Tests of periodic motions of shape variables that move by themselves: reference numbers of an elastic swimmer, long
 * runs, Floquet multipliers, the best stiffness, and motions that are refused. */
#include "memory_sink.h"
#include "scenario/cycle.h"
#include "scenario/private.h"

#define PI 3.14159265358979323846
/* Elements of the cost metric M of the straight Purcell swimmer of length 1. The drag coefficients are 1 along the
 * links and 2 across them. */
#define M22 (16. / 2187)
#define M12 (11. / 2187)

typedef struct opened {
  cb_tree *tree;
  cb_scenario *scenario;
} opened;

/* Opens a scenario for the command `gait`, without a run. */
static cb_status open_text(const char *text, opened *o) {
  *o = (opened){NULL};
  check_ok(cb_yaml_read_text("test", text, strlen(text), &o->tree));
  return cb_scenario_open_member(o->tree, cb_tree_root(o->tree), NULL, 0, true, &o->scenario);
}

static void close_text(opened *o) {
  cb_scenario_free(o->scenario);
  cb_tree_free(o->tree);
}

static void find(const char *text, cb_motion_cycle *c) {
  opened o;
  check_ok(open_text(text, &o));
  check_ok(cb_motion_cycle_find(o.scenario, &(cb_cycle_options){.tolerance = 0}, c));
  close_text(&o);
}

/* An elastic Purcell swimmer with the amplitude a and the stiffness x w M22. A few steps of order 9 have errors of
 * about 1e-12. */
#define FEW_STEPS "integrator: {name: radau_iia, stages: 5, step: pi/16/%g}\n"
static const char *elastic(double a, double x, double w, const char *integrator) {
  static char text[600];
  int length =
      snprintf(text, sizeof text,
               "curvebody: 1\nbundle: purcell\n"
               "shape: {parameters: {a: %.17g, w: %g}, period: 2*pi/w, alpha1: {drive: \"a*sin(w*t)\"}, alpha2: "
               "{spring: {stiffness: %.17g}}}\n",
               a, w, x * w * M22);
  snprintf(text + length, sizeof text - (size_t)length, integrator, w);
  return text;
}

#define SNAKE "curvebody: 1\nbundle: floating_snake\n"
#define TAIL "spring: {stiffness: 0.3, rest: 0.2}, damping: 0.05}"
/* A snake with an elastic and damped tail and a driven head. `place` is the key `start` of the tail, or "". */
#define ELASTIC_SNAKE(place)                                    \
  SNAKE                                                         \
  "shape: {period: 2*pi/3, alpha1: {drive: \"0.5*sin(3*t)\"}, " \
  "alpha2: {" place TAIL "}\n"

/* The expected displacements X and works are from shooting with another program, to 9 digits. In the first case an
 * independent program of resistive forces gives X = -8.8144537185e-4. */
static void elastic_purcell_has_its_periodic_motion(void **state) {
  static const struct {
    double a, x, X, work;
  } cases[] = {{.2, 1, -8.81445372e-4, 0}, {.2, .25, -4.14037241e-4, 0}, {.5, 1, -5.27450392e-3, .004492645}};
  for (int i = 0; i < 3; i++) {
    cb_motion_cycle c;
    find(elastic(cases[i].a, cases[i].x, 1, FEW_STEPS), &c);
    check_relative(c.of.g[0], cases[i].X, 1e-8);
    check_near(c.of.g[2], 0, 1e-14);
    if (i == 0) check_near(c.of.g[1], 1.57722e-5, 5e-11);
    if (cases[i].work > 0) check_relative(c.of.work, cases[i].work, 1e-8);
    check_at_most(c.error, 1e-10);
    check_at_most(c.of.residual, 1e-14);
    assert_true(c.of.stable && c.of.multipliers == 1);
    check_relative(c.of.dissipated, c.of.work, 1e-12);
    check_relative(c.per_work, hypot(c.of.g[0], c.of.g[1]) / c.of.work, 1e-12);
    check_relative(c.efficiency, c.per_work * c.distance / (2 * PI), 1e-12);
  }
}

/* The first joint moves with a small amplitude a, the frequency w and the period T, and the spring of the second one
 * has the stiffness k = x w M22. The displacement per period is X = -(5 pi/486) (M12/M22) a^2 2 x/(1 + x^2), and the
 * multiplier is exp(-k T/M22). The deviations are of order a^2. */
static void small_amplitudes_follow_the_closed_forms(void **state) {
  static const double x[] = {.2, .5, 1, 2};
  for (int i = 0; i < 4; i++) {
    cb_motion_cycle c;
    const double a = 1e-4;
    find(elastic(a, x[i], 1, FEW_STEPS), &c);
    check_relative(c.of.g[0], -(5 * PI / 486) * (M12 / M22) * a * a * 2 * x[i] / (1 + x[i] * x[i]), 1e-6);
    /* The multiplier is computed from differences of the map over one period. Their absolute error is about 1e-13. */
    check_near(c.of.real[0], exp(-2 * PI * x[i]), 1e-6 * exp(-2 * PI * x[i]) + 1e-12);
    assert_true(c.of.imaginary[0] == 0);
  }
}

/* Computes the displacement b^-1 a between two rows of /group, on SE(2). */
static void between(const double *b, const double *a, double *out) {
  const double c = cos(b[2]), s = sin(b[2]);
  out[0] = c * (a[0] - b[0]) + s * (a[1] - b[1]);
  out[1] = c * (a[1] - b[1]) - s * (a[0] - b[0]);
  out[2] = a[2] - b[2];
}

/* A long run with the same steps tends to the periodic motion: after 60 cycles its distance has decreased by the factor
 * |multiplier|^60 = 7e-14. */
static void long_runs_come_to_the_periodic_motion(void **state) {
  enum { CYCLES = 60, STEPS = 100 };
  static const char *const text = ELASTIC_SNAKE("start: 0.9, rate: -1, ");
  cb_motion_cycle c;
  memory_sink m;
  char both[1000];
  double moved[3];
  snprintf(both, sizeof both, "%sintegrator: {name: hamilton_pontryagin, order: 4, step: pi/75}\n", text);
  find(both, &c); /* the search halves the step pi/75 once */
  assert_int_equal(c.of.steps, STEPS);
  snprintf(both, sizeof both,
           "%sintegrator: {name: hamilton_pontryagin, order: 4, step: pi/150}\ntime: {end: %d*pi/3}\nrecord: {every: "
           "%d, observables: [energy, work]}\n",
           text, 2 * CYCLES, STEPS);
  cb_scenario *s = memory_go(&m, both);
  const double *a = memory_field(&m, m.n_rows - 1, "group"), *b = memory_field(&m, m.n_rows - 2, "group");
  assert_int_equal(m.n_rows, CYCLES + 1);
  check_near(memory_field(&m, m.n_rows - 1, "shape")[1], c.of.start.r[1], 1e-9);
  check_near(memory_field(&m, m.n_rows - 1, "shape_rate")[1], c.of.rate[1], 1e-9);
  between(b, a, moved);
  for (int k = 0; k < 3; k++) check_near(moved[k], c.of.g[k], 1e-9);
  double work[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    work[0] += memory_field(&m, m.n_rows - 1, "motor_work")[i] - memory_field(&m, m.n_rows - 2, "motor_work")[i];
    work[1] += memory_field(&m, m.n_rows - 1, "damping_work")[i] - memory_field(&m, m.n_rows - 2, "damping_work")[i];
  }
  check_near(work[0], c.of.work, 1e-9);
  check_near(work[1], c.of.dissipated, 1e-9);
  check_relative(c.of.dissipated, c.of.work, 1e-6); /* the two differ by the error of the energy that the steps make */
  memory_free(&m);
  cb_scenario_free(s);
}

/* Compares the multipliers with runs of one cycle that start on both sides of the periodic motion. The differences of
 * their ends are the derivative of the cycle map, whose trace and determinant are the sum and the product of the
 * multipliers. Differences of order 2 with the step .001 have errors of about 1e-6 of the third derivative. */
static void multipliers_are_those_of_runs(void **state) {
  cb_motion_cycle c;
  double J[2][2];
  const double h = 1e-3;
  find(ELASTIC_SNAKE("") "integrator: {name: hamilton_pontryagin, order: 4, step: pi/150}\n", &c);
  assert_int_equal(c.of.multipliers, 2);
  assert_true(c.of.imaginary[0] != 0);
  for (int j = 0; j < 2; j++)
    for (int side = 0; side < 2; side++) {
      char text[1000], place[100];
      memory_sink m;
      const double e = side ? h : -h;
      snprintf(place, sizeof place, "start: %.17g, rate: %.17g, ", c.of.start.r[1] + (j == 0 ? e : 0),
               c.of.rate[1] + (j == 1 ? e : 0));
      snprintf(text, sizeof text,
               SNAKE "shape: {period: 2*pi/3, alpha1: {drive: \"0.5*sin(3*t)\"}, alpha2: {%s" TAIL
                     "}\nintegrator: {name: hamilton_pontryagin, order: 4, step: pi/300}\n",
               place);
      cb_scenario *s = memory_go(&m, text); /* the key `period` sets the end of the run */
      const double to[2] = {memory_field(&m, m.n_rows - 1, "shape")[1],
                            memory_field(&m, m.n_rows - 1, "shape_rate")[1]};
      for (int i = 0; i < 2; i++) J[i][j] = side ? (to[i] - J[i][j]) / (2 * h) : to[i];
      memory_free(&m);
      cb_scenario_free(s);
    }
  check_near(c.of.real[0] + c.of.real[1], J[0][0] + J[1][1], 1e-5);
  check_near(c.of.real[0] * c.of.real[1] - c.of.imaginary[0] * c.of.imaginary[1], J[0][0] * J[1][1] - J[0][1] * J[1][0],
             1e-5);
}

/* If a gait drives all variables, the swimmer moves by the holonomy of the gait, and the work is the cost. If a gait
 * with corners drives one variable, it is followed exactly, so the result does not depend on the steps. */
static void gaits_drive_variables(void **state) {
#define POLYGON                                                                                      \
  "curvebody: 1\nbundle: purcell\ngait: {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}, " \
  "period: 3}\n"
  cb_motion_cycle c[2];
  cb_gait_cycle whole;
  opened o;
  find(POLYGON "shape: {}\n", &c[0]);
  check_ok(open_text(POLYGON, &o));
  const cb_bundle_scenario *m = cb_bundle_scenario_of(o.scenario);
  check_ok(cb_gait_cycle_find(m, m->bundle, 0, false, &whole));
  close_text(&o);
  for (int k = 0; k < 3; k++) check_near(c[0].of.g[k], whole.g[k], 1e-12);
  check_relative(c[0].of.work, whole.cost, 1e-11);
  check_at_most(c[0].efficiency, whole.efficiency * (1 + 1e-12));
  for (int i = 0; i < 2; i++) {
    char text[600];
    snprintf(text, sizeof text,
             POLYGON
             "shape: {alpha2: {spring: {stiffness: 0.02}}}\nintegrator: {name: radau_iia, stages: 4, step: %s}\n",
             i ? "0.07" : "0.11");
    find(text, &c[i]);
  }
  for (int k = 0; k < 3; k++) check_near(c[0].of.g[k], c[1].of.g[k], 1e-9);
}

/* The work is the integral of the power r'^T M r' of a run, with the rate r' of the shape and the drag M. The
 * trapezoidal rule is exact to round-off for periodic motions. */
static void the_work_is_dissipated_by_drag(void **state) {
  memory_sink m;
  cb_motion_cycle c;
  opened o;
  cb_text text = {0};
  check_ok(open_text(elastic(.8, .7, 1, ""), &o));
  check_ok(cb_motion_cycle_find(o.scenario, &(cb_cycle_options){.tolerance = 0}, &c));
  check_ok(cb_scenario_with_start(o.scenario, &c.of, &text));
  cb_text_puts(&text, "record: {observables: [power]}\n");
  cb_scenario *s = memory_go(&m, text.data);
  double sum = 0;
  for (size_t row = 1; row < m.n_rows; row++)
    sum += memory_field(&m, row, "power")[0] * 2 * PI / (double)(m.n_rows - 1);
  check_relative(sum, c.of.dissipated, 1e-10);
  /* the written scenario begins at the periodic start */
  check_near(memory_field(&m, m.n_rows - 1, "shape")[1], memory_field(&m, 0, "shape")[1], 1e-11);
  memory_free(&m);
  cb_scenario_free(s);
  cb_text_free(&text);
  close_text(&o);
}

/* The torque is -.002 g with g = alpha2 + .6 sin(3 alpha2), whose only zero is 0. Newton's method from 1.5 stops at
 * 1.374, where g has a minimum of .81. The search then runs cycles, which lead to the motion that a near start
 * finds. */
static void far_starts_find_the_same_motion(void **state) {
  cb_motion_cycle c[2];
  for (int i = 0; i < 2; i++) {
    char text[500];
    snprintf(text, sizeof text,
             "curvebody: 1\nbundle: purcell\nshape: {period: 1, alpha1: {drive: \"0.5*sin(2*pi*t)\"}, alpha2: {start: "
             "%g, torque: \"-0.002*(alpha2 + 0.6*sin(3*alpha2))\"}}\nintegrator: {name: gauss, step: 0.02}\n",
             i ? 1.5 : 0);
    find(text, &c[i]);
  }
  check_near(c[0].of.start.r[1], c[1].of.start.r[1], 1e-12);
  for (int k = 0; k < 3; k++) check_near(c[0].of.g[k], c[1].of.g[k], 1e-13);
  check_near(c[0].of.real[0], c[1].of.real[0], 1e-11);
}

static cb_cycle_optimum best(const char *text, cb_cycle_search search, cb_motion_cycle *c) {
  opened o;
  cb_cycle_optimum found;
  cb_scenario *at = NULL;
  check_ok(open_text(text, &o));
  check_ok(cb_cycle_optimise(o.scenario, &search, &found, &at));
  check_ok(cb_motion_cycle_find(at, &(cb_cycle_options){.near = &found.motion}, c));
  cb_scenario_free(at);
  close_text(&o);
  return found;
}

#define STIFFNESS "shape.alpha2.spring.stiffness"

/* The displacement per cycle of an elastic Purcell swimmer depends on its stiffness. For the frequency w and a small
 * amplitude a it is largest at the stiffness w M22, where it is -.0222206270509 a^2. For a = .2 the best stiffness is
 * 1.0032864 w M22. The factor 1.0032864 was computed by a separate program of resistive forces, from differences in the
 * stiffness. */
static void the_best_stiffness_is_known(void **state) {
  static const struct { double a, x, tolerance; } cases[] = {{.001, 1, 1e-6}, {.2, 1.0032864, 2e-7}};
  for (int i = 0; i < 2; i++) {
    cb_motion_cycle c;
    const cb_cycle_optimum found =
        best(elastic(cases[i].a, .3, 1, FEW_STEPS),
             (cb_cycle_search){1, {{STIFFNESS, .1 * M22, 10 * M22}}, .component = 0, .starts = 2, .seed = 1}, &c);
    check_near(found.value[0] / M22, cases[i].x, cases[i].tolerance);
    assert_true(found.converged && found.found == 2 && !found.bound[0]);
    check_relative(fabs(c.of.g[0]), found.objective, 1e-10);
    if (i == 0) check_relative(c.of.g[0] / 1e-6, -.0222206270509, 1e-6);
  }
}

/* If the range ends below the best stiffness, the best value is the end of the range. With two keys, both best values
 * are found: the best stiffness is proportional to the frequency w, and the efficiency does not depend on w. */
static void bounds_and_several_keys(void **state) {
  cb_motion_cycle c;
  const cb_cycle_search one = {1, {{STIFFNESS, .1 * M22, .5 * M22}}, .component = -1, .starts = 1};
  cb_cycle_optimum found = best(elastic(.2, .3, 1, FEW_STEPS), one, &c);
  assert_int_equal(found.bound[0], 1);
  check_relative(found.value[0], .5 * M22, 1e-15);
  double x[2], efficiency[2];
  for (int i = 0; i < 2; i++) {
    const double w = i ? 3 : 1;
    const cb_cycle_search two = {2,
                                 {{STIFFNESS, .002 * w, .1 * w}, {"shape.parameters.a", .3, 2.2}},
                                 .efficiency = true,
                                 .component = -1,
                                 .starts = 1};
    found = best(elastic(1, 1.4, w, FEW_STEPS), two, &c);
    assert_true(found.converged && !found.bound[0] && !found.bound[1]);
    x[i] = found.value[0] / w;
    efficiency[i] = found.objective;
    check_relative(c.efficiency, found.objective, 1e-8);
  }
  check_relative(x[0], x[1], 1e-6);
  check_relative(efficiency[0], efficiency[1], 1e-10);
}

/* Wrong scenarios, with the line, the column and the beginning of the message. The member `shape` of a case is the text
 * of the scenario from line 3 on. */
static void wrong_cycles_are_refused(void **state) {
  static const struct {
    const char *bundle, *shape, *text;
  } cases[] = {
      {"purcell", "shape: {alpha1: {drive: \"sin(t)\"}}", "test:3:8: error: the key `period` is missing: expected the"},
      {"purcell", "shape: {period: -1, alpha1: {drive: \"sin(t)\"}}",
       "test:3:17: error: period: expected a finite number > 0, found -1"},
      {"purcell", "shape: {period: 2*pi/w, alpha1: {drive: \"sin(t)\"}}", "test:3:22: error: unknown name `w`"},
      {"purcell", "shape: {period: 1, alpha1: {drive: \"sin(t)\"}}",
       "test:3:36: error: expected the period 1 of the cycle, found the value"},
      {"purcell", "shape: {period: 1, alpha2: {torque: \"alpha1*sin(t)\", start: 1}, alpha1: {start: 1}}",
       "test:3:37: error: expected the period 1 of the cycle, found the value"},
      {"purcell", "shape: {period: 1, alpha1: {drive: \"b*sin(2*pi*t)\"}, parameters: {a: 1}}",
       "test:3:37: error: unknown name `b`"},
      {"purcell", "shape: {period: 1, alpha1: {drive: \"sin(2*pi*t)\"}, parameters: {pi: 1}}",
       "test:3:65: error: the name 'pi' is the name of a constant"},
      {"purcell", "shape: {period: 1, alpha1: {drive: \"sin(2*pi*t)\"}, parameters: 3}",
       "test:3:64: error: expected a map of names and numbers"},
      {"purcell", "gait: {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}}\nshape: {period: 1}",
       "test:4:17: error: `period` next to `gait`: expected only one of them"},
      {"purcell", "shape: {period: 1, potential: \"group.y^2\", alpha1: {drive: \"sin(2*pi*t)\"}}",
       "test:3:31: error: a cycle with a potential that depends on the place: expected"},
      {"floating_snake", "shape: {period: 1, alpha1: {drive: \"sin(2*pi*t)\"}, alpha2: {friction: 1}}",
       "test:3:71: error: a cycle with dry friction: expected none"},
      {"floating_snake",
       "shape: {period: 3, alpha2: {spring: {stiffness: 1}, damping: 1, limits: [-1, .1]}, alpha1: {drive: "
       "\"sin(2*pi*t/3)\"}}",
       "test:3:73: error: alpha2 goes from -0.153651 to 0.153651 in the cycle"},
      {"floating_snake",
       "shape: {period: 3, alpha2: {spring: {stiffness: 1}, damping: 1, limits: [-.1, 1]}, alpha1: {drive: "
       "\"sin(2*pi*t/3)\"}}",
       "test:3:73: error: alpha2 goes from -0.153651 to 0.153651 in the cycle"},
      {"floating_snake",
       "shape: {period: 3, momentum: [1, .5, .2], alpha1: {drive: \"sin(2*pi*t/3)\"}, alpha2: {spring: {stiffness: 9}, "
       "damping: 1}}",
       "test:3:30: error: the cycle turns the body, which changes its momentum"},
      {"purcell", "title: no shape", "test:1:1: error: the key `shape` is missing: a cycle needs shape variables"},
      {"purcell",
       "shape: {period: 1, alpha1: {drive: \"sin(2*pi*t)\"}}\nintegrator: {name: hamilton_pontryagin, step: .1}",
       "test:4:20: error: integrator `hamilton_pontryagin` is for discrete Lagrangians on a Lie group, not for shapes "
       "with drag; expected one of `gauss`"},
      {"purcell", "shape: {period: 1, alpha1: {drive: \"sin(2*pi*t)\"}}\nintegrator: {name: radau_iia, step: 1e-9}",
       "test:4:37: error: step: expected at least 9.53674e-07, for 1048576 steps"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[600];
    opened o;
    cb_motion_cycle c;
    snprintf(text, sizeof text, "curvebody: 1\nbundle: %s\n%s\n", cases[i].bundle, cases[i].shape);
    cb_status status = open_text(text, &o);
    if (!status) status = cb_motion_cycle_find(o.scenario, &(cb_cycle_options){.tolerance = 0}, &c);
    check_case_begins(cases[i].shape, status, CB_ERROR_INPUT, cases[i].text);
    close_text(&o);
  }
}

/* If a joint in drag has no spring, or a snake no damping, some quantity keeps its start value for ever. Then a
 * multiplier is 1, and the periodic motion is not isolated. */
static void motions_that_are_not_isolated_are_refused(void **state) {
  opened o;
  cb_motion_cycle c;
  check_ok(open_text("curvebody: 1\nbundle: purcell\nshape: {period: 1, alpha1: {}}\n", &o));
  check_error_begins(cb_motion_cycle_find(o.scenario, &(cb_cycle_options){.tolerance = 0}, &c), CB_STEP_SINGULAR,
                     "no periodic motion was found: a Floquet multiplier is 1");
  close_text(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elastic_purcell_has_its_periodic_motion),
      cmocka_unit_test(small_amplitudes_follow_the_closed_forms),
      cmocka_unit_test(long_runs_come_to_the_periodic_motion),
      cmocka_unit_test(multipliers_are_those_of_runs),
      cmocka_unit_test(gaits_drive_variables),
      cmocka_unit_test(the_work_is_dissipated_by_drag),
      cmocka_unit_test(far_starts_find_the_same_motion),
      cmocka_unit_test(the_best_stiffness_is_known),
      cmocka_unit_test(bounds_and_several_keys),
      cmocka_unit_test(wrong_cycles_are_refused),
      cmocka_unit_test(motions_that_are_not_isolated_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
