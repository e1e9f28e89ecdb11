/* A body with prescribed poses in a fluid, ready for a step on SE(3) (curvebody/rigid.h).
 *
 *   L(g, Y, t) = L_body + (1/2) sum_f w_f <v_f - u(x_f, t), n_f>^2 - V(g, t),  w_f = rho_f delta A_f
 * v_f the velocity of a face (body and pose), u the flow where the face is, linear between its corners: the fluid's
 * share is the added mass moving relative to the flow. mu = dL/dY, and the wrench of the flow dL/dg is
 *   flow       -ad*_U(I_f (Y - U) + mu_0f) in a uniform flow, U = (0, R^T u); in one that varies also -sum w_f s_f
 *              n.(grad u); and (1/2)<dK/dg (Y - U), Y - U> where the density varies with place
 *   wall       (1/2)<dG/dg (Y, 1), (Y, 1)> of the exact added mass before a plane
 *   pressure   of the undisturbed flow, int rho Du/Dt dV over the body: closed parts, and sheets' area times thickness
 *   gravity, buoyancy, drag (lift and drag), the terms of other fluid models, linear_drag, floor, and the wrenches of
 *   the user
 * In a space of curvature K (of fluid and surface the same) bodies are rigid solids, and the fluid is at rest and of one
 * density: mu = (I_b + I_f) Y in the algebra with K (curvebody/pose.h), and wrenches are `potentials`, -int rho X_a(V) dV
 * over the body, `buoyancy`, the same of the fluid that it displaces with the other sign, drag, linear_drag and those of
 * the user. What has no meaning there is CB_ERROR_UNSUPPORTED.
 * paper: mu = (I_b + I_f) Y + mu_0, without `flow` and `pressure`.
 * For a sphere in an irrotational flow this is m v' = m_f ((1 + 1/2) Du/Dt - v'/2) (Auton, Hunt & Prud'homme 1988,
 * doi:10.1017/S0022112088003234). SI units.
 * For users. What options and fluid point to is borrowed for the body's life; the caller frees body and swimmer.
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

/* A floor, the half space <x, up> >= height: none, of springs at the vertices, or one that a run reflects bodies at. */
typedef enum cb_floor_kind { CB_FLOOR_NONE, CB_FLOOR_STIFF, CB_FLOOR_REFLECTING } cb_floor_kind;

typedef struct cb_floor {
  cb_floor_kind kind;
  double up[3], height;
  double stiffness, damping, friction, creep; /* stiff: N/m, N s/m of the whole body, 1, m/s */
  double restitution;                         /* reflecting: 0 to 1 */
} cb_floor;

/* All borrowed for the bodies' life. */
typedef struct cb_fluid {
  const cb_medium *medium; /* NULL: none */
  const cb_flow *flow;     /* NULL: at rest */
  int n_models;
  const cb_fluid_model *const *models; /* whose forces add up; 0: the local one */
  const cb_fluid_model *added_mass;    /* whose added mass, none if it has none; NULL: that of the first that has one */
  double gravity[3];
  double curvature; /* of the space that it fills, 1/m^2; 0: E3. Then it is at rest, of one density, without gravity */
  bool paper;
  cb_floor floor;
} cb_fluid;

/* A wrench of the user's: expressions of t, of the place x, y, z of the body frame's origin, and of its twist
 * wx, wy, wz, vx, vy, vz in the body frame. In the body's axes, or the world's. The force acts at `at` in the body. In a
 * curved space places are normal coordinates, and the world's axes are those that T(x) of the pose carries along. */
typedef struct cb_wrench_text {
  const char *name;
  bool world;
  const char *torque[3], *force[3]; /* NULL: 0 */
  double at[3];
} cb_wrench_text;

typedef struct cb_immersed_options {
  const cb_material *material; /* [parts] */
  int n_points;
  const cb_point_mass *points;
  bool lumped;
  bool added_mass, drag;       /* the fluid's momentum; lift and drag */
  int n_models;
  const cb_fluid_model *const *models; /* 0: those of the fluid */
  bool no_buoyancy;                    /* the weight of the displaced fluid is left out */
  const cb_fluid_model *added_mass_of; /* whose added mass; NULL: that of the fluid */
  double c_n, c_t;             /* linear drag, Pa s/m */
  int n_wrenches;
  const cb_wrench_text *wrenches;
  size_t n_parameters;         /* of the expressions */
  const char *const *names;
  const double *values;
  const struct cb_system *potential; /* in a curved space: of one particle of 1 kg, charge 0, at which the potential
                                        energy is that of 1 kg of body or fluid there; NULL: none. Borrowed */
} cb_immersed_options;

/* What a body is, shared by its copies and by threads. surface and poses (NULL: rigid) are borrowed. CB_ERROR_INPUT for
 * an expression: *which wrench, *component (0-2 torque, 3-5 force), *at its offset (each may be NULL). CB_ERROR_DOMAIN
 * for a body that has no inertia (no mass, and no fluid or none about an axis). */
typedef struct cb_immersed cb_immersed;
cb_status cb_immersed_create(const cb_fluid *fluid, const cb_surface *surface, const cb_poses *poses,
                             const cb_immersed_options *options, int *which, int *component, size_t *at,
                             cb_immersed **out);
void cb_immersed_free(cb_immersed *b);
/* Its wrenches by name, in the order of cb_immersed_row.wrench: those that are always 0 are left out. */
int cb_immersed_wrenches(const cb_immersed *b);
const char *cb_immersed_wrench_name(const cb_immersed *b, int i);
const cb_surface *cb_immersed_surface(const cb_immersed *b);
const cb_poses *cb_immersed_poses(const cb_immersed *b); /* NULL: rigid */
/* Of a body whose added mass is taken from a table along its poses: how many points that has, and its measured error,
 * relative to the greatest (fluid/stroke.h). Otherwise 0. */
double cb_immersed_tabulated(const cb_immersed *b, int *points);
/* What a fluid model other than the local one tells of the body's added mass at rest, per density, in *out; the model's
 * name, or NULL where it tells of no solution: then *out is untouched. */
const char *cb_immersed_solved(const cb_immersed *b, cb_added_mass *out);
/* Vertices in the body frame at time t (velocities NULL: not wanted). */
cb_status cb_immersed_shape(const cb_immersed *b, double t, double (*x)[3], double (*v)[3]);

/* The work arrays of one thread. */
typedef struct cb_swimmer cb_swimmer;
cb_status cb_swimmer_create(const cb_immersed *b, cb_swimmer **out);
void cb_swimmer_free(cb_swimmer *s);
const cb_rigid_problem *cb_swimmer_problem(cb_swimmer *s);
/* What is recorded of a state. wrench[wrenches] of the caller's, in the body frame. */
typedef struct cb_immersed_row {
  double twist[6];
  double K[6][6], mu0[6];
  double kinetic;          /* of body and fluid: (1/2) int rho |velocity|^2 of the body where it deforms too */
  double potential;        /* gravity, buoyancy, floor */
  double breathing;        /* greatest mean normal velocity that was subtracted, m/s */
  cb_mass mass;            /* of the body at this time */
  double (*wrench)[6];
} cb_immersed_row;
cb_status cb_swimmer_measure(cb_swimmer *s, const cb_rigid_state *state, cb_immersed_row *row);

CB_API_END
#endif
