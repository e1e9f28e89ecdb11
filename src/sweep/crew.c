#include "sweep/crew.h"

#include "sweep/hand.h"
#include "sweep/stores.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double between_syncs = 1, between_tellings = 0.5, between_joins = 2;
enum { JOIN_SHARE = 20, MOST = 64 };

typedef struct crew {
  cb_sweep *sweep;
  const cb_crew_options *options;
  cb_folder folder;
  cb_midst midst;
  cb_stores stores;
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

static cb_status lease(void *user, int64_t first, int64_t n) {
  crew *c = user;
  return cb_stores_lease(&c->stores, &c->to_do, first, n);
}

/* --- threads --- */

static cb_status do_some(crew *c, cb_runner *runner, int64_t first, int64_t n) {
  int64_t member[MOST];
  cb_status status = CB_OK;
  while (n && !status) {
    int64_t row, count = 0;
    cb_store *store = NULL;
    for (; count < n && count < MOST; count++) {
      member[count] = cb_to_do_member(&c->to_do, first + count, &row);
      cb_store *of = cb_stores_of(&c->stores, member[count]);
      if (store && of != store) break;
      store = of;
    }
    size_t failed = 0;
    status = cb_runner_go(runner, member, (size_t)count, store, &c->stop, &failed);
    if (!status) cb_hand_done(c->hand, count, (int64_t)failed);
    first += count;
    n -= count;
  }
  return status;
}

static void *take_part(void *context) {
  crew *c = context;
  cb_runner *runner = NULL;
  cb_status status = cb_runner_create(c->sweep, &c->midst, &runner);
  int64_t first, n = 1;
  while (!status && (n = cb_hand_take(c->hand, MOST, &first)) > 0) status = do_some(c, runner, first, n);
  if (status) {
    if (status != CB_ERROR_INTERRUPTED) fail(c, status);
    c->stop = 1;
    cb_hand_stop(c->hand);
  }
  cb_runner_free(runner);
  cb_hand_leave(c->hand);
  return NULL;
}

/* --- the coordinator --- */

static void find_warned(const crew *c, const cb_survey *survey, cb_crew_progress *p) {
  p->warned = 0;
  for (int64_t m = survey->members; m-- > 0;)
    if (survey->warned[m]) p->warned++, p->first_warned = m;
  char *words = p->warned ? cb_survey_warning(c->folder.path, &c->sweep->layout, survey, p->first_warned) : NULL;
  if (words) memcpy(p->warning, words, CB_STORE_WORDS);
  free(words);
}

/* Joins the stores, and finds what members were warned of; p NULL: not wanted. */
static cb_status join(crew *c, cb_crew_progress *p) {
  cb_survey survey;
  cb_status status = cb_survey_take(c->folder.path, &c->sweep->layout, false, &survey);
  if (status) return status;
  status = cb_join(c->folder.result, c->folder.path, &c->sweep->layout, &survey);
  if (p) find_warned(c, &survey, p);
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
  double synced = begin, told = begin, joined = begin, wait = between_joins;
  for (bool over = false; !over;) {
    cb_status status = cb_hand_serve(c->hand, &over);
    const double time = now();
    if (!status && time - synced > between_syncs) status = cb_stores_sync(&c->stores), synced = now();
    if (c->options->ranks->rank == 0 && time - told > between_tellings) tell(c, before, begin, p), told = time;
    if (!status && c->options->ranks->rank == 0 && c->options->ranks->size > 1 && time - joined > wait) {
      status = join(c, NULL);
      joined = now();
      wait = fmax(between_joins, JOIN_SHARE * (joined - time));
    }
    if (status) fail(c, status);
    if (status || (c->options->stop && *c->options->stop)) cb_hand_stop(c->hand);
    if (cb_hand_stopped(c->hand)) c->stop = 1;
  }
  const cb_status status = cb_stores_sync(&c->stores);
  if (status) fail(c, status);
  tell(c, before, begin, p);
}

static cb_status work(crew *c, const cb_crew_progress *before, cb_crew_progress *p) {
  const int threads = c->options->threads;
  pthread_t *thread = calloc((size_t)threads, sizeof *thread);
  cb_status status = thread ? cb_hand_create(c->options->ranks, c->to_do.count, threads, lease, c, &c->hand)
                            : cb_fail(CB_ERROR_MEMORY, "no memory for threads");
  if (status) return free(thread), status;
  int started = 0;
  while (started < threads && !pthread_create(&thread[started], NULL, take_part, c)) started++;
  if (started < threads) {
    fail(c, cb_fail(CB_ERROR_MEMORY, "cannot start %d threads", threads));
    c->stop = 1;
    cb_hand_stop(c->hand);
    for (int t = started; t < threads; t++) cb_hand_leave(c->hand);
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

/* Which members have ended: 1 each, of all the sweep; counted in *p. */
static cb_status find_ended(crew *c, uint8_t *ended, cb_crew_progress *p) {
  cb_survey survey;
  const cb_status status = cb_survey_take(c->folder.path, &c->sweep->layout, true, &survey);
  if (status) return status;
  for (int64_t m = 0; m < survey.members; m++) {
    const bool failed = survey.status[m] == CB_MEMBER_FAILED && !c->options->retry_failed;
    ended[m] = survey.status[m] == CB_MEMBER_DONE || failed;
    p->done += survey.status[m] == CB_MEMBER_DONE;
    p->failed += failed;
  }
  p->before = p->done + p->failed;
  cb_survey_free(&survey);
  return CB_OK;
}

static cb_status begin(crew *c, uint8_t *ended, cb_crew_progress *p) {
  const cb_ranks *ranks = c->options->ranks;
  cb_status status = CB_OK;
  known k = {0};
  if (ranks->rank == 0) {
    status = cb_folder_open(&c->folder, c->sweep, c->options->shards > 0, c->options->threads, c->options->stop);
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

static cb_status go(crew *c, uint8_t *ended, cb_crew_progress *p) {
  const cb_crew_options *o = c->options;
  cb_stores *s = &c->stores;
  cb_status status = begin(c, ended, p);
  if (status) return status;
  c->midst = (cb_midst){c->folder.path, c->sweep->digest};
  *s = (cb_stores){.folder = c->folder.path,
                   .layout = &c->sweep->layout,
                   .ranks = o->ranks,
                   .threads = o->threads,
                   .shard = o->shard,
                   .shards = o->shards};
  cb_crew_shard(c->sweep->plan->members, o->shard, o->shards, &s->first, &s->end);
  status = cb_to_do_find(ended, s->first, s->end, &c->to_do);
  if (!status && s->end > s->first) status = cb_stores_open(s);
  const cb_crew_progress before = *p;
  const bool lead = o->ranks->rank == 0;
  if (!status && lead) status = join(c, NULL);
  if (!status && s->count) status = work(c, &before, p);
  if (lead && s->count) {
    const cb_failure failure = cb_failure_last();
    char text[CB_FAILURE_ROOM];
    snprintf(text, sizeof text, "%s", cb_error_text());
    const cb_status joined = join(c, p);
    if (!status)
      status = joined;
    else
      cb_fail_lines(&failure, status, text);
  }
  if (!status && c->stop) status = cb_fail(CB_ERROR_INTERRUPTED, "interrupted: the same command goes on");
  return status;
}

cb_status cb_crew_go(cb_sweep *sweep, const cb_crew_options *options, cb_crew_progress *out) {
  crew *c = calloc(1, sizeof *c);
  uint8_t *ended = calloc((size_t)sweep->plan->members, 1);
  *out = (cb_crew_progress){.members = sweep->plan->members};
  if (!c || !ended) return free(c), free(ended), cb_fail(CB_ERROR_MEMORY, "no memory for a sweep");
  c->sweep = sweep;
  c->options = options;
  pthread_mutex_init(&c->mutex, NULL);
  cb_status status = cb_folder_name(options->output, &c->folder);
  if (!status) status = go(c, ended, out);
  cb_stores_free(&c->stores);
  cb_folder_close(&c->folder);
  pthread_mutex_destroy(&c->mutex);
  free(c->to_do.span);
  free(ended);
  free(c);
  return status;
}
