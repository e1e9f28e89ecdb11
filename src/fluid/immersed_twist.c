/* The motion of a place of a body relative to the flow, and how wrenches change along the pose. At a place c of the
 * body, in its axes, for the twist Y = (omega, v), the pose (R, x), the flow u and the wrench F(V) of a fluid model,
 *
 *   X Y = (omega, v + omega × c);   V = X Y - W,   W = R^T (curl u/2, u) at x + R c;   F about the origin = X^T F(V)
 *   V = X Y + W_p - W for a place that moves in the body frame with the twist W_p (immersed_followed.c)
 *   dF/dY = X^T dF/dV X,   dF/dxi = X^T dF/dV dV,   dV = (xi_omega × W_omega, xi_omega × W_v - R^T (grad u) R dc),
 *   dc = xi_v + xi_omega × c
 *
 * xi = (xi_omega, xi_v) is a small change of the pose in the body's axes, and dV and dc are the changes of V and of the
 * place that belong to it. W_omega and W_v are the parts of W. SI units. The gradients of the vorticity and of a
 * density that varies are neglected.
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
  if (status || !b->around.has_flow) return cb_immersed_given(status);
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
  for (int i = 0; i < 6 && at->moves; i++) V[i] += at->own[i];
  if (!at->off) return;
  cb_cross3(Y, at->place, turn);
  for (int i = 0; i < 3; i++) V[3 + i] += turn[i];
}

void cb_immersed_axis_at(const cb_immersed_fluid_sample *at, int j, double dY[6]) {
  double axis[3] = {0};
  memset(dY, 0, 6 * sizeof *dY);
  axis[j % 3] = dY[j] = 1;
  if (j < 3) cb_cross3(axis, at->place, dY + 3);
}

void cb_immersed_twist_along(const cb_immersed_fluid_sample *at, int j, double dV[6]) {
  double axis[3] = {0}, dY[6];
  cb_immersed_axis_at(at, j, dY);
  memset(dV, 0, 6 * sizeof *dV);
  axis[j % 3] = 1;
  if (j < 3) {
    cb_cross3(axis, at->W, dV);
    cb_cross3(axis, at->W + 3, dV + 3);
  }
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) dV[3 + i] -= at->gradient[i][k] * dY[3 + k];
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

void cb_immersed_turn(const double torque[3], double *F, cb_tensor dg) {
  double turned[3][3] = {{0}};
  cb_add_hat3(turned, 1, torque);
  for (int i = 0; F && i < 3; i++) F[i] += torque[i];
  for (int i = 0; dg && i < 9; i++) dg[i / 3][i % 3] += turned[i / 3][i % 3];
}

void cb_immersed_carry(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_tensor jacobian, cb_tensor dg) {
  const cb_immersed_field *f = &s->field;
  double u[3], spin[3] = {0}, T[6][6] = {{0}}, turned[2][3][3] = {{{0}}};
  if (s->b->around.varying) {
    cb_immersed_field_as_a_whole(s);
    memcpy(u, f->u0, sizeof u);
    for (int i = 0; i < 3; i++) spin[i] = 0.5 * (f->G0[(i + 2) % 3][(i + 1) % 3] - f->G0[(i + 1) % 3][(i + 2) % 3]);
  } else {
    cb_apply3_transposed(m->r, s->wind.u, u);
  }
  cb_add_hat3(turned[0], -1, spin);
  cb_add_hat3(turned[1], -1, u);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      T[i][j] = turned[0][i][j];
      T[3 + i][j] = turned[1][i][j];
      T[3 + i][3 + j] = s->b->around.varying ? -f->G0[i][j] : 0;
    }
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 6; j++) dg[i][j] += jacobian[i][k] * T[k][j];
}
