/* Bodies that feel each other through the fluid, in a run of bodies (equations: body_interaction.c). Where a run has no
 * `coupling`, its cb_body_interaction is NULL. */
#pragma once

#include "fluid/body_coupling.h"
#include "run/run_private.h"

#include <curvebody/rigid.h>

typedef struct cb_body_interaction cb_body_interaction;

/* Prepares the interaction of the bodies of a run, if its fluid has a coupling, and makes their states at the start. */
cb_status cb_body_interaction_create(cb_run *run);
void cb_body_interaction_free(cb_run *run);

/* Returns the problem of a body with the momentum and the slope of the last evaluation, or `of` without an interaction.
 * The result is valid until the next call for this body. */
const cb_rigid_problem *cb_body_interaction_problem(const cb_body_interaction *in, int body,
                                                    const cb_rigid_problem *of);

/* Sets pose and twist of a body for the next evaluation. */
void cb_body_interaction_place(cb_body_interaction *in, int body, const cb_pose *g, const double Y[6]);
/* Raises *change to the largest difference of a component of Y from the twist that was set, and *size to the largest
 * component. Both are speeds: angular components count times the size of the largest body. */
void cb_body_interaction_compare(const cb_body_interaction *in, int body, const double Y[6], double *change,
                                 double *size);
/* Computes momentum and, in the middle of a step, slope from these poses and twists. */
cb_status cb_body_interaction_evaluate(cb_body_interaction *in, double t, bool middle);

/* Finds the twists of all bodies at the present node from their momenta. settle (NULL: there is nothing to do) is called
 * with every momentum, so that joints can answer it. Does nothing if the states have not changed since the last call. */
cb_status cb_body_interaction_at_node(cb_run *run, double t, cb_status (*settle)(void *self, double t), void *self);
/* After the last function: subtracts from the momentum of a state at this node what the other bodies add, and returns
 * the share of the body in the energy of the coupling. */
void cb_body_interaction_separate(const cb_body_interaction *in, int body, cb_rigid_state *s);
double cb_body_interaction_energy(const cb_body_interaction *in, int body);
/* Estimates the error of the coupling at the present poses. */
cb_status cb_body_interaction_error(const cb_run *run, cb_coupling_error *out);
