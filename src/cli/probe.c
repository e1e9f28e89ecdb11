/* Starts the child process that reads untrusted files first, and takes its reports (probe.h). */
#include "cli/probe.h"
#include "core/failure.h"
#include "core/file.h"
#include "record/hdf5.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Identifies a file that this process has probed or written, by device and inode number. Its size and time may differ,
 * since this process may have changed the file. But a refused file with another size or time counts as another file, so
 * that a record that is being written is not refused for ever. */
typedef struct identity {
  unsigned long long device, number;
  long long size, seconds;
  long nanoseconds;
} identity;

typedef struct known {
  identity file;
  char *refusal; /* the error, "OBJECT: cannot be read: ..."; NULL: none */
  struct known *next;
} known;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static known *files;

static identity identity_of(const struct stat *info) {
  return (identity){info->st_dev, info->st_ino, info->st_size, info->st_mtim.tv_sec, info->st_mtim.tv_nsec};
}
static bool is_of(const known *k, const identity *file) {
  const identity *f = &k->file;
  return f->device == file->device && f->number == file->number &&
         (!k->refusal || (f->size == file->size && f->seconds == file->seconds && f->nanoseconds == file->nanoseconds));
}

static known *find(const identity *file) {
  known *k = files;
  while (k && !is_of(k, file)) k = k->next;
  return k;
}

/* Stores the result for a file. If memory is lacking, the file is simply probed again. */
static void remember(identity file, const char *refusal) {
  known *k = malloc(sizeof *k);
  if (!k) return;
  *k = (known){file, refusal ? strdup(refusal) : NULL, files};
  if (refusal && !k->refusal)
    free(k);
  else
    files = k;
}

/* ---- The child's reports */

enum { TEXT = 512 };

typedef struct listener {
  char report[TEXT]; /* the report that is being received */
  size_t length;
  identity file; /* the file that the child is reading */
  char object[TEXT], reason[TEXT];
  char last; /* the last of CLI_PROBE_READ, _LEAVE and _REFUSE; 0: the child has not reached the end of the file */
} listener;

static void take_file(listener *l, const char *text) {
  identity *f = &l->file;
  sscanf(text, "%llu %llu %lld %lld %ld", &f->device, &f->number, &f->size, &f->seconds, &f->nanoseconds);
  memcpy(l->object, "/", 2);
  l->last = 0;
}

static void take_report(listener *l) {
  l->report[l->length < TEXT ? l->length : TEXT - 1] = 0;
  l->length = 0;
  const char kind = l->report[0], *text = l->report + 1;
  switch (kind) {
    case CLI_PROBE_FILE: take_file(l, text); break;
    case CLI_PROBE_AT: memcpy(l->object, text, TEXT - 1); break;
    case CLI_PROBE_REFUSE:
      memcpy(l->reason, text, TEXT - 1);
      l->last = kind;
      break;
    case CLI_PROBE_READ:
      remember(l->file, NULL);
      l->last = kind;
      break;
    case CLI_PROBE_LEAVE: l->last = kind; break;
    default: break;
  }
}

static void take_bytes(listener *l, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (l->length < TEXT) l->report[l->length] = bytes[i];
    l->length++;
    if (!bytes[i]) take_report(l);
  }
}

/* Reads reports until the child ends, which closes its end of the pipe. Returns false if the child has reported nothing
 * for too long. It waits in steps of one second, so that at most one second counts if this process was stopped in the
 * meantime. */
static bool hear(listener *l, int fd) {
  char bytes[4096];
  for (int silent = 0; silent < CLI_PROBE_PATIENCE;) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    const int ready = poll(&p, 1, 1000);
    if (!ready) silent++;
    if (ready <= 0) continue; /* below 0: interrupted by a signal */
    const ssize_t n = read(fd, bytes, sizeof bytes);
    if (!n || (n < 0 && errno != EINTR)) return true;
    if (n > 0) {
      take_bytes(l, bytes, (size_t)n);
      silent = 0;
    }
    nanosleep(&(struct timespec){0, 1000000}, NULL); /* collects several reports: even a small file causes hundreds */
  }
  return false;
}

/* ---- Starting the child */

/* The environment of the child. HDF5 takes no locks, because a reader must not block a writer. It loads no filter
 * plugins, and the child starts no threads. Freed memory is overwritten, so that a use of freed memory crashes the
 * child and not the command. A sanitizer reserves more address space than a limit would allow, so it limits requests
 * and memory by its own options. */
static const char *const settings[] = {"HDF5_USE_FILE_LOCKING=FALSE",
                                       "HDF5_PLUGIN_PRELOAD=::",
                                       "OPENBLAS_NUM_THREADS=1",
                                       "OMP_NUM_THREADS=1",
                                       "MALLOC_PERTURB_=165",
                                       ("ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:"
                                        "max_allocation_size_mb=1024:hard_rss_limit_mb=2048")};
enum { SETTINGS = sizeof settings / sizeof *settings };

static bool is_set_by_us(const char *variable) {
  for (size_t i = 0; i < SETTINGS; i++)
    if (!strncmp(variable, settings[i], (size_t)(strchr(settings[i], '=') - settings[i]) + 1)) return true;
  return false;
}

static char **make_environment(void) {
  size_t count = 0, kept = 0;
  while (environ[count]) count++;
  char **made = malloc((count + SETTINGS + 1) * sizeof *made);
  for (size_t i = 0; made && i < count; i++)
    if (!is_set_by_us(environ[i])) made[kept++] = environ[i];
  for (size_t i = 0; made && i < SETTINGS; i++) made[kept++] = (char *)settings[i];
  if (made) made[kept] = NULL;
  return made;
}

/* Finds the path of this program. The path is the name of its file, because tools that run this program, such as
 * valgrind, know that name. If the file was replaced, the path is /proc/self/exe. */
static void find_program(char name[4096]) {
  static const char running[] = "/proc/self/exe";
  const ssize_t length = readlink(running, name, 4095);
  if (length > 0) name[length] = 0;
  if (length <= 0 || access(name, X_OK)) memcpy(name, running, sizeof running);
}

/* Starts the child in its own process group, so that signals from the terminal reach only the command. Returns 0 or
 * errno. */
static int start(const char *path, int out, pid_t *pid) {
  char program[4096];
  find_program(program);
  char *const arguments[] = {program, "--probe", (char *)path, NULL};
  char **environment = make_environment();
  posix_spawn_file_actions_t files_of;
  posix_spawnattr_t how;
  sigset_t all, none;
  if (!environment) return ENOMEM;
  sigfillset(&all);
  sigemptyset(&none);
  int error = posix_spawn_file_actions_init(&files_of);
  if (error) {
    free(environment);
    return error;
  }
  error = posix_spawnattr_init(&how);
  if (error) {
    posix_spawn_file_actions_destroy(&files_of);
    free(environment);
    return error;
  }
  posix_spawnattr_setsigdefault(&how, &all);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  error = posix_spawn_file_actions_addopen(&files_of, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (!error) error = posix_spawn_file_actions_adddup2(&files_of, out, STDOUT_FILENO);
  if (!error) error = posix_spawn_file_actions_addopen(&files_of, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  if (!error) error = posix_spawn(pid, program, &files_of, &how, arguments, environment);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files_of);
  free(environment);
  return error;
}

/* ---- The result of the child */

static void say_end(listener *l, bool ended, bool known_status, int status) {
  const int by = known_status && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (!ended)
    snprintf(l->reason, TEXT, "the child process that reads the file took more than %d s", CLI_PROBE_PATIENCE);
  else if (by == SIGXCPU)
    snprintf(l->reason, TEXT, "the child process that reads the file took more than %d s of CPU time",
             CLI_PROBE_SECONDS);
  else if (by)
    snprintf(l->reason, TEXT, "the child process that reads the file crashed (signal %d, %s)", by, strsignal(by));
  else
    snprintf(l->reason, TEXT, "the child process that reads the file crashed");
}

/* Runs the child and stores the results for the files that it has read. Fails if no child could be started. */
static cb_status start_and_hear(const char *path, const identity *file) {
  listener l = {.file = *file, .object = "/"};
  int ends[2], status = 0;
  pid_t pid;
  if (pipe2(ends, O_CLOEXEC) < 0) return cb_fail_file(path, "start the child process that reads the file", errno);
  const int error = start(path, ends[1], &pid);
  close(ends[1]);
  if (error) {
    close(ends[0]);
    return cb_fail_file(path, "start the child process that reads the file", error);
  }
  const bool ended = hear(&l, ends[0]);
  if (!ended) kill(pid, SIGKILL);
  close(ends[0]);
  pid_t waited;
  do waited = waitpid(pid, &status, 0);
  while (waited < 0 && errno == EINTR);
  if (!l.last) say_end(&l, ended, waited == pid, status);
  if (!l.last || l.last == CLI_PROBE_REFUSE) {
    char refusal[2 * TEXT + 32];
    snprintf(refusal, sizeof refusal, "%s: cannot be read: %s", l.object, l.reason);
    remember(l.file, refusal);
  }
  return CB_OK;
}

static bool identify(const char *path, identity *out) {
  struct stat info;
  if (stat(path, &info) < 0 || !S_ISREG(info.st_mode)) return false;
  *out = identity_of(&info);
  return true;
}

/* Probes a file unless its result is known. If another file gets this name during the probe, the result is stored for
 * the file that the child has read, and the new file is probed when it is opened again. */
static cb_status look(const char *path) {
  identity file;
  char refusal[2 * TEXT + 32] = "";
  cb_status status = CB_OK;
  if (!identify(path, &file)) return CB_OK;
  pthread_mutex_lock(&mutex);
  const known *k = find(&file);
  if (!k && !(status = start_and_hear(path, &file)) && identify(path, &file)) k = find(&file);
  if (k && k->refusal) snprintf(refusal, sizeof refusal, "%s", k->refusal);
  pthread_mutex_unlock(&mutex);
  return *refusal ? cb_fail_placed(CB_ERROR_INPUT, "%s: error: %s", path, refusal) : status;
}

static void trust(const char *path) {
  identity file;
  if (!identify(path, &file)) return;
  pthread_mutex_lock(&mutex);
  if (!find(&file)) remember(file, NULL);
  pthread_mutex_unlock(&mutex);
}

void cli_probe_enable(void) {
  static const cb_prober prober = {look, trust};
  if (!getenv("CURVEBODY_TRUST_FILES")) cb_probe_by(&prober);
}
