/* Tests of cb_surface_check for closed and open surfaces. Surfaces that do not bound bodies, and pieces inside other
 * pieces, are rejected, and the message says where. The time is about proportional to the number of pieces. */
#include "surface_measures.h"
#include "tetrahedra.h"

#include <time.h>

static const int tetrahedron[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}; /* the faces point outwards */

static void check_refused(const double (*x)[3], int vertices, const int (*face)[3], int faces, const int *part,
                          bool open, const char *text) {
  cb_surface *s = NULL;
  check_ok(cb_surface_make(vertices, x, faces, face, part, &s));
  check_error(cb_surface_check(s, open), CB_ERROR_DOMAIN, text);
  cb_surface_free(s);
}

static void what_is_wrong_is_said_with_its_place(void **state) {
  static const double x[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}, {0, 0, -1}, {0, -1, 0}};
  static const int flat[][3] = {{0, 2, 1}, {0, 1, 4}};
  check_refused(x, 6, flat, 2, NULL, true, "part 'body': face 2 (vertices 1, 2, 5) at (0, 0, 0) has no area");
  static const int same[][3] = {{0, 2, 1}, {0, 1, 3}, {2, 1, 0}};
  check_refused(x, 6, same, 3, NULL, true, "part 'body': faces 1 and 3 have the same vertices 3, 2, 1, at (0, 1, 0)");
  static const int pillow[][3] = {{0, 2, 1}, {0, 1, 2}};
  check_refused(x, 6, pillow, 2, NULL, false,
                "part 'body': faces 1 and 2 have the same vertices 1, 2, 3, at (0, 0, 0), with opposite orientations: "
                "pieces touch "
                "there, or there is no space between them");
  static const int open[][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}};
  check_refused(x, 6, open, 3, NULL, false,
                "part 'body': not closed: 3 edges with one face, the first is the edge of vertices 2 and 3, from (1, "
                "0, 0) to (0, 1, 0), face 1");
  static const int three[][3] = {{0, 2, 1}, {0, 1, 3}, {0, 1, 5}};
  check_refused(x, 6, three, 3, NULL, true,
                "part 'body': not a surface: more than two faces at the edge of vertices 1 and 2, from (0, 0, 0) to "
                "(1, 0, 0), "
                "face 3");
  /* two pieces share an edge */
  static const int hinge[][3] = {{1, 0, 2}, {0, 1, 3}, {0, 1, 5}, {1, 0, 6}};
  check_refused(
      x, 7, hinge, 4, NULL, true,
      "part 'body': not one surface: pieces touch, with more than two faces, at the edge of vertices 1 and 2, "
      "from (0, 0, 0) to (1, 0, 0), face 3");
  static const int turned[][3] = {{0, 2, 1}, {0, 3, 1}};
  check_refused(x, 6, turned, 2, NULL, true,
                "part 'body': faces with opposite orientations at the edge of vertices 1 and 2, from (0, 0, 0) to "
                "(1, 0, 0), "
                "face 2");
  static const int inward[][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
  check_refused(x, 6, inward, 4, NULL, true,
                "part 'body': faces point inward (volume -0.166667), around face 1 at (0, 0, 0)");
  /* four faces cover a quadrilateral twice: the surface is closed, but has no interior */
  static const double square[][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  static const int empty[][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  check_refused(square, 4, empty, 4, NULL, true, "part 'body': closed but without volume, around face 1 at (0, 0, 0)");
  static const double vast[][3] = {{0, 0, 0}, {1e160, 0, 0}, {0, 1e160, 0}, {0, 0, 1e160}};
  static const int whole[][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  check_refused(vast, 4, whole, 4, NULL, false, "vertex 2 at (1e+160, 0, 0): expected coordinates up to 1e70");
  static const double large[][3] = {{0, 0, 0}, {1e70, 0, 0}, {0, 1e70, 0}, {0, 0, -1e70}};
  check_refused(large, 4, whole, 4, NULL, false,
                "part 'body': faces point inward (volume -1.66667e+209), around face 1 at (0, 0, 0)");
  cb_surface *s = NULL;
  cb_surface_edge *edge = NULL;
  int n = 0;
  check_ok(cb_surface_make(6, x, 3, three, NULL, &s));
  check_error(cb_surface_edges(s, &edge, &n), CB_ERROR_DOMAIN,
              "part 'body': 3 faces meet in the edge of vertices 1 and 2, from (0, 0, 0) to (1, 0, 0): "
              "expected at most 2");
  assert_null(edge);
  cb_surface_free(s);
}

/* Checks a surface of two tetrahedra and returns the status. part[f] is the part of face f. The second tetrahedron is
 * the first one, scaled by k about its centre and moved by `shift` along x. If inside_out is set, its faces point
 * inwards. */
static cb_status check_two(double k, bool inside_out, double shift, const int *part) {
  double x[8][3];
  int face[8][3];
  for (int v = 0; v < 8; v++)
    for (int c = 0; c < 3; c++)
      x[v][c] = v < 4 ? points[v][c] : .25 + k * (points[v - 4][c] - .25) + (c == 0 ? shift : 0);
  for (int f = 0; f < 8; f++)
    for (int c = 0; c < 3; c++) face[f][c] = f < 4 ? tetrahedron[f][c] : 4 + tetrahedron[f - 4][inside_out ? 2 - c : c];
  cb_surface *s = NULL;
  check_ok(cb_surface_make(8, (const double(*)[3])x, 8, (const int(*)[3])face, part, &s));
  cb_status status = cb_surface_check(s, false);
  cb_surface_free(s);
  return status;
}

static void a_body_in_a_body_is_refused_a_cavity_is_not(void **state) {
  static const int one[8] = {0}, two[8] = {0, 0, 0, 0, 1, 1, 1, 1};
  check_error(check_two(.5, false, 0, two), CB_ERROR_DOMAIN,
              "part 'part2': the closed piece around face 5 at (0.125, 0.125, 0.125) lies inside the closed piece of "
              "face 1 of part 'part1': expected pieces outside each other");
  check_error(check_two(.5, false, 0, one), CB_ERROR_DOMAIN,
              "part 'body': the closed piece around face 5 at (0.125, 0.125, 0.125) lies inside the closed piece of "
              "face 1 of part 'body': expected pieces outside each other");
  check_error(check_two(2, false, 0, two), CB_ERROR_DOMAIN,
              "part 'part1': the closed piece around face 1 at (0, 0, 0) lies inside the closed piece of face 5 of "
              "part 'part2': expected pieces outside each other");
  check_ok(check_two(.5, true, 0, one)); /* a cavity of the same part */
  check_error(check_two(.5, true, 0, two), CB_ERROR_DOMAIN,
              "part 'part2': a cavity inside part 'part1', around face 5 at (0.625, 0.125, 0.125): give both the same "
              "group in the mesh");
  check_ok(check_two(.5, false, 3, two)); /* the second tetrahedron is beside the first one */
  check_ok(check_two(.5, false, 3, one));
  check_error_begins(check_two(.5, true, 3, one), CB_ERROR_DOMAIN, "part 'body': faces point inward");
  check_ok(check_two(.5, false, .4, two)); /* the tetrahedra cut each other, so neither is inside the other */
}

/* Checks a surface of `pieces` tetrahedra in rows of 20, and returns the CPU time in seconds. If `nested` is set, the
 * last tetrahedron is inside the one before it. `text` is the expected error, or NULL. */
static double check_grid(int pieces, bool nested, const char *text) {
  const int n = 4 * pieces;
  double(*x)[3] = malloc((size_t)n * sizeof *x);
  int(*face)[3] = malloc((size_t)n * sizeof *face), *part = calloc((size_t)n, sizeof *part);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) {
      const bool inner = nested && i >= n - 4;
      const int at = inner ? i / 4 - 1 : i / 4, grid[3] = {at / 20, at % 20, 0};
      x[i][k] = 2 * grid[k] + (inner ? .1 + .5 * points[i % 4][k] : points[i % 4][k]);
      face[i][k] = i - i % 4 + tetrahedron[i % 4][k];
    }
  cb_surface *s = NULL;
  check_ok(cb_surface_make(n, (const double(*)[3])x, n, (const int(*)[3])face, part, &s));
  const clock_t begin = clock();
  const cb_status status = cb_surface_check(s, false);
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  if (text)
    check_error(status, CB_ERROR_DOMAIN, text);
  else
    check_ok(status);
  cb_surface_free(s);
  free(x);
  free(face);
  free(part);
  return seconds;
}

/* Four times as many pieces take about four times the time. If all pairs were compared, they would take sixteen times
 * the time. */
static void many_pieces_are_checked_by_their_boxes(void **state) {
  double few = INFINITY, many = INFINITY;
  for (int i = 0; i < 3; i++) {
    few = fmin(few, check_grid(6000, false, NULL));
    many = fmin(many, check_grid(24000, false, NULL));
  }
  print_message("  %.3f s, of four times the pieces %.3f s\n", few, many);
  check_at_most(many, 9 * few);
  check_grid(1600, true,
             "part 'body': the closed piece around face 6397 at (158.1, 36.1, 0.1) lies inside the closed piece of "
             "face 6393 of part 'body': expected pieces outside each other");
}

static void shapes_turned_inside_out_are_refused(void **state) {
  static const char *const names[] = {"torus", "turtle", "cylinder", "propeller"};
  for (int i = 0; i < 4; i++) {
    cb_surface *s = shape(names[i], "resolution=8");
    for (int f = 0; f < s->faces; f++) {
      int c = s->face[f][1];
      s->face[f][1] = s->face[f][2];
      s->face[f][2] = c;
    }
    check_error_begins(cb_surface_check(s, false), CB_ERROR_DOMAIN, "part '");
    assert_non_null(strstr(cb_error_text(), "': faces point inward (volume -"));
    cb_surface_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_wrong_is_said_with_its_place),
      cmocka_unit_test(a_body_in_a_body_is_refused_a_cavity_is_not),
      cmocka_unit_test(many_pieces_are_checked_by_their_boxes),
      cmocka_unit_test(shapes_turned_inside_out_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
