/* Points whose force turns round where they are antipodal: see antipodes.c. */
#pragma once

#include <curvebody/system.h>
#include <stdbool.h>

/* The cosine of the distance from which on a step may lead points past one another's antipode. */
static const double cb_antipodes_cosine = -0.6;

/* Is there any such force in the system? */
bool cb_antipodes_matter(const cb_system *s);

/* Are points that a spring joins so near to antipodal that a step may lead them past one another's antipode? */
bool cb_antipodes_near(const cb_system *s, const cb_state *state);

/* CB_STEP_DOMAIN where two points have passed one another's antipode in the last step, of length h, nearer than they go
 * in a step: a smaller one may resolve that. *place: of one of them. h < 0: they will, in the next step of that
 * length. */
cb_status cb_antipodes_check(const cb_system *s, const cb_state *state, double h, int *place);
/* Why a step of length h from the state has failed: such a pass ahead of it, within two steps, or else as it says. */
cb_status cb_antipodes_explain(const cb_system *s, const cb_state *state, double h, cb_status failed, int *place);
