/* Tests of forces without a potential and of springs that depend on the time, in runs of scenarios: closed forms, and
 * quantities that are conserved. */
#include "dynamics/system_facts.h"
#include "simulate.h"

static const struct {
  const char *text;
  double tolerance;
} integrators[] = {{"{name: lobatto, stages: 4, step: 0.02}", 1e-11},
                   {"{name: lobatto, stages: 2, step: 0.001}", 1e-6},
                   {"{name: lobatto, stages: 4, solver: newton, step: 0.02}", 1e-11},
                   {"{name: gauss, stages: 3, step: 0.02}", 1e-11},
                   {"{name: gauss, stages: 3, solver: newton, step: 0.02}", 1e-11},
                   {"{name: radau_iia, stages: 4, step: 0.02}", 1e-11},
                   {"{name: radau_iia, stages: 4, solver: newton, step: 0.02}", 1e-11},
                   {"{name: ida, step: 0.02}", 1e-7},
                   {"{name: rk4, step: 0.005}", 1e-9}};
enum { INTEGRATORS = sizeof integrators / sizeof *integrators };

static simulation *run_fields(const char *space, const char *rest, const char *integrator, double end,
                              const char *const *fields) {
  char text[4096];
  const int length = snprintf(text, sizeof text,
                              "curvebody: 1\nspace: %s\n%sintegrator: %s\ntime: {end: %.17g}\n"
                              "record: {every: 1}\n",
                              space, rest, integrator, end);
  assert_in_range(length, 1, sizeof text - 1);
  return simulate(text, NULL, 0, fields);
}

static simulation *run(const char *space, const char *rest, const char *integrator, double end) {
  static const char *const fields[] = {"kinetic_energy", "position", "separation", NULL};
  return run_fields(space, rest, integrator, end, fields);
}

static double last(const simulation *s, int field, size_t at) {
  return s->value[field][(s->rows - 1) * s->width[field] + at];
}

/* A particle of mass m starts with the speed v0 along a ray from the base point, and has the drag -c v. Its speed is v0
 * exp(-c t/m), and it covers the distance (m v0/c) (1 - exp(-c t/m)). Particle b is on the same ray at the distance 0.1
 * from the base point. In the polar chart the covector of the drag is -c a' along the ray. The term 5 x of one force is
 * normal to the space and has no effect. */
static void drag_slows_a_particle_exponentially(void **unused) {
#define DRAG3 "\"-0.7*x_dot\", \"-0.7*y_dot\", \"-0.7*z_dot\""
  static const struct {
    const char *space, *chart, *force;
  } cases[] = {
      {"e3", "embedding", DRAG3},
      {"s3", "embedding", DRAG3 ", \"-0.7*w_dot\""},
      {"h3", "embedding", DRAG3 ", \"-0.7*w_dot\""},
      {"h3", "embedding", "\"-0.7*x_dot + 5*x\", \"-0.7*y_dot + 5*y\", \"-0.7*z_dot + 5*z\", \"-0.7*w_dot + 5*w\""},
      {"h2xe", "embedding", "\"-0.7*x_dot\", \"-0.7*y_dot\", \"-0.7*w_dot\", \"-0.7*z_dot\""},
      {"s3", "polar", "\"-0.7*a_dot\", 0, 0"},
      {"{name: h3, chart: polar}", "polar", "\"-0.7*a_dot\", 0, 0"},
      {"{name: s3, chart: polar}", "embedding", DRAG3 ", \"-0.7*w_dot\""}};
  const double m = 2, c = 0.7, v0 = 0.8, r0 = 0.4, end = 1;
  const double r = r0 + m * v0 / c * (1 - exp(-c * end / m)), energy = m / 2 * pow(v0 * exp(-c * end / m), 2);
  (void)unused;
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
    for (int i = 0; i < INTEGRATORS; i++) {
      const bool product = !strcmp(cases[n].space, "h2xe");
      const double tolerance = integrators[i].tolerance;
      const char *angle = product ? "0" : "0.6";
      char text[2048];
      snprintf(text, sizeof text,
               "bodies:\n  - {kind: particles, name: a, mass: 2, place: {chart: polar, points: [[0.4, 1.1, %s]]}, "
               "motion: {chart: polar, velocities: [[0.8, 0, 0]]}}\n"
               "  - {kind: particles, name: b, place: {chart: polar, points: [[0.1, 1.1, %s]]}}\n"
               "interactions:\n  - {spring: {between: [[a, 0], [b, 0]], stiffness: 0}}\n"
               "forces:\n  - {body: a, chart: %s, force: [%s]}\n",
               angle, angle, cases[n].chart, cases[n].force);
      simulation *s = run(cases[n].space, text, integrators[i].text, end);
      const double found = last(s, 2, 0) + 0.1;
      if (!(fabs(found - r) <= tolerance && fabs(last(s, 0, 0) - energy) <= tolerance))
        print_error("%s, %s: %s\n", cases[n].space, cases[n].chart, integrators[i].text);
      check_near(found, r, tolerance);
      check_near(last(s, 0, 0), energy, tolerance);
      assert_int_equal(s->warnings, 0);
      simulation_free(s);
    }
}

/* A spring of stiffness k with the rest length D + b cos(w t) joins two particles of mass m, which start at rest at the
 * distance d0. Their distance is d(t) = D + (d0 - D - B) cos(w0 t) + B cos(w t) with B = b w0^2/(w0^2 - w^2) and
 * w0^2 = 2k/m. */
static void a_driven_spring_follows_its_closed_form(void **unused) {
  static const char *const springs[] = {
      "  - {kind: rod, name: a, mass: 1.5, link: {spring: {stiffness: 2, rest: \"1 + 0.2*cos(3*t)\"}}, place: {points: "
      "[[0, 0, 0], [1.1, 0, 0]]}}\n",
      "  - {kind: network, name: a, mass: 1.5, stiffness: 2, rest: \"1 + 0.2*cos(3*t)\", springs: [[0, 1]], place: "
      "{points: [[0, 0, 0], [1.1, 0, 0]]}}\n",
      "  - {kind: particles, name: a, mass: 1.5, place: {points: [[0, 0, 0]]}}\n"
      "  - {kind: particles, name: b, mass: 1.5, place: {points: [[1.1, 0, 0]]}}\n"
      "interactions:\n  - {spring: {between: [[b, 0], [a, 0]], stiffness: 2, rest: \"1 + 0.2*cos(3*t)\"}}\n",
      "  - {kind: particles, name: a, mass: 1.5, place: {points: [[0, 0, 0]]}}\n"
      "  - {kind: particles, name: b, mass: 1.5, place: {points: [[1.1, 0, 0]]}}\n"
      "interactions:\n  - {spring: {between: [[b, 0], [a, 0]], stiffness: \"2 + 0*t\", rest: \"1 + 0.2*cos(3*t)\"}}\n"};
  const double w0 = sqrt(2 * 2 / 1.5), w = 3, B = 0.2 * w0 * w0 / (w0 * w0 - w * w), end = 2;
  const double d = 1 + (0.1 - B) * cos(w0 * end) + B * cos(w * end);
  (void)unused;
  for (size_t n = 0; n < sizeof springs / sizeof *springs; n++)
    for (int i = 0; i < INTEGRATORS; i++) {
      char text[2048];
      snprintf(text, sizeof text, "bodies:\n%s", springs[n]);
      simulation *s = run("e3", text, integrators[i].text, end);
      check_near(last(s, 1, 3) - last(s, 1, 0), d, 20 * integrators[i].tolerance);
      assert_int_equal(s->warnings, 0);
      simulation_free(s);
    }
}

/* A spring with the rest length D + b cos(w t) joins a particle of mass m to a fixed point. Its length is d(t) as in
 * a_driven_spring_follows_its_closed_form, with w0^2 = k/m. */
static void the_spring_of_a_pendulum_may_depend_on_time(void **unused) {
  const double w0 = sqrt(2 / 1.5), w = 3, B = 0.2 * w0 * w0 / (w0 * w0 - w * w), end = 2;
  (void)unused;
  simulation *s = run("e3",
                      "bodies:\n  - {kind: pendulum, name: a, mass: 1.5, link: {spring: {stiffness: 2, rest: \"1 + "
                      "0.2*cos(3*t)\"}}, pivot: {point: [-1.1, 0, 0]}, place: {points: [[0, 0, 0]]}}\n"
                      "  - {kind: particles, name: b, place: {points: [[-2, 0, 0]]}}\n"
                      "interactions:\n  - {spring: {between: [[a, 0], [b, 0]], stiffness: 0}}\n",
                      integrators[0].text, end);
  check_near(last(s, 2, 0) - 0.9, 1 + (0.1 - B) * cos(w0 * end) + B * cos(w * end), 1e-10);
  simulation_free(s);
}

static cb_conserved conserved_in(const char *rest) {
  char text[2048];
  cb_scenario *s;
  snprintf(text, sizeof text,
           "curvebody: 1\nspace: e3\nbodies:\n  - {kind: rod, name: a, mass: 1, link: {spring: {stiffness: 1, rest: "
           "%s\nintegrator: {name: lobatto, step: 0.1}\ntime: {end: 1}\n",
           rest);
  check_ok(cb_scenario_open_text("test", text, NULL, 0, &s));
  const cb_conserved is = cb_system_conserved(cb_scenario_system(s));
  cb_scenario_free(s);
  return is;
}

static void what_they_conserve_is_known(void **unused) {
#define PLACE "}}, place: {points: [[0, 0, 0], [1, 0, 0]]}}\n"
  const cb_conserved plain = conserved_in("1" PLACE), driven = conserved_in("\"1 + 0.1*sin(t)\"" PLACE),
                     forced = conserved_in("1" PLACE "forces:\n  - {body: a, force: [0, 0, 1]}");
  (void)unused;
  assert_true(plain.energy && !driven.energy && !forced.energy);
  for (int f = 0; f < 6; f++) assert_true(plain.momentum[f] && driven.momentum[f] && !forced.momentum[f]);
}

/* Many integrators extract each connected component of a system and move it separately. The component keeps its
 * forces. */
static void every_component_keeps_its_forces(void **unused) {
  simulation *s =
      run_fields("e3",
                 "bodies:\n  - {kind: particles, name: a, mass: 2, place: {points: [[0, 0, 0], [1, 0, 0]]}}\n"
                 "  - {kind: particles, name: b, mass: 3, place: {points: [[0, 2, 0]]}}\n"
                 "forces:\n  - {body: b, force: [0, 0, \"m*t\"]}\n  - {force: [\"-0.5*x_dot\", 0, \"m*0.1\"]}\n",
                 integrators[0].text, 1, (const char *const[]){"position", NULL});
  (void)unused;
  check_near(last(s, 0, 2), 0.05, 1e-13);
  check_near(last(s, 0, 5), 0.05, 1e-13);
  check_near(last(s, 0, 8), 0.05 + 1. / 6, 1e-13);
  simulation_free(s);
}

static void wrong_forces_are_refused_at_their_place(void **unused) {
  static const char *const wrong[][2] = {
      {"forces:\n  - {body: a, force: [0, \"x_dit\", 0]}", ":6:27: error: "},
      {"forces:\n  - {body: a, force: [0, 0]}", "expected a list of 3 expressions, one per coordinate of the chart"},
      {"forces:\n  - {body: b, force: [0, 0, 0]}", "unknown body 'b'"},
      {"forces:\n  - {body: a, chart: polr, force: [0, 0, 0]}", "did you mean 'polar'"},
      {"interactions:\n  - {spring: {between: [[a, 0], [a, 0]]}}", "expected two different particles"},
      {"interactions:\n  - {spring: {between: [[a, 0], [a, 7]]}}", "expected a particle from 0 to 1"},
      {"interactions:\n  - {spring: {between: [[a, 0], [a, 1]], rest: \"1 + s\"}}", "rest: unknown name `s`"},
      {"interactions:\n  - {pair_potential: gravity, length: 2}", "unknown key 'length'"}};
  (void)unused;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char text[1024];
    cb_scenario *s;
    snprintf(
        text, sizeof text,
        "curvebody: 1\nspace: e3\nbodies:\n  - {kind: particles, name: a, mass: 2, place: {points: [[0, 0, 0], [1, "
        "0, 0]]}}\n%s\nintegrator: {name: lobatto, step: 0.1}\ntime: {end: 1}\n",
        wrong[i][0]);
    assert_int_equal(cb_scenario_open_text("test", text, NULL, 0, &s), CB_ERROR_INPUT);
    if (!strstr(cb_error_text(), wrong[i][1])) fail_msg("%s\nexpected %s", cb_error_text(), wrong[i][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(drag_slows_a_particle_exponentially),
      cmocka_unit_test(a_driven_spring_follows_its_closed_form),
      cmocka_unit_test(the_spring_of_a_pendulum_may_depend_on_time),
      cmocka_unit_test(what_they_conserve_is_known),
      cmocka_unit_test(every_component_keeps_its_forces),
      cmocka_unit_test(wrong_forces_are_refused_at_their_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
