/* What a search has found, before it is told: a gait in its basis and what was proved of it. */
#ifndef CB_OPTIMUM_FIND_H
#define CB_OPTIMUM_FIND_H

#include "optimum/direct.h"

/* From its coefficients, with more functions until the last of them are round-off: *d may be another, the caller frees.
 * settled: false where there is no such gait in more functions. */
cb_status cb_direct_refine(cb_direct **d, bool *settled);
/* All of an optimum that a solution has: its gait, verdict, and what Wong's equations say of it. */
cb_status cb_optimum_tell(cb_direct *d, cb_optimum *out);

#endif
