/* Tests of all classes of constraints except rods and path lengths. The rows of these constraints are the same in
 * charts, after isometries and with moved origins. */
#include "check_origins.h"
#include "constraint_differences.h"

/* --- charts --- */

static void same_as_in_embedding(const cb_space *given, uint64_t *seed) {
  cb_space *g = (cb_space *)(uintptr_t)given;
  for (kind which = 0; which < KINDS; which++) {
    if (!kind_applies(g, which) || which == PIN) continue; /* a pin has other rows in a chart than in the embedding */
    double x[POINTS + 1][COORDS], v[POINTS][COORDS], flat[ALL], value, rate, gamma = 0, t = 0.7;
    some_points(g, seed, 0.5, x);
    setup u = setup_at(g, which, x);
    for (int i = 0; i < POINTS; i++) {
      check_random_tangent(g, seed, x[i], 1, v[i]);
      memcpy(flat + cb_system_index(u.s, i) * u.k, v[i], (size_t)u.k * sizeof(double));
    }
    check_ok(cb_constraints_eval(u.c, t, u.x, &value, NULL));
    check_ok(cb_constraints_rate(u.c, t, u.x, flat, &rate, NULL));
    check_ok(cb_constraints_second(u.c, t, u.x, flat, &gamma, NULL));
    setup_free(&u);
    for (int i = 0; i < g->n_charts; i++) {
      if (!g->charts[i].metric || !g->charts[i].distance) continue;
      double value_q, rate_q, q[COORDS], w[COORDS];
      g->chart = &g->charts[i];
      g->k = g->dim;
      setup chart = setup_at(g, which, x);
      for (int p = 0; p < POINTS; p++) {
        check_ok(cb_chart_pull(g, g->chart, x[p], v[p], q, w));
        memcpy(flat + cb_system_index(chart.s, p) * chart.k, w, (size_t)g->dim * sizeof(double));
      }
      check_ok(cb_constraints_eval(chart.c, t, chart.x, &value_q, NULL));
      check_ok(cb_constraints_rate(chart.c, t, chart.x, flat, &rate_q, NULL));
      check_same("value", shown(g, which), 0, value_q, value, fmax(1, fabs(value)), 1e-12);
      check_same("rate", shown(g, which), 0, rate_q, rate, fmax(1, fabs(rate)), 1e-11);
      setup_free(&chart);
      g->chart = NULL;
      g->k = g->embedding;
    }
  }
}

static void charts_give_the_rows_of_the_embedding(void **state) { check_every_space(same_as_in_embedding); }

/* --- invariance --- */

static void unmoved_by(const cb_space *g, uint64_t *seed) {
  static const kind invariant[] = {DISTANCE_TO_POINT, ANGLE, AREA, VOLUME, KNIFE_EDGE};
  for (size_t n = 0; n < sizeof invariant / sizeof *invariant; n++) {
    const kind which = invariant[n];
    if (!kind_applies(g, which)) continue;
    double x[POINTS + 1][COORDS], v[ALL], moved[ALL], value[2], rate[2], centre[COORDS];
    cb_isometry m;
    some_points(g, seed, 0.5, x);
    check_random_isometry(g, seed, 0.5, &m);
    setup u = setup_at(g, which, x);
    for (int i = 0; i < POINTS; i++) check_random_tangent(g, seed, x[i], 1, v + cb_system_index(u.s, i) * u.k);
    check_ok(cb_constraints_eval(u.c, 0.2, u.x, &value[0], NULL));
    check_ok(cb_constraints_rate(u.c, 0.2, u.x, v, &rate[0], NULL));
    for (int i = 0; i < POINTS; i++) {
      cb_isometry_point(g, &m, u.x + i * u.k, moved + i * u.k);
      cb_isometry_vector(g, &m, v + i * u.k, v + i * u.k);
    }
    if (which == DISTANCE_TO_POINT) { /* the centre moves with the particles */
      cb_isometry_point(g, &m, x[POINTS], centre);
      memcpy(x[POINTS], centre, sizeof centre);
      setup_free(&u);
      u = setup_at(g, which, x);
    }
    check_ok(cb_constraints_eval(u.c, 0.2, moved, &value[1], NULL));
    check_ok(cb_constraints_rate(u.c, 0.2, moved, v, &rate[1], NULL));
    check_same("value", shown(g, which), 0, value[1], value[0], 1 + fabs(value[0]), 1e-12);
    check_same("rate", shown(g, which), 0, rate[1], rate[0], 1 + fabs(rate[0]), 1e-11);
    setup_free(&u);
  }
}

static void isometries_change_no_distance_angle_area_volume_or_knife_edge(void **state) {
  check_every_space(unmoved_by);
}

/* --- moved origins --- */

static void rows_of_the_world_stay_there_when_an_origin_moves(void **state) {
  uint64_t seed = check_seed();
  for (int n = 0; n < SPACES; n++) {
    cb_space *g = space(n);
    for (kind which = 0; which < KINDS; which++) {
      if (!kind_applies(g, which)) continue;
      cb_origin origin;
      cb_isometry world, local;
      double x[POINTS + 1][COORDS], v[ALL], y[ALL], w[ALL], a[ROWS_MAX], b[ROWS_MAX], ra[ROWS_MAX], rb[ROWS_MAX];
      some_points(g, &seed, 0.5, x);
      setup u = setup_at(g, which, x);
      for (int i = 0; i < POINTS; i++) check_random_tangent(g, &seed, u.x + i * u.k, 1, v + i * u.k);
      check_ok(cb_constraints_eval(u.c, 0.3, u.x, a, NULL));
      check_ok(cb_constraints_rate(u.c, 0.3, u.x, v, ra, NULL));
      random_origin(g, &seed, 0.3, &origin, &world);
      cb_isometry_inverse(g, &world, &local);
      for (int i = 0; i < POINTS; i++) {
        cb_isometry_point(g, &local, u.x + i * u.k, y + i * u.k);
        cb_isometry_vector(g, &local, v + i * u.k, w + i * u.k);
      }
      cb_origin *origins = calloc(POINTS, sizeof *origins);
      for (int c = 0; c < POINTS; c++) origins[c] = origin;
      check_ok(cb_forces_set_origins(u.f, origins));
      check_ok(cb_constraints_eval(u.c, 0.3, y, b, NULL));
      check_ok(cb_constraints_rate(u.c, 0.3, y, w, rb, NULL));
      for (int r = 0; r < u.rows; r++) {
        check_same("value", shown(g, which), r, b[r], a[r], 1 + fabs(a[r]), 2e-12);
        check_same("rate", shown(g, which), r, rb[r], ra[r], 1 + largest(u.rows, ra), 1e-11);
      }
      /* Difference quotients use points off the hyperboloid. There the library extends the distance to a far point in
       * one way and its derivatives in another way, so they cannot be compared. */
      const bool far = which == DISTANCE_TO_POINT && u.c->world[0].anchor.frames.far;
      if (!far) check_derivatives(&u, shown(g, which), 0.3, y, &seed, 1e-7);
      free(origins);
      setup_free(&u);
    }
    cb_space_free(g);
  }
}

/* Three particles have origins of their own, at 40, 4 and about 44 radii of curvature. The first particle has the
 * constraint `distance to a point`, and the others have pins. */
static void far_particles_are_held_from_their_own_origin(void **state) {
  cb_space *g;
  cb_builder *b;
  cb_system *s;
  cb_forces *f;
  cb_origin far, near, askew;
  double frame[3 * COORDS], base[COORDS], value[7], G[7 * COORDS], v[3 * COORDS] = {0};
  check_ok(cb_space_create("h3", NULL, &g));
  cb_space_base_point(g, base);
  check_ok(cb_origin_flow(g, cb_killing_find(g, "boost_x"), 40, &far));
  check_ok(cb_origin_flow(g, cb_killing_find(g, "boost_y"), 4, &near));
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  check_ok(cb_builder_origin(b, &far));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, base, NULL, NULL));
  check_ok(cb_builder_origin(b, &near));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, base, NULL, NULL));
  cb_origin_compose(g, &near, &far, &askew);
  check_ok(cb_builder_origin(b, &askew));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, (double[]){0.3, -0.2, 0.4, sqrt(1.29)}, NULL, NULL));
  check_ok(cb_builder_distance_to_point(b, NULL, 0, base, (cb_target){.value = 39}));
  check_ok(cb_builder_pin(b, "foot", 1, NULL));
  check_ok(cb_builder_pin(b, NULL, 2, NULL)); /* at this distance, coordinates in the world would not determine the
                                               * position of the particle */
  check_ok(cb_builder_finish(b, &s));
  cb_builder_free(b);
  check_ok(cb_forces_create(s, &f));
  cb_constraints *c = cb_forces_constraints(f);
  cb_state *start;
  check_ok(cb_state_create(s, &start));
  check_ok(cb_system_start(s, start));
  check_ok(cb_forces_set_origins(f, start->origin));
  check_ok(cb_constraints_eval(c, 0, start->x, value, G));
  check_near(value[0], 1, 1e-13);
  check_near(G[0], 1, 1e-14); /* the gradient points away from the base point of the world */
  for (int r = 1; r < 7; r++) check_near(value[r], 0, r < 4 ? 1e-12 : 0);
  assert_string_equal(cb_system_constraint_name(s, 2), "foot y");
  /* The rows of the pin use the frame of the world, translated along y. In the coordinates of the particle, the axes of
   * this frame are the coordinate axes. */
  for (int axis = 0; axis < 3; axis++) {
    double rate[7];
    memset(v, 0, sizeof v);
    v[cb_system_index(s, 1) * COORDS + axis] = 1;
    check_ok(cb_constraints_rate(c, 0, start->x, v, rate, NULL));
    for (int r = 0; r < 3; r++) check_near(rate[1 + r], r == axis, 1e-14);
  }
  /* The rows of the pin of particle 2, which is 44 radii away, use a rotated frame. This frame is orthonormal. */
  cb_space_frame(g, start->x + cb_system_index(s, 2) * COORDS, frame);
  for (int i = 0; i < 3; i++) {
    double rate[7], size = 0;
    memset(v, 0, sizeof v);
    memcpy(v + cb_system_index(s, 2) * COORDS, frame + i * COORDS, COORDS * sizeof *v);
    check_ok(cb_constraints_rate(c, 0, start->x, v, rate, NULL));
    for (int r = 4; r < 7; r++) size += rate[r] * rate[r];
    check_near(size, 1, 1e-14);
  }
  cb_state_free(start);
  cb_forces_free(f);
  cb_system_free(s);
  cb_space_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(charts_give_the_rows_of_the_embedding),
      cmocka_unit_test(isometries_change_no_distance_angle_area_volume_or_knife_edge),
      cmocka_unit_test(rows_of_the_world_stay_there_when_an_origin_moves),
      cmocka_unit_test(far_particles_are_held_from_their_own_origin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
