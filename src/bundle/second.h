/* Second derivatives of a bundle whose first ones are differences. */
#ifndef CB_BUNDLE_SECOND_H
#define CB_BUNDLE_SECOND_H

#include <curvebody/bundle.h>

/* ddA and ddM (either may be NULL) from values of A and M (second.c), as `second` of a class of bundles; from those of
 * dA and dM where a break or the end of the domain is near. */
cb_status cb_bundle_second_by_values(const cb_bundle *b, const double *r, double *ddA, double *ddM);

#endif
