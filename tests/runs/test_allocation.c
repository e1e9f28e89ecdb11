/* labels: release
 * A step allocates no memory: the test counts every call of the allocator in the process while integrators step,
 * separately and in a run. */
#include "count_allocations.h"
#include "memory_sink.h"
#include "run/contacts_step.h"

static const char *const cases[][2] = {
    {"name: h3", "name: lobatto, step: 0.05, solver: fixed-point"},
    {"name: h3", "name: lobatto, step: 0.05, solver: newton"},
    {"name: s3", "name: lobatto, step: 0.05, stages: 2, solver: fixed-point, compensated: false"},
    {"name: s3", "name: lobatto, step: 0.05, stages: 5, solver: newton"},
    {"name: e3", "name: lobatto, step: 0.05, solver: auto"},
    {"name: h3, chart: polar", "name: lobatto, step: 0.01, solver: fixed-point"},
    {"name: s3, chart: polar", "name: lobatto, step: 0.01, solver: newton"},
    {"name: h3", "name: gauss, step: 0.05, solver: fixed-point"},
    {"name: h3", "name: gauss, step: 0.05, solver: newton"},
    {"name: s3", "name: gauss, step: 0.05, symmetric: false, solver: fixed-point"},
    {"name: s3", "name: gauss, step: 0.05, symmetric: false, solver: newton"},
    {"name: s3", "name: gauss, step: 0.05, stages: 8, balance: false"},
    {"name: h3, chart: polar", "name: gauss, step: 0.01, solver: fixed-point"},
    {"name: h3, chart: polar", "name: gauss, step: 0.01, solver: newton"},
    {"name: s3, chart: polar", "name: gauss, step: 0.01, form: velocity, solver: fixed-point"},
    {"name: s3, chart: polar", "name: gauss, step: 0.01, form: velocity, solver: newton"},
    {"name: h3", "name: radau_iia, step: 0.05, solver: fixed-point"},
    {"name: s3", "name: radau_iia, step: 0.05, stages: 5, solver: newton"},
    {"name: h3, chart: polar", "name: radau_iia, step: 0.01, stages: 2, solver: fixed-point"},
    {"name: s3, chart: polar", "name: radau_iia, step: 0.01, solver: newton"},
    {"name: h3", "name: rk4, step: 0.05"},
    {"name: h3, chart: polar", "name: rk4, step: 0.01"},
};
enum { CASES = sizeof cases / sizeof *cases, STEPS = 100 };

static void expect_none(size_t i, const char *what) {
  const size_t n = count_so_far();
  if (n) fail_msg("%s in %s allocates: %zu calls in %s", cases[i][1], cases[i][0], n, what);
}

static void no_step_of_any_method_allocates(void **unused) {
  for (size_t i = 0; i < CASES; i++) {
    cb_scenario *s = rod_scenario(cases[i][0], cases[i][1], 1, "every: 1");
    cb_state *state;
    check_ok(cb_state_create(cb_scenario_system(s), &state));
    check_ok(cb_system_start(cb_scenario_system(s), state));
    cb_integrator *in = cb_scenario_integrator(s);
    cb_status status = CB_OK;
    count_from_here();
    for (int step = 0; step < STEPS && !status; step++) {
      if (step % 10 == 7) cb_integrator_reset(in);
      status = cb_integrator_step(in, state, step % 10 == 9 ? 0.011 : 0.01);
    }
    expect_none(i, "100 steps");
    check_ok(status);
    cb_state_free(state);
    cb_scenario_free(s);
  }
}

/* Steps with forces of every kind and every solver allocate no memory; this includes steps that fail. */
static void forces_and_failures_allocate_nothing(void **unused) {
  static const char *const integrators[] = {
      "lobatto, iterations: 20, solver: fixed-point",   "lobatto, iterations: 20, solver: newton",
      "lobatto, iterations: 20, solver: auto",          "gauss, iterations: 20, solver: fixed-point",
      "gauss, iterations: 20, solver: newton",          "gauss, iterations: 20, solver: auto",
      "radau_iia, iterations: 20, solver: fixed-point", "radau_iia, iterations: 20, solver: newton",
      "radau_iia, iterations: 20, solver: auto",        "rk4"};
  for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++) {
    char text[2048];
    snprintf(text, sizeof text,
             "curvebody: 1\nspace: h3\nbodies:\n"
             "  - {kind: network, name: net, lattice: {size: [4, 3, 2], spacing: 0.2}, stiffness: 2000, rest: 0.15, "
             "damping: 0.3, mass: 0.4, charge: 0.1}\n"
             "  - {kind: particles, name: two, mass: 2, charge: -1, place: {points: [[0, 0, 0, 1]], move: [{killing: "
             "boost_y, by: 1}]}}\n"
             "potentials:\n  - central: {pair_potential: gravity, strength: 0.3, body: net, at: {chart: polar, point: "
             "[2, 1, 1]}}\n"
             "  - harmonic: {stiffness: 0.1}\n  - expression: {chart: polar, value: \"m*cosh(a)*(1 + 0.1*sin(t))\"}\n"
             "interactions:\n  - {pair_potential: coulomb, strength: 0.2}\n  - {expression: \"exp(-d)*m1*m2\", "
             "between: [net, two]}\n"
             "integrator: {name: %s, step: 0.01}\ntime: {end: 1}\n",
             integrators[i]);
    cb_scenario *s;
    cb_state *state;
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
    check_ok(cb_state_create(cb_scenario_system(s), &state));
    check_ok(cb_system_start(cb_scenario_system(s), state));
    cb_integrator *in = cb_scenario_integrator(s);
    int good = 0, bad = 0;
    count_from_here();
    for (int step = 0; step < 24; step++) {
      const cb_status status =
          cb_integrator_step(in, state, step % 4 == 3 ? 0.5 : 0.002); /* every fourth step is far too long */
      good += status == CB_OK;
      bad += status > 0;
    }
    const size_t n = count_so_far();
    if (n) fail_msg("%s allocates: %zu calls in 24 steps, %d of which failed", integrators[i], n, bad);
    print_message("%s: %d steps, %d failures\n", integrators[i], good, bad);
    assert_int_equal(good + bad, 24);
    assert_true(good >= 12);
    cb_state_free(state);
    cb_scenario_free(s);
  }
}

/* Functions of a sink that discards rows, events and checkpoints. */
static cb_status no_row(void *self, const void *const *data) { return CB_OK; }
static cb_status no_event(void *self, const cb_event_row *event) { return CB_OK; }
static cb_status no_checkpoint(void *self, const cb_blob *state, size_t n) { return CB_OK; }

static void a_run_allocates_nothing(void **unused) {
  for (size_t i = 0; i < CASES; i++) {
    cb_scenario *s = rod_scenario(
        cases[i][0], cases[i][1], 3,
        "every: 2, checkpoint: 5, observables: [separation, energy, killing_momentum, karcher_mean, coordinates]");
    cb_sink sink = {.row = no_row, .event = no_event, .checkpoint = no_checkpoint};
    count_from_here();
    const cb_status status = cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL);
    expect_none(i, "a run");
    check_ok(status);
    cb_scenario_free(s);
  }
}

static void expect_quiet_run(const char *scenario) {
  cb_scenario *s;
  cb_sink sink = {.row = no_row, .event = no_event, .checkpoint = no_checkpoint};
  check_ok(cb_scenario_open_text("test", scenario, NULL, 0, &s));
  count_from_here();
  const cb_status status = cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL);
  const size_t n = count_so_far();
  check_ok(status);
  if (n) fail_msg("%zu calls in a run of\n%s", n, scenario);
  cb_scenario_free(s);
}

/* Tests rods and other constraints in runs of lobatto and radau_iia, in the embedding and in a chart. */
static void constrained_runs_allocate_nothing(void **unused) {
  static const char *const integrators[] = {"lobatto",
                                            "lobatto, solver: newton",
                                            "radau_iia, solver: fixed-point",
                                            "radau_iia, solver: newton",
                                            "radau_iia, constraints: position",
                                            "radau_iia, stages: 2, constraints: velocity",
                                            "radau_iia, stages: 3, constraints: acceleration"};
  for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++)
    for (int chart = 0; chart < 2; chart++) {
      char text[2048];
      snprintf(
          text, sizeof text,
          "curvebody: 1\nspace: {name: s3%s}\nbodies:\n"
          "  - {kind: triangle, name: a, link: rod, masses: [1, 2, 0.7], place: {chart: polar, points: [[1, 1, 1], "
          "[1.3, 1.1, 0.9], [1.1, 1.4, 1.2]]}}\n"
          "  - {kind: chain, name: c, place: {chart: polar, points: [[0.9, 2, 2], [1, 2.1, 2.2], [1.2, 2.2, 2.3]]}}\n"
          "constraints:\n  - distance_to_point: {particle: [c, 0], at: {chart: polar, point: [1.5, 2, 2]}}\n"
          "  - path_length: {through: [[a, 0], [c, 2]], length: \"1.4 + 0.1*sin(t)\"}\n"
          "potentials:\n  - harmonic: {stiffness: 0.3, at: {chart: polar, point: [1, 0.5, 0.5]}}\n"
          "integrator: {name: %s, step: 0.01}\ntime: {end: 0.5}\nrecord: {every: 2, checkpoint: 5}\n",
          chart ? ", chart: polar" : "", integrators[i]);
      expect_quiet_run(text);
    }
}

/* Tests a configuration space with forces that depend on velocity and time, and with constraints if the integrator
 * supports them. */
static void systems_allocate_nothing(void **unused) {
  static const char *const integrators[] = {"gauss",   "gauss, solver: newton",    "rk4", "lobatto, solver: newton",
                                            "lobatto", "radau_iia, solver: newton"};
  for (size_t i = 0; i < sizeof integrators / sizeof *integrators; i++) {
    char text[2048];
    snprintf(text, sizeof text,
             "curvebody: 1\nsystem:\n  coordinates: [a, b, c, d, e]\n  parameters: {g: 2}\n"
             "  metric: [[2], [cos(a - b), 1], [0, 0, 1 + a^2], [0, 0, 0, 1], [0, 0, 0, 0, 1]]\n"
             "  potential: -g*cos(a) + b^2*t + c*d\n  forces: [-0.1*a_dot, 0, sin(t)*c_dot^2, 0, 0]\n%s"
             "  position: [0.3, 0.1, 0.2, 0, 0]\n  velocity: [1, 0.5, 0.2, 0.1, 0.4]\n"
             "integrator: {name: %s, step: 0.01}\ntime: {end: 0.5}\n"
             "record: {every: 2, checkpoint: 5, observables: [energy, constraints, coordinates]}\n",
             i < 3 ? "" : "  constraints: [a + sin(e) - 0.3]\n", integrators[i]);
    expect_quiet_run(text);
  }
}

/* Geodesic distances store no data between steps: they allocate no memory, and the same start gives bit for bit the
 * same result. */
static void rods_in_a_metric_as_text_allocate_nothing_and_repeat_to_the_bit(void **unused) {
  static const char *const links[] = {"rod", "{spring: {stiffness: 2, rest: 0.8}}"};
  static const char *const methods[] = {"lobatto", "gauss"};
  for (int i = 0; i < 2; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "curvebody: 1\nspace: {metric: [[1, 0, 0], [0, sinh(a)^2, 0], [0, 0, sinh(a)^2*sin(b)^2]], coordinates: "
             "[a, b, g], base: [1, 1, 1]}\nbodies:\n  - {kind: rod, masses: [1, 2.7], link: %s, place: {points: [[0.7, "
             "1.4, 0.3], [0.9, 1.2, 1.1]]}, motion: {velocities: [[0.3, 0.2, 0.1], [0.1, 0.3, 0.5]]}}\n"
             "integrator: {name: %s, step: 0.01}\ntime: {end: 1}\n",
             links[i], methods[i]);
    double end[2][6];
    for (int again = 0; again < 2; again++) {
      cb_scenario *s;
      cb_state *state;
      check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
      check_ok(cb_state_create(cb_scenario_system(s), &state));
      check_ok(cb_system_start(cb_scenario_system(s), state));
      cb_status status = CB_OK;
      count_from_here();
      for (int step = 0; step < 20 && !status; step++)
        status = cb_integrator_step(cb_scenario_integrator(s), state, 0.01);
      const size_t n = count_so_far();
      if (n) fail_msg("%s allocates: %zu calls in 20 steps", methods[i], n);
      check_ok(status);
      memcpy(end[again], state->x, sizeof end[again]);
      cb_state_free(state);
      cb_scenario_free(s);
    }
    assert_memory_equal(end[0], end[1], sizeof end[0]);
  }
}

static cb_status count_event(void *self, const cb_event_row *event) {
  ++*(int *)self;
  return CB_OK;
}

/* Tests free balls, rods and springs in a spherical room. In the first steps the arrays grow to the size that is
 * needed. Later steps allocate no memory, with or without contacts. */
static void steps_with_contacts_allocate_nothing_once_warm(void **unused) {
  static const char *const spaces[] = {"e3", "s3", "h3", "h2xe"};
  for (int i = 0; i < 4; i++) {
    char text[2048];
    snprintf(text, sizeof text,
             "curvebody: 1\nspace: %s\nbodies:\n"
             "  - {kind: network, name: net, lattice: {size: [2, 2, 2], spacing: 0.35}, stiffness: 20, radius: 0.1}\n"
             "  - {kind: rod, name: rod, radius: 0.1, link: rod, place: {chart: polar, points: [[0.8, %s], [1, %s]]}}\n"
             "  - {kind: particles, name: free, radius: 0.15, place: {chart: polar, points: [[0.8, %s], [0.9, %s]]},\n"
             "     motion: {chart: polar, velocities: [[-4, 0.6, 0.3], [-2.7, 0.5, 1]]}}\n"
             "contacts: {within: [free]}\n"
             "walls:\n  - {ball: {at: {chart: polar, point: [0, 0, 0]}, radius: 1.5, side: inside}}\n"
             "integrator: {name: lobatto, step: 0.01}\ntime: {end: 1}\n",
             spaces[i], i == 3 ? "0, 0.1" : "1.5, 0", i == 3 ? "0.3, 0.2" : "1.3, 0.3", i == 3 ? "2, 0.1" : "1.5, 2",
             i == 3 ? "4, -0.2" : "1.2, 4");
    cb_scenario *s;
    cb_state *state;
    cb_contacts *contacts;
    int events = 0, quiet = 0, hit = 0, grew = 0;
    cb_sink sink = {&events, NULL, count_event, NULL, NULL};
    check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
    check_ok(cb_state_create(cb_scenario_system(s), &state));
    check_ok(cb_system_start(cb_scenario_system(s), state));
    check_ok(cb_contacts_create(cb_scenario_system(s), cb_scenario_integrator(s), &contacts));
    for (int step = 0; step < 600; step++) {
      cb_contacts_stop stopped;
      const int before = events;
      count_from_here();
      const cb_status status = cb_contacts_step(contacts, state, 0.01, &sink, &stopped);
      const size_t n = count_so_far();
      check_ok(status);
      if (step < 400) continue;
      *(events > before ? &hit : &quiet) += 1;
      grew += n > 0;
    }
    print_message("%s: %d contacts; then %d steps without any and %d with, %d allocated\n", spaces[i], events, quiet,
                  hit, grew);
    assert_true(quiet > 20 && grew <= 4); /* a step allocates only if it has more near pairs than every earlier one */
    cb_contacts_free(contacts);
    cb_state_free(state);
    cb_scenario_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_counter_counts),
      cmocka_unit_test(no_step_of_any_method_allocates),
      cmocka_unit_test(forces_and_failures_allocate_nothing),
      cmocka_unit_test(a_run_allocates_nothing),
      cmocka_unit_test(constrained_runs_allocate_nothing),
      cmocka_unit_test(systems_allocate_nothing),
      cmocka_unit_test(rods_in_a_metric_as_text_allocate_nothing_and_repeat_to_the_bit),
      cmocka_unit_test(steps_with_contacts_allocate_nothing_once_warm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
