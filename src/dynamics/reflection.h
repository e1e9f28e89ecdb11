/* Reflection of velocities at gaps that vanish and close, in the kinetic metric, in the tangent space of constraints.
 *
 *   n_a = P M^-1 G_a^T,  P v = v - M^-1 C^T (C M^-1 C^T)^-1 C v,   D_ab = G_a n_b,   u_a = G_a v + ds_a/dt
 *   one contact       v <- v - (1 + e) u_a n_a / D_aa
 *   sequential        that, the fastest closing contact first, until none closes
 *   simultaneous      v <- v + sum n_a l_a,  l >= 0,  w = u + D l >= -e u,  l^T (w + e u) = 0, of all that close or
 *                     touch (u = 0 to 1e-10 of the fastest); again where that makes others close
 * M is the kinetic metric (m I in the embedding less normal parts, m g_ij in a chart), C the constraints' gradients.
 * Isometry momenta are kept where the gap does not depend on the world, energy where e = 1 and walls stand still.
 * Source: Moreau, in Nonsmooth Mechanics and Applications (1988), doi:10.1007/978-3-7091-2624-0_1.
 */
#pragma once

#include "dynamics/gap.h"
#include "dynamics/gram.h"

/* A part of the system that moves by itself: n particles with places first .. first+n-1 of the whole system. */
typedef struct cb_reflection_part {
  int first, n;
  const double *mass; /* [n] */
  double *x;          /* [n*k]; changed by cb_reflection_lift alone */
  double *p, *p_low;  /* [n*k] momenta, changed in place; low-order parts (set to what is left of the sum) */
  cb_gram *gram;      /* of its constraints, NULL: none; particle indices from 0 */
  cb_constraints *constraints;
} cb_reflection_part;

typedef struct cb_reflection_contact {
  cb_gap gap;
  cb_gap_value value; /* order 1, at the moment */
  double restitution;
  double before, after, impulse; /* out: ds/dt before and after, and the sum of impulses along ds/dx */
  bool sunk;                     /* of a gap that rests: it has been below 0, and is brought to 0 from either side */
} cb_reflection_contact;

typedef struct cb_reflection cb_reflection;
/* For at most this many contacts at once (it grows by itself), in systems like this one. */
cb_status cb_reflection_create(const cb_system *system, cb_reflection **out);
void cb_reflection_free(cb_reflection *r);

/* Reflects at time t. Contacts that open, and that no blow to others makes close, are left (impulse 0).
 * CB_STEP_NO_CONVERGENCE where the blows do not end (10^6 of the sequential rule, 10^5 of the simultaneous one),
 * CB_STEP_SINGULAR where the constraints leave a gap that closes no way to move (D_aa = 0), or where no velocities open
 * all contacts. Momenta and contacts are then as they were. Parts that none of the contacts moves are not looked at. */
cb_status cb_reflect(cb_reflection *r, cb_contact_rule rule, double t, int parts, const cb_reflection_part *part,
                     int contacts, cb_reflection_contact *contact);

/* Moves the positions of the parts (x, in place) along n_a until a gap that is a little above or below 0 vanishes to
 * first order. Each particle returns to its quadric, and momenta are transported along. A resting gap sinks in a step,
 * and lifting other gaps may have opened it.
 * CB_STEP_SINGULAR where D_aa = 0. */
cb_status cb_reflection_lift(cb_reflection *r, double t, int parts, const cb_reflection_part *part,
                             const cb_reflection_contact *contact);
