/* Tests of runs with contacts: a run from a checkpoint gives identical rows and events, the number of threads has no
 * effect, and a `stop` event ends the record at its time. */
#include "core/threads.h"
#include "memory_sink.h"

static const char *const scenes[] = {
    /* free balls in a spherical room, and an event when two balls are at a given distance */
    "space: s3\nbodies:\n"
    "  - {kind: particles, name: gas, radius: 0.25, masses: [1, 2, 0.5, 1.4, 3, 0.7],\n"
    "     place: {chart: polar, points: [[0.4, 1, 0], [0.9, 1.2, 1.5], [0.7, 2, 3], [0.9, 1, 4.6], [1.2, 2.3, 0.4], "
    "[1.1, 0.4, 5]]},\n"
    "     motion: {chart: polar, velocities: [[1, 0.3, 0.2], [-0.5, 0.6, 0.1], [0.7, -0.4, 0.3], [-1, 0.2, 0.2], "
    "[-0.8, 0.1, -0.4], [-0.3, 0.5, 1]]}}\n"
    "contacts: {within: [gas]}\n"
    "walls:\n  - {ball: {at: {chart: polar, point: [0, 0, 0]}, radius: 1.6, side: inside, name: room}}\n"
    "events:\n  - {distance: {between: [[gas, 0], [gas, 3]], equals: 1, name: near}}\n",
    /* a rod with a spring and a rigid rod, with moving origins */
    "space: h3\nbodies:\n"
    "  - {kind: rod, name: a, masses: [1, 2.7], radius: 0.15, link: {spring: {stiffness: 3, rest: 0.5}},\n"
    "     place: {chart: polar, points: [[0.7, 1.4, 0.3], [0.5, 1.1, 2.7]]}, motion: {killing: boost_x, speed: 2.2}}\n"
    "  - {kind: rod, name: b, masses: [0.8, 1.7], radius: 0.2, link: rod,\n"
    "     place: {chart: polar, points: [[1.9, 1.5, 0.1], [2.2, 1.3, -0.2]]}, motion: {killing: boost_x, speed: "
    "-0.9}}\n"
    "contacts: {}\n"
    "walls:\n  - {ball: {at: {chart: polar, point: [0, 0, 0]}, radius: 2.45, side: inside, name: room}}\n"
    "  - {plane: {at: {chart: polar, point: [1.2, pi/2, pi]}, normal: [-1, 0, 0]}}\n",
    /* inelastic contacts, and rest on a floor */
    "space: e3\nbodies:\n"
    "  - {kind: particles, name: pile, radius: 0.1, masses: [1, 2, 0.5],\n"
    "     place: {points: [[0, 0, 0.5], [0.03, 0.02, 0.9], [1, 0, 0.2]]}, motion: {velocities: [[0, 0.1, 0], [0, 0, "
    "0.3], "
    "[-0.4, 0, 0]]}}\n"
    "potentials:\n  - expression: {value: \"m*z\"}\n"
    "contacts: {within: [pile], restitution: 0.4, accumulation: rest}\n"
    "walls:\n  - {plane: {at: {point: [0, 0, 0]}, normal: [0, 0, 1], restitution: 0.5}}\n",
    /* far from the base point: two balls collide, and a third leaves their common frame */
    "space: h3\nbodies:\n"
    "  - {kind: particles, name: a, radius: 0.2, place: {chart: translation, points: [[-1.2, 0.1, 0.2]], move: "
    "[{killing: boost_x, by: 50}]}, motion: {chart: translation, velocities: [[0.8, 0, -0.05]]}}\n"
    "  - {kind: particles, name: b, radius: 0.2, place: {chart: translation, points: [[1.2, 0.05, -0.1]], move: "
    "[{killing: boost_x, by: 50}]}, motion: {chart: translation, velocities: [[-0.8, 0.02, 0.05]]}}\n"
    "  - {kind: particles, name: c, radius: 0.2, place: {chart: translation, points: [[0, 1.5, 0]], move: "
    "[{killing: boost_x, by: 50}]}, motion: {chart: translation, velocities: [[0.3, 9, 0]]}}\n"
    "contacts: {}\n"};

static const char *const integrators[][3] = {
    {"lobatto, step: 0.05", "gauss, step: 0.05", "ida, step: 0.05, rtol: 1e-9"},
    {"lobatto, step: 0.02", "radau_iia, step: 0.02", "ida, step: 0.05, rtol: 1e-9"},
    {"lobatto, step: 0.02", "gauss, step: 0.02", "rk4, step: 0.02"},
    {"lobatto, step: 0.02", "gauss, step: 0.02", "rk4, step: 0.02"}};

enum { SCENES = sizeof scenes / sizeof *scenes };

static cb_scenario *open_scene(int scene, const char *integrator, const char *more) {
  char text[4096];
  snprintf(text, sizeof text,
           "curvebody: 1\n%s%sintegrator: {name: %s}\ntime: {end: 3}\n"
           "record: {every: 2, checkpoint: 5, observables: [energy, killing_momentum]}\n",
           scenes[scene], more, integrator);
  cb_scenario *s;
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  return s;
}

static void go(memory_sink *m, cb_scenario *s) {
  cb_sink sink = memory_open(m, cb_scenario_run(s));
  check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
}

static void a_run_with_contacts_from_a_checkpoint_repeats_rows_and_events(void **unused) {
  for (int scene = 0; scene < SCENES; scene++)
    for (int i = 0; i < 3; i++) {
      cb_scenario *whole = open_scene(scene, integrators[scene][i], "");
      memory_sink m;
      go(&m, whole);
      int contacts = 0;
      for (size_t e = 0; e < m.n_events; e++) contacts += m.event[e].kind == 0;
      if (getenv("CB_TEST_SHOW")) print_message("scene %d, %s: %d contacts\n", scene, integrators[scene][i], contacts);
      assert_true(contacts >= (scene < 3 ? 3 : 1) && m.n_checkpoints >= 3); /* the last scene has one contact */
      for (size_t c = 0; c < m.n_checkpoints; c++) {
        char what[96];
        snprintf(what, sizeof what, "scene %d, %s", scene, integrators[scene][i]);
        check_rest(what, &m, c, open_scene(scene, integrators[scene][i], ""));
      }
      memory_free(&m);
      cb_scenario_free(whole);
    }
}

static void the_number_of_threads_changes_no_byte(void **unused) {
  for (int scene = 0; scene < SCENES; scene++) {
    memory_sink m[2];
    cb_scenario *s[2];
    for (int t = 0; t < 2; t++) {
      cb_threads_set(t + 1);
      s[t] = open_scene(scene, integrators[scene][0], "");
      go(&m[t], s[t]);
    }
    cb_threads_set(0);
    assert_int_equal(m[0].n_rows, m[1].n_rows);
    assert_int_equal(m[0].n_events, m[1].n_events);
    for (size_t row = 0; row < m[0].n_rows; row++) assert_memory_equal(m[0].rows[row], m[1].rows[row], m[0].row_bytes);
    for (size_t e = 0; e < m[0].n_events; e++) assert_true(same_event(&m[0].event[e], &m[1].event[e]));
    for (int t = 0; t < 2; t++) {
      memory_free(&m[t]);
      cb_scenario_free(s[t]);
    }
  }
}

/* An event of the first scene stops the run at t = 1.2345, which is the time of the last row. Earlier rows and events
 * equal those of the run without the event. A run from an earlier checkpoint stops at the same time. */
static void a_stop_ends_the_record_at_its_moment(void **unused) {
  static const char stop[] =
      "  - {expression: {particle: [gas, 2], chart: embedding, value: \"t - 1.2345\", action: stop, name: enough}}\n";
  cb_scenario *whole = open_scene(0, "lobatto, step: 0.05", ""), *s = open_scene(0, "lobatto, step: 0.05", stop);
  memory_sink all, m;
  go(&all, whole);
  go(&m, s);
  const size_t last = m.n_rows - 1;
  check_near(memory_value(&m, last, "time", 0), 1.2345, 1e-14);
  check_near(m.event[m.n_events - 1].time, 1.2345, 1e-14);
  assert_int_equal(m.event[m.n_events - 1].kind, 1);
  for (size_t row = 0; row < last; row++) assert_memory_equal(m.rows[row], all.rows[row], m.row_bytes);
  for (size_t e = 0; e + 1 < m.n_events; e++) assert_true(same_event(&m.event[e], &all.event[e]));
  check_near(memory_value(&m, last, "energy", 0), memory_value(&m, 0, "energy", 0), 1e-11);
  for (size_t c = 0; c < m.n_checkpoints; c++)
    check_rest("a run that an event stops", &m, c, open_scene(0, "lobatto, step: 0.05", stop));
  memory_free(&all);
  memory_free(&m);
  cb_scenario_free(whole);
  cb_scenario_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_run_with_contacts_from_a_checkpoint_repeats_rows_and_events),
      cmocka_unit_test(the_number_of_threads_changes_no_byte),
      cmocka_unit_test(a_stop_ends_the_record_at_its_moment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
