/* Tests of zeros of events, and of contacts with walls, at the ends of steps. Each is found once: whether or not its
 * time is a multiple of the step, at the start and at the end of a run, for particles that move forwards or backwards,
 * and in runs from every checkpoint. */
#include "memory_sink.h"

#include <curvebody/contact.h>

/* Events with a zero at the time %T. At this time the particle a, which is at x = -0.7 + v t, is at x = %X and at the
 * distance %D from the particle b. */
static const struct {
  const char *text;
  double tolerance; /* tolerance of the time: its round-off, or the effect of round-off on a double or triple zero */
} events[] = {{"expression: {value: t - (%T)}", 2e-15},
              {"expression: {value: 1e9*(x - (%X))}", 2e-15},
              {"expression: {value: -1e-12*(x - (%X))}", 2e-15},
              {"expression: {value: (x - (%X))^2}", 1e-12},
              {"expression: {value: -(x - (%X))^2}", 1e-12},
              {"expression: {value: (x - (%X))^3}", 1e-12},
              {"expression: {value: abs(x - (%X))}", 2e-15},
              {"expression: {value: sin(x - (%X))}", 2e-15},
              {"distance: {between: [[a, 0], [b, 0]], equals: %D}", 1e-14}};
enum { EVENTS = sizeof events / sizeof *events };

static const double steps[] = {0.01, 0.25, 0.1, 0.5, 1, 1.0 / 3, 0.07, 0.3};

/* Replaces %T, %X and %D in a text by numbers, and %R by a condition on the direction of the event. */
static void fill(char *out, const char *text, double time, double v) {
  for (; *text; text++) {
    const double x = -0.7 + v * time;
    if (*text != '%')
      *out++ = *text;
    else if (*++text == 'R') /* an event that is zero at the start of the run has no direction */
      out += sprintf(out, "%s", time > 0 ? ", direction: rising" : "");
    else if (*text == 'T')
      out += sprintf(out, "%.17g", time);
    else
      out += sprintf(out, "%.17g", *text == 'X' ? x : 9 - x);
  }
  *out = 0;
}

static cb_scenario *open_with(const char *parts, double v, double step) {
  char text[4096];
  snprintf(text, sizeof text,
           "curvebody: 1\nspace: e2\nbodies:\n"
           "  - {kind: particles, name: a, place: {points: [[-0.7, 0]]}, motion: {velocities: [[%g, 0]]}}\n"
           "  - {kind: particles, name: b, place: {points: [[9, 0]]}}\n"
           "%sintegrator: {name: lobatto, step: %.17g}\ntime: {end: 1}\nrecord: {checkpoint: 7}\n",
           v, parts, step);
  cb_scenario *s;
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  return s;
}

static void go(memory_sink *m, cb_scenario *s) {
  cb_sink sink = memory_open(m, cb_scenario_run(s));
  check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
}

/* Runs with all events, each with its zero at this time, and checks that each is found once. Then checks that a run
 * from each checkpoint adds the same rows. */
static void look_for(double time, double v, double step) {
  char parts[2048] = "events:\n", what[96];
  for (int e = 0; e < EVENTS; e++) {
    strcat(parts, "  - {");
    fill(parts + strlen(parts), events[e].text, time, v);
    strcat(parts, "}\n");
  }
  cb_scenario *s = open_with(parts, v, step);
  memory_sink m;
  go(&m, s);
  for (int e = 0; e < EVENTS; e++) {
    int found = 0;
    for (size_t i = 0; i < m.n_events; i++) {
      if (m.event[i].kind != CB_EVENT_MARK || (e == EVENTS - 1 ? m.event[i].other != 1 : m.event[i].wall != e))
        continue;
      found++;
      check_near(m.event[i].time, time, events[e].tolerance);
    }
    if (found != 1)
      fail_msg("%s with a zero at %.17g, velocity %g, step %g: found %d times", events[e].text, time, v, step, found);
  }
  snprintf(what, sizeof what, "zeros at %g with step %g", time, step);
  for (size_t c = 0; c < m.n_checkpoints; c++) check_rest(what, &m, c, open_with(parts, v, step));
  memory_free(&m);
  cb_scenario_free(s);
}

static void zeros_are_found_once_wherever_steps_end(void **unused) {
  static const double zeros[] = {0.5, 1, 0.75, 0.61, 0.07};
  for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
    for (size_t z = 0; z < sizeof zeros / sizeof *zeros; z++) {
      look_for(zeros[z], 1, steps[s]);
      look_for(zeros[z], -1, steps[s]);
    }
}

/* A gap that is zero at the start, permanently or only then, is reported there once. Each zero of a gap that oscillates
 * is reported, too, although the second derivative is zero at the samples. So is the zero of a gap that jumps across
 * 0. */
static void zeros_at_the_start_are_reported_once(void **unused) {
  static const char parts[] =
      "events:\n  - {expression: {value: y}}\n  - {expression: {value: x + 0.7}}\n"
      "  - {expression: {value: t, direction: falling}}\n  - {expression: {value: t, direction: "
      "rising}}\n  - {expression: {value: \"sin(10*pi*(x + 0.7))\"}}\n"
      "  - {expression: {value: \"floor(3*x) + 0.5\"}}\n";
  static const int rows[] = {1, 1, 0, 1, 11, 1};
  for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
    if (steps[k] > 0.3)
      continue; /* in steps longer than one and a half periods of the sine, the search may miss zeros */
    int found[6] = {0};
    cb_scenario *s = open_with(parts, 1, steps[k]);
    memory_sink m;
    go(&m, s);
    for (size_t i = 0; i < m.n_events; i++) found[m.event[i].wall]++;
    for (int e = 0; e < 6; e++) assert_int_equal(found[e], rows[e]);
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* A `stop` event ends the run at its zero, and the run stores the name of the event. Other events at that time are
 * reported, too. A `stop` event with a zero at the start of the run causes a warning. */
static void a_stop_on_the_end_of_a_step_ends_the_run(void **unused) {
  static const char parts[] =
      "events:\n  - {expression: {value: x + 0.2, action: stop, name: half-way}}\n"
      "  - {expression: {value: t - 0.5, name: half-time}}\n"
      "  - {expression: {value: x + 0.7, action: stop, name: start}}\n";
  for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
    const cb_run_warning *warning;
    cb_scenario *s = open_with(parts, 1, steps[k]);
    memory_sink m;
    go(&m, s);
    check_near(cb_run_time(cb_scenario_run(s)), 0.5, 1e-15);
    assert_string_equal(cb_run_stopped(cb_scenario_run(s)), "half-way");
    assert_int_equal(cb_run_warnings(cb_scenario_run(s), &warning), 1);
    assert_non_null(strstr(warning[0].text, "`start` is zero at the start of the run"));
    int found[3] = {0};
    for (size_t i = 0; i < m.n_events; i++)
      if (m.event[i].kind != CB_EVENT_WARN) found[m.event[i].wall]++;
    for (int e = 0; e < 3; e++) assert_int_equal(found[e], 1);
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* A particle hits a wall at a time at which a step may end, or at the start or the end of the run. An event has a zero
 * at the same time. The contact and the event are each reported once. */
static void contacts_at_the_end_of_a_step_belong_to_it(void **unused) {
  static const char parts[] =
      "contacts: {}\nwalls:\n  - {plane: {at: {point: [%X, 0]}, normal: [-1, 0], body: a}}\n"
      "events:\n  - {expression: {value: x - (%X)%R}}\n";
  static const double zeros[] = {0.5, 1, 0.75, 0.61, 0};
  for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
    for (size_t z = 0; z < sizeof zeros / sizeof *zeros; z++) {
      char text[1024];
      fill(text, parts, zeros[z], 1);
      cb_scenario *s = open_with(text, 1, steps[k]);
      memory_sink m;
      go(&m, s);
      assert_int_equal(m.n_events, 2);
      for (int i = 0; i < 2; i++) check_near(m.event[i].time, zeros[z], 2e-15);
      assert_int_not_equal(m.event[0].kind, m.event[1].kind);
      const cb_state *end = cb_run_current(cb_scenario_run(s));
      check_near(end->p[0], -1, 1e-15);
      memory_free(&m);
      cb_scenario_free(s);
    }
}

/* A box falls by 1 in a time of 1 and hits the floor at the end of a step, within a step, or at the end of the run. The
 * impact is reported once at each of two corners, and the box rises immediately. */
static void a_body_meets_the_floor_at_the_end_of_a_step(void **unused) {
  static const double ends[] = {1, 1.5, 2};
  for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
    for (int e = 0; e < 3; e++) {
      char text[1024];
      cb_scenario *s;
      memory_sink m;
      snprintf(text, sizeof text,
               "curvebody: 1\nfluid: {medium: none, gravity: [0, 0, -2], floor: {kind: reflecting, height: 0, "
               "restitution: 1}}\nbodies:\n  - {name: b, shape: {name: box, a: 0.25, b: 0.25, c: 0.25}, density: 1000, "
               "place: {position: [0, 0, 1.125]}}\nintegrator: {step: %.17g}\ntime: {end: %g}\n",
               steps[k], ends[e]);
      check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
      go(&m, s);
      assert_int_equal(m.n_events, 2);
      for (int i = 0; i < 2; i++) check_near(m.event[i].time, 1, 1e-14);
      check_near(memory_value(&m, m.n_rows - 1, "twist", 5), 2 - 2 * (ends[e] - 1), 1e-13);
      memory_free(&m);
      cb_scenario_free(s);
    }
}

/* Two particles pass through each other, or start at the same point. Their distance is 0 at the ends of steps, and the
 * event at the distance 0.6 is found. */
static void an_event_of_a_distance_is_found_where_particles_coincide(void **unused) {
  static const double start[] = {1, 0};
  for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
    for (int from = 0; from < 2; from++) {
      char text[1024];
      cb_scenario *s;
      memory_sink m;
      snprintf(text, sizeof text,
               "curvebody: 1\nspace: e2\nbodies:\n"
               "  - {kind: particles, name: a, place: {points: [[%g, 0]]}, motion: {velocities: [[-1, 0]]}}\n"
               "  - {kind: particles, name: b, place: {points: [[%g, 0]]}, motion: {velocities: [[1, 0]]}}\n"
               "events:\n  - distance: {between: [[a, 0], [b, 0]], equals: 0.6}\n"
               "integrator: {name: lobatto, step: %.17g}\ntime: {end: 2}\n",
               start[from], -start[from], steps[k]);
      check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
      go(&m, s);
      assert_int_equal(m.n_events, from == 0 ? 2 : 1);
      if (from == 0) check_near(m.event[0].time, 0.7, 2e-15);
      check_near(m.event[m.n_events - 1].time, start[from] + 0.3, 2e-15);
      memory_free(&m);
      cb_scenario_free(s);
    }
}

/* An integrator for free motion in e2. A step shorter than `whole` moves the particle by 1 + `ahead` times the correct
 * distance. This imitates an integrator that solves its equations only to a tolerance. */
static const double whole = 0.5, ahead = 1e-11;

static cb_status step_ahead(cb_integrator *in, void *of, double h) {
  cb_state *s = of;
  for (int i = 0; i < s->n * s->k; i++) s->x[i] += h * (h < whole ? 1 + ahead : 1) * s->p[i];
  s->t += h;
  return CB_OK;
}

static const cb_integrator_class runs_ahead = {"runs_ahead", "", "", &cb_problem_hamiltonian, .step = step_ahead};

/* With the steps of the run, the zero of an event is just after the end of a step. With the shorter steps that the
 * search for zeros makes, it is just before that end. The zero must be found once, in the next step. */
static void a_zero_next_to_the_end_of_a_step_is_found_once(void **unused) {
  for (int late = 1; late < 10; late++) {
    cb_space *g;
    cb_builder *b;
    cb_system *system;
    cb_integrator *in;
    cb_run *run;
    memory_sink m;
    char text[64];
    snprintf(text, sizeof text, "(x - %.17g)*(1 - 0.1*x)", whole * (1 + 0.1 * late * ahead));
    check_ok(cb_space_create("e2", NULL, &g));
    check_ok(cb_builder_create(g, &b));
    check_ok(cb_builder_body(b, "a", NULL));
    check_ok(cb_builder_particle(b, NULL, 1, 0, 0, (const double[]){0, 0}, (const double[]){1, 0}, NULL));
    check_ok(cb_builder_event_expression(b, NULL, 0, NULL, text, CB_EVENT_MARK, CB_EVENT_BOTH));
    check_ok(cb_builder_finish(b, &system));
    check_ok(cb_integrator_create_class(&runs_ahead, NULL, (const cb_problem *const[]){&cb_problem_hamiltonian, NULL},
                                        system, &in));
    const cb_run_options options = {.end = 2, .step = whole, .every = 1};
    check_ok(cb_run_create(system, in, &options, &run));
    cb_sink sink = memory_open(&m, run);
    check_ok(cb_run_go(run, &sink, NULL, NULL, NULL));
    assert_int_equal(m.n_events, 1);
    check_near(m.event[0].time, whole, 2 * ahead);
    memory_free(&m);
    cb_run_free(run);
    cb_integrator_free(in);
    cb_system_free(system);
    cb_builder_free(b);
    cb_space_free(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(zeros_are_found_once_wherever_steps_end),
      cmocka_unit_test(zeros_at_the_start_are_reported_once),
      cmocka_unit_test(a_stop_on_the_end_of_a_step_ends_the_run),
      cmocka_unit_test(a_body_meets_the_floor_at_the_end_of_a_step),
      cmocka_unit_test(contacts_at_the_end_of_a_step_belong_to_it),
      cmocka_unit_test(an_event_of_a_distance_is_found_where_particles_coincide),
      cmocka_unit_test(a_zero_next_to_the_end_of_a_step_is_found_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
