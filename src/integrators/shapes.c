/* The integrators of shape variables that move by themselves (bundle/shape_motion.h): hamilton_pontryagin with inertia,
 * gauss and radau_iia with drag. hamilton_pontryagin.c, gauss.c and radau_iia.c refer to the integrator classes of this
 * file (cb_integrator_class.other). */
#include "integrators/shapes.h"

#include <stdlib.h>

/* ---- hamilton_pontryagin: order 2, or Suzuki's composition of order 4 */

typedef struct order_parameters {
  int order;
} order_parameters;

static const cb_param order_table[] = {{"order", CB_PARAM_CHOICE, offsetof(order_parameters, order), "2", "", "", "2|4",
                                        "order in the step; 4: five steps of order 2, one of them backwards"},
                                       {0}};

static cb_status create_variational(cb_integrator *in, const void *params) {
  const order_parameters *own = params;
  in->solver = "newton";
  if (own->order) in->substep = cb_composition_of_order_4(&in->substeps);
  in->self = cb_shape_variational_create(own->order ? in->substeps : 1);
  return in->self ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for the integrator `hamilton_pontryagin`");
}

static void destroy_variational(cb_integrator *in) { cb_shape_variational_free(in->self); }
static void reset_variational(cb_integrator *in) { cb_shape_variational_forget(in->self); }

static cb_status step_variational(cb_integrator *in, void *state, double h) {
  return cb_shape_step_variational(in->problem, in->self, h, state, &in->iterations);
}

static void properties_variational(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  const order_parameters *own = in->params;
  *order = own->order ? 4 : 2;
  *symplectic = *symmetric = true;
}

const cb_integrator_class cb_hamilton_pontryagin_of_shapes = {
    .name = "hamilton_pontryagin",
    .title = "Hamilton-Pontryagin for shapes with inertia",
    .doc = "Implicit, order 2 or 4, variational; for shape variables of a bundle that move by themselves.",
    .solves = &cb_problem_shapes_with_inertia,
    .params = order_table,
    .params_size = sizeof(order_parameters),
    .create = create_variational,
    .destroy = destroy_variational,
    .reset = reset_variational,
    .properties = properties_variational,
    .step = step_variational,
};

/* ---- gauss and radau_iia */

typedef struct stage_parameters {
  int stages;
} stage_parameters;

static const cb_param gauss_table[] = {{"stages", CB_PARAM_INT, offsetof(stage_parameters, stages), "3", "", "[1, 8]",
                                        NULL, "number of stages; the order is 2 stages"},
                                       {0}},
                      radau_table[] = {{"stages", CB_PARAM_INT, offsetof(stage_parameters, stages), "3", "", "[1, 5]",
                                        NULL, "number of stages; the order is 2 stages - 1"},
                                       {0}};

typedef struct collocation {
  cb_tableau tableau;
  cb_shape_collocation *work;
} collocation;

static void destroy_collocation(cb_integrator *in) {
  collocation *own = in->self;
  if (own) cb_shape_collocation_free(own->work);
  free(own);
}

static void reset_collocation(cb_integrator *in) { cb_shape_collocation_forget(((collocation *)in->self)->work); }

static cb_status create_collocation(cb_integrator *in, int stages, cb_status (*tableau)(int, cb_tableau *)) {
  collocation *own = in->self = calloc(1, sizeof *own);
  in->solver = "newton";
  if (own) own->work = cb_shape_collocation_create();
  const cb_status status = own && own->work
                               ? tableau(stages, &own->tableau)
                               : cb_fail(CB_ERROR_MEMORY, "no memory for the integrator `%s`", in->class_->name);
  if (status) destroy_collocation(in);
  return status;
}

static cb_status create_gauss(cb_integrator *in, const void *params) {
  return create_collocation(in, ((const stage_parameters *)params)->stages, cb_tableau_gauss);
}

static cb_status create_radau(cb_integrator *in, const void *params) {
  return create_collocation(in, ((const stage_parameters *)params)->stages, cb_tableau_radau_iia);
}

static cb_status step_collocation(cb_integrator *in, void *state, double h) {
  const collocation *own = in->self;
  return cb_shape_step_collocation(in->problem, own->work, &own->tableau, h, state, &in->iterations);
}

static void properties_gauss(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  *order = 2 * ((const stage_parameters *)in->params)->stages;
  *symplectic = false;
  *symmetric = true;
}

static void properties_radau(const cb_integrator *in, int *order, bool *symplectic, bool *symmetric) {
  *order = 2 * ((const stage_parameters *)in->params)->stages - 1;
  *symplectic = *symmetric = false;
}

const cb_integrator_class cb_gauss_of_shapes = {
    .name = "gauss",
    .title = "Gauss for shapes with drag",
    .doc = "Implicit, order 2 stages; for shape variables of a bundle with drag, with springs that steps resolve.",
    .solves = &cb_problem_shapes_with_drag,
    .params = gauss_table,
    .params_size = sizeof(stage_parameters),
    .create = create_gauss,
    .destroy = destroy_collocation,
    .reset = reset_collocation,
    .properties = properties_gauss,
    .step = step_collocation,
};

const cb_integrator_class cb_radau_of_shapes = {
    .name = "radau_iia",
    .title = "Radau IIA for shapes with drag",
    .doc = "Implicit, order 2 stages - 1; for shape variables of a bundle with drag, also with stiff springs.",
    .solves = &cb_problem_shapes_with_drag,
    .params = radau_table,
    .params_size = sizeof(stage_parameters),
    .create = create_radau,
    .destroy = destroy_collocation,
    .reset = reset_collocation,
    .properties = properties_radau,
    .step = step_collocation,
};
