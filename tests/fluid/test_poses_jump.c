/* Tests of the search for jumps between poses. It finds the numbers of the poses and the vertex or, for expressions,
 * the time. A quick stroke is not a jump. */
#include "check.h"
#include "fluid/poses_private.h"
#include "tetrahedra.h"

static const double pi = 3.14159265358979323846;
enum { VERTICES = 5, POSES = 48 };

/* Sets the poses of a body of extent sqrt(3). A wave with two periods over the poses bends the body; from pose to pose
 * a vertex moves by at most about .075 of the extent. */
static void put(double x[POSES][VERTICES][3]) {
  static const double corner[VERTICES][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
  memcpy(x[0], corner, sizeof corner);
  for (int i = 0; i < POSES; i++)
    for (int v = 0; v < VERTICES; v++) {
      memcpy(x[i][v], corner[v], sizeof corner[v]);
      x[i][v][1] += .5 * sin(4 * pi * i / POSES - v);
    }
}

static cb_poses_jump found(double x[POSES][VERTICES][3], int poses, const cb_poses_times *times) {
  cb_poses *p;
  cb_poses_jump jump;
  check_ok(cb_poses_from_arrays(VERTICES, poses, (const double(*)[3])x, times, &p));
  check_ok(cb_poses_find_jump(p, 0, 1, 100, &jump));
  cb_poses_free(p);
  return jump;
}

static void a_stroke_of_24_poses_is_no_jump(void **unused) {
  double x[POSES][VERTICES][3], time[POSES];
  for (int i = 0; i < POSES; i++) time[i] = i + .3 * sin(2.0 * i);
  for (int clamped = 0; clamped < 2; clamped++) {
    const cb_poses_end end = clamped ? CB_POSES_CLAMPED : CB_POSES_PERIODIC;
    put(x);
    assert_int_equal(found(x, POSES, &(cb_poses_times){.step = .01, .end = end}).vertex, -1);
    assert_int_equal(found(x, POSES, &(cb_poses_times){.time = time, .period = POSES, .end = end}).vertex, -1);
    for (int i = 1; i < POSES; i++) /* one stroke of 24 poses, at most .07 of the extent per pose, then a rest */
      for (int v = 0; v < VERTICES; v++) {
        memcpy(x[i][v], x[0][v], sizeof x[i][v]);
        x[i][v][2] += i > 24 ? 0 : .46 - .46 * cos(2 * pi * i / 24);
      }
    assert_int_equal(found(x, POSES, &(cb_poses_times){.step = .01, .end = end}).vertex, -1);
  }
}

static void a_jump_is_found_by_its_poses_and_vertex(void **unused) {
  double x[POSES][VERTICES][3];
  const cb_poses_times times = {.step = .01, .end = CB_POSES_CLAMPED}, periodic = {.step = .01};
  put(x);
  for (int i = 20; i < POSES; i++) x[i][3][2] += 2; /* one vertex jumps and does not return */
  cb_poses_jump jump = found(x, POSES, &times);
  assert_int_equal(jump.vertex, 3);
  assert_int_equal(jump.from, 19);
  assert_int_equal(jump.to, 20);
  check_at_least(jump.distance, 2);
  jump = found(x, POSES, &periodic); /* here the vertex also jumps back after the last pose; either jump may be found */
  assert_int_equal(jump.vertex, 3);
  assert_true(jump.from == 19 || (jump.from == POSES - 1 && jump.to == 0));
  put(x);
  /* The poses are a slow wave of amplitude 0.004 in y. Only pose 7 is wrong: it is displaced by 0.4. */
  memcpy(x[7], x[31], sizeof x[7]);
  for (int i = 0; i < POSES; i++)
    for (int v = 0; v < VERTICES; v++) x[i][v][1] = x[0][v][1] + (i == 7 ? .4 : .004 * sin(2 * pi * i / POSES));
  jump = found(x, POSES, &times);
  assert_true(jump.from == 6 || jump.from == 7);
  put(x);
  /* The first 40 of 48 poses are not a complete period, and the poses are not declared as periodic. So the change from
   * the last pose to the first one is not a jump. */
  assert_int_equal(found(x, 40, &(cb_poses_times){.step = .01}).vertex, -1);
}

/* Searches for a jump of a tetrahedron of extent sqrt(3) from t = -1 to 3. `text` is the expression of x. */
static cb_poses_jump of(const char *text, int64_t steps) {
  static const int face[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  cb_surface *s;
  check_ok(cb_surface_make(4, points, 4, face, NULL, &s));
  const cb_poses_motion motion = {NULL, {text}};
  cb_poses *p;
  cb_poses_jump jump;
  check_ok(cb_poses_from_expressions(s, &motion, 1, NULL, NULL, NULL, NULL, &p));
  check_ok(cb_poses_find_jump(p, -1, 3, steps, &jump));
  cb_poses_free(p);
  cb_surface_free(s);
  return jump;
}

static void an_expression_that_is_not_continuous_is_found_by_its_time(void **unused) {
  static const struct {
    const char *text;
    double time, distance;
  } cases[] = {{"X + step(t - 0.123456789)", 0.123456789, 1},
               {"X*(1 + 0.01*step(t - 2.9))", 2.9, 0.01},
               {"X + 0.5*sin(40*t) + if(t < 0.7, 0, 0.1)", 0.7, 0.1},
               {"X + floor(t/2)", 0, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const cb_poses_jump jump = of(cases[i].text, 400);
    print_message("%s: vertex %d, %.3g at %.10g\n", cases[i].text, jump.vertex, jump.distance, jump.time);
    assert_true(jump.vertex >= 0 && jump.from == -1);
    check_near(jump.distance, cases[i].distance, 1e-9);
    if (i != 3) check_near(jump.time, cases[i].time, 1e-9);
  }
}

static void an_expression_that_bends_or_shakes_is_none(void **unused) {
  static const char *const texts[] = {"X + sin(2*pi*t)",
                                      "X + sin(1000*t)",
                                      "X + abs(t - 1)",
                                      "X + max(0, t)^3",
                                      "X + if(t < 1, t, 1)",
                                      "X*(1 + 100*t)",
                                      "X",
                                      "X + sqrt(abs(t) + 1e-12)",
                                      "X + 0.0001*step(t)",
                                      "X + exp(-1e6*(t - 1)^2)"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (int64_t steps = 1; steps < 10000; steps *= 10) {
      const cb_poses_jump jump = of(texts[i], steps);
      if (jump.vertex >= 0) fail_msg("%s: vertex %d by %g at %g", texts[i], jump.vertex, jump.distance, jump.time);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_stroke_of_24_poses_is_no_jump),
      cmocka_unit_test(a_jump_is_found_by_its_poses_and_vertex),
      cmocka_unit_test(an_expression_that_is_not_continuous_is_found_by_its_time),
      cmocka_unit_test(an_expression_that_bends_or_shakes_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
