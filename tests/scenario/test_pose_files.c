/* Tests of poses from numbered files: their positions, the polygons that they share with the body, and errors with file
 * and line. */
#include "check.h"

#include "fluid/poses_private.h"

#include <limits.h>
#include <unistd.h>

static void write_file(const char *folder, int number, const char *text) {
  char path[200];
  snprintf(path, sizeof path, "%s/pose-%03d.obj", folder, number);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void remove_files(const char *folder, int first, int end) {
  for (int i = first; i < end; i++) {
    char path[200];
    snprintf(path, sizeof path, "%s/pose-%03d.obj", folder, i);
    unlink(path);
  }
  rmdir(folder);
}

static void numbered_files_are_poses(void **state) {
  char folder[] = "/tmp/curvebody-test-XXXXXX", pattern[100], expected[400], path[200];
  assert_non_null(mkdtemp(folder));
  snprintf(pattern, sizeof pattern, "%s/pose-###.obj", folder);
#define FACES "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
  for (int i = 7; i < 11; i++) {
    char text[200];
    snprintf(text, sizeof text, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 %d\n" FACES, i);
    write_file(folder, i, text);
  }
  const cb_poses_times times = {.step = 1, .end = CB_POSES_CLAMPED};
  cb_surface *rest = NULL;
  cb_poses *p = NULL;
  double x[4][3], v[4][3];
  check_ok(cb_poses_read(pattern, 7, 0, &times, NULL, NULL, &rest, &p));
  assert_int_equal(rest->vertices, 4);
  check_near(rest->x[3][2], 7, 0);
  check_ok(cb_poses_at(p, 1.5, x, v));
  check_near(x[3][2], 8.5, 1e-15 * 16);
  check_near(v[3][2], 1, 1e-15 * 16);
  check_ok(cb_poses_at(p, 99, x, v));
  check_near(x[3][2], 10, 0);
  cb_poses_free(p);
  cb_surface_free(rest);
  rest = NULL;
  p = NULL;
  snprintf(expected, sizeof expected, "cannot read '%s/pose-011.obj': No such file or directory", folder);
  check_error(cb_poses_read(pattern, 7, 5, &times, NULL, NULL, &rest, &p), CB_ERROR_FILE, expected);
  snprintf(expected, sizeof expected,
           "cannot read '%s/pose-006.obj': No such file or directory; the files of '%s' begin with number 7: expected "
           "`first: 7`",
           folder, pattern);
  check_error(cb_poses_read(pattern, 6, 0, &times, NULL, NULL, &rest, &p), CB_ERROR_FILE, expected);
  write_file(folder, 9, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 9\nf 1 3 2\nf 1 2 4\nf 1 3 4\nf 2 3 4\n");
  snprintf(expected, sizeof expected,
           "%s/pose-009.obj:7:1: error: face 3 has vertex 3 at its corner 2, expected 4 as in '%s/pose-007.obj'",
           folder, folder);
  check_error(cb_poses_read(pattern, 7, 0, &times, NULL, NULL, &rest, &p), CB_ERROR_INPUT, expected);
  write_file(folder, 9, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 9\nf 1 3 2\n");
  snprintf(expected, sizeof expected,
           "%s/pose-009.obj:1:1: error: the file has 4 vertices and 1 faces, expected 4 and 4 as in '%s/pose-007.obj'",
           folder, folder);
  check_error(cb_poses_read(pattern, 7, 0, &times, NULL, NULL, &rest, &p), CB_ERROR_INPUT, expected);
  write_file(folder, 9, "v 0 0 0\nv 1 0 0\nv 0 nan 0\nv 0 0 9\n" FACES);
  snprintf(expected, sizeof expected, "%s/pose-009.obj:3:5: error: expected y, a finite number, found 'nan'", folder);
  check_error(cb_poses_read(pattern, 7, 0, &times, NULL, NULL, &rest, &p), CB_ERROR_INPUT, expected);
  check_error(cb_poses_read("a.obj", 0, 0, &times, NULL, NULL, &rest, &p), CB_ERROR_INPUT,
              "poses 'a.obj': expected a name with one run of '#' in place of the number");
  check_error(cb_poses_read("a#b#.obj", 0, 0, &times, NULL, NULL, &rest, &p), CB_ERROR_INPUT,
              "poses 'a#b#.obj': expected a name with one run of '#' in place of the number");
  check_error(cb_poses_read(pattern, -1, 0, &times, NULL, NULL, &rest, &p), CB_ERROR_ARGUMENT,
              strcat(strcat(strcpy(path, "poses '"), pattern), "': 0 files from number -1 on: expected numbers >= 0"));
  check_error(cb_poses_read("none-#.obj", INT_MAX - 3, 5, &times, NULL, NULL, &rest, &p), CB_ERROR_ARGUMENT,
              "poses 'none-#.obj': 5 files from number 2147483644 on: expected numbers up to 2147483647");
  check_error(cb_poses_read("/nowhere/none-#.obj", INT_MAX - 4, 5, &times, NULL, NULL, &rest, &p), CB_ERROR_FILE,
              "cannot read '/nowhere/none-2147483643.obj': No such file or directory");
  assert_null(rest);
  assert_null(p);
  remove_files(folder, 7, 11);
}

/* ---- polygons ---- */

/* Writes a box of quadrilaterals whose top is bent upwards by h at one corner. The sides at this corner remain plane,
 * but the top does not. */
static void write_bent(const char *folder, int number, double h) {
  char text[400];
  snprintf(text, sizeof text,
           "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 %.17g\nv 0 1 1\n"
           "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n",
           1 + h);
  write_file(folder, number, text);
}

static void polygons_that_bend_keep_the_triangles_of_the_body(void **state) {
  char folder[] = "/tmp/curvebody-test-XXXXXX", pattern[100], path[200], expected[400];
  const cb_poses_times times = {.step = 1, .end = CB_POSES_CLAMPED};
  cb_surface *rest = NULL;
  cb_poses *p = NULL;
  cb_mesh *mesh = NULL;
  assert_non_null(mkdtemp(folder));
  snprintf(pattern, sizeof pattern, "%s/pose-###.obj", folder);
  for (int i = 0; i < 3; i++) write_bent(folder, i, .1 * i);
  check_ok(cb_poses_read(pattern, 0, 0, &times, NULL, NULL, &rest, &p));
  assert_int_equal(rest->faces, 12);
  assert_int_equal(cb_poses_count(p), 3);
  check_near(cb_poses_pose(p, 2)[6][2], 1.2, 1e-15);
  cb_poses_free(p);
  /* If the body is read from a separate file, the polygons of the first pose may be bent, too. If the first pose
   * defines the body, its polygons must be planar. */
  snprintf(path, sizeof path, "%s/pose-000.obj", folder);
  check_ok(cb_surface_read_mesh(path, NULL, &mesh));
  check_ok(cb_poses_read(pattern, 1, 0, &times, mesh, NULL, &rest, &p));
  check_near(cb_poses_pose(p, 0)[6][2], 1.1, 1e-15);
  cb_poses_free(p);
  cb_surface_free(rest);
  rest = NULL;
  p = NULL;
  snprintf(expected, sizeof expected, "%s/pose-001.obj:10:1: error: a polygon of 4 corners is not planar: ", folder);
  check_error_begins(cb_poses_read(pattern, 1, 0, &times, NULL, NULL, &rest, &p), CB_ERROR_INPUT, expected);
  /* Other polygons than those of the body; their number is the same, 6. */
  write_file(folder, 2,
             "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
             "f 1 4 3\nf 1 3 2\nf 5 6 7 8\nf 1 2 6 5 3\nf 2 3 7 6\nf 4 1 5 8\n");
  snprintf(expected, sizeof expected, "%s/pose-002.obj:9:1: error: face 1 has 3 corners, expected 4 as in '%s'", folder,
           path);
  check_ok(cb_surface_of_mesh(mesh, NULL, &rest));
  check_error(cb_poses_read(pattern, 0, 0, &times, mesh, NULL, &rest, &p), CB_ERROR_INPUT, expected);
  assert_null(p);
  cb_surface_free(rest);
  cb_mesh_free(mesh);
  remove_files(folder, 0, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbered_files_are_poses),
                                     cmocka_unit_test(polygons_that_bend_keep_the_triangles_of_the_body)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
