/* What the files of poses share. */
#ifndef CB_FLUID_POSES_PRIVATE_H
#define CB_FLUID_POSES_PRIVATE_H

#include "core/arena.h"
#include "fluid/poses.h"
#include <curvebody/expression.h>

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

#endif
