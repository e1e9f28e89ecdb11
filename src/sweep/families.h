/* Families of optimal gaits: sweeps in which each member is searched from a neighbour, and the files that they make.
 *
 * families_branches.c    over the amount of a target, in branches     families_over.c    over a number of the scenario
 * families_grid.c        over two numbers of the group                families_unfinished.c    what all files have
 *
 * They take long. Their files are written from time to time with what is found so far, `complete: 0`, and the text of what is
 * asked, `request`, by which the same command knows what it goes on from.
 */
#ifndef CB_SWEEP_FAMILIES_H
#define CB_SWEEP_FAMILIES_H

#include "optimum/family.h"
#include "record/array.h"
#include "record/arrays.h"
#include "scenario/gait_optimum.h"

#include <time.h>

/* What is asked of which scenario, and where it goes. */
typedef struct cb_families_job {
  const char *scenario; /* the file's name */
  cb_scenario *read;    /* it */
  const cb_bundle_scenario *motion;
  const cb_bundle *bundle;
  const char *title, *output;
  const char *warnings;   /* lines of those so far, as the attribute `warnings` has them */
  const char *const *set; /* that it was read with, as --set has them */
  size_t sets;
} cb_families_job;

/* Attributes of every file of gaits: versions, bundle, group, title. */
void cb_families_attributes(const cb_families_job *job, cb_arrays *a);

/* ---- families_unfinished.c */

typedef struct cb_families_unfinished {
  const cb_families_job *job;
  char *request; /* what the file is of */
  struct timespec written, begun;
  double took; /* s */
} cb_families_unfinished;

/* Of an array that is read; the caller frees its value, NULL where there is nothing to go on from. */
typedef struct cb_families_kept {
  const char *name;
  int rank;
  H5T_class_t class;
  cb_hdf5_array array;
} cb_families_kept;

/* what: of the command, as text; `kept` is read where the output is left by the same one. CB_ERROR_INPUT where it is left
 * by another one. The caller ends it in any case. */
cb_status cb_families_unfinished_begin(const cb_families_job *job, const char *what, int count, cb_families_kept *kept,
                                       cb_families_unfinished *out);
void cb_families_unfinished_end(cb_families_unfinished *u);

/* To be written again: then written is to follow. */
bool cb_families_unfinished_due(cb_families_unfinished *u);
void cb_families_unfinished_written(cb_families_unfinished *u);
/* Attributes of such a file, with those of every file. */
void cb_families_unfinished_attributes(const cb_families_unfinished *u, bool complete, cb_arrays *a);

/* ---- families_branches.c */

extern const char *const cb_families_targets[]; /* by cb_gait_target's kind */

/* Follows the family and writes its file. What an interrupted command has found of the same one is taken from there. */
cb_status cb_families_branches(const cb_families_job *job, const cb_optimum_problem *problem,
                               const cb_family_range *range, cb_family **out);

/* ---- families_over.c */

typedef struct cb_families_member {
  double over, cost, amount, g[CB_GROUP_SIZE];
  int index, flat;
  cb_gait *gait;
} cb_families_member;

typedef struct cb_families_over {
  char key[160]; /* of the scenario */
  double low, high;
  int members, events;                /* events: where what is sought is stationary */
  cb_families_member *member, *event; /* found */
  cb_families_unfinished unfinished;
} cb_families_over;

/* Finds members and events, and writes the file; key, low, high and members are given. It is freed in any case. */
cb_status cb_families_over_find(const cb_families_job *job, const cb_optimum_problem *problem, cb_families_over *over);
void cb_families_over_free(cb_families_over *over);
/* Less is better. */
double cb_families_sought(const cb_optimum_problem *problem, const cb_families_member *member);

/* ---- families_grid.c */

typedef struct cb_families_axes {
  int count[2], number[2]; /* of the group's element */
  double from[2], to[2];
} cb_families_axes;

/* Finds gaits on a grid of two numbers of the group, and writes the file; *found: how many. */
cb_status cb_families_grid(const cb_families_job *job, const cb_optimum_problem *problem, const cb_families_axes *axes,
                           int *found);

#endif
