/* Tests of expressions: precedence and errors of the parser, jets, limits of size, and branches. */
#include "check.h"
#include "numerics/expression_private.h"
#include <float.h>

static const char *const names[] = {"x", "y", "z", "w"};

static double value_at(const char *text, double x, double y) {
  cb_expression *e = NULL;
  check_ok(cb_expression_parse(text, names, 4, NULL, &e));
  double v = cb_expression_value(e, (double[]){x, y, 0, 0});
  cb_expression_free(e);
  return v;
}

static void precedence_is_that_of_mathematics(void **state) {
  static const struct {
    const char *text;
    double value;
  } cases[] = {
      {"1+2*3", 7},
      {"(1+2)*3", 9},
      {"10-4-3", 3},
      {"24/4/3", 2},
      {"24/4*3", 18},
      {"2^3^2", 512},
      {"-2^2", -4},
      {"(-2)^2", 4},
      {"2^-1", 0.5},
      {"2^-2^2", 0.0625},
      {"--3", 3},
      {"-+-3", 3},
      {"2*-3", -6},
      {"2--3", 5},
      {"1-2+3", 2},
      {"1e-3", 1e-3},
      {"1.5E+2", 150},
      {".5", 0.5},
      {"5.", 5},
      {" \t1 \n+\r1 ", 2},
      {"3 < 4", 1},
      {"1+1 <= 2*1", 1},
      {"3 > 4", 0},
      {"3 >= 4", 0},
      {"3 == 3", 1},
      {"3 != 3", 0},
      {"(1<2)+(2<3)", 2},
      {"-3 < -2", 1},
      {"if(1 < 2, 10, 20)", 10},
      {"if(0, 10, 20)", 20},
      {"min(3, 2) + max(3, 2)", 5},
      {"hypot(3, 4)", 5},
      {"sign(-7) + sign(0) + sign(7)", 0},
      {"floor(-1.5)", -2},
      {"step(0) + step(-1)", 1},
      {"log10(1000)", 3},
      {"pow(2, 10)", 1024},
      {"abs(-2)", 2},
      {"sqrt(16)", 4},
      {"atan2(0, -1) - pi", 0},
      {"tau - 2*pi", 0},
      {"cot(1)*tan(1)", 1},
      {"coth(1)*tanh(1)", 1},
      {"sin(pi/6)*2", 1},
      {"log(e)", 1},
      {"3*pi/2 - 1.5*pi", 0},
      {"acosh(cosh(2))", 2},
      {"asinh(sinh(2))", 2},
      {"atanh(tanh(2))", 2},
      {"exp(0)+cos(0)", 2},
      {"asin(1)+acos(1)-pi/2", 0},
      {"atan(1)*4-pi", 0},
      {"((((1))))", 1},
      {"0.1+0.2", 0.1 + 0.2},
      {"2*3^2", 18},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double value = NAN;
    size_t at = 77;
    cb_status status = cb_expression_constant(cases[i].text, &at, &value);
    if (status != CB_OK || fabs(value - cases[i].value) > 1e-14) print_error("%s\n", cases[i].text);
    check_ok(status);
    check_near(value, cases[i].value, 1e-14); /* a few units in the last place */
    assert_true(at == 77);
  }
}

static void errors_say_where_and_what_was_expected(void **state) {
  static const struct {
    const char *text;
    size_t at;
    const char *says;
  } cases[] = {
      {"", 0, "empty"},
      {"   ", 3, "empty"},
      {"1.0x", 0, "number `1.0x` is followed by letters"},
      {"3abc", 0, "number `3abc` is followed by letters"},
      {"x + 2y", 4, "number `2y` is followed by letters"},
      {"3pi/2", 0, "number `3pi` is followed by letters: write 3*pi"},
      {"x + 2y", 4, "write 2*y"},
      {"1 + 90deg", 4, "number `90deg` is followed by letters: write 90*pi/180"},
      {"2sin(x)", 0, "write 2*sin"},
      {"1/2pi", 2, "number `2pi` is followed by letters: write numbers without units"},
      {"3abc", 0, "write numbers without units, and multiplication with `*`"},
      {"0x10", 0, "number `0x10` is followed by letters"},
      {"1e", 0, "number `1e` is followed"},
      {"1.2.3", 0, "expected only one decimal point"},
      {"1..2", 0, "expected only one decimal point"},
      {".", 0, "not a number"},
      {"1e999", 0, "too large"},
      {"sni(x)", 0, "did you mean `sin`?"},
      {"2*sqtr(x)", 2, "did you mean `sqrt`?"},
      {"x*tua", 2, "did you mean `tau`?"},
      {"q", 0, "the variables here are: x, y, z, w"},
      {"x y", 2, "expected an operator before `y`: write multiplication with `*`"},
      {"2 x", 2, "write multiplication with `*`"},
      {"(x)(y)", 3, "write multiplication with `*`"},
      {"x(1)", 1, "`x` is not a function"},
      {"pi (2)", 3, "`pi` is not a function"},
      {"sin", 0, "expected `(`"},
      {"sin x", 0, "`sin` is a function"},
      {"sin()", 4, "unexpected `)`: expected a number, a name or `(`"},
      {"sin(x, y)", 0, "`sin`: expected 1 argument, found 2"},
      {"1+atan2(x)", 2, "`atan2`: expected 2 arguments, found 1"},
      {"if(1, 2, 3, 4)", 0, "`if`: expected 3 arguments, found 4"},
      {"(x", 2, "`)` for `(` at character 1"},
      {"sin(x", 5, "`,` or `)` after `(` at character 4"},
      {"x)", 1, "unexpected `)`: expected an operator or the end"},
      {"x +", 3, "the expression ends too early: expected a number, a name or `(`"},
      {"*x", 0, "unexpected `*`"},
      {"x**2", 2, "write a power with `^`"},
      {"x = 2", 2, "write equality as `==`"},
      {"x ! 2", 2, "write inequality as `!=`"},
      {"1 < 2 < 3", 6, "comparisons cannot be chained"},
      {"x, y", 1, "unexpected `,`"},
      {"x $ y", 2, "unexpected `$`"},
      {"x \xc3\x97 y", 2, "unexpected `\xc3\x97`"},
      {"x\x01", 1, "unexpected byte 0x01"},
      {"max(x,)", 6, "unexpected `)`"},
      {"nan", 0, "unknown name"},
      {"inf", 0, "unknown name"},
      {"x^", 2, "the expression ends"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_expression *e = NULL;
    size_t at = 12345;
    cb_status status = cb_expression_parse(cases[i].text, names, 4, &at, &e);
    if (status != CB_ERROR_INPUT || at != cases[i].at || !strstr(cb_error_text(), cases[i].says))
      print_error("`%s`: %s at %zu: %s\n", cases[i].text, cb_status_name(status), at, cb_error_text());
    assert_int_equal(status, CB_ERROR_INPUT);
    assert_int_equal(at, cases[i].at);
    assert_non_null(strstr(cb_error_text(), cases[i].says));
    assert_null(e);
  }
}

static void constants_must_be_finite_and_leave_the_output_alone(void **state) {
  static const char *const bad[] = {"1/0", "0/0", "sqrt(-1)", "exp(1e9)", "x", "2 +"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double value = 42;
    assert_int_equal(cb_expression_constant(bad[i], NULL, &value), CB_ERROR_INPUT);
    assert_true(value == 42);
  }
}

static const char *const stand_in[] = {"k", "y"};
static const cb_expression_scope with_parameters = {
    .names = names, .n = 4, .parameters = stand_in, .values = (const double[]){3, 5}, .n_parameters = 2};

static void a_parameter_that_a_variable_is_called_as_is_refused_where_it_is_used(void **state) {
  cb_expression *e = NULL;
  size_t at = 77;
  check_ok(cb_expression_parse_in("k*x + z", &with_parameters, &at, &e));
  check_near(cb_expression_value(e, (double[]){2, 0, 1, 0}), 7, 0);
  cb_expression_free(e);
  e = NULL;
  assert_int_equal(cb_expression_parse_in("k*x + y", &with_parameters, &at, &e), CB_ERROR_INPUT);
  assert_int_equal(at, 6);
  assert_non_null(strstr(cb_error_text(), "`y` is both a variable and a parameter here"));
  assert_null(e);
}

static void names_are_of_letters_and_not_taken(void **state) {
  static const struct {
    const char *name, *says;
    bool variable;
  } cases[] = {{"a", "", true},
               {"_a1", "", true},
               {"a234567890123456789012345678901", "", true},
               {"a2345678901234567890123456789012", "at most 31 letters", false},
               {"sine", "", true},
               {"pi", "constant", true},
               {"e", "constant", true},
               {"tau", "constant", true},
               {"sin", "function", false},
               {"if", "function", false},
               {"", "expected a name", false},
               {"1a", "expected a name", false},
               {"a b", "expected a name", false},
               {"a-b", "expected a name", false},
               {"\xc3\xa4", "expected a name", false},
               {"w", "it is already a coordinate", false},
               {"k", "it is already a parameter", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const bool good = !*cases[i].says;
    assert_int_equal(cb_expression_check_variable(cases[i].name, &with_parameters, "coordinate") == CB_OK,
                     cases[i].variable);
    assert_int_equal(cb_expression_check_parameter(cases[i].name, &with_parameters, "coordinate"),
                     good ? CB_OK : CB_ERROR_INPUT);
    if (!good) assert_non_null(strstr(cb_error_text(), cases[i].says));
  }
}

/* Returns a text of `count` copies of `unit` and the tail; the caller frees it. */
static char *repeat(const char *unit, size_t count, const char *tail) {
  size_t length = strlen(unit);
  char *text = malloc(count * length + strlen(tail) + 1);
  assert_non_null(text);
  for (size_t i = 0; i < count; i++) memcpy(text + i * length, unit, length);
  strcpy(text + count * length, tail);
  return text;
}

static void check_refused(char *text, const char *says) {
  cb_expression *e = NULL;
  size_t at = 0;
  assert_int_equal(cb_expression_parse(text, names, 4, &at, &e), CB_ERROR_INPUT);
  if (!strstr(cb_error_text(), says)) print_error("%s\n", cb_error_text());
  assert_non_null(strstr(cb_error_text(), says));
  assert_true(at <= strlen(text));
  free(text);
}

static void too_deep_too_long_and_too_many_are_refused(void **state) {
  check_refused(repeat("(", 300, "x"), "nested too deep");
  check_refused(repeat("(", 60000, "x"), "nested too deep");
  check_refused(repeat("sin(", 300, "x"), "nested too deep");
  check_refused(repeat("x^", 300, "x"), "nested too deep");
  check_refused(repeat("x^-", 300, "x"), "nested too deep");
  check_refused(repeat("if(x,", 300, "x"), "nested too deep");
  check_refused(repeat("x+", 70000, "x"), "at most 65536 bytes");
  check_refused(repeat(" ", 70000, "x"), "at most 65536 bytes");
  check_refused(repeat("x+", 3000, "x"), "at most 2048 operations");
  check_refused(repeat("x+y*(", 150, "x"), "`)`");

  /* 100 nested products sin(2*x)*(sin(3*x)*(...)): every factor must be stored until the innermost one is evaluated. */
  char text[8192] = "";
  size_t used = 0;
  for (int i = 0; i < 100; i++) used += (size_t)snprintf(text + used, sizeof text - used, "sin(%d*x)*(", i + 2);
  used += (size_t)snprintf(text + used, sizeof text - used, "x");
  for (int i = 0; i < 100; i++) text[used++] = ')';
  text[used] = 0;
  check_refused(repeat(text, 1, ""), "too many intermediate results");

  const char *many[CB_EXPRESSION_VARIABLES + 1];
  for (int i = 0; i <= CB_EXPRESSION_VARIABLES; i++) many[i] = "x";
  cb_expression *e = NULL;
  assert_int_equal(cb_expression_parse("x", many, CB_EXPRESSION_VARIABLES + 1, NULL, &e), CB_ERROR_ARGUMENT);
  assert_null(e);
}

static void what_is_within_the_bounds_is_taken(void **state) {
  char *deep = repeat("(", 190, "x"), *long_sum = repeat("x+", 2000, "x"), *signs = repeat("-", 60000, "x");
  char closed[512];
  snprintf(closed, sizeof closed, "%s", deep);
  size_t length = strlen(closed);
  for (int i = 0; i < 190; i++) closed[length++] = ')';
  closed[length] = 0;
  assert_true(value_at(closed, 3, 0) == 3);
  assert_true(value_at(long_sum, 0.5, 0) == 1000.5);
  assert_true(value_at(signs, 3, 0) == 3);

  /* 100 conditions are allowed, because conditions have only values and no jets. */
  char text[8192] = "";
  size_t used = 0;
  for (int i = 1; i <= 100; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "if(sin(%d*x) < 2, x, 0)+", i);
  snprintf(text + used, sizeof text - used, "0");
  assert_true(value_at(text, 3, 0) == 300);
  free(deep);
  free(long_sum);
  free(signs);
}

/* Returns the jet with respect to x and y. It also checks that cb_expression_gradient gives the same numbers, except
 * where the jet is nan. */
static cb_jet jet_at(const char *text, double x, double y) {
  cb_expression *e = NULL;
  check_ok(cb_expression_parse(text, names, 4, NULL, &e));
  const double at[4] = {x, y, 0, 0};
  double g[2];
  cb_jet j = cb_expression_jet(e, at, 2);
  assert_true(cb_expression_gradient(e, at, 2, g) == j.v || isnan(j.v));
  for (int i = 0; i < 2; i++) assert_true(g[i] == j.g[i] || isnan(j.g[i]));
  cb_expression_free(e);
  return j;
}

static void check_jet(cb_jet j, double v, double gx, double gy, double hxx, double hxy, double hyy) {
  const double have[] = {j.v, j.g[0], j.g[1], j.h[0], j.h[1], j.h[2]}, want[] = {v, gx, gy, hxx, hxy, hyy};
  for (int i = 0; i < 6; i++) {
    if (have[i] != want[i] && !(isnan(have[i]) && isnan(want[i])))
      print_error("entry %d: %g, not %g\n", i, have[i], want[i]);
    assert_true(have[i] == want[i] || (isnan(have[i]) && isnan(want[i])));
  }
}

static void kinks_jumps_and_choices_take_their_documented_value(void **state) {
  const double inf = (double)INFINITY, nan = (double)NAN;
  check_jet(jet_at("abs(x)", 0, 0), 0, 1, 0, 0, 0, 0);
  check_jet(jet_at("sign(x) + floor(x) + step(x) + (x < y)", 0, 0), 1, 0, 0, 0, 0, 0);
  check_jet(jet_at("min(2*x, 3*y)", 0, 0), 0, 2, 0, 0, 0, 0);
  check_jet(jet_at("max(2*x, 3*y)", 0, 0), 0, 2, 0, 0, 0, 0);
  check_jet(jet_at("max(2*x, 3*y)", 0, 1), 3, 0, 3, 0, 0, 0);
  check_jet(jet_at("hypot(x, y)", 3, 4), 5, 0.6, 0.8, 0.8 * 0.8 / 5, -(0.8 * 0.6) / 5, 0.6 * 0.6 / 5);
  /* in the second derivative, infinity is multiplied by a slope of 0 */
  check_jet(jet_at("sqrt(x)", 0, 0), 0, inf, nan, nan, nan, nan);
  check_jet(jet_at("if(x > 0, sqrt(x), y^2)", 0, 3), 9, 0, 6, 0, 0, 2);
  check_jet(jet_at("if(x > 0, y, x^2)", 0, 3), 0, 0, 0, 2, 0, 0);
  check_jet(jet_at("if(x >= 0, 7, log(x))", 0, 3), 7, 0, 0, 0, 0, 0);
  check_jet(jet_at("if(0/x, x, y)", 0, 3), nan, nan, nan, nan, nan, nan);
  check_jet(jet_at("if(0/x, 7, y)", 0, 3), nan, nan, nan, nan, nan, nan);
  check_jet(jet_at("log(x) + acosh(y)", -1, -1), nan, nan, nan, nan, nan, nan);
  check_jet(jet_at("min(sqrt(x), y)", -1, 0), nan, nan, nan, nan, nan, nan);
  check_jet(jet_at("x^2 + x^1 + x^0", 0, 0), 1, 1, 0, 2, 0, 0);
  check_jet(jet_at("x^-1", -2, 0), -0.5, -0.25, 0, -0.25, 0, 0);
  check_jet(jet_at("x^y", 0, 2), 0, 0, 0, 2, 0, 0);
  check_jet(jet_at("x^3 + x^4 + x^-3 + x^2.5", 1, 0), 4, 6.5, 0, 33.75, 0, 0);
  check_jet(jet_at("3", 1, 1), 3, 0, 0, 0, 0, 0);
  check_jet(jet_at("y", 1, 5), 5, 0, 1, 0, 0, 0);
  check_jet(jet_at("x/y", 3, 2), 1.5, 0.5, -0.75, 0, -0.25, 0.75);
}

static void a_side_not_taken_has_no_gradient_below_an_infinite_slope(void **state) {
  cb_expression *e = NULL;
  double g[2];
  check_ok(cb_expression_parse("sqrt(if(x >= 0, x, y))", names, 2, NULL, &e));
  assert_true(cb_expression_gradient(e, (double[]){0, 3}, 2, g) == 0);
  assert_true(g[0] == (double)INFINITY && g[1] == 0);
  cb_expression_free(e);
}

static void outside_the_domain_gradients_are_nan(void **state) {
  static const char *const texts[] = {"sqrt(x)", "log(x)",  "log10(x)", "acosh(x)", "atanh(x)",
                                      "asin(x)", "acos(x)", "x^1.5",    "x^y"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    cb_expression *e = NULL;
    check_ok(cb_expression_parse(texts[i], names, 2, NULL, &e));
    double g[2];
    assert_true(isnan(cb_expression_gradient(e, (double[]){-2.5, 1.5}, 2, g)));
    assert_true(isnan(g[0]));
    cb_expression_free(e);
  }
}

/* x^2 is computed as x*x, and x^-1 as 1/x. At some of these points pow would return another last bit. */
static void small_integer_powers_are_multiplications(void **state) {
  uint64_t seed = check_seed();
  cb_expression *square, *inverse, *root;
  check_ok(cb_expression_parse("x^2", names, 1, NULL, &square));
  check_ok(cb_expression_parse("x^(1-2)", names, 1, NULL, &inverse));
  check_ok(cb_expression_parse("x^0.5", names, 1, NULL, &root));
  for (int i = 0; i < 1000; i++) {
    double x = check_uniform(&seed, 0, 10), minus = -x;
    assert_true(cb_expression_value(square, &minus) == x * x);
    assert_true(cb_expression_value(inverse, &minus) == 1 / minus);
    assert_true(cb_expression_value(root, &x) == sqrt(x));
  }
  cb_expression_free(square);
  cb_expression_free(inverse);
  cb_expression_free(root);
}

static void only_named_variables_are_used(void **state) {
  cb_expression *e;
  check_ok(cb_expression_parse("if(y > 0, w, 2) + 0*1", names, 4, NULL, &e));
  assert_false(cb_expression_uses(e, 0));
  assert_true(cb_expression_uses(e, 1));
  assert_false(cb_expression_uses(e, 2));
  assert_true(cb_expression_uses(e, 3));
  assert_false(cb_expression_uses(e, 99));
  cb_expression_free(e);
  const char *const own[] = {"e", "sin"}; /* a variable hides a constant, and a function that is not called */
  check_ok(cb_expression_parse("e + sin*sin(e)", own, 2, NULL, &e));
  check_near(cb_expression_value(e, (double[]){5, 2}), 5 + 2 * sin(5), 1e-15);
  cb_expression_free(e);
}

static void every_function_is_documented_and_can_be_called(void **state) {
  int count = 0;
  for (const cb_function_doc *f = cb_expression_functions; f->name; f++, count++) {
    char text[64];
    snprintf(text, sizeof text, f->arity == 1 ? "%s(1)" : f->arity == 2 ? "%s(1, 1)" : "%s(1, 1, 1)", f->name);
    cb_expression *e = NULL;
    check_ok(cb_expression_parse(text, NULL, 0, NULL, &e));
    assert_false(isnan(cb_expression_value(e, NULL)));
    cb_expression_free(e);
    assert_true(strlen(f->doc) > 0 && strlen(f->doc) < 100);
  }
  assert_int_equal(count, 28);
}

/* cb_expression_branches splits an expression at its kinks where it is the minimum of smooth functions. At every point
 * the value is the minimum of the branches whose guard is not negative. A cone also has branches that are planes
 * at its tip. Each of these planes has its own guard and is never below the value. Branches that come from roots of
 * squares differ from the value by their round-off. */
static void the_least_of_branches_is_the_value(void **state) {
  static const struct {
    const char *text;
    int count, guards;
  } cases[] = {
      {"y - x", 1, 0},
      {"y - abs(x)", 2, 0},
      {"y - sqrt((x - z)^2)", 2, 0},
      {"y + abs(x)", 1, 0}, /* a maximum of smooth functions, which is not split */
      {"min(x, y) - z^3", 2, 0},
      {"x - max(y, 2*max(z, w))/3", 3, 0},
      {"2*(y - abs(x)) - 0.3*abs(x)", 2, 0}, /* one kink that occurs twice */
      {"exp(min(x, y)) - abs(z)", 4, 0},
      {"y - abs(x - abs(z))", 3, 0}, /* abs(z) splits only one branch of the outer abs */
      {"y - x*abs(x)", 1, 0},        /* no kink */
      {"abs(x) - abs(x)*2", 2, 0},
      {"min(min(min(min(x, y), min(z, w)), min(x + y, y + z)), min(x^2, y^3))", 8, 0},
      {"-abs(x) - abs(y) - abs(z) - abs(w) - abs(x + y)", 16,
       0}, /* the maximum number of branches: the last kink is not split */
      /* Conditions if(c, a, b): if a and b are affine, their minimum is the value everywhere; otherwise each of them is
       * valid only where the condition selects it. */
      {"y - if(x < 0, -x, x)", 2, 0},
      {"if(2*x >= z, y - x, y - z + x)", 2, 0},
      {"y + x - 2*step(x)*x", 2, 0},
      {"y - sign(x)*x", 2, 0},
      {"y - (x > 0)*x + (x <= 0)*x", 2, 0},
      {"y + if(x < 0, -x, x)", 1, 0},       /* a maximum */
      {"y - if(x < 0, 0, 1)", 1, 0},        /* a jump */
      {"y - if(x < 0, 0, x^2)", 1, 0},      /* no kink */
      {"y - if(x < 0, -x, sqrt(x))", 1, 0}, /* the second side is undefined where x < 0 */
      {"y - if(x > 0, x^2 + x, -x)", 2, 2}, /* x^2 + x < -x from -2 to 0 */
      {"(y - abs(x))*(1 + z^2)", 2, 2},
      {"y - if(x < 0, if(x < -0.5, -x - 0.5, x + 0.5), if(x < 0.5, 0.5 - x, x - 0.5))", 3, 3},
      {"z - if((x > 0)*(y > 0), x*y, 0) - abs(x) - abs(y)", 12, 12},
      /* tips of cones */
      {"z - hypot(x, y)", 9, 8},
      {"z - 2*sqrt(x^2 + y^2/4)", 9, 8},
      {"z + hypot(x, y)", 1, 0},
      {"z - sqrt(x^2 + y^2 + 0.01)", 1, 0},
      {"1 - hypot(x, y) - w", 1, 0}}; /* w is a constant of the body and no coordinate, so the wall is the inside of a
                                       * cylinder, which has no tip */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_expression *e;
    cb_expression_branch branch[16];
    int count, guards = 0;
    check_ok(cb_expression_parse(cases[i].text, names, 4, NULL, &e));
    check_ok(cb_expression_branches(e, 3, 16, branch, &count));
    for (int b = 0; b < count; b++) guards += branch[b].guard != NULL;
    if (count != cases[i].count || guards != cases[i].guards) print_error("%s: %d, %d\n", cases[i].text, count, guards);
    assert_int_equal(count, cases[i].count);
    assert_int_equal(guards, cases[i].guards);
    for (int p = 0; p < 81; p++) {
      const double x[4] = {p % 3 - 1.1, p / 3 % 3 - 0.8, p / 9 % 3 - 1.3, p / 27 - 0.9};
      const double value = cb_expression_value(e, x);
      double least = INFINITY;
      for (int b = 0; b < count; b++)
        if (!branch[b].guard || cb_expression_value(branch[b].guard, x) >= 0 || branch[b].plane)
          least = fmin(least, cb_expression_value(branch[b].value, x));
      check_near(least, value, 4 * DBL_EPSILON * fmax(1, fabs(value)));
    }
    for (int b = 0; b < count; b++) {
      cb_expression_free(branch[b].value);
      cb_expression_free(branch[b].guard);
    }
    cb_expression_free(e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(precedence_is_that_of_mathematics),
      cmocka_unit_test(errors_say_where_and_what_was_expected),
      cmocka_unit_test(a_parameter_that_a_variable_is_called_as_is_refused_where_it_is_used),
      cmocka_unit_test(names_are_of_letters_and_not_taken),
      cmocka_unit_test(constants_must_be_finite_and_leave_the_output_alone),
      cmocka_unit_test(too_deep_too_long_and_too_many_are_refused),
      cmocka_unit_test(what_is_within_the_bounds_is_taken),
      cmocka_unit_test(kinks_jumps_and_choices_take_their_documented_value),
      cmocka_unit_test(a_side_not_taken_has_no_gradient_below_an_infinite_slope),
      cmocka_unit_test(outside_the_domain_gradients_are_nan),
      cmocka_unit_test(small_integer_powers_are_multiplications),
      cmocka_unit_test(only_named_variables_are_used),
      cmocka_unit_test(every_function_is_documented_and_can_be_called),
      cmocka_unit_test(the_least_of_branches_is_the_value),
  };
  return cmocka_run_group_tests_name("expression", tests, NULL, NULL);
}
