/* For LD_PRELOAD: from the REFUSE_AT-th on, counted from 1, calls that change a file fail as a broken disk makes them,
 * with EIO: pwrite, ftruncate, rename; with REFUSE_ONCE only that one. That it was so is told by a file, REFUSE_TOLD.
 * What stdio writes is not seen here. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static int refused(void) {
  static atomic_int calls;
  const char *at = getenv("REFUSE_AT");
  const int call = atomic_fetch_add(&calls, 1) + 1, from = at ? atoi(at) : 0;
  if (!from || call < from || (call > from && getenv("REFUSE_ONCE"))) return 0;
  const char *told = getenv("REFUSE_TOLD");
  if (told) close(open(told, O_WRONLY | O_CREAT, 0666));
  errno = EIO;
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite(int fd, const void *data, size_t n, off_t at) { return refused() ? -1 : NEXT(pwrite)(fd, data, n, at); }
ssize_t pwrite64(int fd, const void *data, size_t n, off_t at) {
  return refused() ? -1 : NEXT(pwrite64)(fd, data, n, at);
}
int ftruncate(int fd, off_t size) { return refused() ? -1 : NEXT(ftruncate)(fd, size); }
int ftruncate64(int fd, off_t size) { return refused() ? -1 : NEXT(ftruncate64)(fd, size); }
int rename(const char *from, const char *to) { return refused() ? -1 : NEXT(rename)(from, to); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
  return refused() ? -1 : NEXT(renameat2)(a, from, b, to, flags);
}
