/* Tests of the search for self-intersections (cuts) of a surface. It is compared with edges that pierce faces, computed
 * exactly for integer coordinates, and with closed forms. Faces that only touch are no cut, and the built-in shapes
 * have none. */
#include "fluid_mesh.h"
#include "surface_measures.h"

#include "fluid/surface_mesh.h"

/* Makes the surface of a mesh, with a part for each connected piece, and frees the mesh. */
static cb_surface *pieces(mesh m) {
  free(m.part);
  m.part = NULL;
  return mesh_surface(m);
}

static cb_surface_cut *cuts;
static int n_cuts;

/* Finds the cuts of a surface, and frees the surface. Returns the number of pairs of faces that cut each other. */
static int cuts_of(cb_surface *s) {
  free(cuts);
  cuts = NULL;
  check_ok(cb_surface_cuts(s, &cuts, &n_cuts));
  cb_surface_free(s);
  int pairs = 0;
  for (int i = 0; i < n_cuts; i++) pairs += cuts[i].pairs;
  return pairs;
}

/* Joins both meshes and frees them. */
static mesh joined(mesh a, mesh b) {
  mesh m = mesh_room(a.vertices + b.vertices, a.faces + b.faces);
  const mesh *from[] = {&a, &b};
  for (int k = 0; k < 2; k++) {
    int first = m.vertices;
    for (int v = 0; v < from[k]->vertices; v++) mesh_vertex(&m, from[k]->x[v][0], from[k]->x[v][1], from[k]->x[v][2]);
    for (int f = 0; f < from[k]->faces; f++)
      mesh_face(&m, first + from[k]->face[f][0], first + from[k]->face[f][1], first + from[k]->face[f][2]);
    free(from[k]->x);
    free(from[k]->face);
    free(from[k]->part);
  }
  return m;
}

/* Makes a box from the corner `low` to the corner `high` with 2 n^2 faces per side. */
static mesh block(int n, const double low[3], const double high[3]) {
  double half[3], middle[3];
  for (int k = 0; k < 3; k++) {
    half[k] = (high[k] - low[k]) / 2;
    middle[k] = (high[k] + low[k]) / 2;
  }
  mesh m = mesh_box(n, half, false);
  mesh_move(&m, middle);
  return m;
}
#define BLOCK(n, a, b, c, d, e, f) block(n, (double[3]){a, b, c}, (double[3]){d, e, f})

static mesh ball(int n, double x, double radius) {
  mesh m = mesh_ellipsoid(n, radius, radius, radius);
  mesh_move(&m, (double[3]){x, 0, 0});
  return m;
}

/* Returns whether the volume of the tetrahedron a, b, c, d is positive. Five such signs tell whether an edge pierces a
 * face. The volume must not be 0. */
static bool volume_positive(const double *a, const double *b, const double *c, const double *d) {
  long double m[3][3];
  const double *row[] = {b, c, d};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) m[i][k] = (long double)row[i][k] - a[k];
  long double v = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) +
                  m[0][1] * (m[1][2] * m[2][0] - m[1][0] * m[2][2]) + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
  assert_true(v != 0);
  return v > 0;
}
static bool pierces(const cb_surface *s, int f, int g) {
  const double *a = s->x[s->face[g][0]], *b = s->x[s->face[g][1]], *c = s->x[s->face[g][2]];
  for (int i = 0; i < 3; i++) {
    const double *p = s->x[s->face[f][i]], *q = s->x[s->face[f][(i + 1) % 3]];
    if (volume_positive(a, b, c, p) == volume_positive(a, b, c, q)) continue;
    bool side = volume_positive(p, q, a, b);
    if (side == volume_positive(p, q, b, c) && side == volume_positive(p, q, c, a)) return true;
  }
  return false;
}

static void random_triangles_cut_as_whole_numbers_say(void **state) {
  enum { TRIANGLES = 250 };
  uint64_t seed = check_seed();
  mesh m = mesh_room(3 * TRIANGLES, TRIANGLES);
  for (int t = 0; t < TRIANGLES; t++) {
    double at[3];
    for (int k = 0; k < 3; k++) at[k] = floor(check_uniform(&seed, 0, 2000));
    for (int i = 0; i < 3; i++) {
      double x[3];
      for (int k = 0; k < 3; k++) x[k] = at[k] + floor(check_uniform(&seed, 0, 1000));
      mesh_vertex(&m, x[0], x[1], x[2]);
    }
    mesh_face(&m, 3 * t, 3 * t + 1, 3 * t + 2);
  }
  cb_surface *s = pieces(m);
  free(cuts);
  check_ok(cb_surface_cuts(s, &cuts, &n_cuts));
  assert_int_equal(s->parts, TRIANGLES);
  int next = 0;
  for (int f = 0; f < TRIANGLES; f++)
    for (int g = f + 1; g < TRIANGLES; g++) {
      if (!pierces(s, f, g) && !pierces(s, g, f)) continue;
      assert_true(next < n_cuts);
      assert_int_equal(cuts[next].face[0], f);
      assert_int_equal(cuts[next].face[1], g);
      assert_int_equal(cuts[next++].pairs, 1);
    }
  print_message("%d cuts among %d triangles\n", n_cuts, TRIANGLES);
  assert_int_equal(next, n_cuts);
  assert_in_range(n_cuts, 100, 2000);
  cb_surface_free(s);
}

static void two_spheres_cut_in_their_circle(void **state) {
  uint64_t seed = check_seed();
  enum { N = 6 };
  mesh m = joined(ball(N, 0, 1), ball(N, 1.2, 1));
  mesh_shake(&m, &seed, 1e-3);
  cb_surface *s = pieces(m);
  int expected = 0;
  for (int f = 0; f < s->faces / 2; f++)
    for (int g = s->faces / 2; g < s->faces; g++) expected += pierces(s, f, g) || pierces(s, g, f);
  assert_int_equal(cuts_of(s), expected);
  assert_in_range(expected, 30, 1000);
  assert_int_equal(n_cuts, 1);
  assert_int_equal(cuts->part[0], 0);
  assert_int_equal(cuts->part[1], 1);
  /* For unit spheres whose centres are d = 1.2 apart, the circle of intersection is at x = d/2 and has the radius
   * sqrt(1 - d^2/4). The tolerance covers the distance of the flat faces from the sphere, and the random shifts of the
   * vertices. */
  check_near(cuts->at[0], .6, .05);
  check_near(hypot(cuts->at[1], cuts->at[2]), .8, .05);
}

static void spheres_apart_or_nested_do_not_cut(void **state) {
  assert_int_equal(cuts_of(pieces(joined(ball(10, 0, 1), ball(10, 2.01, 1)))), 0);
  assert_int_equal(cuts_of(pieces(joined(ball(10, 0, 1), ball(10, .2, .5)))), 0);
  assert_int_equal(cuts_of(pieces(ball(20, 0, 1))), 0);
  assert_int_equal(cuts_of(pieces(mesh_torus(40, 20, 1, .4))), 0);
  assert_int_equal(cuts_of(pieces(mesh_plate(6, 1, 2, true))), 0); /* front and back are in one plane */
}

static void boxes_that_touch_do_not_cut(void **state) {
  for (int n = 1; n < 4; n++) {
    assert_int_equal(cuts_of(pieces(joined(BLOCK(n, 0, 0, 0, 1, 1, 1), BLOCK(n, 1, 0, 0, 2, 1, 1)))), 0);
    assert_int_equal(cuts_of(pieces(joined(BLOCK(n, 0, 0, 0, 1, 1, 1), BLOCK(2, .2, .1, 1, .7, .8, 2)))), 0);
    assert_int_equal(cuts_of(pieces(joined(BLOCK(n, 0, 0, 0, 1, 1, 1), BLOCK(1, 1, .3, -1, 2, .6, 3)))), 0);
    assert_int_equal(cuts_of(pieces(joined(BLOCK(n, 0, 0, 0, 1, 1, 1), BLOCK(n, 1, 1, 0, 2, 2, 1)))), 0);
    assert_int_equal(cuts_of(pieces(joined(BLOCK(n, 0, 0, 0, 1, 1, 1), BLOCK(n, 1, 1, 1, 2, 2, 2)))), 0);
  }
}

static void boxes_in_line_that_overlap_cut(void **state) {
  for (int n = 1; n < 4; n++) {
    /* In the first two pairs no edge pierces a face, because sides of the boxes are in common planes. */
    assert_true(cuts_of(pieces(joined(BLOCK(n, 0, 0, 0, 1, 1, 1), BLOCK(n, .3, 0, 0, 1.3, 1, 1)))) > 0);
    assert_true(cuts_of(pieces(joined(BLOCK(n, 0, 0, 0, 1, 1, 1), BLOCK(n, .5, .5, 0, 2, 2, 1)))) > 0);
    assert_true(cuts_of(pieces(joined(BLOCK(n, 0, 0, 0, 1, 1, 1), BLOCK(n, .5, .5, .5, 2, 2, 2)))) > 0);
    /* in this pair edges cross edges */
    assert_true(cuts_of(pieces(joined(BLOCK(n, -1, -.1, -.1, 1, .1, .1), BLOCK(n, -.1, -1, -.1, .1, 1, .1)))) > 0);
  }
}

static void a_cut_is_deeper_than_single_precision(void **state) {
  for (double depth = 1e-9; depth < .1; depth *= 10) {
    mesh under = BLOCK(2, 0, 0, 0, 1, 1, 1), upon = BLOCK(2, .2, .1, 1 - depth, .7, .8, 2);
    int pairs = cuts_of(pieces(joined(under, upon)));
    assert_int_equal(pairs > 0, depth > 2e-7); /* overlaps below 1e-7 of the height 2 do not count */
  }
  /* if boxes only touch, the rounding of their coordinates to single precision makes no cut */
  uint64_t seed = check_seed();
  for (int i = 0; i < 10; i++) {
    double at[3];
    for (int k = 0; k < 3; k++) at[k] = check_uniform(&seed, 0, 1);
    mesh m = joined(BLOCK(3, at[0], at[1], at[2], at[0] + 1, at[1] + 1, at[2] + 1),
                    BLOCK(2, at[0] + .2, at[1] + .3, at[2] + 1, at[0] + .7, at[1] + .6, at[2] + 2));
    for (int v = 0; v < m.vertices; v++)
      for (int k = 0; k < 3; k++) m.x[v][k] = (float)m.x[v][k];
    assert_int_equal(cuts_of(pieces(m)), 0);
  }
}

static void a_sheet_through_a_ball_cuts_it(void **state) {
  for (int k = 0; k < 2; k++) {
    mesh sheet = mesh_plate(7, 3, 3, false);
    mesh_move(&sheet, (double[3]){.01, .02, k ? 1.1 : .3});
    int pairs = cuts_of(pieces(joined(ball(8, 0, 1), sheet)));
    assert_int_equal(n_cuts, !k);
    if (!k) check_near(cuts->at[2], .3, 1e-12);
    if (!k) check_near(hypot(cuts->at[0], cuts->at[1]), sqrt(1 - .09), .02);
    assert_int_equal(pairs > 0, !k);
  }
}

/* Makes a closed tube around the curve (sin u, sin 2u / 2, lift cos u), a figure of eight. If `lift` is 0, the curve
 * crosses itself at the origin. */
static mesh eight(int n, int k, double radius, double lift) {
  mesh m = mesh_room(n * k, 2 * n * k);
  for (int i = 0; i < n; i++) {
    double u = 2 * PI * (i + .3) / n, t[] = {cos(u), cos(2 * u), 0}, size = hypot(t[0], t[1]);
    for (int j = 0; j < k; j++) {
      double v = 2 * PI * j / k;
      mesh_vertex(&m, sin(u) + radius * cos(v) * t[1] / size, sin(2 * u) / 2 - radius * cos(v) * t[0] / size,
                  lift * cos(u) + radius * sin(v));
    }
  }
  mesh_grid(&m, 0, n, k, true);
  return m;
}

static void a_tube_that_meets_itself_cuts_itself(void **state) {
  char text[CB_SURFACE_CUT_TEXT], expected[CB_SURFACE_CUT_TEXT];
  assert_int_equal(cuts_of(pieces(eight(60, 9, .1, .3))), 0);
  cb_surface *s = pieces(eight(60, 9, .1, 0));
  free(cuts);
  check_ok(cb_surface_cuts(s, &cuts, &n_cuts));
  assert_int_equal(n_cuts, 1);
  assert_int_equal(cuts->part[0], 0);
  assert_int_equal(cuts->part[1], 0);
  /* Two tubes of radius r cross at a right angle. Their cut is within r sqrt(2) of the crossing of their axes in the
   * plane of the axes, and within r of this plane. */
  check_at_most(length_of(cuts->at), sqrt(3) * .1);
  cb_surface_cut_text(s, cuts, text);
  snprintf(expected, sizeof expected,
           "part 'body' cuts itself in %d pairs of faces, the first %d and %d, at (%g, %g, %g)", cuts->pairs,
           cuts->face[0] + 1, cuts->face[1] + 1, cuts->at[0], cuts->at[1], cuts->at[2]);
  assert_string_equal(text, expected);
  cb_surface_free(s);
}

static void cuts_move_with_the_surface(void **state) {
  uint64_t seed = check_seed();
  mesh m = joined(ball(9, 0, 1), BLOCK(5, -.2, -.3, -2, .4, .5, 2));
  mesh_shake(&m, &seed, 1e-2);
  cb_surface *s = pieces(m);
  const double r[3][3] = {{.36, .48, -.8}, {-.8, .6, 0}, {.48, .64, .6}}, far[3] = {30, -200, 70};
  const double scale[] = {1, 1e-3, 1e4};
  cb_surface_cut first = {0};
  for (int k = 0; k < 3; k++) {
    mesh moved = mesh_room(s->vertices, s->faces);
    for (int v = 0; v < s->vertices; v++) {
      double x[3] = {0};
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) x[i] += r[i][j] * s->x[v][j];
        x[i] = (x[i] + far[i]) * scale[k];
      }
      mesh_vertex(&moved, x[0], x[1], x[2]);
    }
    for (int f = 0; f < s->faces; f++) mesh_face(&moved, s->face[f][0], s->face[f][1], s->face[f][2]);
    int pairs = cuts_of(pieces(moved));
    assert_int_equal(n_cuts, 1);
    if (!k) first = *cuts;
    assert_in_range(pairs, 30, 2000);
    assert_int_equal(pairs, first.pairs);
    assert_memory_equal(cuts->face, first.face, sizeof first.face);
    for (int i = 0; i < 3; i++)
      check_near(cuts->at[i], first.at[i] * scale[k], 1e-10 * scale[k]); /* round-off of coordinates up to 200 */
  }
  cb_surface_free(s);
}

static void parts_are_reported_two_by_two(void **state) {
  /* a row of balls, each of which overlaps the next one */
  cb_surface *s = pieces(joined(joined(ball(6, 0, 1), ball(6, 1.5, 1)), joined(ball(6, 3, 1), ball(6, 4.5, 1))));
  char text[CB_SURFACE_CUT_TEXT];
  free(cuts);
  check_ok(cb_surface_cuts(s, &cuts, &n_cuts));
  assert_int_equal(n_cuts, 3);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(cuts[i].part[0], i);
    assert_int_equal(cuts[i].part[1], i + 1);
    assert_int_equal(s->part[cuts[i].face[0]], i);
    assert_int_equal(s->part[cuts[i].face[1]], i + 1);
    check_near(cuts[i].at[0], 1.5 * i + .75, .05);
  }
  cb_surface_cut_text(s, &cuts[1], text);
  assert_non_null(strstr(text, "parts 'part2' and 'part3' cut each other in "));
  cb_surface_free(s);
}

static void no_shape_of_ours_cuts_itself(void **state) {
  static const char *const resolution[] = {"resolution=8", "resolution=24"};
  for (int i = 0; cb_shape_classes[i]; i++)
    for (int k = 0; k < 2; k++) {
      if (cuts_of(shape(cb_shape_classes[i]->name, resolution[k])) == 0) continue;
      print_error("%s with %s cuts itself\n", cb_shape_classes[i]->name, resolution[k]);
      fail();
    }
}

static int free_cuts(void **state) {
  free(cuts);
  cuts = NULL;
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_triangles_cut_as_whole_numbers_say),
                                     cmocka_unit_test(two_spheres_cut_in_their_circle),
                                     cmocka_unit_test(spheres_apart_or_nested_do_not_cut),
                                     cmocka_unit_test(boxes_that_touch_do_not_cut),
                                     cmocka_unit_test(boxes_in_line_that_overlap_cut),
                                     cmocka_unit_test(a_cut_is_deeper_than_single_precision),
                                     cmocka_unit_test(a_sheet_through_a_ball_cuts_it),
                                     cmocka_unit_test(a_tube_that_meets_itself_cuts_itself),
                                     cmocka_unit_test(cuts_move_with_the_surface),
                                     cmocka_unit_test(parts_are_reported_two_by_two),
                                     cmocka_unit_test(no_shape_of_ours_cuts_itself)};
  return cmocka_run_group_tests(tests, NULL, free_cuts);
}
