/* A uniform stream: u(x, t) = U. SI units: m/s. */
#include "fluid/fluid_shared.h"

#include <string.h>

typedef struct uniform {
  double u[3];
} uniform;

static cb_status init(void *flow, const cb_node *value, const cb_expression_scope *parameters, cb_flow_facts *facts) {
  facts->even = facts->steady = true;
  return cb_fluid_vector(value, parameters, NULL, ((uniform *)flow)->u);
}

static void at(const void *flow, double t, const double x[3], bool slopes, cb_flow_point *p) {
  const uniform *f = flow;
  (void)t;
  (void)x;
  (void)slopes;
  *p = (cb_flow_point){.u = {f->u[0] + 0, f->u[1] + 0, f->u[2] + 0}}; /* -0 becomes 0 */
}

const cb_fluid_flow_class cb_fluid_flow_uniform = {
    .name = "uniform",
    .title = "A uniform stream",
    .doc = "The value is the velocity: a list of three numbers in m/s, along x, y, z",
    .size = sizeof(uniform),
    .init = init,
    .at = at,
};

cb_status cb_flow_uniform(const double u[3], cb_flow **out) {
  cb_status status = cb_flow_check_velocity(u);
  if (!status) status = cb_flow_new(&cb_fluid_flow_uniform, out);
  if (status) return status;
  memcpy(((uniform *)(*out)->data)->u, u, sizeof(uniform));
  (*out)->facts.even = (*out)->facts.steady = true;
  return CB_OK;
}
