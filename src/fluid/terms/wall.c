/* A body near the plane at which its fluid ends, and the wrench F = dL/dg on the body. The fluid's energy is
 * (1/2) <G(g) (Y, 1), (Y, 1)> for the pose g and the twist Y. Along g (1 + hat(xi)), with the components xi_c of xi,
 *
 *   F_c = (1/2) <dG/dxi_c (Y, 1), (Y, 1)>,   dF_c/dY = dG/dxi_c (Y, 1)
 *
 * The second derivatives of G are not known. Newton's method therefore uses the derivative of a wrench that is fixed in
 * the world. */
#include "fluid/immersed_private.h"
#include "fluid/fluid_shared.h"

#include <math.h>
#include <string.h>

cb_status cb_immersed_take_wall(cb_immersed *b) {
  const cb_fluid_model *model = b->inertia.model;
  b->placed = cb_fluid_model_is_placed(model, b->up, &b->height);
  if (b->placed && !model->class_->added_mass_at)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the added mass of the fluid model `%s` is valid at one position only, but the body moves: expected "
                   "another model (`curvebody inertia` prints the tensor at a position)",
                   model->class_->name);
  if (b->placed && (b->around.has_flow || b->around.layered))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the added mass of the fluid model `%s` near a wall needs a medium of one density at rest: expected "
                   "no %s, or wall: none",
                   model->class_->name, b->around.layered ? "layers" : "flow");
  return CB_OK;
}

/* Returns CB_STEP_DOMAIN if a vertex of s->form is on or behind the plane at the pose g. */
static cb_status before_it(const cb_immersed_workspace *s, const cb_pose *g) {
  const cb_immersed *b = s->b;
  double r[3][3], up[3], least = INFINITY;
  cb_pose_rotation(g, r);
  cb_apply3_transposed(r, b->up, up);
  for (int i = 0; i < b->surface->vertices; i++) least = fmin(least, cb_dot3(up, s->form.x[i]));
  least += cb_dot3(b->up, g->x) - b->height;
  if (least > 0) return CB_OK;
  return cb_fail(
      CB_STEP_DOMAIN,
      "the body reaches the wall of its fluid model: a vertex is %.3g behind it, where there is no flow; expected a "
      "place on the side to which wall_x, wall_y, wall_z point, an earlier end, or a reflecting floor above the wall",
      -least);
}

cb_status cb_immersed_workspace_check_place(cb_immersed_workspace *s, const cb_rigid_state *state) {
  if (!s->b->placed) return CB_OK;
  cb_status status = cb_immersed_form_at(s, state->t);
  if (!status) status = cb_immersed_vertices(s);
  return status ? status : before_it(s, &state->g);
}

static cb_status field(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  const cb_fluid_model *model = b->inertia.model;
  cb_immersed_field *f = &s->field;
  cb_added_mass own = {.kinetic = 0};
  cb_status status = cb_immersed_vertices(s);
  if (!status) status = before_it(s, &f->g);
  if (!status)
    status =
        model->class_->added_mass_at(model, b->inertia.body, b->surface, s->form.x, s->form.v, &f->g, &own, f->along);
  if (status) return status;
  double sum = own.kinetic;
  for (int i = 0; i < 36; i++) sum += f->I_f[i / 6][i % 6] = b->around.density * own.K[i / 6][i % 6];
  for (int i = 0; i < 6; i++) sum += f->mu_f[i] = b->around.density * own.mu0[i];
  for (int i = 0; i < 6 * 49; i++) sum += f->along[i / 49][i % 49 / 7][i % 7] *= b->around.density;
  s->form.fluid_kinetic = b->around.density * own.kinetic;
  return isfinite(sum) ? CB_OK
                       : cb_fail(CB_STEP_DOMAIN, "the added mass of the fluid model `%s` is not finite near a wall",
                                 model->class_->name);
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_status status = cb_immersed_field_at(s, m->t, m->g);
  double Y[7] = {[6] = 1}, own[6] = {0};
  if (status) return status;
  memcpy(Y, m->Y, 6 * sizeof *Y);
  for (int c = 0; c < 6; c++)
    for (int i = 0; i < 7; i++) {
      double momentum = 0;
      for (int j = 0; j < 7; j++) momentum += s->field.along[c][i][j] * Y[j];
      own[c] += Y[i] * momentum / 2;
      if (to->dF && i < 6) to->dF[c][i] += momentum;
    }
  if (to->F)
    for (int c = 0; c < 6; c++) to->F[c] += own[c];
  for (int part = 0; to->dg && part < 6; part += 3)
    for (int j = 0; j < 3; j++) {
      double axis[3] = {0}, change[3];
      axis[j] = 1;
      cb_cross3(own + part, axis, change);
      for (int i = 0; i < 3; i++) to->dg[part + i][j] += change[i];
    }
  return CB_OK;
}

static void conserves(const cb_immersed *b, cb_immersed_conserved *out) { cb_immersed_conserves_along(b->up, out); }
static bool acts(const cb_immersed *b) { return b->placed; }

const cb_immersed_term_class cb_immersed_term_wall = {
    .name = "wall",
    .order = 20,
    .acts = acts,
    .conserves = conserves,
    .wrench = wrench,
    .inertia = cb_immersed_add_inertia,
    .field = field,
    .kinetic = cb_immersed_add_kinetic,
};
