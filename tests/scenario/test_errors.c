/* Tests of errors that are collected and reported together: their order, number and status. */
#include "check.h"
#include "core/failure.h"
#include "tree/scalar.h"

#include <curvebody/scenario.h>

static cb_node at(int line, int column) {
  return (cb_node){.kind = CB_NODE_SCALAR, .file = "f", .line = line, .column = column, .text = ""};
}

/* Adds one error at column 1 of each of lines[n]. */
static cb_status told(const int *lines, size_t n) {
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < n; i++) {
    const cb_node node = at(lines[i], 1);
    cb_errors_add(&errors, &node, cb_node_fail(&node, "number %d", lines[i]));
  }
  return cb_errors_end(&errors);
}

static void failures_are_told_in_the_order_of_the_file(void **state) {
  check_ok(told(NULL, 0));
  check_error(told((const int[]){4}, 1), CB_ERROR_INPUT, "f:4:1: error: number 4");
  check_error(told((const int[]){3, 11, 2}, 3), CB_ERROR_INPUT,
              "f:2:1: error: number 2\nf:3:1: error: number 3\nf:11:1: error: number 11");
  check_error(told((const int[]){3, 1, 3}, 3), CB_ERROR_INPUT, "f:1:1: error: number 1\nf:3:1: error: number 3");
}

static void at_most_twenty_are_told_and_the_rest_counted(void **state) {
  int lines[300];
  for (int i = 0; i < 300; i++) lines[i] = i < 21 ? 21 - i : i;
  assert_int_equal(told(lines, 20), CB_ERROR_INPUT);
  assert_null(strstr(cb_error_text(), "more"));
  assert_int_equal(told(lines, 21), CB_ERROR_INPUT);
  assert_memory_equal(cb_error_text(), "f:1:1: ", 7);
  assert_non_null(strstr(cb_error_text(), "\nf:20:1: error: number 20\nand 1 more"));
  assert_int_equal(told(lines, 300), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), " more"));
}

static void scopes_within_others_are_part_of_them(void **state) {
  const cb_node node = at(5, 2);
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &node, told((const int[]){7, 6}, 2));
  told((const int[]){1, 2}, 2); /* these errors are not added */
  cb_errors_add(&errors, &node, cb_node_fail(&node, "one"));
  check_error(cb_errors_end(&errors), CB_ERROR_INPUT,
              "f:5:2: error: one\nf:6:1: error: number 6\nf:7:1: error: number 7");
}

static void the_status_is_that_of_the_first_in_the_file(void **state) {
  const cb_node late = at(9, 1), early = at(2, 3);
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &late, cb_node_fail(&late, "wrong"));
  cb_errors_add(&errors, &early, cb_fail(CB_ERROR_FILE, "cannot open 'x'"));
  check_error(cb_errors_end(&errors), CB_ERROR_FILE, "f:2:3: error: cannot open 'x'\nf:9:1: error: wrong");
  /* a single error keeps its text */
  errors = cb_errors_begin();
  cb_errors_add(&errors, &early, cb_fail(CB_ERROR_FILE, "cannot open 'x'"));
  check_error(cb_errors_end(&errors), CB_ERROR_FILE, "cannot open 'x'");
}

static void lack_of_memory_is_told_alone_and_consequences_are_not(void **state) {
  const cb_node node = at(2, 3);
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, &node, cb_node_fail(&node, "wrong"));
  cb_errors_add(&errors, &node, cb_fail(CB_ERROR_MEMORY, "no memory for x"));
  check_error(cb_errors_end(&errors), CB_ERROR_MEMORY, "no memory for x");
  errors = cb_errors_begin();
  cb_errors_add(&errors, &node, cb_fail_consequence());
  cb_errors_add(&errors, &node, cb_node_fail(&node, "wrong"));
  check_error(cb_errors_end(&errors), CB_ERROR_INPUT, "f:2:3: error: wrong");
}

static void unknown_names_have_one_phrase(void **state) {
  static const char *const names[] = {"h2", "h3"};
  const cb_node node = at(1, 8);
  check_error(cb_fail_unknown(&node, "space", "h33", names, 2), CB_ERROR_INPUT,
              "f:1:8: error: unknown space 'h33', did you mean 'h3'? Expected one of: h2, h3");
  assert_int_equal(cb_failure_last().kind, CB_FAILURE_UNKNOWN);
  check_error(cb_fail_unknown(NULL, "space", "torus", names, 2), CB_ERROR_INPUT,
              "unknown space 'torus', expected one of: h2, h3");
  check_error(cb_fail_unknown(NULL, "part", "x", NULL, 0), CB_ERROR_INPUT, "unknown part 'x', expected none");
}

static void a_scenario_tells_what_it_lacks_and_what_is_misspelt(void **state) {
  cb_scenario *s;
  static const char text[] =
      "curvebody: 1\nspace: {nam: h3}\nbodies:\n"
      "  - {kind: particles, name: a, mas: 1, place: {points: [[0, 0, 0, 1]]}}\n"
      "constraints:\n  - pin: {particle: [a, 7]}\ntime: {end: 1}\n";
  check_error(cb_scenario_open_text("t", text, NULL, 0, &s), CB_ERROR_INPUT,
              "t:1:1: error: the key `integrator` is missing\n"
              "t:2:9: error: unknown key 'nam', did you mean 'name'? Expected one of: name, chart, plot\n"
              "t:4:32: error: unknown key 'mas', did you mean 'mass'? Expected one of: mass, masses, charge, charges, "
              "radius, kind, name, place, motion");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(failures_are_told_in_the_order_of_the_file),
                                     cmocka_unit_test(at_most_twenty_are_told_and_the_rest_counted),
                                     cmocka_unit_test(scopes_within_others_are_part_of_them),
                                     cmocka_unit_test(the_status_is_that_of_the_first_in_the_file),
                                     cmocka_unit_test(lack_of_memory_is_told_alone_and_consequences_are_not),
                                     cmocka_unit_test(unknown_names_have_one_phrase),
                                     cmocka_unit_test(a_scenario_tells_what_it_lacks_and_what_is_misspelt)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
