/* Tests of extremals of swimmers with many links against known costs and the gaits of the direct search. */
#include "extremals.h"
#include "optimum/direct.h"

/* Runs the direct search from a travelling wave with an amplitude of half a radian, and finds the extremal near its
 * gait. */
static cb_extremal *swum(const cb_optimum_problem *o, cb_direct **d) {
  const int n = o->bundle->n;
  double mean[CB_SHAPE_MAX] = {0}, cosine[CB_SHAPE_MAX], sine[CB_SHAPE_MAX];
  for (int i = 0; i < n; i++) {
    cosine[i] = .5 * cos(2 * M_PI * i / (n + 1));
    sine[i] = .5 * sin(2 * M_PI * i / (n + 1));
  }
  cb_gait *wave, *gait;
  cb_extremal *e;
  check_ok(cb_gait_fourier(n, 1, mean, cosine, sine, &wave));
  check_ok(cb_direct_create(o, 8, d));
  check_ok(cb_direct_from(*d, wave));
  check_ok(cb_direct_solve(*d, 200));
  check_ok(cb_basis_gait((*d)->basis, n, (*d)->c, &gait));
  check_ok(cb_extremal_solve(o, gait, (*d)->lambda, (*d)->amount, &e));
  cb_gait_free(wave);
  cb_gait_free(gait);
  return e;
}

/* Both swimmers have length 1 and move by X = .05. The cost of the direct search in 8 harmonics is about 1e-8
 * larger. */
static void four_and_ten_links_move_at_the_least_cost_of_the_table(void **state) {
  const double cost[2] = {.124188165080, .055857469620};
  for (int k = 0; k < 2; k++) {
    cb_bundle *b = model("purcell", k ? "links 10" : "links 4");
    const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .05}};
    cb_direct *d;
    cb_extremal *e = swum(&o, &d);
    check_relative(e->cost, cost[k], 2e-11);
    check_at_most(e->cost, d->v->cost);
    check_relative(d->v->cost, e->cost, 1e-7);
    for (int a = 0; a < 3; a++) check_near(e->lambda[a], d->lambda[a], 1e-4 * fabs(e->nu[0]));
    cb_direct_free(d);
    cb_extremal_free(e);
    cb_bundle_free(b);
  }
}

/* Checks the maximum of the efficiency X^2/E, with displacement X and cost E, of four links with total length 1 and
 * drag 1. */
static void four_links_are_most_efficient_as_the_table_has_it(void **state) {
  cb_bundle *b = model("purcell", "links 4");
  cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .1}};
  cb_direct *d;
  cb_extremal *e = swum(&o, &d), *best;
  cb_gait *gait;
  check_ok(cb_extremal_gait(e, &gait));
  o.objective = CB_OBJECTIVE_EFFICIENCY;
  check_ok(cb_extremal_solve(&o, gait, e->lambda, .1, &best));
  check_relative(best->amount * best->amount / best->cost, .030178181241, 2e-11);
  cb_gait_free(gait);
  cb_direct_free(d);
  cb_extremal_free(e);
  cb_extremal_free(best);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(four_and_ten_links_move_at_the_least_cost_of_the_table),
      cmocka_unit_test(four_links_are_most_efficient_as_the_table_has_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
