/* Tests of eels that swim by drag: waves along the body, gaits whose shape variable is a phase, other body frames,
 * sequences of poses, and a motion that returns on the same path. */
#include "surface_swimmers.h"

#include <curvebody/holonomy.h>

/* A path of the phase through one period: it starts at `from`, and its direction `sense` is 1 or -1. Its speed varies
 * unless `uneven` is 0. */
typedef struct turn {
  double from, sense, uneven;
} turn;

static void once_round(const void *data, double t, double *r, double *rate) {
  const turn *c = data;
  r[0] = c->from + c->sense * (t + c->uneven * sin(2 * PI * t));
  rate[0] = c->sense * (1 + c->uneven * 2 * PI * cos(2 * PI * t));
}

static void round_trip(const swimmer *s, turn c, int steps, double *g) {
  model_loop(s->b, once_round, &c, steps, g, NULL);
}

static void check_identity(const double *g, double tolerance) {
  check_near(fabs(g[0]), 1, tolerance);
  for (int i = 1; i < 7; i++) check_near(g[i], 0, tolerance);
}

static const cb_poses_motion wave = {NULL, {NULL, "Y + 0.15*(X + 1.2)*sin(3*X - pi*t)", "Z + 0.05*X*cos(pi*t)"}};
static const cb_poses_motion back = {NULL, {NULL, "Y + 0.15*(X + 1.2)*sin(3*X + pi*t)", "Z + 0.05*X*cos(pi*t)"}};

static void an_eel_swims_against_its_wave_and_back_when_it_is_reversed(void **state) {
  double g[7], h[7], product[7];
  swimmer s = phased(eel(21), &wave, 0, 2, 1), r = phased(eel(21), &back, 0, 2, 1), e = phased(eel(21), &wave, 0, 1, 2);
  round_trip(&s, (turn){0, 1, 0}, 100, g);
  print_message("the eel's way: %.6f %.6f %.6f\n", g[4], g[5], g[6]);
  check_at_most(g[4], -.01); /* the wave moves to +x, so the eel swims to -x */
  round_trip(&e, (turn){0, 1, 0}, 100, h);
  check_at_least(h[4], .01); /* this eel has more drag along its body than across */
  round_trip(&s, (turn){0, -1, 0}, 100, h);
  s.b->group->multiply(s.b->group, g, h, product);
  check_identity(product, 1e-11);
  /* the wave `back` is `wave` reversed in time, because cos(pi t) is even */
  round_trip(&r, (turn){0, 1, 0}, 100, h);
  s.b->group->multiply(s.b->group, g, h, product);
  check_identity(product, 1e-11);
  swimmer_free(&s);
  swimmer_free(&r);
  swimmer_free(&e);
}

static void a_phase_once_round_is_a_gait(void **state) {
  swimmer s = phased(eel(21), &wave, 12, 2, 1);
  double g[7], h[7], product[7], length = 0;
  cb_gait *round, *reversed;
  check_ok(cb_gait_loop(1, 0, (double[]){0}, 1, &round));
  check_ok(cb_gait_reversed(round, &reversed));
  check_ok(cb_holonomy(s.b, round, 1e-12, g, &length, NULL));
  check_ok(cb_holonomy(s.b, reversed, 1e-12, h, NULL, NULL));
  s.b->group->multiply(s.b->group, g, h, product);
  check_identity(product, 1e-11);
  double path = 0;
  model_loop(s.b, once_round, &(turn){0, 1, 0}, 12 * 16, h, &path); /* each 16th step ends at a pose */
  for (int i = 0; i < 7; i++) check_near(g[i], h[i], 1e-11);
  check_near(length, path, 1e-10);
  cb_gait_free(round);
  cb_gait_free(reversed);
  swimmer_free(&s);
}

static void the_pace_of_a_phase_changes_nothing(void **state) {
  double g[7], h[7];
  swimmer s = phased(eel(21), &wave, 0, 2, 1);
  round_trip(&s, (turn){0, 1, 0}, 150, g);
  round_trip(&s, (turn){0, 1, .1}, 150, h);
  for (int i = 0; i < 7; i++) check_near(g[i], h[i], 1e-11);
  swimmer_free(&s);
}

/* The same shapes in a body frame that moves and rotates, but returns after one period, give the same displacement. */
static void another_body_frame_moves_alike(void **state) {
  const cb_poses_motion swayed = {
      NULL,
      {"X*cos(sin(pi*t)) - (Y + 0.15*(X + 1.2)*sin(3*X - pi*t))*sin(sin(pi*t)) + 0.4*sin(2*pi*t)",
       "X*sin(sin(pi*t)) + (Y + 0.15*(X + 1.2)*sin(3*X - pi*t))*cos(sin(pi*t))",
       "Z + 0.05*X*cos(pi*t) + 0.2*sin(pi*t)"}};
  double g[7], h[7];
  swimmer s = phased(eel(21), &wave, 0, 2, 1), t = phased(eel(21), &swayed, 0, 2, 1);
  round_trip(&s, (turn){0, 1, 0}, 200, g);
  round_trip(&t, (turn){0, 1, 0}, 200, h);
  for (int i = 0; i < 7; i++) check_near(g[i], h[i], 1e-11);
  swimmer_free(&s);
  swimmer_free(&t);
}

static void a_sequence_of_poses_converges_to_the_expressions(void **state) {
  double g[7], error[3], slope[3];
  swimmer exact = phased(eel(11), &wave, 0, 2, 1);
  round_trip(&exact, (turn){0, 1, 0}, 128, g);
  for (int k = 0; k < 3; k++) {
    const int poses = 32 << k;
    double h[7];
    swimmer s = phased(eel(11), &wave, poses, 2, 1);
    round_trip(&s, (turn){0, 1, 0}, 2 * poses, h); /* each second step ends at a pose */
    error[k] = slope[k] = 0;
    for (int i = 0; i < 7; i++) error[k] = fmax(error[k], fabs(g[i] - h[i]));
    for (double phase = .0021; phase < 1; phase += .011) {
      double A[6], B[6];
      check_ok(cb_bundle_connection(exact.b, &phase, A, NULL, NULL, NULL));
      check_ok(cb_bundle_connection(s.b, &phase, B, NULL, NULL, NULL));
      for (int i = 0; i < 6; i++) slope[k] = fmax(slope[k], fabs(A[i] - B[i]));
    }
    swimmer_free(&s);
  }
  print_message("32, 64, 128 poses: connection %.2e %.2e %.2e, holonomy %.2e %.2e %.2e\n", slope[0], slope[1], slope[2],
                error[0], error[1], error[2]);
  check_near(log2(slope[1] / slope[2]), 2, .2); /* velocities of the cubic polynomials have errors of order 2 */
  check_at_least(log2(error[1] / error[2]), 1.8);
  swimmer_free(&exact);
}

static void a_scallop_stays(void **state) {
  const cb_poses_motion flap = {NULL, {"X*(1 + 0.2*cos(pi*t))", "Y + 0.4*X^2*cos(pi*t)", "Z + 0.2*X^3*cos(pi*t)^2"}};
  double g[7];
  swimmer s = phased(eel(21), &flap, 0, 2, 1);
  round_trip(&s, (turn){0, 1, 0}, 100, g);
  check_identity(g, 1e-11);
  swimmer_free(&s);
  s = phased(eel(21), &flap, 24, 2, 1); /* a sequence that returns on the same path */
  round_trip(&s, (turn){0, 1, 0}, 96, g);
  check_identity(g, 1e-11);
  swimmer_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_eel_swims_against_its_wave_and_back_when_it_is_reversed),
      cmocka_unit_test(a_phase_once_round_is_a_gait),
      cmocka_unit_test(the_pace_of_a_phase_changes_nothing),
      cmocka_unit_test(another_body_frame_moves_alike),
      cmocka_unit_test(a_sequence_of_poses_converges_to_the_expressions),
      cmocka_unit_test(a_scallop_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
