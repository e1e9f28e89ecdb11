/* What a search has found, before it is told: a gait in its basis and what was proved of it. */
#ifndef CB_OPTIMUM_FIND_H
#define CB_OPTIMUM_FIND_H

#include "optimum/direct.h"

/* tell: after each start, how many of them are done, from any thread but one at a time; after the last, also each time
 * one of the gaits that were found is looked at. */
typedef struct cb_find_watch {
  void (*tell)(void *context, int done, int starts);
  void *context;
} cb_find_watch;
/* As cb_optimum_find; watch may be NULL. */
cb_status cb_optimum_find_watched(const cb_optimum_problem *problem, const cb_find_watch *watch, cb_optima **out);

/* From its coefficients, with more functions until its cost is exact to round-off: *d may be another, the caller frees.
 * settled: false where there is no such gait in more functions. */
cb_status cb_direct_refine(cb_direct **d, bool *settled);
/* True where walls of the problem hold the gait, by a barrier or at corners. */
static inline bool cb_direct_held(const cb_direct *d) { return (d->barrier && d->barrier->tau > 0) || d->corners > 0; }
/* All of an optimum that a solution has: its gait, verdict, and what Wong's equations say of it. */
cb_status cb_optimum_tell(cb_direct *d, cb_optimum *out);
/* The part of that which Wong's equations say of out, from its gait, cost and lambda. */
cb_status cb_optimum_by_wong(cb_direct *d, cb_optimum *out);

#endif
