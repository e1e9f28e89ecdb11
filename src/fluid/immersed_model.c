/* The drag of a fluid model that is not the local one, from jets in the twist relative to the flow at the origin.
 *
 *   V = Y - (0, w),  w = R^T u(x, t);   dF/dY = dF/dV
 *   dF/dxi = -dF/dV (0, dw),  dw = w × xi_omega + R^T (grad u) R xi_v
 * The slope of a density that varies is left out.
 */
#include "fluid/immersed_private.h"

#include <math.h>

/* The fluid at the body's origin: w, R^T (grad u) R and the density. */
typedef struct around {
  double w[3], gradient[3][3], density;
} around;

static cb_status look(const cb_immersed *b, const cb_immersed_moment *m, around *out) {
  double u[3] = {0}, G[3][3] = {{0}};
  *out = (around){.density = b->density};
  cb_status status = b->layered ? cb_medium_at(b->fluid.medium, m->g->x, &out->density) : CB_OK;
  if (!status && b->carried) status = cb_flow_at(b->fluid.flow, m->t, 1, &m->g->x, &u, &G, NULL);
  if (status) return status == CB_STEP_NOT_FINITE ? CB_STEP_DOMAIN : status;
  cb_apply3_transposed(m->r, u, out->w);
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < 9; k++)
      out->gradient[i / 3][i % 3] += m->r[k / 3][i / 3] * G[k / 3][k % 3] * m->r[k % 3][i % 3];
  return CB_OK;
}

static void along_pose(const around *a, const cb_jet *F, cb_tensor dg) {
  for (int j = 0; j < 3; j++) {
    double axis[3] = {0}, dw[3];
    axis[j] = 1;
    cb_cross3(a->w, axis, dw);
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 3; k++) {
        dg[i][j] -= F[i].g[3 + k] * dw[k];
        dg[i][3 + j] -= F[i].g[3 + k] * a->gradient[k][j];
      }
  }
}

cb_status cb_immersed_model(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dF, cb_tensor dg) {
  const cb_immersed *b = s->b;
  const cb_fluid_model *model = b->fluid.model;
  const int n = dF || dg ? 6 : 0;
  cb_jet V[6], value[6];
  around a;
  cb_status status = look(b, m, &a);
  if (status) return status;
  for (int i = 0; i < 6; i++) {
    const double v = m->Y[i] - (i < 3 ? 0 : a.w[i - 3]);
    V[i] = n ? cb_jet_variable(n, i, v) : cb_jet_constant(n, v);
    value[i] = cb_jet_constant(n, 0);
  }
  if ((status = model->kind->on_jets(model, b->modelled, a.density, V, value))) return status;
  for (int i = 0; i < 6; i++) {
    if (!isfinite(value[i].v))
      return cb_fail(CB_STEP_NOT_FINITE, "the drag of the fluid model `%s` is %g at t = %g", model->kind->name,
                     value[i].v, m->t);
    if (F) F[i] += value[i].v;
    for (int j = 0; dF && j < 6; j++) dF[i][j] += value[i].g[j];
  }
  if (dg && b->carried) along_pose(&a, value, dg);
  return CB_OK;
}

cb_status cb_immersed_prepare(cb_immersed *b) {
  const cb_fluid_model *model = b->fluid.model;
  cb_mass mass;
  if (!b->other || !model->kind->prepare) return CB_OK;
  const cb_status status = cb_immersed_mass(b, 0, &mass, NULL);
  return status ? status : model->kind->prepare(model, b->surface, &mass, &b->modelled);
}

void cb_immersed_release(cb_immersed *b) {
  if (b->modelled && b->fluid.model->kind->release) b->fluid.model->kind->release(b->fluid.model, b->modelled);
}
