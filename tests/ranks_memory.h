/* Ranks of a sweep (cb_ranks in sweep/scheduler.h) that are threads of one process. They exchange messages through
 * queues in memory. */
#pragma once

#include "sweep/scheduler.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct message {
  struct message *next;
  int from;
  int64_t content[CB_RANKS_MESSAGE];
} message;

typedef struct inbox {
  struct shared *shared;
  int rank;
  pthread_mutex_t mutex;
  message *first, **last;
} inbox;

typedef struct shared {
  int size;
  pthread_mutex_t mutex;
  pthread_cond_t turn;
  int arrived;
  uint64_t round;
  void *data;
  inbox box[];
} shared;

static inline bool ranks_send(void *self, int to, const int64_t content[CB_RANKS_MESSAGE]) {
  inbox *mine = self, *box = &mine->shared->box[to];
  message *m = malloc(sizeof *m);
  if (!m) return false;
  *m = (message){.from = mine->rank};
  memcpy(m->content, content, sizeof m->content);
  pthread_mutex_lock(&box->mutex);
  *box->last = m;
  box->last = &m->next;
  pthread_mutex_unlock(&box->mutex);
  return true;
}

static inline bool ranks_poll(void *self, int *from, int64_t content[CB_RANKS_MESSAGE]) {
  inbox *box = self;
  pthread_mutex_lock(&box->mutex);
  message *m = box->first;
  if (m && !(box->first = m->next)) box->last = &box->first;
  pthread_mutex_unlock(&box->mutex);
  if (!m) return false;
  *from = m->from;
  memcpy(content, m->content, sizeof m->content);
  free(m);
  return true;
}

/* Copies `data` from rank 0 to all ranks. Every rank waits until all ranks have a copy. */
static inline bool ranks_broadcast(void *self, void *data, size_t bytes) {
  inbox *mine = self;
  shared *s = mine->shared;
  pthread_mutex_lock(&s->mutex);
  const uint64_t round = s->round;
  if (mine->rank == 0) {
    s->data = data;
    pthread_cond_broadcast(&s->turn);
  }
  while (!s->data) pthread_cond_wait(&s->turn, &s->mutex);
  if (mine->rank) memcpy(data, s->data, bytes);
  if (++s->arrived == s->size) {
    s->arrived = 0;
    s->data = NULL;
    s->round++;
    pthread_cond_broadcast(&s->turn);
  }
  while (round == s->round) pthread_cond_wait(&s->turn, &s->mutex);
  pthread_mutex_unlock(&s->mutex);
  return true;
}

static inline void ranks_finish(void *self, bool failed) {
  (void)self;
  (void)failed;
}

/* Creates ranks[size], one for each thread. ranks_free_memory frees them. */
static inline cb_status ranks_in_memory(int size, cb_ranks *ranks) {
  shared *s = calloc(1, sizeof *s + (size_t)size * sizeof *s->box);
  if (!s) return cb_fail(CB_ERROR_MEMORY, "no memory for %d ranks", size);
  s->size = size;
  pthread_mutex_init(&s->mutex, NULL);
  pthread_cond_init(&s->turn, NULL);
  for (int i = 0; i < size; i++) {
    inbox *box = &s->box[i];
    box->shared = s;
    box->rank = i;
    box->last = &box->first;
    pthread_mutex_init(&box->mutex, NULL);
    ranks[i] = (cb_ranks){CB_RANKS_VERSION, i, size, box, ranks_send, ranks_poll, ranks_broadcast, ranks_finish};
  }
  return CB_OK;
}

static inline void ranks_free_memory(cb_ranks *ranks) {
  shared *s = ((inbox *)ranks[0].self)->shared;
  for (int i = 0; i < s->size; i++) {
    int from;
    int64_t content[CB_RANKS_MESSAGE];
    while (ranks_poll(&s->box[i], &from, content)) continue;
    pthread_mutex_destroy(&s->box[i].mutex);
  }
  pthread_cond_destroy(&s->turn);
  pthread_mutex_destroy(&s->mutex);
  free(s);
}
