/* Families of optimal gaits, in branches along which the amount of the target changes (optimum/family.h), and the file
 * that records them. */
#pragma once

#include "optimum/family.h"
#include "record/arrays.h"
#include "scenario/bundle_scenario.h"

/* A request for a family: its scenario and its output file. */
typedef struct cb_families_job {
  cb_scenario *read; /* the scenario */
  const cb_bundle_scenario *motion;
  const cb_bundle *bundle;
  const char *title, *output;
  const char *warnings;   /* lines of the warnings so far, as in the attribute `warnings` */
  const char *const *set; /* the arguments of --set with which the scenario was read */
  size_t sets;
} cb_families_job;

/* Writes the attributes that every file with optimal gaits has: Conventions, title, version, bundle, group,
 * warnings. */
void cb_families_attributes(const cb_families_job *job, cb_arrays *a);

extern const char *const cb_families_targets[]; /* indexed by the kind of cb_gait_target */

/* Traces the family and writes its file; from time to time it writes the results so far. If there is a file of an
 * interrupted command with the same request, the work continues from this file. Fails with CB_ERROR_INPUT if the file
 * was written for another request, and with CB_ERROR_FILE if another process is writing it. */
cb_status cb_families_branches(const cb_families_job *job, const cb_optimum_problem *problem,
                               const cb_family_range *range, cb_family **out);
