/* Functions that fluid models, flows and media share (curvebody/fluid_model.h, curvebody/flow.h), and those that read
 * numbers of a fluid from a scenario. */
#pragma once

#include "numerics/vec3.h"
#include <curvebody/expression.h>
#include <curvebody/flow.h>
#include <curvebody/fluid_model.h>
#include <curvebody/node.h>

/* Returns whether the fluid of the model ends at a plane <x, up> = height. If so, up becomes the unit normal of the
 * plane, or 0 if the normal that the user gave is invalid. */
bool cb_fluid_model_is_placed(const cb_fluid_model *m, double up[3], double *height);
/* Returns CB_ERROR_UNSUPPORTED if a part has a border; the message names the first such part. `instead` completes the
 * message: it says what the user may use instead of the model m. */
cb_status cb_fluid_model_check_closed(const cb_fluid_model *m, const cb_surface *surface, const char *instead);

/* Returns whether a result of the model is valid only for the body's shape at rest (fluid_model.c). The result is the
 * model's forces if `forces` is set; otherwise it is the model's added mass. */
bool cb_fluid_model_is_of_rest(const cb_fluid_model *m, bool forces);
/* Returns whether the added mass `found`, computed for the surface at x that moves with v, includes the motion of the
 * shape. The result is false if K of `found` is not 0, but mu0 and the kinetic energy are 0 although faces move along
 * their normals.
 */
bool cb_fluid_model_sees_shape(const cb_surface *s, const double (*x)[3], const double (*v)[3],
                               const cb_added_mass *found);

/* Sets the member `report` of the models that this thread creates from now on. It is NULL before the first call. */
void cb_fluid_model_set_report(void (*report)(void *context, const char *line), void *context);

/* --- flows, and their divergence --- */

/* Returns the root mean square of the divergence over n places, where gradient[p][i][j] = du_i/dx_j. *size becomes the
 * root mean square of the norm of the gradient (the root of the sum of its nine squares). */
double cb_flow_divergence(int n, const double (*gradient)[3][3], double *size);
/* Returns the root mean square of the norm of the gradient of a flow on a grid, from differences of neighbours. For a
 * sum of flows it is the root of the sum of the squares of the values of its terms; for other flows it is 0. */
double cb_flow_slope(const cb_flow *f);

/* Makes a flow from the values on a grid. The class must have the member from_grid. */
cb_status cb_flow_create_grid(const cb_fluid_flow_class *class_, const cb_flow_grid *grid, cb_flow **out);

/* --- declarations that the files of flows share --- */

struct cb_flow {
  const cb_fluid_flow_class *class_;
  void *data; /* the data that the class defines */
  cb_flow_facts facts;
};

/* Makes a flow whose data and facts are zero; the caller then sets them in **out. */
cb_status cb_flow_new(const cb_fluid_flow_class *class_, cb_flow **out);
/* Returns CB_ERROR_ARGUMENT for a velocity that is not finite. */
cb_status cb_flow_check_velocity(const double u[3]);

/* --- numbers of a fluid: each is an expression of the parameters of the fluid, and of variables --- */

/* Reads a list of three texts. */
cb_status cb_fluid_texts(const cb_node *list, const char *text[3]);
/* The first function evaluates one expression in the given scope, with the values x of the variables. The second one
 * evaluates a list of three expressions. A parameter that could not be read has the value nan. A result nan is then not
 * reported again, because the failure of the parameter was reported. */
cb_status cb_fluid_number(const cb_node *node, const cb_expression_scope *scope, const double *x, double *out);
cb_status cb_fluid_vector(const cb_node *list, const cb_expression_scope *scope, const double *x, double out[3]);
/* Returns whether some parameter has the value nan, which means that it could not be read. */
bool cb_fluid_lacks_parameter(const cb_expression_scope *scope);
