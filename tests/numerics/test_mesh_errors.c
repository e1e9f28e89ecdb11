/* Tests of wrong meshes: the exact text of every error. Headers with false numbers cause no large allocation. */
#include "mesh_cube.h"

#include <sys/resource.h>

static void a_wrong_obj_fails_with_its_place(void **state) {
#define V3 "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
  static const struct {
    const char *text, *error;
  } cases[] = {
      {"", "a.obj:1:1: error: expected at least one vertex, found none"},
      {"# nothing\no a\n", "a.obj:1:1: error: expected at least one vertex, found none"},
      {"v 0 0\n", "a.obj:1:6: error: expected z, found the end of the line"},
      {"v 0", "a.obj:1:4: error: expected y, found the end of the file"},
      {"v 0 0 1 # 2\nv 1 x 0\n", "a.obj:2:5: error: expected y, a finite number, found 'x'"},
      {"v 0 nan 0\n", "a.obj:1:5: error: expected y, a finite number, found 'nan'"},
      {"v 0 0 -inf\n", "a.obj:1:7: error: expected z, a finite number, found '-inf'"},
      {"v 1e999 0 0\n", "a.obj:1:3: error: expected x, a finite number, found '1e999'"},
      {"v 0x10 0 0\n", "a.obj:1:3: error: expected x, a finite number, found '0x10'"},
      {"v 0 0 1m\n", "a.obj:1:7: error: expected z, a finite number, found '1m'"},
      {"v 0 0 0 1 2 3 4 5\n", "a.obj:1:17: error: expected the end of the line after 7 numbers, found '5'"},
      {V3 "f 1 2 4\n", "a.obj:4:7: error: index 4 is out of range, expected 1 to 3 or -1 to -3"},
      {V3 "f 0 1 2\n", "a.obj:4:3: error: index 0 is out of range, expected 1 to 3 or -1 to -3"},
      {V3 "l -4 1\n", "a.obj:4:3: error: index -4 is out of range, expected 1 to 3 or -1 to -3"},
      {V3 "f 1 2 99999999999999999999\n",
       "a.obj:4:7: error: index 99999999999999999999 is out of range, expected 1 to 3 or -1 to -3"},
      {V3 "f 1 2 4294967297\n", "a.obj:4:7: error: index 4294967297 is out of range, expected 1 to 3 or -1 to -3"},
      {"f 1 2 -1\n" V3, "a.obj:1:7: error: index -1 is out of range, expected 1 to 3 or -1 to -0"},
      {V3 "f 1 2\n", "a.obj:4:6: error: expected at least 3 corners, found the end of the line"},
      {V3 "l 1\n", "a.obj:4:4: error: expected at least 2 vertices, found the end of the line"},
      {V3 "f 1 2 x\n", "a.obj:4:7: error: expected a corner such as 1, 1/2, 1//3 or 1/2/3, found 'x'"},
      {V3 "f 1 2 3/a\n", "a.obj:4:7: error: expected a corner such as 1, 1/2, 1//3 or 1/2/3, found '3/a'"},
      {V3 "f 1 2 3/1/1/1\n", "a.obj:4:7: error: expected a corner such as 1, 1/2, 1//3 or 1/2/3, found '3/1/1/1'"},
      {V3 "f 1 1.5 3\n", "a.obj:4:5: error: expected a corner such as 1, 1/2, 1//3 or 1/2/3, found '1.5'"},
      {V3 "f 1 2 2\n", "a.obj:4:1: error: an edge joins vertex 2 to itself: expected different vertices"},
      {V3 "f 3 1 2 3\n", "a.obj:4:1: error: an edge joins vertex 3 to itself: expected different vertices"},
      {V3 "l 1 -3\n", "a.obj:4:1: error: an edge joins vertex 1 to itself: expected different vertices"},
      {V3 "\nface 1 2 3\n", "a.obj:5:1: error: expected a statement such as v, f or l, found 'face'"},
      {"\x7f"
       "ELF\x02",
       "a.obj:1:1: error: expected a statement such as v, f or l, found '?ELF?'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_mesh *mesh = NULL;
    check_error(read_obj(cases[i].text, &mesh), CB_ERROR_INPUT, cases[i].error);
    assert_null(mesh);
  }
}

#define HEAD "ply\nformat ascii 1.0\n"
#define XYZ "property float x\nproperty float y\nproperty float z\n"
#define FACES "property list uchar int vertex_indices\n"
#define TWO HEAD "element vertex 2\n" XYZ
#define EDGE "element edge 1\nproperty int vertex1\nproperty int vertex2\nend_header\n"

static void a_wrong_ply_header_fails_with_its_place(void **state) {
  static const struct {
    const char *text, *error;
  } cases[] = {
      {"", "a.ply:1:1: error: expected a PLY file, which begins with 'ply'"},
      {"v 0 0 0", "a.ply:1:1: error: expected a PLY file, which begins with 'ply'"},
      {"ply\nformat ascii 2.0\n", "a.ply:2:14: error: expected version 1.0, found '2.0'"},
      {"ply\nformat text 1.0\n",
       "a.ply:2:8: error: expected ascii, binary_little_endian or binary_big_endian, found 'text'"},
      {"ply\nelement vertex 1\n" XYZ "end_header\n",
       "a.ply:6:1: error: expected a format before the header ends, found 'end_header'"},
      {HEAD "format ascii 1.0\n", "a.ply:3:8: error: found a second format, expected only one"},
      {HEAD "elements vertex 1\n",
       "a.ply:3:1: error: expected format, element, property, comment or end_header, found 'elements'"},
      {HEAD "element vertex\n", "a.ply:3:15: error: expected the number of rows, found the end of the line"},
      {HEAD "element vertex x\n", "a.ply:3:16: error: expected the number of rows, an integer, found 'x'"},
      {HEAD "element vertex -1\n", "a.ply:3:16: error: expected the number of rows, at least 0, found '-1'"},
      {HEAD "element vertex 1 2\n", "a.ply:3:18: error: expected the end of the line, found '2'"},
      {HEAD "element vertex 1\nelement vertex 1\n",
       "a.ply:4:9: error: found a second element 'vertex', expected different names"},
      {HEAD "element tristrips 1\n",
       "a.ply:3:9: error: expected faces instead of strips of triangles, found 'tristrips'"},
      {HEAD "property float x\n", "a.ply:3:1: error: found a property before any element, expected an element first"},
      {HEAD "element vertex 1\nproperty real x\n",
       "a.ply:4:10: error: expected a type such as float, double or list, found 'real'"},
      {HEAD "element vertex 1\nproperty float x\nproperty double x\n",
       "a.ply:5:17: error: found a second property 'x', expected different properties"},
      {HEAD "element vertex 1\nproperty list uchar float x\n", "a.ply:4:27: error: property 'x': expected a number"},
      {HEAD "element face 1\nproperty int vertex_index\n",
       "a.ply:4:14: error: property 'vertex_index': expected a list"},
      {HEAD "element face 1\nproperty list float int vertex_index\n",
       "a.ply:4:15: error: expected an integer type such as uchar or int, found 'float'"},
      {HEAD "element face 1\nproperty list uchar float vertex_index\n",
       "a.ply:4:21: error: expected an integer type such as uchar or int, found 'float'"},
      {HEAD "element edge 1\nproperty double vertex1\n",
       "a.ply:4:10: error: expected an integer type such as uchar or int, found 'double'"},
      {HEAD "element vertex 1\nproperty float x\nproperty float y\nend_header\n0 0\n",
       "a.ply:3:9: error: expected property 'z' in this element"},
      {TWO "element face 1\nproperty int flags\nend_header\n",
       "a.ply:7:9: error: expected property 'vertex_indices' in this element"},
      {HEAD "element vertex 1\n" XYZ "element none 5\nend_header\n0 0 0\n",
       "a.ply:7:9: error: the element has rows but no properties: expected at least one property"},
      {HEAD "element vertex 1\n" XYZ, "a.ply:7:1: error: expected end_header, found the end of the file"},
      {HEAD "element vertex 1000000000000\n" XYZ "end_header\n0 0 0\n",
       "a.ply:3:16: error: 1000000000000 rows need at least 6 bytes each, but only 6 bytes follow: expected a complete "
       "file"},
      {HEAD "element vertex 99999999999999999999\n" XYZ "end_header\n0 0 0\n",
       "a.ply:3:16: error: 9223372036854775807 rows need at least 6 bytes each, but only 6 bytes follow: expected a "
       "complete file"},
      {HEAD "element vertex 0\n" XYZ "end_header\n", "a.ply:1:1: error: expected at least one vertex, found none"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_mesh *mesh = NULL;
    check_error(read_ply(cases[i].text, &mesh), CB_ERROR_INPUT, cases[i].error);
    assert_null(mesh);
  }
}

static void a_wrong_ply_row_fails_with_its_place(void **state) {
  static const struct {
    const char *text, *error;
  } cases[] = {
      {TWO "end_header\n0 0 0\n1 inf 0\n", "a.ply:9:3: error: expected y, a finite number, found 'inf'"},
      {TWO "end_header\n0 0 0\n1 0\n       ", "a.ply:9:4: error: expected z, found the end of the line"},
      {TWO "end_header\n0 0 0        \n1 0", "a.ply:9:4: error: expected z, found the end of the file"},
      {TWO "end_header\n0 0 0 1\n1 0 0\n", "a.ply:8:7: error: expected the end of the line, found '1'"},
      {TWO "end_header\n0 0 0\n1 0 0\n\n2 0 0\n", "a.ply:11:1: error: expected the end of the file, found '2'"},
      {TWO "element face 1\n" FACES "end_header\n0 0 0\n1 0 0\n3 0 1 2\n",
       "a.ply:12:7: error: index 2 is out of range, expected 0 to 1"},
      {TWO "element face 1\n" FACES "end_header\n0 0 0\n1 0 0\n3 0 1 -1\n",
       "a.ply:12:7: error: index -1 is out of range, expected 0 to 1"},
      {TWO "element face 1\n" FACES "end_header\n0 0 0\n1 0 0\n2 0 1\n",
       "a.ply:12:1: error: expected a face of at least 3 corners, found 2"},
      {TWO "element face 1\n" FACES "end_header\n0 0 0\n1 0 0\n-1\n",
       "a.ply:12:1: error: expected the length of a list, at least 0, found -1"},
      {TWO "element face 1\n" FACES "end_header\n0 0 0\n1 0 0\n9 0 1\n",
       "a.ply:12:6: error: expected the index of a vertex, found the end of the line"},
      {TWO "element face 1\n" FACES "end_header\n0 0 0\n1 0 0\n3 0 1 1.0\n",
       "a.ply:12:7: error: expected the index of a vertex, an integer, found '1.0'"},
      {TWO "element face 1\n" FACES "end_header\n0 0 0\n1 0 0\n3 0 1 1\n",
       "a.ply:12:1: error: an edge joins vertex 1 to itself: expected different vertices"},
      {TWO EDGE "0 0 0\n1 0 0\n1 1\n",
       "a.ply:13:1: error: an edge joins vertex 1 to itself: expected different vertices"},
      {TWO EDGE "0 0 0\n1 0 0\n0 2\n", "a.ply:13:3: error: index 2 is out of range, expected 0 to 1"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_mesh *mesh = NULL;
    check_error(read_ply(cases[i].text, &mesh), CB_ERROR_INPUT, cases[i].error);
    assert_null(mesh);
  }
}

static void a_wrong_binary_row_fails_with_its_offset(void **state) {
  for (int big = 0; big <= 1; big++) {
    cb_text head = {0};
    put(&head, "ply\nformat binary_%s_endian 1.0\nelement vertex 2\n" XYZ "element face 1\n" FACES "end_header\n",
        big ? "big" : "little");
    char expected[200];
    /* The data are six floats, a length and three indices. The number at the offset `at` is wrong. */
    static const struct {
      double wrong;
      int at;
      const char *error;
    } cases[] = {{NAN, 4, "expected y, a finite number, found nan"},
                 {INFINITY, 20, "expected z, a finite number, found inf"},
                 {2, 24, "expected a face of at least 3 corners, found 2"},
                 {2, 29, "index 2 is out of range, expected 0 to 1"},
                 {-5, 33, "index -5 is out of range, expected 0 to 1"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
      cb_text text = {0};
      cb_text_put(&text, head.data, head.length);
      for (int i = 0; i < 10; i++) {
        int at = i < 6 ? 4 * i : i == 6 ? 24 : 25 + 4 * (i - 7);
        bool wrong = at == cases[c].at;
        if (i < 6)
          put_binary(&text, &(float){wrong ? (float)cases[c].wrong : (float)i}, 4, big);
        else if (i == 6)
          put_binary(&text, &(uint8_t){wrong ? (uint8_t)cases[c].wrong : 3}, 1, big);
        else
          put_binary(&text, &(int32_t){wrong ? (int32_t)cases[c].wrong : i % 2}, 4, big);
      }
      snprintf(expected, sizeof expected, "a.ply:10:1: error: byte %zu: %s", head.length + (size_t)cases[c].at,
               cases[c].error);
      cb_mesh *mesh = NULL;
      check_error(cb_mesh_read_text("a.ply", text.data, text.length, CB_MESH_PLY, NULL, &mesh), CB_ERROR_INPUT,
                  expected);
      cb_text_free(&text);
    }
    cb_text_free(&head);
  }
}

static void every_truncation_fails_and_names_the_end(void **state) {
  static const char *const formats[] = {"binary_little_endian", "binary_big_endian"};
  for (int f = 0; f < 2; f++) {
    cube_style style = {formats[f], "double", "uchar", "int"};
    cb_text text = {0};
    put_cube(&text, &style);
    cb_mesh *mesh = NULL;
    for (size_t n = 0; n < text.length; n++) {
      /* A copy of exactly n bytes, so that a sanitizer finds a read beyond them. */
      char *part = malloc(n + 1);
      memcpy(part, text.data, n);
      part = realloc(part, n ? n : 1);
      assert_int_equal(cb_mesh_read_text("a.ply", part, n, CB_MESH_PLY, NULL, &mesh), CB_ERROR_INPUT);
      free(part);
      if (n > 400) assert_true(strstr(cb_error_text(), "end of the file") || strstr(cb_error_text(), "bytes follow"));
    }
    cb_text_put(&text, "x", 1);
    check_error_begins(cb_mesh_read_text("a.ply", text.data, text.length, CB_MESH_PLY, NULL, &mesh), CB_ERROR_INPUT,
                       "a.ply:17:1: error: byte ");
    assert_non_null(strstr(cb_error_text(), ": expected the end of the file"));
    assert_null(mesh);
    cb_text_free(&text);
  }
}

static void a_header_that_lies_takes_no_memory(void **state) {
  static const char *const formats[] = {"ascii", "binary_little_endian"};
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  for (int f = 0; f < 2; f++) {
    char text[400];
    snprintf(text, sizeof text, "ply\nformat %s 1.0\nelement vertex 2000000000\n" XYZ "end_header\n0 0 0\n",
             formats[f]);
    cb_mesh *mesh = NULL;
    check_error_begins(read_ply(text, &mesh), CB_ERROR_INPUT, "a.ply:3:16: error: 2000000000 rows need at least ");
  }
  getrusage(RUSAGE_SELF, &after);
  assert_true(after.ru_maxrss - before.ru_maxrss < 4096);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_header_that_lies_takes_no_memory),
                                     cmocka_unit_test(a_wrong_obj_fails_with_its_place),
                                     cmocka_unit_test(a_wrong_ply_header_fails_with_its_place),
                                     cmocka_unit_test(a_wrong_ply_row_fails_with_its_place),
                                     cmocka_unit_test(a_wrong_binary_row_fails_with_its_offset),
                                     cmocka_unit_test(every_truncation_fails_and_names_the_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
