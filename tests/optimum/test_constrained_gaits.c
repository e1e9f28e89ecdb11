/* Tests of gaits within bounds, and of swimmers whose links must not cross: direct searches, and Wong's equations with
 * corners and arcs at constraints. E: cost; lambda: multipliers; r: shape. */
#include "gaits.h"
#include "models.h"
#include "optimum/direct.h"

static cb_direct *solved(const cb_optimum_problem *o, cb_gait *start, int size) {
  cb_direct *d;
  check_ok(cb_direct_create(o, size, &d));
  check_ok(cb_direct_from(d, start));
  check_ok(cb_direct_solve(d, 60));
  check_at_least(cb_barrier_least(d->barrier, d->c), 0);
  cb_gait_free(start);
  return d;
}

/* The expected E and lambda were computed by shooting with arcs at bounds. At a bound r'' jumps, so the errors of N
 * harmonics are of order N^-3. */
static void a_gait_keeps_to_its_bounds(void **state) {
  const double lower[2] = {-.7, -.7}, upper[2] = {.7, .7};
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .03}, .lower = lower, .upper = upper};
  for (int size = 8; size <= 24; size += 8) {
    cb_direct *d = solved(&o, ring(0, 0, .9, 1), size); /* the search begins outside the bounds */
    check_relative(d->v->cost, .134475538116, 2 / pow(size, 3));
    check_relative(hypot(d->lambda[0], d->lambda[1]), 4.33272289, 40 / pow(size, 3));
    cb_direct_free(d);
  }
  cb_bundle_free(b);
}

/* The loop with the largest displacement within a square around 0 is the square itself, since the curvature has one
 * sign there. A gait in harmonics cannot have these corners, so it stays below this displacement. */
static void a_target_beyond_the_bounds_is_told_their_most(void **state) {
  const double lower[2] = {-.8, -.8}, upper[2] = {.8, .8}, corner[8] = {.8, .8, -.8, .8, -.8, -.8, .8, -.8};
  double maximum, g[CB_GROUP_SIZE];
  cb_bundle *b = model("purcell", "");
  cb_gait *start = ring(0, 0, .5, 1), *square;
  const cb_optimum_problem o = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .05}, .lower = lower, .upper = upper};
  cb_direct *d;
  check_ok(cb_direct_create(&o, 12, &d));
  check_ok(cb_direct_from(d, start));
  assert_int_equal(cb_direct_solve(d, 60), CB_STEP_NO_CONVERGENCE);
  check_ok(cb_direct_maximum(&o, start, 12, &maximum));
  check_ok(cb_gait_polygon(2, 4, corner, &square));
  check_ok(cb_holonomy(b, square, 0, g, NULL, NULL));
  check_at_most(maximum, hypot(g[0], g[1]));
  check_relative(maximum, hypot(g[0], g[1]), 3e-3);
  cb_direct_free(d);
  cb_gait_free(start);
  cb_gait_free(square);
  cb_bundle_free(b);
}

/* The angles of the most efficient gait stay below a right angle. Bounds at a right angle do not change this gait. */
static void walls_that_are_not_met_do_not_count(void **state) {
  const double lower[2] = {-M_PI_2, -M_PI_2}, upper[2] = {M_PI_2, M_PI_2};
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {.bundle = b,
                                .target = {.kind = CB_GAIT_MOVE, .value = .05},
                                .objective = CB_OBJECTIVE_EFFICIENCY,
                                .lower = lower,
                                .upper = upper,
                                .no_crossing = true};
  cb_direct *d = solved(&o, ring(0, 0, 1, 1), 24);
  /* The tolerance is the error that is due to omitted harmonics. */
  check_relative(d->amount * d->amount / d->v->cost, .012364154621884, 1e-9);
  cb_direct_free(d);
  cb_bundle_free(b);
}

/* The cost without constraints is .034936705669. At the optimum the tips meet once, where the loop has a corner, so the
 * error of N harmonics is of order N^-2. */
static void links_touch_and_do_not_cross(void **state) {
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_TURN, .value = .1}, .no_crossing = true};
  for (int size = 8; size <= 16; size *= 2) {
    cb_direct *d = solved(&o, ring(1.8, 1.8, .3, -1), size);
    check_relative(d->v->cost, .034983464790, .01 / (size * size));
    check_at_least(d->v->cost, .034936705669);
    cb_direct_free(d);
  }
  cb_bundle_free(b);
}

/* Computes the rate v of the shape at time t of the gait with the coefficients d->c. */
static void rate_at(const cb_direct *d, double t, double *v) {
  double phi[256], rate[256];
  const int f = d->basis->functions;
  cb_basis_at(d->basis, t, phi, rate);
  for (int i = 0; i < d->v->n; i++) {
    v[i] = 0;
    for (int a = 0; a < f; a++) v[i] += d->c[i * f + a] * rate[a];
  }
}

/* Checks the corner at t = 0. The speeds on both sides are equal, since the time of the corner is free. The jump of the
 * momentum is a combination of the gradients of the two terms whose maximum is the constraint, with negative factors.
 * Only the gait is used, so the accuracy is that of its polynomials at their ends. */
static void check_corner(const cb_direct *d, double *r) {
  const int n = d->v->n, f = d->basis->functions;
  double before[CB_SHAPE_MAX], after[CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX], jump[CB_SHAPE_MAX], speed[2] = {0};
  double gram[3] = {0}, right[2] = {0}, rest = 0, all = 0;
  double s[64];
  const cb_corner *at = &d->corner[0];
  assert_int_equal(d->corners, 1);
  assert_int_equal(at->vertex, 0);
  for (int i = 0; i < n; i++) r[i] = d->c[i * f];
  check_ok(cb_shape_constraints_at(d->barrier->constraints, 0, r, s, NULL, NULL));
  check_near(s[at->constraint], 0, 1e-12);
  rate_at(d, 0, after);
  rate_at(d, nextafter(1, 0), before);
  check_ok(cb_bundle_connection(d->problem->bundle, r, NULL, NULL, M, NULL));
  for (int i = 0; i < n; i++) {
    jump[i] = 0;
    for (int j = 0; j < n; j++) {
      jump[i] += M[i * n + j] * (after[j] - before[j]);
      speed[0] += before[i] * M[i * n + j] * before[j];
      speed[1] += after[i] * M[i * n + j] * after[j];
    }
    gram[0] += at->df[0][i] * at->df[0][i];
    gram[1] += at->df[0][i] * at->df[1][i];
    gram[2] += at->df[1][i] * at->df[1][i];
    right[0] += at->df[0][i] * jump[i];
    right[1] += at->df[1][i] * jump[i];
  }
  check_relative(speed[0], speed[1], 1e-6);
  check_relative(speed[0], d->v->cost, 1e-6);
  const double det = gram[0] * gram[2] - gram[1] * gram[1];
  const double x = (gram[2] * right[0] - gram[1] * right[1]) / det;
  const double y = (gram[0] * right[1] - gram[1] * right[0]) / det;
  for (int i = 0; i < n; i++) {
    rest = fmax(rest, fabs(jump[i] - x * at->df[0][i] - y * at->df[1][i]));
    all = fmax(all, fabs(jump[i]));
  }
  check_at_most(rest, 1e-5 * all);
  check_at_most(x, -1e-2 * all);
  check_at_most(y, -1e-2 * all);
}

/* The tips of the swimmer meet once, at the shape (2 pi/3, 2 pi/3). */
static void a_gait_turns_about_a_corner(void **state) {
  double r[CB_SHAPE_MAX];
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_TURN, .value = .1}, .no_crossing = true};
  cb_direct *d = solved(&o, ring(1.8, 1.8, .3, -1), 8), *sharp;
  check_ok(cb_direct_sharpen(d, 32, &sharp));
  assert_non_null(sharp);
  check_relative(sharp->v->cost, .034983464790, 2e-11); /* the round-off of the expected cost */
  check_corner(sharp, r);
  check_near(r[0], 2 * M_PI / 3, 1e-12);
  check_near(r[1], 2 * M_PI / 3, 1e-12);
  cb_direct_free(sharp);
  cb_direct_free(d);
  cb_bundle_free(b);
}

/* The tips of the first and the last of four links meet. The shapes at which they meet form a curve, and the search
 * finds the corner on this curve. */
static void a_corner_may_be_anywhere_on_an_edge(void **state) {
  const double mean[3] = {1.6, 1.6, 1.6}, cosine[3] = {.05, 0, -.05}, sine[3] = {.1, -.2, .1};
  double r[CB_SHAPE_MAX];
  cb_gait *start;
  cb_bundle *b = model("purcell", "links 4");
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_TURN, .value = .1}, .no_crossing = true};
  check_ok(cb_gait_fourier(3, 1, mean, cosine, sine, &start));
  cb_direct *d = solved(&o, start, 8), *sharp;
  check_ok(cb_direct_sharpen(d, 24, &sharp));
  assert_non_null(sharp);
  check_relative(sharp->v->cost, d->v->cost, 3e-3);
  check_corner(sharp, r);
  cb_direct_free(sharp);
  cb_direct_free(d);
  cb_bundle_free(b);
}

/* Where one variable is at its bound, the boundary of the allowed shapes is a straight line. A gait along this line has
 * no corner. */
static void a_gait_without_corners_stays(void **state) {
  const double lower[2] = {-.7, -.7}, upper[2] = {.7, .7};
  cb_bundle *b = model("purcell", "");
  const cb_optimum_problem o = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .03}, .lower = lower, .upper = upper, .no_crossing = true};
  cb_direct *d = solved(&o, ring(0, 0, .5, 1), 8), *sharp;
  check_ok(cb_direct_sharpen(d, 24, &sharp));
  assert_null(sharp);
  cb_direct_free(d);
  cb_bundle_free(b);
}

/* Finds gaits from one start, and checks the optimality of the best one. Frees `start`. */
static cb_optima *found(cb_optimum_problem *o, cb_gait *start) {
  cb_optima *all;
  o->start = start;
  check_ok(cb_optimum_find(o, &all));
  assert_int_equal(all->item[0].index, 0);
  assert_int_equal(all->item[0].flat, 0);
  check_relative(all->item[0].wong, all->item[0].cost, 1e-10); /* wong: the cost by Wong's equations on another mesh */
  cb_gait_free(start);
  return all;
}

/* On some arcs of the extremal a variable is constant at its bound. The gait never exceeds its bounds, and its cost
 * equals the value from shooting. */
static void bounds_are_met_exactly(void **state) {
  const double lower[2] = {-.7, -.7}, upper[2] = {.7, .7};
  cb_bundle *b = model("purcell", "");
  cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .03}, .lower = lower, .upper = upper};
  cb_optima *all = found(&o, ring(0, 0, .5, 1));
  const cb_optimum *best = &all->item[0];
  double maximum = 0;
  check_relative(best->cost, .134475538116, 1e-11);
  check_near(hypot(best->lambda[0], best->lambda[1]), 4.33272289, 5e-8);
  for (int k = 0; k < 1000; k++) {
    double r[2];
    cb_gait_at(best->gait, k / 1000., r, NULL);
    maximum = fmax(maximum, fmax(fabs(r[0]), fabs(r[1])));
  }
  check_near(maximum, .7, 1e-9); /* the error of the polynomials between nodes */
  cb_optima_free(all);
  cb_bundle_free(b);
}

static void tips_meet_exactly(void **state) {
  cb_bundle *b = model("purcell", "");
  cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_TURN, .value = .1}, .no_crossing = true};
  cb_optima *all = found(&o, ring(1.8, 1.8, .3, -1));
  check_relative(all->item[0].cost, .034983464790, 2e-11);
  cb_optima_free(all);
  cb_bundle_free(b);
}

static void what_no_cycle_does_is_said(void **state) {
  const double lower[2] = {-.8, -.8}, upper[2] = {.8, .8};
  cb_bundle *b = model("purcell", "");
  cb_gait *start = ring(0, 0, .5, 1);
  const cb_optimum_problem o = {
      .bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .05}, .lower = lower, .upper = upper, .start = start};
  cb_optima *all;
  assert_int_equal(cb_optimum_find(&o, &all), CB_STEP_NO_CONVERGENCE);
  assert_non_null(strstr(cb_error_text(), "one cycle reached at most about 0.043"));
  cb_gait_free(start);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_gait_keeps_to_its_bounds),
                                     cmocka_unit_test(a_target_beyond_the_bounds_is_told_their_most),
                                     cmocka_unit_test(walls_that_are_not_met_do_not_count),
                                     cmocka_unit_test(links_touch_and_do_not_cross),
                                     cmocka_unit_test(a_gait_turns_about_a_corner),
                                     cmocka_unit_test(a_corner_may_be_anywhere_on_an_edge),
                                     cmocka_unit_test(a_gait_without_corners_stays),
                                     cmocka_unit_test(bounds_are_met_exactly),
                                     cmocka_unit_test(tips_meet_exactly),
                                     cmocka_unit_test(what_no_cycle_does_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
