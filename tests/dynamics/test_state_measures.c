/* Tests of what can be computed from a state: plot coordinates by the user's indices, energies and Killing momenta. */
#include "check_geometry.h"

#include <curvebody/system.h>

/* Two springs, between particles 0 and 2 and between 1 and 3. There are two components, so the order in the state
 * differs from the indices. */
static const double mass[4] = {1, 2, 0.5, 3}, stiffness = 1.7, rest = 0.4,
                    x[4][3] = {{0, 0, 0}, {5, 1, 0}, {1, 0.5, 0}, {5, 2, 2}},
                    v[4][3] = {{0.1, 0.2, 0.3}, {-1, 0, 0.5}, {0, 0.7, 0}, {0.2, 0.2, -0.2}};

static double spring(int i, int j) {
  double square = 0;
  for (int a = 0; a < 3; a++) square += (x[i][a] - x[j][a]) * (x[i][a] - x[j][a]);
  return stiffness / 2 * (sqrt(square) - rest) * (sqrt(square) - rest);
}

typedef struct springs {
  cb_space *space;
  cb_system *system;
  cb_state *state;
} springs;

static springs make(void) {
  springs s;
  cb_builder *b;
  int index;
  check_ok(cb_space_create("e3", NULL, &s.space));
  check_ok(cb_builder_create(s.space, &b));
  check_ok(cb_builder_body(b, "all", &index));
  for (int i = 0; i < 4; i++) check_ok(cb_builder_particle(b, NULL, mass[i], 0, 0, x[i], v[i], &index));
  check_ok(cb_builder_spring(b, 0, 2, stiffness, rest, 0));
  check_ok(cb_builder_spring(b, 1, 3, stiffness, rest, 0));
  check_ok(cb_builder_finish(b, &s.system));
  check_ok(cb_state_create(s.system, &s.state));
  check_ok(cb_system_start(s.system, s.state));
  cb_builder_free(b);
  return s;
}

static void done(springs *s) {
  cb_state_free(s->state);
  cb_system_free(s->system);
  cb_space_free(s->space);
}

static void particles_are_counted_as_the_user_does(void **unused) {
  springs s = make();
  int moved = 0;
  for (int i = 0; i < 4; i++) {
    double at[3], rate[3];
    moved += cb_system_index(s.system, i) != i;
    assert_int_equal(cb_system_particle(s.system, cb_system_index(s.system, i)), i);
    check_ok(cb_state_plot(s.system, s.state, i, at, rate));
    check_at_most(check_distance_max(3, at, x[i]), 1e-15); /* for round-off of v = p/m, momentum over mass */
    check_at_most(check_distance_max(3, rate, v[i]), 1e-15);
    check_ok(cb_state_plot(s.system, s.state, i, at, NULL));
  }
  assert_true(moved > 0);
  double at[3] = {7, 7, 7};
  assert_int_equal(cb_state_plot(s.system, s.state, 4, at, NULL), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_state_plot(s.system, s.state, -1, at, NULL), CB_ERROR_ARGUMENT);
  assert_true(at[0] == 7);
  done(&s);
}

static void energies_and_momenta_are_those_of_the_closed_form(void **unused) {
  springs s = make();
  cb_forces *forces;
  double kinetic, potential, expected = 0, momentum[CB_KILLING_MAX], along = 0, about = 0;
  check_ok(cb_forces_create(s.system, &forces));
  check_ok(cb_forces_set_origins(forces, s.state->origin));
  check_ok(cb_forces_energy(forces, s.state, &kinetic, &potential));
  check_ok(cb_state_killing_momentum(s.system, s.state, momentum));
  for (int i = 0; i < 4; i++) {
    for (int a = 0; a < 3; a++) expected += mass[i] * v[i][a] * v[i][a] / 2;
    along += mass[i] * v[i][1];
    about += mass[i] * (x[i][0] * v[i][1] - x[i][1] * v[i][0]);
  }
  check_at_most(fabs(kinetic - expected), 1e-14); /* round-off of sums of size 10 */
  check_at_most(fabs(potential - spring(0, 2) - spring(1, 3)), 1e-14);
  check_at_most(fabs(momentum[cb_killing_find(s.space, "translation_y")] - along), 1e-14);
  check_at_most(fabs(momentum[cb_killing_find(s.space, "rotation_z")] - about), 1e-14);
  cb_forces_free(forces);
  done(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(particles_are_counted_as_the_user_does),
                                     cmocka_unit_test(energies_and_momenta_are_those_of_the_closed_form)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
