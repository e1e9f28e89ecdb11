/* Tests that other programs can read the files of this library: h5py, netCDF4 and xarray read HDF5, an XML parser reads
 * XDMF, and csv reads CSV.
 * needs: python
 */
#include "record_sample.h"
#include <sys/wait.h>

static const cb_record_options options = {.overwrite = true, .flush_interval = 1e6},
                               soon = {.overwrite = true, .flush_interval = .01};

static void make_killed(const char *path) {
  char *live = sample_path("live.h5");
  cb_record_layout layout = sample_layout();
  cb_record *record;
  check_ok(cb_record_create(live, &layout, &soon, &record));
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, 0, 700, 0));
  sample_wait_for_rows(live, 700);
  sample_copy_record(live, path);
  cb_record_free(record);
  check_ok(cb_record_repair(path, NULL));
  free(live);
}

static void h5py_netcdf_xarray_open_a_record_as_it_is(void **unused) {
  char *finished = sample_path("finished.h5"), *interrupted = sample_path("interrupted.h5"),
       *empty = sample_path("empty.h5");
  char *killed = sample_path("killed.h5"), *xdmf = sample_path("finished.xdmf"), *csv = sample_path("finished.csv");
  sample_record(finished, 1000, 100, true, &options);
  sample_record(interrupted, 300, 100, false, &options);
  sample_record(empty, 0, 0, true, &options);
  make_killed(killed);
  check_ok(cb_record_export_xdmf(finished, xdmf, &(cb_export_options){.every = 10}));
  check_ok(cb_record_export_csv(finished, csv, NULL));
  char command[300];
  snprintf(command, sizeof command, CB_PYTHON " %s/record_readers.py %s", CB_TESTS_DIR, sample_folder);
  int status = system(command);
  free(finished);
  free(interrupted);
  free(empty);
  free(killed);
  free(xdmf);
  free(csv);
  if (WIFEXITED(status) && (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)) skip();
  assert_int_equal(status, 0);
}

static void csv_has_the_requested_fields(void **unused) {
  char *path = sample_path("chosen.h5"), *csv = sample_path("chosen.csv");
  size_t size;
  sample_record(path, 21, 0, true, &options);
  const char *const fields[] = {"plot_position"};
  check_ok(cb_record_export_csv(path, csv, &(cb_export_options){.every = 20, .fields = fields, .n_fields = 1}));
  char *text = sample_read(csv, &size);
  assert_string_equal(text,
                      "time,step,plot_position[a0;x],plot_position[a0;y],plot_position[a0;z],plot_position[a1;x],"
                      "plot_position[a1;y],plot_position[a1;z]\n"
                      "0,0,2,2.0009765625,2.001953125,2.0029296875,2.00390625,2.0048828125\n"
                      "2.5,20,4.5,4.5009765625,4.501953125,4.5029296875,4.50390625,4.5048828125\n");
  free(text);
  const char *const wrong[] = {"y"};
  assert_int_equal(cb_record_export_csv(path, csv, &(cb_export_options){.fields = wrong, .n_fields = 1}),
                   CB_ERROR_ARGUMENT);
  assert_int_equal(cb_record_export_csv(path, "/no/such/folder.csv", NULL), CB_ERROR_FILE);
  assert_int_equal(cb_record_export_xdmf(path, sample_folder, NULL), CB_ERROR_FILE);
  if (access("/dev/full", W_OK) == 0) assert_int_equal(cb_record_export_csv(path, "/dev/full", NULL), CB_ERROR_FILE);
  free(path);
  free(csv);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(h5py_netcdf_xarray_open_a_record_as_it_is),
      cmocka_unit_test(csv_has_the_requested_fields),
  };
  return cmocka_run_group_tests(tests, sample_make_folder, sample_remove_folder);
}
