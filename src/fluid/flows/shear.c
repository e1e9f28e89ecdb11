/* A linear flow: u(x, t) = U + G x at the point x, with the gradient G_ij = du_i/dx_j. The trace of G is the divergence
 * and must be 0. SI units: U in m/s, G in 1/s. */
#include "core/failure.h"
#include "fluid/fluid_shared.h"

#include <math.h>
#include <string.h>

typedef struct shear {
  const cb_node *velocity, *gradient;
  double u[3], G[3][3];
} shear;

static const cb_param params[] = {{"velocity", CB_PARAM_NODE, offsetof(shear, velocity), "", "m/s", "", NULL,
                                   "velocity at the origin (default [0, 0, 0])"},
                                  {"gradient", CB_PARAM_NODE, offsetof(shear, gradient), "", "1/s", "", NULL,
                                   "three rows du_i/dx, du_i/dy, du_i/dz (required), with trace 0"},
                                  {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static bool is_uniform(const shear *f) {
  bool zero = true;
  for (int i = 0; i < 9; i++) zero &= f->G[i / 3][i % 3] == 0;
  return zero;
}

static cb_status init(void *flow, const cb_node *value, const cb_expression_scope *parameters, cb_flow_facts *facts) {
  shear *f = flow;
  const cb_node *gradient = f->gradient;
  cb_status status = f->velocity ? cb_fluid_vector(f->velocity, parameters, NULL, f->u) : CB_OK;
  if (status) return status;
  if (!gradient || gradient->kind != CB_NODE_LIST || gradient->count != 3)
    return cb_node_fail(gradient ? gradient : value, "expected `gradient`, three rows du_i/dx, du_i/dy, du_i/dz");
  for (int i = 0; i < 3 && !status; i++) status = cb_fluid_vector(gradient->items[i], parameters, NULL, f->G[i]);
  *facts = (cb_flow_facts){.even = is_uniform(f), .steady = true, .where = gradient};
  return status;
}

static void at(const void *flow, double t, const double x[3], bool slopes, cb_flow_point *p) {
  const shear *f = flow;
  (void)t;
  for (int i = 0; i < 3; i++) p->u[i] = f->u[i] + cb_dot3(f->G[i], x);
  if (!slopes) return;
  memcpy(p->gradient, f->G, sizeof f->G);
  memset(p->rate, 0, sizeof p->rate);
}

static bool block(const void *flow, double t, int n, bool slopes, bool rate, cb_flow_block *b) {
  const shear *f = flow;
  double sum = 0;
  (void)t;
  for (int i = 0; i < 3; i++)
    for (int p = 0; p < n; p++) {
      b->u[i][p] = f->u[i] + (f->G[i][0] * b->x[0][p] + f->G[i][1] * b->x[1][p] + f->G[i][2] * b->x[2][p]);
      sum += b->u[i][p];
    }
  for (int i = 0; slopes && i < 9; i++)
    for (int p = 0; p < n; p++) b->gradient[i / 3][i % 3][p] = f->G[i / 3][i % 3];
  for (int i = 0; rate && i < 3; i++) memset(b->rate[i], 0, (size_t)n * sizeof b->rate[i][0]);
  return isfinite(sum);
}

const cb_fluid_flow_class cb_fluid_flow_shear = {
    .name = "shear",
    .title = "A linear flow",
    .doc = "`velocity` plus the matrix `gradient` times (x, y, z)",
    .params = params,
    .size = sizeof(shear),
    .init = init,
    .at = at,
    .block = block,
};

cb_status cb_flow_shear(const double u[3], const double gradient[3][3], cb_flow **out) {
  shear given = {.u = {u[0], u[1], u[2]}};
  memcpy(given.G, gradient, sizeof given.G);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (!isfinite(gradient[i][j]))
        return cb_fail(CB_ERROR_ARGUMENT, "flow: du_%c/d%c is %g: expected a finite number", "xyz"[i], "xyz"[j],
                       gradient[i][j]);
  cb_status status = cb_flow_check_velocity(u);
  if (!status) status = cb_flow_new(&cb_fluid_flow_shear, out);
  if (status) return status;
  memcpy((*out)->data, &given, sizeof given);
  (*out)->facts = (cb_flow_facts){.even = is_uniform(&given), .steady = true};
  return CB_OK;
}
