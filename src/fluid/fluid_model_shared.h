/* Functions that the users of fluid models share; see curvebody/fluid_model.h. */
#pragma once

#include <curvebody/fluid_model.h>

/* Returns whether the fluid of the model ends at a plane <x, up> = height. If so, up becomes the unit normal of the
 * plane, or 0 if the normal that the user gave is invalid. */
bool cb_fluid_model_is_placed(const cb_fluid_model *m, double up[3], double *height);
/* Returns CB_ERROR_UNSUPPORTED if a part has a border; the message names the first such part. `instead` completes the
 * message: it says what the user may use instead of the model m. */
cb_status cb_fluid_model_check_closed(const cb_fluid_model *m, const cb_surface *surface, const char *instead);

/* Returns whether the model's forces (`forces` is set), or its added mass (not set), are valid only for the body's
 * shape at rest (immersed_rest.c). */
bool cb_fluid_model_is_of_rest(const cb_fluid_model *m, bool forces);
/* Returns whether the added mass `found`, computed for the surface at x that moves with v, includes the motion of the
 * shape. The result is false if K of `found` is not 0, but mu0 and the kinetic energy are 0 although faces move along
 * their normals.
 */
bool cb_fluid_model_sees_shape(const cb_surface *s, const double (*x)[3], const double (*v)[3],
                               const cb_added_mass *found);

/* Sets the `report` of the models that this thread creates from now on; it is NULL at first. */
void cb_fluid_model_set_report(void (*report)(void *context, const char *line), void *context);
