/* What a sweep would take, and how far one has come. */
#include "core/failure.h"
#include "record/hdf5.h"
#include "sweep/crew.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLE = 64 };
static const double longest = 2;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cb_status cb_crew_estimate_of(cb_sweep *s, int threads, const volatile sig_atomic_t *stop, cb_crew_estimate *out) {
  const int64_t members = s->plan->members, most = s->work->all ? 0 : members < SAMPLE ? members : SAMPLE;
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

/* Of a result: what a survey needs of its layout. */
typedef struct shown {
  char digest[CB_SWEEP_SHA];
  cb_store_axis axis[CB_SWEEP_AXES];
  cb_store_layout layout;
} shown;

static bool find_axes(hid_t file, shown *s) {
  hsize_t dims[H5S_MAX_RANK];
  const hid_t set = cb_hdf5_find_dataset(file, "status"), space = set < 0 ? set : H5Dget_space(set);
  const int rank = space < 0 ? 0 : H5Sget_simple_extent_dims(space, dims, NULL);
  s->layout.members = rank > 0 && rank <= CB_SWEEP_AXES ? H5Sget_simple_extent_npoints(space) : 0;
  for (int a = 0; a < rank && s->layout.members; a++) s->axis[a] = (cb_store_axis){"", (size_t)dims[a]};
  s->layout.axes = s->axis;
  s->layout.n_axes = (size_t)rank;
  if (space >= 0) H5Sclose(space);
  if (set >= 0) H5Dclose(set);
  return s->layout.members >= 1 && s->layout.members <= CB_SWEEP_MEMBERS;
}

static cb_status read_result(const cb_folder *folder, shown *s) {
  cb_status status = CB_OK;
  const cb_hdf5_quiet quiet = cb_hdf5_quiet_begin();
  const hid_t file = cb_hdf5_open(folder->result, H5F_ACC_RDONLY);
  char *text = file >= 0 ? cb_hdf5_get_text_attribute(file, "sweep_digest") : NULL;
  if (file < 0)
    status = cb_hdf5_fail(folder->result, "read");
  else if (!text && errno == ENOMEM)
    status = cb_fail(CB_ERROR_MEMORY, "no memory to read %s", folder->result);
  else if (!text || strlen(text) >= CB_SWEEP_SHA || !find_axes(file, s))
    status = cb_fail_placed(CB_ERROR_INPUT, "%s: error: this is no result of a sweep", folder->result);
  else
    strcpy(s->digest, text);
  s->layout.digest = s->digest;
  free(text);
  if (file >= 0) cb_hdf5_close_read(file, folder->result);
  status = cb_hdf5_unread(folder->result, status);
  cb_hdf5_quiet_end(quiet);
  return status;
}

cb_status cb_crew_status_of(const cb_folder *folder, cb_crew_status *out) {
  shown *s = calloc(1, sizeof *s);
  *out = (cb_crew_status){.runs = cb_segments_state(&folder->segments) == CB_FOLDER_HELD};
  if (!s) return cb_fail(CB_ERROR_MEMORY, "no memory for a sweep");
  cb_status status = read_result(folder, s);
  if (!status) status = cb_survey_take(&folder->segments, &s->layout, false, &out->survey);
  if (!status) status = cb_survey_add_result(&out->survey, folder->result);
  size_t n = 0;
  for (int64_t m = 0; m < s->layout.members && !status; m++) {
    out->count[out->survey.status[m]]++;
    if (out->survey.status[m] != CB_MEMBER_FAILED || n == sizeof out->failed / sizeof *out->failed) continue;
    out->failed[n] = m;
    out->words[n++] = cb_survey_failure(&out->survey, m);
  }
  free(s);
  return status;
}

void cb_crew_status_free(cb_crew_status *status) {
  for (size_t i = 0; i < sizeof status->words / sizeof *status->words; i++) free(status->words[i]);
  cb_survey_free(&status->survey);
}
