/* Tests of segments of a record whose constants and state are too large to be in every segment. */
#define SAMPLE_STATE 20000
#include "record/hdf5.h"
#include "record_sample.h"

enum { CELLS = 30000, ROWS = 100000, EVERY = 9973, MIB = 1 << 20 };
static cb_record_options soon = {.overwrite = true, .flush_interval = .05};
static double volume[CELLS];

static cb_record_layout large_layout(void) {
  static cb_dimension dimensions[7];
  static cb_constant constants[4];
  cb_record_layout layout = sample_layout();
  memcpy(dimensions, layout.dimensions, layout.n_dimensions * sizeof *dimensions);
  memcpy(constants, layout.constants, layout.n_constants * sizeof *constants);
  for (size_t i = 0; i < CELLS; i++) volume[i] = 1 / (1 + (double)i);
  dimensions[layout.n_dimensions++] = (cb_dimension){.name = "cell", .count = CELLS, .doc = "cell"};
  constants[layout.n_constants++] =
      (cb_constant){.name = "cell_volume", .dim = "cell", .values = volume, .doc = "volume"};
  layout.dimensions = dimensions;
  layout.constants = constants;
  return layout;
}

/* Writes a record of `rows` rows. If `killed` is given, writes to it a copy of the record before it was closed. */
static void write_large(const char *path, uint64_t rows, const char *killed) {
  const cb_record_layout layout = large_layout();
  cb_record *record;
  check_ok(cb_record_create(path, &layout, &soon, &record));
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, 0, rows, EVERY));
  if (killed) {
    sample_wait_for_rows(path, rows);
    sample_copy_record(path, killed);
  }
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
}

static char *segment(const char *path, int number) {
  char *name = malloc(strlen(path) + 32);
  assert_non_null(name);
  sprintf(name, "%s.parts/%06d.h5", path, number);
  return name;
}

static double size_of(const char *path, int number) {
  char *name = segment(path, number);
  struct stat info;
  const bool there = stat(name, &info) == 0;
  free(name);
  return there ? (double)info.st_size : 0;
}

static void expect_constant(const char *path) {
  static double found[CELLS];
  cb_reader *reader;
  check_ok(cb_reader_open(path, &reader));
  check_ok(cb_reader_constant(reader, "cell_volume", CELLS, found));
  assert_memory_equal(found, volume, sizeof found);
  cb_reader_close(reader);
}

static void large_constants_and_states_are_written_once(void **unused) {
  char *path = sample_path("large.h5"), *killed = sample_path("killed.h5");
  write_large(path, ROWS, killed);
  int last = 1;
  while (size_of(killed, last + 1) > 0) last++;
  assert_true(last >= 2);
  /* A complete segment has between 16 MiB and 16 MiB plus the rest of a chunk of 4096 rows and the state. Only one
   * segment is smaller: the one that is written when the record becomes long enough to be split. */
  int small = 0;
  for (int n = 1; n < last; n++) {
    print_message("segment %d: %.2f MiB\n", n, size_of(killed, n) / MIB);
    assert_true(size_of(killed, n) < 19 * MIB);
    small += size_of(killed, n) < 15 * MIB;
  }
  assert_true(small <= 1);
  struct stat info;
  assert_int_equal(stat(killed, &info), 0);
  assert_true(info.st_size < 100000); /* the file contains neither the constants nor the state */
  assert_true(size_of(killed, 0) > (double)sizeof volume);
  expect_constant(killed);
  sample_check(killed);
  static sample_state state, expected;
  cb_reader *reader;
  cb_record_position at;
  sample_set_state(&state, 0);
  sample_set_state(&expected, ROWS / EVERY * EVERY);
  check_ok(cb_reader_open(killed, &reader));
  check_ok(cb_reader_checkpoint(reader, state.blobs, SAMPLE_BLOBS, &at));
  cb_reader_close(reader);
  assert_int_equal(at.rows, ROWS / EVERY * EVERY);
  assert_memory_equal(state.state, expected.state, sizeof state.state);
  free(path);
  free(killed);
}

/* Checks that a resumed record equals an undisturbed one bit for bit. When segments are joined, a chunk within one
 * segment is copied; a chunk that spans two segments is assembled. */
static void expect_same_bytes(int deflate) {
  char *path = sample_path("go-on.h5"), *killed = sample_path("stopped.h5"), *whole = sample_path("whole.h5");
  const cb_record_layout layout = large_layout();
  static sample_state state;
  cb_record_position at;
  cb_record *record;
  soon.deflate = deflate;
  sample_remove_record(path);
  write_large(path, 70000, killed);
  sample_set_state(&state, 0);
  check_ok(cb_record_open_for_resume(killed, &layout, &soon, state.blobs, SAMPLE_BLOBS, &at, &record));
  assert_int_equal(at.rows, 70000 / EVERY * EVERY);
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, at.rows, ROWS, EVERY));
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
  write_large(whole, ROWS, NULL);
  size_t size, expected;
  char *found = sample_read(killed, &size), *straight = sample_read(whole, &expected);
  assert_int_equal(size, expected);
  assert_memory_equal(found, straight, size);
  free(found);
  free(straight);
  expect_constant(killed);
  sample_check(killed);
  free(path);
  free(killed);
  free(whole);
}

static void a_killed_record_is_resumed_to_the_same_bytes(void **unused) {
  expect_same_bytes(0);
  expect_same_bytes(1);
  soon.deflate = 0;
}

static size_t trusted;
static void count_trusted(const char *path) { trusted += strstr(path, ".parts/") != NULL; }
static cb_status look_at_none(const char *path) {
  return strstr(path, ".parts/") && !trusted ? cb_fail(CB_ERROR_FILE, "%s is looked at", path) : CB_OK;
}

/* The process that joins the segments has also written them. It therefore declares them trusted (cb_probe_trust)
 * instead of probing whether they are damaged. */
static void final_segments_are_trusted(void **unused) {
  static const cb_prober prober = {look_at_none, count_trusted};
  char *path = sample_path("trusted.h5"), *killed = sample_path("copied.h5");
  cb_probe_by(&prober);
  write_large(path, ROWS, killed);
  cb_probe_by(NULL);
  assert_true(trusted >= 2);
  free(path);
  free(killed);
}

/* Replaces the dataset `cell_volume` of a segment by a virtual dataset that refers to the file `source`. */
static void make_virtual(const char *path, int number, const char *source) {
  const hsize_t dims[1] = {CELLS};
  char *name = segment(path, number);
  const hid_t file = H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT), create = H5Pcreate(H5P_DATASET_CREATE),
              space = H5Screate_simple(1, dims, NULL);
  assert_true(file >= 0 && H5Ldelete(file, "cell_volume", H5P_DEFAULT) >= 0);
  assert_true(H5Pset_virtual(create, space, source, "cell_volume", space) >= 0);
  const hid_t dataset = H5Dcreate2(file, "cell_volume", H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
  assert_true(dataset >= 0);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(create);
  H5Fclose(file);
  free(name);
}

static void other_files_are_not_read(void **unused) {
  static double found[CELLS];
  char *path = sample_path("forged.h5"), *killed = sample_path("forged-killed.h5"), *base = segment(killed, 0);
  cb_reader *reader;
  write_large(path, 1000, killed);
  make_virtual(killed, 1, "000000.h5");
  expect_constant(killed);
  make_virtual(killed, 0, "000001.h5"); /* a cycle: each of the two files refers to the other */
  check_ok(cb_reader_open(killed, &reader));
  assert_int_equal(cb_reader_constant(reader, "cell_volume", CELLS, found), CB_ERROR_INPUT);
  cb_reader_close(reader);
  assert_int_equal(unlink(base), 0);
  check_ok(cb_reader_open(killed, &reader));
  assert_int_not_equal(cb_reader_constant(reader, "cell_volume", CELLS, found), CB_OK);
  cb_reader_close(reader);
  static const char *const sources[] = {"other.h5", "../000000.h5", "000002.h5", ".", "/etc/passwd"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    make_virtual(killed, 1, sources[i]);
    assert_int_equal(cb_reader_open(killed, &reader), CB_ERROR_INPUT);
  }
  free(path);
  free(killed);
  free(base);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(large_constants_and_states_are_written_once),
      cmocka_unit_test(a_killed_record_is_resumed_to_the_same_bytes),
      cmocka_unit_test(final_segments_are_trusted),
      cmocka_unit_test(other_files_are_not_read),
  };
  return cmocka_run_group_tests(tests, sample_make_folder, sample_remove_folder);
}
