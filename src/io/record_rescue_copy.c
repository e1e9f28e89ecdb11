/* Heads and entries: record_rescue_copy.h. */
#include "io/record_rescue_copy.h"
#include "core/file.h"
#include "io/record_digest.h"
#include "io/record_superblock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char mark[8] = {'c', 'b', 'r', 'e', 's', 'c', 'u', 'e'};

char *cb_rescue_name(const char *path) {
  static const char ending[] = ".rescue";
  char *real = realpath(path, NULL);
  const char *target = real ? real : path;
  char *name = malloc(strlen(target) + sizeof ending);
  if (name) strcat(strcpy(name, target), ending);
  free(real);
  return name;
}

uint64_t cb_rescue_boot(void) {
  char name[64];
  const int fd = cb_open("/proc/sys/kernel/random/boot_id", O_RDONLY);
  const ssize_t n = fd < 0 ? 0 : read(fd, name, sizeof name);
  if (fd >= 0) close(fd);
  return n > 0 ? cb_digest_bytes(cb_digest_begin(0), name, (size_t)n) : 0;
}

static uint64_t entry_digest(uint64_t epoch, uint64_t page, const unsigned char *bytes) {
  return cb_digest_bytes(cb_digest_word(cb_digest_begin(epoch), page), bytes, RESCUE_PAGE);
}

/* A page of the record, zeros beyond its end. 0 or errno. */
static int read_page(int fd, uint64_t page, unsigned char *to) {
  size_t got;
  const int error = cb_read_at(fd, page * RESCUE_PAGE, RESCUE_PAGE, to, &got);
  memset(to + got, 0, RESCUE_PAGE - got);
  return error;
}

int cb_rescue_entry(int fd, uint64_t epoch, uint64_t page, unsigned char *entry) {
  const int error = read_page(fd, page, entry + 16);
  cb_put_little_endian(entry, 8, page);
  cb_put_little_endian(entry + 8, 8, entry_digest(epoch, page, entry + 16));
  return error;
}

void cb_rescue_put_head(const cb_rescue_head *h, unsigned char bytes[RESCUE_HEAD]) {
  const uint64_t number[] = {h->epoch, h->place, h->pages, h->length, h->rows, h->events, h->checkpoints, h->boot};
  memcpy(bytes, mark, sizeof mark);
  for (int i = 0; i < 8; i++) cb_put_little_endian(bytes + 8 + 8 * i, 8, number[i]);
  cb_put_little_endian(bytes + RESCUE_HEAD - 8, 8, cb_digest_bytes(0, bytes, RESCUE_HEAD - 8));
}

static bool unpack(const unsigned char bytes[RESCUE_HEAD], cb_rescue_head *h) {
  uint64_t *const number[] = {&h->epoch, &h->place,  &h->pages,       &h->length,
                              &h->rows,  &h->events, &h->checkpoints, &h->boot};
  for (int i = 0; i < 8; i++) *number[i] = cb_little_endian(bytes + 8 + 8 * i, 8);
  return !memcmp(bytes, mark, sizeof mark) &&
         cb_little_endian(bytes + RESCUE_HEAD - 8, 8) == cb_digest_bytes(0, bytes, RESCUE_HEAD - 8);
}

static bool read_at(cb_rescue_copy *c, uint64_t at, void *to, size_t size) {
  size_t got = 0;
  if (!c->error && at <= INT64_MAX - size) c->error = cb_read_at(c->fd, at, size, to, &got);
  return !c->error && got == size;
}

bool cb_rescue_read_entry(cb_rescue_copy *c, const cb_rescue_head *h, uint64_t i, unsigned char *entry) {
  return i < INT64_MAX / RESCUE_ENTRY - h->place && read_at(c, h->place + i * RESCUE_ENTRY, entry, RESCUE_ENTRY) &&
         cb_little_endian(entry, 8) < (h->length + RESCUE_PAGE - 1) / RESCUE_PAGE &&
         cb_little_endian(entry + 8, 8) == entry_digest(h->epoch, cb_little_endian(entry, 8), entry + 16);
}

static bool is_whole(cb_rescue_copy *c, const cb_rescue_head *h, unsigned char *entry) {
  bool ok = h->epoch && h->place <= INT64_MAX / 2 && h->length <= INT64_MAX / 2;
  for (uint64_t i = 0; ok && i < h->pages; i++) ok = cb_rescue_read_entry(c, h, i, entry);
  return ok;
}

cb_rescue_head cb_rescue_newest(cb_rescue_copy *c, unsigned char *entry) {
  cb_rescue_head best = {0};
  for (int i = 0; i < RESCUE_HEADS; i++) {
    unsigned char bytes[RESCUE_HEAD];
    cb_rescue_head h;
    if (read_at(c, (uint64_t)i * RESCUE_HEAD_EVERY, bytes, RESCUE_HEAD) && unpack(bytes, &h) && h.epoch > best.epoch &&
        is_whole(c, &h, entry))
      best = h;
  }
  return best;
}
