/* The scheduler of a sweep: distributes members over ranks and threads (sweep/scheduler.h). A rank is a process. Under
 * mpirun there are several ranks, whose communication is in the module curvebody-mpi.so; otherwise there is one. */
#include "sweep/scheduler.h"

#include "core/file.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ASK, GIVE, STOP, LEFT }; /* the kind of a message, in message[0] */
enum {
  SHARE = 2,
  BLOCKS = 1 << 12,
  TURN = 500000,
  LONG_TURN = 50000000
}; /* TURN, LONG_TURN: times in ns for which the coordinator waits */

typedef struct block {
  int64_t first, n;
} block;

struct cb_scheduler {
  const cb_ranks *ranks;
  int threads;
  int64_t count, given; /* number of members of the sweep, and number of members given to ranks; used only in rank 0 */
  int64_t (*of)[2];     /* [ranks]: members done and failed in other ranks; filled only in rank 0 */
  int gone;             /* number of ranks that have left; only in rank 0 */
  pthread_mutex_t mutex;
  pthread_cond_t work, wake; /* work: wakes threads that wait for members; wake: wakes the coordinator */
  block queue[BLOCKS];
  size_t head, tail; /* the first block and the end of the queue: their indices are these numbers modulo BLOCKS */
  int64_t queued, last_block;
  bool asked, ended, stopped, stop_sent, leave_sent;
  int left;
  int64_t done, failed;
};

cb_status cb_scheduler_create(const cb_ranks *ranks, int64_t count, int threads, cb_scheduler **out) {
  cb_scheduler *h = calloc(1, sizeof *h);
  if (h) h->of = calloc((size_t)ranks->size, sizeof *h->of);
  if (!h || !h->of) {
    free(h);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the scheduler");
  }
  h->ranks = ranks;
  h->threads = threads;
  h->count = count;
  pthread_mutex_init(&h->mutex, NULL);
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_cond_init(&h->work, NULL);
  pthread_cond_init(&h->wake, &clock);
  pthread_condattr_destroy(&clock);
  *out = h;
  return CB_OK;
}

void cb_scheduler_free(cb_scheduler *h) {
  if (!h) return;
  pthread_cond_destroy(&h->wake);
  pthread_cond_destroy(&h->work);
  pthread_mutex_destroy(&h->mutex);
  free(h->of);
  free(h);
}

/* --- threads --- */

/* Returns whether so few members are left in this process that it must ask for more. */
static bool is_low(const cb_scheduler *h) { return h->queued <= h->last_block / 2 + h->threads; }

int64_t cb_scheduler_next(cb_scheduler *h, int64_t maximum, int64_t *first) {
  pthread_mutex_lock(&h->mutex);
  while (h->head == h->tail && !h->ended && !h->stopped) {
    pthread_cond_signal(&h->wake);
    pthread_cond_wait(&h->work, &h->mutex);
  }
  int64_t n = 0;
  if (!h->stopped && h->head != h->tail) {
    block *b = &h->queue[h->head % BLOCKS];
    n = h->queued / (SHARE * h->threads);
    if (n > maximum) n = maximum;
    if (n < 1) n = 1;
    if (n > b->n) n = b->n;
    *first = b->first;
    b->first += n;
    b->n -= n;
    if (!b->n) h->head++;
    h->queued -= n;
    if (!h->asked && !h->ended && is_low(h)) pthread_cond_signal(&h->wake);
  }
  pthread_mutex_unlock(&h->mutex);
  return n;
}

void cb_scheduler_done(cb_scheduler *h, int64_t n, int64_t failed) {
  pthread_mutex_lock(&h->mutex);
  h->done += n - failed;
  h->failed += failed;
  pthread_mutex_unlock(&h->mutex);
}

void cb_scheduler_stop(cb_scheduler *h) {
  pthread_mutex_lock(&h->mutex);
  h->stopped = true;
  pthread_cond_broadcast(&h->work);
  pthread_cond_signal(&h->wake);
  pthread_mutex_unlock(&h->mutex);
}

void cb_scheduler_leave(cb_scheduler *h) {
  pthread_mutex_lock(&h->mutex);
  h->left++;
  pthread_cond_signal(&h->wake);
  pthread_mutex_unlock(&h->mutex);
}

bool cb_scheduler_stopped(cb_scheduler *h) {
  pthread_mutex_lock(&h->mutex);
  const bool stopped = h->stopped;
  pthread_mutex_unlock(&h->mutex);
  return stopped;
}

void cb_scheduler_progress(cb_scheduler *h, int64_t *done, int64_t *failed) {
  pthread_mutex_lock(&h->mutex);
  *done = h->done;
  *failed = h->failed;
  pthread_mutex_unlock(&h->mutex);
  for (int r = 1; r < h->ranks->size; r++) {
    *done += h->of[r][0];
    *failed += h->of[r][1];
  }
}

/* --- the coordinator --- */

/* Adds n members from `first` on, which this process has received, to its queue. n = 0: no members are left. */
static void receive(cb_scheduler *h, int64_t first, int64_t n) {
  if (n) {
    h->queue[h->tail++ % BLOCKS] = (block){first, n};
    h->queued += n;
    h->last_block = n;
  }
  h->ended = h->ended || !n;
  h->asked = false;
  pthread_cond_broadcast(&h->work);
}

/* Takes the next block of the remaining members, for a process with this number of threads. Returns its length; 0: none
 * are left. */
static int64_t next_block(cb_scheduler *h, int64_t threads, int64_t *first) {
  const int64_t left = h->stopped ? 0 : h->count - h->given, all = (int64_t)h->ranks->size * h->threads;
  int64_t n = h->ranks->size == 1 ? left : left * threads / (SHARE * all);
  if (n < threads) n = threads;
  if (n > left) n = left;
  *first = h->given;
  h->given += n;
  return n;
}

static cb_status answer(cb_scheduler *h, int from, const int64_t *message) {
  int64_t reply[CB_RANKS_MESSAGE] = {GIVE};
  switch (message[0]) {
    case ASK:
      reply[2] = next_block(h, message[3], &reply[1]);
      /* fallthrough */
    case LEFT:
      h->of[from][0] = message[1];
      h->of[from][1] = message[2];
      if (message[0] == LEFT) {
        h->gone++;
        return CB_OK;
      }
      h->ranks->send(h->ranks->self, from, reply);
      return CB_OK;
    case GIVE: receive(h, message[1], message[2]); return CB_OK;
    default:
      h->stopped = true;
      pthread_cond_broadcast(&h->work);
      return CB_OK;
  }
}

static cb_status ask(cb_scheduler *h) {
  int64_t message[CB_RANKS_MESSAGE] = {ASK, h->done, h->failed, h->threads};
  h->asked = true;
  if (h->ranks->rank) {
    h->ranks->send(h->ranks->self, 0, message);
    return CB_OK;
  }
  message[2] = next_block(h, h->threads, &message[1]);
  receive(h, message[1], message[2]);
  return CB_OK;
}

/* If this rank was stopped, informs rank 0, which informs all other ranks. Also informs rank 0 when all threads of this
 * rank have left. */
static void notify(cb_scheduler *h) {
  int64_t message[CB_RANKS_MESSAGE] = {STOP};
  if (h->stopped && !h->stop_sent) {
    h->stop_sent = true;
    for (int r = 0; r < h->ranks->size; r++)
      if (r != h->ranks->rank && (h->ranks->rank == 0 || r == 0)) h->ranks->send(h->ranks->self, r, message);
  }
  if (h->left == h->threads && !h->leave_sent && h->ranks->rank) {
    const int64_t left[CB_RANKS_MESSAGE] = {LEFT, h->done, h->failed};
    h->leave_sent = true;
    h->ranks->send(h->ranks->self, 0, left);
  }
}

static void rest(cb_scheduler *h) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_nsec += h->ranks->size > 1 ? TURN : LONG_TURN;
  if (t.tv_nsec >= 1000000000) {
    t.tv_nsec -= 1000000000;
    t.tv_sec++;
  }
  pthread_cond_timedwait(&h->wake, &h->mutex, &t);
}

cb_status cb_scheduler_serve(cb_scheduler *h, bool *over) {
  int from;
  int64_t message[CB_RANKS_MESSAGE];
  cb_status status = CB_OK;
  pthread_mutex_lock(&h->mutex);
  while (!status && h->ranks->poll(h->ranks->self, &from, message)) status = answer(h, from, message);
  if (!status && !h->asked && !h->ended && !h->stopped && is_low(h)) status = ask(h);
  notify(h);
  *over = h->left == h->threads && (h->ranks->rank ? h->leave_sent : h->gone == h->ranks->size - 1);
  if (!status && !*over) rest(h);
  pthread_mutex_unlock(&h->mutex);
  return status;
}

/* --- ranks --- */

static bool send_none(void *self, int to, const int64_t message[CB_RANKS_MESSAGE]) {
  (void)self;
  (void)to;
  (void)message;
  return true;
}
static bool poll_none(void *self, int *from, int64_t message[CB_RANKS_MESSAGE]) {
  (void)self;
  (void)from;
  (void)message;
  return false;
}
static bool broadcast_none(void *self, void *data, size_t bytes) {
  (void)self;
  (void)data;
  (void)bytes;
  return true;
}
static void finish_none(void *self, bool failed) {
  (void)self;
  (void)failed;
}

/* Returns the number of ranks from the environment variables that mpirun sets; 1 if there are none. */
static long started_with(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *text = getenv(names[i]);
    if (text && atol(text) > 1) return atol(text);
  }
  return 1;
}

/* Loads the module. In the build folder it is next to the program, and in the installation in the folder of
 * libraries. */
static void *load(void) {
  static const char *const places[] = {"curvebody-mpi.so", "../" CURVEBODY_LIBDIR "/curvebody/curvebody-mpi.so"};
  char path[2 * PATH_MAX];
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (cb_beside_program(places[i], path, sizeof path)) return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  return NULL;
}

cb_status cb_ranks_begin(cb_ranks *out) {
  *out = (cb_ranks){CB_RANKS_VERSION, 0, 1, NULL, send_none, poll_none, broadcast_none, finish_none};
  const long size = started_with();
  if (size <= 1) return CB_OK;
  void *module = load();
  if (!module)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the program was started with %ld ranks, but their module, curvebody-mpi.so, is not installed: "
                   "install it (Debian: build with libopenmpi-dev installed), or use `--shard`",
                   size);
  bool (*begin)(cb_ranks *);
  *(void **)&begin = dlsym(module, "cb_ranks_mpi");
  if (!begin || !begin(out) || out->version != CB_RANKS_VERSION)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the module curvebody-mpi.so has another version, or MPI does not start: expected the module of "
                   "this installation");
  return CB_OK;
}
