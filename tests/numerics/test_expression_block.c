/* Tests that expressions over many points at once agree with expressions at single points, and that the vector
 * functions agree with long doubles. */
#include "check.h"
#include "core/threads.h"
#include "numerics/elementary.h"
#include <curvebody/expression.h>

static const char *const names[] = {"t", "X", "Y", "Z"};
enum { VARIABLES = 4, MOST = 300 };

static const char *const texts[] = {"X",
                                    "3",
                                    "t",
                                    "sin(t)",
                                    "Y + 0.1*X^2*sin(2*pi*(X - 1.3*t))",
                                    "X*cos(t) - Y*sin(t)",
                                    "exp(-t*X)*cos(40*t)",
                                    "-X/(1 + t^2)",
                                    "(t - X)/(t + 3 + Y)",
                                    "X/(t*Y)",
                                    "sqrt(1 + t*t + X*X)",
                                    "sqrt(t)",
                                    "(t + X)^7",
                                    "t^-2 + X^-3*t",
                                    "t^31",
                                    "(1 + t)^2.5",
                                    "pow(2 + X, t)",
                                    "X^40*t",
                                    "tan(t) + cot(1 + t) + tanh(X*t) + coth(1 + t)",
                                    "asin(t/10) + acos(X*t/10) + atan(t) + atan2(t, X) + hypot(t, Y)",
                                    "sinh(t)*cosh(X*t) + asinh(t) + acosh(3 + t)",
                                    "atanh(t/9)",
                                    "log(5 + t) + log10(5 + t*X)",
                                    "abs(t*X)",
                                    "sign(t) + floor(t) + step(X)*t",
                                    "min(t, X) + max(t*t, Y)",
                                    "if(t < X, sin(t), t^3)",
                                    "if(X > 0, log(X)*t, t)",
                                    "if(t >= 0 , X, Y)",
                                    "(t < X) + (t <= X) + (t > Y) + (t >= Y) + (t == X) + (t != Y)",
                                    "1e6*sin(1e6*t)",
                                    "exp(800*t) - exp(-800*t)",
                                    "X*Y*Z + 2*t*(X - Y*Z*t)",
                                    "-(t*X) - -(X - t)",
                                    "2 - t",
                                    "X - 2*t",
                                    "sin(X)*cos(Y)*exp(Z)"};
enum { TEXTS = sizeof texts / sizeof *texts };

static bool same(double a, double b, double tolerance) {
  return (isnan(a) && isnan(b)) || a == b || fabs(a - b) <= tolerance;
}

static bool all_finite(int n, const double *a) {
  bool all = true;
  for (int i = 0; i < n; i++) all &= isfinite(a[i]);
  return all;
}

static void block_is_point_by_point(void **unused) {
  uint64_t seed = check_seed();
  for (int k = 0; k < TEXTS; k++) {
    cb_expression *e;
    check_ok(cb_expression_parse(texts[k], names, VARIABLES, NULL, &e));
    for (int turn = 0; turn < 40; turn++) {
      static double point[VARIABLES][MOST], value[MOST], rate[MOST], bare[MOST];
      const double *x[VARIABLES] = {point[0], point[1], point[2], point[3]};
      const int n = turn < 20 ? turn : (int)check_uniform(&seed, 1, MOST);
      const size_t along = turn % 3 ? 0 : 1;
      _Bool fixed[VARIABLES];
      for (int i = 0; i < VARIABLES; i++) {
        fixed[i] = i == 0 ? turn % 2 == 0 : turn % 7 == i;
        for (int p = 0; p < MOST; p++) point[i][p] = check_uniform(&seed, -2, 2);
      }
      if (cb_expression_values(e, n, x, fixed, along, value, rate) != (all_finite(n, value) && all_finite(n, rate)))
        fail_msg("%s: finite or not at %d points", texts[k], n);
      cb_expression_values(e, n, x, fixed, along, bare, NULL);
      for (int p = 0; p < n; p++) {
        double at[VARIABLES], g[2];
        for (int i = 0; i < VARIABLES; i++) at[i] = point[i][fixed[i] ? 0 : p];
        const double expected = cb_expression_gradient(e, at, (int)along + 1, g);
        /* The tolerances are the round-off of sums of a few terms, and of functions of arguments of up to 1e6. */
        if (!same(value[p], expected, 1e-14 * (1 + fabs(expected))) ||
            !same(rate[p], g[along], 1e-13 * (1 + fabs(g[along]))) || !same(bare[p], value[p], 0))
          fail_msg("%s at t = %.17g, X = %.17g: %.17g and %.17g, expected %.17g and %.17g", texts[k], at[0], at[1],
                   value[p], rate[p], expected, g[along]);
      }
    }
    cb_expression_free(e);
  }
}

/* The expression X + t*0.5 + t*1.5 + ... has more operations than fit in a block, so it is evaluated at one point after
 * the other. Its values and its rates have closed forms. */
static void long_expression_is_point_by_point(void **unused) {
  for (int terms = 100; terms <= 400; terms += 100) {
    char text[8192] = "X";
    for (int i = 0; i < terms; i++) snprintf(text + strlen(text), sizeof text - strlen(text), "+t*%d.5", i);
    cb_expression *e;
    check_ok(cb_expression_parse(text, names, VARIABLES, NULL, &e));
    const double t = 0.7, at[3] = {1, 2, 3}, *const x[VARIABLES] = {&t, at, at, at};
    double value[3], rate[3];
    cb_expression_values(e, 3, x, (_Bool[]){true, false, false, false}, 0, value, rate);
    for (int p = 0; p < 3; p++) {
      check_relative(rate[p], terms * (terms - 1) / 2. + terms / 2., 1e-14);
      check_relative(value[p], at[p] + t * rate[p], 1e-13);
    }
    cb_expression_free(e);
  }
}

static double ulps(double found, long double exact) {
  int power;
  frexpl(exact, &power);
  return (double)fabsl((found - exact) / ldexpl(1, power - 53));
}

static void functions_are_good_to_one_unit(void **unused) {
  uint64_t seed = check_seed();
  double most[3] = {0};
  volatile long double one = 1;
  if (one + 0x1p-60L == one) skip(); /* here long double is the same as double */
  for (int turn = 0; turn < 50000; turn++) {
    cb_lanes x, s, c, y, e;
    const double range = pow(10, check_uniform(&seed, -8, 5));
    for (int i = 0; i < CB_LANES; i++) {
      x[i] = check_uniform(&seed, -range, range);
      if (turn % 5 == 0) x[i] = (round(x[i]) + 1e-9 * check_uniform(&seed, -1, 1)) * 1.57079632679489661923;
      if (!(fabs(x[i]) <= CB_LANES_SINCOS_MAX)) x[i] = 1;
      y[i] = check_uniform(&seed, -1, 1) * fmin(range, CB_LANES_EXP_MAX);
    }
    cb_lanes_sincos(&x, &s, &c);
    cb_lanes_exp(&y, &e);
    for (int i = 0; i < CB_LANES; i++) {
      most[0] = fmax(most[0], ulps(s[i], sinl(x[i])));
      most[1] = fmax(most[1], ulps(c[i], cosl(x[i])));
      most[2] = fmax(most[2], ulps(e[i], expl(y[i])));
    }
  }
  print_message("  sin %.3f, cos %.3f, exp %.3f units in the last place\n", most[0], most[1], most[2]);
  for (int i = 0; i < 3; i++) check_at_most(most[i], 1);
}

static void every_instruction_set_gives_the_same_bits(void **unused) {
  uint64_t seed = check_seed();
  static double point[VARIABLES][MOST], value[2][MOST], rate[2][MOST];
  const double *x[VARIABLES] = {point[0], point[1], point[2], point[3]};
  for (int i = 0; i < VARIABLES; i++)
    for (int p = 0; p < MOST; p++) point[i][p] = check_uniform(&seed, -2, 2);
  for (int k = 0; k < TEXTS; k++) {
    cb_expression *e;
    check_ok(cb_expression_parse(texts[k], names, VARIABLES, NULL, &e));
    check_ok(cb_isa_set(CB_ISA_BASE));
    cb_expression_values(e, MOST, x, (_Bool[VARIABLES]){true}, 0, value[0], rate[0]);
    check_ok(cb_isa_set("auto"));
    cb_expression_values(e, MOST, x, (_Bool[VARIABLES]){true}, 0, value[1], rate[1]);
    for (int p = 0; p < MOST; p++)
      if (!same(value[0][p], value[1][p], 0) || !same(rate[0][p], rate[1][p], 0)) fail_msg("%s differs", texts[k]);
    cb_expression_free(e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_is_point_by_point),
      cmocka_unit_test(long_expression_is_point_by_point),
      cmocka_unit_test(functions_are_good_to_one_unit),
      cmocka_unit_test(every_instruction_set_gives_the_same_bits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
