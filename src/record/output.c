/* Output files that get their names when they are complete (output.h). */
#include "core/failure.h"
#include "core/file.h"
#include "record/output.h"
#include "record/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PARTS = 10000 };

/* ---- The unfinished files of this process
 *
 * The table has no lock, because a signal handler reads it. If there is no free entry, a name is not stored. */

enum { PART_NAMES = 256 };
static _Atomic(const char *) part_names[PART_NAMES];

static void replace_name(const char *old, const char *new) {
  for (int i = 0; i < PART_NAMES; i++) {
    const char *expected = old;
    if (atomic_compare_exchange_strong(&part_names[i], &expected, new)) return;
  }
}

static void register_temporary(const char *name) { replace_name(NULL, name); }
static void release_temporary(const char *name) {
  if (name) replace_name(name, NULL);
}

void cb_tempfile_remove_all(void) {
  for (int i = 0; i < PART_NAMES; i++) {
    const char *name = atomic_load(&part_names[i]);
    if (name) unlink(name);
  }
}

/* ---- Beginning a file */

static bool same_file(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_standard(const char *path) { return !strcmp(path, "-"); }

cb_status cb_output_check(const char *path, const cb_files *inputs) {
  struct stat output, input;
  bool there, read;
  if (is_standard(path)) return CB_OK;
  cb_status status = cb_find_file(path, "write", &output, &there);
  for (size_t i = 0; i < inputs->count && !status && there; i++) {
    status = cb_find_file(inputs->path[i], "read", &input, &read);
    if (!status && read && same_file(&output, &input))
      return cb_fail_placed(CB_ERROR_INPUT, "%s: error: the output would replace the input '%s': expected another name",
                            path, inputs->path[i]);
  }
  return status;
}

/* Checks that a file that exists may be replaced. */
static cb_status check_old(const cb_output *o, bool replace) {
  struct stat info;
  if (stat(o->target, &info) < 0) {
    if (errno != ENOENT) return cb_fail_file(o->path, "write", errno);
    if (lstat(o->target, &info) < 0) return CB_OK;
    return cb_fail(
        CB_ERROR_FILE,
        "%s: cannot write: it is a link to a file that does not exist; remove the link, or give another name", o->path);
  }
  if (!S_ISREG(info.st_mode)) return cb_fail(CB_ERROR_FILE, "%s: cannot write: expected a regular file", o->path);
  if (!replace) return cb_fail(CB_ERROR_FILE, "%s: exists already", o->path);
  if (access(o->target, W_OK) < 0) return cb_fail_file(o->path, "replace", errno);
  return CB_OK;
}

/* Creates the temporary file under an unused name. The writer of a record creates it in the folder of the record, where
 * the next writer removes the files of a killed run; other commands create it next to the target. */
static bool make_temporary(const cb_output *o, char *part, size_t size) {
  const char *slash = strrchr(o->target, '/'), *name = slash ? slash + 1 : o->target;
  snprintf(part, size, "%s.parts", o->target);
  const bool inside = o->owner && access(part, W_OK | X_OK) == 0;
  for (int i = 0; i < PARTS; i++) {
    snprintf(part, size, "%s%s%s.%ld-%d.part", o->target, inside ? ".parts/" : "", inside ? name : "", (long)getpid(),
             i);
    const int fd = cb_open(part, O_WRONLY | O_CREAT | O_EXCL), error = fd < 0 ? errno : cb_close(fd);
    if (!error) {
      register_temporary(part);
      return true;
    }
    if (fd >= 0) unlink(part);
    errno = error;
    if (error != EEXIST) return false;
  }
  return false;
}

static void forget(cb_output *o) {
  release_temporary(o->part);
  free(o->path);
  free(o->target);
  free(o->part);
  *o = (cb_output){0};
}

static cb_status begin(const char *path, bool replace, bool owner, cb_output *out) {
  char *real = realpath(path, NULL);
  if (!real && errno != ENOENT) return cb_fail_file(path, "write", errno);
  cb_output o = {.path = strdup(path), .target = real ? real : strdup(path), .owner = owner};
  const size_t size = o.target ? 2 * strlen(o.target) + 56 : 0;
  if (size) o.part = malloc(size);
  if (!o.path || !o.part) {
    forget(&o);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the name %s", path);
  }
  cb_status status = owner ? CB_OK : cb_record_check_unwritten(path);
  if (!status) status = check_old(&o, replace);
  if (!status && !make_temporary(&o, o.part, size)) status = cb_fail_file(path, "write", errno);
  if (status)
    forget(&o);
  else
    *out = o;
  return status;
}

cb_status cb_output_begin(const char *path, bool replace, cb_output *out) { return begin(path, replace, false, out); }
cb_status cb_output_begin_own(const char *path, bool replace, cb_output *out) {
  return begin(path, replace, true, out);
}

/* Gives the temporary file its final name if no file has that name. Returns 0 or errno. */
static int name_new(const cb_output *o) {
  if (renameat2(AT_FDCWD, o->part, AT_FDCWD, o->target, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (link(o->part, o->target) < 0) return errno; /* the file system does not support renameat2 */
  unlink(o->part);
  return 0;
}

static cb_status take_name(const cb_output *o, bool replace) {
  cb_status status = o->owner ? CB_OK : cb_record_check_unwritten(o->path); /* a run may have begun in the meantime */
  if (status) return status;
  const int error = o->owner ? EEXIST : name_new(o);
  if (!error) return CB_OK;
  if (error != EEXIST) return cb_fail_file(o->path, "write", error);
  status = o->owner ? CB_OK : cb_record_check_unwritten(o->path);
  if (!status) status = check_old(o, replace);
  if (status) return status;
  return rename(o->part, o->target) < 0 ? cb_fail_file(o->path, "write", errno) : CB_OK;
}

/* Syncs a file or a folder. Returns 0 or errno. A file that the system cannot sync is treated as synced. */
static int sync_at(const char *path, int flags) {
  const int fd = cb_open(path, flags | O_RDONLY);
  int error;
  if (fd < 0) return errno == EACCES ? 0 : errno;
  do error = fsync(fd) == 0 ? 0 : errno;
  while (error == EINTR);
  close(fd);
  return error == EINVAL || error == ENOTSUP || error == EROFS ? 0 : error;
}

int cb_sync_folder(const char *path) {
  char folder[PATH_MAX]; /* no malloc: the file already has its name, so this must not fail for lack of memory */
  const char *slash = strrchr(path, '/');
  if (!slash) return sync_at(".", O_DIRECTORY);
  const int length = slash == path ? 1 : (int)(slash - path);
  if (snprintf(folder, sizeof folder, "%.*s", length, path) >= (int)sizeof folder) return ENAMETOOLONG;
  return sync_at(folder, O_DIRECTORY);
}

cb_status cb_output_end(cb_output *o, bool replace, cb_status status) {
  int error = status || o->unsynced ? 0 : sync_at(o->part, 0);
  if (!status && !error) {
    status = take_name(o, replace);
    if (!status && !o->unsynced) error = cb_sync_folder(o->target);
  }
  if (error) status = cb_fail_file(o->path, "write", error);
  if (status) unlink(o->part);
  forget(o);
  return status;
}

/* Opens a separate stream for the standard output, so that closing it reports data that could not be written. */
static cb_status open_standard(cb_output *o, FILE **stream) {
  const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  *stream = fd < 0 ? NULL : fdopen(fd, "w");
  if (*stream) {
    *o = (cb_output){.path = NULL};
    return CB_OK;
  }
  const int reason = errno;
  if (fd >= 0) close(fd);
  return cb_fail_file("standard output", "write", reason);
}

cb_status cb_output_open_text(const char *path, cb_output *o, FILE **stream) {
  if (is_standard(path)) return open_standard(o, stream);
  cb_status status = cb_output_begin(path, true, o);
  if (status) return status;
  *stream = cb_open_stream(o->part, O_TRUNC);
  if (*stream) return CB_OK;
  status = cb_fail_file(path, "write", errno);
  return cb_output_end(o, true, status);
}

cb_status cb_output_close_text(cb_output *o, FILE *stream, cb_status status) {
  /* If an earlier write was refused, errno still has its reason, or fflush is refused for the same reason. */
  bool written = fflush(stream) == 0 && !ferror(stream);
  int reason = errno;
  if (fclose(stream) != 0 && written) {
    written = false;
    reason = errno;
  }
  if (!status && !written) status = cb_fail_file(o->path ? o->path : "standard output", "write", reason);
  return o->path ? cb_output_end(o, true, status) : status;
}

static hid_t create_hdf5(const cb_output *o) {
  const hid_t access = cb_hdf5_file_access();
  if (access < 0) return access;
  const hid_t create = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_attr_phase_change(create, 200, 0); /* attributes stay in the object header */
  H5Pset_obj_track_times(create, false);
  hid_t file;
  do file = H5Fcreate(o->part, H5F_ACC_TRUNC, create, access);
  while (file < 0 && cb_hdf5_interrupted());
  H5Pclose(create);
  H5Pclose(access);
  return file;
}

cb_status cb_output_open_hdf5(const char *path, bool own, cb_output *o, hid_t *file) {
  const cb_status status = own ? cb_output_begin_own(path, true, o) : cb_output_begin(path, true, o);
  if (status) return status;
  *file = create_hdf5(o);
  return *file >= 0 ? CB_OK : cb_output_end(o, true, cb_hdf5_fail(path, "create"));
}

cb_status cb_output_close_hdf5(cb_output *o, hid_t file, cb_status status) {
  if (status)
    cb_hdf5_abandon(file);
  else
    status = cb_hdf5_close(file, o->path);
  return cb_output_end(o, true, status);
}
