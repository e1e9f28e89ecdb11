/* Tests of families of gaits of stationary cost. A family is followed from gait to gait while the amount of its target
 * changes. E is the cost of a gait, X the amount, and lambda the multiplier. */
#include "gaits.h"
#include "optimum/direct.h"
#include "optimum/family.h"

static cb_bundle *bundle(const char *name) {
  cb_bundle *b;
  check_ok(cb_bundle_create(name, NULL, &b));
  return b;
}

static cb_optimum_problem moving(const cb_bundle *b) {
  return (cb_optimum_problem){.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .01}};
}

/* Follows the family that starts from a circle around the shape (z, -z). */
static cb_family *followed(const cb_optimum_problem *p, double z, double from, double to, int members) {
  cb_gait *start = circle(z, -z, sqrt(8 * from));
  const cb_family_range range = {from, to, members};
  cb_family *f;
  check_ok(cb_family_follow(p, 1, (const cb_gait *const[]){start}, &range, NULL, &f));
  cb_gait_free(start);
  return f;
}

static const cb_family_event *the_event(const cb_family *f, cb_family_event_kind kind) {
  for (int k = 0; k < f->events; k++)
    if (f->event[k].kind == kind) return &f->event[k];
  fail_msg("no event is called %s", cb_family_event_names[kind]);
  return NULL;
}

/* Returns the cost of a direct search that starts from a gait of a family, in 32 harmonics or on an arc of degree
 * 32. */
static double cost(const cb_optimum_problem *p, const cb_gait *start, double amount) {
  cb_optimum_problem at = *p;
  cb_direct *d;
  at.target.value = amount;
  check_ok(cb_direct_create(&at, p->start_shape ? 16 : 32, &d));
  check_ok(cb_direct_from(d, start));
  check_ok(cb_direct_solve(d, 60));
  const double E = d->v->cost;
  cb_direct_free(d);
  return E;
}

/* Returns the gait of that member of a branch whose amount is nearest to `amount`. */
static const cb_gait *gait_near(const cb_family *f, int branch, double amount) {
  int best = -1;
  for (int m = 0; m < f->members; m++)
    if (f->member[m].branch == branch &&
        (best < 0 || fabs(f->member[m].amount - amount) < fabs(f->member[best].amount - amount)))
      best = m;
  return f->member[best].gait;
}

/* The expected costs and multipliers were computed by shooting with Wong's equations at high accuracy. The costs of the
 * family agree with them to 10 digits, and the multipliers to 2e-9. */
static void a_family_passes_what_shooting_finds(void **state) {
  static const double table[][3] = {{.001, .003274173125, 1.651904897},
                                    {.01, .035480647743, 1.930215772},
                                    {.03, .126266414425, 2.627947737},
                                    {.05, .247785398952, 3.488942249}};
  cb_bundle *b = bundle("purcell");
  const cb_optimum_problem p = moving(b);
  cb_family *f = followed(&p, 0, .001, .05, 50);
  assert_int_equal(f->members, 50);
  for (int k = 0; k < 4; k++) {
    const cb_family_member *m = &f->member[(int)round(table[k][0] / .001) - 1];
    check_near(m->amount, table[k][0], 1e-15);
    check_near(m->cost, table[k][1], 1e-10 * table[k][1] + 5e-13);
    check_near(m->multiplier, table[k][2], 2e-9);
    assert_int_equal(m->index, 0);
    assert_int_equal(m->flat, 0);
  }
  cb_family_free(f);
  cb_bundle_free(b);
}

/* The family ends at its maximum distance, where the multiplier is above 1000. The most efficient gait is compared with
 * the result of the search for it. At the event CB_FAMILY_CYCLES one cycle costs as much as two cycles of half its
 * distance, each in half the time. */
static void a_family_ends_at_its_greatest_distance(void **state) {
  cb_bundle *b = bundle("purcell");
  cb_optimum_problem p = moving(b);
  cb_family *f = followed(&p, 0, .001, INFINITY, 40);
  const cb_family_event *end = the_event(f, CB_FAMILY_FARTHEST), *best = the_event(f, CB_FAMILY_EFFICIENT);
  check_near(end->amount, .1035322400154, 1e-9);
  check_at_least(f->member[f->members - 1].multiplier, 1e3);
  for (int k = 1; k < f->members; k++) check_at_least(f->member[k].amount, f->member[k - 1].amount);

  p.objective = CB_OBJECTIVE_EFFICIENCY;
  cb_direct *d;
  check_ok(cb_direct_create(&p, 32, &d));
  check_ok(cb_direct_from(d, gait_near(f, 0, best->amount)));
  check_ok(cb_direct_solve(d, 60));
  check_near(best->amount, d->amount, 1e-8 * d->amount);
  check_relative(best->amount * best->amount / best->cost, d->amount * d->amount / d->v->cost, 2e-11);
  cb_direct_free(d);

  p.objective = CB_OBJECTIVE_COST;
  const double X = the_event(f, CB_FAMILY_CYCLES)->amount;
  check_relative(4 * cost(&p, gait_near(f, 0, X / 2), X / 2), cost(&p, gait_near(f, 0, X), X), 1e-9);
  cb_family_free(f);
  cb_bundle_free(b);
}

/* The branch around the shape (z, -z) becomes cheaper at an amount at which direct searches find equal costs of both
 * branches. */
static void the_cheaper_of_two_branches_is_marked(void **state) {
  cb_bundle *b = bundle("purcell");
  const cb_optimum_problem p = moving(b);
  const double z = 1.734617838;
  cb_gait *start[2] = {circle(0, 0, .3), circle(z, -z, .3)};
  const cb_family_range range = {.01, .05, 5};
  cb_family *f;
  check_ok(cb_family_follow(&p, 2, (const cb_gait *const *)start, &range, NULL, &f));
  assert_int_equal(f->branches, 2);
  assert_int_equal(f->members, 10);
  for (int m = 0; m < 10; m++) assert_int_equal(f->member[m].cheapest, (m < 5) == (m % 5 == 0));
  check_relative(f->member[7].cost, .118182747176, 1e-11);
  check_relative(f->member[9].cost, .215749966581, 1e-11);
  const double X = the_event(f, CB_FAMILY_CHEAPER)->amount;
  check_relative(cost(&p, gait_near(f, 1, X), X), cost(&p, gait_near(f, 0, X), X), 1e-10);
  cb_family_free(f);
  for (int k = 0; k < 2; k++) cb_gait_free(start[k]);
  cb_bundle_free(b);
}

/* At the event CB_FAMILY_BOUND the gait touches its lower bound -.7. The minimum of the first variable of the gait with
 * this amount is computed from 4096 samples; it is too large by at most 1e-6. */
static void a_bound_is_met_where_a_gait_touches_it(void **state) {
  cb_bundle *b = bundle("purcell");
  const double lower[2] = {-.7, -INFINITY}, upper[2] = {INFINITY, INFINITY};
  cb_optimum_problem p = moving(b);
  p.lower = lower;
  p.upper = upper;
  cb_family *f = followed(&p, 0, .005, .05, 4);
  const cb_family_event *e = the_event(f, CB_FAMILY_BOUND);
  assert_int_equal(e->other, 0);
  p.target.value = e->amount;
  cb_direct *d;
  check_ok(cb_direct_create(&p, 32, &d));
  check_ok(cb_direct_from(d, gait_near(f, 0, e->amount)));
  check_ok(cb_direct_solve(d, 60));
  double least = INFINITY;
  for (int k = 0; k < 4096; k++) {
    double phi[65], r = 0;
    cb_basis_at(d->basis, k / 4096., phi, NULL);
    for (int a = 0; a < d->basis->functions; a++) r += phi[a] * d->c[a];
    least = fmin(least, r);
  }
  check_near(least, -.7, 2e-6);
  cb_direct_free(d);
  cb_family_free(f);
  cb_bundle_free(b);
}

/* The expected E at X = .03 was computed by shooting. dE/dX = 2 lambda is compared with the trapezoidal rule over the
 * step h between members, whose error is h^2/12 times the change of 2 dlambda/dX. At X = .028 a search finds the cost
 * of the family. */
static void a_family_goes_on_along_its_bounds(void **state) {
  check_numbers_alone();
  cb_bundle *b = bundle("purcell");
  const double lower[2] = {-.7, -.7}, upper[2] = {.7, .7};
  cb_optimum_problem p = moving(b);
  p.lower = lower;
  p.upper = upper;
  cb_family *f = followed(&p, 0, .01, .0305, 42);
  const double met = the_event(f, CB_FAMILY_BOUND)->amount;
  int held = 0;
  for (int m = 1; m < f->members; m++) {
    const cb_family_member *one = &f->member[m], *last = one - 1;
    check_relative(one->cost - last->cost, (one->amount - last->amount) * (one->multiplier + last->multiplier), 2e-3);
    assert_int_equal(one->index, 0);
    if (one->amount < met * (1 + 1e-6)) continue;
    held++;
    for (int k = 0; k < 256; k++) {
      double r[2];
      cb_gait_at(one->gait, k / 256., r, NULL);
      for (int i = 0; i < 2; i++) check_at_most(fabs(r[i]), .7 + 1e-9);
    }
    if (fabs(one->amount - .03) > 1e-12) continue;
    check_relative(one->cost, .134475538116, 1e-11);
    check_near(one->multiplier, 4.33272289, 1e-8);
  }
  check_at_least(held, 13);
  cb_family_free(f);

  f = followed(&p, 0, .02, INFINITY, 6);
  const cb_family_member *last = &f->member[f->members - 1];
  p.target.value = last->amount;
  cb_optima *all;
  assert_int_equal(last->index, 0);
  check_at_least(last->amount, .0345);
  check_at_least(last->multiplier * last->amount, 4 * last->cost);
  p.target.value = .028;
  p.start = gait_near(f, 0, .028);
  check_ok(cb_optimum_find(&p, &all));
  p.start = all->item[0].gait;
  cb_family *one = followed(&p, 0, .02, .028, 3);
  check_relative(one->member[one->members - 1].cost, all->item[0].cost, 1e-9);
  cb_family_free(one);
  cb_optima_free(all);
  cb_family_free(f);
  cb_bundle_free(b);
}

/* Beyond a certain amount the branch around (z, -z) is not a minimum. There a branch of less symmetric gaits bifurcates
 * from it. Along this branch the amount first decreases. After its turning point the branch is a minimum and
 * cheaper. */
static void a_branch_leaves_another_where_an_eigenvalue_passes_zero(void **state) {
  cb_bundle *b = bundle("purcell");
  const cb_optimum_problem p = moving(b);
  cb_family *f = followed(&p, 1.734617838, .06, .1235, 8);
  const cb_family_event *e = the_event(f, CB_FAMILY_BIFURCATION);
  assert_int_equal(f->branches, 2);
  check_near(e->amount, .122976554, 1e-8 * e->amount);
  for (int m = 0; m < f->members; m++) {
    const cb_family_member *one = &f->member[m];
    if (one->branch == 0) assert_int_equal(one->index, one->amount > e->amount);
  }
  const cb_family_event *turning = the_event(f, CB_FAMILY_TURNING), *cheaper = the_event(f, CB_FAMILY_CHEAPER);
  assert_int_equal(turning->branch, 1);
  check_at_most(turning->amount, cheaper->amount);
  check_at_most(cheaper->amount, e->amount);
  const cb_family_member *last = &f->member[f->members - 1];
  assert_int_equal(last->branch, 1);
  assert_int_equal(last->index, 0);
  assert_true(last->cheapest);
  check_relative(cost(&p, last->gait, last->amount), last->cost, 1e-8);
  cb_family_free(f);
  cb_bundle_free(b);
}

/* Towards the turning point of the branch around (z, -z) the gaits develop sharp corners. 44 harmonics do not resolve
 * the gaits after this point: with 80 harmonics, their costs change by 1e-5. */
static void a_branch_ends_where_its_gaits_are_not_resolved(void **state) {
  cb_bundle *b = bundle("purcell");
  const cb_optimum_problem p = moving(b);
  cb_family *f = followed(&p, 1.734617838, .06, INFINITY, 4);
  const cb_family_event *end = the_event(f, CB_FAMILY_UNRESOLVED);
  assert_int_equal(end->branch, 0);
  check_at_least(end->amount, .32);
  check_at_most(end->amount, .3338);
  for (int m = 0; m < f->members; m++) check_at_most(f->member[m].tail, 2e-3);
  cb_family_free(f);
  cb_bundle_free(b);
}

/* Dido's problem in closed form: E = 4 pi z for the area z, and lambda = 2 pi. Shifts of the loop have no effect. */
static void heisenbergs_circles_are_one_family(void **state) {
  cb_bundle *b = bundle("heisenberg");
  const cb_optimum_problem p = {.bundle = b, .target = {.kind = CB_GAIT_ELEMENT, .element = {.1}}};
  cb_family *f = followed(&p, .2, .1, 1, 10);
  assert_int_equal(f->members, 10);
  assert_int_equal(f->events, 0);
  for (int m = 0; m < 10; m++) {
    check_relative(f->member[m].cost, 4 * M_PI * f->member[m].amount, 1e-12);
    check_relative(f->member[m].multiplier, 2 * M_PI, 1e-11);
    assert_int_equal(f->member[m].flat, 2);
    assert_int_equal(f->member[m].index, 0);
  }
  cb_family_free(f);
  cb_bundle_free(b);
}

/* If the start shape is given, every gait of the family is an arc that starts and ends at this shape, with a corner
 * there. Its cost is the one that the search finds for the same amount. */
static void a_family_of_a_fixed_base_has_corners(void **state) {
  cb_bundle *b = bundle("purcell");
  const double start_shape[2] = {.5, -.3};
  cb_optimum_problem p = moving(b);
  p.start_shape = start_shape;
  cb_family *f = followed(&p, 0, .01, .02, 5);
  assert_int_equal(f->members, 5);
  for (int m = 0; m < 5; m += 2) {
    double r[2];
    cb_gait_at(f->member[m].gait, 0, r, NULL);
    check_near(r[0], .5, 1e-12);
    check_relative(cost(&p, f->member[m].gait, f->member[m].amount), f->member[m].cost, 1e-10);
  }
  cb_family_free(f);
  cb_bundle_free(b);
}

static void a_family_needs_an_amount_and_a_way_to_go(void **state) {
  cb_bundle *b = bundle("purcell");
  cb_gait *start = circle(0, 0, .3);
  cb_family *f;
  cb_optimum_problem p = moving(b);
  assert_int_equal(cb_family_follow(&p, 1, (const cb_gait *const[]){start}, &(cb_family_range){.01, .01, 3}, NULL, &f),
                   CB_ERROR_ARGUMENT);
  p.target = (cb_gait_target){.kind = CB_GAIT_ELEMENT, .element = {.01, 0, .1}};
  assert_int_equal(cb_family_follow(&p, 1, (const cb_gait *const[]){start}, &(cb_family_range){.01, .02, 3}, NULL, &f),
                   CB_ERROR_ARGUMENT);
  cb_gait_free(start);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_family_passes_what_shooting_finds),
                                     cmocka_unit_test(a_family_ends_at_its_greatest_distance),
                                     cmocka_unit_test(the_cheaper_of_two_branches_is_marked),
                                     cmocka_unit_test(a_bound_is_met_where_a_gait_touches_it),
                                     cmocka_unit_test(a_family_goes_on_along_its_bounds),
                                     cmocka_unit_test(a_branch_leaves_another_where_an_eigenvalue_passes_zero),
                                     cmocka_unit_test(a_branch_ends_where_its_gaits_are_not_resolved),
                                     cmocka_unit_test(heisenbergs_circles_are_one_family),
                                     cmocka_unit_test(a_family_of_a_fixed_base_has_corners),
                                     cmocka_unit_test(a_family_needs_an_amount_and_a_way_to_go)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
