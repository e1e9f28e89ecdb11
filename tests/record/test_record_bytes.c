/* Tests that a run which was killed any number of times and resumed gives bit for bit the record of an undisturbed run:
 * rows, events, checkpoints and warnings, each warning once. A complete record that was resumed to a later end equals
 * the record of the longer run, except for the scenario in it. The test kills runs at random rows; the seed is
 * CB_TEST_SEED. */
#include "record_sample.h"
#include "scenario/warnings.h"
#include <signal.h>
#include <sys/wait.h>

#define ROD(SPACE, BODY, INTEGRATOR, END, RECORD)                                                                 \
  "curvebody: 1\nspace: " SPACE                                                                                   \
  "\nbodies:\n  - kind: rod\n    name: a\n    link: {spring: {stiffness: 1, rest: 1}}\n    masses: [1, 2.7]\n"    \
  "    place: {chart: polar, points: [[0.5, pi/2, pi/2], [0.5, pi/2, 3*pi/2]]}\n" BODY "integrator: {" INTEGRATOR \
  "}\ntime: {end: " END "}\nrecord: {" RECORD "}\n"
#define TURNS "    motion: {killing: rotation_wx, speed: 1}\n"
#define MEETS                                                      \
  "    radius: 0.3\ncontacts: {within: [a], restitution: 0.999}\n" \
  "events: [{distance: {between: [[a, 0], [a, 1]], equals: 0.8}}]\n"

static const struct {
  const char *name, *text;
  uint64_t rows;
  const char *warning; /* a warning that must occur exactly once in the record; NULL: none */
} cases[] = {
    {"contacts and events", ROD("s3", TURNS MEETS, "step: 0.05", "150", "every: 2, checkpoint: 50"), 1500, NULL},
    {"compressed", ROD("s3", TURNS MEETS, "step: 0.05", "150", "every: 2, checkpoint: 50, compress: 4"), 1500, NULL},
    {"a step too long", ROD("s3", TURNS, "name: rk4, step: 0.8", "800", "every: 1, checkpoint: 60"), 1000,
     "the energy has changed by"},
    {"too far out",
     ROD("h3", "    motion: {killing: boost_x, speed: 3}\n", "step: 0.05", "60",
         "every: 1, checkpoint: 60, observables: [killing_momentum]"),
     1200, "too far to compute the momentum"},
    {"a body",
     "curvebody: 1\nspace: e3\nfluid: {medium: none}\nbodies:\n  - name: a\n    shape: {name: ellipsoid, a: 1, b: 0.7, "
     "c: "
     "0.4, resolution: 8}\n    density: 2000\n    motion: {spin: [0.3, 1, 0.1], velocity: [0.5, 0, 0]}\nintegrator: "
     "{name: "
     "rkmk4, step: 0.05}\ntime: {end: 20}\nrecord: {every: 1, checkpoint: 60}\n",
     400, "the energy has changed by"}};
enum { CASES = sizeof cases / sizeof *cases };

static uint64_t kill_at; /* number of rows after which this process kills itself; 0: never */
static cb_sink inner;

static cb_status count_row(void *self, const void *const *data) {
  const cb_status status = inner.row(self, data);
  if (kill_at && !--kill_at) {
    nanosleep(&(struct timespec){0, 20000000}, NULL); /* gives the writer time to make rows visible to readers */
    raise(SIGKILL);
  }
  return status;
}

/* Resumes the record, or creates it, and runs to the end of the scenario. */
static cb_status record_run(const char *path, const char *text) {
  cb_scenario *scenario = NULL;
  cb_record *record = NULL;
  cb_status status = cb_scenario_open_text("test", text, NULL, 0, &scenario);
  if (status) return status;
  cb_record_options how = cb_scenario_record(scenario);
  size_t count;
  cb_run *run = cb_scenario_run(scenario);
  cb_blob *state = cb_run_state(run, &count);
  how.overwrite = how.discard = true;
  how.flush_interval = .002;
  how.sync = CB_SYNC_NEVER;
  status = cb_record_open_for_resume(path, cb_scenario_layout(scenario), &how, state, count, NULL, &record);
  const bool goes_on = !status;
  if (!goes_on) status = cb_record_create(path, cb_scenario_layout(scenario), &how, &record);
  if (!status) status = cb_scenario_warn(scenario);
  if (!status && goes_on) status = cb_run_restore(run);
  if (!status) status = cb_run_on_warning(run, cb_record_warning, record);
  if (!status) {
    cb_sink sink = inner = cb_record_sink(record);
    sink.row = count_row;
    status = cb_run_go(run, &sink, NULL, NULL, NULL);
    if (!status) status = sink.close(sink.self, true);
  }
  cb_record_free(record);
  cb_scenario_free(scenario);
  return status;
}

/* Runs in a separate process that is killed after `rows` rows (0: never), and returns whether the run reached its
 * end. */
static bool ends(const char *path, const char *text, uint64_t rows) {
  fflush(NULL);
  const pid_t child = fork();
  int status;
  if (child == 0) {
    kill_at = rows;
    const cb_status done = record_run(path, text);
    if (done) fprintf(stderr, "%s\n", cb_error_text());
    _exit(done != CB_OK);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  return status == 0;
}

static size_t times(const char *text, const char *what) {
  size_t n = 0;
  for (; what && (text = strstr(text, what)); text += strlen(what)) n++;
  return n;
}

static void killed_runs_have_the_bytes_of_undisturbed_ones(void **unused) {
  char *whole = sample_path("whole.h5"), *part = sample_path("part.h5");
  uint64_t seed = check_seed();
  for (int i = 0; i < CASES; i++) {
    size_t size, expected;
    sample_remove_record(whole);
    check_ok(record_run(whole, cases[i].text));
    char *right = sample_read(whole, &expected);
    cb_reader *reader;
    const char *warnings;
    check_ok(cb_reader_open(whole, &reader));
    check_ok(cb_reader_attribute(reader, "warnings", &warnings));
    assert_int_equal(times(warnings, cases[i].warning), cases[i].warning != NULL);
    cb_reader_close(reader);
    for (int turn = 0; turn < 4; turn++) {
      int kills = 0;
      sample_remove_record(part);
      for (uint64_t left = cases[i].rows;
           !ends(part, cases[i].text, 1 + (uint64_t)check_uniform(&seed, 0, (double)left)); left = cases[i].rows)
        if (++kills == 1 + turn) break;
      if (turn % 2) (void)cb_record_repair(part, NULL); /* every other time the record is first repaired */
      assert_true(ends(part, cases[i].text, 0));
      char *found = sample_read(part, &size);
      if (size != expected || memcmp(found, right, size)) fail_msg("%s: %d kills: other bytes", cases[i].name, kills);
      free(found);
    }
    free(right);
  }
  free(whole);
  free(part);
}

static void a_complete_record_is_resumed_to_that_of_the_longer_run(void **unused) {
  char *whole = sample_path("long.h5"), *part = sample_path("short.h5"), earlier[2000];
  for (int i = 0; i < CASES; i++) {
    snprintf(earlier, sizeof earlier, "%s", cases[i].text);
    char *end = strstr(earlier, "{end: ") + 6; /* the new end has the same number of digits */
    end[0] = end[0] == '1' ? '0' : '1';
    end[1] = '7';
    sample_remove_record(whole);
    sample_remove_record(part);
    check_ok(record_run(whole, cases[i].text));
    check_ok(record_run(part, earlier));
    check_ok(record_run(part, cases[i].text));
    size_t size, expected, differing = 0;
    char *right = sample_read(whole, &expected), *found = sample_read(part, &size);
    assert_int_equal(size, expected);
    for (size_t at = 0; at < size; at++) differing += right[at] != found[at];
    /* The two records differ in the end time in both texts of the scenario, in its digest, and in the checksum of the
     * header. */
    assert_in_range(differing, 2, 2 * 4 + 64 + 8);
    free(right);
    free(found);
  }
  free(whole);
  free(part);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(killed_runs_have_the_bytes_of_undisturbed_ones),
                                     cmocka_unit_test(a_complete_record_is_resumed_to_that_of_the_longer_run)};
  return cmocka_run_group_tests(tests, sample_make_folder, sample_remove_folder);
}
