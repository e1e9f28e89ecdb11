/* Benchmark of the scheduler that distributes the members of a sweep, over simulated ranks in one process. For members
 * that take no time, it measures the number of members per second on 8 ranks. It also measures the fraction of the time
 * in which workers are busy: 1 024 workers whose members sleep, and two threads that compute 10^4 members of about a
 * millisecond. */
#include "bench.h"
#include "ranks_memory.h"

#include "sweep/scheduler.h"
#include <pthread.h>

enum { MOST = 1024, STACK = 1 << 17 };

typedef struct process {
  const cb_ranks *ranks;
  cb_scheduler *scheduler;
  int64_t count;
  int threads;
  double wait;          /* a member sleeps (> 0) or computes (< 0) for |wait| seconds times a factor from .5 to 1.5 */
  _Atomic int64_t busy; /* total time of the members of this process, in nanoseconds */
} process;

static void spend(process *p, uint64_t member) {
  const double factor = 0.5 + (double)(member * UINT64_C(0x9e3779b97f4a7c15) >> 11) * 0x1p-53,
               of = fabs(p->wait) * factor;
  const struct timespec t = {(time_t)of, (long)(1e9 * (of - floor(of)))};
  const double begin = bench_clock(CLOCK_MONOTONIC);
  if (p->wait > 0) nanosleep(&t, NULL);
  while (p->wait < 0 && bench_clock(CLOCK_MONOTONIC) - begin < of) continue;
  p->busy += (int64_t)(1e9 * (p->wait < 0 ? bench_clock(CLOCK_MONOTONIC) - begin : of));
}

static void *take(void *user) {
  process *p = user;
  int64_t first, n;
  while ((n = cb_scheduler_next(p->scheduler, 64, &first)) > 0) {
    for (int64_t m = first; m < first + n && p->wait != 0; m++) spend(p, (uint64_t)m);
    cb_scheduler_done(p->scheduler, n, 0);
  }
  cb_scheduler_leave(p->scheduler);
  return NULL;
}

static void *coordinate(void *user) {
  process *p = user;
  static _Thread_local pthread_t thread[MOST];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK);
  check_ok(cb_scheduler_create(p->ranks, p->count, p->threads, &p->scheduler));
  for (int i = 0; i < p->threads; i++) assert_int_equal(pthread_create(&thread[i], &small, take, p), 0);
  for (bool over = false; !over;) check_ok(cb_scheduler_serve(p->scheduler, &over));
  for (int i = 0; i < p->threads; i++) pthread_join(thread[i], NULL);
  cb_scheduler_free(p->scheduler);
  return NULL;
}

/* Runs the members on `ranks` ranks with `threads` threads each. Returns the seconds. *busy is the fraction of the time
 * of all threads in which they work on members. */
static double go(int ranks, int threads, int64_t count, double wait, double *busy) {
  static cb_ranks of[MOST];
  static process p[MOST];
  static pthread_t thread[MOST];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK);
  check_ok(ranks_in_memory(ranks, of));
  const double begin = bench_clock(CLOCK_MONOTONIC);
  for (int r = 0; r < ranks; r++) {
    p[r] = (process){.ranks = &of[r], .count = count, .threads = threads, .wait = wait};
    assert_int_equal(pthread_create(&thread[r], &small, coordinate, &p[r]), 0);
  }
  int64_t all = 0;
  for (int r = 0; r < ranks; r++) {
    pthread_join(thread[r], NULL);
    all += p[r].busy;
  }
  const double seconds = bench_clock(CLOCK_MONOTONIC) - begin;
  *busy = 1e-9 * (double)all / (seconds * ranks * threads);
  ranks_free_memory(of);
  return seconds;
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "scheduler of members");
  double busy, best = 0, many = 0, two = 0;
  const int turns = bench_turns(&b, 3);
  const int64_t part = b.quick ? 100 : 1;
  for (int i = 0; i < turns; i++) {
    best = fmax(best, 2e6 / (double)part / go(8, 1, 2000000 / part, 0, &busy));
    go(64, 16 / (b.quick ? 8 : 1), 200000 / part, 0.04, &busy);
    many = fmax(many, busy);
    go(1, 2, 10000 / part, -0.001, &busy);
    two = fmax(two, busy);
  }
  printf("  %.3g members a second by 8 ranks; 64 ranks of 16 threads %.3f at work; two threads %.3f\n", best, many,
         two);
  bench_judge(&b, "members a second of all ranks", best, ">=", 1e5, "1/s");
  bench_judge(&b, "1024 workers at work", many, ">=", 0.9, "of the time");
  bench_judge(&b, "two threads at work", two, ">=", 0.95, "of the time");
  return b.missed ? 1 : 0;
}
