/* A body with prescribed poses in a fluid, ready for a step on SE(3) (curvebody/rigid.h).
 *
 *   L(g, Y, t) = L_body + (1/2) sum_f w_f <v_f - u(x_f, t), n_f>^2 - V(g, t),  w_f = rho_f delta A_f
 * Here L_body is the kinetic energy of the body, V the potential energy, v_f the velocity of a face f (from shape and
 * pose), n_f its normal, A_f its area, rho_f the density of the fluid at it, delta the depth of the added mass of its
 * part (fluid/local.h), and u the flow at the face, linear between its corners. The sum is the kinetic energy of the
 * added mass in its motion relative to the flow. I_b is the inertia of the body, K or I_f the added mass, mu_0f the
 * fluid's momentum from the changing shape, R the rotation of the pose. mu = dL/dY, and dL/dg consists of the wrenches
 *   flow       -ad*_U(I_f (Y - U) + mu_0f) in a uniform flow, U = (0, R^T u); in a flow that varies also -sum w_f s_f
 *              n.(grad u), s_f = <v_f - u, n_f>; and (1/2)<dK/dg (Y - U), Y - U> where the density varies with place
 *   wall       (1/2)<dG/dg (Y, 1), (Y, 1)> of the exact added mass near a plane; G: the form of the fluid's energy
 *   pressure   of the undisturbed flow, int rho Du/Dt dV over the body: closed parts, and sheets' area times thickness
 *   gravity, buoyancy, drag (lift and drag), the terms of other fluid models, linear_drag, floor, and the wrenches of
 *   the user
 * In a space of curvature K (the same for fluid and surface) bodies are rigid solids, and the fluid is at rest and has
 * one density: mu = (I_b + I_f) Y in the algebra with K (curvebody/pose.h). The wrenches are `potentials`, -int rho
 * X_a(V) dV over the body, X_a the Killing fields and V the potential per mass; `buoyancy`, the same integral of the
 * displaced fluid with the opposite sign; drag, linear_drag and the wrenches of the user. Options without a meaning in
 * curved space are CB_ERROR_UNSUPPORTED. With the option `paper`, mu = (I_b + I_f) Y + mu_0, and the wrenches `flow`
 * and `pressure` are left out. For a sphere of mass m and velocity v that displaces the mass m_f, in an irrotational
 * flow, the equations with `flow` and `pressure` are m v' = m_f ((1 + 1/2) Du/Dt - v'/2) (Auton, Hunt & Prud'homme
 * 1988, doi:10.1017/S0022112088003234). SI units.
 * For users. Everything that options and fluid point to is borrowed for the body's life; the caller frees body and
 * workspace.
 */
#ifndef CURVEBODY_IMMERSED_H
#define CURVEBODY_IMMERSED_H

#include <curvebody/flow.h>
#include <curvebody/fluid_model.h>
#include <curvebody/mass.h>
#include <curvebody/medium.h>
#include <curvebody/poses.h>
#include <curvebody/rigid.h>

CB_API_BEGIN

/* A floor, the half space <x, up> >= height: none; springs at the vertices; or a floor at which a run reflects
 * bodies. */
typedef enum cb_floor_kind { CB_FLOOR_NONE, CB_FLOOR_STIFF, CB_FLOOR_REFLECTING } cb_floor_kind;

typedef struct cb_floor {
  cb_floor_kind kind;
  double up[3], height;
  double stiffness, damping, friction, creep; /* stiff: N/m, N s/m of the complete body, 1, m/s */
  double restitution;                         /* reflecting: 0 to 1 */
} cb_floor;

/* What the members point to is borrowed for the bodies' life. */
typedef struct cb_fluid {
  const cb_medium *medium; /* the density of the fluid; NULL: there is no fluid */
  const cb_flow *flow;     /* NULL: the fluid is at rest */
  int n_models;
  const cb_fluid_model *const *models; /* their forces add up; 0: the local model */
  /* the model whose added mass is used (if it has none, there is no added mass); NULL: the first of `models` that has
   * an added mass */
  const cb_fluid_model *added_mass;
  double gravity[3];
  /* curvature of the space that the fluid fills, 1/m^2; 0: E3. In a curved space the fluid is at rest, has one density,
   * and there is no gravity */
  double curvature;
  bool paper; /* true: the equations of the paper, without the wrenches `flow` and `pressure` */
  cb_floor floor;
} cb_fluid;

/* A wrench of the user: expressions of t, of the quantities of the body, and of external names (cb_immersed_options).
 * The quantities are
 *   wx, wy, wz, vx, vy, vz                 the twist in the body frame: angular velocity, and velocity of its origin
 *   x, y, z                                the position of the body frame's origin
 *   axis_x_x, axis_x_y, .. axis_z_z        axis_A_B: component B, in the world's axes, of the body's axis A
 *   velocity_x, _y, _z, spin_x, _y, _z     the velocity and the angular velocity in the world's axes
 * The components of the wrench are in the body's axes or in the world's. The force acts at `at` in the body. In a
 * curved space positions are normal coordinates, and the world's axes are transported to the body by T(x) of the
 * pose. */
typedef struct cb_wrench_text {
  const char *name;
  bool world;
  const char *torque[3], *force[3]; /* NULL: this component is 0 */
  double at[3];
} cb_wrench_text;

typedef struct cb_immersed_options {
  const cb_material *material; /* [parts] */
  int n_points;
  const cb_point_mass *points;
  bool lumped;           /* true: the masses of the parts are at their vertices, as in the paper */
  bool added_mass, drag; /* switch on the added mass of the fluid; lift and drag */
  int n_models;
  const cb_fluid_model *const *models; /* 0: the models of the fluid */
  bool no_buoyancy;                    /* true: the weight of the displaced fluid is ignored */
  const cb_fluid_model *added_mass_of; /* the model of the added mass; NULL: the fluid's */
  double c_n, c_t;                     /* coefficients of linear drag, normal and tangential, Pa s/m */
  int n_wrenches;
  const cb_wrench_text *wrenches;
  size_t n_parameters; /* parameters of the expressions of wrenches: names and values */
  const char *const *names;
  const double *values;
  /* in a curved space: a system of one particle of 1 kg and charge 0, whose potential energy at a point equals the
   * potential energy of 1 kg of body or fluid at this point; NULL: none. Borrowed */
  const struct cb_system *potential;
  /* Names, at most CB_IMMERSED_EXTERNALS, that the expressions of wrenches may use for numbers that the caller supplies
   * (cb_immersed_workspace_know). They may contain dots, such as a.x. */
  int n_externals;
  const char *const *externals;
} cb_immersed_options;

enum { CB_IMMERSED_EXTERNALS = 39 };

/* Data of a body, shared by its copies and by threads. surface and poses (NULL: rigid) are borrowed. CB_ERROR_INPUT for
 * an error in an expression: *which is the wrench, *component the component (0-2 torque, 3-5 force), *at the offset in
 * the text (each may be NULL). CB_ERROR_DOMAIN for a body without inertia (no mass, and no added mass, or none about
 * one axis). */
typedef struct cb_immersed cb_immersed;
cb_status cb_immersed_create(const cb_fluid *fluid, const cb_surface *surface, const cb_poses *poses,
                             const cb_immersed_options *options, int *which, int *component, size_t *at,
                             cb_immersed **out);
void cb_immersed_free(cb_immersed *b);
/* Return the number and the names of the wrenches, in the order of cb_immersed_row.wrench: wrenches that are always 0
 * are left out. */
int cb_immersed_wrenches(const cb_immersed *b);
const char *cb_immersed_wrench_name(const cb_immersed *b, int i);
/* Return the number of the external names, and name i. */
int cb_immersed_externals(const cb_immersed *b);
const char *cb_immersed_external(const cb_immersed *b, int i);
const cb_surface *cb_immersed_surface(const cb_immersed *b);
const cb_poses *cb_immersed_poses(const cb_immersed *b); /* NULL: the body is rigid */
/* For a body whose added mass is interpolated in a table along its poses: returns the measured error, relative to the
 * largest entry, and in *points the number of points of the table (fluid/added_mass_table.h). Otherwise 0. */
double cb_immersed_tabulated(const cb_immersed *b, int *points);
/* Writes to *out what a fluid model other than the local one reports on the body's added mass at rest, per density.
 * Returns the model's name, or NULL if the model gives no such information: then *out is unchanged. */
const char *cb_immersed_solved(const cb_immersed *b, cb_added_mass *out);
/* Computes the vertices in the body frame at time t (velocities v may be NULL). */
cb_status cb_immersed_shape(const cb_immersed *b, double t, double (*x)[3], double (*v)[3]);

/* The work arrays of one thread. */
typedef struct cb_immersed_workspace cb_immersed_workspace;
cb_status cb_immersed_workspace_create(const cb_immersed *b, cb_immersed_workspace **out);
void cb_immersed_workspace_free(cb_immersed_workspace *s);
const cb_rigid_problem *cb_immersed_workspace_problem(cb_immersed_workspace *s);
/* Sets the values of the external names, values[externals] (at the start all are 0). They are borrowed, and may be
 * changed between evaluations. */
void cb_immersed_workspace_know(cb_immersed_workspace *s, const double *values);
/* Computes the derivatives out[externals] of the sum of all wrenches in the values of the external names. */
cb_status cb_immersed_workspace_external_slopes(cb_immersed_workspace *s, double t, const cb_pose *g, const double Y[6],
                                                double (*out)[6]);
/* Quantities that are recorded for a state. The caller supplies wrench[wrenches]; they are in the body frame. */
typedef struct cb_immersed_row {
  double twist[6];
  double K[6][6], mu0[6];
  double kinetic;   /* energy of body and fluid: includes (1/2) int rho |velocity|^2 of a body that deforms */
  double potential; /* energy of gravity, buoyancy and floor */
  double removed_normal_velocity; /* maximum mean normal velocity that was subtracted, m/s */
  cb_mass mass;                   /* mass properties of the body at this time */
  double (*wrench)[6];
} cb_immersed_row;
cb_status cb_immersed_workspace_measure(cb_immersed_workspace *s, const cb_rigid_state *state, cb_immersed_row *row);

CB_API_END
#endif
