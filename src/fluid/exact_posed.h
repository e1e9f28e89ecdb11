/* The exact added mass of a body whose vertices move in its axes, on finer faces: each in four once and more
 * (fluid/surface.h). The faces are flat: a pose says where the vertices are.
 *
 * To an error that must be met, each pose is solved on as many levels as the body needs where it was given, and what is
 * extrapolated from all of them (potential/error.h): K, mu0 and the kinetic energy with the same weights, so that the
 * form of a motion stays one; the error is that of the pose that is asked for. Otherwise one level serves all poses,
 * the first whose own K has the error where the body was given, or a fair one before a level that takes long; the error
 * of a pose is that times the growth of its coarseness (potential/kirchhoff.h). What is prepared depends on the body
 * alone, not on which pose is asked for first.
 */
#pragma once

#include "fluid/exact_refined.h"

typedef struct cb_exact_posed cb_exact_posed;

/* Nothing is solved yet; m and surface are borrowed. The caller frees. */
cb_status cb_exact_posed_create(const cb_fluid_model *m, const cb_surface *surface, cb_exact_asked asked,
                                const cb_kirchhoff_options *options, cb_exact_posed **out);
void cb_exact_posed_free(cb_exact_posed *p);

/* With the vertices at x, moving with v (NULL: at rest); from any thread. Where the error is not met, as
 * cb_exact_refined; there is a warning of the first such pose whose thread takes warnings. */
cb_status cb_exact_posed_added_mass(cb_exact_posed *p, const double (*x)[3], const double (*v)[3], cb_added_mass *out);

/* Of a body that swims by its shape, as the form of curvebody/fluid_model.h; asked with n = 0 it is prepared. Not where
 * the error must be met. */
cb_status cb_exact_posed_form(cb_exact_posed *p, const double (*x)[3], int n, const double (*v)[3], double *G);
/* Once it is prepared, the faces of the one level, and places or velocities of the given vertices on these; room is of
 * as many as `to`. */
const cb_surface *cb_exact_posed_surface(const cb_exact_posed *p);
void cb_exact_posed_divide(const cb_exact_posed *p, const double (*from)[3], double (*to)[3], double (*room)[3]);
/* Of the one level, where the body was given, once it is prepared; and its faces. */
double cb_exact_posed_error(const cb_exact_posed *p, int *faces);
