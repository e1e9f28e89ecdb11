/* Tests of extremals against the table of extremals.h, closed forms, their own gaits, and differences along a family. E
 * is the cost, X the displacement, r the shape, p its momentum, g the holonomy, lambda the multipliers of Wong's
 * equations, and nu those of the target. */
#include "extremals.h"

/* The table has at least 10 digits: 1e-10 is half a unit in the last digit of the smallest value. */
static void purcells_swimmer_moves_at_the_least_cost_of_the_table(void **state) {
  cb_bundle *b = model("purcell", "links 3");
  for (int k = 0; k < PURCELL_ROWS; k++) {
    const double *row = purcell_row[k];
    const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = row[0]}};
    const ellipse from = purcell_near(row);
    cb_extremal *e = extremal(&o, &from, row[0]);
    double x[7], v[2];
    check_relative(e->cost, row[1], 2e-10);
    check_near(e->nu[0], row[4], 1e-8); /* nu[0] belongs to the distance and equals lambda_x of the row */
    check_near(hypot(e->g[0], e->g[1]), row[0], 1e-13);
    check_near(e->g[2], 0, 1e-13);
    for (int i = 0; i < 2; i++) check_near(e->jump[i], 0, 1e-10 * row[3]);
    /* Times are counted from the shape with r1 = r2 > 0. A quarter of the cycle later, r1 + r2 = 0 and both rates are
     * equal. */
    double low = -.05, high = .05;
    while (high - low > 1e-13) {
      const double t = (low + high) / 2;
      check_ok(cb_extremal_at(e, t - floor(t), x, NULL));
      *((x[0] - x[1]) * (e->v[0] - e->v[1]) > 0 ? &high : &low) = t;
    }
    check_near(x[0], row[2], 2e-8);
    check_near((x[0] + x[1]) / 2, row[2], 1e-10);
    check_ok(cb_extremal_at(e, low + .25, x, v));
    check_near(x[0] + x[1], 0, 1e-10);
    check_near(v[0] - v[1], 0, 1e-9);
    cb_extremal_free(e);
  }
  cb_bundle_free(b);
}

/* dE/dX = 2 nu, where dE/dX is a difference of order 4 with the step h = X/50. */
static void the_multiplier_is_half_the_slope_of_cost(void **state) {
  cb_bundle *b = model("purcell", "links 3");
  const double *row = purcell_row[2], h = row[0] / 50, weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12};
  double slope = 0, nu = 0;
  for (int k = -2; k <= 2; k++) {
    const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = row[0] + k * h}};
    const ellipse from = purcell_near(row);
    cb_extremal *e;
    check_ok(extremal_try(&o, &from, 0, &e));
    if (k)
      slope += weight[k < 0 ? k + 2 : k + 1] * e->cost / h;
    else
      nu = e->nu[0];
    cb_extremal_free(e);
  }
  check_relative(slope, 2 * nu, 2e-8); /* the error is h^4/30 times the fifth derivative of E */
  cb_bundle_free(b);
}

static void a_given_element_is_reached_with_a_corner_at_the_start(void **state) {
  cb_bundle *b = model("purcell", "links 3");
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_ELEMENT, .element = {.02, 0, .05}}};
  const ellipse from = {{.5, .45}, {.42, .4}, {.55, -.55}, {2, 0, -.1}};
  cb_extremal *e = extremal(&o, &from, 0);
  const double corner[2] = {.93855002, .85926757}, jump[2] = {.27625, .18928};
  double x[7];
  check_relative(e->cost, .061773382295, 1e-11);
  check_ok(cb_extremal_at(e, 1, x, NULL));
  for (int i = 0; i < 2; i++) {
    check_near(e->r[i], corner[i], 5e-9);
    check_near(fabs(e->jump[i]), jump[i], 5e-6);
    check_near(x[2 + i], e->p[i], 1e-13); /* p is periodic, although r' is not */
  }
  cb_extremal_free(e);
  cb_bundle_free(b);
}

/* For the most efficient gait nu X = E, where X is the distance, nu its multiplier and E the cost. The efficiency X^2/E
 * is a maximum: it is smaller for a distance 1 % shorter or longer. The gait that moves farthest with a given length is
 * that of least cost for its distance. */
static void the_most_efficient_and_the_farthest_gait_obey_their_conditions(void **state) {
  cb_bundle *b = model("purcell", "links 3");
  cb_optimum_problem o = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .08}, .objective = CB_OBJECTIVE_EFFICIENCY};
  const ellipse from = {{0, 0}, {.95, .95}, {1.35, -1.35}, {6, 0, -.6}};
  cb_extremal *best = extremal(&o, &from, .08);
  const double greatest = best->amount * best->amount / best->cost;
  check_at_least(best->amount, .08);
  check_at_most(best->amount, .09);
  check_relative(best->nu[0] * best->amount, best->cost, 1e-11);
  for (int side = -1; side <= 1; side += 2) {
    cb_extremal *e;
    o.objective = CB_OBJECTIVE_COST;
    o.target.value = best->amount * (1 + .01 * side);
    check_ok(extremal_try(&o, &from, 0, &e));
    const double efficiency = e->amount * e->amount / e->cost;
    check_at_most(efficiency, greatest * (1 - 1e-5));
    check_at_least(efficiency, greatest * (1 - 1e-2));
    cb_extremal_free(e);
  }
  const double *row = purcell_row[2];
  const ellipse near = purcell_near(row);
  o.objective = CB_OBJECTIVE_TARGET;
  o.length = sqrt(row[1]);
  cb_extremal *far = extremal(&o, &near, .9 * row[0]);
  check_relative(far->amount, row[0], 1e-10);
  cb_extremal_free(far);
  cb_extremal_free(best);
  cb_bundle_free(b);
}

/* Near the gait of the maximum distance, a small error at the start grows by a factor 1e10 up to the end of the
 * cycle. */
static void strokes_whose_ends_depend_wildly_on_their_starts_are_solved(void **state) {
  cb_bundle *b = model("purcell", "links 3");
  const ellipse from = {{0, 0}, {.95, .95}, {1.35, -1.35}, {6, 0, -.6}};
  cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .084}};
  cb_extremal *e = extremal(&o, &from, 0), *next;
  for (double X = .088; X < .097; X += .004) {
    cb_gait *gait;
    double g[3], cost;
    o.target.value = X;
    check_ok(cb_extremal_gait(e, &gait));
    check_ok(cb_extremal_solve(&o, gait, e->lambda, 0, &next));
    cb_gait_free(gait);
    assert_true(next->nu[0] > 1.1 * e->nu[0]);
    cb_extremal_free(e);
    e = next;
    check_at_most(e->error, 1e-12);
    check_at_most(e->speed, 1e-12);
    check_ok(cb_extremal_gait(e, &gait));
    check_ok(cb_holonomy(b, gait, 0, g, NULL, &cost));
    check_relative(cost, e->cost, 1e-10);
    check_near(hypot(g[0], g[1]), X, 1e-11);
    cb_gait_free(gait);
  }
  cb_extremal_free(e);
  cb_bundle_free(b);
}

/* Tests several extremals of PushMePullYou that begin at one start shape: their cost E, their lambda, and the rate of
 * the shape at the start (NAN: not known). The shape variables are the distance l of the spheres and the volume v of
 * one sphere. */
static void pushmepullyou_has_the_extremals_of_the_table(void **state) {
  cb_bundle *b = model("pmpy", "");
  const double v = 4 * M_PI / 3, start_shape[2] = {5, v};
  const struct {
    double X, E, lambda, rate[2];
    ellipse from;
  } row[] = {
      {.1, 73.203059159417, 355.5741243, {-.02470711, -10.72278225}, {{4.1, v}, {.9, 0}, {0, -1.7}, {350}}},
      {.1, 72.045526289, 347.3708843, {NAN, NAN}, {{5.9, v}, {-.9, 0}, {0, 1.7}, {350}}},
      {.1, 66.275422594, 285.8939827, {NAN, NAN}, {{5, v + 1.7}, {0, -1.7}, {-.9, 0}, {285}}},
      {.5, 312.713953422, 255.918099, {NAN, NAN}, {{3.3, v}, {1.7, 0}, {0, -3}, {262}}},
      {.5, 321.175261998779, 262.7533391, {-.0588669, -22.45995592}, {{3.9, v}, {1.1, 0}, {0, -3.4}, {262}}},
  };
  for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
    const cb_optimum_problem o = {
        .bundle = b, .start_shape = start_shape, .target = {.kind = CB_GAIT_MOVE, .value = row[k].X}};
    cb_extremal *e = extremal(&o, &row[k].from, 0);
    check_relative(e->cost, row[k].E, 1e-10);
    check_relative(e->lambda[0], row[k].lambda, 2e-9);
    for (int i = 0; i < 2 && isfinite(row[k].rate[i]); i++) check_near(e->v[i], row[k].rate[i], 1e-8);
    for (int i = 0; i < 2; i++) check_near(e->r[i], start_shape[i], 1e-12);
    cb_extremal_free(e);
  }
  cb_bundle_free(b);
}

/* The tolerance is the round-off of some hundred operations, 1e-12. */
static void closed_forms_are_met_to_round_off(void **state) {
  cb_bundle *plane = model("heisenberg", ""), *sphere = model("hopf", ""), *ball = model("rolling_ball", "");
  const double at[2] = {.3, -.2}, on[2] = {.1, 0}, origin[2] = {0, 0}, r = sqrt(.1 / M_PI), c = .27;
  const ellipse circle = {{.3 - r, -.2}, {1.1 * r, -.01}, {.01, .9 * r}, {6}};
  const ellipse cap = {{on[0] - c, 0}, {c, -.01}, {.01, c}, {10}};
  const ellipse rolled = {{-.5, 0}, {.52, 0}, {0, .5}, {0, 0, 3}};
  /* If the start shape is free, the shapes can be shifted and rotated, so the equations are singular. */
  for (int free = 0; free < 2; free++) {
    cb_optimum_problem o = {
        .bundle = plane, .start_shape = free ? NULL : at, .target = {.kind = CB_GAIT_MOVE, .value = .1}};
    cb_extremal *e = extremal(&o, &circle, 0);
    check_relative(e->cost, 4 * M_PI * .1, 1e-12);
    check_relative(e->lambda[0], 2 * M_PI, 1e-11);
    cb_extremal_free(e);
    o = (cb_optimum_problem){
        .bundle = sphere, .start_shape = free ? NULL : on, .target = {.kind = CB_GAIT_TURN, .value = .5}};
    e = extremal(&o, &cap, 0);
    check_relative(sqrt(e->cost), 3.4009367260152, 1e-12);
    cb_extremal_free(e);
  }
  cb_optimum_problem o = {.bundle = ball, .start_shape = origin, .target = {.kind = CB_GAIT_ELEMENT}};
  const double turned[3] = {-M_PI, 0, -2 * M_PI}; /* the rotation vector 2 pi (-rho, 0, -1) of the ball, rho = 1/2 */
  ball->group->exp(ball->group, turned, o.target.element);
  ball->group->inverse(ball->group, o.target.element, o.target.element);
  /* For k < 2 the target is the element, otherwise only its angle. For odd k the start shape is free. */
  for (int k = 0; k < 4; k++) {
    if (k == 2) o.target = (cb_gait_target){.kind = CB_GAIT_TURN, .value = 2 * M_PI * (sqrt(1.25) - 1)};
    o.start_shape = k % 2 ? NULL : origin;
    cb_extremal *e = extremal(&o, &rolled, 0);
    check_relative(e->cost, M_PI * M_PI, 1e-12);
    cb_extremal_free(e);
  }
  cb_bundle_free(plane);
  cb_bundle_free(sphere);
  cb_bundle_free(ball);
}

/* The frames of the first and the second link give the same cost. Both searches start from the same gait, with lambda
 * rotated into the frame of the link. */
static void the_body_frame_does_not_count(void **state) {
  double cost[2];
  for (int link = 1; link <= 2; link++) {
    cb_bundle *b = model("purcell", link == 1 ? "links 3 base 1" : "links 3 base 2");
    const double *row = purcell_row[2], angle = link == 1 ? row[2] : 0;
    const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = row[0]}};
    ellipse from = purcell_near(row);
    from.lambda[1] = from.lambda[0] * sin(angle);
    from.lambda[0] *= cos(angle);
    cb_extremal *e = extremal(&o, &from, 0);
    cost[link - 1] = e->cost;
    cb_extremal_free(e);
    cb_bundle_free(b);
  }
  check_relative(cost[0], cost[1], 1e-11);
}

static void what_cannot_be_is_told(void **state) {
  cb_bundle *b = model("purcell", "links 3"), *flat = model("constant_curvature_swimmer", "space E2");
  cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_ELEMENT, .element = {.02, 0, .05}}};
  ellipse from = purcell_near(purcell_row[2]);
  cb_extremal *e = NULL;
  o.objective = CB_OBJECTIVE_EFFICIENCY;
  assert_int_equal(extremal_try(&o, &from, 0, &e), CB_ERROR_ARGUMENT);
  o.objective = CB_OBJECTIVE_COST;
  from.lambda[1] = NAN;
  assert_int_equal(extremal_try(&o, &from, 0, &e), CB_ERROR_ARGUMENT);
  o.bundle = flat;
  o.target = (cb_gait_target){.kind = CB_GAIT_MOVE, .value = .1};
  from = (ellipse){{.65, .8}, {.2, 0}, {0, .2}, {1}};
  assert_true(extremal_try(&o, &from, 0, &e) > 0); /* a flat swimmer does not move */
  assert_null(e);
  cb_bundle_free(b);
  cb_bundle_free(flat);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(purcells_swimmer_moves_at_the_least_cost_of_the_table),
      cmocka_unit_test(the_multiplier_is_half_the_slope_of_cost),
      cmocka_unit_test(a_given_element_is_reached_with_a_corner_at_the_start),
      cmocka_unit_test(the_most_efficient_and_the_farthest_gait_obey_their_conditions),
      cmocka_unit_test(strokes_whose_ends_depend_wildly_on_their_starts_are_solved),
      cmocka_unit_test(pushmepullyou_has_the_extremals_of_the_table),
      cmocka_unit_test(closed_forms_are_met_to_round_off),
      cmocka_unit_test(the_body_frame_does_not_count),
      cmocka_unit_test(what_cannot_be_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
