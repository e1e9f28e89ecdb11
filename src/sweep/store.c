#include "core/failure.h"
#include "core/file.h"
#include "record/hdf5.h"
#include "sweep/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { AT_ONCE = 64 }; /* members */

/* Members [first, first + n) in slots from `slot` on. */
typedef struct run {
  int64_t first;
  size_t n, slot;
} run;

struct cb_store {
  char *path;
  const cb_store_layout *layout;
  cb_store_map map;
  int file, lock;
  int64_t first; /* < 0: slots are taken as members come */
  bool *taken;   /* [capacity], where they are */
  size_t room;
  run *runs;
  size_t n_runs;
  pthread_mutex_t mutex; /* guards runs */
};

static cb_status put(const cb_store *store, uint64_t offset, const void *data, size_t bytes) {
  const char *at = data;
  while (bytes) {
    const ssize_t n = pwrite(store->file, at, bytes, (off_t)offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return cb_fail_file(store->path, "write", n < 0 ? errno : ENOSPC);
    at += n;
    offset += (uint64_t)n;
    bytes -= (size_t)n;
  }
  return CB_OK;
}

static cb_status get(const cb_store *store, uint64_t offset, void *data, size_t bytes) {
  size_t got;
  const int error = cb_read_at(store->file, offset, bytes, data, &got);
  return error || got < bytes ? cb_fail_file(store->path, "read", error ? error : EIO) : CB_OK;
}

static uint64_t own(const cb_store *store, int which, size_t slot) {
  return store->map.own[which] + slot * cb_store_owns[which].bytes;
}

/* --- opening --- */

static cb_status lock(cb_store *store) {
  char path[4096];
  if ((size_t)snprintf(path, sizeof path, "%s.lock", store->path) >= sizeof path)
    return cb_fail(CB_ERROR_FILE, "%s: the name is too long", store->path);
  store->lock = cb_open(path, O_RDWR | O_CREAT);
  if (store->lock < 0) return cb_fail_file(store->path, "lock", errno);
  const int error = cb_lock(store->lock, LOCK_EX);
  if (error == EWOULDBLOCK)
    return cb_fail(CB_ERROR_FILE, "%s: is being written by another sweep that runs", store->path);
  return error ? cb_fail_file(store->path, "lock", error) : CB_OK;
}

/* Slots whose members are done are taken; the others are of none again. */
static cb_status find_free(cb_store *store) {
  const size_t n = store->map.capacity;
  int64_t *member = malloc(n * sizeof *member);
  int32_t *status = malloc(n * sizeof *status);
  store->taken = calloc(n, sizeof *store->taken);
  cb_status found = member && status && store->taken ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %zu slots", n);
  if (!found) found = get(store, own(store, CB_STORE_MEMBER, 0), member, n * sizeof *member);
  if (!found) found = get(store, own(store, CB_STORE_STATUS, 0), status, n * sizeof *status);
  store->room = 0;
  for (size_t i = 0; i < n && !found; i++) {
    store->taken[i] = member[i] >= 0 && status[i] != CB_MEMBER_MISSING;
    store->room += !store->taken[i];
    if (member[i] >= 0 && !store->taken[i]) member[i] = -1;
  }
  if (!found) found = put(store, own(store, CB_STORE_MEMBER, 0), member, n * sizeof *member);
  free(member);
  free(status);
  return found;
}

cb_status cb_store_open(const char *path, const cb_store_layout *layout, size_t capacity, int64_t first,
                        cb_store **out) {
  cb_store *store = calloc(1, sizeof *store);
  if (!store || !(store->path = strdup(path))) return free(store), cb_fail(CB_ERROR_MEMORY, "no memory for a store");
  pthread_mutex_init(&store->mutex, NULL);
  store->layout = layout;
  store->first = first;
  store->file = store->lock = -1;
  struct stat info;
  bool there;
  cb_status status = lock(store);
  if (!status) status = cb_find_file(path, "read", &info, &there);
  if (!status && !there) status = cb_store_make(path, layout, capacity, first);
  if (!status && !there) cb_probe_trust(path);
  if (!status) status = cb_store_map_read(path, layout, &store->map);
  if (!status && first >= 0 && store->map.capacity != capacity)
    status =
        cb_fail_placed(CB_ERROR_INPUT, "%s: error: expected %zu slots, found %zu", path, capacity, store->map.capacity);
  if (!status && (store->file = cb_open(path, O_RDWR)) < 0) status = cb_fail_file(store->path, "open", errno);
  if (!status) status = first < 0 ? find_free(store) : (store->room = capacity, CB_OK);
  return status ? cb_store_free(store), status : (*out = store, CB_OK);
}

void cb_store_free(cb_store *store) {
  if (!store) return;
  if (store->file >= 0) close(store->file);
  if (store->lock >= 0) close(store->lock);
  pthread_mutex_destroy(&store->mutex);
  cb_store_map_free(&store->map);
  free(store->taken);
  free(store->runs);
  free(store->path);
  free(store);
}

/* --- slots --- */

size_t cb_store_room(const cb_store *store) { return store->room; }

static cb_status take(cb_store *store, int64_t first, size_t n, size_t slot) {
  run *runs = realloc(store->runs, (store->n_runs + 1) * sizeof *runs);
  int64_t *member = malloc(n * sizeof *member);
  if (runs) store->runs = runs;
  cb_status status = runs && member ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %zu slots", n);
  for (size_t i = 0; i < n && !status; i++) member[i] = first + (int64_t)i;
  if (!status) status = put(store, own(store, CB_STORE_MEMBER, slot), member, n * sizeof *member);
  free(member);
  if (status) return status;
  store->runs[store->n_runs++] = (run){first, n, slot};
  memset(store->taken + slot, 1, n);
  store->room -= n;
  return CB_OK;
}

cb_status cb_store_lease(cb_store *store, int64_t first, size_t n) {
  if (store->first >= 0) return CB_OK;
  if (n > store->room) return cb_fail(CB_ERROR_ARGUMENT, "%s: no room for %zu members", store->path, n);
  cb_status status = CB_OK;
  pthread_mutex_lock(&store->mutex);
  for (size_t slot = 0; slot < store->map.capacity && n && !status; slot++) {
    size_t free = 0;
    while (free < n && slot + free < store->map.capacity && !store->taken[slot + free]) free++;
    if (!free) continue;
    status = take(store, first, free, slot);
    first += (int64_t)free;
    n -= free;
  }
  pthread_mutex_unlock(&store->mutex);
  return status;
}

/* The capacity where there is none. */
static size_t slot_of(cb_store *store, int64_t member) {
  size_t slot = store->map.capacity;
  if (store->first >= 0)
    return member >= store->first && (uint64_t)(member - store->first) < slot ? (size_t)(member - store->first) : slot;
  pthread_mutex_lock(&store->mutex);
  for (size_t r = store->n_runs; r-- > 0;) {
    const run *at = &store->runs[r];
    if (member < at->first || member >= at->first + (int64_t)at->n) continue;
    slot = at->slot + (size_t)(member - at->first);
    break;
  }
  pthread_mutex_unlock(&store->mutex);
  return slot;
}

bool cb_store_has(cb_store *store, int64_t member) { return slot_of(store, member) != store->map.capacity; }

/* --- values --- */

void cb_store_words(const char *text, char words[CB_STORE_WORDS]) {
  size_t n = strlen(text);
  if (n > CB_STORE_WORDS)
    for (n = CB_STORE_WORDS; n && ((unsigned char)text[n] & 0xc0) == 0x80;) n--;
  memset(words, 0, CB_STORE_WORDS);
  memcpy(words, text, n);
}

/* Whether one of slots[n] failed, or did so before and has words. */
static cb_status has_words(const cb_store *store, size_t slot, size_t n, const int32_t *status, bool *any) {
  int32_t before[AT_ONCE];
  const cb_status read = get(store, own(store, CB_STORE_STATUS, slot), before, n * sizeof *before);
  *any = false;
  for (size_t i = 0; i < n && !read; i++) *any = *any || before[i] != CB_MEMBER_MISSING || status[i] != CB_MEMBER_DONE;
  return read;
}

/* Results begin .. begin + n, of slots in a row. */
static cb_status put_row(const cb_store *store, const cb_store_results *r, size_t begin, size_t n, size_t slot) {
  const cb_store_layout *l = store->layout;
  int32_t digest[AT_ONCE];
  bool words;
  cb_status status = has_words(store, slot, n, r->status + begin, &words);
  for (size_t f = 0; f < l->n_fields && !status; f++) {
    const size_t bytes = store->map.bytes[f];
    status = put(store, store->map.field[f] + slot * bytes, r->values[f] + begin * bytes, n * bytes);
  }
  for (size_t i = 0; i < n; i++)
    digest[i] = cb_store_digest(r->member[begin + i], r->status[begin + i], l, &store->map, r->values, begin + i);
  if (!status && words) status = put(store, own(store, CB_STORE_FAILURE, slot), r->words[begin], n * sizeof *r->words);
  if (!status) status = put(store, own(store, CB_STORE_SECONDS, slot), r->seconds + begin, n * sizeof *r->seconds);
  if (!status) status = put(store, own(store, CB_STORE_DIGEST, slot), digest, n * sizeof *digest);
  return status ? status : put(store, own(store, CB_STORE_STATUS, slot), r->status + begin, n * sizeof *r->status);
}

cb_status cb_store_put(cb_store *store, const cb_store_results *r) {
  cb_status status = CB_OK;
  for (size_t i = 0, n; i < r->n && !status; i += n) {
    const size_t slot = slot_of(store, r->member[i]);
    if (slot == store->map.capacity)
      return cb_fail(CB_ERROR_ARGUMENT, "%s: member %lld has no slot", store->path, (long long)r->member[i]);
    for (n = 1; n < AT_ONCE && i + n < r->n && slot_of(store, r->member[i + n]) == slot + n;) n++;
    status = put_row(store, r, i, n, slot);
  }
  return status;
}

/* A member without any, which may have had some before, has its number written alone. */
cb_status cb_store_put_warnings(cb_store *store, size_t n, const int64_t *member, const int32_t *warned,
                                const char (*warning)[CB_STORE_WORDS]) {
  cb_status status = CB_OK;
  if (!store->map.own[CB_STORE_WARNED] || !store->map.own[CB_STORE_WARNING]) return CB_OK;
  for (size_t i = 0, m; i < n && !status; i += m) {
    const size_t slot = slot_of(store, member[i]);
    bool any = warned[i] > 0;
    for (m = 1; i + m < n && slot_of(store, member[i + m]) == slot + m; m++) any = any || warned[i + m] > 0;
    if (slot == store->map.capacity) continue; /* its results say so */
    status = put(store, own(store, CB_STORE_WARNED, slot), warned + i, m * sizeof *warned);
    if (!status && any) status = put(store, own(store, CB_STORE_WARNING, slot), warning[i], m * sizeof *warning);
  }
  return status;
}

cb_status cb_store_sync(cb_store *store) {
  const int error = cb_sync_data(store->file);
  return error ? cb_fail_file(store->path, "write", error) : CB_OK;
}
