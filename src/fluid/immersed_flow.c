/* The fluid's share of the momentum and of the wrench dL/dg (equations: immersed.h).
 *
 * Uniform density and flow, p = I_f (Y - U) + mu_f with U = (0, u), u in the body's axes, du = u × xi_omega:
 *   momentum  p;   wrench  -ad*_U p = (u × p_linear, 0), and where the density is mixed that of the faces that have a
 *   slope (cb_immersed_add_density)
 */
#include "fluid/immersed_private.h"

#include <string.h>

cb_status cb_immersed_fluid(cb_swimmer *s, double t, const cb_pose *g, double I_f[6][6], double mu_f[6]) {
  const cb_immersed *b = s->b;
  const cb_immersed_field *f = &s->field;
  const cb_status status = b->added_mass ? cb_immersed_field_at(s, t, g) : CB_OK;
  if (status) return status;
  const bool by_vertices = b->relative && b->varying && !b->by_parts;
  memcpy(I_f, b->added_mass ? f->I_f : s->form.I_f, sizeof f->I_f); /* without: 0 */
  memcpy(mu_f, by_vertices ? s->impulses.momentum : b->added_mass ? f->mu_f : s->form.mu_f, sizeof f->mu_f);
  if (!b->relative || !b->carried || by_vertices || b->by_parts) return CB_OK;
  double r[3][3], U[6] = {0}, share[6]; /* mu_f - I_f U */
  cb_pose_rotation(g, r);
  cb_apply3_transposed(r, s->wind.u, U + 3);
  cb_apply6((const double(*)[6])I_f, U, share);
  for (int i = 0; i < 6; i++) mu_f[i] -= share[i];
  return CB_OK;
}

static void uniform(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dF, cb_tensor dg) {
  const cb_immersed_field *f = &s->field;
  double u[3], difference[6], p[6], torque[3];
  cb_apply3_transposed(m->r, s->wind.u, u);
  for (int i = 0; i < 6; i++) difference[i] = m->Y[i] - (i < 3 ? 0 : u[i - 3]);
  cb_apply6((const double(*)[6])f->I_f, difference, p);
  for (int i = 0; i < 6; i++) p[i] += f->mu_f[i];
  cb_cross3(u, p + 3, torque);
  for (int i = 0; F && i < 3; i++) F[i] += torque[i];
  for (int j = 0; dF && j < 6; j++) {
    const double column[3] = {f->I_f[3][j], f->I_f[4][j], f->I_f[5][j]};
    cb_cross3(u, column, torque);
    for (int i = 0; i < 3; i++) dF[i][j] += torque[i];
  }
  for (int j = 0; dg && j < 3; j++) { /* (u × e_j) × p - u × I_vv (u × e_j) */
    double e[3] = {0}, du[3], dp[3], change[3];
    e[j] = 1;
    cb_cross3(u, e, du);
    for (int i = 0; i < 3; i++) dp[i] = -cb_dot3(f->I_f[3 + i] + 3, du);
    cb_cross3(du, p + 3, torque);
    cb_cross3(u, dp, change);
    for (int i = 0; i < 3; i++) dg[i][j] += torque[i] + change[i];
  }
}

void cb_immersed_carry(cb_swimmer *s, const cb_immersed_moment *m, const cb_tensor jacobian, cb_tensor dg) {
  const cb_immersed_field *f = &s->field;
  double u[3], spin[3] = {0}, T[6][6] = {{0}}, turned[2][3][3] = {{{0}}};
  if (s->b->varying) {
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
      T[3 + i][3 + j] = s->b->varying ? -f->G0[i][j] : 0;
    }
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 6; j++) dg[i][j] += jacobian[i][k] * T[k][j];
}

/* By vertices, or of the density alone; what was found last is kept for the derivative along the pose, which follows
 * it. */
static void spread(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dF, cb_tensor dg) {
  cb_immersed_last *last = &s->pushed;
  if (!cb_immersed_is_last(last, m)) {
    memset(last->F, 0, sizeof last->F);
    memset(last->jacobian, 0, sizeof last->jacobian);
    if (s->b->varying) cb_immersed_relative(s, m->Y, last->F, dF || dg ? last->jacobian : NULL);
    if (s->field.mixed) cb_immersed_add_density(s, m->Y, last->F, dF || dg ? last->jacobian : NULL);
    if (dF || dg) cb_immersed_set_last(last, m);
    else last->known = false;
  }
  for (int i = 0; i < 6; i++) {
    if (F) F[i] += last->F[i];
    for (int j = 0; dF && j < 6; j++) dF[i][j] += last->jacobian[i][j];
  }
  if (!dg) return;
  if (s->b->varying) cb_immersed_relative_turning(s, m->Y, dg);
  if (s->b->carried) cb_immersed_carry(s, m, last->jacobian, dg);
}

cb_status cb_immersed_flow(cb_swimmer *s, const cb_immersed_moment *m, double *F, cb_tensor dF, cb_tensor dg) {
  const cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  if (s->b->by_parts) return cb_immersed_parts_wrench(s, m->Y, F, dF), CB_OK;
  if (s->b->carried && !s->b->varying) uniform(s, m, F, dF, dg);
  if (s->b->varying || s->field.mixed) spread(s, m, F, dF, dg);
  return CB_OK;
}
