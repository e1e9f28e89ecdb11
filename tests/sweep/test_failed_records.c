/* Tests lack of memory: wherever memory runs out while a record is written or read, or a sweep is run, either the
 * result is the same or the failure is reported. There is no crash, leak or other effect. The test uses a seeded sample
 * of the allocations; with CB_TEST_ALL it uses all. */
#include "fail_allocations.h"

#include "sweep/sweep.h"
#include <sys/stat.h>
#include <unistd.h>

enum { ONE_IN = 4 };

/* Writes the names, units, dimensions and labels of a record as text. */
static cb_status describe_record(const char *path, cb_text *text) {
  cb_reader *reader = NULL;
  const cb_reader_field *field;
  const char *isa = "";
  cb_status status = cb_reader_open(path, &reader);
  const size_t fields = status ? 0 : cb_reader_fields(reader, &field);
  if (!status) status = cb_reader_attribute(reader, "isa", &isa);
  if (!status) cb_text_puts(text, isa);
  for (size_t f = 0; f < fields && !status; f++) {
    cb_text_puts(text, field[f].name);
    cb_text_puts(text, field[f].units);
    for (int d = 0; d < field[f].rank && !status; d++) {
      const char *const *label;
      cb_text_puts(text, field[f].dims[d]);
      status = cb_reader_labels(reader, field[f].dims[d], &label);
      if (!status && label) cb_text_puts(text, label[0]);
    }
  }
  cb_reader_close(reader);
  return status;
}

/* Lets one allocation fail at a time while a record is written, and while it is read. */
static void records_without_memory_say_so(void **unused) {
  static const char text[] =
      "curvebody: 1\nspace: h3\nbodies: [{kind: particles, name: a, place: {chart: polar, points: "
      "[[1, 1, 0], [1, 1, 1]]}}]\nintegrator: {step: 0.1}\ntime: {end: 0.1}\n";
  char path[256];
  snprintf(path, sizeof path, "%s/failed_records_%d.h5", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
  cb_scenario *s;
  check_ok(cb_scenario_open_text("text", text, NULL, 0, &s));
  const cb_record_options how = {.overwrite = true, .discard = true}; /* segments of a record that was not completed are
                                                                       * deleted */
  cb_record *record = NULL;
  uint64_t seed = check_seed();
  size_t wrong = 0;
  for (size_t at = 1, failed = 1; failed; at = next_allocation(at, ONE_IN, &seed)) {
    fail_allocation(at, false);
    const cb_status status = cb_record_create(path, cb_scenario_layout(s), &how, &record);
    if (!status) cb_record_free(record);
    end_failing();
    if (status && status != CB_ERROR_MEMORY) {
      print_error("writing, request %zu: %s, `%s`\n", at, cb_status_name(status), cb_error_text());
      print_failed_allocation();
      wrong++;
    }
    failed = allocations.failed;
  }
  cb_text good = {0};
  check_ok(describe_record(path, &good));
  for (size_t at = 1, failed = 1; failed; at = next_allocation(at, ONE_IN, &seed)) {
    cb_text found = {0};
    fail_allocation(at, false);
    const cb_status status = describe_record(path, &found);
    end_failing();
    failed = allocations.failed;
    if ((status && status != CB_ERROR_MEMORY) || (!status && !found.failed && strcmp(found.data, good.data))) {
      print_error("reading, request %zu: %s, `%s`\n", at, cb_status_name(status), status ? cb_error_text() : "");
      print_failed_allocation();
      wrong++;
    }
    cb_text_free(&found);
  }
  cb_text_free(&good);
  cb_scenario_free(s);
  remove(path);
  assert_int_equal(wrong, 0);
}

/* Reads and checks a sweep, and runs two members into segments, which are then scanned and joined. */
static cb_status sweep_once(const char *yaml, const char *output) {
  cb_sweep_plan *plan = NULL;
  cb_sweep *sweep = NULL;
  cb_runner *runner = NULL;
  cb_store *store = NULL;
  cb_results_scan scan = {0};
  cb_segments folder = {.lock = -1};
  bool joined = false;
  size_t failed = 0;
  cb_status status = cb_sweep_plan_open(yaml, NULL, 0, &plan);
  if (!status) status = cb_sweep_create(plan, &sweep);
  if (!status) status = cb_sweep_check(sweep, 0, 2, 1, NULL);
  if (!status) {
    cb_sweep_layout_rows(sweep);
    status = cb_runner_create(sweep, NULL, &runner);
  }
  if (!status) status = cb_segments_name(output, &folder);
  if (!status) status = cb_segments_take(&folder);
  if (!status) status = cb_store_open(&folder, &sweep->layout, 0, NULL, &store);
  if (!status) status = cb_runner_go(runner, (const int64_t[]){0, 1}, 2, store, NULL, &failed);
  if (!status && failed) status = CB_ERROR_STEP;
  if (!status) status = cb_store_save(store);
  if (!status) status = cb_results_scan_read(&folder, &sweep->layout, true, &scan);
  if (!status && scan.status[1] != CB_MEMBER_DONE) status = CB_ERROR_DOMAIN;
  if (!status) status = cb_result_write(&folder, &scan, true, &joined);
  if (!status && !joined) status = CB_ERROR_DOMAIN;
  cb_results_scan_free(&scan);
  cb_store_free(store);
  cb_runner_free(runner);
  cb_sweep_free(sweep);
  cb_segments_leave(&folder, true);
  remove(output);
  return status;
}

static void sweeps_without_memory_say_so(void **unused) {
  char output[256], path[300];
  snprintf(output, sizeof output, "%s/failed_records_%d.h5", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
           (int)getpid());
  snprintf(path, sizeof path, "%s.yaml", output);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(
      "curvebody: 1\nsweep:\n  scenario: {curvebody: 1, space: h3, bodies: [{kind: particles, name: a, place: {chart: "
      "polar, "
      "points: [[1, 1, 0], [1, 1, 1]]}}], integrator: {step: 0.1}, time: {end: 0.3}}\n"
      "  over:\n    - {key: bodies.0.mass, from: 1, to: 2, name: m}\n    - {key: time.end, values: [0.3, 0.4], name: "
      "end}\n"
      "  design: {name: latin_hypercube, count: 2}\n  keep: rows\n"
      "  collect: {top: max(energy), drift: \"last(plot_position[0,2]) - first(plot_position[0,2])\"}\n",
      file);
  fclose(file);
  uint64_t seed = check_seed();
  size_t wrong = 0, tried = 0;
  check_ok(sweep_once(path, output));
  for (size_t at = 1, failed = 1; failed; at = next_allocation(at, ONE_IN, &seed), tried++) {
    fail_allocation(at, false);
    const cb_status status = sweep_once(path, output);
    end_failing();
    failed = allocations.failed;
    const bool said = strstr(cb_error_text(), "no memory") || strstr(cb_error_text(), "Cannot allocate memory");
    if ((status && !said) || allocations.kept) {
      print_error("sweep, request %zu: %s, `%s`, %ld kept\n", at, cb_status_name(status), status ? cb_error_text() : "",
                  (long)allocations.kept);
      print_failed_allocation();
      wrong++;
    }
  }
  print_message("sweep: %zu failures tried\n", tried);
  remove(path);
  assert_int_equal(wrong, 0);
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_allocation_asked_for_fails),
                                     cmocka_unit_test(records_without_memory_say_so),
                                     cmocka_unit_test(sweeps_without_memory_say_so)};
  return cmocka_run_group_tests_name("failed_records", tests, NULL, NULL);
}
