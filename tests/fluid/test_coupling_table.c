/* Tests of tables of the exact coupling of joined bodies (fluid/body_coupling.h). The tables agree with the exact
 * coupling to the order of the splines. Momentum and slope, as defined there, are derivatives of one energy, also at
 * poses that violate the joints. A run with a table conserves its momentum, and its energy has no trend. */
#include "fluid/body_coupling.h"
#include "joined_bodies.h"
#include "several.h"
#include "simulate.h"

enum { BODIES = 3 };

static const cb_joint_data no_data;

static cb_pose frame_of(const double at[3], const double axis[3]) {
  cb_pose frame = {.x = {at[0], at[1], at[2]}};
  cb_joint_axes(axis, frame.q);
  return frame;
}

/* Makes a joint that holds body b at a place beyond the end of body a. Its axis is nearly z, so that b swings, or with
 * `roll` nearly the common axis x of the bodies, so that b can make a complete turn. */
static cb_coupled_joint joint_of(const char *class, int a, int b, bool roll) {
  const double axis[3] = {roll ? 1 : .2, .1, roll ? .05 : 1}, axis_in[3] = {roll ? 1 : 0, .1, roll ? 0 : 1};
  return (cb_coupled_joint){
      .name = "pin",
      .class_ = joint_class(class),
      .data = &no_data,
      .body = {a, b},
      .frame = {frame_of((const double[]){1.6, .1, 0}, axis), frame_of((const double[]){-1.5, 0, .05}, axis_in)}};
}

static void make_meshes(solid_mesh m[BODIES]) {
  m[0] = ellipsoid_mesh(3, 1, .4, .3);
  m[1] = ellipsoid_mesh(3, .9, .5, .35);
  m[2] = ellipsoid_mesh(2, .5, .4, .3);
}

static const double density = 2.5;
/* 9 samples of the coordinate of the joint in the range [-1, 1]. */
static const cb_coupling_samples within = {.counts = 1, .count = {9}, .ranges = 1, .given = {true}, .range = {{-1, 1}}};

static cb_coupling_table *table_of(int n, cb_several *s, int joints, const cb_coupled_joint *joint,
                                   const cb_coupling_samples *samples) {
  const cb_coupled_fluid of = {.density = density, .n = n, .joints = joints, .joint = joint};
  cb_coupling_table *t = NULL;
  int which;
  check_ok(cb_coupling_table_create(&of, s, samples, &which, &t));
  return t;
}

/* Computes the pose of the second body of joint j from the pose of its first body and the joint coordinates q. */
static void hold(const cb_coupled_joint *j, const double *q, cb_pose *g) {
  cb_pose m, back;
  j->class_->place(q, j->data, &m);
  cb_pose_inverse(&j->frame[1], &back);
  cb_pose_multiply(&g[j->body[0]], &j->frame[0], &g[j->body[1]]);
  cb_pose_multiply(&g[j->body[1]], &m, &g[j->body[1]]);
  cb_pose_multiply(&g[j->body[1]], &back, &g[j->body[1]]);
}

/* --- accuracy --- */

/* Computes the largest error of the momentum and of the slope that a table gives for a hinge, each relative to the
 * largest exact number. */
static void find_errors(const cb_coupling_samples *samples, bool roll, double error[2]) {
  solid_mesh m[BODIES];
  make_meshes(m);
  cb_several *s = several_of(2, m, NULL);
  const cb_coupled_joint pin = joint_of("hinge", 0, 1, roll);
  cb_coupling_table *t = table_of(2, s, 1, &pin, samples);
  double size[2] = {0};
  error[0] = error[1] = 0;
  for (double q = -.93; q < .95; q += .11) {
    cb_pose g[2] = {several_pose[0]};
    double momentum[2][2][6], slope[2][2][6], along[2] = {0};
    hold(&pin, &q, g);
    check_ok(cb_several_apply(s, g, several_twist, momentum[0], slope[0], NULL));
    check_ok(cb_coupling_table_apply(t, g, several_twist, momentum[1], slope[1], NULL));
    for (int k = 0; k < 12; k++) {
      const double exact = density * momentum[0][k / 6][k % 6];
      size[0] = fmax(size[0], fabs(exact));
      error[0] = fmax(error[0], fabs(momentum[1][k / 6][k % 6] - exact));
    }
    /* only the torque of the slope about the axis of body 1 is compared, because the joint balances its other
     * components */
    for (int k = 0; k < 2; k++) {
      cb_pose back;
      double own[6];
      cb_pose_inverse(&pin.frame[1], &back);
      cb_se3_momentum_to_world(&back, slope[k][1], own);
      along[k] = own[2] * (k ? 1 : density);
    }
    size[1] = fmax(size[1], fabs(along[0]));
    error[1] = fmax(error[1], fabs(along[1] - along[0]));
  }
  for (int k = 0; k < 2; k++) error[k] /= size[k];
  cb_coupling_table_free(t);
  several_free(s, BODIES, m);
}

/* The error of a spline of degree 5 has the order 6, and the error of its slope the order 5. The test doubles the
 * number of samples. The measured orders may be smaller by .7, because the error also depends on where the samples
 * are. */
static void the_error_falls_at_the_order_of_the_splines(void **unused) {
  for (int periodic = 0; periodic < 2; periodic++) {
    double error[2][2];
    for (int i = 0; i < 2; i++) {
      cb_coupling_samples samples = within;
      samples.count[0] = periodic ? 16 << i : (32 << i) + 1;
      samples.ranges = !periodic;
      find_errors(&samples, periodic, error[i]);
    }
    print_message("%s: momentum %.2e %.2e, slope %.2e %.2e\n", periodic ? "periodic" : "range", error[0][0],
                  error[1][0], error[0][1], error[1][1]);
    check_at_least(log2(error[0][0] / error[1][0]), 5.3);
    check_at_least(log2(error[0][1] / error[1][1]), 4.3);
  }
}

/* --- one energy --- */

static double energy_of(cb_coupling_table *t, int n, const cb_pose *g) {
  double momentum[BODIES][6], energy[BODIES], sum = 0;
  check_ok(cb_coupling_table_apply(t, g, several_twist, momentum, NULL, energy));
  for (int i = 0; i < n; i++) sum += energy[i];
  /* round-off of sums of numbers up to 1 */
  check_near(sum, several_dot(n, (const double(*)[6])momentum, several_twist) / 2, 1e-14);
  return sum;
}

/* Compares the slope with differences of order 4 with the step e, whose errors are e^4 and 1e-16/e, and checks the sum
 * of the wrenches in the world. The poses violate the joints by displacements of .05. */
static void check_one_energy(cb_coupling_table *t, int n, cb_pose *g) {
  const double e = 1e-3;
  double momentum[BODIES][6], slope[BODIES][6], sum[6] = {0}, size = 0;
  for (int i = 1; i < n; i++) g[i] = several_moved(&g[i], i, .05);
  for (int i = 1; i < n; i++) g[i] = several_moved(&g[i], 4, -.03);
  check_ok(cb_coupling_table_apply(t, g, several_twist, momentum, slope, NULL));
  for (int c = 0; c < 6 * n; c++) {
    double side[4];
    for (int k = 0; k < 4; k++) {
      cb_pose moved[BODIES];
      memcpy(moved, g, (size_t)n * sizeof *g);
      moved[c / 6] = several_moved(g + c / 6, c % 6, e * (k < 2 ? k - 2 : k - 1));
      side[k] = energy_of(t, n, moved);
    }
    check_near(slope[c / 6][c % 6], (side[0] - 8 * side[1] + 8 * side[2] - side[3]) / (12 * e), 1e-9);
    size = fmax(size, fabs(slope[c / 6][c % 6]));
  }
  check_at_least(size, 3e-4); /* the numbers that are compared are not all 0 */
  for (int i = 0; i < n; i++) {
    double world[6];
    cb_se3_momentum_to_world(&g[i], slope[i], world);
    cb_add6(1, world, sum);
  }
  for (int k = 0; k < 6; k++) check_near(sum[k], 0, 1e-14 * fmax(size, 1));
}

static void the_slope_is_the_derivative_of_the_energy(void **unused) {
  static const char *const class[] = {"hinge", "slide", "cylindrical"};
  static const double q[] = {.3, .2};
  solid_mesh m[BODIES];
  make_meshes(m);
  for (int i = 0; i < 3; i++) {
    cb_several *s = several_of(2, m, NULL);
    const cb_coupled_joint joint = joint_of(class[i], 0, 1, false);
    cb_coupling_samples samples = within;
    if (joint.class_->coordinates > 1) {
      samples.ranges = 2;
      samples.given[1] = true;
      samples.range[1][0] = -1;
      samples.range[1][1] = 1;
      samples.count[0] = 7;
    }
    samples.range[0][0] = i ? -.1 : -1; /* a slide brings the bodies nearer to each other */
    cb_coupling_table *t = table_of(2, s, 1, &joint, &samples);
    cb_pose g[2] = {several_pose[0]};
    hold(&joint, q, g);
    check_one_energy(t, 2, g);
    cb_coupling_table_free(t);
    cb_several_free(s);
  }
  for (int i = 0; i < BODIES; i++) free_mesh(m + i);
}

/* Three bodies are joined by a hinge and a weld. The second body of the hinge is the first body of the run. */
static void a_tree_of_joints_has_one_energy(void **unused) {
  solid_mesh m[BODIES];
  make_meshes(m);
  cb_several *s = several_of(3, m, NULL);
  const cb_coupled_joint joint[] = {joint_of("weld", 2, 1, false), joint_of("hinge", 1, 0, false)};
  const double q = .3;
  cb_coupling_table *t = table_of(3, s, 2, joint, &within);
  cb_pose g[BODIES] = {[2] = several_pose[0]};
  hold(&joint[0], NULL, g);
  hold(&joint[1], &q, g);
  check_one_energy(t, 3, g);
  cb_coupling_table_free(t);
  several_free(s, BODIES, m);
}

/* --- refusals --- */

static void what_a_table_cannot_hold_is_refused(void **unused) {
  solid_mesh m[BODIES];
  make_meshes(m);
  cb_several *s = several_of(3, m, NULL);
  const cb_coupled_joint joint[] = {joint_of("planar", 0, 1, false), joint_of("hinge", 1, 2, false),
                                    joint_of("ball", 1, 2, false)};
  const int first[] = {0, 0, 2, 1}; /* case i has count[i] joints, from joint[first[i]] on */
  const char *const text[] = {"free relative to the first body", "too many coordinates",
                              "free relative to the first body", "free relative to the first body"};
  const int count[] = {1, 2, 1, 1};
  for (int i = 0; i < 4; i++) {
    const cb_coupled_fluid of = {.density = 1, .n = 3, .joints = count[i], .joint = joint + first[i]};
    cb_coupling_table *t = NULL;
    int which = -1;
    assert_int_equal(cb_coupling_table_create(&of, s, &within, &which, &t), CB_ERROR_UNSUPPORTED);
    if (!strstr(cb_error_text(), text[i])) fail_msg("expected `%s`, found: %s", text[i], cb_error_text());
    assert_null(t);
  }
  several_free(s, BODIES, m);
}

/* --- runs --- */

#define SWIMMER                                                                                                   \
  "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], added_mass: ellipsoid, coupling: %s}\nbodies:\n"          \
  "  - {name: a, shape: {name: ellipsoid, a: 0.5, b: 0.2, c: 0.15, resolution: 8}, density: 1.2, drag: false,\n"  \
  "     place: {position: [0.3, 0, 0]}, motion: {velocity: [0.03, 0, 0.1], spin: [0.2, 0.1, 0.3]}}\n"             \
  "  - {name: b, shape: {name: ellipsoid, a: 0.4, b: 0.25, c: 0.15, resolution: 8}, density: 1.2, drag: false}\n" \
  "joints:\n  - {kind: hinge, name: pin, of: [a, b], at: [0.7, 0, 0], in: [-0.6, 0, 0], axis: [0, 0.1, 1],\n"     \
  "     angle: 0.4, rate: 1, spring: {stiffness: 0.3}}\n"                                                         \
  "integrator: {name: hamilton_pontryagin, step: %g}\ntime: {end: %g}\n"                                          \
  "record: {every: %d, observables: [energy, momentum, inertia, joints]}\n"

static const char *const fields[] = {"pose", "energy", "total_momentum", NULL};
enum { POSE, ENERGY, MOMENTUM };

static simulation *swim(const char *coupling, double step, double end, int every) {
  char text[4096];
  const int length = snprintf(text, sizeof text, SWIMMER, coupling, step, end, every);
  assert_in_range(length, 1, sizeof text - 1);
  return simulate(text, NULL, 0, fields);
}

/* Returns the largest difference of the poses at the end of two runs. */
static double difference(const simulation *a, const simulation *b) {
  const size_t width = a->width[POSE];
  double largest = 0;
  for (size_t k = 0; k < width; k++)
    largest =
        fmax(largest, fabs(a->value[POSE][(a->rows - 1) * width + k] - b->value[POSE][(b->rows - 1) * width + k]));
  return largest;
}

/* Compares runs with a table and with the exact coupling. The exact coupling is computed at the poses in the middle of
 * a step, and the table gives it at poses that the joint allows. These poses differ by an error of order 2 in the step.
 * So the motions differ by the square of the step, and by the error of the table, which is below 1e-9. The difference
 * of the motions is far below the effect of the coupling. */
static void a_run_with_a_table_agrees_with_the_exact_one(void **unused) {
  double error[2], effect = 0;
  for (int i = 0; i < 2; i++) {
    const double step = .01 / (1 << i);
    simulation *exact = swim("exact", step, .2, 20), *none = swim("none", step, .2, 20),
               *table = swim("{name: exact, samples: 41, range: [-0.3, 0.7]}", step, .2, 20);
    error[i] = difference(exact, table);
    effect = difference(exact, none);
    simulation_free(exact);
    simulation_free(table);
    simulation_free(none);
  }
  print_message("difference %.2e %.2e, effect of the coupling %.2e\n", error[0], error[1], effect);
  check_near(log2(error[0] / error[1]), 2, .1);
  check_at_most(error[0], 1e-2 * effect);
}

/* A run has 1e4 steps. The energy oscillates with the error of the step, and its error in the second half is at most
 * 1.5 times that in the first half. */
static void momentum_is_kept_and_energy_has_no_trend(void **unused) {
  simulation *s = swim("{name: exact, samples: 17, range: [-1.4, 1.4]}", .01, 100, 10);
  const double *energy = s->value[ENERGY], *first = s->value[MOMENTUM];
  double moved = 0, half[2] = {0};
  assert_int_equal(s->rows, 1001);
  for (size_t r = 0; r < s->rows; r++) {
    for (int k = 0; k < 6; k++) moved = fmax(moved, fabs(s->value[MOMENTUM][6 * r + (size_t)k] - first[k]));
    half[r > s->rows / 2] = fmax(half[r > s->rows / 2], fabs(energy[r] / energy[0] - 1));
  }
  print_message("momentum %.2e, energy %.2e %.2e\n", moved, half[0], half[1]);
  check_at_most(moved, 1e-13);
  check_at_most(half[1], 1.5 * half[0]);
  check_at_most(half[0], 1e-3);
  simulation_free(s);
}

static void wrong_keys_are_refused_with_their_place(void **unused) {
  static const struct {
    const char *coupling, *text;
  } cases[] = {{"{name: exact, samples: 3}", "test:2:96: error: samples: expected a number from 4 to 10000, found 3"},
               {"{name: exact, range: [0, 1]}", "test:2:94: error: range: expected `samples` next to it"},
               {"{name: exact, samples: 9, wall: rigid}", "test:2:96: error: samples: expected no `wall`"},
               {"{name: exact, samples: [9, 9]}", "test:2:96: error: samples: expected numbers"},
               {"{name: exact, samples: 9}", "test:2:96: error: samples: at the sample"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[4096];
    cb_scenario *s = NULL;
    snprintf(text, sizeof text, SWIMMER, cases[i].coupling, .01, 1., 1);
    check_case_begins(cases[i].coupling, cb_scenario_open_text("test", text, NULL, 0, &s), CB_ERROR_INPUT,
                      cases[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_error_falls_at_the_order_of_the_splines),
      cmocka_unit_test(the_slope_is_the_derivative_of_the_energy),
      cmocka_unit_test(a_tree_of_joints_has_one_energy),
      cmocka_unit_test(what_a_table_cannot_hold_is_refused),
      cmocka_unit_test(a_run_with_a_table_agrees_with_the_exact_one),
      cmocka_unit_test(momentum_is_kept_and_energy_has_no_trend),
      cmocka_unit_test(wrong_keys_are_refused_with_their_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
