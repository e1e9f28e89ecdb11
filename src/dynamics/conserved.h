/* What the motion of a system conserves whatever its start, as far as it is plain from what the system is made of.
 *
 *   energy    unless something dissipates (damping, generalised forces, restitution < 1, contacts that come to rest) or
 *             depends on time (a law, a potential, a wall, a constraint of positions; one of velocities that drives).
 *             Constraints of velocities a v = 0 do no work, whatever their a.
 *   momentum  of a Killing field X that everything respects: what depends on distances alone (springs with their
 *             damping, interactions, rods, areas, contacts) respects all of them; a centre, a pin, a ball those that
 *             vanish there; a plane those that keep it; an expression of coordinates those that move none of the
 *             coordinates it uses. A constraint of velocities respects none: its force has a moment even where it is
 *             symmetric.
 *
 * What an expression would respect by its values only, such as x^2 + y^2 a rotation, is not seen.
 */
#pragma once

#include <curvebody/system.h>
#include <stdbool.h>

typedef struct cb_conserved {
  bool energy;
  bool momentum[CB_KILLING_MAX]; /* of each Killing field of the space */
} cb_conserved;

cb_conserved cb_system_conserved(const cb_system *s);
