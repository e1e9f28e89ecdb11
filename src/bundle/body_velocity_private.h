/* The integral of a curvature over the cone of a gait, for bundles as they are and in other body frames. */
#ifndef CB_BUNDLE_BODY_VELOCITY_PRIVATE_H
#define CB_BUNDLE_BODY_VELOCITY_PRIVATE_H

#include <curvebody/holonomy.h>

/* B[pairs][dim] at r, as cb_bundle_curvatures. */
typedef cb_status (*cb_curvature_field)(const void *self, const double *r, double *B);

/* -int int B over the cone, B of group->dim numbers a pair. */
cb_status cb_cone_integral(const cb_bundle *b, const cb_gait *gait, cb_curvature_field field, const void *self,
                           double *out);

#endif
