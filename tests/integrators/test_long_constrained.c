/* Tests long runs of a rigid triangle of unequal masses, with steps h = 0.1 to t = 40 000, in S3 and H3. With a
 * symplectic integrator the energy error does not grow, momenta are constant to round-off, and the rods keep their
 * lengths. In H3, where the body moves away, the tested momenta are the invariants of the coadjoint action. */
#include "constrained.h"
#include "long_run.h"

typedef struct off_rows {
  double position, rate; /* maximum errors of the constraints and their rates */
} off_rows;

static void watch_rows(body_case *c, int step, void *self) {
  off_rows *off = self;
  double g, rate;
  if (step % 97) return;
  constrained_residuals(c, c->state, &g, &rate);
  off->position = fmax(off->position, g);
  off->rate = fmax(off->rate, rate);
}

/* Makes a run and checks it. With `potential` the energy is checked. Without it, a spring replaces one rod, and the
 * momenta are checked. */
static void run(const char *space, const char *method, bool potential, uint64_t seed) {
  body_case c;
  off_rows off = {0};
  open_frame(&c, space, 3, !potential, potential, &seed);
  const long_errors e = run_long(&c, method, watch_rows, &off);
  print_message(
      "%s in %s%s: energy error %.3g in the first half, %.3g in the last tenth (%.3f); momenta drift by %.2g; |d "
      "- D| %.2g, |d'| %.2g\n",
      method, space, potential ? " under a potential" : "", e.first_half / fabs(e.energy),
      e.last_tenth / fabs(e.energy), e.last_tenth / e.first_half, e.drift, off.position, off.rate);
  if (potential)
    check_at_most(e.last_tenth, 1.1 * e.first_half);
  else
    check_at_most(e.drift, 1e-11);
  check_at_most(off.position, 1e-13);
  check_at_most(off.rate, 1e-13);
  close_case(&c);
}

static void errors_do_not_grow(void **unused) {
  check_numbers_alone();
  static const char *const methods[] = {"lobatto {stages: 2}", "lobatto {stages: 3}"};
  const uint64_t seed = check_seed();
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    for (int potential = 0; potential < 2; potential++) {
      run("s3", methods[i], potential, seed);
      run("h3", methods[i], potential, seed);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(errors_do_not_grow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
