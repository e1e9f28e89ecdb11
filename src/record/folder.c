/* The folder of a record: its names, its lock, its segments and its removal (folder.h). */
#include "record/folder.h"
#include "core/failure.h"
#include "core/file.h"
#include "record/internal.h"
#include "record/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 100, DIGITS = 6 };

static void forget(cb_segments *s) {
  free(s->record);
  free(s->path);
  *s = (cb_segments){.lock = -1};
}

cb_status cb_segments_name(const char *path, cb_segments *out) {
  char *real = realpath(path, NULL);
  if (!real && errno != ENOENT && errno != ENOTDIR) return cb_fail_file(path, "open", errno);
  cb_segments s = {.record = real ? real : strdup(path), .lock = -1};
  const size_t size = s.record ? strlen(s.record) + sizeof ".parts" : 0;
  if (size) s.path = malloc(size);
  if (!s.path) {
    forget(&s);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the name %s", path);
  }
  snprintf(s.path, size, "%s.parts", s.record);
  *out = s;
  return CB_OK;
}

/* Makes the path of a file in the folder; false, with errno, if it is too long. */
static bool name_in(const cb_segments *s, const char *name, char out[PATH_MAX]) {
  const bool fits = snprintf(out, PATH_MAX, "%s/%s", s->path, name) < PATH_MAX;
  if (!fits) errno = ENAMETOOLONG;
  return fits;
}

const char cb_segment_base[] = "000000.h5", cb_segments_of_sweep[] = "sweep.yaml";

char *cb_segment_name(const cb_segments *s, uint64_t number) {
  const size_t size = strlen(s->path) + 32;
  char *name = malloc(size);
  if (name) snprintf(name, size, "%s/%0*llu.h5", s->path, DIGITS, (unsigned long long)number);
  return name;
}

/* Finds the number of a segment from its file name. Returns false if the name is not that of a segment. */
static bool number_of(const char *name, uint64_t *number) {
  const size_t digits = strspn(name, "0123456789");
  if (digits < DIGITS || digits > 18 || strcmp(name + digits, ".h5")) return false;
  *number = strtoull(name, NULL, 10);
  return true;
}

/* ---- The lock */

/* These are locks of the open file description (F_OFD_SETLK): a reader can check whether another process holds such a
 * lock without taking it. `all` covers every byte of the lock file, `whole` the bytes of the parts
 * 0 .. CB_FOLDER_PARTS - 1. */
static const struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET},
                          whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = CB_FOLDER_PARTS};

static int lock_file(int fd, struct flock lock) {
  while (fcntl(fd, F_OFD_SETLK, &lock) < 0)
    if (errno != EINTR) return errno == EACCES ? EAGAIN : errno;
  return 0;
}

/* Returns whether another open file description holds a lock on any byte of this file. */
static bool is_locked(int fd) {
  struct flock lock = all;
  return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Reads the first line of the lock file, which names the holder. */
static void read_holder(const char *lock, char *out, size_t size) {
  const int fd = cb_open(lock, O_RDONLY);
  size_t got = 0;
  if (fd >= 0) cb_read_at(fd, 0, size - 1, out, &got);
  if (fd >= 0) close(fd);
  out[got] = 0;
  out[strcspn(out, "\n")] = 0;
}

static void write_holder(int fd) {
  char host[256] = "", since[64] = "", text[512];
  const time_t now = time(NULL);
  struct tm utc;
  gethostname(host, sizeof host - 1);
  if (gmtime_r(&now, &utc)) strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", &utc);
  const int length = snprintf(text, sizeof text, "process %ld on %s since %s\n", (long)getpid(), host, since);
  /* The text is only information; the lock does not depend on it, so a failure to write it is ignored. */
  if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)length, 0) < 0) return;
}

cb_status cb_segments_in_use(const cb_segments *s, const char *path) {
  char lock[PATH_MAX], holder[400] = "";
  if (name_in(s, "lock", lock)) read_holder(lock, holder, sizeof holder);
  return cb_fail_as(CB_FAILURE_SYSTEM, CB_ERROR_FILE, "%s: in use: a run is writing it%s%s%s", path,
                    *holder ? " (" : "", holder, *holder ? ")" : "");
}

static bool is_of_sweep(const cb_segments *s) {
  char name[PATH_MAX];
  return name_in(s, cb_segments_of_sweep, name) && access(name, F_OK) == 0;
}

bool cb_segments_needed(const cb_segments *s) { return is_of_sweep(s) || !cb_record_is_plain(s->record); }

cb_status cb_segments_left(const cb_segments *s, const char *path) {
  const bool sweep = is_of_sweep(s);
  return cb_fail(CB_ERROR_FILE,
                 "%s: cannot write: a %s has left its %s in %s: expected %s, or `run --force` to discard them", path,
                 sweep ? "sweep" : "run", sweep ? "members" : "rows", s->path,
                 sweep ? "the same `curvebody sweep`" : "`curvebody resume` or `repair`");
}

/* Returns 0 if the path is the open file, ENOENT if it is another file or does not exist, or another errno. */
static int compare_file(int fd, const char *path) {
  struct stat held, now;
  if (fstat(fd, &held) < 0 || stat(path, &now) < 0) return errno;
  return held.st_dev == now.st_dev && held.st_ino == now.st_ino ? 0 : ENOENT;
}

/* Opens the lock file and locks `part` of it. *gone: another writer has ended and removed the folder in the
 * meantime. */
static cb_status take_lock(cb_segments *s, const char *lock, const struct flock *part, bool *gone) {
  *gone = false;
  const int fd = cb_open(lock, O_RDWR | O_CREAT);
  if (fd < 0) {
    *gone = errno == ENOENT;
    return *gone ? CB_OK : cb_fail_file(s->record, "write", errno);
  }
  if (lock_file(fd, *part) == EAGAIN || (part == &whole && is_locked(fd))) {
    close(fd);
    return cb_segments_in_use(s, s->record);
  }
  /* A file system without locks also leads here: the process then continues without a lock. */
  const int error = compare_file(fd, lock);
  if (error) {
    close(fd);
    *gone = error == ENOENT;
    return *gone ? CB_OK : cb_fail_file(s->record, "write", error);
  }
  write_holder(fd);
  s->lock = fd;
  return CB_OK;
}

static cb_status take(cb_segments *s, const struct flock *part) {
  char lock[PATH_MAX];
  if (!name_in(s, "lock", lock)) return cb_fail_file(s->record, "write", errno);
  for (int turn = 0; turn < TURNS; turn++) {
    bool gone;
    int error = mkdir(s->path, 0777) < 0 ? errno : cb_sync_folder(s->path); /* synced, because the record that is
                                                                             * written later refers to this folder */
    if (error && error != EEXIST) return cb_fail_file(s->record, "write", error);
    const cb_status status = take_lock(s, lock, part, &gone);
    if (status || !gone) return status;
  }
  return cb_fail(CB_ERROR_FILE,
                 "%s: cannot write: other processes repeatedly replace %s; try again when they have ended", s->record,
                 s->path);
}

cb_status cb_segments_take(cb_segments *s) { return take(s, &whole); }

cb_status cb_segments_take_part(cb_segments *s, int part) {
  return take(s, &(struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = part, .l_len = 1});
}

bool cb_segments_take_rest(cb_segments *s) {
  char lock[PATH_MAX];
  struct flock free_all = all;
  free_all.l_type = F_UNLCK;
  lock_file(s->lock, free_all);
  if (lock_file(s->lock, whole) == 0 && !is_locked(s->lock) && name_in(s, "lock", lock) && !compare_file(s->lock, lock))
    return true;
  close(s->lock);
  s->lock = -1;
  return false;
}

/* ---- The content */

typedef bool (*entry_visit)(const char *name, void *context); /* returns whether to continue with the next name */

/* Calls visit for each name in the folder. Returns 0, also if there is no folder, or errno. */
static int each_entry(const cb_segments *s, entry_visit visit, void *context) {
  DIR *folder;
  do folder = opendir(s->path);
  while (!folder && errno == EINTR);
  if (!folder) return errno == ENOENT || errno == ENOTDIR ? 0 : errno;
  errno = 0;
  for (struct dirent *entry; (entry = readdir(folder)) && visit(entry->d_name, context);) errno = 0;
  const int error = errno;
  closedir(folder);
  return error;
}

/* Sets *found if `name` is a segment other than segment 0, or the text of a sweep. Returns whether to continue with the
 * next name. */
static bool is_nothing(const char *name, void *found) {
  uint64_t number;
  return !(*(bool *)found = (number_of(name, &number) && number > 0) || !strcmp(name, cb_segments_of_sweep));
}

cb_status cb_segments_look(const cb_segments *s, bool *found) {
  *found = false;
  const int error = each_entry(s, is_nothing, found);
  return error ? cb_fail_file(s->path, "read", error) : CB_OK;
}

static bool has_segments(const cb_segments *s) {
  bool found = false;
  return each_entry(s, is_nothing, &found) || found;
}

cb_folder_state cb_segments_state(const cb_segments *s) {
  char lock[PATH_MAX];
  if (!name_in(s, "lock", lock)) return CB_FOLDER_NONE;
  const int fd = cb_open(lock, O_RDONLY);
  const bool held = fd >= 0 && is_locked(fd);
  if (fd >= 0) close(fd);
  if (held) return CB_FOLDER_HELD;
  return has_segments(s) ? CB_FOLDER_LEFT : CB_FOLDER_NONE;
}

cb_folder_state cb_record_state(const char *path) {
  cb_segments s;
  if (cb_segments_name(path, &s)) return CB_FOLDER_NONE;
  const cb_folder_state state = cb_segments_state(&s);
  forget(&s);
  return state;
}

cb_status cb_record_check_unwritten(const char *path) {
  cb_segments s;
  bool found;
  cb_status status = cb_segments_name(path, &s);
  if (status) return status;
  const cb_folder_state state = cb_segments_state(&s);
  if (state == CB_FOLDER_HELD) status = cb_segments_in_use(&s, path);
  if (state == CB_FOLDER_LEFT && !(status = cb_segments_look(&s, &found)) && found) {
    const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
    if (cb_segments_needed(&s)) status = cb_segments_left(&s, path);
    cb_hdf5_quiet_end(quiet);
  }
  forget(&s);
  return status;
}

typedef struct list {
  uint64_t *number;
  size_t count, capacity;
  bool failed;
} list;

static bool add_number(const char *name, void *context) {
  list *l = context;
  uint64_t number;
  if (!number_of(name, &number) || !number) return true;
  if (l->count == l->capacity) {
    l->capacity = l->capacity ? 2 * l->capacity : 64;
    uint64_t *more = realloc(l->number, l->capacity * sizeof *more);
    l->failed = !more;
    if (!more) return false;
    l->number = more;
  }
  l->number[l->count++] = number;
  return true;
}

static int by_number(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Lists the numbers of all segments except 0, in ascending order. Returns 0 or errno. */
static int list_numbers(const cb_segments *s, list *out) {
  *out = (list){NULL};
  const int error = each_entry(s, add_number, out);
  if (out->count) qsort(out->number, out->count, sizeof *out->number, by_number);
  return out->failed ? ENOMEM : error;
}

cb_status cb_segments_list(const cb_segments *s, uint64_t **number, size_t *count) {
  list l;
  const int error = list_numbers(s, &l);
  *number = error ? NULL : l.number;
  *count = error ? 0 : l.count;
  if (error) free(l.number);
  if (error == ENOMEM) return cb_fail(CB_ERROR_MEMORY, "%s: no memory for the names of segments", s->record);
  return error ? cb_fail_file(s->path, "read", error) : CB_OK;
}

/* Removes the file of a segment if it exists. Allocates no memory, so that a folder that is no longer needed can
 * always be removed. Returns 0 or errno. */
static int remove_segment(const cb_segments *s, uint64_t number) {
  char name[32], path[PATH_MAX];
  snprintf(name, sizeof name, "%0*llu.h5", DIGITS, (unsigned long long)number);
  return !name_in(s, name, path) || (unlink(path) < 0 && errno != ENOENT && errno != ENOTDIR) ? errno : 0;
}

/* The greatest numbers of segments from number `from` on, in descending order. */
typedef struct greatest {
  uint64_t from, number[64];
  size_t count;
} greatest;

static bool add_to_greatest(const char *name, void *context) {
  greatest *g = context;
  const size_t most = sizeof g->number / sizeof *g->number;
  uint64_t number;
  size_t at = g->count;
  if (!number_of(name, &number) || !number || number < g->from) return true;
  while (at > 0 && g->number[at - 1] < number) at--;
  if (at == most) return true;
  g->count += g->count < most;
  memmove(g->number + at + 1, g->number + at, (g->count - at - 1) * sizeof *g->number);
  g->number[at] = number;
  return true;
}

/* Like remove_segment, it allocates no memory. */
int cb_segments_cut(const cb_segments *s, uint64_t from) {
  greatest g = {.from = from};
  int error;
  do {
    g.count = 0;
    error = each_entry(s, add_to_greatest, &g);
    for (size_t i = 0; i < g.count && !error; i++) error = remove_segment(s, g.number[i]);
  } while (g.count && !error);
  return error || from ? error : remove_segment(s, 0);
}

static bool ends_with(const char *name, const char *end) {
  const size_t length = strlen(name), n = strlen(end);
  return length > n && !strcmp(name + length - n, end);
}

static void remove_file(const cb_segments *s, const char *name) {
  char path[PATH_MAX];
  if (name_in(s, name, path)) unlink(path);
}

/* Removes an unfinished file of a killed writer. */
static bool remove_part(const char *name, void *context) {
  if (ends_with(name, ".part")) remove_file(context, name);
  return true;
}

void cb_segments_tidy(const cb_segments *s) { each_entry(s, remove_part, (void *)s); }

static bool remove_state(const char *name, void *context) {
  if (ends_with(name, ".part") || ends_with(name, ".state")) remove_file(context, name);
  return true;
}

/* The file with the text of a sweep is removed last, because it shows that the folder belongs to a sweep. */
int cb_segments_clear(const cb_segments *s) {
  int error = cb_segments_cut(s, 0);
  if (!error) error = each_entry(s, remove_state, (void *)s);
  if (error) return error;
  remove_file(s, "checked");
  remove_file(s, cb_segments_of_sweep);
  return 0;
}

/* The lock file is removed last, so that a folder without a lock file is empty. Returns 0 or errno. */
static int remove_folder(cb_segments *s) {
  char lock[PATH_MAX];
  int error = cb_segments_clear(s);
  if (!error && (!name_in(s, "lock", lock) || unlink(lock) < 0 || rmdir(s->path) < 0)) error = errno;
  return error == ENOENT ? 0 : error;
}

void cb_segments_leave(cb_segments *s, bool remove) {
  if (s->lock >= 0) {
    const int error = remove || (!has_segments(s) && !is_locked(s->lock)) ? remove_folder(s) : 0;
    if (remove && error) cb_warn("%s: it is no longer needed, but cannot be removed: %s", s->path, strerror(error));
    close(s->lock);
  }
  forget(s);
}
