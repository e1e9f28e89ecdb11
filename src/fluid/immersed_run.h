/* Functions by which a run handles a body in a fluid (see curvebody/immersed.h), and the plot coordinates of a curved
 * space. */
#pragma once

#include "fluid/floor.h"
#include "fluid/fluid_shared.h"
#include "fluid/medium_surfaces.h"
#include "fluid/moving_mass.h"
#include "fluid/poses_private.h"
#include <curvebody/immersed.h>
#include <curvebody/se3.h>

/* Returns why the model's forces, or its added mass, are not available in a curved space; NULL if they are. */
const char *cb_immersed_curved_model(const cb_fluid_model *m, bool forces);
const cb_fluid *cb_immersed_fluid_about(const cb_immersed *b);
/* Returns whether anything that acts on the body depends on its surface. If not, the surface only serves for
 * drawing. */
bool cb_immersed_is_shaped(const cb_immersed *b);
/* Returns a text if the scenario asks for an effect that an open part without thickness does not have, for instance
 * "displaces no fluid and has no buoyancy"; otherwise NULL. *solid becomes true if the text matters only if the part is
 * meant to be solid. */
const char *cb_immersed_lacks(const cb_immersed *b, int part, bool *solid);
bool cb_immersed_has_added_mass(const cb_immersed *b);
/* The momentum A Y + mu of the fluid around a body at the twist Y, if the body is alone in a fluid of one density. mu
 * is the momentum that the motion of the shape gives to the fluid. `volume` is the displaced volume, and `moment` is
 * int x dV over it. While the shape moves, int x dV has the rate of change `rate`, and the volume counts as constant.
 * All vectors are in the body frame. */
typedef struct cb_immersed_fluid_share {
  double A[6][6], mu[6], volume, moment[3], rate[3];
} cb_immersed_fluid_share;
cb_status cb_immersed_workspace_fluid_share(cb_immersed_workspace *s, double t, cb_immersed_fluid_share *out);
/* Returns whether the local model gives the body its added mass. */
bool cb_immersed_is_local(const cb_immersed *b);
/* Finds the mass properties at time t, and the local model's data part[parts] (may be NULL). */
cb_status cb_immersed_mass(const cb_immersed *b, double t, cb_mass *mass, cb_local_part *part);
/* The quantities that the motion conserves under the forces that act.
 *
 * energy: it is conserved if the body is rigid, the fluid is at rest and has one density, there is no drag and no
 * wrench of the user, and the floor takes no energy. A potential that acts must conserve energy, too.
 *
 * momentum, about the world's origin: it is conserved if no flow, layers, potential, drag, floor friction or wrench of
 * the user acts. The shape may change. If gravity, buoyancy, a wall or a floor acts, and all of these along the same
 * axis, then `upright` is set. In this case only the angular momentum along `up` (of length 1) and the linear momentum
 * perpendicular to `up` are conserved. */
typedef struct cb_immersed_conserved {
  bool energy, momentum, upright;
  double up[3];
} cb_immersed_conserved;
cb_immersed_conserved cb_immersed_conserves(const cb_immersed *b);
/* Marks in *out as not conserved the quantities that a force along `axis` does not conserve. */
void cb_immersed_conserves_along(const double axis[3], cb_immersed_conserved *out);
/* The largest deviation of a part from its best rigid motion (fluid/immersed_private.h) at 257 times from `start` to
 * `end`. The part is one with which places of fluid models move; cb_immersed_followed_parts returns the number of such
 * parts. `named` is the node of the scenario that names the part, or NULL. */
typedef struct cb_immersed_misfit {
  const char *part;
  const cb_node *named;
  double time, residual;
} cb_immersed_misfit;
int cb_immersed_followed_parts(const cb_immersed *b);
cb_status cb_immersed_find_misfit(const cb_immersed *b, int number, double start, double end, cb_immersed_misfit *out);
/* Finds the twist Y in which body and fluid have no momentum relative to a flow u that is the same everywhere:
 *
 *   K_b (Y - U) + mu_b + I_f (Y - U) + mu_f = 0,  U = (0, u)
 * with the inertia K_b of the body, the added mass I_f, and the momenta mu_b and mu_f of the changing shape. Returns
 * CB_ERROR_UNSUPPORTED if flow or density vary with the place. */
cb_status cb_immersed_workspace_released(cb_immersed_workspace *s, double t, const cb_pose *g, double Y[6]);
cb_floor_shape cb_immersed_workspace_floor_shape(cb_immersed_workspace *s);
/* Makes one step of the workspace's problem on a floor that does not reflect. The state is unchanged on failure. */
cb_status cb_immersed_workspace_step(cb_immersed_workspace *s, const cb_body_stepper *stepper, double h,
                                     cb_rigid_state *state, int *iterations);
/* Returns CB_STEP_DOMAIN if a vertex is on or behind a wall in this state, which is the end of a step. (The step itself
 * checks only the times inside it at which it evaluates the inertia.) */
cb_status cb_immersed_workspace_check_place(cb_immersed_workspace *s, const cb_rigid_state *state);
/* Returns the first part whose delta (fluid/local.h) was capped in the last step or measurement, but not when
 * cb_immersed_workspace_know_caps was last called. Returns NULL if there is none. *number becomes its number. */
const cb_local_part *cb_immersed_workspace_cap(const cb_immersed_workspace *s, int *number);
void cb_immersed_workspace_know_caps(cb_immersed_workspace *s);
/* Returns the root mean square of the flow's divergence over the vertices in the last step or measurement, divided by
 * the size of the flow's gradient. This size is the larger one of two root mean squares: over the vertices, and over
 * the grid of a flow that has one. */
double cb_immersed_workspace_divergence(const cb_immersed_workspace *s);

/* Positions in the plot (cb_plot_coordinates) of a space of curvature K. Hyperbolic space is shown as the ball of
 * radius R = 1/sqrt|K| about the base point, a sphere by stereographic projection from the antipode of the base point,
 * and E^3 without a change.
 *
 *   normal coordinates v  ->  tan_K(|v|/2) v/|v|,  tan_K = s_K/c_K;  lengths times 1/(1 + w), w = c_K(|v|)
 *
 * s_K and c_K are the sine and cosine of curvature K (numerics/numerics_curved.h). In E^3 the formulas give half of v
 * and of lengths; the functions then return v and 1. Axes that are transported from the base point along a geodesic
 * keep their directions in the plot.
 */

void cb_plot_place(double K, const double v[3], double out[3]);
/* Returns the factor by which the plot stretches lengths at v; 1 in E^3. */
double cb_plot_factor(double K, const double v[3]);

/* --- the quantities of a body ---
 *
 * The quantities of a body that expressions may use. An expression of a body uses these names for the body itself, and
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

enum { CB_BODY_TWIST = 0, CB_BODY_PLACE = 6, CB_BODY_AXES = 9, CB_BODY_VELOCITY = 18, CB_BODY_SPIN = 21 };
enum { CB_BODY_QUANTITIES = 24 };

extern const char *const cb_body_quantities[CB_BODY_QUANTITIES + 1]; /* the last one is NULL */

/* Computes all quantities of a body at the pose g with the twist Y. r is the rotation matrix of g. */
void cb_body_quantities_of(const cb_pose *g, const double r[3][3], const double Y[6], double out[CB_BODY_QUANTITIES]);
/* Computes the derivatives of quantity i: dY in the twist Y, and dxi along the pose. */
void cb_body_quantity_slopes(const double r[3][3], const double Y[6], int i, double dY[6], double dxi[6]);
