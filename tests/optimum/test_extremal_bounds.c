/* Tests of extremals along bounds: known values, the signs of constraint forces, bounds that have no effect, and a
 * given start shape. */
#include "extremals.h"

/* Checks that the extremal is within its bounds, and that the rate v of the shape is continuous where arcs meet. The
 * force of a bound on its variable is > 0 at an upper bound and < 0 at a lower one. */
static void check_arcs(const cb_optimum_problem *o, const cb_extremal *e) {
  const int n = e->wong.n;
  for (int k = 0; k < 500; k++) {
    double x[CB_WONG_MAX];
    check_ok(cb_extremal_at(e, k / 500., x, NULL));
    for (int i = 0; i < n; i++) {
      if (o->lower) check_at_least(x[i], o->lower[i] - 1e-9);
      if (o->upper) check_at_most(x[i], o->upper[i] + 1e-9);
    }
  }
  for (int a = 0; a < e->arcs; a++) {
    double x[CB_WONG_MAX], before[CB_SHAPE_MAX], after[CB_SHAPE_MAX], force[CB_SHAPE_MAX];
    if (a > 0) {
      check_ok(cb_extremal_at(e, nextafter(e->end[a], 0), x, before));
      check_ok(cb_extremal_at(e, e->end[a], x, after));
      for (int i = 0; i < n; i++) check_near(after[i], before[i], 1e-9 * sqrt(e->cost));
    }
    for (int s = 1; s < 10; s++) {
      check_ok(cb_extremal_at(e, e->end[a] + .1 * s * (e->end[a + 1] - e->end[a]), x, NULL));
      check_ok(cb_wong_bound_force(&e->wong, e->held[a], x, force));
      for (int i = 0; i < n; i++)
        if (e->held[a] >> i & 1) assert_true(o->upper && x[i] > o->upper[i] - 1e-9 ? force[i] > 0 : force[i] < 0);
    }
  }
}

/* The searches start from ellipses of about the right size, and from the gait without bounds, whose angles are a
 * quarter too large. */
static void purcells_swimmer_keeps_its_angles_within_bounds(void **state) {
  const double lower[2] = {-.7, -.7}, upper[2] = {.7, .7};
  cb_bundle *b = model("purcell", "links 3");
  const cb_optimum_problem o = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .03}, .lower = lower, .upper = upper};
  const ellipse from[3] = {{{0, 0}, {.5, .5}, {.6, -.6}, {4, 0, -.2}},
                           {{0, 0}, {.6, .6}, {.5, -.5}, {4.3, 0, -.2}},
                           purcell_near(purcell_row[2])};
  for (int k = 0; k < 3; k++) {
    cb_extremal *e = extremal(&o, &from[k], 0);
    check_relative(e->cost, .134475538116, 1e-11);
    check_relative(e->nu[0], 4.33272289, 2e-9);
    assert_int_equal(e->arcs, 9);
    /* The expected times are counted from the shape with r1 = r2 > 0. By symmetry this shape is midway between the last
     * arc and the first one. */
    const double shift = (e->end[1] - (1 - e->end[8])) / 2;
    check_near(e->end[1] - shift, .07539712, 6e-9);
    check_near(e->end[2] - shift, .17948156, 6e-9);
    check_arcs(&o, e);
    cb_extremal_free(e);
  }
  cb_bundle_free(b);
}

static void pushmepullyou_with_a_least_length_has_a_least_cost(void **state) {
  const double lower[2] = {4, -INFINITY}, v = 4 * M_PI / 3;
  cb_bundle *b = model("pmpy", "");
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .1}, .lower = lower};
  const ellipse from = {{4.4, v}, {0, 1.6}, {-.8, 0}, {300}};
  cb_extremal *e = extremal(&o, &from, 0);
  check_relative(e->cost, 71.800179515, 1e-10);
  check_arcs(&o, e);
  cb_extremal_free(e);
  cb_bundle_free(b);
}

/* Bounds that are not reached have no effect. Within bounds of .8 one cycle cannot move .05. */
static void bounds_far_away_do_not_count_and_tight_ones_are_told(void **state) {
  const double *row = purcell_row[2], lower[2] = {-2, -2}, upper[2] = {2, 2}, low[2] = {-.8, -.8}, high[2] = {.8, .8};
  cb_bundle *b = model("purcell", "links 3");
  cb_optimum_problem o = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = row[0]}, .lower = lower, .upper = upper};
  ellipse from = purcell_near(row);
  cb_extremal *e = extremal(&o, &from, 0);
  check_relative(e->cost, row[1], 1e-10);
  assert_int_equal(e->arcs, 1);
  cb_extremal_free(e);
  o.lower = low;
  o.upper = high;
  o.target.value = .05;
  from = purcell_near(purcell_row[3]);
  assert_true(extremal_try(&o, &from, 0, &e) > 0);
  assert_non_null(strstr(cb_error_text(), "within the bounds"));
  cb_bundle_free(b);
}

/* The extremal with a bound that cuts off a part of the loop still starts at the given shape. It costs more than the
 * extremal without the bound. */
static void a_base_is_kept_beside_bounds(void **state) {
  const double start_shape[2] = {5, 4 * M_PI / 3}, lower[2] = {4.5, -INFINITY}, v = start_shape[1];
  cb_bundle *b = model("pmpy", "");
  const cb_optimum_problem o = {
      .bundle = b, .start_shape = start_shape, .target = {.kind = CB_GAIT_MOVE, .value = .1}, .lower = lower};
  const ellipse from = {{4.6, v}, {.4, 0}, {0, -2}, {380}};
  cb_extremal *e = extremal(&o, &from, 0), *free;
  cb_optimum_problem without = o;
  without.lower = NULL;
  check_ok(extremal_try(&without, &from, 0, &free));
  assert_true(e->arcs > 1);
  assert_true(e->cost > free->cost);
  for (int i = 0; i < 2; i++) check_near(e->r[i], start_shape[i], 1e-12);
  check_arcs(&o, e);
  cb_extremal_free(e);
  cb_extremal_free(free);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(purcells_swimmer_keeps_its_angles_within_bounds),
      cmocka_unit_test(pushmepullyou_with_a_least_length_has_a_least_cost),
      cmocka_unit_test(bounds_far_away_do_not_count_and_tight_ones_are_told),
      cmocka_unit_test(a_base_is_kept_beside_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
