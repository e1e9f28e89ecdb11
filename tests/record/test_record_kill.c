/* Tests that a record stays readable if its writer is killed at any time, even at its start. The program starts itself
 * as the writer and kills it after a random time. The writer writes as fast as it can, makes its rows visible to
 * readers every 20 ms, makes a checkpoint every 1000 rows, and closes and resumes the record every 20 000 rows. */
#include "record_sample.h"
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static char self[4096];

/* WAITING is the maximum number of rows that can reach the file while a checkpoint waits for the writer: the rows in
 * memory and those up to the next checkpoint. */
enum { CYCLE = 20000, CHECKPOINT_EVERY = 1000, WAITING = 16 * 256 + CHECKPOINT_EVERY };
static const cb_record_options options = {.overwrite = true, .flush_interval = .02};

static int write_until_killed(const char *path) {
  cb_record_layout layout = sample_layout();
  cb_record *record;
  cb_status status = cb_record_create(path, &layout, &options, &record);
  for (uint64_t rows = 0; !status; rows += CYCLE) {
    cb_sink sink = cb_record_sink(record);
    status = sample_write(sink, rows, rows + CYCLE, CHECKPOINT_EVERY);
    if (!status) status = sink.close(sink.self, true);
    cb_record_free(record);
    sample_state state;
    cb_record_position at;
    sample_set_state(&state, 0);
    if (!status) status = cb_record_open_for_resume(path, &layout, &options, state.blobs, SAMPLE_BLOBS, &at, &record);
    if (!status && at.rows != rows + CYCLE) return 1;
  }
  fprintf(stderr, "writer: %s\n", cb_error_text());
  return 1;
}

static pid_t start(const char *path) {
  pid_t pid;
  char *arguments[] = {self, "--write", (char *)path, NULL};
  assert_int_equal(posix_spawn(&pid, self, NULL, NULL, arguments, environ), 0);
  return pid;
}

static bool was_killed(pid_t pid) {
  int status;
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void sleep_seconds(double seconds) {
  struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
}

static uint64_t rows_a_reader_sees(const char *path) {
  cb_reader *reader;
  if (cb_reader_open(path, &reader)) return 0; /* the record does not exist yet */
  uint64_t rows = cb_reader_position(reader).rows;
  cb_reader_close(reader);
  return rows;
}

static void continue_from_checkpoint(const char *path, cb_record_position had) {
  cb_record_layout layout = sample_layout();
  cb_record *record;
  cb_record_position at;
  sample_state state, expected;
  sample_set_state(&state, 0);
  cb_status status = cb_record_open_for_resume(path, &layout, &options, state.blobs, SAMPLE_BLOBS, &at, &record);
  if (had.rows < CHECKPOINT_EVERY + WAITING && status == CB_ERROR_INPUT)
    return; /* killed before the first checkpoint */
  check_ok(status);
  assert_int_equal(at.rows % CHECKPOINT_EVERY, 0);
  assert_true(at.rows <= had.rows);
  assert_true(at.rows + CHECKPOINT_EVERY + WAITING > had.rows);
  assert_int_equal(at.events, sample_events(at.rows));
  assert_int_equal(at.checkpoints, at.rows / CHECKPOINT_EVERY);
  sample_set_state(&expected, at.rows);
  assert_memory_equal(state.state, expected.state, sizeof state.state);
  assert_memory_equal(state.history, expected.history, sizeof state.history);
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, at.rows, at.rows + 3000, CHECKPOINT_EVERY));
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
  cb_record_position now = sample_check(path);
  assert_int_equal(now.rows, at.rows + 3000);
  assert_int_equal(now.events, sample_events(at.rows + 3000));
}

/* Repairs and resumes the record that a killed writer left. It must have at least `rows` rows. A copy of the record
 * as it was left is made at `other` and resumed; the repaired record is resumed only if this is requested. */
static cb_repair_report check_left(const char *path, const char *other, uint64_t rows, bool resume_repaired) {
  cb_repair_report report, again;
  sample_copy_record(path, other);
  check_ok(cb_record_repair(path, &report));
  cb_record_position had = sample_check(path);
  assert_int_equal(had.rows, report.rows);
  assert_true(had.rows >= rows);
  check_ok(cb_record_repair(path, &again));
  assert_true(again.was_closed);
  continue_from_checkpoint(other, had);
  if (resume_repaired) continue_from_checkpoint(path, had);
  return report;
}

static int count(const char *variable, int otherwise) {
  const char *text = getenv(variable);
  return text ? atoi(text) : otherwise;
}

static void a_killed_writer_leaves_nothing_or_a_complete_record(void **unused) {
  uint64_t seed = check_seed();
  int kills = count("CB_KILLS", 50), absent = 0, closed = 0;
  double longest = getenv("CB_KILL_SECONDS") ? atof(getenv("CB_KILL_SECONDS")) : .8;
  char *path = sample_path("run.h5"), *other = sample_path("resumed.h5");
  for (int kill_number = 0; kill_number < kills; kill_number++) {
    bool early = kill_number % 4 == 0;
    sample_remove_record(path);
    pid_t pid = start(path);
    sleep_seconds(check_uniform(&seed, 0, early ? .02 : longest));
    uint64_t seen = rows_a_reader_sees(path);
    kill(pid, SIGKILL);
    assert_true(was_killed(pid));
    if (!sample_exists(path)) {
      absent++;
      continue;
    }
    cb_repair_report report = check_left(path, other, seen, kill_number % 5 == 0);
    closed += report.was_closed;
  }
  print_message("%d kills: %d before the record had its name, %d while it was closed\n", kills, absent, closed);
  free(path);
  free(other);
}

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "--write")) return write_until_killed(argv[2]);
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_killed_writer_leaves_nothing_or_a_complete_record)};
  return cmocka_run_group_tests(tests, sample_make_folder, sample_remove_folder);
}
