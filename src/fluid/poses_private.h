/* Poses from numbered mesh files, checks of a sequence of poses, and the declarations that the source files poses_*.c
 * share; see curvebody/poses.h. */
#pragma once

#include "fluid/surface_mesh.h"
#include <curvebody/poses.h>
#include "core/arena.h"
#include <curvebody/expression.h>
#include <curvebody/gait.h>

enum { CB_POSES_LONGEST_NAME = 4096 };

/* Writes `pattern` into `name`, with the number in place of the run of '#'. Returns CB_ERROR_INPUT if there is no run,
 * or more than one. */
cb_status cb_poses_file(const char *pattern, int number, char name[CB_POSES_LONGEST_NAME]);

/* Reads numbered files. The run of '#' in `pattern` is replaced by the number, with at least as many digits. `count`
 * files are read from number `first` on (count 0: all up to the first gap; numbers are at most 2147483647).
 *
 * If mesh is not NULL, it is the mesh of *rest, the body whose poses these are. If mesh is NULL, the first file is the
 * body. It is mended as `how` says, and becomes *rest, which the caller frees. All files must have the same polygons as
 * the body, whose triangles are used. Vertices that are joined in the body must coincide in all files. CB_ERROR_INPUT
 * names the file and the first difference. The caller frees *out. */
cb_status cb_poses_read(const char *pattern, int first, int count, const cb_poses_times *times, const cb_mesh *mesh,
                        const cb_mending *how, cb_surface **rest, cb_poses **out);

/* Lets the shape variables of poses follow a gait with this period in s, cycle after cycle; a cycle begins at time 0.
 * The variables are those of cb_poses_of_variables. Other poses have one variable, the phase. It runs over `duration`
 * seconds of the poses from their time `start` on, as in cb_shape_surface_of_poses. If `turns` is set, the phase has
 * the period 1. The poses take ownership of the gait, also on failure. Returns CB_ERROR_ARGUMENT if the gait has
 * another number of variables, or if the poses already follow a gait. */
typedef struct cb_poses_phase {
  double start, duration;
  bool turns;
} cb_poses_phase;
cb_status cb_poses_follow(cb_poses *p, cb_gait *gait, double period, const cb_poses_phase *phase);
/* Returns the first time after t at which the velocities of the vertices may jump, because the gait has a break there;
 * INFINITY if there is none. A time that is later than t by less than 1e-12 of the period does not count. */
double cb_poses_next_break(const cb_poses *p, double t);

/* For a sequence in time: the number of poses (0 for other poses), the time of pose i, its positions, and
 * cb_poses_scale, which multiplies all positions by `factor` and must be called before other functions read the
 * positions. */
int cb_poses_count(const cb_poses *p);
double cb_poses_time(const cb_poses *p, int i);
const double (*cb_poses_pose(const cb_poses *p, int i))[3];
void cb_poses_scale(cb_poses *p, double factor);

/* Finds the time span of the motion, from *begin to *end. If the motion is periodic, the function returns true and the
 * span is one period. Otherwise the span is from the first to the last pose of a clamped sequence, or 0 to 0 for
 * expressions without a period. */
bool cb_poses_span(const cb_poses *p, double *begin, double *end);

/* The poses of a sequence around a time. The positions are sum w[k] pose[k] and the velocities sum dw[k] pose[k] over
 * four poses pose[k][vertices], whose numbers in the sequence are number[k]. */
enum { CB_POSES_AROUND = 4 };
typedef struct cb_poses_blend {
  int number[CB_POSES_AROUND];
  const double (*pose[CB_POSES_AROUND])[3];
  double w[CB_POSES_AROUND], dw[CB_POSES_AROUND];
} cb_poses_blend;
cb_status cb_poses_blend_at(const cb_poses *p, double t, cb_poses_blend *out);

/* The largest jump of a vertex; vertex is -1 if there is none.
 *
 * In a sequence a vertex jumps from one pose to the next (from and to, counted from 0) if it moves by more than half
 * the extent of the body. It also jumps if it moves by more than a tenth of the extent and more than 20 times as fast
 * as in the median step.
 *
 * Expressions are sampled between `start` and `end` at the ends of `steps` equal times (at most 1024, fewer for more
 * than 16384 vertices). A position jumps at `time` if it is discontinuous by more than a thousandth of the extent; from
 * and to are then -1. Returns CB_STEP_NOT_FINITE if a sampled position is not finite.
 */
typedef struct cb_poses_jump {
  int vertex, from, to;
  double time, distance;
} cb_poses_jump;
cb_status cb_poses_find_jump(const cb_poses *p, double start, double end, int64_t steps, cb_poses_jump *out);

/* Declarations that poses_*.c share. */

/* The motion of a part: an expression for each coordinate (X, Y or Z for a coordinate that does not move). */
typedef struct cb_pose_formula {
  cb_expression *e[3];
} cb_pose_formula;

struct cb_poses {
  cb_arena *arena;
  /* placed: number of the vertices whose positions are computed. These are all vertices, except in the result of
   * cb_poses_affine. */
  int vertices, placed;
  /* used for a sequence */
  int poses;
  cb_poses_end end;
  /* period: period of the motion, or 0 for expressions without a period; time[poses]: the time of each pose */
  double period, *time;
  double (*place)[3]; /* [poses][vertices] */
  /* for expressions: their arguments are `variables` numbers that are the same for all vertices (the time, or the shape
   * variables), and then X, Y, Z */
  int variables;
  const char *const *name; /* [variables] */
  size_t formulas;
  cb_pose_formula *formula; /* [formulas] */
  bool borrows;             /* the formulas belong to another object */
  int ranges;
  /* The vertices begin .. end - 1 have the formula with this number; -1: they are at rest. */
  struct cb_pose_range {
    int formula, begin, end;
  } * range;
  cb_gait *gait; /* owned: the path of the shape variables; NULL: the poses are functions of the time */
  double cycle;  /* the period of the gait in s */
  /* Used for poses whose only shape variable is their phase. For other poses its duration is 0. */
  cb_poses_phase phase;
  int *vertex;     /* [placed]: the vertices, range by range */
  int *number;     /* [vertices]: the number of each vertex in messages (the member `number` of the surface) */
  double *rest[3]; /* [placed]: rest coordinates, in the order of `vertex` */
};

/* Finds the second derivatives a[vertices] of a sequence in time, from its cubics. At a pose they are those of the
 * cubic after it. */
cb_status cb_poses_sequence_second(const cb_poses *p, double t, double (*a)[3]);

enum { CB_POSES_VARIABLES = 8 };
/* The texts of a motion that depends on n variables: the names of the variables, an expression of each coordinate for
 * each part, and the parameters of the expressions (may be NULL). */
typedef struct cb_shape_text {
  int n;
  const char *const *names;
  size_t motions;
  const cb_poses_motion *motion;
  const cb_poses_parameters *parameters;
} cb_shape_text;
/* Does the same as cb_poses_from_expressions, with the variables of `text` in place of t. The names are copied. */
cb_status cb_poses_of_variables(const cb_surface *rest, const cb_shape_text *text, size_t *which, int *coordinate,
                                size_t *at, cb_poses **out);
/* The first function finds the positions x at the variables r, and v = sum_i rate_i dx/dr_i (NULL: not wanted). The
 * second one finds all second derivatives a[variables (variables + 1)/2][vertices], those by r_i and r_j, i >= j, at
 * i(i + 1)/2 + j. */
cb_status cb_poses_expressions_at(const cb_poses *p, const double *r, const double *rate, double (*x)[3],
                                  double (*v)[3]);
/* Does the same as cb_poses_at for a motion whose shape variables follow a gait. */
cb_status cb_poses_gait_at(const cb_poses *p, double t, double (*x)[3], double (*v)[3]);
cb_status cb_poses_expressions_second(const cb_poses *p, const double *r, double (*a)[3]);
/* Makes a motion that computes only the positions of `count` vertices, in arrays for all vertices. *out is NULL if the
 * motion is not affine in X, Y, Z. The new motion borrows from p. */
cb_status cb_poses_affine(const cb_poses *p, int count, const int *vertex, cb_poses **out);
/* Returns CB_STEP_NOT_FINITE if a coordinate of x or v (may be NULL) is not finite; the message names the first one. r
 * is the time, or the variables. */
cb_status cb_poses_check(const cb_poses *p, const double *r, const double (*x)[3], const double (*v)[3]);
