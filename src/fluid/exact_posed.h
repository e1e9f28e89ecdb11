/* The exact added mass of a body with poses to an error that is asked for: the faces of each pose, each in four once and
 * more (fluid/surface.h), as many times as the body needs where it was given, and what is extrapolated from all of them
 * (potential/error.h): K, mu0 and the kinetic energy with the same weights, so that the form of a motion stays one.
 *
 * The faces are flat: a pose says where the vertices are. The error is that of the pose that is asked for. What is
 * prepared depends on the body alone, not on which pose is asked for first.
 */
#ifndef CB_FLUID_EXACT_POSED_H
#define CB_FLUID_EXACT_POSED_H

#include "potential/kirchhoff.h"
#include <curvebody/fluid_model.h>

typedef struct cb_exact_posed cb_exact_posed;

/* Nothing is solved yet; m and surface are borrowed. The caller frees. */
cb_status cb_exact_posed_create(const cb_fluid_model *m, const cb_surface *surface, double error,
                                const cb_kirchhoff_options *options, cb_exact_posed **out);
void cb_exact_posed_free(cb_exact_posed *p);

/* With the vertices at x, moving with v (NULL: at rest); from any thread. CB_ERROR_STEP where the error is not met. */
cb_status cb_exact_posed_added_mass(cb_exact_posed *p, const double (*x)[3], const double (*v)[3], cb_added_mass *out);

#endif
