#include "sweep/crew.h"

#include "sweep/hand.h"
#include "sweep/to_do.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double between_saves = 1, between_tellings = 0.5, between_results = 1;
enum { RESULT_SHARE = 20, MOST = 64 };

typedef struct crew {
  cb_sweep *sweep;
  const cb_crew_options *options;
  cb_folder folder;
  cb_midst midst;
  cb_store *store;
  bool begun; /* results may have come */
  cb_to_do to_do;
  cb_hand *hand;
  pthread_mutex_t mutex; /* guards what follows */
  cb_status status;
  cb_failure known;
  char text[CB_FAILURE_ROOM];
  volatile sig_atomic_t stop;
} crew;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cb_crew_shard(int64_t members, int shard, int shards, int64_t *first, int64_t *end) {
  *first = 0;
  *end = members;
  if (!shards) return;
  *first = members / shards * (shard - 1) + members % shards * (shard - 1) / shards;
  *end = members / shards * shard + members % shards * shard / shards;
}

/* The first failure of a thread is the sweep's. */
static void fail(crew *c, cb_status status) {
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

static cb_status do_some(crew *c, cb_runner *runner, int64_t first, int64_t n) {
  int64_t member[MOST], row;
  size_t failed = 0;
  for (int64_t i = 0; i < n; i++) member[i] = cb_to_do_member(&c->to_do, first + i, &row);
  const cb_status status = cb_runner_go(runner, member, (size_t)n, c->store, &c->stop, &failed);
  if (!status) cb_hand_done(c->hand, n, (int64_t)failed);
  return status;
}

/* What the threads that have left did is on the disk before all have left: who learns that joins it. */
static void leave(crew *c) {
  const cb_status status = cb_store_save(c->store);
  if (status) fail(c, status);
  cb_hand_leave(c->hand);
}

static void *take_part(void *context) {
  crew *c = context;
  cb_runner *runner = NULL;
  cb_status status = cb_runner_create(c->sweep, &c->midst, &runner);
  int64_t first, n = 1;
  if (!status && c->sweep->work->all) {
    status = c->sweep->work->all(c->sweep, runner, c->store, &c->stop);
    n = 0;
    if (!status) cb_hand_done(c->hand, c->to_do.count, 0);
  }
  while (!status && n && (n = cb_hand_take(c->hand, MOST, &first)) > 0) status = do_some(c, runner, first, n);
  if (status) {
    if (status != CB_ERROR_INTERRUPTED) fail(c, status);
    c->stop = 1;
    cb_hand_stop(c->hand);
  }
  cb_runner_free(runner);
  leave(c);
  return NULL;
}

/* --- the coordinator --- */

static void find_warned(const cb_survey *survey, cb_crew_progress *p) {
  p->warned = 0;
  for (int64_t m = survey->members; m-- > 0;)
    if (survey->warned[m]) p->warned++, p->first_warned = m;
  char *words = p->warned ? cb_survey_warning(survey, p->first_warned) : NULL;
  if (words) memcpy(p->warning, words, CB_STORE_WORDS);
  free(words);
}

/* The result over the segments that there are. */
static cb_status show(const crew *c) {
  cb_survey survey;
  bool joined;
  cb_status status = cb_survey_take(&c->folder.segments, &c->sweep->layout, false, &survey);
  if (status) return status;
  status = cb_result_write(&c->folder.segments, &survey, false, &joined);
  cb_survey_free(&survey);
  return status;
}

static void tell(const crew *c, const cb_crew_progress *before, double begin, cb_crew_progress *p) {
  int64_t done, failed;
  cb_hand_progress(c->hand, &done, &failed);
  *p = *before;
  p->done += done;
  p->failed += failed;
  p->seconds = now() - begin;
  if (c->options->progress) c->options->progress(c->options->user, p);
}

static void serve(crew *c, const cb_crew_progress *before, cb_crew_progress *p) {
  const double begin = now();
  double saved = begin, told = begin, shown = begin, wait = between_results;
  for (bool over = false; !over;) {
    cb_status status = cb_hand_serve(c->hand, &over);
    const double time = now();
    if (!status && time - saved > between_saves) status = cb_store_save(c->store), saved = now();
    if (c->options->ranks->rank == 0 && time - told > between_tellings) tell(c, before, begin, p), told = time;
    if (!status && c->options->ranks->rank == 0 && now() - shown > wait) {
      const double start = now();
      status = show(c);
      shown = now();
      wait = fmax(between_results, RESULT_SHARE * (shown - start));
    }
    if (status) fail(c, status);
    if (status || (c->options->stop && *c->options->stop)) cb_hand_stop(c->hand);
    if (cb_hand_stopped(c->hand)) c->stop = 1;
  }
  tell(c, before, begin, p);
}

static cb_status work(crew *c, const cb_crew_progress *before, cb_crew_progress *p) {
  const int threads = c->options->threads;
  pthread_t *thread = calloc((size_t)threads, sizeof *thread);
  cb_status status = thread ? cb_hand_create(c->options->ranks, c->to_do.count, threads, &c->hand)
                            : cb_fail(CB_ERROR_MEMORY, "no memory for threads");
  if (status) return free(thread), status;
  int started = 0;
  while (started < threads && !pthread_create(&thread[started], NULL, take_part, c)) started++;
  if (started < threads) {
    fail(c, cb_fail(CB_ERROR_MEMORY, "cannot start %d threads", threads));
    c->stop = 1;
    cb_hand_stop(c->hand);
    for (int t = started; t < threads; t++) leave(c);
  }
  serve(c, before, p);
  for (int t = 0; t < started; t++) pthread_join(thread[t], NULL);
  cb_hand_free(c->hand);
  free(thread);
  if (c->status) cb_fail_lines(&c->known, c->status, c->text);
  return c->status;
}

/* --- begin and end --- */

/* What rank 0 tells the others before they begin. */
typedef struct known {
  int64_t most_rows, bad;
  char digest[CB_SWEEP_SHA];
} known;

/* What segments have, and else the result. */
static cb_status survey_all(const crew *c, bool whole, cb_survey *out) {
  bool there;
  cb_status status = cb_survey_take(&c->folder.segments, &c->sweep->layout, whole, out);
  if (status) return status;
  status = cb_folder_has_result(&c->folder, &there);
  if (!status && there) status = cb_survey_add_result(out, c->folder.result);
  if (status) cb_survey_free(out);
  return status;
}

/* Members that only a result has become those of segments, of a worker of their own. */
static cb_status import(const crew *c, const cb_survey *survey) {
  cb_store *store;
  cb_status status = cb_store_open(&c->folder.segments, &c->sweep->layout, c->options->shard, NULL, &store);
  if (status) return status;
  status = cb_survey_import(survey, store);
  cb_store_free(store);
  return status;
}

/* Which members have ended: 1 each, of all the sweep; counted in *p. */
static cb_status find_ended(const crew *c, uint8_t *ended, cb_crew_progress *p) {
  cb_survey survey;
  cb_status status = survey_all(c, true, &survey);
  if (status) return status;
  for (int64_t m = 0; m < survey.members; m++) {
    const bool failed = survey.status[m] == CB_MEMBER_FAILED && !c->options->retry_failed;
    ended[m] = survey.status[m] == CB_MEMBER_DONE || failed;
    p->done += survey.status[m] == CB_MEMBER_DONE;
    p->failed += failed;
  }
  p->before = p->done + p->failed;
  if (p->before < p->members) status = import(c, &survey);
  cb_survey_free(&survey);
  return status;
}

static cb_status begin(crew *c, uint8_t *ended, cb_crew_progress *p) {
  const cb_ranks *ranks = c->options->ranks;
  cb_status status = CB_OK;
  known k = {0};
  if (ranks->rank == 0) {
    status = cb_folder_open(&c->folder, c->sweep, c->options->shard, c->options->threads, c->options->stop);
    if (!status) status = find_ended(c, ended, p);
    k.most_rows = c->sweep->most_rows;
    memcpy(k.digest, c->sweep->digest, sizeof k.digest);
    k.bad = status;
  }
  ranks->broadcast(ranks->self, &k, sizeof k);
  if (k.bad) return ranks->rank ? cb_fail(CB_ERROR_INTERRUPTED, "rank 0 could not begin") : status;
  ranks->broadcast(ranks->self, ended, (size_t)c->sweep->plan->members);
  if (ranks->rank) {
    c->sweep->most_rows = k.most_rows;
    memcpy(c->sweep->digest, k.digest, sizeof k.digest);
    cb_sweep_lay_rows(c->sweep);
  }
  return CB_OK;
}

/* This process has members to do. */
static cb_status do_members(crew *c, cb_crew_progress *p) {
  const cb_ranks *ranks = c->options->ranks;
  const cb_crew_progress before = *p;
  const int worker = c->options->shard ? c->options->shard : ranks->rank;
  cb_status status = ranks->rank ? cb_segments_take_part(&c->folder.segments, CB_FOLDER_PARTS + ranks->rank) : CB_OK;
  c->midst = (cb_midst){c->folder.segments.path, c->sweep->digest};
  if (!status) status = cb_store_open(&c->folder.segments, &c->sweep->layout, worker, &c->midst, &c->store);
  if (!status && ranks->rank == 0)
    status = cb_folder_check_room(&c->folder, (double)cb_store_result_bytes(&c->sweep->layout) * (double)p->members);
  if (!status && ranks->rank == 0) status = show(c);
  c->begun = !status;
  return status ? status : work(c, &before, p);
}

/* The result at the end: one plain file, where all of the sweep is done and nobody else is at it; *complete then. */
static cb_status finish(crew *c, cb_crew_progress *p, bool *complete) {
  cb_survey survey;
  cb_status status = CB_OK;
  if (c->options->shard) {
    if (p->before < p->members) status = show(c); /* else a plain result may be all that there is */
    if (status || !cb_segments_take_rest(&c->folder.segments)) return status;
  }
  if ((status = survey_all(c, false, &survey))) return status;
  bool all = true, imported = true;
  for (int64_t m = 0; m < survey.members; m++) {
    all = all && survey.status[m] != CB_MEMBER_MISSING;
    imported = imported && (survey.source[m] < 0 || survey.sources[survey.source[m]].number);
  }
  find_warned(&survey, p);
  if (imported)
    status = cb_result_write(&c->folder.segments, &survey, true, complete);
  else
    *complete = all; /* the result is plain, and was so before */
  p->unjoined = all && !*complete;
  cb_survey_free(&survey);
  return status;
}

static cb_status go(crew *c, uint8_t *ended, cb_crew_progress *p, bool *complete) {
  const cb_crew_options *o = c->options;
  int64_t first, end;
  cb_status status = begin(c, ended, p);
  if (!status && o->joins && p->before < p->members)
    status =
        cb_fail(CB_ERROR_FILE, "%s: %lld of %lld members are left: expected the same `curvebody sweep`, which goes on",
                c->folder.result, (long long)(p->members - p->before), (long long)p->members);
  if (status) return status;
  cb_crew_shard(c->sweep->plan->members, o->shard, o->shards, &first, &end);
  status = cb_to_do_find(ended, first, end, &c->to_do);
  if (!status && c->to_do.count) status = do_members(c, p);
  if (o->ranks->rank == 0 && (!status || c->begun)) {
    const cb_failure failure = cb_failure_last();
    char text[CB_FAILURE_ROOM];
    snprintf(text, sizeof text, "%s", cb_error_text());
    const cb_status finished = finish(c, p, complete);
    if (!status)
      status = finished;
    else
      cb_fail_lines(&failure, status, text);
  }
  if (!status && c->stop) status = cb_fail(CB_ERROR_INTERRUPTED, "interrupted: the same command goes on");
  return status;
}

cb_status cb_crew_go(cb_sweep *sweep, const cb_crew_options *options, cb_crew_progress *out) {
  *out = (cb_crew_progress){.members = sweep->plan->members};
  if (cb_work_goes_on(sweep->work) && (options->shards || options->ranks->size > 1 || options->threads > 1))
    return cb_fail(CB_ERROR_ARGUMENT,
                   "members of the work `%s` go on from one another: expected one process, and no --shard",
                   sweep->work->name);
  crew *c = calloc(1, sizeof *c);
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
