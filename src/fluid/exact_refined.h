/* The exact added mass of a rigid body to an error that is asked for: its surface on finer and finer faces
 * (fluid/surface.h), solved each (potential/refine.h). A shape made by the code begins from half or a quarter of its
 * resolution where that is whole, and is not left coarser than it is given.
 */
#pragma once

#include "potential/error.h"
#include <curvebody/fluid_model.h>

/* Those that were solved, from number `first` of fluid/surface.h on. */
typedef struct cb_exact_levels {
  int n, first;
  cb_potential_level level[CB_POTENTIAL_LEVELS];
} cb_exact_levels;

#define CB_EXACT_FAIR 3e-2

typedef struct cb_exact_asked {
  double error;
  bool
      must; /* what does not meet it is a failure; else out->error is above out->tolerance, also where the next level has
                more than about `faces` and CB_EXACT_FAIR is met */
  int faces;
  int most; /* no finer mesh has more faces than these; 0: any number */
} cb_exact_asked;

/* levels: NULL where they are not wanted. m->say is told of each level. CB_ERROR_STEP: see cb_kirchhoff_refined. */
cb_status cb_exact_refined(const cb_fluid_model *m, const cb_surface *surface, cb_exact_asked asked,
                           const cb_kirchhoff_options *options, cb_exact_levels *levels, cb_added_mass *out);

/* Leaves the first level, from `least` of fluid/surface.h on, whose own K has the error, or a fair one where the next
 * is large; else the last. Its error, by what is told of all of them. */
double cb_exact_keep_one(cb_exact_asked asked, const cb_added_mass *told, int least, cb_exact_levels *levels);
