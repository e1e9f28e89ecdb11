/* Checkpoints, continuing from them, and repair of files that were not closed.
 * labels: medium */
#include "record_sample.h"
#include <hdf5.h>

static const cb_record_options options = {.overwrite = true, .flush_interval = 1e6};

static cb_status resume(const char *path, sample_state *state, cb_record_position *at, cb_record **record) {
  cb_record_layout layout = sample_layout();
  sample_set_state(state, 0);
  return cb_record_open_for_resume(path, &layout, &options, state->blobs, SAMPLE_BLOBS, at, record);
}

static void expect_state(const sample_state *state, uint64_t row) {
  sample_state expected;
  sample_set_state(&expected, row);
  assert_memory_equal(state->state, expected.state, sizeof state->state);
  assert_memory_equal(state->history, expected.history, sizeof state->history);
}

/* Changes one number of a slot behind the record's back. */
static void damage_slot(const char *path, const char *dataset) {
  hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), piece = H5Dopen2(file, dataset, H5P_DEFAULT);
  double values[SAMPLE_STATE];
  assert_true(H5Dread(piece, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  values[1] = nextafter(values[1], 1e9);
  assert_true(H5Dwrite(piece, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Dclose(piece);
  H5Fclose(file);
}

static void a_record_goes_on_from_its_newest_checkpoint(void **unused) {
  (void)unused;
  char *path = sample_path("go-on.h5"), *whole = sample_path("whole.h5");
  sample_state state;
  cb_record_position at;
  cb_record *record;
  sample_record(path, 950, 300, false, &options); /* checkpoints at 300, 600, 900 */
  check_ok(resume(path, &state, &at, &record));
  assert_int_equal(at.rows, 900);
  assert_int_equal(at.events, sample_events(900));
  assert_int_equal(at.checkpoints, 3);
  expect_state(&state, 900);
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, 900, 2000, 300));
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
  sample_record(whole, 2000, 300, true, &options);
  cb_record_position stopped = sample_check(path), straight = sample_check(whole);
  assert_int_equal(stopped.rows, straight.rows);
  assert_int_equal(stopped.events, straight.events);
  cb_reader *reader;
  check_ok(cb_reader_open(path, &reader));
  assert_true(cb_reader_completed(reader));
  check_ok(cb_reader_checkpoint(reader, state.blobs, SAMPLE_BLOBS, &at));
  assert_int_equal(at.rows, 1800);
  expect_state(&state, 1800);
  cb_reader_close(reader);
  free(path), free(whole);
}

static void a_damaged_checkpoint_is_passed_over(void **unused) {
  (void)unused;
  char *path = sample_path("damaged.h5");
  sample_state state;
  cb_record_position at;
  cb_record *record;
  sample_record(path, 950, 300, false, &options); /* slot 1: 300, then 900; slot 0: 600 */
  damage_slot(path, "checkpoint/slot1/state");
  check_ok(resume(path, &state, &at, &record));
  assert_int_equal(at.rows, 600);
  expect_state(&state, 600);
  cb_record_free(record);
  assert_int_equal(sample_check(path).rows, 600);
  damage_slot(path, "checkpoint/slot0/state");
  assert_int_equal(resume(path, &state, &at, &record), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "no whole checkpoint"));
  assert_int_equal(sample_check(path).rows, 600); /* nothing was removed */
  sample_record(path, 950, 300, false, &options);
  damage_slot(path, "checkpoint/slot1/seal");
  check_ok(resume(path, &state, &at, &record));
  assert_int_equal(at.rows, 600);
  cb_record_free(record);
  free(path);
}

static void a_record_of_another_layout_is_refused_and_kept(void **unused) {
  (void)unused;
  char *path = sample_path("other.h5");
  sample_record(path, 950, 300, true, &options);
  size_t size, size_after;
  char *before = sample_read(path, &size);
  cb_field fields[SAMPLE_FIELDS];
  memcpy(fields, sample_fields, sizeof fields);
  sample_state state;
  cb_record *record;
  sample_set_state(&state, 0);
  cb_record_layout fewer = sample_layout(), renamed = sample_layout(), retyped = sample_layout(),
                   larger = sample_layout();
  fewer.n_fields--, fewer.n_fields--;
  renamed.fields = fields;
  fields[7].name = "enthalpy";
  cb_field other_type[SAMPLE_FIELDS];
  memcpy(other_type, sample_fields, sizeof other_type);
  other_type[10].type = CB_FIELD_DOUBLE;
  retyped.fields = other_type;
  cb_dimension dimensions[6];
  memcpy(dimensions, sample_dimensions, sizeof dimensions);
  dimensions[0].count = 3;
  larger.dimensions = dimensions;
  const cb_record_layout *const layouts[] = {&fewer, &renamed, &retyped, &larger};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(cb_record_open_for_resume(path, layouts[i], NULL, state.blobs, SAMPLE_BLOBS, NULL, &record),
                     CB_ERROR_INPUT);
    print_message("%s\n", cb_error_text());
  }
  cb_record_layout shape = sample_layout();
  cb_blob blobs[SAMPLE_BLOBS];
  memcpy(blobs, state.blobs, sizeof blobs);
  blobs[0].count--;
  shape.state = blobs;
  assert_int_equal(cb_record_open_for_resume(path, &shape, NULL, blobs, SAMPLE_BLOBS, NULL, &record), CB_ERROR_INPUT);
  shape.n_state = 1, blobs[0].count++;
  assert_int_equal(cb_record_open_for_resume(path, &shape, NULL, blobs, 1, NULL, &record), CB_ERROR_INPUT);
  char *after = sample_read(path, &size_after);
  assert_int_equal(size, size_after);
  cb_reader *reader;
  check_ok(cb_reader_open(path, &reader)); /* still closed, completed and whole */
  assert_true(cb_reader_completed(reader));
  cb_reader_close(reader);
  assert_int_equal(sample_check(path).rows, 950);
  free(before), free(after), free(path);
}

static void a_file_that_is_being_written_is_left_alone(void **unused) {
  (void)unused;
  char *path = sample_path("live.h5");
  cb_record_layout layout = sample_layout();
  cb_record *record, *second;
  sample_state state;
  check_ok(cb_record_create(path, &layout, &options, &record));
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, 0, 300, 100));
  assert_int_equal(cb_record_repair(path, NULL), CB_ERROR_FILE);
  assert_non_null(strstr(cb_error_text(), "in use"));
  assert_int_equal(resume(path, &state, NULL, &second), CB_ERROR_FILE);
  assert_int_equal(cb_record_create(path, &layout, &options, &second), CB_ERROR_FILE);
  check_ok(sample_write(sink, 300, 600, 100));
  check_ok(sink.close(sink.self, true));
  assert_int_equal(sink.row(sink.self, NULL), CB_ERROR_ARGUMENT); /* closed */
  cb_record_free(record);
  assert_int_equal(sample_check(path).rows, 600);
  cb_repair_report report;
  check_ok(cb_record_repair(path, &report));
  assert_true(report.was_closed);
  assert_int_equal(report.rows, 600);
  free(path);
}

/* A copy of a live file is what a killed writer leaves. One field is given rows that the others do not have. */
static void repair_keeps_the_rows_that_every_field_has(void **unused) {
  (void)unused;
  char *path = sample_path("writing.h5"), *left = sample_path("left.h5");
  cb_record_layout layout = sample_layout();
  cb_record *record;
  check_ok(cb_record_create(path, &layout, &options, &record));
  cb_sink sink = cb_record_sink(record);
  sample_state state;
  check_ok(sample_write(sink, 0, 700, 0));
  sample_set_state(&state, 700);
  for (int twice = 0; twice < 2; twice++) /* the second waits for the first, so row 700 is in the file */
    check_ok(sink.checkpoint(sink.self, state.blobs, SAMPLE_BLOBS));
  sample_copy(path, left);
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);

  assert_true(H5Fopen(left, H5F_ACC_RDONLY, H5P_DEFAULT) < 0); /* marked as being written */
  cb_repair_report report;
  check_ok(cb_record_repair(left, &report));
  assert_false(report.was_closed);
  assert_int_equal(report.rows, 700);
  assert_int_equal(sample_check(left).rows, 700);

  hid_t file = H5Fopen(left, H5F_ACC_RDWR, H5P_DEFAULT), energy = H5Dopen2(file, "energy", H5P_DEFAULT);
  assert_true(H5Dset_extent(energy, (hsize_t[]){600}) >= 0);
  assert_true(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  sample_copy(left, path); /* marked as open for writing, one field shorter than the others */
  H5Dclose(energy);
  H5Fclose(file);
  check_ok(cb_record_repair(path, &report));
  assert_int_equal(report.rows, 600);
  assert_int_equal(report.rows_cut, 100);
  file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  for (size_t f = 0; f < SAMPLE_FIELDS - 1; f++) {
    hsize_t dims[4];
    hid_t dataset = H5Dopen2(file, sample_fields[f].name, H5P_DEFAULT), space = H5Dget_space(dataset);
    H5Sget_simple_extent_dims(space, dims, NULL);
    assert_int_equal(dims[0], 600);
    H5Sclose(space);
    H5Dclose(dataset);
  }
  H5Fclose(file);
  assert_int_equal(sample_check(path).rows, 600);
  cb_record_position at;
  assert_int_equal(resume(path, &state, &at, &record), CB_ERROR_INPUT); /* the checkpoint is ahead of the rows */
  free(path), free(left);
}

/* A live file after `rows` rows, all flushed, and a checkpoint. */
static void snapshot(cb_sink sink, const char *live, const char *copy, uint64_t from, uint64_t rows) {
  sample_state state;
  check_ok(sample_write(sink, from, rows, 0));
  sample_set_state(&state, rows);
  for (int twice = 0; twice < 2; twice++) check_ok(sink.checkpoint(sink.self, state.blobs, SAMPLE_BLOBS));
  sample_copy(live, copy);
}

static void put_superblock(const char *from, const char *to) {
  char bytes[48];
  FILE *file = fopen(from, "rb");
  assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
  fclose(file);
  file = fopen(to, "r+b");
  assert_int_equal(fwrite(bytes, 1, sizeof bytes, file), sizeof bytes);
  fclose(file);
}

/* The superblock is written last in a flush. A writer killed before has left an old one, with an end of file in the
 * middle of the file: what is appended must not overwrite the rest. The other way round the end is beyond the file. */
static void appending_after_a_kill_overwrites_nothing(void **unused) {
  (void)unused;
  char *live = sample_path("growing.h5"), *early = sample_path("early.h5"), *late = sample_path("late.h5");
  char *old = sample_path("old.h5");
  cb_record_layout layout = sample_layout();
  cb_record *record;
  sample_state state;
  cb_record_position at;
  check_ok(cb_record_create(live, &layout, &options, &record));
  snapshot(cb_record_sink(record), live, early, 0, 300);
  snapshot(cb_record_sink(record), live, late, 300, 3000);
  cb_record_free(record);
  sample_copy(early, old);
  put_superblock(late, early);
  put_superblock(old, late);
  for (int which = 0; which < 2; which++) {
    const char *path = which ? late : early;
    uint64_t rows = which ? 3000 : 300;
    check_ok(resume(path, &state, &at, &record));
    assert_int_equal(at.rows, rows);
    cb_sink sink = cb_record_sink(record);
    check_ok(sample_write(sink, rows, rows + 4000, 0));
    check_ok(sink.close(sink.self, true));
    cb_record_free(record);
    assert_int_equal(sample_check(path).rows, rows + 4000);
  }
  free(live), free(early), free(late), free(old);
}

static void put_byte(const char *path, long at, int byte) {
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, at, SEEK_SET), 0);
  fputc(byte, file);
  fclose(file);
}

static void a_damaged_superblock_is_told_from_a_killed_writer(void **unused) {
  (void)unused;
  char *path = sample_path("superblock.h5");
  uint64_t seed = check_seed();
  sample_record(path, 10, 5, true, &options);
  size_t size;
  char *bytes = sample_read(path, &size);
  for (long at = 0; at < 48; at++) {
    int damaged = bytes[at] ^ (1 << (int)check_uniform(&seed, 0, 8));
    put_byte(path, at, damaged);
    assert_int_equal(cb_record_repair(path, NULL), CB_ERROR_INPUT);
    put_byte(path, at, bytes[at]);
  }
  check_ok(cb_record_repair(path, NULL));
  free(bytes), free(path);
}

int main(void) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_record_goes_on_from_its_newest_checkpoint),
    cmocka_unit_test(a_damaged_checkpoint_is_passed_over),
    cmocka_unit_test(a_record_of_another_layout_is_refused_and_kept),
    cmocka_unit_test(a_file_that_is_being_written_is_left_alone),
    cmocka_unit_test(repair_keeps_the_rows_that_every_field_has),
    cmocka_unit_test(appending_after_a_kill_overwrites_nothing),
    cmocka_unit_test(a_damaged_superblock_is_told_from_a_killed_writer),
  };
  return cmocka_run_group_tests(tests, sample_make_folder, sample_remove_folder);
}
