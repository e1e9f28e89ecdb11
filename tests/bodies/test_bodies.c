/* Tests of bodies in scenarios: their positions at the start, their motion, and their masses. */
#include "built_body.h"
#include "geometry/origin.h"
#include <curvebody/pair_potential.h>

static void the_rod_of_the_validation_has_length_one(void **state) {
  static const char *const space[] = {"{name: h3}", "{name: e3}", "{name: s3}", "{name: h3, chart: polar}",
                                      "{name: s3, chart: polar}"};
  for (int i = 0; i < 5; i++) {
    built t = build(space[i], i == 2 || i == 4 ? "{kind: rod, " S3_ROD "}" : "{kind: rod, " H3_ROD "}");
    check_separations(&t, 1, ones, 1e-15);
    assert_string_equal(cb_system_body_name(t.s, 0), "rod1");
    assert_string_equal(cb_system_particle_name(t.s, 1), "rod1.1");
    drop(&t);
  }
}

static void the_triangle_of_the_validation_is_equilateral(void **state) {
  built t = build("{name: h3}",
                  "{kind: triangle, place: {chart: polar, points: [[acosh(cosh(1)/cosh(.5)), pi/2, 0], "
                  "[.5, pi/2, pi/2], [.5, pi/2, 3*pi/2]]}}");
  check_separations(&t, 3, ones, 1e-14);
  drop(&t);
  t = build("{name: s3}",
            "{kind: triangle, place: {chart: polar, points: [[pi/2, pi/2, acos(cos(1)/cos(.5))], "
            "[(pi - 1)/2, pi/2, 0], [(pi + 1)/2, pi/2, 0]]}}");
  check_separations(&t, 3, ones, 1e-14);
  drop(&t);
  t = build("{name: e3}", "{kind: triangle, place: {points: [[sqrt(3)/2, 0, 0], [0, .5, 0], [0, -.5, 0]]}}");
  check_separations(&t, 3, ones, 1e-14);
  drop(&t);
}

static void the_boost_of_the_validation_moves_across_at_its_speed(void **state) {
  /* The boost moves the two ends of the rod in opposite directions: their polar angles change at the rates -coth(1/2)
   * and coth(1/2). The ends are at the distance 1/2 from the origin, so the speed of each is
   * sinh(1/2) coth(1/2) = cosh(1/2). */
  built t = build("{name: h3, chart: polar}", "{kind: rod, mass: 2, " H3_ROD ", motion: {killing: boost_x}}");
  double s = sinh(0.5);
  for (int i = 0; i < 2; i++) {
    const double *p = t.start->p + cb_system_index(t.s, i) * 3;
    check_near(p[0], 0, 1e-15);
    check_near(p[1], 0, 1e-15);
    check_relative(p[2], (i ? 2 : -2) * s * s / tanh(0.5), 1e-14);
  }
  drop(&t);
  t = build("{name: h3}", "{kind: rod, masses: [1, 2.7], " H3_ROD ", motion: {killing: boost_x, speed: 0.5}}");
  for (int i = 0; i < 2; i++) {
    const double *p = t.start->p + cb_system_index(t.s, i) * K, m = i ? 2.7 : 1;
    check_relative(p[0], m * 0.5 * cosh(0.5), 1e-15);
    check_near(fmax(fabs(p[1]), fabs(p[2])), 0, 1e-16);
  }
  drop(&t);
  t = build("{name: s3, chart: polar}",
            "{kind: rod, " S3_ROD ", motion: {chart: polar, velocities: [[0, 0, 1], [0, 0, 1]]}}");
  check_relative(t.start->p[2], pow(cos(0.5), 2), 1e-14);
  drop(&t);
}

static void motions_add_and_agree_between_charts(void **state) {
  built a =
      build("{name: s3}",
            "{kind: rod, " S3_ROD
            ", motion: [{killing: rotation_z, speed: 2}, {chart: polar, velocities: [[0, 0, -1], [.5, .2, 0]]}]}");
  built b =
      build("{name: s3}", "{kind: rod, " S3_ROD ", motion: {chart: polar, velocities: [[0, 0, 1], [.5, .2, 2]]}}");
  check_near(check_distance_max(2 * K, a.start->p, b.start->p), 0, 1e-15);
  drop(&a);
  drop(&b);
}

static void tangent_vectors_place_points_at_their_length(void **state) {
  built t = build("{name: h3, curvature: -0.5}",
                  "{kind: rod, place: {at: {chart: polar, point: [.7, 1, 2]}, frame: "
                  "default, tangent: [[0, 0, 0], [.2, -.3, .6]]}}");
  check_separations(&t, 1, (double[]){0.7}, 1e-15);
  drop(&t);
}

static void masses_charges_and_radii_are_those_given(void **state) {
  built t = build("{name: e3}",
                  "{kind: particles, name: sun, place: {points: [[0, 0, 0], [1, 0, 0]]}, masses: [3, "
                  "pi], charges: [1, -2], radius: .1}");
  check_relative(cb_system_masses(t.s)[cb_system_index(t.s, 1)], acos(-1), 1e-16);
  check_near(cb_system_charge(t.s, 1), -2., 0);
  check_near(cb_system_radius(t.s, 0), 0.1, 0);
  assert_string_equal(cb_system_particle_name(t.s, 1), "sun.1");
  assert_int_equal(cb_system_components(t.s), 2);
  assert_int_equal(cb_system_bonds(t.s), 0);
  drop(&t);
}

static void a_body_moved_300_units_out_keeps_its_digits(void **state) {
  uint64_t seed = check_seed();
  built home = build("{name: h3}", "{kind: rod, " H3_ROD ", motion: {killing: boost_x}}");
  for (int repeat = 0; repeat < 10; repeat++) {
    char text[400];
    double r = check_uniform(&seed, -3, 3), s = check_uniform(&seed, -2, 2);
    snprintf(text, sizeof text,
             "{kind: rod, place: {chart: polar, points: [[0.5, pi/2, pi/2], [0.5, pi/2, 3*pi/2]], move: [{killing: "
             "rotation_y, by: %.17g}, "
             "{killing: boost_z, by: %.17g}, {killing: boost_x, by: 300}]}, motion: {killing: boost_x}}",
             r, s);
    built t = build("{name: h3}", text);
    check_separations(&t, 1, ones, 4e-16);
    assert_int_equal(cb_system_components(t.s), 1);
    check_near(t.start->origin[0].length, 300, 3);
    check_near(check_distance_max(2 * K, t.start->x, home.start->x), 0, 1e-15);
    check_near(check_distance_max(2 * K, t.start->p, home.start->p), 0, 1e-15);
    drop(&t);
  }
  drop(&home);
}

static void moving_a_body_is_an_isometry_that_carries_its_velocity(void **state) {
  static const char *const space[] = {"{name: s3}", "{name: s3, chart: stereographic}", "{name: e3}", "{name: h2}",
                                      "{name: s2}"};
  static const char *const move[] = {"[{killing: rotation_wx, by: .4}, {killing: rotation_z, by: 1}]",
                                     "[{killing: rotation_wy, by: .3}, {killing: rotation_x, by: 1}]",
                                     "[{killing: translation_x, by: 1e6}, {killing: rotation_z, by: 1}]",
                                     "[{killing: boost_x, by: 5}, {killing: rotation_z, by: 1}]",
                                     "[{killing: rotation_wx, by: 1}, {killing: rotation_wy, by: 2}]"};
  for (int i = 0; i < 5; i++) {
    char text[400];
    bool flat = i > 2;
    const char *points =
        flat ? "chart: polar, points: [[.5, .3], [.2, 2]]" : "chart: polar, points: [[.5, 1, .3], [.2, .7, 2]]";
    const char *motion = flat ? "{chart: polar, velocities: [[1, 0], [.3, .4]]}"
                              : "{chart: polar, velocities: [[1, 0, 0], [.3, .4, .5]]}";
    snprintf(text, sizeof text, "{kind: rod, place: {%s}, motion: %s}", points, motion);
    built a = build(space[i], text);
    snprintf(text, sizeof text, "{kind: rod, place: {%s, move: %s}, motion: %s}", points, move[i], motion);
    built b = build(space[i], text);
    double d[2], speed[2][2];
    check_ok(cb_forces_separations(a.f, a.start->x, &d[0]));
    check_ok(cb_forces_separations(b.f, b.start->x, &d[1]));
    check_near(d[1], d[0], 1e-14);
    for (int n = 0; n < 2; n++) {
      const built *t = n ? &b : &a;
      for (int p = 0; p < 2; p++) {
        const double *x = t->start->x + p * t->g->k, *m = t->start->p + p * t->g->k;
        double u[K];
        check_ok(cb_space_raise(t->g, x, m, u));
        speed[n][p] = 0;
        for (int e = 0; e < t->g->k; e++) speed[n][p] += m[e] * u[e] * (t->g->chart ? 1 : t->g->form[e]);
      }
    }
    check_near(speed[1][0], speed[0][0], 1e-14);
    check_near(speed[1][1], speed[0][1], 1e-14);
    drop(&a);
    drop(&b);
  }
}

static void bodies_with_own_origins_that_interact_come_to_one(void **state) {
  cb_space *g = check_space("{name: h3}");
  cb_builder *b;
  check_ok(cb_builder_create(g, &b));
  check_ok(check_add_body(
      g, "{kind: particles, name: a, place: {points: [[0, 0, 0, 1]], move: [{killing: boost_x, by: 30}]}}", b));
  check_ok(check_add_body(
      g, "{kind: particles, name: b, place: {points: [[0, 0, 0, 1]], move: [{killing: boost_x, by: 31.5}]}}", b));
  check_ok(cb_builder_interaction(b, 0, 1, "harmonic", &(cb_pair_parameters){1, 0, NULL}));
  built t = finish(g, b);
  assert_int_equal(cb_system_components(t.s), 1);
  check_near(cb_distance(g, t.start->x, t.start->x + K), 1.5, 1e-12);
  drop(&t);

  g = check_space("{name: h3}");
  check_ok(cb_builder_create(g, &b));
  check_ok(check_add_body(g, "{kind: particles, name: a, place: {points: [[0, 0, 0, 1]]}}", b));
  check_ok(check_add_body(
      g, "{kind: particles, name: b, place: {points: [[0, 0, 0, 1]], move: [{killing: boost_x, by: 300}]}}", b));
  check_ok(cb_builder_interaction(b, 0, 1, "harmonic", &(cb_pair_parameters){1, 0, NULL}));
  cb_system *s = NULL;
  check_error_begins(cb_builder_finish(b, &s), CB_ERROR_UNSUPPORTED, "a.0 and b.0 are connected, and are 300 apart");
  assert_null(s);
  cb_builder_free(b);
  cb_space_free(g);
}

/* Two particles, each moved by two flows, have one origin because a potential joins them. Their points and velocities
 * are compared with those that the flows give in coordinates of the world. */
static void moves_act_in_their_order_on_points_and_velocities(void **state) {
  static const char *const space[] = {"{name: h3}", "{name: e3}", "{name: s3}"};
  static const char *const field[][2] = {
      {"boost_x", "rotation_z"}, {"translation_x", "rotation_z"}, {"rotation_wx", "rotation_z"}};
  static const char *const body =
      "{kind: particles, name: %s, place: {chart: polar, points: [[.3, 1, 2]], move: [{killing: %s, by: %g}, {killing: "
      "%s, by: %g}]}, motion: {chart: polar, velocities: [[.1, .5, .7]]}}";
  static const double by[2][2] = {{1.2, 0.5}, {-0.7, 2}};
  for (int n = 0; n < 3; n++) {
    cb_space *g = check_space(space[n]);
    cb_builder *b;
    check_ok(cb_builder_create(g, &b));
    for (int i = 0; i < 2; i++) {
      char text[400];
      snprintf(text, sizeof text, body, i ? "b" : "a", field[n][0], by[i][0], field[n][1], by[i][1]);
      check_ok(check_add_body(g, text, b));
    }
    check_ok(cb_builder_interaction(b, 0, 1, "harmonic", &(cb_pair_parameters){1, 0, NULL}));
    built t = finish(g, b);
    assert_int_equal(cb_system_components(t.s), 1);
    for (int i = 0; i < 2; i++) {
      double x[K], v[K], y[K], w[K], local[2][K], world[2][K];
      const cb_chart *polar = cb_chart_find(g, "polar");
      check_ok(cb_chart_push(g, polar, (double[]){.3, 1, 2}, (double[]){.1, .5, .7}, x, v));
      for (int m = 0; m < 2; m++) {
        cb_isometry flow;
        cb_isometry_flow(g, cb_killing_find(g, field[n][m]), by[i][m], &flow);
        cb_isometry_point(g, &flow, x, y);
        cb_isometry_vector(g, &flow, v, w);
        memcpy(x, y, sizeof x);
        memcpy(v, w, sizeof v);
      }
      memcpy(local[0], t.start->x + i * g->k, (size_t)g->k * sizeof(double));
      memcpy(local[1], t.start->p + i * g->k, (size_t)g->k * sizeof(double));
      cb_origin_world_point(g, &t.start->origin[0], local[0], world[0]);
      cb_origin_world_vector(g, &t.start->origin[0], local[1], world[1]);
      check_near(check_distance_max(g->k, world[0], x), 0, 1e-14);
      check_near(check_distance_max(g->k, world[1], v), 0, 1e-14);
    }
    drop(&t);
  }
}

static void a_far_point_gets_an_origin_of_its_own(void **state) {
  built t = build("{name: h3}", "{kind: rod, place: {chart: polar, points: [[6, 1, 1], [6.5, 1, 1]]}}");
  check_near(t.start->origin[0].length, 6, 0); /* the origin is that of the first particle */
  check_separations(&t, 1, (double[]){0.5}, 1e-15);
  for (int i = 0; i < 2; i++) check_at_most(t.start->x[i * K + 3], 1.2);
  drop(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_rod_of_the_validation_has_length_one),
      cmocka_unit_test(the_triangle_of_the_validation_is_equilateral),
      cmocka_unit_test(the_boost_of_the_validation_moves_across_at_its_speed),
      cmocka_unit_test(motions_add_and_agree_between_charts),
      cmocka_unit_test(tangent_vectors_place_points_at_their_length),
      cmocka_unit_test(masses_charges_and_radii_are_those_given),
      cmocka_unit_test(a_body_moved_300_units_out_keeps_its_digits),
      cmocka_unit_test(moving_a_body_is_an_isometry_that_carries_its_velocity),
      cmocka_unit_test(bodies_with_own_origins_that_interact_come_to_one),
      cmocka_unit_test(moves_act_in_their_order_on_points_and_velocities),
      cmocka_unit_test(a_far_point_gets_an_origin_of_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
