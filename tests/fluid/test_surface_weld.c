/* Tests of a surface whose faces have separate vertices. After welding it equals the surface whose faces share
 * vertices, in all poses. */
#include "hdf5_file.h"

#include <curvebody/mass.h>
#include "scenario/hdf5_input.h"

enum { CORNERS = 8, FACES = 12, SOUP = 3 * FACES, SPARE = 1, POSES = 3 };
static const double box[CORNERS][3] = {{0, 0, 0}, {1, 0, 0}, {1, 2, 0}, {0, 2, 0},
                                       {0, 0, 3}, {1, 0, 3}, {1, 2, 3}, {0, 2, 3}};
static const int face[FACES][3] = {{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7}, {0, 1, 5}, {0, 5, 4},
                                   {1, 2, 6}, {1, 6, 5}, {2, 3, 7}, {2, 7, 6}, {3, 0, 4}, {3, 4, 7}};

static const cb_mending weld = {.weld = true, .posed = true};

/* Writes the box with three vertices per face, and before them one unused vertex that coincides with a corner. If
 * `groups` is set, each half of the faces is a group. `moved` is the displacement of the last two vertices. */
static void write_soup(FILE *file, double scale, double moved, bool groups) {
  fprintf(file, "v 0 0 0\n");
  for (int f = 0; f < FACES; f++)
    for (int k = 0; k < 3; k++) {
      const double *x = box[face[f][k]];
      fprintf(file, "v %.17g %.17g %.17g\n", scale * x[0], scale * x[1], scale * x[2] + (f == 11 && k ? moved : 0));
    }
  for (int f = 0; f < FACES; f++) {
    if (groups && f % (FACES / 2) == 0) fprintf(file, "g %s\n", f ? "back" : "front");
    fprintf(file, "f %d %d %d\n", SPARE + 3 * f + 1, SPARE + 3 * f + 2, SPARE + 3 * f + 3);
  }
}

static void write_path(bool groups) {
  FILE *file = fopen(path, "wb");
  write_soup(file, 1, 0, groups);
  fclose(file);
}

static cb_surface *shared(void) {
  cb_surface *s = NULL;
  check_ok(cb_surface_make(CORNERS, box, FACES, face, NULL, &s));
  return s;
}

/* Checks that the surface has the faces of the box in the same order. */
static void check_is_box(const cb_surface *s) {
  assert_int_equal(s->vertices, CORNERS);
  assert_int_equal(s->faces, FACES);
  assert_int_equal(s->parts, 1);
  assert_false(s->open[0]);
  for (int f = 0; f < FACES; f++)
    for (int k = 0; k < 3; k++) assert_memory_equal(s->x[s->face[f][k]], box[face[f][k]], sizeof box[0]);
  check_ok(cb_surface_check(s, false));
}

static void a_soup_is_welded_to_the_surface(void **state) {
  static const cb_material water = {.density = 1};
  cb_surface *s = NULL, *plain = shared();
  cb_mass mass, expected;
  write_path(false);
  check_ok(cb_surface_read(path, true, &s));
  check_is_box(s);
  check_ok(cb_mass_of(s, NULL, &water, &mass));
  check_ok(cb_mass_of(plain, NULL, &water, &expected));
  assert_memory_equal(&mass, &expected, sizeof mass);
  /* s->vertex maps each vertex of the file to a vertex of the surface. The unused one has none (-1), although it
   * coincides with a corner. s->number maps vertices of the surface to numbers in the file. */
  assert_int_equal(s->listed, SPARE + SOUP);
  assert_int_equal(s->vertex[0], -1);
  for (int i = 0; i < SOUP; i++) {
    const int v = s->vertex[SPARE + i];
    assert_in_range(v, 0, CORNERS - 1);
    assert_memory_equal(s->x[v], box[face[i / 3][i % 3]], sizeof box[0]);
    assert_in_range(s->number[v], SPARE + 1, SPARE + 1 + i);
  }
  cb_surface_seam seams = {.vertices = -1};
  check_ok(cb_surface_seams(s, &seams));
  assert_int_equal(seams.vertices, 0);
  cb_surface_free(s);
  cb_surface_free(plain);
}

static void unwelded_it_is_sheets_that_are_told(void **state) {
  cb_surface *s = NULL;
  cb_surface_seam seams = {.vertices = -1};
  write_path(false);
  check_ok(cb_surface_read(path, false, &s));
  assert_int_equal(s->parts, FACES);
  check_ok(cb_surface_seams(s, &seams));
  assert_int_equal(seams.vertices, SOUP - CORNERS);
  cb_surface_free(s);
  /* Two closed boxes touch. Vertices that coincide are no seam, because they are not on a border. */
  double two[2 * CORNERS][3];
  int faces[2 * FACES][3];
  for (int i = 0; i < 2 * CORNERS; i++)
    for (int k = 0; k < 3; k++) two[i][k] = box[i % CORNERS][k] + (k == 0 && i >= CORNERS);
  for (int f = 0; f < 2 * FACES; f++)
    for (int k = 0; k < 3; k++) faces[f][k] = face[f % FACES][k] + (f < FACES ? 0 : CORNERS);
  check_ok(cb_surface_make(2 * CORNERS, (const double(*)[3])two, 2 * FACES, (const int(*)[3])faces, NULL, &s));
  check_ok(cb_surface_seams(s, &seams));
  assert_int_equal(seams.vertices, 0);
  cb_surface_free(s);
}

static void groups_unite_where_they_are_welded(void **state) {
  cb_surface *s = NULL;
  write_path(true);
  check_ok(cb_surface_read(path, false, &s));
  assert_int_equal(s->parts, 2);
  cb_surface_free(s);
  check_ok(cb_surface_read(path, true, &s));
  check_is_box(s);
  assert_string_equal(s->name[0], "front+back");
  cb_surface_free(s);
}

/* ---- faces that vanish ---- */

static void a_face_with_two_corners_at_one_place_is_dropped(void **state) {
  cb_surface *s = NULL;
  FILE *file = fopen(path, "wb");
  write_soup(file, 1, 0, true);
  fprintf(file, "g sliver\nf 2 3 5\n"); /* vertices 2 and 5 are both at corner 0 */
  fclose(file);
  check_ok(cb_surface_read(path, true, &s));
  check_is_box(s);
  cb_surface_free(s);
  file = fopen(path, "wb");
  fprintf(file, "v 0 0 0\nv 1 0 0\nv 0 0 0\nf 1 2 3\n");
  fclose(file);
  snprintf(text, sizeof text, "%s:1:1: error: the mesh has no faces: expected at least one", path);
  check_error(cb_surface_read(path, true, &s), CB_ERROR_INPUT, text);
}

/* ---- poses ---- */

static void write_pose(const char *folder, int number, double scale, double moved) {
  char name[100];
  snprintf(name, sizeof name, "%s/pose-%d.obj", folder, number);
  FILE *file = fopen(name, "wb");
  write_soup(file, scale, moved, false);
  fclose(file);
}

static void numbered_poses_are_joined_as_the_body(void **state) {
  char folder[] = "/tmp/curvebody-test-XXXXXX", pattern[100], name[100];
  const cb_poses_times times = {.step = 1, .end = CB_POSES_CLAMPED};
  assert_non_null(mkdtemp(folder));
  snprintf(pattern, sizeof pattern, "%s/pose-#.obj", folder);
  for (int i = 0; i < POSES; i++) write_pose(folder, i, 1 + i, 0);
  for (int own = 0; own < 2; own++) {
    cb_surface *rest = NULL;
    cb_poses *p = NULL;
    cb_mesh *mesh = NULL;
    write_path(false);
    if (own) check_ok(cb_surface_read_mesh(path, NULL, &mesh));
    if (own) check_ok(cb_surface_of_mesh(mesh, &weld, &rest));
    check_ok(cb_poses_read(pattern, 0, 0, &times, mesh, &weld, &rest, &p));
    check_is_box(rest);
    for (int i = 0; i < POSES; i++)
      for (int v = 0; v < CORNERS; v++)
        for (int k = 0; k < 3; k++) check_near(cb_poses_pose(p, i)[v][k], (1 + i) * rest->x[v][k], 0);
    cb_poses_free(p);
    cb_surface_free(rest);
    cb_mesh_free(mesh);
  }
  cb_surface *rest = NULL;
  cb_poses *p = NULL;
  write_pose(folder, 2, 1, 1e-9);
  snprintf(text, sizeof text,
           "%s/pose-2.obj:1:1: error: `weld` joins vertices 36 and 8, but they are not at the same place in this file: "
           "expected no `weld`, or a larger tolerance",
           folder);
  check_error(cb_poses_read(pattern, 0, 0, &times, NULL, &weld, &rest, &p), CB_ERROR_INPUT, text);
  assert_null(p);
  for (int i = 0; i < POSES; i++) {
    snprintf(name, sizeof name, "%s/pose-%d.obj", folder, i);
    unlink(name);
  }
  rmdir(folder);
}

/* Writes a sequence of poses of the box with separate vertices, and one more face with two coinciding corners. `moved`
 * is the displacement of the last vertex in the last pose. */
static void write_sequence(double moved) {
  static double x[POSES][SOUP][3];
  int faces[1 + FACES][3] = {{0, 3, 1}};
  for (int i = 0; i < POSES; i++)
    for (int v = 0; v < SOUP; v++)
      for (int k = 0; k < 3; k++) x[i][v][k] = (1 + i) * box[face[v / 3][v % 3]][k];
  x[POSES - 1][SOUP - 1][0] += moved;
  for (int v = 0; v < SOUP; v++) faces[1 + v / 3][v % 3] = v;
  hid_t file = create();
  put(file, "poses", H5T_IEEE_F64LE, 3, (const hsize_t[]){POSES, SOUP, 3}, H5T_NATIVE_DOUBLE, x);
  put(file, "face", H5T_STD_I32LE, 2, (const hsize_t[]){1 + FACES, 3}, H5T_NATIVE_INT, faces);
  H5Fclose(file);
}

static void a_sequence_is_joined_as_its_first_pose_or_its_mesh(void **state) {
  const cb_poses_times times = {.step = 1, .end = CB_POSES_CLAMPED};
  cb_surface *rest = NULL, *again = NULL;
  cb_poses *p = NULL;
  write_sequence(0);
  check_ok(cb_poses_read_sequence(path, NULL, NULL, &times, &weld, &rest, &p));
  check_is_box(rest);
  check_near(cb_poses_pose(p, 2)[rest->vertex[SOUP - 1]][2], 9, 0);
  cb_poses_free(p);
  check_ok(cb_poses_read_sequence(path, NULL, rest, &times, NULL, &again, &p));
  assert_null(again);
  check_near(cb_poses_pose(p, 2)[rest->vertex[SOUP - 1]][2], 9, 0);
  cb_poses_free(p);
  cb_surface_free(rest);
  rest = NULL;
  write_sequence(1);
  check_error(cb_poses_read_sequence(path, NULL, NULL, &times, &weld, &rest, &p), CB_ERROR_INPUT,
              error_of_file("dataset 'poses': pose 3: vertex 36 does not coincide with vertex 12, to which `weld` "
                            "joins it: expected equal coordinates"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_soup_is_welded_to_the_surface),
                                     cmocka_unit_test(unwelded_it_is_sheets_that_are_told),
                                     cmocka_unit_test(groups_unite_where_they_are_welded),
                                     cmocka_unit_test(a_face_with_two_corners_at_one_place_is_dropped),
                                     cmocka_unit_test(numbered_poses_are_joined_as_the_body),
                                     cmocka_unit_test(a_sequence_is_joined_as_its_first_pose_or_its_mesh)};
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
