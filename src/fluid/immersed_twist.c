/* Forces of a fluid model on a body, or on several places of it such as the ellipsoids that replace it. At places c of
 * the body, in its axes, for the twist Y = (omega, v), the pose (R, x), the flow u and the model's wrench F(V),
 *
 *   X Y = (omega, v + omega × c);   V = X Y - W,   W = R^T (curl u/2, u) at x + R c;   F about the origin = X^T F(V)
 *   dF/dY = X^T dF/dV X,   dF/dxi = X^T dF/dV dV,   dV = (xi_omega × W_omega, xi_omega × W_v - R^T (grad u) R dc),
 *   dc = xi_v + xi_omega × c
 *
 * SI units. The gradients of the vorticity and of a density that varies are neglected. 
 */
#include "fluid/immersed_private.h"

#include <string.h>

void cb_immersed_place_at(cb_immersed_fluid_sample *out, const double place[3], double density) {
  *out = (cb_immersed_fluid_sample){.density = density, .off = place[0] != 0 || place[1] != 0 || place[2] != 0};
  memcpy(out->place, place, sizeof out->place);
}

cb_status cb_immersed_look(const cb_immersed *b, const cb_immersed_moment *m, cb_immersed_fluid_sample *out) {
  if (!b->around.layered && !b->around.has_flow) return CB_OK;
  double x[3], u[3] = {0}, G[3][3] = {{0}}, half[3];
  cb_apply3(m->r, out->place, x);
  for (int i = 0; i < 3; i++) x[i] += m->g->x[i];
  const double(*at)[3] = (const double(*)[3]) & x;
  cb_status status = b->around.layered ? cb_medium_at(b->fluid.medium, x, &out->density) : CB_OK;
  if (!status && b->around.has_flow)
    status = cb_flow_at(b->fluid.flow, m->t, 1, at, &u, b->around.varying ? &G : NULL, NULL);
  if (status || !b->around.has_flow) return status;
  cb_apply3_transposed(m->r, u, out->W + 3);
  if (!b->around.varying) return CB_OK;
  for (int i = 0; i < 3; i++) half[i] = (G[(i + 2) % 3][(i + 1) % 3] - G[(i + 1) % 3][(i + 2) % 3]) / 2;
  cb_apply3_transposed(m->r, half, out->W);
  memset(out->gradient, 0, sizeof out->gradient);
  for (int i = 0; i < 9; i++)
    for (int k = 0; k < 9; k++)
      out->gradient[i / 3][i % 3] += m->r[k / 3][i / 3] * G[k / 3][k % 3] * m->r[k % 3][i % 3];
  return CB_OK;
}

void cb_immersed_carry_back(const cb_immersed_fluid_sample *at, double F[6]) {
  double torque[3];
  if (!at->off) return;
  cb_cross3(at->place, F + 3, torque);
  for (int i = 0; i < 3; i++) F[i] += torque[i];
}

void cb_immersed_relative_twist(const cb_immersed_fluid_sample *at, const double Y[6], double V[6]) {
  double turn[3];
  for (int i = 0; i < 6; i++) V[i] = Y[i] - at->W[i];
  if (!at->off) return;
  cb_cross3(Y, at->place, turn);
  for (int i = 0; i < 3; i++) V[3 + i] += turn[i];
}

cb_status cb_immersed_twists(cb_immersed_workspace *s, const cb_immersed_model_instance *of,
                             const cb_immersed_moment *m, double (*term)[6], bool slopes) {
  const cb_fluid_model *model = of->model;
  const size_t terms = (size_t)of->terms;
  for (int p = 0; p < of->places; p++) {
    cb_immersed_fluid_sample *fluid_sample = s->fluid_sample + of->first_place + p;
    /* The terms of the first place are added directly to `term`, which the caller has set to 0. */
    double V[6], more[CB_FLUID_TERMS][6], (*F)[6] = p ? more : term;
    cb_status status = cb_immersed_look(s->b, m, fluid_sample);
    if (status) return status;
    cb_immersed_relative_twist(fluid_sample, m->Y, V);
    if (p) memset(more, 0, terms * sizeof *more);
    if (slopes) memset(s->term_slope, 0, terms * sizeof *s->term_slope);
    status = model->class_->on_twist(model, of->body, p, fluid_sample->density, V, F, slopes ? s->term_slope : NULL);
    if (status) return status;
    for (size_t k = 0; k < terms && fluid_sample->off; k++) cb_immersed_carry_back(fluid_sample, F[k]);
    for (size_t k = 0; k < terms && p; k++) cb_add6(1, more[k], term[k]);
    if (!slopes) continue;
    memcpy(fluid_sample->dF, s->term_slope[0], sizeof fluid_sample->dF);
    for (size_t k = 1; k < terms; k++)
      for (int i = 0; i < 6; i++) cb_add6(1, s->term_slope[k][i], fluid_sample->dF[i]);
  }
  return CB_OK;
}

cb_status cb_immersed_add_twists(cb_immersed_workspace *s, const cb_immersed_model_instance *of,
                                 const cb_immersed_moment *m, double F[6]) {
  const cb_fluid_model *model = of->model;
  const bool still = !s->b->around.layered && !s->b->around.has_flow;
  for (int p = 0; p < of->places; p++) {
    cb_immersed_fluid_sample *fluid_sample = s->fluid_sample + of->first_place + p;
    double V[6], term[CB_FLUID_TERMS][6];
    cb_status status = still ? CB_OK : cb_immersed_look(s->b, m, fluid_sample);
    if (status) return status;
    const bool as_it_is = still && !fluid_sample->off;
    if (!as_it_is) cb_immersed_relative_twist(fluid_sample, m->Y, V);
    memset(term, 0, (size_t)of->terms * sizeof *term);
    status = model->class_->on_twist(model, of->body, p, fluid_sample->density, as_it_is ? m->Y : V, term, NULL);
    if (status) return status;
    for (int k = 1; k < of->terms; k++)
      for (int i = 0; i < 6; i++) term[0][i] += term[k][i];
    cb_immersed_carry_back(fluid_sample, term[0]);
    for (int i = 0; i < 6; i++) F[i] += term[0][i];
  }
  return CB_OK;
}

/* Adds X^T dF a to a column of `out`. */
static void add_column(const cb_immersed_fluid_sample *at, const double a[6], cb_tensor out, int column) {
  double F[6];
  cb_apply6((const double(*)[6])at->dF, a, F);
  cb_immersed_carry_back(at, F);
  for (int i = 0; i < 6; i++) out[i][column] += F[i];
}

/* Computes X e_j, e_j a unit twist. */
static void of_axis(const cb_immersed_fluid_sample *at, int j, double dY[6]) {
  double axis[3] = {0};
  memset(dY, 0, 6 * sizeof *dY);
  axis[j % 3] = dY[j] = 1;
  if (j < 3) cb_cross3(axis, at->place, dY + 3);
}

void cb_immersed_twist_along(const cb_immersed_fluid_sample *at, int j, double dV[6]) {
  double axis[3] = {0}, dY[6];
  of_axis(at, j, dY);
  memset(dV, 0, 6 * sizeof *dV);
  axis[j % 3] = 1;
  if (j < 3) {
    cb_cross3(axis, at->W, dV);
    cb_cross3(axis, at->W + 3, dV + 3);
  }
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) dV[3 + i] -= at->gradient[i][k] * dY[3 + k];
}

/* Adds the columns dF X e_j and, for a flow, dF dV. */
static void add_slopes(const cb_immersed_fluid_sample *at, cb_tensor dF, cb_tensor dg) {
  for (int j = 0; j < 6; j++) {
    double dY[6], dV[6];
    of_axis(at, j, dY);
    if (dF) add_column(at, dY, dF, j);
    if (!dg) continue;
    cb_immersed_twist_along(at, j, dV);
    add_column(at, dV, dg, j);
  }
}

void cb_immersed_twist_slopes(const cb_immersed_workspace *s, cb_tensor dF, cb_tensor dg) {
  for (const cb_immersed_fluid_sample *fluid_sample = s->fluid_sample;
       fluid_sample < s->fluid_sample + s->b->models.places; fluid_sample++) {
    if (fluid_sample->off || dg)
      add_slopes(fluid_sample, dF, dg);
    else
      for (int i = 0; i < 6; i++) cb_add6(1, fluid_sample->dF[i], dF[i]);
  }
}

void cb_immersed_push(const double at[3], const double f[3], double *F, cb_tensor dg) {
  double torque[3];
  cb_cross3(at, f, torque);
  for (int i = 0; F && i < 3; i++) {
    F[i] += torque[i];
    F[3 + i] += f[i];
  }
  if (!dg) return;
  double turned[3][3] = {{0}}, arm[3][3] = {{0}};
  cb_add_hat3(turned, 1, f);
  cb_add_hats3(arm, 1, at, f);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      dg[i][j] += arm[i][j];
      dg[3 + i][j] += turned[i][j];
    }
}
