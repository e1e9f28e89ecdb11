/* Tests of joints in scenarios of S3 and H3: restarts, energy, the recorded wrench, limits, events, points of joined
 * bodies, and places far from the base point. */
#include "memory_sink.h"
#include "numerics/vec3.h"
#include "system_runs.h"

#include <curvebody/pose.h>

#define H3 "curvebody: 1\nspace: {name: h3, curvature: -1}\nfluid: {medium: none}\nbodies:\n"
#define S3 "curvebody: 1\nspace: {name: s3, curvature: 1}\nfluid: {medium: none}\nbodies:\n"
#define BODY_A(place)                                                                        \
  "  - {name: a, shape: {name: ellipsoid, a: 0.2, b: 0.15, c: 0.1}, mass: 4, drag: false,\n" \
  "     place: {" place "}, motion: {spin: [0.3, 0.1, 0.7], velocity: [0, 0.1, 0], frame: body}}\n"
#define BODY_B "  - {name: b, shape: {name: ellipsoid, a: 0.3, b: 0.1, c: 0.2}, mass: 3, drag: false}\n"
#define BODY_C "  - {name: c, shape: {name: ellipsoid, a: 0.15, b: 0.2, c: 0.1}, mass: 2, drag: false}\n"
#define NEAR "position: [0.1, 0, 0]"
#define PIN                                                                                                       \
  "  - {kind: hinge, name: pin, of: [a, b], at: [0.22, 0, 0], in: [-0.31, 0, 0], axis: [0, 1, 0.5], angle: 0.3, " \
  "rate: 1"
#define BALL_AT "  - {kind: ball, name: ball, of: [c, b], at: [-0.16, 0.02, 0], in: [0.33, 0, 0.01]"
#define BALL BALL_AT ", angle: [0.2, 0.3, -0.4]"
#define TAIL                                                                              \
  "integrator: {name: hamilton_pontryagin, order: %d, step: %.17g}\ntime: {end: %.17g}\n" \
  "record: {every: %d, checkpoint: 4, observables: [energy, momentum, inertia, constraints, joints]}\n"

static void write_text(const char *scenario, int order, double step, double end, int every, char text[8192]) {
  const int length = snprintf(text, 8192, "%s" TAIL, scenario, order, step, end, every);
  assert_in_range(length, 1, 8191);
}

static simulation *run(const char *scenario, int order, double step, double end, const char *const *which) {
  char text[8192];
  write_text(scenario, order, step, end, 1, text);
  return simulate(text, NULL, 0, which);
}

/* Returns the largest absolute value of a field; values that are nan are ignored. */
static double most_of(const simulation *s, int field) {
  double worst = 0;
  for (size_t i = 0; i < s->rows * s->width[field]; i++) worst = fmax(worst, fabs(s->value[field][i]));
  return worst;
}

/* --- restarts --- */

static cb_scenario *make(const char *scenario, int order) {
  char text[8192];
  cb_scenario *s = NULL;
  write_text(scenario, order, .01, 1, 5, text);
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  return s;
}

static void a_restart_repeats_the_bytes(void **unused) {
  static const char *const texts[] = {
      H3 BODY_A(NEAR) BODY_B BODY_C "joints:\n" PIN "}\n" BALL "}\n",
      S3 BODY_A(NEAR) BODY_B BODY_C
      "joints:\n" PIN
      ", motor: '3*sin(5*t) - 0.2*ball.x_rate', spring: {stiffness: 2}, damping: 0.3, armature: 0.01}\n" BALL_AT
      ", drive: ['0.2 + 0.3*sin(4*t)', none, none], angle: [none, 0.3, -0.4], rate: [none, 0, 0.1]}\n",
      H3 BODY_A(NEAR) BODY_B BODY_C "joints:\n" PIN ", limits: [-0.2, 0.6], restitution: 0.5, friction: 0.1}\n" BALL
                                    "}\nconstraints:\n  - {rod: {between: [{body: a, at: [0, 0.3, 0]}, {body: c, at: "
                                    "[0, 0.3, 0]}]}}\nstart: {project: auto}\n"};
  (void)unused;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (int order = 2; order <= 4; order += 2) {
      cb_scenario *s = make(texts[i], order);
      memory_sink whole;
      cb_sink sink = memory_open(&whole, cb_scenario_run(s));
      check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
      assert_true(whole.n_checkpoints > 3);
      for (size_t c = 0; c < whole.n_checkpoints; c++) check_rest("joints", &whole, c, make(texts[i], order));
      memory_free(&whole);
      cb_scenario_free(s);
    }
}

/* --- energy and wrenches --- */

/* Returns the maximum of |energy(t) - energy(0) - motor_work - damping_work| over the rows. *work becomes the maximum
 * over rows and joints of |motor_work| + |damping_work|. */
static double imbalance(const char *text, double step, double *work) {
  simulation *s = run(text, 2, step, 1, (const char *const[]){"energy", "motor_work", "damping_work", NULL});
  double worst = 0;
  *work = 0;
  for (size_t row = 0; row < s->rows; row++) {
    double sum = *row_of(s, 0, 0);
    for (size_t k = 0; k < s->width[1]; k++) {
      sum += row_of(s, 1, row)[k] + row_of(s, 2, row)[k];
      *work = fmax(*work, fabs(row_of(s, 1, row)[k]) + fabs(row_of(s, 2, row)[k]));
    }
    worst = fmax(worst, fabs(*row_of(s, 0, row) - sum));
  }
  simulation_free(s);
  return worst;
}

static void energy_changes_by_the_work_of_motors_drives_and_dampers(void **unused) {
  static const char *const cases[] = {"damping: 0.3, spring: {stiffness: 3, rest: 0.2}, armature: 0.02",
                                      "motor: '4*sin(3*t) - 0.1*hip_rate', armature: 0.02",
                                      "servo: {position: 'sin(2*t)', kp: 20, kv: 0.5}", "drive: '0.5*sin(3*t)'"};
  (void)unused;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int side = 0; side < 2; side++) {
      char text[4096];
      double work, coarse, fine;
      snprintf(text, sizeof text,
               "%s"
               "  - {name: a, shape: {name: ellipsoid, a: 0.2, b: 0.15, c: 0.1}, mass: 4, drag: false}\n" BODY_B
               "joints:\n  - {kind: hinge, name: hip, of: [world, a], at: [0.5, 0.6, 0], in: [-0.2, 0, 0], axis: [0, "
               "-1, 0.2], damping: 0.1}\n"
               "  - {kind: hinge, name: knee, of: [%s], at: [%s], in: [%s], axis: [0.1, -1, 0], %s}\n",
               side ? H3 : S3, side ? "b, a" : "a, b", side ? "-0.3, 0, 0" : "0.2, 0, 0",
               side ? "0.2, 0, 0" : "-0.3, 0, 0", cases[i]);
      coarse = imbalance(text, .005, &work);
      fine = imbalance(text, .0025, &work);
      print_message("%s: %.2e %.2e of %.2g J, order %.3f\n", cases[i], coarse, fine, work, log2(coarse / fine));
      check_at_most(fine, 3e-3 * work);
      check_near(log2(coarse / fine), 2, .15);
    }
}

/* Returns the error of the recorded wrench on the second body, compared with the change of its momentum. With the
 * momentum p and the twist Y in the middle of a step of length h, the wrench is W = (p_{k+1} - p_k)/h - ad*_Y p about
 * the origin of the body, and Ad*_{T(x)} W about the place x of the joint, to which the transvection T(x) moves this
 * origin. */
static double wrench_error(double K, bool reverse, double step) {
  char text[4096];
  snprintf(text, sizeof text,
           "%s" BODY_A(NEAR) BODY_B
           "joints:\n  - {kind: hinge, of: [%s], at: [%s], in: [%s], "
           "axis: [0, 1, 0.5], angle: 0.3, rate: 1, spring: {stiffness: 2}}\n",
           K < 0 ? H3 : S3, reverse ? "b, a" : "a, b", reverse ? "-0.31, 0.1, 0" : "0.22, 0, 0",
           reverse ? "0.22, 0, 0" : "-0.31, 0.1, 0");
  simulation *s = run(text, 2, step, .5, (const char *const[]){"joint_wrench", "body_momentum", "twist", NULL});
  const int second = reverse ? 0 : 1; /* the number of the joint's second body */
  const cb_pose at = {.q = {1}, .x = {reverse ? .22 : -.31, reverse ? 0 : .1, 0}};
  double worst = 0, Ad[6][6];
  cb_pose_adjoint_in(K, &at, Ad);
  for (size_t row = 1; row < s->rows; row++) {
    const double *before = row_of(s, 1, row - 1) + 6 * second, *after = row_of(s, 1, row) + 6 * second;
    double p[6], Y[6], W[6], turned[6], own[6];
    for (int k = 0; k < 6; k++) {
      p[k] = (before[k] + after[k]) / 2;
      Y[k] = (row_of(s, 2, row - 1)[6 * second + k] + row_of(s, 2, row)[6 * second + k]) / 2;
    }
    cb_pose_ad_star_in(K, Y, p, turned);
    for (int k = 0; k < 6; k++) W[k] = (after[k] - before[k]) / step - turned[k];
    cb_apply6_transposed((const double(*)[6])Ad, W, own);
    worst = fmax(worst, distance_to(6, own, row_of(s, 0, row)));
  }
  simulation_free(s);
  return worst;
}

static void the_recorded_wrench_changes_the_momentum_of_the_second_body(void **unused) {
  (void)unused;
  for (int i = 0; i < 4; i++) {
    const double K = i % 2 ? 1 : -1, coarse = wrench_error(K, i / 2, .01), fine = wrench_error(K, i / 2, .005);
    print_message("K = %g: %.2e %.2e\n", K, coarse, fine);
    check_at_most(fine, 1e-3); /* the wrenches are about 3 */
    check_near(log2(coarse / fine), 2, .3);
  }
}

/* --- limits, events and points --- */

static void limits_reflect_and_keep_energy_and_momentum(void **unused) {
  (void)unused;
  for (int side = 0; side < 2; side++) {
    char text[4096];
    snprintf(text, sizeof text, "%s%s", side ? H3 : S3,
             BODY_A(NEAR) BODY_B "joints:\n" PIN ", limits: [-0.2, 0.6], restitution: 1}\n");
    simulation *s = run(text, 4, .01, 5, (const char *const[]){"energy", "tree_casimir", "angle", "limit_work", NULL});
    double energy = 0, momentum = 0, size = fabs(row_of(s, 1, 0)[0]) + fabs(row_of(s, 1, 0)[1]);
    for (size_t row = 0; row < s->rows; row++) {
      energy = fmax(energy, fabs(*row_of(s, 0, row) / *row_of(s, 0, 0) - 1));
      momentum = fmax(momentum, distance_to(2, row_of(s, 1, row), row_of(s, 1, 0)) / size);
      assert_true(row_of(s, 2, row)[0] > -.2 - 1e-9 && row_of(s, 2, row)[0] < .6 + 1e-9);
    }
    print_message("%zu reflections, energy %.2e, Casimirs %.2e\n", s->events, energy, momentum);
    assert_true(s->events >= 3);
    check_at_most(energy, 1e-6); /* the error of the energy is of order 4 in the step */
    check_at_most(momentum, 1e-13);
    check_near(*last_of(s, 3), 0, 1e-9);
    simulation_free(s);
  }
}

static void an_event_stops_joined_bodies_at_its_time(void **unused) {
  double last[2];
  (void)unused;
  for (int i = 0; i < 2; i++) {
    simulation *s = run(H3 BODY_A(NEAR) BODY_B "joints:\n" PIN
                                               "}\nevents:\n  - {distance: {name: near, between: [[a, 0], [b, 0]], "
                                               "equals: 0.515, direction: falling, action: stop}}\n",
                        4, .01 / (1 << i), 5, (const char *const[]){"time", "plot_position", NULL});
    last[i] = *last_of(s, 0);
    simulation_free(s);
  }
  print_message("stopped at %.12f %.12f\n", last[0], last[1]);
  assert_true(last[0] < 4.9);
  check_near(last[0], last[1], 1e-6); /* the error of the time is of order 4 in the step */
}

static void a_rod_between_points_of_joined_bodies_keeps_its_length(void **unused) {
  (void)unused;
  for (int side = 0; side < 2; side++) {
    char text[4096];
    snprintf(text, sizeof text, "%s%s", side ? H3 : S3,
             BODY_A(NEAR) BODY_B BODY_C "joints:\n" PIN "}\n" BALL
                                        "}\nconstraints:\n  - {rod: {between: [{body: a, at: [0, 0.3, 0]}, {body: c, "
                                        "at: [0, 0.3, 0]}]}}\nstart: {project: auto}\n");
    simulation *s =
        run(text, 2, .01, 2,
            (const char *const[]){"constraint_residual", "joint_residual", "total_momentum", "energy", NULL});
    check_at_most(most_of(s, 0), 1e-13);
    check_at_most(most_of(s, 1), 1e-14);
    check_near(distance_to(6, row_of(s, 2, 0), last_of(s, 2)), 0, 1e-12);
    check_near(*last_of(s, 3) / *row_of(s, 3, 0), 1, 1e-3);
    simulation_free(s);
  }
}

/* --- places --- */

/* In H3 a pair of bodies that starts 17 radii of curvature away, where the last coordinate of the embedding is 1.2e7,
 * moves as near the base point. */
static void joined_bodies_may_start_far_away(void **unused) {
  static const char *const which[] = {"angle", "joint_residual", "tree_casimir", "twist", NULL};
  (void)unused;
  simulation *near = run(H3 BODY_A(NEAR) BODY_B BODY_C "joints:\n" PIN "}\n" BALL "}\n", 2, .01, 2, which),
             *far = run(H3 BODY_A("position: [10, -12, 6.6]") BODY_B BODY_C "joints:\n" PIN "}\n" BALL "}\n", 2, .01, 2,
                        which);
  check_at_most(most_of(far, 1), 1e-15);
  check_near(distance_to(far->width[0], last_of(near, 0), last_of(far, 0)), 0, 1e-12);
  check_near(distance_to(far->width[3], last_of(near, 3), last_of(far, 3)), 0, 1e-12);
  check_near(distance_to(2, row_of(far, 2, 0), last_of(far, 2)), 0, 1e-13);
  simulation_free(near);
  simulation_free(far);
}

/* A joint to the world may be far from the base point, too. */
static void a_joint_of_the_world_may_be_far_away(void **unused) {
  double last[2][3];
  (void)unused;
  for (int i = 0; i < 2; i++) {
    char text[4096];
    snprintf(text, sizeof text,
             H3 "  - {name: a, shape: {name: ellipsoid, a: 0.2, b: 0.15, c: 0.1}, mass: 4, drag: false}\n" BODY_B
                "joints:\n  - {kind: ball, of: [world, a], at: [%s], in: [-0.2, 0, 0.1], rate: [1, 0.4, -0.2]}\n" PIN
                ", spring: {stiffness: 5}}\n",
             i ? "10, -12, 6.6" : "0, 0, 0");
    simulation *s = run(text, 2, .01, 2, (const char *const[]){"angle", "joint_residual", NULL});
    for (int k = 0; k < 3; k++) last[i][k] = last_of(s, 0)[k];
    check_at_most(most_of(s, 1), 1e-15);
    simulation_free(s);
  }
  /* the axes of the world at the far place are the axes at the base point, transported along the geodesic */
  for (int k = 0; k < 3; k++) check_near(last[0][k], last[1][k], 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_restart_repeats_the_bytes),
                                     cmocka_unit_test(energy_changes_by_the_work_of_motors_drives_and_dampers),
                                     cmocka_unit_test(the_recorded_wrench_changes_the_momentum_of_the_second_body),
                                     cmocka_unit_test(limits_reflect_and_keep_energy_and_momentum),
                                     cmocka_unit_test(an_event_stops_joined_bodies_at_its_time),
                                     cmocka_unit_test(a_rod_between_points_of_joined_bodies_keeps_its_length),
                                     cmocka_unit_test(joined_bodies_may_start_far_away),
                                     cmocka_unit_test(a_joint_of_the_world_may_be_far_away)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
