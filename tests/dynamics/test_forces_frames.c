/* Tests that forces of every kind in charts agree with forces in the embedding, and that forces relative to a moving
 * origin agree with forces in the world.
 */
#include "force_cases.h"
#include <curvebody/pair_potential.h>

static void chart_forces_are_the_embedding_forces_pulled_back(void **state) {
  uint64_t start = check_seed();
  for (int n = 0; n < FORCE_SPACES; n++)
    for (int which = 0; which < KINDS; which++) {
      if (!strstr(force_spaces[n], "chart") || which == FIELD_STEREOGRAPHIC) continue;
      uint64_t seed = start, again = start;
      char plain[80];
      snprintf(plain, sizeof plain, "%s", force_spaces[n]);
      strcpy(strstr(plain, ", chart"), "}");
      force_setup c = make(force_spaces[n], &seed, (force_kind)which), e = make(plain, &again, (force_kind)which);
      double in_chart[N * K], in_embedding[N * K], v_c, v_e;
      check_ok(cb_forces_eval(c.f, time_now, c.state->x, c.v, in_chart));
      check_ok(cb_forces_eval(e.f, time_now, e.state->x, e.v, in_embedding));
      check_ok(cb_forces_potential(c.f, time_now, c.state->x, &v_c));
      check_ok(cb_forces_potential(e.f, time_now, e.state->x, &v_e));
      check_near(v_c, v_e, 1e-12 * fmax(1, fabs(v_e)));
      double size = fmax(1, largest(N * c.g->k, in_chart));
      for (int i = 0; i < N; i++) {
        double x[K], J[K * K];
        check_ok(c.g->chart->to_point(c.g, c.state->x + i * c.g->k, x, J));
        for (int a = 0; a < c.g->dim; a++) {
          double pulled = 0;
          for (int b = 0; b < e.g->k; b++) pulled += J[b * c.g->dim + a] * e.g->form[b] * in_embedding[i * e.g->k + b];
          if (!(fabs(pulled - in_chart[i * c.g->k + a]) <= 1e-11 * size))
            print_error("%s, %s\n", force_spaces[n], kind_names[which]);
          check_near(in_chart[i * c.g->k + a], pulled, 1e-11 * size);
        }
      }
      drop(&c, true);
      drop(&e, true);
    }
}

/* Compares a system relative to an origin with the same system in the world. Centres, fields and forces are fixed in
 * the world. */
static void forces_through_a_moving_origin_are_those_of_the_moved_scenario(void **state) {
  static const char *const moving[] = {"{name: e2}", "{name: e3}", "{name: h2}", "{name: h3}",
                                       "{name: h3, curvature: -0.4}"};
  static const force_kind fixed[] = {CENTRAL_GRAVITY, CENTRAL_HARMONIC, CENTRAL_EXPRESSION,
                                     FIELD_EMBEDDING, FIELD_POLAR,      EVERYTHING,
                                     DRIVEN,          FORCE_EMBEDDING,  FORCE_POLAR};
  uint64_t seed = check_seed();
  for (size_t n = 0; n < sizeof moving / sizeof *moving; n++)
    for (size_t w = 0; w < sizeof fixed / sizeof *fixed; w++) {
      cb_space *g = check_space(moving[n]);
      cb_origin origin;
      cb_isometry world, local;
      double target[K], centre[K];
      uint64_t one = seed, two = seed;
      check_random_point(g, &seed, 1.5, target);
      check_random_point(g, &seed, 1, centre);
      cb_origin_at(g, target, &origin);
      cb_origin_isometry(g, &origin, &world);
      cb_isometry_inverse(g, &world, &local);
      force_setup a = make_at(g, &one, fixed[w], &origin, centre), b = make_at(g, &two, fixed[w], NULL, centre);
      double seen[N * K], plain[N * K], x[N * K], v[N * K], v_a, v_b;
      /* cb_system_start may have moved the origins, so the positions of the state are converted to the world */
      for (int i = 0; i < N; i++) {
        const cb_origin *o = &a.state->origin[cb_system_component(a.s, i)];
        cb_origin_isometry(g, o, &world);
        cb_isometry_point(g, &world, a.state->x + i * g->k, x + i * g->k);
        cb_isometry_vector(g, &world, a.v + i * g->k, v + i * g->k);
      }
      check_ok(cb_forces_set_origins(a.f, a.state->origin));
      cb_origin *identity = calloc(N, sizeof *identity);
      for (int c = 0; c < N; c++) cb_origin_identity(g, &identity[c]);
      check_ok(cb_forces_set_origins(b.f, identity));
      free(identity);
      check_ok(cb_forces_eval(a.f, time_now, a.state->x, a.v, seen));
      check_ok(cb_forces_eval(b.f, time_now, x, v, plain));
      check_ok(cb_forces_potential(a.f, time_now, a.state->x, &v_a));
      check_ok(cb_forces_potential(b.f, time_now, x, &v_b));
      check_near(v_a, v_b, 1e-10 * fmax(1, fabs(v_b)));
      tangential(g, N, a.state->x, seen);
      tangential(g, N, x, plain);
      double size = fmax(1, largest(N * g->k, plain));
      for (int i = 0; i < N; i++) {
        double back[K];
        cb_origin_isometry(g, &a.state->origin[cb_system_component(a.s, i)], &world);
        cb_isometry_vector(g, &world, seen + i * g->k, back);
        double error = check_distance_max(g->k, back, plain + i * g->k) / size;
        if (!(error <= 1e-10)) print_error("%s, %s\n", moving[n], kind_names[fixed[w]]);
        check_at_most(error, 1e-10);
      }
      drop(&a, false);
      drop(&b, false);
      cb_space_free(g);
    }
}

/* A particle is 300 units away from the base point of the world, at its own origin. A centre at the base point attracts
 * it. */
static void a_centre_300_units_away_pulls_along_the_geodesic(void **state) {
  cb_space *g = check_space("{name: h3}");
  cb_origin origin;
  cb_builder *b;
  cb_system *s;
  cb_forces *f;
  cb_state *start;
  double x[K], v[K] = {0}, force[K], potential, dx[K * K];
  check_ok(cb_origin_flow(g, cb_killing_find(g, "boost_x"), 300, &origin));
  cb_space_base_point(g, x);
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  check_ok(cb_builder_origin(b, &origin));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, x, v, NULL));
  check_ok(cb_builder_central(b, -1, "harmonic", &(cb_pair_parameters){2, 0, NULL}, x));
  check_ok(cb_builder_central(b, -1, "gravity", &(cb_pair_parameters){5, 0, NULL}, x));
  check_ok(cb_builder_finish(b, &s));
  check_ok(cb_forces_create(s, &f));
  check_ok(cb_state_create(s, &start));
  check_ok(cb_system_start(s, start));
  check_near(start->origin[0].length, 300, 1e-12);
  check_ok(cb_forces_potential(f, 0, start->x, &potential));
  check_relative(potential, 300. * 300. - 5, 1e-14);
  check_ok(cb_forces_eval(f, 0, start->x, NULL, force));
  tangential(g, 1, start->x, force);
  check_relative(sqrt(cb_inner(g, force, force)), 600., 1e-13);
  check_near(force[0], -600, 1e-10);
  assert_non_null(cb_forces_pattern(f));
  check_ok(cb_forces_jacobian(f, 0, start->x, NULL, dx, NULL));
  for (int a = 0; a < K * K; a++) assert_true(isfinite(dx[a]));
  cb_state_free(start);
  cb_forces_free(f);
  cb_system_free(s);
  cb_builder_free(b);
  cb_space_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chart_forces_are_the_embedding_forces_pulled_back),
      cmocka_unit_test(forces_through_a_moving_origin_are_those_of_the_moved_scenario),
      cmocka_unit_test(a_centre_300_units_away_pulls_along_the_geodesic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
