/* labels: medium release
 * timeout: 900 A loss of power at any moment of writing, closing, resuming or repairing a record: what had been synced is
 * there, and no row is wrong. CB_POWER_CUTS: how many. */
#define SAMPLE_STATE 20000 /* checkpoints reach beyond the front of the file, which is copied at every sync */
#include "faults/disk.h"
#include "record_sample.h"

#include "io/record_rescue.h"

#include <time.h>

enum { ROWS = 3000, CHECKPOINT_EVERY = 300 };

/* Time passes faster, so that a sync at checkpoints is due at some of them, and not at those between. */
enum { FASTER = 50 };
static int (*system_clock)(clockid_t, struct timespec *);
static double real_start, speed = 1;

static double seconds(const struct timespec *t) { return (double)t->tv_sec + 1e-9 * (double)t->tv_nsec; }
static struct timespec timespec_of(double s) {
  return (struct timespec){(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
}

int clock_gettime(clockid_t clock, struct timespec *out) {
  if (!system_clock) system_clock = DISK_NEXT(clock_gettime);
  const int failed = system_clock(clock, out);
  if (clock != CLOCK_MONOTONIC || failed || speed == 1) return failed;
  *out = timespec_of(real_start + speed * (seconds(out) - real_start));
  return 0;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *end) {
  const struct timespec real = timespec_of(real_start + (seconds(end) - real_start) / speed);
  return DISK_NEXT(pthread_cond_timedwait)(condition, mutex, speed == 1 ? end : &real);
}

static void quicken(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  real_start = seconds(&t);
  speed = FASTER;
}

/* malloc'd */
static char *sample_join(const char *folder, const char *name) {
  char *path = malloc(strlen(folder) + strlen(name) + 2);
  assert_non_null(path);
  sprintf(path, "%s/%s", folder, name);
  return path;
}

static const char *disk_boot;
static char before[100], after[100], other[100];

/* The record in a folder; the text is good until the fourth call from here. */
static const char *in(const char *folder) {
  static char *path[4];
  static int next;
  char **p = &path[next++ % 4];
  free(*p);
  return *p = sample_join(folder, "run.h5");
}

/* Writes, pauses a little now and then so that partial batches are flushed, closes, goes on, closes. */
static void write_and_go_on(const cb_record_options *options) {
  cb_record_layout layout = sample_layout();
  cb_record *record;
  check_ok(cb_record_create(in(before), &layout, options, &record));
  for (uint64_t rows = 0, turn = 0; turn < 2; turn++) {
    cb_sink sink = cb_record_sink(record);
    for (const uint64_t end = rows + ROWS + 77; rows < end;) {
      const uint64_t next = rows + 111 < end ? rows + 111 : end;
      check_ok(sample_write(sink, rows, next, CHECKPOINT_EVERY));
      rows = next;
      nanosleep(&(struct timespec){0, 300000}, NULL);
    }
    check_ok(sink.close(sink.self, turn == 0));
    cb_record_free(record);
    if (turn) break;
    sample_state state;
    cb_record_position at;
    sample_set_state(&state, 0);
    check_ok(cb_record_open_for_resume(in(before), &layout, options, state.blobs, SAMPLE_BLOBS, &at, &record));
    rows = at.rows;
  }
}

static uint64_t number(const unsigned char *bytes) {
  uint64_t n = 0;
  for (int i = 8; i-- > 0;) n = n << 8 | bytes[i];
  return n;
}

/* What has been promised after so many changes: the last head that was written to the copy and synced, or the rows that
 * were there when a record had been closed. */
typedef struct promise {
  bool given;
  uint64_t rows, checkpoints;
} promise;
static promise already; /* before the first of them */

static promise promised(size_t changes) {
  promise now = already, next = {0};
  int file = -1;
  for (size_t i = 0; i < changes; i++) {
    const disk_change *c = &disk.change[i];
    if (c->kind == DISK_WRITE && c->size == 80 && !memcmp(c->bytes, "cbrescue", 8)) {
      file = c->file;
      next = (promise){true, number(c->bytes + 40), number(c->bytes + 56)};
    }
    if (c->kind == DISK_SYNC && c->file == file) now = next;
  }
  return now;
}

static void copy_record(const char *from, const char *to) {
  char command[400];
  snprintf(command, sizeof command, "rm -rf '%.99s' && cp -r '%.99s' '%.99s'", to, from, to);
  assert_int_equal(system(command), 0);
}

typedef struct tally {
  int cuts, absent, unpromised, whole, brought_back;
} tally;

static void fail_cut(size_t changes, power_loss how, const char *what, const promise *p) {
  fail_msg("cut after %zu of %zu changes (%d): promised %llu rows, %llu checkpoints; %s: %s", changes, disk.count, how,
           (unsigned long long)p->rows, (unsigned long long)p->checkpoints, what, cb_error_text());
}

static void repair_and_go_on(size_t changes, power_loss how, const promise *p, tally *t) {
  cb_repair_report report;
  copy_record(after, other);
  const cb_status status = cb_record_repair(in(after), &report);
  if (status && p->given) fail_cut(changes, how, "not repaired", p);
  if (status) return (void)t->unpromised++;
  const cb_record_position had = sample_check(in(after));
  assert_int_equal(had.rows, report.rows);
  if (had.rows < p->rows) fail_cut(changes, how, "rows are lost", p);
  t->whole++;

  cb_record_layout layout = sample_layout();
  cb_record *record;
  cb_record_position at;
  sample_state state, expected;
  sample_set_state(&state, 0);
  const cb_status resumed =
      cb_record_open_for_resume(in(other), &layout, NULL, state.blobs, SAMPLE_BLOBS, &at, &record);
  if (resumed && p->checkpoints) fail_cut(changes, how, "not resumed", p);
  if (resumed) return;
  if (at.checkpoints < p->checkpoints) fail_cut(changes, how, "a checkpoint is lost", p);
  sample_set_state(&expected, at.rows);
  assert_memory_equal(state.state, expected.state, sizeof state.state);
  cb_sink sink = cb_record_sink(record);
  check_ok(sample_write(sink, at.rows, at.rows + 500, CHECKPOINT_EVERY));
  check_ok(sink.close(sink.self, true));
  cb_record_free(record);
  assert_int_equal(sample_check(in(other)).rows, at.rows + 500);
}

static int cuts_asked(int otherwise) {
  const char *text = getenv("CB_POWER_CUTS");
  return text ? atoi(text) : otherwise;
}

static void cut_everywhere(const char *what, int cuts, uint64_t *seed) {
  tally t = {0};
  disk.boot = disk_boot;
  for (int i = 0; i < cuts; i++) {
    const size_t changes = (size_t)check_uniform(seed, fmax(1, (double)disk.first), (double)disk.count + 1);
    const power_loss how = (power_loss)(i % POWER_LOSSES);
    const promise p = promised(changes);
    disk_lose_power(changes, how, seed, after);
    t.cuts++;
    if (!sample_exists(in(after))) {
      if (p.given) fail_cut(changes, how, "no file", &p);
      t.absent++;
      continue;
    }
    repair_and_go_on(changes, how, &p, &t);
  }
  disk.boot = NULL;
  print_message(
      "%s: %zu changes, %d cuts: %d repaired and resumed, %d before the first sync, %d before the file had its name\n",
      what, disk.count, t.cuts, t.whole, t.unpromised, t.absent);
}

static int make_names(void **unused) {
  if (sample_make_folder(unused)) return -1;
  snprintf(before, sizeof before, "%s/before", sample_folder);
  snprintf(after, sizeof after, "%s/after", sample_folder);
  snprintf(other, sizeof other, "%s/other", sample_folder);
  static char boot[100];
  snprintf(boot, sizeof boot, "%s/boot", sample_folder);
  FILE *file = fopen(boot, "w");
  if (!file || fputs("another\n", file) < 0 || fclose(file)) return -1;
  disk_boot = boot;
  return 0;
}

static void written_and_cut(const char *what, const cb_record_options *options) {
  uint64_t seed = check_seed();
  disk_begin(before);
  quicken();
  write_and_go_on(options);
  speed = 1;
  disk_end();
  assert_int_equal(sample_check(in(before)).rows, 2 * (ROWS + 77) - 77);
  cut_everywhere(what, cuts_asked(100), &seed);
  disk_forget();
}

static void what_was_synced_at_a_checkpoint_is_there(void **unused) {
  (void)unused;
  written_and_cut("checkpoint", &(cb_record_options){.overwrite = true, .flush_interval = .05});
}

static void what_was_synced_at_a_flush_is_there(void **unused) {
  (void)unused;
  written_and_cut("flush", &(cb_record_options){.overwrite = true, .flush_interval = .05, .sync = CB_SYNC_FLUSH});
}

static void compressed_rows_are_there(void **unused) {
  (void)unused;
  written_and_cut("compressed", &(cb_record_options){.overwrite = true, .flush_interval = .05, .deflate = 4});
}

/* The writer is killed, and the power goes while its record is repaired or resumed. */
static void a_repair_or_a_resume_can_be_cut_off_too(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  char killed[8][120];
  enum { KILLS = 8 };
  disk_begin(before);
  quicken();
  write_and_go_on(&(cb_record_options){.overwrite = true, .flush_interval = .05});
  speed = 1;
  disk_end();
  for (int i = 0; i < KILLS; i++) {
    snprintf(killed[i], sizeof killed[i], "%.99s/killed%d", sample_folder, i);
    disk_lose_power((size_t)check_uniform(&seed, .3 * (double)disk.count, (double)disk.count), POWER_STAYS, &seed,
                    killed[i]);
  }
  disk_forget();
  for (int i = 0; i < KILLS; i++) {
    bool restarted;
    cb_record_position at = {0};
    check_ok(cb_rescue_there(in(killed[i]), &already.given, &at, &restarted));
    already.rows = at.rows, already.checkpoints = at.checkpoints;
    disk_begin_with(killed[i]);
    if (i % 2) {
      check_ok(cb_record_repair(in(killed[i]), NULL));
    } else {
      cb_record_layout layout = sample_layout();
      cb_record *record;
      sample_state state;
      sample_set_state(&state, 0);
      check_ok(cb_record_open_for_resume(in(killed[i]), &layout, NULL, state.blobs, SAMPLE_BLOBS, &at, &record));
      cb_sink sink = cb_record_sink(record);
      check_ok(sample_write(sink, at.rows, at.rows + 400, CHECKPOINT_EVERY));
      check_ok(sink.close(sink.self, true));
      cb_record_free(record);
    }
    disk_end();
    cut_everywhere(i % 2 ? "repair" : "resume", cuts_asked(100) / KILLS, &seed);
    disk_forget();
    already = (promise){0};
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_synced_at_a_checkpoint_is_there),
      cmocka_unit_test(what_was_synced_at_a_flush_is_there),
      cmocka_unit_test(compressed_rows_are_there),
      cmocka_unit_test(a_repair_or_a_resume_can_be_cut_off_too),
  };
  return cmocka_run_group_tests(tests, make_names, sample_remove_folder);
}
