#include "sweep/hand.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ASK, GIVE, STOP, LEFT };                                            /* messages: words[0] */
enum { SHARE = 2, BLOCKS = 1 << 12, TURN = 500000, LONG_TURN = 50000000 }; /* ns */

typedef struct block {
  int64_t first, n;
} block;

struct cb_hand {
  const cb_ranks *ranks;
  int threads;
  int64_t count, given; /* rank 0's */
  int64_t (*of)[2];     /* [ranks]: done, failed; rank 0's */
  int gone;             /* ranks that have left; rank 0's */
  pthread_mutex_t mutex;
  pthread_cond_t work, wake; /* of threads, of the coordinator */
  block queue[BLOCKS];
  size_t head, tail; /* mod BLOCKS */
  int64_t queued, last_block;
  bool asked, ended, stopped, told_stop, told_left;
  int left;
  int64_t done, failed;
};

cb_status cb_hand_create(const cb_ranks *ranks, int64_t count, int threads, cb_hand **out) {
  cb_hand *h = calloc(1, sizeof *h);
  if (h) h->of = calloc((size_t)ranks->size, sizeof *h->of);
  if (!h || !h->of) return free(h), cb_fail(CB_ERROR_MEMORY, "no memory for the hand-out");
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
  return *out = h, CB_OK;
}

void cb_hand_free(cb_hand *h) {
  if (!h) return;
  pthread_cond_destroy(&h->wake);
  pthread_cond_destroy(&h->work);
  pthread_mutex_destroy(&h->mutex);
  free(h->of);
  free(h);
}

/* --- threads --- */

/* So few are left here that more are to be asked for. */
static bool is_low(const cb_hand *h) { return h->queued <= h->last_block / 2 + h->threads; }

int64_t cb_hand_take(cb_hand *h, int64_t most, int64_t *first) {
  pthread_mutex_lock(&h->mutex);
  while (h->head == h->tail && !h->ended && !h->stopped) {
    pthread_cond_signal(&h->wake);
    pthread_cond_wait(&h->work, &h->mutex);
  }
  int64_t n = 0;
  if (!h->stopped && h->head != h->tail) {
    block *b = &h->queue[h->head % BLOCKS];
    n = h->queued / (SHARE * h->threads);
    if (n > most) n = most;
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

void cb_hand_done(cb_hand *h, int64_t n, int64_t failed) {
  pthread_mutex_lock(&h->mutex);
  h->done += n - failed;
  h->failed += failed;
  pthread_mutex_unlock(&h->mutex);
}

void cb_hand_stop(cb_hand *h) {
  pthread_mutex_lock(&h->mutex);
  h->stopped = true;
  pthread_cond_broadcast(&h->work);
  pthread_cond_signal(&h->wake);
  pthread_mutex_unlock(&h->mutex);
}

void cb_hand_leave(cb_hand *h) {
  pthread_mutex_lock(&h->mutex);
  h->left++;
  pthread_cond_signal(&h->wake);
  pthread_mutex_unlock(&h->mutex);
}

bool cb_hand_stopped(cb_hand *h) {
  pthread_mutex_lock(&h->mutex);
  const bool stopped = h->stopped;
  pthread_mutex_unlock(&h->mutex);
  return stopped;
}

void cb_hand_progress(cb_hand *h, int64_t *done, int64_t *failed) {
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

/* A block has come to this process. */
static void receive(cb_hand *h, int64_t first, int64_t n) {
  if (n) {
    h->queue[h->tail++ % BLOCKS] = (block){first, n};
    h->queued += n;
    h->last_block = n;
  }
  h->ended = h->ended || !n;
  h->asked = false;
  pthread_cond_broadcast(&h->work);
}

/* The next block of what is left, for a process of so many threads; 0: nothing is. */
static int64_t next_block(cb_hand *h, int64_t threads, int64_t *first) {
  const int64_t left = h->stopped ? 0 : h->count - h->given, all = (int64_t)h->ranks->size * h->threads;
  int64_t n = h->ranks->size == 1 ? left : left * threads / (SHARE * all);
  if (n < threads) n = threads;
  if (n > left) n = left;
  *first = h->given;
  h->given += n;
  return n;
}

static cb_status answer(cb_hand *h, int from, const int64_t *words) {
  int64_t reply[CB_RANKS_WORDS] = {GIVE};
  switch (words[0]) {
    case ASK:
      reply[2] = next_block(h, words[3], &reply[1]);
      /* fallthrough */
    case LEFT:
      h->of[from][0] = words[1];
      h->of[from][1] = words[2];
      if (words[0] == LEFT) return h->gone++, CB_OK;
      h->ranks->send(h->ranks->self, from, reply);
      return CB_OK;
    case GIVE: receive(h, words[1], words[2]); return CB_OK;
    default:
      h->stopped = true;
      pthread_cond_broadcast(&h->work);
      return CB_OK;
  }
}

static cb_status ask(cb_hand *h) {
  int64_t words[CB_RANKS_WORDS] = {ASK, h->done, h->failed, h->threads};
  h->asked = true;
  if (h->ranks->rank) return h->ranks->send(h->ranks->self, 0, words), CB_OK;
  words[2] = next_block(h, h->threads, &words[1]);
  receive(h, words[1], words[2]);
  return CB_OK;
}

/* Tells the others what they have to know. */
static void tell(cb_hand *h) {
  int64_t words[CB_RANKS_WORDS] = {STOP};
  if (h->stopped && !h->told_stop) {
    h->told_stop = true;
    for (int r = 0; r < h->ranks->size; r++)
      if (r != h->ranks->rank && (h->ranks->rank == 0 || r == 0)) h->ranks->send(h->ranks->self, r, words);
  }
  if (h->left == h->threads && !h->told_left && h->ranks->rank) {
    const int64_t left[CB_RANKS_WORDS] = {LEFT, h->done, h->failed};
    h->told_left = true;
    h->ranks->send(h->ranks->self, 0, left);
  }
}

static void rest(cb_hand *h) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  t.tv_nsec += h->ranks->size > 1 ? TURN : LONG_TURN;
  if (t.tv_nsec >= 1000000000) t.tv_nsec -= 1000000000, t.tv_sec++;
  pthread_cond_timedwait(&h->wake, &h->mutex, &t);
}

cb_status cb_hand_serve(cb_hand *h, bool *over) {
  int from;
  int64_t words[CB_RANKS_WORDS];
  cb_status status = CB_OK;
  pthread_mutex_lock(&h->mutex);
  while (!status && h->ranks->poll(h->ranks->self, &from, words)) status = answer(h, from, words);
  if (!status && !h->asked && !h->ended && !h->stopped && is_low(h)) status = ask(h);
  tell(h);
  *over = h->left == h->threads && (h->ranks->rank ? h->told_left : h->gone == h->ranks->size - 1);
  if (!status && !*over) rest(h);
  pthread_mutex_unlock(&h->mutex);
  return status;
}
