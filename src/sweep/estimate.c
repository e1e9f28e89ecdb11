/* What a sweep would take, and how far one has come. */
#include "core/failure.h"
#include "core/file.h"
#include "record/hdf5.h"
#include "sweep/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLE = 64 };
static const double longest = 2;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cb_status cb_crew_estimate_of(cb_sweep *s, int threads, const volatile sig_atomic_t *stop, cb_crew_estimate *out) {
  const int64_t members = s->plan->members, most = members < SAMPLE ? members : SAMPLE;
  cb_runner *runner = NULL;
  cb_status status = cb_sweep_check(s, 0, members, threads, stop);
  if (!status) {
    cb_sweep_lay_rows(s);
    status = cb_runner_create(s, NULL, &runner);
  }
  *out = (cb_crew_estimate){.members = members};
  const double begin = now();
  while (!status && out->sample < most && now() - begin < longest) {
    int64_t m[SAMPLE];
    size_t failed = 0, n = 0; /* of neighbours, as they go together */
    const int64_t first = members / most * out->sample, width = (int64_t)cb_runner_width(runner);
    for (; (int64_t)n < width && first + (int64_t)n < members; n++) m[n] = first + (int64_t)n;
    status = cb_runner_go(runner, m, n, NULL, stop, &failed);
    out->sample += (int64_t)n;
    out->failed += (int64_t)failed;
  }
  const double width = runner ? (double)cb_runner_width(runner) : 1;
  cb_runner_free(runner);
  out->seconds_a_member = (now() - begin) / (double)(out->sample ? out->sample : 1);
  out->seconds = out->seconds_a_member * (double)members / threads;
  out->disk = (double)cb_store_bytes(&s->layout) * (double)members;
  out->memory = (double)threads * width * 8 * (double)s->row_units * (double)(s->plan->keep ? s->most_rows : 0);
  return status;
}

/* The digest of a sweep, and how many members it has, from its result. */
static cb_status read_result(const cb_folder *folder, char digest[CB_SWEEP_SHA], int64_t *members) {
  cb_status status = CB_OK;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  const hid_t file = cb_hdf5_open(folder->result, H5F_ACC_RDONLY);
  const bool sound = file >= 0;
  const hid_t set =
      sound && H5Lexists(file, "status", H5P_DEFAULT) > 0 ? H5Dopen2(file, "status", H5P_DEFAULT) : H5I_INVALID_HID;
  char *text = sound ? cb_hdf5_get_text_attribute(file, "sweep_digest") : NULL;
  if (file < 0)
    status = cb_hdf5_fail(folder->result, "read");
  else if (!text && errno == ENOMEM)
    status = cb_fail(CB_ERROR_MEMORY, "no memory to read %s", folder->result);
  else if (set < 0 || !text || strlen(text) >= CB_SWEEP_SHA)
    status = cb_fail_placed(CB_ERROR_INPUT, "%s: error: this is no result of a sweep", folder->result);
  if (!status && text) {
    const hid_t space = H5Dget_space(set);
    *members = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    strcpy(digest, text);
  }
  free(text);
  if (set >= 0) H5Dclose(set);
  if (file >= 0) cb_hdf5_close_read(file, folder->result);
  status = cb_hdf5_unread(folder->result, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}

/* Who may only read has no lock of a file over a network (EBADF), and does not know. */
static cb_status find_lock(const cb_folder *folder, bool *locked) {
  char path[4096];
  snprintf(path, sizeof path, "%s/lock", folder->path);
  int lock = cb_open(path, O_RDWR);
  if (lock < 0 && (errno == EACCES || errno == EROFS)) lock = cb_open(path, O_RDONLY);
  if (lock < 0) return errno == ENOENT ? CB_OK : cb_fail_file(path, "open", errno);
  const int error = cb_lock(lock, LOCK_EX);
  close(lock);
  *locked = error == EWOULDBLOCK;
  return error && !*locked && error != EBADF ? cb_fail_file(path, "lock", error) : CB_OK;
}

cb_status cb_crew_status_of(const cb_folder *folder, cb_crew_status *out) {
  char digest[CB_SWEEP_SHA];
  cb_store_layout layout = {.title = "", .sweep = "", .digest = digest};
  *out = (cb_crew_status){.runs = false};
  cb_status status = find_lock(folder, &out->runs);
  if (!status) status = read_result(folder, digest, &layout.members);
  if (!status && (layout.members < 1 || layout.members > CB_SWEEP_MEMBERS))
    status = cb_fail_placed(CB_ERROR_INPUT, "%s: error: this is no result of a sweep", folder->result);
  if (!status) status = cb_survey_take(folder->path, &layout, false, &out->survey);
  size_t n = 0;
  for (int64_t m = 0; m < layout.members && !status; m++) {
    out->count[out->survey.status[m]]++;
    if (out->survey.status[m] != CB_MEMBER_FAILED || n == sizeof out->failed / sizeof *out->failed) continue;
    out->failed[n] = m;
    out->words[n++] = cb_survey_words(folder->path, &layout, &out->survey, m);
  }
  return status;
}

void cb_crew_status_free(cb_crew_status *status) {
  for (size_t i = 0; i < sizeof status->words / sizeof *status->words; i++) free(status->words[i]);
  cb_survey_free(&status->survey);
}
