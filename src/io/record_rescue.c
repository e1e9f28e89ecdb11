/* The side of who writes a record: record_rescue.h. */
#include "io/record_rescue.h"
#include "core/file.h"
#include "io/output.h"
#include "io/record_journal.h"
#include "io/record_rescue_copy.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRONT = 32, BATCH = 64 };

/* A set of pages by number. */
typedef struct pages {
  unsigned char *bit;
  uint64_t room;
} pages;

struct cb_rescue {
  char *path;
  int fd; /* -1: none yet, or no room for it */
  bool given_up;
  cb_rescue_head now; /* of the last sync */
  uint64_t end;       /* of its entries, with those that came after */
  pages kept, touched, touched_before;
};

/* ---- Sets of pages */

static bool has(const pages *p, uint64_t page) { return page / 8 < p->room && p->bit[page / 8] & 1 << page % 8; }

static bool put(pages *p, uint64_t page) {
  if (page / 8 >= p->room) {
    const uint64_t room = 2 * (page / 8) + 64;
    unsigned char *bit = realloc(p->bit, room);
    if (!bit) return false;
    memset(bit + p->room, 0, room - p->room);
    p->bit = bit, p->room = room;
  }
  p->bit[page / 8] |= (unsigned char)(1 << page % 8);
  return true;
}

static bool put_all(pages *p, const pages *more) {
  for (uint64_t page = 0; page < 8 * more->room; page++)
    if (has(more, page) && !put(p, page)) return false;
  return true;
}

static int put_entries(const cb_rescue *r, int fd, const cb_rescue_head *h, const pages *set) {
  unsigned char *batch = malloc((size_t)BATCH * RESCUE_ENTRY);
  if (!batch) return ENOMEM;
  uint64_t at = h->place;
  int have = 0, error = 0;
  for (uint64_t page = 0; page < 8 * set->room && !error; page++) {
    if (!has(set, page)) continue;
    error = cb_rescue_entry(fd, h->epoch, page, batch + have++ * RESCUE_ENTRY);
    if (error || have < BATCH) continue;
    error = cb_journal_write(r->fd, at, (size_t)have * RESCUE_ENTRY, batch);
    at += (uint64_t)have * RESCUE_ENTRY, have = 0;
  }
  if (!error && have) error = cb_journal_write(r->fd, at, (size_t)have * RESCUE_ENTRY, batch);
  free(batch);
  return error;
}

cb_rescue *cb_rescue_new(const char *path) {
  cb_rescue *r = calloc(1, sizeof *r);
  if (!r || !(r->path = cb_rescue_name(path))) return free(r), NULL;
  r->fd = -1;
  return r;
}

static void close_file(cb_rescue *r, bool remove) {
  if (r->fd < 0) return;
  const bool left = remove && unlink(r->path) < 0 && cb_set_length(r->fd, 0); /* an empty one is none */
  (void)left;
  close(r->fd);
  r->fd = -1;
}

void cb_rescue_free(cb_rescue *r, bool remove) {
  if (!r) return;
  if (remove && r->given_up) unlink(r->path); /* a killed writer's, that could not be gone on with */
  close_file(r, remove);
  free(r->kept.bit), free(r->touched.bit), free(r->touched_before.bit);
  free(r->path);
  free(r);
}

/* Where there is no room for copies, or no file can be made beside it, the record is written without. */
static int without(cb_rescue *r, int error) {
  const bool fits = error != ENOSPC && error != EDQUOT && error != EFBIG;
  if (fits && error != EACCES && error != EPERM && error != EROFS) return error;
  close_file(r, true);
  r->given_up = true;
  return 0;
}

/* The front of the file, where its headers lie; what was overwritten since the sync before the last; what is asked. */
static bool choose(const cb_rescue *r, uint64_t length, const cb_stretch *keep, size_t n, pages *set) {
  bool ok = put_all(set, &r->touched) && put_all(set, &r->touched_before);
  for (uint64_t page = 0; page < FRONT; page++) ok = ok && put(set, page);
  for (size_t i = 0; i < n; i++)
    for (uint64_t page = keep[i].at / RESCUE_PAGE; keep[i].size && page * RESCUE_PAGE < keep[i].at + keep[i].size;
         page++)
      ok = ok && put(set, page);
  for (uint64_t page = (length + RESCUE_PAGE - 1) / RESCUE_PAGE; page < 8 * set->room; page++)
    set->bit[page / 8] &= (unsigned char)~(1 << page % 8);
  return ok;
}

/* One that a killed writer left is gone on with: its newest copy stays until ours is whole. */
static int make_file(cb_rescue *r) {
  r->fd = cb_open(r->path, O_RDWR | O_CREAT | O_NOFOLLOW);
  if (r->fd < 0) return errno;
  unsigned char *entry = malloc(RESCUE_ENTRY);
  if (!entry) return ENOMEM;
  cb_rescue_copy c = {.fd = r->fd};
  r->now = cb_rescue_newest(&c, entry);
  uint64_t entries = 0;
  while (r->now.epoch && cb_rescue_read_entry(&c, &r->now, entries, entry)) entries++;
  r->end = r->now.place + entries * RESCUE_ENTRY;
  free(entry);
  return c.error ? c.error : cb_sync_folder(r->path);
}

static int write_copy(cb_rescue *r, int fd, const cb_rescue_head *h, const pages *set) {
  unsigned char bytes[RESCUE_HEAD];
  int error = put_entries(r, fd, h, set);
  cb_rescue_put_head(h, bytes);
  if (!error) error = cb_journal_write(r->fd, h->epoch % RESCUE_HEADS * RESCUE_HEAD_EVERY, RESCUE_HEAD, bytes);
  return error ? error : cb_sync_data(r->fd);
}

int cb_rescue_sync(cb_rescue *r, int fd, cb_record_position at, const cb_stretch *keep, size_t n) {
  struct stat info;
  pages set = {0};
  const int unsynced = cb_sync_data(fd);
  if (unsynced) return unsynced;
  if (fstat(fd, &info) < 0) return errno;
  if (r->given_up) return 0;
  int error = r->fd < 0 ? make_file(r) : 0;
  if (error) return without(r, error);
  cb_rescue_head h = {.epoch = r->now.epoch + 1,
                      .place = RESCUE_PAGE,
                      .length = (uint64_t)info.st_size,
                      .rows = at.rows,
                      .events = at.events,
                      .checkpoints = at.checkpoints,
                      .boot = cb_rescue_boot()};
  error = choose(r, h.length, keep, n, &set) ? 0 : ENOMEM;
  for (uint64_t page = 0; page < 8 * set.room; page++) h.pages += has(&set, page);
  /* before the last copy, if there is room, or behind it: it stays whole until this one is */
  if (r->now.epoch && r->now.place - RESCUE_PAGE < h.pages * RESCUE_ENTRY) h.place = r->end;
  if (!error) error = write_copy(r, fd, &h, &set);
  if (error) return free(set.bit), without(r, error);
  r->now = h;
  r->end = h.place + h.pages * RESCUE_ENTRY;
  free(r->kept.bit), free(r->touched_before.bit);
  r->kept = set;
  r->touched_before = r->touched;
  r->touched = (pages){0};
  return 0;
}

/* Behind the others, not yet synced. 0 or errno. */
static int append(cb_rescue *r, int fd, uint64_t page, unsigned char *entry) {
  int error = cb_rescue_entry(fd, r->now.epoch, page, entry);
  if (!error) error = cb_journal_write(r->fd, r->end, RESCUE_ENTRY, entry);
  if (!error && !put(&r->kept, page)) error = ENOMEM;
  if (!error) r->end += RESCUE_ENTRY;
  return error;
}

int cb_rescue_before(cb_rescue *r, int fd, uint64_t at, size_t size) {
  const uint64_t before = r->end;
  unsigned char *entry = NULL;
  int error = 0;
  for (uint64_t page = at / RESCUE_PAGE; !error && !r->given_up && page * RESCUE_PAGE < at + size; page++) {
    if (!put(&r->touched, page)) error = ENOMEM;
    if (error || r->fd < 0 || page * RESCUE_PAGE >= r->now.length || has(&r->kept, page)) continue;
    if (!entry && !(entry = malloc(RESCUE_ENTRY))) error = ENOMEM;
    if (!error) error = append(r, fd, page, entry);
  }
  if (!error && r->end > before) error = cb_sync_data(r->fd);
  free(entry);
  return without(r, error);
}
