/* If a record cannot be written, or an impossible request is made, a status with a reason is returned and no file is
 * damaged. */
#include "record_sample.h"
#include <errno.h>
#include <hdf5.h>
#include <sys/mount.h>
#include <sys/resource.h>

static const cb_record_options overwrite = {.overwrite = true}, soon = {.overwrite = true, .flush_interval = .01};

static cb_status try_to_create(const char *path, const cb_record_options *options) {
  cb_record_layout layout = sample_layout();
  cb_record *record;
  cb_status status = cb_record_create(path, &layout, options, &record);
  if (!status) cb_record_free(record);
  return status;
}

static void expect_refusal(const char *path, const cb_record_options *options, cb_status status, const char *reason) {
  assert_int_equal(try_to_create(path, options), status);
  if (!strstr(cb_error_text(), reason)) fail_msg("expected '%s' in: %s", reason, cb_error_text());
}

static void an_existing_file_is_kept_unless_overwriting(void **unused) {
  char *path = sample_path("existing.h5"), *link = sample_path("link.h5");
  sample_record(path, 100, 0, true, NULL);
  expect_refusal(path, NULL, CB_ERROR_FILE, "exists already");
  assert_int_equal(sample_check(path).rows, 100);
  assert_int_equal(symlink(path, link), 0);
  sample_record(link, 50, 0, true, &overwrite); /* the file is replaced, and the link is not */
  assert_int_equal(sample_check(path).rows, 50);
  struct stat info;
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  assert_int_equal(sample_parts(), 0);
  free(path);
  free(link);
}

static void a_path_that_cannot_be_written_is_named_with_the_reason(void **unused) {
  char *missing = sample_path("no/such/folder.h5"), *locked = sample_path("locked"),
       *inside = sample_path("locked/run.h5");
  expect_refusal(missing, NULL, CB_ERROR_FILE, strerror(ENOENT));
  assert_non_null(strstr(cb_error_text(), missing));
  expect_refusal(sample_folder, &overwrite, CB_ERROR_FILE, "expected a regular file");
  expect_refusal("/dev/null", &overwrite, CB_ERROR_FILE, "expected a regular file");
  expect_refusal("/proc/run.h5", NULL, CB_ERROR_FILE, strerror(ENOENT));
  assert_int_equal(mkdir(locked, 0555), 0);
  if (geteuid() != 0)
    expect_refusal(inside, NULL, CB_ERROR_FILE, strerror(EACCES));
  else
    print_message("a read-only folder: not tried as root\n");
  free(missing);
  free(locked);
  free(inside);
}

/* Writes until a write fails. Rows that were visible to readers earlier must be in the record. */
static void write_until_refused(const char *path, const char *reason) {
  cb_record_layout layout = sample_layout();
  cb_record *record;
  check_ok(cb_record_create(path, &layout, &soon, &record));
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, 0, 300, 300));
  sample_wait_for_rows(path, 300);
  cb_status status = sample_write(sink, 300, 1000000, 300);
  assert_int_equal(status, CB_ERROR_FILE);
  if (!strstr(cb_error_text(), reason)) fail_msg("expected '%s' in: %s", reason, cb_error_text());
  assert_non_null(strstr(cb_error_text(), path));
  assert_int_equal(sample_put_row(sink, 0), CB_ERROR_FILE);
  assert_int_equal(sink.close(sink.self, true), CB_ERROR_FILE);
  cb_record_free(record);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  H5Fclose(file);
  cb_record_position at = sample_check(path);
  print_message("%llu rows\n", (unsigned long long)at.rows);
  assert_true(at.rows >= 300);
}

/* Writes to a disk that has no space even for the first rows. */
static void write_nothing(const char *path, const char *reason) {
  cb_record_layout layout = sample_layout();
  cb_record *record;
  check_ok(cb_record_create(path, &layout, &overwrite, &record));
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, 0, 10, 0));
  assert_int_equal(sink.close(sink.self, true), CB_ERROR_FILE);
  if (!strstr(cb_error_text(), reason)) fail_msg("expected '%s' in: %s", reason, cb_error_text());
  cb_record_free(record);
}

static void continue_with_room(const char *path) {
  cb_record_layout layout = sample_layout();
  sample_state state;
  cb_record_position at;
  cb_record *record;
  sample_set_state(&state, 0);
  check_ok(cb_record_open_for_resume(path, &layout, NULL, state.blobs, SAMPLE_BLOBS, &at, &record));
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, at.rows, at.rows + 5000, 300));
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
  assert_int_equal(sample_check(path).rows, at.rows + 5000);
}

/* If a file reaches its size limit, SIGXFSZ does not end the process, and the rows that readers could see stay. */
static void a_file_size_limit_is_a_status_and_the_rows_stay(void **unused) {
  char *path = sample_path("limited.h5");
  struct rlimit before, limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  for (rlim_t bytes = 400000; bytes < 3000000; bytes += 173000) {
    limit = before;
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    write_until_refused(path, strerror(EFBIG));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    continue_with_room(path);
  }
  limit = before;
  limit.rlim_cur = 10000; /* too small even for the empty file */
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  write_nothing(path, strerror(EFBIG));
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  assert_true(sample_check(path).rows > 5000); /* the previous file still exists */
  free(path);
}

/* Unmounts the disk; runs also if the test has failed. */
static int remove_disk(void **unused) {
  char path[128];
  snprintf(path, sizeof path, "%s/disk", sample_folder);
  umount2(path, MNT_DETACH);
  return 0;
}

static void a_full_disk_is_a_status_and_the_rows_stay(void **unused) {
  char *folder = sample_path("disk"), *path = sample_path("disk/run.h5");
  assert_int_equal(mkdir(folder, 0755), 0);
  if (mount("none", folder, "tmpfs", 0, "size=2m") < 0) {
    print_message("no small disk: mount: %s\n", strerror(errno));
    free(folder);
    free(path);
    skip();
  }
  write_until_refused(path, strerror(ENOSPC));
  assert_int_equal(mount("none", folder, "tmpfs", MS_REMOUNT, "size=8m"), 0);
  continue_with_room(path);
  assert_int_equal(mount("none", folder, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=8m"), 0);
  expect_refusal(path, &overwrite, CB_ERROR_FILE, strerror(EROFS));
  assert_true(sample_check(path).rows > 5000); /* reading does not write */
  free(folder);
  free(path);
}

static void a_layout_that_contradicts_itself_is_refused(void **unused) {
  char *path = sample_path("layout.h5");
  cb_record *record;
  for (int mistake = 0; mistake < 10; mistake++) {
    cb_record_layout layout = sample_layout();
    cb_field fields[SAMPLE_FIELDS];
    cb_constant constants[3];
    cb_blob state[SAMPLE_BLOBS];
    cb_record_options options = {0};
    memcpy(fields, sample_fields, sizeof fields);
    memcpy(constants, sample_constants, sizeof constants);
    memcpy(state, sample_state_shape, sizeof state);
    layout.fields = fields;
    layout.constants = constants;
    layout.state = state;
    switch (mistake) {
      case 0: fields[0].name = "t"; break;
      case 1: fields[1].type = CB_FIELD_DOUBLE; break;
      case 2: fields[7].name = "kinetic_energy"; break;
      case 3: fields[7].name = "a/b"; break;
      case 4: fields[7].name = "checkpoint"; break;
      case 5: fields[7].name = "event_gap"; break;
      case 6: fields[6].dims[0] = "bonds"; break;
      case 7: constants[0].values = NULL; break;
      case 8: state[1].name = "state"; break;
      case 9: options.deflate = 10; break;
    }
    assert_int_equal(cb_record_create(path, &layout, &options, &record), CB_ERROR_ARGUMENT);
    print_message("%s\n", cb_error_text());
    assert_false(sample_exists(path));
  }
  free(path);
}

static void files_that_are_not_records_are_refused(void **unused) {
  char *text = sample_path("text.h5"), *foreign = sample_path("foreign.h5"), *copy = sample_path("copy.h5");
  char *missing = sample_path("missing.h5"), *empty = sample_path("empty.h5");
  FILE *file = fopen(text, "w");
  for (int i = 0; i < 100; i++) fputs("this is no HDF5 file\n", file);
  fclose(file);
  fclose(fopen(empty, "w"));
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  hid_t other = H5Fcreate(foreign, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  H5Fstart_swmr_write(other);
  sample_copy(foreign, copy); /* a file that its writer left open, but not a record */
  H5Fclose(other);
  H5Pclose(access);
  const char *const paths[] = {text, foreign, copy, empty, missing};
  for (size_t i = 0; i < 5; i++) {
    cb_status expected = i == 4 ? CB_ERROR_FILE : CB_ERROR_INPUT;
    cb_reader *reader;
    cb_record *record;
    sample_state state;
    cb_record_layout layout = sample_layout();
    size_t size, size_after;
    char *before = i < 4 ? sample_read(paths[i], &size) : NULL;
    sample_set_state(&state, 0);
    assert_int_equal(cb_reader_open(paths[i], &reader), expected);
    print_message("%s\n", cb_error_text());
    assert_int_equal(cb_record_repair(paths[i], NULL), expected);
    assert_int_equal(cb_record_open_for_resume(paths[i], &layout, NULL, state.blobs, SAMPLE_BLOBS, NULL, &record),
                     expected);
    assert_int_equal(cb_record_export_csv(paths[i], missing, NULL), expected);
    assert_int_equal(cb_record_export_xdmf(paths[i], missing, NULL), expected);
    assert_false(sample_exists(missing));
    if (!before) continue;
    char *after = sample_read(paths[i], &size_after);
    assert_int_equal(size, size_after);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
  }
  free(text);
  free(foreign);
  free(copy);
  free(missing);
  free(empty);
}

int main(void) {
  /* turns off the messages of the HDF5 calls in this file; the library does this for its own calls */
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_existing_file_is_kept_unless_overwriting),
      cmocka_unit_test(a_path_that_cannot_be_written_is_named_with_the_reason),
      cmocka_unit_test(a_file_size_limit_is_a_status_and_the_rows_stay),
      cmocka_unit_test_teardown(a_full_disk_is_a_status_and_the_rows_stay, remove_disk),
      cmocka_unit_test(a_layout_that_contradicts_itself_is_refused),
      cmocka_unit_test(files_that_are_not_records_are_refused),
  };
  return cmocka_run_group_tests(tests, sample_make_folder, sample_remove_folder);
}
