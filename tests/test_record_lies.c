/* labels: medium
 *
 * Records made by HDF5's own functions that are not what a record is: refused by name before memory or a file is
 * touched that is not theirs. */
#include "record_sample.h"

#include "check_error.h"
#include <hdf5.h>

static char *whole, *lying, *out;

static int make(void **state) {
  int failed = sample_make_folder(state);
  whole = sample_path("whole.h5"), lying = sample_path("lying.h5"), out = sample_path("out.csv");
  sample_record(whole, 100, 20, true, NULL);
  return failed;
}
static int remove_all(void **state) {
  free(whole), free(lying), free(out);
  return sample_remove_folder(state);
}

/* ---- Changing a copy */

static hid_t open_copy(void) {
  sample_copy(whole, lying);
  hid_t file = H5Fopen(lying, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(file >= 0);
  return file;
}

/* Closed, or as a writer leaves it that is killed. */
static void leave(hid_t file, bool killed) {
  if (killed) {
    assert_true(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
    sample_copy(lying, out);
  }
  assert_true(H5Fclose(file) >= 0);
  if (killed) assert_int_equal(rename(out, lying), 0);
}

static void put_attribute(hid_t file, const char *of, const char *name, hid_t type, hsize_t count, const void *data) {
  hid_t space = H5Screate_simple(1, &count, NULL);
  H5Adelete_by_name(file, of, name, H5P_DEFAULT);
  hid_t attribute = H5Acreate_by_name(file, of, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  assert_true(attribute >= 0 && H5Awrite(attribute, type, data) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

/* A dataset in place of another; chunk NULL: contiguous. Nothing is written to it. */
static void put_dataset(hid_t file, const char *name, hid_t type, int rank, const hsize_t *dims, const hsize_t *most,
                        const hsize_t *chunk) {
  H5Ldelete(file, name, H5P_DEFAULT);
  hid_t create = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, dims, most);
  if (chunk) H5Pset_chunk(create, rank, chunk);
  hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  assert_true(dataset >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(create);
}

/* ---- Asking for it */

static cb_status resume(void) {
  cb_record_layout layout = sample_layout();
  sample_state state;
  cb_record *record = NULL;
  sample_set_state(&state, 0);
  cb_status status = cb_record_open_for_resume(lying, &layout, NULL, state.blobs, SAMPLE_BLOBS, NULL, &record);
  if (!status) cb_record_free(record);
  return status;
}

static cb_status open_reader(void) {
  cb_reader *reader = NULL;
  cb_status status = cb_reader_open(lying, &reader);
  if (!status) cb_reader_close(reader);
  return status;
}

static const char *error_of(const char *reason) {
  static char text[600];
  snprintf(text, sizeof text, "%s: error: %s", lying, reason);
  return text;
}

static uint64_t rows_of(const char *path, const char *name) {
  hsize_t dims[4] = {0};
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), dataset = H5Dopen2(file, name, H5P_DEFAULT),
        space = H5Dget_space(dataset);
  assert_true(H5Sget_simple_extent_dims(space, dims, NULL) >= 1);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  return dims[0];
}

/* ---- Claims */

static void an_attribute_of_another_type_or_length_is_not_written_over(void **unused) {
  (void)unused;
  const int64_t numbers[5] = {-1, -1, -1, -1, -1};
  const double reals[2] = {-1, -1};
  hid_t five = H5Tarray_create2(H5T_STD_I64LE, 1, (const hsize_t[]){5}), pair = H5Tcreate(H5T_COMPOUND, 16),
        text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  H5Tinsert(pair, "rows", 0, H5T_STD_I64LE);
  H5Tinsert(pair, "events", 8, H5T_STD_I64LE);
  const char *const words[2] = {"a", "b"};
  const struct {
    hid_t type;
    hsize_t count;
    const void *data;
  } wrong[] = {{H5T_STD_I64LE, 5, numbers}, {H5T_STD_I64LE, 1, numbers}, {H5T_IEEE_F64LE, 2, reals},
               {five, 1, numbers},          {pair, 2, numbers},          {text, 2, words}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    for (int killed = 0; killed < 2; killed++) {
      hid_t file = open_copy();
      put_attribute(file, "checkpoint", "cutting", wrong[i].type, wrong[i].count, wrong[i].data);
      leave(file, killed);
      check_error(killed ? cb_record_repair(lying, NULL) : resume(), CB_ERROR_INPUT,
                  error_of("attribute 'cutting' of /checkpoint: expected 2 integers"));
      check_error(resume(), CB_ERROR_INPUT, cb_error_text());
      check_error(open_reader(), CB_ERROR_INPUT, cb_error_text());
    }
  H5Tclose(text), H5Tclose(pair), H5Tclose(five);
  for (hsize_t count = 0; count < 4; count += 3) {
    hid_t file = open_copy();
    put_attribute(file, ".", "completed", H5T_STD_I32LE, count, (const int[]){1, 1, 1});
    leave(file, false);
    check_error_begins(resume(), CB_ERROR_FILE, lying);
    assert_int_equal(rows_of(lying, "energy"), 100);
  }
}

static void a_checkpoint_of_another_type_or_length_is_not_written_over(void **unused) {
  (void)unused;
  static const hsize_t four[] = {4}, thousand[] = {1000}, two[] = {2, 2}, state[] = {SAMPLE_STATE};
  static const hsize_t more[] = {SAMPLE_STATE + 1};
  const struct {
    const char *name;
    hid_t type;
    int rank;
    const hsize_t *dims;
    int values; /* expected */
  } wrong[] = {{"checkpoint/slot1/seal", H5T_STD_U64LE, 1, thousand, 4},
               {"checkpoint/slot1/seal", H5T_STD_U64BE, 1, four, 4},
               {"checkpoint/slot0/seal", H5T_IEEE_F64LE, 1, four, 4},
               {"checkpoint/slot0/seal", H5T_STD_U64LE, 2, two, 4},
               {"checkpoint/slot1/state", H5T_IEEE_F64LE, 1, more, SAMPLE_STATE},
               {"checkpoint/slot0/state", H5T_IEEE_F32LE, 1, state, SAMPLE_STATE}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char reason[200];
    hid_t file = open_copy();
    put_dataset(file, wrong[i].name, wrong[i].type, wrong[i].rank, wrong[i].dims, NULL, NULL);
    leave(file, false);
    snprintf(reason, sizeof reason, "%s has another type or length, expected %d values", wrong[i].name,
             wrong[i].values);
    check_error(resume(), CB_ERROR_INPUT, error_of(reason));
    assert_int_equal(rows_of(lying, "energy"), 100);
  }
}

static void a_row_of_more_values_than_memory_has_is_refused(void **unused) {
  (void)unused;
  const hsize_t chunk[] = {1, 1, 1, 1}, most[] = {H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED, H5S_UNLIMITED};
  /* products of the last three are 0 and 1 modulo 2^64 */
  const hsize_t zero[] = {100, 1 << 22, 1 << 22, 1 << 22}, one[] = {sample_events(100), 12160749, 6102343, 13920371};
  hid_t file = open_copy();
  put_dataset(file, "x", H5T_IEEE_F64LE, 4, zero, most, chunk);
  leave(file, false);
  check_error_begins(open_reader(), CB_ERROR_INPUT, error_of("x has no values a row or more than"));
  file = open_copy();
  put_dataset(file, "event_gap", H5T_IEEE_F64LE, 4, one, most, chunk);
  leave(file, false);
  check_error_begins(cb_record_export_csv(lying, out, NULL), CB_ERROR_INPUT, error_of("event_gap has "));
  check_error_begins(resume(), CB_ERROR_INPUT, error_of("field event_gap has another type or shape"));
}

/* A record of one ball, with poses of one body and twists of as many as are asked for. */
static void record_ball(const char *path, size_t twists) {
  static const char ball[] = "curvebody: 1\n"
                             "fluid: {medium: water}\n"
                             "bodies: [{name: ball, shape: {name: ellipsoid, resolution: 8}, density: 1200}]\n"
                             "integrator: {name: hamilton_pontryagin, step: 0.01}\n"
                             "time: {end: 0.1}\n";
  const cb_dimension dimensions[] = {{.name = "body", .count = 1}, {.name = "bodies", .count = twists},
                                     {.name = "seven", .count = 7}, {.name = "six", .count = 6}};
  const cb_field fields[] = {{"time", CB_FIELD_DOUBLE, 0, {NULL}, "s", "time"},
                             {"step", CB_FIELD_INT64, 0, {NULL}, "1", "step"},
                             {"pose", CB_FIELD_DOUBLE, 2, {"body", "seven"}, "1", "pose"},
                             {"twist", CB_FIELD_DOUBLE, 2, {"bodies", "six"}, "1", "twist"}};
  const cb_record_layout layout = {.title = "a ball", .scenario_source = ball, .scenario_resolved = ball,
                                   .dimensions = dimensions, .n_dimensions = 4, .fields = fields, .n_fields = 4};
  const double time = 0, pose[7] = {0, 0, 0, 1};
  const int64_t step = 0;
  double *twist = calloc(6 * twists, sizeof *twist);
  cb_record *record = NULL;
  assert_non_null(twist);
  check_ok(cb_record_create(path, &layout, &(cb_record_options){.overwrite = true}, &record));
  cb_sink sink = cb_record_sink(record);
  check_ok(sink.row(sink.self, (const void *[]){&time, &step, pose, twist}));
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
  free(twist);
}

static void twists_are_of_the_bodies_of_the_scenario(void **unused) {
  (void)unused;
  record_ball(lying, 1);
  check_ok(cb_record_export_xdmf(lying, out, NULL));
  record_ball(lying, 5000);
  check_error(cb_record_export_xdmf(lying, out, NULL), CB_ERROR_INPUT,
              error_of("twists of 5000 bodies, but its scenario has 1"));
}

int main(void) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* of the calls made here */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_attribute_of_another_type_or_length_is_not_written_over),
      cmocka_unit_test(a_checkpoint_of_another_type_or_length_is_not_written_over),
      cmocka_unit_test(a_row_of_more_values_than_memory_has_is_refused),
      cmocka_unit_test(twists_are_of_the_bodies_of_the_scenario),
  };
  return cmocka_run_group_tests(tests, make, remove_all);
}
