/* Tests that items of a scenario that cannot act on bodies in a fluid are refused, with the reason and the line. */
#include "simulate.h"

/* Opens a scenario with a ball, particles with mass, and tracers. The text `item` begins in line 7. */
static cb_status open(const char *fluid, const char *item, const char *integrator, cb_scenario **out) {
  char text[4096];
  const int length = snprintf(text, sizeof text,
                              "curvebody: 1\nfluid: {medium: water%s}\nbodies:\n"
                              "  - {name: a, shape: {name: ball, radius: 0.1, resolution: 8}, mass: 4}\n"
                              "  - {kind: particles, name: p, mass: 1, place: {points: [[1, 0, 0], [2, 0, 0]]}}\n"
                              "  - {kind: particles, name: dye, mass: 0, place: {points: [[0, 3, 0]]}}\n"
                              "%s\nintegrator: {name: %s, step: 0.01}\ntime: {end: 1}\n",
                              fluid, item, integrator);
  assert_in_range(length, 1, sizeof text - 1);
  const cb_status status = cb_scenario_open_text("test", text, NULL, 0, out);
  return status;
}

static void items_without_meaning_are_refused(void **unused) {
  static const char tracer[] = "`dye` has mass 0 and follows the flow, and nothing else moves it: expected a mass > 0";
  static const struct {
    const char *fluid, *item, *integrator, *at, *text;
  } cases[] = {
      {"", "interactions: [{spring: {between: [[a, 0], [dye, 0]]}}]", "hamilton_pontryagin", "7:45", tracer},
      {"", "interactions: [{pair_potential: gravity, between: [a, dye]}]", "hamilton_pontryagin", "7:55", tracer},
      {"", "constraints: [{rod: {between: [[a, 0], [dye, 0]]}}]", "hamilton_pontryagin", "7:41", tracer},
      {"", "forces: [{body: dye, force: [1, 0, 0]}]", "hamilton_pontryagin", "7:17", tracer},
      {"", "walls: [{plane: {body: dye, at: {point: [0, 0, -5]}, normal: [0, 0, 1]}}]", "hamilton_pontryagin", "7:24",
       tracer},
      {"",
       "start: {redundant: drop}\nconstraints: [{rod: {between: [[p, 0], [p, 1]]}}, {rod: {between: [[p, 0], [p, "
       "1]]}}]",
       "hamilton_pontryagin", "9:13", "constraint `rod p.0 p.1` follows from the others at the start"},
      {"", "constraints: [{rod: {between: [[a, 0], 3]}}]", "hamilton_pontryagin", "7:40",
       "expected a particle [body, number] or a point {body: .., at: [x, y, z]}, found "},
      {"", "interactions: [{sprng: {between: [[a, 0], [p, 0]]}}]", "hamilton_pontryagin", "7:17",
       "unknown key 'sprng', did you mean 'spring'?"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_scenario *s = NULL;
    char expected[512];
    snprintf(expected, sizeof expected, "test:%s: error: %s", cases[i].at, cases[i].text);
    check_case_begins(cases[i].item, open(cases[i].fluid, cases[i].item, cases[i].integrator, &s), CB_ERROR_INPUT,
                      expected);
  }
}

/* An interaction, force or wall that names no body acts on all bodies, but not on tracers, which move with the flow. */
static void tracers_are_left_out_of_what_acts_on_all(void **unused) {
  static const char *const items[] = {"interactions: [{pair_potential: gravity, strength: 3}]",
                                      "forces: [{force: [m, 0, 0]}]",
                                      "walls: [{plane: {at: {point: [0, 2, 0]}, normal: [0, -1, 0]}}]"};
  for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
    char text[2048];
    snprintf(text, sizeof text,
             "curvebody: 1\nfluid: {medium: water, gravity: [0, 0, 0], flow: {uniform: [0.5, 1, 0]}}\nbodies:\n"
             "  - {kind: particles, name: dye, mass: 0, place: {points: [[0, 1, 0]]}}\n"
             "%s\nintegrator: {name: hamilton_pontryagin, step: 0.1}\ntime: {end: 2}\n",
             items[i]);
    simulation *s = simulate(text, NULL, 0, (const char *const[]){"position", NULL});
    const double *x = s->value[0] + 3 * (s->rows - 1);
    check_near(x[0], 1, 1e-14);
    check_near(x[1], 3, 1e-14);
    simulation_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(items_without_meaning_are_refused),
                                     cmocka_unit_test(tracers_are_left_out_of_what_acts_on_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
