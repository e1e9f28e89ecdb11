/* Tests of scalars of a tree: numbers, integers and bools, and the line, column and text of errors. */
#include "check.h"

#include "tree/scalar.h"
#include "yaml/yaml.h"

#include <limits.h>

static cb_tree *tree;

static const cb_node *read_text(const char *text) {
  cb_tree_free(tree);
  tree = NULL;
  check_ok(cb_yaml_read_text("a.yaml", text, strlen(text), &tree));
  return cb_tree_root(tree);
}

static int free_tree(void **state) {
  cb_tree_free(tree);
  tree = NULL;
  return 0;
}

/* Returns the value of the key `x`. */
static const cb_node *value_of(const char *text) { return cb_node_get(read_text(text), "x"); }

static void numbers_are_decimals_or_constant_expressions(void **state) {
  static const struct {
    const char *text;
    double value;
  } cases[] = {{"x: 1", 1},
               {"x: -2.5e-3", -2.5e-3},
               {"x: .5", .5},
               {"x: 5.", 5},
               {"x: +3", 3},
               {"x: 1e3", 1000},
               {"x: \"0.25\"", .25},
               {"x: pi/2", 1.57079632679489661923},
               {"x: 3*pi/2", 4.71238898038468985769},
               {"x: 1/3", 1. / 3},
               {"x: 0.1", 0.1},
               {"x: 1e-400", 0},
               {"x: 4.9406564584124654e-324", 0x1p-1074},
               {"x: 9007199254740993", 9007199254740992.},
               {"x: -(2+1)", -3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double value;
    check_ok(cb_node_real(value_of(cases[i].text), &value));
    check_near(value, cases[i].value, 0);
  }
}

/* A number without a unit is in bytes. A text that is not a size > 0 fails with an example of a size. */
static void sizes_are_numbers_with_or_without_a_unit(void **state) {
  const struct {
    const char *text;
    double value;
  } cases[] = {{"x: 20 GB", 20e9},      {"x: 20GB", 20e9},        {"x: 1.5 GiB", 1.5 * 0x1p30},
               {"x: 3 kB", 3e3},        {"x: 7 MB", 7e6},         {"x: 2 TB", 2e12},
               {"x: 4 KiB", 4096},      {"x: 5 MiB", 5 * 0x1p20}, {"x: 0.5 TiB", 0x1p39},
               {"x: 12 B", 12},         {"x: 2e10", 2e10},        {"x: 20*1e9", 20e9},
               {"x: (2+3)*4 GB", 20e9}, {"x: \"20  GB\"", 20e9},  {"x: 1/4 GB", .25e9}};
  static const char *const bad[] = {"x: 20 Gb",  "x: 20 gb", "x: 20 G",  "x: GB",       "x: [20]",
                                    "x: {a: 1}", "x:",       "x: 20 m",  "x: 0",        "x: -1 GB",
                                    "x: 0 B",    "x: inf",   "x: nan",   "x: 1e308 TB", "x: 20 GB GB",
                                    "x: true",   "x: GB 20", "x: 1e400", "x: twenty",   "x: 20 GB/s"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double value;
    check_ok(cb_scalar_bytes(value_of(cases[i].text), "x", &value));
    check_near(value, cases[i].value, 0);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double value = 3;
    assert_int_equal(cb_scalar_bytes(value_of(bad[i]), "x", &value), CB_ERROR_INPUT);
    assert_non_null(strstr(cb_error_text(), "x: expected a size "));
    assert_true(value == 3);
  }
}

static void long_numbers_are_rounded_like_short_ones(void **state) {
  char text[400] = "0.1";
  memset(text + 3, '0', 300);
  double value;
  assert_true(cb_parse_decimal(text, 303, &value));
  check_near(value, 0.1, 0);
}

static void what_is_not_a_number_fails_with_its_place(void **state) {
  double value = 7;
  const char *expected = "expected a number (or constant expression), found ";
  static const struct {
    const char *text, *place, *rest;
  } cases[] = {
      {"x: 1.0x", "a.yaml:1:7: error: ", "'1.0x': a number is written without a unit, and multiplication with `*`"},
      {"x: 0.1 s", "a.yaml:1:8: error: ", "'0.1 s': a number is written without a unit, remove 's'"},
      {"x: 3abc", "a.yaml:1:5: error: ", "'3abc': a number is written without a unit, and multiplication with `*`"},
      {"x: 10 m/s^2", "a.yaml:1:7: error: ", "'10 m/s^2': a number is written without a unit, remove 'm/s^2'"},
      {"x: '90\xc2\xb0'",
       "a.yaml:1:7: error: ", "'90\xc2\xb0': a number is written without a unit: write 90*pi/180, in rad"},
      {"x:", "a.yaml:1:3: error: ", "nothing"},
      {"x: ~", "a.yaml:1:4: error: ", "nothing"},
      {"a: 1\nx: [1]", "a.yaml:2:4: error: ", "a list"},
      {"x:\n  y: 1", "a.yaml:2:3: error: ", "a map"},
      {"x: .inf", "a.yaml:1:4: error: ", "'.inf', which is not finite"},
      {"x: -Infinity", "a.yaml:1:4: error: ", "'-Infinity', which is not finite"},
      {"x: NaN", "a.yaml:1:4: error: ", "'NaN', which is not finite"},
      {"x: 1e999", "a.yaml:1:4: error: ", "'1e999', which is too large for a double"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[256];
    snprintf(text, sizeof text, "%s%s%s", cases[i].place, expected, cases[i].rest);
    check_error(cb_node_real(value_of(cases[i].text), &value), CB_ERROR_INPUT, text);
  }
  check_near(value, 7, 0);
}

/* A proposed text has the value that was meant; only a unit with the value 1 may be removed. */
static void hints_have_the_value_that_was_meant(void **state) {
  static const struct {
    const char *text, *proposed;
    double value;
  } cases[] = {{"3pi/2", "3*pi/2", 4.71238898038468985769},
               {"90deg", "90*pi/180", 1.57079632679489661923},
               {"-45 degrees", "-45*pi/180", -0.78539816339744830962},
               {"30\xc2\xb0", "30*pi/180", 0.52359877559829887308},
               {"2(3+1)", "2*(3+1)", 8},
               {"2 pi", "2*pi", 6.28318530717958647693},
               {"5\xe2\x88\x92"
                "2",
                "5-2", 3},
               {"2\xcf\x80/3", "2*pi/3", 2.09439510239319549231},
               {"3\xc2\xb7"
                "4",
                "3*4", 12},
               {"2sqrt(2)", "2*sqrt(2)", 1.41421356237309504880 * 2},
               {"10 mm", "10*1e-3", 0.01},
               {"10\xc2\xb5m", "10*1e-6", 1e-5},
               {"2.5 km", "2.5*1e3", 2500},
               {"5 cm^2", "5*1e-2^2", 5e-4},
               {"5cm\xc2\xb2", "5*1e-2^2", 5e-4},
               {"36 km/h", "36*1e3/3600", 10},
               {"1 g/cm^3", "1*1e-3/1e-2^3", 1000},
               {"7 min", "7*60", 420},
               {"2deg/s", "2*pi/180", 0.03490658503988659154},
               {"30 rpm", "30*2*pi/60", 3.14159265358979323846},
               {"5%", "5/100", 0.05},
               {"1e3 kPa", "1e3*1e3", 1e6}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[64];
    double value;
    snprintf(text, sizeof text, "x: '%s'", cases[i].text);
    assert_int_equal(cb_node_real(value_of(text), &value), CB_ERROR_INPUT);
    const char *write = strstr(cb_error_text(), "write ");
    assert_non_null(write);
    assert_null(strstr(cb_error_text(), "remove"));
    assert_int_equal(strncmp(write + 6, cases[i].proposed, strlen(cases[i].proposed)), 0);
    snprintf(text, sizeof text, "x: %.*s", (int)strcspn(write + 6, ","), write + 6);
    check_ok(cb_node_real(value_of(text), &value));
    check_near(value, cases[i].value, 1e-15 * fabs(cases[i].value)); /* the round-off of up to four operations */
  }
}

static void hints_remove_only_units_of_value_one(void **state) {
  static const char *const kept[] = {"2x",
                                     "1_000",
                                     "1 000",
                                     "1,000",
                                     "0x10",
                                     "1d3",
                                     "45d",
                                     ("20 \xc2\xb0"
                                      "C"),
                                     "2 Hz",
                                     "1/2pi",
                                     "3 4",
                                     "1e",
                                     "5 ft",
                                     "3 lb/s",
                                     "2 mi",
                                     "1.5.2",
                                     "10 kn",
                                     "3!",
                                     "4 K m",
                                     "5k"},
                           *const removed[] = {"1e-3m", "0.1 s", "10 m/s^2", "1.2 kg/m3", "5 N s", "2 m/s\xc2\xb2"};
  char text[64];
  double value;
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    snprintf(text, sizeof text, "x: '%s'", kept[i]);
    assert_int_equal(cb_node_real(value_of(text), &value), CB_ERROR_INPUT);
    assert_null(strstr(cb_error_text(), "remove"));
    const char *hint = strstr(cb_error_text(), "write ");
    if (hint && strncmp(hint, "write numbers without units", 27) && !strchr(text, '!'))
      fail_msg("%s: %s", text, cb_error_text());
  }
  for (size_t i = 0; i < sizeof removed / sizeof *removed; i++) {
    snprintf(text, sizeof text, "x: '%s'", removed[i]);
    assert_int_equal(cb_node_real(value_of(text), &value), CB_ERROR_INPUT);
    assert_non_null(strstr(cb_error_text(), "without a unit, remove"));
  }
}

static void a_wrong_expression_fails_where_it_is_wrong(void **state) {
  double value = 7;
  const char *what = "error: expected a number (or constant expression), found ";
  static const struct {
    const char *text;
    int column;
    const char *found;
  } cases[] = {{"x: 1 + q", 8, "'1 + q'"},   {"x: 2*(3", 8, "'2*(3'"},           {"x: fast", 4, "'fast'"},
               {"x: '1 + q'", 9, "'1 + q'"}, {"x: \"1\\x20+ q\"", 4, "'1 + q'"}, {"x: 2pi", 4, "'2pi'"},
               {"x: 0x10", 5, "'0x10'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[256];
    bool unit = strstr(cases[i].text, "0x10") != NULL;
    snprintf(text, sizeof text, "a.yaml:1:%d: %s%s: ", cases[i].column, what, cases[i].found);
    check_error_begins(cb_node_real(value_of(cases[i].text), &value), CB_ERROR_INPUT, text);
    assert_int_equal(unit, strstr(cb_error_text(), "without a unit") != NULL);
  }
  check_error_begins(cb_node_real(value_of("x: 1/0"), &value), CB_ERROR_INPUT, "a.yaml:1:");
  check_near(value, 7, 0);
}

static void columns_count_characters(void **state) {
  double value;
  /* Two Greek letters of two bytes each precede the error. */
  check_error_begins(cb_node_real(value_of("{\xce\xb1\xce\xb2: 1, x: 1z}"), &value), CB_ERROR_INPUT,
                     "a.yaml:1:13: error: ");
}

static void integers_are_whole_and_fit(void **state) {
  long long value = 7;
  check_ok(cb_node_int(value_of("x: -12"), &value));
  assert_int_equal(value, -12);
  check_ok(cb_node_int(value_of("x: 9223372036854775806"), &value));
  assert_true(value == LLONG_MAX - 1);
  check_ok(cb_node_int(value_of("x: 2*3"), &value));
  assert_int_equal(value, 6);
  check_ok(cb_node_int(value_of("x: 1e3"), &value));
  assert_int_equal(value, 1000);
  check_ok(cb_node_int(value_of("x: 010"), &value));
  assert_int_equal(value, 10);
  value = 7;
  check_error(cb_node_int(value_of("x: 1.5"), &value), CB_ERROR_INPUT,
              "a.yaml:1:4: error: expected an integer, found '1.5'");
  check_error(cb_node_int(value_of("x: 1e300"), &value), CB_ERROR_INPUT,
              "a.yaml:1:4: error: expected an integer, found '1e300'");
  check_error(cb_node_int(value_of("x: 3 steps"), &value), CB_ERROR_INPUT,
              "a.yaml:1:6: error: expected an integer, found '3 steps': a number is written without a unit, "
              "and multiplication with `*`");
  check_error(cb_node_int(value_of("x: 99999999999999999999"), &value), CB_ERROR_INPUT,
              "a.yaml:1:4: error: expected an integer of at most 63 bits, found '99999999999999999999'");
  check_error(cb_node_int(value_of("x: -99999999999999999999"), &value), CB_ERROR_INPUT,
              "a.yaml:1:4: error: expected an integer of at most 63 bits, found '-99999999999999999999'");
  assert_int_equal(value, 7);
}

static void integers_agree_with_strtoll(void **state) {
  uint64_t seed = check_seed();
  for (int i = 0; i < 10000; i++) {
    char text[40];
    double size = check_uniform(&seed, 0, 20);
    snprintf(text, sizeof text, "%.0f", check_uniform(&seed, -1, 1) * pow(10, size));
    long long value;
    assert_true(cb_parse_integer(text, strlen(text), &value));
    assert_true(value == strtoll(text, NULL, 10));
  }
  static const char *const edges[] = {"9223372036854775807",
                                      "9223372036854775808",
                                      "-9223372036854775808",
                                      "-9223372036854775809",
                                      "-9223372036854775807",
                                      "0",
                                      "-0",
                                      "+5"};
  for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
    long long value;
    assert_true(cb_parse_integer(edges[i], strlen(edges[i]), &value));
    assert_true(value == strtoll(edges[i], NULL, 10));
  }
  long long value;
  assert_false(cb_parse_integer("", 0, &value));
  assert_false(cb_parse_integer("-", 1, &value));
  assert_false(cb_parse_integer("1_0", 3, &value));
}

static void bools_are_true_or_false(void **state) {
  bool value = true;
  check_ok(cb_node_bool(value_of("x: false"), &value));
  assert_false(value);
  check_error(cb_node_bool(value_of("x: yes"), &value), CB_ERROR_INPUT,
              "a.yaml:1:4: error: expected true or false, found 'yes'");
}

static void lists_of_numbers_have_their_length(void **state) {
  double x[3] = {7, 7, 7};
  check_ok(cb_node_reals(value_of("x: [0.5, pi/2, -1]"), 3, x));
  check_near(x[1], 1.57079632679489661923, 0);
  check_error(cb_node_reals(value_of("x: [0.5, 1]"), 3, x), CB_ERROR_INPUT,
              "a.yaml:1:4: error: expected a list of 3 numbers, found a list of 2");
  check_error(cb_node_reals(value_of("x: 5"), 3, x), CB_ERROR_INPUT,
              "a.yaml:1:4: error: expected a list of 3 numbers, found '5'");
  check_error_begins(cb_node_reals(value_of("x: [9, 9, m]"), 3, x), CB_ERROR_INPUT, "a.yaml:1:11: error: ");
  check_near(x[0], 0.5, 0);
}

static void a_misspelt_key_gets_a_suggestion(void **state) {
  static const char *const names[] = {"name", "stages", "step"};
  check_ok(cb_node_check_keys(read_text("{step: 1, name: a}"), names, 3));
  check_error(cb_node_check_keys(read_text("name: a\nstpe: 1"), names, 3), CB_ERROR_INPUT,
              "a.yaml:2:1: error: unknown key 'stpe', did you mean 'step'? Expected one of: name, stages, step");
  check_error(cb_node_check_keys(read_text("name: a\n  \ntolerance: 1"), names, 3), CB_ERROR_INPUT,
              "a.yaml:3:1: error: unknown key 'tolerance', expected one of: name, stages, step");
  check_error(cb_node_check_keys(read_text("- a"), names, 3), CB_ERROR_INPUT,
              "a.yaml:1:1: error: expected a map of keys and values, found a list");
}

/* If the new name is not an allowed key, the former name is reported as unknown, like any other word. */
static void a_former_key_is_answered_with_its_new_name(void **state) {
  static const char *const now[] = {"target", "objective"}, *const other[] = {"target", "quantity"};
  const cb_node *root = read_text("target: 1\nseek: cost");
  check_error(cb_node_check_keys(root, now, 2), CB_ERROR_INPUT, "a.yaml:2:1: error: seek was renamed to objective");
  check_error(cb_node_check_keys(root, other, 2), CB_ERROR_INPUT,
              "a.yaml:2:1: error: unknown key 'seek', expected one of: target, quantity");
  assert_non_null(cb_node_misspelt(root, "objective", now, 2));
  assert_null(cb_node_misspelt(root, "quantity", other, 2));
  assert_string_equal(cb_renamed("seek", now, 2), "objective");
  assert_null(cb_renamed("seek", other, 2));
  assert_null(cb_renamed("target", now, 2));
}

static void former_names_in_records_become_the_new_ones(void **state) {
  const cb_node *root = read_text("space: {base: [1]}\noptimum: {base: [2], seek: cost}");
  cb_rename_former(root);
  const cb_node *optimum = cb_node_get(root, "optimum");
  assert_non_null(cb_node_get(optimum, "start_shape"));
  assert_non_null(cb_node_get(optimum, "objective"));
  assert_null(cb_node_get(optimum, "seek"));
  assert_non_null(cb_node_get(cb_node_get(root, "space"), "base"));
}

static void suggestions_are_near(void **state) {
  static const char *const names[] = {"lobatto", "gauss", "radau_iia", "separation", "h3", "killing_momentum"};
  size_t n = sizeof names / sizeof *names;
  assert_string_equal(cb_nearest_name("labatto", names, n), "lobatto");
  assert_string_equal(cb_nearest_name("guass", names, n), "gauss");
  assert_string_equal(cb_nearest_name("seperation", names, n), "separation");
  assert_string_equal(cb_nearest_name("killing_momenta", names, n), "killing_momentum");
  assert_string_equal(cb_nearest_name("H3", names, n), "h3");
  assert_null(cb_nearest_name("x", names, n));
  assert_null(cb_nearest_name("xy", names, n));
  assert_null(cb_nearest_name("", names, n));
  assert_null(cb_nearest_name("lobotomies", names, n));
  assert_null(cb_nearest_name("gauss", NULL, 0));
}

static void messages_show_no_control_characters_and_are_short(void **state) {
  char text[256];
  strcpy(text, cb_quoted("a\x1b[31m\nb", 8).text);
  assert_string_equal(text, "a?[31m?b");
  strcpy(text, cb_quoted("\xff\xc3\xa9\xe2\x82", 5).text);
  assert_string_equal(text, "?\xc3\xa9??");
  char *longer = calloc(1, 1000);
  memset(longer, 'z', 999);
  strcpy(text, cb_quoted(longer, 999).text);
  free(longer);
  assert_string_equal(text, "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz...");
}

static void a_missing_node_fails_without_a_place(void **state) {
  double value;
  assert_null(cb_node_get(NULL, "x"));
  check_error(cb_node_real(NULL, &value), CB_ERROR_INPUT,
              "error: expected a number (or constant expression), found nothing");
}

static void an_arena_gives_zeroed_aligned_pieces(void **state) {
  uint64_t seed = check_seed();
  cb_arena *arena = cb_arena_create();
  for (int i = 0; i < 2000; i++) {
    size_t n = (size_t)check_uniform(&seed, 0, i % 50 ? 300 : 20000), alignment = i % 3 ? 8 : CB_CACHE_LINE;
    unsigned char *piece = cb_arena_alloc_aligned(arena, n, 1, alignment);
    assert_non_null(piece);
    assert_int_equal((uintptr_t)piece % alignment, 0);
    for (size_t k = 0; k < n; k++) assert_int_equal(piece[k], 0);
    memset(piece, 0xff, n);
  }
  double *x, *y;
  cb_arena_doubles(arena, 3, &x, &y);
  assert_true(x && y && x != y && (uintptr_t)x % CB_CACHE_LINE == 0 && (uintptr_t)y % CB_CACHE_LINE == 0);
  for (int i = 0; i < 3; i++) assert_true(x[i] == 0 && y[i] == 0);
  assert_false(cb_arena_lost(arena));
  assert_null(cb_arena_alloc(arena, SIZE_MAX / 2, 4));
  assert_true(cb_arena_lost(arena));
  assert_null(cb_arena_alloc(arena, SIZE_MAX - 4, 1));
  assert_null(cb_arena_alloc(NULL, 1, 1));
  assert_string_equal(cb_arena_strdup(arena, "text"), "text");
  assert_string_equal(cb_arena_strndup(arena, "text", 2), "te");
  cb_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(numbers_are_decimals_or_constant_expressions, free_tree),
                                     cmocka_unit_test_teardown(sizes_are_numbers_with_or_without_a_unit, free_tree),
                                     cmocka_unit_test(long_numbers_are_rounded_like_short_ones),
                                     cmocka_unit_test_teardown(what_is_not_a_number_fails_with_its_place, free_tree),
                                     cmocka_unit_test_teardown(hints_have_the_value_that_was_meant, free_tree),
                                     cmocka_unit_test_teardown(hints_remove_only_units_of_value_one, free_tree),
                                     cmocka_unit_test_teardown(a_wrong_expression_fails_where_it_is_wrong, free_tree),
                                     cmocka_unit_test_teardown(columns_count_characters, free_tree),
                                     cmocka_unit_test_teardown(integers_are_whole_and_fit, free_tree),
                                     cmocka_unit_test(integers_agree_with_strtoll),
                                     cmocka_unit_test_teardown(bools_are_true_or_false, free_tree),
                                     cmocka_unit_test_teardown(lists_of_numbers_have_their_length, free_tree),
                                     cmocka_unit_test_teardown(a_misspelt_key_gets_a_suggestion, free_tree),
                                     cmocka_unit_test_teardown(a_former_key_is_answered_with_its_new_name, free_tree),
                                     cmocka_unit_test_teardown(former_names_in_records_become_the_new_ones, free_tree),
                                     cmocka_unit_test(suggestions_are_near),
                                     cmocka_unit_test(messages_show_no_control_characters_and_are_short),
                                     cmocka_unit_test(a_missing_node_fails_without_a_place),
                                     cmocka_unit_test(an_arena_gives_zeroed_aligned_pieces)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
