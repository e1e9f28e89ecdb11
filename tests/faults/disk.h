/* A disk that loses power: every change of the files in one folder is kept in the order in which it was asked for, and
 * what a loss of power at any moment may leave of it is laid into another folder.
 *
 * What was written before a sync of its file, and names before a sync of their folder, are there. Of the rest any part
 * may be: POWER_PREFIX what came first; POWER_SUBSET some writes and not others; POWER_TORN some sectors of 512 bytes
 * and not others; POWER_ZEROS the same, and where a lost write made the file longer, zeros. Lengths are changed or not as
 * data are. Names are made, changed and taken away in their order, up to any of them.
 *
 * The functions of the C library are stood in front of by those of the same name here.
 */
#ifndef CB_TESTS_FAULTS_DISK_H
#define CB_TESTS_FAULTS_DISK_H

#include "check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DISK_FILES = 64, SECTOR = 512 };
typedef enum disk_kind {
  DISK_WRITE,
  DISK_LENGTH,
  DISK_SYNC,
  DISK_MAKE,
  DISK_NAME,
  DISK_REMOVE,
  DISK_SYNC_FOLDER
} disk_kind;
typedef enum power_loss {
  POWER_PREFIX,
  POWER_SUBSET,
  POWER_TORN,
  POWER_ZEROS,
  POWER_LOSSES,
  POWER_STAYS /* it does not go: the process was killed */
} power_loss;

typedef struct disk_change {
  disk_kind kind;
  int file;
  uint64_t at, size;
  unsigned char *bytes;
  char name[48], other[48]; /* in the folder */
} disk_change;

static struct {
  pthread_mutex_t mutex;
  bool on;
  char folder[100];
  const char *boot; /* a file in place of the system's boot_id */
  ino_t inode[DISK_FILES];
  int files;
  disk_change *change;
  size_t count, room, first; /* first: those that a folder began with */
} disk = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static const char boot_id[] = "/proc/sys/kernel/random/boot_id";

/* Files by their inodes, which are not used again while the test runs: a file that goes keeps a link. */
static int disk_file(int fd) {
  struct stat info;
  if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode)) return -1;
  for (int i = 0; i < disk.files; i++)
    if (disk.inode[i] == info.st_ino) return i;
  return -1;
}

static void disk_add(disk_change c) {
  pthread_mutex_lock(&disk.mutex);
  if (disk.count == disk.room) {
    disk.room = disk.room ? 2 * disk.room : 4096;
    disk.change = realloc(disk.change, disk.room * sizeof *disk.change);
    if (!disk.change) abort();
  }
  disk.change[disk.count++] = c;
  pthread_mutex_unlock(&disk.mutex);
}

/* The name within the folder, NULL: it is elsewhere. */
static const char *disk_name(const char *path) {
  const size_t n = strlen(disk.folder);
  return disk.on && !strncmp(path, disk.folder, n) && path[n] == '/' ? path + n + 1 : NULL;
}

static void disk_put_name(char out[48], const char *name) { snprintf(out, 48, "%.47s", name); }

#define DISK_NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
  const int file = disk.on ? disk_file(fd) : -1;
  const ssize_t put = DISK_NEXT(pwrite)(fd, bytes, size, at);
  if (file < 0 || put <= 0) return put;
  disk_change c = {
      .kind = DISK_WRITE, .file = file, .at = (uint64_t)at, .size = (uint64_t)put, .bytes = malloc((size_t)put)};
  if (!c.bytes) abort();
  memcpy(c.bytes, bytes, (size_t)put);
  disk_add(c);
  return put;
}

int ftruncate(int fd, off_t size) {
  const int file = disk.on ? disk_file(fd) : -1, failed = DISK_NEXT(ftruncate)(fd, size);
  if (file >= 0 && !failed) disk_add((disk_change){.kind = DISK_LENGTH, .file = file, .size = (uint64_t)size});
  return failed;
}

static int disk_sync(int fd) {
  struct stat info, folder;
  if (!disk.on || fstat(fd, &info) < 0) return 0;
  const int file = disk_file(fd);
  if (file >= 0) disk_add((disk_change){.kind = DISK_SYNC, .file = file});
  if (S_ISDIR(info.st_mode) && stat(disk.folder, &folder) == 0 && folder.st_ino == info.st_ino)
    disk_add((disk_change){.kind = DISK_SYNC_FOLDER});
  return 0;
}

int fsync(int fd) { return disk_sync(fd); }
int fdatasync(int fd) { return disk_sync(fd); }

static void disk_keep(const char *path) {
  char kept[256];
  snprintf(kept, sizeof kept, "%s.kept/%d", disk.folder, disk.files);
  if (disk.files == DISK_FILES || link(path, kept) < 0) abort();
}

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  struct stat info;
  const char *name = flags & O_CREAT ? disk_name(path) : NULL;
  const bool is_new = name && stat(path, &info) < 0;
  const int fd = DISK_NEXT(open)(disk.boot && !strcmp(path, boot_id) ? disk.boot : path, flags, mode);
  if (fd < 0 || !is_new || fstat(fd, &info) < 0) return fd;
  disk_keep(path);
  disk.inode[disk.files] = info.st_ino;
  disk_change c = {.kind = DISK_MAKE, .file = disk.files++};
  disk_put_name(c.name, name);
  disk_add(c);
  return fd;
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  const int failed = (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
  if (failed || !disk_name(from)) return failed;
  disk_change c = {.kind = DISK_NAME};
  disk_put_name(c.name, disk_name(from)), disk_put_name(c.other, disk_name(to));
  disk_add(c);
  return 0;
}

int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlink(const char *path) {
  const int failed = DISK_NEXT(unlink)(path);
  if (failed || !disk_name(path)) return failed;
  disk_change c = {.kind = DISK_REMOVE};
  disk_put_name(c.name, disk_name(path));
  disk_add(c);
  return 0;
}

/* From here on changes of the folder, which is empty, are kept. */
static void disk_begin(const char *folder) {
  char kept[160];
  snprintf(disk.folder, sizeof disk.folder, "%.99s", folder);
  snprintf(kept, sizeof kept, "%s.kept", folder);
  assert_int_equal(mkdir(folder, 0777), 0);
  assert_int_equal(mkdir(kept, 0777), 0);
  disk.on = true;
}

static void disk_end(void) { disk.on = false; }

/* The same of a folder that has files: they are on the disk. */
static void disk_begin_with(const char *folder) {
  char kept[160], path[400];
  struct stat info;
  snprintf(disk.folder, sizeof disk.folder, "%.99s", folder);
  snprintf(kept, sizeof kept, "%s.kept", disk.folder);
  assert_int_equal(mkdir(kept, 0777), 0);
  DIR *list = opendir(folder);
  assert_non_null(list);
  for (struct dirent *entry; (entry = readdir(list));) {
    snprintf(path, sizeof path, "%.99s/%.255s", folder, entry->d_name);
    if (stat(path, &info) < 0 || !S_ISREG(info.st_mode)) continue;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    disk_keep(path);
    disk_change make = {.kind = DISK_MAKE, .file = disk.files}, all = {.kind = DISK_WRITE, .file = disk.files};
    disk_put_name(make.name, entry->d_name);
    all.size = (uint64_t)info.st_size;
    all.bytes = malloc(all.size + 1);
    assert_non_null(all.bytes);
    assert_int_equal(fread(all.bytes, 1, all.size, file), all.size);
    fclose(file);
    disk.inode[disk.files] = info.st_ino;
    disk_add(make), disk_add(all), disk_add((disk_change){.kind = DISK_SYNC, .file = disk.files++});
  }
  closedir(list);
  disk_add((disk_change){.kind = DISK_SYNC_FOLDER});
  disk.first = disk.count;
  disk.on = true;
}

static void disk_forget(void) {
  char command[400];
  for (size_t i = 0; i < disk.count; i++) free(disk.change[i].bytes);
  free(disk.change);
  disk.change = NULL;
  disk.count = disk.room = disk.first = 0;
  disk.files = 0;
  snprintf(command, sizeof command, "rm -rf '%s' '%s.kept'", disk.folder, disk.folder);
  assert_int_equal(system(command), 0);
}

/* ---- What is left */

typedef struct disk_image {
  unsigned char *bytes;
  uint64_t length, room;
} disk_image;

static void image_length(disk_image *d, uint64_t length) {
  if (length > d->room) {
    d->room = 2 * length;
    d->bytes = realloc(d->bytes, d->room);
    if (!d->bytes) abort();
  }
  if (length > d->length) memset(d->bytes + d->length, 0, length - d->length);
  d->length = length;
}

static void image_put(disk_image *d, uint64_t at, const unsigned char *bytes, uint64_t size) {
  if (at + size > d->length) image_length(d, at + size);
  memcpy(d->bytes + at, bytes, size);
}

static bool chance(uint64_t *seed) { return check_uniform(seed, 0, 1) < .5; }

/* One change of a file that no sync came after. */
static void put_some(disk_image *d, const disk_change *c, power_loss how, uint64_t *seed) {
  if (c->kind == DISK_LENGTH) {
    if (chance(seed)) image_length(d, c->size);
    return;
  }
  if (how == POWER_SUBSET) {
    if (chance(seed)) image_put(d, c->at, c->bytes, c->size);
    return;
  }
  const bool none = check_uniform(seed, 0, 1) < .2;
  for (uint64_t from = 0; from < c->size;) {
    uint64_t n = SECTOR - (c->at + from) % SECTOR;
    if (n > c->size - from) n = c->size - from;
    if (!none && chance(seed)) image_put(d, c->at + from, c->bytes + from, n);
    from += n;
  }
  if (how == POWER_ZEROS && c->at + c->size > d->length && chance(seed)) image_length(d, c->at + c->size);
}

typedef struct disk_names {
  char name[DISK_FILES][48];
  int file[DISK_FILES], count;
} disk_names;

static void names_change(disk_names *n, const disk_change *c) {
  int old = -1, target = -1;
  for (int i = 0; i < n->count; i++) {
    if (!strcmp(n->name[i], c->name)) old = i;
    if (c->kind == DISK_NAME && !strcmp(n->name[i], c->other)) target = i;
  }
  if (c->kind == DISK_MAKE) {
    disk_put_name(n->name[n->count], c->name);
    n->file[n->count++] = c->file;
  } else if (old >= 0 && c->kind == DISK_NAME) {
    const int file = n->file[old];
    if (target < 0) target = n->count, disk_put_name(n->name[n->count++], c->other);
    n->file[target] = file;
    n->name[old][0] = 0;
  } else if (old >= 0) {
    n->name[old][0] = 0;
  }
}

/* Lays what may be left after the first `changes` into the folder `out`, which is made anew. */
static void disk_lose_power(size_t changes, power_loss how, uint64_t *seed, const char *out) {
  static disk_image image[DISK_FILES];
  disk_names names = {.count = 0};
  size_t synced[DISK_FILES] = {0}, folder = 0, named = 0;
  const size_t prefix = (size_t)check_uniform(seed, 0, (double)changes + 1);
  for (size_t i = 0; i < changes; i++) {
    const disk_change *c = &disk.change[i];
    if (c->kind == DISK_SYNC) synced[c->file] = i;
    if (c->kind == DISK_SYNC_FOLDER) folder = i;
  }
  named = folder + (size_t)check_uniform(seed, 0, (double)(changes - folder) + 1);
  for (int f = 0; f < disk.files; f++) image[f].length = 0;
  for (size_t i = 0; i < changes; i++) {
    const disk_change *c = &disk.change[i];
    if (c->kind >= DISK_MAKE) {
      if (c->kind != DISK_SYNC_FOLDER && (i <= named || how == POWER_STAYS)) names_change(&names, c);
    } else if (c->kind == DISK_SYNC) {
      continue;
    } else if (i < synced[c->file] || how == POWER_STAYS || (how == POWER_PREFIX && i < prefix)) {
      if (c->kind == DISK_WRITE)
        image_put(&image[c->file], c->at, c->bytes, c->size);
      else
        image_length(&image[c->file], c->size);
    } else if (how != POWER_PREFIX) {
      put_some(&image[c->file], c, how, seed);
    }
  }
  char path[400];
  snprintf(path, sizeof path, "rm -rf '%s'", out);
  assert_int_equal(system(path), 0);
  assert_int_equal(mkdir(out, 0777), 0);
  for (int i = 0; i < names.count; i++) {
    if (!names.name[i][0]) continue;
    snprintf(path, sizeof path, "%s/%s", out, names.name[i]);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    const disk_image *d = &image[names.file[i]];
    assert_int_equal(fwrite(d->bytes ? d->bytes : (unsigned char *)"", 1, d->length, file), d->length);
    fclose(file);
  }
}

#endif
