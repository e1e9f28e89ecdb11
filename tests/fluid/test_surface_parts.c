/* Tests of surfaces from arrays and groups: the faces of a part, the faces of an edge, and arrays that are rejected. */
#include "surface_measures.h"
#include "tetrahedra.h"

#include <unistd.h>

static cb_surface *read_obj_text(const char *text) {
  char path[] = "/tmp/curvebody-test-XXXXXX";
  FILE *file = fdopen(mkstemp(path), "wb");
  fputs(text, file);
  fclose(file);
  cb_surface *s = NULL;
  cb_status status = cb_surface_read(path, false, &s);
  unlink(path);
  check_ok(status);
  return s;
}

static void groups_that_share_an_edge_are_one_part(void **state) {
#define TETRAHEDRON "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
  cb_surface *s = read_obj_text(TETRAHEDRON "o head\nf 1 3 2\nf 1 2 4\no tail fin\nf 1 4 3\nf 2 3 4\n");
  assert_int_equal(s->parts, 1);
  assert_string_equal(s->name[0], "head+tail fin");
  assert_false(s->open[0]);
  check_ok(cb_surface_check(s, false));
  cb_surface_free(s);
  s = read_obj_text(TETRAHEDRON
                    "v 9 0 0\nv 9 1 0\nv 9 0 1\nf 5 6 7\ng a\nf 1 3 2\nf 1 2 4\ng\ng a\nf 1 4 3\nf 2 3 4\n");
  assert_int_equal(s->parts, 2);
  assert_string_equal(s->name[0], "default");
  assert_string_equal(s->name[1], "a");
  assert_true(s->open[0] && !s->open[1]);
  check_ok(cb_surface_check(s, true));
  check_error_begins(cb_surface_check(s, false), CB_ERROR_DOMAIN,
                     "part 'default': not closed: 3 edges with one face, the first is");
  cb_surface_free(s);
}

static void pieces_are_parts_and_edges_know_their_faces(void **state) {
  static const int faces[8][3] = {{0, 2, 1}, {4, 6, 5}, {0, 1, 3}, {4, 5, 7},
                                  {0, 3, 2}, {4, 7, 6}, {1, 2, 3}, {5, 6, 7}};
  cb_surface *s = NULL;
  check_ok(cb_surface_make(8, points, 8, faces, NULL, &s));
  assert_int_equal(s->parts, 2);
  for (int f = 0; f < 8; f++) assert_int_equal(s->part[f], f % 2);
  cb_surface_edge *edge = NULL;
  int n = 0;
  check_ok(cb_surface_edges(s, &edge, &n));
  assert_int_equal(n, 12);
  for (int e = 0; e < n; e++) {
    assert_true(edge[e].a < edge[e].b);
    if (e) assert_true(edge[e - 1].a < edge[e].a || (edge[e - 1].a == edge[e].a && edge[e - 1].b < edge[e].b));
    for (int side = 0; side < 2; side++) {
      const int *c = s->face[edge[e].face[side]];
      int from = side ? edge[e].b : edge[e].a, to = side ? edge[e].a : edge[e].b, found = 0;
      for (int k = 0; k < 3; k++) found += c[k] == from && c[(k + 1) % 3] == to;
      assert_int_equal(found, 1);
    }
  }
  free(edge);
  cb_surface_free(s);
}

static void wrong_arrays_are_refused(void **state) {
  static const int good[2][3] = {{0, 2, 1}, {0, 1, 3}}, far[2][3] = {{0, 2, 1}, {0, 1, 8}},
                   twice[2][3] = {{0, 2, 1}, {0, 1, 1}};
  static const int gap[2] = {0, 2}, gap1[2] = {1, 1}, negative[2] = {0, -1};
  cb_surface *s = NULL;
  check_error(cb_surface_make(8, points, 2, far, NULL, &s), CB_ERROR_ARGUMENT, "face 2: vertex 9: expected 1 to 8");
  check_error(cb_surface_make(8, points, 2, twice, NULL, &s), CB_ERROR_ARGUMENT,
              "face 2: vertex 2 twice: expected three different vertices");
  check_error(cb_surface_make(8, points, 2, good, gap, &s), CB_ERROR_ARGUMENT,
              "face 2: part 3: expected 1 to at most 2");
  check_error(cb_surface_make(8, points, 2, good, gap1, &s), CB_ERROR_ARGUMENT,
              "part 1 of 2 has no faces: expected part numbers without gaps");
  check_error(cb_surface_make(8, points, 2, good, negative, &s), CB_ERROR_ARGUMENT,
              "face 2: part 0: expected 1 to at most 2");
  check_error_begins(cb_surface_make(2, points, 2, good, NULL, &s), CB_ERROR_ARGUMENT,
                     "a surface of 2 vertices and 2 faces");
  double x[8][3];
  memcpy(x, points, sizeof x);
  x[4][1] = NAN;
  check_error(cb_surface_make(8, (const double(*)[3])x, 2, good, NULL, &s), CB_ERROR_DOMAIN,
              "vertex 5: expected finite coordinates, found (5, nan, 0)");
  x[4][1] = -INFINITY;
  check_error(cb_surface_make(8, (const double(*)[3])x, 2, good, NULL, &s), CB_ERROR_DOMAIN,
              "vertex 5: expected finite coordinates, found (5, -inf, 0)");
  assert_null(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(groups_that_share_an_edge_are_one_part),
      cmocka_unit_test(pieces_are_parts_and_edges_know_their_faces),
      cmocka_unit_test(wrong_arrays_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
