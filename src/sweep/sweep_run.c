/* Runs a sweep in a folder: its threads, the coordinator, and the result at the end (sweep/sweep.h). */
#include "sweep/sweep.h"
#include "sweep/scheduler.h"
#include "core/failure.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The members member .. member + n - 1, which have the indices at, at + 1, .. in the list. */
typedef struct span {
  int64_t member, n, at;
} span;

/* The members that are to be run, indexed from 0: all members of this shard, or of the sweep, that have not ended. */
typedef struct to_do_list {
  span *span;
  size_t spans;
  int64_t count;
} to_do_list;
static cb_status find_to_do(const uint8_t *ended, int64_t first, int64_t end, to_do_list *t) {
  size_t capacity = 0;
  *t = (to_do_list){0};
  for (int64_t m = first; m < end;) {
    if (ended[m]) {
      m++;
      continue;
    }
    int64_t to = m;
    while (to < end && !ended[to]) to++;
    if (t->spans == capacity) {
      capacity = capacity ? 2 * capacity : 64;
      span *more = realloc(t->span, capacity * sizeof *more);
      if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for a sweep");
      t->span = more;
    }
    t->span[t->spans++] = (span){m, to - m, t->count};
    t->count += to - m;
    m = to;
  }
  return CB_OK;
}

static int64_t member_to_do(const to_do_list *t, int64_t at, int64_t *row) {
  size_t low = 0, high = t->spans;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (t->span[middle].at <= at)
      low = middle;
    else
      high = middle;
  }
  *row = t->span[low].n - (at - t->span[low].at);
  return t->span[low].member + (at - t->span[low].at);
}

static void members_of_shard(int64_t members, int shard, int shards, int64_t *first, int64_t *end) {
  *first = 0;
  *end = members;
  if (!shards) return;
  *first = members / shards * (shard - 1) + members % shards * (shard - 1) / shards;
  *end = members / shards * shard + members % shards * shard / shards;
}

static const double between_saves = 1, between_reports = 0.5, between_results = 1;
enum { RESULT_SHARE = 20, MEMBERS_MAX = 64 };

typedef struct sweep_run {
  cb_sweep *sweep;
  const cb_sweep_options *options;
  cb_folder folder;
  cb_member_checkpoint checkpoint;
  cb_store *store;
  bool begun; /* whether results may have been stored */
  to_do_list to_do;
  cb_scheduler *scheduler;
  pthread_mutex_t mutex; /* guards the members below */
  cb_status status;
  cb_failure known;
  char text[CB_FAILURE_CAPACITY];
  volatile sig_atomic_t stop;
} sweep_run;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Stores a failure of a thread. The first one is the failure of the sweep. */
static void fail(sweep_run *c, cb_status status) {
  pthread_mutex_lock(&c->mutex);
  if (!c->status) {
    c->status = status;
    c->known = cb_failure_last();
    c->known.file = NULL;
    snprintf(c->text, sizeof c->text, "%s", cb_error_text());
  }
  pthread_mutex_unlock(&c->mutex);
}

/* --- threads --- */

static cb_status do_some(sweep_run *c, cb_runner *runner, int64_t first, int64_t n) {
  int64_t member[MEMBERS_MAX], row;
  size_t failed = 0;
  for (int64_t i = 0; i < n; i++) member[i] = member_to_do(&c->to_do, first + i, &row);
  const cb_status status = cb_runner_go(runner, member, (size_t)n, c->store, &c->stop, &failed);
  if (!status) cb_scheduler_done(c->scheduler, n, (int64_t)failed);
  return status;
}

/* Saves the results of this process before a thread reports that it has left: the result is joined when all threads of
 * all ranks have left. */
static void leave(sweep_run *c) {
  const cb_status status = cb_store_save(c->store);
  if (status) fail(c, status);
  cb_scheduler_leave(c->scheduler);
}

static void *take_part(void *context) {
  sweep_run *c = context;
  cb_runner *runner = NULL;
  cb_status status = cb_runner_create(c->sweep, &c->checkpoint, &runner);
  int64_t first, n = 1;
  if (!status && c->sweep->task->all) {
    status = c->sweep->task->all(c->sweep, runner, c->store, &c->stop);
    n = 0;
    if (!status) cb_scheduler_done(c->scheduler, c->to_do.count, 0);
  }
  while (!status && n && (n = cb_scheduler_next(c->scheduler, MEMBERS_MAX, &first)) > 0)
    status = do_some(c, runner, first, n);
  if (status) {
    if (status != CB_ERROR_INTERRUPTED) fail(c, status);
    c->stop = 1;
    cb_scheduler_stop(c->scheduler);
  }
  cb_runner_free(runner);
  leave(c);
  return NULL;
}

/* --- the coordinator --- */

static void find_warned(const cb_results_scan *scan, cb_sweep_progress *p) {
  p->warned = 0;
  for (int64_t m = scan->members; m-- > 0;)
    if (scan->warned[m]) {
      p->warned++;
      p->first_warned = m;
    }
  char *text = p->warned ? cb_results_scan_warning(scan, p->first_warned) : NULL;
  if (text) memcpy(p->warning, text, CB_STORE_TEXT);
  free(text);
}

/* Writes the result from the existing segments. */
static cb_status show(const sweep_run *c) {
  cb_results_scan scan;
  bool joined;
  cb_status status = cb_results_scan_read(&c->folder.segments, &c->sweep->layout, false, &scan);
  if (status) return status;
  status = cb_result_write(&c->folder.segments, &scan, false, &joined);
  cb_results_scan_free(&scan);
  return status;
}

static void report(const sweep_run *c, const cb_sweep_progress *before, double begin, cb_sweep_progress *p) {
  int64_t done, failed;
  cb_scheduler_progress(c->scheduler, &done, &failed);
  *p = *before;
  p->done += done;
  p->failed += failed;
  p->seconds = now() - begin;
  if (c->options->progress) c->options->progress(c->options->user, p);
}

static void serve(sweep_run *c, const cb_sweep_progress *before, cb_sweep_progress *p) {
  const double begin = now();
  double saved = begin, reported = begin, shown = begin, wait = between_results;
  for (bool over = false; !over;) {
    cb_status status = cb_scheduler_serve(c->scheduler, &over);
    const double time = now();
    if (!status && time - saved > between_saves) {
      status = cb_store_save(c->store);
      saved = now();
    }
    if (c->options->ranks->rank == 0 && time - reported > between_reports) {
      report(c, before, begin, p);
      reported = time;
    }
    if (!status && c->options->ranks->rank == 0 && now() - shown > wait) {
      const double start = now();
      status = show(c);
      shown = now();
      wait = fmax(between_results, RESULT_SHARE * (shown - start));
    }
    if (status) fail(c, status);
    if (status || (c->options->stop && *c->options->stop)) cb_scheduler_stop(c->scheduler);
    if (cb_scheduler_stopped(c->scheduler)) c->stop = 1;
  }
  report(c, before, begin, p);
}

static cb_status work(sweep_run *c, const cb_sweep_progress *before, cb_sweep_progress *p) {
  const int threads = c->options->threads;
  pthread_t *thread = calloc((size_t)threads, sizeof *thread);
  cb_status status = thread ? cb_scheduler_create(c->options->ranks, c->to_do.count, threads, &c->scheduler)
                            : cb_fail(CB_ERROR_MEMORY, "no memory for threads");
  if (status) {
    free(thread);
    return status;
  }
  int started = 0;
  while (started < threads && !pthread_create(&thread[started], NULL, take_part, c)) started++;
  if (started < threads) {
    fail(c, cb_fail(CB_ERROR_MEMORY, "cannot start %d threads", threads));
    c->stop = 1;
    cb_scheduler_stop(c->scheduler);
    for (int t = started; t < threads; t++) leave(c);
  }
  serve(c, before, p);
  for (int t = 0; t < started; t++) pthread_join(thread[t], NULL);
  cb_scheduler_free(c->scheduler);
  free(thread);
  if (c->status) cb_fail_lines(&c->known, c->status, c->text);
  return c->status;
}

/* --- begin and end --- */

/* The message of rank 0 to the other ranks before they begin. */
typedef struct known {
  int64_t rows_max, bad;
  char digest[CB_SWEEP_SHA];
} known;

/* Scans the segments, and then the result. */
static cb_status scan_all(const sweep_run *c, bool whole, cb_results_scan *out) {
  bool there;
  cb_status status = cb_results_scan_read(&c->folder.segments, &c->sweep->layout, whole, out);
  if (status) return status;
  status = cb_folder_has_result(&c->folder, &there);
  if (!status && there) status = cb_results_scan_add_result(out, c->folder.result);
  if (status) cb_results_scan_free(out);
  return status;
}

/* Copies the results of members that exist only in the result file to new segments of this process. */
static cb_status import(const sweep_run *c, const cb_results_scan *scan) {
  cb_store *store;
  cb_status status = cb_store_open(&c->folder.segments, &c->sweep->layout, c->options->shard, NULL, &store);
  if (status) return status;
  status = cb_results_scan_import(scan, store);
  cb_store_free(store);
  return status;
}

/* Sets ended[m] to 1 for every ended member m of the complete sweep, and counts these members in *p. With
 * `retry_failed`, failed members have not ended. If the sweep is not complete, results that exist only in the result
 * file are copied to segments. */
static cb_status find_ended(const sweep_run *c, uint8_t *ended, cb_sweep_progress *p) {
  cb_results_scan scan;
  cb_status status = scan_all(c, true, &scan);
  if (status) return status;
  for (int64_t m = 0; m < scan.members; m++) {
    const bool failed = scan.status[m] == CB_MEMBER_FAILED && !c->options->retry_failed;
    ended[m] = scan.status[m] == CB_MEMBER_DONE || failed;
    p->done += scan.status[m] == CB_MEMBER_DONE;
    p->failed += failed;
  }
  p->before = p->done + p->failed;
  if (p->before < p->members) status = import(c, &scan);
  cb_results_scan_free(&scan);
  return status;
}

static cb_status begin(sweep_run *c, uint8_t *ended, cb_sweep_progress *p) {
  const cb_ranks *ranks = c->options->ranks;
  cb_status status = CB_OK;
  known k = {0};
  if (ranks->rank == 0) {
    status = cb_folder_open(&c->folder, c->sweep, c->options->shard, c->options->threads, c->options->stop);
    if (!status) status = find_ended(c, ended, p);
    k.rows_max = c->sweep->rows_max;
    memcpy(k.digest, c->sweep->digest, sizeof k.digest);
    k.bad = status;
  }
  ranks->broadcast(ranks->self, &k, sizeof k);
  if (k.bad) return ranks->rank ? cb_fail(CB_ERROR_INTERRUPTED, "rank 0 could not start: see its message") : status;
  ranks->broadcast(ranks->self, ended, (size_t)c->sweep->plan->members);
  if (ranks->rank) {
    c->sweep->rows_max = k.rows_max;
    memcpy(c->sweep->digest, k.digest, sizeof k.digest);
    cb_sweep_layout_rows(c->sweep);
  }
  return CB_OK;
}

/* Runs the members of this process, if there are any. */
static cb_status do_members(sweep_run *c, cb_sweep_progress *p) {
  const cb_ranks *ranks = c->options->ranks;
  const cb_sweep_progress before = *p;
  const int worker = c->options->shard ? c->options->shard : ranks->rank;
  cb_status status = ranks->rank ? cb_segments_take_part(&c->folder.segments, CB_FOLDER_PARTS + ranks->rank) : CB_OK;
  c->checkpoint = (cb_member_checkpoint){c->folder.segments.path, c->sweep->digest};
  if (!status) status = cb_store_open(&c->folder.segments, &c->sweep->layout, worker, &c->checkpoint, &c->store);
  if (!status && ranks->rank == 0)
    status = cb_folder_check_disk(&c->folder, (double)cb_store_result_bytes(&c->sweep->layout) * (double)p->members);
  if (!status && ranks->rank == 0) status = show(c);
  c->begun = !status;
  return status ? status : work(c, &before, p);
}

/* Writes the result at the end: one plain file if the complete sweep is done and no other process is running it;
 * *complete is then set. */
static cb_status finish(sweep_run *c, cb_sweep_progress *p, bool *complete) {
  cb_results_scan scan;
  cb_status status = CB_OK;
  if (c->options->shard) {
    if (p->before < p->members) status = show(c); /* if all members had ended before, the result may be a plain file */
    if (status || !cb_segments_take_rest(&c->folder.segments)) return status;
  }
  if ((status = scan_all(c, false, &scan))) return status;
  bool all = true, imported = true;
  for (int64_t m = 0; m < scan.members; m++) {
    all = all && scan.status[m] != CB_MEMBER_MISSING;
    imported = imported && (scan.source[m] < 0 || scan.sources[scan.source[m]].number);
  }
  find_warned(&scan, p);
  if (imported)
    status = cb_result_write(&c->folder.segments, &scan, true, complete);
  else
    *complete = all; /* the result is already a plain file */
  p->unjoined = all && !*complete;
  cb_results_scan_free(&scan);
  return status;
}

static cb_status go(sweep_run *c, uint8_t *ended, cb_sweep_progress *p, bool *complete) {
  const cb_sweep_options *o = c->options;
  int64_t first, end;
  cb_status status = begin(c, ended, p);
  if (!status && o->joins && p->before < p->members)
    status = cb_fail(CB_ERROR_FILE,
                     "%s: %lld of %lld members have not ended: run the same `curvebody sweep`, which continues them",
                     c->folder.result, (long long)(p->members - p->before), (long long)p->members);
  if (status) return status;
  members_of_shard(c->sweep->plan->members, o->shard, o->shards, &first, &end);
  status = find_to_do(ended, first, end, &c->to_do);
  if (!status && c->to_do.count) status = do_members(c, p);
  if (o->ranks->rank == 0 && (!status || c->begun)) {
    const cb_failure failure = cb_failure_last();
    char text[CB_FAILURE_CAPACITY];
    snprintf(text, sizeof text, "%s", cb_error_text());
    const cb_status finished = finish(c, p, complete);
    if (!status)
      status = finished;
    else
      cb_fail_lines(&failure, status, text);
  }
  if (!status && c->stop) status = cb_fail(CB_ERROR_INTERRUPTED, "interrupted: the same command continues the sweep");
  return status;
}

cb_status cb_sweep_run(cb_sweep *sweep, const cb_sweep_options *options, cb_sweep_progress *out) {
  *out = (cb_sweep_progress){.members = sweep->plan->members};
  if (cb_task_goes_on(sweep->task) && (options->shards || options->ranks->size > 1 || options->threads > 1))
    return cb_fail(CB_ERROR_ARGUMENT,
                   "members of the task `%s` depend on each other: expected one process and no --shard",
                   sweep->task->name);
  sweep_run *c = calloc(1, sizeof *c);
  uint8_t *ended = calloc((size_t)sweep->plan->members, 1);
  if (!c || !ended) {
    free(c);
    free(ended);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a sweep");
  }
  c->sweep = sweep;
  c->options = options;
  pthread_mutex_init(&c->mutex, NULL);
  cb_status status = cb_folder_name(options->output, &c->folder);
  bool complete = false;
  if (!status) status = go(c, ended, out, &complete);
  cb_store_free(c->store);
  cb_folder_close(&c->folder, complete);
  pthread_mutex_destroy(&c->mutex);
  free(c->to_do.span);
  free(ended);
  free(c);
  return status;
}
