/* Measures the cost of recording a rod with a row at every step, and a network of 10^6 particles.
 *
 * Times are from the first step of a run to its last; the record is opened before and closed after. A record writes in
 * a separate thread, so the relevant number is the CPU time of the stepping thread. The program also prints the
 * wall-clock time until the last row is passed on, and until the file is closed. Files are in TMPDIR, or /dev/shm, or
 * /tmp, and are removed. Files that are synced are in TMPDIR or /var/tmp, which should be on a disk.
 *
 * There are three main targets. The first is microseconds per row of the rod, including the step. The second is the
 * rate of writing rows of 10^6 particles to the disk as segments, divided by the rate of writing the same number of raw
 * bytes to separate files with the same syncs. The third is the rate of joining segments, divided by that of copying
 * the resulting file. */
#include "bench.h"
#include "scenarios.h"
#include <curvebody/record.h>
#include <curvebody/scenario.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Discards rows, so that only the step and the observables are timed. */
static cb_status no_row(void *self, const void *const *data) {
  (void)self;
  (void)data;
  return CB_OK;
}
static cb_status no_event(void *self, const cb_event_row *event) {
  (void)self;
  (void)event;
  return CB_OK;
}
static cb_status no_checkpoint(void *self, const cb_blob *state, size_t n_state) {
  (void)self;
  (void)state;
  (void)n_state;
  return CB_OK;
}
static cb_status no_close(void *self, bool completed) {
  (void)self;
  (void)completed;
  return CB_OK;
}

static double alone(const char *text, const char *const *sets, size_t n_sets) {
  cb_scenario *scenario = NULL;
  cb_sink sink = {NULL, no_row, no_event, no_checkpoint, no_close};
  check_ok(cb_scenario_open_text("bench", text, sets, n_sets, &scenario));
  const double cpu = bench_clock(CLOCK_THREAD_CPUTIME_ID);
  check_ok(cb_run_go(cb_scenario_run(scenario), &sink, NULL, NULL, NULL));
  const double took = bench_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
  cb_scenario_free(scenario);
  return took;
}

typedef struct recording {
  double cpu, wall, closed; /* seconds per run: CPU time, wall-clock time to the last row, and to the closed file */
  double bytes;
  size_t rows;
} recording;

static const char *place(void) {
  const char *chosen = getenv("TMPDIR");
  return chosen ? chosen : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

/* Records a run of the scenario to `path` and returns its times. If `most` is not 0, a record with more than `most`
 * bytes remains in segments. */
static recording record_at(const char *path, const char *text, const char *const *sets, size_t n_sets, double most) {
  cb_scenario *scenario = NULL;
  cb_record *file = NULL;
  recording r = {0};
  check_ok(cb_scenario_open_text("bench", text, sets, n_sets, &scenario));
  cb_record_options how = cb_scenario_record(scenario);
  how.overwrite = how.discard = true;
  how.join_bytes = most;
  check_ok(cb_record_create(path, cb_scenario_layout(scenario), &how, &file));
  cb_sink sink = cb_record_sink(file);
  const double cpu = bench_clock(CLOCK_THREAD_CPUTIME_ID), wall = bench_clock(CLOCK_MONOTONIC);
  check_ok(cb_run_go(cb_scenario_run(scenario), &sink, NULL, NULL, NULL));
  r.cpu = bench_clock(CLOCK_THREAD_CPUTIME_ID) - cpu;
  r.wall = bench_clock(CLOCK_MONOTONIC) - wall;
  check_ok(sink.close(sink.self, true));
  r.closed = bench_clock(CLOCK_MONOTONIC) - wall;
  cb_record_free(file);
  r.rows = (size_t)cb_run_current(cb_scenario_run(scenario))->step + 1;
  cb_scenario_free(scenario);
  return r;
}

static double bytes_of(const char *path) {
  struct stat info;
  if (stat(path, &info)) fail_msg("no file %s", path);
  return (double)info.st_size;
}

static recording record(const char *folder, const char *text, const char *const *sets, size_t n_sets) {
  char path[512];
  snprintf(path, sizeof path, "%s/curvebody-bench-%d.h5", folder, (int)getpid());
  recording r = record_at(path, text, sets, n_sets, 0);
  r.bytes = bytes_of(path);
  unlink(path);
  return r;
}

static recording least(recording a, recording b) {
  return (recording){fmin(a.cpu, b.cpu), fmin(a.wall, b.wall), fmin(a.closed, b.closed), b.bytes, b.rows};
}

static void rod(bench *b) {
  static const struct {
    const char *name, *text, *compress;
  } cases[] = {{"rod, H3", SCENARIO_ROD_H3 SCENARIO_LOBATTO, "record.compress=0"},
               {"rod, S3", SCENARIO_ROD_S3 SCENARIO_LOBATTO, "record.compress=0"},
               {"rod, H3, compress: 4", SCENARIO_ROD_H3 SCENARIO_LOBATTO, "record.compress=4"},
               {"rod, S3, compress: 4", SCENARIO_ROD_S3 SCENARIO_LOBATTO, "record.compress=4"},
               {"triangle, H3", SCENARIO_TRIANGLE_H3 SCENARIO_LOBATTO, "record.compress=0"}};
  enum { CASES = sizeof cases / sizeof *cases };
  recording best[CASES];
  double step[CASES];
  for (int turn = 0; turn < bench_turns(b, 7); turn++)
    for (int i = 0; i < CASES; i++) {
      const char *sets[] = {b->quick ? "time.end=2" : "time.end=200", cases[i].compress};
      const double took = alone(cases[i].text, sets, 2);
      const recording r = record(place(), cases[i].text, sets, 2);
      best[i] = turn ? least(best[i], r) : r;
      step[i] = turn ? fmin(step[i], took) : took;
    }
  printf("  %-24s %9s %14s %14s %14s %14s %12s\n", "", "rows", "us, no record", "us CPU a row", "us wall a row",
         "us till closed", "bytes a row");
  for (int i = 0; i < CASES; i++) {
    const double rows = (double)best[i].rows, us = 1e6 / rows;
    printf("  %-24s %9zu %14.2f %14.2f %14.2f %14.2f %12.0f\n", cases[i].name, best[i].rows, us * step[i],
           us * best[i].cpu, us * best[i].wall, us * best[i].closed, best[i].bytes / rows);
  }
  for (int i = 0; i < CASES - 1; i++) {
    char what[128];
    snprintf(what, sizeof what, "%s: a row every step, default observables, stepping thread", cases[i].name);
    bench_judge(b, what, 1e6 * best[i].cpu / (double)best[i].rows, "<=", 2, "us a row, step included");
  }
}

#define NETWORK                                                                                                  \
  "curvebody: 1\nspace: s3\nbodies:\n  - kind: network\n    lattice: {size: [10, 10, 10], spacing: 0.004}\n    " \
  "stiffness: 1\n"                                                                                               \
  "    motion: {killing: rotation_wx, speed: 1}\n" SCENARIO_LOBATTO

static void network(bench *b) {
  const char *sets[] = {b->quick ? "bodies.0.lattice.size=[10, 10, 10]" : "bodies.0.lattice.size=[100, 100, 100]",
                        "time.end=0.03"};
  const double begin = bench_clock(CLOCK_MONOTONIC);
  const recording r = record(place(), NETWORK, sets, 2);
  const double all = bench_clock(CLOCK_MONOTONIC) - begin;
  printf(
      "\nnetwork: a lattice in S3, every step, default observables\n  %zu rows, %.3g s a row of the stepping thread "
      "(step included), "
      "%.3g s till closed, %.3g GB, %.3g s with building\n",
      r.rows, r.cpu / (double)r.rows, r.closed, 1e-9 * r.bytes, all);
  bench_judge(b, "network of 10^6 particles: rows recorded", (double)r.rows, ">=", 4, "rows");
}

/* ---- Rows of 10^6 particles are written to a disk: the first row of a run is passed on repeatedly. */

typedef struct feeding {
  cb_sink to;
  const cb_record_layout *layout;
  const char *folder, *raw; /* folder: for the record; raw: for files of raw bytes, or NULL if rows go to the record */
  int rows;
  double warm;                /* bytes that `warm` writes and removes before the measurement */
  double seconds, cpu, bytes; /* totals over all rows, from the first row that is passed on until all are on the disk */
} feeding;

static size_t row_bytes(const cb_record_layout *layout, const cb_field *field) {
  size_t bytes = field->type == CB_FIELD_INT32 ? 4 : 8;
  for (int d = 0; d < field->rank; d++)
    for (size_t i = 0; i < layout->n_dimensions; i++)
      if (!strcmp(layout->dimensions[i].name, field->dims[d])) bytes *= layout->dimensions[i].count;
  return bytes;
}

/* Writes the raw bytes of a row to a file and returns their number. There is one file per row because in a record each
 * of these rows is a segment. */
static double write_raw(const feeding *f, const void *const *data, int row) {
  char part[512], path[512];
  double bytes = 0;
  snprintf(part, sizeof part, "%s/%d.part", f->raw, row);
  snprintf(path, sizeof path, "%s/%d", f->raw, row);
  const int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  for (size_t n = 0; n < f->layout->n_fields; n++) {
    const size_t size = row_bytes(f->layout, &f->layout->fields[n]);
    for (size_t done = 0; done < size;) {
      const ssize_t put = write(fd, (const char *)data[n] + done, size - done);
      if (put <= 0) fail_msg("cannot write %s", part);
      done += (size_t)put;
    }
    bytes += (double)size;
  }
  if (fsync(fd) || close(fd) || rename(part, path)) fail_msg("cannot write %s", path);
  const int folder = open(f->raw, O_RDONLY | O_DIRECTORY);
  fsync(folder);
  close(folder);
  return bytes;
}

/* Writes and removes `bytes` bytes, so that the kernel has pages for the files to come. A virtual machine may return
 * free pages to its host; the first use of each page then costs more than the operation to be measured. */
static void warm(const char *folder, double bytes) {
  static char block[1 << 20];
  char path[400];
  snprintf(path, sizeof path, "%s/curvebody-bench-%d.warm", folder, (int)getpid());
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  for (double done = 0; done < bytes; done += sizeof block)
    if (write(fd, block, sizeof block) < 0) fail_msg("cannot write %s", path);
  close(fd);
  unlink(path);
}

static cb_status feed_row(void *self, const void *const *data) {
  feeding *f = self;
  if (f->seconds > 0) return CB_OK;
  warm(f->folder, f->warm);
  const double begin = bench_clock(CLOCK_MONOTONIC), cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
  for (int row = 0; row < f->rows; row++) {
    f->bytes += f->raw ? write_raw(f, data, row) : 0;
    if (!f->raw) check_ok(f->to.row(f->to.self, data));
  }
  if (!f->raw) check_ok(f->to.close(f->to.self, true));
  f->seconds = bench_clock(CLOCK_MONOTONIC) - begin;
  f->cpu = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  return CB_OK;
}

static cb_status feed_checkpoint(void *self, const cb_blob *state, size_t n_state) {
  feeding *f = self;
  return f->raw || f->seconds > 0 ? CB_OK : f->to.checkpoint(f->to.self, state, n_state);
}

static void feed(const char *folder, bool raw, const char *const *sets, size_t n_sets, feeding *f) {
  char path[400], command[1000];
  cb_scenario *scenario = NULL;
  cb_record *file = NULL;
  cb_sink sink = {f, feed_row, no_event, feed_checkpoint, no_close};
  snprintf(path, sizeof path, "%s/curvebody-bench-%d.h5", folder, (int)getpid());
  check_ok(cb_scenario_open_text("bench", NETWORK, sets, n_sets, &scenario));
  f->layout = cb_scenario_layout(scenario);
  f->folder = folder;
  f->raw = raw ? path : NULL;
  if (raw) {
    mkdir(path, 0777);
  } else {
    check_ok(cb_record_create(path, f->layout,
                              &(cb_record_options){.overwrite = true, .discard = true, .join_bytes = 1}, &file));
    f->to = cb_record_sink(file);
  }
  check_ok(cb_run_go(cb_scenario_run(scenario), &sink, NULL, NULL, NULL));
  cb_record_free(file);
  cb_scenario_free(scenario);
  snprintf(command, sizeof command, "rm -rf %s %s.parts", path, path);
  if (system(command)) fail_msg("cannot remove %s", path);
}

static void rate(bench *b) {
  const char *sets[] = {b->quick ? "bodies.0.lattice.size=[10, 10, 10]" : "bodies.0.lattice.size=[100, 100, 100]",
                        "time.end=0.01"};
  const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/var/tmp";
  feeding best[2] = {{.seconds = INFINITY, .cpu = INFINITY}, {.seconds = INFINITY, .cpu = INFINITY}};
  for (int turn = 0; turn < bench_turns(b, 3); turn++)
    for (int raw = 0; raw < 2; raw++) {
      feeding f = {.rows = 12, .warm = b->quick ? 0 : 2e9};
      feed(folder, raw, sets, 2, &f);
      best[raw].seconds = fmin(best[raw].seconds, f.seconds);
      best[raw].cpu = fmin(best[raw].cpu, f.cpu);
      best[raw].bytes = f.bytes;
    }
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const double bytes = best[1].bytes;
  printf(
      "\nrows of 10^6 particles, %.3g GB, on %s\n  as segments %.3g s (%.3g s CPU), raw %.3g s (%.3g s CPU); most "
      "memory of "
      "this program %.3g GB\n",
      1e-9 * bytes, folder, best[0].seconds, best[0].cpu, best[1].seconds, best[1].cpu, 1e-6 * (double)usage.ru_maxrss);
  bench_judge(b, "10^6 particles: rate as segments by that of raw bytes", best[1].seconds / best[0].seconds, ">=", .8,
              "times");
}

/* ---- Joining segments to one file is compared with copying that file. Both read from the system's memory and sync. */

static double copy_file(const char *from, const char *to) {
  static char block[1 << 20];
  const double begin = bench_clock(CLOCK_MONOTONIC);
  const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  for (ssize_t n; (n = read(in, block, sizeof block)) > 0;)
    if (write(out, block, (size_t)n) != n) fail_msg("cannot write %s", to);
  if (in < 0 || fsync(out) || close(out)) fail_msg("cannot copy %s", from);
  close(in);
  return bench_clock(CLOCK_MONOTONIC) - begin;
}

static double join(bench *b, const char *name, const char *text, const char *const *sets, size_t n_sets) {
  const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/var/tmp";
  char path[400], copy[420];
  double joined = INFINITY, cpu = INFINITY, copied = INFINITY, bytes = 0;
  snprintf(path, sizeof path, "%s/curvebody-bench-%d.h5", folder, (int)getpid());
  snprintf(copy, sizeof copy, "%s.copy", path);
  for (int turn = 0; turn < bench_turns(b, 3); turn++) {
    record_at(path, text, sets, n_sets, 1);
    warm(folder, b->quick ? 0 : 1e9);
    const double begin = bench_clock(CLOCK_MONOTONIC), process = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    check_ok(cb_record_repair(path, NULL));
    joined = fmin(joined, bench_clock(CLOCK_MONOTONIC) - begin);
    cpu = fmin(cpu, bench_clock(CLOCK_PROCESS_CPUTIME_ID) - process);
    warm(folder, b->quick ? 0 : 1e9);
    copied = fmin(copied, copy_file(path, copy));
    bytes = bytes_of(path);
    unlink(copy);
    unlink(path);
  }
  printf("  %-24s %14.3f %14.3f %14.3f %14.3f\n", name, 1e-9 * bytes, joined, cpu, copied);
  return copied / joined;
}

static void joins(bench *b) {
  const char *end = b->quick ? "time.end=2" : "time.end=10000", *plain[] = {end, "record.compress=0"},
             *compressed[] = {end, "record.compress=4"};
  printf("\njoining\n  %-24s %14s %14s %14s %14s\n", "", "GB", "s wall", "s CPU", "s of a copy");
  const double rate = join(b, "rod, H3", SCENARIO_ROD_H3 SCENARIO_LOBATTO, plain, 2);
  join(b, "rod, H3, compress: 4", SCENARIO_ROD_H3 SCENARIO_LOBATTO, compressed, 2);
  bench_judge(b, "rod, H3: rate of joining by that of copying", rate, ">=", .5, "times");
}

/* Alternates the cases, so that other activity of the disk affects all of them equally. The run is long enough for
 * several syncs. */
static void syncs(bench *b) {
  static const char *const sync[] = {"record.sync=never", "record.sync=checkpoint", "record.sync=every flush"};
  const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/var/tmp";
  recording best[3];
  for (int turn = 0; turn < bench_turns(b, 3); turn++)
    for (int i = 0; i < 3; i++) {
      const char *sets[] = {b->quick ? "time.end=2" : "time.end=10000", "record.every=5", sync[i]};
      const recording r = record(folder, SCENARIO_ROD_H3 SCENARIO_LOBATTO, sets, 3);
      best[i] = turn ? least(best[i], r) : r;
    }
  printf("\nrod, H3, a row every fifth step, on %s\n  %-24s %14s %14s %14s\n", folder, "", "s CPU", "s wall",
         "s till closed");
  for (int i = 0; i < 3; i++)
    printf("  %-24s %14.3f %14.3f %14.3f\n", sync[i], best[i].cpu, best[i].wall, best[i].closed);
  bench_judge(b, "sync: checkpoint by never, stepping thread", best[1].cpu / best[0].cpu, "<=", 1.03, "times");
  bench_judge(b, "sync: checkpoint by never, until the last row", best[1].wall / best[0].wall, "<=", 1.03, "times");
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "record: microseconds a row, lobatto with 4 stages, h = 0.01");
  printf("  files in %s\n", place());
  rod(&b);
  network(&b);
  rate(&b);
  joins(&b);
  syncs(&b);
  return b.missed > 0;
}
