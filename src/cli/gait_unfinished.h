/* Files of commands that take long: written from time to time with what is found so far, `complete: 0`, and the text of
 * what is asked, `request`, by which the same command knows what it goes on from. */
#ifndef CB_CLI_GAIT_UNFINISHED_H
#define CB_CLI_GAIT_UNFINISHED_H

#include "cli/gait.h"
#include "record/array.h"

#include <time.h>

typedef struct cb_gait_unfinished {
  const cb_gait_job *job;
  char *request; /* what the file is of */
  struct timespec written, begun;
  double took; /* s */
} cb_gait_unfinished;

/* Of an array that is read; the caller frees its value, NULL where there is nothing to go on from. */
typedef struct cb_gait_kept {
  const char *name;
  int rank;
  H5T_class_t class;
  cb_hdf5_array array;
} cb_gait_kept;

/* what: of the command, as text; `kept` is read where the output is left by the same one. CB_ERROR_INPUT where it is left
 * by another one. The caller ends it in any case. */
cb_status cb_gait_unfinished_begin(const cb_gait_job *job, const char *what, int count, cb_gait_kept *kept,
                                   cb_gait_unfinished *out);
void cb_gait_unfinished_end(cb_gait_unfinished *u);

/* To be written again: then written is to follow. */
bool cb_gait_unfinished_due(cb_gait_unfinished *u);
void cb_gait_unfinished_written(cb_gait_unfinished *u);
/* Attributes of such a file, with those of every file. */
void cb_gait_unfinished_attributes(const cb_gait_unfinished *u, bool complete, struct cb_arrays *a);

#endif
