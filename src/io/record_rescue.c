/* See record_rescue.h. */
#include "io/record_rescue.h"
#include "core/failure.h"
#include "core/file.h"
#include "io/output.h"
#include "io/record_digest.h"
#include "io/record_journal.h"
#include "io/record_superblock.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, HEAD = 80, HEADS = 2, HEAD_EVERY = 2048, ENTRY = 16 + PAGE, FRONT = 32, BATCH = 64 };
static const char mark[8] = {'c', 'b', 'r', 'e', 's', 'c', 'u', 'e'};

typedef struct head {
  uint64_t epoch, place, pages, length, rows, events, checkpoints, boot;
} head;

/* A set of pages by number. */
typedef struct pages {
  unsigned char *bit;
  uint64_t room;
} pages;

struct cb_rescue {
  char *path;
  int fd; /* -1: none yet, or no room for it */
  bool given_up;
  head now;     /* of the last sync */
  uint64_t end; /* of its entries, with those that came after */
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

/* ---- Entries */

static uint64_t entry_digest(uint64_t epoch, uint64_t page, const unsigned char *bytes) {
  return cb_digest_bytes(cb_digest_word(cb_digest_begin(epoch), page), bytes, PAGE);
}

/* A page of the record, zeros beyond its end. 0 or errno. */
static int read_page(int fd, uint64_t page, unsigned char *to) {
  size_t got;
  const int error = cb_read_at(fd, page * PAGE, PAGE, to, &got);
  memset(to + got, 0, PAGE - got);
  return error;
}

static int make_entry(int fd, uint64_t epoch, uint64_t page, unsigned char *entry) {
  const int error = read_page(fd, page, entry + 16);
  cb_put_little_endian(entry, 8, page);
  cb_put_little_endian(entry + 8, 8, entry_digest(epoch, page, entry + 16));
  return error;
}

static int put_entries(const cb_rescue *r, int fd, const head *h, const pages *set) {
  unsigned char *batch = malloc((size_t)BATCH * ENTRY);
  if (!batch) return ENOMEM;
  uint64_t at = h->place;
  int have = 0, error = 0;
  for (uint64_t page = 0; page < 8 * set->room && !error; page++) {
    if (!has(set, page)) continue;
    error = make_entry(fd, h->epoch, page, batch + have++ * ENTRY);
    if (error || have < BATCH) continue;
    error = cb_journal_write(r->fd, at, (size_t)have * ENTRY, batch);
    at += (uint64_t)have * ENTRY, have = 0;
  }
  if (!error && have) error = cb_journal_write(r->fd, at, (size_t)have * ENTRY, batch);
  free(batch);
  return error;
}

static void pack(const head *h, unsigned char bytes[HEAD]) {
  const uint64_t number[] = {h->epoch, h->place, h->pages, h->length, h->rows, h->events, h->checkpoints, h->boot};
  memcpy(bytes, mark, sizeof mark);
  for (int i = 0; i < 8; i++) cb_put_little_endian(bytes + 8 + 8 * i, 8, number[i]);
  cb_put_little_endian(bytes + HEAD - 8, 8, cb_digest_bytes(0, bytes, HEAD - 8));
}

static bool unpack(const unsigned char bytes[HEAD], head *h) {
  uint64_t *const number[] = {&h->epoch, &h->place,  &h->pages,       &h->length,
                              &h->rows,  &h->events, &h->checkpoints, &h->boot};
  for (int i = 0; i < 8; i++) *number[i] = cb_little_endian(bytes + 8 + 8 * i, 8);
  return !memcmp(bytes, mark, sizeof mark) &&
         cb_little_endian(bytes + HEAD - 8, 8) == cb_digest_bytes(0, bytes, HEAD - 8);
}

/* A copy that is read. What is not there, or not whole, is passed over; not so what the disk refuses to give. */
typedef struct copy {
  int fd;
  int error; /* errno of the first read that was refused: what is found then counts for nothing */
} copy;

static bool read_at(copy *c, uint64_t at, void *to, size_t size) {
  size_t got = 0;
  if (!c->error && at <= INT64_MAX - size) c->error = cb_read_at(c->fd, at, size, to, &got);
  return !c->error && got == size;
}

static bool read_entry(copy *c, const head *h, uint64_t i, unsigned char *entry) {
  return i < INT64_MAX / ENTRY - h->place && read_at(c, h->place + i * ENTRY, entry, ENTRY) &&
         cb_little_endian(entry, 8) < (h->length + PAGE - 1) / PAGE &&
         cb_little_endian(entry + 8, 8) == entry_digest(h->epoch, cb_little_endian(entry, 8), entry + 16);
}

static bool is_whole(copy *c, const head *h, unsigned char *entry) {
  bool ok = h->epoch && h->place <= INT64_MAX / 2 && h->length <= INT64_MAX / 2;
  for (uint64_t i = 0; ok && i < h->pages; i++) ok = read_entry(c, h, i, entry);
  return ok;
}

/* The newest copy that is whole; epoch 0: none. */
static head newest(copy *c, unsigned char *entry) {
  head best = {0};
  for (int i = 0; i < HEADS; i++) {
    unsigned char bytes[HEAD];
    head h;
    if (read_at(c, (uint64_t)i * HEAD_EVERY, bytes, HEAD) && unpack(bytes, &h) && h.epoch > best.epoch &&
        is_whole(c, &h, entry))
      best = h;
  }
  return best;
}

/* ---- The writer's side */

static char *name_of(const char *path) {
  static const char ending[] = ".rescue";
  char *real = realpath(path, NULL);
  const char *target = real ? real : path;
  char *name = malloc(strlen(target) + sizeof ending);
  if (name) strcat(strcpy(name, target), ending);
  free(real);
  return name;
}

cb_rescue *cb_rescue_new(const char *path) {
  cb_rescue *r = calloc(1, sizeof *r);
  if (!r || !(r->path = name_of(path))) return free(r), NULL;
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
  close_file(r, remove);
  free(r->kept.bit), free(r->touched.bit), free(r->touched_before.bit);
  free(r->path);
  free(r);
}

/* What the system calls itself since it was started; 0: it does not say. */
static uint64_t boot(void) {
  char name[64];
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? 0 : read(fd, name, sizeof name);
  if (fd >= 0) close(fd);
  return n > 0 ? cb_digest_bytes(cb_digest_begin(0), name, (size_t)n) : 0;
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
    for (uint64_t page = keep[i].at / PAGE; keep[i].size && page * PAGE < keep[i].at + keep[i].size; page++)
      ok = ok && put(set, page);
  for (uint64_t page = (length + PAGE - 1) / PAGE; page < 8 * set->room; page++)
    set->bit[page / 8] &= (unsigned char)~(1 << page % 8);
  return ok;
}

/* One that a killed writer left is gone on with: its newest copy stays until ours is whole. */
static int make_file(cb_rescue *r) {
  r->fd = open(r->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (r->fd < 0) return errno;
  unsigned char *entry = malloc(ENTRY);
  if (!entry) return ENOMEM;
  copy c = {.fd = r->fd};
  r->now = newest(&c, entry);
  uint64_t entries = 0;
  while (r->now.epoch && read_entry(&c, &r->now, entries, entry)) entries++;
  r->end = r->now.place + entries * ENTRY;
  free(entry);
  return c.error ? c.error : cb_sync_folder(r->path);
}

static int write_copy(cb_rescue *r, int fd, const head *h, const pages *set) {
  unsigned char bytes[HEAD];
  int error = put_entries(r, fd, h, set);
  pack(h, bytes);
  if (!error) error = cb_journal_write(r->fd, h->epoch % HEADS * HEAD_EVERY, HEAD, bytes);
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
  head h = {.epoch = r->now.epoch + 1,
            .place = PAGE,
            .length = (uint64_t)info.st_size,
            .rows = at.rows,
            .events = at.events,
            .checkpoints = at.checkpoints,
            .boot = boot()};
  error = choose(r, h.length, keep, n, &set) ? 0 : ENOMEM;
  for (uint64_t page = 0; page < 8 * set.room; page++) h.pages += has(&set, page);
  /* before the last copy, if there is room, or behind it: it stays whole until this one is */
  if (r->now.epoch && r->now.place - PAGE < h.pages * ENTRY) h.place = r->end;
  if (!error) error = write_copy(r, fd, &h, &set);
  if (error) return free(set.bit), without(r, error);
  r->now = h;
  r->end = h.place + h.pages * ENTRY;
  free(r->kept.bit), free(r->touched_before.bit);
  r->kept = set;
  r->touched_before = r->touched;
  r->touched = (pages){0};
  return 0;
}

/* Behind the others, not yet synced. 0 or errno. */
static int append(cb_rescue *r, int fd, uint64_t page, unsigned char *entry) {
  int error = make_entry(fd, r->now.epoch, page, entry);
  if (!error) error = cb_journal_write(r->fd, r->end, ENTRY, entry);
  if (!error && !put(&r->kept, page)) error = ENOMEM;
  if (!error) r->end += ENTRY;
  return error;
}

int cb_rescue_before(cb_rescue *r, int fd, uint64_t at, size_t size) {
  const uint64_t before = r->end;
  unsigned char *entry = NULL;
  int error = 0;
  for (uint64_t page = at / PAGE; !error && !r->given_up && page * PAGE < at + size; page++) {
    if (!put(&r->touched, page)) error = ENOMEM;
    if (error || r->fd < 0 || page * PAGE >= r->now.length || has(&r->kept, page)) continue;
    if (!entry && !(entry = malloc(ENTRY))) error = ENOMEM;
    if (!error) error = append(r, fd, page, entry);
  }
  if (!error && r->end > before) error = cb_sync_data(r->fd);
  free(entry);
  return without(r, error);
}

/* ---- After a run that did not end */

static cb_status unread(const char *path, int error) {
  return cb_fail(CB_ERROR_FILE, "%s.rescue: cannot read: %s", path, strerror(error));
}

/* *fd -1: none, or not a file of its own. */
static cb_status open_copy(const char *path, int *fd) {
  char *name = name_of(path);
  const char *why;
  *fd = name ? cb_open_regular(name, O_RDONLY | O_NOFOLLOW, &why) : -1;
  const int error = !name ? ENOMEM : *fd < 0 ? errno : 0;
  free(name);
  if (error == ENOMEM) return cb_fail(CB_ERROR_MEMORY, "%s: no memory to look for a copy of it", path);
  const bool none = !error || error == ENOENT || error == ELOOP || error == EINVAL || error == EISDIR;
  return none ? CB_OK : unread(path, error);
}

cb_status cb_rescue_there(const char *path, bool *there, cb_record_position *at, bool *restarted) {
  copy c = {0};
  *there = *restarted = false;
  *at = (cb_record_position){0};
  const cb_status status = open_copy(path, &c.fd);
  if (status || c.fd < 0) return status;
  unsigned char *entry = malloc(ENTRY);
  const head h = entry ? newest(&c, entry) : (head){0};
  close(c.fd);
  if (!entry) return cb_fail(CB_ERROR_MEMORY, "%s: no memory to read its copy", path);
  free(entry);
  if (c.error) return unread(path, c.error);
  *there = h.epoch;
  *at = (cb_record_position){h.rows, h.events, h.checkpoints};
  *restarted = h.epoch && (!h.boot || h.boot != boot());
  return CB_OK;
}

struct cb_undo {
  uint64_t length, pages, room;
  unsigned char *entry; /* [pages][ENTRY] */
};

void cb_undo_free(cb_undo *undo) {
  if (undo) free(undo->entry);
  free(undo);
}

/* 0 or errno. */
static int keep_page(cb_undo *u, int fd, uint64_t page) {
  if (u->pages == u->room) {
    const uint64_t room = u->room ? 2 * u->room : 64;
    unsigned char *entry = realloc(u->entry, room * ENTRY);
    if (!entry) return ENOMEM;
    u->entry = entry, u->room = room;
  }
  const int error = make_entry(fd, 0, page, u->entry + u->pages * ENTRY);
  u->pages += !error;
  return error;
}

static cb_status cannot(const char *path, int error) {
  return cb_fail(CB_ERROR_FILE, "%s: cannot write: %s", path, strerror(error));
}

/* 0 or errno. */
static int write_back(int fd, const cb_undo *u) {
  int error = 0;
  for (uint64_t i = u->pages; i-- > 0 && !error;) {
    const unsigned char *entry = u->entry + i * ENTRY;
    error = cb_journal_write(fd, cb_little_endian(entry, 8) * PAGE, PAGE, entry + 16);
  }
  return error ? error : cb_set_length(fd, u->length);
}

cb_status cb_rescue_undo(const char *path, int fd, cb_undo *u) {
  const int error = write_back(fd, u);
  const cb_status status = error ? cannot(path, error) : CB_OK;
  cb_undo_free(u);
  return status;
}

static cb_status restore(const char *path, copy *c, int fd, const head *h, unsigned char *entry, cb_undo *u) {
  struct stat info;
  if (fstat(fd, &info) < 0) return cannot(path, errno);
  u->length = (uint64_t)info.st_size;
  for (uint64_t i = 0; read_entry(c, h, i, entry); i++) {
    const int error = keep_page(u, fd, cb_little_endian(entry, 8));
    if (error == ENOMEM) return cb_fail(CB_ERROR_MEMORY, "%s: no memory for what is to be written over", path);
    if (error) return cb_fail(CB_ERROR_FILE, "%s: cannot read: %s", path, strerror(error));
  }
  int error = 0;
  for (uint64_t i = 0; !error && read_entry(c, h, i, entry); i++)
    error = cb_journal_write(fd, cb_little_endian(entry, 8) * PAGE, PAGE, entry + 16);
  if (c->error) return unread(path, c->error);
  if (!error) error = cb_set_length(fd, h->length);
  if (!error) error = cb_sync_data(fd);
  return error ? cannot(path, error) : CB_OK;
}

cb_status cb_rescue_restore(const char *path, int fd, bool *done, cb_undo **undo) {
  *done = false;
  copy c = {0};
  cb_status status = open_copy(path, &c.fd);
  if (status || c.fd < 0) return status;
  unsigned char *entry = malloc(ENTRY);
  cb_undo *u = calloc(1, sizeof *u);
  if (!entry || !u) status = cb_fail(CB_ERROR_MEMORY, "%s: no memory to bring it back", path);
  head h = {0};
  if (!status) h = newest(&c, entry);
  if (!status && c.error) status = unread(path, c.error);
  if (!status && h.epoch) {
    status = restore(path, &c, fd, &h, entry, u);
    *done = !status;
    if (status && u->length) write_back(fd, u);
  }
  free(entry);
  close(c.fd);
  if (*done)
    *undo = u;
  else
    cb_undo_free(u);
  return status;
}

void cb_rescue_remove(const char *path) {
  char *name = name_of(path);
  if (name && unlink(name) < 0 && errno != ENOENT) { /* an empty one is none */
    const int fd = open(name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) close(fd);
  }
  free(name);
}
