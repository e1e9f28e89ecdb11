/* Poses of files, and what is found in a sequence; see curvebody/poses.h. */
#pragma once

#include "fluid/surface.h"
#include <curvebody/poses.h>
#include "core/arena.h"
#include <curvebody/expression.h>

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

/* What the files of poses share. */

/* Three coordinates of a part's motion; NULL: the rest position itself. */
typedef struct cb_pose_law {
  cb_expression *e[3];
} cb_pose_law;

struct cb_poses {
  cb_arena *arena;
  int vertices, placed;  /* placed: how many of them it finds, all but of cb_poses_affine */
  /* a sequence */
  int poses;
  cb_poses_end end;
  double period, *time;  /* of expressions 0: none; [poses] */
  double (*place)[3];    /* [poses][vertices] */
  /* expressions: of `variables` that are the same for all vertices (the time; or a shape), then X, Y, Z */
  int variables;
  const char *const *name; /* [variables] */
  size_t laws;
  cb_pose_law *law;      /* [laws] */
  bool borrows;          /* laws are another's */
  int ranges;
  struct cb_pose_range { /* vertices of one law, -1: at rest */
    int law, begin, end;
  } *range;
  int *vertex;           /* [placed], range by range */
  int *number;           /* [vertices]: of the surface's messages */
  double *rest[3];       /* [placed] coordinates in that order */
};

/* Second derivatives in time: of a sequence those of its cubics, from the right at a pose. */
cb_status cb_poses_sequence_second(const cb_poses *p, double t, double (*a)[3]);

enum { CB_POSES_VARIABLES = 8 };
/* As cb_poses_from_expressions with `variables` names (copied) in the place of t. */
cb_status cb_poses_of_variables(const cb_surface *rest, int variables, const char *const *names,
                                const cb_poses_motion *motion, size_t n, const cb_poses_parameters *parameters,
                                size_t *which, int *coordinate, size_t *at, cb_poses **out);
/* Places at the variables r, and v = dx/dr_along; a[variables (variables + 1)/2][vertices]: all second derivatives,
 * i >= j at i(i + 1)/2 + j. */
cb_status cb_poses_expressions_at(const cb_poses *p, const double *r, int along, double (*x)[3], double (*v)[3]);
cb_status cb_poses_expressions_second(const cb_poses *p, const double *r, double (*a)[3]);
/* The same motion that finds places of these vertices alone, in arrays of all; *out is NULL where it is not affine in
 * X, Y, Z. It borrows from p. */
cb_status cb_poses_affine(const cb_poses *p, int count, const int *vertex, cb_poses **out);
/* CB_STEP_NOT_FINITE with the first coordinate of x or v (may be NULL) that is not; CB_OK where all are. r: the time,
 * or the variables. */
cb_status cb_poses_check(const cb_poses *p, const double *r, const double (*x)[3], const double (*v)[3]);
