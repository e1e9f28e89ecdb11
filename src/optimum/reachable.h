/* What closed gaits can do at all: the algebra of holonomies at a shape.
 *
 *   h = span of Ad_g(t) B_ij(r(t)) and Ad_g(t) D_k B_ij(r(t)) along paths from that shape  (Ambrose & Singer)
 * Elements that gaits reach are exponentials of it and their products. Source: Ambrose & Singer, Trans. Am. Math. Soc.
 * 75 (1953) 428, doi:10.1090/S0002-9947-1953-0063739-1.
 */
#ifndef CB_OPTIMUM_REACHABLE_H
#define CB_OPTIMUM_REACHABLE_H

#include "optimum/target.h"

/* h at the start of a gait, by the shapes along it: dim vectors h[dim][group->dim], orthonormal in the axes. */
cb_status cb_holonomy_algebra(const cb_bundle *b, const cb_gait *gait, int *dim, double *h);
/* CB_STEP_NO_CONVERGENCE, with the reason, where no gait that begins where this one does is at the target; CB_OK where
 * h does not tell. */
cb_status cb_target_reachable(const cb_optimum_problem *p, const cb_gait *gait);

#endif
