/* Where a gait crosses a break of its bundle (curvebody/bundle.h), at which A or M has a kink or jumps.
 *
 *   r_i(t*) = b;   p_j (j != i) and v'Mv are the same on both sides: p = M v + <lambda, A> of each side's A and M
 * as light is refracted: sin/sin = sqrt(M)/sqrt(M) of both sides where A is continuous and M a multiple of the identity
 * (Snell's law); p_i jumps. In a basis of arcs that end at t*, r_i = b is an equation at a vertex, whose multiplier is the
 * jump of p_i, and t* is where the speed is the same on both sides. A gait that runs along a break, or crosses two at
 * once, obeys other conditions: it is refused.
 * Source: Erdmann's corner conditions, Gelfand & Fomin, Calculus of Variations (1963), section 15.
 */
#pragma once

#include <curvebody/gait.h>

enum { CB_CROSSINGS_MAX = 16 };

/* A shape variable that is given at a vertex of arcs. */
typedef struct cb_pin {
  int vertex, variable;
  double at;
} cb_pin;

typedef struct cb_crossing {
  int variable;
  double at, time;
} cb_crossing;

/* True where there is anything to cross. */
bool cb_bundle_has_breaks(const cb_bundle *b);
/* In their order in time, from 0 on. CB_ERROR_UNSUPPORTED, by name, for a gait that runs along a break, crosses two at
 * once, or more than CB_CROSSINGS_MAX. */
cb_status cb_gait_crossings(const cb_bundle *b, const cb_gait *gait, int *count, cb_crossing *list);
/* CB_ERROR_UNSUPPORTED where a gait crosses any: a family is not followed there. */
cb_status cb_gait_uncrossed(const cb_bundle *b, const cb_gait *gait);
