/* Tests of the search for gaits from many starts: branches, optimality, and Wong's equations compared with the direct
 * search. */
#include "check.h"
#include <curvebody/holonomy.h>
#include <curvebody/optimum.h>

static cb_optima *found(const char *name, cb_optimum_problem *p) {
  cb_bundle *b;
  cb_optima *o;
  check_ok(cb_bundle_create(name, NULL, &b));
  p->bundle = b;
  if (!p->starts) p->starts = 24;
  check_ok(cb_optimum_find(p, &o));
  for (int k = 0; k < o->count; k++) {
    const cb_optimum *one = &o->item[k];
    double g[CB_GROUP_SIZE], cost;
    check_ok(cb_holonomy(b, one->gait, 0, g, NULL, &cost));
    /* Gaits other than the best one may need more functions of time than the maximum of cb_direct_refine. */
    const double near = k ? 1e-6 : 1e-9;
    check_relative(one->cost, cost, near);
    for (int a = 0; a < b->group->size; a++) check_near(one->g[a], g[a], near);
    if (isfinite(one->wong)) check_relative(one->cost, one->wong, near);
  }
  return o;
}

static void done(const cb_optimum_problem *p, cb_optima *o) {
  cb_optima_free(o);
  cb_bundle_free((cb_bundle *)p->bundle);
}

/* The expected costs are from shooting and from an independent Fourier-Galerkin computation. The gaits around the shape
 * (z, -z), z = 1.7346, are cheaper than the gaits around 0. */
static void both_ways_of_purcell_to_move_are_found(void **state) {
  cb_optimum_problem p = {.target = {.kind = CB_GAIT_MOVE, .value = .03}, .seed = 1};
  cb_optima *o = found("purcell", &p);
  check_at_least(o->count, 2);
  check_relative(o->item[0].cost, .118182747176, 5e-12);
  check_relative(o->item[1].cost, .126266414425, 5e-12);
  for (int k = 0; k < 2; k++) {
    check_relative(o->item[k].wong, o->item[k].cost, 1e-11);
    assert_int_equal(o->item[k].index, 0);
    assert_int_equal(o->item[k].flat, 0);
  }
  done(&p, o);
}

static void a_turn_and_an_element_have_their_corner(void **state) {
  cb_optimum_problem turn = {.target = {.kind = CB_GAIT_TURN, .value = .1}, .seed = 1};
  cb_optima *o = found("purcell", &turn);
  check_relative(o->item[0].cost, .034936705669, 2e-11);
  done(&turn, o);
  cb_optimum_problem element = {.target = {.kind = CB_GAIT_ELEMENT, .element = {.02, 0, .05}}, .seed = 1};
  o = found("purcell", &element);
  const cb_optimum *best = &o->item[0];
  check_relative(best->wong, .061773382295, 2e-11);
  check_relative(best->cost, .061773382295, 2e-11);
  check_near(best->r[0], .93855002, 1e-8);
  check_near(best->r[1], .85926757, 1e-8);
  done(&element, o);
}

static void pmpy_from_a_base(void **state) {
  const double start_shape[2] = {5, 4 * M_PI / 3};
  cb_optimum_problem p = {.target = {.kind = CB_GAIT_ELEMENT, .element = {.1}}, .start_shape = start_shape, .seed = 1};
  cb_optima *o = found("pmpy", &p);
  check_relative(o->item[0].cost, 66.275422594, 1e-11);
  check_relative(o->item[0].lambda[0], 285.8939827, 1e-9);
  assert_int_equal(o->item[0].conjugates, o->item[0].index); /* the two are equal by Morse's theorem */
  done(&p, o);
}

/* Wong's equations do not contain the condition that links must not cross. If the search finds a gait whose links
 * touch, an extremal of these equations whose links cross must not be reported for it. */
static void an_extremal_whose_links_cross_is_not_told(void **state) {
  const double mean[2] = {1.7346, -1.7346}, cosine[2] = {.9, .9}, sine[2] = {.5, -.5};
  double cost[2];
  cb_bundle *b;
  cb_gait *start;
  check_ok(cb_bundle_create("purcell", NULL, &b));
  check_ok(cb_gait_fourier(2, 1, mean, cosine, sine, &start));
  for (int apart = 0; apart < 2; apart++) {
    const cb_optimum_problem p = {
        .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .1075}, .start = start, .no_crossing = apart};
    cb_optima *o;
    check_ok(cb_optimum_find(&p, &o));
    cost[apart] = o->item[0].cost;
    cb_optima_free(o);
  }
  check_relative(cost[0], .797666286388, 1e-11); /* Wong's equations give the same cost */
  check_at_least(cost[1], cost[0] * 1.0002);
  check_at_most(cost[1], cost[0] * 1.001);
  cb_gait_free(start);
  cb_bundle_free(b);
}

/* Without a start shape the search continues to small distances l of the spheres, where the model is not valid. */
static void a_cost_that_falls_without_end_is_told(void **state) {
  cb_bundle *b;
  cb_optima *o;
  check_ok(cb_bundle_create("pmpy", NULL, &b));
  cb_gait *start;
  const double mean[2] = {5, 4}, cosine[2] = {.5, 0}, sine[2] = {0, .5};
  check_ok(cb_gait_fourier(2, 1, mean, cosine, sine, &start));
  const cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .1}, .start = start};
  assert_int_equal(cb_optimum_find(&p, &o), CB_STEP_NO_CONVERGENCE);
  assert_non_null(strstr(cb_error_text(), "no minimum of the cost"));
  cb_gait_free(start);
  cb_bundle_free(b);
}

/* Compares three methods: the gradient flow, Newton's method, and collocation of Wong's equations. */
static void the_gradient_flow_comes_to_the_same(void **state) {
  static const double start_shape[2] = {.65, .8};
  static const struct {
    const char *name;
    cb_gait_target target;
    const double *start_shape;
  } of[] = {{"purcell", {.kind = CB_GAIT_MOVE, .value = .03}, NULL},
            {"purcell", {.kind = CB_GAIT_TURN, .value = .1}, NULL},
            {"heisenberg", {.kind = CB_GAIT_ELEMENT, .element = {-.2}}, start_shape},
            {"hopf", {.kind = CB_GAIT_TURN, .value = .3}, NULL},
            {"constant_curvature_swimmer", {.kind = CB_GAIT_ELEMENT, .element = {.01}}, start_shape}};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    cb_optimum_problem p = {.target = of[k].target, .start_shape = of[k].start_shape, .seed = 1, .starts = 1};
    cb_optima *newton = found(of[k].name, &p);
    const double cost = newton->item[0].cost;
    done(&p, newton);
    p.flow = true;
    cb_optima *flow = found(of[k].name, &p);
    check_relative(flow->item[0].cost, cost, 1e-6);
    check_relative(flow->item[0].wong, cost, 1e-9);
    done(&p, flow);
  }
}

/* The expected costs were computed by shooting with Wong's equations: with arcs along the bound, and with a corner at
 * the shape where the tips of the links meet. */
static void bounds_and_links_hold_a_gait(void **state) {
  const double lower[2] = {-.7, -.7}, upper[2] = {.7, .7}, low[2] = {-.8, -.8}, high[2] = {.8, .8};
  cb_optimum_problem p = {
      .target = {.kind = CB_GAIT_MOVE, .value = .03}, .lower = lower, .upper = upper, .seed = 1, .starts = 8};
  cb_optima *o = found("purcell", &p);
  check_relative(o->item[0].cost, .134475538116, 5e-12); /* the round-off of the expected cost */
  check_relative(hypot(o->item[0].lambda[0], o->item[0].lambda[1]), 4.33272289, 2e-9);
  done(&p, o);
  cb_optimum_problem turn = {
      .target = {.kind = CB_GAIT_TURN, .value = .1}, .no_crossing = true, .seed = 1, .starts = 8};
  o = found("purcell", &turn);
  check_relative(o->item[0].cost, .034983464790, 2e-11);
  done(&turn, o);
  cb_bundle *b;
  check_ok(cb_bundle_create("purcell", NULL, &b));
  const cb_optimum_problem far = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .05}, .lower = low, .upper = high, .seed = 1, .starts = 8};
  assert_int_equal(cb_optimum_find(&far, &o), CB_STEP_NO_CONVERGENCE);
  assert_non_null(strstr(cb_error_text(), "one cycle reached at most about 0.0433"));
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(both_ways_of_purcell_to_move_are_found),
                                     cmocka_unit_test(a_turn_and_an_element_have_their_corner),
                                     cmocka_unit_test(pmpy_from_a_base),
                                     cmocka_unit_test(the_gradient_flow_comes_to_the_same),
                                     cmocka_unit_test(bounds_and_links_hold_a_gait),
                                     cmocka_unit_test(an_extremal_whose_links_cross_is_not_told),
                                     cmocka_unit_test(a_cost_that_falls_without_end_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
