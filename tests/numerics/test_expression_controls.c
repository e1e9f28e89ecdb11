/* Tests of controls in expressions: numbers that each evaluation reads, and that have no derivatives. */
#include "check.h"
#include "numerics/expression_private.h"

static const char *const names[] = {"x", "y"};
static const char *const control_names[] = {"gain", "power"};

static cb_expression *with_controls(const char *text, const double *value) {
  const cb_expression_scope scope = {
      .names = names, .n = 2, .controls = control_names, .control_values = value, .n_controls = 2};
  cb_expression *e = NULL;
  check_ok(cb_expression_parse_in(text, &scope, NULL, &e));
  return e;
}

static void a_control_is_read_at_each_evaluation_and_in_copies(void **state) {
  (void)state;
  double value[] = {2, 3};
  cb_expression *e = with_controls("gain*x + power - gain", value), *copy;
  check_ok(cb_expression_copy(e, &copy));
  check_near(cb_expression_value(e, (double[]){5, 0}), 11, 0);
  value[0] = -1;
  value[1] = 0.5;
  check_near(cb_expression_value(e, (double[]){5, 0}), -3.5, 0);
  check_near(cb_expression_value(copy, (double[]){5, 0}), -3.5, 0);
  assert_true(cb_expression_uses_control(e) && cb_expression_uses_control(copy));
  cb_expression_free(copy);
  cb_expression_free(e);
  e = with_controls("2*x + 0", value);
  assert_false(cb_expression_uses_control(e));
  cb_expression_free(e);
}

/* The parser must not replace an operation, a condition or an exponent by the value that the control has while the text
 * is parsed. */
static void controls_are_not_folded(void **state) {
  (void)state;
  static const char *const texts[] = {"sin(gain) + power^2", "x^power", "if(gain > 2, x, y)", "gain^power",
                                      "max(gain, 1) - min(power, x)"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    double value[] = {1.5, 2};
    const double x[] = {1.25, 0.75};
    cb_expression *early = with_controls(texts[i], value);
    value[0] = 2.5;
    value[1] = -0.5;
    cb_expression *late = with_controls(texts[i], value);
    check_near(cb_expression_value(early, x), cb_expression_value(late, x), 0);
    cb_expression_free(early);
    cb_expression_free(late);
  }
}

/* An exponent that is a control has the same derivatives as one that is a number. */
static void derivatives_treat_controls_as_constants(void **state) {
  (void)state;
  double value[] = {1.7, 2.6};
  const double x[] = {0.8, 1.3};
  cb_expression *e = with_controls("gain*x^power + x*y*power + exp(gain*y)/power", value), *as_numbers;
  check_ok(cb_expression_parse("1.7*x^2.6 + x*y*2.6 + exp(1.7*y)/2.6", names, 2, NULL, &as_numbers));
  double g[2], h[2];
  check_near(cb_expression_gradient(e, x, 2, g), cb_expression_gradient(as_numbers, x, 2, h), 1e-15);
  const cb_jet a = cb_expression_jet(e, x, 2), b = cb_expression_jet(as_numbers, x, 2);
  check_near(a.v, b.v, 1e-15);
  for (int i = 0; i < 2; i++) {
    check_near(g[i], h[i], 1e-14); /* the operations are in another order */
    check_near(a.g[i], b.g[i], 1e-14);
  }
  for (int k = 0; k < 3; k++) check_near(a.h[k], b.h[k], 1e-14);
  cb_expression_free(e);
  cb_expression_free(as_numbers);
}

static void arrays_use_the_present_values_of_controls(void **state) {
  (void)state;
  enum { N = 21 };
  double value[] = {1, 1}, x[N], y = 0.4, out[N], rate[N];
  cb_expression *e = with_controls("gain*sin(x) + power*y^2", value);
  for (int i = 0; i < N; i++) x[i] = 0.1 * i;
  value[0] = 3;
  value[1] = -2;
  assert_true(cb_expression_values(e, N, (const double *[]){x, &y}, (bool[]){false, true}, 0, out, rate));
  for (int i = 0; i < N; i++) {
    check_near(out[i], 3 * sin(x[i]) - 2 * y * y, 1e-14);
    check_near(rate[i], 3 * cos(x[i]), 1e-14);
  }
  cb_expression_free(e);
}

static void branches_of_a_minimum_keep_their_controls(void **state) {
  (void)state;
  double value[] = {1, 2};
  cb_expression *e = with_controls("min(y - gain*x, power - y)", value);
  cb_expression_branch branch[4];
  int count;
  check_ok(cb_expression_branches(e, 2, 4, branch, &count));
  assert_int_equal(count, 2);
  value[0] = 3;
  value[1] = 5;
  const double x[] = {1, 2}, first = cb_expression_value(branch[0].value, x),
               second = cb_expression_value(branch[1].value, x);
  check_near(fmin(first, second), -1, 1e-15);
  check_near(fmax(first, second), 3, 1e-15);
  for (int i = 0; i < count; i++) {
    cb_expression_free(branch[i].value);
    cb_expression_free(branch[i].guard);
  }
  cb_expression_free(e);
}

static void names_of_controls_are_unique_and_are_explained_where_they_are_unknown(void **state) {
  (void)state;
  const double value[] = {1, 2};
  static const char *const same[] = {"gain"};
  const cb_expression_scope variable = {
      .names = same, .n = 1, .controls = control_names, .control_values = value, .n_controls = 2};
  const cb_expression_scope parameter = {.parameters = same,
                                         .values = value,
                                         .n_parameters = 1,
                                         .controls = control_names,
                                         .control_values = value,
                                         .n_controls = 2};
  cb_expression *e = NULL;
  size_t at = 0;
  check_error(cb_expression_parse_in("1 + gain", &variable, &at, &e), CB_ERROR_INPUT,
              "`gain` is both a variable and a control here: give the control another name");
  assert_int_equal(at, 4);
  check_error(cb_expression_parse_in("gain", &parameter, NULL, &e), CB_ERROR_INPUT,
              "`gain` is both a parameter and a control here: give the control another name");
  check_error(cb_expression_check_parameter("power", &variable, "variable"), CB_ERROR_INPUT,
              "the name 'power' is given twice: it is already a control");
  check_error(cb_expression_parse_in("powr", &variable, NULL, &e), CB_ERROR_INPUT,
              "unknown name `powr`: did you mean `power`?");
  check_error(cb_expression_parse_in("3power", &variable, NULL, &e), CB_ERROR_INPUT,
              "number `3power` is followed by letters: write 3*power");
  const cb_expression_elsewhere before =
      cb_expression_explain((cb_expression_elsewhere){.names = same, .n = 1, .where = "expected a wrench"});
  check_error(cb_expression_parse("2*gain", names, 2, &at, &e), CB_ERROR_INPUT, "`gain`: expected a wrench");
  assert_int_equal(at, 2);
  cb_expression_explain(before);
  check_error(cb_expression_parse("2*gain", names, 2, &at, &e), CB_ERROR_INPUT,
              "unknown name `gain`: did you mean `sin`?");
}

static void a_control_counts_as_used_when_an_expression_contains_it(void **unused) {
  static const char *const controls[] = {"gain", "power"};
  static const double values[] = {1, 2};
  const cb_expression_scope scope = {.controls = controls, .control_values = values, .n_controls = 2};
  bool used[] = {false, false};
  cb_expression *e;
  const cb_expression_elsewhere before =
      cb_expression_explain((cb_expression_elsewhere){.names = controls, .n = 2, .where = "", .used = used});
  check_ok(cb_expression_parse_in("2*power", &scope, NULL, &e));
  cb_expression_explain(before);
  cb_expression_free(e);
  assert_false(used[0]);
  assert_true(used[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_control_is_read_at_each_evaluation_and_in_copies),
      cmocka_unit_test(controls_are_not_folded),
      cmocka_unit_test(derivatives_treat_controls_as_constants),
      cmocka_unit_test(arrays_use_the_present_values_of_controls),
      cmocka_unit_test(branches_of_a_minimum_keep_their_controls),
      cmocka_unit_test(names_of_controls_are_unique_and_are_explained_where_they_are_unknown),
      cmocka_unit_test(a_control_counts_as_used_when_an_expression_contains_it),
  };
  return cmocka_run_group_tests_name("expression_controls", tests, NULL, NULL);
}
