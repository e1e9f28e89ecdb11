/* Tests that output files get their final names when they are complete. If two writers want the same name at the same
 * time, only one of them gets it. */
#include "record_sample.h"
#include "record/output.h"

static const cb_record_options overwrite = {.overwrite = true};

static cb_record *create(const char *path) {
  cb_record_layout layout = sample_layout();
  cb_record *record;
  check_ok(cb_record_create(path, &layout, &overwrite, &record));
  return record;
}

static void a_name_that_a_live_record_took_meanwhile_is_reported(void **unused) {
  char *path = sample_path("both.h5"), told[600];
  cb_output late;
  check_ok(cb_output_begin(path, true, &late));
  cb_record *record = create(path);
  snprintf(told, sizeof told, "%s: in use", path);
  check_error_begins(cb_output_end(&late, true, CB_OK), CB_ERROR_FILE, told);
  assert_int_equal(sample_parts(), 0);
  cb_record_free(record);
  assert_int_equal(sample_check(path).rows, 0); /* a complete record without rows */
  check_ok(cb_output_begin(path, true, &late));
  check_ok(cb_output_end(&late, true, CB_OK));
  free(path);
}

static void a_name_that_was_free_is_not_taken_from_another(void **unused) {
  char *path = sample_path("first.txt"), told[600];
  cb_output first, second;
  check_ok(cb_output_begin(path, false, &first));
  check_ok(cb_output_begin(path, false, &second));
  assert_string_not_equal(first.part, second.part);
  assert_int_equal(sample_parts(), 2);
  check_ok(cb_output_end(&first, false, CB_OK));
  snprintf(told, sizeof told, "%s: exists already", path);
  check_error(cb_output_end(&second, false, CB_OK), CB_ERROR_FILE, told);
  assert_int_equal(sample_parts(), 0);
  free(path);
}

static void a_record_has_one_writer_and_blocks_nobody_else(void **unused) {
  char *path = sample_path("locked.h5"), told[600];
  snprintf(told, sizeof told, "%s: in use: a run is writing it (process %ld on ", path, (long)getpid());
  cb_record_layout layout = sample_layout();
  cb_record *record = create(path), *second;
  check_error_begins(cb_record_create(path, &layout, &overwrite, &second), CB_ERROR_FILE, told);
  check_error_begins(cb_record_repair(path, NULL), CB_ERROR_FILE, told);
  cb_record_free(record);
  assert_int_equal(sample_check(path).rows, 0);
  check_ok(cb_record_repair(path, NULL));
  free(path);
}

static void an_output_is_distinguished_from_inputs_by_file_not_by_name(void **unused) {
  char *path = sample_path("input.txt"), *other = sample_path("other.txt"), *none = sample_path("none.txt"), told[1400];
  cb_output o;
  const char *inputs[] = {none, path};
  check_ok(cb_output_begin(path, false, &o));
  check_ok(cb_output_end(&o, false, CB_OK));
  check_ok(cb_output_check(none, &(cb_files){inputs, 2}));
  check_ok(cb_output_check(other, &(cb_files){inputs, 2}));
  assert_int_equal(link(path, other), 0);
  snprintf(told, sizeof told, "%s: error: the output would replace the input '%s': expected another name", other, path);
  check_error(cb_output_check(other, &(cb_files){inputs, 2}), CB_ERROR_INPUT, told);
  check_ok(cb_output_check(other, &(cb_files){inputs, 1}));
  free(path);
  free(other);
  free(none);
}

int main(void) {
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_name_that_a_live_record_took_meanwhile_is_reported),
      cmocka_unit_test(a_name_that_was_free_is_not_taken_from_another),
      cmocka_unit_test(a_record_has_one_writer_and_blocks_nobody_else),
      cmocka_unit_test(an_output_is_distinguished_from_inputs_by_file_not_by_name),
  };
  return cmocka_run_group_tests(tests, sample_make_folder, sample_remove_folder);
}
