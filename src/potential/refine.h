/* Kirchhoff's tensor to an error that is asked for: the body on finer and finer meshes, until the estimate of
 * potential/error.h meets it. Faces grow about fourfold from one to the next.
 */
#ifndef CB_POTENTIAL_REFINE_H
#define CB_POTENTIAL_REFINE_H

#include "potential/error.h"

/* The body, level by level. mesh: of a level from 0, valid until the next call. say (NULL: not wanted): what a level
 * will take, before it is taken; seconds: nan where nothing is known of it. */
typedef struct cb_potential_body {
  void *context;
  cb_status (*mesh)(void *context, int level, int *vertices, const double (**x)[3], int *faces, const int (**face)[3]);
  void (*say)(void *context, int level, int faces, size_t bytes, double seconds);
  int least; /* levels that are taken though the error is met before */
  cb_potential_level *level; /* [CB_POTENTIAL_LEVELS]: those that are solved, and how many; NULL: not wanted */
  int *levels;
} cb_potential_body;

/* error > 0. With the last level's report. CB_ERROR_STEP where the error is not met because the next level would not fit
 * into the memory, with what it takes, or there is none; with the error that is met. */
cb_status cb_kirchhoff_refined(const cb_potential_body *body, double error, const cb_kirchhoff_options *options,
                               cb_potential_estimate *out, cb_kirchhoff_report *report, int *faces);

#endif
