/* The added mass of a body in a flow or in layers: its momentum, and the wrench dL/dg (equations:
 * curvebody/immersed.h; a flow that varies: fluid/immersed_relative.c).
 *
 * For uniform density and flow, p = I_f (Y - U) + mu_f with U = (0, u), u in the body's axes, du = u × xi_omega:
 *
 *   momentum  p;   wrench  -ad*_U p = (u × p_linear, 0); if the density is mixed, the term of the faces whose density
 *   has a slope is added (cb_immersed_add_density)
 */
#include "fluid/immersed_private.h"

#include <string.h>

/* Does the momentum come from impulses at the vertices? */
static bool by_vertices(const cb_immersed *b) { return b->around.varying; }

static bool in_uniform_flow(const cb_immersed *b) { return b->around.has_flow && !b->around.varying; }

static cb_status field(cb_immersed_workspace *s) {
  const cb_status status = cb_immersed_place_added_mass(s);
  if (status || !by_vertices(s->b)) return status;
  if (!s->impulses.known) cb_immersed_impulses_of_shape(s);
  cb_immersed_impulses_of_flow(s);
  return status;
}

/* The twist relative to a uniform flow, Y - U. */
static void relative_twist(const cb_immersed_workspace *s, const cb_immersed_moment *m, double out[6]) {
  double u[3];
  memcpy(out, m->Y, 6 * sizeof *out);
  cb_apply3_transposed(m->r, s->wind.u, u);
  for (int i = 0; i < 3; i++) out[3 + i] -= u[i];
}

static void inertia(const cb_immersed_workspace *s, const cb_pose *g, double K[6][6], double mu0[6]) {
  const cb_immersed_field *f = &s->field;
  double r[3][3], U[6] = {0}, share[6] = {0}; /* mu_f - I_f U */
  if (in_uniform_flow(s->b)) {
    cb_pose_rotation(g, r);
    cb_apply3_transposed(r, s->wind.u, U + 3);
    cb_apply6(f->I_f, U, share);
  }
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) K[i][j] += f->I_f[i][j];
    mu0[i] += (by_vertices(s->b) ? s->impulses.momentum : f->mu_f)[i] - share[i];
  }
}

static void kinetic(cb_immersed_workspace *s, const cb_immersed_moment *m, double *energy) {
  cb_immersed_moment relative = *m;
  double Y[6];
  relative_twist(s, m, Y);
  if (in_uniform_flow(s->b)) relative.Y = Y;
  cb_immersed_add_kinetic(s, &relative, energy);
}

static void carry_uniform(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_immersed_field *f = &s->field;
  double u[3], difference[6], p[6], torque[3];
  cb_apply3_transposed(m->r, s->wind.u, u);
  relative_twist(s, m, difference);
  cb_apply6((const double(*)[6])f->I_f, difference, p);
  for (int i = 0; i < 6; i++) p[i] += f->mu_f[i];
  cb_cross3(u, p + 3, torque);
  for (int i = 0; to->F && i < 3; i++) to->F[i] += torque[i];
  for (int j = 0; to->dF && j < 6; j++) {
    const double column[3] = {f->I_f[3][j], f->I_f[4][j], f->I_f[5][j]};
    cb_cross3(u, column, torque);
    for (int i = 0; i < 3; i++) to->dF[i][j] += torque[i];
  }
  for (int j = 0; to->dg && j < 3; j++) { /* (u × e_j) × p - u × I_vv (u × e_j) */
    double e[3] = {0}, du[3], dp[3], change[3];
    e[j] = 1;
    cb_cross3(u, e, du);
    for (int i = 0; i < 3; i++) dp[i] = -cb_dot3(f->I_f[3 + i] + 3, du);
    cb_cross3(du, p + 3, torque);
    cb_cross3(u, dp, change);
    for (int i = 0; i < 3; i++) to->dg[i][j] += torque[i] + change[i];
  }
}

/* Adds dL/dg: the sum over vertices if the flow varies, and the term of the density if that is mixed. The last result
 * is kept, because the derivative along the pose is requested next. */
static void add_varying_fluid(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  cb_immersed_last *last = &s->pushed;
  if (!cb_immersed_is_last(last, m)) {
    memset(last->F, 0, sizeof last->F);
    memset(last->jacobian, 0, sizeof last->jacobian);
    if (s->b->around.varying) cb_immersed_relative(s, m->Y, last->F, to->dF || to->dg ? last->jacobian : NULL);
    if (s->field.mixed) cb_immersed_add_density(s, m->Y, last->F, to->dF || to->dg ? last->jacobian : NULL);
    if (to->dF || to->dg)
      cb_immersed_set_last(last, m);
    else
      last->known = false;
  }
  for (int i = 0; i < 6; i++) {
    if (to->F) to->F[i] += last->F[i];
    for (int j = 0; to->dF && j < 6; j++) to->dF[i][j] += last->jacobian[i][j];
  }
  if (!to->dg) return;
  if (s->b->around.varying) cb_immersed_relative_turning(s, m->Y, to->dg);
  if (s->b->around.has_flow) cb_immersed_carry(s, m, last->jacobian, to->dg);
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  if (in_uniform_flow(s->b)) carry_uniform(s, m, to);
  if (by_vertices(s->b) || s->field.mixed) add_varying_fluid(s, m, to);
  return CB_OK;
}

static bool acts(const cb_immersed *b) { return cb_immersed_is_relative(b) && !cb_immersed_by_parts(b); }

const cb_immersed_term_class cb_immersed_term_flow = {
    .name = "flow",
    .order = 10,
    .acts = acts,
    .create = cb_immersed_impulses_create,
    .wrench = wrench,
    .inertia = inertia,
    .field = field,
    .kinetic = kinetic,
};
