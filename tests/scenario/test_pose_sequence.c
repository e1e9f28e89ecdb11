/* Tests of poses from one HDF5 file. They equal the poses from arrays, use the times of the file, and can describe a
 * body without a mesh. The errors of rejected files contain the name and the place, and a file that is cut anywhere is
 * rejected. */
#include "hdf5_file.h"

#include "scenario/hdf5_input.h"

enum { POSES = 5, VERTICES = 4, FACES = 4, NUMBERS = POSES * VERTICES * 3 };

static double place[NUMBERS];
static const double times[POSES] = {.5, 1, 1.75, 2, 3};
static const int tetrahedron[FACES][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
static const cb_poses_times by_step = {NULL, .5, .25, 0, CB_POSES_CLAMPED}, by_time = {.end = CB_POSES_CLAMPED};

static int start(void **state) {
  for (int i = 0; i < NUMBERS; i++) place[i] = (float)sin(3. * i); /* values are exact in single precision */
  return make_path(state);
}

static void put_poses(hid_t file, const char *name, hid_t stored, hsize_t poses, hsize_t vertices) {
  put(file, name, stored, 3, (const hsize_t[]){poses, vertices, 3}, H5T_NATIVE_DOUBLE, place);
}
static void put_times(hid_t file, hsize_t n) { put(file, "time", H5T_IEEE_F64LE, 1, &n, H5T_NATIVE_DOUBLE, times); }
static void put_faces(hid_t file, const int (*face)[3]) {
  put(file, "face", H5T_STD_U16BE, 2, (const hsize_t[]){FACES, 3}, H5T_NATIVE_INT, face);
}
static void write_whole(void) {
  hid_t file = create();
  put_poses(file, "poses", H5T_IEEE_F64LE, POSES, VERTICES);
  put_times(file, POSES);
  put_faces(file, tetrahedron);
  H5Fclose(file);
}
/* Writes a file that contains only poses. */
static void write_poses(hid_t stored, hsize_t poses, hsize_t vertices) {
  hid_t file = create();
  put_poses(file, "poses", stored, poses, vertices);
  H5Fclose(file);
}

static cb_surface *body(const int (*face)[3], int faces) {
  cb_surface *s = NULL;
  check_ok(cb_surface_make(VERTICES, (const double(*)[3])place, faces, face, NULL, &s));
  return s;
}

static cb_poses *arrays(const cb_poses_times *when) {
  cb_poses *p = NULL;
  check_ok(cb_poses_from_arrays(VERTICES, POSES, (const double(*)[3])place, when, &p));
  return p;
}

/* Checks that two sequences of poses have equal positions and velocities, and frees both. */
static void check_same(cb_poses *a, cb_poses *b) {
  for (int i = 0; i <= 100; i++) {
    double x[VERTICES][3], y[VERTICES][3], v[VERTICES][3], w[VERTICES][3], t = -1 + .06 * i;
    check_ok(cb_poses_at(a, t, x, v));
    check_ok(cb_poses_at(b, t, y, w));
    assert_memory_equal(x, y, sizeof x);
    assert_memory_equal(v, w, sizeof v);
  }
  cb_poses_free(a);
  cb_poses_free(b);
}

static cb_poses *read_with(const cb_surface *mesh, const char *dataset, const cb_poses_times *when) {
  cb_poses *p = NULL;
  check_ok(cb_poses_read_sequence(path, dataset, mesh, when, NULL, NULL, &p));
  return p;
}

static void a_file_gives_the_poses_of_its_arrays(void **state) {
  cb_surface *mesh = body(tetrahedron, FACES);
  const hid_t stored[] = {H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_IEEE_F32LE};
  for (int k = 0; k < 3; k++) {
    write_poses(stored[k], POSES, VERTICES);
    check_same(read_with(mesh, NULL, &by_step), arrays(&by_step));
  }
  hid_t file = create(), group = H5Gcreate2(file, "stroke", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  put_poses(group, "x", H5T_IEEE_F64LE, POSES, VERTICES);
  H5Gclose(group);
  H5Fclose(file);
  check_same(read_with(mesh, "stroke/x", &by_step), arrays(&by_step));
  cb_surface_free(mesh);
}

static void times_are_of_the_file_unless_a_step_is_given(void **state) {
  cb_surface *mesh = body(tetrahedron, FACES);
  write_whole();
  check_same(read_with(mesh, NULL, &by_step), arrays(&by_step));
  check_same(read_with(mesh, NULL, &by_time), arrays(&(cb_poses_times){.time = times, .end = CB_POSES_CLAMPED}));
  double later[POSES];
  for (int i = 0; i < POSES; i++) later[i] = times[i] + 10;
  /* The time from the first to the last pose is 2.5; the period is 5/4 of this. */
  check_same(read_with(mesh, NULL, &(cb_poses_times){.start = 10, .end = CB_POSES_PERIODIC}),
             arrays(&(cb_poses_times){.time = later, .period = 3.125, .end = CB_POSES_PERIODIC}));
  check_same(read_with(mesh, NULL, &(cb_poses_times){.period = 4, .end = CB_POSES_PERIODIC}),
             arrays(&(cb_poses_times){.time = times, .period = 4, .end = CB_POSES_PERIODIC}));
  cb_surface_free(mesh);
}

static void a_file_with_faces_is_a_body_by_itself(void **state) {
  write_whole();
  cb_surface *rest = NULL, *expected = body(tetrahedron, FACES);
  cb_poses *p = NULL;
  check_ok(cb_poses_read_sequence(path, NULL, NULL, &by_time, NULL, &rest, &p));
  check_same(p, arrays(&(cb_poses_times){.time = times, .end = CB_POSES_CLAMPED}));
  assert_int_equal(rest->vertices, VERTICES);
  assert_int_equal(rest->faces, FACES);
  assert_memory_equal(rest->x, expected->x, sizeof(double[VERTICES][3]));
  assert_memory_equal(rest->face, expected->face, sizeof tetrahedron);
  cb_surface_free(rest);
  cb_surface_free(expected);
}

/* ---- errors ---- */

#define check_refused(mesh, dataset, when, ...)                                                     \
  do {                                                                                              \
    cb_surface *rest = NULL;                                                                        \
    cb_poses *p = NULL;                                                                             \
    check_error(cb_poses_read_sequence(path, dataset, mesh, when, NULL, &rest, &p), CB_ERROR_INPUT, \
                error_of_file(__VA_ARGS__));                                                        \
    assert_null(rest);                                                                              \
    assert_null(p);                                                                                 \
  } while (0)

static void another_number_of_vertices_is_refused(void **state) {
  cb_surface *mesh = body(tetrahedron, FACES);
  write_poses(H5T_IEEE_F64LE, 5, 3);
  check_refused(mesh, NULL, &by_step,
                "dataset 'poses' has the shape [5, 3, 3], expected [pose, 4, 3]: the mesh has 4 "
                "vertices");
  cb_surface_free(mesh);
}

static void another_connectivity_is_refused(void **state) {
  static const int turned[FACES][3] = {{0, 2, 1}, {0, 1, 3}, {1, 3, 2}, {0, 3, 2}};
  cb_surface *mesh = body(turned, FACES), *fewer = body(tetrahedron, FACES - 1);
  write_whole();
  check_refused(mesh, NULL, &by_step,
                "dataset 'face': face 3 has the vertices 1, 2, 3 (counted from 0), expected 1, "
                "3, 2 as in the mesh");
  check_refused(fewer, NULL, &by_step, "dataset 'face' has the shape [4, 3], expected [3, 3] as in the mesh");
  cb_surface_free(mesh);
  cb_surface_free(fewer);
}

static void a_number_that_is_not_finite_is_refused_with_pose_and_vertex(void **state) {
  cb_surface *mesh = body(tetrahedron, FACES);
  double kept = place[3 * (2 * VERTICES + 1) + 2];
  place[3 * (2 * VERTICES + 1) + 2] = NAN;
  write_poses(H5T_IEEE_F64LE, POSES, VERTICES);
  const double *x = &place[3 * (2 * VERTICES + 1)];
  check_refused(mesh, NULL, &by_step,
                "dataset 'poses': pose 3: expected finite coordinates of vertex 2, found (%g, %g, nan)", x[0], x[1]);
  place[3 * (2 * VERTICES + 1) + 2] = INFINITY;
  write_poses(H5T_IEEE_F32LE, POSES, VERTICES);
  check_refused(mesh, NULL, &by_step,
                "dataset 'poses': pose 3: expected finite coordinates of vertex 2, found (%g, %g, inf)", x[0], x[1]);
  place[3 * (2 * VERTICES + 1) + 2] = kept;
  cb_surface_free(mesh);
}

static void shapes_and_types_are_refused_by_name(void **state) {
  cb_surface *mesh = body(tetrahedron, FACES);
  hid_t file = create();
  put(file, "poses", H5T_IEEE_F64LE, 2, (const hsize_t[]){5, 12}, H5T_NATIVE_DOUBLE, place);
  put(file, "flat", H5T_IEEE_F64LE, 3, (const hsize_t[]){5, 6, 2}, H5T_NATIVE_DOUBLE, place);
  put(file, "whole", H5T_STD_I32LE, 3, (const hsize_t[]){5, 4, 3}, H5T_NATIVE_DOUBLE, place);
  put(file, "none", H5T_IEEE_F64LE, 3, (const hsize_t[]){0, 4, 3}, H5T_NATIVE_DOUBLE, NULL);
  put(file, "unwritten", H5T_IEEE_F64LE, 3, (const hsize_t[]){5, 4, 3}, H5T_NATIVE_DOUBLE, NULL);
  put(file, "large", H5T_IEEE_F64LE, 3, (const hsize_t[]){3000000000, 4, 3}, H5T_NATIVE_DOUBLE, NULL);
  put_poses(file, "one", H5T_IEEE_F64LE, 1, 4);
  put_poses(file, "x", H5T_IEEE_F64LE, 5, 4);
  H5Fclose(file);
  const cb_poses_times *w = &by_step;
  check_refused(mesh, NULL, w, "dataset 'poses' has the shape [5, 12], expected [pose, vertex, 3]");
  check_refused(mesh, "flat", w, "dataset 'flat' has the shape [5, 6, 2], expected [pose, vertex, 3]");
  check_refused(mesh, "whole", w,
                "dataset 'whole' does not contain floating-point numbers, expected [pose, vertex, 3]");
  check_refused(mesh, "none", w, "dataset 'none' has the shape [0, 4, 3], expected lengths from 1 to 715827882");
  check_refused(mesh, "unwritten", w,
                "dataset 'unwritten' of shape [5, 4, 3] contains no numbers: expected a dataset that was written");
  check_refused(mesh, "large", w,
                "dataset 'large' has the shape [3000000000, 4, 3], expected lengths from 1 to 715827882");
  check_refused(mesh, "one", w, "1 poses: expected at least 2");
  check_refused(mesh, "no", w, "there is no dataset 'no', expected [pose, vertex, 3]");
  check_refused(mesh, "no/such", w, "there is no dataset 'no/such', expected [pose, vertex, 3]");
  check_refused(mesh, "x", &by_time, "there is no dataset 'time', expected [pose], or a step");
  check_refused(NULL, "x", w, "there is no dataset 'face', expected [face, 3], or the mesh of these poses");
  cb_surface_free(mesh);
}

static void times_and_faces_that_do_not_fit_are_refused(void **state) {
  cb_surface *mesh = body(tetrahedron, FACES);
  hid_t file = create();
  put_poses(file, "poses", H5T_IEEE_F64LE, POSES, VERTICES);
  put_times(file, 4);
  static const int out[FACES][3] = {{0, 2, 1}, {0, 4, 3}, {1, 2, 3}, {0, 3, 2}};
  put_faces(file, out);
  H5Fclose(file);
  check_refused(mesh, NULL, &by_time, "dataset 'time' has the shape [4], expected [5]: 'poses' has 5 poses");
  check_refused(NULL, NULL, &by_step, "dataset 'face': face 2: vertex number 4, expected 0 to 3");
  file = create();
  put_poses(file, "poses", H5T_IEEE_F64LE, POSES, VERTICES);
  static const int twice[FACES][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 2}, {0, 3, 2}};
  put_faces(file, twice);
  static const double back[POSES] = {0, 1, 2, 2, 3};
  put(file, "time", H5T_IEEE_F64LE, 1, (const hsize_t[]){POSES}, H5T_NATIVE_DOUBLE, back);
  H5Fclose(file);
  check_refused(NULL, NULL, &by_step, "face 3: vertex 3 twice: expected three different vertices");
  cb_surface *other = body(twice, 2);
  check_refused(other, NULL, &by_time, "dataset 'face' has the shape [4, 3], expected [2, 3] as in the mesh");
  cb_surface_free(other);
  file = create();
  put_poses(file, "poses", H5T_IEEE_F64LE, POSES, VERTICES);
  put(file, "time", H5T_IEEE_F64LE, 1, (const hsize_t[]){POSES}, H5T_NATIVE_DOUBLE, back);
  H5Fclose(file);
  check_refused(mesh, NULL, &by_time, "pose 4 at time 2: expected finite times that ascend");
  cb_surface_free(mesh);
}

static void no_file_and_no_hdf5_are_refused(void **state) {
  cb_surface *rest = NULL;
  cb_poses *p = NULL;
  check_error(cb_poses_read_sequence("/nowhere/eel.h5", NULL, NULL, &by_step, NULL, &rest, &p), CB_ERROR_FILE,
              "/nowhere/eel.h5: cannot read: No such file or directory");
  write_bytes("v 0 0 0\n", 8);
  snprintf(text, sizeof text, "%s: cannot read: ", path);
  check_error_begins(cb_poses_read_sequence(path, NULL, NULL, &by_step, NULL, &rest, &p), CB_ERROR_FILE, text);
}

static cb_status read_path(void) {
  cb_surface *rest = NULL;
  cb_poses *p = NULL;
  cb_status status = cb_poses_read_sequence(path, NULL, NULL, &by_time, NULL, &rest, &p);
  assert_null(rest);
  assert_null(p);
  return status;
}

static void a_file_cut_anywhere_is_refused(void **state) {
  write_whole();
  check_cut(61, read_path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_gives_the_poses_of_its_arrays),
                                     cmocka_unit_test(times_are_of_the_file_unless_a_step_is_given),
                                     cmocka_unit_test(a_file_with_faces_is_a_body_by_itself),
                                     cmocka_unit_test(another_number_of_vertices_is_refused),
                                     cmocka_unit_test(another_connectivity_is_refused),
                                     cmocka_unit_test(a_number_that_is_not_finite_is_refused_with_pose_and_vertex),
                                     cmocka_unit_test(shapes_and_types_are_refused_by_name),
                                     cmocka_unit_test(times_and_faces_that_do_not_fit_are_refused),
                                     cmocka_unit_test(no_file_and_no_hdf5_are_refused),
                                     cmocka_unit_test(a_file_cut_anywhere_is_refused)};
  return cmocka_run_group_tests(tests, start, remove_path);
}
