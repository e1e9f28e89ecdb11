/* Tests of the direct search for gaits of stationary cost. E is the cost, X the displacement, L = sqrt(E) the length,
 * and lambda are the multipliers of the target. */
#include "gaits.h"
#include "optimum/direct.h"

static cb_bundle *bundle(const char *name) {
  cb_bundle *b;
  check_ok(cb_bundle_create(name, NULL, &b));
  return b;
}

static cb_direct *solved(const cb_optimum_problem *p, const cb_gait *start, int size) {
  cb_direct *d;
  check_ok(cb_direct_create(p, size, &d));
  check_ok(cb_direct_from(d, start));
  check_ok(cb_direct_solve(d, 60));
  return d;
}

/* X, E and |lambda| were computed by shooting with Wong's equations at high accuracy. The direct search differs from
 * them by the effect of omitted harmonics. */
static const double purcell[][3] = {{.001, .003274173125, 1.651904897},
                                    {.01, .035480647743, 1.930215772},
                                    {.03, .126266414425, 2.627947737},
                                    {.05, .247785398952, 3.488942249}};

static void purcell_moves_at_least_cost(void **state) {
  cb_bundle *b = bundle("purcell");
  for (int k = 0; k < 4; k++) {
    const cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = purcell[k][0]}};
    cb_gait *start = circle(0, 0, sqrt(purcell[k][0] / (5. / 243) / M_PI));
    cb_direct *d = solved(&p, start, 24);
    /* the tolerance is the round-off of the digits in the table */
    check_near(d->v->cost, purcell[k][1], 1e-10 * purcell[k][1] + 5e-13);
    check_near(hypot(d->lambda[0], d->lambda[1]), purcell[k][2], 2e-9);
    cb_direct_free(d);
    cb_gait_free(start);
  }
  cb_bundle_free(b);
}

/* dE/dX = 2 lambda_X, where lambda_X is the multiplier along the displacement; dE/dX is a central difference of order
 * 4. */
static void the_momentum_is_the_slope_of_cost(void **state) {
  cb_bundle *b = bundle("purcell");
  const double X = .02, h = 2e-4;
  double cost[5], lambda = 0;
  for (int k = -2; k <= 2; k++) {
    const cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = X + k * h}};
    cb_gait *start = circle(0, 0, .5);
    cb_direct *d = solved(&p, start, 16);
    cost[k + 2] = d->v->cost;
    if (k == 0) lambda = hypot(d->lambda[0], d->lambda[1]);
    cb_direct_free(d);
    cb_gait_free(start);
  }
  check_relative((8 * (cost[3] - cost[1]) - cost[4] + cost[0]) / (12 * h), 2 * lambda, 1e-9);
  cb_bundle_free(b);
}

/* For the most efficient gait, lambda_X = E/X, with the cost E, the displacement X and its multiplier lambda_X. The
 * same gait has the maximum displacement for its length. */
static void the_most_efficient_gait_is_a_tangent(void **state) {
  cb_bundle *b = bundle("purcell");
  cb_gait *start = circle(0, 0, 1);
  cb_optimum_problem p = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .05}, .objective = CB_OBJECTIVE_EFFICIENCY};
  cb_direct *d = solved(&p, start, 24);
  check_relative(hypot(d->lambda[0], d->lambda[1]), d->v->cost / d->amount, 1e-9);
  check_at_least(d->amount, .08);
  check_at_most(d->amount, .09);
  p.objective = CB_OBJECTIVE_TARGET;
  p.length = sqrt(d->v->cost);
  cb_direct *far = solved(&p, start, 24);
  check_relative(far->amount, d->amount, 1e-9);
  check_relative(far->v->cost, d->v->cost, 1e-12);
  cb_direct_free(far);
  cb_direct_free(d);
  cb_gait_free(start);
  cb_bundle_free(b);
}

/* Dido's problem in closed form: L^2 = 4 pi |z| for the area z, the same for any start shape. */
static void heisenberg_encloses_area_by_circles(void **state) {
  cb_bundle *b = bundle("heisenberg");
  const double start_shape[2] = {.3, -.2}, z = -.37;
  cb_gait *start = circle(-.2, .1, .4), *turned;
  check_ok(cb_gait_reversed(start, &turned));
  for (int k = 0; k < 2; k++) {
    const cb_optimum_problem p = {
        .bundle = b, .target = {.kind = CB_GAIT_ELEMENT, .element = {z}}, .start_shape = k ? start_shape : NULL};
    cb_direct *d = solved(&p, turned, 16);
    check_relative(d->v->cost, 4 * M_PI * fabs(z), 1e-12);
    cb_direct_free(d);
  }
  cb_gait_free(start);
  cb_gait_free(turned);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(purcell_moves_at_least_cost), cmocka_unit_test(the_momentum_is_the_slope_of_cost),
      cmocka_unit_test(the_most_efficient_gait_is_a_tangent), cmocka_unit_test(heisenberg_encloses_area_by_circles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
