/* Bodies as scenarios describe them: where they are at the start, how they move, what they weigh, what is refused. */
#include "bodies/network.h"
#include "check_error.h"
#include "check_geometry.h"
#include "check_system.h"
#include "geometry/origin.h"
#include <unistd.h>

enum { K = CB_COORD_MAX };

/* A body in a space, with its start and springs. */
typedef struct built {
  cb_geometry *g;
  cb_system *s;
  cb_forces *f;
  cb_state *start;
} built;

static built finish(cb_geometry *g, cb_builder *b) {
  built t = {.g = g};
  check_ok(cb_builder_finish(b, &t.s));
  cb_builder_free(b);
  check_ok(cb_forces_create(t.s, &t.f));
  check_ok(cb_state_create(t.s, &t.start));
  check_ok(cb_system_start(t.s, t.start));
  return t;
}

static built build(const char *space, const char *body) {
  cb_geometry *g = check_space(space);
  cb_builder *b;
  check_ok(cb_builder_create(g, &b));
  check_ok(check_add_body(g, body, b));
  return finish(g, b);
}

static void drop(built *t) {
  cb_state_free(t->start);
  cb_forces_free(t->f);
  cb_system_free(t->s);
  cb_geometry_free(t->g);
}

/* The text of the error that a body fails with. */
static const char *refused(const char *space, const char *body) {
  cb_geometry *g = check_space(space);
  cb_builder *b;
  check_ok(cb_builder_create(g, &b));
  cb_status status = check_add_body(g, body, b);
  assert_int_equal(status, CB_ERROR_INPUT);
  cb_builder_free(b);
  cb_geometry_free(g);
  return cb_error_text();
}

static void check_separations(built *t, int n, const double *expected, double tolerance) {
  double d[8];
  assert_int_equal(cb_system_bonds(t->s), n);
  check_ok(cb_forces_separations(t->f, t->start->x, d));
  for (int e = 0; e < n; e++) check_near(d[e], expected[e], tolerance);
}

static const double ones[3] = {1, 1, 1};

#define H3_ROD "place: {chart: polar, points: [[0.5, pi/2, pi/2], [0.5, pi/2, 3*pi/2]]}"
#define S3_ROD "place: {chart: polar, points: [[(pi - 1)/2, pi/2, 0], [(pi + 1)/2, pi/2, 0]]}"

static void the_rod_of_the_validation_has_length_one(void **state) {
  (void)state;
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
  (void)state;
  built t = build("{name: h3}", "{kind: triangle, place: {chart: polar, points: [[acosh(cosh(1)/cosh(.5)), pi/2, 0], "
                                "[.5, pi/2, pi/2], [.5, pi/2, 3*pi/2]]}}");
  check_separations(&t, 3, ones, 1e-14);
  drop(&t);
  t = build("{name: s3}", "{kind: triangle, place: {chart: polar, points: [[pi/2, pi/2, acos(cos(1)/cos(.5))], "
                          "[(pi - 1)/2, pi/2, 0], [(pi + 1)/2, pi/2, 0]]}}");
  check_separations(&t, 3, ones, 1e-14);
  drop(&t);
  t = build("{name: e3}", "{kind: triangle, place: {points: [[sqrt(3)/2, 0, 0], [0, .5, 0], [0, -.5, 0]]}}");
  check_separations(&t, 3, ones, 1e-14);
  drop(&t);
}

static void the_boost_of_the_validation_moves_across_at_its_speed(void **state) {
  (void)state;
  /* Polar velocity of the spec: g' = -+coth(1/2); speed cosh(1/2) along the boost's axis. */
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
  (void)state;
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
  (void)state;
  built t = build("{name: h3, curvature: -0.5}", "{kind: rod, place: {at: {chart: polar, point: [.7, 1, 2]}, frame: "
                                                 "default, tangent: [[0, 0, 0], [.2, -.3, .6]]}}");
  check_separations(&t, 1, (double[]){0.7}, 1e-15);
  drop(&t);
}

static void masses_charges_and_radii_are_those_given(void **state) {
  (void)state;
  built t = build("{name: e3}", "{kind: particles, name: sun, place: {points: [[0, 0, 0], [1, 0, 0]]}, masses: [3, "
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
  (void)state;
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
  (void)state;
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
        check_ok(cb_geometry_raise(t->g, x, m, u));
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
  (void)state;
  cb_geometry *g = check_space("{name: h3}");
  cb_builder *b;
  check_ok(cb_builder_create(g, &b));
  check_ok(check_add_body(
      g, "{kind: particles, name: a, place: {points: [[0, 0, 0, 1]], move: [{killing: boost_x, by: 30}]}}", b));
  check_ok(check_add_body(
      g, "{kind: particles, name: b, place: {points: [[0, 0, 0, 1]], move: [{killing: boost_x, by: 31.5}]}}", b));
  check_ok(cb_builder_interaction(b, 0, 1, CB_LAW_HARMONIC, 1, 0, NULL));
  built t = finish(g, b);
  assert_int_equal(cb_system_components(t.s), 1);
  check_near(cb_distance(g, t.start->x, t.start->x + K), 1.5, 1e-12);
  drop(&t);

  g = check_space("{name: h3}");
  check_ok(cb_builder_create(g, &b));
  check_ok(check_add_body(g, "{kind: particles, name: a, place: {points: [[0, 0, 0, 1]]}}", b));
  check_ok(check_add_body(
      g, "{kind: particles, name: b, place: {points: [[0, 0, 0, 1]], move: [{killing: boost_x, by: 300}]}}", b));
  check_ok(cb_builder_interaction(b, 0, 1, CB_LAW_HARMONIC, 1, 0, NULL));
  cb_system *s = NULL;
  check_error_begins(cb_builder_finish(b, &s), CB_ERROR_UNSUPPORTED, "a.0 and b.0 are joined and were moved 300 apart");
  assert_null(s);
  cb_builder_free(b);
  cb_geometry_free(g);
}

/* Two particles, each with moves of its own, joined by a law so that they share an origin, against flows of the world.
 */
static void moves_act_in_their_order_on_points_and_velocities(void **state) {
  (void)state;
  static const char *const space[] = {"{name: h3}", "{name: e3}", "{name: s3}"};
  static const char *const field[][2] = {{"boost_x", "rotation_z"},
                                         {"translation_x", "rotation_z"},
                                         {"rotation_wx", "rotation_z"}};
  static const char *const body =
      "{kind: particles, name: %s, place: {chart: polar, points: [[.3, 1, 2]], move: [{killing: %s, by: %g}, {killing: "
      "%s, by: %g}]}, motion: {chart: polar, velocities: [[.1, .5, .7]]}}";
  static const double by[2][2] = {{1.2, 0.5}, {-0.7, 2}};
  for (int n = 0; n < 3; n++) {
    cb_geometry *g = check_space(space[n]);
    cb_builder *b;
    check_ok(cb_builder_create(g, &b));
    for (int i = 0; i < 2; i++) {
      char text[400];
      snprintf(text, sizeof text, body, i ? "b" : "a", field[n][0], by[i][0], field[n][1], by[i][1]);
      check_ok(check_add_body(g, text, b));
    }
    check_ok(cb_builder_interaction(b, 0, 1, CB_LAW_HARMONIC, 1, 0, NULL));
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
  (void)state;
  built t = build("{name: h3}", "{kind: rod, place: {chart: polar, points: [[6, 1, 1], [6.5, 1, 1]]}}");
  check_near(t.start->origin[0].length, 6.25, 0.05); /* somewhere in the middle */
  check_separations(&t, 1, (double[]){0.5}, 1e-9);
  for (int i = 0; i < 2; i++) check_at_most(t.start->x[i * K + 3], 1.2);
  drop(&t);
}

static void listed_springs_join_what_they_say(void **state) {
  (void)state;
  built t = build("{name: e3}",
                  "{kind: network, place: {points: [[0, 0, 0], [1, 0, 0], [1, 2, 0]]}, stiffness: 3, damping: .5, "
                  "springs: [[0, 1], {between: [2, 0], stiffness: 7, rest: 1}]}");
  double x[9], force[9], v[9] = {0};
  int i, j;
  memcpy(x, t.start->x, sizeof x);
  check_separations(&t, 2, (double[]){1, sqrt(5)}, 1e-15);
  cb_system_bond(t.s, 1, &i, &j);
  assert_true(i == 2 && j == 0);
  check_ok(cb_forces_eval(t.f, 0, x, v, force));
  check_relative(force[8 - 1], -7 * (sqrt(5) - 1) * 2 / sqrt(5), 1e-14);
  x[3] += 0.1; /* stretches the first by .1 */
  check_ok(cb_forces_eval(t.f, 0, x, v, force));
  check_near(force[3], -0.3, 1e-14);
  assert_true(cb_forces_uses_velocity(t.f));
  drop(&t);
}

static void second_neighbours_are_two_edges_apart(void **state) {
  (void)state;
  /* 4 x 4 lattice: straight pairs 2*4*2, diagonal pairs 2*9 */
  built t = build("{name: e2}",
                  "{kind: network, lattice: {size: [4, 4], spacing: .5}, neighbours: 2, bending_stiffness: .1}");
  assert_int_equal(cb_system_particles(t.s), 16);
  assert_int_equal(cb_system_bonds(t.s), 24 + 16 + 18);
  double d[58];
  check_ok(cb_forces_separations(t.f, t.start->x, d));
  for (int e = 0; e < 58; e++) {
    bool edge = e < 24, straight = fabs(d[e] - 1) < 1e-12, diagonal = fabs(d[e] - sqrt(0.5)) < 1e-12;
    assert_true(edge ? fabs(d[e] - 0.5) < 1e-12 : straight || diagonal);
  }
  drop(&t);
}

static void a_lattice_fills_its_box(void **state) {
  (void)state;
  built t = build("{name: s3}", "{kind: network, lattice: {size: [5, 4, 3], spacing: .1, at: {chart: polar, point: [1, "
                                "1, 1]}}, motion: {killing: rotation_z}}");
  assert_int_equal(cb_system_particles(t.s), 60);
  assert_int_equal(cb_system_bonds(t.s), 4 * 4 * 3 + 5 * 3 * 3 + 5 * 4 * 2);
  double mean[K], at[K];
  check_ok(cb_karcher_mean(t.g, 60, t.start->x, NULL, mean));
  check_ok(cb_chart_find(t.g, "polar")->to_point(t.g, (double[]){1, 1, 1}, at, NULL));
  check_near(check_distance_max(K, mean, at), 0, 1e-13);
  drop(&t);
}

static const char *write_mesh(const char *text) {
  static char path[64];
  snprintf(path, sizeof path, "test-bodies-%ld.obj", (long)getpid());
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  return path;
}

static void a_mesh_weighs_its_density_times_its_area(void **state) {
  (void)state;
  char text[400];
  /* A unit square of two triangles and, in S3, the octant of a great sphere by exp at scale 1: sides pi/2, area pi/2.
   */
  const char *path = write_mesh("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n");
  snprintf(text, sizeof text, "{kind: network, mesh: {file: %s, scale: 2}, density: 3}", path);
  built t = build("{name: e3}", text);
  double total = 0;
  for (int i = 0; i < 4; i++) total += cb_system_masses(t.s)[i];
  check_relative(total, 12., 1e-15);
  check_relative(cb_system_masses(t.s)[cb_system_index(t.s, 1)], 2., 1e-15);
  assert_int_equal(cb_system_bonds(t.s), 5);
  drop(&t);
  path = write_mesh("v 0 0 0\nv 1.5707963267948966 0 0\nv 0 1.5707963267948966 0\nf 1 2 3\n");
  snprintf(text, sizeof text,
           "{kind: network, mesh: {file: %s, rotate: [[0, 0, 1], [1, 0, 0], [0, 1, 0]]}, density: 1}", path);
  t = build("{name: s3}", text);
  total = 0;
  for (int i = 0; i < 3; i++) total += cb_system_masses(t.s)[i];
  check_relative(total, acos(0), 1e-14);
  for (int i = 0; i < 3; i++) check_near(t.start->x[i * K], 0, 1e-16); /* turned out of x */
  drop(&t);
  snprintf(text, sizeof text, "{kind: network, mesh: {file: %s}}", path);
  t = build("{name: h2}", text);
  check_separations(&t, 3, (double[]){acos(0), acos(0), acosh(pow(cosh(acos(0)), 2))}, 1e-14);
  drop(&t);
  remove(path);
}

static void triangles_have_the_area_of_their_angles(void **state) {
  (void)state;
  /* Right isosceles triangle of leg a in curvature +-1: area by Gauss-Bonnet from its angles. */
  for (double a = 0.1; a < 1.5; a *= 1.7) {
    double c_s = acos(cos(a) * cos(a)), angle_s = asin(sin(a) / sin(c_s)), c_h = acosh(cosh(a) * cosh(a)),
           angle_h = asin(sinh(a) / sinh(c_h));
    check_near(cb_triangle_area(1, a, a, c_s), 2 * angle_s - acos(0), 1e-12); /* acos near 1 */
    check_near(cb_triangle_area(-1, a, a, c_h), acos(0) - 2 * angle_h, 1e-12);
    check_near(cb_triangle_area(0.01, 10 * a, 10 * a, 10 * c_s), 100 * cb_triangle_area(1, a, a, c_s), 1e-11);
  }
  check_relative(cb_triangle_area(0, 3, 4, 5), 6., 1e-15);
  check_relative(cb_triangle_area(-1, 300, 300, 300), 2 * acos(0), 1e-14);
}

static void what_is_wrong_is_told_with_its_place(void **state) {
  (void)state;
  static const struct {
    const char *space, *body, *text;
  } cases[] = {
      {"{name: h3}", "{kind: rod, " H3_ROD ", mass: -1}",
       "test:1:92: error: mass: expected a number > 0, in units of mass, found '-1'"},
      {"{name: h3}", "{kind: rod,\n place: {chart: polar,\n  points: [[1, 1, 1]]}}",
       "test:3:11: error: points: expected 2 points, found 1"},
      {"{name: h3}", "{kind: rod,\n " H3_ROD ",\n masses: [1]}",
       "test:3:10: error: masses: expected a list of 2 numbers, found 1"},
      {"{name: h3}", "{kind: rod,\n " H3_ROD ",\n mass: 1, masses: [1, 2]}",
       "test:3:19: error: masses: given beside `mass`, expected one of the two"},
      {"{name: h3}", "{kind: rod,\n " H3_ROD ",\n masses: [1, -2]}",
       "test:3:14: error: mass of particle 1: expected a number > 0, found -2"},
      {"{name: h3}", "{kind: rod,\n " H3_ROD ",\n motion: {killing: bost_x}}",
       "test:3:20: error: the space has no Killing field 'bost_x', did you mean 'boost_x'? Expected one of: boost_x, "
       "boost_y, boost_z, rotation_x, rotation_y, rotation_z"},
      {"{name: h3}", "{kind: rod,\n place: {chart: pola, points: [[1, 1, 1], [2, 1, 1]]}}",
       "test:2:17: error: the space has no chart 'pola', did you mean 'polar'?"},
      {"{name: h3}", "{kind: rod,\n place: {points: [[0, 0, 0, 1],\n  [0, 0, 1, 1]]}}", "test:3:3: error: "},
      {"{name: h3}", "{kind: rod,\n place: {chart: polar, points: [[1, 1, 1],\n  [1, 1]]}}", "test:3:3: error: "},
      {"{name: h3}", "{kind: rod,\n place:\n  {chart: polar, points:\n  [[1, 1, 1], [1, 1, 1]]}}",
       "test:4:3: error: two bonded points coincide"},
      {"{name: s3}", "{kind: rod,\n place: {points:\n [[1, 0, 0, 0], [-1, 0, 0, 0]]}}",
       "test:3:2: error: two bonded points, 3.14159265 apart, are antipodal"},
      {"{name: e3}", "{kind: network, place: {points: [[0, 0, 0], [1, 0, 0]]},\n springs: [[0, 2]]}",
       "test:2:16: error: springs: expected a particle from 0 to 1, found 2"},
      {"{name: e3}", "{kind: network, place: {points: [[0, 0, 0], [1, 0, 0]]},\n springs: [[1, 1]]}",
       "test:2:12: error: springs: expected two particles, found 1 twice"},
      {"{name: e3}", "{kind: network, place: {points: [[0, 0, 0], [0, 0, 0]]},\n springs: [[0, 1]]}",
       "test:2:12: error: two bonded points coincide"},
      {"{name: e3}", "{kind: rod, place: {points: [[0, 0, 0], [1, 0, 0]]},\n link: {spring: {stifness: 1}}}",
       "test:2:18: error: unknown key 'stifness', did you mean 'stiffness'?"},
      {"{name: e3}", "{kind: rod, place: {points: [[0, 0, 0], [1, 0, 0]]},\n link: {spring: {rest: -1}}}",
       "test:2:24: error: rest: expected a number >= 0"},
      {"{name: e3}", "{kind: rod, place: {points: [[0, 0, 0], [1, 0, 0]],\n move: [{killing: translation_x}]}}",
       "test:2:9: error: move: expected `by`"},
      {"{name: s3}", "{kind: particles, place: {points: [[1, 0, 0, 0]]},\n motion: {velocities: [[1, 0, 0, 0]]}}",
       "test:2:24: error: velocities: not a tangent vector at its point"},
      {"{name: e3}", "{kind: network,\n mesh: {scale: 2}}", "test:2:8: error: "},
      {"{name: e3}", "{kind: network,\n lattice: {size: [2, 0]}}",
       "test:2:22: error: size: expected an integer >= 1, found 0"},
      {"{name: e3}", "{kind: rod}", "test:1:1: error: expected `place`"},
      {"{name: s3, chart: polar}", "{kind: rod,\n place: {points: [[1, 1, 1],\n  [0, 1, 1]]}}", "test:3:3: error: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *text = refused(cases[i].space, cases[i].body);
    if (strncmp(text, cases[i].text, strlen(cases[i].text))) {
      print_error("%s\n  found    %s\n  expected %s...\n", cases[i].body, text, cases[i].text);
      fail();
    }
  }
  /* A file that is not there is a file error. */
  cb_geometry *g = check_space("{name: e3}");
  cb_builder *b;
  check_ok(cb_builder_create(g, &b));
  assert_int_equal(check_add_body(g, "{kind: network, mesh: {file: no-such-mesh.obj}}", b), CB_ERROR_FILE);
  cb_builder_free(b);
  cb_geometry_free(g);
}

static void the_builder_refuses_what_makes_no_system(void **state) {
  (void)state;
  cb_geometry *g = check_space("{name: e3}");
  cb_builder *b;
  cb_system *s = NULL;
  double x[3] = {0}, y[3] = {1};
  check_ok(cb_builder_create(g, &b));
  check_error_begins(cb_builder_finish(b, &s), CB_ERROR_ARGUMENT, "a system without particles");
  check_ok(cb_builder_body(b, "a", NULL));
  check_error_begins(cb_builder_body(b, "a", NULL), CB_ERROR_ARGUMENT, "two bodies are named 'a'");
  check_error_begins(cb_builder_particle(b, NULL, 0, 0, 0, x, NULL, NULL), CB_ERROR_ARGUMENT,
                     "mass 0: expected a number > 0");
  check_error_begins(cb_builder_particle(b, NULL, 1, 0, 0, (double[]){NAN, 0, 0}, NULL, NULL), CB_ERROR_DOMAIN,
                     "a coordinate");
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, x, NULL, NULL));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, y, NULL, NULL));
  check_error_begins(cb_builder_spring(b, 0, 2, 1, 1, 0), CB_ERROR_ARGUMENT,
                     "spring between particles 0 and 2: expected 0 to 1");
  check_error_begins(cb_builder_interaction(b, 0, 3, CB_LAW_GRAVITY, 1, 0, NULL), CB_ERROR_ARGUMENT,
                     "body 3: expected 0 to 0");
  assert_int_equal(cb_builder_interaction(b, 0, 0, CB_LAW_EXPRESSION, 0, 0, "exp(-d)/r"), CB_ERROR_INPUT);
  assert_int_equal(cb_builder_expression_at(b), 8);
  check_error_begins(cb_builder_potential(b, -1, "polr", "x"), CB_ERROR_ARGUMENT, "the space has no chart 'polr'");
  assert_null(s);
  cb_builder_free(b);
  cb_geometry_free(g);
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
      cmocka_unit_test(listed_springs_join_what_they_say),
      cmocka_unit_test(second_neighbours_are_two_edges_apart),
      cmocka_unit_test(a_lattice_fills_its_box),
      cmocka_unit_test(a_mesh_weighs_its_density_times_its_area),
      cmocka_unit_test(triangles_have_the_area_of_their_angles),
      cmocka_unit_test(what_is_wrong_is_told_with_its_place),
      cmocka_unit_test(the_builder_refuses_what_makes_no_system),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
