/* For LD_PRELOAD: a clock that is wrong from query number FAULT_AT on (default 1). FAULT_CLOCK selects the error:
 *
 *   forward, back   one hour ahead, or one hour late
 *   still           the clock stops
 *   wild            one hour ahead and one hour late in turn
 *   fast            twenty times as fast
 *   leaps           query number n is n seconds ahead
 *
 * All clocks are wrong except those of CPU time. Waiting inside the kernel uses the right clock. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { HOUR = 3600, FAST = 20 };

/* Makes *now a time that passes FAST times as fast since the first wrong query. *first is the time of that query, and
 * *known is 1 if *first is set. */
static void hurry(struct timespec *first, atomic_int *known, struct timespec *now) {
  if (!atomic_exchange(known, 1)) *first = *now;
  const long long passed = (now->tv_sec - first->tv_sec) * 1000000000LL + now->tv_nsec - first->tv_nsec,
                  then = first->tv_nsec + FAST * passed;
  now->tv_sec = first->tv_sec + then / 1000000000;
  now->tv_nsec = then % 1000000000;
}

/* Queries before `begin` runs are not counted. While the libraries of MPI are loaded, its library UCX waits until some
 * time has passed, and would wait forever if the clock stood still. LD_PRELOAD loads this library first, so its
 * constructor runs after those of other libraries. */
static atomic_int begun;
__attribute__((constructor)) static void begin(void) { begun = 1; }

/* Returns the seconds to add to *now, or changes *now itself and returns 0. */
static long wrong(clockid_t clock, struct timespec *now) {
  static atomic_long questions;
  static struct timespec first[2];
  static atomic_int known[2];
  const char *how = getenv("FAULT_CLOCK"), *at = getenv("FAULT_AT");
  const int monotonic = clock != CLOCK_REALTIME;
  const long n = begun ? atomic_fetch_add(&questions, 1) + 1 : 0;
  if (!n || !how || n < (at ? atol(at) : 1)) return 0;
  if (!strcmp(how, "still")) {
    if (!atomic_exchange(&known[monotonic], 1)) first[monotonic] = *now;
    *now = first[monotonic];
  }
  if (!strcmp(how, "fast")) hurry(&first[monotonic], &known[monotonic], now);
  if (!strcmp(how, "forward")) return HOUR;
  if (!strcmp(how, "back")) return -HOUR;
  if (!strcmp(how, "leaps")) return n;
  return strcmp(how, "wild") ? 0 : n % 2 ? HOUR : -HOUR;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*next)(clockid_t, struct timespec *);
  if (!next) next = (__typeof__(next))dlsym(RTLD_NEXT, "clock_gettime");
  const int result = next(clock, now);
  if (result || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID) return result;
  now->tv_sec += wrong(clock, now);
  return 0;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
  return 0;
}
