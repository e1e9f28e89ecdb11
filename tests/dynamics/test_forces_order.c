/* Tests that forces do not depend on the numbers of threads and stages, or on the order of the particles in the state.
 */
#include "force_cases.h"
#include <curvebody/pair_potential.h>

static void stages_and_threads_give_the_same_bytes(void **state) {
  enum { MANY = 400 };
  uint64_t seed = check_seed();
  cb_space *g = check_space("{name: s3}");
  cb_builder *b;
  cb_system *s;
  cb_forces *one, *two;
  static double x[MANY * K], y[MANY * K], f1[MANY * K], f2[MANY * K], f3[MANY * K];
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  for (int i = 0; i < MANY; i++) {
    double v[K];
    check_random_point(g, &seed, 1, x + i * K);
    check_random_tangent(g, &seed, x + i * K, 1, v);
    check_ok(cb_builder_particle(b, NULL, check_uniform(&seed, 1, 2), 1, 0, x + i * K, v, NULL));
    if (i > 0) check_ok(cb_builder_spring(b, i, (int)check_uniform(&seed, 0, i), 1, -1, 0));
  }
  check_ok(cb_builder_interaction(b, -1, -1, "gravity", &(cb_pair_parameters){1e-3, 0, NULL}));
  check_ok(cb_builder_interaction(b, -1, -1, "lennard_jones", &(cb_pair_parameters){1e-6, 0.01, NULL}));
  check_ok(cb_builder_finish(b, &s));
  check_ok(cb_forces_create(s, &one));
  check_ok(cb_forces_create(s, &two));
  check_ok(cb_forces_set_threads(two, 2));
  for (int i = 0; i < MANY * K; i++) y[i] = x[i] + check_uniform(&seed, -1e-3, 1e-3);
  check_ok(cb_forces_eval(one, 0, x, NULL, f1));
  check_ok(cb_forces_eval(two, 0, x, NULL, f2));
  assert_memory_equal(f1, f2, sizeof f1);
  check_ok(cb_forces_eval_stages(two, 2, (double[]){0, 0}, (const double *[]){y, x}, NULL, (double *[]){f3, f2}));
  assert_memory_equal(f1, f2, sizeof f1);
  check_ok(cb_forces_eval(one, 0, y, NULL, f1));
  assert_memory_equal(f1, f3, sizeof f1);
  cb_forces_free(one);
  cb_forces_free(two);
  cb_system_free(s);
  cb_builder_free(b);
  cb_space_free(g);
}

/* In chains whose particles are numbered at random, the order in the state differs from the numbers. Results for a
 * particle number do not change. */
static void particles_keep_their_numbers_when_they_are_reordered(void **state) {
  enum { MANY = 300 };
  uint64_t seed = check_seed();
  cb_space *g = check_space("{name: h3}");
  cb_builder *b;
  cb_system *s;
  cb_forces *f;
  cb_state *start;
  int number[MANY], ends[MANY][2];
  static double x[MANY][K], force[MANY * K], d[MANY], expected[MANY][K];
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "chain", NULL));
  for (int i = 0; i < MANY; i++) number[i] = i;
  for (int i = MANY - 1; i > 0; i--) {
    int j = (int)check_uniform(&seed, 0, i + 1), old = number[i];
    number[i] = number[j];
    number[j] = old;
  }
  for (int i = 0; i < MANY; i++) {
    check_random_point(g, &seed, 1, x[i]);
    check_ok(cb_builder_particle(b, NULL, 1 + i, 2 * i, 0, x[i], NULL, NULL));
  }
  for (int e = 0; e + 2 < MANY; e++) { /* two interleaved chains */
    ends[e][0] = number[e];
    ends[e][1] = number[e + 2];
    check_ok(cb_builder_spring(b, ends[e][0], ends[e][1], 1 + e, 0.1, 0));
  }
  check_ok(cb_builder_finish(b, &s));
  check_ok(cb_forces_create(s, &f));
  check_ok(cb_state_create(s, &start));
  check_ok(cb_system_start(s, start));
  assert_int_equal(cb_system_components(s), 2);
  const int *first = cb_system_component_starts(s);
  assert_int_equal(first[0], 0);
  assert_int_equal(first[2], MANY);
  for (int i = 0; i < MANY; i++) {
    int place = cb_system_index(s, i);
    assert_int_equal(cb_system_particle(s, place), i);
    check_near(cb_system_masses(s)[place], 1 + i, 0);
    check_near(cb_system_charge(s, i), 2 * i, 0);
    check_near(check_distance_max(K, start->x + place * K, x[i]), 0, 1e-15);
    int c = cb_system_component(s, place);
    assert_true(first[c] <= place && place < first[c + 1]);
  }
  assert_string_equal(cb_system_particle_name(s, 17), "chain.17");
  check_ok(cb_forces_eval(f, 0, start->x, NULL, force));
  check_ok(cb_forces_separations(f, start->x, d));
  for (int e = 0; e + 2 < MANY; e++) { /* adds the forces of spring e, along the geodesic that cb_log gives */
    int i, j;
    double to[K], length;
    cb_system_bond(s, e, &i, &j);
    assert_true((i == ends[e][0] && j == ends[e][1]) || (j == ends[e][0] && i == ends[e][1]));
    for (int way = 0; way < 2; way++) {
      check_ok(cb_log(g, x[ends[e][way]], x[ends[e][1 - way]], to));
      length = sqrt(cb_inner(g, to, to));
      for (int a = 0; a < K; a++) expected[ends[e][way]][a] += (1 + e) * (length - 0.1) * to[a] / length;
    }
    check_relative(d[e], length, 1e-12);
  }
  for (int i = 0; i < MANY; i++) {
    double *F = force + cb_system_index(s, i) * K;
    tangential(g, 1, x[i], F);
    check_near(check_distance_max(K, F, expected[i]), 0, 1e-11 * MANY);
  }
  cb_state_free(start);
  cb_forces_free(f);
  cb_system_free(s);
  cb_builder_free(b);
  cb_space_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stages_and_threads_give_the_same_bytes),
      cmocka_unit_test(particles_keep_their_numbers_when_they_are_reordered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
