/* The fluid's share of the form of a body over shape space, by a fluid model that is not the local one: all at once
 * where the model can, otherwise from its kinetic energy of one motion and of two,
 *   R_ij = T(u_i + u_j) - T(u_i) - T(u_j),  R_ii = 2 T(u_i)
 */
#include "fluid/immersed_bundle_private.h"

#include "fluid/fluid_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = CB_IMMERSED_FORM };

static cb_status of_rest(const cb_immersed_energy *e) {
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "the added mass of the fluid model `%s` is that of the body's shape at rest, and a gait moves it: "
                 "expected `added_mass: local` or `exact`",
                 e->model->kind->name);
}

cb_status cb_immersed_energy_prepare(cb_immersed_energy *e) {
  const cb_surface *s = e->shape->surface;
  cb_mass mass;
  double mu[6], up[3], height;
  if (e->model && cb_fluid_model_is_placed(e->model, up, &height))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the added mass of the fluid model `%s` before a wall depends on the place, which a bundle's form "
                   "does not: expected wall: none, or bodies of a run",
                   e->model->kind->name);
  if (e->model && s->curvature != 0 && strcmp(e->model->kind->name, "exact") != 0)
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "the added mass of the fluid model `%s` is that of flat space: expected exact or local in a space of "
        "curvature %g",
        e->model->kind->name, s->curvature);
  if (e->model && cb_fluid_model_is_of_rest(e->model, false)) return of_rest(e);
  if (!e->model || !e->model->kind->prepare) return CB_OK;
  cb_status status = cb_moving_mass_at(e->mass, (const double(*)[3])s->x, NULL, &mass, mu);
  if (!status) status = e->model->kind->prepare(e->model, s, &mass, &e->body);
  double K[36] = {0};
  if (!status && e->model->kind->form)
    status = e->model->kind->form(e->model, e->body, s, (const double(*)[3])s->x, 0, NULL, K);
  return status;
}

void cb_immersed_energy_release(cb_immersed_energy *e) {
  if (e->body && e->model->kind->release) e->model->kind->release(e->model, e->body);
  e->body = NULL;
}

static cb_status of_motion(const cb_immersed_energy *e, const double (*x)[3], const double (*v)[3],
                           cb_added_mass *out) {
  *out = (cb_added_mass){.kinetic = 0};
  return e->model->kind->added_mass(e->model, e->body, e->shape->surface, x, v, out);
}

/* Rows of 6 + n numbers. */
static cb_status by_energies(const cb_immersed_energy *e, const double (*x)[3], const double (*dx)[3], double (*sum)[3],
                             double *G) {
  const int n = e->shape->n, size = 6 + n, vertices = e->shape->surface->vertices;
  cb_added_mass own[CB_SHAPE_SURFACE_VARIABLES];
  for (int i = 0; i < n; i++) {
    cb_status status = of_motion(e, x, dx + i * vertices, &own[i]);
    if (status) return status;
    if (!cb_fluid_model_sees_shape(e->shape->surface, x, dx + i * vertices, &own[i])) return of_rest(e);
    for (int a = 0; a < 6; a++) {
      for (int b = 0; b < 6 && i == 0; b++) G[a * size + b] = own[i].K[a][b];
      G[a * size + 6 + i] = G[(6 + i) * size + a] = own[i].mu0[a];
    }
    G[(6 + i) * size + 6 + i] = 2 * own[i].kinetic;
    for (int j = 0; j < i; j++) {
      cb_added_mass both;
      for (int k = 0; k < vertices; k++)
        for (int c = 0; c < 3; c++) sum[k][c] = dx[i * vertices + k][c] + dx[j * vertices + k][c];
      status = of_motion(e, x, (const double(*)[3])sum, &both);
      if (status) return status;
      G[(6 + i) * size + 6 + j] = G[(6 + j) * size + 6 + i] = both.kinetic - own[i].kinetic - own[j].kinetic;
    }
  }
  return CB_OK;
}

cb_status cb_immersed_energy_of_model(const cb_immersed_energy *e, const double (*x)[3], const double (*dx)[3],
                                      double (*sum)[3], double G[SIZE][SIZE]) {
  const cb_fluid_model_class *kind = e->model->kind;
  const int n = e->shape->n, size = 6 + n;
  double own[SIZE * SIZE] = {0}, total = 0;
  const cb_status status =
      kind->form ? kind->form(e->model, e->body, e->shape->surface, x, n, dx, own) : by_energies(e, x, dx, sum, own);
  if (status) return status;
  for (int i = 0; i < size * size; i++) {
    G[i / size][i % size] += e->density * own[i];
    total += own[i];
  }
  return isfinite(total) ? CB_OK
                         : cb_fail(CB_STEP_DOMAIN, "the added mass of the fluid model `%s` is not finite", kind->name);
}
