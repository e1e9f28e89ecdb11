/* Tests of the triangulation of polygons. Simple polygons in any plane are covered exactly once, for any first corner.
 * Polygons that are not plane or that intersect themselves are rejected with their line. */
#include "mesh_cube.h"

#include "numerics/vec3.h"

enum { MOST = 48 };

/* ---- simple polygons with integer coordinates, with exact sums ---- */

typedef struct polygon {
  int n;
  long long p[MOST][2];
} polygon;

static int turn(const long long *a, const long long *b, const long long *c) {
  const long long x = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  return (x > 0) - (x < 0);
}

/* Returns whether c, which is on the line through a and b, is between them. */
static bool between(const long long *a, const long long *b, const long long *c) {
  for (int k = 0; k < 2; k++)
    if ((c[k] < a[k] && c[k] < b[k]) || (c[k] > a[k] && c[k] > b[k])) return false;
  return true;
}

static bool touch(const long long *a, const long long *b, const long long *c, const long long *d) {
  const int s = turn(a, b, c), t = turn(a, b, d), u = turn(c, d, a), v = turn(c, d, b);
  if (s * t < 0 && u * v < 0) return true;
  return (!s && between(a, b, c)) || (!t && between(a, b, d)) || (!u && between(c, d, a)) || (!v && between(c, d, b));
}

/* Returns whether the sides i < j touch although they should not. Neighbouring sides always share a corner; for these
 * the function returns whether they fold back. */
static bool sides_touch(const polygon *g, int i, int j) {
  const int n = g->n, i1 = (i + 1) % n, j1 = (j + 1) % n;
  if (i1 == j) return !turn(g->p[i], g->p[j], g->p[j1]) && !between(g->p[i], g->p[j1], g->p[j]);
  if (j1 == i) return !turn(g->p[j], g->p[i], g->p[i1]) && !between(g->p[j], g->p[i1], g->p[i]);
  return touch(g->p[i], g->p[i1], g->p[j], g->p[j1]);
}

/* Returns a simple polygon of random points on a grid of `size`. The order of the points is reversed between sides that
 * touch, until no sides touch. */
static polygon random_polygon(uint64_t *seed, int n, int size) {
  for (;;) {
    polygon g = {.n = n};
    for (int i = 0; i < n; i++)
      for (int k = 0; k < 2; k++) g.p[i][k] = (long long)check_uniform(seed, 0, size);
    bool simple = false;
    for (int round = 0; round < 400 && !simple; round++) {
      simple = true;
      for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
          if (sides_touch(&g, i, j)) {
            simple = false;
            for (int a = i + 1, b = j; a < b; a++, b--)
              for (int k = 0; k < 2; k++) {
                const long long kept = g.p[a][k];
                g.p[a][k] = g.p[b][k];
                g.p[b][k] = kept;
              }
          }
    }
    if (simple) return g;
  }
}

/* ---- in space ---- */

typedef struct plane {
  double origin[3], axis[2][3];
} plane;

static plane random_plane(uint64_t *seed, double distance, double size) {
  plane p;
  double normal[3], direction[3], length;
  check_direction(seed, 3, p.origin);
  check_direction(seed, 3, normal);
  do {
    check_direction(seed, 3, direction);
    cb_cross3(normal, direction, p.axis[0]);
    length = sqrt(cb_dot3(p.axis[0], p.axis[0]));
  } while (length < 0.1);
  for (int k = 0; k < 3; k++) {
    p.origin[k] *= distance;
    p.axis[0][k] *= size / length;
  }
  cb_cross3(normal, p.axis[0], p.axis[1]);
  return p;
}

static cb_status read_at(const polygon *g, const plane *p, int first, cb_mesh **mesh) {
  cb_text text = {0};
  for (int i = 0; i < g->n; i++) {
    double x[3];
    for (int k = 0; k < 3; k++)
      x[k] = p->origin[k] + (double)g->p[i][0] * p->axis[0][k] + (double)g->p[i][1] * p->axis[1][k];
    put(&text, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
  }
  put(&text, "f");
  for (int i = 0; i < g->n; i++) put(&text, " %d", (first + i) % g->n + 1);
  const cb_status status = read_obj(text.data, mesh);
  cb_text_free(&text);
  return status;
}

/* Computes twice the signed areas of the triangles relative to the polygon's normal: their sum and their minimum. */
static void measure(const cb_mesh *mesh, double *sum, double *least) {
  double normal[3] = {0};
  const double *first = mesh->vertices[mesh->corners[0]];
  *sum = 0;
  *least = INFINITY;
  for (size_t i = 0; i < mesh->n_vertices; i++) {
    const double *a = mesh->vertices[mesh->corners[i]], *b = mesh->vertices[mesh->corners[(i + 1) % mesh->n_vertices]];
    double n[3];
    cb_normal3(first, a, b, n);
    for (int k = 0; k < 3; k++) normal[k] += n[k];
  }
  const double area = sqrt(cb_dot3(normal, normal));
  for (size_t t = 0; t < mesh->n_triangles; t++) {
    const int *v = mesh->triangles[t];
    double n[3];
    cb_normal3(mesh->vertices[v[0]], mesh->vertices[v[1]], mesh->vertices[v[2]], n);
    const double own = cb_dot3(n, normal) / area;
    *least = fmin(*least, own);
    *sum += own;
  }
}

/* Checks that each side occurs once, in its direction, and each diagonal once in each direction. If all triangles also
 * have the orientation of the polygon, they cover it exactly once. */
static void check_boundary(const cb_mesh *mesh) {
  static int runs[MOST][MOST];
  const int n = (int)mesh->n_vertices;
  memset(runs, 0, sizeof runs);
  for (size_t t = 0; t < mesh->n_triangles; t++)
    for (int k = 0; k < 3; k++) runs[mesh->triangles[t][k]][mesh->triangles[t][(k + 1) % 3]]++;
  for (int i = 0; i < n; i++) {
    const int a = mesh->corners[i], b = mesh->corners[(i + 1) % n];
    assert_int_equal(runs[a][b]--, 1);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      assert_true(runs[i][j] <= 1);
      assert_int_equal(runs[i][j], runs[j][i]);
    }
}

static void check_filled(const polygon *g, const plane *p, int first) {
  cb_mesh *mesh = NULL;
  double sum, least, twice = 0, extent = 0, size = sqrt(cb_dot3(p->axis[0], p->axis[0])),
                     far = sqrt(cb_dot3(p->origin, p->origin));
  for (int i = 0; i < g->n; i++) {
    const long long *a = g->p[i], *b = g->p[(i + 1) % g->n];
    twice += (double)(a[0] * b[1] - a[1] * b[0]);
    extent = fmax(extent, size * (double)(a[0] > a[1] ? a[0] : a[1]));
  }
  check_ok(read_at(g, p, first, &mesh));
  assert_int_equal(mesh->n_triangles, g->n - 2);
  check_boundary(mesh);
  measure(mesh, &sum, &least);
  const double round_off = 1e-15 * (extent + 4 * far) * extent * g->n;
  check_near(sum, fabs(twice) * size * size, round_off);
  check_at_least(least, -round_off / g->n);
  cb_mesh_free(mesh);
}

static void simple_polygons_are_filled_once_in_any_plane(void **state) {
  uint64_t seed = check_seed();
  static const double sizes[] = {1, 1e-6, 1e6}, distances[] = {0, 1, 1e6};
  static const plane flat = {.axis = {{1, 0, 0}, {0, 1, 0}}};
  for (int trial = 0; trial < 900; trial++) {
    /* The smaller the grid, the more corners are collinear. */
    const int n = (int)check_uniform(&seed, 4, trial % 3 ? 16 : MOST), size = trial % 2 ? 1000 : n / 2 + 2;
    const polygon g = random_polygon(&seed, n, size);
    const plane p = random_plane(&seed, distances[trial % 3] * sizes[trial / 3 % 3], sizes[trial / 3 % 3]);
    check_filled(&g, trial % 4 ? &p : &flat, (int)check_uniform(&seed, 0, n));
  }
}

static void the_first_corner_does_not_matter(void **state) {
  uint64_t seed = check_seed();
  for (int trial = 0; trial < 40; trial++) {
    const int n = (int)check_uniform(&seed, 4, 24);
    const polygon g = random_polygon(&seed, n, trial % 2 ? 1000 : n / 2 + 2);
    const plane p = random_plane(&seed, 1, 1);
    for (int first = 0; first < n; first++) check_filled(&g, &p, first);
  }
}

/* ---- short files ---- */

static void check_triangles(const char *text, int n, double area) {
  cb_mesh *mesh = NULL;
  double sum, least;
  check_ok(read_obj(text, &mesh));
  assert_int_equal(mesh->n_triangles, n);
  sum = 0;
  least = INFINITY;
  for (size_t t = 0; t < mesh->n_triangles; t++) {
    const int *v = mesh->triangles[t];
    double x[3];
    cb_normal3(mesh->vertices[v[0]], mesh->vertices[v[1]], mesh->vertices[v[2]], x);
    least = fmin(least, x[2] / 2);
    sum += x[2] / 2;
  }
  check_near(sum, area, 1e-15 * 16);
  check_at_least(least, 0);
  cb_mesh_free(mesh);
}

#define SQUARE "v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\n"
#define HOLE SQUARE "v 1 1 0\nv 1 3 0\nv 3 3 0\nv 3 1 0\n"

static void corners_may_be_in_line_or_in_one_place(void **state) {
  static const struct {
    const char *text;
    int n;
    double area;
  } cases[] = {/* an arrow head of four corners, starting at each of them */
               {"v 2 0 0\nv .2 .2 0\nv 0 2 0\nv 0 0 0\nf 1 2 3 4\n", 2, 0.4},
               {"v 2 0 0\nv .2 .2 0\nv 0 2 0\nv 0 0 0\nf 2 3 4 1\n", 2, 0.4},
               /* a corner in the middle of a side, also as the first corner */
               {SQUARE "v 2 0 0\nf 1 5 2 3 4\n", 3, 16},
               {SQUARE "v 2 0 0\nf 5 2 3 4 1\n", 3, 16},
               {SQUARE "v 1 0 0\nv 2 0 0\nv 3 0 0\nf 1 5 6 7 2 3\n", 4, 8},
               /* two corners that coincide */
               {SQUARE "v 4 4 0\nf 1 2 3 5 4\n", 3, 16},
               /* a hole, which is joined by a bridge that occurs in both directions: ten corners, eight triangles */
               {HOLE "f 1 2 3 4 1 5 6 7 8 5\n", 8, 12},
               {HOLE "f 5 1 2 3 4 1 5 6 7 8\n", 8, 12},
               {HOLE "v 0 0 0\nv 1 1 0\nf 1 2 3 4 9 10 6 7 8 5\n", 8, 12},
               /* two lobes that meet in a corner, and a hole that touches a corner */
               {SQUARE "v 5 -2 0\nv 6 -1 0\nf 1 2 5 6 2 3 4\n", 3, 17.5},
               {SQUARE "v 1 3 0\nv 3 3 0\nf 1 2 3 4 1 5 6\n", 5, 13},
               {SQUARE "v 2 3 0\nv 3 2 0\nf 1 2 3 5 6 1 5 3 4\n", 5, 13.5},
               /* all corners on a line: no area */
               {"v 0 0 0\nv 1 1 1\nv 3 3 3\nv 2 2 2\nf 1 2 3 4\n", 2, 0},
               {"v 1 1 1\nv 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3 4\n", 2, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_triangles(cases[i].text, cases[i].n, cases[i].area);
}

#define CUTS(n) "a polygon of " #n " corners intersects itself: expected a polygon that does not, or triangles"
#define WARPED(corner, off)                                                                         \
  "a polygon of 4 corners is not planar: the distance of corner " #corner " from its plane is " off \
  " of its size, "                                                                                  \
  "expected at most 0.001, or triangles"

static void one_that_cuts_itself_or_is_warped_is_refused_by_line(void **state) {
  static const struct {
    const char *text, *error;
  } cases[] = {
      /* a bow tie with equal lobes and with different lobes; a five-pointed star; a polygon that goes round twice; a
       * loop inside a loop, joined at one corner; a lobe across a corner; a polygon that goes more than once around its
       * first corner */
      {SQUARE "f 1 3 2 4\n", CUTS(4)},
      {SQUARE "v 0 9 0\nf 1 3 2 5\n", CUTS(4)},
      {"v 0 3 0\nv -2 -3 0\nv 3 1 0\nv -3 1 0\nv 2 -3 0\nf 1 2 3 4 5\n", CUTS(5)},
      {SQUARE "f 1 2 3 4 1 2 3 4\n", CUTS(8)},
      {SQUARE "v 3 1 0\nv 1 3 0\nf 1 2 3 4 1 5 6\n", CUTS(7)},
      {SQUARE "v 6 1 0\nv 6 -1 0\nf 1 5 2 6 3 4\n", CUTS(6)},
      {"v 0 0 0\nv 1 0 0\nv -.2 1.2 0\nv -1.4 -.5 0\nv 1 -1.6 0\nv 1.6 1.3 0\nf 1 2 3 4 5 6\n", CUTS(6)},
      /* polygons that are not plane, near the origin and far from it */
      {SQUARE "v 0 4 1\nf 1 2 3 5\n", WARPED(1, "0.043")},
      {"v 1e6 0 0\nv 1000004 0 0\nv 1000004 4 0\nv 1e6 4 1\nf 1 2 3 4\n", WARPED(1, "0.043")},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_mesh *mesh = NULL;
    char expected[300];
    int line = 1;
    for (const char *c = cases[i].text; *c != 'f'; c++) line += *c == '\n';
    snprintf(expected, sizeof expected, "a.obj:%d:1: error: %s", line, cases[i].error);
    check_error(read_obj(cases[i].text, &mesh), CB_ERROR_INPUT, expected);
    assert_null(mesh);
  }
}

/* ---- every format ---- */

static void put_ply(cb_text *text, const char *format, const double (*x)[3], int n) {
  const cube_style style = {format, "double", "uchar", "int"};
  put(text,
      "ply\nformat %s 1.0\nelement face 1\nproperty list uchar int vertex_indices\nelement vertex %d\n"
      "property double x\nproperty double y\nproperty double z\nend_header\n",
      format, n);
  put_value(text, &style, "uchar", n);
  for (int i = 0; i < n; i++) put_value(text, &style, "int", i);
  for (int i = 0; i < n; i++) {
    put(text, strcmp(format, "ascii") ? "" : "\n");
    for (int k = 0; k < 3; k++) put_value(text, &style, "double", x[i][k]);
  }
}

static void put_off(cb_text *text, const double (*x)[3], int n) {
  put(text, "OFF %d 1 0\n", n);
  for (int i = 0; i < n; i++) put(text, "%g %g %g\n", x[i][0], x[i][1], x[i][2]);
  put(text, "%d", n);
  for (int i = 0; i < n; i++) put(text, " %d", i);
}

static void ply_and_off_cut_ears_too_and_refuse_by_place(void **state) {
  static const double arrow[4][3] = {{2, 0, 0}, {.2, .2, 0}, {0, 2, 0}, {0, 0, 0}},
                      bent[4][3] = {{0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 1}};
  static const char *const formats[] = {"ascii", "binary_little_endian", "binary_big_endian", NULL},
                           *const errors[] = {"a:10:1: error: ", "a:10:1: error: byte 172: ",
                                              "a:10:1: error: byte 169: ", "a:6:1: error: "};
  for (int f = 0; f < 4; f++)
    for (int wrong = 0; wrong < 2; wrong++) {
      const double(*x)[3] = wrong ? bent : arrow;
      cb_text text = {0};
      cb_mesh *mesh = NULL;
      char expected[300];
      if (formats[f])
        put_ply(&text, formats[f], x, 4);
      else
        put_off(&text, x, 4);
      const cb_status status =
          cb_mesh_read_text("a", text.data, text.length, formats[f] ? CB_MESH_PLY : CB_MESH_OFF, NULL, &mesh);
      snprintf(expected, sizeof expected, "%s%s", errors[f], WARPED(1, "0.043"));
      if (wrong) {
        check_error(status, CB_ERROR_INPUT, expected);
      } else {
        double sum, least;
        check_ok(status);
        measure(mesh, &sum, &least);
        check_near(sum, 0.8, 1e-15);
        check_near(least, 0.4, 1e-15);
      }
      cb_mesh_free(mesh);
      cb_text_free(&text);
    }
}

/* Coordinates have six digits. In a small polygon far from the origin, their rounding exceeds a thousandth of the size
 * of the polygon, which is the usual tolerance for plane polygons. Such a polygon is accepted nevertheless. */
static void six_digits_are_enough_to_be_plane(void **state) {
  uint64_t seed = check_seed();
  for (int trial = 0; trial < 400; trial++) {
    const plane p = random_plane(&seed, 1, trial % 2 ? 2e-4 : 1);
    cb_text text = {0};
    cb_mesh *mesh = NULL;
    for (int i = 0; i < 4; i++) {
      double x[3];
      for (int k = 0; k < 3; k++) x[k] = p.origin[k] + (i % 3 ? p.axis[0][k] : 0) + (i / 2 ? p.axis[1][k] : 0);
      put(&text, "v %.6g %.6g %.6g\n", x[0], x[1], x[2]);
    }
    put(&text, "f 1 2 3 4\n");
    check_ok(read_obj(text.data, &mesh));
    assert_int_equal(mesh->n_triangles, 2);
    cb_mesh_free(mesh);
    cb_text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(simple_polygons_are_filled_once_in_any_plane),
                                     cmocka_unit_test(the_first_corner_does_not_matter),
                                     cmocka_unit_test(corners_may_be_in_line_or_in_one_place),
                                     cmocka_unit_test(one_that_cuts_itself_or_is_warped_is_refused_by_line),
                                     cmocka_unit_test(ply_and_off_cut_ears_too_and_refuse_by_place),
                                     cmocka_unit_test(six_digits_are_enough_to_be_plane)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
