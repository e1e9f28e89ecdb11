/* What the files of bundles share. */
#ifndef CB_BUNDLE_PRIVATE_H
#define CB_BUNDLE_PRIVATE_H

#include <curvebody/bundle.h>

/* Fails with the name of the bundle, the shape and the last error text. */
cb_status cb_bundle_fail_at(const cb_bundle *b, const double *r, cb_status status);

#endif
