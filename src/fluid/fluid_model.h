/* What the users of fluid models share; see curvebody/fluid_model.h. */
#ifndef CB_FLUID_FLUID_MODEL_H
#define CB_FLUID_FLUID_MODEL_H

#include <curvebody/fluid_model.h>

/* Whether the fluid ends at a plane. */
bool cb_fluid_model_is_placed(const cb_fluid_model *m, double up[3], double *height);
/* CB_ERROR_UNSUPPORTED with the first part that has a border; instead: what else may be expected. */
cb_status cb_fluid_model_check_closed(const cb_fluid_model *m, const cb_surface *surface, const char *instead);

/* The `say` of models that this thread makes from then on; NULL at first. */
void cb_fluid_model_say(void (*say)(void *context, const char *line), void *context);

#endif
