/* Tests of flows from HDF5 files. The written field is read back in single and double precision, for steady and
 * unsteady flows, and for directions that are periodic or held constant beyond the grid. The errors of rejected files
 * contain the name of the file and of the wrong part. */
#include "hdf5_file.h"

#include "scenario/hdf5_input.h"

extern const cb_fluid_flow_class cb_fluid_flow_grid;

enum { NT = 4, NX = 5, NY = 6, NZ = 7 };

/* The content of a file; names and numbers may be changed before it is written. */
typedef struct content {
  int rank;
  hsize_t dims[6];
  hid_t stored;
  double *velocity; /* [NT][NX][NY][NZ][3]: the three components at each time and point */
  double axis[4][NZ];
  const char *name[4]; /* datasets of the axes t, x, y and z; NULL: not written */
  hsize_t length[4];
  int periodics, periodic[4];
} content;

static const double first[4] = {10, -1, 0.2, 3}, step[4] = {0.5, 0.25, 0.1, 2};

/* A field that is at most cubic in every coordinate and in time. The spline reproduces such a field exactly. */
static void field(double t, const double x[3], double u[3]) {
  u[0] = x[0] * x[0] * x[0] - x[1] + t;
  u[1] = x[1] * x[1] * x[2] + (t - 10) * (t - 10) * x[0];
  u[2] = x[2] * x[2] * x[2] / 10 - x[0] * x[1] * t;
}

static content content_of(int times) {
  content c = {.rank = times > 1 ? 5 : 4, .stored = H5T_IEEE_F64LE, .name = {"time", "x", "y", "z"}};
  const hsize_t n[4] = {(hsize_t)times, NX, NY, NZ};
  memcpy(c.length, n, sizeof n);
  const int skip = times > 1 ? 0 : 1;
  for (int k = skip; k < 4; k++) c.dims[k - skip] = n[k];
  c.dims[c.rank - 1] = 3;
  for (int k = 0; k < 4; k++)
    for (hsize_t i = 0; i < n[k]; i++) c.axis[k][i] = first[k] + (double)i * step[k];
  double *u = c.velocity = malloc(sizeof *u * NT * NX * NY * NZ * 3);
  for (int l = 0; l < times; l++)
    for (int i = 0; i < NX; i++)
      for (int j = 0; j < NY; j++)
        for (int k = 0; k < NZ; k++, u += 3)
          field(c.axis[0][l], (const double[3]){c.axis[1][i], c.axis[2][j], c.axis[3][k]}, u);
  return c;
}

static void write_file(const content *c) {
  hid_t file = create();
  put(file, "velocity", c->stored, c->rank, c->dims, H5T_NATIVE_DOUBLE, c->velocity);
  for (int k = 0; k < 4; k++)
    if (c->name[k]) put(file, c->name[k], c->stored, 1, &c->length[k], H5T_NATIVE_DOUBLE, c->axis[k]);
  if (c->periodics) {
    const hsize_t n = (hsize_t)c->periodics;
    hid_t space = H5Screate_simple(1, &n, NULL), dataset = H5Dopen2(file, "velocity", H5P_DEFAULT),
          attribute = H5Acreate2(dataset, "periodic", H5T_STD_I8LE, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_INT, c->periodic) >= 0);
    H5Aclose(attribute);
    H5Dclose(dataset);
    H5Sclose(space);
  }
  H5Fclose(file);
}

static cb_flow *read_file(const content *c) {
  cb_flow *f = NULL;
  write_file(c);
  check_ok(cb_flow_read_grid(&cb_fluid_flow_grid, path, &f));
  return f;
}

static void at(const cb_flow *f, double t, const double x[3], double u[3]) {
  double found[1][3];
  check_ok(cb_flow_at(f, t, 1, (const double[1][3]){{x[0], x[1], x[2]}}, found, NULL, NULL));
  memcpy(u, found, sizeof found);
}

/* --- reading --- */

static void file_gives_the_field_that_was_written(void **unused) {
  uint64_t seed = check_seed();
  for (int turn = 0; turn < 6; turn++) {
    const bool moving = turn % 2;
    content c = content_of(moving ? NT : 1);
    if (turn / 2 == 1) c.stored = H5T_IEEE_F32BE;
    if (turn / 2 == 2 && !moving) c.name[0] = NULL;
    cb_flow *f = read_file(&c);
    assert_true(cb_flow_is_steady(f) == !moving);
    assert_false(cb_flow_is_uniform(f));
    for (int s = 0; s < 50; s++) {
      double x[3], u[3], exact[3];
      for (int k = 0; k < 3; k++)
        x[k] = first[1 + k] + check_uniform(&seed, 0, 1) * step[1 + k] * (double)(c.length[1 + k] - 1);
      const double t = first[0] + (moving ? check_uniform(&seed, 0, 1) * step[0] * (NT - 1) : 0);
      at(f, moving ? t : -77, x, u);
      field(t, x, exact);
      for (int k = 0; k < 3; k++) check_near(u[k], exact[k], c.stored == H5T_IEEE_F32BE ? 2e-4 : 1e-11);
    }
    cb_flow_free(f);
    free(c.velocity);
  }
}

static void periodic_directions_begin_again(void **unused) {
  for (int count = 3; count <= 4; count++) {
    content c = content_of(NT);
    c.periodics = count;
    c.periodic[1] = 1;
    c.periodic[3] = count == 4;
    cb_flow *f = read_file(&c);
    const double x[3] = {-0.9, 0.23, 4}, y[3] = {-0.9, 0.23 + NY * step[2], 4}, z[3] = {-0.9, 0.23, 4 + NZ * step[3]},
                 last[3] = {-0.9, 0.23, first[3] + (NZ - 1) * step[3]};
    double u[3], v[3], w[3], end[3], later[3], held[3];
    at(f, 10.2, x, u);
    at(f, 10.2, y, v);
    at(f, 10.2, z, w);
    at(f, 10.2, last, end);
    at(f, 10.2 + NT * step[0], x, later);
    at(f, 10 + (NT - 1) * step[0], x, held);
    for (int k = 0; k < 3; k++) {
      check_near(v[k], u[k], 1e-12);   /* periodic in y */
      check_near(w[k], end[k], 1e-12); /* held constant beyond the grid in z */
      check_near(later[k], count == 4 ? u[k] : held[k], 1e-11);
    }
    cb_flow_free(f);
    free(c.velocity);
  }
}

/* A plane flow has one point along z, whose coordinate is not needed. */
static void direction_of_one_point_needs_no_place(void **unused) {
  content c = content_of(1);
  c.dims[2] = 1;
  c.name[3] = NULL;
  for (int i = 0; i < NX; i++)
    for (int j = 0; j < NY; j++)
      for (int q = 0; q < 3; q++) c.velocity[(i * NY + j) * 3 + q] = q + c.axis[1][i] * c.axis[2][j];
  cb_flow *f = read_file(&c);
  double u[3];
  at(f, 0, (const double[3]){-0.33, 0.41, 1e9}, u);
  for (int q = 0; q < 3; q++) check_near(u[q], q - 0.33 * 0.41, 1e-14);
  cb_flow_free(f);
  free(c.velocity);
}

/* In single precision the numbers 1000.1, 1000.2 .. are rounded by up to 3e-5, so that their spacing is not exactly
 * constant. This is accepted for numbers stored in single precision; for numbers stored in double precision it is an
 * error. */
static void places_may_be_rounded_as_they_are_stored(void **unused) {
  content c = content_of(1);
  for (int i = 0; i < NZ; i++) c.axis[3][i] = 1000 + 0.1 * i;
  c.stored = H5T_IEEE_F32LE;
  cb_flow_free(read_file(&c));
  for (int i = 0; i < NZ; i++) c.axis[3][i] = (float)c.axis[3][i];
  c.stored = H5T_IEEE_F64LE;
  write_file(&c);
  cb_flow *f;
  check_error_begins(cb_flow_read_grid(&cb_fluid_flow_grid, path, &f), CB_ERROR_INPUT,
                     error_of_file("dataset 'z': value 2 is 1000.09998, expected 1000.1"));
  free(c.velocity);
}

/* --- errors --- */

static void check_refused(content *c, const char *expected) {
  cb_flow *f = NULL;
  write_file(c);
  check_error(cb_flow_read_grid(&cb_fluid_flow_grid, path, &f), CB_ERROR_INPUT, error_of_file("%s", expected));
  assert_null(f);
  free(c->velocity);
}

static void shapes_are_refused_by_name(void **unused) {
  content c = content_of(1);
  c.rank = 2;
  check_refused(&c, "dataset 'velocity' has the shape [5, 6], expected [x, y, z, 3] or [time, x, y, z, 3]");
  c = content_of(1);
  c.dims[3] = 2;
  check_refused(&c, "dataset 'velocity' has the shape [5, 6, 7, 2], expected [x, y, z, 3] or [time, x, y, z, 3]");
  c = content_of(1);
  c.rank = 6;
  c.dims[4] = c.dims[5] = 1;
  check_refused(&c, "dataset 'velocity' has the shape [5, 6, 7, 3, 1, 1], expected [x, y, z, 3] or [time, x, y, z, 3]");
  c = content_of(1);
  c.dims[1] = 0;
  check_refused(&c, "dataset 'velocity' has the shape [5, 0, 7, 3], expected lengths from 1 to 715827882");
  c = content_of(NT);
  c.name[0] = NULL;
  check_refused(&c, "there is no dataset 'time', expected [4], the times of 'velocity'");
  c = content_of(1);
  c.name[2] = "Y";
  check_refused(&c, "there is no dataset 'y', expected [6], the coordinates of 'velocity'");
  c = content_of(1);
  c.length[3] = 5;
  check_refused(&c, "dataset 'z' has the shape [5], expected [7], the coordinates of 'velocity'");
  c = content_of(1);
  c.periodics = 2;
  check_refused(&c, "attribute 'periodic' of 'velocity': expected 3 integers (x, y, z) or 4 (and time)");
}

static void numbers_are_refused_with_their_place(void **unused) {
  content c = content_of(1);
  c.axis[1][3] = -0.2;
  check_refused(&c, "dataset 'x': value 4 is -0.2, expected -0.25: values must be evenly spaced by 0.25");
  c = content_of(NT);
  c.axis[0][2] = 10.4;
  check_refused(&c, "dataset 'time': value 3 is 10.4 after 10.5, expected ascending values");
  c = content_of(1);
  for (int i = 0; i < NZ; i++) c.axis[3][i] *= -1;
  check_refused(&c, "dataset 'z': value 2 is -5 after -3, expected ascending values");
  c = content_of(1);
  c.axis[2][NY - 1] = NAN;
  check_refused(&c, "dataset 'y': value 6 is nan, expected a finite number");
  c = content_of(NT);
  c.velocity[(((3 * NX + 1) * NY + 2) * NZ + 4) * 3 + 2] = INFINITY;
  check_refused(&c,
                "dataset 'velocity': flow grid: velocity z is inf at time 3, point (1, 2, 4), counted from 0: expected "
                "a finite number");
}

static void other_files_are_refused(void **unused) {
  cb_flow *f = NULL;
  check_error(cb_flow_read_grid(&cb_fluid_flow_grid, "/nowhere/wind.h5", &f), CB_ERROR_FILE,
              "/nowhere/wind.h5: cannot read: No such file or directory");
  write_bytes("wind", 4);
  snprintf(text, sizeof text, "%s: cannot read: ", path);
  check_error_begins(cb_flow_read_grid(&cb_fluid_flow_grid, path, &f), CB_ERROR_FILE, text);
  hid_t made = create();
  H5Fclose(made);
  check_error(cb_flow_read_grid(&cb_fluid_flow_grid, path, &f), CB_ERROR_INPUT,
              error_of_file("there is no dataset 'velocity', expected [x, y, z, 3] or [time, x, y, z, 3]"));
  made = create();
  H5Gclose(H5Gcreate2(made, "velocity", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Fclose(made);
  snprintf(text, sizeof text, "%s: cannot read 'velocity': ", path);
  check_error_begins(cb_flow_read_grid(&cb_fluid_flow_grid, path, &f), CB_ERROR_FILE, text);
  made = create();
  hid_t type = H5Tcopy(H5T_C_S1);
  put(made, "velocity", type, 4, (const hsize_t[]){1, 1, 1, 3}, H5T_NATIVE_DOUBLE, NULL);
  H5Tclose(type);
  H5Fclose(made);
  check_error(
      cb_flow_read_grid(&cb_fluid_flow_grid, path, &f), CB_ERROR_INPUT,
      error_of_file("dataset 'velocity' does not contain numbers, expected [x, y, z, 3] or [time, x, y, z, 3]"));
  assert_null(f);
}

/* Makes `velocity` refer to the numbers of another file, in which they have the same name. */
static hid_t put_elsewhere(hid_t file, int how, const char *other, const content *c) {
  const hsize_t bytes = sizeof *c->velocity * NX * NY * NZ * 3;
  hid_t made = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(c->rank, c->dims, NULL);
  if (how == 0) H5Pset_external(made, other, 0, bytes);
  if (how == 1) H5Pset_virtual(made, space, other, "velocity", space);
  if (how == 2) H5Lcreate_external(other, "velocity", file, "velocity", H5P_DEFAULT, H5P_DEFAULT);
  if (how == 3) H5Lcreate_external(other, "/", file, "there", H5P_DEFAULT, H5P_DEFAULT);
  if (how == 3) H5Lcreate_soft("/there/velocity", file, "velocity", H5P_DEFAULT, H5P_DEFAULT);
  if (how < 2) H5Dclose(H5Dcreate2(file, "velocity", c->stored, space, H5P_DEFAULT, made, H5P_DEFAULT));
  H5Sclose(space);
  H5Pclose(made);
  return file;
}

static void numbers_in_other_files_are_refused(void **unused) {
  static const char *const expected[] = {
      "dataset 'velocity' has its numbers in other files (external storage), expected numbers in the dataset itself",
      "dataset 'velocity' takes its numbers from other datasets (it is virtual), expected numbers in the dataset "
      "itself",
      "'velocity' is a link to another file, expected [x, y, z, 3] or [time, x, y, z, 3] in this file",
      "'velocity' is a link to another file, expected [x, y, z, 3] or [time, x, y, z, 3] in this file"};
  char other[sizeof path + 6];
  content c = content_of(1);
  cb_flow *f = NULL;
  write_file(&c);
  snprintf(other, sizeof other, "%s-other", path);
  assert_int_equal(rename(path, other), 0);
  c.name[0] = NULL;
  for (int how = 0; how < 4; how++) {
    hid_t file = put_elsewhere(create(), how, other, &c);
    for (int k = 1; k < 4; k++) put(file, c.name[k], c.stored, 1, &c.length[k], H5T_NATIVE_DOUBLE, c.axis[k]);
    H5Fclose(file);
    check_error(cb_flow_read_grid(&cb_fluid_flow_grid, path, &f), CB_ERROR_INPUT, error_of_file("%s", expected[how]));
  }
  assert_null(f);
  unlink(other);
  free(c.velocity);
}

/* The dataset has the size of 3 * 2^50 numbers, but only 24 of them are written. */
static void memory_is_not_taken_for_what_was_never_written(void **unused) {
  const hsize_t dims[] = {1 << 20, 1 << 20, 1 << 10, 3}, chunk[] = {2, 2, 2, 3};
  const double numbers[24] = {0};
  cb_flow *f = NULL;
  hid_t file = create(), made = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(4, dims, NULL);
  H5Pset_chunk(made, 4, chunk);
  hid_t dataset = H5Dcreate2(file, "velocity", H5T_IEEE_F64LE, space, H5P_DEFAULT, made, H5P_DEFAULT);
  assert_true(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, (const hsize_t[]){0, 0, 0, 0}, sizeof numbers, numbers) >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(made);
  H5Fclose(file);
  check_error(cb_flow_read_grid(&cb_fluid_flow_grid, path, &f), CB_ERROR_INPUT,
              error_of_file("dataset 'velocity' of shape [1048576, 1048576, 1024, 3] contains only 24 numbers: "
                            "expected a dataset that was written completely"));
}

static cb_status read_path(void) {
  cb_flow *f = NULL;
  return cb_flow_read_grid(&cb_fluid_flow_grid, path, &f);
}

static void file_cut_anywhere_is_refused(void **unused) {
  content c = content_of(1);
  write_file(&c);
  free(c.velocity);
  check_cut(97, read_path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(file_gives_the_field_that_was_written),
      cmocka_unit_test(periodic_directions_begin_again),
      cmocka_unit_test(direction_of_one_point_needs_no_place),
      cmocka_unit_test(places_may_be_rounded_as_they_are_stored),
      cmocka_unit_test(shapes_are_refused_by_name),
      cmocka_unit_test(numbers_are_refused_with_their_place),
      cmocka_unit_test(other_files_are_refused),
      cmocka_unit_test(numbers_in_other_files_are_refused),
      cmocka_unit_test(memory_is_not_taken_for_what_was_never_written),
      cmocka_unit_test(file_cut_anywhere_is_refused),
  };
  return cmocka_run_group_tests_name("flow_grid", tests, make_path, remove_path);
}
