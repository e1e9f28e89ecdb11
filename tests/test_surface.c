/* Surfaces: files of all formats, parts, edges, and every message of the check. */
#include "surface_measures.h"

#include "core/text.h"
#include "numerics/mesh.h"

#include <time.h>
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
    if (binary) fwrite(s->x[v], sizeof(double), 3, file);
    else fprintf(file, "%.17g %.17g %.17g\n", s->x[v][0], s->x[v][1], s->x[v][2]);
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
    if (!f || s->part[f] != s->part[f - 1])
      fprintf(file, "%ssolid %s\n", f ? "endsolid\n" : "", s->name[s->part[f]]);
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
  for (int f = 0; f < s->faces; f++)
    fprintf(file, "3 %d %d %d 255 0 0\n", s->face[f][0], s->face[f][1], s->face[f][2]);
}

static cb_status write_and_read(writer *write_, const cb_surface *s, cb_surface **out) {
  char path[] = "/tmp/curvebody-test-XXXXXX";
  FILE *file = fdopen(mkstemp(path), "wb");
  assert_non_null(file);
  write_(file, s);
  fclose(file);
  cb_status status = cb_surface_read(path, out);
  unlink(path);
  return status;
}

static void every_format_gives_back_the_surface(void **state) {
  (void)state;
  static const struct {
    writer *write_;
    bool names, joined; /* are parts named; are vertices numbered anew */
    double tolerance;
  } formats[] = {{write_obj, true, false, 0},          {write_ply_text, false, false, 0},
                 {write_ply_binary, false, false, 0},  {write_off, false, false, 0},
                 {write_stl_text, true, true, 0},      {write_stl_binary, false, true, 1e-7}}; /* floats */
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
        for (int c = 0; c < 3; c++)
          check_near(t->x[t->face[f][k]][c], s->x[s->face[f][k]][c], formats[i].tolerance);
      }
    }
    check_ok(cb_surface_check(t, false));
    cb_surface_free(t);
  }
  cb_surface_free(s);
}

/* ---- STL and OFF: messages ---- */

static cb_status read_text(const char *name, const char *text, cb_mesh_format format, cb_mesh **mesh) {
  return cb_mesh_read_text(name, text, strlen(text), format, mesh);
}

#define FACET "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"

static void a_wrong_stl_fails_with_its_place(void **state) {
  (void)state;
  static const struct { const char *text, *error; } cases[] = {
      {"", "a.stl:1:1: error: expected an STL file: 'solid', or at least 84 bytes"},
      {"v 1 2 3\n", "a.stl:1:1: error: expected an STL file: 'solid', or at least 84 bytes"},
      {"solid a\n", "a.stl:2:1: error: expected facet or endsolid, found the end of the file"},
      {"solid a\nendsolid a\n", "a.stl:1:1: error: a mesh without vertices"},
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
  check_error(cb_mesh_read_text("a.stl", bytes, sizeof bytes, CB_MESH_STL, &mesh), CB_ERROR_INPUT,
              "a.stl:1:1: error: byte 80: 2 facets take 184 bytes in all, but the file has 134");
  bytes[80] = 1;
  memcpy(bytes + 84 + 12 + 16, &(float){NAN}, 4);
  check_error(cb_mesh_read_text("a.stl", bytes, sizeof bytes, CB_MESH_STL, &mesh), CB_ERROR_INPUT,
              "a.stl:1:1: error: byte 112: expected y of a corner of facet 1, a finite number, found nan");
  /* A facet of equal corners is dropped, but its vertices stay: -0 and 0 are one. */
  memset(bytes + 84, 0, 50);
  memcpy(bytes + 84 + 12, &(float){-0.0f}, 4);
  memcpy(bytes + 84 + 12 + 12, &(float){1}, 4);
  check_ok(cb_mesh_read_text("a.stl", bytes, sizeof bytes, CB_MESH_STL, &mesh));
  assert_int_equal(mesh->n_vertices, 2);
  assert_int_equal(mesh->n_triangles, 0);
  cb_mesh_free(mesh);
}

static void a_wrong_off_fails_with_its_place(void **state) {
  (void)state;
#define V3 "OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n"
  static const struct { const char *text, *error; } cases[] = {
      {"", "a.off:1:1: error: expected OFF, found the end of the file"},
      {"4OFF\n", "a.off:1:1: error: expected an OFF file, which begins with OFF, COFF, NOFF or STOFF, found '4OFF'"},
      {"OFF BINARY\n", "a.off:1:5: error: expected an OFF file in text, found 'BINARY'"},
      {"OFF\nx\n", "a.off:2:1: error: expected the number of vertices, an integer, found 'x'"},
      {"OFF\n-1 0 0\n", "a.off:2:1: error: expected the number of vertices, at least 0, found -1"},
      {"OFF\n1\n       ", "a.off:3:8: error: expected the number of faces, found the end of the file"},
      {"OFF\n1000000000 1 0\n0 0 0\n",
       "a.off:2:1: error: 1000000000 rows of at least 6 bytes, but 11 bytes follow"},
      {"OFF\n0 0 0\n", "a.off:1:1: error: a mesh without vertices"},
      {"OFF\n1 0 0\n0 0\n    ", "a.off:3:4: error: expected z, found the end of the line"},
      {"OFF\n2 0 0\n0 0 0     \n", "a.off:4:1: error: expected a vertex, found the end of the file"},
      {V3 "        \n", "a.off:6:1: error: expected a face, found the end of the file"},
      {V3 "3 0 1 3\n", "a.off:5:7: error: index 3 out of range, expected 0 to 2"},
      {V3 "3 0 1\n  ", "a.off:5:6: error: expected the index of a vertex, found the end of the line"},
      {V3 "2 0 1 1\n", "a.off:5:1: error: expected a face of at least 3 corners, found 2"},
      {V3 "3 0 1 1\n", "a.off:5:1: error: an edge from vertex 1 to itself"},
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
  (void)state;
  char binary[134] = "solid";
  binary[80] = 1;
  assert_int_equal(cb_mesh_format_of(binary, sizeof binary), CB_MESH_STL);
  assert_int_equal(cb_mesh_format_of("  SOLID a", 9), CB_MESH_STL);
  assert_int_equal(cb_mesh_format_of("ply\n", 4), CB_MESH_PLY);
  assert_int_equal(cb_mesh_format_of("# a\nCOFF\n", 9), CB_MESH_OFF);
  assert_int_equal(cb_mesh_format_of("v 0 0 0\n", 8), CB_MESH_OBJ);
  assert_int_equal(cb_mesh_format_of("", 0), CB_MESH_OBJ);
}

/* ---- parts ---- */

static cb_surface *read_obj_text(const char *text) {
  char path[] = "/tmp/curvebody-test-XXXXXX";
  FILE *file = fdopen(mkstemp(path), "wb");
  fputs(text, file);
  fclose(file);
  cb_surface *s = NULL;
  cb_status status = cb_surface_read(path, &s);
  unlink(path);
  check_ok(status);
  return s;
}

static void groups_that_share_an_edge_are_one_part(void **state) {
  (void)state;
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
  check_error_begins(cb_surface_check(s, false), CB_ERROR_DOMAIN, "part 'default': not closed: one face only at");
  cb_surface_free(s);
}

static const double points[8][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                    {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}};

static void pieces_are_parts_and_edges_know_their_faces(void **state) {
  (void)state;
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

/* ---- what is no surface, what is no body ---- */

static void wrong_arrays_are_refused(void **state) {
  (void)state;
  static const int good[2][3] = {{0, 2, 1}, {0, 1, 3}}, far[2][3] = {{0, 2, 1}, {0, 1, 8}},
                   twice[2][3] = {{0, 2, 1}, {0, 1, 1}};
  static const int gap[2] = {0, 2}, gap1[2] = {1, 1}, negative[2] = {0, -1};
  cb_surface *s = NULL;
  check_error(cb_surface_make(8, points, 2, far, NULL, &s), CB_ERROR_ARGUMENT, "face 2: vertex 9, expected 1 to 8");
  check_error(cb_surface_make(8, points, 2, twice, NULL, &s), CB_ERROR_ARGUMENT, "face 2: vertex 2 twice");
  check_error(cb_surface_make(8, points, 2, good, gap, &s), CB_ERROR_ARGUMENT,
              "face 2: part 3, expected 1 to at most 2");
  check_error(cb_surface_make(8, points, 2, good, gap1, &s), CB_ERROR_ARGUMENT, "part 1 of 2 has no faces");
  check_error(cb_surface_make(8, points, 2, good, negative, &s), CB_ERROR_ARGUMENT,
              "face 2: part 0, expected 1 to at most 2");
  check_error_begins(cb_surface_make(2, points, 2, good, NULL, &s), CB_ERROR_ARGUMENT,
                     "a surface of 2 vertices and 2 faces");
  double x[8][3];
  memcpy(x, points, sizeof x);
  x[4][1] = NAN;
  check_error(cb_surface_make(8, (const double(*)[3])x, 2, good, NULL, &s), CB_ERROR_DOMAIN,
              "vertex 5 is not finite: (5, nan, 0)");
  x[4][1] = -INFINITY;
  check_error(cb_surface_make(8, (const double(*)[3])x, 2, good, NULL, &s), CB_ERROR_DOMAIN,
              "vertex 5 is not finite: (5, -inf, 0)");
  assert_null(s);
}

static void check_refused(const double (*x)[3], int vertices, const int (*face)[3], int faces, const int *part,
                          bool open, const char *text) {
  cb_surface *s = NULL;
  check_ok(cb_surface_make(vertices, x, faces, face, part, &s));
  check_error(cb_surface_check(s, open), CB_ERROR_DOMAIN, text);
  cb_surface_free(s);
}

static void what_is_wrong_is_said_with_its_place(void **state) {
  (void)state;
  static const double x[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0}, {0, 0, -1}};
  static const int flat[][3] = {{0, 2, 1}, {0, 1, 4}};
  check_refused(x, 6, flat, 2, NULL, true, "part 'body': face 2 (vertices 1, 2, 5) at (0, 0, 0) has no area");
  static const int same[][3] = {{0, 2, 1}, {0, 1, 3}, {2, 1, 0}};
  check_refused(x, 6, same, 3, NULL, true, "part 'body': faces 1 and 3 have the same vertices 3, 2, 1, at (0, 1, 0)");
  static const int pillow[][3] = {{0, 2, 1}, {0, 1, 2}};
  check_refused(x, 6, pillow, 2, NULL, false,
                "part 'body': faces 1 and 2 have the same vertices 1, 2, 3, at (0, 0, 0)");
  static const int open[][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}};
  check_refused(
      x, 6, open, 3, NULL, false,
      "part 'body': not closed: one face only at the edge of vertices 2 and 3, from (1, 0, 0) to (0, 1, 0), face 1");
  static const int three[][3] = {{0, 2, 1}, {0, 1, 3}, {0, 1, 5}};
  check_refused(x, 6, three, 3, NULL, true,
                "part 'body': not a surface: more than two faces at the edge of vertices 1 and 2, from (0, 0, 0) to "
                "(1, 0, 0), "
                "face 3");
  static const int turned[][3] = {{0, 2, 1}, {0, 3, 1}};
  check_refused(x, 6, turned, 2, NULL, true,
                "part 'body': faces turned against each other at the edge of vertices 1 and 2, from (0, 0, 0) to "
                "(1, 0, 0), "
                "face 2");
  static const int inward[][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
  check_refused(x, 6, inward, 4, NULL, true,
                "part 'body': faces point inward (volume -0.166667), around face 1 at (0, 0, 0)");
  /* A double-covered quadrilateral of four faces without a face twice: closed, but nothing inside. */
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
              "part 'body': 3 faces meet in the edge of vertices 1 and 2, from (0, 0, 0) to (1, 0, 0), "
              "expected at most 2");
  assert_null(edge);
  cb_surface_free(s);
}

/* Two tetrahedra about the same centre, the second scaled by k and, if told so, turned inside out. */
static cb_status check_two(double k, bool inside_out, double shift, const int *part) {
  double x[8][3];
  int face[8][3];
  static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  for (int v = 0; v < 8; v++)
    for (int c = 0; c < 3; c++)
      x[v][c] = v < 4 ? points[v][c] : .25 + k * (points[v - 4][c] - .25) + (c == 0 ? shift : 0);
  for (int f = 0; f < 8; f++)
    for (int c = 0; c < 3; c++) face[f][c] = f < 4 ? faces[f][c] : 4 + faces[f - 4][inside_out ? 2 - c : c];
  cb_surface *s = NULL;
  check_ok(cb_surface_make(8, (const double(*)[3])x, 8, (const int(*)[3])face, part, &s));
  cb_status status = cb_surface_check(s, false);
  cb_surface_free(s);
  return status;
}

static void a_body_in_a_body_is_refused_a_cavity_is_not(void **state) {
  (void)state;
  static const int one[8] = {0}, two[8] = {0, 0, 0, 0, 1, 1, 1, 1};
  check_error(check_two(.5, false, 0, two), CB_ERROR_DOMAIN,
              "part 'part2': the closed piece around face 5 at (0.125, 0.125, 0.125) lies inside that of face 1 "
              "of part 'part1'");
  check_error(check_two(.5, false, 0, one), CB_ERROR_DOMAIN,
              "part 'body': the closed piece around face 5 at (0.125, 0.125, 0.125) lies inside that of face 1 "
              "of part 'body'");
  check_error(check_two(2, false, 0, two), CB_ERROR_DOMAIN,
              "part 'part1': the closed piece around face 1 at (0, 0, 0) lies inside that of face 5 of part 'part2'");
  check_ok(check_two(.5, true, 0, one)); /* a cavity of the same part */
  check_error(check_two(.5, true, 0, two), CB_ERROR_DOMAIN,
              "part 'part2': faces point inward (volume -0.0208333), around face 5 at (0.625, 0.125, 0.125)");
  check_ok(check_two(.5, false, 3, two)); /* beside it, not in it */
  check_ok(check_two(.5, false, 3, one));
  check_error_begins(check_two(.5, true, 3, one), CB_ERROR_DOMAIN, "part 'body': faces point inward");
  check_ok(check_two(.5, false, .4, two)); /* they cut each other: neither lies inside the other */
}

/* Rows of 20 tetrahedra, with the last one within the one before if told so; CPU time of its check. */
static double check_grid(int pieces, bool nested, const char *text) {
  static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  const int n = 4 * pieces;
  double(*x)[3] = malloc((size_t)n * sizeof *x);
  int(*face)[3] = malloc((size_t)n * sizeof *face), *part = calloc((size_t)n, sizeof *part);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) {
      const bool inner = nested && i >= n - 4;
      const int at = inner ? i / 4 - 1 : i / 4, grid[3] = {at / 20, at % 20, 0};
      x[i][k] = 2 * grid[k] + (inner ? .1 + .5 * points[i % 4][k] : points[i % 4][k]);
      face[i][k] = i - i % 4 + faces[i % 4][k];
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
  free(x), free(face), free(part);
  return seconds;
}

/* Four times the pieces take about four times as long; sixteen times if each were held against every other. */
static void many_pieces_are_checked_by_their_boxes(void **state) {
  (void)state;
  double few = INFINITY, many = INFINITY;
  for (int i = 0; i < 3; i++) {
    few = fmin(few, check_grid(6000, false, NULL));
    many = fmin(many, check_grid(24000, false, NULL));
  }
  print_message("  %.3f s, of four times the pieces %.3f s\n", few, many);
  check_at_most(many, 9 * few);
  check_grid(1600, true,
             "part 'body': the closed piece around face 6397 at (158.1, 36.1, 0.1) lies inside that of face 6393 of "
             "part 'body'");
}

static void shapes_turned_inside_out_are_refused(void **state) {
  (void)state;
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

static void a_file_without_faces_is_refused(void **state) {
  (void)state;
  char path[] = "/tmp/curvebody-test-XXXXXX", expected[100];
  int file = mkstemp(path);
  assert_int_equal(write(file, "v 1 2 3\n", 8), 8);
  close(file);
  cb_surface *s = NULL;
  snprintf(expected, sizeof expected, "%s:1:1: error: a mesh without faces", path);
  check_error(cb_surface_read(path, &s), CB_ERROR_INPUT, expected);
  unlink(path);
  check_error(cb_surface_read("/nonexistent/a.obj", &s), CB_ERROR_FILE,
              "cannot read '/nonexistent/a.obj': No such file or directory");
  assert_null(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_format_gives_back_the_surface),
      cmocka_unit_test(a_wrong_stl_fails_with_its_place),
      cmocka_unit_test(a_wrong_off_fails_with_its_place),
      cmocka_unit_test(a_format_is_known_by_its_content),
      cmocka_unit_test(groups_that_share_an_edge_are_one_part),
      cmocka_unit_test(pieces_are_parts_and_edges_know_their_faces),
      cmocka_unit_test(wrong_arrays_are_refused),
      cmocka_unit_test(what_is_wrong_is_said_with_its_place),
      cmocka_unit_test(a_body_in_a_body_is_refused_a_cavity_is_not),
      cmocka_unit_test(many_pieces_are_checked_by_their_boxes),
      cmocka_unit_test(shapes_turned_inside_out_are_refused),
      cmocka_unit_test(a_file_without_faces_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
