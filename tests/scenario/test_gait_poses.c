/* Tests of bodies in a fluid whose shape follows a gait: against the bundle `immersed` with the same surface and the
 * same gait, in a stream, with drag, and for several bodies. */
#include "fluid/poses_private.h"
#include "scenario/bundle_scenario.h"
#include "scenario/fluid.h"
#include "simulate.h"
#include <curvebody/holonomy.h>

#define SHAPE "shape: {name: ellipsoid, a: 0.5, b: 0.2, c: 0.15, resolution: 8}"
#define MOTION "x: \"X + 0.1*b*Z\", y: \"Y + a*X^2 + 0.3*b*X*Z\", z: \"Z + 0.2*a*X*Y + b*(X^2 - 0.05)\""
/* No corner is at a multiple of the steps in the tests. */
static const char *const corners =
                             "{polygon: {corners: [[0.5, 0.4], [-0.4, 0.5], [-0.5, -0.5], [0.3, -0.4]]}, period: 2}",
                         *const wave =
                             "{fourier: {mean: [0.1, 0], cosine: [[0.5, 0]], sine: [[0, 0.4], [0.1, 0.2]]}, "
                             "period: 2, start: 0.3, reversed: true}",
                         *const line =
                             "{spline: {points: [[0.5, 0], [0, 0.5], [-0.4, 0.1], [0.1, -0.3]], times: [0, "
                             "0.2, 0.55, 0.7]}, pace: \"t + 0.1*sin(2*pi*t)\", scale: 0.9, period: 2}",
                         *const bent =
                             "{expressions: {a: \"0.4*abs(t - 0.37) - 0.104*t\", b: \"t*(1 - t)\"}, pace: \"t\", "
                             "offset: [0.1, 0], breaks: [0.37], period: 2}",
                         *const twice =
                             "{sequence: [{polygon: {corners: [[0.3, 0], [0, 0.4], [0.2, 0.5]]}}, {arcs: "
                             "{ends: [0, 0.4, 1], points: [[[0.3, 0], [0.1, 0.3], [0, 0.2]], [[0, 0.2], "
                             "[0.5, 0.1], [0.3, 0]]]}}], period: 2}";

/* Finds the pose of the body `number` at the end of a run, as quaternion and position. */
static void end_of(const char *text, int number, double out[7]) {
  static const char *const fields[] = {"pose", NULL};
  simulation *s = simulate(text, NULL, 0, fields);
  const double *pose = s->value[0] + (s->rows - 1) * s->width[0] + 7 * number;
  const double sign = pose[3] < 0 ? -1 : 1;
  for (int k = 0; k < 4; k++) out[k] = sign * pose[3 + k];
  for (int k = 0; k < 3; k++) out[4 + k] = pose[k];
  simulation_free(s);
}

/* Runs a body with a gait for one cycle of 2 s. fluid and body: further keys of these maps. */
static void run(const char *gait, const char *fluid, const char *body, const char *integrator, int steps,
                double out[7]) {
  char text[4096];
  snprintf(text, sizeof text,
           "curvebody: 1\nfluid: {medium: {density: 998}, gravity: [0, 0, 0]%s}\nbodies:\n"
           "  - {" SHAPE ", density: 900, poses: {variables: [a, b], " MOTION
           ", gait: %s}, motion: {momentum: zero}%s}\n"
           "integrator: {%s, step: 2/%d}\ntime: {end: 2}\n",
           fluid, gait, body, integrator, steps);
  end_of(text, 0, out);
}

static double distance(const double a[7], const double b[7]) {
  double sum = 0;
  for (int k = 0; k < 7; k++) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sqrt(sum);
}

/* Computes the displacement in one cycle of the bundle. */
static void holonomy(const char *gait, double out[7]) {
  char text[4096];
  cb_scenario *s;
  snprintf(text, sizeof text,
           "curvebody: 1\nbundle: {name: immersed, " SHAPE ", variables: [a, b], motion: {" MOTION
           "}, density: 900, fluid: {density: 998}}\ngait: %s\nintegrator: {name: magnus, step: 0.1}\n",
           gait);
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  check_ok(cb_holonomy(cb_scenario_bundle(s), cb_scenario_gait(s), 1e-13, out, NULL, NULL));
  if (out[0] < 0)
    for (int k = 0; k < 4; k++) out[k] = -out[k];
  cb_scenario_free(s);
}

/* The body must end at the pose that the bundle has. With order 2, half the step divides the error by 4, and the
 * extrapolated result agrees to 1e-7. With order 4 and 160 steps the result agrees to 3e-9. The displacement in a cycle
 * is about .05. */
static void a_body_with_a_gait_is_displaced_as_its_bundle(void **state) {
  const char *const gaits[] = {corners, wave, line, bent, twice};
  for (size_t i = 0; i < sizeof gaits / sizeof *gaits; i++) {
    double exact[7], coarse[7], fine[7], far[7], best[7];
    holonomy(gaits[i], exact);
    run(gaits[i], "", ", drag: false", "name: hamilton_pontryagin", 40, coarse);
    run(gaits[i], "", ", drag: false", "name: hamilton_pontryagin", 80, fine);
    run(gaits[i], "", ", drag: false", "name: hamilton_pontryagin", 160, far);
    run(gaits[i], "", ", drag: false", "name: hamilton_pontryagin, order: 4", 160, best);
    for (int k = 0; k < 7; k++) {
      coarse[k] = (4 * fine[k] - coarse[k]) / 3;
      fine[k] = (4 * far[k] - fine[k]) / 3;
    }
    check_at_most(distance(coarse, exact), 3e-6);
    check_at_most(distance(fine, exact), 3e-7);
    check_at_most(distance(best, exact), 3e-9);
  }
}

static void steps_that_pass_corners_keep_their_order(void **state) {
  static const struct {
    const char *integrator;
    double low, high; /* the error at 40 steps divided by that at 80 steps: about 2^order */
  } cases[] = {{"name: hamilton_pontryagin", 3.6, 4.4},
               {"name: hamilton_pontryagin, order: 4", 13, 19},
               {"name: rkmk4", 12, 22}};
  double exact[7], coarse[7], fine[7];
  holonomy(corners, exact);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    run(corners, "", ", drag: false", cases[i].integrator, 40, coarse);
    run(corners, "", ", drag: false", cases[i].integrator, 80, fine);
    const double ratio = distance(coarse, exact) / distance(fine, exact);
    if (!(ratio > cases[i].low && ratio < cases[i].high)) fail_msg("%s: ratio %g", cases[i].integrator, ratio);
  }
}

/* A body in the stream u has at the time t the rotation of a body in fluid at rest, and its position plus u t. This
 * holds for the exact motion. For the discrete motions of order 4 there is an error, which is 16 times smaller with
 * half the step. */
static void a_stream_carries_the_displacement_along(void **state) {
  static const double u[3] = {0.3, -0.2, 0.5};
  static const char *const integrator = "name: hamilton_pontryagin, order: 4";
  double off[2][7], limit[7];
  const double zero[7] = {0};
  for (int i = 0; i < 2; i++) {
    double still[7], carried[7];
    run(corners, "", ", drag: false", integrator, 80 << i, still);
    run(corners, ", flow: {uniform: [0.3, -0.2, 0.5]}", ", drag: false", integrator, 80 << i, carried);
    for (int k = 0; k < 7; k++) off[i][k] = carried[k] - still[k] - (k < 4 ? 0 : 2 * u[k - 4]);
  }
  for (int k = 0; k < 7; k++) limit[k] = (16 * off[1][k] - off[0][k]) / 15;
  check_at_most(distance(off[1], zero), 3e-8);
  check_at_most(distance(limit, zero), 1e-9);
}

/* The difference of the runs with 40 and 80 steps is about 4 times that of the runs with 80 and 160 steps. */
static void with_drag_gravity_and_a_stream_the_order_is_two(void **state) {
  double end[3][7];
  for (int i = 0; i < 3; i++) run(corners, "", "", "name: hamilton_pontryagin", 40 << i, end[i]);
  double ratio = distance(end[0], end[1]) / distance(end[1], end[2]);
  if (!(ratio > 3.5 && ratio < 4.5)) fail_msg("drag: ratio %g", ratio);
  for (int i = 0; i < 3; i++) {
    char text[4096];
    snprintf(text, sizeof text,
             "curvebody: 1\nfluid: {medium: {density: 998}, flow: {uniform: [0.3, -0.2, 0.5]}}\nbodies:\n"
             "  - {" SHAPE ", density: 900, poses: {variables: [a, b], " MOTION
             ", gait: %s}}\n"
             "integrator: {name: hamilton_pontryagin, step: 2/%d}\ntime: {end: 2}\n",
             corners, 40 << i);
    end_of(text, 0, end[i]);
  }
  ratio = distance(end[0], end[1]) / distance(end[1], end[2]);
  if (!(ratio > 3.5 && ratio < 4.5)) fail_msg("gravity: ratio %g", ratio);
}

/* Each of two bodies, with corners at different times, ends where it ends alone, to the error of the step. */
static void bodies_with_different_gaits_share_a_run(void **state) {
  char text[4096];
  double alone[2][7], together[2][7];
  const char *const gaits[] = {corners, twice};
  for (int i = 0; i < 2; i++) run(gaits[i], "", "", "name: hamilton_pontryagin", 160, alone[i]);
  snprintf(text, sizeof text,
           "curvebody: 1\nfluid: {medium: {density: 998}, gravity: [0, 0, 0]}\nbodies:\n"
           "  - {" SHAPE ", density: 900, poses: {variables: [a, b], " MOTION
           ", gait: %s}, motion: {momentum: zero}}\n"
           "  - {" SHAPE ", density: 900, poses: {variables: [a, b], " MOTION
           ", gait: %s}, motion: {momentum: zero}}\n"
           "integrator: {name: hamilton_pontryagin, step: 2/160}\ntime: {end: 2}\n",
           corners, twice);
  for (int i = 0; i < 2; i++) {
    end_of(text, i, together[i]);
    check_at_most(distance(together[i], alone[i]), 3e-6);
  }
  assert_true(distance(alone[0], alone[1]) > 1e-2);
}

static cb_scenario *opened(const char *poses) {
  char text[2048];
  cb_scenario *s;
  snprintf(text, sizeof text,
           "curvebody: 1\nfluid: {medium: {density: 998}}\nbodies: [{" SHAPE
           ", density: 900, poses: %s}]\n"
           "integrator: {name: hamilton_pontryagin, step: 0.1}\ntime: {end: 2}\n",
           poses);
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  return s;
}

/* Central differences of order 2 with the step 1e-5 have an error of 1e-9 here; the velocities are about 1. */
static void velocities_are_the_derivatives_of_the_positions(void **state) {
  static const char *const poses[] = {
      "{variables: [a, b], x: X, y: \"Y + a*X^2\", z: \"Z + b*(X^2 - 0.1)*a\", gait: {polygon: {corners: [[0.5, 0.4], "
      "[-0.4, 0.5], [0.3, -0.4]]}, period: 3}}",
      "{y: \"Y + 0.2*X*sin(t)\", z: \"Z*(1 + 0.2*cos(2*t))\", period: 2*pi, gait: {loop: phase, period: 1.5}}",
      "{y: \"Y + 0.2*X*sin(t)\", gait: {expressions: {phase: \"0.6 + 0.3*sin(2*pi*t)\"}, period: 0.7}}",
      "{variables: [a], period: {a: 2*pi}, y: \"Y + 0.1*sin(4*X - a)\", gait: {loop: a, reversed: true}}"};
  for (size_t i = 0; i < sizeof poses / sizeof *poses; i++) {
    cb_scenario *s = opened(poses[i]);
    const cb_poses *p = cb_immersed_poses(cb_fluid_scenario_of(s)->body[0].body);
    const size_t n = (size_t)cb_poses_vertices(p);
    double(*x)[3] = malloc(4 * n * sizeof *x), most = 0;
    for (int k = 0; k < 7; k++) {
      const double t = 0.123 + 0.37 * k, h = 1e-5;
      check_ok(cb_poses_at(p, t, x, x + n));
      check_ok(cb_poses_at(p, t + h, x + 2 * n, NULL));
      check_ok(cb_poses_at(p, t - h, x + 3 * n, NULL));
      for (size_t v = 0; v < n; v++)
        for (int c = 0; c < 3; c++) {
          check_near(x[n + v][c], (x[2 * n + v][c] - x[3 * n + v][c]) / (2 * h), 1e-7);
          most = fmax(most, fabs(x[n + v][c]));
        }
    }
    assert_true(most > 0.05);
    free(x);
    cb_scenario_free(s);
  }
}

/* The breaks are the times of the polygon's corners, in every cycle. At a corner, or 1e-14 before it, the velocity is
 * that of the side that follows. */
static void breaks_are_the_corners_of_every_cycle(void **state) {
  cb_scenario *s =
      opened("{variables: [a], y: \"Y + a*X^2\", gait: {polygon: {corners: [[0], [0.3], [0.1]]}, period: 6}}");
  const cb_poses *p = cb_immersed_poses(cb_fluid_scenario_of(s)->body[0].body);
  const size_t n = (size_t)cb_poses_vertices(p);
  double(*x)[3] = malloc(4 * n * sizeof *x), t = -1e-3;
  /* the sides are 0.3, 0.2 and 0.1 long, so the corners are at 0, 3 and 5 s */
  static const double expected[] = {0, 3, 5, 6, 9, 11, 12, 15};
  for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
    t = cb_poses_next_break(p, t);
    check_near(t, expected[k], 1e-12);
    check_ok(cb_poses_at(p, t - 1e-14, x, x + n));
    check_ok(cb_poses_at(p, t + 1e-3, x + 2 * n, x + 3 * n));
    for (size_t v = 0; v < n; v++) check_near(x[n + v][1], x[3 * n + v][1], 1e-12);
  }
  free(x);
  cb_scenario_free(s);
}

/* The pieces of the table of added mass end at the corners of the gait. The error of the table is at most 1e-4 of the
 * largest added mass. So the displacement, which is about .02, changes by at most 2e-6. */
static void a_table_of_added_mass_has_its_pieces_between_corners(void **state) {
  double table[7], solved[7];
  static const char *const at = ", drag: false, added_mass: {name: exact, refine: false, table: ";
  char body[128];
  snprintf(body, sizeof body, "%s1e-4}", at);
  run(corners, "", body, "name: hamilton_pontryagin", 40, table);
  snprintf(body, sizeof body, "%s0}", at);
  run(corners, "", body, "name: hamilton_pontryagin", 40, solved);
  check_at_most(distance(table, solved), 2e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_body_with_a_gait_is_displaced_as_its_bundle),
      cmocka_unit_test(steps_that_pass_corners_keep_their_order),
      cmocka_unit_test(a_stream_carries_the_displacement_along),
      cmocka_unit_test(with_drag_gravity_and_a_stream_the_order_is_two),
      cmocka_unit_test(bodies_with_different_gaits_share_a_run),
      cmocka_unit_test(velocities_are_the_derivatives_of_the_positions),
      cmocka_unit_test(breaks_are_the_corners_of_every_cycle),
      cmocka_unit_test(a_table_of_added_mass_has_its_pieces_between_corners),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
