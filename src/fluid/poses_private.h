/* What the files of poses share. */
#ifndef CB_FLUID_POSES_PRIVATE_H
#define CB_FLUID_POSES_PRIVATE_H

#include "core/arena.h"
#include "fluid/poses.h"
#include "numerics/expression.h"

/* Three coordinates of a part's motion; NULL: the rest position itself. */
typedef struct cb_pose_law {
  cb_expression *e[3];
} cb_pose_law;

struct cb_poses {
  cb_arena *arena;
  int vertices;
  /* a sequence */
  int poses;
  cb_poses_end end;
  double period, *time;  /* [poses] */
  double (*place)[3];    /* [poses][vertices] */
  /* expressions */
  size_t laws;
  cb_pose_law *law;      /* [laws] */
  int ranges;
  struct cb_pose_range { /* vertices of one law, -1: at rest */
    int law, begin, end;
  } *range;
  int *vertex;           /* [vertices], range by range */
  double *rest[3];       /* [vertices] coordinates in that order */
};

cb_status cb_poses_sequence_at(const cb_poses *p, double t, double (*x)[3], double (*v)[3]);
cb_status cb_poses_expressions_at(const cb_poses *p, double t, double (*x)[3], double (*v)[3]);
/* CB_STEP_NOT_FINITE with the first coordinate of x or v (may be NULL) that is not; CB_OK where all are. */
cb_status cb_poses_check(const cb_poses *p, double t, const double (*x)[3], const double (*v)[3]);

#endif
