/* What the stores of a folder have of the members. */
#include "core/failure.h"
#include "core/file.h"
#include "sweep/store_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A store that is read: arrays of its slots. */
typedef struct reading {
  const cb_store_layout *layout;
  cb_store_map map;
  int file;
  int64_t *member;
  int32_t *status, *digest, *warned;
  double *seconds;
} reading;

static bool get(int file, uint64_t offset, void *data, size_t bytes) {
  size_t got;
  const int error = cb_read_at(file, offset, bytes, data, &got);
  errno = error ? error : EIO; /* where it ends before */
  return !error && got == bytes;
}

static void end(reading *r) {
  if (r->file >= 0) close(r->file);
  cb_store_map_free(&r->map);
  free(r->member);
  free(r->status);
  free(r->digest);
  free(r->seconds);
  free(r->warned);
}

static cb_status begin(const char *path, const cb_store_layout *layout, reading *r) {
  *r = (reading){.layout = layout, .file = -1};
  cb_status status = cb_store_map_read(path, layout, &r->map);
  if (status) return status;
  const size_t n = r->map.capacity;
  r->member = malloc(n * sizeof *r->member);
  r->status = malloc(n * sizeof *r->status);
  r->digest = malloc(n * sizeof *r->digest);
  r->seconds = malloc(n * sizeof *r->seconds);
  r->warned = calloc(n, sizeof *r->warned);
  if (!r->warned || !r->member || !r->status || !r->digest || !r->seconds)
    return end(r), cb_fail(CB_ERROR_MEMORY, "no memory for %zu slots", n);
  r->file = cb_open(path, O_RDONLY);
  if (r->file < 0 || !get(r->file, r->map.own[CB_STORE_MEMBER], r->member, n * sizeof *r->member) ||
      !get(r->file, r->map.own[CB_STORE_STATUS], r->status, n * sizeof *r->status) ||
      !get(r->file, r->map.own[CB_STORE_DIGEST], r->digest, n * sizeof *r->digest) ||
      !get(r->file, r->map.own[CB_STORE_SECONDS], r->seconds, n * sizeof *r->seconds) ||
      (r->map.own[CB_STORE_WARNED] &&
       !get(r->file, r->map.own[CB_STORE_WARNED], r->warned, n * sizeof *r->warned))) {
    status = cb_fail_file(path, "read", errno);
    end(r);
  }
  return status;
}

/* Members of some slots are read at once. */
enum { AT_ONCE = 1 << 22 };

/* Takes back the status of members whose values are not those of their digest. */
static cb_status check(reading *r) {
  size_t bytes = 1;
  for (size_t f = 0; f < r->layout->n_fields; f++) bytes += r->map.bytes[f];
  const size_t n = bytes < AT_ONCE ? AT_ONCE / bytes : 1;
  unsigned char **piece = calloc(r->layout->n_fields + 1, sizeof *piece);
  bool good = piece != NULL;
  for (size_t f = 0; f < r->layout->n_fields && good; f++) good = (piece[f] = malloc(n * r->map.bytes[f] + 1)) != NULL;
  cb_status status = good ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %zu members", n);
  for (size_t from = 0; from < r->map.capacity && !status; from += n) {
    const size_t end = from + n < r->map.capacity ? from + n : r->map.capacity;
    bool any = false;
    for (size_t s = from; s < end; s++) any = any || r->status[s];
    for (size_t f = 0; any && f < r->layout->n_fields && !status; f++)
      if (!get(r->file, r->map.field[f] + from * r->map.bytes[f], piece[f], (end - from) * r->map.bytes[f]))
        status = cb_fail(CB_ERROR_FILE, "cannot read the results: %s", strerror(errno));
    for (size_t s = from; any && s < end && !status; s++)
      if (r->status[s] && r->digest[s] != cb_store_digest(r->member[s], r->status[s], r->layout, &r->map,
                                                          (const unsigned char *const *)piece, s - from))
        r->status[s] = CB_MEMBER_MISSING;
  }
  for (size_t f = 0; piece && f < r->layout->n_fields; f++) free(piece[f]);
  free(piece);
  return status;
}

/* Done is more than failed, failed more than missing; of equals the later name has it. */
static int rank_of(uint8_t status) { return status == CB_MEMBER_DONE ? 2 : status == CB_MEMBER_FAILED; }

static void add(cb_survey *s, const reading *r, int32_t store) {
  for (size_t i = 0; i < r->map.capacity; i++) {
    const int64_t m = r->member[i];
    if (m < 0 || m >= s->members) continue;
    const uint8_t status =
        r->status[i] == CB_MEMBER_DONE || r->status[i] == CB_MEMBER_FAILED ? (uint8_t)r->status[i] : CB_MEMBER_MISSING;
    if (status == CB_MEMBER_DONE && r->seconds[i] > 0) s->seconds += r->seconds[i];
    if (s->store[m] >= 0 && rank_of(status) < rank_of(s->status[m])) continue;
    s->warned[m] = status && r->warned[i] > 0;
    s->status[m] = status;
    s->store[m] = store;
    s->slot[m] = (int32_t)i;
  }
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static cb_status list(const char *folder, cb_survey *s) {
  const int fd = cb_open(folder, O_RDONLY | O_DIRECTORY);
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (!dir) {
    const cb_status status = cb_fail_file(folder, "read", errno);
    if (fd >= 0) close(fd);
    return status;
  }
  cb_status status = CB_OK;
  for (const struct dirent *e; !status && (errno = 0, e = readdir(dir));) {
    const size_t length = strlen(e->d_name);
    if (length < 4 || strcmp(e->d_name + length - 3, ".h5")) continue;
    char **name = realloc(s->name, (s->stores + 1) * sizeof *name);
    if (name) s->name = name;
    if (!name || !(s->name[s->stores] = strdup(e->d_name)))
      status = cb_fail(CB_ERROR_MEMORY, "no memory for names");
    else
      s->stores++;
  }
  if (!status && errno) status = cb_fail_file(folder, "read", errno);
  closedir(dir);
  if (s->stores) qsort(s->name, s->stores, sizeof *s->name, by_name);
  return status;
}

cb_status cb_survey_take(const char *folder, const cb_store_layout *layout, bool whole, cb_survey *out) {
  const size_t n = (size_t)layout->members;
  cb_survey s = {.members = layout->members,
                 .status = calloc(n, 1),
                 .warned = calloc(n, 1),
                 .store = malloc(n * sizeof *s.store),
                 .slot = malloc(n * sizeof *s.slot)};
  if (!s.status || !s.warned || !s.store || !s.slot)
    return cb_survey_free(&s), cb_fail(CB_ERROR_MEMORY, "no memory for %zu members", n);
  for (size_t i = 0; i < n; i++) s.store[i] = -1;
  cb_status status = list(folder, &s);
  for (size_t i = 0; i < s.stores && !status; i++) {
    char path[4096];
    reading r;
    snprintf(path, sizeof path, "%s/%s", folder, s.name[i]);
    if ((status = begin(path, layout, &r))) break;
    if (whole) status = check(&r);
    if (!status) add(&s, &r, (int32_t)i);
    end(&r);
  }
  if (status) return cb_survey_free(&s), status;
  *out = s;
  return CB_OK;
}

void cb_survey_free(cb_survey *s) {
  for (size_t i = 0; i < s->stores; i++) free(s->name[i]);
  free(s->name);
  free(s->status);
  free(s->warned);
  free(s->store);
  free(s->slot);
  *s = (cb_survey){0};
}

static char *read_words(const char *folder, const cb_store_layout *layout, const cb_survey *s, int64_t member,
                        int which) {
  char path[4096], *words = calloc(CB_STORE_WORDS + 1, 1);
  cb_store_map map;
  if (!words || s->store[member] < 0) return free(words), NULL;
  snprintf(path, sizeof path, "%s/%s", folder, s->name[s->store[member]]);
  if (cb_store_map_read(path, layout, &map)) return free(words), NULL;
  const int file = cb_open(path, O_RDONLY);
  const uint64_t at = map.own[which] + (uint64_t)s->slot[member] * CB_STORE_WORDS;
  const bool good = file >= 0 && map.own[which] && get(file, at, words, CB_STORE_WORDS);
  if (file >= 0) close(file);
  cb_store_map_free(&map);
  if (!good) free(words);
  return good ? words : NULL;
}

char *cb_survey_words(const char *folder, const cb_store_layout *layout, const cb_survey *s, int64_t member) {
  return read_words(folder, layout, s, member, CB_STORE_FAILURE);
}

char *cb_survey_warning(const char *folder, const cb_store_layout *layout, const cb_survey *s, int64_t member) {
  return read_words(folder, layout, s, member, CB_STORE_WARNING);
}
