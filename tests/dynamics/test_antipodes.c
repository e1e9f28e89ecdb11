/* Tests of forces that change direction where two points of a sphere are antipodal. If a particle passes through the
 * antipode of another particle, the run ends. If it passes nearby, the run continues, if necessary with smaller steps.
 * With smooth forces the run always continues. In a nearly flat space of any radius, near points are not taken for
 * antipodes.
 */
#include "memory_sink.h"

/* Runs two points that move apart along a great circle until they are antipodal. If the speed `across` is not 0, one of
 * them passes beside the antipode. */
static cb_status run_of(const char *space, const char *link, const char *more, const char *method, double across,
                        memory_sink *m, cb_scenario **s) {
  char text[2048];
  const bool three = strchr(space, '3') != NULL, product = strstr(space, "xe") != NULL, body = *link != 0;
  const double r = strstr(space, "curvature: 4") ? 0.5 : 1;
  const char *format = three ? "[%.17g, pi/2, %s]" : product ? "[%.17g, %s, 0]" : "[%.17g, %s]";
  char points[2][64], speed[64];
  for (int i = 0; i < 2; i++) snprintf(points[i], sizeof points[i], format, 1.5 * r, i ? "pi" : "0");
  snprintf(speed, sizeof speed, three ? "[0.5, 0, %g]" : product ? "[0.5, %g, 0]" : "[0.5, %g]", across);
  snprintf(
      text, sizeof text,
      "curvebody: 1\nspace: %s\nbodies:\n  - {kind: %s, name: a, masses: [1, 1]%s%s, place: {chart: polar, points: "
      "[%s, %s]}, motion: {chart: polar, velocities: [%s, %s]}}\n%sintegrator: {name: %s}\n"
      "time: {end: 1}\nrecord: {observables: [energy]}\n",
      space, body ? "rod" : "particles", body ? ", link: " : "", link, points[0], points[1], speed,
      three     ? "[0.5, 0, 0]"
      : product ? "[0.5, 0, 0]"
                : "[0.5, 0]",
      more, method);
  check_ok(cb_scenario_open_text("test", text, NULL, 0, s));
  cb_sink sink = memory_open(m, cb_scenario_run(*s));
  return cb_run_go(cb_scenario_run(*s), &sink, NULL, NULL, NULL);
}

static const char spring[] = "{spring: {stiffness: 1, rest: 2}}",
                  harmonic[] = "interactions: [{pair_potential: harmonic, strength: 1, length: 2}]\n";

/* The run ends with an error that names the two points. Until the last step before the pass, the recorded energy is
 * constant within the error of the integrator (1e-11 here). */
static void a_pass_through_the_antipode_ends_the_run(void **unused) {
  static const char *const space[] = {"s2", "s3", "{name: s3, curvature: 4}", "s2xe", "{name: s3, chart: polar}"};
  enum { WITH = 5 };
  static const char *const with[WITH][2] = {{spring, ""},
                                            {"", harmonic},
                                            {"", "interactions: [{rod: {between: [[a, 0], [a, 1]]}, rest: 2}]\n"},
                                            {spring, "contacts: {}\n"},
                                            {spring, "events: [{expression: {value: t - 0.05}}]\n"}};
  for (int i = 0; i < 5; i++)
    for (int w = 0; w < WITH; w++) {
      memory_sink m;
      cb_scenario *s;
      assert_int_equal(
          run_of(space[i], with[w][0], with[w][1], i == 4 ? "gauss, step: 0.01" : "lobatto, step: 0.01", 0, &m, &s),
          CB_ERROR_STEP);
      assert_non_null(strstr(cb_error_text(), "`a.0` has passed the antipode of `a.1`"));
      check_near(memory_value(&m, m.n_rows - 1, "time", 0), i == 2 ? 0.06 : 0.17, 1e-15);
      const double energy = memory_value(&m, 0, "energy", 0);
      check_near(memory_value(&m, m.n_rows - 1, "energy", 0), energy, 1e-11);
      memory_free(&m);
      cb_scenario_free(s);
    }
}

/* If a stage or an iteration fails because of the antipode, the message contains this reason, for all integrators, with
 * and without contacts. */
static void a_step_that_fails_at_the_antipode_names_it(void **unused) {
  static const char *const method[] = {"rk4, step: 0.005", "rk4, step: 0.0073", "ida, step: 0.01", "gauss, step: 0.02",
                                       "rk4, step: 0.005, retries: 0"};
  static const char *const space[] = {"s2", "s3", "{name: s3, curvature: 4}", "s2xe"};
  static const char *const with[][2] = {{spring, ""}, {"", harmonic}, {spring, "contacts: {}\n"}};
  for (int i = 0; i < 4; i++)
    for (int w = i == 1 ? 0 : 2; w < 3; w++)
      for (int k = 0; k < 5; k++) {
        memory_sink m;
        cb_scenario *s;
        assert_int_equal(run_of(space[i], with[w][0], with[w][1], method[k], 0, &m, &s), CB_ERROR_STEP);
        if (!strstr(cb_error_text(), "the antipode of `a.1`"))
          fail_msg("%s, %s: %s", space[i], method[k], cb_error_text());
        memory_free(&m);
        cb_scenario_free(s);
      }
}

/* With a speed of 0.1 across, the point passes the antipode at a distance of 0.014, and steps of the length 0.01 are
 * short enough. With 0.02 it passes at a distance of .0028. Then the step is halved, and the energy is conserved to
 * 1e-5; without halving its error would be 2e-4. */
static void a_pass_beside_the_antipode_is_resolved(void **unused) {
  static const double across[] = {0.1, 0.02}, tolerance[] = {1e-6, 1e-5};
  for (int i = 0; i < 2; i++) {
    memory_sink m;
    cb_scenario *s;
    check_ok(run_of("s3", spring, "", "lobatto, step: 0.01", across[i], &m, &s));
    int halved = 0;
    for (size_t e = 0; e < m.n_events; e++) halved += m.event[e].kind == CB_EVENT_RETRY;
    assert_int_equal(halved > 0, i == 1);
    check_near(memory_value(&m, m.n_rows - 1, "energy", 0), memory_value(&m, 0, "energy", 0), tolerance[i]);
    memory_free(&m);
    cb_scenario_free(s);
  }
}

static void what_is_smooth_at_the_antipode_goes_on(void **unused) {
  static const char *const with[][2] = {{"{spring: {stiffness: 1, rest: pi}}", ""},
                                        {"", "interactions: [{pair_potential: harmonic, strength: 1, length: pi}]\n"},
                                        {"", "interactions: [{expression: cos(d)}]\n"},
                                        {"", ""}};
  for (int w = 0; w < 4; w++) {
    memory_sink m;
    cb_scenario *s;
    check_ok(run_of("s3", with[w][0], with[w][1], "lobatto, step: 0.01", 0, &m, &s));
    check_near(memory_value(&m, m.n_rows - 1, "energy", 0), memory_value(&m, 0, "energy", 0), 1e-10);
    memory_free(&m);
    cb_scenario_free(s);
  }
}

/* Two points that a rod or a spring connects rotate around the base point. Curvatures of 1e-20 and less change lengths
 * near 1 by less than round-off, so the separations equal those in E3. */
static void points_of_a_nearly_flat_space_are_told_apart(void **unused) {
  static const char *const link[] = {"rod", "{spring: {stiffness: 1, rest: 1}}"};
  static const char *const space[] = {"e3",
                                      "{name: h3, curvature: -1e-20}",
                                      "{name: h3, curvature: -1e-27}",
                                      "{name: h3, curvature: -1e-60}",
                                      "{name: s3, curvature: 1e-20}",
                                      "{name: s3, curvature: 1e-27}",
                                      "{name: s3, curvature: 1e-60}"};
  for (int l = 0; l < 2; l++) {
    double flat = NAN;
    for (int i = 0; i < 7; i++) {
      char text[1024];
      memory_sink m;
      cb_scenario *s;
      snprintf(
          text, sizeof text,
          "curvebody: 1\nspace: %s\nbodies:\n  - {kind: rod, name: a, link: %s, place: {chart: polar, points: [[0.6, "
          "1, 0], [0.5, 1, 3]]}, motion: {killing: rotation_z, speed: 0.7}}\nintegrator: {name: lobatto, step: "
          "0.01}\ntime: {end: 1}\nrecord: {observables: [separation]}\n",
          space[i], link[l]);
      check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
      cb_sink sink = memory_open(&m, cb_scenario_run(s));
      check_ok(cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL));
      const double separation = memory_value(&m, m.n_rows - 1, "separation", 0);
      if (i == 0) flat = separation;
      check_near(separation, flat, 5e-15);
      memory_free(&m);
      cb_scenario_free(s);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pass_through_the_antipode_ends_the_run),
      cmocka_unit_test(a_step_that_fails_at_the_antipode_names_it),
      cmocka_unit_test(a_pass_beside_the_antipode_is_resolved),
      cmocka_unit_test(points_of_a_nearly_flat_space_are_told_apart),
      cmocka_unit_test(what_is_smooth_at_the_antipode_goes_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
