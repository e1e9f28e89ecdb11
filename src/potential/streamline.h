/* Streamlines of a flow at an instant, and the radius of the tubes about them.
 *
 *   dx/ds = u/|u|,   r = r_0 sqrt(|u(x_0)|/|u(x)|)
 * s the length along the line: the points are evenly spaced. r: of a thin tube, through which as much flows everywhere.
 * By order 5(4) of Dormand & Prince (1980), J. Comput. Appl. Math. 6, 19, doi 10.1016/0771-050X(80)90013-3,
 * points between by Hairer, Nørsett & Wanner (1993), Solving Ordinary Differential Equations I, II.6: a line has steps
 * of its own, all lines' points of a stage are asked for at once. `error` is to be well above that of u, whose noise
 * else makes the steps small.
 */
#pragma once

#include <curvebody/status.h>

/* u at points. */
typedef cb_status (*cb_stream_velocity)(void *context, int points, const double (*x)[3], double (*u)[3]);

/* x[lines][points] from the seeds on, `apart` along the line from one to the next (negative: upstream), each step to
 * `error`, in lengths; u there. A line stays where u is 0. CB_ERROR_STEP where steps become too small. */
cb_status cb_streamlines(cb_stream_velocity velocity, void *context, int lines, const double (*seed)[3], int points,
                         double apart, double error, double (*x)[3], double (*u)[3]);
