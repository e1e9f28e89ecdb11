/* A write over what is there is old or new after a kill, never a mixture, wherever the process stops: after every system
 * call and between the pages of every write. A file that only looks as if a write of it were to be done again is left
 * alone. */
#include "record_sample.h"

#include "io/record_journal.h"
#include "io/record_superblock.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

enum { PAGE = 4096, LENGTH = 3 * PAGE + 100, MOST = 12 * PAGE, TRAILER = 32 };

/* In place of the C library's: nothing happens once `left` pages and calls are done, and there is no room after `room`
 * bytes. -1: no limit. */
static int left = -1;
static off_t room = -1;

static bool spend(void) { return left < 0 || (left && left--); }

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
  if (room >= 0 && at + (off_t)size > room) return errno = ENOSPC, -1;
  for (size_t done = 0, page; done < size; done += page) {
    page = PAGE - ((size_t)at + done) % PAGE;
    if (page > size - done) page = size - done;
    if (spend()) syscall(SYS_pwrite64, fd, (const char *)bytes + done, page, at + (off_t)done);
  }
  return (ssize_t)size;
}

int ftruncate(int fd, off_t length) { return spend() ? (int)syscall(SYS_ftruncate, fd, length) : 0; }

static int open_old(const char *path) {
  static char old[LENGTH];
  memset(old, 'o', LENGTH);
  const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  assert_int_equal(pwrite(fd, old, LENGTH, 0), LENGTH);
  return fd;
}

static bool is_pending(const char *path, int fd) {
  bool pending;
  check_ok(cb_journal_pending(path, fd, &pending));
  return pending;
}

static size_t read_all(int fd, char bytes[MOST]) { return (size_t)pread(fd, bytes, MOST, 0); }

static const struct {
  uint64_t at;
  size_t size;
} writes[] = {{PAGE - 1, 2}, {PAGE - 500, 1046}, {10, 2 * PAGE + 7}, {2 * PAGE, PAGE + 100}, {3 * PAGE - 9, 2 * PAGE}};
enum { WRITES = sizeof writes / sizeof *writes };

static void what_a_stopped_write_leaves_is_old_or_new(void **unused) {
  (void)unused;
  static char new[MOST], got[MOST];
  char *path = sample_path("file");
  memset(new, 'n', MOST);
  for (int w = 0; w < WRITES; w++) {
    const uint64_t at = writes[w].at, size = writes[w].size, end = at + size > LENGTH ? at + size : LENGTH;
    int olds = 0, news = 0, again = 0;
    for (int stop = 0, done = 0; !done; stop++) {
      const int fd = open_old(path);
      left = stop;
      assert_int_equal(cb_journal_overwrite(fd, LENGTH, UINT64_MAX, at, size, new), 0);
      done = left > 0;
      const bool pending = is_pending(path, fd);
      for (left = 0; pending && is_pending(path, fd); left = again++ % 5) check_ok(cb_journal_replay(path, fd));
      left = -1;
      check_ok(cb_journal_replay(path, fd));
      const size_t length = read_all(fd, got);
      uint64_t changed = 0, outside = 0;
      for (uint64_t i = 0; i < end && i < length; i++) {
        const bool within = i >= at && i < at + size;
        changed += within && got[i] == 'n';
        outside += !within && got[i] != 'o';
      }
      assert_true(outside == 0);
      assert_true(changed == 0 || changed == size);
      assert_true(changed ? length == end : length >= LENGTH); /* what is behind the end means nothing */
      if (changed)
        news++;
      else
        olds++;
      close(fd);
    }
    assert_true(olds >= 2 && news >= 3); /* the copy, the trailer; the pages, the cut */
  }
  free(path);
}

static void without_room_for_a_copy_the_write_is_done(void **unused) {
  (void)unused;
  static char new[MOST], got[MOST];
  char *path = sample_path("file");
  memset(new, 'n', MOST);
  for (int refusal = 0; refusal < 3; refusal++) {
    const int fd = open_old(path);
    if (refusal) room = refusal == 1 ? LENGTH + 1046 : LENGTH + 10; /* the trailer, the bytes */
    assert_int_equal(cb_journal_overwrite(fd, LENGTH, refusal ? UINT64_MAX : LENGTH + 1000, PAGE - 500, 1046, new), 0);
    room = -1;
    assert_int_equal(read_all(fd, got), LENGTH);
    assert_memory_equal(got + PAGE - 500, new, 1046);
    close(fd);
  }
  free(path);
}

static void trailers_that_cannot_be_are_no_trailers(void **unused) {
  (void)unused;
  static char got[MOST];
  char *path = sample_path("file");
  const struct {
    uint64_t at, size;
    bool bytes, trailer, right; /* checksums; whether it is one */
  } forged[] = {{10, 50, true, true, true},           {10, 50, false, true, false},
                {10, 50, true, false, false},         {10, 0, true, true, false},
                {LENGTH - 50, 50, true, true, false}, /* over itself */
                {LENGTH + 50, 50, true, true, false}, {UINT64_MAX - 20, 50, true, true, false},
                {10, LENGTH + 1, true, true, false},  {10, UINT64_MAX, true, true, false}};
  for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
    const int fd = open_old(path);
    unsigned char trailer[TRAILER] = "cbwrite\n", bytes[50];
    memset(bytes, 'o', sizeof bytes);
    cb_put_little_endian(trailer + 8, 8, forged[i].at);
    cb_put_little_endian(trailer + 16, 8, forged[i].size);
    cb_put_little_endian(trailer + 24, 4, cb_lookup3(bytes, sizeof bytes) + !forged[i].bytes);
    cb_put_little_endian(trailer + 28, 4, cb_lookup3(trailer, 28) + !forged[i].trailer);
    assert_int_equal(pwrite(fd, trailer, TRAILER, LENGTH), TRAILER);
    assert_int_equal(is_pending(path, fd), forged[i].right);
    check_ok(cb_journal_replay(path, fd));
    assert_int_equal(read_all(fd, got), forged[i].right ? LENGTH - 50 : LENGTH + TRAILER);
    close(fd);
  }
  free(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_stopped_write_leaves_is_old_or_new),
                                     cmocka_unit_test(without_room_for_a_copy_the_write_is_done),
                                     cmocka_unit_test(trailers_that_cannot_be_are_no_trailers)};
  return cmocka_run_group_tests(tests, sample_make_folder, sample_remove_folder);
}
