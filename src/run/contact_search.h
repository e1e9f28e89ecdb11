/* The first moment at which a gap closes between parts that move: see contacts.h. */
#pragma once

#include "dynamics/gap.h"
#include "run/contact_parts.h"

/* A gap between parts, with the particles' components. */
typedef struct cb_candidate {
  cb_gap gap;
  int part[2], parts; /* the components of its particles, each once */
} cb_candidate;

cb_candidate cb_candidate_of(const cb_system *system, const cb_gap *gap);

/* The gap at tau with its rate ds/dt (order 1). */
cb_status cb_candidate_at(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, cb_gap_value *value,
                          double *rate);

/* A rate that what bends the gap turns round within such a time from tau on, or at once as far as this search can
 * tell. */
cb_status cb_candidate_slow(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double tau, double time, double *speed);

/* How long a gap s > 0 (times its sign) with such a rate surely keeps its sign from `at` on; what lies after `until` is
 * not looked at. */
cb_status cb_candidate_keeps(cb_parts *p, cb_gaps *gaps, const cb_candidate *c, double at, double until, double s,
                             double rate, double *wait);

/* The earliest time in [from, until] (until <= h) at which the gap of a contact vanishes and closes; *found: is there
 * one? One at the end of a step belongs to that step. The gap may be changed (its side). */
cb_status cb_candidate_first(cb_parts *p, cb_gaps *gaps, cb_candidate *c, double from, double until, double *tau,
                             bool *found);

/* --- the zeros of events, conditions of the user's that are watched and change nothing: event_search.c --- */

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
