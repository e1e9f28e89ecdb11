/* For LD_PRELOAD: an operation on files fails as if a disk, a file system or a signal made it fail.
 *
 *   FAULT_FOLDER   only operations on regular files, folders and links below this folder are counted, from 1
 *   FAULT_OF       only operations with these names are counted, such as "write rename"
 *   FAULT_AT       the number of the operation that fails. Without it, none fails
 *   FAULT_KIND     EIO (default), ENOSPC, EINTR; SHORT: half of the bytes are read or written; KILL: the process is
 *                  killed before the operation. An operation that cannot fail in this way (a read with ENOSPC) succeeds
 *   FAULT_THEN     later operations fail as well: `same`, those with the same name; `all`. Without it only one fails
 *   FAULT_STOP     if set, the process stops itself (SIGSTOP) before the first failure, so that a test can check files
 *   FAULT_TOLD     a file to which the name of the first operation that fails is written
 *   FAULT_LOG      a file to which each counted operation is appended: number, name, size, path. A + after the name
 *                  means that the operation may need disk space
 *   FAULT_TRACE    a file to which each completed operation that a loss of power may undo is appended, with the bytes
 *                  that it wrote, for power.py
 *
 * A filter of system calls (seccomp) traps each such call of this process. It also traps calls from inside of the C
 * library, for example of its streams, which a function that replaces `write` does not reach. Access to memory that is
 * mapped from files, such as plugins, is not trapped. A child that calls exec is killed at its first such call, because
 * exec keeps the filter but not the handler of the trap. The library works on Linux on x86-64.
 *
 * A close that fails still closes the file. Any other operation that fails is not done, except that SHORT does half of
 * it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- System calls of this library. The filter allows each call that returns to the address fault_call_after. */

long fault_call(long number, long a, long b, long c, long d, long e);
extern const char fault_call_after[];
__asm__(
    ".text\n"
    "fault_call:\n"
    "  mov %rdi, %rax\n  mov %rsi, %rdi\n  mov %rdx, %rsi\n  mov %rcx, %rdx\n  mov %r8, %r10\n  mov %r9, %r8\n"
    "  syscall\n"
    "fault_call_after:\n"
    "  ret\n");

/* ---- Operations that are counted */

typedef enum sort {
  BY_FD,
  BY_NAME,
  BY_NAME_AT
} sort; /* the file is the descriptor in argument 1, the path in argument 1, or the path in argument 2 */
/* SIZED: argument 3 is a size; GROWS: the operation may need disk space; STOPS: a signal can interrupt it */
enum { SIZED = 1, GROWS = 2, STOPS = 4 };

typedef struct operation {
  int number;
  sort sort;
  int what;
  const char *name;
} operation;

static const operation operations[] = {
    {SYS_open, BY_NAME, STOPS, "open"},
    {SYS_creat, BY_NAME, STOPS | GROWS, "open"},
    {SYS_openat, BY_NAME_AT, STOPS, "open"},
    {SYS_read, BY_FD, STOPS | SIZED, "read"},
    {SYS_pread64, BY_FD, STOPS | SIZED, "read"},
    {SYS_readv, BY_FD, STOPS, "read"},
    {SYS_preadv, BY_FD, STOPS, "read"},
    {SYS_write, BY_FD, STOPS | SIZED | GROWS, "write"},
    {SYS_pwrite64, BY_FD, STOPS | SIZED | GROWS, "write"},
    {SYS_writev, BY_FD, STOPS | GROWS, "write"},
    {SYS_pwritev, BY_FD, STOPS | GROWS, "write"},
    {SYS_ftruncate, BY_FD, STOPS | GROWS, "truncate"},
    {SYS_truncate, BY_NAME, STOPS | GROWS, "truncate"},
    {SYS_fallocate, BY_FD, STOPS | GROWS, "truncate"},
    {SYS_rename, BY_NAME, GROWS, "rename"},
    {SYS_renameat, BY_NAME_AT, GROWS, "rename"},
    {SYS_renameat2, BY_NAME_AT, GROWS, "rename"},
    {SYS_link, BY_NAME, GROWS, "link"},
    {SYS_linkat, BY_NAME_AT, GROWS, "link"},
    {SYS_mkdir, BY_NAME, GROWS, "mkdir"},
    {SYS_mkdirat, BY_NAME_AT, GROWS, "mkdir"},
    {SYS_unlink, BY_NAME, 0, "unlink"},
    {SYS_unlinkat, BY_NAME_AT, 0, "unlink"},
    {SYS_flock, BY_FD, STOPS, "lock"},
    {SYS_fcntl, BY_FD, STOPS, "lock"}, /* only with the command F_OFD_SETLK */
    {SYS_fsync, BY_FD, STOPS | GROWS, "sync"},
    {SYS_fdatasync, BY_FD, STOPS | GROWS, "sync"},
    {SYS_close, BY_FD, STOPS, "close"},
    {SYS_stat, BY_NAME, 0, "stat"},
    {SYS_lstat, BY_NAME, 0, "stat"},
    {SYS_fstat, BY_FD, 0, "stat"},
    {SYS_newfstatat, BY_NAME_AT, 0, "stat"},
    {SYS_statx, BY_NAME_AT, 0, "stat"},
    {SYS_access, BY_NAME, 0, "stat"},
    {SYS_faccessat, BY_NAME_AT, 0, "stat"},
    {SYS_faccessat2, BY_NAME_AT, 0, "stat"},
    {SYS_readlink, BY_NAME, 0, "stat"},
    {SYS_readlinkat, BY_NAME_AT, 0, "stat"},
    {SYS_getdents64, BY_FD, 0, "list"},
    {SYS_rmdir, BY_NAME, 0, "unlink"},
};
enum { OPERATIONS = sizeof operations / sizeof *operations, LONGEST = 4096 };

static char folder[LONGEST];
static const char *told, *logged, *traced, *kind, *then, *stop, *of;
static long at;
static atomic_long count;
static _Atomic(const char *) hit; /* name of the first operation that failed */

/* Writes the path of the descriptor fd to `out`, which has LONGEST bytes. If fd is AT_FDCWD, the path is that of the
 * working directory. Returns the length of the path, or a negative error number. */
static long name_of(long fd, char *out) {
  char link[40];
  if ((int)fd == AT_FDCWD)
    snprintf(link, sizeof link, "/proc/self/cwd");
  else
    snprintf(link, sizeof link, "/proc/self/fd/%d", (int)fd);
  const long n = fault_call(SYS_readlink, (long)link, (long)out, LONGEST - 1, 0, 0);
  out[n > 0 ? n : 0] = '\0';
  return n;
}

static int name_file(const operation *o, const long *a, char *out) {
  if (o->sort == BY_FD) return name_of(a[0], out) > 0;
  const char *name = (const char *)a[o->sort == BY_NAME_AT];
  if (!name) return 0;
  if (!*name && o->sort == BY_NAME_AT) return name_of(a[0], out) > 0;
  if (*name == '/') return snprintf(out, LONGEST, "%s", name) < LONGEST;
  const long n = name_of(o->sort == BY_NAME ? AT_FDCWD : a[0], out);
  return n > 0 && snprintf(out + n, (size_t)(LONGEST - n), "/%s", name) < LONGEST - n;
}

/* Returns whether an operation with arguments a[] is counted: FAULT_OF allows it, and its path, which is written to
 * `name`, is below the folder. The path must be a regular file, a folder or a link, or not exist yet. */
static int counts(const operation *o, const long *a, char *name) {
  struct stat info;
  const size_t n = strlen(folder);
  if (!n || (of && !strstr(of, o->name)) || !name_file(o, a, name) || strncmp(name, folder, n) || name[n] != '/')
    return 0;
  const long there = o->sort == BY_FD
                         ? fault_call(SYS_fstat, a[0], (long)&info, 0, 0, 0)
                         : fault_call(SYS_newfstatat, AT_FDCWD, (long)name, (long)&info, AT_SYMLINK_NOFOLLOW, 0);
  return there < 0 ? o->sort != BY_FD : S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) || S_ISLNK(info.st_mode);
}

static void append(const char *file, const char *text) {
  const long fd = fault_call(SYS_openat, AT_FDCWD, (long)file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666, 0);
  if (fd < 0) return;
  fault_call(SYS_write, fd, (long)text, (long)strlen(text), 0, 0);
  fault_call(SYS_close, fd, 0, 0, 0, 0);
}

/* ---- The trace of completed operations. Each is a line "NAME NUMBER OFFSET SIZE PATH". For a rename or link, a tab
 * and the new name follow the path. For a write, the SIZE written bytes follow the line, and OFFSET is their place in
 * the file. NUMBER is the inode number of the file (st_ino), or 0 if the call names a path. For an open, SIZE is 1 if
 * the file is emptied. */

static int name_second(long number, const long *a, char *out) {
  static const operation by_name = {0, BY_NAME, 0, ""}, by_name_at = {0, BY_NAME_AT, 0, ""};
  const int at_folder = number != SYS_rename && number != SYS_link;
  const long from[2] = {a[at_folder ? 2 : 1], a[3]};
  return name_file(at_folder ? &by_name_at : &by_name, from, out);
}

static void trace(const operation *o, const long *a, const char *name, long result) {
  char line[2 * LONGEST + 200], second[LONGEST] = "";
  struct stat info = {0};
  struct {
    const void *base;
    size_t size;
  } parts[2] = {{line, 0}, {(const void *)a[1], 0}};
  const int is_open = !strcmp(o->name, "open"), is_write = !strcmp(o->name, "write");
  long offset = 0, size = 0;
  if (result < 0 || (is_open && !(a[o->sort == BY_NAME_AT ? 2 : 1] & (O_CREAT | O_TRUNC)))) return;
  if (!is_open && !is_write && !strstr("truncate sync rename link unlink mkdir", o->name)) return;
  if (o->number == SYS_fallocate) return; /* fallocate does not change the file size */
  if (is_open || o->sort == BY_FD) fault_call(SYS_fstat, is_open ? result : a[0], (long)&info, 0, 0, 0);
  if (is_open) size = a[o->sort == BY_NAME_AT ? 2 : 1] & O_TRUNC ? 1 : 0;
  if (o->number == SYS_ftruncate) size = a[1];
  if (is_write) {
    offset = o->number == SYS_pwrite64 ? a[3] : fault_call(SYS_lseek, a[0], 0, SEEK_CUR, 0, 0) - result;
    size = result;
    parts[1].size = (size_t)size;
  }
  if (!strcmp(o->name, "rename") || !strcmp(o->name, "link")) name_second(o->number, a, second);
  const int length = snprintf(line, sizeof line, "%s %lu %ld %ld %s%s%s\n", o->name, (unsigned long)info.st_ino, offset,
                              size, name, *second ? "\t" : "", second);
  parts[0].size = (size_t)length;
  const long fd = fault_call(SYS_openat, AT_FDCWD, (long)traced, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666, 0);
  if (fd < 0) return;
  fault_call(SYS_writev, fd, (long)parts, 2, 0, 0);
  fault_call(SYS_close, fd, 0, 0, 0, 0);
}

/* ---- Failures */

static int what(const operation *o, const long *a) {
  const int creates = !strcmp(o->name, "open") && a[o->sort == BY_NAME_AT ? 2 : 1] & O_CREAT;
  return o->what | (creates ? GROWS : 0);
}

static int applies(const operation *o, const long *a) {
  if (!strcmp(kind, "ENOSPC")) return what(o, a) & GROWS;
  if (!strcmp(kind, "EINTR")) return what(o, a) & STOPS;
  if (!strcmp(kind, "SHORT")) return what(o, a) & SIZED && a[2] > 1;
  return 1;
}

static void send(int signal) { fault_call(SYS_kill, fault_call(SYS_getpid, 0, 0, 0, 0, 0), signal, 0, 0, 0); }

static int fails(const operation *o, const long *a, long n) {
  if (!at || n < at || !applies(o, a)) return 0;
  const char *first = atomic_load(&hit);
  if (n > at && (!then || !first || (!strcmp(then, "same") && strcmp(first, o->name)))) return 0;
  if (!first) {
    atomic_store(&hit, o->name);
    if (told) append(told, o->name);
    if (stop) send(SIGSTOP);
  }
  return 1;
}

static long fail(const operation *o, const long *a) {
  if (!strcmp(kind, "KILL")) send(SIGKILL);
  if (!strcmp(kind, "SHORT")) return fault_call(o->number, a[0], a[1], a[2] / 2, a[3], a[4]);
  if (o->number == SYS_close) fault_call(SYS_close, a[0], 0, 0, 0, 0);
  return !strcmp(kind, "ENOSPC") ? -ENOSPC : !strcmp(kind, "EINTR") ? -EINTR : -EIO;
}

static void asked(int signal, siginfo_t *info, void *context) {
  (void)signal;
  greg_t *const r = ((ucontext_t *)context)->uc_mcontext.gregs;
  const long a[5] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8]};
  const int before = errno;
  const operation *o = operations;
  while (o < operations + OPERATIONS && o->number != info->si_syscall) o++;
  char name[LONGEST];
  int failing = 0;
  const int counted = counts(o, a, name);
  if (counted) {
    const long n = atomic_fetch_add(&count, 1) + 1;
    if (logged) {
      char line[LONGEST + 100];
      snprintf(line, sizeof line, "%ld %s%s %ld %s\n", n, o->name, what(o, a) & GROWS ? "+" : "",
               o->what & SIZED ? a[2] : 0, name);
      append(logged, line);
    }
    failing = fails(o, a, n);
  }
  r[REG_RAX] = failing ? fail(o, a) : fault_call(info->si_syscall, a[0], a[1], a[2], a[3], a[4]);
  if (counted && traced) trace(o, a, name, (long)r[REG_RAX]);
  errno = before;
}

/* ---- The start */

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(field))
#define UNLESS(value, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, skip)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)

static int install(void) {
  const uint64_t own = (uint64_t)(uintptr_t)fault_call_after;
  const size_t ip = offsetof(struct seccomp_data, instruction_pointer);
  struct sock_filter filter[20 + 2 * OPERATIONS] = {
      LOAD(offsetof(struct seccomp_data, arch)),
      UNLESS(AUDIT_ARCH_X86_64, 4),
      LOAD(ip),
      UNLESS(own, 3),
      LOAD(ip + 4),
      UNLESS(own >> 32, 1),
      ANSWER(SECCOMP_RET_ALLOW),
      LOAD(offsetof(struct seccomp_data, nr)),
      UNLESS(SYS_fcntl, 4),
      LOAD(offsetof(struct seccomp_data, args[1])),
      UNLESS(F_OFD_SETLK, 1),
      ANSWER(SECCOMP_RET_TRAP),
      ANSWER(SECCOMP_RET_ALLOW),
  };
  unsigned short n = 13;
  for (int i = 0; i < OPERATIONS; i++) {
    if (operations[i].number == SYS_fcntl) continue;
    filter[n++] = (struct sock_filter)UNLESS(operations[i].number, 1);
    filter[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_TRAP);
  }
  filter[n++] = (struct sock_filter)ANSWER(SECCOMP_RET_ALLOW);
  struct sock_fprog program = {n, filter};
  struct sigaction action = {.sa_sigaction = asked, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART};
  return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* The filter sends SIGSYS. Threads that block all signals must receive it as well, so no thread may block it. */
EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *before) {
  sigset_t changed;
  if (set) {
    changed = *set;
    if (how != SIG_UNBLOCK) sigdelset(&changed, SIGSYS);
  }
  return fault_call(SYS_rt_sigprocmask, how, (long)(set ? &changed : NULL), (long)before, 8, 0) < 0 ? EINVAL : 0;
}

__attribute__((constructor)) static void start(void) {
  const char *in = getenv("FAULT_FOLDER");
  if (!in || !realpath(in, folder)) return;
  at = getenv("FAULT_AT") ? atol(getenv("FAULT_AT")) : 0;
  kind = getenv("FAULT_KIND") ? getenv("FAULT_KIND") : "EIO";
  then = getenv("FAULT_THEN");
  of = getenv("FAULT_OF");
  stop = getenv("FAULT_STOP");
  told = getenv("FAULT_TOLD");
  logged = getenv("FAULT_LOG");
  traced = getenv("FAULT_TRACE");
  if (!install()) abort();
}
