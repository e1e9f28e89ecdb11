/* Where a search for gaits begins: the problem's own gait, small ellipses, waves, and random loops, in that order; the
 * gait alone where there is one and no random start is asked for.
 *
 *   random  centre, sizes and two harmonics with numbers from the seed, the k-th start from its own, whatever came
 *           before; run the way round that is nearer the target;
 *           scaled by s, s^2 |log g| = the size of the target, since a small loop moves by its area, but where the
 *           size is free, as that of the most efficient gait
 *   waves   large loops about the middle of the window, r_k = middle + a cos(2 pi t - k lag) with lags of pi/4, pi/2 and
 *           3 pi/4 and a of .9 and 1.8 of half the window (within bounds .9): gaits of large amounts are often no
 *           continuation of small ones, nor near random loops of the size that a small loop would need
 */
#ifndef CB_OPTIMUM_START_H
#define CB_OPTIMUM_START_H

#include "optimum/target.h"

/* The caller frees each gait and the list. Without a start that the bundle allows there are none. */
cb_status cb_start_gaits(const cb_optimum_problem *problem, int *count, cb_gait ***gaits);

#endif
