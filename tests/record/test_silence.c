/* Tests that the library prints nothing: file descriptors 1 and 2 are redirected to a file while its functions succeed
 * and while they fail. */
#include "memory_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int saved[2];
static char folder[] = "/tmp/curvebody-silence-XXXXXX", captured[64];

static void capture(void) {
  fflush(NULL);
  snprintf(captured, sizeof captured, "%s/printed", folder);
  int fd = open(captured, O_RDWR | O_CREAT | O_TRUNC, 0600);
  for (int i = 0; i < 2; i++) {
    saved[i] = dup(1 + i);
    dup2(fd, 1 + i);
  }
  close(fd);
}

/* Restores the descriptors, and returns the number of bytes that were printed since capture(). */
static long release(void) {
  fflush(NULL);
  struct stat info;
  fstat(1, &info);
  for (int i = 0; i < 2; i++) {
    dup2(saved[i], 1 + i);
    close(saved[i]);
  }
  return (long)info.st_size;
}

static const char *in_folder(const char *name) {
  static char path[4][128];
  static int next;
  snprintf(path[next %= 4], sizeof path[0], "%s/%s", folder, name);
  return path[next++];
}

static void write_file(const char *name, const char *text) {
  FILE *file = fopen(in_folder(name), "w");
  fputs(text, file);
  fclose(file);
}

static void what_is_printed_is_seen(void **unused) {
  capture();
  fputs("a", stdout);
  fputs("bc", stderr);
  assert_int_equal(release(), 3);
}

static void scenarios(void) {
  static const char *const texts[] = {"",
                                      "curvebody: 1",
                                      "{",
                                      "\t",
                                      "curvebody: 1x",
                                      "curvebody: 1\nspace: h4\nbodies: []\nintegrator: {}\ntime: {}\n",
                                      "curvebody: 1\nspace: s3\nbodies: [{kind: rod, place: {points: "
                                      "[[0,0,0,1],[0,0,0,-1]]}}]\nintegrator: {step: 1}\ntime: {end: 1}\n",
                                      "curvebody: 1\nspace: s3\nbodies: [{kind: network, mesh: {file: "
                                      "none.obj}}]\nintegrator: {step: 1}\ntime: {end: 1}\n"};
  cb_scenario *s;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) (void)cb_scenario_open_text("test", texts[i], NULL, 0, &s);
  (void)cb_scenario_open("/none", NULL, 0, &s);
  (void)cb_scenario_open("/", NULL, 0, &s);
}

static void runs(void) {
  static const char *const methods[] = {"name: lobatto, step: 0.1",
                                        "name: lobatto, step: 40, retries: 2",
                                        "name: lobatto, step: 3, solver: newton",
                                        "name: gauss, step: 0.1",
                                        "name: gauss, step: 40, solver: newton",
                                        "name: gauss, step: 40, solver: fixed-point",
                                        "name: rk4, step: 100",
                                        "name: ida, step: 0.1",
                                        "name: ida, step: 0.1, max_steps: 3",
                                        "name: ida, step: 0.1, rtol: 1e-17, atol: 1e-19"};
  static const char *const spaces[] = {"name: h3", "name: s3", "name: h3, chart: polar"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    for (size_t j = 0; j < 3; j++) {
      if (j == 2 && !strncmp(methods[i], "name: lobatto", 13)) continue;
      cb_scenario *s = rod_scenario(spaces[j], methods[i], 120,
                                    "every: 1, observables: [energy, separation, karcher_mean, coordinates]");
      cb_record *record;
      const cb_record_options how = {.overwrite = true};
      if (cb_record_create(in_folder("out.h5"), cb_scenario_layout(s), &how, &record) == CB_OK) {
        cb_sink sink = cb_record_sink(record);
        const cb_status status = cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL);
        (void)sink.close(sink.self, status == CB_OK);
        cb_record_free(record);
      }
      cb_scenario_free(s);
    }
}

static void files(void) {
  cb_scenario *s = rod_scenario("name: h3", "name: lobatto, step: 0.1", 1, "every: 1");
  cb_record *record;
  cb_reader *reader;
  cb_repair_report report;
  size_t n;
  cb_blob *state = cb_run_state(cb_scenario_run(s), &n);
  write_file("text.h5", "no HDF5\n");
  write_file("empty.h5", "");
  write_file("cut.h5", "\x89HDF\r\n\x1a\n and nothing after it");
  const char *const names[] = {"none/none.h5", "text.h5", "empty.h5", "cut.h5", "", "none.h5"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (i == 0 || i == 4) (void)cb_record_create(in_folder(names[i]), cb_scenario_layout(s), NULL, &record);
    if (cb_record_open_for_resume(in_folder(names[i]), cb_scenario_layout(s), NULL, state, n, NULL, &record) == CB_OK)
      cb_record_free(record);
    if (cb_reader_open(in_folder(names[i]), &reader) == CB_OK) cb_reader_close(reader);
    (void)cb_record_repair(in_folder(names[i]), &report);
    (void)cb_record_export_csv(in_folder(names[i]), in_folder("out.csv"), NULL);
    (void)cb_record_export_xdmf(in_folder(names[i]), in_folder("out.xdmf"), NULL);
  }
  (void)cb_record_repair(in_folder("out.h5"), &report);
  (void)cb_record_export_csv(in_folder("out.h5"), in_folder("out.csv"), NULL);
  (void)cb_record_export_xdmf(in_folder("out.h5"), in_folder("none/out.xdmf"), NULL);
  cb_scenario_free(s);
}

static void silent(void (*work)(void)) {
  capture();
  work();
  const long printed = release();
  if (!printed) return;
  char text[2048] = "";
  FILE *file = fopen(captured, "r");
  const size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[n] = 0;
  fail_msg("%ld bytes were printed: %s", printed, text);
}

static void scenarios_that_are_wrong_print_nothing(void **unused) { silent(scenarios); }
static void runs_and_failing_steps_print_nothing(void **unused) { silent(runs); }
static void files_that_are_wrong_print_nothing(void **unused) { silent(files); }

static int make_folder(void **unused) { return mkdtemp(folder) == NULL; }
static int remove_folder(void **unused) {
  static const char *const names[] = {"printed", "text.h5", "empty.h5", "cut.h5",
                                      "out.h5",  "out.csv", "out.xdmf", "out-events.csv"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(in_folder(names[i]));
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_printed_is_seen),
      cmocka_unit_test(scenarios_that_are_wrong_print_nothing),
      cmocka_unit_test(runs_and_failing_steps_print_nothing),
      cmocka_unit_test(files_that_are_wrong_print_nothing),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
