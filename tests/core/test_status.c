/* Tests that a nan in an error message is written without a sign. */
#include "check.h"

static void a_nan_has_no_sign(void **unused) {
  const double minus = copysign(NAN, -1);
  check_error(cb_fail(CB_ERROR_INPUT, "%g is not", minus), CB_ERROR_INPUT, "nan is not");
  check_error(cb_fail(CB_ERROR_INPUT, "(%g, %g) = %g, k=%g", minus, minus, -INFINITY, minus), CB_ERROR_INPUT,
              "(nan, nan) = -inf, k=nan");
  check_error(cb_fail(CB_ERROR_INPUT, "expected %s, found '%s' and `%s`", "1 -nano", "-nan", "x-nan"), CB_ERROR_INPUT,
              "expected 1 -nano, found '-nan' and `x-nan`");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_nan_has_no_sign)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
