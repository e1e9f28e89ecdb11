/* Bodies with rods: which particles and constraints each kind has, their names and lengths, what is refused. */
#include "built_body.h"
#include "check_error.h"
#include "geometry/origin.h"
#include <curvebody/constraint.h>
#include <unistd.h>

enum { MOST_ROWS = 64 };

/* A row at the start. */
static double row_of(const built *t, int row) {
  double g[MOST_ROWS];
  assert_in_range(cb_system_constraints(t->s), row + 1, MOST_ROWS);
  check_ok(cb_constraints_eval(cb_forces_constraints(t->f), 0, t->start->x, g, NULL));
  return g[row];
}

static double distance_of(const built *t, int i, int j) {
  double d;
  const double *x = t->start->x + cb_system_index(t->s, i) * t->g->k;
  const double *y = t->start->x + cb_system_index(t->s, j) * t->g->k;
  if (!t->g->chart) return cb_distance(t->g, x, y);
  check_ok(t->g->chart->distance(t->g, x, y, &d, NULL, NULL));
  return d;
}

/* Bond b joins i and j, at distance d. */
static void check_bond(const built *t, int b, int i, int j, double d) {
  int found_i, found_j;
  double length[MOST_ROWS];
  cb_system_bond(t->s, b, &found_i, &found_j);
  assert_int_equal(found_i, i);
  assert_int_equal(found_j, j);
  check_ok(cb_forces_separations(t->f, t->start->x, length));
  check_near(length[b], d, 2e-15);
}

static void check_rod(const built *t, int row, int i, int j, const char *name) {
  int found_i, found_j;
  assert_true(cb_system_constraint_is_rod(t->s, row, &found_i, &found_j));
  assert_int_equal(found_i, i);
  assert_int_equal(found_j, j);
  assert_string_equal(cb_system_constraint_name(t->s, row), name);
}

#define PAIR "place: {chart: polar, points: [[0.5, pi/2, pi/2], [0.5, pi/2, 3*pi/2]]}"
#define THREE "place: {at: {chart: polar, point: [.4, 1, .3]}, tangent: [[.5, .1, 0], [-.3, .4, .2], [.1, -.5, .3]]}"
#define FOUR "place: {at: {point: [0, 0, 0, 1]}, tangent: [[.5, .1, 0], [-.3, .4, .2], [.1, -.5, .3], [0, .1, .7]]}"

static void a_rigid_rod_is_one_row_of_its_length(void **state) {
  (void)state;
  static const char *const spaces[] = {"{name: h3}", "{name: e3}", "{name: s3}", "{name: h3, chart: polar}"};
  for (int i = 0; i < 4; i++) {
    built t = build(spaces[i], "{kind: rod, name: a, masses: [1, 2], link: rod, " PAIR "}");
    assert_int_equal(cb_system_particles(t.s), 2);
    assert_int_equal(cb_system_constraints(t.s), 1);
    assert_int_equal(cb_system_bonds(t.s), 1);
    assert_int_equal(cb_system_springs(t.s), 0);
    assert_int_equal(cb_system_components(t.s), 1);
    assert_false(cb_system_constraints_depend_on_time(t.s));
    check_rod(&t, 0, 0, 1, "rod a.0 a.1");
    check_bond(&t, 0, 0, 1, 1);
    check_near(row_of(&t, 0), 0, 0); /* the distance at the start is its length */
    drop(&t);
  }
}

static void a_rod_has_the_length_that_is_given(void **state) {
  (void)state;
  built t = build("{name: h3}", "{kind: rod, link: {rod: {length: sqrt(2)/2}}, " PAIR "}");
  check_near(row_of(&t, 0), 1 - sqrt(0.5), 1e-15);
  drop(&t);
  t = build("{name: h3}", "{kind: rod, link: {rod: {length: '1.5 + 0.5*sin(2*t)'}}, " PAIR "}");
  double row, rate, x[2 * K], zero[2 * K] = {0};
  memcpy(x, t.start->x, sizeof x);
  assert_true(cb_system_constraints_depend_on_time(t.s));
  check_ok(cb_constraints_eval(cb_forces_constraints(t.f), 0.7, x, &row, NULL));
  check_near(row, 1 - (1.5 + 0.5 * sin(1.4)), 1e-15);
  check_ok(cb_constraints_rate(cb_forces_constraints(t.f), 0.7, x, zero, &rate, NULL));
  check_near(rate, -cos(1.4), 1e-15);
  drop(&t);
}

static void a_triangle_mixes_springs_and_rods(void **state) {
  (void)state;
  built t = build("{name: s3}", "{kind: triangle, name: a, link: rod, " THREE "}");
  assert_int_equal(cb_system_constraints(t.s), 3);
  check_rod(&t, 0, 0, 1, "rod a.0 a.1");
  check_rod(&t, 1, 0, 2, "rod a.0 a.2");
  check_rod(&t, 2, 1, 2, "rod a.1 a.2");
  for (int r = 0; r < 3; r++) check_near(row_of(&t, r), 0, 0);
  drop(&t);
  t = build("{name: h3}", "{kind: triangle, name: a, " THREE
                          ", link: [rod, {spring: {stiffness: 3, rest: .2}}, {rod: {length: 1}}]}");
  assert_int_equal(cb_system_constraints(t.s), 2);
  assert_int_equal(cb_system_springs(t.s), 1);
  assert_int_equal(cb_system_bonds(t.s), 3);
  double stiffness, rest, damping;
  cb_system_spring(t.s, 0, &stiffness, &rest, &damping);
  check_near(stiffness, 3., 0);
  check_near(rest, 0.2, 0);
  check_bond(&t, 0, 0, 2, distance_of(&t, 0, 2)); /* springs first */
  check_bond(&t, 1, 0, 1, distance_of(&t, 0, 1));
  check_bond(&t, 2, 1, 2, distance_of(&t, 1, 2));
  check_near(row_of(&t, 1), distance_of(&t, 1, 2) - 1, 1e-15);
  drop(&t);
}

static void a_frame_joins_all_pairs_but_those_with_springs(void **state) {
  (void)state;
  built t = build("{name: h3}", "{kind: frame, name: f, masses: [1, 2, 3, 4], " FOUR "}");
  static const int pair[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  assert_int_equal(cb_system_constraints(t.s), 6);
  for (int r = 0; r < 6; r++) {
    int i, j;
    assert_true(cb_system_constraint_is_rod(t.s, r, &i, &j));
    assert_true(i == pair[r][0] && j == pair[r][1]);
    check_near(row_of(&t, r), 0, 0);
  }
  drop(&t);
  t = build("{name: s3}",
            "{kind: frame, name: f, stiffness: 5, " FOUR ", springs: [[2, 1], {between: [0, 3], rest: 1}]}");
  assert_int_equal(cb_system_constraints(t.s), 4);
  assert_int_equal(cb_system_springs(t.s), 2);
  check_rod(&t, 0, 0, 1, "rod f.0 f.1");
  check_rod(&t, 1, 0, 2, "rod f.0 f.2");
  check_rod(&t, 2, 1, 3, "rod f.1 f.3");
  check_rod(&t, 3, 2, 3, "rod f.2 f.3");
  drop(&t);
}

static void a_frame_has_the_rods_that_are_listed(void **state) {
  (void)state;
  built t = build("{name: s3}",
                  "{kind: frame, name: f, " FOUR ", rods: [[0, 1], {between: [3, 1], length: .9, name: brace}]}");
  assert_int_equal(cb_system_constraints(t.s), 2);
  check_rod(&t, 0, 0, 1, "rod f.0 f.1");
  check_rod(&t, 1, 3, 1, "brace");
  check_near(row_of(&t, 1), distance_of(&t, 1, 3) - 0.9, 1e-15);
  assert_int_equal(cb_system_components(t.s), 2);
  drop(&t);
}

static const char *write_mesh(void) {
  static char path[64];
  snprintf(path, sizeof path, "test-rigid-bodies-%ld.obj", (long)getpid());
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", file); /* a tetrahedron */
  fclose(file);
  return path;
}

static void a_frame_of_a_mesh_has_its_edges_as_rods(void **state) {
  (void)state;
  char text[300];
  const char *path = write_mesh();
  snprintf(text, sizeof text, "{kind: frame, mesh: {file: %s, scale: .5}, density: 2, springs: [[0, 1]]}", path);
  built t = build("{name: h3}", text);
  assert_int_equal(cb_system_particles(t.s), 4);
  assert_int_equal(cb_system_constraints(t.s), 6);
  assert_int_equal(cb_system_springs(t.s), 1);
  double total = 0;
  for (int i = 0; i < 4; i++) total += cb_system_masses(t.s)[i];
  assert_true(total > 2 * 0.25 * 1.5); /* more than the flat faces at the corner */
  drop(&t);
  snprintf(text, sizeof text, "{kind: network, mesh: {file: %s}, link: rod, springs: [[0, 1]], stiffness: 3}", path);
  t = build("{name: e3}", text);
  assert_int_equal(cb_system_constraints(t.s), 6);
  assert_int_equal(cb_system_springs(t.s), 1);
  for (int r = 0; r < 6; r++) check_near(row_of(&t, r), 0, 0);
  drop(&t);
  remove(path);
}

static void the_builder_keeps_the_triangles_of_bodies(void **state) {
  (void)state;
  char text[300];
  const char *path = write_mesh();
  cb_geometry *g = check_space("{name: h3}");
  cb_builder *b;
  int n, first;
  check_ok(cb_builder_create(g, &b));
  check_ok(check_add_body(g, "{kind: rod, " PAIR "}", b));
  check_ok(check_add_body(g, "{kind: triangle, name: t, " THREE "}", b));
  snprintf(text, sizeof text, "{kind: network, name: m, mesh: {file: %s}}", path);
  check_ok(check_add_body(g, text, b));
  assert_int_equal(cb_builder_bodies(b), 3);
  assert_string_equal(cb_builder_body_name(b, 2), "m");
  assert_int_equal(cb_builder_body_particles(b, 0, &first), 2);
  assert_int_equal(first, 0);
  assert_int_equal(cb_builder_body_particles(b, 2, &first), 4);
  assert_int_equal(first, 5);
  assert_null(cb_builder_triangles(b, 0, &n));
  assert_int_equal(n, 0);
  const int(*triangle)[3] = cb_builder_triangles(b, 1, &n);
  assert_int_equal(n, 1);
  assert_true(triangle[0][0] == 2 && triangle[0][1] == 3 && triangle[0][2] == 4);
  triangle = cb_builder_triangles(b, 2, &n);
  assert_int_equal(n, 4);
  assert_true(triangle[0][0] == 5 && triangle[0][1] == 7 && triangle[0][2] == 6);
  cb_builder_free(b);
  cb_geometry_free(g);
  remove(path);
}

static void a_network_has_springs_and_rods(void **state) {
  (void)state;
  built t = build("{name: h3}", "{kind: network, name: n, " FOUR
                                ", springs: [[0, 1], [1, 2]], rods: [[2, 3], {between: [3, 0], length: 1}]}");
  assert_int_equal(cb_system_springs(t.s), 2);
  assert_int_equal(cb_system_constraints(t.s), 2);
  check_rod(&t, 0, 2, 3, "rod n.2 n.3");
  check_rod(&t, 1, 3, 0, "rod n.3 n.0");
  check_bond(&t, 2, 2, 3, distance_of(&t, 2, 3));
  drop(&t);
  t = build("{name: e3}",
            "{kind: network, place: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}, rest: .3, stiffness: 2, springs: "
            "[{between: [0, 1], stiffness: 7}, {between: [0, 2], rest: .6}]}");
  double stiffness, rest, damping; /* what an entry does not say is as the body says */
  cb_system_spring(t.s, 0, &stiffness, &rest, &damping);
  assert_true(stiffness == 7 && rest == 0.3 && damping == 0);
  cb_system_spring(t.s, 1, &stiffness, &rest, &damping);
  assert_true(stiffness == 2 && rest == 0.6);
  drop(&t);
  t = build("{name: s2}",
            "{kind: network, lattice: {size: [3, 2], spacing: .2}, link: rod, neighbours: 2, "
            "bending_stiffness: 4}");
  assert_int_equal(cb_system_constraints(t.s), 7);
  assert_int_equal(cb_system_springs(t.s), 2 + 4); /* straight, diagonal */
  drop(&t);
}

static void a_chain_lies_along_a_geodesic(void **state) {
  (void)state;
  static const char *const spaces[] = {"{name: h3}", "{name: s3}", "{name: e3}", "{name: h3, curvature: -2}",
                                       "{name: h3, chart: stereographic}"};
  for (int s = 0; s < 5; s++) {
    built t = build(spaces[s],
                    "{kind: chain, name: c, count: 7, length: 1.2, from: {chart: polar, point: [.5, 1, 2]}, "
                    "along: [3, 0, -4], mass: 2, motion: {killing: rotation_z}}");
    assert_int_equal(cb_system_particles(t.s), 7);
    assert_int_equal(cb_system_constraints(t.s), 6);
    for (int i = 0; i < 6; i++) {
      char name[32];
      snprintf(name, sizeof name, "rod c.%d c.%d", i, i + 1);
      check_rod(&t, i, i, i + 1, name);
      check_near(distance_of(&t, i, i + 1), 0.2, 1e-14);
    }
    check_near(distance_of(&t, 0, 6), 1.2, 1e-14); /* straight */
    drop(&t);
  }
  built t = build("{name: e3}", "{kind: chain, count: 3, length: 4}"); /* from the base point along its first axis */
  for (int i = 0; i < 3; i++)
    check_near(check_distance_max(3, t.start->x + 3 * cb_system_index(t.s, i), (double[]){2. * i, 0, 0}), 0, 0);
  drop(&t);
}

static void a_chain_of_listed_points_may_be_of_springs(void **state) {
  (void)state;
  built t = build("{name: s3}", "{kind: chain, " THREE ", link: {spring: {stiffness: 2}}}");
  assert_int_equal(cb_system_constraints(t.s), 0);
  assert_int_equal(cb_system_springs(t.s), 2);
  drop(&t);
  t = build("{name: s3}", "{kind: chain, " THREE ", link: {rod: {length: .8}}}");
  for (int r = 0; r < 2; r++) check_near(row_of(&t, r), distance_of(&t, r, r + 1) - 0.8, 1e-15);
  drop(&t);
}

static void a_chain_is_fixed_where_it_says(void **state) {
  (void)state;
  static const struct {
    const char *fixed;
    int first, last;
  } cases[] = {{"none", 0, 0}, {"first", 1, 0}, {"last", 0, 1}, {"both", 1, 1}};
  for (int c = 0; c < 4; c++) {
    char text[400];
    snprintf(text, sizeof text, "{kind: chain, name: c, " FOUR ", fixed: %s}", cases[c].fixed);
    built t = build("{name: h3}", text);
    assert_int_equal(cb_system_constraints(t.s), 3 + 3 * (cases[c].first + cases[c].last));
    const cb_rows *rows = cb_constraints_rows(cb_forces_constraints(t.f));
    for (int r = 3; r < rows->own; r++) {
      assert_int_equal(rows->start[r + 1] - rows->start[r], 1);
      int particle = cb_system_particle(t.s, rows->particle[rows->start[r]]);
      assert_int_equal(particle, cases[c].first && r < 6 ? 0 : 3);
      check_near(row_of(&t, r), 0, 1e-16);
    }
    drop(&t);
  }
}

static void a_pendulum_hangs_at_its_distance(void **state) {
  (void)state;
  static const char *const spaces[] = {"{name: h3}", "{name: s3}", "{name: e3}", "{name: s3, chart: stereographic}",
                                       "{name: s2}"};
  for (int s = 0; s < 5; s++) {
    char text[300];
    const char *more = s == 4 ? "" : ", 2";
    snprintf(text, sizeof text,
             "{kind: pendulum, name: p, mass: 3, pivot: {chart: polar, point: [.5, 1%s]}, tangent: [0, .7%s]}", more,
             s == 4 ? "" : ", 0");
    built t = build(spaces[s], text);
    assert_int_equal(cb_system_particles(t.s), 1);
    assert_int_equal(cb_system_constraints(t.s), 1);
    assert_int_equal(cb_system_bonds(t.s), 0);
    assert_string_equal(cb_system_constraint_name(t.s, 0), "tether p.0");
    check_near(row_of(&t, 0), 0, 1e-16);
    drop(&t);
    snprintf(text, sizeof text,
             "{kind: pendulum, link: {rod: {length: .5}}, pivot: {chart: polar, point: [.5, 1%s]}, tangent: [0, .7%s]}",
             more, s == 4 ? "" : ", 0");
    t = build(spaces[s], text);
    check_near(row_of(&t, 0), 0.2, 2e-15);
    drop(&t);
  }
}

static void a_pendulum_is_moved_with_its_pivot(void **state) {
  (void)state;
  static const char *const spaces[] = {"{name: h3}", "{name: s3}", "{name: e3}", "{name: h3, chart: polar}"};
  static const char *const fields[] = {"boost_x", "rotation_wx", "translation_x", "boost_x"};
  for (int s = 0; s < 4; s++) {
    char text[400];
    snprintf(text, sizeof text,
             "{kind: pendulum, link: {rod: {length: .4}}, pivot: {chart: polar, point: [.5, 1, 2]}, tangent: [.3, .2, "
             ".6], place: {move: [{killing: %s, by: 1.5}, {killing: rotation_z, by: 1}]}}",
             fields[s]);
    built t = build(spaces[s], text);
    check_near(row_of(&t, 0), 0.7 - 0.4, 1e-14);
    drop(&t);
    snprintf(text, sizeof text,
             "{kind: pendulum, pivot: {chart: polar, point: [.5, 1, 2]}, tangent: [.3, .2, .6], place: {move: "
             "[{killing: %s, by: 1.5}]}}",
             fields[s]);
    t = build(spaces[s], text); /* as long as it was before the move */
    check_near(row_of(&t, 0), 0, 1e-14);
    drop(&t);
  }
}

static void a_pendulum_may_hang_by_a_spring(void **state) {
  (void)state;
  static const char body[] =
      "{kind: pendulum, link: {spring: {stiffness: 3%s}}, pivot: {chart: polar, point: [.5, 1, "
      "2]}, tangent: [.3, .2, .6], place: {move: [{killing: rotation_z, by: 1}]}}";
  for (int given = 0; given < 2; given++) {
    char text[300];
    snprintf(text, sizeof text, body, given ? ", rest: .5" : "");
    built t = build("{name: h3}", text);
    double potential;
    assert_int_equal(cb_system_constraints(t.s), 0);
    check_ok(cb_forces_potential(t.f, 0, t.start->x, &potential));
    check_near(potential, given ? 1.5 * 0.2 * 0.2 : 0, 1e-14);
    drop(&t);
  }
}

static void what_is_wrong_is_told_with_its_place(void **state) {
  (void)state;
#define FLAT "place: {points: [[0, 0, 0], [1, 0, 0]]},\n "
  static const struct {
    const char *space, *body, *text;
  } cases[] = {
      {"{name: e3}", "{kind: rod, " FLAT "link: rodd}",
       "test:2:8: error: link: expected rod or spring, found 'rodd', did you mean 'rod'?"},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rod: {lenth: 1}}}",
       "test:2:15: error: unknown key 'lenth', did you mean 'length'?"},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rd: {length: 1}}}",
       "test:2:9: error: unknown key 'rd', did you mean 'rod'?"},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rod: {}, spring: {}}}",
       "test:2:8: error: link: expected rod, {rod: {length: ..}} or {spring: {stiffness: .., rest: ..}}"},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rod: {length: -1}}}",
       "test:2:23: error: length: expected a number > 0, or an expression of t, found '-1'"},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rod: {length: 1 + sinn(t)}}}", "test:2:27: error: length: "},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rod: {length: [1]}}}",
       "test:2:23: error: length: expected a number or an expression of t, found a list"},
      {"{name: e3}", "{kind: rod, " FLAT "link: {rod: {length: 1/0}}}", "test:2:23: error: length: expected a number"},
      {"{name: e3}", "{kind: rod, link: rod, place: {points:\n [[0, 0, 0], [0, 0, 0]]}}",
       "test:2:2: error: two bonded points coincide"},
      {"{name: s3}", "{kind: rod, link: rod, place: {points:\n [[1, 0, 0, 0], [-1, 0, 0, 0]]}}",
       "test:2:2: error: two bonded points, 3.14159265 apart, are antipodal"},
      {"{name: e3}", "{kind: triangle, place: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]},\n link: [rod, rod]}",
       "test:2:8: error: link: expected one link, or a list of three, found a list of 2"},
      {"{name: e3}", "{kind: triangle, place: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]},\n link: [rod, rod, rdo]}",
       "test:2:19: error: link: expected rod or spring, found 'rdo'"},
      {"{name: e3}", "{kind: frame, " FLAT "rods: [[0, 2]]}",
       "test:2:13: error: rods: expected a particle from 0 to 1, found 2"},
      {"{name: e3}", "{kind: frame, " FLAT "rods: [[0]]}",
       "test:2:9: error: rods: expected a pair [i, j] or {between: [i, j], ..}"},
      {"{name: e3}", "{kind: frame, " FLAT "rods: [[1, 1]]}",
       "test:2:9: error: rods: expected two particles, found 1 twice"},
      {"{name: e3}", "{kind: frame, " FLAT "rods: 3}", "test:2:8: error: rods: expected a list of pairs"},
      {"{name: e3}", "{kind: frame, " FLAT "rods: [{between: [0, 1], lenght: 2}]}",
       "test:2:27: error: unknown key 'lenght', did you mean 'length'?"},
      {"{name: e3}", "{kind: frame, " FLAT "density: 2}", "test:2:11: error: density: expected `mesh` beside it"},
      {"{name: e3}", "{kind: network, " FLAT "link: rod}",
       "test:2:8: error: link: expected `mesh` or `lattice`, whose edges it is for"},
      {"{name: e3}", "{kind: network,\n mesh: {file: x.obj}, lattice: {size: [2]}}",
       "test:1:1: error: network: expected one of mesh and lattice, found both"},
      {"{name: e3}", "{kind: chain, count: 3}",
       "test:1:1: error: missing key 'length': expected that of the whole chain"},
      {"{name: e3}", "{kind: chain,\n count: 1, length: 1}",
       "test:2:9: error: count: expected an integer from 2 to 10000000, found 1"},
      {"{name: e3}", "{kind: chain, " FLAT "count: 4, length: 1}",
       "test:2:9: error: count: given beside points in `place`, expected one of the two"},
      {"{name: e3}", "{kind: chain, " FLAT "length: 1}", "test:2:10: error: length: expected `count` beside it"},
      {"{name: e3}", "{kind: chain, count: 4, length: 1,\n along: [0, 0, 0]}",
       "test:2:9: error: along: expected a direction, found a vector of length 0"},
      {"{name: e3}", "{kind: chain, count: 4, length: 1,\n along: [1, 0]}", "test:2:9: error: "},
      {"{name: e3}", "{kind: chain, count: 4, length: 1,\n fixed: frist}",
       "test:2:9: error: fixed: expected one of none, first, last, both, found 'frist', did you mean 'first'?"},
      {"{name: e3}", "{kind: chain, place: {points:\n [[0, 0, 0]]}}",
       "test:2:2: error: points: expected at least 2 points, found 1"},
      {"{name: e3}", "{kind: chain}", "test:1:1: error: expected `place`"},
      {"{name: e3}", "{kind: pendulum, tangent: [1, 0, 0]}",
       "test:1:1: error: missing key 'pivot': expected a value: {chart: .., point: [..]}"},
      {"{name: e3}", "{kind: pendulum, pivot: {point: [1, 0, 0]}}", "test:1:1: error: expected `place`"},
      {"{name: e3}", "{kind: pendulum, pivot: {point: [1, 0, 0]}, place: {points: [[0, 0, 1]]},\n tangent: [1, 0, 0]}",
       "test:2:11: error: tangent: given beside a point in `place`, expected one of the two"},
      {"{name: e3}", "{kind: pendulum, place: {points: [[0, 0, 1]]},\n pivot: {pint: [1, 0, 0]}}",
       "test:2:10: error: unknown key 'pint', did you mean 'point'?"},
      {"{name: e3}", "{kind: pendulum, place: {points: [[0, 0, 1]]},\n pivot: {point: [0, 0, 1]}}",
       "test:2:9: error: "},
      {"{name: e3}", "{kind: pendulum, tangent: [1, 0, 0], pivot: {point: [0, 0, 1]},\n link: {spring: {damping: 2}}}",
       "test:2:8: error: link: expected a spring without damping, found 2"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_geometry *g = check_space(cases[i].space);
    cb_builder *b;
    check_ok(cb_builder_create(g, &b));
    cb_status status = check_add_body(g, cases[i].body, b);
    if (status != CB_ERROR_INPUT || strncmp(cb_error_text(), cases[i].text, strlen(cases[i].text))) {
      print_error("%s\n  found    %s\n  expected %s...\n", cases[i].body, status ? cb_error_text() : "no error",
                  cases[i].text);
      fail();
    }
    cb_builder_free(b);
    cb_geometry_free(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rigid_rod_is_one_row_of_its_length),
      cmocka_unit_test(a_rod_has_the_length_that_is_given),
      cmocka_unit_test(a_triangle_mixes_springs_and_rods),
      cmocka_unit_test(a_frame_joins_all_pairs_but_those_with_springs),
      cmocka_unit_test(a_frame_has_the_rods_that_are_listed),
      cmocka_unit_test(a_frame_of_a_mesh_has_its_edges_as_rods),
      cmocka_unit_test(the_builder_keeps_the_triangles_of_bodies),
      cmocka_unit_test(a_network_has_springs_and_rods),
      cmocka_unit_test(a_chain_lies_along_a_geodesic),
      cmocka_unit_test(a_chain_of_listed_points_may_be_of_springs),
      cmocka_unit_test(a_chain_is_fixed_where_it_says),
      cmocka_unit_test(a_pendulum_hangs_at_its_distance),
      cmocka_unit_test(a_pendulum_is_moved_with_its_pivot),
      cmocka_unit_test(a_pendulum_may_hang_by_a_spring),
      cmocka_unit_test(what_is_wrong_is_told_with_its_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
