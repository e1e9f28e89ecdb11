/* Tests of former names in scenarios: a record may contain them, and a scenario with a former name is rejected with the
 * new name. */
#include "check.h"
#include "scenario/private.h"

static const char text[] =
    "curvebody: 1\nspace: {name: e2, %s: embedding}\nbodies:\n"
    "  - {kind: %s, name: a, place: {points: [[0, 0], [1, 0], [0, 2]]}, rods: [[0, 1], [1, 2]]}\n"
    "  - {kind: gas, name: g, count: 3, radius: 0.01, %s: 2, %s: 3, at: {point: [9, 9]}, speed: 1, seed: 2}\n"
    "potentials: [{central: {%s: gravity, at: {point: [3, 3]}}}]\n"
    "interactions: [{%s: harmonic, within: a}]\n"
    "constraints:\n  - %s: {particle: [a, 0], at: {point: [4, 4]}}\n  - %s: {through: [[a, 0], [a, 2]]}\n"
    "  - %s: {particle: [a, 0], towards: [a, 1]}\n"
    "contacts: {%s: rest, within: [g]}\nintegrator: {name: radau_iia, step: 0.1}\ntime: {end: 1}\n";
enum { NAMES = 10 };
static const char *const now[NAMES] = {"plot",           "truss",          "container_radius",  "mass_max",
                                       "pair_potential", "pair_potential", "distance_to_point", "path_length",
                                       "knife_edge",     "accumulation"};
static const char *const old[NAMES] = {"picture", "frame",  "ball",   "heaviest", "law",
                                       "law",     "tether", "string", "blade",    "pile"};

/* Writes the scenario in which only name i is a former name; i = NAMES: no name is; i = -1: all names are. */
static void compose(int i, char *out, size_t size) {
  const char *n[NAMES];
  for (int k = 0; k < NAMES; k++) n[k] = i < 0 || k == i ? old[k] : now[k];
  snprintf(out, size, text, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9]);
}

static void a_record_may_have_former_names(void **unused) {
  char current[2048], former[2048];
  cb_scenario *a, *b;
  compose(NAMES, current, sizeof current);
  compose(-1, former, sizeof former);
  check_ok(cb_scenario_open_text("now", current, NULL, 0, &a));
  check_ok(cb_scenario_open_record("then", former, NULL, 0, &b));
  assert_string_equal(cb_scenario_resolved(a), cb_scenario_resolved(b));
  cb_scenario_free(a);
  cb_scenario_free(b);
}

static void a_scenario_is_refused_with_the_new_name(void **unused) {
  for (int i = 0; i < NAMES; i++) {
    char former[2048], wanted[128];
    cb_scenario *s;
    compose(i, former, sizeof former);
    assert_int_equal(cb_scenario_open_text("then", former, NULL, 0, &s), CB_ERROR_INPUT);
    snprintf(wanted, sizeof wanted, "error: %s was renamed to %s", old[i], now[i]);
    if (!strstr(cb_error_text(), wanted)) fail_msg("%s: %s", wanted, cb_error_text());
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_record_may_have_former_names),
      cmocka_unit_test(a_scenario_is_refused_with_the_new_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
