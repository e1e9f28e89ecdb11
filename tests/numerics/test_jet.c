/* Tests that second-order jets agree with differences of the C library's functions in extended precision, with
 * identities, and with a function of four variables in extended precision. */
#include "check.h"
#include <curvebody/jet.h>

/* Central differences of fourth order of a long double function. With the step 1e-3 their truncation error is about
 * 1e-12 and their round-off about 1e-13, if the higher derivatives of the function have values of about 1. */
typedef long double real;
static const real step = 1e-3L;

static real first(real (*f)(real), real x) {
  return (8 * (f(x + step) - f(x - step)) - (f(x + 2 * step) - f(x - 2 * step))) / (12 * step);
}

static real second(real (*f)(real), real x) {
  return (16 * (f(x + step) + f(x - step)) - (f(x + 2 * step) + f(x - 2 * step)) - 30 * f(x)) / (12 * step * step);
}

static real power_i5(real x) { return x * x * x * x * x; }
static real power_im3(real x) { return 1 / (x * x * x); }
static cb_jet jet_i5(const cb_jet *a) { return cb_jet_powi(a, 5); }
static cb_jet jet_im3(const cb_jet *a) { return cb_jet_powi(a, -3); }

static const struct {
  const char *name;
  cb_jet (*jet)(const cb_jet *);
  real (*f)(real);
  double low, high;
} functions[] = {
    {"sqrt", cb_jet_sqrt, sqrtl, 0.3, 5},
    {"exp", cb_jet_exp, expl, -2, 2},
    {"log", cb_jet_log, logl, 0.3, 5},
    {"sin", cb_jet_sin, sinl, -6, 6},
    {"cos", cb_jet_cos, cosl, -6, 6},
    {"tan", cb_jet_tan, tanl, -1.2, 1.2},
    {"sinh", cb_jet_sinh, sinhl, -3, 3},
    {"cosh", cb_jet_cosh, coshl, -3, 3},
    {"tanh", cb_jet_tanh, tanhl, -3, 3},
    {"asin", cb_jet_asin, asinl, -0.8, 0.8},
    {"acos", cb_jet_acos, acosl, -0.8, 0.8},
    {"atan", cb_jet_atan, atanl, -5, 5},
    {"asinh", cb_jet_asinh, asinhl, -5, 5},
    {"acosh", cb_jet_acosh, acoshl, 1.3, 6},
    {"atanh", cb_jet_atanh, atanhl, -0.8, 0.8},
    {"abs", cb_jet_abs, fabsl, 0.1, 3},
    {"abs, negative", cb_jet_abs, fabsl, -3, -0.1},
    {"x^5", jet_i5, power_i5, -2, 2},
    {"x^-3", jet_im3, power_im3, 0.5, 3},
    {"x^-3, negative", jet_im3, power_im3, -3, -0.5},
};

static void elementary_functions_have_their_derivatives(void **state) {
  uint64_t seed = check_seed();
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
    for (int trial = 0; trial < 200; trial++) {
      double x = check_uniform(&seed, functions[k].low, functions[k].high);
      cb_jet a = cb_jet_variable(1, 0, x), f = functions[k].jet(&a);
      real d = first(functions[k].f, x), dd = second(functions[k].f, x);
      if (fabsl(f.g[0] - d) > 1e-9L * (1 + fabsl(d)) || fabsl(f.h[0] - dd) > 1e-8L * (1 + fabsl(dd)))
        print_error("%s at %.17g\n", functions[k].name, x);
      check_relative(f.v, (double)functions[k].f(x), 1e-15);
      check_near(f.g[0], (double)d, 1e-9 * (1 + fabs((double)d)));
      check_near(f.h[0], (double)dd, 1e-8 * (1 + fabs((double)dd)));
    }
}

/* The jet of x^k is x^k, k x^(k-1), k(k-1) x^(k-2), for exponents that use multiplications and for those that use pow.
 * The round-off is |k|/2 units in the last place. */
static void integer_powers_have_their_derivatives(void **state) {
  for (int k = -40; k <= 40; k++)
    for (double x = -1.5; x < 2; x += 0.75) {
      if (x == 0) continue;
      cb_jet a = cb_jet_variable(1, 0, x), p = cb_jet_powi(&a, k);
      check_relative(p.v, (double)powl(x, k), 5e-15);
      check_relative(p.g[0], (double)(k * powl(x, k - 1)), 6e-15);
      check_relative(p.h[0], (double)(k * (k - 1.0L) * powl(x, k - 2)), 7e-15);
    }
}

/* Returns a jet of four variables with this value and with a random gradient and Hessian, whose entries are between -1
 * and 1. */
static cb_jet random_jet(uint64_t *seed, double value) {
  cb_jet a = cb_jet_constant(4, value);
  for (int i = 0; i < 4; i++) a.g[i] = check_uniform(seed, -1, 1);
  for (int k = 0; k < 10; k++) a.h[k] = check_uniform(seed, -1, 1);
  return a;
}

static void check_jets(const cb_jet *a, const cb_jet *b, double tolerance) {
  check_near(a->v, b->v, tolerance);
  for (int i = 0; i < a->n; i++) check_near(a->g[i], b->g[i], tolerance);
  for (int k = 0; k < a->n * (a->n + 1) / 2; k++) check_near(a->h[k], b->h[k], tolerance);
}

/* Identities hold for the value and for all derivatives, which have sizes from 1 to about 100. The tolerances, from
 * 1e-15 to 1e-10, are larger where an identity has larger terms or more of them. */
static void identities_hold_to_round_off(void **state) {
  uint64_t seed = check_seed();
  for (int trial = 0; trial < 500; trial++) {
    cb_jet a = random_jet(&seed, check_uniform(&seed, 0.2, 0.9)), b = random_jet(&seed, check_uniform(&seed, 0.5, 2));
    cb_jet one = cb_jet_constant(4, 1), s = cb_jet_sin(&a), c = cb_jet_cos(&a);
    cb_jet ss = cb_jet_mul(&s, &s), cc = cb_jet_mul(&c, &c), sum = cb_jet_add(&ss, &cc);
    check_jets(&sum, &one, 1e-14);

    cb_jet sh = cb_jet_sinh(&a), ch = cb_jet_cosh(&a), th = cb_jet_tanh(&a), ratio = cb_jet_div(&sh, &ch);
    check_jets(&ratio, &th, 1e-13);
    cb_jet t = cb_jet_tan(&a), sc = cb_jet_div(&s, &c);
    check_jets(&sc, &t, 1e-12);

    cb_jet back = cb_jet_log(&b);
    back = cb_jet_exp(&back);
    check_jets(&back, &b, 1e-13);
    cb_jet root = cb_jet_sqrt(&b), square = cb_jet_mul(&root, &root);
    check_jets(&square, &b, 1e-13);

    cb_jet as = cb_jet_asin(&s), at = cb_jet_atan(&t), ash = cb_jet_asinh(&sh), ath = cb_jet_atanh(&th);
    check_jets(&as, &a, 1e-12);
    check_jets(&at, &a, 1e-12);
    check_jets(&ash, &a, 1e-12);
    check_jets(&ath, &a, 1e-12);
    cb_jet ac = cb_jet_acos(&c), ach = cb_jet_acosh(&ch);
    check_jets(&ac, &a, 1e-10); /* acos and acosh amplify errors by 1/sin² and 1/sinh² */
    check_jets(&ach, &a, 1e-10);

    cb_jet y = cb_jet_mul(&b, &s), x = cb_jet_mul(&b, &c), angle = cb_jet_atan2(&y, &x);
    check_jets(&angle, &a, 1e-12);

    cb_jet product = cb_jet_mul(&a, &b), quotient = cb_jet_div(&product, &b);
    check_jets(&quotient, &a, 1e-12);
    cb_jet power = cb_jet_pow(&b, &a), l = cb_jet_log(&b), al = cb_jet_mul(&a, &l), e = cb_jet_exp(&al);
    check_jets(&power, &e, 1e-12);
    cb_jet three = cb_jet_constant(4, 3), p3 = cb_jet_pow(&a, &three);
    cb_jet aa = cb_jet_mul(&a, &a), aaa = cb_jet_mul(&aa, &a);
    check_jets(&p3, &aaa, 1e-14);
    cb_jet half = cb_jet_constant(4, 0.5), p = cb_jet_pow(&b, &half);
    check_jets(&p, &root, 1e-13);
    cb_jet shifted = cb_jet_shift(&a, 2), d = cb_jet_sub(&shifted, &a), two = cb_jet_constant(4, 2);
    check_jets(&d, &two, 1e-15);
    cb_jet tripled = cb_jet_scale(&a, 3), da = cb_jet_sub(&tripled, &a), doubled = cb_jet_scale(&a, 2);
    check_jets(&da, &doubled, 1e-15);
  }
}

/* Returns f = exp(x y) sin(z/w) + atan2(x, w) √(y² + z²) - log(1 + w²)^x with q = (x, y, z, w). */
static real four(const real *q) {
  return expl(q[0] * q[1]) * sinl(q[2] / q[3]) + atan2l(q[0], q[3]) * sqrtl(q[1] * q[1] + q[2] * q[2]) -
         powl(logl(1 + q[3] * q[3]), q[0]);
}

static cb_jet four_jet(const double *q, int n) {
  cb_jet x = cb_jet_variable(n, 0, q[0]), y = cb_jet_variable(n, 1, q[1]);
  cb_jet z = cb_jet_variable(n, 2, q[2]), w = cb_jet_variable(n, 3, q[3]);
  cb_jet xy = cb_jet_mul(&x, &y), e = cb_jet_exp(&xy), zw = cb_jet_div(&z, &w), s = cb_jet_sin(&zw);
  cb_jet p = cb_jet_mul(&e, &s), angle = cb_jet_atan2(&x, &w), yy = cb_jet_powi(&y, 2), zz = cb_jet_powi(&z, 2);
  cb_jet r = cb_jet_add(&yy, &zz), ww = cb_jet_powi(&w, 2), l = cb_jet_shift(&ww, 1);
  r = cb_jet_sqrt(&r);
  r = cb_jet_mul(&angle, &r);
  l = cb_jet_log(&l);
  l = cb_jet_pow(&l, &x);
  p = cb_jet_add(&p, &r);
  return cb_jet_sub(&p, &l);
}

static real shifted(const double *q, int i, real di, int j, real dj) {
  real at[4] = {q[0], q[1], q[2], q[3]};
  at[i] += di;
  at[j] += dj;
  return four(at);
}

/* Returns the derivative in variable i by the central difference of fourth order, at the point that is moved by dj
 * along variable j. Mixed derivatives are differences of these results in dj. */
static real stencil_first(const double *q, int i, int j, real dj) {
  return (8 * (shifted(q, i, step, j, dj) - shifted(q, i, -step, j, dj)) -
          (shifted(q, i, 2 * step, j, dj) - shifted(q, i, -2 * step, j, dj))) /
         (12 * step);
}

static void chain_rules_hold_in_four_variables(void **state) {
  uint64_t seed = check_seed();
  for (int trial = 0; trial < 200; trial++) {
    double q[4];
    for (int i = 0; i < 4; i++) q[i] = check_uniform(&seed, 0.7, 1.6);
    cb_jet f = four_jet(q, 4);
    check_relative(f.v, (double)four((real[]){q[0], q[1], q[2], q[3]}), 1e-13);
    for (int i = 0; i < 4; i++) {
      check_near(f.g[i], (double)stencil_first(q, i, i, 0), 1e-8);
      for (int j = 0; j < 4; j++) { /* all ordered pairs: the packed index must be symmetric */
        real mixed = (8 * (stencil_first(q, i, j, step) - stencil_first(q, i, j, -step)) -
                      (stencil_first(q, i, j, 2 * step) - stencil_first(q, i, j, -2 * step))) /
                     (12 * step);
        /* The truncation error contains sixth derivatives of up to 1e5. */
        check_near(f.h[cb_jet_packed(i, j)], (double)mixed, 1e-7);
      }
    }
  }
}

static void variables_beyond_those_of_a_function_change_nothing(void **state) {
  const double q[4] = {0.9, 1.1, 0.8, 1.3};
  cb_jet small = four_jet(q, 4), large = four_jet(q, CB_JET_MAX);
  assert_true(small.v == large.v);
  for (int i = 0; i < CB_JET_MAX; i++) assert_true(large.g[i] == (i < 4 ? small.g[i] : 0));
  for (int i = 0; i < CB_JET_MAX; i++)
    for (int j = 0; j <= i; j++)
      assert_true(large.h[cb_jet_packed(i, j)] == (i < 4 ? small.h[cb_jet_packed(i, j)] : 0));
}

static void outside_the_domain_all_is_nan(void **state) {
  cb_jet (*const f[])(const cb_jet *) = {cb_jet_sqrt, cb_jet_log, cb_jet_asin, cb_jet_acos, cb_jet_acosh, cb_jet_atanh};
  for (size_t k = 0; k < sizeof f / sizeof *f; k++) {
    cb_jet a = cb_jet_variable(2, 1, -3), r = f[k](&a);
    assert_true(isnan(r.v) && isnan(r.g[0]) && isnan(r.g[1]) && isnan(r.h[0]) && isnan(r.h[1]) && isnan(r.h[2]));
  }
}

static void kinks_and_zeros_take_their_documented_value(void **state) {
  cb_jet zero = cb_jet_variable(1, 0, 0), abs = cb_jet_abs(&zero), square = cb_jet_powi(&zero, 2);
  assert_true(abs.v == 0 && abs.g[0] == 1 && abs.h[0] == 0);
  assert_true(square.v == 0 && square.g[0] == 0 && square.h[0] == 2);
  cb_jet none = cb_jet_powi(&zero, 0), same = cb_jet_powi(&zero, 1), root = cb_jet_sqrt(&zero);
  assert_true(none.v == 1 && none.g[0] == 0 && none.h[0] == 0);
  assert_true(same.v == 0 && same.g[0] == 1 && same.h[0] == 0);
  assert_true(root.v == 0 && root.g[0] == (double)INFINITY);
  cb_jet c = cb_jet_constant(1, 1.5), p = cb_jet_pow(&zero, &c); /* x^1.5: the second derivative is infinite */
  assert_true(p.v == 0 && p.g[0] == 0 && p.h[0] == (double)INFINITY);
  cb_jet negative = cb_jet_variable(1, 0, -2), minus = cb_jet_constant(1, -1), inverse = cb_jet_pow(&negative, &minus);
  assert_true(inverse.v == -0.5 && inverse.g[0] == -0.25 && inverse.h[0] == -0.25);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elementary_functions_have_their_derivatives),
      cmocka_unit_test(integer_powers_have_their_derivatives),
      cmocka_unit_test(identities_hold_to_round_off),
      cmocka_unit_test(chain_rules_hold_in_four_variables),
      cmocka_unit_test(variables_beyond_those_of_a_function_change_nothing),
      cmocka_unit_test(outside_the_domain_all_is_nan),
      cmocka_unit_test(kinks_and_zeros_take_their_documented_value),
  };
  return cmocka_run_group_tests_name("jet", tests, NULL, NULL);
}
