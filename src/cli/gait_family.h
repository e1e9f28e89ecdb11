/* The file of a family of gaits, which has from time to time what is found, and from which the same command goes on. */
#ifndef CB_CLI_GAIT_FAMILY_H
#define CB_CLI_GAIT_FAMILY_H

#include "cli/gait_unfinished.h"
#include "optimum/family.h"

extern const char *const cb_gait_family_targets[]; /* by cb_gait_target's kind */

typedef struct cb_gait_family_file {
  const cb_optimum_problem *problem;
  cb_gait_unfinished unfinished;
  cb_family_watch watch; /* with what an interrupted command found */
} cb_gait_family_file;

/* Reads what there is of the same family where it is not complete; CB_ERROR_INPUT where that is of another. What it makes
 * is freed by end in any case; watch points to the file, which stays where it is. */
cb_status cb_gait_family_file_begin(const cb_gait_job *job, const cb_optimum_problem *problem,
                                    const cb_family_range *range, cb_gait_family_file *out);
cb_status cb_gait_family_file_write(cb_gait_family_file *file, const cb_family *f, bool complete);
void cb_gait_family_file_end(cb_gait_family_file *file);

#endif
