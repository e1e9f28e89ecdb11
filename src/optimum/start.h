/* Where a search for gaits begins: the problem's own gait, small ellipses, and random loops, in that order; the gait
 * alone where there is one and no random start is asked for.
 *
 *   random  centre, sizes and two harmonics with numbers from the seed, the k-th start from its own, whatever came
 *           before; run the way round that is nearer the target;
 *           scaled by s, s^2 |log g| = the size of the target, since a small loop moves by its area
 */
#ifndef CB_OPTIMUM_START_H
#define CB_OPTIMUM_START_H

#include "optimum/target.h"

/* The caller frees each gait and the list. Without a start that the bundle allows there are none. */
cb_status cb_start_gaits(const cb_optimum_problem *problem, int *count, cb_gait ***gaits);

#endif
