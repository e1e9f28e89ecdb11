/* The added mass of a body in a fluid of one density at rest, or with the option `paper` (curvebody/immersed.h). The
 * term adds the momentum I_f Y + mu_f, with the added mass I_f, the twist Y, and the momentum mu_f of the fluid at Y =
 * 0. */
#include "fluid/immersed_private.h"

cb_status cb_immersed_place_added_mass(cb_immersed_workspace *s) {
  cb_immersed_field *f = &s->field;
  if (f->mixed) {
    cb_local_added_mass(s->local, 0, f->rho, f->I_f, f->mu_f, s->part);
    return CB_OK;
  }
  const double share = s->b->around.layered ? f->density : 1;
  for (int i = 0; i < 36; i++) f->I_f[i / 6][i % 6] = share * s->form.I_f[i / 6][i % 6];
  for (int i = 0; i < 6; i++) f->mu_f[i] = share * s->form.mu_f[i];
  return CB_OK;
}

void cb_immersed_add_inertia(const cb_immersed_workspace *s, const cb_pose *g, double K[6][6], double mu0[6]) {
  (void)g;
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) K[i][j] += s->field.I_f[i][j];
    mu0[i] += s->field.mu_f[i];
  }
}

void cb_immersed_add_kinetic(cb_immersed_workspace *s, const cb_immersed_moment *m, double *energy) {
  double momentum[6];
  if (!s->b->inertia.model && (s->form.v || s->b->around.varying)) {
    *energy += cb_immersed_fluid_energy(s, m->Y);
    return;
  }
  cb_apply6(s->field.I_f, m->Y, momentum);
  for (int i = 0; i < 6; i++) *energy += m->Y[i] * (momentum[i] / 2 + s->field.mu_f[i]);
  *energy += s->form.fluid_kinetic;
}

static bool acts(const cb_immersed *b) { return b->added_mass && !cb_immersed_is_relative(b) && !b->placed; }
static bool pose_dependent(const cb_immersed *b) { return b->around.layered; }

const cb_immersed_term_class cb_immersed_term_added_mass = {
    .name = "added_mass",
    .acts = acts,
    .create = cb_immersed_impulses_create,
    .inertia = cb_immersed_add_inertia,
    .pose_dependent = pose_dependent,
    .field = cb_immersed_place_added_mass,
    .kinetic = cb_immersed_add_kinetic,
};
