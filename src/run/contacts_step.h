/* Steps with contacts: every step has its full length unless a `stop` event ends it, and velocities are reflected
 * within it when gaps close.
 *
 * A regular step of the complete system comes first. Bounds on the speeds show which particles may have met in it.
 * Their components (particles that are connected by springs, constraints or pair potentials) are then stepped again on
 * their own from the start of the step, with the same integrator, in steps that end at the zero of a gap; the rest of
 * the step follows in the same way. As far as the bound A is exact (dynamics/gap.h), no contact is missed: a gap s with
 * the rate s' and a bound s'' >= -A stays open as long as s + s' t - A t^2/2 is positive, and the search continues at
 * the zero of this polynomial, with a state that the integrator itself computes there. The result of a step is a
 * function of the state at its start. Source: sections 2.2.5 and 2.3.3 of the thesis from which the scenarios in
 * analysis/scenarios/thesis are taken.
 */
#pragma once

#include <curvebody/integrator.h>
#include <curvebody/sink.h>

typedef struct cb_contacts cb_contacts;
struct cb_bases;

/* Two particles (internal indices) that come near each other while their relative position is known only with an error
 * `size`; 0: there is no such pair. */
typedef struct cb_contacts_doubt {
  double size, time;
  int i, j;
} cb_contacts_doubt;

/* Creates the data for the steps of a system that has contacts, walls or events. All arguments are borrowed. */
cb_status cb_contacts_create(const cb_system *system, cb_integrator *whole, cb_contacts **out);
void cb_contacts_free(cb_contacts *c);

/* The relative positions of components, which are a part of the state. */
struct cb_bases *cb_contacts_bases(cb_contacts *c);
/* Must be called after cb_contacts_bases was filled from a checkpoint. */
void cb_contacts_restored(cb_contacts *c);
/* The first pair with a doubtful relative position since the contacts were created. */
cb_contacts_doubt cb_contacts_doubts(const cb_contacts *c);

/* Checks the start: CB_ERROR_DOMAIN, with the names in the message, if particles overlap or are inside a wall. */
cb_status cb_contacts_check_start(cb_contacts *c, const cb_state *state);

/* by: the `stop` event that ended a step; the state is then the one at the time of the event. at_start: a `stop` event
 * that is zero at the start of the run, which does not end the run there. Both are names; NULL: none. */
typedef struct cb_contacts_stop {
  const char *by, *at_start;
} cb_contacts_stop;

/* Makes one step of length h in place; a failed step leaves the state unchanged. The sink receives the events in the
 * order of their times, after the step has succeeded. */
cb_status cb_contacts_step(cb_contacts *c, cb_state *state, double h, cb_sink *sink, cb_contacts_stop *stop);
