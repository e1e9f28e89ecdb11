/* Poses of files, and what is found in a sequence; see curvebody/poses.h. */
#ifndef CB_FLUID_POSES_H
#define CB_FLUID_POSES_H

#include "fluid/surface.h"
#include <curvebody/poses.h>

enum { CB_POSES_LONGEST_NAME = 4096 };

/* `pattern` with the number in place of its run of '#'. CB_ERROR_INPUT where it has none, or more than one. */
cb_status cb_poses_file(const char *pattern, int number, char name[CB_POSES_LONGEST_NAME]);

/* From numbered files: `pattern` has one run of '#', which stands for the number with at least as many digits; `count`
 * files from number `first` on (0: as many as there are; numbers are at most 2147483647). mesh: that of *rest, the body
 * whose poses these are; NULL: the first file is the body, *rest (the caller frees), mended as `how` says. The polygons
 * of the files must be those of the body, whose triangles they take, and what is joined in it stands together in all:
 * CB_ERROR_INPUT with the file and where it differs. */
cb_status cb_poses_read(const char *pattern, int first, int count, const cb_poses_times *times, const cb_mesh *mesh,
                        const cb_mending *how, cb_surface **rest, cb_poses **out);

/* Of a sequence: how many poses (0 for expressions), the time of pose i, its places, and all places times `factor`,
 * before anybody reads them. */
int cb_poses_count(const cb_poses *p);
double cb_poses_time(const cb_poses *p, int i);
const double (*cb_poses_pose(const cb_poses *p, int i))[3];
void cb_poses_scale(cb_poses *p, double factor);

/* The times after which nothing new comes, *begin < *end: of a period (true), or from the first to the last of clamped
 * poses; both 0 of expressions without a period. */
bool cb_poses_span(const cb_poses *p, double *begin, double *end);

/* What a time makes of a sequence: places sum w[k] pose[k] and velocities sum dw[k] pose[k] of the four poses around
 * it, number[k] of the sequence, each [vertices]. */
enum { CB_POSES_AROUND = 4 };
typedef struct cb_poses_blend {
  int number[CB_POSES_AROUND];
  const double (*pose[CB_POSES_AROUND])[3];
  double w[CB_POSES_AROUND], dw[CB_POSES_AROUND];
} cb_poses_blend;
cb_status cb_poses_blend_at(const cb_poses *p, double t, cb_poses_blend *out);

/* The greatest jump; vertex -1 if there is none. Of a sequence: from one pose to the next (counted from 0) a vertex
 * moves by more than half the extent of the body; or by more than a tenth of it, and 20 times as fast as in the middle
 * one of all steps. Of expressions, looked at between `start` and `end` at the ends of `steps` equal times (at most
 * 1024, fewer of more than 16384 vertices): a place that is not continuous, by more than a thousandth of the extent, at
 * `time`; from and to are then -1. CB_STEP_NOT_FINITE where there is no pose. */
typedef struct cb_poses_jump {
  int vertex, from, to;
  double time, distance;
} cb_poses_jump;
cb_status cb_poses_find_jump(const cb_poses *p, double start, double end, int64_t steps, cb_poses_jump *out);

#endif
