/* Poses: the positions x of the vertices of a body as functions of the time t. They are given by a sequence of surfaces
 * or by expressions.
 *
 *   sequence     The position of a vertex is x_i at the time t_i of pose i, and d_i = t_i+1 - t_i. Between two poses it
 *                is Hermite's cubic. The velocity at pose i is that of the parabola through three poses,
 *                  m_i = (d_i-1 (x_i+1 - x_i)/d_i + d_i (x_i - x_i-1)/d_i-1) / (d_i-1 + d_i).
 *                Position and velocity are continuous, and the error of the position is of third order in d. For a sine
 *                with 12 evenly spaced poses per period the velocities at the poses are 4.5 % too low; with 24 poses
 *                1.1 %, with 48 poses .3 %. A sequence is periodic or clamped. A clamped sequence is at rest before the
 *                first and after the last pose, and its velocity is 0 at these two poses.
 *   expressions  Each of the three coordinates is an expression of the position (X, Y, Z) at rest and of t. Each part
 *                of the surface has its own expressions.
 * Velocities are the exact derivatives of these positions. SI units. A cb_poses is immutable and may be read from any
 * thread; reading allocates no memory.
 * For users of bodies in a fluid. The caller frees poses, after the bodies that move by them.
 * Sources: C. de Boor, A Practical Guide to Splines (2001), chapter IV (Bessel's slopes); E. Catmull & R. Rom, in
 * Computer Aided Geometric Design (1974) 317 (the case of evenly spaced poses).
 */
#ifndef CURVEBODY_POSES_H
#define CURVEBODY_POSES_H

#include <curvebody/surface.h>

#include <stdint.h>

CB_API_BEGIN

typedef struct cb_poses cb_poses;

typedef enum cb_poses_end { CB_POSES_PERIODIC, CB_POSES_CLAMPED } cb_poses_end;

/* The times of the poses, in s. Pose i is at time[i], which ascend; if time is NULL, at start + i step. A periodic
 * sequence returns to its first pose after `period`. If time is NULL, a period of 0 means the number of poses times
 * step. */
typedef struct cb_poses_times {
  const double *time;
  double start, step, period;
  cb_poses_end end;
} cb_poses_times;

/* Makes a sequence of poses from x[poses * vertices], in m, pose after pose. The positions and times are copied. A
 * sequence has at least 2 poses, a periodic one at least 3. CB_ERROR_ARGUMENT for too few poses or vertices, for times
 * that do not ascend after rounding, and for a period that is too short. CB_ERROR_DOMAIN for a coordinate that is not
 * finite; the text gives pose and vertex, counted from 1. */
cb_status cb_poses_from_arrays(int vertices, int poses, const double (*x)[3], const cb_poses_times *times,
                               cb_poses **out);

/* The motion of the part with this name. text has the expressions of the three coordinates in X, Y, Z, t and the
 * parameters; NULL: this coordinate stays as at rest. If `part` is NULL, the motion is that of all parts that have no
 * motion of their own. Parts without any motion stay at rest. A vertex of several parts moves with the first of
 * them. */
typedef struct cb_poses_motion {
  const char *part;
  const char *text[3];
} cb_poses_motion;
typedef struct cb_poses_parameters {
  const char *const *names;
  const double *values;
  size_t n;
} cb_poses_parameters;

/* Makes poses from the motions motion[n] of the parts of the surface `rest`. Everything is copied; the caller frees
 * *out. parameters may be NULL. CB_ERROR_INPUT for an error in an expression or an unknown part: then *which is the
 * index of the motion, *coordinate the index of the coordinate, and *at the offset of the error in its text. Each of
 * these three pointers may be NULL. */
cb_status cb_poses_from_expressions(const cb_surface *rest, const cb_poses_motion *motion, size_t n,
                                    const cb_poses_parameters *parameters, size_t *which, int *coordinate, size_t *at,
                                    cb_poses **out);

/* Declares that expressions repeat after `period` seconds. Results that are the same in each period are then computed
 * once. Call the function before bodies or threads use the poses. CB_ERROR_DOMAIN if a vertex does not return to its
 * place after a period, to 1e-9 of the extent; this is tested at four times. CB_ERROR_ARGUMENT for a sequence, and for
 * a period that is not > 0. */
cb_status cb_poses_set_period(cb_poses *p, double period);

void cb_poses_free(cb_poses *p);
int cb_poses_vertices(const cb_poses *p);
/* Computes the positions x[vertices], in m, and the velocities v[vertices], in m/s (v may be NULL), at time t.
 * CB_STEP_NOT_FINITE if one of these numbers is not finite; x and v may then have changed. */
cb_status cb_poses_at(const cb_poses *p, double t, double (*x)[3], double (*v)[3]);

CB_API_END
#endif
