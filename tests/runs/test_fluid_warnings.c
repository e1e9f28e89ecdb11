/* Tests of the warnings of a run of bodies in a fluid. Each warning is given once per body, as an event and as text,
 * and is the same after a restart. */
#include "memory_sink.h"
#include "run/fluid_private.h"

static cb_scenario *make(const char *text, const char *const *sets, size_t n) {
  cb_scenario *s = NULL;
  check_ok(cb_scenario_open_text("bodies", text, sets, n, &s));
  return s;
}

static void go(cb_scenario *s, memory_sink *m) {
  cb_sink sink = memory_open(m, cb_scenario_run(s));
  check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
}

static const cb_event_row *only_warning(const memory_sink *m) {
  assert_int_equal(m->n_events, 1);
  assert_int_equal(m->event[0].kind, CB_EVENT_WARN);
  return &m->event[0];
}

/* Checks that there are `count` warnings and that the text of the last one contains these n parts. If `count` is 2, the
 * first warning is about the energy. */
static void check_words(cb_scenario *s, size_t count, const char *const *parts, size_t n) {
  const cb_run_warning *list;
  assert_int_equal(cb_run_warnings(cb_scenario_run(s), &list), count);
  for (size_t i = 0; i < n; i++)
    if (!strstr(list[count - 1].text, parts[i])) fail_msg("no `%s` in: %s", parts[i], list[count - 1].text);
}

/* --- the rotation in a step --- */

static const char spun[] =
    "curvebody: 1\n"
    "fluid: {medium: none}\n"
    "bodies:\n"
    "  - {name: still, shape: box}\n"
    "  - {name: spun, shape: {name: box, a: 1, b: 0.8, c: 0.5}, density: 1, %s}\n"
    "integrator: {name: hamilton_pontryagin, step: 0.01, retries: 6}\n"
    "time: {end: 0.4}\n"
    "record: {every: 2, checkpoint: 3}\n";

static cb_scenario *make_spun(const char *motion, const char *const *sets, size_t n) {
  char text[2048];
  snprintf(text, sizeof text, spun, motion);
  return make(text, sets, n);
}

static void a_large_turn_is_warned_of_once_with_the_step_that_would_do(void **unused) {
  const char *const motion = "motion: {spin: [30, 20, 0]}", *const parts[] = {"body `spun`",
                                                                              "a step of 0.01 rotates it by 0.361",
                                                                              "try an integrator.step of 0.0027"};
  const char *const sets[][2] = {{"integrator.step=0.0027", "integrator.retries=6"},
                                 {"integrator.name=rkmk4", "integrator.retries=6"}};
  cb_scenario *s = make_spun(motion, NULL, 0);
  memory_sink m;
  go(s, &m);
  const cb_event_row *e = only_warning(&m);
  assert_int_equal(e->particle, 1);
  assert_int_equal(e->wall, CB_DOUBT_TURN);
  check_near(e->gap, 0.01 * sqrt(1300), 1e-4);
  check_near(e->time, 0.01, 0);
  check_words(s, 2, parts, 3); /* the other warning is that the energy changes by a hundredth */
  memory_free(&m);
  cb_scenario_free(s);
  /* There is no warning with a smaller step, or with rkmk4, whose error is of order 4 in the rotation per step. */
  for (int k = 0; k < 2; k++) {
    s = make_spun(motion, sets[k], 2);
    go(s, &m);
    assert_int_equal(m.n_events, 0);
    check_words(s, 0, NULL, 0);
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* Steps in which the body would turn by 36, 18, 9 and 4.5 rad fail, since this is more than half a turn. Steps of 2.25
 * rad succeed with a warning. */
static void more_than_half_a_turn_is_retried_smaller(void **unused) {
  const char *const sets[] = {"integrator.step=1", "time.end=1"};
  cb_scenario *s = make_spun("motion: {spin: [30, 20, 0]}", sets, 2);
  memory_sink m;
  go(s, &m);
  assert_true(m.n_events > 5);
  for (int k = 0; k < 4; k++) {
    assert_int_equal(m.event[k].kind, CB_EVENT_RETRY);
    check_near(m.event[k].gap, 1. / (1 << k), 0);
  }
  int warnings = 0;
  for (size_t k = 0; k < m.n_events; k++)
    if (m.event[k].kind == CB_EVENT_WARN) {
      warnings++;
      check_near(m.event[k].gap, sqrt(1300) / 16, 0.05);
    }
  assert_int_equal(warnings, 1);
  memory_free(&m);
  cb_scenario_free(s);
}

/* The body spins faster and faster. A restart before the warning gives the same warning as the complete run, and a
 * restart after it gives none. */
static void a_restart_warns_of_what_comes_after_it(void **unused) {
  const char *const motion = "wrenches: [{name: screw, torque: [0, 0, 5]}]";
  cb_scenario *s = make_spun(motion, NULL, 0);
  memory_sink whole;
  go(s, &whole);
  const double time = only_warning(&whole)->time;
  assert_int_equal(whole.n_checkpoints, 7);
  int before = 0, after = 0;
  for (size_t c = 0; c < whole.n_checkpoints; c++) {
    const double from =
        memory_value(&whole, whole.checkpoint[c].after_rows ? whole.checkpoint[c].after_rows - 1 : 0, "time", 0);
    cb_scenario *rest = make_spun(motion, NULL, 0);
    memory_sink m;
    memory_restore(&whole, c, cb_scenario_run(rest));
    go(rest, &m);
    check_words(rest, from < time, NULL, 0);
    assert_int_equal(m.n_events, from < time);
    *(from < time ? &before : &after) += 1;
    memory_free(&m);
    cb_scenario_free(rest);
    check_rest("screw", &whole, c, make_spun(motion, NULL, 0));
  }
  assert_true(before > 1 && after > 1);
  memory_free(&whole);
  cb_scenario_free(s);
}

/* --- the limit of delta, the length that determines the added mass of a part (fluid/local.h) --- */

/* A disc is bent to a bowl. Its area grows, but the bending angle at its rim does not, so that delta exceeds its
 * limit. */
static const char bowl[] =
    "curvebody: 1\n"
    "fluid: {medium: water}\n"
    "bodies:\n"
    "  - {name: ball, shape: {name: ellipsoid, resolution: 8}, density: 1200}\n"
    "  - {name: bowl, shape: {name: cylinder, radius: 0.1, length: 0.004, resolution: 32},\n"
    "     density: 1200, poses: {z: 'Z + 10*t^2*(X^2 + Y^2)'}}\n"
    "integrator: {name: %s, step: 1/200}\n"
    "time: {start: %g, end: 1}\n"
    "record: {every: 4, checkpoint: 5}\n";

static cb_scenario *make_bowl(const char *method, double start) {
  char text[1024];
  snprintf(text, sizeof text, bowl, method, start);
  return make(text, NULL, 0);
}

static double times_the_cap(const cb_immersed *body, double t) {
  cb_mass mass;
  cb_local_part part;
  check_ok(cb_immersed_mass(body, t, &mass, &part));
  return part.capped ? part.delta_uncapped / part.delta : 0;
}

/* The warning is given with the first step whose shape exceeds the limit: in the middle of the step for
 * hamilton_pontryagin, and at its end for rkmk4. */
static void the_cap_of_delta_is_warned_of_where_it_sets_in(void **unused) {
  const char *const methods[] = {"hamilton_pontryagin", "rkmk4"}, *const parts[] = {"body `bowl`: part `body`",
                                                                                    "hollow or folded"};
  for (int k = 0; k < 2; k++) {
    cb_scenario *s = make_bowl(methods[k], 0);
    memory_sink m;
    go(s, &m);
    const cb_immersed *body = cb_scenario_body(s, 1);
    const double back = k ? 0 : 1. / 400;
    const cb_event_row *e = only_warning(&m);
    assert_int_equal(e->particle, 1);
    assert_int_equal(e->wall, CB_DOUBT_DELTA);
    check_near(e->gap, times_the_cap(body, e->time - back), 1e-12);
    check_at_least(e->gap, 1);
    check_near(times_the_cap(body, e->time - back - 1. / 200), 0, 0);
    check_words(s, 1, parts, 2);
    for (size_t c = 0; c < m.n_checkpoints; c++) check_rest(methods[k], &m, c, make_bowl(methods[k], 0));
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* If delta of the local model exceeds its limit already at the start, the run gives no warning, because the command
 * line prints one before the run. */
static void a_cap_that_is_there_from_the_start_is_not_warned_of(void **unused) {
  cb_scenario *s = make_bowl("hamilton_pontryagin", 0.9);
  memory_sink m;
  check_at_least(times_the_cap(cb_scenario_body(s, 1), 0.9), 1);
  go(s, &m);
  assert_int_equal(m.n_events, 0);
  memory_free(&m);
  cb_scenario_free(s);
}

/* --- the divergence of the flow --- */

/* The flow moves the body along x to a region where the flow is compressible. */
static const char drifting[] =
    "curvebody: 1\n"
    "fluid: {medium: water, gravity: [0, 0, 0],\n"
    "        flow: {velocity: ['1 + y + exp(-(x/0.2)^2)', 0, 0]}}\n"
    "bodies:\n"
    "  - {name: drop, shape: {name: ellipsoid, a: 0.1, b: 0.1, c: 0.1, resolution: 12},\n"
    "     density: 1000, place: {position: [-1.5, 0, 0]}, motion: {velocity: [1, 0, 0]}}\n"
    "integrator: {name: %s, step: 0.01}\n"
    "time: {end: 2}\n"
    "record: {every: 10, checkpoint: 4}\n";

static cb_scenario *make_drifting(const char *method) {
  char text[1024];
  snprintf(text, sizeof text, drifting, method);
  return make(text, NULL, 0);
}

static void divergence_is_warned_of_where_the_body_meets_it(void **unused) {
  const char *const methods[] = {"hamilton_pontryagin", "rkmk4"}, *const parts[] = {"body `drop`: the flow around it"};
  for (int k = 0; k < 2; k++) {
    cb_scenario *s = make_drifting(methods[k]);
    memory_sink m;
    go(s, &m);
    const cb_event_row *e = only_warning(&m);
    assert_int_equal(e->particle, 0);
    assert_int_equal(e->wall, CB_DOUBT_DIVERGENCE);
    check_at_least(e->gap, 0.1);
    check_at_most(e->gap, 0.2);
    check_words(s, 1, parts, 1);
    check_at_least(memory_value(&m, (size_t)(e->time / 0.1), "plot_position", 0),
                   -0.65); /* in the last row before the event, up to 0.1 earlier */
    check_at_most(memory_value(&m, (size_t)(e->time / 0.1), "plot_position", 0), -0.3);
    for (size_t c = 0; c < m.n_checkpoints; c++) check_rest(methods[k], &m, c, make_drifting(methods[k]));
    memory_free(&m);
    cb_scenario_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_large_turn_is_warned_of_once_with_the_step_that_would_do),
      cmocka_unit_test(more_than_half_a_turn_is_retried_smaller),
      cmocka_unit_test(a_restart_warns_of_what_comes_after_it),
      cmocka_unit_test(the_cap_of_delta_is_warned_of_where_it_sets_in),
      cmocka_unit_test(a_cap_that_is_there_from_the_start_is_not_warned_of),
      cmocka_unit_test(divergence_is_warned_of_where_the_body_meets_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
