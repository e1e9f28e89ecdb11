/* Every member is opened once before any runs, so that what is wrong with one is found at once. */
#include "core/threads.h"
#include "numerics/random.h"
#include "sweep/sweep.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PIECE = 64, SAMPLE = 64, FIRST = 4 };
static const double longest = 60; /* seconds that opening all members may take */

typedef struct checking {
  cb_sweep *sweep;
  int64_t first, count, *some; /* some: numbers of members, where not all are opened */
  const volatile sig_atomic_t *stop;
  pthread_mutex_t mutex; /* guards what follows */
  int64_t next, bad;     /* of count; the first that fails so far */
  cb_status status;
  char text[CB_FAILURE_ROOM];
  cb_failure known;
  int64_t rows;
  char **file; /* names that were read, each once */
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

/* With the rows of the model, or with ones that all reductions can be made of. */
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
  if (!status && !s->work->layout) *rows = cb_run_rows(cb_scenario_run(scenario));
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
    c->known.file = NULL; /* of a tree that is gone */
    snprintf(c->text, sizeof c->text, "%s", cb_error_text());
  }
  pthread_mutex_unlock(&c->mutex);
}

static void *check_some(void *context) {
  checking *c = context;
  int64_t most = 1;
  for (;;) {
    pthread_mutex_lock(&c->mutex);
    const int64_t begin = c->next, bad = c->bad;
    c->next += PIECE;
    pthread_mutex_unlock(&c->mutex);
    if (begin >= c->count || begin > bad || (c->stop && *c->stop)) break;
    for (int64_t i = begin; i < begin + PIECE && i < c->count; i++) {
      int64_t rows = 1;
      const cb_status status = check_one(c, member_of(c, i), &rows);
      if (rows > most) most = rows;
      if (status) {
        note(c, i, status);
        break;
      }
    }
  }
  pthread_mutex_lock(&c->mutex);
  if (most > c->rows) c->rows = most;
  pthread_mutex_unlock(&c->mutex);
  return NULL;
}

static int by_number(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Each value of each axis of a grid with the first of the others, the last member, and some more. */
static cb_status choose(checking *c, int64_t end) {
  const cb_sweep_plan *plan = c->sweep->plan;
  size_t n = 0, room = SAMPLE + 1;
  for (size_t a = 0; a < plan->axes && plan->grid; a++) room += plan->axis[a].count;
  if (!(c->some = malloc(room * sizeof *c->some))) return cb_fail(CB_ERROR_MEMORY, "no memory for a sample");
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
    if (status && i) status = CB_OK, n = i; /* in its turn */
  }
  c->sweep->seconds_to_open = n ? (now() - begin) / (double)n : 0;
  if (status) note(c, 0, status);
  return CB_OK;
}

cb_status cb_sweep_check(cb_sweep *s, int64_t first, int64_t end, int threads, const volatile sig_atomic_t *stop) {
  if (s->work->all) end = first + 1; /* they are of one scenario */
  checking *c = calloc(1, sizeof *c);
  pthread_t *thread = calloc((size_t)threads, sizeof *thread);
  if (!c || !thread) return free(c), free(thread), cb_fail(CB_ERROR_MEMORY, "no memory to check a sweep");
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
  if (c->rows > s->most_rows) s->most_rows = c->rows;
  if (c->files) qsort(c->file, c->files, sizeof *c->file, by_text);
  s->file = c->file;
  s->files = c->files;
  free(c->some);
  pthread_mutex_destroy(&c->mutex);
  free(c);
  free(thread);
  return status;
}
