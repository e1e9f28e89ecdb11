/* Tests of parameter tables: defaults, types, ranges, and the exact text of every error message. */
#include "check.h"

#include "tree/scalar.h"
#include "yaml/yaml.h"
#include <curvebody/param.h>

typedef struct method {
  double step, tolerance, rest;
  int stages, solver;
  bool symmetric;
  const char *title;
  const cb_node *link;
} method;

#define AT(field) offsetof(method, field)
static const cb_param table[] = {
    {"step", CB_PARAM_REAL, AT(step), NULL, "", "> 0", "", "size of a step"},
    {"tolerance", CB_PARAM_REAL, AT(tolerance), "1e-11", "", "(0, 1]", "", "of the iteration"},
    {"rest", CB_PARAM_REAL, AT(rest), "nan", "m", ">= 0", "", "length at rest"},
    {"stages", CB_PARAM_INT, AT(stages), "4", "", "[2, 5]", "", "number of stages"},
    {"solver", CB_PARAM_CHOICE, AT(solver), "auto", "", "", "auto|newton|fixed-point", "of the stage equations"},
    {"symmetric", CB_PARAM_BOOL, AT(symmetric), "true", "", "", "", "is its own adjoint"},
    {"title", CB_PARAM_STRING, AT(title), "", "", "", "", "for people"},
    {"link", CB_PARAM_NODE, AT(link), "", "", "", "", "what joins the particles"},
    {0}};

static cb_tree *tree;

static cb_status bind_text(const char *text, method *m) {
  cb_tree_free(tree);
  tree = NULL;
  check_ok(cb_yaml_read_text("a.yaml", text, strlen(text), &tree));
  static const char *const extra[] = {"name"};
  return cb_params_bind(table, cb_tree_root(tree), NULL, extra, 1, m);
}

static int free_tree(void **state) {
  cb_tree_free(tree);
  tree = NULL;
  return 0;
}

static void all_given_values_arrive(void **state) {
  method m;
  memset(&m, 0xee, sizeof m);
  check_ok(
      bind_text("name: lobatto\nstep: 1/8\ntolerance: 1\nrest: 2\nstages: 5\nsolver: fixed-point\n"
                "symmetric: false\ntitle: a rod\nlink: {spring: 1}\n",
                &m));
  check_near(m.step, .125, 0);
  check_near(m.tolerance, 1, 0);
  check_near(m.rest, 2, 0);
  assert_int_equal(m.stages, 5);
  assert_int_equal(m.solver, 2);
  assert_false(m.symmetric);
  assert_string_equal(m.title, "a rod");
  assert_int_equal(m.link->kind, CB_NODE_MAP);
}

static void absent_values_are_defaults(void **state) {
  method m;
  memset(&m, 0xee, sizeof m);
  check_ok(bind_text("step: 1", &m));
  check_near(m.tolerance, 1e-11, 0);
  assert_true(isnan(m.rest));
  assert_int_equal(m.stages, 4);
  assert_int_equal(m.solver, 0);
  assert_true(m.symmetric);
  assert_string_equal(m.title, "");
  assert_null(m.link);
  check_ok(cb_params_bind(table + 1, NULL, NULL, NULL, 0, &m));
}

static void a_wrong_value_fails_and_writes_nothing(void **state) {
  static const struct {
    const char *text, *error;
  } cases[] = {
      {"step: 0.1 s",
       "a.yaml:1:11: error: step: expected a dimensionless number (or constant expression), found "
       "'0.1 s': a number is written without a unit, remove 's'"},
      {"step: 1.0x",
       "a.yaml:1:10: error: step: expected a dimensionless number (or constant expression), found "
       "'1.0x': a number is written without a unit, and multiplication with `*`"},
      {"{step: 1, rest: 1 m}",
       "a.yaml:1:19: error: rest: expected a number (or constant expression) in m, found "
       "'1 m': a number is written without a unit, remove 'm'"},
      {"{step: 1, rest: 2.5 km}",
       "a.yaml:1:21: error: rest: expected a number (or constant expression) in m, found "
       "'2.5 km': a number is written without a unit: write 2.5*1e3, in m"},
      {"step: 0", "a.yaml:1:7: error: step: expected a dimensionless number > 0, found '0'"},
      {"step: -1e-3", "a.yaml:1:7: error: step: expected a dimensionless number > 0, found '-1e-3'"},
      {"{step: 1, rest: -2}", "a.yaml:1:17: error: rest: expected a number >= 0, in m, found '-2'"},
      {"step: 1\ntolerance: 0", "a.yaml:2:12: error: tolerance: expected a dimensionless number in (0, 1], found '0'"},
      {"step:", "a.yaml:1:6: error: step: expected a dimensionless number (or constant expression), found nothing"},
      {"step: 1\nstages: 6", "a.yaml:2:9: error: stages: expected an integer in [2, 5], found '6'"},
      {"step: 1\nstages: 1.5", "a.yaml:2:9: error: stages: expected an integer, found '1.5'"},
      {"step: 1\nstages: 4294967298", "a.yaml:2:9: error: stages: expected an integer in [2, 5], found '4294967298'"},
      {"step: 1\nstages: 3 s",
       "a.yaml:2:11: error: stages: expected an integer, found '3 s': a number is written "
       "without a unit, remove 's'"},
      {"step: 1\nsolver: newten",
       "a.yaml:2:9: error: solver: expected one of auto, newton, fixed-point, found "
       "'newten', did you mean 'newton'?"},
      {"step: 1\nsolver: 3", "a.yaml:2:9: error: solver: expected one of auto, newton, fixed-point, found '3'"},
      {"step: 1\nsolver: [auto]", "a.yaml:2:9: error: solver: expected one of auto, newton, fixed-point, found a list"},
      {"step: 1\nsymmetric: 1", "a.yaml:2:12: error: symmetric: expected true or false, found '1'"},
      {"step: 1\ntitle: {a: b}", "a.yaml:2:8: error: title: expected a text, found a map"},
      {"stages: 3", "a.yaml:1:1: error: missing key 'step': expected a dimensionless number > 0: size of a step"},
      {"step: 1\nsymmetrc: true",
       "a.yaml:2:1: error: unknown key 'symmetrc', did you mean 'symmetric'? Expected one "
       "of: step, tolerance, rest, stages, solver, symmetric, title, link, name"},
      {"lobatto", "a.yaml:1:1: error: expected a map of keys and values, found 'lobatto'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    method m, before;
    memset(&m, 0xee, sizeof m);
    before = m;
    check_error(bind_text(cases[i].text, &m), CB_ERROR_INPUT, cases[i].error);
    assert_memory_equal(&m, &before, sizeof m);
  }
}

static void a_missing_map_fails_at_the_place_that_wants_it(void **state) {
  method m;
  check_ok(bind_text("step: 1\nlink: {}", &m));
  check_error(cb_params_bind(table, NULL, m.link, NULL, 0, &m), CB_ERROR_INPUT,
              "a.yaml:2:7: error: missing key 'step': expected a dimensionless number > 0: size of a step");
}

static void an_int_without_range_must_fit(void **state) {
  static const cb_param count[] = {{"count", CB_PARAM_INT, 0, NULL, "", "", "", ""}, {0}};
  int n = 7;
  cb_tree_free(tree);
  tree = NULL;
  check_ok(cb_yaml_read_text("a.yaml", "count: 2147483648", 17, &tree));
  check_error(cb_params_bind(count, cb_tree_root(tree), NULL, NULL, 0, &n), CB_ERROR_INPUT,
              "a.yaml:1:8: error: count: expected an integer from -2147483648 to 2147483647, found '2147483648'");
  assert_int_equal(n, 7);
}

static void a_table_that_contradicts_itself_is_an_error_of_the_caller(void **state) {
  static const cb_param bad_default[] = {{"step", CB_PARAM_REAL, 0, "0", "", "> 0", "", ""}, {0}};
  static const cb_param bad_range[] = {{"step", CB_PARAM_REAL, 0, "1", "", "positive", "", ""}, {0}};
  double step;
  check_error(cb_params_bind(bad_default, NULL, NULL, NULL, 0, &step), CB_ERROR_ARGUMENT,
              "parameter table: default:1:1: error: step: expected a dimensionless number > 0, found '0'");
  check_error(cb_params_bind(bad_range, NULL, NULL, NULL, 0, &step), CB_ERROR_ARGUMENT,
              "parameter 'step': expected a range, found 'positive'");
}

static void ranges_are_read_as_written(void **state) {
  static const struct {
    const char *text;
    double in[3], out[3];
  } cases[] = {{"> 0", {1e-300, 1, INFINITY}, {0, -1, -INFINITY}},
               {">= 0", {0, 1, 2}, {-1e-300, -1, -2}},
               {"< 1", {0, -1, -INFINITY}, {1, 2, 3}},
               {"<= 1", {1, 0, -1}, {1.0000000000000002, 2, 3}},
               {"!= 0", {1, -1, 1e-300}, {0, -0.0, 0}},
               {"[2, 5]", {2, 3, 5}, {1.9999999999999998, 6, -3}},
               {"(0, 1]", {0.5, 1, 1e-300}, {0, 1.5, -1}},
               {"[0,1)", {0, 0.5, 0.25}, {1, -1, 2}},
               {"(-1, inf)", {0, 1e300, -0.5}, {-1, -2, -INFINITY}},
               {"", {0, -1, 1e300}, {NAN, NAN, NAN}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_range range;
    assert_true(cb_range_parse(cases[i].text, &range));
    for (int k = 0; k < 3; k++) {
      assert_true(cb_range_holds(&range, cases[i].in[k]));
      assert_false(cb_range_holds(&range, cases[i].out[k]));
    }
    assert_false(cb_range_holds(&range, NAN));
  }
  static const char *const wrong[] = {">", "=> 0", "0", "[1, 2", "[2, 1]", "(a, b)", "> 0 x", "[1 2]", "! 0", "> nan"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cb_range range;
    assert_false(cb_range_parse(wrong[i], &range));
  }
}

static void a_resolved_map_binds_to_the_same_values(void **state) {
  method m, again;
  memset(&m, 0, sizeof m);
  memset(&again, 0, sizeof again);
  check_ok(bind_text("name: x\nstep: 1/8\nsolver: newton", &m));
  cb_arena *arena = cb_arena_create();
  const cb_node *full = cb_params_resolved(table, cb_tree_root(tree), arena);
  cb_text text = {0};
  check_ok(cb_node_emit(full, &text));
  assert_string_equal(text.data,
                      "step: 1/8\ntolerance: 1e-11\nstages: 4\nsolver: newton\nsymmetric: true\n"
                      "title: \"\"\nname: x\n");
  static const char *const extra[] = {"name"};
  check_ok(cb_params_bind(table, full, NULL, extra, 1, &again));
  check_near(again.step, m.step, 0);
  assert_true(isnan(again.rest));
  assert_int_equal(again.stages, m.stages);
  assert_int_equal(again.solver, 1);
  cb_text_free(&text);
  cb_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(all_given_values_arrive, free_tree),
      cmocka_unit_test_teardown(absent_values_are_defaults, free_tree),
      cmocka_unit_test_teardown(a_wrong_value_fails_and_writes_nothing, free_tree),
      cmocka_unit_test_teardown(a_missing_map_fails_at_the_place_that_wants_it, free_tree),
      cmocka_unit_test_teardown(an_int_without_range_must_fit, free_tree),
      cmocka_unit_test(a_table_that_contradicts_itself_is_an_error_of_the_caller),
      cmocka_unit_test(ranges_are_read_as_written),
      cmocka_unit_test_teardown(a_resolved_map_binds_to_the_same_values, free_tree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
