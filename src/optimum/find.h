/* What a search has found, before it is told: a gait in its basis and what was proved of it. */
#pragma once

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
 * The caller frees each gait and the list. Without a start that the bundle allows there are none. */
cb_status cb_start_gaits(const cb_optimum_problem *problem, int *count, cb_gait ***gaits);

/* What closed gaits can do at all: the algebra of holonomies at a shape.
 *
 *   h = span of Ad_g(t) B_ij(r(t)) and Ad_g(t) D_k B_ij(r(t)) along paths from that shape  (Ambrose & Singer)
 * Elements that gaits reach are exponentials of it and their products. Source: Ambrose & Singer, Trans. Am. Math. Soc.
 * 75 (1953) 428, doi:10.1090/S0002-9947-1953-0063739-1.
 */

/* h at the start of a gait, by the shapes along it: dim vectors h[dim][group->dim], orthonormal in the axes. */
cb_status cb_holonomy_algebra(const cb_bundle *b, const cb_gait *gait, int *dim, double *h);
/* CB_STEP_NO_CONVERGENCE, with the reason, where no gait that begins where this one does is at the target; CB_OK where
 * h does not tell. */
cb_status cb_target_reachable(const cb_optimum_problem *p, const cb_gait *gait);
