/* What the files of bundles share. */
#ifndef CB_BUNDLE_PRIVATE_H
#define CB_BUNDLE_PRIVATE_H

#include "bundle/bundle.h"

/* cb_bundle_create of a class that is at hand. */
cb_status cb_bundle_create_class(const cb_bundle_class *class_, const cb_node *node, cb_bundle **out);

/* Fails with the name of the bundle, the shape and the last error text. */
cb_status cb_bundle_fail_at(const cb_bundle *b, const double *r, cb_status status);

#endif
