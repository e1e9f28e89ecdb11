/* Tests that vertices which no face uses are not part of a surface: the surface equals that of the file without them.
 * Messages and poses count all vertices of the file. */
#include "hdf5_file.h"

#include <curvebody/mass.h>
#include "scenario/hdf5_input.h"

/* A tetrahedron whose vertices are number 2, 3, 5 and 6 (counted from 1) of the seven vertices of a file. */
enum { LISTED = 7, USED = 4, POSES = 4 };
static const int used[USED] = {1, 2, 4, 5};
static const double corner[USED][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int tetrahedron[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};

static void list(double x[LISTED][3], int face[4][3]) {
  for (int i = 0; i < LISTED; i++)
    for (int k = 0; k < 3; k++) x[i][k] = 50 + i;
  for (int v = 0; v < USED; v++) memcpy(x[used[v]], corner[v], sizeof corner[v]);
  for (int f = 0; f < 4; f++)
    for (int k = 0; k < 3; k++) face[f][k] = used[tetrahedron[f][k]];
}

static cb_surface *make(void) {
  double x[LISTED][3];
  int face[4][3];
  cb_surface *s = NULL;
  list(x, face);
  check_ok(cb_surface_make(LISTED, (const double(*)[3])x, 4, (const int(*)[3])face, NULL, &s));
  return s;
}

static void a_surface_is_that_without_them(void **state) {
  static const int vertex[LISTED] = {-1, 0, 1, -1, 2, 3, -1}, number[USED] = {2, 3, 5, 6};
  static const cb_material water = {.density = 1};
  cb_surface *s = make(), *plain = NULL;
  cb_mass mass, expected;
  check_ok(cb_surface_make(USED, corner, 4, tetrahedron, NULL, &plain));
  assert_int_equal(s->vertices, USED);
  assert_int_equal(s->listed, LISTED);
  assert_memory_equal(s->x, plain->x, sizeof corner);
  assert_memory_equal(s->face, plain->face, sizeof tetrahedron);
  assert_memory_equal(s->vertex, vertex, sizeof vertex);
  assert_memory_equal(s->number, number, sizeof number);
  check_ok(cb_surface_check(s, false));
  check_ok(cb_mass_of(s, NULL, &water, &mass));
  check_ok(cb_mass_of(plain, NULL, &water, &expected));
  assert_memory_equal(&mass, &expected, sizeof mass);
  cb_surface_free(s);
  cb_surface_free(plain);
}

static void messages_count_the_vertices_of_the_list(void **state) {
  double x[LISTED][3];
  int face[4][3];
  cb_surface *s = NULL;
  list(x, face);
  check_ok(cb_surface_make(LISTED, (const double(*)[3])x, 3, (const int(*)[3])face, NULL, &s));
  check_error(cb_surface_check(s, false), CB_ERROR_DOMAIN,
              "part 'body': not closed: 3 edges with one face, the first is the edge of vertices 2 and 5, from (0, "
              "0, 0) to (0, 1, 0), "
              "face 1");
  cb_surface_free(s);
}

/* ---- poses of all listed vertices ---- */

static double place[POSES][LISTED][3];

static void check_poses(cb_poses *p) {
  assert_int_equal(cb_poses_vertices(p), USED);
  for (int i = 0; i < POSES; i++)
    for (int v = 0; v < USED; v++) assert_memory_equal(cb_poses_pose(p, i)[v], place[i][used[v]], sizeof place[i][v]);
  cb_poses_free(p);
}

static void write_poses(const int (*face)[3]) {
  hid_t file = create();
  put(file, "poses", H5T_IEEE_F64LE, 3, (const hsize_t[]){POSES, LISTED, 3}, H5T_NATIVE_DOUBLE, place);
  if (face) put(file, "face", H5T_STD_I32LE, 2, (const hsize_t[]){4, 3}, H5T_NATIVE_INT, face);
  H5Fclose(file);
}

static void a_sequence_has_places_of_all(void **state) {
  const cb_poses_times times = {.step = 1, .end = CB_POSES_CLAMPED};
  double x[LISTED][3];
  int face[4][3];
  list(x, face);
  for (int i = 0; i < POSES; i++)
    for (int v = 0; v < LISTED; v++)
      for (int k = 0; k < 3; k++) place[i][v][k] = x[v][k] * (1 + .1 * i);
  for (int alone = 0; alone < 2; alone++)
    for (int with_faces = alone; with_faces < 2; with_faces++) {
      cb_surface *mesh = alone ? NULL : make(), *rest = NULL;
      cb_poses *p = NULL;
      write_poses(with_faces ? (const int(*)[3])face : NULL);
      check_ok(cb_poses_read_sequence(path, NULL, mesh, &times, NULL, &rest, &p));
      if (alone) assert_memory_equal(rest->x, corner, sizeof corner);
      check_poses(p);
      cb_surface_free(mesh);
      cb_surface_free(rest);
    }
  /* the same faces, except for one with wrong vertex numbers in the file */
  face[1][1] = 5;
  face[1][2] = 2;
  write_poses((const int(*)[3])face);
  cb_surface *mesh = make();
  cb_poses *p = NULL;
  check_error(cb_poses_read_sequence(path, NULL, mesh, &times, NULL, NULL, &p), CB_ERROR_INPUT,
              error_of_file("dataset 'face': face 2 has the vertices 1, 5, 2 (counted from 0), expected 1, 2, 5 as in "
                            "the mesh"));
  cb_surface_free(mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_surface_is_that_without_them),
                                     cmocka_unit_test(messages_count_the_vertices_of_the_list),
                                     cmocka_unit_test(a_sequence_has_places_of_all)};
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
