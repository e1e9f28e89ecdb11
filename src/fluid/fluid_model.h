/* What the users of fluid models share; see curvebody/fluid_model.h. */
#pragma once

#include <curvebody/fluid_model.h>

/* Whether the fluid ends at a plane. */
bool cb_fluid_model_is_placed(const cb_fluid_model *m, double up[3], double *height);
/* CB_ERROR_UNSUPPORTED with the first part that has a border; instead: what else may be expected. */
cb_status cb_fluid_model_check_closed(const cb_fluid_model *m, const cb_surface *surface, const char *instead);

/* Whether its forces, or its added mass, are by their kind those of the shape at rest (immersed_rest.c). */
bool cb_fluid_model_is_of_rest(const cb_fluid_model *m, bool forces);
/* Whether an added mass that was found of the surface at x moving with v may be that of a moving shape: false where it
 * has momentum and energy of the body alone, though faces move along their normals. */
bool cb_fluid_model_sees_shape(const cb_surface *s, const double (*x)[3], const double (*v)[3],
                               const cb_added_mass *found);

/* The `say` of models that this thread makes from then on; NULL at first. */
void cb_fluid_model_say(void (*say)(void *context, const char *line), void *context);
