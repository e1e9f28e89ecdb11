/* Tests of surfaces from files. Files of every format give back the surface that was written. Formats are recognised by
 * their content. Errors in an STL or OFF file are reported with their place. */
#include "surface_measures.h"

#include <unistd.h>

/* ---- files ---- */

typedef void writer(FILE *file, const cb_surface *s);

static void write_obj(FILE *file, const cb_surface *s) {
  for (int v = 0; v < s->vertices; v++) fprintf(file, "v %.17g %.17g %.17g\n", s->x[v][0], s->x[v][1], s->x[v][2]);
  for (int f = 0; f < s->faces; f++) {
    if (!f || s->part[f] != s->part[f - 1]) fprintf(file, "g %s\n", s->name[s->part[f]]);
    fprintf(file, "f %d %d %d\n", s->face[f][0] + 1, s->face[f][1] + 1, s->face[f][2] + 1);
  }
}

static void write_ply(FILE *file, const cb_surface *s, bool binary) {
  fprintf(file, "ply\nformat %s 1.0\nelement vertex %d\nproperty double x\nproperty double y\nproperty double z\n",
          binary ? "binary_little_endian" : "ascii", s->vertices);
  fprintf(file, "element face %d\nproperty list uchar int vertex_indices\nend_header\n", s->faces);
  for (int v = 0; v < s->vertices; v++) {
    if (binary)
      fwrite(s->x[v], sizeof(double), 3, file);
    else
      fprintf(file, "%.17g %.17g %.17g\n", s->x[v][0], s->x[v][1], s->x[v][2]);
  }
  for (int f = 0; f < s->faces; f++) {
    if (binary) {
      fputc(3, file);
      fwrite(s->face[f], sizeof(int), 3, file);
    } else {
      fprintf(file, "3 %d %d %d\n", s->face[f][0], s->face[f][1], s->face[f][2]);
    }
  }
}
static void write_ply_text(FILE *file, const cb_surface *s) { write_ply(file, s, false); }
static void write_ply_binary(FILE *file, const cb_surface *s) { write_ply(file, s, true); }

static void write_stl_text(FILE *file, const cb_surface *s) {
  for (int f = 0; f < s->faces; f++) {
    if (!f || s->part[f] != s->part[f - 1]) fprintf(file, "%ssolid %s\n", f ? "endsolid\n" : "", s->name[s->part[f]]);
    fprintf(file, "  facet normal 0 0 nan\n    outer loop\n");
    for (int k = 0; k < 3; k++) {
      const double *x = s->x[s->face[f][k]];
      fprintf(file, "      vertex %.17g %.17g %.17g\n", x[0], x[1], x[2]);
    }
    fprintf(file, "    endloop\n  endfacet\n");
  }
  fprintf(file, "endsolid\n");
}

static void write_stl_binary(FILE *file, const cb_surface *s) {
  char head[80] = "solid, says this head, but the file is binary";
  fwrite(head, 1, sizeof head, file);
  fwrite(&s->faces, 4, 1, file);
  for (int f = 0; f < s->faces; f++) {
    float x[12] = {0};
    for (int k = 0; k < 9; k++) x[3 + k] = (float)s->x[s->face[f][k / 3]][k % 3];
    fwrite(x, 4, 12, file);
    fwrite("\1\2", 1, 2, file);
  }
}

static void write_off(FILE *file, const cb_surface *s) {
  fprintf(file, "OFF # a comment\n\n%d %d 0\n", s->vertices, s->faces);
  for (int v = 0; v < s->vertices; v++) fprintf(file, "%.17g %.17g %.17g\n", s->x[v][0], s->x[v][1], s->x[v][2]);
  for (int f = 0; f < s->faces; f++) fprintf(file, "3 %d %d %d 255 0 0\n", s->face[f][0], s->face[f][1], s->face[f][2]);
}

static cb_status write_and_read(writer *write_, const cb_surface *s, cb_surface **out) {
  char path[] = "/tmp/curvebody-test-XXXXXX";
  FILE *file = fdopen(mkstemp(path), "wb");
  assert_non_null(file);
  write_(file, s);
  fclose(file);
  cb_status status = cb_surface_read(path, false, out);
  unlink(path);
  return status;
}

static void every_format_gives_back_the_surface(void **state) {
  static const struct {
    writer *write_;
    bool names, joined; /* names: the format has names of parts; joined: the reader joins vertices and renumbers them */
    double tolerance;   /* error of the coordinates; 1e-7 is single precision */
  } formats[] = {{write_obj, true, false, 0},         {write_ply_text, false, false, 0},
                 {write_ply_binary, false, false, 0}, {write_off, false, false, 0},
                 {write_stl_text, true, true, 0},     {write_stl_binary, false, true, 1e-7}};
  cb_surface *s = shape("fish", "resolution=8");
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    cb_surface *t = NULL;
    check_ok(write_and_read(formats[i].write_, s, &t));
    assert_int_equal(t->vertices, s->vertices);
    assert_int_equal(t->faces, s->faces);
    assert_int_equal(t->parts, 2);
    assert_string_equal(t->name[0], formats[i].names ? "body" : "part1");
    assert_string_equal(t->name[1], formats[i].names ? "tail" : "part2");
    for (int f = 0; f < s->faces; f++) {
      assert_int_equal(t->part[f], s->part[f]);
      for (int k = 0; k < 3; k++) {
        if (!formats[i].joined) assert_int_equal(t->face[f][k], s->face[f][k]);
        for (int c = 0; c < 3; c++) check_near(t->x[t->face[f][k]][c], s->x[s->face[f][k]][c], formats[i].tolerance);
      }
    }
    check_ok(cb_surface_check(t, false));
    cb_surface_free(t);
  }
  cb_surface_free(s);
}

/* ---- STL and OFF: messages ---- */

static cb_status read_text(const char *name, const char *text, cb_mesh_format format, cb_mesh **mesh) {
  return cb_mesh_read_text(name, text, strlen(text), format, NULL, mesh);
}

#define FACET "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"

static void a_wrong_stl_fails_with_its_place(void **state) {
  static const struct {
    const char *text, *error;
  } cases[] = {
      {"", "a.stl:1:1: error: expected an STL file: 'solid', or at least 84 bytes"},
      {"v 1 2 3\n", "a.stl:1:1: error: expected an STL file: 'solid', or at least 84 bytes"},
      {"solid a\n", "a.stl:2:1: error: expected facet or endsolid, found the end of the file"},
      {"solid a\nendsolid a\n", "a.stl:1:1: error: expected at least one vertex, found none"},
      {"solid a\nface\n", "a.stl:2:1: error: expected facet or endsolid, found 'face'"},
      {"solid a\n" FACET "endsolid\nfacet\n", "a.stl:10:1: error: expected solid, found 'facet'"},
      {"solid a\nfacet normal 0 0", "a.stl:2:17: error: expected a normal of three numbers, found the end of the file"},
      {"solid a\nfacet normal 0 0 1 inner\n", "a.stl:2:20: error: expected outer, found 'inner'"},
      {"solid a\nFACET NORMAL 0 0 1\nouter loop\nvertex 0 nan 0\n",
       "a.stl:4:10: error: expected y, a finite number, found 'nan'"},
      {"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 0 0\nendloop\n",
       "a.stl:6:1: error: expected vertex, found 'endloop'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_mesh *mesh = NULL;
    check_error(read_text("a.stl", cases[i].text, CB_MESH_STL, &mesh), CB_ERROR_INPUT, cases[i].error);
    assert_null(mesh);
  }
  char bytes[134] = {0};
  cb_mesh *mesh = NULL;
  bytes[80] = 2;
  check_error(
      cb_mesh_read_text("a.stl", bytes, sizeof bytes, CB_MESH_STL, NULL, &mesh), CB_ERROR_INPUT,
      "a.stl:1:1: error: byte 80: 2 facets need 184 bytes in total, but the file has 134: expected a complete file");
  bytes[80] = 1;
  memcpy(bytes + 84 + 12 + 16, &(float){NAN}, 4);
  check_error(cb_mesh_read_text("a.stl", bytes, sizeof bytes, CB_MESH_STL, NULL, &mesh), CB_ERROR_INPUT,
              "a.stl:1:1: error: byte 112: expected y of a corner of facet 1, a finite number, found nan");
  /* A facet with equal corners is removed, but its vertices stay. -0 and 0 are the same coordinate. */
  memset(bytes + 84, 0, 50);
  memcpy(bytes + 84 + 12, &(float){-0.0f}, 4);
  memcpy(bytes + 84 + 12 + 12, &(float){1}, 4);
  check_ok(cb_mesh_read_text("a.stl", bytes, sizeof bytes, CB_MESH_STL, NULL, &mesh));
  assert_int_equal(mesh->n_vertices, 2);
  assert_int_equal(mesh->n_triangles, 0);
  cb_mesh_free(mesh);
}

static void a_wrong_off_fails_with_its_place(void **state) {
#define V3 "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n"
  static const struct {
    const char *text, *error;
  } cases[] = {
      {"", "a.off:1:1: error: expected OFF, found the end of the file"},
      {"4OFF\n", "a.off:1:1: error: expected an OFF file, which begins with OFF, COFF, NOFF or STOFF, found '4OFF'"},
      {"OFF BINARY\n", "a.off:1:5: error: expected an OFF file in text, found 'BINARY'"},
      {"OFF\nx\n", "a.off:2:1: error: expected the number of vertices, an integer, found 'x'"},
      {"OFF\n-1 0 0\n", "a.off:2:1: error: expected the number of vertices, at least 0, found -1"},
      {"OFF\n1\n       ", "a.off:3:8: error: expected the number of faces, found the end of the file"},
      {"OFF\n1000000000 1 0\n0 0 0\n",
       "a.off:2:1: error: 1000000000 rows need at least 6 bytes each, but only 11 bytes follow: expected a complete "
       "file"},
      {"OFF\n0 0 0\n", "a.off:1:1: error: expected at least one vertex, found none"},
      {"OFF\n1 0 0\n0 0\n    ", "a.off:3:4: error: expected z, found the end of the line"},
      {"OFF\n2 0 0\n0 0 0     \n", "a.off:4:1: error: expected a vertex, found the end of the file"},
      {V3 "        \n", "a.off:6:1: error: expected a face, found the end of the file"},
      {V3 "3 0 1 3\n", "a.off:5:7: error: index 3 is out of range, expected 0 to 2"},
      {V3 "3 0 1\n  ", "a.off:5:6: error: expected the index of a vertex, found the end of the line"},
      {V3 "2 0 1 1\n", "a.off:5:1: error: expected a face of at least 3 corners, found 2"},
      {V3 "3 0 1 1\n", "a.off:5:1: error: an edge joins vertex 1 to itself: expected different vertices"},
      {V3 "3 0 1 2\n5\n", "a.off:6:1: error: expected the end of the file, found '5'"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_mesh *mesh = NULL;
    check_error(read_text("a.off", cases[i].text, CB_MESH_OFF, &mesh), CB_ERROR_INPUT, cases[i].error);
    assert_null(mesh);
  }
  cb_mesh *mesh = NULL;
  check_ok(read_text("a.off", "STCNOFF\n4 1 7 # no edges\n0 0 0 9 9 9\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 .5 .5 .5",
                     CB_MESH_OFF, &mesh));
  assert_int_equal(mesh->n_triangles, 2);
  assert_int_equal(mesh->n_edges, 4);
  cb_mesh_free(mesh);
}

static void a_format_is_known_by_its_content(void **state) {
  char binary[134] = "solid";
  binary[80] = 1;
  assert_int_equal(cb_mesh_format_of("a", binary, sizeof binary), CB_MESH_STL);
  assert_int_equal(cb_mesh_format_of("a", "  SOLID a", 9), CB_MESH_STL);
  assert_int_equal(cb_mesh_format_of("a", "ply\n", 4), CB_MESH_PLY);
  assert_int_equal(cb_mesh_format_of("a", "# a\nCOFF\n", 9), CB_MESH_OFF);
  assert_int_equal(cb_mesh_format_of("a", "v 0 0 0\n", 8), CB_MESH_OBJ);
  assert_int_equal(cb_mesh_format_of("a", "", 0), CB_MESH_OBJ);
  /* A truncated file is recognised, too. */
  assert_int_equal(cb_mesh_format_of("a.STL", binary, sizeof binary - 1), CB_MESH_STL);
  assert_int_equal(cb_mesh_format_of("a.stl", "ply\n", 4), CB_MESH_PLY);
}

/* ---- what other programs write ---- */

#define MARK "\xef\xbb\xbf" /* the byte order mark of UTF-8, which Windows writes */
#define TRIANGLE "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"

static void a_byte_order_mark_is_passed_over(void **state) {
  static const struct {
    const char *text;
    cb_mesh_format format;
  } cases[] = {{MARK "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", CB_MESH_OBJ},
               {MARK "solid a\n" FACET "endsolid\n", CB_MESH_STL},
               {MARK "OFF\n3 1 0\n" TRIANGLE, CB_MESH_OFF},
               {MARK "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
                     "element face 1\nproperty list uchar int vertex_indices\nend_header\n" TRIANGLE,
                CB_MESH_PLY}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_mesh *mesh = NULL;
    assert_int_equal(cb_mesh_format_of("a", cases[i].text, strlen(cases[i].text)), cases[i].format);
    check_ok(read_text("a", cases[i].text, cases[i].format, &mesh));
    assert_int_equal(mesh->n_vertices, 3);
    assert_int_equal(mesh->n_triangles, 1);
    cb_mesh_free(mesh);
  }
}

static void counts_may_stand_on_the_header_of_off(void **state) {
  static const char *const headers[] = {"OFF3 1 3\n", "OFF3\n1 0\n", "STCNOFF3 1\n"};
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
    char text[200];
    cb_mesh *mesh = NULL;
    snprintf(text, sizeof text, "%s%s", headers[i], TRIANGLE);
    assert_int_equal(cb_mesh_format_of("a", text, strlen(text)), CB_MESH_OFF);
    check_ok(read_text("a.off", text, CB_MESH_OFF, &mesh));
    assert_int_equal(mesh->n_triangles, 1);
    cb_mesh_free(mesh);
  }
  cb_mesh *mesh = NULL;
  check_error(read_text("a.off", "OFF3x 1 3\n" TRIANGLE, CB_MESH_OFF, &mesh), CB_ERROR_INPUT,
              "a.off:1:1: error: expected an OFF file, which begins with OFF, COFF, NOFF or STOFF, found 'OFF3x'");
}

/* Reads an STL file with one facet, followed by the n bytes `tail`. */
static cb_status read_with_tail(const void *tail, size_t n, cb_mesh **mesh) {
  static char bytes[1000];
  memset(bytes, 0, sizeof bytes);
  bytes[80] = 1;
  memcpy(bytes + 84 + 12 + 12, &(float){1}, 4);
  memcpy(bytes + 84 + 12 + 28, &(float){1}, 4);
  memcpy(bytes + 134, tail, n);
  assert_int_equal(cb_mesh_format_of("a", bytes, 134 + n), CB_MESH_STL);
  return cb_mesh_read_text("a.stl", bytes, 134 + n, CB_MESH_STL, NULL, mesh);
}

static void bytes_after_the_last_facet_are_passed_over(void **state) {
  static const char words[] = "made by a program that signs", zeros[200], facets[100] = {[60] = 1};
  static char solid[134] = "another solid";
  static const struct {
    const char *bytes;
    size_t n;
  } tails[] = {{"\n", 1}, {words, sizeof words}, {zeros, 100}, {zeros, 7}};
  cb_mesh *mesh = NULL;
  for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
    check_ok(read_with_tail(tails[i].bytes, tails[i].n, &mesh));
    assert_int_equal(mesh->n_triangles, 1);
    cb_mesh_free(mesh);
    mesh = NULL;
  }
  /* More facets than the stated number are an error, because only a part of the body would be read. */
  check_error(
      read_with_tail(facets, 100, &mesh), CB_ERROR_INPUT,
      "a.stl:1:1: error: byte 80: the file states 1 facets, but 2 more follow: expected the number of all facets");
  solid[80] = 1;
  solid[100] = 1;
  check_error(read_with_tail(solid, 134, &mesh), CB_ERROR_INPUT,
              "a.stl:1:1: error: byte 134: a second solid of 1 facets follows the first: expected one solid per file");
  assert_null(mesh);
}

/* ---- files without a surface ---- */

static void a_file_without_faces_is_refused(void **state) {
  char path[] = "/tmp/curvebody-test-XXXXXX", expected[100];
  int file = mkstemp(path);
  assert_int_equal(write(file, "v 1 2 3\n", 8), 8);
  close(file);
  cb_surface *s = NULL;
  snprintf(expected, sizeof expected, "%s:1:1: error: the mesh has no faces: expected at least one", path);
  check_error(cb_surface_read(path, false, &s), CB_ERROR_INPUT, expected);
  unlink(path);
  check_error(cb_surface_read("/nonexistent/a.obj", false, &s), CB_ERROR_FILE,
              "cannot read '/nonexistent/a.obj': No such file or directory");
  assert_null(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_format_gives_back_the_surface),
      cmocka_unit_test(a_wrong_stl_fails_with_its_place),
      cmocka_unit_test(a_wrong_off_fails_with_its_place),
      cmocka_unit_test(a_format_is_known_by_its_content),
      cmocka_unit_test(a_byte_order_mark_is_passed_over),
      cmocka_unit_test(counts_may_stand_on_the_header_of_off),
      cmocka_unit_test(bytes_after_the_last_facet_are_passed_over),
      cmocka_unit_test(a_file_without_faces_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
