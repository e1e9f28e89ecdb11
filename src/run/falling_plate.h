/* The plate of a run: where its normal points and its centre is, from a row of the record.
 *
 *   system    one with coordinates x, y (up) and theta: normal (-sin theta, cos theta)
 *   body      in a fluid: the normal is the axis of its greatest moment of inertia, up is against gravity
 */
#ifndef CB_RUN_FALLING_PLATE_H
#define CB_RUN_FALLING_PLATE_H

#include "run/falling.h"
#include "fluid/immersed.h"
#include <curvebody/run.h>

typedef struct cb_falling_plate {
  int at[3]; /* system: places of x, y and theta in its coordinates */
  bool body;
  double normal[3], centre[3]; /* body: in its frame */
  double axes[3][3];           /* body: across, across and up, in the world */
} cb_falling_plate;

/* CB_ERROR_ARGUMENT (an observable's failure) where the system has no such coordinates, or there is no gravity. */
cb_status cb_falling_plate_of_system(const cb_system *s, cb_falling_plate *out);
/* Of either run; body: which. CB_ERROR_ARGUMENT for other runs. */
cb_status cb_falling_plate_of_run(const cb_run *run, int body, cb_falling_plate *out);

/* A row: the coordinates, or the pose (x, y, z, then the quaternion). */
void cb_falling_plate_add(const cb_falling_plate *p, double t, const double *row, cb_falling *to);

#endif
