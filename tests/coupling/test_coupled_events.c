/* Tests of contacts and events of coupled bodies in cases where they are hard to find: at the end of a step, several in
 * a step, after a contact in the same step, and where bodies are pressed together. A particle moves along z. */
#include "system_runs.h"

enum { EVENTS = 32 };

typedef struct result {
  cb_status status;
  size_t events;
  cb_event_row event[EVENTS];
  cb_scenario *scenario;
  double z; /* the coordinate of the particle in the last row */
} result;

static cb_status take_row(void *self, const void *const *data) {
  result *r = self;
  const cb_record_layout *layout = cb_scenario_layout(r->scenario);
  for (size_t f = 0; f < layout->n_fields; f++)
    if (!strcmp(layout->fields[f].name, "position")) r->z = ((const double *)data[f])[2];
  return CB_OK;
}

static cb_status take_event(void *self, const cb_event_row *event) {
  result *r = self;
  if (r->events < EVENTS) r->event[r->events] = *event;
  r->events++;
  return CB_OK;
}

/* Runs a particle of mass 1 that starts at z = 1 with the velocity -1. `acting` contains walls or events. A ball is far
 * away. */
static result fall(double gravity, const char *acting, double step, double end) {
  char text[4096];
  result r = {.events = 0};
  const int length = snprintf(
      text, sizeof text,
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, %.17g]}\nbodies:\n"
      "  - {kind: particles, name: p, mass: 1, place: {points: [[0, 0, 1]]}, motion: {velocities: [[0, 0, -1]]}}\n"
      "  - {name: b, shape: {name: ball, radius: 0.1}, mass: 1, spheres: [{at: [0, 0, 0], radius: 0.1}],\n"
      "     place: {position: [50, 0, 0]}}\n"
      "%sintegrator: {name: hamilton_pontryagin, step: %.17g}\ntime: {end: %.17g}\n",
      gravity, acting, step, end);
  assert_in_range(length, 1, sizeof text - 1);
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &r.scenario));
  cb_sink sink = {&r, take_row, take_event, simulate_checkpoint, NULL};
  r.status = cb_run_go(cb_scenario_run(r.scenario), &sink, NULL, NULL, NULL);
  cb_scenario_free(r.scenario);
  return r;
}

#define WALL(restitution) \
  "walls: [{plane: {body: p, at: {point: [0, 0, 0]}, normal: [0, 0, 1], restitution: " #restitution "}}]\n"

/* The particle reaches the wall at t = 1, which is the end of step 4 n. */
static void wall_is_met_at_the_end_of_a_step(void **unused) {
  for (int n = 1; n <= 3; n++) {
    const result r = fall(0, WALL(1), 0.25 / n, 3);
    check_ok(r.status);
    assert_int_equal(r.events, 1);
    check_near(r.event[0].time, 1, 1e-13);
    check_near(r.z, 2, 1e-13);
  }
}

/* Each flight of a bouncing ball is shorter than the previous one by the factor e = 1/2, the restitution. The flights
 * end at t_1 + 2 e v/(g (1 - e)), where t_1 is the time and v the speed of the first impact, and g gravity. The ball
 * must not fall through the wall. */
static void ball_that_comes_to_rest_ends_the_run(void **unused) {
  const result r = fall(-10, WALL(0.5), 0.01, 3);
  const double v = sqrt(21), first = (v - 1) / 10, rest = first + 2 * 0.5 * v / (10 * 0.5);
  assert_int_equal(r.status, CB_ERROR_CONTACT_ACCUMULATION);
  assert_true(r.events >= 8);
  assert_true(strstr(cb_error_text(), "`p.0` is pressed against wall `wall 1`") != NULL);
  check_near(r.event[r.events - 1].time, rest, 1e-2);
  const result e0 = fall(-10, WALL(0), 0.01, 3);
  assert_int_equal(e0.status, CB_ERROR_CONTACT_ACCUMULATION);
}

/* With `accumulation: rest` a bouncing ball stays on the wall when its flights have become too short. */
static void ball_comes_to_rest_on_a_wall(void **unused) {
  const result r = fall(-10, "contacts: {accumulation: rest}\n" WALL(0.5), 0.01, 3);
  const double v = sqrt(21), first = (v - 1) / 10, rest = first + 2 * 0.5 * v / (10 * 0.5);
  check_ok(r.status);
  assert_in_range(r.events, 8, 30);
  check_near(r.event[r.events - 1].time, rest, 1e-4); /* the last flights are shorter than a thousandth of a step */
  check_near(r.z, 0, 1e-13);
}

/* An event behind the wall does not happen. An event in front of the wall happens twice, before and after the contact.
 * Events and contact are recorded in the order of time. */
static void events_stop_at_a_contact_in_the_same_step(void **unused) {
  const result r = fall(0,
                        WALL(1) "events:\n"
                                "  - {expression: {particle: [p, 0], value: z + 0.02, name: behind, action: stop}}\n"
                                "  - {expression: {particle: [p, 0], value: z - 0.02, name: before}}\n",
                        0.13, 2);
  static const double times[] = {0.98, 1, 1.02};
  check_ok(r.status);
  assert_int_equal(r.events, 3);
  for (int i = 0; i < 3; i++) check_near(r.event[i].time, times[i], 1e-12);
}

/* The product (z - .5)(z - .52) has two zeros in one step. t (t - .05) is 0 at the start, but this is no event. */
static void all_zeros_of_a_step_are_found(void **unused) {
  const result two = fall(0, "events: [{expression: {particle: [p, 0], value: (z - 0.5)*(z - 0.52)}}]\n", 0.1, 1);
  check_ok(two.status);
  assert_int_equal(two.events, 2);
  /* Values of an event below 1e-13 count as 0. The rate of the product is .02 at its zeros, so the times have errors of
   * up to 5e-12. */
  check_near(two.event[0].time, 0.48, 1e-11);
  check_near(two.event[1].time, 0.5, 1e-11);
  const result start = fall(0, "events: [{expression: {particle: [p, 0], value: t*(t - 0.05)}}]\n", 0.1, 1);
  check_ok(start.status);
  assert_int_equal(start.events, 1);
  check_near(start.event[0].time, 0.05, 1e-12);
  const result back =
      fall(0, "events: [{expression: {particle: [p, 0], value: t*(t - 0.05), action: stop}}]\n", 0.1, 1);
  check_ok(back.status);
  assert_int_equal(back.events, 1);
}

/* A mass m hangs at rest, so the tension is m g, where g is gravity. This holds even in a step that is divided by a
 * contact of another particle. */
static void tension_is_right_in_a_divided_step(void **unused) {
  simulation *s = simulate(
      "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, -10]}\nbodies:\n"
      "  - {kind: particles, name: p, mass: 1, place: {points: [[0, 0, 1], [9, 0, -1]]}}\n"
      "walls: [{plane: {at: {point: [0, 0, -2]}, normal: [0, 0, 1]}}]\n"
      "constraints: [{distance_to_point: {particle: [p, 1], at: {point: [9, 0, 0]}}}]\n"
      "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 1}\nrecord: {observables: [constraints]}\n",
      NULL, 0, (const char *const[]){"multiplier", NULL});
  assert_int_equal(s->events, 1);
  for (size_t row = 1; row < s->rows; row++)
    check_near(s->value[0][row], 10, 1e-10); /* round-off divided by the step */
  simulation_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wall_is_met_at_the_end_of_a_step), cmocka_unit_test(ball_that_comes_to_rest_ends_the_run),
      cmocka_unit_test(ball_comes_to_rest_on_a_wall),     cmocka_unit_test(events_stop_at_a_contact_in_the_same_step),
      cmocka_unit_test(all_zeros_of_a_step_are_found),    cmocka_unit_test(tension_is_right_in_a_divided_step)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
