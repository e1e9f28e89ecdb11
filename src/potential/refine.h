/* Kirchhoff's tensor to an error that is asked for: the body on finer and finer meshes, until the estimate of
 * potential/error.h meets it. Faces grow about fourfold from one to the next.
 */
#pragma once

#include "potential/error.h"

/* The body, level by level. mesh: of a level from 0, valid until the next call. say (NULL: not wanted): what a level
 * will take, before it is taken; seconds: nan where nothing is known of it. */
typedef struct cb_potential_body {
  void *context;
  cb_status (*mesh)(void *context, int level, int *vertices, const double (**x)[3], int *faces, const int (**face)[3]);
  void (*say)(void *context, int level, int faces, size_t bytes, double seconds);
  int least;                 /* levels that are taken though the error is met before */
  cb_potential_level *level; /* [CB_POTENTIAL_LEVELS]: those that are solved, and how many; NULL: not wanted */
  int *levels;
  double fair; /* an error that will do where the next level has more than about `faces`; 0: none */
  int faces;
  char *why; /* [CB_POTENTIAL_WHY]: takes the text of an error that is not met, "" of one that is; NULL: a failure */
} cb_potential_body;

enum { CB_POTENTIAL_WHY = 640 };

/* error > 0. With the last level's report. An error is not met where the next level would not fit into the memory, cannot
 * be solved, or does not exist; the text says which, and what was reached. Then the estimate of the levels before is
 * given, or without `why` it is CB_ERROR_STEP. Where not even the first level is solved, that is the failure. */
cb_status cb_kirchhoff_refined(const cb_potential_body *body, double error, const cb_kirchhoff_options *options,
                               cb_potential_estimate *out, cb_kirchhoff_report *report, int *faces);
