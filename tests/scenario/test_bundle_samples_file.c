/* Tests of tables of bundles in files: files as other programs write them, and files that are rejected. */
#include "models.h"

#include "hdf5_file.h"
#include "scenario/hdf5_input.h"

#include <hdf5_hl.h>

enum { NA = 7, NB = 6, DIM = 3, N = 2 };

/* The content of a file, which may be changed before it is written. */
typedef struct content {
  hsize_t shape[4], metric_shape[4], length[2];
  int rank, metric_rank;
  double A[NA * NB * DIM * N], M[NA * NB * N * N], axis[2][NA];
  /* name: the datasets of the axes; names: the attribute `shape`, which lists the shape variables */
  const char *name[2], *group, *names;
  double period[2];
  hid_t stored;
  bool metric, scales, words;
} content;

static content good(void) {
  content c = {.shape = {NA, NB, DIM, N},
               .metric_shape = {NA, NB, N, N},
               .length = {NA, NB},
               .rank = 4,
               .metric_rank = 4,
               .name = {"alpha1", "alpha2"},
               .group = "se2",
               .stored = H5T_IEEE_F64LE,
               .metric = true,
               .scales = true};
  for (int i = 0; i < NA; i++) c.axis[0][i] = 0.3 * i - 1;
  for (int i = 0; i < NB; i++) c.axis[1][i] = 0.25 * i;
  for (int i = 0; i < NA * NB * DIM * N; i++) c.A[i] = sin(i);
  for (int i = 0; i < NA * NB * N * N; i++) c.M[i] = i % 4 % 3 == 0 ? 2 : 0.25;
  return c;
}

static void put_attribute_text(hid_t object, const char *name, const char *value) {
  if (value) assert_true(H5LTset_attribute_string(object, ".", name, value) >= 0);
}

static void write_file(const content *c) {
  hid_t file = create(), fields[2] = {H5I_INVALID_HID, H5I_INVALID_HID};
  put(file, "connection", c->words ? H5T_STD_I32LE : c->stored, c->rank, c->shape, H5T_NATIVE_DOUBLE, c->A);
  if (c->metric) put(file, "metric", c->stored, c->metric_rank, c->metric_shape, H5T_NATIVE_DOUBLE, c->M);
  fields[0] = H5Dopen2(file, "connection", H5P_DEFAULT);
  if (c->metric) fields[1] = H5Dopen2(file, "metric", H5P_DEFAULT);
  for (int i = 0; i < 2; i++) {
    if (!c->name[i]) continue;
    put(file, c->name[i], c->stored, 1, &c->length[i], H5T_NATIVE_DOUBLE, c->axis[i]);
    hid_t axis = H5Dopen2(file, c->name[i], H5P_DEFAULT);
    if (c->scales) {
      assert_true(H5DSset_scale(axis, c->name[i]) >= 0);
      for (int k = 0; k < 1 + c->metric; k++) assert_true(H5DSattach_scale(fields[k], axis, (unsigned)i) >= 0);
    }
    if (c->period[i] != 0) assert_true(H5LTset_attribute_double(file, c->name[i], "period", &c->period[i], 1) >= 0);
    H5Dclose(axis);
  }
  for (int k = 0; k < 2; k++)
    if (fields[k] >= 0) H5Dclose(fields[k]);
  put_attribute_text(file, "group", c->group);
  put_attribute_text(file, "shape", c->names);
  H5Fclose(file);
}

static void as_others_write_it(void **unused) {
  for (int kind = 0; kind < 5; kind++) {
    content c = good();
    if (kind == 1) {
      c.scales = false;
      c.names = "alpha1 alpha2";
    }
    if (kind == 2) c.stored = H5T_IEEE_F32BE;
    if (kind == 3) c.metric = false;
    if (kind == 4) c.period[1] = 4;
    write_file(&c);
    cb_bundle *b;
    check_ok(cb_bundle_samples_read(path, 0, &b));
    assert_string_equal(b->shape[1], "alpha2");
    assert_true(b->period[1] == c.period[1]);
    double r[2] = {c.axis[0][4], c.axis[1][2] + 3 * c.period[1]}, A[6], M[4];
    check_ok(cb_bundle_connection(b, r, A, NULL, M, NULL));
    for (int e = 0; e < 6; e++) check_near(A[e], c.A[(4 * NB + 2) * 6 + e], kind == 2 ? 1e-6 : 1e-13);
    for (int e = 0; e < 4; e++) check_near(M[e], kind == 3 ? e % 3 == 0 : e % 3 == 0 ? 2 : 0.25, 1e-14);
    cb_bundle_free(b);
  }
}

/* --- rejected files --- */

static cb_status read_it(void) {
  cb_bundle *b = NULL;
  const cb_status status = cb_bundle_samples_read(path, 0, &b);
  assert_true(!!status == !b);
  cb_bundle_free(b);
  return status;
}

static void refused_by_dataset(void **unused) {
  content c;
#define REFUSED(change, error) \
  c = good();                  \
  change;                      \
  write_file(&c);              \
  check_case_begins(#change, read_it(), CB_ERROR_INPUT, error_of_file(error))
  REFUSED(c.group = NULL, "the attribute 'group' is missing: expected the name of a group such as 'se2'");
  REFUSED(c.group = "se4", "attribute 'group': there is no group 'se4', expected a name such as 'se2'");
  REFUSED(c.group = "so31", "dataset 'connection' has the shape [7, 6, 3, 2], expected [N1, .., 6, 2]");
  REFUSED(c.rank = 2, "dataset 'connection' has the shape [7, 6], expected [N1, .., dim, n]");
  REFUSED((c.shape[2] = 2, c.shape[3] = 3), "dataset 'connection' has the shape [7, 6, 2, 3], expected [N1, .., 3, 2]");
  REFUSED(c.metric_rank = 3, "dataset 'metric' has the shape [7, 6, 2], expected [N1, .., n, n]");
  REFUSED(
      (c.metric_shape[0] = 6, c.metric_shape[1] = 7),
      "dataset 'metric' has the shape [6, 7, 2, 2]: expected the grid of 'connection', whose shape is [7, 6, 3, 2]");
  REFUSED(c.scales = false,
          "dimension 1 of 'connection' has no scale: expected a scale, or an attribute 'shape' of the file");
  REFUSED(c.name[1] = NULL,
          "dimension 2 of 'connection' has no scale: expected a scale, or an attribute 'shape' of the file");
  REFUSED(c.names = "alpha1", "attribute 'shape' has 1 names: expected 2, one per axis of 'connection'");
  REFUSED(c.names = "a b c", "attribute 'shape' has 3 names: expected 2, one per axis of 'connection'");
  REFUSED(c.names = "alpha1 beta", "there is no dataset 'beta', expected [6], dimension 2 of 'connection'");
  REFUSED(c.names = "alpha1 alpha1",
          "dimensions 1 and 2 of 'connection' have the same axis 'alpha1': expected different axes");
  REFUSED((c.scales = false, c.names = "alpha1 alpha2", c.length[1] = 5),
          "dataset 'alpha2' has the shape [5], expected [6], dimension 2 of 'connection'");
  REFUSED(c.A[5 * 6 * 6 + 2] = NAN,
          "connection at alpha1 = 0.5, alpha2 = 0: its entry (v_y, alpha1) is nan, expected a finite number");
  REFUSED(c.M[1] = NAN,
          "metric at alpha1 = -1, alpha2 = 0: its entry (alpha1, alpha2) is nan, expected a finite number");
  REFUSED(c.M[1] = 1, "metric at alpha1 = -1, alpha2 = 0 is not symmetric: 0.25 and 1 for alpha2, alpha1");
  REFUSED(c.axis[0][3] = -1, "axis alpha1: value 4 is -1 after -0.4, expected values that increase");
  REFUSED(c.axis[1][0] = NAN, "axis alpha2: value 1 is nan");
  REFUSED(c.period[0] = 1, "axis alpha1 is from -1 to 0.8: expected a range of at most its period, 1");
  REFUSED(c.period[0] = -1, "axis alpha1 has the period -1: expected 0 (none) or a positive number");
}

static void other_content_is_refused(void **unused) {
  /* text instead of numbers and missing datasets are rejected */
  const char *const words[2] = {"one", "two"};
  const hsize_t two = 2;
  hid_t file = create(), type = H5Tcopy(H5T_C_S1);
  put_attribute_text(file, "group", "se2");
  H5Fclose(file);
  check_error_begins(read_it(), CB_ERROR_INPUT,
                     error_of_file("there is no dataset 'connection', expected [N1, .., dim, n]"));
  file = create();
  H5Tset_size(type, H5T_VARIABLE);
  put(file, "connection", type, 1, &two, type, words);
  put_attribute_text(file, "group", "se2");
  H5Fclose(file);
  check_error_begins(read_it(), CB_ERROR_INPUT,
                     error_of_file("dataset 'connection' does not contain numbers, expected"));
  content c = good();
  c.name[1] = NULL;
  c.names = "alpha1 alpha2";
  write_file(&c);
  file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  put(file, "alpha2", type, 1, &two, type, words);
  H5Fclose(file);
  check_error_begins(read_it(), CB_ERROR_INPUT,
                     error_of_file("dataset 'alpha2' does not contain numbers, expected [6]"));
  c = good();
  write_file(&c);
  file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(H5LTset_attribute_string(file, "alpha1", "period", "long") >= 0);
  H5Fclose(file);
  check_error(read_it(), CB_ERROR_INPUT, error_of_file("attribute 'period' of 'alpha1': expected a number"));
  file = create();
  const hsize_t huge[4] = {1u << 20, 1u << 20, DIM, N};
  hid_t chunks = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(4, huge, NULL);
  H5Pset_chunk(chunks, 4, (hsize_t[]){8, 8, DIM, N});
  H5Dclose(H5Dcreate2(file, "connection", H5T_IEEE_F64LE, space, H5P_DEFAULT, chunks, H5P_DEFAULT));
  put_attribute_text(file, "group", "se2");
  H5Sclose(space);
  H5Pclose(chunks);
  H5Fclose(file);
  check_error_begins(read_it(), CB_ERROR_INPUT,
                     error_of_file("dataset 'connection' of shape [1048576, 1048576, 3, 2] contains no numbers: "
                                   "expected a dataset that was written"));
  H5Tclose(type);
}

static void what_is_no_file_or_cut_is_refused(void **unused) {
  cb_bundle *b;
  check_error_begins(cb_bundle_samples_read("/nonexistent/table.h5", 0, &b), CB_ERROR_FILE,
                     "/nonexistent/table.h5: cannot read");
  const content c = good();
  write_file(&c);
  check_cut(61, read_it);
}

/* The numbers of tables, axes and periods may have any bits: the file is read or rejected. Other parts of the file are
 * not changed, because HDF5 1.10 itself crashes on files with damaged heaps. */
static void any_numbers_are_read_or_refused(void **unused) {
  uint64_t seed = check_seed();
  int refused = 0;
  for (int trial = 0; trial < 600; trial++) {
    content c = good();
    double *fields[5] = {c.A, c.M, c.axis[0], c.axis[1], c.period}, *at = fields[trial % 5];
    const int room[5] = {NA * NB * DIM * N, NA * NB * N * N, NA, NB, 2};
    const uint64_t bits = (uint64_t)check_uniform(&seed, 0, 0x1p63) << trial % 2;
    at += (int)check_uniform(&seed, 0, room[trial % 5] - 1e-9);
    memcpy(at, &bits, sizeof *at);
    write_file(&c);
    refused += read_it() != CB_OK;
  }
  print_message("  %d of 600 refused\n", refused);
  assert_in_range(refused, 1, 599);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_others_write_it),
      cmocka_unit_test(refused_by_dataset),
      cmocka_unit_test(other_content_is_refused),
      cmocka_unit_test(what_is_no_file_or_cut_is_refused),
      cmocka_unit_test(any_numbers_are_read_or_refused),
  };
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
