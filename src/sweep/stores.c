#include "sweep/stores.h"

#include <stdio.h>
#include <stdlib.h>

/* --- what is to be done --- */

cb_status cb_to_do_find(const uint8_t *ended, int64_t first, int64_t end, cb_to_do *t) {
  size_t room = 0;
  *t = (cb_to_do){0};
  for (int64_t m = first; m < end;) {
    if (ended[m]) {
      m++;
      continue;
    }
    int64_t to = m;
    while (to < end && !ended[to]) to++;
    if (t->spans == room) {
      room = room ? 2 * room : 64;
      cb_span *more = realloc(t->span, room * sizeof *more);
      if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for a sweep");
      t->span = more;
    }
    t->span[t->spans++] = (cb_span){m, to - m, t->count};
    t->count += to - m;
    m = to;
  }
  return CB_OK;
}

int64_t cb_to_do_member(const cb_to_do *t, int64_t at, int64_t *row) {
  size_t low = 0, high = t->spans;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (t->span[middle].at <= at)
      low = middle;
    else
      high = middle;
  }
  *row = t->span[low].n - (at - t->span[low].at);
  return t->span[low].member + (at - t->span[low].at);
}

/* --- stores --- */

/* A process by itself, or a shard, has one store, whose slots are its members'. */
static bool is_own(const cb_stores *s) { return s->ranks->size == 1; }

static void name_of(const cb_stores *s, char *out, size_t size) {
  char more[24] = "";
  if (s->names) snprintf(more, sizeof more, "-%d", s->names);
  if (!is_own(s))
    snprintf(out, size, "%s/rank-%05d%s.h5", s->folder, s->ranks->rank, more);
  else if (s->shards)
    snprintf(out, size, "%s/shard-%05d-of-%05d.h5", s->folder, s->shard, s->shards);
  else
    snprintf(out, size, "%s/all.h5", s->folder);
}

cb_status cb_stores_open(cb_stores *s) {
  const int64_t members = s->end - s->first, share = members / s->ranks->size,
                room = share + share / 4 + 4 * s->threads, capacity = is_own(s) || room > members ? members : room;
  while (s->names < CB_STORES) {
    char path[4096];
    cb_store *store;
    name_of(s, path, sizeof path);
    const cb_status status = cb_store_open(path, s->layout, (size_t)capacity, is_own(s) ? s->first : -1, &store);
    if (status) return status;
    s->names++;
    if (cb_store_room(store)) {
      s->store[s->count] = store;
      s->count++;
      return CB_OK;
    }
    cb_store_free(store); /* full, of an earlier start */
  }
  return cb_fail(CB_ERROR_FILE, "%s: more than %d files of one rank", s->folder, CB_STORES);
}

void cb_stores_free(cb_stores *s) {
  for (int i = 0; i < s->count; i++) cb_store_free(s->store[i]);
  s->count = 0;
}

cb_status cb_stores_lease(cb_stores *s, const cb_to_do *t, int64_t first, int64_t n) {
  cb_status status = CB_OK;
  while (n && !status) {
    int64_t row;
    const int64_t member = cb_to_do_member(t, first, &row);
    if (!is_own(s) && !cb_store_room(s->store[s->count - 1])) status = cb_stores_open(s);
    if (status) break;
    cb_store *last = s->store[s->count - 1];
    const int64_t room = (int64_t)cb_store_room(last);
    if (row > n) row = n;
    if (row > room) row = room;
    status = cb_store_lease(last, member, (size_t)row);
    first += row;
    n -= row;
  }
  return status;
}

cb_store *cb_stores_of(const cb_stores *s, int64_t member) {
  for (int i = s->count; i-- > 1;)
    if (cb_store_has(s->store[i], member)) return s->store[i];
  return s->store[0];
}

cb_status cb_stores_sync(const cb_stores *s) {
  cb_status status = CB_OK;
  for (int i = 0; i < s->count && !status; i++) status = cb_store_sync(s->store[i]);
  return status;
}
