/* What the users of fluid models share; see curvebody/fluid_model.h. */
#ifndef CB_FLUID_FLUID_MODEL_H
#define CB_FLUID_FLUID_MODEL_H

#include <curvebody/fluid_model.h>

/* CB_ERROR_UNSUPPORTED for an added mass that is that at one place. */
cb_status cb_fluid_model_check_moves(const cb_fluid_model *m);

#endif
