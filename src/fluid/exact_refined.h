/* The exact added mass of a rigid body to an error that is asked for: its surface on finer and finer faces
 * (fluid/surface.h), solved each (potential/refine.h). A shape made by the code begins from half or a quarter of its
 * resolution where that is whole, and is not left coarser than it is given.
 */
#ifndef CB_FLUID_EXACT_REFINED_H
#define CB_FLUID_EXACT_REFINED_H

#include "potential/kirchhoff.h"
#include <curvebody/fluid_model.h>

/* m->say is told of each level. CB_ERROR_ARGUMENT, CB_ERROR_STEP: see cb_kirchhoff_refined. */
cb_status cb_exact_refined(const cb_fluid_model *m, const cb_surface *surface, double error,
                           const cb_kirchhoff_options *options, cb_added_mass *out);

#endif
