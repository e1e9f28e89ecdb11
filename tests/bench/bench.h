/* Timing for the benchmarks. Subjects that are compared run alternately in one process. The time of a subject is the
 * minimum over all its repetitions, since the fastest one is disturbed least by other programs. One thread is measured
 * in CPU time, and the gain by several threads in wall-clock time.
 *
 * A program prints its settings, a table, and one line `target|what|limit|measured|unit|pass or MISS` for each target.
 * The script tests/bench/run collects these lines. With `--quick`, everything runs once with small sizes, and no target
 * is checked.
 */
#pragma once

#include "check.h"
#include "core/threads.h"
#include <time.h>
#include <unistd.h>

enum { BENCH_SUBJECTS = 64 };

typedef struct bench_subject {
  char name[96];
  void (*run)(void *self);   /* does one repetition, which is `units` units of work */
  void (*ready)(void *self); /* called before each repetition, not timed; may be NULL */
  void *self;
  double units;
  double cpu, wall; /* minimum CPU time and wall-clock time, in seconds per unit */
} bench_subject;

typedef struct bench {
  bool quick;
  double patience; /* the factor of --turns=FACTOR, by which all numbers of repetitions are multiplied */
  int missed, n;
  bench_subject subject[BENCH_SUBJECTS];
} bench;

static inline double bench_clock(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline bench bench_begin(int argc, char **argv, const char *what) {
  bench b = {.patience = 1};
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--quick"))
      b.quick = true;
    else if (!strncmp(argv[i], "--turns=", 8))
      b.patience = atof(argv[i] + 8);
    else if (!strncmp(argv[i], "--isa=", 6))
      check_ok(cb_isa_set(argv[i] + 6));
    else {
      fprintf(stderr, "usage: %s [--quick] [--turns=FACTOR] [--isa=x86-64|avx2|avx512]\n", argv[0]);
      exit(2);
    }
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
#ifdef __clang__
  const char *compiler = "clang " __clang_version__;
#else
  const char *compiler = "gcc " __VERSION__;
#endif
  printf("%s\n  %s, kernels %s, %d processors%s\n", what, compiler, cb_isa_name(), (int)sysconf(_SC_NPROCESSORS_ONLN),
         b.quick ? ", quick" : "");
  return b;
}

static inline int bench_turns(const bench *b, double turns) {
  const double count = turns * b->patience;
  return b->quick ? 1 : count < 1 ? 1 : (int)count;
}

static inline bench_subject *bench_add(bench *b, const char *name, void (*run)(void *), void *self, double units) {
  if (b->n == BENCH_SUBJECTS) fail_msg("more than %d subjects", BENCH_SUBJECTS);
  bench_subject *s = &b->subject[b->n++];
  *s = (bench_subject){.run = run, .self = self, .units = units, .cpu = INFINITY, .wall = INFINITY};
  snprintf(s->name, sizeof s->name, "%s", name);
  return s;
}

/* Runs all subjects alternately and keeps the minimum times. The first repetition of each is not counted, except with
 * `--quick`. */
static inline void bench_go(bench *b, double turns) {
  for (int turn = b->quick ? 0 : -1; turn < bench_turns(b, turns); turn++)
    for (int i = 0; i < b->n; i++) {
      bench_subject *s = &b->subject[i];
      if (s->ready) s->ready(s->self);
      const double cpu = bench_clock(CLOCK_THREAD_CPUTIME_ID), wall = bench_clock(CLOCK_MONOTONIC);
      s->run(s->self);
      const double cpu_took = bench_clock(CLOCK_THREAD_CPUTIME_ID) - cpu,
                   wall_took = bench_clock(CLOCK_MONOTONIC) - wall;
      if (turn < 0) continue;
      s->cpu = fmin(s->cpu, cpu_took / s->units);
      s->wall = fmin(s->wall, wall_took / s->units);
    }
}

/* Prints the line of a target; with `--quick` it does nothing. A target is missed if `measured` exceeds the limit and
 * `sign` begins with '<', or if `measured` is below the limit and `sign` begins with another character. */
static inline void bench_judge(bench *b, const char *what, double measured, const char *sign, double limit,
                               const char *unit) {
  if (b->quick) return;
  const bool pass = sign[0] == '<' ? measured <= limit : measured >= limit;
  b->missed += !pass;
  printf("target|%s|%s %g|%.3g|%s|%s\n", what, sign, limit, measured, unit, pass ? "pass" : "MISS");
}
