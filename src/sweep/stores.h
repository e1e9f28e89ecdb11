/* The stores that one process writes, one after another as they get full, and which members it has to do. */
#ifndef CB_SWEEP_STORES_H
#define CB_SWEEP_STORES_H

#include "sweep/ranks.h"
#include "sweep/store.h"

/* Members member .. member + n, the at-th of those to be done and what follows it. */
typedef struct cb_span {
  int64_t member, n, at;
} cb_span;

/* Members that are to be done, counted from 0. */
typedef struct cb_to_do {
  cb_span *span;
  size_t spans;
  int64_t count;
} cb_to_do;
/* Those of first .. end of which ended[m] is 0. */
cb_status cb_to_do_find(const uint8_t *ended, int64_t first, int64_t end, cb_to_do *out);
/* The at-th of them, and how many in a row there are from it on. */
int64_t cb_to_do_member(const cb_to_do *t, int64_t at, int64_t *row);

enum { CB_STORES = 512 };
typedef struct cb_stores {
  const char *folder;
  const cb_store_layout *layout;
  const cb_ranks *ranks;
  int threads, shard, shards;
  int64_t first, end;         /* members of this process, or of all ranks */
  cb_store *store[CB_STORES]; /* the last one is being filled */
  _Atomic int count;
  int names; /* that were tried */
} cb_stores;

/* Another store, with room for the share that a rank has of the members. */
cb_status cb_stores_open(cb_stores *s);
void cb_stores_free(cb_stores *s);
/* Members first .. first + n of those to be done get slots. */
cb_status cb_stores_lease(cb_stores *s, const cb_to_do *t, int64_t first, int64_t n);
/* The store that has a slot for a member. */
cb_store *cb_stores_of(const cb_stores *s, int64_t member);
cb_status cb_stores_sync(const cb_stores *s);

#endif
