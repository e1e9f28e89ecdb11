/* Long runs: a generic rod, unequal masses, h = 0.1, to t = 40 000 in S3 and H3. A symplectic method's energy error
 * does not grow, and isometry momenta stay at round-off (in H3, where the rod flies off, the invariants of the
 * coadjoint action: they are the same in the frame of the moving origin).
 * labels: long
 * timeout: 600 */
#include "integrate.h"

enum { TENTHS = 10 };

static void open_generic(body_case *c, const char *space) {
  static const double tangent[2][CB_DIM_MAX] = {{0.4, 0.1, -0.2}, {-0.3, 0.2, 0.1}},
                      speed[2][CB_DIM_MAX] = {{0.3, 0.5, 0.2}, {0.1, -0.4, 0.3}};
  open_space(c, space);
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], x[2][CB_COORD_MAX];
  cb_geometry_base_point(c->g, base);
  cb_geometry_frame(c->g, base, frame);
  for (int a = 0; a < 2; a++) {
    double v[CB_COORD_MAX] = {0}, u[CB_COORD_MAX] = {0}, own[CB_DIM_MAX * CB_COORD_MAX];
    for (int i = 0; i < 3; i++)
      for (int e = 0; e < 4; e++) v[e] += tangent[a][i] * frame[4 * i + e];
    cb_exp(c->g, base, v, x[a], NULL);
    cb_geometry_frame(c->g, x[a], own);
    for (int i = 0; i < 3; i++)
      for (int e = 0; e < 4; e++) u[e] += speed[a][i] * own[4 * i + e];
    add_particle(c, a ? 2.7 : 1, x[a], u);
  }
  check_ok(cb_builder_spring(c->builder, 0, 1, 1, 1, 0));
  finish_system(c);
}

static void momenta(const body_case *c, double *j) {
  for (int i = 0; i < 6; i++) j[i] = 0;
  for (int a = 0; a < 2; a++) cb_killing_momentum_add(c->g, c->state->x + 4 * a, c->state->p + 4 * a, j);
}

static void run(const char *space, const char *method) {
  body_case c;
  open_generic(&c, space);
  use_method(&c, method);
  check_ok(cb_forces_set_origins(c.integrator->forces, c.state->origin));
  const double start = energy(&c), h = 0.1;
  const int steps = 400000;
  double worst[TENTHS] = {0}, before[6], after[6], size = 0, casimir_before[2], casimir_after[2];
  momenta(&c, before);
  cb_killing_casimirs(c.g, before, casimir_before);
  for (int i = 0; i < steps; i++) {
    check_ok(cb_integrator_step(c.integrator, c.state, h));
    recentre(&c);
    const double error = fabs(energy(&c) - start);
    const int tenth = (int)((long)i * TENTHS / steps);
    worst[tenth] = fmax(worst[tenth], error);
  }
  double first_half = 0;
  for (int i = 0; i < TENTHS / 2; i++) first_half = fmax(first_half, worst[i]);
  momenta(&c, after);
  cb_killing_casimirs(c.g, after, casimir_after);
  double drift = 0;
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
  print_message("%s in %s: energy error %.3g in the first half, %.3g in the last tenth (%.3f); momenta drift by %.2g\n",
                method, space, first_half / fabs(start), worst[TENTHS - 1] / fabs(start),
                worst[TENTHS - 1] / first_half, drift);
  check_at_most(worst[TENTHS - 1], 1.1 * first_half);
  check_at_most(drift, 1e-11);
  close_case(&c);
}

static void energy_errors_do_not_grow(void **unused) {
  (void)unused;
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
