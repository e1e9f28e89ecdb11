/* Steps with contacts: every step has its full length unless a `stop` event ends it, and velocities are reflected
 * within the step when gaps close.
 *
 * A regular step of the complete system comes first. Bounds on the speeds show which particles may have met in this
 * step. A component consists of particles that are connected by springs, constraints or pair potentials. The components
 * of particles that may have met are then stepped again from the start of the step, each on its own and with the same
 * integrator. These steps end at the zero of a gap; the remaining time of the step is then treated in the same way. A
 * gap s with the rate s' and a bound s'' >= -A stays open as long as s + s' t - A t^2/2 is positive (t: the time). The
 * search continues at the zero of this polynomial, with a state that the integrator computes there. Therefore no
 * contact is missed if the bound A is exact (dynamics/gap.h). The result of a step is a function of the state at its
 * start. Source: sections 2.2.5 and 2.3.3 of the thesis from which the scenarios in analysis/scenarios/thesis are
 * taken.
 */
#pragma once

#include <curvebody/integrator.h>
#include <curvebody/sink.h>

typedef struct cb_contacts cb_contacts;
struct cb_bases;

/* Two particles at the places i and j of the state that come near each other at the time `time`, while their relative
 * position is known only with the error `size`. size 0: there is no such pair. */
typedef struct cb_contacts_doubt {
  double size, time;
  int i, j;
} cb_contacts_doubt;

/* Creates the data for the steps of a system that has contacts, walls or events. whole: the integrator of the complete
 * system. The system and the integrator are borrowed. */
cb_status cb_contacts_create(const cb_system *system, cb_integrator *whole, cb_contacts **out);
void cb_contacts_free(cb_contacts *c);

/* Returns the relative positions of components, which are a part of the restart state; borrowed. */
struct cb_bases *cb_contacts_bases(cb_contacts *c);
/* Must be called after cb_contacts_bases was filled from a checkpoint. */
void cb_contacts_restored(cb_contacts *c);
/* From this call on, cb_event_row.state of each event points to the positions x[n*k] and then the momenta p[n*k] of all
 * particles at the time of the event, in the order of the state. They are nan for components that do not take part. */
void cb_contacts_keep_states(cb_contacts *c);
/* Returns the first pair whose relative position was doubtful since the contacts were created. */
cb_contacts_doubt cb_contacts_doubts(const cb_contacts *c);

/* Checks the state at the start. Returns CB_ERROR_DOMAIN if particles overlap or are inside a wall; the message has
 * their names. */
cb_status cb_contacts_check_start(cb_contacts *c, const cb_state *state);

/* by: the name of the `stop` event that ended a step; the state is then the one at the time of the event. at_start: the
 * name of a `stop` event whose function is 0 at the start of the run; it does not end the run there. NULL: none. */
typedef struct cb_contacts_stop {
  const char *by, *at_start;
} cb_contacts_stop;

/* Makes one step of length h in place; a failed step leaves the state unchanged. The sink receives the events in the
 * order of their times, after the step has succeeded. */
cb_status cb_contacts_step(cb_contacts *c, cb_state *state, double h, cb_sink *sink, cb_contacts_stop *stop);
