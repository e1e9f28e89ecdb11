#include "sweep/folder.h"

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
    return cb_fail(CB_ERROR_ARGUMENT, "'%s' cannot be the name of a result", out);
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

/* --- what there is of the sweep --- */

static cb_status find(const char *path, bool *there) {
  struct stat info;
  return cb_find_file(path, "read", &info, there);
}

cb_status cb_folder_has_result(const cb_folder *folder, bool *there) { return find(folder->result, there); }

/* A text of a result; NULL: it has none of that name. */
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

/* A text of the sweep from its folder, or else from its result; NULL: it was not begun. CB_ERROR_FILE where there is
 * something else. */
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
    return cb_fail(CB_ERROR_FILE, "%s: is of a run, not of a sweep: expected another -o", folder->segments.path);
  status = find(folder->result, &result);
  if (status || !result) return status;
  status = read_result(folder, in_result, text);
  if (status || *text) return status;
  return cb_fail(CB_ERROR_FILE, "%s: exists already, and is no result of a sweep that can go on: expected another -o",
                 folder->result);
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

/* What cb_sweep_check finds, as `data`, which is changed, has it. */
static cb_status take_checked(const cb_folder *folder, char *data, cb_sweep *s) {
  char hex[CB_SCENARIO_DIGEST];
  long long rows;
  const char *path = folder->result;
  cb_status status = CB_OK;
  int used = 0;
  cb_text files = {0};
  if (sscanf(data, "rows %lld\n%n", &rows, &used) < 1 || !used || rows < 1)
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
                       folder->result, name);
    cb_text_puts(&files, line);
  }
  if (!status) status = end(s, &files);
  cb_text_free(&files);
  return status;
}

/* The text stays with the sweep: its result has it. */
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
  snprintf(line, sizeof line, "rows %lld\n", (long long)s->most_rows);
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

/* The same sweep as was begun here; *begun: whether one was. */
static cb_status compare(const cb_folder *folder, const cb_sweep *s, bool *begun) {
  char *was, what[1024];
  cb_status status = read_text(folder, cb_segments_of_sweep, "resolved", &was);
  *begun = was != NULL;
  if (status || !was) return status;
  status = cb_sweep_changed(folder->result, was, s->plan->resolved);
  free(was);
  if (status != CB_ERROR_INPUT) return status;
  snprintf(what, sizeof what, "%s", cb_error_text());
  return cb_fail(CB_ERROR_INPUT, "%s: error: another sweep was begun here: %s; expected the same, or another -o",
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
  if (!status) status = compare(folder, s, &begun); /* of another shard, meanwhile */
  if (!status) status = check(folder, s);
  if (!status) status = write_text(folder, cb_segments_of_sweep, s->plan->resolved);
  if (!status) cb_sweep_lay_rows(s);
  return status;
}

cb_status cb_folder_check_room(const cb_folder *folder, double bytes) {
  struct statvfs disk;
  const bool known = statvfs(folder->segments.path, &disk) == 0;
  const double room = known ? (double)disk.f_bavail * (double)disk.f_frsize : INFINITY;
  if (bytes <= room) return CB_OK;
  return cb_fail(CB_ERROR_FILE, "%s: no room: the results take %.6g MB, and %.6g MB are free", folder->result,
                 bytes / 1e6, room / 1e6);
}

void cb_folder_close(cb_folder *folder, bool complete) { cb_segments_leave(&folder->segments, complete); }
