/* Families of optimal gaits over the amount of a target, in branches, and the file that they make. */
#pragma once

#include "optimum/family.h"
#include "record/arrays.h"
#include "scenario/gait_optimum.h"

/* What is asked of which scenario, and where it goes. */
typedef struct cb_families_job {
  cb_scenario *read; /* it */
  const cb_bundle_scenario *motion;
  const cb_bundle *bundle;
  const char *title, *output;
  const char *warnings;   /* lines of those so far, as the attribute `warnings` has them */
  const char *const *set; /* that it was read with, as --set has them */
  size_t sets;
} cb_families_job;

/* Attributes of every file of gaits: versions, bundle, group, title. */
void cb_families_attributes(const cb_families_job *job, cb_arrays *a);

extern const char *const cb_families_targets[]; /* by cb_gait_target's kind */

/* Follows the family and writes its file, from time to time with what is found so far. What an interrupted command has
 * found of the same one is taken from there; CB_ERROR_INPUT where it is another's, CB_ERROR_FILE where one is at it. */
cb_status cb_families_branches(const cb_families_job *job, const cb_optimum_problem *problem,
                               const cb_family_range *range, cb_family **out);
