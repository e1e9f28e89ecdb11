/* What the files of bundles share. */
#pragma once

#include <curvebody/bundle.h>

/* Fails with the name of the bundle, the shape and the last error text. */
cb_status cb_bundle_fail_at(const cb_bundle *b, const double *r, cb_status status);

/* cb_bundle_connection and cb_bundle_second whose failures do not name bundle and shape. */
cb_status cb_bundle_evaluate(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM);
cb_status cb_bundle_evaluate_second(const cb_bundle *b, const double *r, double *ddA, double *ddM);

/* ddA and ddM (either may be NULL) from values of A and M (second.c), as `second` of a class of bundles; from those of
 * dA and dM where a break or the end of the domain is near. */
cb_status cb_bundle_second_by_values(const cb_bundle *b, const double *r, double *ddA, double *ddM);
