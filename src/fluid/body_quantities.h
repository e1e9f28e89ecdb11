/* The quantities of a body that expressions may use: of the body itself by these names, and of another body `a` as a.x.
 *
 *   wx wy wz, vx vy vz     angular velocity w and velocity v of the body frame's origin, in the body's axes
 *   x y z                  position of the body frame's origin
 *   axis_x_x .. axis_z_z   axis_A_B = R_BA: component B, in the world's axes, of the body's axis A
 *   velocity_x .. _z       R v, the velocity in the world's axes
 *   spin_x .. _z           R w, the angular velocity in the world's axes
 * R is the rotation of the pose. In a curved space x, y, z are normal coordinates, and the world's axes are transported
 * by T(x) to the body (curvebody/pose.h). The derivatives along g (1 + hat(xi)) are dx = R xi_v and dR = R hat(xi_w);
 * the first is that of flat space. rad/s, m/s, m.
 */
#pragma once

#include <curvebody/se3.h>

enum { CB_BODY_TWIST = 0, CB_BODY_PLACE = 6, CB_BODY_AXES = 9, CB_BODY_VELOCITY = 18, CB_BODY_SPIN = 21 };
enum { CB_BODY_QUANTITIES = 24 };

extern const char *const cb_body_quantities[CB_BODY_QUANTITIES + 1]; /* the last one is NULL */

/* r: the rotation matrix of g. */
void cb_body_quantities_of(const cb_pose *g, const double r[3][3], const double Y[6], double out[CB_BODY_QUANTITIES]);
/* The derivatives of quantity i in the twist and along the pose. */
void cb_body_quantity_slopes(const double r[3][3], const double Y[6], int i, double dY[6], double dxi[6]);
