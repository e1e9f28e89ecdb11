/* What a run does with a body in a fluid; see curvebody/immersed.h. */
#pragma once

#include "fluid/floor.h"
#include "fluid/flow.h"
#include "fluid/medium.h"
#include "fluid/moving_mass.h"
#include "fluid/poses.h"
#include <curvebody/immersed.h>

/* Why the model's forces, or its added mass, are none in a curved space: what is wrong with it; NULL: nothing. */
const char *cb_immersed_curved_model(const cb_fluid_model *m, bool forces);
const cb_fluid *cb_immersed_fluid_about(const cb_immersed *b);
/* Does anything that acts on it come from its surface? Otherwise that is for its looks. */
bool cb_immersed_is_shaped(const cb_immersed *b);
/* What a part that is open and has no thickness is or lacks, though it is asked for: it "displaces no fluid and ..";
 * NULL: nothing. *solid: this holds only of what is meant as a solid. */
const char *cb_immersed_lacks(const cb_immersed *b, int part, bool *solid);
/* Is its added mass that of the local model? */
bool cb_immersed_is_local(const cb_immersed *b);
/* The mass, centre and inertia at a time, and the parts of the local model (NULL, or part[parts]). */
cb_status cb_immersed_mass(const cb_immersed *b, double t, cb_mass *mass, cb_local_part *part);
/* What the motion conserves, as far as it is plain from what acts. energy: of a rigid body in a fluid of one density at
 * rest, without drag and wrenches of the user, above a floor that takes none. momentum, about the world's origin:
 * where no flow, drag or wrench of the user acts, whatever the shape does; along `up` (of length 1) only the angular
 * one and across it the linear one where gravity or a floor acts. */
typedef struct cb_immersed_conserved {
  bool energy, momentum, upright;
  double up[3];
} cb_immersed_conserved;
cb_immersed_conserved cb_immersed_conserves(const cb_immersed *b);
cb_floor_shape cb_swimmer_floor_shape(cb_swimmer *s);
/* One step of the swimmer's problem on a floor that does not reflect. The state is untouched on failure. */
cb_status cb_swimmer_step(cb_swimmer *s, const cb_body_stepper *stepper, double h, cb_rigid_state *state,
                          int *iterations);
/* CB_STEP_DOMAIN where a step ends behind a wall that its middle was before. */
cb_status cb_swimmer_check_place(cb_swimmer *s, const cb_rigid_state *state);
/* Of what the last step or measurement found. A part, and its number, whose delta is capped and was not when
 * cb_swimmer_know_caps was called last; NULL: none. */
const cb_local_part *cb_swimmer_cap(const cb_swimmer *s, int *number);
void cb_swimmer_know_caps(cb_swimmer *s);
/* Of the same, the divergence of the flow over the vertices, relative to its gradient: there, or all over a grid where
 * that is larger. */
double cb_swimmer_divergence(const cb_swimmer *s);
