/* What lies beside a record after a run that did not end: record_rescue.h. */
#include "io/record_rescue.h"
#include "core/failure.h"
#include "core/file.h"
#include "io/record_journal.h"
#include "io/record_rescue_copy.h"
#include "io/record_superblock.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static cb_status unread(const char *path, int error) {
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%s.rescue", path);
  return cb_fail_file(name, "read", error);
}

/* *fd -1: none, or not a file of its own. */
static cb_status open_copy(const char *path, int *fd) {
  char *name = cb_rescue_name(path);
  const char *why;
  *fd = name ? cb_open_regular(name, O_RDONLY | O_NOFOLLOW, &why) : -1;
  const int error = !name ? ENOMEM : *fd < 0 ? errno : 0;
  free(name);
  const bool none = !error || error == ENOENT || error == ELOOP || error == EINVAL || error == EISDIR;
  return none ? CB_OK : unread(path, error);
}

cb_status cb_rescue_there(const char *path, bool *there, cb_record_position *at, bool *restarted) {
  cb_rescue_copy c = {0};
  *there = *restarted = false;
  *at = (cb_record_position){0};
  const cb_status status = open_copy(path, &c.fd);
  if (status || c.fd < 0) return status;
  unsigned char *entry = malloc(RESCUE_ENTRY);
  const cb_rescue_head h = entry ? cb_rescue_newest(&c, entry) : (cb_rescue_head){0};
  close(c.fd);
  if (!entry) return cb_fail(CB_ERROR_MEMORY, "%s: no memory to read its copy", path);
  free(entry);
  if (c.error) return unread(path, c.error);
  *there = h.epoch;
  *at = (cb_record_position){h.rows, h.events, h.checkpoints};
  *restarted = h.epoch && (!h.boot || h.boot != cb_rescue_boot());
  return CB_OK;
}

struct cb_undo {
  uint64_t length, pages, room;
  unsigned char *entry; /* [pages][RESCUE_ENTRY] */
};

void cb_undo_free(cb_undo *undo) {
  if (undo) free(undo->entry);
  free(undo);
}

/* 0 or errno. */
static int keep_page(cb_undo *u, int fd, uint64_t page) {
  if (u->pages == u->room) {
    const uint64_t room = u->room ? 2 * u->room : 64;
    unsigned char *entry = realloc(u->entry, room * RESCUE_ENTRY);
    if (!entry) return ENOMEM;
    u->entry = entry, u->room = room;
  }
  const int error = cb_rescue_entry(fd, 0, page, u->entry + u->pages * RESCUE_ENTRY);
  u->pages += !error;
  return error;
}

/* 0 or errno. */
static int write_back(int fd, const cb_undo *u) {
  int error = 0;
  for (uint64_t i = u->pages; i-- > 0 && !error;) {
    const unsigned char *entry = u->entry + i * RESCUE_ENTRY;
    error = cb_journal_write(fd, cb_little_endian(entry, 8) * RESCUE_PAGE, RESCUE_PAGE, entry + 16);
  }
  return error ? error : cb_set_length(fd, u->length);
}

cb_status cb_rescue_undo(const char *path, int fd, cb_undo *u) {
  const int error = write_back(fd, u);
  const cb_status status = error ? cb_fail_file(path, "write", error) : CB_OK;
  cb_undo_free(u);
  return status;
}

static cb_status restore(const char *path, cb_rescue_copy *c, int fd, const cb_rescue_head *h, unsigned char *entry,
                         cb_undo *u) {
  struct stat info;
  if (fstat(fd, &info) < 0) return cb_fail_file(path, "write", errno);
  u->length = (uint64_t)info.st_size;
  for (uint64_t i = 0; cb_rescue_read_entry(c, h, i, entry); i++) {
    const int error = keep_page(u, fd, cb_little_endian(entry, 8));
    if (error) return cb_fail_file(path, "read", error);
  }
  int error = 0;
  for (uint64_t i = 0; !error && cb_rescue_read_entry(c, h, i, entry); i++)
    error = cb_journal_write(fd, cb_little_endian(entry, 8) * RESCUE_PAGE, RESCUE_PAGE, entry + 16);
  if (c->error) return unread(path, c->error);
  if (!error) error = cb_set_length(fd, h->length);
  if (!error) error = cb_sync_data(fd);
  return error ? cb_fail_file(path, "write", error) : CB_OK;
}

cb_status cb_rescue_restore(const char *path, int fd, bool *done, cb_undo **undo) {
  *done = false;
  cb_rescue_copy c = {0};
  cb_status status = open_copy(path, &c.fd);
  if (status || c.fd < 0) return status;
  unsigned char *entry = malloc(RESCUE_ENTRY);
  cb_undo *u = calloc(1, sizeof *u);
  if (!entry || !u) status = cb_fail(CB_ERROR_MEMORY, "%s: no memory to bring it back", path);
  cb_rescue_head h = {0};
  if (!status) h = cb_rescue_newest(&c, entry);
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
  char *name = cb_rescue_name(path);
  if (name && unlink(name) < 0 && errno != ENOENT) { /* an empty one is none */
    const int fd = cb_open(name, O_WRONLY | O_TRUNC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0) close(fd);
  }
  free(name);
}
