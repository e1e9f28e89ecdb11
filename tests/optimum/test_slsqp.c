/* Compares the direct search with sequential least squares of NLopt for the same functions; skipped if NLopt is not
 * installed. */
#include "slsqp.h"
#include "gaits.h"

#ifdef CB_NLOPT

typedef struct slsqp_case {
  const char *bundle;
  cb_gait_target target;
  /* centre, radius and direction (1: counter-clockwise) of the circle at which both searches begin */
  double x, y, radius, way;
} slsqp_case;

static const slsqp_case cases[] = {
    {"purcell", {.kind = CB_GAIT_MOVE, .value = .03}, 0, 0, .7, 1},
    {"purcell", {.kind = CB_GAIT_MOVE, .value = .03}, 1.3, -1.3, .5, 1},
    {"purcell", {.kind = CB_GAIT_TURN, .value = .3}, 1.2, 1.2, .5, -1},
    {"heisenberg", {.kind = CB_GAIT_ELEMENT, .element = {-.37}}, -.2, .1, .4, -1},
};

/* Both methods share the cost E, the holonomy and their gradients, but not second derivatives, steps and the stopping
 * test. SLSQP ends if a step changes E by less than a relative 1e-12. The minimum may then still be a hundred such
 * steps away. */
static void two_methods_end_at_one_gait(void **state) {
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const slsqp_case *c = &cases[k];
    cb_bundle *b;
    check_ok(cb_bundle_create(c->bundle, NULL, &b));
    const cb_optimum_problem p = {.bundle = b, .target = c->target};
    cb_gait *start = ring(c->x, c->y, c->radius, c->way);
    cb_direct *ours, *theirs;
    slsqp s;
    check_ok(cb_direct_create(&p, 8, &ours));
    check_ok(cb_direct_create(&p, 8, &theirs));
    check_ok(cb_direct_from(ours, start));
    check_ok(cb_direct_from(theirs, start));
    check_ok(cb_direct_solve(ours, 60));
    assert_true(slsqp_solve(&s, theirs, 1e-12, 1000));
    check_relative(theirs->v->cost, ours->v->cost, 1e-10);
    cb_direct_free(ours);
    cb_direct_free(theirs);
    cb_gait_free(start);
    cb_bundle_free(b);
  }
}

#else

static void two_methods_end_at_one_gait(void **state) { skip(); }

#endif

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(two_methods_end_at_one_gait)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
