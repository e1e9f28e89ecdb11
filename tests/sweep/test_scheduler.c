/* Tests that the scheduler assigns each member exactly once, to any number of fast and slow ranks and threads, that all
 * ranks end, and that one rank can stop all of them. */
#include "check.h"
#include "ranks_memory.h"

#include "sweep/scheduler.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 24, THREADS = 3 };

typedef struct trial {
  int64_t count, stop_at; /* number of members; number of done members after which a rank stops all, or -1: never */
  int slow;               /* the slow rank; -1: none */
  atomic_int *given;      /* [count]: how often each member was assigned */
  atomic_llong done;
} trial;

typedef struct process {
  trial *t;
  const cb_ranks *ranks;
  cb_scheduler *scheduler;
  int threads;
  int64_t done, failed;
  bool stopped;
} process;

static void *take(void *user) {
  process *p = user;
  trial *t = p->t;
  int64_t first, n;
  while ((n = cb_scheduler_next(p->scheduler, 5, &first)) > 0) {
    assert_true(n <= 5);
    for (int64_t m = first; m < first + n; m++) atomic_fetch_add(&t->given[m], 1);
    if (p->ranks->rank == t->slow) usleep(2000);
    cb_scheduler_done(p->scheduler, n, first % 7 == 0);
    if (atomic_fetch_add(&t->done, n) + n >= t->stop_at && t->stop_at >= 0) cb_scheduler_stop(p->scheduler);
  }
  cb_scheduler_leave(p->scheduler);
  return NULL;
}

static void *coordinate(void *user) {
  process *p = user;
  pthread_t thread[THREADS];
  check_ok(cb_scheduler_create(p->ranks, p->t->count, p->threads, &p->scheduler));
  for (int i = 0; i < p->threads; i++) assert_int_equal(pthread_create(&thread[i], NULL, take, p), 0);
  for (bool over = false; !over;) check_ok(cb_scheduler_serve(p->scheduler, &over));
  for (int i = 0; i < p->threads; i++) pthread_join(thread[i], NULL);
  cb_scheduler_progress(p->scheduler, &p->done, &p->failed);
  p->stopped = cb_scheduler_stopped(p->scheduler);
  cb_scheduler_free(p->scheduler);
  return NULL;
}

static void go(int ranks, int threads, int64_t count, int slow, int64_t stop_at) {
  cb_ranks of[RANKS];
  pthread_t thread[RANKS];
  trial t = {.count = count, .slow = slow, .stop_at = stop_at};
  process p[RANKS];
  t.given = calloc((size_t)count + 1, sizeof *t.given);
  check_ok(ranks_in_memory(ranks, of));
  for (int r = 0; r < ranks; r++) {
    p[r] = (process){.t = &t, .ranks = &of[r], .threads = threads};
    assert_int_equal(pthread_create(&thread[r], NULL, coordinate, &p[r]), 0);
  }
  for (int r = 0; r < ranks; r++) pthread_join(thread[r], NULL);
  int64_t given = 0;
  for (int64_t m = 0; m < count; m++) {
    if (t.given[m] > 1) fail_msg("member %lld is given %d times", (long long)m, t.given[m]);
    given += t.given[m];
  }
  assert_int_equal(p[0].done + p[0].failed, given);
  if (stop_at < 0)
    assert_int_equal(given, count);
  else
    for (int r = 0; r < ranks; r++) assert_true(p[r].stopped);
  ranks_free_memory(of);
  free(t.given);
}

static void each_is_given_once(void **unused) {
  static const int ranks[] = {1, 2, 3, 7, RANKS};
  static const int64_t counts[] = {0, 1, 2, 5, 100, 20000};
  for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++)
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
      for (int threads = 1; threads <= THREADS; threads++) go(ranks[r], threads, counts[c], -1, -1);
}

static void a_slow_rank_holds_up_no_other(void **unused) {
  for (int slow = 0; slow < 3; slow++) {
    const time_t begin = time(NULL);
    go(3, 1, 20000, slow, -1); /* without the other ranks the slow one would take 8 s */
    assert_true(time(NULL) - begin < 5);
  }
}

static void one_stops_all(void **unused) {
  for (int ranks = 1; ranks <= 5; ranks++)
    for (int64_t at = 0; at <= 3000; at += 1000) go(ranks, 2, 100000, -1, at);
}

static void broadcasts_reach_all(void **unused) {
  cb_ranks one;
  check_ok(cb_ranks_begin(&one));
  assert_int_equal(one.size, 1);
  int word = 7;
  assert_true(one.broadcast(one.self, &word, sizeof word));
  assert_int_equal(word, 7);
  one.finish(one.self, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_given_once),
                                     cmocka_unit_test(a_slow_rank_holds_up_no_other), cmocka_unit_test(one_stops_all),
                                     cmocka_unit_test(broadcasts_reach_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
