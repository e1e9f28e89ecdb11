/* Poses: the positions of the vertices of a body over time, given by a sequence of surfaces or by expressions.
 *
 *   sequence     x(t) on [t_i, t_i+1], s = (t - t_i)/d, d = t_i+1 - t_i, is Hermite's cubic with the slopes of the
 *                parabola through three poses,
 *                  m_i = (d_i-1 (x_i+1 - x_i)/d_i + d_i (x_i - x_i-1)/d_i-1) / (d_i-1 + d_i)
 *                (Catmull & Rom's where poses are evenly spaced: for a sine, 12 poses per period give velocities at the
 *                poses that are 4.5 % too low, 24 poses 1.1 %, 48 poses .3 %); periodic, or clamped: at rest before the
 *                first and after the last pose, with slope 0 there. Continuous with its velocity, error O(d^3)
 *   expressions  x(X, Y, Z, t), y and z of the rest position (X, Y, Z) and the time; each part has its own expressions
 * Velocities are the exact derivatives in t of these. SI units. A cb_poses is immutable and may be read from any
 * thread; reading allocates nothing.
 * For users of bodies in a fluid. The caller frees poses, after the bodies that move by them.
 * Sources: E. Catmull & R. Rom, in Computer Aided Geometric Design (1974) 317; C. de Boor, A Practical Guide to Splines
 * (2001), chapter IV (Bessel's slopes).
 */
#ifndef CURVEBODY_POSES_H
#define CURVEBODY_POSES_H

#include <curvebody/surface.h>

#include <stdint.h>

CB_API_BEGIN

typedef struct cb_poses cb_poses;

typedef enum cb_poses_end { CB_POSES_PERIODIC, CB_POSES_CLAMPED } cb_poses_end;

/* Times of the poses: pose i is at time[i], ascending; time NULL: at start + i step. A periodic sequence returns to its
 * first pose after `period` (0 if time is NULL: number of poses times step). */
typedef struct cb_poses_times {
  const double *time;
  double start, step, period;
  cb_poses_end end;
} cb_poses_times;

/* Makes poses from x[poses * vertices], pose after pose, copied. At least 2 poses (3 of a periodic one).
 * CB_ERROR_ARGUMENT for times that do not ascend (as numbers: start + i step too); CB_ERROR_DOMAIN for a coordinate
 * that is not finite, with pose and vertex (counted from 1). */
cb_status cb_poses_from_arrays(int vertices, int poses, const double (*x)[3], const cb_poses_times *times,
                               cb_poses **out);

/* Motion of a part: three expressions in X, Y, Z and t (and the parameters), each NULL for the rest coordinate; part
 * NULL: for all parts that have no motion of their own. Parts without a motion stay at rest. A vertex of several parts
 * moves with the first of them. */
typedef struct cb_poses_motion {
  const char *part;
  const char *text[3];
} cb_poses_motion;
typedef struct cb_poses_parameters {
  const char *const *names;
  const double *values;
  size_t n;
} cb_poses_parameters;

/* On CB_ERROR_INPUT the message names the part and the coordinate; *which is the index of the motion, *coordinate its
 * coordinate, *at the offset in its text (each may be NULL). parameters may be NULL. */
cb_status cb_poses_from_expressions(const cb_surface *rest, const cb_poses_motion *motion, size_t n,
                                    const cb_poses_parameters *parameters, size_t *which, int *coordinate, size_t *at,
                                    cb_poses **out);

/* Declares a period of the expressions; call it before bodies or threads use the poses. Results that are equal in each
 * period are then computed once. CB_ERROR_DOMAIN if, at one of four times, a vertex does not return to its place after
 * a period, to 1e-9 of the extent. */
cb_status cb_poses_set_period(cb_poses *p, double period);

void cb_poses_free(cb_poses *p);
int cb_poses_vertices(const cb_poses *p);
/* Computes positions x[vertices] and velocities v[vertices] (may be NULL) at time t. CB_STEP_NOT_FINITE with vertex and
 * time if one is not finite; x and v are then partly filled. */
cb_status cb_poses_at(const cb_poses *p, double t, double (*x)[3], double (*v)[3]);

CB_API_END
#endif
