/* Steps with contacts: every step ends where it would, and on the way velocities are reflected where gaps close.
 *
 * A regular step of the whole system comes first. Particles that may have met in it, by bounds on their speeds, have
 * their components (what springs, constraints and laws join) done again alone from the start of the step, with the same
 * method and steps that end on the zero of a gap; what is left of the step is done the same way from there. Nothing is
 * missed: with s' and a bound s'' >= -A the gap stays open for the time that s + s' t - A t^2/2 is positive, and the
 * next look is at its zero, from where the state is the method's own. What a step does is a function of the state at
 * its start.
 * Source: section 2.2.5 and 2.3.3 of the thesis that the scenarios in analysis/scenarios/thesis are from.
 */
#pragma once

#include <curvebody/integrator.h>
#include <curvebody/sink.h>

typedef struct cb_contacts cb_contacts;
struct cb_bases;

/* Two particles, by place, that come near each other while their relative place is known to `size` only; 0: none. */
typedef struct cb_contacts_doubt {
  double size, time;
  int i, j;
} cb_contacts_doubt;

/* For a system that has contacts; all borrowed. */
cb_status cb_contacts_create(const cb_system *system, cb_integrator *whole, cb_contacts **out);
void cb_contacts_free(cb_contacts *c);

/* How components are placed relative to one another: a part of the state. */
struct cb_bases *cb_contacts_bases(cb_contacts *c);
/* Call when they were loaded. */
void cb_contacts_restored(cb_contacts *c);
/* The first such doubt since contacts were made. */
cb_contacts_doubt cb_contacts_doubts(const cb_contacts *c);

/* Refuses a start with overlaps by the names of what overlaps: CB_ERROR_DOMAIN. */
cb_status cb_contacts_check_start(cb_contacts *c, const cb_state *state);

/* The `stop` event that ended a step, whose state is the one at that moment, and one that was at 0 where the run
 * starts, which ends nothing there. By name; NULL: none. */
typedef struct cb_contacts_stop {
  const char *by, *at_start;
} cb_contacts_stop;

/* One step of length h, in place; a failed one leaves the state untouched. Events go to the sink in the order of their
 * times, once the step has succeeded. */
cb_status cb_contacts_step(cb_contacts *c, cb_state *state, double h, cb_sink *sink, cb_contacts_stop *stop);
