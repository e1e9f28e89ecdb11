/* Tests that the derivatives of all classes of constraints except rods and path lengths agree with differences, in
 * every space and chart. */
#include "constraint_differences.h"

static void derivatives_in(const cb_space *g, uint64_t *seed) {
  for (kind which = 0; which < KINDS; which++) {
    if (!kind_applies(g, which)) continue;
    double x[POINTS + 1][COORDS];
    some_points(g, seed, 0.5, x);
    setup u = setup_at(g, which, x);
    check_derivatives(&u, shown(g, which), 0.4, u.x, seed, 1e-7);
    setup_free(&u);
  }
}

static void derivatives_of(const cb_space *g, uint64_t *seed) { check_every_chart_of(g, seed, derivatives_in); }

static void derivatives_are_those_of_differences_in_every_space_and_chart(void **state) {
  check_every_space(derivatives_of);
}

/* Checks triangles with sides of about a radius of curvature, for which the library uses closed forms in place of
 * series. */
static void wide_derivatives_of(const cb_space *g, uint64_t *seed) {
  double size = 1.5;
  for (int f = 0; f < g->n_factors; f++) {
    if (g->factor[f].curvature > 0) size = 0.6;
    if (g->factor[f].curvature < 0) size = 1.5 / sqrt(-g->factor[f].curvature);
  }
  for (int n = 0; n < 15; n++) {
    const kind which = (const kind[]){ANGLE, AREA, VOLUME}[n % 3];
    if (!kind_applies(g, which)) continue;
    double x[POINTS + 1][COORDS];
    some_points(g, seed, size, x);
    setup u = setup_at(g, which, x);
    check_derivatives(&u, shown(g, which), 0.4, u.x, seed, 1e-7);
    setup_free(&u);
  }
}

static void derivatives_of_wide_shapes_are_those_of_differences(void **state) {
  check_every_space(wide_derivatives_of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_those_of_differences_in_every_space_and_chart),
      cmocka_unit_test(derivatives_of_wide_shapes_are_those_of_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
