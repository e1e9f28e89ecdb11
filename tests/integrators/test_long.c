/* Tests long runs of a rod with unequal masses in general position, with steps h = 0.1 to t = 40 000, in S3 and H3.
 * With a symplectic integrator the energy error does not grow, and momenta are constant to round-off. In H3, where the
 * rod moves away, the tested momenta are the invariants of the coadjoint action, which do not depend on the moving
 * origin. */
#include "long_run.h"

static void open_generic(body_case *c, const char *space) {
  static const double tangent[2][CB_DIM_MAX] = {{0.4, 0.1, -0.2}, {-0.3, 0.2, 0.1}},
                      speed[2][CB_DIM_MAX] = {{0.3, 0.5, 0.2}, {0.1, -0.4, 0.3}};
  open_space(c, space);
  for (int a = 0; a < 2; a++) {
    double x[CB_COORD_MAX], v[CB_COORD_MAX];
    check_point_at(c->g, tangent[a], x);
    check_vector_at(c->g, x, speed[a], v);
    add_particle(c, a ? 2.7 : 1, x, v);
  }
  check_ok(cb_builder_spring(c->builder, 0, 1, 1, 1, 0));
  finish_system(c);
}

static void run(const char *space, const char *method) {
  body_case c;
  open_generic(&c, space);
  const long_errors e = run_long(&c, method, NULL, NULL);
  print_message("%s in %s: energy error %.3g in the first half, %.3g in the last tenth (%.3f); momenta drift by %.2g\n",
                method, space, e.first_half / fabs(e.energy), e.last_tenth / fabs(e.energy),
                e.last_tenth / e.first_half, e.drift);
  check_at_most(e.last_tenth, 1.1 * e.first_half);
  check_at_most(e.drift, 1e-11);
  close_case(&c);
}

static void energy_errors_do_not_grow(void **unused) {
  check_numbers_alone();
  static const char *const methods[] = {"lobatto {stages: 2}", "lobatto {stages: 3}",
                                        "gauss {stages: 1, symmetric: true}", "gauss {stages: 2, symmetric: true}"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    run("s3", methods[i]);
    run("h3", methods[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(energy_errors_do_not_grow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
