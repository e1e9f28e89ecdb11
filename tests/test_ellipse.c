/* Small ellipses against closed forms and limits of families of optimal gaits.
 * labels: short */
#include "check.h"
#include "models.h"
#include "optimum/ellipse.h"
#include <curvebody/holonomy.h>

static const cb_ellipse *cheapest(const char *name, const char *text, cb_gait_target_kind kind, int *count) {
  static cb_ellipse e[CB_ELLIPSES_MAX];
  cb_bundle *b = model(name, text);
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = kind, .value = .01}};
  *count = cb_ellipses_find(&o, e);
  cb_bundle_free(b);
  return e;
}

/* By the eigenvalue of the plane, and by extrapolation of families to nothing; the simplex leaves the square of 1e-6. */
static void chains_move_and_turn_as_the_limits_of_their_families(void **state) {
  (void)state;
  int count;
  const cb_ellipse *e = cheapest("purcell", "", CB_GAIT_MOVE, &count);
  assert_int_equal(count, 2);
  check_relative(4 * M_PI / e[0].mu, 4 * M_PI / sqrt(15), 1e-10);
  check_relative(4 * M_PI / e[1].mu, 3.531640892956, 1e-10);
  check_near(fabs(e[1].r[0]), 1.734617838, 1e-4);
  check_near(e[1].r[0] + e[1].r[1], 0, 1e-4);
  e = cheapest("purcell", "", CB_GAIT_TURN, &count);
  check_relative(4 * M_PI / e[0].mu, .341888564645, 1e-10);
  check_near(fabs(e[0].r[0]), 1.97760319, 1e-4);
  e = cheapest("purcell", "links 4", CB_GAIT_MOVE, &count);
  check_relative(4 * M_PI / e[0].mu, 1.900632585545, 1e-10);
  e = cheapest("purcell", "links 5", CB_GAIT_MOVE, &count);
  check_relative(4 * M_PI / e[0].mu, 1.509536131759, 1e-10);
}

/* 4 pi sqrt(det M)/|F| at a base, printed beside the model. */
static void spheres_enclose_their_curvature(void **state) {
  (void)state;
  const double base[2] = {5, 4 * M_PI / 3}, lambda = 1;
  cb_bundle *b = model("pmpy", "");
  cb_ellipse e;
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = .1}, .base = base};
  check_ok(cb_ellipse_at(&o, base, &lambda, &e));
  check_relative(4 * M_PI / e.mu, 749.6277440557, 1e-12);
  cb_bundle_free(b);
}

/* To second order in its size, as the error of the small loop has it. */
static void an_ellipse_does_what_is_asked(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    const double amount = k ? 1e-6 : 1e-4;
    cb_bundle *b = model("purcell", "links 4");
    const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = amount}};
    cb_ellipse e[CB_ELLIPSES_MAX];
    cb_gait *gait;
    double g[CB_GROUP_SIZE], cost;
    assert_true(cb_ellipses_find(&o, e) > 0);
    check_ok(cb_ellipse_gait(&o, &e[0], &gait));
    check_ok(cb_holonomy(b, gait, 0, g, NULL, &cost));
    check_relative(hypot(g[0], g[1]), amount, k ? 1e-4 : 1e-2);
    check_relative(cost / amount, 4 * M_PI / e[0].mu, k ? 1e-4 : 1e-2);
    cb_gait_free(gait);
    cb_bundle_free(b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chains_move_and_turn_as_the_limits_of_their_families),
                                     cmocka_unit_test(spheres_enclose_their_curvature),
                                     cmocka_unit_test(an_ellipse_does_what_is_asked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
