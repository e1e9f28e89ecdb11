/* Long runs of a rigid triangle of unequal masses, h = 0.1, to t = 40 000 in S3 and H3. A symplectic method's energy
 * error does not grow, isometry momenta stay at round-off (in H3, where the body flies off, the invariants of the
 * coadjoint action), and the rods keep their lengths.
 * labels: long
 * timeout: 600 */
#include "constrained.h"

enum { TENTHS = 10, PARTICLES = 3 };

static void momenta(const body_case *c, double *j) {
  for (int i = 0; i < 6; i++) j[i] = 0;
  for (int a = 0; a < PARTICLES; a++) cb_killing_momentum_add(c->g, c->state->x + 4 * a, c->state->p + 4 * a, j);
}

/* Under a potential the energy is told of; free, with a spring in place of one rod, the momenta. */
static void run(const char *space, const char *method, bool potential, uint64_t seed) {
  body_case c;
  open_frame(&c, space, PARTICLES, !potential, potential, &seed);
  use_method(&c, method);
  check_ok(cb_forces_set_origins(c.integrator->forces, c.state->origin));
  const double start = energy(&c), h = 0.1;
  const int steps = 400000;
  double worst[TENTHS] = {0}, before[6], after[6], size = 0, casimir_before[2], casimir_after[2], off = 0, slip = 0;
  momenta(&c, before);
  cb_killing_casimirs(c.g, before, casimir_before);
  for (int i = 0; i < steps; i++) {
    check_ok(cb_integrator_step(c.integrator, c.state, h));
    recentre(&c);
    check_ok(cb_forces_set_origins(c.forces, c.state->origin));
    const double error = fabs(energy(&c) - start);
    const int tenth = (int)((long)i * TENTHS / steps);
    worst[tenth] = fmax(worst[tenth], error);
    if (i % 97 == 0) {
      double g, rate;
      constrained_residuals(&c, c.state, &g, &rate);
      off = fmax(off, g);
      slip = fmax(slip, rate);
    }
  }
  double first_half = 0, drift = 0;
  for (int i = 0; i < TENTHS / 2; i++) first_half = fmax(first_half, worst[i]);
  momenta(&c, after);
  cb_killing_casimirs(c.g, after, casimir_after);
  if (cb_origin_moves(c.g)) {
    for (int i = 0; i < 2; i++)
      drift = fmax(drift,
                   fabs(casimir_after[i] - casimir_before[i]) / fmax(fabs(casimir_before[0]), fabs(casimir_before[1])));
  } else {
    for (int i = 0; i < 6; i++) {
      drift = fmax(drift, fabs(after[i] - before[i]));
      size = fmax(size, fabs(before[i]));
    }
    drift /= size;
  }
  print_message(
      "%s in %s%s: energy error %.3g in the first half, %.3g in the last tenth (%.3f); momenta drift by %.2g; |d "
      "- D| %.2g, |d'| %.2g\n",
      method, space, potential ? " under a potential" : "", first_half / fabs(start), worst[TENTHS - 1] / fabs(start),
      worst[TENTHS - 1] / first_half, drift, off, slip);
  if (potential)
    check_at_most(worst[TENTHS - 1], 1.1 * first_half);
  else
    check_at_most(drift, 1e-11);
  check_at_most(off, 1e-13);
  check_at_most(slip, 1e-13);
  close_case(&c);
}

static void errors_do_not_grow(void **unused) {
  (void)unused;
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
