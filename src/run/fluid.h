/* Bodies in a fluid as a run: independent of one another, stepped in parallel, recorded together.
 *
 * SI units. The state is one cb_rigid_state a body: a copy continues with the same bits, whatever thread takes it.
 */
#pragma once

#include "fluid/immersed.h"
#include <curvebody/run.h>

/* A body at its start: pose, and twist in the body frame. name and what it is made of are borrowed. */
typedef struct cb_body_start {
  const char *name;
  const cb_immersed *body;
  cb_pose pose;
  double twist[6];
} cb_body_start;

/* fluid, integrator and what the starts point to are borrowed; bodies[n] is copied. Observables: cb_fluid_observables
 * (NULL: energy, momentum, wrenches, centre). CB_ERROR_ARGUMENT for options out of range, a start that is not finite;
 * CB_ERROR_DOMAIN for a body that begins below a reflecting floor, or has no inertia. */
cb_status cb_run_create_fluid(const cb_fluid *fluid, int n, const cb_body_start *bodies, cb_integrator *integrator,
                              const cb_run_options *options, cb_run **out);
/* Of a run of bodies: whether two are nearer at its start than the size of the smaller one, and the words of it. */
typedef struct cb_near_text {
  char text[700];
} cb_near_text;
bool cb_run_near_at_start(const cb_run *run, cb_near_text *out);
/* The state of body i, borrowed. */
const cb_rigid_state *cb_run_body(const cb_run *run, int i);
