/* labels: medium
 *
 * Records that are cut short, and HDF5 files that are nearly records: refused, or read as far as they are right. */
#include "check_error.h"
#include "io/record_superblock.h"
#include "record_sample.h"

#include <hdf5.h>

static char *whole, *damaged, *out, *events;

static int make(void **state) {
  int failed = sample_make_folder(state);
  whole = sample_path("whole.h5"), damaged = sample_path("damaged.h5");
  out = sample_path("out.csv"), events = sample_path("out-events.csv");
  return failed;
}
static int remove_all(void **state) {
  free(whole), free(damaged), free(out), free(events);
  return sample_remove_folder(state);
}

static void write_bytes(const char *bytes, size_t n) {
  FILE *file = fopen(damaged, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  fclose(file);
}

/* A file or what it holds is refused by its name, and nothing is written. */
static void expect_refusals(cb_status status) {
  assert_true(status == CB_ERROR_FILE || status == CB_ERROR_INPUT);
  assert_memory_equal(cb_error_text(), damaged, strlen(damaged));
  assert_int_not_equal(cb_record_export_csv(damaged, out, NULL), CB_OK);
  assert_int_not_equal(cb_record_export_xdmf(damaged, out, NULL), CB_OK);
  assert_false(sample_exists(out));
}

/* What can be read of it is what was written. */
static void open_and_check(void) {
  static double values[300 * SAMPLE_VALUES];
  cb_reader *reader = NULL;
  cb_status status = cb_reader_open(damaged, &reader);
  if (status) {
    expect_refusals(status);
    return;
  }
  const cb_reader_field *fields;
  size_t n = cb_reader_fields(reader, &fields);
  uint64_t rows = cb_reader_position(reader).rows;
  assert_in_range(rows, 0, 300);
  for (size_t f = 0; f < n; f++) {
    status = cb_reader_rows(reader, f, 0, rows, values);
    if (status) assert_int_equal(status, CB_ERROR_FILE);
    for (uint64_t i = 0; i < rows * fields[f].count && !status; i++)
      assert_true(values[i] == sample_value(f, i / fields[f].count, i % fields[f].count));
  }
  cb_reader_close(reader);
}

static void a_record_cut_anywhere_is_refused(void **unused) {
  (void)unused;
  size_t n;
  sample_record(whole, 300, 50, true, NULL);
  char *bytes = sample_read(whole, &n);
  for (int i = 0; i < 60; i++) {
    write_bytes(bytes, i < 20 ? n * (size_t)i / 20 : i < 40 ? (size_t)i * 53 : n - 1 - (size_t)(i - 40) * 97);
    cb_reader *reader = NULL;
    cb_status status = cb_reader_open(damaged, &reader);
    expect_refusals(status);
    status = cb_record_repair(damaged, NULL);
    assert_true(status == CB_ERROR_FILE || status == CB_ERROR_INPUT);
  }
  free(bytes);
}

static void a_killed_record_cut_anywhere_has_right_rows_or_is_refused(void **unused) {
  (void)unused;
  cb_record_layout layout = sample_layout();
  cb_record *record = NULL;
  size_t n;
  check_ok(cb_record_create(whole, &layout, &(cb_record_options){.overwrite = true}, &record));
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, 0, 300, 50));
  sample_state state;
  sample_set_state(&state, 300);
  for (int twice = 0; twice < 2; twice++) check_ok(sink.checkpoint(sink.self, state.blobs, SAMPLE_BLOBS));
  char *bytes = sample_read(whole, &n);
  for (int i = 0; i < 40; i++) {
    write_bytes(bytes, i < 20 ? n * (size_t)(i + 1) / 20 : n - (size_t)(i - 20) * 97);
    open_and_check();
    cb_status status = cb_record_repair(damaged, NULL);
    if (status) assert_true(status == CB_ERROR_FILE || status == CB_ERROR_INPUT);
    else open_and_check();
  }
  free(bytes);
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
}

/* A dataset in place of the one of that name, which grows in its first dimension. */
static void put_series(hid_t file, const char *name, int rank, const hsize_t *dims, hid_t type) {
  hsize_t most[8], chunk[8];
  for (int d = 0; d < rank; d++) most[d] = d ? dims[d] : H5S_UNLIMITED, chunk[d] = dims[d];
  H5Ldelete(file, name, H5P_DEFAULT);
  hid_t create = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(rank, dims, most);
  H5Pset_chunk(create, rank, chunk);
  hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
  assert_true(dataset >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(create);
}

static void put_three(hid_t file, const char *name) {
  H5Adelete(file, name);
  hid_t space = H5Screate_simple(1, (const hsize_t[]){3}, NULL),
        attribute = H5Acreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_INT, (const int[]){1, 1, 1});
  H5Aclose(attribute);
  H5Sclose(space);
}

static hid_t open_copy(void) {
  sample_copy(whole, damaged);
  hid_t file = H5Fopen(damaged, H5F_ACC_RDWR, H5P_DEFAULT);
  assert_true(file >= 0);
  return file;
}

/* Marks it as its writer would have left it. */
static void leave_open(void) {
  unsigned char superblock[48];
  FILE *file = fopen(damaged, "r+b");
  assert_int_equal(fread(superblock, 1, sizeof superblock, file), sizeof superblock);
  superblock[11] = 5;
  cb_put_little_endian(superblock + 44, 4, cb_lookup3(superblock, 44));
  rewind(file);
  fwrite(superblock, 1, sizeof superblock, file);
  fclose(file);
}

/* By who reads it, and by a repair, whether it was closed or not. */
static void a_nearly_right_file_is_refused_by_name(void **unused) {
  (void)unused;
  cb_reader *reader = NULL;
  char expected[400];
  sample_record(whole, 20, 5, true, &(cb_record_options){.overwrite = true});
  const struct {
    const char *name;
    int rank;
    const hsize_t dims[4];
    hid_t type;
    const char *reason;
  } wrong[] = {{"time", 2, {20, 50}, H5T_IEEE_F64LE, "the first two fields are not time and step"},
               {"energy", 1, {20}, H5T_IEEE_F32LE, "energy is neither doubles nor integers"},
               {"v", 1, {20}, H5T_C_S1, "v is neither doubles nor integers"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    hid_t file = open_copy();
    put_series(file, wrong[i].name, wrong[i].rank, wrong[i].dims, wrong[i].type);
    H5Fclose(file);
    assert_int_equal(cb_reader_open(damaged, &reader), CB_ERROR_INPUT);
    snprintf(expected, sizeof expected, "%s: error: %s", damaged, wrong[i].reason);
    assert_string_equal(cb_error_text(), expected);
    expect_refusals(CB_ERROR_INPUT);
    leave_open();
    check_error(cb_record_repair(damaged, NULL), CB_ERROR_INPUT, expected);
  }
  hid_t file = open_copy();
  put_three(file, "curvebody_record");
  H5Fclose(file);
  assert_int_equal(cb_reader_open(damaged, &reader), CB_ERROR_INPUT);
  expect_refusals(CB_ERROR_INPUT);
}

static void columns_of_events_are_one_value_each(void **unused) {
  (void)unused;
  cb_reader *reader = NULL;
  cb_event_row row[2];
  char expected[400];
  sample_record(whole, 20, 5, true, &(cb_record_options){.overwrite = true});
  hid_t file = open_copy();
  put_series(file, "event_gap", 4, (const hsize_t[]){2, 30, 30, 30}, H5T_IEEE_F64LE);
  put_three(file, "completed");
  H5Fclose(file);
  check_ok(cb_reader_open(damaged, &reader));
  assert_false(cb_reader_completed(reader));
  assert_int_equal(cb_reader_position(reader).events, 2);
  assert_int_equal(cb_reader_events(reader, 0, 2, row), CB_ERROR_INPUT);
  snprintf(expected, sizeof expected, "%s: error: event_gap has 27000 values a row, expected 1", damaged);
  assert_string_equal(cb_error_text(), expected);
  cb_reader_close(reader);
  assert_int_equal(cb_record_export_csv(damaged, out, NULL), CB_ERROR_INPUT);
  assert_false(sample_exists(events));
}

static void an_event_that_was_changed_is_told(void **unused) {
  (void)unused;
  static const hsize_t one[] = {1};
  const hsize_t changed = sample_events(300) / 2;
  const double gap = 1e9;
  char expected[400];
  sample_record(whole, 300, 50, true, &(cb_record_options){.overwrite = true});
  hid_t file = open_copy();
  const hid_t set = H5Dopen2(file, "event_gap", H5P_DEFAULT), space = H5Dget_space(set),
              memory = H5Screate_simple(1, one, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &changed, NULL, one, NULL);
  assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &gap) >= 0);
  H5Sclose(memory), H5Sclose(space), H5Dclose(set), H5Fclose(file);
  snprintf(expected, sizeof expected, "%s: error: damaged: event %llu is not as it was written", damaged,
           (unsigned long long)changed);
  check_error(cb_record_repair(damaged, NULL), CB_ERROR_INPUT, expected);
}

static void links_with_long_names_are_passed_over(void **unused) {
  (void)unused;
  char name[700];
  cb_reader *reader = NULL;
  sample_record(whole, 20, 5, true, &(cb_record_options){.overwrite = true});
  hid_t file = open_copy();
  for (size_t n = 254; n < sizeof name; n = n < 258 ? n + 1 : 2 * n) {
    memset(name, 'n', n), name[n] = 0;
    H5Gclose(H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  H5Fclose(file);
  check_ok(cb_reader_open(damaged, &reader));
  assert_int_equal(cb_reader_position(reader).rows, 20);
  cb_reader_close(reader);
}

int main(void) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* of the calls made here */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_record_cut_anywhere_is_refused),
      cmocka_unit_test(a_killed_record_cut_anywhere_has_right_rows_or_is_refused),
      cmocka_unit_test(a_nearly_right_file_is_refused_by_name),
      cmocka_unit_test(columns_of_events_are_one_value_each),
      cmocka_unit_test(an_event_that_was_changed_is_told),
      cmocka_unit_test(links_with_long_names_are_passed_over)};
  return cmocka_run_group_tests(tests, make, remove_all);
}
