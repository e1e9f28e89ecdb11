/* Tests of meshes from OBJ and PLY: every encoding gives the same cube. */
#include "mesh_cube.h"

#include <unistd.h>

static void ply_of_every_encoding_and_type_gives_the_cube(void **state) {
  static const char *const formats[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  static const char *const integers[] = {"char", "uchar", "short", "ushort", "int",   "uint",
                                         "int8", "uint8", "int16", "uint16", "int32", "uint32"};
  for (int f = 0; f < 3; f++)
    for (int i = 0; i < 12; i++)
      for (int j = 0; j < 12; j++) {
        cube_style style = {formats[f], "double", integers[i], integers[j]};
        cb_text text = {0};
        put_cube(&text, &style);
        cb_mesh *mesh = NULL;
        check_ok(cb_mesh_read_text("a.ply", text.data, text.length, CB_MESH_PLY, NULL, &mesh));
        check_cube(mesh);
        cb_mesh_free(mesh);
        cb_text_free(&text);
      }
}

static void ply_of_single_precision_is_read_as_written(void **state) {
  for (int big = 0; big <= 1; big++) {
    cube_style style = {big ? "binary_big_endian" : "binary_little_endian", "float", "uchar", "int"};
    cb_text text = {0};
    put_cube(&text, &style);
    cb_mesh *mesh = NULL;
    check_ok(cb_mesh_read_text("a.ply", text.data, text.length, CB_MESH_PLY, NULL, &mesh));
    check_near(mesh->vertices[7][0], (double)-1e-3f, 0);
    assert_int_equal(mesh->n_edges, 12);
    cb_mesh_free(mesh);
    cb_text_free(&text);
  }
}

static void obj_of_every_style_gives_the_cube(void **state) {
  /* The styles are: corners without other indices, with textures, with normals, with both; relative corners; line
   * breaks of Windows; corners before their vertices. */
  for (int style = 0; style < 7; style++) {
    cb_text text = {0}, faces = {0};
    const char *end = style == 5 ? "\r\n" : "\n";
    put(&text, "# a cube%smtllib a.mtl%so cube%svt 0 0%svn 0 0 1%susemtl red%s", end, end, end, end, end, end);
    for (int f = 0; f < 6; f++) {
      put(&faces, "f");
      for (int k = 0; k < 4; k++) {
        int corner = cube_faces[f][k] + 1;
        if (style == 1)
          put(&faces, " %d/1", corner);
        else if (style == 2)
          put(&faces, " %d//1", corner);
        else if (style == 3)
          put(&faces, "\t%d/1/-1", corner);
        else if (style == 4)
          put(&faces, " %d", corner - 9);
        else
          put(&faces, k == 1 && style == 0 ? " \\\n%d" : " %d", corner);
      }
      put(&faces, "%s%s", f == 2 ? " # a comment" : "", end);
    }
    if (style == 6) cb_text_puts(&text, faces.data);
    for (int i = 0; i < 8; i++)
      put(&text, "v %.17g %.17g %.17g%s%s", cube_vertices[i][0], cube_vertices[i][1], cube_vertices[i][2],
          i == 1   ? " 1.0"
          : i == 2 ? " 0.1 0.2 0.3"
                   : "",
          end);
    if (style != 6) cb_text_puts(&text, faces.data);
    cb_mesh *mesh = NULL;
    check_ok(read_obj(text.data, &mesh));
    check_cube(mesh);
    cb_mesh_free(mesh);
    cb_text_free(&text);
    cb_text_free(&faces);
  }
}

static void lines_and_edges_are_edges(void **state) {
  static const int edges[3][2] = {{0, 1}, {0, 2}, {1, 2}};
  cb_mesh *mesh = NULL;
  check_ok(read_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nl 1 2 3\nl 3/1 1/1\nl 2 1", &mesh));
  assert_int_equal(mesh->n_edges, 3);
  assert_int_equal(mesh->n_triangles, 0);
  assert_memory_equal(mesh->edges, edges, sizeof edges);
  cb_mesh_free(mesh);
  check_ok(
      read_ply("ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
               "element edge 4\nproperty int vertex1\nproperty int vertex2\nend_header\n0 0 0\n1 0 0\n\n0 1 0\n"
               "2 1\n1 0\n0 2\n0 1\n\n",
               &mesh));
  assert_int_equal(mesh->n_edges, 3);
  assert_memory_equal(mesh->edges, edges, sizeof edges);
  cb_mesh_free(mesh);
}

static void sides_of_a_polygon_are_edges_and_diagonals_are_not(void **state) {
  static const int edges[5][2] = {{0, 1}, {0, 4}, {1, 2}, {2, 3}, {3, 4}};
  static const int triangles[3][3] = {{3, 4, 0}, {3, 0, 1}, {3, 1, 2}};
  cb_mesh *mesh = NULL;
  check_ok(read_obj("v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 1 0\nf 4 5 1 2 3\n", &mesh));
  assert_int_equal(mesh->n_edges, 5);
  assert_memory_equal(mesh->edges, edges, sizeof edges);
  assert_int_equal(mesh->n_triangles, 3);
  assert_memory_equal(mesh->triangles, triangles, sizeof triangles);
  cb_mesh_free(mesh);
}

static void coordinates_may_be_integers_of_either_sign(void **state) {
  static const char *const types[] = {"char", "short", "int"};
  for (int i = 0; i < 3; i++)
    for (int big = 0; big <= 1; big++) {
      cube_style style = {big ? "binary_big_endian" : "binary_little_endian", NULL, NULL, NULL};
      cb_text text = {0};
      put(&text, "ply\nformat %s 1.0\nelement vertex 1\nproperty %s x\nproperty %s y\nproperty %s z\nend_header\n",
          style.format, types[i], types[i], types[i]);
      static const double point[3] = {-128, 127, -1};
      for (int k = 0; k < 3; k++) put_value(&text, &style, types[i], point[k]);
      cb_mesh *mesh = NULL;
      check_ok(cb_mesh_read_text("a.ply", text.data, text.length, CB_MESH_PLY, NULL, &mesh));
      for (int k = 0; k < 3; k++) check_near(mesh->vertices[0][k], point[k], 0);
      cb_mesh_free(mesh);
      cb_text_free(&text);
    }
}

static void a_point_cloud_is_a_mesh(void **state) {
  cb_mesh *mesh = NULL;
  check_ok(read_obj("v 1e2 -2.5 .5", &mesh));
  assert_int_equal(mesh->n_vertices, 1);
  assert_int_equal(mesh->n_edges, 0);
  check_near(mesh->vertices[0][0], 100, 0);
  cb_mesh_free(mesh);
}

static void edges_are_sorted_and_once_each(void **state) {
  uint64_t seed = check_seed();
  enum { N = 40, LINES = 2000 };
  static bool joined[N][N];
  memset(joined, 0, sizeof joined);
  cb_text text = {0};
  for (int i = 0; i < N; i++) put(&text, "v %d 0 0\n", i);
  for (int l = 0; l < LINES; l++) {
    int i = (int)check_uniform(&seed, 0, N), j = (i + 1 + (int)check_uniform(&seed, 0, 12)) % N;
    joined[i < j ? i : j][i < j ? j : i] = true;
    put(&text, "l %d %d\n", i + 1, j + 1);
  }
  cb_mesh *mesh = NULL;
  check_ok(read_obj(text.data, &mesh));
  size_t e = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      if (!joined[i][j]) continue;
      assert_true(e < mesh->n_edges);
      assert_int_equal(mesh->edges[e][0], i);
      assert_int_equal(mesh->edges[e][1], j);
      e++;
    }
  assert_int_equal(e, mesh->n_edges);
  cb_mesh_free(mesh);
  cb_text_free(&text);
}

static void files_are_known_by_their_names(void **state) {
  cb_mesh *mesh = NULL;
  check_error(cb_mesh_read_file("/nonexistent/a.obj", NULL, &mesh), CB_ERROR_FILE,
              "cannot read '/nonexistent/a.obj': No such file or directory");
  check_error(
      cb_mesh_read_file("/nonexistent/a.msh", NULL, &mesh), CB_ERROR_INPUT,
      "/nonexistent/a.msh:1:1: error: unknown mesh format, expected a file name that ends in .obj, .ply, .stl or .off");
  char path[] = "/tmp/curvebody-test-XXXXXX.OBJ";
  int file = mkstemps(path, 4);
  assert_int_equal(write(file, "v 1 2 3\n", 8), 8);
  close(file);
  check_ok(cb_mesh_read_file(path, NULL, &mesh));
  unlink(path);
  check_near(mesh->vertices[0][2], 3, 0);
  cb_mesh_free(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ply_of_every_encoding_and_type_gives_the_cube),
                                     cmocka_unit_test(ply_of_single_precision_is_read_as_written),
                                     cmocka_unit_test(obj_of_every_style_gives_the_cube),
                                     cmocka_unit_test(lines_and_edges_are_edges),
                                     cmocka_unit_test(sides_of_a_polygon_are_edges_and_diagonals_are_not),
                                     cmocka_unit_test(coordinates_may_be_integers_of_either_sign),
                                     cmocka_unit_test(a_point_cloud_is_a_mesh),
                                     cmocka_unit_test(edges_are_sorted_and_once_each),
                                     cmocka_unit_test(files_are_known_by_their_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
