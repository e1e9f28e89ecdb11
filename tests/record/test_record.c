/* Tests that a record contains the written data in the documented layout. It is read with HDF5's own functions.
 * labels: medium */
#include "record_sample.h"
#include <hdf5_hl.h>
#include <time.h>

static const cb_record_options overwrite = {.overwrite = true};

static void every_number_comes_back(void **unused) {
  char *path = sample_path("numbers.h5");
  const uint64_t lengths[] = {0, 1, 255, 256, 257, 5000};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    sample_record(path, lengths[i], 0, true, &overwrite);
    cb_record_position at = sample_check(path);
    assert_int_equal(at.rows, lengths[i]);
    assert_int_equal(at.events, sample_events(lengths[i]));
  }
  sample_record(path, 1000, 0, true, &(cb_record_options){.overwrite = true, .deflate = 4});
  assert_int_equal(sample_check(path).rows, 1000);
  sample_record(path, 1000, 0, true, &(cb_record_options){.overwrite = true, .buffer_bytes = 1});
  assert_int_equal(sample_check(path).rows, 1000);
  free(path);
}

static void scenario_and_attributes_come_back(void **unused) {
  char *path = sample_path("texts.h5");
  cb_record_layout layout = sample_layout();
  cb_reader *reader;
  const char *text;
  sample_record(path, 3, 0, false, &overwrite);
  check_ok(cb_reader_open(path, &reader));
  assert_false(cb_reader_completed(reader));
  check_ok(cb_reader_scenario(reader, "source", &text));
  assert_string_equal(text, layout.scenario_source);
  check_ok(cb_reader_scenario(reader, "resolved", &text));
  assert_string_equal(text, layout.scenario_resolved);
  check_ok(cb_reader_attribute(reader, "isa", &text));
  assert_string_equal(text, "x86-64");
  check_ok(cb_reader_attribute(reader, "nothing", &text));
  assert_string_equal(text, "");
  cb_reader_close(reader);
  sample_record(path, 3, 0, true, &overwrite);
  check_ok(cb_reader_open(path, &reader));
  assert_true(cb_reader_completed(reader));
  cb_reader_close(reader);
  free(path);
}

static bool is_scale_of(hid_t file, hid_t dataset, const char *scale, unsigned index) {
  hid_t dimension = H5Dopen2(file, scale, H5P_DEFAULT);
  bool attached = H5DSis_scale(dimension) > 0 && H5DSis_attached(dataset, dimension, index) > 0;
  H5Dclose(dimension);
  return attached;
}

static void every_array_is_attached_to_its_scales(void **unused) {
  char *path = sample_path("scales.h5");
  sample_record(path, 3, 0, true, &overwrite);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT); /* without the reader of this library */
  assert_true(file >= 0);
  for (size_t f = 1; f < SAMPLE_FIELDS; f++) {
    const cb_field *field = &sample_fields[f];
    if (!sample_counts[f]) {
      assert_int_equal(H5Lexists(file, field->name, H5P_DEFAULT), 0);
      continue;
    }
    hid_t dataset = H5Dopen2(file, field->name, H5P_DEFAULT);
    assert_true(is_scale_of(file, dataset, "time", 0));
    for (int d = 0; d < field->rank; d++) assert_true(is_scale_of(file, dataset, field->dims[d], (unsigned)d + 1));
    assert_true(H5Aexists(dataset, "units") > 0 && H5Aexists(dataset, "long_name") > 0);
    H5Dclose(dataset);
  }
  hid_t mass = H5Dopen2(file, "particle_mass", H5P_DEFAULT), impulse = H5Dopen2(file, "event_impulse", H5P_DEFAULT);
  assert_true(is_scale_of(file, mass, "particle", 0));
  assert_true(is_scale_of(file, impulse, "event", 0));
  H5Fclose(file);
  free(path);
}

static haddr_t address(hid_t file, const char *name) {
  H5O_info_t info;
  assert_true(H5Oget_info_by_name(file, name, &info, H5P_DEFAULT) >= 0);
  return info.addr;
}

static void h5md_names_the_same_arrays(void **unused) {
  char *path = sample_path("h5md.h5");
  sample_record(path, 3, 0, true, &overwrite);
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_int_equal(address(file, "particles/bodies/position/value"), address(file, "plot_position"));
  assert_int_equal(address(file, "particles/bodies/position/time"), address(file, "time"));
  assert_int_equal(address(file, "particles/bodies/position/step"), address(file, "step"));
  assert_int_equal(address(file, "particles/bodies/velocity/value"), address(file, "plot_velocity"));
  assert_int_equal(address(file, "particles/bodies/mass"), address(file, "particle_mass"));
  assert_true(H5Aexists_by_name(file, "h5md", "version", H5P_DEFAULT) > 0);
  assert_true(H5Aexists_by_name(file, "h5md/author", "name", H5P_DEFAULT) > 0);
  assert_true(H5Aexists_by_name(file, "h5md/creator", "version", H5P_DEFAULT) > 0);
  assert_true(H5Aexists_by_name(file, "particles/bodies/box", "dimension", H5P_DEFAULT) > 0);
  assert_true(H5Aexists_by_name(file, "particles/bodies/box", "boundary", H5P_DEFAULT) > 0);
  int64_t bonds[2] = {-1, -1};
  hid_t connectivity = H5Dopen2(file, "connectivity/bonds", H5P_DEFAULT);
  assert_true(H5Dread(connectivity, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, bonds) >= 0);
  assert_int_equal(bonds[0], 0);
  assert_int_equal(bonds[1], 1);
  H5Fclose(file);
  free(path);
}

/* Writes a record with `count` particles, whose values are x = row + particle + axis/4, and reads the chunk size of
 * x. */
static void wide(const char *path, size_t count, uint64_t rows, hsize_t chunk[3]) {
  const cb_dimension dimensions[] = {{.name = "particle", .count = count}, {.name = "axis", .count = 3}};
  const cb_field fields[] = {sample_fields[0], sample_fields[1], sample_fields[2]};
  const cb_blob state[] = {{"state", CB_FIELD_DOUBLE, 3 * count, NULL, false}};
  const cb_record_layout layout = {.title = "wide",
                                   .dimensions = dimensions,
                                   .n_dimensions = 2,
                                   .fields = fields,
                                   .n_fields = 3,
                                   .state = state,
                                   .n_state = 1};
  cb_record *record;
  double *x = malloc(3 * count * sizeof *x), *back = malloc(3 * count * sizeof *x);
  check_ok(cb_record_create(path, &layout, &overwrite, &record));
  cb_sink sink = cb_record_sink(record);
  for (uint64_t row = 0; row < rows; row++) {
    double time = (double)row;
    int64_t step = (int64_t)row;
    for (size_t i = 0; i < 3 * count; i++) x[i] = (double)row + (double)(i / 3) + (double)(i % 3) / 4;
    check_ok(sink.row(sink.self, (const void *const[]){&time, &step, x}));
  }
  check_ok(sink.checkpoint(sink.self, (cb_blob[]){{"state", CB_FIELD_DOUBLE, 3 * count, x, false}}, 1));
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);

  cb_reader *reader;
  check_ok(cb_reader_open(path, &reader));
  assert_int_equal(cb_reader_position(reader).rows, rows);
  for (uint64_t row = 0; row < rows; row += rows - 1) {
    check_ok(cb_reader_rows(reader, 2, row, 1, back));
    for (size_t i = 0; i < 3 * count; i++)
      if (back[i] != (double)row + (double)(i / 3) + (double)(i % 3) / 4) fail_msg("x[%zu] of row %d", i, (int)row);
  }
  memset(back, 0, 3 * count * sizeof *back);
  check_ok(cb_reader_checkpoint(reader, (cb_blob[]){{"state", CB_FIELD_DOUBLE, 3 * count, back, false}}, 1, NULL));
  assert_memory_equal(back, x, 3 * count * sizeof *x);
  cb_reader_close(reader);

  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), dataset = H5Dopen2(file, "plot_position", H5P_DEFAULT);
  hid_t create = H5Dget_create_plist(dataset);
  assert_int_equal(H5Pget_chunk(create, 3, chunk), 3);
  H5Pclose(create);
  H5Dclose(dataset);
  H5Fclose(file);
  free(x);
  free(back);
}

static void a_chunk_has_256_rows_or_4096_of_many_and_a_mebibyte(void **unused) {
  char *path = sample_path("wide.h5");
  hsize_t chunk[3];
  wide(path, 2, 300, chunk);
  assert_int_equal(chunk[0], 256);
  assert_int_equal(chunk[1], 2);
  wide(path, 2, 65535, chunk);
  assert_int_equal(chunk[0], 256);
  wide(path, 2, 65536, chunk);
  assert_int_equal(chunk[0], 4096);
  /* A row has 1456 bytes, so that at most 2048 rows, a power of two, fit in 4 MiB. A record is long from 16 * 2048 =
   * 32768 rows. */
  wide(path, 60, 32767, chunk);
  assert_int_equal(chunk[0], 256);
  wide(path, 60, 32768, chunk);
  assert_int_equal(chunk[0], 512); /* x has 1440 bytes per row, and 728 rows fit in 1 MiB */
  wide(path, 1000, 70, chunk);     /* 24 kB per row: 43 rows fit in 1 MiB, rounded down to 32 */
  assert_int_equal(chunk[0], 32);
  assert_int_equal(chunk[1], 1000);
  wide(path, 50000, 3, chunk); /* a row of 1.2 MB is split */
  assert_int_equal(chunk[0], 1);
  assert_int_equal(chunk[1], 25000);
  free(path);
}

static void a_million_particles_are_recorded(void **unused) {
  char *path = sample_path("million.h5");
  hsize_t chunk[3];
  wide(path, 1000000, 4, chunk);
  assert_int_equal(chunk[0], 1);
  assert_in_range(chunk[1] * 24, 1 << 19, 1 << 20);
  assert_int_equal(chunk[2], 3);
  remove(path);
  free(path);
}

static void the_same_rows_give_the_same_bytes(void **unused) {
  char *first = sample_path("first.h5"), *second = sample_path("second.h5");
  const cb_record_options untimed = {.overwrite = true, .flush_interval = 1e6};
  size_t size[2];
  sample_record(first, 3000, 700, true, &untimed);
  sample_record(second, 3000, 700, true, &untimed);
  char *bytes[2] = {sample_read(first, &size[0]), sample_read(second, &size[1])};
  assert_int_equal(size[0], size[1]);
  assert_memory_equal(bytes[0], bytes[1], size[0]);
  free(bytes[0]);
  free(bytes[1]);
  free(first);
  free(second);
}

static void a_row_is_in_the_file_after_the_flush_interval(void **unused) {
  char *path = sample_path("live.h5");
  const cb_record_options quick = {.overwrite = true, .flush_interval = .05};
  cb_record_layout layout = sample_layout();
  cb_record *record;
  check_ok(cb_record_create(path, &layout, &quick, &record));
  cb_sink sink = cb_record_sink(record);
  uint64_t rows = 0;
  for (int pass = 0; pass < 3; pass++) {
    check_ok(sample_write(sink, rows, rows + 100, 0));
    rows += 100;
    uint64_t seen = 0;
    for (int wait = 0; wait < 2000 && seen < rows; wait++) { /* up to 100 s, because the computer may be busy */
      nanosleep(&(struct timespec){0, 50000000}, NULL);
      if (sample_exists(path)) seen = sample_check(path).rows; /* the file appears after the first second */
    }
    assert_int_equal(seen, rows);
  }
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
  assert_int_equal(sample_check(path).rows, rows);
  free(path);
}

static void a_checkpoint_before_the_first_row_is_in_the_file(void **unused) {
  char *path = sample_path("early.h5");
  const cb_record_options quick = {.overwrite = true, .flush_interval = .05};
  cb_record_layout layout = sample_layout();
  sample_state state;
  cb_record *record;
  check_ok(cb_record_create(path, &layout, &quick, &record));
  cb_sink sink = cb_record_sink(record);
  sample_set_state(&state, 0);
  check_ok(sink.checkpoint(sink.self, state.blobs, SAMPLE_BLOBS));
  for (int wait = 0; wait < 2000 && !sample_exists(path); wait++) nanosleep(&(struct timespec){0, 50000000}, NULL);
  assert_int_equal(sample_check(path).rows, 0);
  check_ok(sample_write(sink, 0, 10, 0));
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
  assert_int_equal(sample_check(path).rows, 10);
  free(path);
}

static double thread_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void a_row_costs_the_stepping_thread_less_than_ten_microseconds(void **unused) {
  enum { ROWS = 100000 };
  char *path = sample_path("speed.h5");
  cb_record_layout layout = sample_layout();
  cb_record *record;
  check_ok(cb_record_create(path, &layout, &overwrite, &record));
  cb_sink sink = cb_record_sink(record);
  double start = thread_seconds();
  check_ok(sample_write(sink, 0, ROWS, 0));
  double each = 1e6 * (thread_seconds() - start) / ROWS;
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
  print_message("%.2f us a row, the sample's own arithmetic included\n", each);
  check_at_most(each, 10);
  free(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_number_comes_back),
      cmocka_unit_test(scenario_and_attributes_come_back),
      cmocka_unit_test(every_array_is_attached_to_its_scales),
      cmocka_unit_test(h5md_names_the_same_arrays),
      cmocka_unit_test(a_chunk_has_256_rows_or_4096_of_many_and_a_mebibyte),
      cmocka_unit_test(a_million_particles_are_recorded),
      cmocka_unit_test(the_same_rows_give_the_same_bytes),
      cmocka_unit_test(a_row_is_in_the_file_after_the_flush_interval),
      cmocka_unit_test(a_checkpoint_before_the_first_row_is_in_the_file),
      cmocka_unit_test(a_row_costs_the_stepping_thread_less_than_ten_microseconds),
  };
  return cmocka_run_group_tests(tests, sample_make_folder, sample_remove_folder);
}
