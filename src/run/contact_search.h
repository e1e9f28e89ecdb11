/* The first moment at which a gap closes between parts that move: see contacts.h. */
#ifndef CB_RUN_CONTACT_SEARCH_H
#define CB_RUN_CONTACT_SEARCH_H

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

/* The earliest time in [from, until] (until <= h; one just after it may be found too) at which the gap vanishes and
 * closes; *found: is there one? Events that look both ways or for rising gaps: where it passes through 0 in that
 * direction. The gap may be changed (its side). */
cb_status cb_candidate_first(cb_parts *p, cb_gaps *gaps, cb_candidate *c, double from, double until, double *tau,
                             bool *found);

#endif
