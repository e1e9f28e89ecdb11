/* What an interrupted command leaves, and how the same one goes on. See families.h. */
#include "sweep/families.h"

#include "core/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cb_families_attributes(const cb_families_job *job, cb_arrays *a) {
  cb_arrays_text(a, "Conventions", "CF-1.10");
  cb_arrays_text(a, "title", job->title);
  cb_arrays_text(a, "curvebody_version", CB_VERSION);
  cb_arrays_text(a, "bundle", cb_bundle_scenario_name(job->motion));
  cb_arrays_text(a, "group", job->bundle->group->name);
  cb_arrays_text(a, "warnings", job->warnings);
}

/* It is written no more often than every so many seconds, and than so many times as long as that takes. */
static const double seldom = 1, share = 20;

static double since(const struct timespec *then, struct timespec *now) {
  clock_gettime(CLOCK_MONOTONIC, now);
  return (double)(now->tv_sec - then->tv_sec) + 1e-9 * (double)(now->tv_nsec - then->tv_nsec);
}

bool cb_families_unfinished_due(cb_families_unfinished *u) {
  return since(&u->written, &u->begun) >= fmax(seldom, share * u->took);
}

void cb_families_unfinished_written(cb_families_unfinished *u) { u->took = since(&u->begun, &u->written); }

void cb_families_unfinished_attributes(const cb_families_unfinished *u, bool complete, cb_arrays *a) {
  cb_families_attributes(u->job, a);
  cb_arrays_text(a, "request", u->request);
  cb_arrays_number(a, "complete", complete);
}

/* Version, command and options on lines of their own, then the scenario. */
static cb_status make_request(const cb_families_job *job, const char *what, char **out) {
  cb_text text = {0};
  cb_text_puts(&text, "# curvebody " CB_VERSION ": family ");
  cb_text_puts(&text, what);
  for (size_t k = 0; k < job->sets; k++) cb_text_puts(&text, "\n# --set "), cb_text_puts(&text, job->set[k]);
  cb_text_puts(&text, "\n# files of SHA-256 ");
  cb_text_puts(&text, cb_scenario_inputs(job->read));
  cb_text_puts(&text, "\n");
  cb_text_puts(&text, cb_scenario_source(job->read));
  *out = text.data;
  return text.failed ? cb_fail(CB_ERROR_MEMORY, "no memory for the scenario's text") : CB_OK;
}

/* Whose it is. Two commands may differ in the scenario alone. */
static cb_status of_another(const cb_families_job *job, const char *request, const char *found) {
  const size_t mine = strcspn(request, "\n"), its = strcspn(found, "\n");
  const bool same = mine == its && !strncmp(request, found, its);
  return cb_fail(
      CB_ERROR_INPUT,
      "%s: error: it is what an interrupted command left (%.*s%s): expected that of this one, which would go "
      "on from it; remove it, or give another output",
      job->output, (int)(its < 300 ? its : 300), found, same ? ", of another scenario or other options" : "");
}

/* All of it or nothing. */
static void read_kept(const cb_hdf5_source *s, int count, cb_families_kept *kept) {
  bool all = true;
  for (int k = 0; k < count && all; k++) {
    const cb_hdf5_expected expected = {kept[k].class, kept[k].rank, kept[k].rank, 0, "of an interrupted command"};
    all = !cb_hdf5_read_array(s, kept[k].name, &expected, &kept[k].array);
  }
  for (int k = 0; k < count && !all; k++) free(kept[k].array.value), kept[k].array = (cb_hdf5_array){0};
}

cb_status cb_families_unfinished_begin(const cb_families_job *job, const char *what, int count, cb_families_kept *kept,
                                       cb_families_unfinished *out) {
  cb_hdf5_source s;
  double complete = 1;
  *out = (cb_families_unfinished){.job = job};
  clock_gettime(CLOCK_MONOTONIC, &out->written);
  cb_status status = make_request(job, what, &out->request);
  if (status) return status;
  if ((status = cb_hdf5_source_open(job->output, &s))) return status == CB_ERROR_MEMORY ? status : CB_OK;
  char *found = cb_hdf5_get_text_attribute(s.file, "request");
  if (found && cb_hdf5_get_numbers(s.file, ".", "complete", H5T_FLOAT, H5T_NATIVE_DOUBLE, 1, &complete) && !complete) {
    if (strcmp(found, out->request))
      status = of_another(job, out->request, found);
    else
      read_kept(&s, count, kept);
  }
  free(found);
  status = cb_hdf5_source_close(&s, status);
  return status;
}

void cb_families_unfinished_end(cb_families_unfinished *u) { free(u->request); }
