/* The hand-out: which members, counted from 0, each thread of each rank does next.
 *
 * Rank 0 gives out blocks of what is left, guided self-scheduling: a share of it for each thread, down to one
 * (Polychronopoulos & Kuck, IEEE Trans. Comput. C-36 (1987) 1425, doi:10.1109/TC.1987.5009495). Others ask before
 * they have none. Threads take from the blocks of their own process in the same manner.
 *
 * One thread, the coordinator, serves; any number of others take. Every member is given once.
 */
#pragma once

#include "sweep/ranks.h"

typedef struct cb_hand cb_hand;

/* count members for all ranks, which say the same; threads: that take in this process. */
cb_status cb_hand_create(const cb_ranks *ranks, int64_t count, int threads, cb_hand **out);
void cb_hand_free(cb_hand *hand);

/* Up to `most` members from *first on; waits for them. 0: there are no more, or it was stopped. */
int64_t cb_hand_take(cb_hand *hand, int64_t most, int64_t *first);
/* Of those taken, n have ended, `failed` of them as failures. */
void cb_hand_done(cb_hand *hand, int64_t n, int64_t failed);
/* No more are taken, in any rank; those in hand may be given up. */
void cb_hand_stop(cb_hand *hand);
/* A thread that takes no more says so, once. */
void cb_hand_leave(cb_hand *hand);

/* A turn of the coordinator, a few milliseconds long at most: *over once all threads of all ranks have left. */
cb_status cb_hand_serve(cb_hand *hand, bool *over);
/* Whether some rank was stopped; what has ended in all ranks (rank 0), or in this one. */
bool cb_hand_stopped(cb_hand *hand);
void cb_hand_progress(cb_hand *hand, int64_t *done, int64_t *failed);
