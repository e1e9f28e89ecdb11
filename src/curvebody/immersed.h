/* A body in a fluid, rigid or with a shape that is prescribed by poses (curvebody/poses.h), as a problem for
 * integrators on SE(3) (curvebody/rigid.h).
 *
 *   L(g, Y, t) = L_body + (1/2) sum_f w_f <v_f - u(x_f, t), n_f>^2 - V(g, t),   w_f = rho_f delta A_f
 * L is the Lagrangian, a function of the pose g, the twist Y and the time t. L_body is the kinetic energy of the body
 * and V the potential energy. The sum over the faces f of the body is the kinetic energy of the added mass in its
 * motion relative to the flow u, which is linear on a face. x_f, v_f, n_f and A_f are place, velocity, normal and area
 * of a face, rho_f is the density of the fluid there, and delta the depth of the added mass of its part
 * (src/fluid/local.h).
 *
 * The momentum is mu = dL/dY. I_b is the inertia of the body, I_f the added mass, mu_0f the momentum that the fluid has
 * from the changing shape, and R the rotation of g. ad* is defined in curvebody/se3.h. The wrenches dL/dg are:
 *   flow       in a uniform flow -ad*_U(I_f (Y - U) + mu_0f) with U = (0, R^T u). In a flow that varies with the place,
 *              -sum_f w_f s_f n_f.(grad u) is added, s_f = <v_f - u, n_f>. Where the density varies with the place,
 *              (1/2) <dI_f/dg (Y - U), Y - U> is added. For a model other than the local one, I_f is the matrix K of
 *              cb_added_mass; the exact added mass of a rigid body also gives the effect of the strain of the flow
 *              (src/fluid/terms/parts.c)
 *   wall       (1/2) <dG/dg (Y, 1), (Y, 1)> near a plane, with the exact added mass. G is the 7x7 matrix of the fluid's
 *              kinetic energy (1/2) <G (Y, 1), (Y, 1)>
 *   pressure   of the undisturbed flow: int rho Du/Dt dV over the closed parts, and over sheets with dV = thickness dA
 *   gravity, buoyancy, drag (drag and lift), the terms of other fluid models, linear_drag, floor, and the wrenches of
 *   the user
 * With the option `paper`, mu = (I_b + I_f) Y + mu_0, where mu_0 is the momentum from the changing shape, and the
 * wrenches `flow` and `pressure` are left out.
 * As an example, take a sphere of mass m and velocity v that displaces the mass m_f in an irrotational flow. With
 * `flow` and `pressure`, m v' = m_f ((1 + 1/2) Du/Dt - v'/2) (Auton, Hunt & Prud'homme 1988,
 * doi:10.1017/S0022112088003234).
 *
 * In a space of curvature K, bodies are rigid solids, and the fluid is at rest and has one density. Then
 * mu = (I_b + I_f) Y, with the algebra of curvebody/pose.h. The wrench `potentials` is -int rho X_a(V) dV over the
 * body, where X_a are the Killing fields and V is the potential energy per mass. `buoyancy` is this integral for the
 * displaced fluid with the opposite sign. The others are drag, linear_drag and the wrenches of the user. Options that
 * have no meaning in a curved space are CB_ERROR_UNSUPPORTED.
 * SI units. For users. Everything to which the members of options and fluid point is borrowed and must outlive the
 * body. The caller frees body and workspace.
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

/* The kinds of floors: none, a floor that pushes vertices like springs with damping and friction, or a floor at which a
 * run reflects bodies. */
typedef enum cb_floor_kind { CB_FLOOR_NONE, CB_FLOOR_STIFF, CB_FLOOR_REFLECTING } cb_floor_kind;

typedef struct cb_floor {
  cb_floor_kind kind;
  double up[3], height; /* bodies are in the half space <x, up> >= height; up is a unit vector */
  /* for CB_FLOOR_STIFF: stiffness in N/m and damping in N s/m, both for the complete body (each vertex has an equal
   * share of them); friction coefficient; and creep in m/s, the sliding velocity below which friction vanishes
   * smoothly */
  double stiffness, damping, friction, creep;
  double restitution; /* for CB_FLOOR_REFLECTING: from 0 to 1 */
} cb_floor;

/* The fluid. The objects to which its members point are borrowed and must outlive the bodies. */
typedef struct cb_fluid {
  const cb_medium *medium; /* the density of the fluid; NULL: there is no fluid */
  const cb_flow *flow;     /* NULL: the fluid is at rest */
  int n_models;
  const cb_fluid_model *const *models; /* [n_models]: their forces add up; without models, the local model is used */
  /* the model whose added mass is used; if it has none, there is no added mass. NULL: the first of `models` that has an
   * added mass */
  const cb_fluid_model *added_mass;
  double gravity[3]; /* acceleration of gravity, in m/s^2 */
  /* curvature of the space that the fluid fills, 1/m^2; 0: E3. In a curved space the fluid is at rest, has one density,
   * and there is no gravity. */
  double curvature;
  bool paper; /* true: the equations `paper` of the file header, without the wrenches `flow` and `pressure` */
  cb_floor floor;
  /* how bodies feel each other through the fluid (fluid/body_coupling.h); NULL: they do not */
  const struct cb_body_coupling *coupling;
} cb_fluid;

/* A wrench of the user. Its components are expressions of t, of external names (cb_immersed_options.externals), and of
 * these quantities of the body:
 *   wx, wy, wz, vx, vy, vz                 the twist in the body frame: angular velocity, and velocity of its origin
 *   x, y, z                                the position of the body frame's origin
 *   axis_x_x, axis_x_y, .. axis_z_z        axis_A_B: component B, in the world's axes, of the body's axis A
 *   velocity_x, _y, _z, spin_x, _y, _z     the velocity and the angular velocity in the world's axes
 * In a curved space positions are normal coordinates, and the axes of the world at the body are those at the base
 * point, moved by the transvection T(x) of the pose (curvebody/pose.h). */
typedef struct cb_wrench_text {
  const char *name;
  bool world; /* true: the components are in the axes of the world; false: in the axes of the body */
  const char *torque[3], *force[3]; /* expressions of the components, in N m and N; NULL: 0 */
  double at[3];                     /* where the force acts, in the body frame */
} cb_wrench_text;

typedef struct cb_immersed_options {
  const cb_material *material; /* [parts]: the material of each part of the surface */
  int n_points;
  const cb_point_mass *points; /* [n_points]: point masses fixed to the body */
  bool lumped;                 /* true: the masses of the parts are at their vertices */
  /* added_mass: the body has the added mass of the fluid. drag: the forces of the fluid models act on the body */
  bool added_mass, drag;
  int n_models;
  const cb_fluid_model *const *models; /* [n_models]: models for this body; without any, those of the fluid */
  bool no_buoyancy;                    /* true: the weight of the displaced fluid is ignored */
  const cb_fluid_model *added_mass_of; /* the model of the added mass; NULL: chosen as in cb_fluid.added_mass */
  double c_n, c_t;                     /* coefficients of linear drag, normal and tangential to a face, in Pa s/m */
  int n_wrenches;
  const cb_wrench_text *wrenches; /* [n_wrenches]: given forces and torques on the body */
  size_t n_parameters;
  const char *const *names; /* [n_parameters]: names of the parameters in the expressions of wrenches */
  const double *values;     /* [n_parameters]: their values */
  size_t n_controls;
  const char *const *controls;  /* [n_controls]: controls of these expressions (curvebody/expression.h) */
  const double *control_values; /* [n_controls]; borrowed, must outlive the body */
  /* in a curved space: a system of one particle of mass 1 kg and charge 0. Its potential energy at a point is that of
   * 1 kg of the body or of the fluid there. NULL: there is none. */
  const struct cb_system *potential;
  /* [n_externals], at most CB_IMMERSED_EXTERNALS: names in the expressions of wrenches for numbers that the caller
   * supplies with cb_immersed_workspace_know. They may contain dots, such as a.x. */
  int n_externals;
  const char *const *externals;
} cb_immersed_options;

enum { CB_IMMERSED_EXTERNALS = 39 };

/* The data of a body, which do not change, and which copies of the body and threads may share. */
typedef struct cb_immersed cb_immersed;
/* Makes the data of a body. surface and poses are borrowed and must outlive the body; poses NULL: the body is rigid.
 * CB_ERROR_INPUT for an error in an expression: then *which is the index of the wrench, *component that of the
 * component (0-2 torque, 3-5 force), and *at the offset of the error in the text; each of these pointers may be NULL.
 * CB_ERROR_DOMAIN for a body that has neither mass nor added mass in some motion. CB_ERROR_UNSUPPORTED for options that
 * cannot be combined. */
cb_status cb_immersed_create(const cb_fluid *fluid, const cb_surface *surface, const cb_poses *poses,
                             const cb_immersed_options *options, int *which, int *component, size_t *at,
                             cb_immersed **out);
void cb_immersed_free(cb_immersed *b);
/* Return the number of the wrenches, and the name of wrench i, in the order of cb_immersed_row.wrench. Wrenches that
 * are always 0 are left out. */
int cb_immersed_wrenches(const cb_immersed *b);
const char *cb_immersed_wrench_name(const cb_immersed *b, int i);
/* Return the number of the external names, and name i. */
int cb_immersed_externals(const cb_immersed *b);
const char *cb_immersed_external(const cb_immersed *b, int i);
const cb_surface *cb_immersed_surface(const cb_immersed *b);
const cb_poses *cb_immersed_poses(const cb_immersed *b); /* NULL: the body is rigid */
/* For a body whose added mass is interpolated in a table along its poses (src/fluid/immersed_model.c): returns the
 * measured error relative to the largest entry, and sets *points to the number of points of the table. For other bodies
 * both are 0. */
double cb_immersed_tabulated(const cb_immersed *b, int *points);
/* For an added mass that a fluid model computes by solving equations: sets *out to the added mass of the body at rest
 * in a fluid of density 1, with its error and other information, and returns the name of the model. For another added
 * mass returns NULL, and *out is unchanged. */
const char *cb_immersed_solved(const cb_immersed *b, cb_added_mass *out);
/* Computes the positions x[vertices] of the vertices in the body frame at time t, and their velocities v[vertices],
 * which may be NULL. */
cb_status cb_immersed_shape(const cb_immersed *b, double t, double (*x)[3], double (*v)[3]);

/* The work arrays for a body. Each thread needs its own. */
typedef struct cb_immersed_workspace cb_immersed_workspace;
cb_status cb_immersed_workspace_create(const cb_immersed *b, cb_immersed_workspace **out);
void cb_immersed_workspace_free(cb_immersed_workspace *s);
/* Returns the problem for an integrator, which belongs to the workspace. */
const cb_rigid_problem *cb_immersed_workspace_problem(cb_immersed_workspace *s);
/* Sets the values of the external names to values[externals]; at first they are 0. The array is borrowed, and its
 * numbers may be changed between evaluations. */
void cb_immersed_workspace_know(cb_immersed_workspace *s, const double *values);
/* Computes the derivatives out[externals][6] of the sum of all wrenches by the values of the external names. */
cb_status cb_immersed_workspace_external_slopes(cb_immersed_workspace *s, double t, const cb_pose *g, const double Y[6],
                                                double (*out)[6]);
/* Quantities of a state that are recorded. Twist, momenta and wrenches are in the body frame. */
typedef struct cb_immersed_row {
  double twist[6];
  double K[6][6], mu0[6]; /* the momentum of body and fluid is K twist + mu0 */
  double kinetic;         /* kinetic energy of body and fluid, with that of the changing shape */
  double potential;       /* potential energy of gravity, buoyancy and floor */
  /* From the velocities of each closed part the local model subtracts their mean normal component, because the volume
   * of a part does not change. This is the largest of these means in absolute value, in m/s. */
  double removed_normal_velocity;
  cb_mass mass;        /* mass properties of the body at this time */
  double (*wrench)[6]; /* [wrenches]: the array is supplied by the caller */
} cb_immersed_row;
/* Computes all members of *row at the given state. */
cb_status cb_immersed_workspace_measure(cb_immersed_workspace *s, const cb_rigid_state *state, cb_immersed_row *row);

CB_API_END
#endif
