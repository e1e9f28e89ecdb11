/* The check of a sweep, which opens every member once before any member runs, so that errors are found early; the
 * estimate of its cost, and its progress. */
#include "core/threads.h"
#include "numerics/random.h"
#include "sweep/sweep.h"
#include "core/failure.h"
#include "record/hdf5.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <errno.h>

enum { PIECE = 64, SAMPLE = 64, FIRST = 4 };
static const double longest = 60; /* the maximum time in seconds for opening all members */

typedef struct checking {
  cb_sweep *sweep;
  int64_t first, count, *some; /* some: [count], the members to open; NULL: all of first .. first + count - 1 */
  const volatile sig_atomic_t *stop;
  pthread_mutex_t mutex; /* guards the members below */
  int64_t next, bad;     /* the next index to check; the smallest index that has failed so far, INT64_MAX: none */
  cb_status status;
  char text[CB_FAILURE_CAPACITY];
  cb_failure known;
  int64_t rows;
  char **file; /* the names of the files that were read, each once */
  size_t files;
} checking;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int64_t member_of(const checking *c, int64_t i) { return c->some ? c->some[i] : c->first + i; }

static void add_files(checking *c, cb_files files) {
  for (size_t i = 0; i < files.count; i++) {
    bool known = false;
    for (size_t k = 0; k < c->files && !known; k++) known = !strcmp(c->file[k], files.path[i]);
    char **more = known ? NULL : realloc(c->file, (c->files + 1) * sizeof *more);
    if (!more) continue;
    c->file = more;
    if ((c->file[c->files] = strdup(files.path[i]))) c->files++;
  }
}

/* Returns CB_OK if the rows have the layout of the model's rows, or if no rows are kept and all reductions can be
 * computed from them. */
static cb_status check_rows(const cb_sweep *s, const cb_record_layout *rows) {
  cb_status status = cb_sweep_same_rows(s, rows);
  if (!status || s->plan->keep) return status;
  status = CB_OK;
  for (size_t k = 0; k < s->plan->collects && !status; k++) {
    cb_reduction *own;
    status = cb_reduction_parse(s->plan->collect[k].text, rows, &own);
    if (!status) cb_reduction_free(own);
  }
  return status;
}

static cb_status check_one(checking *c, int64_t m, int64_t *rows) {
  const cb_sweep *s = c->sweep;
  cb_arena *arena = cb_arena_create();
  cb_scenario *scenario = NULL;
  cb_record_layout layout;
  cb_status status = arena ? cb_sweep_open(s, m, arena, &scenario) : cb_fail(CB_ERROR_MEMORY, "no memory for a member");
  if (!status) status = cb_sweep_rows_of(s, scenario, arena, &layout);
  if (!status) status = check_rows(s, &layout);
  if (!status && !s->task->layout) *rows = cb_run_rows(cb_scenario_run(scenario));
  if (!status && cb_scenario_files(scenario).count) {
    pthread_mutex_lock(&c->mutex);
    add_files(c, cb_scenario_files(scenario));
    pthread_mutex_unlock(&c->mutex);
  }
  cb_scenario_free(scenario);
  cb_arena_free(arena);
  return status;
}

static void note(checking *c, int64_t i, cb_status status) {
  pthread_mutex_lock(&c->mutex);
  if (i < c->bad) {
    c->bad = i;
    c->status = status;
    c->known = cb_failure_last();
    c->known.file = NULL; /* its tree no longer exists */
    snprintf(c->text, sizeof c->text, "%s", cb_error_text());
  }
  pthread_mutex_unlock(&c->mutex);
}

static void *check_some(void *context) {
  checking *c = context;
  int64_t maximum = 1;
  for (;;) {
    pthread_mutex_lock(&c->mutex);
    const int64_t begin = c->next, bad = c->bad;
    c->next += PIECE;
    pthread_mutex_unlock(&c->mutex);
    if (begin >= c->count || begin > bad || (c->stop && *c->stop)) break;
    for (int64_t i = begin; i < begin + PIECE && i < c->count; i++) {
      int64_t rows = 1;
      const cb_status status = check_one(c, member_of(c, i), &rows);
      if (rows > maximum) maximum = rows;
      if (status) {
        note(c, i, status);
        break;
      }
    }
  }
  pthread_mutex_lock(&c->mutex);
  if (maximum > c->rows) c->rows = maximum;
  pthread_mutex_unlock(&c->mutex);
  return NULL;
}

static int by_number(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Selects the members to open: in a grid, for each value of each axis, the member with this value and the first value
 * of every other axis; the last member; and some random members. */
static cb_status choose(checking *c, int64_t end) {
  const cb_sweep_plan *plan = c->sweep->plan;
  size_t n = 0, capacity = SAMPLE + 1;
  for (size_t a = 0; a < plan->axes && plan->grid; a++) capacity += plan->axis[a].count;
  if (!(c->some = malloc(capacity * sizeof *c->some))) return cb_fail(CB_ERROR_MEMORY, "no memory for a sample");
  int64_t stride = 1;
  for (size_t a = plan->axes; plan->grid && a-- > 0;) {
    for (size_t i = 0; i < plan->axis[a].count; i++) c->some[n++] = (int64_t)i * stride;
    stride *= (int64_t)plan->axis[a].count;
  }
  uint64_t state = 1;
  for (int i = 0; i < SAMPLE; i++) c->some[n++] = c->first + (int64_t)(cb_uniform(&state) * (double)(end - c->first));
  c->some[n++] = end - 1;
  qsort(c->some, n, sizeof *c->some, by_number);
  c->count = (int64_t)n;
  return CB_OK;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static cb_status time_some(checking *c) {
  const double begin = now();
  int64_t n = c->count < FIRST ? c->count : FIRST, rows;
  cb_status status = CB_OK;
  for (int64_t i = 0; i < n && !status; i++) {
    status = check_one(c, member_of(c, i * c->count / n), &rows);
    if (status && i) {
      status = CB_OK;
      n = i;
    }
  }
  c->sweep->seconds_to_open = n ? (now() - begin) / (double)n : 0;
  if (status) note(c, 0, status);
  return CB_OK;
}

cb_status cb_sweep_check(cb_sweep *s, int64_t first, int64_t end, int threads, const volatile sig_atomic_t *stop) {
  if (s->task->all) end = first + 1; /* all members have the same scenario */
  checking *c = calloc(1, sizeof *c);
  pthread_t *thread = calloc((size_t)threads, sizeof *thread);
  if (!c || !thread) {
    free(c);
    free(thread);
    return cb_fail(CB_ERROR_MEMORY, "no memory to check a sweep");
  }
  *c = (checking){.sweep = s, .first = first, .count = end - first, .stop = stop, .bad = INT64_MAX, .rows = 1};
  pthread_mutex_init(&c->mutex, NULL);
  cb_status status = time_some(c);
  if (!status && c->status == CB_OK && s->seconds_to_open * (double)(end - first) / threads > longest)
    status = choose(c, end);
  int started = 0;
  while (!status && started < threads - 1 && !pthread_create(&thread[started], NULL, check_some, c)) started++;
  if (!status) check_some(c);
  for (int t = 0; t < started; t++) pthread_join(thread[t], NULL);
  if (!status && started < threads - 1) status = cb_fail(CB_ERROR_MEMORY, "cannot start %d threads", threads);
  if (!status && c->status) {
    cb_fail_lines(&c->known, c->status, c->text);
    status = cb_sweep_fail_member(s, member_of(c, c->bad), c->status);
  }
  if (!status && stop && *stop) status = cb_fail(CB_ERROR_INTERRUPTED, "interrupted before any member ran");
  if (c->rows > s->rows_max) s->rows_max = c->rows;
  if (c->files) qsort(c->file, c->files, sizeof *c->file, by_text);
  s->file = c->file;
  s->files = c->files;
  free(c->some);
  pthread_mutex_destroy(&c->mutex);
  free(c);
  free(thread);
  return status;
}

/* --- the cost of a sweep, and its progress --- */

static const double estimate_seconds = 2;

cb_status cb_sweep_estimate_of(cb_sweep *s, int threads, const volatile sig_atomic_t *stop, cb_sweep_estimate *out) {
  const int64_t members = s->plan->members, maximum = s->task->all ? 0 : members < SAMPLE ? members : SAMPLE;
  cb_runner *runner = NULL;
  cb_status status = cb_sweep_check(s, 0, members, threads, stop);
  if (!status) {
    cb_sweep_layout_rows(s);
    status = cb_runner_create(s, NULL, &runner);
  }
  *out = (cb_sweep_estimate){.members = members};
  const double begin = now();
  while (!status && out->sample < maximum && now() - begin < estimate_seconds) {
    int64_t m[SAMPLE];
    size_t failed = 0, n = 0; /* neighbouring members, which run together */
    const int64_t first = members / maximum * out->sample, width = (int64_t)cb_runner_width(runner);
    for (; (int64_t)n < width && first + (int64_t)n < members; n++) m[n] = first + (int64_t)n;
    status = cb_runner_go(runner, m, n, NULL, stop, &failed);
    out->sample += (int64_t)n;
    out->failed += (int64_t)failed;
  }
  const double width = runner ? (double)cb_runner_width(runner) : 1;
  cb_runner_free(runner);
  out->seconds_a_member = (now() - begin) / (double)(out->sample ? out->sample : 1);
  out->seconds = out->seconds_a_member * (double)members / threads;
  out->disk = (double)cb_store_bytes(&s->layout) * (double)members;
  out->memory = (double)threads * width * 8 * (double)s->row_units * (double)(s->plan->keep ? s->rows_max : 0);
  return status;
}

/* The part of the layout of a result that a scan of results needs. */
typedef struct shown {
  char digest[CB_SWEEP_SHA];
  cb_store_axis axis[CB_SWEEP_AXES];
  cb_store_layout layout;
} shown;

static bool find_axes(hid_t file, shown *s) {
  hsize_t dims[H5S_MAX_RANK];
  const hid_t set = cb_hdf5_find_dataset(file, "status"), space = set < 0 ? set : H5Dget_space(set);
  const int rank = space < 0 ? 0 : H5Sget_simple_extent_dims(space, dims, NULL);
  s->layout.members = rank > 0 && rank <= CB_SWEEP_AXES ? H5Sget_simple_extent_npoints(space) : 0;
  for (int a = 0; a < rank && s->layout.members; a++) s->axis[a] = (cb_store_axis){"", (size_t)dims[a]};
  s->layout.axes = s->axis;
  s->layout.n_axes = (size_t)rank;
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  return s->layout.members >= 1 && s->layout.members <= CB_SWEEP_MEMBERS;
}

static cb_status read_result(const cb_folder *folder, shown *s) {
  cb_status status = CB_OK;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  const hid_t file = cb_hdf5_open(folder->result, H5F_ACC_RDONLY);
  char *text = file >= 0 ? cb_hdf5_get_text_attribute(file, "sweep_digest") : NULL;
  if (file < 0)
    status = cb_hdf5_fail(folder->result, "read");
  else if (!text && errno == ENOMEM)
    status = cb_fail(CB_ERROR_MEMORY, "no memory to read %s", folder->result);
  else if (!text || strlen(text) >= CB_SWEEP_SHA || !find_axes(file, s))
    status = cb_fail_placed(CB_ERROR_INPUT, "%s: error: expected the result of a sweep", folder->result);
  else
    strcpy(s->digest, text);
  s->layout.digest = s->digest;
  free(text);
  if (file >= 0) cb_hdf5_close_read(file, folder->result);
  status = cb_hdf5_unread(folder->result, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}

cb_status cb_sweep_status_of(const cb_folder *folder, cb_sweep_status *out) {
  shown *s = calloc(1, sizeof *s);
  *out = (cb_sweep_status){.runs = cb_segments_state(&folder->segments) == CB_FOLDER_HELD};
  if (!s) return cb_fail(CB_ERROR_MEMORY, "no memory for a sweep");
  cb_status status = read_result(folder, s);
  if (!status) status = cb_results_scan_read(&folder->segments, &s->layout, false, &out->scan);
  if (!status) status = cb_results_scan_add_result(&out->scan, folder->result);
  size_t n = 0;
  for (int64_t m = 0; m < s->layout.members && !status; m++) {
    out->count[out->scan.status[m]]++;
    if (out->scan.status[m] != CB_MEMBER_FAILED || n == sizeof out->failed / sizeof *out->failed) continue;
    out->failed[n] = m;
    out->text[n++] = cb_results_scan_failure(&out->scan, m);
  }
  free(s);
  return status;
}

void cb_sweep_status_free(cb_sweep_status *status) {
  for (size_t i = 0; i < sizeof status->text / sizeof *status->text; i++) free(status->text[i]);
  cb_results_scan_free(&status->scan);
}
