/* Tests of streamlines around a moving sphere. The stream function of the dipole (Lamb, Hydrodynamics (1932), article
 * 96) is constant along each line, in the flow in closed form and in the computed flow around a mesh. Each line has its
 * own steps.
 */
#include "flow_about.h"
#include "potential/field.h"

/* The flow in the frame of a sphere of radius 1 that moves along z with the speed V: the dipole minus V. Up to its
 * sign, its stream function is psi = (V/2)(1 - 1/r^3) (distance from the axis)^2, with the distance r from the
 * centre. */
static cb_status closed_form(void *speed, int points, const double (*x)[3], double (*u)[3]) {
  const double v[3] = {0, 0, *(double *)speed};
  for (int i = 0; i < points; i++) {
    dipole(v, x[i], u[i]);
    u[i][2] -= v[2];
  }
  return CB_OK;
}

static cb_status of_field(void *field, int points, const double (*x)[3], double (*u)[3]) {
  const cb_status status = cb_field_at(field, points, x, u, NULL, NULL);
  for (int i = 0; i < points; i++) u[i][2] -= 1;
  return status;
}

static double psi(const double x[3]) {
  const double s2 = x[0] * x[0] + x[1] * x[1], r = sqrt(s2 + x[2] * x[2]);
  return (1 - 1 / (r * r * r)) * s2 / 2;
}

enum { LINES = 4, POINTS = 31 };
static const double seed[LINES][3] = {{0.3, 0.1, 3}, {0, 0.8, 3}, {-1.2, 0.3, 3}, {0.5, -0.6, 3}};

static double psi_changes(cb_stream_velocity velocity, void *context, double error) {
  static double x[LINES][POINTS][3], u[LINES][POINTS][3];
  double worst = 0;
  check_ok(cb_streamlines(velocity, context, (cb_stream_lines){LINES, POINTS, 0.2, error}, seed, x[0], u[0]));
  for (int i = 0; i < LINES; i++) {
    assert_true(x[i][POINTS - 1][2] < -2); /* the line has passed the sphere */
    for (int p = 0; p < POINTS; p++) worst = fmax(worst, fabs(psi(x[i][p]) - psi(seed[i])));
  }
  return worst;
}

static void streamlines_keep_the_stream_function(void **unused) {
  static const double none[3] = {0}, up[3] = {0, 0, 1};
  double speed = 1;
  const double closed = psi_changes(closed_form, &speed, 1e-9);
  double worst[2];
  for (int i = 0; i < 2; i++) {
    solid_mesh m = ellipsoid_mesh(i ? 12 : 6, 1, 1, 1);
    cb_flow_about *f = field_of(&m, none, up);
    worst[i] = psi_changes(of_field, f, 1e-3);
    cb_field_free(f);
    free_mesh(&m);
  }
  print_message("psi: %.1e of the dipole; %.1e, %.1e of faces\n", closed, worst[0], worst[1]);
  assert_true(closed < 1e-6);
  /* For the flow around the mesh the error is of second order in the size of faces, away from the surface of the
   * sphere. */
  assert_true(worst[1] < 2e-2 && worst[1] < 0.5 * worst[0]);
}

typedef struct counted {
  double speed;
  int calls, points;
} counted;

static cb_status count(void *given, int points, const double (*x)[3], double (*u)[3]) {
  counted *c = given;
  c->calls++;
  c->points += points;
  return closed_form(&c->speed, points, x, u);
}

/* Each line has its own steps. Otherwise all lines would use the short steps of the line that turns at the stagnation
 * point. Far from the sphere there are fewer steps than points. */
static void a_line_has_its_own_steps(void **unused) {
  static const double close[2][3] = {{1e-3, 0, 3}, {0, 2.5, 3}};
  double both[2][POINTS][3], alone[POINTS][3], u[2 * POINTS][3];
  counted all = {1, 0, 0}, one[2] = {{1, 0, 0}, {1, 0, 0}};
  check_ok(cb_streamlines(count, &all, (cb_stream_lines){2, POINTS, 0.2, 1e-6}, close, both[0], u));
  for (int i = 0; i < 2; i++) {
    check_ok(cb_streamlines(count, &one[i], (cb_stream_lines){1, POINTS, 0.2, 1e-6}, close + i, alone, u));
    assert_memory_equal(alone, both[i], sizeof alone);
  }
  print_message("%d calls for both, %d and %d\n", all.calls, one[0].calls, one[1].calls);
  assert_int_equal(all.points, one[0].points + one[1].points);
  assert_int_equal(all.calls, one[0].calls);
  assert_true(one[1].calls < 4 * POINTS && one[1].calls < one[0].calls);
}

static cb_status refuses(void *unused, int points, const double (*x)[3], double (*u)[3]) {
  return cb_fail(CB_ERROR_DOMAIN, "no flow");
}

static void failures_are_passed_on(void **unused) {
  double x[2][3], u[2][3];
  assert_int_equal(cb_streamlines(refuses, NULL, (cb_stream_lines){1, 2, 0.1, 1e-8}, seed, x, u), CB_ERROR_DOMAIN);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(streamlines_keep_the_stream_function),
      cmocka_unit_test(a_line_has_its_own_steps),
      cmocka_unit_test(failures_are_passed_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
