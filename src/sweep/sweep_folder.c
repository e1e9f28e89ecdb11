/* The folder of an incomplete sweep: its lock, its texts, and the comparison with a sweep that was begun earlier
 * (sweep/sweep_run.h). */
#include "sweep/sweep_run.h"

#include "core/file.h"
#include "record/folder.h"
#include "core/text.h"
#include "record/output.h"
#include "record/hdf5.h"
#include "scenario/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { LARGEST = 1 << 30 };

cb_status cb_folder_name(const char *out, cb_folder *folder) {
  size_t n = strlen(out);
  *folder = (cb_folder){.segments = {.lock = -1}};
  if (n > 3 && !strcmp(out + n - 3, ".h5")) n -= 3;
  while (n > 1 && out[n - 1] == '/') n--;
  if (n == 0 || n >= sizeof folder->result - 100)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "'%s' cannot be the name of a result: expected a name that is not empty and is shorter", out);
  snprintf(folder->result, sizeof folder->result, "%.*s.h5", (int)n, out);
  return cb_segments_name(folder->result, &folder->segments);
}

static void path_in(const cb_folder *folder, const char *name, char *out, size_t size) {
  snprintf(out, size, "%s/%s", folder->segments.path, name);
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

/* --- texts of the sweep --- */

static cb_status find(const char *path, bool *there) {
  struct stat info;
  return cb_find_file(path, "read", &info, there);
}

cb_status cb_folder_has_result(const cb_folder *folder, bool *there) { return find(folder->result, there); }

/* Reads a text from /sweep of the result; *text is unchanged if there is no text of that name. */
static cb_status read_result(const cb_folder *folder, const char *name, char **text) {
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  const hid_t file = cb_hdf5_open(folder->result, H5F_ACC_RDONLY);
  const hid_t group =
      file >= 0 && H5Lexists(file, "sweep", H5P_DEFAULT) > 0 ? H5Gopen2(file, "sweep", H5P_DEFAULT) : -1;
  if (group >= 0 && H5Lexists(group, name, H5P_DEFAULT) > 0) *text = cb_hdf5_get_text_dataset(group, name);
  if (group >= 0) H5Gclose(group);
  if (file >= 0) cb_hdf5_close_read(file, folder->result);
  const cb_status status = cb_hdf5_unread(folder->result, CB_OK);
  cb_hdf5_quiet_end(quiet);
  return status;
}

/* Reads a text of the sweep, from its folder or otherwise from its result; *text is NULL if the sweep was not begun.
 * CB_ERROR_FILE: another file or folder has that name. */
static cb_status read_text(const cb_folder *folder, const char *name, const char *in_result, char **text) {
  char path[4096];
  bool there, result;
  size_t n;
  *text = NULL;
  path_in(folder, name, path, sizeof path);
  cb_status status = find(path, &there);
  if (status) return status;
  if (there) return cb_read_whole_file(path, LARGEST, text, &n);
  if ((status = cb_segments_look(&folder->segments, &there))) return status;
  if (there && cb_segments_state(&folder->segments) == CB_FOLDER_HELD)
    return cb_segments_in_use(&folder->segments, folder->result);
  if (there)
    return cb_fail(CB_ERROR_FILE, "%s: this is the folder of a run, not of a sweep: expected another -o",
                   folder->segments.path);
  status = find(folder->result, &result);
  if (status || !result) return status;
  status = read_result(folder, in_result, text);
  if (status || *text) return status;
  return cb_fail(CB_ERROR_FILE,
                 "%s: this file exists and is not the result of a sweep that can continue: expected another -o",
                 folder->result);
}

/* --- the result of the check of members --- */

static cb_status digest_of(const char *path, char out[CB_SCENARIO_DIGEST]) {
  char *data;
  size_t n;
  const cb_status status = cb_read_whole_file(path, LARGEST, &data, &n);
  if (status) return status;
  cb_scenario_sha256(data, n, out);
  free(data);
  return CB_OK;
}

/* Sets s->digest: the digest of the sweep and of the lines in `text`. */
static cb_status end(cb_sweep *s, cb_text *text) {
  cb_text all = {0};
  cb_text_puts(&all, s->plan->resolved);
  if (text->data) cb_text_puts(&all, text->data);
  const cb_status status = all.failed || text->failed ? cb_fail(CB_ERROR_MEMORY, "no memory for a digest") : CB_OK;
  if (!status) cb_scenario_sha256(all.data, all.length, s->digest);
  cb_text_free(&all);
  return status;
}

/* Reads the results of cb_sweep_check, rows_max and the list of files, from `data`, which is changed; sets s->digest.
 * CB_ERROR_INPUT: the text is damaged, or a file has other contents now. */
static cb_status take_checked(const cb_folder *folder, char *data, cb_sweep *s) {
  char hex[CB_SCENARIO_DIGEST];
  long long rows;
  const char *path = folder->result;
  cb_status status = CB_OK;
  int used = 0;
  cb_text files = {0};
  if (sscanf(data, "rows %lld\n%n", &rows, &used) < 1 || !used || rows < 1)
    status = cb_fail(CB_ERROR_INPUT, "%s: error: the list of checked files is damaged: expected another -o", path);
  else
    s->rows_max = rows;
  for (char *line = data + used, *next; !status && *line; line = next) {
    next = strchr(line, '\n');
    if (!next || strncmp(line, "file ", 5) || next - line < 5 + CB_SCENARIO_DIGEST) {
      status = cb_fail(CB_ERROR_INPUT, "%s: error: the list of checked files is damaged: expected another -o", path);
      break;
    }
    *next++ = 0;
    const char *name = line + 5 + CB_SCENARIO_DIGEST;
    status = digest_of(name, hex);
    if (!status && strncmp(hex, line + 5, CB_SCENARIO_DIGEST - 1))
      status = cb_fail(CB_ERROR_INPUT,
                       "%s: error: this sweep was begun with other contents of %s: expected the same contents as then, "
                       "or another -o",
                       folder->result, name);
    cb_text_puts(&files, line);
  }
  if (!status) status = end(s, &files);
  cb_text_free(&files);
  return status;
}

/* Reads the text `checked`, and stores it in the sweep's layout, because the result contains it. */
static cb_status keep_checked(const cb_folder *folder, const char *text, cb_sweep *s) {
  char *changed = strdup(text);
  s->layout.checked = cb_arena_strdup(s->arena, text);
  const cb_status status = changed && s->layout.checked ? take_checked(folder, changed, s)
                                                        : cb_fail(CB_ERROR_MEMORY, "no memory for a list");
  free(changed);
  return status;
}

static cb_status write_checked(const cb_folder *folder, cb_sweep *s) {
  char line[160], hex[CB_SCENARIO_DIGEST];
  cb_text text = {0};
  cb_status status = CB_OK;
  snprintf(line, sizeof line, "rows %lld\n", (long long)s->rows_max);
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
  if (!status) status = keep_checked(folder, text.data, s);
  cb_text_free(&text);
  return status;
}

/* Returns CB_OK if no other sweep was begun in this folder. *begun: whether a sweep was begun. */
static cb_status compare(const cb_folder *folder, const cb_sweep *s, bool *begun) {
  char *was, what[1024];
  cb_status status = read_text(folder, cb_segments_of_sweep, "resolved", &was);
  *begun = was != NULL;
  if (status || !was) return status;
  status = cb_sweep_changed(folder->result, was, s->plan->resolved);
  free(was);
  if (status != CB_ERROR_INPUT) return status;
  snprintf(what, sizeof what, "%s", cb_error_text());
  return cb_fail(CB_ERROR_INPUT, "%s: error: another sweep was begun here: %s; expected the same sweep, or another -o",
                 folder->result, what);
}

static cb_status check(const cb_folder *folder, cb_sweep *s) {
  char *text;
  cb_status status = read_text(folder, "checked", "checked", &text);
  if (status) return status;
  status = text ? keep_checked(folder, text, s) : write_checked(folder, s);
  free(text);
  return status;
}

cb_status cb_folder_open(cb_folder *folder, cb_sweep *s, int shard, int threads, const volatile sig_atomic_t *stop) {
  bool begun;
  cb_status status = compare(folder, s, &begun);
  if (!status && !begun) status = cb_sweep_check(s, 0, s->plan->members, threads, stop);
  if (!status) status = shard ? cb_segments_take_part(&folder->segments, shard) : cb_segments_take(&folder->segments);
  if (!status) status = compare(folder, s, &begun); /* another shard may have begun the sweep in the meantime */
  if (!status) status = check(folder, s);
  if (!status) status = write_text(folder, cb_segments_of_sweep, s->plan->resolved);
  if (!status) cb_sweep_layout_rows(s);
  return status;
}

cb_status cb_folder_check_disk(const cb_folder *folder, double bytes) {
  struct statvfs disk;
  const bool known = statvfs(folder->segments.path, &disk) == 0;
  const double available = known ? (double)disk.f_bavail * (double)disk.f_frsize : INFINITY;
  if (bytes <= available) return CB_OK;
  return cb_fail(CB_ERROR_FILE, "%s: the disk has too little space: expected %.6g MB for the results, found %.6g MB",
                 folder->result, bytes / 1e6, available / 1e6);
}

void cb_folder_close(cb_folder *folder, bool complete) { cb_segments_leave(&folder->segments, complete); }
