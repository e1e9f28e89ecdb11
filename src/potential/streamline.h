/* Streamlines of a flow at an instant, and the radius of the tubes about them.
 *
 *   dx/ds = u/|u|,   r = r_0 sqrt(|u(x_0)|/|u(x)|)
 * s the length along the line: the points are evenly spaced. r: of a thin tube, through which as much flows everywhere.
 * By the Runge–Kutta–Fehlberg method of order 4(5) of GSL with its control of steps, all lines at once. `error` is to be
 * well above that of u, whose noise else makes the steps small.
 */
#ifndef CB_POTENTIAL_STREAMLINE_H
#define CB_POTENTIAL_STREAMLINE_H

#include <curvebody/status.h>

/* u at points. */
typedef cb_status (*cb_stream_velocity)(void *context, int points, const double (*x)[3], double (*u)[3]);

/* x[lines][points] from the seeds on, `apart` along the line from one to the next (negative: upstream), each step to
 * `error`, in lengths; u there. A line stays where u is 0. CB_ERROR_STEP where steps become too small. */
cb_status cb_streamlines(cb_stream_velocity velocity, void *context, int lines, const double (*seed)[3], int points,
                         double apart, double error, double (*x)[3], double (*u)[3]);

#endif
