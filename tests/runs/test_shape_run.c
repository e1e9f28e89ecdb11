/* Tests of runs of shape variables that move by themselves: expected numbers from independent programs, limits, drives
 * against torques, stiff springs, and restarts. */
#include "memory_sink.h"

#define SNAKE "curvebody: 1\nbundle: floating_snake\n"
#define ORDER_4(h, end) "integrator: {name: hamilton_pontryagin, order: 4, step: " #h "}\ntime: {end: " #end "}\n"

static const double *last(const memory_sink *m, const char *name) { return memory_field(m, m->n_rows - 1, name); }

/* The expected numbers are from another program, which solves the Lagrange-Poincare equations with a form written by
 * hand, by a Runge-Kutta method of high order. The error of this run is about 1e-8, estimated from a run with half the
 * step. */
static void snake_with_motor_and_spring_moves_as_its_reference(void **state) {
  memory_sink m;
  cb_scenario *s = memory_go(
      &m, SNAKE "shape: {alpha1: {torque: \"0.2*sin(2*t)\"}, alpha2: {start: 0.5, spring: {stiffness: 0.3}}}\n" ORDER_4(
              0.005, 10));
  check_near(last(&m, "shape")[0], 6.96092242309, 1e-9);
  check_near(last(&m, "shape")[1], 1.22824313127, 1e-9);
  check_near(last(&m, "group")[0], .22904357453, 1e-9);
  check_near(last(&m, "group")[1], -.02782973123, 1e-9);
  check_near(last(&m, "group")[2], .88784943587, 1e-9);
  memory_free(&m);
  cb_scenario_free(s);
}

#define LIMITED(e)                                                                                \
  SNAKE                                                                                           \
  "shape:\n  momentum: [0.6, -0.3, 0.5]\n"                                                        \
  "  alpha1: {start: 0.3, rate: 0.4, spring: {stiffness: 0.3}, limits: [-1, 1], restitution: " #e \
  "}\n"                                                                                           \
  "  alpha2: {start: 0.5, rate: 0.9, spring: {stiffness: 0.3}, limits: [-0.2, 0.9], restitution: " #e "}\n"

static void limits_reflect_at_the_known_times(void **state) {
  static const double hits[] = {2.2981802028, 3.1272791667, 6.3561245061, 7.5653029345};
  memory_sink m;
  cb_scenario *s = memory_go(&m, LIMITED(1) ORDER_4(0.004, 10));
  assert_int_equal(m.n_events, 4);
  for (int k = 0; k < 4; k++) check_near(m.event[k].time, hits[k], 1e-10);
  check_near(last(&m, "shape")[0], -.12412071344, 1e-9);
  check_near(last(&m, "shape")[1], .62278631593, 1e-9);
  check_near(last(&m, "group")[0], 2.00093701835, 1e-9);
  check_near(last(&m, "group")[1], -.78977220948, 1e-9);
  check_near(last(&m, "group")[2], 2.59838167412, 1e-9);
  check_near(last(&m, "energy")[0], .28861832081, 1e-9);
  for (int k = 0; k < 3; k++) check_near(last(&m, "momentum")[k], memory_field(&m, 0, "momentum")[k], 1e-13);
  memory_free(&m);
  cb_scenario_free(s);
}

/* With restitution below 1 the energy decreases exactly by the work of the limits, and each impact reduces the rate by
 * the restitution. */
static void limits_take_their_energy(void **state) {
  memory_sink m;
  cb_scenario *s = memory_go(&m, LIMITED(0.5) ORDER_4(0.01, 10));
  assert_true(m.n_events >= 2);
  for (size_t k = 0; k < m.n_events; k++)
    check_near(m.event[k].speed_after, -.5 * m.event[k].speed_before, 1e-12 * fabs(m.event[k].speed_before));
  const double lost = last(&m, "limit_work")[0] + last(&m, "limit_work")[1];
  check_at_least(lost, 1e-3);
  /* the tolerance is the error of the energy, of order 4 in the step */
  check_near(memory_field(&m, 0, "energy")[0] - last(&m, "energy")[0], lost, 1e-8);
  memory_free(&m);
  cb_scenario_free(s);
}

/* A torque presses a variable against its limit until the torque changes its sign. While the variable rests there, the
 * snake moves like one with a locked hinge, which a drive at the limit gives. */
static void pressed_variables_rest_at_their_limit(void **state) {
  memory_sink m;
  cb_scenario *s =
      memory_go(&m, SNAKE
                "shape: {alpha1: {start: 0.9, rate: 0.5, torque: \"0.4*cos(t)\", limits: [-1, 1], restitution: 0},\n"
                "  alpha2: {start: 0.5, spring: {stiffness: 0.3}}}\n"
                "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 3}\n");
  size_t held = 0;
  for (size_t row = 0; row < m.n_rows; row++) {
    check_at_most(memory_field(&m, row, "shape")[0], 1 + 1e-11);
    held += memory_field(&m, row, "shape")[0] >= 1 - 1e-11;
  }
  check_at_least((double)held, 80); /* the torque holds alpha1 at its limit until about t = pi/2 */
  check_at_most((double)held, 200);
  check_at_most(last(&m, "shape")[0], .9);
  assert_true(m.n_events < 5);
  memory_free(&m);
  cb_scenario_free(s);
}

/* If the effort of a driven variable is applied as a torque, the motion is that of the drive. The torque is a fit to
 * the efforts at the middles of steps, so the two agree to the order of the step. For this drive the torque is known: a
 * falling cat of two equal discs has a constant inertia J/2 of alpha, so alpha = a sin(w t) needs the torque
 * -J/2 a w^2 sin(w t). */
static void effort_is_the_torque_of_the_law(void **state) {
  memory_sink m;
  cb_scenario *s = memory_go(&m,
                             "curvebody: 1\nbundle: {name: falling_cat, arm_1: 0, arm_2: 0}\n"
                             "shape: {alpha: {drive: \"0.5*sin(2*t)\"}, momentum: [0.3]}\n"
                             "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 3}\n");
  for (size_t row = 1; row < m.n_rows; row++) {
    const double t = memory_field(&m, row, "time")[0];
    /* The effort is the mean of -.5 * .5 * 4 sin(2 t) over the last step. */
    check_near(memory_field(&m, row, "effort")[0], .5 * (cos(2 * t) - cos(2 * (t - .01))) / .01, 1e-4);
  }
  /* The work of the motor is the change of the kinetic energy J/4 alpha'^2, with J = 1 and alpha' = cos(2 t). */
  check_near(last(&m, "motor_work")[0], .25 * (pow(cos(6), 2) - 1), 1e-4);
  memory_free(&m);
  cb_scenario_free(s);
}

/* The expected numbers are from a separate program with boundary elements and Lagrange-Poincare equations. Two runs of
 * order 4 are extrapolated. */
static void fish_on_springs_moves_as_its_reference(void **state) {
  double at[2][6];
  for (int k = 0; k < 2; k++) {
    memory_sink m;
    const char *step = k ? "0.1" : "0.2";
    char text[400];
    snprintf(text, sizeof text,
             "curvebody: 1\nbundle: perfect_fish\nshape: {alpha1: {start: 0.8, spring: {stiffness: 0.5}}, "
             "alpha2: {start: -0.5, spring: {stiffness: 0.3}}}\n"
             "integrator: {name: hamilton_pontryagin, order: 4, step: %s}\ntime: {end: 5}\n",
             step);
    cb_scenario *s = memory_go(&m, text);
    memcpy(at[k], last(&m, "shape"), 2 * sizeof(double));
    memcpy(at[k] + 2, last(&m, "group"), 3 * sizeof(double));
    at[k][5] = last(&m, "energy")[0];
    memory_free(&m);
    cb_scenario_free(s);
  }
  static const double right[] = {.470907886, -.665767086, .079923204, .145399864, -.045630187, .1975};
  for (int i = 0; i < 6; i++) check_near((16 * at[1][i] - at[0][i]) / 15, right[i], 1e-7);
}

/* The expected displacement X and work per cycle were computed by shooting with another program, for the periodic
 * motion that is reached after some cycles. The swimmer does not rotate over a cycle. Passov & Or, Eur. Phys. J. E 35
 * (2012) 78, found that x = 1 is the optimum of the stiffness. */
static void elastic_purcell_swims_as_its_reference(void **state) {
  static const struct {
    double amplitude, x, X, work;
  } cases[] = {{.2, 1, -8.81445372e-4, 0}, {.2, .25, -4.14037241e-4, 0}, {.5, 1, -5.27450392e-3, .004492645}};
  for (int i = 0; i < 3; i++) {
    char text[500];
    memory_sink m;
    snprintf(
        text, sizeof text,
        "curvebody: 1\nbundle: purcell\nshape: {alpha1: {drive: \"%g*sin(t)\"}, alpha2: {spring: {stiffness: %.17g}}}\n"
        "integrator: {name: radau_iia, stages: 3, step: %.17g}\ntime: {end: %.17g}\n",
        cases[i].amplitude, cases[i].x * 16 / 2187, atan(1) / 25, (cases[i].x < 1 ? 20 : 6) * 8 * atan(1));
    cb_scenario *s = memory_go(&m, text);
    const size_t cycle = 200;
    double a[3], b[3];
    memcpy(a, memory_field(&m, m.n_rows - 1 - cycle, "group"), sizeof a);
    memcpy(b, last(&m, "group"), sizeof b);
    const double c = cos(a[2]), d = sin(a[2]);
    check_near(c * (b[0] - a[0]) + d * (b[1] - a[1]), cases[i].X, 2e-9);
    check_near(b[2], a[2], 1e-9);
    if (cases[i].work > 0)
      check_near(last(&m, "motor_work")[0] - memory_field(&m, m.n_rows - 1 - cycle, "motor_work")[0], cases[i].work,
                 1e-9);
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* A spring of stiffness k relaxes fast: k h/M = 200, with the step h and the drag M. The error of Radau IIA is at most
 * 1e-9, while that of Gauss is at least 1e-6. The reference is a run with a hundredth of the step. */
static void stiff_springs_need_radau(void **state) {
  double at[3];
  for (int i = 0; i < 3; i++) {
    memory_sink m;
    char text[400];
    snprintf(text, sizeof text,
             "curvebody: 1\nbundle: purcell\nshape: {alpha1: {drive: \"0.5*sin(t)\"}, alpha2: {start: 0.3, spring: "
             "{stiffness: 29.26, rest: 0.2}}}\n"
             "integrator: {name: %s, stages: 3, step: %g}\ntime: {end: 1}\nrecord: {every: %d}\n",
             i == 1 ? "gauss" : "radau_iia", i == 2 ? .0005 : .05, i == 2 ? 100 : 1);
    cb_scenario *s = memory_go(&m, text);
    at[i] = last(&m, "shape")[1];
    memory_free(&m);
    cb_scenario_free(s);
  }
  print_message("radau %.2g, gauss %.2g\n", fabs(at[0] - at[2]), fabs(at[1] - at[2]));
  check_near(at[0], at[2], 1e-9);
  check_at_least(fabs(at[1] - at[2]), 1e-6);
}

/* A gait whose first variable moves along a polygon with two corners and different speeds. The second variable is
 * free. */
#define CORNERS(bundle)           \
  "curvebody: 1\nbundle: " bundle \
  "\n"                            \
  "gait: {polygon: {corners: [[0.5, 0], [0, 0], [-0.4, 0], [0.2, 0]]}, period: 2.3, repeat: 2}\n"

/* Runs a scenario with this step. Computes the shape and the group element at the end, and in *off the largest error of
 * the balance of energy. */
static void go_round(const char *text, const char *integrator, double step, double end[5], double *off) {
  char all[600];
  memory_sink m;
  snprintf(all, sizeof all, "%sintegrator: {%s, step: %.17g}\n", text, integrator, step);
  cb_scenario *s = memory_go(&m, all);
  memcpy(end, last(&m, "shape"), 2 * sizeof *end);
  memcpy(end + 2, last(&m, "group"), 3 * sizeof *end);
  *off = 0;
  for (size_t row = 0; row < m.n_rows; row++) {
    const double *work = memory_field(&m, row, "motor_work");
    *off = fmax(*off, fabs(memory_field(&m, row, "energy")[0] - work[0] - work[1] - memory_field(&m, 0, "energy")[0]));
  }
  memory_free(&m);
  cb_scenario_free(s);
}

static double difference(const double a[5], const double b[5]) {
  double most = 0;
  for (int i = 0; i < 5; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

/* With inertia, the impulses at corners do work. The measured orders are within 10 % of those of the integrators. */
static void corners_of_a_gait_keep_the_order_and_the_balance_of_energy(void **state) {
  static const char text[] =
      CORNERS("floating_snake") "shape: {momentum: [0.1, 0.2, 0.3], alpha2: {start: 0.3, spring: {stiffness: 0.3}}}\n";
  static const double ratio[2] = {4, 16}, steps[2] = {.05, .1};
  static const char *const integrator[2] = {"name: hamilton_pontryagin", "name: hamilton_pontryagin, order: 4"};
  for (int k = 0; k < 2; k++) {
    double end[3][5], off[3];
    for (int i = 0; i < 3; i++) go_round(text, integrator[k], steps[k] / (1 << i), end[i], &off[i]);
    const double found = difference(end[0], end[1]) / difference(end[1], end[2]);
    print_message("order %d: ratio %.3g, energy %.2g %.2g\n", k ? 4 : 2, found, off[1], off[2]);
    check_at_least(found, (k ? .8 : .9) * ratio[k]);
    check_at_most(off[2], k ? 1e-7 : 1e-4);
    check_at_least(off[1] / off[2], .8 * ratio[k]);
  }
}

/* The last stage of Radau IIA is at the end of a step. If this is a corner, the rate at this stage is the one before
 * the corner. */
static void corners_of_a_gait_keep_the_order_with_drag(void **state) {
  static const char text[] = CORNERS("purcell") "shape: {alpha2: {start: 0.3, spring: {stiffness: 0.02}}}\n";
  static const char *const integrator[2] = {"name: radau_iia, stages: 2", "name: gauss, stages: 2"};
  for (int k = 0; k < 2; k++) {
    double end[3][5], off;
    for (int i = 0; i < 3; i++) go_round(text, integrator[k], .1 / (1 << i), end[i], &off);
    check_at_least(difference(end[0], end[1]) / difference(end[1], end[2]), k ? 14 : 7);
  }
}

/* Runs a scenario. Returns the largest error of the balance of energy, and the number of events in *events. Checks that
 * the shapes stay within limit[i], the lower and upper limit of variable i. */
static double unbalanced(const char *text, const double limit[2][2], size_t *events) {
  memory_sink m;
  double off = 0;
  cb_scenario *s = memory_go(&m, text);
  for (size_t row = 0; row < m.n_rows; row++) {
    double given = 0;
    for (int i = 0; i < 2; i++) {
      given += memory_field(&m, row, "motor_work")[i] - memory_field(&m, row, "friction_work")[i] -
               memory_field(&m, row, "limit_work")[i];
      check_at_least(memory_field(&m, row, "shape")[i], limit[i][0] - 1e-11);
      check_at_most(memory_field(&m, row, "shape")[i], limit[i][1] + 1e-11);
    }
    off = fmax(off, fabs(memory_field(&m, row, "energy")[0] - given - memory_field(&m, 0, "energy")[0]));
  }
  *events = m.n_events;
  memory_free(&m);
  cb_scenario_free(s);
  return off;
}

/* When a free variable hits its limit, the drive of the other variable needs an impulse to keep its law. This impulse
 * does work. */
static void limits_push_driven_variables(void **state) {
  static const char text[] = CORNERS("floating_snake") "shape: {alpha2: {start: 0.3, spring: {stiffness: 0.3}, limits: "
                                                       "[-0.3, 0.4]}}\nintegrator: {name: hamilton_pontryagin, order: 4, "
                                                       "step: 0.01}\n";
  static const double limit[2][2] = {{-.4, .5}, {-.3, .4}};
  size_t events;
  const double off = unbalanced(text, limit, &events);
  assert_true(events > 5);
  check_at_most(off, 1e-6); /* the error is of order 4 in the step, and the drive does work of about 1 */
}

/* Torques press two variables with dry friction against several limits. Their reflections accumulate and then end. A
 * variable that friction holds is not reflected in every step. The balance of energy has errors of order 1, because
 * friction begins and ends within steps. */
static void reflections_with_dry_friction_end(void **state) {
  static const double limit[2][2] = {{-1, .5}, {-.4, .5}}, step[2] = {.01, .0025};
  static const char *const friction[3][2] = {{"0.05", "0.03"}, {"0", "0.03"}, {"0.05", "0"}};
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 2; i++) {
      char text[600];
      size_t events;
      snprintf(text, sizeof text,
               SNAKE
               "shape:\n  momentum: [0, 0, 0.4]\n"
               "  alpha1: {start: 0.3, rate: 0.9, friction: %s, limits: [-1, 0.5], restitution: 0.3, torque: "
               "\"0.3*cos(t)\"}\n"
               "  alpha2: {start: 0.3, rate: -0.4, spring: {stiffness: 0.3}, friction: %s, limits: [-0.4, 0.5], "
               "restitution: 0}\n"
               "integrator: {name: hamilton_pontryagin, step: %g}\ntime: {end: 8}\n",
               friction[k][0], friction[k][1], step[i]);
      const double off = unbalanced(text, limit, &events);
      print_message("%s %s: %zu events, energy %.2g\n", friction[k][0], friction[k][1], events, off);
      assert_true(events > 3 && events < 150);
      check_at_most(off, step[i]);
    }
}

/* The gait drives alpha by one turn per cycle. The inertia is constant and diagonal, so alpha does not act on beta.
 * Only a spring of stiffness 1 acts on beta: beta'' = -beta. */
static void turns_of_a_loop_go_on(void **state) {
  memory_sink m;
  cb_scenario *s =
      memory_go(&m,
                "curvebody: 1\nbundle: {name: expressions, group: so2, shape: [alpha, beta], period: {alpha: 2*pi}, "
                "A: [[0.5, 0.5]], M: [[1, 0], [0, 1]]}\ngait: {loop: alpha, period: 3, repeat: 2}\n"
                "shape: {beta: {start: 1, spring: {stiffness: 1}}}\n"
                "integrator: {name: hamilton_pontryagin, order: 4, step: 0.01}\n");
  check_near(last(&m, "shape")[0], 16 * atan(1), 1e-12);
  check_near(last(&m, "shape_rate")[0], 8 * atan(1) / 3, 1e-12);
  check_near(last(&m, "shape")[1], cos(6), 1e-9);
  check_near(last(&m, "group")[0], -8 * atan(1) - (cos(6) - 1) / 2, 1e-9);
  memory_free(&m);
  cb_scenario_free(s);
}

/* A run that continues from a checkpoint has the same bytes, with limits, drives and dry friction. */
static void restarts_have_the_same_bytes(void **state) {
  static const char text[] = SNAKE
      "shape:\n  momentum: [0.6, -0.3, 0.5]\n"
      "  alpha1: {start: 0.3, rate: 0.4, spring: {stiffness: 0.3}, limits: [-1, 1], friction: 0.01}\n"
      "  alpha2: {drive: \"0.4*sin(3*t)\"}\n"
      "integrator: {name: hamilton_pontryagin, step: 0.02}\ntime: {end: 8}\nrecord: {checkpoint: 60}\n";
  memory_sink m;
  cb_scenario *s = memory_go(&m, text), *rest;
  assert_true(m.n_checkpoints > 3);
  for (size_t k = 1; k + 1 < m.n_checkpoints; k++) {
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &rest));
    check_rest("snake", &m, k, rest);
  }
  memory_free(&m);
  cb_scenario_free(s);
}

/* The resolved scenario, from which a record is resumed, is valid, and its resolved form is the same text. */
static void resolved_scenarios_read_back(void **state) {
  static const char *const scenarios[] = {
      SNAKE "shape: {alpha1: {drive: \"0.4*sin(3*t)\", damping: 0.1}, alpha2: {start: 0.1}}\n",
      SNAKE "shape: {alpha1: {start: 0.1, limits: [-1, 1]}, alpha2: {limits: [-1, 1], restitution: 0.5}}\n",
      SNAKE "shape: {parameters: {a: 0.4, b: 2*a}, period: 3*b, alpha1: {torque: \"a*sin(b*t)\"}, alpha2: {}}\n",
      "curvebody: 1\nbundle: purcell\nshape: {alpha1: {drive: \"sin(t)\"}, alpha2: {start: 1, spring: {stiffness: "
      "1}}}\n"};
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
    char text[500];
    cb_scenario *s, *again;
    snprintf(text, sizeof text, "%sintegrator: {name: %s, step: 0.02}\ntime: {end: 8}\n", scenarios[i],
             strstr(scenarios[i], "purcell") ? "gauss" : "hamilton_pontryagin");
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
    check_ok(cb_scenario_open_text("resolved", cb_scenario_resolved(s), NULL, 0, &again));
    assert_string_equal(cb_scenario_resolved(again), cb_scenario_resolved(s));
    cb_scenario_free(again);
    cb_scenario_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(snake_with_motor_and_spring_moves_as_its_reference),
      cmocka_unit_test(limits_reflect_at_the_known_times),
      cmocka_unit_test(limits_take_their_energy),
      cmocka_unit_test(pressed_variables_rest_at_their_limit),
      cmocka_unit_test(effort_is_the_torque_of_the_law),
      cmocka_unit_test(fish_on_springs_moves_as_its_reference),
      cmocka_unit_test(elastic_purcell_swims_as_its_reference),
      cmocka_unit_test(stiff_springs_need_radau),
      cmocka_unit_test(corners_of_a_gait_keep_the_order_and_the_balance_of_energy),
      cmocka_unit_test(corners_of_a_gait_keep_the_order_with_drag),
      cmocka_unit_test(limits_push_driven_variables),
      cmocka_unit_test(reflections_with_dry_friction_end),
      cmocka_unit_test(turns_of_a_loop_go_on),
      cmocka_unit_test(restarts_have_the_same_bytes),
      cmocka_unit_test(resolved_scenarios_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
