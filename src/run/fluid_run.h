/* A run of bodies in a fluid. The bodies are stepped in parallel and recorded in one record. They are independent of
 * each other, except in two cases. Wrenches may use quantities of other bodies (run/fluid_controls.c). Bodies and
 * particles may act on each other through points and joints (cb_fluid_points), and then make their steps together.
 *
 * SI units. The state is one cb_rigid_state per body. A copy of a state continues bit for bit in the same way, in any
 * thread.
 */
#pragma once

#include "coupling/coupled.h"
#include "fluid/body_coupling.h"
#include "fluid/immersed_run.h"
#include "mechanism/mechanism.h"
#include <curvebody/run.h>

/* A body at the start: its pose, and its twist in the body frame. released: the twist is the one in which body and
 * fluid have no momentum relative to the flow. The name and the body are borrowed. */
typedef struct cb_body_start {
  const char *name;
  const cb_immersed *body;
  cb_pose pose;
  double twist[6];
  bool released;
} cb_body_start;

/* Joints of bodies; their member `body` is an index of the bodies of the run. */
typedef struct cb_fluid_joints {
  int n;
  const cb_joint *joint;    /* [n]: the joints */
  const char *const *label; /* [coordinates]: the names of the coordinates of the joints */
  const double *start;      /* [coordinates]: values at the start; they decide how many full turns an angle contains */
  cb_joint_laws *laws;      /* NULL: no motors and no drives */
} cb_fluid_joints;

/* The forces, constraints and contacts of a cb_system that act between bodies and particles. The particles of this
 * system are the particles of the scenario and points of the bodies. */
typedef struct cb_fluid_points {
  const cb_system *system;
  int n_points;
  const cb_body_point *point; /* [n_points]: its member `body` is an index of the bodies of the run */
  int n_vertices;             /* the last points are vertices of bodies, which walls push; they are not recorded */
  const cb_particles_in_fluid *particles;
  const cb_fluid_joints *joints; /* NULL: none */
  bool shapes;                   /* bodies without `spheres` touch by their shapes, if contacts are on */
} cb_fluid_points;

/* Creates a run. The fluid, the integrator and everything that the starts and `points` point to are borrowed; bodies[n]
 * and *points are copied. points NULL: nothing acts between bodies. Observables are names in cb_fluid_observables
 * (NULL: energy, momentum, wrenches, centre and, with points, separation and constraints). Returns CB_ERROR_ARGUMENT if
 * an option is out of range, if an observable is unknown or not available, or if a start is not finite. Returns
 * CB_ERROR_DOMAIN if a body begins below a reflecting floor, or has no inertia. */
cb_status cb_run_create_fluid(const cb_fluid *fluid, int n, const cb_body_start *bodies, const cb_fluid_points *points,
                              cb_integrator *integrator, const cb_run_options *options, cb_run **out);
/* Warns (core/failure.h) in a run of bodies if the gap of two bodies at the start is less than the size of the smaller
 * body, if the estimated error of the coupling is above 0.1, or if conditions of joints follow from other
 * conditions. */
void cb_run_warn_of_start(const cb_run *run);
/* Estimates the error of the coupling of bodies in one fluid at the present poses. Returns false if the run has no
 * coupling, or no pair of bodies that it couples. */
bool cb_run_coupling_error(const cb_run *run, cb_coupling_error *out);
/* Returns the state of body i, borrowed; NULL for runs of another class, and if there is no body i. */
const cb_rigid_state *cb_run_body(const cb_run *run, int i);
