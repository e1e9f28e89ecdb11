/* The exact added mass of a body whose vertices move in its axes, on finer faces: each in four once and more
 * (fluid/surface.h). The faces are flat: a pose says where the vertices are.
 *
 * To an error that must be met, each pose is solved on as many levels as the body needs where it was given, and what is
 * extrapolated from all of them (potential/error.h): K, mu0 and the kinetic energy with the same weights, so that the
 * form of a motion stays one; the error is that of the pose that is asked for. Otherwise one level serves all poses, the
 * first whose own K has the error where the body was given, or a fair one before a level that takes long; the error of
 * a pose is that times the growth of its coarseness (potential/kirchhoff.h). What is prepared depends on the body alone,
 * not on which pose is asked for first.
 */
#ifndef CB_FLUID_EXACT_POSED_H
#define CB_FLUID_EXACT_POSED_H

#include "fluid/exact_refined.h"
#include <curvebody/fluid_model.h>

typedef struct cb_exact_posed cb_exact_posed;

/* Nothing is solved yet; m and surface are borrowed. The caller frees. */
cb_status cb_exact_posed_create(const cb_fluid_model *m, const cb_surface *surface, cb_exact_asked asked,
                                const cb_kirchhoff_options *options, cb_exact_posed **out);
void cb_exact_posed_free(cb_exact_posed *p);

/* With the vertices at x, moving with v (NULL: at rest); from any thread. Where the error is not met, as cb_exact_refined;
 * m->say is told of the first such pose. */
cb_status cb_exact_posed_added_mass(cb_exact_posed *p, const double (*x)[3], const double (*v)[3], cb_added_mass *out);

#endif
