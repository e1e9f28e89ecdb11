/* One step of bodies and particles that act on each other through points.
 *
 * A point is a particle, or a point fixed in a body: x = g x_0, with the pose g of the body and x_0 in its frame. One
 * cb_system has both: the particles move by themselves, and the points of bodies are placed by their bodies. Whatever
 * acts between particles (springs, pair potentials, potentials, constraints of positions) acts on points of bodies, too:
 * a force f on the point becomes the wrench W with W.Y = f.(dx) for every twist Y of the body, so momentum is kept to
 * round-off.
 *
 *   p_k' = p_k + h/2 F(x_k) + G_k^T lambda                  at node k: forces F and constraints g, G = dg/dx
 *   (x, p)' -> (x_{k+1}, p'')                               each body by its own integrator, each particle along a
 *                                                           geodesic, or in a fluid by the midpoint rule (drift)
 *   g(x_{k+1}, t_{k+1}) = 0 determines lambda               Newton's method, one drift per iteration
 *   p_{k+1} = p'' + h/2 F(x_{k+1}) + G_{k+1}^T mu           mu: the velocities satisfy dg/dt = 0
 *
 * This is the discrete Lagrangian sum h L_body - h/2 (V_k + V_{k+1}): for particles without fluid it is RATTLE in the
 * embedding (Andersen, J. Comput. Phys. 52 (1983) 24, doi:10.1016/0021-9991(83)90014-1; Leimkuhler & Reich, J. Comput.
 * Phys. 112 (1994) 117, doi:10.1006/jcph.1994.1085). It is of order 2, symmetric, and symplectic if nothing dissipates.
 * Forces that depend on velocities are explicit at node k and implicit at node k+1, so that the step stays symmetric.
 * SI units in a fluid. Spaces of constant curvature and dimension 3: E3, S3, H3. The bodies' states are borrowed.
 */
#pragma once

#include "coupling/particle_in_fluid.h"
#include "mechanism/mechanism.h"
#include <curvebody/constraint.h>
#include <curvebody/event.h>
#include <curvebody/rigid.h>
#include <curvebody/system.h>

/* A particle of the system that is a point of a body: at[3] is its place in the body frame (normal coordinates in a
 * curved space). */
typedef struct cb_body_point {
  int particle, body;
  double at[3];
  bool auxiliary; /* not the centre of mass of the body */
  bool touches;   /* walls act on it */
} cb_body_point;

/* The functions that a caller supplies: the problem of a body, for its inertia, and the drift, which moves all bodies
 * by a step of length h from their present states. On failure *failed is the number of the body. */
typedef struct cb_coupled_bodies {
  int n;
  cb_rigid_state *state; /* [n] */
  double curvature;
  void *self;
  const cb_rigid_problem *(*problem)(void *self, int body);
  cb_status (*drift)(void *self, double h, int *failed);
  int substeps; /* a step is composed of steps of lengths substep[substeps] times h */
  const double *substep;
  cb_mechanism *mechanism; /* joints of bodies, which `drift` obeys; NULL: none */
  bool settled;            /* after a drift, the momenta already fit the joints (mechanism/mechanism.h) */
} cb_coupled_bodies;

typedef struct cb_coupled cb_coupled;

/* Borrows everything that the arguments point to; copies point[n_points]. */
cb_status cb_coupled_create(const cb_system *system, int n_points, const cb_body_point *point,
                            const cb_coupled_bodies *bodies, const cb_particles_in_fluid *fluid, cb_coupled **out);
void cb_coupled_free(cb_coupled *c);
/* The joints' bodies, for functions of mechanism/mechanism.h. */
cb_mechanism_bodies cb_coupled_joined(const cb_coupled *c);

/* Places everything at the start; project: moves the velocities onto the constraints. CB_ERROR_DOMAIN if a constraint
 * of positions is violated by more than `tolerance` (relative to its size), or if the velocities violate it and project
 * is false; the message has its name. */
cb_status cb_coupled_start(cb_coupled *c, double t, bool project, double tolerance);
/* The length of the last part of the last step, to which the impulses belong. */
double cb_coupled_last_length(const cb_coupled *c);

/* Makes one step from time t, of length *h, or shorter, to an event that stops the run: then *stop is its name and *h the
 * length. On failure everything is as before: the positive status of a drift, or CB_STEP_NO_CONVERGENCE,
 * CB_STEP_SINGULAR of the constraints or of forces that depend on velocities; CB_ERROR_CONTACT_ACCUMULATION. *body: the
 * body whose drift failed, or -1. *iterations: the largest number of drifts of a part of the step. */
cb_status cb_coupled_step(cb_coupled *c, double t, double *h, const char **stop, int *body, int *iterations);
/* The contacts and events of the last step, in the order of their times; particles in the order of adding. Borrowed. */
const cb_event_row *cb_coupled_events(const cb_coupled *c, int *n);

/* A copy of everything that a step changes. */
typedef struct cb_coupled_snapshot cb_coupled_snapshot;
cb_status cb_coupled_snapshot_create(const cb_coupled *c, cb_coupled_snapshot **out);
void cb_coupled_snapshot_free(cb_coupled_snapshot *s);
void cb_coupled_keep(const cb_coupled *c, cb_coupled_snapshot *s);
void cb_coupled_bring_back(cb_coupled *c, const cb_coupled_snapshot *s);

/* To be called after the states of bodies or cb_coupled_state were changed from outside, for instance restored. */
void cb_coupled_restored(cb_coupled *c);

/* The state of the system: its particles, with momenta p = M v (M includes the added mass of a particle in a fluid), and
 * the places of the bodies' points, where p = 0. Borrowed. */
cb_state *cb_coupled_state(cb_coupled *c);
/* The Lagrange multipliers of the last step, times its length h (rows of the system); a part of the restart state. */
double *cb_coupled_impulses(cb_coupled *c, int *rows);
cb_forces *cb_coupled_forces(cb_coupled *c);
/* Whether the particle (in the order of adding) moves by itself: false for a point of a body. */
bool cb_coupled_moves(const cb_coupled *c, int particle);
/* The body of a particle (in the order of adding), or -1. */
int cb_coupled_body(const cb_coupled *c, int particle);
/* In flat space, within the drift of bodies: place and velocity of a particle in the middle of the drift. */
void cb_coupled_middle(const cb_coupled *c, int particle, double out[6]);
/* Whether the fluid acts on any particle. */
bool cb_coupled_feels_fluid(const cb_coupled *c);
/* The mass M of a particle. */
double cb_coupled_mass(const cb_coupled *c, int particle);

/* The quantities of the present state: kinetic energy of the particles, potential energy of all forces between points
 * and of the particles' weight, and the largest residual of a constraint, relative to its size. */
typedef struct cb_coupled_row {
  double kinetic, potential, residual;
} cb_coupled_row;
cb_status cb_coupled_measure(cb_coupled *c, double t, cb_coupled_row *out);
/* The residuals g of the rows at the present places, in the units of each row; NULL: no constraints. Borrowed. */
cb_status cb_coupled_residuals(cb_coupled *c, double t, const double **g);
/* Adds the momenta of the particles that move by themselves about the base point, (angular, linear), to out. */
void cb_coupled_momentum(const cb_coupled *c, double out[6]);
/* Velocities of all points, by place, [n*k]. Borrowed until the next call or step. */
cb_status cb_coupled_velocities(cb_coupled *c, double t, const double **v);
