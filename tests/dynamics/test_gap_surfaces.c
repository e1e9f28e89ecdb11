/* Tests of gaps of surfaces. Distances of vertices, edges and faces are compared with a search, and gradients with
 * differences. Each pair of vertices, edges and faces that can meet is listed once. */
#include "check_gaps.h"

/* --- values --- */

typedef struct search {
  const cb_space *g;
  const mover *m;
  int kind;
} search;

/* Returns the distance between a point of one feature (vertex, edge or face) and a point of the other one. The
 * fractions of the geodesics that give these points are sin^2 of the unknowns `at`. */
static double distance_of_points(const gsl_vector *at, void *user) {
  const search *s = user;
  const mover *m = s->m;
  const double u = pow(sin(gsl_vector_get(at, 0)), 2), v = at->size > 1 ? pow(sin(gsl_vector_get(at, 1)), 2) : 0;
  double p[COORDS], q[COORDS];
  memcpy(p, m[0].y, sizeof p);
  if (s->kind == CB_GAP_VERTEX_EDGE) {
    between(s->g, m[1].y, m[2].y, u, q);
  } else if (s->kind == CB_GAP_VERTEX_FACE) {
    double edge[COORDS];
    between(s->g, m[2].y, m[3].y, u, edge);
    between(s->g, m[1].y, edge, v, q);
  } else {
    between(s->g, m[0].y, m[1].y, u, p);
    between(s->g, m[2].y, m[3].y, v, q);
  }
  return cb_distance(s->g, p, q);
}

static int active_ones, inactive_ones;

static void values_in(const cb_space *g, uint64_t *seed) {
  static const double radius[4] = {0.011, 0.02, 0.03, 0.04};
  int kind[2];
  mover m[4];
  random_movers(g, seed, 4, 1.5, 0.3, m);
  scene c = scene_of(g, 4, m, radius, NULL, NULL);
  const int kinds = kinds_of(g, kind);
  for (int i = 0; i < kinds; i++) {
    cb_gap gap = {kind[i], 4, {0, 1, 2, 3}, 0, 1};
    cb_gap_value value;
    double x[POINTS][COORDS];
    const double *at[POINTS] = {x[0], x[1], x[2], x[3]};
    const double r = kind[i] == CB_GAP_EDGE_EDGE ? 0.02 + 0.04 : 0.011 + (g->dim == 2 ? 0.03 : 0.04);
    for (int p = 0; p < 4; p++) assert_true(mover_at(g, &m[p], 0, x[p], NULL));
    check_ok(cb_gap_orient(c.gaps, &gap, 0, at));
    check_ok(cb_gap_eval(c.gaps, &gap, 0, at, 0, &value));
    search s = {g, m, kind[i]};
    double least = INFINITY;
    for (int begin = 0; begin < 4; begin++) { /* the search starts at four places */
      const double start[2] = {begin % 2 ? 0.4 : 1.2, begin / 2 ? 0.4 : 1.2};
      least = fmin(least, least_of(g->dim - 1, distance_of_points, &s, start, 0.3, NULL));
    }
    value.active ? active_ones++ : inactive_ones++;
    if (g->dim == 2) { /* the gap is negative if vertex 0 is on the same side of the edge 1 2 as point 3 */
      double a[COORDS], b[COORDS], to[COORDS], frame[CB_DIM_MAX * CB_COORD_MAX], w[3][2];
      check_ok(cb_log(g, m[1].y, m[2].y, to));
      check_ok(cb_log(g, m[1].y, m[0].y, a));
      check_ok(cb_log(g, m[1].y, m[3].y, b));
      cb_space_frame(g, m[1].y, frame);
      for (int j = 0; j < 2; j++) {
        w[0][j] = cb_inner(g, to, frame + j * g->embedding);
        w[1][j] = cb_inner(g, a, frame + j * g->embedding);
        w[2][j] = cb_inner(g, b, frame + j * g->embedding);
      }
      const double mine = w[0][0] * w[1][1] - w[0][1] * w[1][0], inner = w[0][0] * w[2][1] - w[0][1] * w[2][0];
      assert_true((value.gap + r < 0) == ((mine > 0) == (inner > 0)));
      if (value.gap + r < 0) continue;
    } else {
      assert_true(value.gap + r >= 0);
    }
    /* the distance changes little near its minimum, so the search is accurate only to 1e-9 */
    if (value.active)
      check_near(value.gap + r, least, 1e-9);
    else
      check_at_most(value.gap + r, least + 1e-9);
  }
  scene_free(&c);
}

static void values_of(const cb_space *g, uint64_t *seed) {
  if (!has_surfaces(g)) return;
  for (int trial = 0; trial < (CHECK_SANITIZED ? 3 : 12); trial++) check_every_chart_of(g, seed, values_in);
}

static void gaps_are_the_distances_of_nearest_points(void **state) {
  active_ones = inactive_ones = 0;
  check_every_space(values_of);
  print_message("%d within faces and edges, %d beside\n", active_ones, inactive_ones);
  check_at_least(active_ones, 0.1 * inactive_ones);
}

/* --- derivatives --- */

static void gradients_in(const cb_space *g, uint64_t *seed) {
  static const double radius[4] = {0.01, 0.02, 0.03, 0.04};
  int kind[2];
  mover m[4];
  random_movers(g, seed, 4, 1.5, 0.3, m);
  scene c = scene_of(g, 4, m, radius, NULL, NULL);
  const int kinds = kinds_of(g, kind);
  for (int i = 0; i < kinds; i++)
    for (int turned = -1; turned < 2; turned += 2) {
      const cb_gap gap = {kind[i], 4, {0, 1, 2, 3}, 0, turned};
      /* The error of differences with the step h is h^4 s^(5)/30; the derivatives of a gap s are large for sharp
       * figures. */
      check_gradient(g, c.gaps, &gap, m, 0, 2e-4, 3e-7, "a surface");
    }
  scene_free(&c);
}

static void gradients_of(const cb_space *g, uint64_t *seed) {
  if (!has_surfaces(g)) return;
  for (int trial = 0; trial < 10; trial++) check_every_chart_of(g, seed, gradients_in);
}

static void gradients_are_those_of_differences_in_every_space_and_chart(void **state) {
  check_every_space(gradients_of);
}

static void frames_of(const cb_space *g, uint64_t *seed) {
  if (!has_surfaces(g) || !cb_origin_moves(g)) return;
  for (int trial = 0; trial < 10; trial++) {
    int kind[2];
    mover m[4];
    random_movers(g, seed, 4, 1.5, 0.3, m);
    scene c = scene_of(g, 4, m, (const double[4]){0}, NULL, NULL);
    const int kinds = kinds_of(g, kind);
    for (int i = 0; i < kinds; i++)
      check_frames(g, c.gaps, &(cb_gap){kind[i], 4, {0, 1, 2, 3}, 0, 1}, m, 0, seed, 1, "a surface");
    scene_free(&c);
  }
}

static void gaps_do_not_depend_on_the_frames_of_particles(void **state) { check_every_space(frames_of); }

/* --- which gaps are listed --- */

enum { MOST = 400 };

static bool same_gap(const cb_gap *a, const cb_gap *b) {
  if (a->kind != b->kind) return false;
  for (int p = 0; p < (a->kind == CB_GAP_VERTEX_EDGE ? 3 : 4); p++)
    if (a->particle[p] != b->particle[p]) return false;
  return true;
}

/* Lists all gaps of all pairs of triangles, and checks that no gap is listed twice. Each pair is used once; which of
 * its triangles is the first alternates. */
static int list_all(const cb_gaps *gaps, cb_gap *list) {
  int n = 0;
  for (int a = 0; a < cb_gaps_triangles(gaps); a++)
    for (int b = 0; b < a; b++) {
      const int first = (a + b) % 2 ? a : b, second = a + b - first;
      n += cb_gaps_surfaces(gaps, first, second, MOST - n, list + n);
      assert_true(n <= MOST);
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) assert_false(same_gap(&list[i], &list[j]));
  return n;
}

static cb_system *surfaces(const cb_space *g, int bodies, int points, int n, const int (*triangle)[3], bool within) {
  cb_builder *b;
  cb_system *s;
  check_ok(cb_builder_create(g, &b));
  for (int i = 0; i < bodies; i++) {
    int first = 0;
    check_ok(cb_builder_body(b, (char[]){(char)('a' + i), 0}, NULL));
    for (int p = 0; p < points; p++) {
      const double x[3] = {cos(2.1 * p), sin(2.1 * p), 0.4 * p + 3 * i};
      int index;
      check_ok(cb_builder_particle(b, NULL, 1, 0, 0, x, NULL, &index));
      if (!p) first = index;
    }
    for (int t = 0; t < n; t++)
      check_ok(cb_builder_triangle(b, first + triangle[t][0], first + triangle[t][1], first + triangle[t][2]));
  }
  check_ok(cb_builder_contacts(b, &(cb_contact_options){.restitution = 1}));
  if (within) check_ok(cb_builder_contact_bodies(b, 0, 0, true));
  check_ok(cb_builder_finish(b, &s));
  cb_builder_free(b);
  return s;
}

static void every_pair_of_features_is_listed_once(void **state) {
  static const int bipyramid[6][3] = {{0, 1, 3}, {1, 2, 3}, {2, 0, 3}, {1, 0, 4}, {2, 1, 4}, {0, 2, 4}};
  static const int sheet[2][3] = {{0, 1, 2}, {2, 1, 3}};
  /* a strip of six triangles with the vertices 0, 2, 4, 6 on one side and 1, 3, 5, 7 on the other */
  static const int strip[6][3] = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}, {3, 5, 4}, {4, 5, 6}, {5, 7, 6}};
  cb_space *g;
  cb_gap list[MOST];
  cb_gaps *gaps;
  check_ok(cb_space_create("e3", NULL, &g));
  cb_system *s = surfaces(g, 2, 5, 6, bipyramid, false);
  check_ok(cb_gaps_create(s, &gaps));
  assert_int_equal(list_all(gaps, list), 2 * 5 * 6 + 9 * 9); /* vertices with faces, plus edges with edges */
  cb_gaps_free(gaps);
  cb_system_free(s);

  /* Triangle i of the strip has the vertices i, i+1 and i+2. So two triangles have no vertex in common if their numbers
   * differ by 3 or more. */
  s = surfaces(g, 1, 8, 6, strip, true);
  check_ok(cb_gaps_create(s, &gaps));
  int vertices = 0, edges = 0, n = list_all(gaps, list);
  for (int v = 0; v < 8; v++)
    for (int f = 0; f < 6; f++) {
      bool apart = false; /* whether a triangle of the vertex has no vertex in common with the face */
      for (int t = v - 2; t <= v; t++) apart = apart || (t >= 0 && t < 6 && abs(t - f) > 2);
      vertices += apart;
    }
  for (int i = 0; i < n; i++) edges += list[i].kind == CB_GAP_EDGE_EDGE;
  assert_int_equal(n - edges, vertices);
  /* The edges are (i, i+1), in the triangles i-1 and i, and (i, i+2), in triangle i. */
  int expected = 0;
  for (int i = 0; i < 8; i++)
    for (int di = 1; di < 3; di++)
      for (int j = i + 1; j < 8; j++)
        for (int dj = 1; dj < 3; dj++) {
          if (i + di > 7 || j + dj > 7) continue;
          bool apart = false;
          for (int t = i + di - 2; t <= i; t++)
            for (int u = j + dj - 2; u <= j; u++)
              apart = apart || (t >= 0 && t < 6 && u >= 0 && u < 6 && abs(t - u) > 2);
          expected += apart;
        }
  assert_int_equal(edges, expected);
  cb_gaps_free(gaps);
  cb_system_free(s);
  cb_space_free(g);

  check_ok(cb_space_create("e2", NULL, &g));
  s = surfaces(g, 2, 4, 2, sheet, false);
  check_ok(cb_gaps_create(s, &gaps));
  assert_int_equal(list_all(gaps, list), 2 * 4 * 4); /* each vertex with the 4 boundary edges of the other sheet */
  cb_gaps_free(gaps);
  cb_system_free(s);
  cb_space_free(g);
}

/* --- messages --- */

static void surfaces_are_refused_in_other_spaces(void **state) {
  cb_space *g;
  cb_builder *b;
  cb_system *s;
  check_ok(cb_space_create("h2xe", NULL, &g));
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "ball", NULL));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0.1, (const double[]){0, 0, 1, 5}, NULL, NULL));
  check_ok(cb_builder_body(b, "sheet", NULL));
  for (int i = 0; i < 3; i++)
    check_ok(cb_builder_particle(b, NULL, 1, 0, 0, (const double[]){sinh(i), 0, cosh(i), i % 2}, NULL, NULL));
  check_ok(cb_builder_triangle(b, 1, 2, 3));
  check_ok(cb_builder_contacts(b, &(cb_contact_options){.restitution = 1}));
  check_error(cb_builder_finish(b, &s), CB_ERROR_UNSUPPORTED,
              "contacts of 'sheet', which has triangles: surfaces can collide only in spaces of constant curvature of "
              "dimension 2 or 3, found h2xe, a product; expected particles with radii");
  cb_builder_free(b);
  cb_space_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gaps_are_the_distances_of_nearest_points),
      cmocka_unit_test(gradients_are_those_of_differences_in_every_space_and_chart),
      cmocka_unit_test(gaps_do_not_depend_on_the_frames_of_particles),
      cmocka_unit_test(every_pair_of_features_is_listed_once),
      cmocka_unit_test(surfaces_are_refused_in_other_spaces),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
