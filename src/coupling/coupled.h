/* One step of bodies and particles that act on each other through points.
 *
 * A point is a particle, or a point fixed in a body: x = g x_0, with the pose g of the body and x_0 in its frame. One
 * cb_system has both: the particles move by themselves, and the points of bodies are placed by their bodies. Whatever
 * acts between particles (springs, pair potentials, potentials, constraints of positions) acts on points of bodies,
 * too. A force f on a point becomes the wrench W with W.Y = f.v for every twist Y of the body, v the velocity of the
 * point for this twist; so momentum is conserved to round-off. A step of length h from node k to node k+1 is
 *
 *   p_k' = p_k + h/2 F(x_k) + G_k^T lambda                  at node k: forces F and constraints g, G = dg/dx
 *   (x_k, p_k') -> (x_{k+1}, p'')                           each body by its own integrator, each particle along a
 *                                                           geodesic, or in a fluid by the midpoint rule (drift)
 *   g(x_{k+1}, t_{k+1}) = 0 determines lambda               Newton's method, one drift per iteration
 *   p_{k+1} = p'' + h/2 F(x_{k+1}) + G_{k+1}^T mu           mu: the velocities satisfy dg/dt = 0
 *
 * x, p: places and momenta; lambda, mu: impulses of the constraints. These are the equations of a discrete Lagrangian,
 * the sum of h L_body - h/2 (V_k + V_{k+1}). L_body is the discrete Lagrangian of the integrator of the bodies, and V
 * the potential energy of the forces between points. For particles without fluid the step is RATTLE in the embedding
 * (Andersen, J. Comput. Phys. 52 (1983) 24, doi:10.1016/0021-9991(83)90014-1; Leimkuhler & Reich, J. Comput. Phys. 112
 * (1994) 117, doi:10.1006/jcph.1994.1085). It is of order 2, symmetric, and symplectic if nothing dissipates. Forces
 * that depend on velocities are explicit at node k and implicit at node k+1, so that the step stays symmetric.
 * SI units in a fluid. Spaces of constant curvature and dimension 3: E3, S3, H3. The bodies' states are borrowed.
 */
#pragma once

#include "coupling/convex.h"
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
  bool auxiliary; /* the point is not the centre of mass of the body */
  bool touches;   /* walls act on the point */
  /* true: the sphere around the point is a part of the body's shape, by which other bodies touch the body. The sphere
   * itself then touches only walls */
  bool of_shape;
} cb_body_point;

/* A convex part of a body in flat space. It can touch convex parts of other bodies, spheres that are fixed to other
 * bodies (key `spheres`), and particles. `particle` is the number, in the order of adding, of a point that is fixed in
 * the body. */
typedef struct cb_body_shape {
  int body, particle;
  cb_convex set;
} cb_body_shape;

/* The data and the functions that a caller supplies for the bodies. `problem` returns the problem of a body, from which
 * its inertia is computed. `drift` moves all bodies by a step of length h from their present states; if it fails,
 * *failed is the number of the body. */
typedef struct cb_coupled_bodies {
  int n;
  cb_rigid_state *state; /* [n]: the states of the bodies */
  double curvature;
  void *self;
  const cb_rigid_problem *(*problem)(void *self, int body);
  /* Does the same as `problem`, for the equations of joined bodies. The problem leaves out what these equations treat
   * themselves. NULL: the function `problem` is used. */
  const cb_rigid_problem *(*joined_problem)(void *self, int body);
  cb_status (*drift)(void *self, double h, int *failed);
  int substeps; /* a step of length h is composed of `substeps` parts of the lengths substep[i] h */
  const double *substep;
  cb_mechanism *mechanism; /* joints of bodies, which `drift` obeys; NULL: none */
  int shapes;
  const cb_body_shape *shape; /* [shapes]: the convex parts of all bodies */
  bool settled;               /* after a drift, the momenta already fit the joints (mechanism/mechanism.h) */
  /* For bodies that feel each other through the fluid, computes the momenta that they add to each other at the present
   * node. The problems of the bodies then contain these momenta. settle (NULL: nothing to do) is called with `settling`
   * each time these momenta change. NULL: bodies do not feel each other. */
  cb_status (*feel)(void *self, double t, cb_status (*settle)(void *settling, double t), void *settling);
  /* Returns the values of the present states at time t for an event (cb_event_row.state), which must stay in memory
   * until the next step. NULL: events have no such values. */
  const double *(*at_event)(void *self, double t);
} cb_coupled_bodies;

typedef struct cb_coupled cb_coupled;

/* Creates the coupling. Everything that the arguments point to is borrowed, except for point[n_points], which is
 * copied. */
cb_status cb_coupled_create(const cb_system *system, int n_points, const cb_body_point *point,
                            const cb_coupled_bodies *bodies, const cb_particles_in_fluid *fluid, cb_coupled **out);
void cb_coupled_free(cb_coupled *c);
/* Returns the joined bodies in the form that the functions of mechanism/mechanism.h need. */
cb_mechanism_bodies cb_coupled_joined(const cb_coupled *c);

/* Places the points of bodies at the start time t, and checks the constraints and contacts. project: changes the
 * velocities so that they satisfy the constraints. Returns CB_ERROR_DOMAIN if the positions, or without `project` the
 * velocities, violate a constraint by more than `tolerance` (relative to the size of the constraint), or if the gap of
 * a contact is negative; the message names the constraint or the points. */
cb_status cb_coupled_start(cb_coupled *c, double t, bool project, double tolerance);
/* Returns the length of the last part of the last step, to which the impulses belong. */
double cb_coupled_last_length(const cb_coupled *c);

/* Makes one step from the time t, of length *h. If an event stops the run, the step ends at the event: *stop becomes
 * its name, and *h the length of the step; otherwise *stop is NULL. *iterations: the largest number of drifts in a part
 * of the step. On failure all states are as before. If a drift fails, the status is that of the drift, and *body is the
 * body whose drift failed (-1: none). Otherwise the status is CB_STEP_NO_CONVERGENCE or CB_STEP_SINGULAR (from
 * constraints, or from forces that depend on velocities), CB_ERROR_CONTACT_ACCUMULATION, or CB_ERROR_DOMAIN (for a
 * point that is too far from the origin of H3). */
cb_status cb_coupled_step(cb_coupled *c, double t, double *h, const char **stop, int *body, int *iterations);
/* Returns the contacts and events of the last step, in the order of their times, borrowed. Particles are numbered in
 * the order of adding; the numbers from the number of particles on are bodies, which touch by their shapes. */
const cb_event_row *cb_coupled_events(const cb_coupled *c, int *n);
/* Returns whether steps may have contacts, limits or events. */
bool cb_coupled_has_events(const cb_coupled *c);

/* A copy of everything that a step changes. */
typedef struct cb_coupled_snapshot cb_coupled_snapshot;
cb_status cb_coupled_snapshot_create(const cb_coupled *c, cb_coupled_snapshot **out);
void cb_coupled_snapshot_free(cb_coupled_snapshot *s);
void cb_coupled_keep(const cb_coupled *c, cb_coupled_snapshot *s);
void cb_coupled_bring_back(cb_coupled *c, const cb_coupled_snapshot *s);

/* Call this function after a change of the states of bodies or of cb_coupled_state, for instance after restoring
 * them. */
void cb_coupled_restored(cb_coupled *c);

/* Returns the state of the system, borrowed: the particles, with momenta p = M v (the mass M includes the added mass of
 * a particle in a fluid), and the places of the bodies' points, where p = 0. */
cb_state *cb_coupled_state(cb_coupled *c);
/* Returns the impulses lambda of the last part of the last step, one for each of *rows constraints; NULL without
 * constraints. Borrowed; they are a part of the restart state. */
double *cb_coupled_impulses(cb_coupled *c, int *rows);
cb_forces *cb_coupled_forces(cb_coupled *c);
/* Returns whether the particle (in the order of adding) moves by itself: false for a point of a body. */
bool cb_coupled_moves(const cb_coupled *c, int particle);
/* Returns the body in which a point is fixed; -1 for a particle that moves by itself. particle: the number of the point
 * in the order of adding. */
int cb_coupled_body(const cb_coupled *c, int particle);
/* Computes out, the place and the velocity of a particle in the middle of the present drift. Only in flat space, and
 * only while bodies drift. */
void cb_coupled_middle(const cb_coupled *c, int particle, double out[6]);
/* Returns whether the fluid acts on any particle. */
bool cb_coupled_feels_fluid(const cb_coupled *c);
/* Returns the mass M of a particle. */
double cb_coupled_mass(const cb_coupled *c, int particle);

/* The quantities of the present state: kinetic energy of the particles, potential energy of all forces between points
 * and of the particles' weight, and the largest residual of a constraint, relative to its size. */
typedef struct cb_coupled_row {
  double kinetic, potential, residual;
} cb_coupled_row;
cb_status cb_coupled_measure(cb_coupled *c, double t, cb_coupled_row *out);
/* Sets *g to the residuals g of the constraints at the present places, in the units of each constraint, borrowed; NULL
 * if there are no constraints. */
cb_status cb_coupled_residuals(cb_coupled *c, double t, const double **g);
/* Adds to out the momentum (angular, linear) about the base point of all particles that move by themselves. */
void cb_coupled_momentum(const cb_coupled *c, double out[6]);
/* Sets *v to an array [n*k] of the velocities of all n particles in the embedding, k numbers for each, in the order of
 * the state. The array is borrowed until the next call or step. */
cb_status cb_coupled_velocities(cb_coupled *c, double t, const double **v);
