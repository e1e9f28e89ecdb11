/* Bodies that feel each other through the fluid, in a run of bodies (equations: body_interaction.c). Where a run has no
 * `coupling`, its cb_body_interaction is NULL. */
#pragma once

#include "fluid/body_coupling.h"
#include "run/fluid_run.h"
#include "run/run_private.h"

#include <curvebody/rigid.h>

typedef struct cb_body_interaction cb_body_interaction;

/* Prepares the interaction of the bodies of a run, if its fluid has a coupling, and makes their states at the start.
 * joints: NULL if there are none. */
cb_status cb_body_interaction_create(cb_run *run, const cb_fluid_joints *joints);
void cb_body_interaction_free(cb_run *run);

/* Makes the coupling a part of the equations of joined bodies, if it depends on coordinates of their joints alone. Then
 * a drift of these bodies contains it, and the next function returns false: there is nothing to iterate. */
cb_status cb_body_interaction_join(cb_run *run, struct cb_mechanism *mechanism);
bool cb_body_interaction_iterates(const cb_body_interaction *in);

/* Returns the problem of a body with the momentum and the slope of the last evaluation, or `of` without an interaction.
 * The result is valid until the next call for this body. */
const cb_rigid_problem *cb_body_interaction_problem(const cb_body_interaction *in, int body,
                                                    const cb_rigid_problem *of);

/* Begins an iteration. For every body, cb_body_interaction_place then sets pose and twist for the first evaluation. */
void cb_body_interaction_begin(cb_body_interaction *in);
void cb_body_interaction_place(cb_body_interaction *in, int body, const cb_pose *g, const double Y[6]);
/* Supplies the first guess of the twist of a body in the middle of a flight of length h from the present states, after
 * cb_body_interaction_depart for this start. Without earlier steps of the same length it is extrapolated from the
 * twists at the start, which are known where contacts were looked for, and from those of the last flight from the same
 * start. */
void cb_body_interaction_depart(cb_run *run);
void cb_body_interaction_guess(const cb_run *run, int body, double h, double Y[6]);
/* Lets the step of a body of length h begin with the present twist instead of that of a step of another length. */
void cb_body_interaction_lead(const cb_body_interaction *in, int body, double h, cb_rigid_state *s);
/* Remembers the twists of a flight that has converged. */
void cb_body_interaction_landed(cb_body_interaction *in, double h);
/* Stores the pose and the twist that follow for a body from the last evaluation. */
void cb_body_interaction_arrive(cb_body_interaction *in, int body, const cb_pose *g, const double Y[6]);
/* Sets poses and twists for the next evaluation, after all bodies have arrived. half: the half of the length of the
 * step, or 0 at a node. faster: the twists that arrive depend only on those that were set. Returns the estimated error
 * of the twists that have arrived, relative to the largest one; angular components count
 * times the size of the largest body. */
double cb_body_interaction_renew(cb_body_interaction *in, double half, bool faster);
/* Computes momentum and, in the middle of a step, slope from these poses and twists. */
cb_status cb_body_interaction_evaluate(cb_body_interaction *in, double t, bool middle);

/* Finds the twists of all bodies at the present node from their momenta. settle (NULL: there is nothing to do) is
 * called with every momentum, so that joints can answer it. Does nothing if the states have not changed since the last
 * call. */
cb_status cb_body_interaction_at_node(cb_run *run, double t, cb_status (*settle)(void *self, double t), void *self);
/* After the last function: subtracts from the momentum of a state at this node what the other bodies add, and returns
 * the share of the body in the energy of the coupling. */
void cb_body_interaction_separate(const cb_body_interaction *in, int body, cb_rigid_state *s);
double cb_body_interaction_energy(const cb_body_interaction *in, int body);
/* Returns the thickness of the layer around a body at whose surface others touch it; 0 without an interaction. */
double cb_body_interaction_film(const cb_body_interaction *in, int body);
/* Estimates the error of the coupling at the present poses. */
cb_status cb_body_interaction_error(const cb_run *run, cb_coupling_error *out);
