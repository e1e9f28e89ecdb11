/* What is recorded of a body in a fluid: twist, inertia, each wrench by itself, energies. */
#include "fluid/immersed_private.h"

#include <string.h>

/* (1/2) <I_b Y, Y> + <mu_b, Y> + (1/2) int rho |x'|^2, and of the fluid (1/2) <I_f (Y - U), Y - U> .. where all of it
 * moves alike, or by faces. */
static double kinetic(cb_swimmer *s, const cb_immersed_moment *m) {
  const cb_immersed *b = s->b;
  const cb_immersed_form *f = &s->form;
  double momentum[6], energy = f->v ? cb_moving_mass_energy(b->mass, f->x, f->v) : 0, Y[6];
  cb_apply6(f->mass.inertia, m->Y, momentum);
  for (int i = 0; i < 6; i++) energy += m->Y[i] * (momentum[i] / 2 + f->mu_b[i]);
  if (!b->added_mass) return energy;
  memcpy(Y, m->Y, sizeof Y);
  if (b->relative && b->carried && !b->varying) {
    double u[3];
    cb_apply3_transposed(m->r, s->wind.u, u);
    for (int i = 0; i < 3; i++) Y[3 + i] -= u[i];
  }
  if (b->by_parts) {
    energy += cb_immersed_parts_energy(s, m->Y);
  } else if (!b->inertia.model && (f->v || b->varying)) {
    energy += cb_immersed_fluid_energy(s, Y);
  } else {
    cb_apply6(s->field.I_f, Y, momentum);
    for (int i = 0; i < 6; i++) energy += Y[i] * (momentum[i] / 2 + s->field.mu_f[i]);
    energy += f->fluid_kinetic;
  }
  return energy;
}

cb_status cb_swimmer_measure(cb_swimmer *s, const cb_rigid_state *state, cb_immersed_row *row) {
  const cb_immersed *b = s->b;
  cb_immersed_moment m;
  cb_immersed_row out = {.wrench = row->wrench};
  double K[6][6];
  cb_status status = s->problem.inertia(s, state->t, &state->g, out.K, out.mu0);
  if (!status) status = cb_immersed_vertices(s);
  if (status) return status;
  memcpy(K, out.K, sizeof K);
  status = cb_rigid_velocity(K, state->momentum, out.mu0, out.twist);
  if (status) return status;
  cb_immersed_moment_of(state->t, &state->g, out.twist, &m);
  for (int i = 0; !status && i < b->wrenches; i++) {
    memset(row->wrench[i], 0, sizeof *row->wrench);
    status = cb_immersed_wrench(s, b->act[i], &m, row->wrench[i], NULL, NULL);
  }
  if (!status) status = cb_immersed_potential(s, &m, &out.potential);
  if (status) return status;
  out.kinetic = kinetic(s, &m);
  out.mass = s->form.mass;
  out.breathing = s->form.breathing;
  *row = out;
  return CB_OK;
}
