#include "sweep/folder.h"

#include "core/file.h"
#include "record/folder.h"
#include "core/text.h"
#include "record/output.h"
#include "scenario/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST = 1 << 30 };

cb_status cb_folder_name(const char *out, cb_folder *folder) {
  size_t n = strlen(out);
  *folder = (cb_folder){.lock = -1};
  if (n > 3 && !strcmp(out + n - 3, ".h5")) n -= 3;
  while (n > 1 && out[n - 1] == '/') n--;
  if (n == 0 || n >= sizeof folder->path - 64)
    return cb_fail(CB_ERROR_ARGUMENT, "'%s' cannot be the name of a folder", out);
  memcpy(folder->path, out, n);
  snprintf(folder->result, sizeof folder->result, "%s.h5", folder->path);
  return CB_OK;
}

static void path_in(const cb_folder *folder, const char *name, char *out, size_t size) {
  snprintf(out, size, "%s/%s", folder->path, name);
}

static cb_status write_text(const cb_folder *folder, const char *name, const char *text) {
  char path[4096];
  cb_output output;
  FILE *file;
  path_in(folder, name, path, sizeof path);
  const cb_status status = cb_output_open_text(path, &output, &file);
  if (status) return status;
  fputs(text, file);
  return cb_output_close_text(&output, file, CB_OK);
}

static cb_status take_lock(cb_folder *folder, bool shared) {
  char path[4096];
  path_in(folder, "lock", path, sizeof path);
  folder->lock = cb_open(path, O_RDWR | O_CREAT);
  if (folder->lock < 0) return cb_fail_file(path, "lock", errno);
  const int error = cb_lock(folder->lock, shared ? LOCK_SH : LOCK_EX);
  if (!error) return CB_OK;
  if (error != EWOULDBLOCK) return cb_fail_file(path, "lock", error);
  return cb_fail(CB_ERROR_FILE, "%s: another sweep runs in this folder: expected to wait for it, or another -o",
                 folder->path);
}

static cb_status find(const cb_folder *folder, const char *name, bool *there) {
  char path[4096];
  struct stat info;
  path_in(folder, name, path, sizeof path);
  return cb_find_file(path, "read", &info, there);
}

/* A folder that is not of a sweep is not written into. */
static cb_status make(const cb_folder *folder) {
  struct stat info;
  bool there, result;
  cb_status status = cb_find_file(folder->path, "read", &info, &there);
  if (!status && !there) status = cb_find_file(folder->result, "read", &info, &result);
  if (!status && !there) status = cb_record_check_unwritten(folder->result);
  if (status) return status;
  if (!there && result)
    return cb_fail(CB_ERROR_FILE, "%s: exists already, and is of no sweep in %s: expected another -o", folder->result,
                   folder->path);
  if (mkdir(folder->path, 0777) == 0) return CB_OK;
  if (errno != EEXIST) return cb_fail_file(folder->path, "make the folder", errno);
  if ((status = cb_find_file(folder->path, "read", &info, &there))) return status;
  if (!there || !S_ISDIR(info.st_mode))
    return cb_fail(CB_ERROR_FILE, "%s: there is a file of this name: expected a folder, or nothing", folder->path);
  if ((status = find(folder, "lock", &there)) || there) return status;
  if (rmdir(folder->path) == 0) return make(folder);
  return cb_fail(CB_ERROR_FILE, "%s: a folder that is no sweep's: expected another -o", folder->path);
}

/* --- what was found of the members --- */

static cb_status digest_of(const char *path, char out[CB_SCENARIO_DIGEST]) {
  char *data;
  size_t n;
  const cb_status status = cb_read_whole_file(path, LARGEST, &data, &n);
  if (status) return status;
  cb_scenario_sha256(data, n, out);
  free(data);
  return CB_OK;
}

/* Of the sweep and of the lines that follow. */
static cb_status end(cb_sweep *s, cb_text *text) {
  cb_text all = {0};
  cb_text_puts(&all, s->plan->resolved);
  if (text->data) cb_text_puts(&all, text->data);
  const cb_status status = all.failed || text->failed ? cb_fail(CB_ERROR_MEMORY, "no memory for a digest") : CB_OK;
  if (!status) cb_scenario_sha256(all.data, all.length, s->digest);
  cb_text_free(&all);
  return status;
}

static cb_status write_checked(const cb_folder *folder, cb_sweep *s) {
  char line[160], hex[CB_SCENARIO_DIGEST];
  cb_text text = {0};
  cb_status status = CB_OK;
  snprintf(line, sizeof line, "rows %lld\nopen %.3g\n", (long long)s->most_rows, s->seconds_to_open);
  cb_text_puts(&text, line);
  for (size_t i = 0; i < s->files && !status; i++) {
    status = digest_of(s->file[i], hex);
    if (status) break;
    cb_text_puts(&text, "file ");
    cb_text_puts(&text, hex);
    cb_text_puts(&text, " ");
    cb_text_puts(&text, s->file[i]);
    cb_text_puts(&text, "\n");
  }
  if (!status)
    status = text.failed ? cb_fail(CB_ERROR_MEMORY, "no memory for a list") : write_text(folder, "checked", text.data);
  cb_text_free(&text);
  return status ? status : cb_folder_read_checked(folder, s);
}

cb_status cb_folder_read_checked(const cb_folder *folder, cb_sweep *s) {
  char path[4096], *data, hex[CB_SCENARIO_DIGEST];
  size_t n;
  long long rows;
  path_in(folder, "checked", path, sizeof path);
  cb_status status = cb_read_whole_file(path, LARGEST, &data, &n);
  if (status) return status;
  int used = 0;
  cb_text files = {0};
  if (sscanf(data, "rows %lld\nopen %lg\n%n", &rows, &s->seconds_to_open, &used) < 2 || !used || rows < 1)
    status = cb_fail(CB_ERROR_INPUT, "%s: error: this is not as it was written: expected to sweep into another folder",
                     path);
  else
    s->most_rows = rows;
  for (char *line = data + used, *next; !status && *line; line = next) {
    next = strchr(line, '\n');
    if (!next || strncmp(line, "file ", 5) || next - line < 5 + CB_SCENARIO_DIGEST) {
      status = cb_fail(CB_ERROR_INPUT,
                       "%s: error: this is not as it was written: expected to sweep into another folder", path);
      break;
    }
    *next++ = 0;
    const char *name = line + 5 + CB_SCENARIO_DIGEST;
    status = digest_of(name, hex);
    if (!status && strncmp(hex, line + 5, CB_SCENARIO_DIGEST - 1))
      status = cb_fail(CB_ERROR_INPUT,
                       "%s: error: this sweep was begun with another content of %s: expected it as it was, or "
                       "another -o",
                       folder->path, name);
    cb_text_puts(&files, line);
  }
  if (!status) status = end(s, &files);
  cb_text_free(&files);
  free(data);
  return status;
}

cb_status cb_folder_sweep(const cb_folder *folder, char **text) {
  char path[4096];
  size_t n;
  path_in(folder, "sweep.yaml", path, sizeof path);
  return cb_read_whole_file(path, LARGEST, text, &n);
}

/* The same sweep as was begun here. */
static cb_status compare(const cb_folder *folder, const cb_sweep *s) {
  char path[4096], *was;
  path_in(folder, "sweep.yaml", path, sizeof path);
  cb_status status = cb_folder_sweep(folder, &was);
  if (status) return status;
  status = cb_sweep_changed(path, was, s->plan->resolved);
  free(was);
  if (status != CB_ERROR_INPUT) return status;
  char what[1024];
  snprintf(what, sizeof what, "%s", cb_error_text());
  return cb_fail(CB_ERROR_INPUT,
                 "%s: error: another sweep was begun in this folder: %s; expected the same, or another -o",
                 folder->path, what);
}

cb_status cb_folder_open(cb_folder *folder, cb_sweep *s, bool shared, int threads, const volatile sig_atomic_t *stop) {
  bool begun, checked;
  cb_status status = find(folder, "sweep.yaml", &begun);
  if (!status) status = begun ? compare(folder, s) : cb_sweep_check(s, 0, s->plan->members, threads, stop);
  if (!status) status = make(folder);
  if (!status) status = take_lock(folder, shared);
  if (!status) status = find(folder, "sweep.yaml", &begun); /* of another shard, meanwhile */
  if (!status && begun) status = compare(folder, s);
  if (!status) status = find(folder, "checked", &checked);
  if (!status) status = checked ? cb_folder_read_checked(folder, s) : write_checked(folder, s);
  if (!status && !begun) status = write_text(folder, "sweep.yaml", s->plan->resolved);
  if (!status) cb_sweep_lay_rows(s);
  if (status) cb_folder_close(folder);
  return status;
}

void cb_folder_close(cb_folder *folder) {
  if (folder->lock >= 0) close(folder->lock);
  folder->lock = -1;
}
