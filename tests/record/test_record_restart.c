/* Tests of checkpoints, of resuming from them, and of the repair of files that were not closed. */
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

static void a_record_is_resumed_from_its_newest_checkpoint(void **unused) {
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
  free(path);
  free(whole);
}

static void a_record_of_another_layout_is_refused_and_kept(void **unused) {
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
  fewer.n_fields--;
  fewer.n_fields--;
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
  shape.n_state = 1;
  blobs[0].count++;
  assert_int_equal(cb_record_open_for_resume(path, &shape, NULL, blobs, 1, NULL, &record), CB_ERROR_INPUT);
  char *after = sample_read(path, &size_after);
  assert_int_equal(size, size_after);
  cb_reader *reader;
  check_ok(cb_reader_open(path, &reader)); /* the record is still closed and complete */
  assert_true(cb_reader_completed(reader));
  cb_reader_close(reader);
  assert_int_equal(sample_check(path).rows, 950);
  free(before);
  free(after);
  free(path);
}

static void a_file_that_is_being_written_is_left_alone(void **unused) {
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
  assert_int_equal(sink.row(sink.self, NULL), CB_ERROR_ARGUMENT); /* the sink is closed */
  cb_record_free(record);
  assert_int_equal(sample_check(path).rows, 600);
  cb_repair_report report;
  check_ok(cb_record_repair(path, &report));
  assert_true(report.was_closed);
  assert_int_equal(report.rows, 600);
  free(path);
}

/* A record is copied while its writer is open. The copy is as if the writer had been killed at this time. */
static void the_record_of_a_killed_writer_is_repaired_and_resumed(void **unused) {
  static const cb_record_options soon = {.overwrite = true, .flush_interval = .01};
  char *path = sample_path("writing.h5"), *left = sample_path("left.h5"), *again = sample_path("again.h5");
  cb_record_layout layout = sample_layout();
  cb_record *record;
  check_ok(cb_record_create(path, &layout, &soon, &record));
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, 0, 700, 300));
  sample_wait_for_rows(path, 700);
  sample_copy_record(path, left);
  sample_copy_record(path, again);
  assert_int_equal(sample_check(left).rows, 700);
  cb_repair_report report;
  check_ok(cb_record_repair(left, &report));
  assert_false(report.was_closed);
  assert_int_equal(report.rows, 700);
  assert_int_equal(sample_check(left).rows, 700);
  const char *const both[] = {left, again};
  for (int i = 0; i < 2; i++) { /* resumes from the checkpoint at 600, with and without repair */
    sample_state state;
    cb_record_position at;
    cb_record *second;
    check_ok(resume(both[i], &state, &at, &second));
    assert_int_equal(at.rows, 600);
    expect_state(&state, 600);
    sink = cb_record_sink(second);
    check_ok(sample_write(sink, 600, 5000, 300));
    check_ok(sink.close(sink.self, true));
    cb_record_free(second);
  }
  sink = cb_record_sink(record);
  check_ok(sample_write(sink, 700, 5000, 300)); /* checkpoints at 900, 1200, ..., as in the other records */
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
  size_t size[3];
  char *bytes[] = {sample_read(path, &size[0]), sample_read(left, &size[1]), sample_read(again, &size[2])};
  for (int i = 1; i < 3; i++) {
    assert_int_equal(size[i], size[0]);
    assert_memory_equal(bytes[i], bytes[0], size[0]);
  }
  free(bytes[0]);
  free(bytes[1]);
  free(bytes[2]);
  free(path);
  free(left);
  free(again);
}

static void put_byte(const char *path, long at, int byte) {
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, at, SEEK_SET), 0);
  fputc(byte, file);
  fclose(file);
}

/* A damaged header is an input error, not a system error. HDF5 ignores some bytes of the header, so these may differ.
 */
static void a_damaged_head_is_reported(void **unused) {
  char *path = sample_path("head.h5");
  uint64_t seed = check_seed();
  sample_record(path, 10, 5, true, &options);
  size_t size, refused = 0;
  char *bytes = sample_read(path, &size);
  for (long at = 0; at < 48; at++) {
    int damaged = bytes[at] ^ (1 << (int)check_uniform(&seed, 0, 8));
    put_byte(path, at, damaged);
    const cb_status status = cb_record_repair(path, NULL);
    if (status) assert_int_equal(status, CB_ERROR_INPUT);
    refused += status != CB_OK;
    put_byte(path, at, bytes[at]);
  }
  assert_true(refused > 24);
  check_ok(cb_record_repair(path, NULL));
  free(bytes);
  free(path);
}

int main(void) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_record_is_resumed_from_its_newest_checkpoint),
      cmocka_unit_test(a_record_of_another_layout_is_refused_and_kept),
      cmocka_unit_test(a_file_that_is_being_written_is_left_alone),
      cmocka_unit_test(the_record_of_a_killed_writer_is_repaired_and_resumed),
      cmocka_unit_test(a_damaged_head_is_reported),
  };
  return cmocka_run_group_tests(tests, sample_make_folder, sample_remove_folder);
}
