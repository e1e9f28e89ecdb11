/* What the parts of `curvebody gait` share: a scenario with a bundle, and what was asked of it. */
#ifndef CB_CLI_GAIT_H
#define CB_CLI_GAIT_H

#include "cli/cli.h"
#include "io/scenario_bundle.h"

typedef struct cb_gait_job {
  const char *scenario; /* the file's name */
  const cb_bundle_scenario *motion;
  const cb_bundle *bundle; /* the one to look at: motion's, in coordinates as asked */
  const char *title;
  bool json;
  const char *output, *error, *at, *grid, *window, *plane, *coordinates, *times;
} cb_gait_job;

/* The parts; each returns a status with its text. */
cb_status cb_gait_holonomy(const cb_gait_job *job);
cb_status cb_gait_connection(const cb_gait_job *job);
cb_status cb_gait_curvature(const cb_gait_job *job);
cb_status cb_gait_path(const cb_gait_job *job);

/* Attributes of every file: versions, bundle, group, title. */
struct cb_arrays;
void cb_gait_attributes(const cb_gait_job *job, struct cb_arrays *a);

/* n numbers parted by commas, as an option's value. */
cb_status cb_gait_numbers(const char *option, const char *text, int n, double *out);

/* Numbers and names on stdout as JSON: [..] of `count`, and of rank dimensions. */
void cb_gait_json(const char *key, int rank, const int *dims, const double *values, bool last);
void cb_gait_json_words(const char *key, int count, const char *const *words);

#endif
