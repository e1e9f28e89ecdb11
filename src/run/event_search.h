/* The zeros of events: conditions of the user's that are watched and change nothing. See event_search.c. */
#ifndef CB_RUN_EVENT_SEARCH_H
#define CB_RUN_EVENT_SEARCH_H

#include "run/contact_search.h"

/* What is known of an event at the time from which it is searched. */
typedef struct cb_event_memory {
  int side;   /* the sign of its gap when it was last away from 0; 0: it has not been since the run began */
  bool known; /* it is at a zero that has been reported, and is to leave it before there can be another */
} cb_event_memory;

/* The earliest zero in [from, until] (until <= h) that the event's direction counts: a sign change, also by a jump, a
 * touch, or a zero at either end. */
cb_status cb_event_first(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, cb_event_memory memory, double from,
                         double until, double *tau, bool *found);

/* What is known at tau of an event whose zeros up to then have been reported. */
cb_status cb_event_known(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, cb_event_memory *memory);

#endif
