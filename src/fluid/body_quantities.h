/* The quantities of a body that expressions may use. An expression of a body uses these names for the body itself, and
 * a.x, for instance, for the quantity x of another body `a`.
 *
 *   wx wy wz, vx vy vz     angular velocity w and velocity v of the body frame's origin, in the body's axes
 *   x y z                  position of the body frame's origin
 *   axis_x_x .. axis_z_z   axis_A_B = R_BA: component B, in the world's axes, of the body's axis A
 *   velocity_x .. _z       R v, the velocity in the world's axes
 *   spin_x .. _z           R w, the angular velocity in the world's axes
 *
 * R is the rotation of the pose g. In a curved space x, y, z are normal coordinates, and the world's axes are
 * transported by T(x) to the body (curvebody/pose.h). Derivatives along the pose are those of g (1 + hat(xi)) in xi =
 * (xi_w, xi_v), a small twist in the body's axes. They are dx = R xi_v, as in flat space, and dR = R hat(xi_w), with
 * hat(a) b = a × b. Units: rad/s, m/s and m.
 */
#pragma once

#include <curvebody/se3.h>

enum { CB_BODY_TWIST = 0, CB_BODY_PLACE = 6, CB_BODY_AXES = 9, CB_BODY_VELOCITY = 18, CB_BODY_SPIN = 21 };
enum { CB_BODY_QUANTITIES = 24 };

extern const char *const cb_body_quantities[CB_BODY_QUANTITIES + 1]; /* the last one is NULL */

/* Computes all quantities of a body at the pose g with the twist Y. r is the rotation matrix of g. */
void cb_body_quantities_of(const cb_pose *g, const double r[3][3], const double Y[6], double out[CB_BODY_QUANTITIES]);
/* Computes the derivatives of quantity i: dY in the twist Y, and dxi along the pose. */
void cb_body_quantity_slopes(const double r[3][3], const double Y[6], int i, double dY[6], double dxi[6]);
